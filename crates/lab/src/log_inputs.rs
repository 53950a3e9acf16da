//! Inputs of a model from logs that it has not seen: the expressions that it was learnt with are applied again.

use std::path::Path;

use taskscout_io::tables::{
    Column as TableColumn, ReadOptions as TableOptions, TIME_COLUMNS, Table,
};
use taskscout_logs::join::Method;
use taskscout_logs::{Column, Expression, RobotOptions, Series, read_rows, robot_format};
use taskscout_models::{InputExpressions, SavedModel};

use crate::error::{LabError, Result};

/// Rows of inputs, with what tells them apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogInputs {
    /// The values, row by row, in the order of the model.
    pub(crate) values: Vec<f64>,
    /// The recording of each row, where there are several, and its time.
    pub(crate) columns: Vec<TableColumn>,
    /// What a user should know.
    pub(crate) notes: Vec<String>,
}

/// The inputs of a model from a log of a robot, from a folder of them, or from a table that has the columns of such a log instead of the
/// model's inputs. Nothing where the model has no expressions, or the table has its inputs already.
///
/// # Errors
/// Logs that cannot be read, or that lack what the expressions name.
pub(crate) fn log_inputs(
    model: &SavedModel,
    path: &Path,
    comment: Option<u8>,
) -> Result<Option<LogInputs>> {
    let Some(expressions) = &model.parts().names.expressions else {
        return Ok(None);
    };
    let found = match robot_format(path)? {
        Some(_) => of_logs(expressions, path)?,
        None => match of_table(model, expressions, path, comment)? {
            Some(found) => found,
            None => return Ok(None),
        },
    };
    let (names, wanted) = (&found.0, &model.parts().names.inputs);
    if names != wanted {
        return Err(LabError::Input(format!(
            "{} gives {}, but the model takes {}: give logs of the robot that it was learnt from",
            path.display(),
            names.join(", "),
            wanted.join(", ")
        )));
    }
    Ok(Some(found.1))
}

/// Names of inputs, and their rows.
type Named = (Vec<String>, LogInputs);

fn of_logs(expressions: &InputExpressions, path: &Path) -> Result<Named> {
    let options = RobotOptions {
        inputs: expressions.inputs.clone(),
        times: expressions.times.clone(),
        method: match expressions.interpolate {
            true => Method::Linear,
            false => Method::Nearest,
        },
        tolerance_s: expressions.tolerance_s,
        ..RobotOptions::default()
    };
    let logs = read_rows(path, &options, true)?;
    let several = logs.recordings.len() > 1;
    let (mut values, mut names, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for recording in logs.recordings {
        let time = recording.time.unwrap_or_default();
        names.extend(std::iter::repeat_n(recording.name, time.len()));
        times.extend(time);
        values.extend(recording.x);
    }
    let mut columns = Vec::new();
    if several {
        columns.push(TableColumn::text("recording", names));
    }
    columns.push(TableColumn::numbers("time", times));
    let found = LogInputs {
        values,
        columns,
        notes: logs.warnings,
    };
    Ok((logs.inputs, found))
}

fn of_table(
    model: &SavedModel,
    expressions: &InputExpressions,
    path: &Path,
    comment: Option<u8>,
) -> Result<Option<Named>> {
    if path == Path::new("-") {
        return Ok(None);
    }
    let options = TableOptions {
        comment,
        ..TableOptions::default()
    };
    let table = Table::read_with(path, &options)?;
    let there = |name: &String| table.columns().iter().any(|column| &column.name == name);
    if model.parts().names.inputs.iter().all(there) {
        return Ok(None);
    }
    let series = series(&table)?;
    let (mut columns, mut row_wise) = (Vec::new(), true);
    for text in &expressions.inputs {
        let place = |error: taskscout_logs::ExpressionError| {
            let table = path.display();
            LabError::Input(format!(
                "{table} has neither the model's inputs nor what they are computed from: {error}"
            ))
        };
        let expression: Expression = text.parse().map_err(place)?;
        row_wise &= expression.is_row_wise();
        columns.extend(expression.evaluate(&series).map_err(place)?);
    }
    Ok(Some(rows(&columns, &series, row_wise)))
}

/// The columns of a table as the series of a log: what stands before the first point is the series.
fn series(table: &Table) -> Result<Vec<Series>> {
    let numeric = table.numeric_columns();
    let time = TIME_COLUMNS.iter().find(|name| numeric.contains(name));
    let time = match time {
        Some(name) => table.numbers(name)?.to_vec(),
        None => (0..table.rows()).map(|row| row as f64).collect(),
    };
    let mut all: Vec<Series> = Vec::new();
    for name in numeric {
        let (series, column) = name.split_once('.').unwrap_or(("table", name));
        let values = table.numbers(name)?.to_vec();
        let column = Column::new(column, values);
        match all.iter_mut().find(|one| one.name == series) {
            Some(one) => one.columns.push(column),
            None => all.push(Series::new(series, time.clone(), vec![column])),
        }
    }
    Ok(all)
}

fn rows(columns: &[Column], series: &[Series], row_wise: bool) -> Named {
    let time = series.first().map_or(&[][..], |one| &one.time);
    let mut count = time.len();
    // What needs the next row has no value in the last.
    while !row_wise && count > 0 && columns.iter().any(|one| one.values[count - 1].is_nan()) {
        count -= 1;
    }
    let row = |row: usize| columns.iter().map(move |column| column.values[row]);
    let found = LogInputs {
        values: (0..count).flat_map(row).collect(),
        columns: vec![TableColumn::numbers("time", time[..count].to_vec())],
        notes: Vec::new(),
    };
    let names = columns.iter().map(|column| column.name.clone()).collect();
    (names, found)
}
