//! One model of all outputs, with names, units and scaling.

use taskscout::train::{Predictor, PredictorKind};
use taskscout_models::{
    Affine, InputExpressions, Names, Parts, Provenance, SavedModel, Uncertainty, Units,
};

use super::fit::OutputFit;
use super::prepare::Prepared;
use crate::error::{LabError, Result};

/// Puts the outputs together.
pub(super) fn model(
    prepared: &Prepared,
    fits: &[OutputFit],
    expressions: Option<InputExpressions>,
) -> Result<SavedModel> {
    let posteriors: Vec<_> = fits
        .iter()
        .flat_map(|fit| fit.choice.posteriors.clone())
        .collect();
    let uncertainty = match Uncertainty::of_posteriors(&posteriors) {
        Some(known) if posteriors.len() == fits.len() => known?,
        _ => {
            return Err(LabError::Failure(
                "the guard gave no uncertainty of the model: try --phi linear".into(),
            ));
        }
    };
    let scaling = prepared.scaling(prepared.target);
    let offset = |fit: &OutputFit| prepared.offsets[fit.output];
    let offsets: Vec<f64> = fits.iter().map(offset).collect();
    let moved = offsets.iter().any(|offset| offset.abs() > 0.0);
    Ok(SavedModel::new(Parts {
        input_features: prepared.features.map.clone(),
        representation: None,
        predictor: predictor(fits),
        uncertainty,
        input_scaling: Some(Affine {
            mean: scaling.mean.clone(),
            scale: scaling.scale.clone(),
        }),
        output_scaling: moved.then(|| Affine {
            scale: vec![1.0; offsets.len()],
            mean: offsets,
        }),
        tasks: None,
        provenance: provenance(prepared, fits),
        names: Names {
            expressions,
            ..names(prepared, fits)
        },
    })?)
}

/// What predicts all outputs: of each, what the guard hands back.
fn predictor(fits: &[OutputFit]) -> Predictor {
    let alone = |fit: &OutputFit| fit.choice.kind == PredictorKind::TargetOnly;
    let coefficients = |fit: &OutputFit| fit.choice.returned.coefficients.clone();
    Predictor {
        kind: match fits.iter().all(alone) {
            true => PredictorKind::TargetOnly,
            false => PredictorKind::Shared,
        },
        coefficients: fits.iter().flat_map(coefficients).collect(),
        head: None,
        held_out_error: None,
    }
}

fn output_name(prepared: &Prepared, fit: &OutputFit) -> String {
    prepared.logs.recordings[prepared.target].outputs[fit.output].clone()
}

fn provenance(prepared: &Prepared, fits: &[OutputFit]) -> Provenance {
    let reason = |fit: &OutputFit| format!("{}: {}", output_name(prepared, fit), fit.choice.reason);
    let reasons: Vec<String> = fits.iter().map(reason).collect();
    let source_rows = |at: &usize| prepared.logs.recordings[*at].rows();
    Provenance {
        version: env!("CARGO_PKG_VERSION").into(),
        study: "learn".into(),
        strategy: "all recordings".into(),
        oracle: "pooled".into(),
        seed: 0,
        target: prepared.name().to_owned(),
        reason: reasons.join("; "),
        rounds: 0,
        source_rows: prepared.sources.iter().map(source_rows).sum(),
        target_rows: prepared.learning_rows().len(),
    }
}

fn names(prepared: &Prepared, fits: &[OutputFit]) -> Names {
    let unit = |name: &String| prepared.logs.units.get(name).cloned();
    let outputs: Vec<String> = fits.iter().map(|fit| output_name(prepared, fit)).collect();
    Names {
        units: Some(Units {
            inputs: prepared.logs.inputs.iter().map(unit).collect(),
            outputs: outputs.iter().map(unit).collect(),
        }),
        inputs: prepared.logs.inputs.clone(),
        outputs,
        expressions: None,
    }
}
