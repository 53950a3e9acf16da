//! The candidates where `φ` is a matrix: all of them are coefficients on features, and statistics
//! are enough to fit and to compare them.

use super::{Predictor, PredictorKind, comparable, mean_errors};
use crate::data::{Statistics, TargetRows, TaskData};
use crate::error::{Error, Result};
use crate::model::Linear;
use crate::train::FoldFit;
use crate::train::ridge::RidgeSolver;

/// All candidates for a target, with their held-out errors.
pub(super) fn candidates(
    data: &TaskData,
    target: usize,
    representation: &Linear,
    folds: &[FoldFit],
) -> Result<Vec<Predictor>> {
    let everything = data.target_statistics(target, TargetRows::All)?;
    let fitted = fit_candidates(&everything, representation)?;
    let errors = held_out_errors(data, target, folds)?;
    Ok(fitted
        .into_iter()
        .enumerate()
        .map(|(index, (kind, coefficients))| Predictor {
            kind,
            coefficients,
            head: None,
            held_out: errors.as_ref().map(|errors| errors[index]),
        })
        .collect())
}

/// Mean squared held-out error of each kind, in the order of [`fit_candidates`].
fn held_out_errors(data: &TaskData, target: usize, folds: &[FoldFit]) -> Result<Option<Vec<f64>>> {
    let held_out: Vec<usize> = folds.iter().map(|fit| fit.fold).collect();
    if !comparable(data, target, &held_out) {
        return Ok(None);
    }
    let mut totals = [0.0; 3];
    for fit in folds {
        let Some(representation) = fit.representation.linear() else {
            return Err(Error::State(
                "an oracle gave a matrix for all rows, but another representation for a fold"
                    .into(),
            ));
        };
        let seen = data.target_statistics(target, TargetRows::Without(fit.fold))?;
        let unseen = &data.targets()[target].folds[fit.fold];
        for (total, (_, coefficients)) in totals
            .iter_mut()
            .zip(fit_candidates(&seen, representation)?)
        {
            *total += (0..unseen.outputs())
                .map(|o| unseen.residual(o, &coefficients[o]))
                .sum::<f64>();
        }
    }
    Ok(Some(mean_errors(data, target, &held_out, &totals)))
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
    Ok(vec![
        (PredictorKind::Shared, shared),
        (PredictorKind::SharedResidual, corrected),
        (PredictorKind::TargetOnly, alone),
    ])
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
