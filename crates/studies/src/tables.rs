//! Measured rows from tables, by the names of the study's columns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use taskscout::data::Samples;
use taskscout::task::Task;
use taskscout_io::tables::{ReadOptions, Table};

use crate::definition::{Column, Definition};
use crate::error::{Error, Result};
use crate::told::Measured;

/// The column that says which item a row or a line is about.
pub(crate) const ITEM: &str = "item";
/// Columns of a checklist that are filled in: the file of the rows, and why there are none.
pub(crate) const FILE: &str = "file";
pub(crate) const FAILED: &str = "failed";

/// What a table of several items says of each.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemLine {
    /// Rows of it, and the parameters that were really set, where they are not the planned ones.
    Rows(Measured, Option<Vec<f64>>),
    /// It could not be measured, and why.
    Failed(String),
}

/// Reads measured rows: columns are found by name, others are passed over.
///
/// # Errors
/// A file that cannot be read, a column that is missing, or a cell that is no finite number, with its line.
pub fn read_rows(path: &Path, definition: &Definition) -> Result<Measured> {
    let wanted = |column: &str| is_measured(definition, column);
    let options = ReadOptions {
        wanted: Some(&wanted),
        ..ReadOptions::default()
    };
    let table = Table::read_with(path, &options)?;
    rows_of(&table, definition)
}

/// Reads a table of several items: their rows, marked by a column `item`, or a checklist that was filled in, with the
/// file of each item's rows or why there are none.
///
/// # Errors
/// As [`read_rows`]; an item that is no number; a checklist with nothing filled in.
pub fn read_items(path: &Path, definition: &Definition) -> Result<BTreeMap<u64, ItemLine>> {
    let options = ReadOptions {
        text: Some(&|column| column == FILE || column == FAILED),
        ..ReadOptions::default()
    };
    let table = Table::read_with(path, &options)?;
    let has = |name: &str| table.columns().iter().any(|column| column.name == name);
    if !has(ITEM) {
        return Err(Error::Input(format!(
            "{} has no column `{ITEM}`: name the item, as `tell ITEM {}`, or add a column that says which item a row is of",
            table.name(),
            path.display()
        )));
    }
    let items = item_numbers(&table)?;
    if has(FILE) || has(FAILED) {
        return checklist(&table, &items, path, definition);
    }
    let all = rows_of(&table, definition)?;
    let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (row, item) in items.into_iter().enumerate() {
        places.entry(item).or_default().push(row);
    }
    let line = |(item, rows): (u64, Vec<usize>)| {
        let part = some_rows(&all, &rows)?;
        Ok((item, ItemLine::Rows(part, None)))
    };
    places.into_iter().map(line).collect()
}

/// What a checklist that was filled in says.
fn checklist(
    table: &Table,
    items: &[u64],
    path: &Path,
    definition: &Definition,
) -> Result<BTreeMap<u64, ItemLine>> {
    let cells = |name: &str| -> Result<Vec<String>> {
        let known = table.columns().iter().any(|column| column.name == name);
        match known {
            true => Ok(table.text(name)?),
            false => Ok(vec![String::new(); items.len()]),
        }
    };
    let (files, failures) = (cells(FILE)?, cells(FAILED)?);
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    let mut lines = BTreeMap::new();
    for (row, &item) in items.iter().enumerate() {
        let (file, failed) = (files[row].trim(), failures[row].trim());
        let line = match (file.is_empty(), failed.is_empty()) {
            (true, true) => continue,
            (true, false) => ItemLine::Failed(failed.to_owned()),
            (false, _) => {
                let rows = read_rows(&folder.join(file), definition)
                    .map_err(|error| error.after(&format!("{}: ", table.place(row))))?;
                ItemLine::Rows(rows, set_parameters(table, row, definition))
            }
        };
        if lines.insert(item, line).is_some() {
            return Err(Error::Input(format!(
                "{} names item {item} a second time: give every item one line",
                table.place(row)
            )));
        }
    }
    if lines.is_empty() {
        return Err(Error::Input(format!(
            "nothing is filled in in {}: give the file of an item's rows in the column `{FILE}`, or why there are none in `{FAILED}`",
            table.name()
        )));
    }
    Ok(lines)
}

/// The parameters that a line of a checklist has, if it has all of them.
fn set_parameters(table: &Table, row: usize, definition: &Definition) -> Option<Vec<f64>> {
    let value = |column: &Column| {
        let numbers = table.numbers(&column.name).ok()?;
        numbers.get(row).copied()
    };
    definition.parameters.iter().map(value).collect()
}

/// The task that was really measured, where the parameters are not those of the item.
#[must_use]
pub fn achieved(planned: &Task, parameters: Option<Vec<f64>>) -> Option<Task> {
    let differs = |set: &Vec<f64>| {
        let pairs = set.iter().zip(planned.parameters());
        let mut far = pairs.map(|(a, b)| (a - b).abs() > 1e-9 * a.abs().max(b.abs()).max(1e-9));
        far.any(|far| far)
    };
    parameters.filter(differs).map(Task::point)
}

fn is_measured(definition: &Definition, column: &str) -> bool {
    let mut columns = definition.inputs.iter().chain(&definition.outputs);
    columns.any(|known| known.name == column)
}

fn rows_of(table: &Table, definition: &Definition) -> Result<Measured> {
    let names = |columns: &[Column]| -> Vec<String> {
        columns.iter().map(|column| column.name.clone()).collect()
    };
    let block = |columns: &[Column]| -> Result<Vec<f64>> {
        let names = names(columns);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(table.matrix(&names)?)
    };
    if table.rows() == 0 {
        return Err(Error::Input(format!(
            "{} has no rows: give what was measured, or `fail` the item",
            table.name()
        )));
    }
    let samples = Samples::new(
        block(&definition.inputs)?,
        definition.inputs.len(),
        block(&definition.outputs)?,
        definition.outputs.len(),
    )?;
    Ok(Measured {
        samples,
        source: Some(table.name().to_owned()),
    })
}

fn some_rows(all: &Measured, rows: &[usize]) -> Result<Measured> {
    let samples = &all.samples;
    let (inputs, outputs) = (samples.input_dim(), samples.output_dim());
    let pick = |values: &[f64], width: usize| -> Vec<f64> {
        let picked = rows
            .iter()
            .flat_map(|row| &values[row * width..(row + 1) * width]);
        picked.copied().collect()
    };
    let part = Samples::new(
        pick(samples.inputs(), inputs),
        inputs,
        pick(samples.outputs(), outputs),
        outputs,
    )?;
    Ok(Measured {
        samples: part,
        source: all.source.clone(),
    })
}

fn item_numbers(table: &Table) -> Result<Vec<u64>> {
    let number = |(row, &value): (usize, &f64)| {
        if value >= 0.0 && value.fract().abs() <= 0.0 && value < 1e15 {
            return Ok(value as u64);
        }
        Err(Error::Input(format!(
            "{} has the item {value}: give its number as the plan has it",
            table.place(row)
        )))
    };
    table
        .numbers(ITEM)?
        .iter()
        .enumerate()
        .map(number)
        .collect()
}
