//! A fit against one large system of equations for all unknowns at once.
#![allow(clippy::unwrap_used)]

use faer::Mat;
use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::data::Samples;
use crate::rng::{Purpose, derive};

const GROUPS: [usize; 3] = [0, 1, 1];
const D: usize = 3;
const Q: usize = 2;
const EFFECTIVE_ROWS: f64 = 30.0;
/// Rows of each task; some have fewer than features.
const ROWS: [usize; 5] = [40, 2, 12, 1, 7];

struct Task {
    shared: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Task {
    fn evidence(&self) -> Evidence {
        let mut statistics = Statistics::new(D, 1);
        let rows = Samples::new(self.x.clone(), D, self.y.clone(), 1).unwrap();
        statistics.accumulate(&rows).unwrap();
        Evidence::new(self.shared.clone(), &statistics, 0, EFFECTIVE_ROWS)
    }

    /// What a row counts for.
    fn weight(&self) -> f64 {
        1.0 / (1.0 + self.y.len() as f64 / EFFECTIVE_ROWS)
    }
}

fn tasks(seed: u64) -> Vec<Task> {
    let rng = &mut derive(seed, Purpose::Test, &[]);
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let map: Vec<f64> = (0..D * Q).map(|_| normal()).collect();
    let task = |(index, &n): (usize, &usize)| {
        let shared = vec![1.0, 0.4 * index as f64 - 1.0];
        let theta: Vec<f64> = (0..D)
            .map(|a| map[a] + map[D + a] * shared[1] + 0.3 * normal())
            .collect();
        let x: Vec<f64> = (0..n * D).map(|_| normal()).collect();
        let y = x
            .chunks(D)
            .map(|row| linalg::dot(row, &theta) + 0.2 * normal())
            .collect();
        Task { shared, x, y }
    };
    ROWS.iter().enumerate().map(task).collect()
}

/// The prior precision of an unknown.
fn precision(fit: &ComponentFit<'_>, i: usize) -> f64 {
    let usual = fit.precisions[(i / D).min(Q)][GROUPS[i % D]];
    match (i / D).checked_sub(Q) {
        Some(task) => usual / fit.residual_scales[task],
        None => usual,
    }
}

/// Mean and covariance of `(M, r_1, …, r_T)`, from rows.
fn dense(tasks: &[Task], fit: &ComponentFit<'_>) -> (Vec<f64>, Mat<f64>) {
    let size = D * (Q + tasks.len());
    let mut matrix = Mat::<f64>::zeros(size, size);
    let mut rhs = vec![0.0; size];
    for i in 0..size {
        matrix[(i, i)] = precision(fit, i);
    }
    for (index, (task, noise)) in tasks.iter().zip(&fit.noises).enumerate() {
        for (row, label) in task.x.chunks(D).zip(&task.y) {
            let mut z = vec![0.0; size];
            for a in 0..D {
                (0..Q).for_each(|j| z[j * D + a] = task.shared[j] * row[a]);
                z[(Q + index) * D + a] = row[a];
            }
            let weight = task.weight() / noise;
            for i in 0..size {
                (0..size).for_each(|j| matrix[(i, j)] += weight * z[i] * z[j]);
                rhs[i] += weight * z[i] * label;
            }
        }
    }
    let factor = linalg::cholesky(matrix.as_ref(), "a test").unwrap();
    let covariance = factor.solve(Mat::identity(size, size).as_ref());
    (linalg::apply(covariance.as_ref(), &rhs), covariance)
}

/// `θ_t` as a combination of all unknowns.
fn function(tasks: &[Task], index: usize) -> Mat<f64> {
    Mat::from_fn(D, D * (Q + tasks.len()), |a, i| match (i % D == a, i / D) {
        (true, block) if block < Q => tasks[index].shared[block],
        (true, block) if block == Q + index => 1.0,
        _ => 0.0,
    })
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!(
        (a - b).abs() <= tolerance * (1.0 + b.abs()),
        "{a} is not {b}"
    );
}

#[test]
fn a_solution_is_that_of_all_unknowns_at_once() {
    for seed in 0..4 {
        let tasks = tasks(seed);
        let evidence: Vec<Evidence> = tasks.iter().map(Task::evidence).collect();
        // As `Component::fit` does, with precisions and noise in view.
        let mut fit = ComponentFit::start(&evidence, &GROUPS);
        for _ in 1..STEPS {
            let solution = fit.solve().unwrap();
            fit.update(&solution);
        }
        let (mean, covariance) = dense(&tasks, &fit);
        let found = Component::fit(&evidence, &GROUPS).unwrap();
        assert_eq!(found.precisions, fit.precisions);
        for i in 0..Q * D {
            close(found.means[(i % D, i / D)], mean[i], 1e-9);
            for j in 0..Q * D {
                close(found.covariance[(i, j)], covariance[(i, j)], 1e-9);
            }
        }
        for (index, known) in found.tasks.iter().enumerate() {
            let part = function(&tasks, index);
            let half = linalg::product(part.as_ref(), covariance.as_ref());
            let covariance = linalg::product(half.as_ref(), part.transpose());
            let theta = linalg::apply(part.as_ref(), &mean);
            for a in 0..D {
                close(known.mean[a], theta[a], 1e-9);
                (0..D).for_each(|b| close(known.covariance[(a, b)], covariance[(a, b)], 1e-9));
            }
        }
        let logs: f64 = fit.noises.iter().map(|noise| noise.ln()).sum();
        close(found.noise, (logs / tasks.len() as f64).exp(), 1e-12);
    }
}

/// MacKay's fixed point from the covariance of all unknowns: with inertia, `γ / s` for precisions,
/// `s / γ` for residual scales and `S / (n − γ)` for noise.
#[test]
fn an_update_is_the_fixed_points_step() {
    let tasks = tasks(9);
    let evidence: Vec<Evidence> = tasks.iter().map(Task::evidence).collect();
    let mut fit = ComponentFit::start(&evidence, &GROUPS);
    for _ in 0..3 {
        let (mean, covariance) = dense(&tasks, &fit);
        let (before, noises) = (fit.precisions.clone(), fit.noises.clone());
        let residual_scales = fit.residual_scales.clone();
        let prior: Vec<f64> = (0..mean.len()).map(|i| precision(&fit, i)).collect();
        let solution = fit.solve().unwrap();
        fit.update(&solution);
        let mut freedom = vec![[0.0; 2]; Q + 1];
        let mut squares = freedom.clone();
        for i in 0..mean.len() {
            let (block, group) = ((i / D).min(Q), GROUPS[i % D]);
            let scale = (i / D)
                .checked_sub(Q)
                .map_or(1.0, |task| residual_scales[task]);
            freedom[block][group] += 1.0 - prior[i] * covariance[(i, i)];
            squares[block][group] += mean[i].powi(2) / scale;
        }
        for (task, found) in fit.residual_scales.iter().enumerate() {
            let own = (Q + task) * D..(Q + task + 1) * D;
            let effective: f64 = own
                .clone()
                .map(|i| (1.0 - prior[i] * covariance[(i, i)]).max(0.0))
                .sum();
            let size: f64 = own
                .map(|i| prior[i] * residual_scales[task] * mean[i].powi(2))
                .sum();
            close(*found, (size + 6.0) / (effective + 6.0), 1e-8);
        }
        for block in 0..=Q {
            for group in 0..2 {
                let wanted = (freedom[block][group] + 0.01)
                    / (squares[block][group] + 0.01 / before[block][group]);
                close(fit.precisions[block][group] / wanted, 1.0, 1e-8);
            }
        }
        let logs: f64 = noises.iter().map(|noise| noise.ln()).sum();
        let usual = (logs / tasks.len() as f64).exp();
        for (index, task) in tasks.iter().enumerate() {
            let part = function(&tasks, index);
            let theta = linalg::apply(part.as_ref(), &mean);
            let (mut left, mut taken) = (0.0, 0.0);
            for (row, label) in task.x.chunks(D).zip(&task.y) {
                left += task.weight() * (label - linalg::dot(row, &theta)).powi(2);
                let z = linalg::apply(part.transpose(), row);
                taken += task.weight() * linalg::quadratic(covariance.as_ref(), &z);
            }
            let counted = task.weight() * task.y.len() as f64;
            let free = (counted - taken / noises[index]).max(0.0) + 4.0;
            close(fit.noises[index], (left + 4.0 * usual) / free, 1e-8);
        }
    }
}
