//! Tests of what is expected of a task, against dense algebra over all rows.

#![allow(clippy::unwrap_used)]

use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::data::Samples;
use crate::linalg;
use crate::rng::{Purpose, Rng, derive};

const D: usize = 4;
const NOISE: f64 = 0.04;

fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(rng)).collect()
}

fn prior(rng: &mut Rng) -> TargetPrior {
    let root = Mat::from_fn(D, D, |_, _| {
        let value: f64 = StandardNormal.sample(rng);
        0.3 * value
    });
    TargetPrior {
        common: TaskCoefficientPosterior {
            mean: normals(D, rng),
            covariance: linalg::product(root.as_ref(), root.transpose()),
        },
        own: vec![0.1, 0.02, 0.02, 0.3],
        free: vec![0.25; D],
        noise: NOISE,
    }
}

/// Rows of a function, with the labels' noise.
fn rows(theta: &[f64], n: usize, noise: f64, rng: &mut Rng) -> (Mat<f64>, Vec<f64>, Statistics) {
    let x = normals(n * D, rng);
    let y: Vec<f64> = x
        .chunks(D)
        .zip(normals(n, rng))
        .map(|(row, e)| linalg::dot(row, theta) + noise.sqrt() * e)
        .collect();
    let mut statistics = Statistics::new(D, 1);
    let samples = Samples::new(x.clone(), D, y.clone(), 1).unwrap();
    statistics.accumulate(&samples).unwrap();
    (Mat::from_fn(n, D, |i, j| x[i * D + j]), y, statistics)
}

/// A function drawn from the prior, with factors of its parts.
fn draw(prior: &TargetPrior, own: f64, free: f64, rng: &mut Rng) -> Vec<f64> {
    let factor = linalg::cholesky(prior.covariance(own, free).as_ref(), "").unwrap();
    let spread = linalg::apply(factor.lower().as_ref(), &normals(D, rng));
    let mean = prior.mean().iter();
    mean.zip(&spread).map(|(m, s)| m + s).collect()
}

/// The mean over explanations, by dense algebra over all rows.
#[test]
fn the_belief_is_the_mean_over_all_explanations() {
    let rng = &mut derive(5, Purpose::Test, &[]);
    for case in 0..20 {
        let prior = prior(rng);
        let theta = draw(&prior, [0.3, 10.0][case % 2], [0.0, 4.0][case / 2 % 2], rng);
        let n = [3, 4, 9, 30][case % 4];
        let (x, y, statistics) = rows(&theta, n, NOISE, rng);
        let found = prior.posterior(&statistics, 0, 1.0).unwrap();
        let root = GramRoot::of(&statistics, 0);
        let of_rows = ExplainedRows::new(&prior, &root);
        let levels = of_rows.levels.clone();
        let mut parts = Vec::new();
        let left = Mat::from_fn(n, 1, |i, _| {
            let row: Vec<f64> = (0..D).map(|j| x[(i, j)]).collect();
            y[i] - linalg::dot(&row, prior.mean())
        });
        let mut add = |own: f64, free: f64, log_prior: f64| {
            for &(noise, weight) in &levels {
                let covariance = prior.covariance(own, free);
                let half = linalg::product(x.as_ref(), covariance.as_ref());
                let mut kernel = linalg::product(half.as_ref(), x.transpose());
                (0..n).for_each(|i| kernel[(i, i)] += noise);
                let factor = linalg::cholesky(kernel.as_ref(), "").unwrap();
                let solved = factor.solve(left.as_ref());
                let misfit = linalg::inner(solved.as_ref(), left.as_ref()) + factor.log_det();
                let step = linalg::product(half.transpose(), solved.as_ref());
                let updated =
                    linalg::product(half.transpose(), factor.solve(half.as_ref()).as_ref());
                parts.push((
                    log_prior + weight - 0.5 * misfit,
                    step,
                    covariance - updated,
                ));
            }
        };
        for one in prior.explanations(&of_rows, &[1.0]).unwrap() {
            let Departure { own, free } = one.departure;
            let log_prior = if free > 0.0 {
                FREE.ln()
            } else {
                log_tail(own.ln() / SPREADS[0], SCALE_TAILS)
            };
            add(own, free, log_prior);
        }
        let top = parts
            .iter()
            .map(|(score, ..)| *score)
            .fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = parts.iter().map(|(score, ..)| (score - top).exp()).sum();
        let mut mean = [0.0; D];
        for (score, step, _) in &parts {
            let weight = (score - top).exp() / total;
            (0..D).for_each(|i| mean[i] += weight * step[(i, 0)]);
        }
        let mut covariance = Mat::<f64>::zeros(D, D);
        for (score, step, within) in &parts {
            let weight = (score - top).exp() / total;
            for j in 0..D {
                for i in 0..D {
                    let apart = (step[(i, 0)] - mean[i]) * (step[(j, 0)] - mean[j]);
                    covariance[(i, j)] += weight * (within[(i, j)] + apart);
                }
            }
        }
        for i in 0..D {
            let expected = prior.mean()[i] + mean[i];
            assert!(
                (found.mean[i] - expected).abs() < 1e-6,
                "{case}: {} {expected}",
                found.mean[i]
            );
            for j in 0..D {
                let (a, b) = (found.covariance[(i, j)], covariance[(i, j)]);
                assert!((a - b).abs() < 1e-6, "{case}: {a} {b}");
            }
        }
    }
}

/// A task that contradicts everything expected of it is still learnt from its own rows.
#[test]
fn scales_reach_as_far_as_the_labels_do() {
    let rng = &mut derive(6, Purpose::Test, &[]);
    for size in [1.0, 1e2, 1e4, 1e6] {
        let mut prior = prior(rng);
        prior.own = vec![1e-9; D];
        prior.common.covariance = Mat::zeros(D, D);
        let theta: Vec<f64> = prior.mean().iter().map(|m| -size * m).collect();
        let (_, _, statistics) = rows(&theta, 12, NOISE, rng);
        let found = prior.posterior(&statistics, 0, 1.0).unwrap();
        for (found, truth) in found.mean.iter().zip(&theta) {
            assert!(
                (found - truth).abs() < 0.3 + 0.01 * size,
                "{size}: {found} {truth}"
            );
        }
    }
}

#[test]
fn rows_that_agree_leave_the_mean_where_it_is() {
    let rng = &mut derive(8, Purpose::Test, &[]);
    let mut prior = prior(rng);
    prior.own = vec![1e-6; D];
    prior.common.covariance = Mat::zeros(D, D);
    let theta = prior.mean().to_vec();
    let (mut error, mut alone) = (0.0, 0.0);
    for _ in 0..20 {
        let (_, _, statistics) = rows(&theta, 6, NOISE, rng);
        let found = prior.posterior(&statistics, 0, 1.0).unwrap();
        let squares = found.mean.iter().zip(&theta).map(|(a, b)| (a - b).powi(2));
        error += squares.sum::<f64>() / 20.0;
        alone += D as f64 * NOISE / 6.0 / 20.0;
    }
    assert!(error < 0.05 * alone, "{error} {alone}");
}

/// Rows that count for less say less of the function, but nothing else of the noise.
#[test]
fn weights_of_rows_leave_the_noise_as_it_is() {
    let rng = &mut derive(9, Purpose::Test, &[]);
    let prior = prior(rng);
    let theta = draw(&prior, 1.0, 0.0, rng);
    let (_, _, statistics) = rows(&theta, 400, NOISE, rng);
    for weight in [1.0, 0.3, 0.02] {
        let found = prior.posterior(&statistics, 0, weight).unwrap();
        assert!(
            (found.noise / NOISE).ln().abs() < 0.35,
            "{weight}: {}",
            found.noise
        );
    }
}

#[test]
fn without_rows_a_task_is_what_source_tasks_are() {
    let prior = prior(&mut derive(7, Purpose::Test, &[]));
    let found = prior.posterior(&Statistics::new(D, 1), 0, 1.0).unwrap();
    assert_eq!(found.mean, prior.mean());
}
