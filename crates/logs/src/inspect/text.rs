//! What an inspection found, in words and tables for people.

use std::fmt::Write as _;

use taskscout_io::tables::{short, visible};

use super::{Inspection, Wind};

/// What was found, as a page for people: the tasks, the inputs, and what is wrong with them.
pub(super) fn page(found: &Inspection) -> String {
    let mut text = format!(
        "{}, {}, {}",
        counted(found.recordings, "recording"),
        counted(found.tasks.len(), "task"),
        counted(found.rows, "row")
    );
    if found.skipped > 0 {
        let _ = write!(text, ", {} skipped", counted(found.skipped, "bad row"));
    }
    text.push_str("\n\n");
    text.push_str(&tasks(found));
    text.push('\n');
    text.push_str(&inputs(found));
    text.push('\n');
    if found.warnings.is_empty() {
        text.push_str("No problems were found.\n");
    }
    for warning in &found.warnings {
        let _ = writeln!(text, "warning: {}", visible(&warning.message));
    }
    text
}

pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn tasks(found: &Inspection) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "-".into(), short);
    let mut rows = vec![
        [
            "task", "rows", "skipped", "time", "step", "mean", "std", "wind m/s",
        ]
        .map(String::from)
        .to_vec(),
    ];
    rows.extend(found.tasks.iter().map(|task| {
        vec![
            visible(&task.task).into_owned(),
            task.rows.to_string(),
            task.skipped.to_string(),
            number(task.time_span),
            number(task.time_step),
            shown(task.mean),
            shown(task.std),
            task.wind.map_or_else(|| "-".into(), wind),
        ]
    }));
    aligned(&rows)
}

/// A number, where there is one.
fn shown(value: f64) -> String {
    match value.is_finite() {
        true => short(value),
        false => "–".into(),
    }
}

fn wind(wind: Wind) -> String {
    if wind.gust_m_s > 0.0 {
        return format!("{} ± {}", short(wind.mean_m_s), short(wind.gust_m_s));
    }
    short(wind.mean_m_s)
}

fn inputs(found: &Inspection) -> String {
    let mut rows = vec![
        ["input", "mean", "std", "min", "max"]
            .map(String::from)
            .to_vec(),
    ];
    rows.extend(found.inputs.iter().map(|input| {
        let mut row = vec![visible(&input.input).into_owned()];
        row.extend([input.mean, input.std, input.min, input.max].map(shown));
        row
    }));
    aligned(&rows)
}

/// Columns under each other: names to the left, numbers to the right.
pub(super) fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (index, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            // Writing to a string cannot fail.
            let _ = match index {
                0 => write!(text, "{cell:<width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.push('\n');
    }
    text
}
