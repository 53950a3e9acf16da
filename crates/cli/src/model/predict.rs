//! `taskscout predict`.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use taskscout_io::tables::{Column, ReadOptions, Table};
use taskscout_models::{Prediction, SavedModel};

use super::columns::{Found, Wanted, reading};
use super::options::PredictOptions;
use crate::error::{CliError, Result};
use crate::output::{check_free, print, tell, writer};
use taskscout_lab::memory::Need;
use taskscout_lab::options::comment_byte;

/// Rows predicted and printed at a time.
const BLOCK: usize = 16_384;
/// Bytes of a prediction and its columns, and of the same as a document and its text.
const PREDICTED: f64 = 100.0;
const PREDICTED_JSON: f64 = 1000.0;

/// Reads a model and inputs, and hands predictions out.
pub(crate) fn execute(options: &PredictOptions) -> Result<()> {
    let out = options.out.as_deref();
    let write = out
        .map(|out| Ok::<_, CliError>((out, writer(out)?)))
        .transpose()?;
    if let Some(out) = out {
        check_free(out, options.force)?;
    }
    let model = SavedModel::load(&options.model)?;
    let wanted = Wanted::of(&model, options.columns.as_deref())?;
    let table = read(
        &options.inputs,
        &reading(
            &|column| wanted.wants(column),
            comment_byte(options.comment),
        ),
    )?;
    let Found { columns, note } = wanted.find(&table, &model)?;
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let inputs = table.into_matrix(&names)?;
    if let Some(note) = note {
        tell(&format!("note: {note}"));
    }
    if write.is_none() && !options.json {
        return print_csv(&model, &inputs);
    }
    check_memory(&model, &inputs, options.json)?;
    let predictions = model.predict(&inputs)?;
    if let Some((out, write)) = write {
        write(out, &table_of(&model, &predictions))?;
        tell(&format!("note: written to {}", out.display()));
    }
    if options.json {
        let document = document(&model, &columns, &predictions);
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| CliError::Failure(format!("cannot write the predictions: {error}")))?;
        print(&(text + "\n"))?;
    }
    Ok(())
}

/// Bytes of standard input that are read.
const LARGEST_INPUT: u64 = 1 << 30;

/// Refuses predictions that do not fit into memory.
fn check_memory(model: &SavedModel, inputs: &[f64], json: bool) -> Result<()> {
    let rows = inputs.len() / model.input_dim();
    let each = if json { PREDICTED_JSON } else { PREDICTED };
    let mut need = Need::default();
    let what = format!("the predictions of {rows} rows");
    need.add(what, (rows * model.outputs()) as f64 * each);
    need.check("leave out --out and --json, which streams predictions as CSV, or give fewer rows")
}

fn read(path: &Path, reading: &ReadOptions<'_>) -> Result<Table> {
    if path != Path::new("-") {
        return Ok(Table::read_with(path, reading)?);
    }
    let text = taskscout_io::files::read_from(std::io::stdin().lock(), LARGEST_INPUT)
        .map_err(|error| CliError::Failure(format!("cannot read standard input: {error}")))?;
    Ok(Table::read_csv_text_with(&text, "standard input", reading)?)
}

/// The names of what is given for each output.
fn output_names(model: &SavedModel) -> Vec<[String; 3]> {
    let outputs = model.outputs();
    (0..outputs)
        .map(|output| {
            let name = match outputs {
                1 => "y".to_owned(),
                _ => format!("y{output}"),
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

fn table_of(model: &SavedModel, predictions: &[Prediction]) -> Vec<Column> {
    let outputs = model.outputs();
    let mut columns = Vec::with_capacity(3 * outputs);
    for (output, names) in output_names(model).into_iter().enumerate() {
        for (which, name) in names.into_iter().enumerate() {
            let of_output = predictions.iter().skip(output).step_by(outputs);
            let values = of_output.map(|one| numbers(one)[which]).collect();
            columns.push(Column::numbers(name, values));
        }
    }
    columns
}

/// Predictions as CSV, block after block: a reader gets the first rows before the last are done.
fn print_csv(model: &SavedModel, inputs: &[f64]) -> Result<()> {
    let header = output_names(model).concat().join(",") + "\n";
    print(&header)?;
    for (block, rows) in inputs.chunks(BLOCK * model.input_dim()).enumerate() {
        let predictions = model
            .predict(rows)
            .map_err(|error| in_block(error, block * BLOCK))?;
        let mut text = String::new();
        for row in predictions.chunks(model.outputs()) {
            for (index, value) in row.iter().flat_map(numbers).enumerate() {
                let separator = if index > 0 { "," } else { "" };
                // Writing to a string cannot fail.
                let _ = write!(text, "{separator}{value:?}");
            }
            text.push('\n');
        }
        print(&text)?;
    }
    Ok(())
}

/// Rows count from the first of the file, not of a block.
fn in_block(error: taskscout_models::Error, first: usize) -> taskscout_models::Error {
    match error {
        taskscout_models::Error::Row {
            what,
            row,
            value,
            remedy,
        } => taskscout_models::Error::Row {
            what,
            row: row + first,
            value,
            remedy,
        },
        other => other,
    }
}

fn document(model: &SavedModel, columns: &[String], predictions: &[Prediction]) -> Value {
    let names = output_names(model);
    let row = |row: &[Prediction]| -> Value {
        let cells = names.iter().zip(row).flat_map(|(names, one)| {
            let numbers = numbers(one).map(|value| json!(value));
            names.iter().cloned().zip(numbers)
        });
        Value::Object(cells.collect::<Map<_, _>>())
    };
    json!({
        "target": model.provenance().target,
        "predictor": model.parts().predictor.kind,
        "columns": columns,
        "inputs": model.parts().names.inputs,
        "outputs": model.parts().names.outputs,
        "predictions": predictions.chunks(model.outputs()).map(row).collect::<Vec<_>>(),
    })
}
