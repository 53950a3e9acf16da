//! The error of the model on rows of the target that it has not seen.
//!
//! Where rows are kept apart to judge, they do. Else the target's rows are cut into stretches of time, and each is predicted by what is learnt
//! without it, the guard's choice included. Neighbouring rows are alike, so single rows left out would flatter.

use faer::MatRef;
use rayon::prelude::*;
use taskscout::data::{Samples, Statistics};
use taskscout::features::Features as _;
use taskscout::train::{AveragedPredictor, Predictor, PredictorKind};

use super::fit::OutputFit;
use super::prepare::Prepared;
use super::unknown::{self, Guesses, matrix};
use crate::error::Result;

/// Stretches of the target's rows that are left out in turn.
const STRETCHES: usize = 5;
/// Fewest rows to leave stretches out of.
const FEWEST: usize = 10;

/// Errors on rows that were not seen, output by output.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeldOutErrors {
    /// How they were measured, in words.
    pub(super) how: String,
    /// Nothing where there are too few rows.
    pub(super) outputs: Option<Vec<OutputErrors>>,
}

/// Mean squares of an output on rows that were not seen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct OutputErrors {
    /// Error of what is handed back.
    pub(super) returned: f64,
    /// Error of what the target's rows give by themselves.
    pub(super) target_only: f64,
    /// Variance of the rows: the error of their own mean.
    pub(super) variance: f64,
}

/// Judges what was learnt.
pub(super) fn judge(prepared: &Prepared, fits: &[OutputFit]) -> Result<HeldOutErrors> {
    let rows = prepared.learning_rows();
    if !prepared.test.is_empty() {
        let outputs = fits.iter().map(|fit| {
            let mut sums = Sums::default();
            sums.add(prepared, fit, &fit.choice, &prepared.test)?;
            Ok(sums.errors())
        });
        return Ok(HeldOutErrors {
            how: format!(
                "on {} rows of the target that nothing was learnt from",
                prepared.test.len()
            ),
            outputs: Some(outputs.collect::<Result<_>>()?),
        });
    }
    if rows.len() < FEWEST {
        return Ok(HeldOutErrors {
            how: format!(
                "not measured, because {} rows of the target are too few to leave some out",
                rows.len()
            ),
            outputs: None,
        });
    }
    let mut sums = vec![Sums::default(); fits.len()];
    let stretches: Vec<(usize, usize)> = (0..STRETCHES)
        .map(|at| {
            (
                at * rows.len() / STRETCHES,
                (at + 1) * rows.len() / STRETCHES,
            )
        })
        .collect();
    for (start, end) in stretches {
        let rest = [&rows[..start], &rows[end..]].concat();
        let features = target_features(prepared, fits, &rest)?;
        let choices: Vec<AveragedPredictor> = fits
            .par_iter()
            .map(|fit| {
                fit.refit(
                    prepared,
                    &samples(prepared, fit.output, &rest)?,
                    features.as_deref(),
                )
            })
            .collect::<Result<_>>()?;
        for ((sum, fit), choice) in sums.iter_mut().zip(fits).zip(&choices) {
            sum.add(prepared, fit, choice, &rows[start..end])?;
        }
    }
    Ok(HeldOutErrors {
        how: format!(
            "on the {} rows of the target, in {STRETCHES} stretches of time that were left out in turn",
            rows.len()
        ),
        outputs: Some(sums.iter().map(Sums::errors).collect()),
    })
}

/// The target's task features by some of its rows; nothing where all its parameters are known.
fn target_features(
    prepared: &Prepared,
    fits: &[OutputFit],
    rows: &[usize],
) -> Result<Option<Vec<f64>>> {
    let facts = &prepared.logs.recordings[prepared.target].facts;
    let Some(guesses) = Guesses::of(prepared, facts) else {
        return Ok(None);
    };
    let mut by_output = Vec::with_capacity(fits.len());
    for fit in fits {
        let mut statistics = Statistics::new(prepared.features.map.dim(), 1);
        statistics.accumulate(&samples(prepared, fit.output, rows)?)?;
        by_output.extend(fit.hierarchy().map(|hierarchy| (hierarchy, statistics)));
    }
    let shares = unknown::shares(&guesses, by_output.into_iter())?;
    Ok(Some(guesses.mean_features(&shares)))
}

fn samples(prepared: &Prepared, output: usize, rows: &[usize]) -> Result<Samples> {
    let target = prepared.target;
    let features = prepared.feature_rows(target, rows, target);
    let labels = prepared.labels(target, output, rows);
    Ok(Samples::new(
        features,
        prepared.features.map.dim(),
        labels,
        1,
    )?)
}

/// Sums over rows that were not seen.
#[derive(Debug, Clone, Default)]
struct Sums {
    returned: f64,
    target_only: f64,
    labels: Vec<f64>,
}

impl Sums {
    fn add(
        &mut self,
        prepared: &Prepared,
        fit: &OutputFit,
        choice: &AveragedPredictor,
        rows: &[usize],
    ) -> Result<()> {
        let values = prepared.feature_rows(prepared.target, rows, prepared.target);
        let features = matrix(&values, prepared.features.map.dim());
        let labels = prepared.labels(prepared.target, fit.output, rows);
        self.returned += squares(&choice.returned, features.as_ref(), &labels)?;
        let own = choice
            .candidate(PredictorKind::TargetOnly)
            .unwrap_or(&choice.returned);
        self.target_only += squares(own, features.as_ref(), &labels)?;
        self.labels.extend(labels);
        Ok(())
    }

    fn errors(&self) -> OutputErrors {
        let n = (self.labels.len() as f64).max(1.0);
        let mean = self.labels.iter().sum::<f64>() / n;
        let variance = self.labels.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n;
        OutputErrors {
            returned: self.returned / n,
            target_only: self.target_only / n,
            variance,
        }
    }
}

/// The sum of squared errors.
fn squares(predictor: &Predictor, features: MatRef<'_, f64>, labels: &[f64]) -> Result<f64> {
    let predicted = predictor.predict(features)?;
    Ok(predicted
        .iter()
        .zip(labels)
        .map(|(p, y)| (p - y).powi(2))
        .sum())
}
