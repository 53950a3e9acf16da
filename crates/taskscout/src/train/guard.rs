//! The guard against negative transfer: which predictor does the target get?
//!
//! | candidate | learnt from the target |
//! |---|---|
//! | target-only | ridge regression on its rows: `d` numbers |
//! | shared | a head on the shared representation: `k` numbers |
//! | shared + residual | the same, plus a shrunken ridge fit of what it leaves over |
//!
//! They compete on rows of the target that they have not seen: the folds of the target are left
//! out one at a time, *of the joint fit too*, or the comparison would leak.

use serde::{Deserialize, Serialize};

use super::ridge::RidgeSolver;
use crate::data::{Statistics, TARGET_FOLDS, TargetRows, TaskData};
use crate::error::{Error, Result};
use crate::model::{Linear, Model};

/// Rows that every fold must have for held-out errors to mean anything.
const MIN_FOLD_ROWS: usize = 2;

/// Part of the labels' squares that is rounding, not error.
const ROUNDING: f64 = 1e-12;

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
}

impl PredictorKind {
    /// All kinds, in the order in which ties are resolved: the simplest transfer first.
    pub const ALL: [Self; 3] = [Self::Shared, Self::SharedResidual, Self::TargetOnly];
}

impl std::fmt::Display for PredictorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TargetOnly => "target-only",
            Self::Shared => "shared",
            Self::SharedResidual => "shared-residual",
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
    /// Mean squared error on held-out rows of the target, where there are enough rows to tell.
    pub held_out: Option<f64>,
}

/// What the guard hands back for one target, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The target's name.
    pub target: String,
    /// The chosen kind.
    pub kind: PredictorKind,
    /// Why, in one sentence.
    pub reason: String,
    /// All candidates.
    pub candidates: Vec<Predictor>,
}

impl Choice {
    /// The candidate of a kind.
    #[must_use]
    pub fn candidate(&self, kind: PredictorKind) -> Option<&Predictor> {
        self.candidates
            .iter()
            .find(|candidate| candidate.kind == kind)
    }

    /// The chosen predictor.
    #[must_use]
    pub fn predictor(&self) -> Option<&Predictor> {
        self.candidate(self.kind)
    }
}

/// Chooses a predictor for each of the named targets.
///
/// `model` is the fit to everything; `folds` holds one representation for each fold of the
/// targets' rows, fitted without that fold ([`super::Trainer::fit_with_folds`]).
///
/// # Errors
/// A target without rows, or a failing fit.
pub fn choose(
    data: &TaskData,
    model: &Model,
    folds: &[Linear],
    targets: &[usize],
) -> Result<Vec<Choice>> {
    targets
        .iter()
        .map(|&target| choose_one(data, target, &model.representation, folds))
        .collect()
}

fn choose_one(
    data: &TaskData,
    target: usize,
    representation: &Linear,
    folds: &[Linear],
) -> Result<Choice> {
    let everything = data.target_statistics(target, TargetRows::All)?;
    let name = data.targets()[target].name.clone();
    if everything.count() == 0 {
        return Err(Error::State(format!(
            "target `{name}` has no samples: tell the study some, so that a predictor can be fitted"
        )));
    }
    let fitted = fit_candidates(&everything, representation)?;
    let errors = held_out_errors(data, target, folds)?;
    let candidates: Vec<Predictor> = fitted
        .into_iter()
        .enumerate()
        .map(|(index, (kind, coefficients))| Predictor {
            kind,
            coefficients,
            held_out: errors.as_ref().map(|errors| errors[index]),
        })
        .collect();
    let (kind, reason) = verdict(&candidates, everything.count());
    Ok(Choice {
        target: name,
        kind,
        reason,
        candidates,
    })
}

/// Mean squared held-out error of each kind, in the order of [`PredictorKind::ALL`].
fn held_out_errors(data: &TaskData, target: usize, folds: &[Linear]) -> Result<Option<Vec<f64>>> {
    let comparable = data.targets()[target]
        .folds
        .iter()
        .all(|fold| fold.count() >= MIN_FOLD_ROWS);
    if folds.len() != TARGET_FOLDS || !comparable {
        return Ok(None);
    }
    let mut totals = vec![0.0; PredictorKind::ALL.len()];
    for (fold, representation) in folds.iter().enumerate() {
        let seen = data.target_statistics(target, TargetRows::Without(fold))?;
        let unseen = &data.targets()[target].folds[fold];
        for (total, (_, coefficients)) in totals
            .iter_mut()
            .zip(fit_candidates(&seen, representation)?)
        {
            *total += (0..unseen.outputs())
                .map(|o| unseen.residual(o, &coefficients[o]))
                .sum::<f64>();
        }
    }
    let labels = (data.target_rows(target) * data.outputs()) as f64;
    // Differences at the level of rounding are no differences.
    let squares: f64 = (0..data.outputs())
        .map(|output| {
            data.targets()[target]
                .folds
                .iter()
                .map(|fold| fold.square(output))
                .sum::<f64>()
        })
        .sum();
    let floor = ROUNDING * squares;
    Ok(Some(
        totals
            .into_iter()
            .map(|total: f64| total.max(floor) / labels)
            .collect(),
    ))
}

/// Fits every kind of predictor to rows of the target, given a representation.
fn fit_candidates(
    rows: &Statistics,
    representation: &Linear,
) -> Result<Vec<(PredictorKind, Vec<Vec<f64>>)>> {
    let solver = RidgeSolver::new(rows)?;
    let projected = rows.project(representation.matrix())?;
    let small = RidgeSolver::new(&projected)?;
    let (mut alone, mut shared, mut corrected) = (Vec::new(), Vec::new(), Vec::new());
    for output in 0..rows.outputs() {
        alone.push(
            solver
                .fit(rows.moment(output), rows.square(output))
                .coefficients,
        );
        let head = small.fit(projected.moment(output), projected.square(output));
        let transfer = representation.coefficients(&head.coefficients);
        corrected.push(add_residual(rows, output, &solver, &transfer));
        shared.push(transfer);
    }
    Ok(PredictorKind::ALL
        .into_iter()
        .map(|kind| match kind {
            PredictorKind::Shared => (kind, std::mem::take(&mut shared)),
            PredictorKind::SharedResidual => (kind, std::mem::take(&mut corrected)),
            PredictorKind::TargetOnly => (kind, std::mem::take(&mut alone)),
        })
        .collect())
}

/// The predictor plus a ridge fit of what it leaves over.
fn add_residual(
    rows: &Statistics,
    output: usize,
    solver: &RidgeSolver,
    predictor: &[f64],
) -> Vec<f64> {
    let mut left: Vec<f64> = predictor.iter().map(|_| 0.0).collect();
    crate::linalg::packed::multiply_add(rows.gram(), predictor, &mut left);
    left.iter_mut()
        .zip(rows.moment(output))
        .for_each(|(fit, moment)| *fit = moment - *fit);
    let residual = solver.fit(&left, rows.residual(output, predictor).max(0.0));
    predictor
        .iter()
        .zip(&residual.coefficients)
        .map(|(a, b)| a + b)
        .collect()
}

/// The kind of smallest held-out error, and the reason in words.
fn verdict(candidates: &[Predictor], rows: usize) -> (PredictorKind, String) {
    let error = |candidate: &Predictor| candidate.held_out.unwrap_or(f64::INFINITY);
    let best = candidates
        .iter()
        .min_by(|a, b| error(a).total_cmp(&error(b)));
    match best {
        Some(best) if best.held_out.is_some() => {
            let scores: Vec<String> = candidates
                .iter()
                .map(|candidate| format!("{} {:.4e}", candidate.kind, error(candidate)))
                .collect();
            (
                best.kind,
                format!(
                    "{} predicts held-out target rows best ({})",
                    best.kind,
                    scores.join(", ")
                ),
            )
        }
        _ => (
            PredictorKind::Shared,
            format!(
                "{rows} target rows are too few to compare on held-out ones, so the shared predictor is taken"
            ),
        ),
    }
}
