//! `taskscout export`.

use std::path::PathBuf;

use taskscout_models::{OnnxOptions, SavedModel};

use super::options::{ExportOptions, FormatName};
use crate::error::{CliError, Result};
use taskscout_lab::files::check_free;
use taskscout_terminal::tell;

/// Reads a model and writes it in another format.
pub(crate) fn execute(options: &ExportOptions) -> Result<()> {
    let model = SavedModel::load(&options.model)?;
    let out = destination(options)?;
    check_free(&out, options.force)?;
    match options.format {
        FormatName::Onnx => {
            let graph = OnnxOptions {
                with_std: options.std,
                double: options.double,
            };
            model.save_onnx_with(&out, graph)?;
            if let Some(expressions) = &model.parts().names.expressions {
                tell(&format!(
                    "note: the graph takes the values of {}, which the robot has to compute; `taskscout predict` computes them from logs",
                    expressions.inputs.join(", ")
                ));
            }
            if !options.double {
                for warning in model.single_precision_warnings() {
                    tell(&format!(
                        "warning: {warning}: export with --double, or subtract the offset before"
                    ));
                }
            }
        }
        FormatName::Safetensors => model.save(&out)?,
    }
    let provenance = model.provenance();
    tell(&format!(
        "note: {} of target `{}` written to {}: {} inputs, {} outputs",
        model.parts().predictor.kind,
        provenance.target,
        out.display(),
        model.input_dim(),
        model.outputs()
    ));
    Ok(())
}

fn destination(options: &ExportOptions) -> Result<PathBuf> {
    if options.std && options.format != FormatName::Onnx {
        return Err(CliError::Input(
            "--std belongs to --format onnx: a safetensors file holds the covariance itself".into(),
        ));
    }
    if options.double && options.format != FormatName::Onnx {
        return Err(CliError::Input(
            "--double belongs to --format onnx: a safetensors file is in double precision already"
                .into(),
        ));
    }
    match (&options.out, options.format) {
        (Some(out), _) => Ok(out.clone()),
        (None, FormatName::Onnx) => Ok(options.model.with_extension("onnx")),
        (None, FormatName::Safetensors) => Err(CliError::Input(
            "the model is a safetensors file already: name the copy with --out".into(),
        )),
    }
}
