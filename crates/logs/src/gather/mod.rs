//! Labels and parameters of recordings, from all places that say something of them.

mod side_table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use taskscout_io::tables::{self as tables, Table, nearest_name, visible};

use self::side_table::SideTable;
use crate::error::{Error, Result};
use crate::facts::{Facts, Known, NamePattern, Parameter, name_and_unit, names};
use crate::readers::{Format, ReadOptions, SIDE_TABLES, files};
use crate::recording::Logs;

/// Where labels and parameters come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FactOptions {
    /// What the parts of recordings' names are.
    pub name_pattern: Option<NamePattern>,
    /// A table with a row a recording, its name first; if not given, `tasks.csv` or `tasks.tsv` of the folder, if it is there.
    pub tasks: Option<PathBuf>,
    /// The labels to use, also from columns and metadata; all of names and table if empty, none at all if it is `none`.
    pub labels: Vec<String>,
    /// The parameters to use, in the same way.
    pub parameters: Vec<String>,
}

/// The word for no label, or no parameter.
const NONE: &str = "none";

/// Gives recordings read from `path` what is known of them. Where places disagree, the table beside the logs counts before
/// columns, these before metadata, and these before the recordings' names.
///
/// # Errors
/// A table beside the logs that cannot be used, a name that does not follow the pattern, or a label or parameter that is
/// named and that no place knows.
pub fn gather(
    logs: &mut Logs,
    path: &Path,
    read: &ReadOptions,
    options: &FactOptions,
) -> Result<()> {
    if let Some(pattern) = &options.name_pattern {
        by_name(logs, pattern)?;
    }
    from_metadata(logs, options);
    from_columns(logs, path, read, options)?;
    let beside = || {
        SIDE_TABLES
            .iter()
            .map(|name| path.join(name))
            .find(|file| file.is_file())
    };
    if let Some(file) = options.tasks.clone().or_else(beside) {
        let table = SideTable::read(&file, &options.labels, &options.parameters)?;
        logs.warnings.extend(table.check(logs)?);
        for recording in &mut logs.recordings {
            if let Some(facts) = table.facts(&recording.name) {
                recording.facts.replace_by(facts.clone());
            }
        }
    }
    keep(logs, options)
}

fn by_name(logs: &mut Logs, pattern: &NamePattern) -> Result<()> {
    for recording in &mut logs.recordings {
        let Some(facts) = pattern.facts(&recording.name) else {
            return Err(Error::Facts(format!(
                "{} does not follow the pattern {}: rename it, move it elsewhere, or give its labels in tasks.csv",
                visible(&recording.name),
                pattern.as_str()
            )));
        };
        for (name, parameter) in &facts.parameters {
            if parameter.value == Known::Unknown {
                logs.warnings.push(format!(
                    "the name of {} has no number for {name}, so {name} is not known of it",
                    visible(&recording.name)
                ));
            }
        }
        recording.facts.replace_by(facts);
    }
    Ok(())
}

/// Labels and parameters that are named and that logs say of themselves.
fn from_metadata(logs: &mut Logs, options: &FactOptions) {
    for recording in &mut logs.recordings {
        let mut facts = Facts::default();
        for name in &options.labels {
            if let Some(value) = recording.metadata.get(name) {
                facts.labels.insert(name.clone(), value.clone());
            }
        }
        for name in &options.parameters {
            if let Some(value) = recording.metadata.get(name) {
                let value = Known::parse(value).unwrap_or(Known::Unknown);
                facts
                    .parameters
                    .insert(name.clone(), Parameter { value, unit: None });
            }
        }
        recording.facts.replace_by(facts);
    }
}

/// What the cells of a column say of a recording.
#[derive(Default)]
struct Cells {
    label: Option<String>,
    range: Option<(f64, f64)>,
}

/// Labels and parameters that are named and stand in columns of tables.
fn from_columns(
    logs: &mut Logs,
    path: &Path,
    read: &ReadOptions,
    options: &FactOptions,
) -> Result<()> {
    let Format::Table { task, .. } = &read.format else {
        return Ok(());
    };
    let wanted = |header: &str, names: &[String]| names.contains(&name_and_unit(header).0);
    let is_label = |header: &str| wanted(header, &options.labels);
    let is_parameter = |header: &str| wanted(header, &options.parameters);
    if options.labels.is_empty() && options.parameters.is_empty() {
        return Ok(());
    }
    let is_task = |header: &str| task.as_deref() == Some(header);
    let mut found: BTreeMap<(String, String), Cells> = BTreeMap::new();
    for file in files(path, read)? {
        let how = tables::ReadOptions {
            wanted: Some(&|header| is_label(header) || is_parameter(header) || is_task(header)),
            text: Some(&|header| is_label(header) || is_task(header)),
            comment: read.comment,
            limit: None,
            lists: false,
        };
        let table = Table::read_with(&file, &how)?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let recordings = match task {
            Some(task) => table.text(task)?,
            None => vec![stem.into_owned(); table.rows()],
        };
        let headers: Vec<String> = table.columns().iter().map(|c| c.name.clone()).collect();
        for header in headers.iter().filter(|header| !is_task(header)) {
            if is_label(header) {
                labels_of(&table, header, &recordings, &mut found)?;
            } else {
                ranges_of(&table, header, &recordings, &mut found)?;
            }
        }
    }
    for ((recording, header), cells) in found {
        let Some(recording) = logs.recordings.iter_mut().find(|one| one.name == recording) else {
            continue;
        };
        let (name, unit) = name_and_unit(&header);
        if let Some(label) = cells.label {
            recording.facts.labels.insert(name, label);
        } else {
            let value = cells
                .range
                .and_then(|(low, high)| Known::between(low, high));
            let value = value.unwrap_or(Known::Unknown);
            recording
                .facts
                .parameters
                .insert(name, Parameter { value, unit });
        }
    }
    Ok(())
}

fn labels_of(
    table: &Table,
    header: &str,
    recordings: &[String],
    found: &mut BTreeMap<(String, String), Cells>,
) -> Result<()> {
    for (row, cell) in table.text(header)?.into_iter().enumerate() {
        let cell = cell.trim();
        if cell.is_empty() {
            continue;
        }
        let recording = recordings[row].trim();
        let cells = found
            .entry((recording.to_owned(), header.to_owned()))
            .or_default();
        match &cells.label {
            Some(known) if known != cell => {
                return Err(Error::Facts(format!(
                    "{}, column {}, has `{}` after `{}` in the recording {}: a label is the same in a whole recording, so name another column or cut the recording",
                    table.place(row),
                    visible(header),
                    visible(cell),
                    visible(known),
                    visible(recording)
                )));
            }
            Some(_) => {}
            None => cells.label = Some(cell.to_owned()),
        }
    }
    Ok(())
}

/// A parameter that changes in a recording is known within a range.
fn ranges_of(
    table: &Table,
    header: &str,
    recordings: &[String],
    found: &mut BTreeMap<(String, String), Cells>,
) -> Result<()> {
    for (row, &value) in table.numbers(header)?.iter().enumerate() {
        let key = (recordings[row].trim().to_owned(), header.to_owned());
        let cells = found.entry(key).or_default();
        if value.is_finite() {
            let (low, high) = cells.range.unwrap_or((value, value));
            cells.range = Some((low.min(value), high.max(value)));
        }
    }
    Ok(())
}

/// Keeps the labels and parameters that are named, and makes every parameter one of all recordings.
fn keep(logs: &mut Logs, options: &FactOptions) -> Result<()> {
    let (labels, parameters) = names(logs.recordings.iter().map(|one| &one.facts));
    let owned = |names: std::collections::BTreeSet<&str>| -> Vec<String> {
        names.into_iter().map(str::to_owned).collect()
    };
    let (labels, parameters) = (owned(labels), owned(parameters));
    check_named("label", &options.labels, &labels)?;
    check_named("parameter", &options.parameters, &parameters)?;
    let kept = |name: &String, wanted: &[String]| wanted.is_empty() || wanted.contains(name);
    let units: BTreeMap<String, Option<String>> = parameters
        .iter()
        .map(|name| {
            let mut units = logs
                .recordings
                .iter()
                .filter_map(|one| one.facts.parameters.get(name)?.unit.clone());
            (name.clone(), units.next())
        })
        .collect();
    for recording in &mut logs.recordings {
        let facts = &mut recording.facts;
        facts.labels.retain(|name, _| kept(name, &options.labels));
        facts
            .parameters
            .retain(|name, _| kept(name, &options.parameters));
        for (name, unit) in units
            .iter()
            .filter(|(name, _)| kept(name, &options.parameters))
        {
            let own = facts.parameters.entry(name.clone()).or_default();
            match (&own.unit, unit) {
                (Some(own), Some(first)) if own != first => {
                    return Err(Error::Facts(format!(
                        "{name} is in {own} of {} and in {first} of other recordings: give all of them in one unit",
                        visible(&recording.name)
                    )));
                }
                _ => own.unit.clone_from(unit),
            }
        }
    }
    Ok(())
}

fn check_named(what: &str, wanted: &[String], known: &[String]) -> Result<()> {
    for name in wanted.iter().filter(|name| *name != NONE) {
        if known.contains(name) {
            continue;
        }
        let all: Vec<&str> = known.iter().map(String::as_str).collect();
        let hint = match (nearest_name(name, &all), all.is_empty()) {
            (Some(nearest), _) => format!("did you mean {}?", visible(nearest)),
            (None, true) => "give it in tasks.csv, in the names of recordings with a pattern, or as a column of their tables".to_owned(),
            (None, false) => format!("there are {}", visible(&all.join(", "))),
        };
        return Err(Error::Facts(format!(
            "no recording has a {what} `{}`: {hint}",
            visible(name)
        )));
    }
    Ok(())
}
