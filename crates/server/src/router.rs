//! How each route is answered, and what holds for all of them: who may ask, and what a browser may do with the answer.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use taskscout_studies::{Upload, WhatIf};

use crate::app::{App, SMALL, TABLE, asked, whole};
use crate::assets::{self, Asset};
use crate::change::{RowsFor, Signed, author, preview_rows};
use crate::live::Document;
use crate::openapi;
use crate::refusal::{Answered, Refusal};
use crate::routes::{Does, ROUTES};
use crate::runs;

/// Nothing but this server's own files, and no frame around them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// Reports have their style inside, and no script.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// How long whoever gave a wrong token waits.
const WRONG_TOKEN: Duration = Duration::from_millis(500);

type Server = State<Arc<App>>;

/// The whole server.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let mut router = Router::new();
    for route in &ROUTES {
        router = router.route(route.path, answer(route.does));
    }
    for path in ["/", "/studies/{study}", "/runs/{run}", "/compare"] {
        router = router.route(path, get(|| async { page(assets::PAGE) }));
    }
    router
        .route("/assets/{name}", get(asset))
        .route("/login", get(login_page).post(login))
        .fallback(|| async {
            Refusal::not_found("there is nothing here: go back to the list at /")
        })
        .method_not_allowed_fallback(|| async {
            Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "this address is not asked that way: /api/openapi.json says how",
            )
        })
        .layer(from_fn_with_state(Arc::clone(app), check))
        .with_state(Arc::clone(app))
}

fn answer(does: Does) -> MethodRouter<Arc<App>> {
    match does {
        Does::Index => get(index),
        Does::IndexEvents => get(index_events),
        Does::Study => get(study),
        Does::StudyEvents => get(study_events),
        Does::StudyReport => get(study_report),
        Does::WhatIf => post(what_if),
        Does::PreviewRows => post(rows_preview),
        Does::Rows => post(rows),
        Does::PreviewChange => post(change_preview),
        Does::Change => post(change),
        Does::Run => get(run),
        Does::RunEvents => get(run_events),
        Does::RunReport => get(run_report),
        Does::OpenApi => get(|| async { axum::Json(openapi::document()) }),
    }
}

/// What holds for every request and every answer.
async fn check(State(app): Server, request: Request, next: Next) -> Response {
    let refused = refused(&app, &request);
    let mut response = match refused {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    let fixed = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(POLICY));
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

fn refused(app: &App, request: &Request) -> Option<Response> {
    let headers = request.headers();
    if let Err(refusal) = app.access.check_origin(headers) {
        return Some(refusal.into_response());
    }
    let path = request.uri().path();
    let length = headers.get(CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let most = if path.contains("/rows") { TABLE } else { SMALL };
    if length.is_some_and(|length| length > most as u64) {
        return Some(Refusal::too_large(most).into_response());
    }
    let open = path == "/login" || path.starts_with("/assets/");
    if open || app.access.is_known(headers) {
        return None;
    }
    if path.starts_with("/api/") || request.method() != Method::GET {
        let sentence =
            "a token is needed: log in at /login, or send it as `Authorization: Bearer TOKEN`";
        return Some(Refusal::new(StatusCode::UNAUTHORIZED, sentence).into_response());
    }
    Some((StatusCode::SEE_OTHER, [(LOCATION, "/login")]).into_response())
}

fn page(content: impl IntoResponse) -> Response {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], content).into_response()
}

async fn asset(Path(name): Path<String>) -> Answered<Response> {
    let found = assets::ASSETS.iter().find(|asset| asset.name == name);
    let Some(Asset { kind, content, .. }) = found else {
        return Err(Refusal::not_found("there is no such file"));
    };
    let head = [(CONTENT_TYPE, *kind), (CACHE_CONTROL, "no-cache")];
    Ok((head, *content).into_response())
}

async fn login_page() -> Response {
    page(assets::login(false))
}

async fn login(State(app): Server, body: Body) -> Answered<Response> {
    let form = whole(body, SMALL).await?;
    let token = form_value(&form, "token").unwrap_or_default();
    let home = (LOCATION, HeaderValue::from_static("/"));
    match &app.access.token {
        None => Ok((StatusCode::SEE_OTHER, [home]).into_response()),
        Some(known) if known.is(&token) => {
            let cookie = HeaderValue::from_str(&known.cookie())
                .map_err(|_| Refusal::input("the session has no name: try again"))?;
            Ok((StatusCode::SEE_OTHER, [home, (SET_COOKIE, cookie)]).into_response())
        }
        Some(_) => {
            tokio::time::sleep(WRONG_TOKEN).await;
            let head = [(CONTENT_TYPE, "text/html; charset=utf-8")];
            Ok((StatusCode::UNAUTHORIZED, head, assets::login(true)).into_response())
        }
    }
}

/// A value of a form as browsers send it.
fn form_value(form: &[u8], name: &str) -> Option<String> {
    let text = std::str::from_utf8(form).ok()?;
    let mut pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => {
                let (digits, after) = rest.split_at_checked(2)?;
                rest = after;
                u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn json(document: Document) -> Response {
    let edition = HeaderValue::from(document.edition);
    let head = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (HeaderName::from_static("x-edition"), edition),
    ];
    (head, document.body).into_response()
}

fn report(content: String) -> Response {
    let head = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, REPORT_POLICY),
    ];
    (head, content).into_response()
}

async fn index(State(app): Server) -> Response {
    json(app.shelf.index.newest())
}

async fn index_events(State(app): Server) -> Response {
    app.shelf.index.follow(app.closing.clone())
}

async fn study(State(app): Server, Path(name): Path<String>) -> Answered<Response> {
    if let Some(known) = app.shelf.known(&name) {
        return Ok(json(known.live.newest()));
    }
    let followed = app.work(move |shelf| shelf.study(&name)).await?;
    Ok(json(followed.live.newest()))
}

async fn study_events(State(app): Server, Path(name): Path<String>) -> Answered<Response> {
    let followed = app.work(move |shelf| shelf.study(&name)).await?;
    Ok(followed.live.follow(app.closing.clone()))
}

async fn study_report(State(app): Server, Path(name): Path<String>) -> Answered<Response> {
    let work = app.work(move |shelf| Ok(shelf.study(&name)?.copy(false)?.report()?));
    Ok(report(work.await?))
}

async fn what_if(State(app): Server, Path(name): Path<String>, body: Body) -> Answered<Response> {
    let wanted: WhatIf = asked(body).await?;
    let work = app.work(move |shelf| Ok(shelf.study(&name)?.copy(false)?.what_if(&wanted)?));
    Ok(axum::Json(work.await?).into_response())
}

type Named = (
    Path<String>,
    Result<Query<RowsFor>, axum::extract::rejection::QueryRejection>,
);

/// Where rows belong, from the address of a request.
fn rows_for(
    query: Result<Query<RowsFor>, axum::extract::rejection::QueryRejection>,
) -> Answered<RowsFor> {
    let Query(rows) = query.map_err(|error| {
        Refusal::input(format!(
            "the request is not understood: {}",
            error.body_text()
        ))
    })?;
    Ok(rows)
}

/// What a table is called: the last part of what was sent, and never a path.
fn table_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = taskscout_io::tables::visible(last)
        .chars()
        .take(120)
        .collect();
    match clean.is_empty() {
        true => "the table".to_owned(),
        false => clean,
    }
}

async fn rows_preview(
    State(app): Server,
    (Path(name), query): Named,
    body: Body,
) -> Answered<Response> {
    let rows = rows_for(query)?;
    let bytes = whole(body, TABLE).await?;
    let work = app.work(move |shelf| {
        let study = shelf.study(&name)?.copy(false)?;
        let upload = Upload::read(bytes.into(), &table_name(&rows.name), study.definition())?;
        preview_rows(study, &rows, upload)
    });
    Ok(axum::Json(work.await?).into_response())
}

async fn rows(State(app): Server, (Path(name), query): Named, body: Body) -> Answered<Response> {
    let rows = rows_for(query)?;
    let bytes = whole(body, TABLE).await?;
    let work = app.work(move |shelf| {
        let followed = shelf.study(&name)?;
        followed.change(&author(rows.author.as_deref()), |study| {
            let upload = Upload::read(bytes.into(), &table_name(&rows.name), study.definition())?;
            rows.take(study, &upload)
        })
    });
    Ok(axum::Json(work.await?).into_response())
}

async fn change_preview(
    State(app): Server,
    Path(name): Path<String>,
    body: Body,
) -> Answered<Response> {
    let Signed { change, .. } = asked(body).await?;
    let work = app.work(move |shelf| {
        let copy = shelf.study(&name)?.copy(change.needs_log())?;
        change.preview(copy)
    });
    Ok(axum::Json(work.await?).into_response())
}

async fn change(State(app): Server, Path(name): Path<String>, body: Body) -> Answered<Response> {
    let signed: Signed = asked(body).await?;
    let work = app.work(move |shelf| {
        let followed = shelf.study(&name)?;
        let who = author(signed.author.as_deref());
        followed.change(&who, |study| signed.change.apply(study))
    });
    Ok(axum::Json(work.await?).into_response())
}

async fn run(State(app): Server, Path(name): Path<String>) -> Answered<Response> {
    let live = app.work(move |shelf| shelf.run(&name)).await?;
    Ok(json(live.newest()))
}

async fn run_events(State(app): Server, Path(name): Path<String>) -> Answered<Response> {
    let live = app.work(move |shelf| shelf.run(&name)).await?;
    Ok(live.follow(app.closing.clone()))
}

async fn run_report(State(app): Server, Path(name): Path<String>) -> Answered<Response> {
    let work = app.work(move |shelf| {
        let folder = shelf.run_folder(&name)?;
        runs::report(&folder).ok_or_else(|| {
            Refusal::not_found("the report is written when the run ends: come back then")
        })
    });
    Ok(report(work.await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_as_browsers_send_them() {
        let form = b"other=1&token=a%2Bb+c%C3%A4";
        assert_eq!(form_value(form, "token").as_deref(), Some("a+b cä"));
        for bad in [&b"token=%"[..], b"token=%zz", b"token=%ff", b"", b"\xff"] {
            assert_eq!(form_value(bad, "token"), None);
        }
    }

    #[test]
    fn a_table_has_a_name_and_never_a_path() {
        assert_eq!(table_name("../../etc/run.csv"), "run.csv");
        assert_eq!(table_name("C:\\data\\run.csv"), "run.csv");
        assert_eq!(table_name("a/"), "the table");
    }
}
