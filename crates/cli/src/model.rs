//! `taskscout export` and `taskscout predict`: models to robots, and to tables.

use std::path::PathBuf;

use clap::Args;
use taskscout_lab::deploy::{self, ExportRequest, ModelFormat, PredictRequest};
use taskscout_models::OnnxOptions;
use taskscout_terminal::{Alive, print, terminal};

use crate::error::Result;
use crate::named::named;

/// Options of `taskscout export`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportOptions {
    /// The saved model, a .safetensors file
    model: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = named(ModelFormat::ALL, ModelFormat::name, ModelFormat::about))]
    format: ModelFormat,
    /// Where to write it [default: beside the model, with the format's ending]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// ONNX: add the output y_std, the standard deviation of a new observation
    #[arg(long)]
    std: bool,
    /// ONNX: x and y in double precision, for values whose distance from zero is large compared with their spread
    #[arg(long)]
    double: bool,
    /// Replace a file that is there already
    #[arg(long)]
    force: bool,
}

/// Options of `taskscout predict`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PredictOptions {
    /// The saved model, a .safetensors file
    model: PathBuf,
    /// The inputs: a CSV, TSV or Parquet file, one prediction per row; `-` reads CSV from standard input. For a model that
    /// was learnt from logs of a robot also such a log, or a folder of them
    #[arg(long, value_name = "FILE")]
    inputs: PathBuf,
    /// The input columns in the order of the model, separated by commas [default: those that the model
    /// names, or all columns of numbers if it names none]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// CSV: skip lines that begin with this character [default: every line is a row]
    #[arg(long, value_name = "CHAR", value_parser = taskscout_lab::options::comment)]
    comment: Option<char>,
    /// Where predictions go, a .csv, .parquet or .mcap file; the last has the times of the inputs' column `t` or
    /// `time` [default: CSV on standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long, requires = "out")]
    force: bool,
    /// Print predictions as JSON on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

/// Writes a model in another format.
pub(crate) fn export(options: &ExportOptions) -> Result<()> {
    let request = ExportRequest {
        model: options.model.clone(),
        format: options.format,
        out: options.out.clone(),
        graph: OnnxOptions {
            with_std: options.std,
            double: options.double,
        },
        force: options.force,
    };
    deploy::export(&request, &terminal())
}

/// Predicts, with a sign of life until there is something to print.
pub(crate) fn predict(options: &PredictOptions) -> Result<()> {
    let asked = options.clone();
    let request = PredictRequest {
        model: asked.model,
        inputs: asked.inputs,
        columns: asked.columns,
        comment: asked.comment,
        out: asked.out,
        force: asked.force,
        json: asked.json,
    };
    let mut alive = Some(Alive::start("predicting"));
    deploy::predict(&request, &terminal(), &mut |text| {
        drop(alive.take());
        print(text)
    })
}
