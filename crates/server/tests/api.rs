//! The API over real connections: what it shows, what it takes, and that it is what its description says.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::time::Duration;

use common::{Client, new_study, samples, server, table};
use serde_json::{Value, json};
use taskscout::prelude::*;
use taskscout_store::open;
use taskscout_studies::{AskOptions, Measured, StoredStudy};

/// A store with one study, and a server on it.
struct Setting {
    folder: tempfile::TempDir,
    _serving: taskscout_server::Serving,
    client: Client,
}

impl Setting {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        drop(new_study(&path, "tunnel"));
        let serving = server(&path, None);
        let client = Client::of(&serving);
        Self {
            folder,
            _serving: serving,
            client,
        }
    }

    /// The study as another process has it.
    fn elsewhere(&self) -> StoredStudy {
        let store = open(&self.folder.path().join("s.db").display().to_string()).unwrap();
        StoredStudy::open(store, "tunnel", "bob", &Registry::new()).unwrap()
    }

    /// A plan that somebody else asked for, as the page shows it.
    fn planned(&self) -> Vec<Value> {
        self.elsewhere().ask(&AskOptions::budget(60)).unwrap();
        let mut view = Value::Null;
        for _ in 0..100 {
            view = self.client.get("/api/studies/tunnel").json();
            if view["status"]["rounds"] == 1 {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        view["status"]["open"].as_array().unwrap().clone()
    }
}

fn rows_of(item: &Value, draw: u64) -> String {
    let task: Vec<f64> = serde_json::from_value(item["parameters"].clone()).unwrap();
    table(&task, item["n"].as_u64().unwrap() as usize, draw)
}

fn told(item: &Value, more: &str) -> String {
    format!(
        "?name=run.csv&item={}&state={}&collected={}{more}",
        item["item"],
        item["state"].as_str().unwrap(),
        item["collected"]
    )
}

#[test]
fn the_description_is_what_is_served() {
    let setting = Setting::new();
    let client = &setting.client;
    let document = client.get("/api/openapi.json").json();
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 14);
    for (path, entry) in paths {
        let real = path.replace("{study}", "tunnel").replace("{run}", "none");
        for method in ["get", "post"] {
            if real.ends_with("/events") {
                continue;
            }
            let reply = client.request(&method.to_uppercase(), &real, "", b"{}");
            let described = entry.get(method).is_some();
            assert_eq!(reply.status != 405, described, "{method} {path} {reply:?}");
            let nothing = reply.status == 404 && reply.error().starts_with("there is nothing here");
            assert!(!nothing, "{method} {path}");
        }
    }
    for path in [
        "/api",
        "/api/studies",
        "/api/study/tunnel",
        "/../etc/passwd",
        "/assets/../lib.rs",
        "/api/studies/..%2f..%2fetc",
    ] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
}

/// Checks a value against a schema as far as the description goes.
fn fits(document: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        return fits(
            document,
            &document["components"]["schemas"][name],
            value,
            place,
        );
    }
    if let Some(several) = schema["oneOf"].as_array() {
        let null = several.iter().any(|one| one["type"] == "null");
        if !(null && value.is_null()) {
            let other = several.iter().find(|one| one["type"] != "null").unwrap();
            fits(document, other, value, place);
        }
        return;
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let whole = kind == "integer" && kinds.contains(&"number");
    assert!(
        kinds.contains(&kind) || whole,
        "{place} is {value}, not {kinds:?}"
    );
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        assert!(
            value.is_null() || value.get(name).is_some(),
            "{place} has no {name}"
        );
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            fits(document, inner, value, &format!("{place}.{name}"));
        }
    }
    for value in value.as_array().into_iter().flatten() {
        fits(document, &schema["items"], value, &format!("{place}[]"));
    }
}

#[test]
fn answers_are_what_the_description_says() {
    let setting = Setting::new();
    let client = &setting.client;
    let document = client.get("/api/openapi.json").json();
    let check = |name: &str, value: &Value| {
        let schema = &document["components"]["schemas"][name];
        assert!(schema.is_object(), "{name}");
        fits(&document, schema, value, name);
    };
    check("Study", &client.get("/api/studies/tunnel").json());
    let items = setting.planned();
    let tell = format!("/api/studies/tunnel/rows{}", told(&items[0], ""));
    let preview = tell.replace("/rows?", "/rows/preview?");
    check(
        "RowsPreview",
        &client.send(&preview, &rows_of(&items[0], 1)).json(),
    );
    check("Done", &client.send(&tell, &rows_of(&items[0], 1)).json());
    check("Study", &client.learnt("tunnel"));
    check("Index", &client.get("/api/index").json());
    let wanted = json!({"budget": 40});
    check(
        "Supposed",
        &client.post("/api/studies/tunnel/what-if", &wanted).json(),
    );
    let fail = json!({"change": "fail", "item": items[1]["item"], "reason": "broken", "seen": {"state": "proposed", "collected": 0}});
    check(
        "Effect",
        &client
            .post("/api/studies/tunnel/changes/preview", &fail)
            .json(),
    );
    check("Error", &client.get("/api/runs/none").json());
}

#[test]
fn what_others_write_arrives_by_itself() {
    let setting = Setting::new();
    let before = setting.client.learnt("tunnel");
    let mut editions = setting.client.follow("/api/studies/tunnel/events");
    let first = editions.next().unwrap();
    setting.elsewhere().note("the fan was cleaned").unwrap();
    assert!(editions.any(|edition| edition > first));
    let view = setting.client.get("/api/studies/tunnel").json();
    assert_eq!(view["version"], before["version"].as_u64().unwrap() + 1);
    let last = view["history"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["what"], &last["author"]),
        (&json!("the fan was cleaned"), &json!("bob"))
    );
}

#[test]
fn an_upload_is_shown_before_it_is_taken_and_counts_once() {
    let setting = Setting::new();
    let client = &setting.client;
    let items = setting.planned();
    let rows = rows_of(&items[0], 1);
    let query = told(&items[0], "&author=eve");
    let preview = client.send(&format!("/api/studies/tunnel/rows/preview{query}"), &rows);
    let preview = preview.json();
    assert_eq!(preview["upload"]["passed_over"], json!(["remark"]));
    let (before, after) = (&preview["effect"]["before"], &preview["effect"]["after"]);
    assert_eq!(before["source_rows"], 0);
    assert_eq!(after["source_rows"], items[0]["n"]);
    assert_eq!(setting.elsewhere().study().data().source_rows(), 0);

    let path = format!("/api/studies/tunnel/rows{query}");
    let done = client.send(&path, &rows).json();
    assert_eq!(done["already"], false, "{done}");
    // The answer was lost on the way, so the page sends it again.
    let again = client.send(&path, &rows).json();
    assert_eq!(again["already"], true, "{again}");
    assert_eq!(again["version"], done["version"]);
    let study = setting.elsewhere();
    assert_eq!(
        study.study().data().source_rows() as u64,
        items[0]["n"].as_u64().unwrap()
    );
    assert_eq!(study.batches().last().unwrap().author, "eve");
    assert_eq!(
        study.batches().last().unwrap().source.as_deref(),
        Some("run.csv")
    );
}

#[test]
fn a_page_that_is_stale_is_told_so() {
    let setting = Setting::new();
    let client = &setting.client;
    let items = setting.planned();
    let item = &items[0];
    let task: Vec<f64> = serde_json::from_value(item["parameters"].clone()).unwrap();
    let n = item["n"].as_u64().unwrap() as usize;
    let measured = Measured::new(samples(&task, n, 7));
    setting
        .elsewhere()
        .tell(item["item"].as_u64().unwrap(), None, &measured)
        .unwrap();

    let fail = json!({"change": "fail", "item": item["item"], "reason": "broken", "seen": {"state": "proposed", "collected": 0}});
    let refused = client.post("/api/studies/tunnel/changes", &fail);
    assert_eq!(refused.status, 409);
    assert!(
        refused
            .error()
            .contains("changed since this page was loaded: it is told now"),
        "{}",
        refused.error()
    );
    let other = client.send(
        &format!("/api/studies/tunnel/rows{}", told(item, "")),
        &rows_of(item, 8),
    );
    assert_eq!(other.status, 409);
    // A plan that somebody else asked for.
    let ask = json!({"change": "ask", "budget": 40, "key": "k1", "seen_rounds": 0});
    assert_eq!(client.post("/api/studies/tunnel/changes", &ask).status, 409);
    let undo = json!({"change": "undo", "seen_version": 2});
    assert_eq!(
        client.post("/api/studies/tunnel/changes", &undo).status,
        409
    );
    let gone = json!({"change": "retract", "batch": "nothing"});
    assert_eq!(
        client.post("/api/studies/tunnel/changes", &gone).status,
        409
    );
    assert!(
        client
            .get("/api/studies/gone")
            .error()
            .contains("no study `gone`")
    );
}

#[test]
fn a_plan_is_asked_for_once_and_thinking_changes_nothing() {
    let setting = Setting::new();
    let client = &setting.client;
    let version = client.get("/api/studies/tunnel").json()["version"].clone();
    let wanted = json!({"budget": 50, "switch_cost": 5.0, "max_tasks": 2});
    let supposed = client.post("/api/studies/tunnel/what-if", &wanted).json();
    let items = supposed["items"].as_array().unwrap();
    assert!(!items.is_empty() && items.len() <= 2, "{supposed}");
    assert!(supposed["cost"].as_f64().unwrap() <= 50.0);
    assert_eq!(client.get("/api/studies/tunnel").json()["version"], version);

    let ask = json!({"change": "ask", "budget": 50, "switch_cost": 5.0, "max_tasks": 2, "key": "k1", "seen_rounds": 0});
    let first = client.post("/api/studies/tunnel/changes", &ask).json();
    let second = client.post("/api/studies/tunnel/changes", &ask).json();
    assert_eq!(
        (&first["already"], &second["already"]),
        (&json!(false), &json!(true)),
        "{first} {second}"
    );
    let open = client.get("/api/studies/tunnel").json()["status"]["open"].clone();
    assert_eq!(open.as_array().unwrap().len(), items.len());
    let note = json!({"change": "note", "text": "hello", "seen_version": 0});
    for _ in 0..2 {
        client.post("/api/studies/tunnel/changes", &note).json();
    }
    let notes = setting.elsewhere();
    let notes = notes
        .history()
        .iter()
        .filter(|line| line.kind == "noted")
        .count();
    assert_eq!(notes, 1);
}

#[test]
fn rows_that_are_retracted_are_gone_as_the_preview_said() {
    let setting = Setting::new();
    let client = &setting.client;
    let items = setting.planned();
    for (draw, item) in items.iter().enumerate() {
        let path = format!("/api/studies/tunnel/rows{}", told(item, ""));
        assert_eq!(client.send(&path, &rows_of(item, draw as u64)).status, 200);
    }
    let view = client.learnt("tunnel");
    assert!(
        view["learnt"]["outlook"].is_object(),
        "{}",
        view["learnt"]["no_forecast"]
    );
    assert!(
        view["learnt"]["answer"]["sure"]
            .as_str()
            .unwrap()
            .contains("tomorrow")
    );
    let batch = view["batches"].as_array().unwrap().last().unwrap()["id"].clone();
    let change = json!({"change": "retract", "batch": batch});
    let effect = client
        .post("/api/studies/tunnel/changes/preview", &change)
        .json();
    let rows = |standing: &Value| standing["source_rows"].as_u64().unwrap();
    assert!(rows(&effect["after"]) < rows(&effect["before"]));
    assert_eq!(
        client.post("/api/studies/tunnel/changes", &change).status,
        200
    );
    let now = setting.elsewhere();
    assert_eq!(
        now.study().data().source_rows() as u64,
        rows(&effect["after"])
    );
}

#[test]
fn bad_requests_get_a_sentence() {
    let setting = Setting::new();
    let client = &setting.client;
    let items = setting.planned();
    let query = told(&items[0], "");
    let rows = format!("/api/studies/tunnel/rows{query}");
    for (path, body, part) in [
        (rows.as_str(), "\u{0}\u{1}\u{2}", "run.csv"),
        (&rows, "vx,vy\n1,2\n", "run.csv"),
        (&rows, "vx,vy,pwm,force\n1,2,3,oops\n", "run.csv"),
        (&rows, "vx,vy,pwm,force\n1,2,3,nan\n", "run.csv"),
        (
            "/api/studies/tunnel/rows?name=a.csv",
            "vx,vy,pwm,force\n1,2,3,4\n",
            "column `item`",
        ),
        (
            "/api/studies/tunnel/rows?name=a.csv&item=99",
            "vx,vy,pwm,force\n1,2,3,4\n",
            "no item 99",
        ),
        ("/api/studies/tunnel/rows?item=x", "", "not understood"),
        (
            "/api/studies/tunnel/what-if",
            "{\"budget\": 0.5}",
            "not understood",
        ),
        (
            "/api/studies/tunnel/what-if",
            "{\"budget\": 1, \"switch_cost\": -1}",
            "switch_cost",
        ),
        (
            "/api/studies/tunnel/changes",
            "{\"change\": \"burn\"}",
            "not understood",
        ),
        ("/api/studies/tunnel/changes", "", "not understood"),
    ] {
        let reply = client.send(path, body);
        assert!(
            (400..500).contains(&reply.status),
            "{path} {body} {reply:?}"
        );
        assert!(reply.error().contains(part), "{path}: {}", reply.error());
    }
    assert_eq!(setting.elsewhere().study().data().source_rows(), 0);
}
