//! Predictions of tables: which columns are a model's inputs, and predictions as columns, CSV and JSON.

mod columns;

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use taskscout_io::tables::{Column, ReadOptions, TIME_COLUMNS, Table};

use self::columns::{Found, Wanted};
use crate::error::{Error, Result};
use crate::model::{Prediction, SavedModel};

/// Rows predicted at a time where predictions are handed on as they come.
const BLOCK: usize = 16_384;

/// The inputs of a model, found in a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableInputs {
    /// The values, row by row, in the order of the model.
    pub values: Vec<f64>,
    /// The columns that they come from.
    pub columns: Vec<String>,
    /// What a user should know of how they were found.
    pub note: Option<String>,
    /// The column that tells the time of each row, where there is one ([`TIME_COLUMNS`]).
    pub time: Option<Column>,
}

/// The names of what is given for each output.
fn output_names(model: &SavedModel) -> Vec<[String; 3]> {
    let outputs = model.outputs();
    let names = &model.parts().names;
    let own = names.units.as_ref().map(|_| &names.outputs);
    (0..outputs)
        .map(|output| {
            let name = match (own.and_then(|own| own.get(output)), outputs) {
                (Some(own), _) => own.clone(),
                (None, 1) => "y".to_owned(),
                (None, _) => format!("y{output}"),
            };
            [
                name.clone(),
                format!("{name}_std"),
                format!("{name}_model_std"),
            ]
        })
        .collect()
}

fn numbers(prediction: &Prediction) -> [f64; 3] {
    [prediction.mean, prediction.std, prediction.model_std]
}

impl SavedModel {
    /// Finds the model's inputs in a table, by the model's names or by those that `columns` gives in their place. `read`
    /// reads the table with the options that it gets: columns that are not needed are not read. Lines that begin with
    /// `comment` are no rows.
    ///
    /// # Errors
    /// Those of `read`, and a table without the inputs.
    pub fn inputs_from<E: From<Error>>(
        &self,
        columns: Option<&[String]>,
        comment: Option<u8>,
        read: impl FnOnce(&ReadOptions<'_>) -> std::result::Result<Table, E>,
    ) -> std::result::Result<TableInputs, E> {
        let wanted = Wanted::of(self, columns)?;
        let table = read(&ReadOptions {
            wanted: Some(&|column: &str| wanted.wants(column) || TIME_COLUMNS.contains(&column)),
            comment,
            ..ReadOptions::default()
        })?;
        let Found { columns, note } = wanted.find(&table, self)?;
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let find = |name: &&str| table.columns().iter().find(|column| column.name == **name);
        let time = TIME_COLUMNS.iter().find_map(find).cloned();
        let values = table.into_matrix(&names).map_err(Error::from)?;
        Ok(TableInputs {
            values,
            columns,
            note,
            time,
        })
    }

    /// Predictions as columns: of each output what is expected and both standard deviations.
    #[must_use]
    pub fn prediction_columns(&self, predictions: &[Prediction]) -> Vec<Column> {
        let outputs = self.outputs();
        let mut columns = Vec::with_capacity(3 * outputs);
        for (output, names) in output_names(self).into_iter().enumerate() {
            for (which, name) in names.into_iter().enumerate() {
                let of_output = predictions.iter().skip(output).step_by(outputs);
                let values = of_output.map(|one| numbers(one)[which]).collect();
                columns.push(Column::numbers(name, values));
            }
        }
        columns
    }

    /// Predictions as CSV, block after block: a reader gets the first rows before the last are done.
    ///
    /// # Errors
    /// Rows that cannot be predicted, and those of `write`.
    pub fn predict_csv<E: From<Error>>(
        &self,
        inputs: &[f64],
        mut write: impl FnMut(&str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let header = output_names(self).concat().join(",") + "\n";
        write(&header)?;
        for (block, rows) in inputs.chunks(BLOCK * self.input_dim()).enumerate() {
            let predictions = self
                .predict(rows)
                .map_err(|error| in_block(error, block * BLOCK))?;
            let mut text = String::new();
            for row in predictions.chunks(self.outputs()) {
                for (index, value) in row.iter().flat_map(numbers).enumerate() {
                    let separator = if index > 0 { "," } else { "" };
                    // Writing to a string cannot fail.
                    let _ = write!(text, "{separator}{value:?}");
                }
                text.push('\n');
            }
            write(&text)?;
        }
        Ok(())
    }

    /// Predictions as JSON, with the columns that the inputs came from.
    ///
    /// # Errors
    /// Numbers that JSON cannot hold.
    pub fn prediction_json(
        &self,
        columns: &[String],
        predictions: &[Prediction],
    ) -> Result<String> {
        let names = output_names(self);
        let row = |row: &[Prediction]| -> Value {
            let cells = names.iter().zip(row).flat_map(|(names, one)| {
                let numbers = numbers(one).map(|value| json!(value));
                names.iter().cloned().zip(numbers)
            });
            Value::Object(cells.collect::<Map<_, _>>())
        };
        let document = json!({
            "target": self.provenance().target,
            "predictor": self.parts().predictor.kind,
            "columns": columns,
            "inputs": self.parts().names.inputs,
            "outputs": self.parts().names.outputs,
            "units": self.parts().names.units,
            "predictions": predictions.chunks(self.outputs()).map(row).collect::<Vec<_>>(),
        });
        serde_json::to_string_pretty(&document).map_err(Error::Json)
    }
}

/// Rows count from the first of the file, not of a block.
fn in_block(error: Error, first: usize) -> Error {
    match error {
        Error::Row {
            what,
            row,
            value,
            remedy,
        } => Error::Row {
            what,
            row: row + first,
            value,
            remedy,
        },
        other => other,
    }
}
