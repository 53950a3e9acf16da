//! The guard against negative transfer: which predictor does the target get?
//!
//! Trainers propose candidates ([`super::candidates`]); the guard knows no trainer by name.
//!
//! Candidates compete on rows of the target that they have not seen. What is judged is the
//! density that a candidate gives to the labels left out, its own variance included ([`LinearPosterior`]): held-out errors of noisy
//! rows cannot rank predictors that are all good, but a candidate that the rows contradict by many standard deviations
//! is found out by a handful of them. What is handed back is the mean of the candidates, weighed by these densities.

mod averaging;
mod blend;
mod candidate;

use faer::MatRef;
use serde::{Deserialize, Serialize};

pub(super) use self::blend::Blend;
pub use self::candidate::{Candidate, HeldOutScore};
pub(super) use self::candidate::{FACTOR_ODDS, VARIANCE_FACTORS};
use crate::data::{FoldSelection, TARGET_FOLD_COUNT, TaskData};
use crate::error::{Error, Result};
use crate::identify::IdentifiedParameters;
use crate::model::{AnyRepresentation, Representation as _};
use crate::regression::LinearPosterior;

/// Rows that every fold must have for held-out rows to mean anything.
const MIN_FOLD_ROWS: usize = 1;

/// The kinds of predictor that compete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PredictorKind {
    /// Ridge regression on the target's rows alone.
    TargetOnly,
    /// The shared representation with a head fitted on the target's rows.
    Shared,
    /// The shared predictor plus a shrunken ridge fit of its residual.
    SharedResidual,
    /// A member of the source family, its parameters found from the target's rows.
    Identified,
}

impl PredictorKind {
    /// All kinds, in the order in which ties are resolved: the simplest transfer first.
    pub const ALL: [Self; 4] = [
        Self::Shared,
        Self::SharedResidual,
        Self::TargetOnly,
        Self::Identified,
    ];
}

impl PredictorKind {
    /// The odds of a kind against target-only before any row is looked at: source tasks are collected because they help.
    pub(super) fn prior_odds(self) -> f64 {
        match self {
            Self::Shared => 10.0,
            Self::SharedResidual | Self::TargetOnly | Self::Identified => 1.0,
        }
    }
}

impl std::fmt::Display for PredictorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TargetOnly => "target-only",
            Self::Shared => "shared",
            Self::SharedResidual => "shared-residual",
            Self::Identified => "identified",
        })
    }
}

/// One candidate, fitted on all rows of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predictor {
    /// Which kind it is.
    pub kind: PredictorKind,
    /// Coefficients on the features `ψ_X`, one vector an output.
    pub coefficients: Vec<Vec<f64>>,
    /// What it adds by a representation that is no matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<TargetHead>,
    /// Mean squared error on held-out rows of the target, where there are enough rows.
    #[serde(rename = "held_out")]
    pub held_out_error: Option<f64>,
}

/// A representation with a linear head of a target's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetHead {
    /// `φ`.
    pub representation: AnyRepresentation,
    /// Coefficients on `φ`, one vector an output.
    pub coefficients: Vec<Vec<f64>>,
}

impl Predictor {
    /// Predictions for rows of features `ψ_X`, row by row, one number an output.
    ///
    /// # Errors
    /// Rows of the wrong length.
    pub fn predict(&self, features: MatRef<'_, f64>) -> Result<Vec<f64>> {
        let outputs = self.coefficients.len();
        let mut out = vec![0.0; features.nrows() * outputs];
        let mut add = |values: MatRef<'_, f64>, coefficients: &[Vec<f64>]| -> Result<()> {
            for (output, coefficients) in coefficients.iter().enumerate() {
                Error::check_length("a feature row", coefficients.len(), values.ncols())?;
                for (row, out) in out.iter_mut().skip(output).step_by(outputs).enumerate() {
                    *out += (0..values.ncols())
                        .map(|j| values[(row, j)] * coefficients[j])
                        .sum::<f64>();
                }
            }
            Ok(())
        };
        add(features, &self.coefficients)?;
        if let Some(head) = &self.head {
            add(
                head.representation.apply(features)?.as_ref(),
                &head.coefficients,
            )?;
        }
        Ok(out)
    }
}

/// What the guard hands back for one target, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AveragedPredictor {
    /// The target's name.
    pub target: String,
    /// The kind of the candidate with the largest weight.
    pub kind: PredictorKind,
    /// Why, in one sentence.
    pub reason: String,
    /// What the target gets: the mean of the candidates by their weights, or the one of largest weight where they
    /// stand on different networks.
    pub returned: Predictor,
    /// What is known of each output's function by it, on the features; empty where a network stands between.
    #[serde(rename = "beliefs")]
    pub posteriors: Vec<LinearPosterior>,
    /// All candidates.
    pub candidates: Vec<Predictor>,
    /// Their weights, which add up to one.
    pub weights: Vec<f64>,
    /// The target's parameters as a member of the source family, where they were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identified: Option<IdentifiedParameters>,
}

impl AveragedPredictor {
    /// The candidate of a kind.
    #[must_use]
    pub fn candidate(&self, kind: PredictorKind) -> Option<&Predictor> {
        self.candidates
            .iter()
            .find(|candidate| candidate.kind == kind)
    }

    /// What the target gets.
    #[must_use]
    pub fn predictor(&self) -> Option<&Predictor> {
        Some(&self.returned)
    }
}

/// What a target gets of all that was proposed for it: the mean of the candidates by their weights.
///
/// `identified` is what is known of its parameters as a member of the source family.
///
/// # Errors
/// A target without rows, or no candidate.
pub fn average_candidates(
    data: &TaskData,
    target: usize,
    candidates: Vec<Candidate>,
    identified: Option<IdentifiedParameters>,
) -> Result<AveragedPredictor> {
    let rows = check_rows(data, target)?;
    let belongs = identified
        .as_ref()
        .is_some_and(IdentifiedParameters::supports_family);
    let compared = averaging::weights(&candidates);
    let wanted = match &compared {
        Some(weights) => {
            (0..weights.len()).reduce(|a, b| if weights[b] > weights[a] { b } else { a })
        }
        None => favourite(&candidates, belongs),
    };
    let Some(lead) = wanted else {
        return Err(Error::State(
            "there is no candidate to predict a target with".into(),
        ));
    };
    let mut only = vec![0.0; candidates.len()];
    only[lead] = 1.0;
    let (weights, reason) = match compared {
        Some(weights) if candidates.len() > 1 => {
            let reason = averaging::reason(&candidates, &weights, lead);
            (weights, reason)
        }
        Some(_) => (
            only.clone(),
            "no source task shares task features with the target, so only the target's own rows are used".into(),
        ),
        None => {
            let mut reason = too_few(rows, candidates[lead].predictor.kind);
            if let Some(times) = contradiction(data, target, &candidates[lead])? {
                reason.push_str(&format!(
                    "; the target's rows contradict it by {times:.1} standard deviations, so do not rely on it before there are more rows"
                ));
            }
            (only.clone(), reason)
        }
    };
    // Different networks have no mean: the favourite stands for them.
    let (weights, returned) = match averaging::mean(&candidates, &weights, lead) {
        Some(mean) => (weights, mean),
        None => (only, candidates[lead].predictor.clone()),
    };
    Ok(AveragedPredictor {
        target: data.targets()[target].name.clone(),
        kind: candidates[lead].predictor.kind,
        reason,
        returned,
        posteriors: averaging::posteriors(data, target, &candidates, &weights).unwrap_or_default(),
        candidates: candidates.into_iter().map(|one| one.predictor).collect(),
        weights,
        identified,
    })
}

/// What is taken where nothing can be compared.
fn favourite(candidates: &[Candidate], belongs: bool) -> Option<usize> {
    let of = |kind| candidates.iter().position(|one| one.predictor.kind == kind);
    belongs
        .then(|| of(PredictorKind::Identified))
        .flatten()
        .or_else(|| of(PredictorKind::Shared))
        .or_else(|| (!candidates.is_empty()).then_some(0))
}

/// Standard deviations beyond which a target's rows speak against what is taken for it.
const CONTRADICTION: f64 = 3.0;

/// How far a target's rows are from what a candidate expects of them, in standard deviations, if that is
/// too far. Rows that are too few to leave some out may still be far from a candidate that hardly follows them.
fn contradiction(data: &TaskData, target: usize, candidate: &Candidate) -> Result<Option<f64>> {
    let rows = data.target_statistics(target, FoldSelection::All)?;
    let labels = (rows.count() * rows.outputs()) as f64;
    let (mut squares, mut expected) = (0.0, 0.0);
    for (output, posterior) in candidate.posteriors.iter().enumerate() {
        squares += rows
            .residual_sum_of_squares(output, &posterior.mean)
            .max(0.0);
        expected += posterior.variance_on(&rows).max(0.0) + rows.count() as f64 * posterior.noise;
    }
    let times = (squares / expected).sqrt();
    // So few rows may well be a little off.
    let limit = CONTRADICTION * (1.0 + 1.0 / labels).sqrt();
    Ok((times.is_finite() && times > limit).then_some(times))
}

/// Why the favourite is taken.
fn too_few(rows: usize, kind: PredictorKind) -> String {
    match kind {
        PredictorKind::TargetOnly => {
            "no source task shares task features with the target, so only the target's own rows are used".into()
        }
        PredictorKind::Identified => format!(
            "{rows} target rows are too few to hold some out, and they fit a member of the source family"
        ),
        kind => format!(
            "{rows} target rows are too few to compare candidates on held-out rows, so the {kind} predictor is used"
        ),
    }
}

/// The rows of a target, of which there must be some.
pub(super) fn check_rows(data: &TaskData, target: usize) -> Result<usize> {
    let rows = data.target_statistics(target, FoldSelection::All)?.count();
    if rows == 0 {
        let name = &data.targets()[target].name;
        return Err(Error::State(format!(
            "target `{name}` has no samples: tell the study some, so that a predictor can be fitted"
        )));
    }
    Ok(rows)
}

/// The folds that can be compared on: all that were fitted, if each has enough rows.
pub(super) fn comparable(data: &TaskData, target: usize, folds: &[usize]) -> bool {
    let counts = &data.targets()[target].folds;
    !folds.is_empty()
        && folds.iter().all(|&fold| {
            counts
                .get(fold)
                .is_some_and(|fold| fold.count() >= MIN_FOLD_ROWS)
        })
}

/// All folds of a target, if each has enough rows to compare on.
pub(super) fn comparable_folds(data: &TaskData, target: usize) -> Option<Vec<usize>> {
    let folds: Vec<usize> = (0..TARGET_FOLD_COUNT).collect();
    comparable(data, target, &folds).then_some(folds)
}
