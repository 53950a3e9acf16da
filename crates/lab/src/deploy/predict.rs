//! Predictions of a saved model for the rows of a table, or of logs.

use std::path::{Path, PathBuf};

use taskscout_io::tables::{ReadOptions, Table, csv_text};
use taskscout_models::SavedModel;

use crate::error::{LabError, Result};
use crate::files::{Write, check_free, writer};
use crate::log_inputs::{LogInputs, log_inputs};
use crate::memory::Need;
use crate::options::comment_byte;
use crate::watch::Watcher;

/// Bytes of a prediction and its columns, and of the same as a document and its text.
const PREDICTED: f64 = 100.0;
const PREDICTED_JSON: f64 = 1000.0;
/// Bytes of standard input that are read.
const LARGEST_INPUT: u64 = 1 << 30;

/// What to predict, and where predictions go.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PredictRequest {
    /// The saved model.
    pub model: PathBuf,
    /// A table, a log, a folder of logs, or `-` for CSV on standard input.
    pub inputs: PathBuf,
    /// The input columns in the order of the model; those that it names if not given.
    pub columns: Option<Vec<String>>,
    /// Lines of CSV that begin with it are skipped.
    pub comment: Option<char>,
    /// A file for predictions; printed as CSV if not given.
    pub out: Option<PathBuf>,
    /// Replace a file that is there already.
    pub force: bool,
    /// Print predictions as JSON.
    pub json: bool,
}

/// Reads a model and inputs, and hands predictions out: to the file that is asked for, or to `print`.
///
/// # Errors
/// A model or inputs that cannot be read or do not fit each other, a file that cannot be written, what `print` refuses.
pub fn predict(
    request: &PredictRequest,
    watcher: &Watcher,
    print: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<()> {
    let write = request
        .out
        .as_deref()
        .map(|out| {
            let write = writer(out)?;
            check_free(out, request.force).map(|()| (out, write))
        })
        .transpose()?;
    let model = SavedModel::load(&request.model)?;
    let comment = comment_byte(request.comment);
    if request.columns.is_none()
        && let Some(found) = log_inputs(&model, &request.inputs, comment)?
    {
        return of_logs(request, (&model, &found), write, watcher, print);
    }
    let inputs = model.inputs_from(request.columns.as_deref(), comment, |reading| {
        read(&request.inputs, reading)
    })?;
    if let Some(note) = inputs.note {
        watcher.note(&format!("note: {note}"));
    }
    if write.is_none() && !request.json {
        return model.predict_csv(&inputs.values, print);
    }
    check_memory(&model, &inputs.values, request.json)?;
    let predictions = model.predict(&inputs.values)?;
    if let Some((out, write)) = write {
        let mut columns = model.prediction_columns(&predictions);
        if out.extension().is_some_and(|ending| ending == "mcap") {
            columns.extend(inputs.time);
        }
        write(out, &columns)?;
        watcher.note(&format!("note: written to {}", out.display()));
    }
    if request.json {
        print(&(model.prediction_json(&inputs.columns, &predictions)? + "\n"))?;
    }
    Ok(())
}

/// Predictions of rows that were computed from logs, with the times of the rows.
fn of_logs(
    request: &PredictRequest,
    (model, found): (&SavedModel, &LogInputs),
    write: Option<(&Path, Write)>,
    watcher: &Watcher,
    print: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<()> {
    for note in &found.notes {
        watcher.note(&format!("note: {note}"));
    }
    check_memory(model, &found.values, request.json)?;
    let predictions = model.predict(&found.values)?;
    let mut columns = found.columns.clone();
    columns.extend(model.prediction_columns(&predictions));
    match write {
        Some((out, write)) => {
            write(out, &columns)?;
            watcher.note(&format!("note: written to {}", out.display()));
        }
        None if !request.json => print(&csv_text(&columns)?)?,
        None => {}
    }
    if request.json {
        let text = model.prediction_json(&model.parts().names.inputs, &predictions)?;
        print(&(text + "\n"))?;
    }
    Ok(())
}

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
        .map_err(|error| LabError::Failure(format!("cannot read standard input: {error}")))?;
    Ok(Table::read_csv_text_with(&text, "standard input", reading)?)
}
