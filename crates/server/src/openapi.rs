//! The API described as OpenAPI 3.1 has it, from the table of routes.

use serde_json::{Map, Value, json};

use crate::routes::{Brings, Gives, ROUTES, Route};

/// What requests and answers are made of.
const SCHEMAS: &str = include_str!("schemas.json");

/// The description as a document.
pub(crate) fn document() -> Value {
    let mut paths = Map::new();
    for route in &ROUTES {
        let entry = paths
            .entry(route.path)
            .or_insert_with(|| json!({ "parameters": path_parameters(route.path) }));
        if let Some(entry) = entry.as_object_mut() {
            entry.insert(method(route).to_owned(), operation(route));
        }
    }
    let schemas: Value = serde_json::from_str(SCHEMAS).unwrap_or_default();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "taskscout serve",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Studies and runs of taskscout: what `taskscout serve` shows. Every refusal is one sentence.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "session": { "type": "apiKey", "in": "cookie", "name": "taskscout-session" },
            },
        },
        "security": [{}, { "token": [] }, { "session": [] }],
    })
}

pub(crate) fn method(route: &Route) -> &'static str {
    match route.brings {
        Brings::Nothing => "get",
        _ => "post",
    }
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let one = |name: &str| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
    names.map(one).collect()
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn operation(route: &Route) -> Value {
    let content = match route.gives {
        Gives::Json(schema) => json!({ "application/json": { "schema": reference(schema) } }),
        Gives::Content(kind) => json!({ kind: { "schema": { "type": "string" } } }),
    };
    let refused = json!({
        "description": "Refused, with the reason in a sentence",
        "content": { "application/json": { "schema": reference("Error") } },
    });
    let mut operation = json!({
        "summary": route.summary,
        "operationId": format!("{:?}", route.does),
        "responses": {
            "200": { "description": route.summary, "content": content },
            "default": refused,
        },
    });
    match route.brings {
        Brings::Nothing => {}
        Brings::Json(schema) => {
            operation["requestBody"] = json!({
                "required": true,
                "content": { "application/json": { "schema": reference(schema) } },
            });
        }
        Brings::Table => {
            operation["requestBody"] = json!({
                "required": true,
                "description": "The bytes of a CSV or Parquet file",
                "content": { "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } },
            });
            operation["parameters"] = query_parameters();
        }
    }
    operation
}

fn query_parameters() -> Value {
    let one = |name: &str, kind: &str, required: bool, what: &str| json!({ "name": name, "in": "query", "required": required, "description": what, "schema": { "type": kind } });
    json!([
        one("name", "string", true, "What the file is called"),
        one(
            "item",
            "integer",
            false,
            "The item that all rows are of; without item and target a column `item` says it"
        ),
        one("target", "string", false, "The target that all rows are of"),
        one(
            "achieved",
            "string",
            false,
            "The parameters that were really set, with commas between them"
        ),
        one(
            "state",
            "string",
            false,
            "The state of the item that the page showed: another one is refused"
        ),
        one(
            "collected",
            "integer",
            false,
            "The rows of the item that the page showed: another number is refused"
        ),
        one("author", "string", false, "Who tells, for the history"),
    ])
}
