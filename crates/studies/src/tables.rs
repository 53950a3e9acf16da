//! Measured rows from tables, by the names of the study's columns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use taskscout::data::Samples;
use taskscout::task::Task;
use taskscout_io::tables::{ReadOptions, Table};

use crate::definition::{Column, Definition};
use crate::error::{Error, Result};
use crate::stored::StoredStudy;
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

impl StoredStudy {
    /// The task that was really measured instead of an item's, where the parameters that were set are not the planned
    /// ones.
    ///
    /// # Errors
    /// No such item, or another number of parameters than tasks have.
    pub fn achieved(&self, item: u64, set: Option<Vec<f64>>) -> Result<Option<Task>> {
        let planned = self.item(item)?.item.task.parameters();
        let Some(set) = set else { return Ok(None) };
        if set.len() != planned.len() {
            let names = self.definition().parameters.iter();
            let names: Vec<&str> = names.map(|column| column.name.as_str()).collect();
            return Err(Error::Input(format!(
                "{} values are given for what was really set, and tasks have {} parameters: give {}",
                set.len(),
                planned.len(),
                names.join(",")
            )));
        }
        let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9 * a.abs().max(b.abs()).max(1e-9);
        let differs = set.iter().zip(planned).any(far);
        Ok(differs.then(|| Task::point(set)))
    }
}

fn is_measured(definition: &Definition, column: &str) -> bool {
    let mut columns = definition.inputs.iter().chain(&definition.outputs);
    columns.any(|known| known.name == column)
}

pub(crate) fn rows_of(table: &Table, definition: &Definition) -> Result<Measured> {
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

pub(crate) fn some_rows(all: &Measured, rows: &[usize]) -> Result<Measured> {
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

pub(crate) fn item_numbers(table: &Table) -> Result<Vec<u64>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn definition() -> Definition {
        let named = |names: &[&str]| names.iter().map(|name| Column::named(name)).collect();
        Definition {
            parameters: named(&["wind"]),
            inputs: named(&["vx", "vy"]),
            outputs: named(&["force"]),
            ..Definition::default()
        }
    }

    fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    fn refusal(text: &str) -> String {
        let (_folder, path) = written(text);
        read_items(&path, &definition()).unwrap_err().to_string()
    }

    #[test]
    fn columns_are_found_by_name_and_others_are_passed_over() {
        let (_folder, path) = written("note,force,vy,vx\na,3,2,1\nb,6,5,4\n");
        let rows = read_rows(&path, &definition()).unwrap();
        assert_eq!(rows.samples.inputs(), [1.0, 2.0, 4.0, 5.0]);
        assert_eq!(rows.samples.outputs(), [3.0, 6.0]);
        assert_eq!(rows.source.as_deref(), Some("table.csv"));
    }

    #[test]
    fn rows_of_several_items_are_told_apart() {
        let (_folder, path) = written("item,vx,vy,force\n4,1,2,3\n0,4,5,6\n4,7,8,9\n");
        let items = read_items(&path, &definition()).unwrap();
        let ItemLine::Rows(rows, None) = &items[&4] else {
            panic!("no rows of item 4");
        };
        assert_eq!(rows.samples.inputs(), [1.0, 2.0, 7.0, 8.0]);
        assert_eq!(items.len(), 2);
    }

    #[test]
    fn a_checklist_names_files_and_failures() {
        let (folder, path) =
            written("item,wind,file,failed\n0,3.5,run.csv,\n1,4,,the fan broke\n2,5,,\n");
        std::fs::write(folder.path().join("run.csv"), "vx,vy,force\n1,2,3\n").unwrap();
        let items = read_items(&path, &definition()).unwrap();
        assert!(matches!(&items[&0], ItemLine::Rows(_, Some(set)) if set == &[3.5]));
        assert_eq!(items[&1], ItemLine::Failed("the fan broke".into()));
        assert_eq!(items.len(), 2);
    }

    #[test]
    fn tables_that_say_nothing_or_too_much_are_refused() {
        assert!(refusal("vx,vy,force\n1,2,3\n").contains("no column `item`"));
        assert!(refusal("item,vx,vy,force\n0.5,1,2,3\n").contains("line 2"));
        assert!(refusal("item,file\n0,\n").contains("nothing is filled in"));
        assert!(refusal("item,failed\n0,a\n0,b\n").contains("a second time"));
        assert!(refusal("item,file\n0,nowhere.csv\n").contains("nowhere.csv"));
    }
}
