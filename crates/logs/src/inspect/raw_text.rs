//! What logs of robots hold, in words and tables for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use taskscout_io::tables::{short, visible};

use super::raw::{RawInspection, RawSummary, SeriesSummary};
use super::text::{aligned, counted};

/// Facts that are listed; parameters are counted.
const LISTED: usize = 40;

pub(super) fn page(found: &RawInspection) -> String {
    let recordings = &found.recordings;
    let mut text = format!(
        "{}, {}\n\n",
        found.format.name(),
        counted(recordings.len(), "recording")
    );
    match recordings.as_slice() {
        [one] => text += &single(one),
        several => text += &many(several),
    }
    for warning in recordings.iter().flat_map(|one| &one.warnings) {
        let _ = writeln!(text, "warning: {}", visible(warning));
    }
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), short)
}

fn heading(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Everything about one recording.
fn single(one: &RawSummary) -> String {
    let mut text = format!(
        "{}, {} s\n{}\n",
        visible(&one.name),
        short(one.span_s),
        facts(&one.metadata)
    );
    let mut rows = vec![heading(&["series", "rows", "Hz", "from s", "to s"])];
    rows.extend(one.series.iter().map(|series| {
        let times = [series.rate_hz, series.first_s, series.last_s].map(number);
        let mut row = vec![visible(&series.name).into_owned(), series.rows.to_string()];
        row.extend(times);
        row
    }));
    text += &aligned(&rows);
    text.push('\n');
    let mut rows = vec![heading(&[
        "column", "unit", "mean", "min", "max", "missing",
    ])];
    for series in &one.series {
        for column in &series.columns {
            let full = format!("{}.{}", series.name, column.name);
            let unit = column.unit.as_deref().unwrap_or("-");
            let mut row = vec![visible(&full).into_owned(), visible(unit).into_owned()];
            row.extend([column.mean, column.min, column.max].map(number));
            row.push(column.missing.to_string());
            rows.push(row);
        }
        for field in &series.text {
            let full = format!("{}.{field}", series.name);
            let mut row = vec![visible(&full).into_owned(), "text".into()];
            row.extend(std::iter::repeat_n(String::from("-"), 4));
            rows.push(row);
        }
    }
    text + &aligned(&rows)
}

/// What a log says of itself, its parameters counted.
fn facts(metadata: &BTreeMap<String, String>) -> String {
    let is_parameter = |name: &&String| name.starts_with("parameter.");
    let parameters = metadata.keys().filter(is_parameter).count();
    let mut text = String::new();
    let others = metadata.iter().filter(|(name, _)| !is_parameter(name));
    for (name, value) in others.clone().take(LISTED) {
        let _ = writeln!(text, "{}: {}", visible(name), visible(value));
    }
    let more = others.count().saturating_sub(LISTED);
    if more > 0 {
        let _ = writeln!(text, "and {} more", counted(more, "fact"));
    }
    if parameters > 0 {
        let _ = writeln!(text, "{}", counted(parameters, "parameter"));
    }
    text
}

/// The recordings, and the series of all of them.
fn many(recordings: &[RawSummary]) -> String {
    let mut rows = vec![heading(&["recording", "time s", "series", "rows", "task"])];
    let mut all: BTreeMap<&str, Vec<&SeriesSummary>> = BTreeMap::new();
    for one in recordings {
        let total: usize = one.series.iter().map(|series| series.rows).sum();
        let task = one.metadata.get("task").map_or("-", String::as_str);
        let cells = [
            short(one.span_s),
            one.series.len().to_string(),
            total.to_string(),
            visible(task).into_owned(),
        ];
        let mut row = vec![visible(&one.name).into_owned()];
        row.extend(cells);
        rows.push(row);
        for series in &one.series {
            all.entry(&series.name).or_default().push(series);
        }
    }
    let mut text = aligned(&rows);
    text.push('\n');
    let mut rows = vec![heading(&["series", "recordings", "rows", "Hz", "columns"])];
    for (name, parts) in &all {
        let mut rates: Vec<f64> = parts.iter().filter_map(|part| part.rate_hz).collect();
        rates.sort_by(f64::total_cmp);
        let total: usize = parts.iter().map(|part| part.rows).sum();
        rows.push(vec![
            visible(name).into_owned(),
            parts.len().to_string(),
            total.to_string(),
            number(rates.get(rates.len() / 2).copied()),
            parts
                .iter()
                .map(|part| part.columns.len())
                .max()
                .unwrap_or(0)
                .to_string(),
        ]);
    }
    text += &aligned(&rows);
    text += "\nName a single file to see its columns.\n";
    text
}
