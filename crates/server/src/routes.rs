//! The routes of the server, in one table that the router and the description of the API are both made from.

/// What a route does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    Index,
    IndexEvents,
    Study,
    StudyEvents,
    StudyReport,
    WhatIf,
    PreviewRows,
    Rows,
    PreviewChange,
    Change,
    Run,
    RunEvents,
    RunReport,
    OpenApi,
}

/// What a request brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brings {
    Nothing,
    /// JSON of a schema.
    Json(&'static str),
    /// A table, CSV or Parquet, with parameters in the query.
    Table,
}

/// What it is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    /// JSON of a schema.
    Json(&'static str),
    /// Another kind of content.
    Content(&'static str),
}

/// A route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) does: Does,
    pub(crate) summary: &'static str,
    pub(crate) brings: Brings,
    pub(crate) gives: Gives,
}

const EVENTS: Gives = Gives::Content("text/event-stream");
const PAGE: Gives = Gives::Content("text/html");

const fn get(path: &'static str, does: Does, gives: Gives, summary: &'static str) -> Route {
    Route {
        path,
        does,
        summary,
        brings: Brings::Nothing,
        gives,
    }
}

const fn post(
    path: &'static str,
    does: Does,
    (brings, gives): (Brings, &'static str),
    summary: &'static str,
) -> Route {
    Route {
        path,
        does,
        summary,
        brings,
        gives: Gives::Json(gives),
    }
}

/// Every route of the API.
pub(crate) const ROUTES: [Route; 14] = [
    get(
        "/api/index",
        Does::Index,
        Gives::Json("Index"),
        "The studies of the store and the runs of the folder",
    ),
    get(
        "/api/index/events",
        Does::IndexEvents,
        EVENTS,
        "An event `edition` whenever the index changes",
    ),
    get(
        "/api/studies/{study}",
        Does::Study,
        Gives::Json("Study"),
        "A study: where it stands, what was learnt, items, history",
    ),
    get(
        "/api/studies/{study}/events",
        Does::StudyEvents,
        EVENTS,
        "An event `edition` whenever the study changes or more was learnt from it",
    ),
    get(
        "/api/studies/{study}/report",
        Does::StudyReport,
        PAGE,
        "The report of a study, one file",
    ),
    post(
        "/api/studies/{study}/what-if",
        Does::WhatIf,
        (Brings::Json("WhatIf"), "Supposed"),
        "A plan and its forecast under other costs and limits; nothing is stored",
    ),
    post(
        "/api/studies/{study}/rows/preview",
        Does::PreviewRows,
        (Brings::Table, "RowsPreview"),
        "What would be taken of a table, and what would follow; nothing is stored",
    ),
    post(
        "/api/studies/{study}/rows",
        Does::Rows,
        (Brings::Table, "Done"),
        "Tells the rows of a table; the same rows again change nothing",
    ),
    post(
        "/api/studies/{study}/changes/preview",
        Does::PreviewChange,
        (Brings::Json("Change"), "Effect"),
        "What would follow from a change; nothing is stored",
    ),
    post(
        "/api/studies/{study}/changes",
        Does::Change,
        (Brings::Json("Change"), "Done"),
        "Fails or starts an item, retracts a batch, notes, asks for a plan, takes the last change back",
    ),
    get(
        "/api/runs/{run}",
        Does::Run,
        Gives::Json("Run"),
        "A run folder: curves of the trials so far, tasks that were chosen",
    ),
    get(
        "/api/runs/{run}/events",
        Does::RunEvents,
        EVENTS,
        "An event `edition` whenever the folder changes",
    ),
    get(
        "/api/runs/{run}/report",
        Does::RunReport,
        PAGE,
        "The report of a run, once it is written",
    ),
    get(
        "/api/openapi.json",
        Does::OpenApi,
        Gives::Content("application/json"),
        "This description",
    ),
];
