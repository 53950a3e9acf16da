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
            data.add(&task, &seen, Stage::WarmUp, 0, &rows).unwrap();
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
        let mended = misfit.remedies[0].residual;
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

#[test]
fn features_that_suffice_raise_no_alarm() {
    let features = linear_and(&[[0, 0, 0]]);
    let world = World::new(&features, &features);
    let mut sum = 0.0;
    for seed in 0..100 {
        for (tasks, rows) in [(7, 40), (12, 60), (40, 30), (12, 1000)] {
            let Some(misfit) = world.misfit(tasks, rows, seed) else {
                continue;
            };
            eprintln!(
                "{seed} {tasks} {rows} {:.3} {:.3}",
                misfit.excess() / misfit.blur,
                misfit.blur / misfit.noise
            );
            sum += misfit.excess() / misfit.blur;
            if misfit.is_serious() {
                eprintln!("SERIOUS {seed} {tasks} {rows}: {misfit:?}");
            }
        }
    }
    eprintln!("{sum}");
}
