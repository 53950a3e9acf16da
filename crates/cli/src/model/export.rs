//! `taskscout export`.

use std::path::PathBuf;

use taskscout_models::SavedModel;

use super::options::{ExportOptions, FormatName};
use crate::error::{CliError, Result};
use crate::output::{check_free, tell};

/// Reads a model and writes it in another format.
pub(crate) fn execute(options: &ExportOptions) -> Result<()> {
    let model = SavedModel::load(&options.model)?;
    let out = destination(options)?;
    check_free(&out, options.force)?;
    match options.format {
        FormatName::Onnx => model.save_onnx(&out, options.std)?,
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
    match (&options.out, options.format) {
        (Some(out), _) => Ok(out.clone()),
        (None, FormatName::Onnx) => Ok(options.model.with_extension("onnx")),
        (None, FormatName::Safetensors) => Err(CliError::Input(
            "the model is a safetensors file already: name the copy with --out".into(),
        )),
    }
}
