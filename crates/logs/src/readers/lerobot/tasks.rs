//! The texts of tasks: `meta/tasks.jsonl` in version 2, `meta/tasks.parquet` in version 3.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use taskscout_io::tables::{ReadOptions, Table};

use super::super::files;
use crate::error::{Error, Result};

/// Bytes of the largest file that is read.
const LARGEST: u64 = 256 << 20;
/// Where the text stands in version 3: under its own name, or as the index of a data frame.
const TEXTS: [&str; 2] = ["task", "__index_level_0__"];

#[derive(Deserialize)]
struct Line {
    task_index: i64,
    task: String,
}

/// The text of each task; none where the data set has no such file.
pub(super) fn read(folder: &Path) -> Result<BTreeMap<i64, String>> {
    let lines = folder.join("meta").join("tasks.jsonl");
    if lines.is_file() {
        return from_lines(&lines);
    }
    let table = folder.join("meta").join("tasks.parquet");
    if table.is_file() {
        return from_table(&table);
    }
    Ok(BTreeMap::new())
}

fn from_lines(path: &Path) -> Result<BTreeMap<i64, String>> {
    let text = taskscout_io::files::read_text(path, LARGEST);
    let text = text.map_err(|source| files::unreadable(path, source))?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let task = |(index, line): (usize, &str)| match serde_json::from_str::<Line>(line) {
        Ok(line) => Ok((line.task_index, line.task)),
        Err(error) => Err(Error::Row {
            path: path.to_owned(),
            line: index + 1,
            problem: format!("does not tell a task: {error}; write task_index and task"),
        }),
    };
    lines.map(task).collect()
}

fn from_table(path: &Path) -> Result<BTreeMap<i64, String>> {
    let is_text = |name: &str| TEXTS.contains(&name);
    let options = ReadOptions {
        text: Some(&is_text),
        ..ReadOptions::default()
    };
    let table = Table::read_with(path, &options)?;
    let named = TEXTS
        .into_iter()
        .find(|name| table.columns().iter().any(|column| column.name == *name));
    let texts = table.text(named.unwrap_or(TEXTS[0]))?;
    let numbers = table.numbers("task_index")?;
    Ok(numbers
        .iter()
        .map(|&number| number as i64)
        .zip(texts)
        .collect())
}
