//! A saved model in another format.

use std::path::{Path, PathBuf};

use taskscout_models::{OnnxOptions, SavedModel};

use crate::error::{LabError, Result};
use crate::files::check_free;
use crate::watch::Watcher;

/// Formats of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFormat {
    /// A graph for onnxruntime and other runtimes.
    Onnx,
    /// Named tensors in double precision.
    Safetensors,
}

impl ModelFormat {
    /// All formats.
    pub const ALL: &[Self] = &[Self::Onnx, Self::Safetensors];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Onnx => "onnx",
            Self::Safetensors => "safetensors",
        }
    }

    /// What it is.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Onnx => "A graph for onnxruntime and other runtimes",
            Self::Safetensors => "Named tensors in double precision",
        }
    }
}

/// What to write, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportRequest {
    /// The saved model.
    pub model: PathBuf,
    /// The format to write.
    pub format: ModelFormat,
    /// Where to write it; beside the model, with the format's ending, if not given.
    pub out: Option<PathBuf>,
    /// What an ONNX graph holds.
    pub graph: OnnxOptions,
    /// Replace a file that is there already.
    pub force: bool,
}

/// Reads a model and writes it in another format; whoever watches hears what its user has to know.
///
/// # Errors
/// A model that cannot be read, a file that is there already or cannot be written, options of another format.
///
/// ```
/// use std::sync::Arc;
/// use taskscout_lab::deploy::{ExportRequest, ModelFormat, export};
/// use taskscout_lab::Watcher;
/// use taskscout_models::OnnxOptions;
///
/// let nobody: Watcher = Arc::new(());
/// let request = ExportRequest {
///     model: "wind.safetensors".into(),
///     format: ModelFormat::Safetensors,
///     out: None,
///     graph: OnnxOptions { with_std: true, double: false },
///     force: false,
/// };
/// let refusal = export(&request, &nobody).unwrap_err();
/// assert!(refusal.to_string().starts_with("--std belongs to --format onnx"));
/// ```
pub fn export(request: &ExportRequest, watcher: &Watcher) -> Result<()> {
    let out = destination(request)?;
    let model = SavedModel::load(&request.model)?;
    check_free(&out, request.force)?;
    match request.format {
        ModelFormat::Onnx => write_graph(&model, &out, request.graph, watcher)?,
        ModelFormat::Safetensors => model.save(&out)?,
    }
    watcher.note(&format!(
        "note: {} of target `{}` written to {}: {} inputs, {} outputs",
        model.parts().predictor.kind,
        model.provenance().target,
        out.display(),
        model.input_dim(),
        model.outputs()
    ));
    Ok(())
}

fn write_graph(
    model: &SavedModel,
    out: &Path,
    graph: OnnxOptions,
    watcher: &Watcher,
) -> Result<()> {
    model.save_onnx_with(out, graph)?;
    if let Some(expressions) = &model.parts().names.expressions {
        watcher.note(&format!(
            "note: the graph takes the values of {}, which the robot has to compute; `taskscout predict` computes them from logs",
            expressions.inputs.join(", ")
        ));
    }
    if !graph.double {
        for warning in model.single_precision_warnings() {
            watcher.note(&format!(
                "warning: {warning}: export with --double, or subtract the offset before"
            ));
        }
    }
    Ok(())
}

fn destination(request: &ExportRequest) -> Result<PathBuf> {
    let refuse = |sentence: &str| Err(LabError::Input(sentence.into()));
    if request.format == ModelFormat::Safetensors {
        if request.graph.with_std {
            return refuse(
                "--std belongs to --format onnx: a safetensors file holds the covariance itself",
            );
        }
        if request.graph.double {
            return refuse(
                "--double belongs to --format onnx: a safetensors file is in double precision already",
            );
        }
    }
    match (&request.out, request.format) {
        (Some(out), _) => Ok(out.clone()),
        (None, ModelFormat::Onnx) => Ok(request.model.with_extension("onnx")),
        (None, ModelFormat::Safetensors) => {
            refuse("the model is a safetensors file already: name the copy with --out")
        }
    }
}
