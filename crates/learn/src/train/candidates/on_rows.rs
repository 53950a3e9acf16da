//! The candidates where `φ` is a network or the user's own: the target's rows are seen as
//! `z = (ψ, φ(ψ), φ_alone(ψ))`, and every candidate is a set of coefficients on `z`.

use std::ops::Range;

use crate::data::{FoldSelection, Statistics, TaskData};
use crate::error::Result;
use crate::model::{AnyRepresentation, Representation as _};
use crate::regression::{LinearPosterior, NoisePrior, RidgeSolver, least_noises};
use crate::representation::Stack;
use crate::train::guard::{
    Candidate, HeldOutScore, Predictor, PredictorKind, TargetHead, comparable,
};

/// What a candidate knows on `z`, one posterior an output.
type OnStack = Vec<LinearPosterior>;

/// A representation learnt from some rows of the target alone.
type OwnRepresentation<'a> = &'a dyn Fn(FoldSelection) -> Result<Option<AnyRepresentation>>;

/// The representations to compare with one fold of the target's rows left out.
pub(super) struct Fold<'a> {
    pub(super) fold: usize,
    pub(super) shared: Option<&'a AnyRepresentation>,
}

/// All candidates for a target, with how they do on folds left out. Both ways to learn from the target
/// alone, on features and by a network, go by the name of target-only; the better one stands for
/// it.
pub(super) fn candidates(
    data: &TaskData,
    target: usize,
    shared: Option<&AnyRepresentation>,
    folds: &[Fold<'_>],
    alone: OwnRepresentation<'_>,
) -> Result<Vec<Candidate>> {
    let features = data.feature_dim();
    let own = alone(FoldSelection::All)?;
    let stack = Stack::of(features, shared, own.as_ref());
    let floors = least_noises(&data.target_statistics(target, FoldSelection::All)?);
    let everything = statistics(data, target, &stack, |_| true)?;
    let fitted = fit(&everything, &stack, &floors)?;
    let held_out = held_out(data, target, folds, alone, &floors)?;
    let mut out: Vec<Candidate> = Vec::new();
    for (index, (kind, posteriors)) in fitted.into_iter().enumerate() {
        // What could not be fitted without a fold cannot be judged, so it does not win.
        let judged = held_out.iter().map(|(fold, all)| {
            all.get(index).cloned().unwrap_or_else(|| HeldOutScore {
                fold: *fold,
                log_density: f64::NEG_INFINITY,
                sum_of_squared_errors: f64::INFINITY,
                variances: Vec::new(),
                coefficients: Vec::new(),
            })
        });
        let candidate = Candidate {
            predictor: unstack(kind, &posteriors, &stack),
            prior_odds: kind.prior_odds(),
            held_out: judged.collect(),
            posteriors: if stack.dim() == features {
                posteriors
            } else {
                Vec::new()
            },
        }
        .scored(data, target);
        let rival = out
            .iter_mut()
            .find(|known| known.predictor.kind == candidate.predictor.kind);
        match rival {
            // Without rows to compare on, what the trainer itself learns stands for the target.
            Some(known) if known.predictor.held_out_error < candidate.predictor.held_out_error => {}
            Some(known) => *known = candidate,
            None => out.push(candidate),
        }
    }
    Ok(out)
}

/// For each fold left out, how every candidate does on it.
fn held_out(
    data: &TaskData,
    target: usize,
    folds: &[Fold<'_>],
    alone: OwnRepresentation<'_>,
    floors: &[f64],
) -> Result<Vec<(usize, Vec<HeldOutScore>)>> {
    let features = data.feature_dim();
    let wanted: Vec<usize> = folds.iter().map(|fold| fold.fold).collect();
    if !comparable(data, target, &wanted) {
        return Ok(Vec::new());
    }
    folds
        .iter()
        .map(|Fold { fold, shared }| {
            let own = alone(FoldSelection::Without(*fold))?;
            let stack = Stack::of(features, *shared, own.as_ref());
            let seen = statistics(data, target, &stack, |at| at != *fold)?;
            let unseen = statistics(data, target, &stack, |at| at == *fold)?;
            let judged = fit(&seen, &stack, floors)?
                .into_iter()
                .map(|(_, posteriors)| {
                    let mut judged = HeldOutScore::judge(*fold, &posteriors, &unseen, 1.0)?;
                    if stack.dim() != features {
                        judged.coefficients.clear();
                    }
                    Ok(judged)
                })
                .collect::<Result<_>>()?;
            Ok((*fold, judged))
        })
        .collect()
}

fn statistics(
    data: &TaskData,
    target: usize,
    stack: &Stack<'_>,
    wanted: impl Fn(usize) -> bool,
) -> Result<Statistics> {
    let entry = &data.targets()[target];
    let mut total = Statistics::new(stack.dim(), data.outputs());
    for (fold, (statistics, rows)) in entry.folds.iter().zip(&entry.rows).enumerate() {
        if wanted(fold) {
            total.merge(&stack.statistics(statistics, rows)?)?;
        }
    }
    Ok(total)
}

/// Fits every candidate to rows of the target, the simplest transfer first.
fn fit(
    rows: &Statistics,
    stack: &Stack<'_>,
    floors: &[f64],
) -> Result<Vec<(PredictorKind, OnStack)>> {
    let features = 0..stack.features;
    let mut candidates = Vec::new();
    if let Some(columns) = stack.columns(stack.shared) {
        let shared = ridge_on(rows, columns, floors)?;
        let corrected = add_residual(rows, features.clone(), &shared, floors)?;
        candidates.push((PredictorKind::Shared, shared));
        candidates.push((PredictorKind::SharedResidual, corrected));
    }
    candidates.push((PredictorKind::TargetOnly, ridge_on(rows, features, floors)?));
    if let Some(columns) = stack.columns(stack.alone) {
        candidates.push((PredictorKind::TargetOnly, ridge_on(rows, columns, floors)?));
    }
    Ok(candidates)
}

/// Ridge regression on some columns of `z`.
fn ridge_on(rows: &Statistics, columns: Range<usize>, floors: &[f64]) -> Result<OnStack> {
    let part = rows.select(columns.clone())?;
    let (solver, own) = (RidgeSolver::new(&part)?, NoisePrior::default());
    let columns: Vec<usize> = columns.collect();
    Ok((0..rows.outputs())
        .map(|output| {
            let (moment, square) = (part.cross_moment(output), part.sum_of_squares(output));
            let fit = solver.fit(moment, square, own);
            solver
                .posterior(&fit, floors[output], own)
                .placed(&columns, rows.dim())
        })
        .collect())
}

/// A predictor plus a ridge fit, on some columns, of what it leaves over.
fn add_residual(
    rows: &Statistics,
    columns: Range<usize>,
    predictor: &[LinearPosterior],
    floors: &[f64],
) -> Result<OnStack> {
    let solver = RidgeSolver::new(&rows.select(columns.clone())?)?;
    let own = NoisePrior::default();
    let places: Vec<usize> = columns.clone().collect();
    Ok(predictor
        .iter()
        .enumerate()
        .map(|(output, predictor)| {
            let mut fitted = vec![0.0; rows.dim()];
            crate::linalg::packed::multiply_add(rows.gram(), &predictor.mean, &mut fitted);
            let left: Vec<f64> = columns
                .clone()
                .map(|i| rows.cross_moment(output)[i] - fitted[i])
                .collect();
            let residual = solver.fit(
                &left,
                rows.residual_sum_of_squares(output, &predictor.mean)
                    .max(0.0),
                own,
            );
            let mut all = solver
                .posterior(&residual, floors[output], own)
                .placed(&places, rows.dim());
            all.covariance += &predictor.covariance;
            all.mean
                .iter_mut()
                .zip(&predictor.mean)
                .for_each(|(b, a)| *b += a);
            all
        })
        .collect())
}

/// A candidate in the terms of its parts.
fn unstack(kind: PredictorKind, candidate: &[LinearPosterior], stack: &Stack<'_>) -> Predictor {
    let cut = |columns: Range<usize>| -> Vec<Vec<f64>> {
        candidate
            .iter()
            .map(|output| output.mean[columns.clone()].to_vec())
            .collect()
    };
    let head = stack.parts().find_map(|(phi, columns)| {
        let coefficients = cut(columns);
        let used = coefficients.iter().flatten().any(|value| value.abs() > 0.0);
        used.then(|| TargetHead {
            representation: phi.clone(),
            coefficients,
        })
    });
    Predictor {
        kind,
        coefficients: cut(0..stack.features),
        head,
        held_out_error: None,
    }
}
