//! One model of all outputs, with names, units and scaling.

use taskscout::train::{Predictor, PredictorKind};
use taskscout_models::{Affine, Names, Parts, Provenance, SavedModel, Uncertainty, Units};

use super::fit::OutputFit;
use super::prepare::Prepared;
use crate::error::{LabError, Result};

/// Puts the outputs together.
pub(super) fn model(prepared: &Prepared, fits: &[OutputFit]) -> Result<SavedModel> {
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
    let recording = &prepared.logs.recordings[prepared.target];
    let name = |fit: &OutputFit| recording.outputs[fit.output].clone();
    let unit = |name: &String| prepared.logs.units.get(name).cloned();
    let outputs: Vec<String> = fits.iter().map(name).collect();
    let scaling = prepared.scaling(prepared.target);
    let offsets: Vec<f64> = fits
        .iter()
        .map(|fit| prepared.offsets[fit.output])
        .collect();
    let shared = fits
        .iter()
        .any(|fit| fit.choice.kind != PredictorKind::TargetOnly);
    let reasons: Vec<String> = fits
        .iter()
        .map(|fit| format!("{}: {}", name(fit), fit.choice.reason))
        .collect();
    let source_rows = |at: &usize| prepared.logs.recordings[*at].rows();
    Ok(SavedModel::new(Parts {
        input_features: prepared.features.map.clone(),
        representation: None,
        predictor: Predictor {
            kind: if shared {
                PredictorKind::Shared
            } else {
                PredictorKind::TargetOnly
            },
            coefficients: fits
                .iter()
                .flat_map(|fit| fit.choice.returned.coefficients.clone())
                .collect(),
            head: None,
            held_out_error: None,
        },
        uncertainty,
        input_scaling: Some(Affine {
            mean: scaling.mean.clone(),
            scale: scaling.scale.clone(),
        }),
        output_scaling: offsets
            .iter()
            .any(|offset| offset.abs() > 0.0)
            .then(|| Affine {
                scale: vec![1.0; offsets.len()],
                mean: offsets.clone(),
            }),
        tasks: None,
        provenance: Provenance {
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
        },
        names: Names {
            units: Some(Units {
                inputs: prepared.logs.inputs.iter().map(unit).collect(),
                outputs: outputs.iter().map(unit).collect(),
            }),
            inputs: prepared.logs.inputs.clone(),
            outputs,
        },
    })?)
}
