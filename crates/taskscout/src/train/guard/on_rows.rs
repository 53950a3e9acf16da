//! The candidates where `φ` is a network or the user's own: the target's rows are seen as
//! `z = (ψ, φ(ψ), φ_alone(ψ))`, and every candidate is a set of coefficients on `z`.

use std::ops::Range;

use super::{Alone, Head, Predictor, PredictorKind, comparable, mean_errors};
use crate::data::{Statistics, TargetRows, TaskData};
use crate::error::Result;
use crate::model::{Phi, Representation as _};
use crate::train::ridge::RidgeSolver;
use crate::train::stack::Stack;

/// A candidate's coefficients on `z`, one vector an output.
type OnStack = Vec<Vec<f64>>;

/// The representations to compare with one fold of the target's rows left out.
pub(super) struct Fold<'a> {
    pub(super) fold: usize,
    pub(super) shared: Option<&'a Phi>,
}

/// All candidates for a target, with their held-out errors. Both ways to learn from the target
/// alone, on features and by a network, go by the name of target-only; the better one stands for
/// it.
pub(super) fn candidates(
    data: &TaskData,
    target: usize,
    shared: Option<&Phi>,
    folds: &[Fold<'_>],
    alone: Alone<'_>,
) -> Result<Vec<Predictor>> {
    let features = data.feature_dim();
    let own = alone(target, TargetRows::All)?;
    let stack = Stack::of(features, shared, own.as_ref());
    let fitted = fit(&statistics(data, target, &stack, |_| true)?, &stack)?;
    let held_out: Vec<usize> = folds.iter().map(|fold| fold.fold).collect();
    let errors = if comparable(data, target, &held_out) {
        let mut totals = vec![0.0; fitted.len()];
        for Fold { fold, shared } in folds {
            let own = alone(target, TargetRows::Without(*fold))?;
            let stack = Stack::of(features, *shared, own.as_ref());
            let seen = statistics(data, target, &stack, |at| at != *fold)?;
            let unseen = statistics(data, target, &stack, |at| at == *fold)?;
            let fitted = fit(&seen, &stack)?;
            for (index, total) in totals.iter_mut().enumerate() {
                // What could not be fitted without a fold cannot be judged, so it does not win.
                *total += fitted.get(index).map_or(f64::INFINITY, |(_, candidate)| {
                    (0..unseen.outputs())
                        .map(|output| unseen.residual(output, &candidate[output]))
                        .sum()
                });
            }
        }
        Some(mean_errors(data, target, &held_out, &totals))
    } else {
        None
    };
    let mut out: Vec<Predictor> = Vec::new();
    for (index, (kind, candidate)) in fitted.iter().enumerate() {
        let predictor = Predictor {
            held_out: errors.as_ref().map(|errors| errors[index]),
            ..unstack(*kind, candidate, &stack)
        };
        let rival = out.iter_mut().find(|known| known.kind == predictor.kind);
        match rival {
            // Without rows to compare on, what the oracle itself learns stands for the target.
            Some(known) if known.held_out < predictor.held_out => {}
            Some(known) => *known = predictor,
            None => out.push(predictor),
        }
    }
    Ok(out)
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
fn fit(rows: &Statistics, stack: &Stack<'_>) -> Result<Vec<(PredictorKind, OnStack)>> {
    let features = 0..stack.features;
    let mut candidates = Vec::new();
    if let Some(columns) = stack.columns(stack.shared) {
        let shared = ridge_on(rows, columns)?;
        let corrected = add_residual(rows, features.clone(), &shared)?;
        candidates.push((PredictorKind::Shared, shared));
        candidates.push((PredictorKind::SharedResidual, corrected));
    }
    candidates.push((PredictorKind::TargetOnly, ridge_on(rows, features)?));
    if let Some(columns) = stack.columns(stack.alone) {
        candidates.push((PredictorKind::TargetOnly, ridge_on(rows, columns)?));
    }
    Ok(candidates)
}

/// Ridge regression on some columns of `z`.
fn ridge_on(rows: &Statistics, columns: Range<usize>) -> Result<OnStack> {
    let part = rows.select(columns.clone())?;
    let solver = RidgeSolver::new(&part)?;
    Ok((0..rows.outputs())
        .map(|output| {
            let mut all = vec![0.0; rows.dim()];
            let fit = solver.fit(part.moment(output), part.square(output));
            all[columns.clone()].copy_from_slice(&fit.coefficients);
            all
        })
        .collect())
}

/// A predictor plus a ridge fit, on some columns, of what it leaves over.
fn add_residual(
    rows: &Statistics,
    columns: Range<usize>,
    predictor: &[Vec<f64>],
) -> Result<OnStack> {
    let solver = RidgeSolver::new(&rows.select(columns.clone())?)?;
    Ok(predictor
        .iter()
        .enumerate()
        .map(|(output, predictor)| {
            let mut fitted = vec![0.0; rows.dim()];
            crate::linalg::packed::multiply_add(rows.gram(), predictor, &mut fitted);
            let left: Vec<f64> = columns
                .clone()
                .map(|i| rows.moment(output)[i] - fitted[i])
                .collect();
            let residual = solver.fit(&left, rows.residual(output, predictor).max(0.0));
            let mut all = predictor.clone();
            all[columns.clone()]
                .iter_mut()
                .zip(&residual.coefficients)
                .for_each(|(a, b)| *a += b);
            all
        })
        .collect())
}

/// A candidate in the terms of its parts.
fn unstack(kind: PredictorKind, candidate: &[Vec<f64>], stack: &Stack<'_>) -> Predictor {
    let cut = |columns: Range<usize>| -> Vec<Vec<f64>> {
        candidate
            .iter()
            .map(|output| output[columns.clone()].to_vec())
            .collect()
    };
    let head = stack.parts().find_map(|(phi, columns)| {
        let coefficients = cut(columns);
        let used = coefficients.iter().flatten().any(|value| value.abs() > 0.0);
        used.then(|| Head {
            representation: phi.clone(),
            coefficients,
        })
    });
    Predictor {
        kind,
        coefficients: cut(0..stack.features),
        head,
        held_out: None,
    }
}
