//! `taskscout predict`.

use std::path::Path;

use taskscout_io::tables::{ReadOptions, Table, csv_text};
use taskscout_lab::files::{Write, check_free, writer};
use taskscout_lab::memory::Need;
use taskscout_lab::options::comment_byte;
use taskscout_lab::{LogInputs, log_inputs};
use taskscout_models::SavedModel;

use super::options::PredictOptions;
use crate::error::{CliError, Result};
use taskscout_terminal::Alive;
use taskscout_terminal::{print, tell};

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
    let alive = Alive::start("predicting");
    let model = SavedModel::load(&options.model)?;
    let comment = comment_byte(options.comment);
    if options.columns.is_none()
        && let Some(found) = log_inputs(&model, &options.inputs, comment)?
    {
        drop(alive);
        return of_logs(options, &model, &found, write);
    }
    let inputs = model.inputs_from(options.columns.as_deref(), comment, |reading| {
        read(&options.inputs, reading)
    })?;
    if let Some(note) = inputs.note {
        tell(&format!("note: {note}"));
    }
    if write.is_none() && !options.json {
        drop(alive);
        return model.predict_csv(&inputs.values, print);
    }
    check_memory(&model, &inputs.values, options.json)?;
    let predictions = model.predict(&inputs.values)?;
    if let Some((out, write)) = write {
        let mut columns = model.prediction_columns(&predictions);
        if out.extension().is_some_and(|ending| ending == "mcap") {
            columns.extend(inputs.time);
        }
        write(out, &columns)?;
        tell(&format!("note: written to {}", out.display()));
    }
    if options.json {
        let text = model.prediction_json(&inputs.columns, &predictions)?;
        drop(alive);
        print(&(text + "\n"))?;
    }
    Ok(())
}

/// Predictions of rows that were computed from logs, with the times of the rows.
fn of_logs(
    options: &PredictOptions,
    model: &SavedModel,
    found: &LogInputs,
    write: Option<(&Path, Write)>,
) -> Result<()> {
    for note in &found.notes {
        tell(&format!("note: {note}"));
    }
    check_memory(model, &found.values, options.json)?;
    let predictions = model.predict(&found.values)?;
    let mut columns = found.columns.clone();
    columns.extend(model.prediction_columns(&predictions));
    match write {
        Some((out, write)) => {
            write(out, &columns)?;
            tell(&format!("note: written to {}", out.display()));
        }
        None if !options.json => print(&csv_text(&columns)?)?,
        None => {}
    }
    if options.json {
        let text = model.prediction_json(&model.parts().names.inputs, &predictions)?;
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
