//! The candidates where `φ` is a matrix: all of them are coefficients on features, and statistics
//! are enough to fit and to compare them.

use crate::data::{Statistics, TargetRows, TaskData};
use crate::error::{Error, Result};
use crate::model::Linear;
use crate::regression::{LinearPosterior, RidgeSolver, least_noises};
use crate::train::guard::{Candidate, HeldOut, Predictor, PredictorKind, comparable};
use crate::train::{LeaveFoldOutRepresentation, TargetOnlyCache};

/// A kind of predictor with what it knows, one posterior an output.
type KindFit = (PredictorKind, Vec<LinearPosterior>);

/// All candidates for a target, with how they do on folds left out.
pub(super) fn candidates(
    data: &TaskData,
    target: usize,
    representation: &Linear,
    folds: &[LeaveFoldOutRepresentation],
    cache: &TargetOnlyCache,
) -> Result<Vec<Candidate>> {
    let everything = data.target_statistics(target, TargetRows::All)?;
    let floors = least_noises(&everything);
    let solver = cache.ridge_solver(target, TargetRows::All, &everything)?;
    let all = (&everything, solver.as_ref());
    let mut candidates: Vec<Candidate> = fit_candidates(all, representation, &floors)?
        .into_iter()
        .map(|(kind, posteriors)| Candidate {
            predictor: Predictor {
                kind,
                coefficients: posteriors
                    .iter()
                    .map(|posterior| posterior.mean.clone())
                    .collect(),
                head: None,
                held_out_error: None,
            },
            posteriors,
            prior_odds: kind.prior_odds(),
            held_out: Vec::new(),
        })
        .collect();
    let held_out: Vec<usize> = folds.iter().map(|fit| fit.fold).collect();
    if comparable(data, target, &held_out) {
        for fit in folds {
            let Some(representation) = fit.representation.as_linear() else {
                return Err(Error::State(
                    "an oracle gave a matrix for all rows, but another representation for a fold"
                        .into(),
                ));
            };
            let without = TargetRows::Without(fit.fold);
            let seen = data.target_statistics(target, without)?;
            let unseen: &Statistics = &data.targets()[target].folds[fit.fold];
            let solver = cache.ridge_solver(target, without, &seen)?;
            let fitted = fit_candidates((&seen, &solver), representation, &floors)?;
            let roots = cache.gram_roots(target, fit.fold, unseen)?;
            for (candidate, (_, posteriors)) in candidates.iter_mut().zip(fitted) {
                let rows = (unseen, roots.as_slice());
                let judged = HeldOut::judge_on(fit.fold, &posteriors, rows, 1.0)?;
                candidate.held_out.push(judged);
            }
        }
    }
    Ok(candidates
        .into_iter()
        .map(|candidate| candidate.scored(data, target))
        .collect())
}

/// Fits every kind of predictor to rows of the target, given with their solver and a representation, with a least noise
/// for each output.
fn fit_candidates(
    (rows, solver): (&Statistics, &RidgeSolver),
    representation: &Linear,
    floors: &[f64],
) -> Result<Vec<KindFit>> {
    let projected = rows.project(representation.matrix())?;
    let small = RidgeSolver::new(&projected)?;
    let (mut alone, mut shared, mut corrected) = (Vec::new(), Vec::new(), Vec::new());
    for (output, &floor) in floors.iter().enumerate() {
        let square = rows.sum_of_squares(output);
        let own = solver.fit(rows.cross_moment(output), square);
        alone.push(solver.posterior(&own, floor));
        let head = small.fit(projected.cross_moment(output), square);
        let transfer = LinearPosterior {
            mean: representation.coefficients(&head.coefficients),
            ..small
                .posterior(&head, floor)
                .mapped(representation.matrix())
        };
        corrected.push(add_residual((rows, output), solver, &transfer, floor));
        shared.push(transfer);
    }
    Ok(vec![
        (PredictorKind::Shared, shared),
        (PredictorKind::SharedResidual, corrected),
        (PredictorKind::TargetOnly, alone),
    ])
}

/// The predictor plus a ridge fit of what it leaves over. Both are uncertain, and their errors add up.
fn add_residual(
    (rows, output): (&Statistics, usize),
    solver: &RidgeSolver,
    transfer: &LinearPosterior,
    floor: f64,
) -> LinearPosterior {
    let mut left: Vec<f64> = transfer.mean.iter().map(|_| 0.0).collect();
    crate::linalg::packed::multiply_add(rows.gram(), &transfer.mean, &mut left);
    left.iter_mut()
        .zip(rows.cross_moment(output))
        .for_each(|(fit, moment)| *fit = moment - *fit);
    let square = rows
        .residual_sum_of_squares(output, &transfer.mean)
        .max(0.0);
    let residual = solver.fit(&left, square);
    let posterior = solver.posterior(&residual, floor);
    LinearPosterior {
        mean: transfer
            .mean
            .iter()
            .zip(&residual.coefficients)
            .map(|(a, b)| a + b)
            .collect(),
        covariance: posterior.covariance + &transfer.covariance,
        noise: posterior.noise,
        degrees_of_freedom: posterior.degrees_of_freedom,
    }
}
