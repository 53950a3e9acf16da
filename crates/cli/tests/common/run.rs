//! What a run leaves in its folder.

use std::path::Path;

use serde_json::Value;
use taskscout_report::{ResultRow, read_csv};

/// The results without what a clock measured.
pub(crate) fn results(folder: &Path) -> Vec<ResultRow> {
    let file = std::fs::File::open(folder.join("results.csv")).unwrap();
    let rows = read_csv(file, "results.csv").unwrap();
    let timeless = |row| ResultRow {
        collect_s: 0.0,
        train_s: 0.0,
        design_s: 0.0,
        ..row
    };
    rows.into_iter().map(timeless).collect()
}

/// The summary without what a clock measured.
pub(crate) fn summary(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("summary.json")).unwrap();
    timeless(serde_json::from_str(&text).unwrap())
}

/// A summary without what a clock measured.
pub(crate) fn timeless(mut summary: Value) -> Value {
    for (_, strategy) in summary["strategies"].as_object_mut().into_iter().flatten() {
        strategy["seconds"] = Value::Null;
    }
    summary
}

/// What a folder holds, by name.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
