//! The options of `taskscout export` and `taskscout predict`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options of `taskscout export`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportOptions {
    /// The saved model, a .safetensors file
    pub(crate) model: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: FormatName,
    /// Where to write it [default: beside the model, with the format's ending]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// ONNX: add the output y_std, the standard deviation of a new observation
    #[arg(long)]
    pub(crate) std: bool,
    /// ONNX: x and y in double precision, for values whose distance from zero is large compared with their spread
    #[arg(long)]
    pub(crate) double: bool,
    /// Replace a file that is there already
    #[arg(long)]
    pub(crate) force: bool,
}

/// Formats by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// A graph for onnxruntime and other runtimes
    Onnx,
    /// Named tensors in double precision
    Safetensors,
}

/// Options of `taskscout predict`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PredictOptions {
    /// The saved model, a .safetensors file
    pub(crate) model: PathBuf,
    /// The inputs: a CSV, TSV or Parquet file, one prediction per row; `-` reads CSV from standard input. For a model that
    /// was learnt from logs of a robot also such a log, or a folder of them
    #[arg(long, value_name = "FILE")]
    pub(crate) inputs: PathBuf,
    /// The input columns in the order of the model, separated by commas [default: those that the model
    /// names, or all columns of numbers if it names none]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// CSV: skip lines that begin with this character [default: every line is a row]
    #[arg(long, value_name = "CHAR", value_parser = taskscout_lab::options::comment)]
    pub(crate) comment: Option<char>,
    /// Where predictions go, a .csv, .parquet or .mcap file; the last has the times of the inputs' column `t` or
    /// `time` [default: CSV on standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Print predictions as JSON on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}
