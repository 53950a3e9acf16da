//! How candidates are weighed: by the density that they give to rows of the target they have not seen.
//!
//! With `p_c` the density that candidate `c` gives to all folds left out, its weight is
//! `π_c p_c / Σ π p`, where `π` says what is expected beforehand: source tasks are collected because
//! they help, so transfer is the favourite, and a member of the source family more so where its
//! marginal likelihood speaks for it. A candidate that the target's rows contradict has a density that is
//! smaller by orders of magnitude, and no weight. Target-only keeps a floor.

use super::{Candidate, Predictor, PredictorKind, TargetHead};
use crate::data::TaskData;
use crate::linalg;
use crate::regression::LinearPosterior;

/// The least weight of target-only.
const FLOOR: f64 = 0.002;
/// Weights below which a candidate is left out of the mean.
const NEGLIGIBLE: f64 = 1e-6;
/// Rows that the noise of the fits counts for beside that of the folds left out.
const NOISE_ROWS: f64 = 4.0;

/// Weights of the candidates, which add up to one; none where they cannot be compared.
pub(super) fn weights(candidates: &[Candidate]) -> Option<Vec<f64>> {
    let scores: Vec<f64> = candidates
        .iter()
        .map(|candidate| Some(candidate.prior_odds.ln() + candidate.log_density()?))
        .collect::<Option<_>>()?;
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let alone = candidates
        .iter()
        .position(|candidate| candidate.predictor.kind == PredictorKind::TargetOnly);
    if !top.is_finite() {
        // All are contradicted: the target's own rows are what there is.
        let only = |at: usize| f64::from(u8::from(Some(at) == alone.or(Some(0))));
        return Some((0..candidates.len()).map(only).collect());
    }
    let odds: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
    let total: f64 = odds.iter().sum();
    let mut weights: Vec<f64> = odds.iter().map(|odds| odds / total).collect();
    if let Some(alone) = alone.filter(|&alone| weights[alone] < FLOOR && scores[alone].is_finite())
    {
        let rest = 1.0 - weights[alone];
        for (at, weight) in weights.iter_mut().enumerate() {
            *weight = if at == alone {
                FLOOR
            } else {
                *weight * (1.0 - FLOOR) / rest
            };
        }
    }
    Some(weights)
}

/// The mean of the candidates by their weights; none where they stand on different networks.
pub(super) fn mean(candidates: &[Candidate], weights: &[f64], lead: usize) -> Option<Predictor> {
    let first = &candidates[lead].predictor;
    let mut coefficients: Vec<Vec<f64>> = first
        .coefficients
        .iter()
        .map(|row| vec![0.0; row.len()])
        .collect();
    let mut head: Option<TargetHead> = None;
    for (candidate, &weight) in candidates.iter().zip(weights) {
        if weight < NEGLIGIBLE {
            continue;
        }
        let predictor = &candidate.predictor;
        add(&mut coefficients, &predictor.coefficients, weight);
        if let Some(own) = &predictor.head {
            match &mut head {
                Some(head) if head.representation == own.representation => {
                    add(&mut head.coefficients, &own.coefficients, weight);
                }
                Some(_) => return None,
                None => {
                    let mut scaled = own.clone();
                    for row in &mut scaled.coefficients {
                        row.iter_mut().for_each(|value| *value *= weight);
                    }
                    head = Some(scaled);
                }
            }
        }
    }
    Some(Predictor {
        kind: first.kind,
        coefficients,
        head,
        held_out_error: first.held_out_error,
    })
}

fn add(to: &mut [Vec<f64>], from: &[Vec<f64>], weight: f64) {
    for (to, from) in to.iter_mut().zip(from) {
        to.iter_mut()
            .zip(from)
            .for_each(|(to, from)| *to += weight * from);
    }
}

/// The posterior of the mean: the variance of each candidate and the variance among them; none where a network stands
/// between. Its noise covers what was seen on the folds left out.
pub(super) fn posteriors(
    data: &TaskData,
    target: usize,
    candidates: &[Candidate],
    weights: &[f64],
) -> Option<Vec<LinearPosterior>> {
    let used = |index: &usize| weights[*index] >= NEGLIGIBLE;
    let used: Vec<usize> = (0..candidates.len()).filter(used).collect();
    let outputs = data.outputs();
    if used
        .iter()
        .any(|&index| candidates[index].posteriors.len() != outputs)
    {
        return None;
    }
    let mut mixed: Vec<LinearPosterior> = (0..outputs)
        .map(|output| {
            let parts: Vec<(f64, &LinearPosterior)> = used
                .iter()
                .map(|&index| (weights[index], &candidates[index].posteriors[output]))
                .collect();
            LinearPosterior::mean_of(&parts)
        })
        .collect();
    for (output, posterior) in mixed.iter_mut().enumerate() {
        if let Some((seen, rows)) = left_over(data, target, (candidates, weights), output) {
            let wanted = (NOISE_ROWS * posterior.noise + rows * seen) / (NOISE_ROWS + rows);
            posterior.noise = posterior.noise.max(wanted);
        }
    }
    Some(mixed)
}

/// Mean square of what the mixture leaves over of an output on folds that it has not seen, beyond its own variance, and the
/// rows that this rests on.
fn left_over(
    data: &TaskData,
    target: usize,
    (candidates, weights): (&[Candidate], &[f64]),
    output: usize,
) -> Option<(f64, f64)> {
    let used = candidates.iter().zip(weights);
    let used = used.filter(|(_, weight)| **weight >= NEGLIGIBLE);
    let (mut squares, mut variance, mut count) = (0.0, 0.0, 0.0);
    for (at, first) in candidates.first()?.held_out.iter().enumerate() {
        let rows = &data.targets()[target].folds[first.fold];
        count += rows.count() as f64;
        let mut mean = vec![0.0; rows.dim()];
        for (candidate, weight) in used.clone() {
            let own = candidate.held_out.get(at)?.coefficients.get(output)?;
            mean.iter_mut()
                .zip(own)
                .for_each(|(sum, value)| *sum += weight * value);
        }
        for (candidate, weight) in used.clone() {
            let held_out = &candidate.held_out[at];
            let own = &held_out.coefficients[output];
            let apart: Vec<f64> = own.iter().zip(&mean).map(|(a, b)| a - b).collect();
            variance += weight * linalg::packed::quadratic(rows.gram(), &apart);
            variance += weight * held_out.variances.get(output)?;
        }
        squares += rows.residual_sum_of_squares(output, &mean).max(0.0);
    }
    (count > 0.0).then(|| ((squares - variance).max(0.0) / count, count))
}

/// The reason in words.
pub(super) fn reason(candidates: &[Candidate], weights: &[f64], lead: usize) -> String {
    let rows =
        |candidate: &Candidate| -> f64 { candidate.predictor.held_out_error.unwrap_or(f64::NAN) };
    let shares: Vec<String> = candidates
        .iter()
        .zip(weights)
        .map(|(candidate, weight)| {
            format!(
                "{} {:.0} % with error {:.4e}",
                candidate.predictor.kind,
                100.0 * weight,
                rows(candidate)
            )
        })
        .collect();
    let kind = candidates[lead].predictor.kind;
    let what = if kind == PredictorKind::TargetOnly && weights[lead] > 0.99 {
        format!(
            "{kind} predicts held-out target rows best, and they contradict what source tasks say"
        )
    } else if kind == PredictorKind::Identified {
        format!(
            "{kind} predicts held-out target rows best, and the target's rows fit a member of the source family"
        )
    } else {
        format!("{kind} predicts held-out target rows best")
    };
    format!(
        "{what}; weights by predictive density: {}",
        shares.join(", ")
    )
}
