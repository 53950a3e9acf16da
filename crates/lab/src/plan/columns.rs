//! What the columns of a table of candidates are for.

use std::collections::HashSet;

use taskscout::design::Candidates;
use taskscout_io::tables::{Table, Values};

use super::lens::shortened;
use super::options::PlanOptions;
use super::say::Notes;
use crate::error::{LabError, Result};

/// The text column that everybody would take for names.
pub(super) fn usual_name(table: &Table) -> Option<String> {
    let is = |wanted: &&str| {
        table.columns().iter().find(|column| {
            matches!(column.values, Values::Text(_)) && column.name.eq_ignore_ascii_case(wanted)
        })
    };
    let column = ["name", "task", "id"].iter().find_map(is)?;
    Some(column.name.clone())
}

/// The parameters: those that are named, or all columns of numbers that no other option uses.
pub(super) fn parameter_columns(
    table: &Table,
    name: Option<&str>,
    options: &PlanOptions,
) -> Result<Vec<String>> {
    if let Some(columns) = &options.columns {
        check_distinct("--columns", columns)?;
        return Ok(columns.clone());
    }
    let count = options.given.is_some().then_some(&*options.given_count);
    let used = [
        options.cost.as_deref(),
        options.capacity.as_deref(),
        options.target_weight.as_deref(),
        count,
        name,
    ];
    let columns: Vec<String> = table
        .numeric_columns()
        .into_iter()
        .filter(|column| !used.contains(&Some(column)))
        .map(str::to_owned)
        .collect();
    if columns.is_empty() {
        return Err(LabError::Input(format!(
            "{} has no column of numbers that could be a parameter of a task: add one, or name the columns with --columns",
            table.name()
        )));
    }
    Ok(columns)
}

/// Refuses a parameter that is named twice by an option or a setting.
pub(super) fn check_distinct(given: &str, columns: &[String]) -> Result<()> {
    let mut seen = HashSet::with_capacity(columns.len());
    match columns.iter().find(|column| !seen.insert(*column)) {
        None => Ok(()),
        Some(column) => Err(LabError::Input(format!(
            "{given} names `{column}` twice: name every parameter once"
        ))),
    }
}

/// Says what the columns were taken for.
pub(super) fn tell_of_columns(
    table: &Table,
    columns: &[String],
    name: Option<&str>,
    options: &PlanOptions,
    notes: &mut Notes,
) -> Result<()> {
    notes.add(format!(
        "{} candidates from {}, parameters {}",
        table.rows(),
        table.name(),
        shortened(columns)
    ));
    let used = [options.cost.as_deref(), options.capacity.as_deref(), name];
    let taken: HashSet<&String> = columns.iter().collect();
    let mut ignored: Vec<String> = Vec::new();
    for column in table.columns() {
        let known = used.contains(&Some(&*column.name)) || taken.contains(&column.name);
        let Values::Text(cells) = &column.values else {
            continue;
        };
        if known {
            continue;
        }
        // One bad cell would make a parameter vanish without a word.
        let numbers = cells
            .iter()
            .filter(|cell| cell.trim().parse::<f64>().is_ok())
            .count();
        if options.columns.is_none() && 2 * numbers > cells.len() {
            table
                .numbers(&column.name)
                .map_err(|error| LabError::Input(error.to_string()))?;
        }
        ignored.push(column.name.clone());
    }
    if !ignored.is_empty() {
        notes.add(format!(
            "text columns are ignored: {} (--name COLUMN makes one the names of tasks)",
            shortened(&ignored)
        ));
    }
    for skipped in table.skipped() {
        notes.add(format!(
            "column {} is left out: {}",
            skipped.name, skipped.reason
        ));
    }
    if options.columns.is_none() && columns.len() > 1 {
        tell_of_counter(table, &taken, notes);
    }
    Ok(())
}

/// Says if a column that is taken for a parameter may be the number of the row.
fn tell_of_counter(table: &Table, taken: &HashSet<&String>, notes: &mut Notes) {
    let counter = table.columns().iter().find(|column| {
        taken.contains(&column.name)
            && matches!(&column.values, Values::Numbers(values) if counts_rows(values))
    });
    if let Some(column) = counter {
        notes.add(format!(
            "column {0} counts the rows but is used as a parameter: if it is not one, give --name {0}, or name the parameters with --columns",
            column.name
        ));
    }
}

/// Whether a column numbers the rows from 0 or 1.
fn counts_rows(values: &[f64]) -> bool {
    let step = |pair: &[f64]| (pair[1] - pair[0] - 1.0).abs() < 1e-12;
    let start = values.first().copied().unwrap_or(-1.0);
    values.len() > 2 && (0.0..=1.0).contains(&start) && values.windows(2).all(step)
}

/// The cost of a sample of every row.
pub(super) fn costs(table: &Table, column: &str) -> Result<Vec<f64>> {
    let costs = table.numbers(column)?;
    let may_be = |cost: f64| cost > 0.0 && cost <= Candidates::MOST_COST;
    match costs.iter().position(|&cost| !may_be(cost)) {
        None => Ok(costs.to_vec()),
        Some(row) => Err(LabError::Input(format!(
            "{}, column {column}, is {:?}: a cost must be positive and at most {:e}, so correct it or leave the row out",
            table.place(row),
            costs[row],
            Candidates::MOST_COST
        ))),
    }
}

/// The samples that every row has left.
pub(super) fn capacities(table: &Table, column: &str) -> Result<Vec<Option<usize>>> {
    let found = table.columns().iter().find(|found| found.name == column);
    let values = match found.map(|found| &found.values) {
        Some(Values::Numbers(values)) => values,
        // Nothing but empty cells: no limits at all.
        Some(Values::Text(texts)) if texts.iter().all(|text| text.trim().is_empty()) => {
            return Ok(vec![None; table.rows()]);
        }
        _ => {
            table.numbers(column)?;
            return Ok(vec![None; table.rows()]);
        }
    };
    // The table marks an empty cell with a NaN of its own; a NaN that is written is the usual one.
    let is_empty = |value: f64| value.is_nan() && value.to_bits() != f64::NAN.to_bits();
    let capacity = |(row, &value): (usize, &f64)| {
        if is_empty(value) {
            return Ok(None);
        }
        if value >= 0.0 && value.fract().abs() < f64::EPSILON && value < 1e15 {
            return Ok(Some(value as usize));
        }
        Err(LabError::Input(format!(
            "{}, column {column}, is {value}: give the whole number of samples that are left, or leave the cell empty for no limit",
            table.place(row)
        )))
    };
    values.iter().enumerate().map(capacity).collect()
}
