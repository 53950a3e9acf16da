//! What is found in worlds whose truth is known.

use rand_distr::{Distribution as _, StandardNormal, Uniform};

use super::*;
use crate::data::{Samples, Stage, TaskData};
use crate::features::{FeatureMap, Features as _, apply_row};
use crate::rng::{Purpose, Rng, derive};

const D: usize = 6;

/// A world of known task features, seen through others.
struct World {
    truth: FeatureMap,
    seen: FeatureMap,
    outputs: usize,
    noise: f64,
}

impl World {
    fn new(truth: &[[u32; 3]], seen: &[[u32; 3]]) -> Self {
        let map = |exponents: &[[u32; 3]]| {
            let exponents = exponents.iter().map(|one| one.to_vec()).collect();
            FeatureMap::monomials(3, exponents).unwrap()
        };
        Self {
            truth: map(truth),
            seen: map(seen),
            outputs: 1,
            noise: 0.5,
        }
    }

    /// `tasks` tasks in a box with `rows` rows each.
    fn data(&self, tasks: usize, rows: usize, seed: u64) -> TaskData {
        let rng = &mut derive(seed, Purpose::Test, &[]);
        let m = self.outputs;
        let matrix = normals(D * self.truth.dim() * m, rng);
        let mut data = TaskData::new(D, m, self.seen.dim());
        for _ in 0..tasks {
            let uniform = Uniform::new(-1.0, 1.0).unwrap();
            let task: Vec<f64> = (0..3).map(|_| uniform.sample(rng)).collect();
            let psi = apply_row(&self.truth, &task);
            let head: Vec<f64> = matrix
                .chunks(psi.len())
                .map(|row| crate::linalg::dot(row, &psi))
                .collect();
            let x = normals(rows * D, rng);
            let mut y = normals(rows * m, rng);
            for (x, y) in x.chunks(D).zip(y.chunks_mut(m)) {
                for (y, head) in y.iter_mut().zip(head.chunks(D)) {
                    *y = self.noise * *y + crate::linalg::dot(x, head);
                }
            }
            let rows = Samples::new(x, D, y, m).unwrap();
            let seen = apply_row(&self.seen, &task);
            data.add_source_rows(&task, &seen, Stage::WarmUp, 0, &rows)
                .unwrap();
        }
        data
    }

    fn misfit(&self, tasks: usize, rows: usize, seed: u64) -> Option<Misfit> {
        Misfit::of(&self.data(tasks, rows, seed), self.seen.dim()).unwrap()
    }
}

fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(rng)).collect()
}

const LINEAR: [[u32; 3]; 3] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

fn linear_and(more: &[[u32; 3]]) -> Vec<[u32; 3]> {
    LINEAR.iter().chain(more).copied().collect()
}

#[test]
fn a_missing_constant_is_named() {
    let world = World::new(&linear_and(&[[0, 0, 0]]), &LINEAR);
    for seed in 0..10 {
        let misfit = world.misfit(20, 60, seed).unwrap();
        assert!(misfit.is_serious(), "{seed}: {misfit:?}");
        assert_eq!(misfit.remedies[0].feature, "1", "{seed}: {misfit}");
        assert_eq!(misfit.remedies[0].exponents, [0, 0, 0]);
        let mended = misfit.remedies[0].residual_variance;
        assert!(mended < 0.25 * 1.35, "{seed}: {misfit}");
        assert!((misfit.noise - 0.25).abs() < 0.05, "{seed}: {misfit:?}");
    }
}

#[test]
fn a_missing_quadratic_is_named() {
    let seen = linear_and(&[[0, 0, 0]]);
    for (missing, name) in [
        ([2, 0, 0], "w1²"),
        ([1, 0, 1], "w1·w3"),
        ([0, 1, 2], "w2·w3²"),
    ] {
        let truth = linear_and(&[[0, 0, 0], missing]);
        for seed in 0..6 {
            let misfit = World::new(&truth, &seen).misfit(30, 200, seed).unwrap();
            assert!(misfit.is_serious(), "{name} {seed}: {misfit:?}");
            assert_eq!(misfit.remedies[0].feature, name, "{seed}: {misfit:?}");
        }
    }
}

/// Measured over 1,000 other data sets of these sizes: the excess in units of the standard error has mean −0.06
/// and deviation 0.92; one of them is called serious.
#[test]
fn features_that_suffice_raise_no_alarm() {
    let features = linear_and(&[[0, 0, 0]]);
    let world = World::new(&features, &features);
    for (tasks, rows) in [(7, 40), (12, 60), (40, 30), (12, 1000)] {
        let mut scaled = Vec::new();
        for seed in 0..25 {
            let misfit = world.misfit(tasks, rows, seed).unwrap();
            assert!(!misfit.is_serious(), "{tasks} {rows} {seed}: {misfit:?}");
            assert!(misfit.remedies.is_empty());
            scaled.push(misfit.excess() / misfit.standard_error);
        }
        let mean = scaled.iter().sum::<f64>() / scaled.len() as f64;
        // Four standard errors of the mean.
        assert!(mean.abs() < 0.8, "{tasks} {rows}: {mean}");
    }
}

#[test]
fn every_output_counts() {
    let (affine, outputs) = (linear_and(&[[0, 0, 0]]), 2);
    for seed in 0..5 {
        let lacking = World {
            outputs,
            ..World::new(&affine, &LINEAR)
        };
        let misfit = lacking.misfit(20, 60, seed).unwrap();
        assert!(misfit.is_serious(), "{seed}: {misfit:?}");
        assert_eq!(misfit.remedies[0].feature, "1", "{seed}: {misfit}");
        assert!((misfit.noise - 0.25).abs() < 0.05, "{seed}: {misfit:?}");
        let sufficient = World {
            outputs,
            ..World::new(&affine, &affine)
        };
        let misfit = sufficient.misfit(20, 60, seed).unwrap();
        assert!(!misfit.is_serious(), "{seed}: {misfit:?}");
    }
}

#[test]
fn rounding_is_no_misfit() {
    let affine = linear_and(&[[0, 0, 0]]);
    let exact = World {
        noise: 0.0,
        ..World::new(&affine, &affine)
    };
    let misfit = exact.misfit(12, 60, 1).unwrap();
    assert!(!misfit.is_serious(), "{misfit:?}");
    let lacking = World {
        noise: 0.0,
        ..World::new(&affine, &LINEAR)
    };
    let misfit = lacking.misfit(12, 60, 1).unwrap();
    assert!(misfit.is_serious(), "{misfit:?}");
    assert_eq!(misfit.remedies[0].feature, "1", "{misfit}");
}

#[test]
fn nothing_is_said_where_nothing_can_be() {
    let world = World::new(&linear_and(&[[0, 0, 0]]), &LINEAR);
    assert!(world.misfit(0, 60, 1).is_none());
    // As many tasks as features: no task says anything about another.
    assert!(world.misfit(3, 60, 1).is_none());
    // Too few rows for fits of their own.
    assert!(world.misfit(20, 2, 1).is_none());
    // Every task has a feature to itself.
    let mut data = TaskData::new(1, 1, 6);
    for task in 0..6 {
        let mut features = vec![0.0; 6];
        features[task] = 1.0;
        let x = normals(50, &mut derive(task as u64, Purpose::Test, &[]));
        let y = x.iter().map(|x| x * task as f64).collect();
        let rows = Samples::new(x, 1, y, 1).unwrap();
        data.add_source_rows(&features, &features, Stage::WarmUp, 0, &rows)
            .unwrap();
    }
    assert!(Misfit::of(&data, 6).unwrap().is_none());
    // More unknowns than can be solved for.
    let wide = TaskData::new(200, 1, 20);
    assert!(Misfit::of(&wide, 20).unwrap().is_none());
}

/// The formula for a task left out against a fit without it, at the same penalties.
#[test]
fn a_task_left_out_is_a_fit_without_it() {
    let world = World::new(&linear_and(&[[0, 0, 0]]), &LINEAR);
    let data = world.data(8, 40, 3);
    let family = TaskFamily::fit(&data, 3, None).unwrap().unwrap();
    let tasks = LeftOutTask::distinct(&data, 3).unwrap();
    let left = Left::new(&family, &tasks).unwrap();
    assert_eq!(left.tasks(), 8);
    // K of the others from that of all, which is the inverse of the inverse.
    let n = family.inverse().nrows();
    let solver = crate::linalg::cholesky(family.inverse(), "a test").unwrap();
    let whole = solver.solve(faer::Mat::identity(n, n).as_ref());
    let mut square = 0.0;
    for out in &tasks {
        let mut others = whole.clone();
        let mut rhs = faer::Mat::<f64>::zeros(n, 1);
        let gram = out.statistics.gram_matrix();
        for row in 0..n {
            let (i, a) = (row / D, row % D);
            for column in 0..n {
                let (j, b) = (column / D, column % D);
                others[(row, column)] -= out.features[i] * out.features[j] * gram[(a, b)];
            }
            let moments = tasks.iter().filter(|task| task.task != out.task);
            rhs[(row, 0)] = moments
                .map(|task| task.features[i] * task.statistics.cross_moment(0)[a])
                .sum();
        }
        let solver = crate::linalg::cholesky(others.as_ref(), "a test").unwrap();
        let fit = solver.solve(rhs.as_ref());
        let function: Vec<f64> = (0..D)
            .map(|a| (0..3).map(|i| fit[(i * D + a, 0)] * out.features[i]).sum())
            .collect();
        square += out.statistics.residual_sum_of_squares(0, &function);
    }
    let expected = square / 320.0;
    let found = left.out().residual;
    assert!((found / expected - 1.0).abs() < 1e-8, "{found} {expected}");
}

#[test]
fn the_verdict_is_one_sentence() {
    let remedy = SuspectedMissingFeature {
        feature: "1".into(),
        exponents: vec![0],
        residual_variance: 0.26,
    };
    let misfit = Misfit {
        noise: 0.25,
        residual_variance: 0.61,
        expected_variance: 0.255,
        standard_error: 0.01,
        tasks: 20,
        remedies: vec![remedy],
    };
    assert_eq!(
        misfit.to_string(),
        "residuals of tasks left out have variance 0.61 where noise and finite data explain 0.26: \
         the task features cannot express these tasks; adding 1 would bring it to 0.26"
    );
    let helpless = Misfit {
        remedies: Vec::new(),
        ..misfit
    };
    assert!(helpless.to_string().contains("try other features"));
    let sound = Misfit {
        residual_variance: 2.6e-3,
        expected_variance: 2.5e-3,
        ..misfit
    };
    assert_eq!(
        sound.to_string(),
        "residuals of tasks left out have variance 2.6e-3 where noise and finite data explain \
         2.5e-3: nothing speaks against the task features"
    );
}
