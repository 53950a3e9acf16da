//! A table of tasks that can be measured: parameters, names, costs, rows that are left.

use std::collections::BTreeMap;
use std::path::Path;

use taskscout::space::{List, Space};
use taskscout::task::TaskId;
use taskscout_io::tables::{ReadOptions, Table, Values, parse_number};

use crate::definition::Column;
use crate::error::{Error, Result, about};
use crate::settings::TaskSettings;
use crate::source_tasks::SourceTasks;

/// What a column of names is called where nobody says.
const USUAL: [&str; 3] = ["name", "task", "id"];

/// A table of candidates.
pub(crate) struct Candidates {
    parameters: Vec<Column>,
    names: Option<Vec<String>>,
    rows: Vec<Vec<f64>>,
    costs: Option<Vec<f64>>,
    left: Option<Vec<Option<usize>>>,
}

impl Candidates {
    pub(crate) fn read(path: &Path, settings: &TaskSettings) -> Result<Self> {
        let numbers: Vec<&String> = settings
            .columns
            .iter()
            .flatten()
            .chain(&settings.cost)
            .chain(&settings.left)
            .collect();
        let is_name = |column: &str| match &settings.name {
            Some(name) => column == name,
            None => {
                USUAL.iter().any(|usual| column.eq_ignore_ascii_case(usual))
                    && !numbers.iter().any(|known| *known == column)
            }
        };
        let table = Table::read_with(
            path,
            &ReadOptions {
                // An empty cell of what is left means that there is no limit.
                text: Some(&|column| is_name(column) || settings.left.as_deref() == Some(column)),
                ..ReadOptions::default()
            },
        )?;
        if table.rows() == 0 {
            return Err(Error::Input(format!(
                "{} has no rows: give a row for every task that can be measured",
                table.name()
            )));
        }
        let name = names_column(&table, settings, &is_name);
        let columns = parameters(&table, settings, name.as_deref())?;
        let named: Vec<&str> = columns.iter().map(String::as_str).collect();
        let values = table.matrix(&named).map_err(wrong("tasks.columns"))?;
        let rows = values.chunks_exact(named.len()).map(<[f64]>::to_vec);
        let column = |name: &String| Column {
            unit: settings.units.get(name).cloned(),
            ..Column::named(name)
        };
        Ok(Self {
            parameters: columns.iter().map(column).collect(),
            names: (name.map(|name| table.text(&name)).transpose()).map_err(wrong("tasks.name"))?,
            rows: rows.collect(),
            costs: match &settings.cost {
                Some(column) => {
                    let costs = table.numbers(column).map(<[f64]>::to_vec);
                    Some(costs.map_err(wrong("tasks.cost"))?)
                }
                None => None,
            },
            left: match &settings.left {
                Some(column) => Some(whole(&table, column).map_err(about("tasks.left"))?),
                None => None,
            },
        })
    }

    /// The tasks, with affine features of centred and scaled parameters.
    pub(crate) fn into_tasks(self) -> Result<SourceTasks> {
        let list = match self.names {
            Some(names) => List::named(names, &self.rows)?,
            None => List::new(&self.rows)?,
        };
        let ids: Vec<TaskId> = (0..list.len()).map(|row| list.id(row)).collect();
        let spread = (0..self.parameters.len()).map(|column| {
            let count = self.rows.len() as f64;
            let mean = self.rows.iter().map(|row| row[column]).sum::<f64>() / count;
            let squares = self.rows.iter().map(|row| (row[column] - mean).powi(2));
            let deviation = (squares.sum::<f64>() / count).sqrt();
            let varies = deviation > 1e-12 * mean.abs().max(1e-300);
            (mean, if varies { deviation } else { 1.0 })
        });
        let tasks = SourceTasks::new(self.parameters, Space::List(list), spread.collect())?;
        let costs: BTreeMap<TaskId, f64> = ids
            .iter()
            .cloned()
            .zip(self.costs.into_iter().flatten())
            .collect();
        let left = ids.into_iter().zip(self.left.into_iter().flatten());
        Ok(SourceTasks {
            costs,
            capacities: left.filter_map(|(id, left)| Some((id, left?))).collect(),
            ..tasks
        })
    }
}

/// What a table lacks of a setting.
fn wrong(path: &str) -> impl Fn(taskscout_io::tables::Error) -> Error {
    move |error| about(path)(error.into())
}

fn names_column(
    table: &Table,
    settings: &TaskSettings,
    is_name: &dyn Fn(&str) -> bool,
) -> Option<String> {
    if settings.name.is_some() {
        return settings.name.clone();
    }
    let columns = table.columns().iter();
    let mut found = columns.filter(|column| is_name(&column.name));
    found.next().map(|column| column.name.clone())
}

/// The parameters: those that are named, or all columns of numbers that serve nothing else.
fn parameters(table: &Table, settings: &TaskSettings, name: Option<&str>) -> Result<Vec<String>> {
    if let Some(columns) = &settings.columns {
        return Ok(columns.clone());
    }
    let used = [settings.cost.as_deref(), settings.left.as_deref(), name];
    let columns: Vec<String> = table
        .columns()
        .iter()
        .filter(|column| matches!(column.values, Values::Numbers(_)))
        .filter(|column| !used.contains(&Some(column.name.as_str())))
        .map(|column| column.name.clone())
        .collect();
    if columns.is_empty() {
        return Err(Error::Input(format!(
            "{} has no column of numbers that could be a parameter of a task: add one, or name the columns",
            table.name()
        )));
    }
    Ok(columns)
}

/// How many rows each task can give; none where a cell is empty.
fn whole(table: &Table, column: &str) -> Result<Vec<Option<usize>>> {
    let count = |(row, cell): (usize, &String)| {
        if cell.trim().is_empty() {
            return Ok(None);
        }
        match parse_number(cell.trim().as_bytes()) {
            Some(left) if left >= 0.0 && left.fract().abs() <= 0.0 && left < 1e15 => {
                Ok(Some(left as usize))
            }
            _ => Err(Error::Input(format!(
                "{} has `{cell}` in `{column}`: give how many rows are left, a whole number, or nothing for no limit",
                table.place(row)
            ))),
        }
    };
    table.text(column)?.iter().enumerate().map(count).collect()
}

#[cfg(test)]
mod tests {
    use taskscout::space::TaskSpace as _;

    use super::*;

    fn read(text: &str, settings: &TaskSettings) -> Result<SourceTasks> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.csv");
        std::fs::write(&path, text).unwrap();
        Candidates::read(&path, settings)?.into_tasks()
    }

    const TABLE: &str = "id,wind,payload,minutes,left\n007,3,0.5,2,10\n8,6,1,1.5,\n";

    #[test]
    fn a_table_gives_tasks_costs_and_what_is_left() {
        let settings = TaskSettings {
            cost: Some("minutes".into()),
            left: Some("left".into()),
            units: [("wind".to_owned(), "m/s".to_owned())].into(),
            ..TaskSettings::default()
        };
        let tasks = read(TABLE, &settings).unwrap();
        let labels: Vec<String> = tasks.parameters.iter().map(Column::label).collect();
        assert_eq!(labels, ["wind (m/s)", "payload"]);
        // Names are text, whatever they look like.
        assert_eq!(tasks.costs.get(&TaskId::from("007")), Some(&2.0));
        assert_eq!(tasks.capacities.len(), 1);
        assert_eq!(tasks.capacities.get(&TaskId::from("007")), Some(&10));
        assert_eq!(tasks.space.dim(), 2);
        assert_eq!(tasks.spread[0], (4.5, 1.5));
    }

    #[test]
    fn what_serves_nothing_else_is_a_parameter_unless_columns_are_named() {
        let all = read(TABLE, &TaskSettings::default());
        // A cell of `left` is empty, and nobody said what the column is.
        assert!(all.is_err());
        let some = TaskSettings {
            columns: Some(vec!["payload".into()]),
            ..TaskSettings::default()
        };
        assert_eq!(read(TABLE, &some).unwrap().space.dim(), 1);
    }

    #[test]
    fn tables_that_cannot_be_tasks_are_refused() {
        let refusal =
            |text: &str, settings: &TaskSettings| read(text, settings).unwrap_err().to_string();
        let plain = TaskSettings::default();
        assert!(refusal("wind\n", &plain).contains("no rows"));
        assert!(refusal("name\na\n", &plain).contains("no column of numbers"));
        let left = TaskSettings {
            left: Some("left".into()),
            ..TaskSettings::default()
        };
        assert!(refusal("wind,left\n1,2.5\n", &left).contains("`2.5` in `left`"));
        let cost = TaskSettings {
            cost: Some("euros".into()),
            ..TaskSettings::default()
        };
        assert!(refusal("wind\n1\n", &cost).contains("euros"));
    }
}
