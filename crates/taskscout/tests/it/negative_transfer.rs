//! Transfer that harms: sources that contradict the target, have nothing to do with it, or differ among themselves.
//!
//! 216 settings of slopes, rows, noise and number of sources, each with several draws. What is handed back must be about as good as the better
//! of target-only and shared, and its uncertainty must hold new observations.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::{normals, rng};
use rayon::prelude::*;
use taskscout::data::{Samples, Stage, TaskData};
use taskscout::rng::Rng;
use taskscout::train::{
    AveragedPredictor, JointRidge, PartialPooling, PredictorKind, TrainContext, Trainer, guard,
};

/// So many draws of each setting, from one on.
#[derive(Debug, Clone, Copy)]
struct Draws {
    count: u64,
    first: u64,
}

/// Draws that are enough to find a mistake.
const FEW: Draws = Draws {
    count: 20,
    first: 0,
};
/// Draws that are enough for the limits to hold everywhere: a single one no longer decides.
const MANY: Draws = Draws {
    count: 120,
    first: 5000,
};
/// Features: a constant, and an input.
const GROUPS: [usize; 2] = [1, 1];
const D: usize = 2;

/// How the slopes of source tasks and target are related.
#[derive(Debug, Clone, Copy)]
enum Slopes {
    /// The target's are those of the sources, with the other sign.
    Opposite,
    /// The target's have nothing to do with those of the sources, which are all alike.
    Unrelated,
    /// All differ by so much from task to task.
    Spread(f64),
    /// All alike.
    Alike,
}

#[derive(Debug, Clone, Copy)]
struct Setting {
    slopes: Slopes,
    rows: usize,
    noise: f64,
    sources: usize,
}

fn settings() -> Vec<Setting> {
    let mut all = Vec::new();
    let slopes = [
        Slopes::Opposite,
        Slopes::Unrelated,
        Slopes::Spread(0.3),
        Slopes::Spread(3.0),
        Slopes::Spread(10.0),
        Slopes::Alike,
    ];
    for slopes in slopes {
        for rows in [4, 7, 8, 16, 72, 300] {
            for noise in [0.02, 0.2, 1.0] {
                for sources in [3, 12] {
                    all.push(Setting {
                        slopes,
                        rows,
                        noise,
                        sources,
                    });
                }
            }
        }
    }
    all
}

fn rows(theta: &[f64], n: usize, noise: f64, rng: &mut Rng) -> Samples {
    let mut x = normals(n * D, rng);
    x.chunks_mut(D).for_each(|row| row[0] = 1.0);
    let clean: Vec<f64> = x
        .chunks(D)
        .map(|row| crate::common::dot(row, theta))
        .collect();
    let y = clean
        .iter()
        .zip(normals(n, rng))
        .map(|(y, e)| y + noise * e);
    Samples::new(x.clone(), D, y.collect(), 1).unwrap()
}

/// Source tasks and a target, and the target's truth.
fn world(setting: Setting, seed: u64, labelled: bool) -> (TaskData, Vec<f64>) {
    let rng = &mut rng(seed);
    let Setting {
        slopes,
        rows: n,
        noise,
        sources,
    } = setting;
    let common: Vec<f64> = vec![0.5, 5.0];
    let spread = match slopes {
        Slopes::Spread(spread) => spread,
        _ => 0.0,
    };
    let draw = |rng: &mut Rng| -> Vec<f64> {
        common
            .iter()
            .zip(normals(D, rng))
            .map(|(c, z)| c + spread * z)
            .collect()
    };
    // Tasks that are labelled alike, or nothing known of any.
    let task_dim = if labelled { 1 } else { sources + 1 };
    let features = |task: usize| -> Vec<f64> {
        if labelled {
            vec![1.0]
        } else {
            crate::common::unit(task_dim, task)
        }
    };
    let mut data = TaskData::new(D, 1, task_dim);
    data.add_target("target", features(sources)).unwrap();
    for task in 0..sources {
        let theta = draw(rng);
        let samples = rows(&theta, 100, noise, rng);
        data.add_source_rows(&[task as f64], &features(task), Stage::Explore, 0, &samples)
            .unwrap();
    }
    let theta = match slopes {
        Slopes::Opposite => common.iter().map(|c| -c).collect(),
        Slopes::Unrelated => normals(D, rng).iter().map(|z| 4.0 * z).collect(),
        _ => draw(rng),
    };
    data.add_target_rows(0, &rows(&theta, n, noise, rng))
        .unwrap();
    (data, theta)
}

fn choose(oracle: &dyn Trainer, data: &TaskData) -> AveragedPredictor {
    let context = TrainContext {
        candidate_targets: vec![0],
        ..TrainContext::default()
    };
    let candidates = oracle.fit(data, &context).unwrap().candidates.remove(0);
    guard::average_candidates(data, 0, candidates, None).unwrap()
}

fn loss(coefficients: &[f64], theta: &[f64]) -> f64 {
    coefficients
        .iter()
        .zip(theta)
        .map(|(a, b)| (a - b).powi(2))
        .sum()
}

/// Whether new observations lie within 90 % intervals: how many of how many.
fn held(choice: &AveragedPredictor, theta: &[f64], noise: f64, rng: &mut Rng) -> f64 {
    let posterior = &choice.posteriors[0];
    let fresh = rows(theta, 40, noise, rng);
    let inside = fresh
        .inputs()
        .chunks(D)
        .zip(fresh.outputs())
        .filter(|(x, y)| {
            let expected = crate::common::dot(x, &posterior.mean);
            let mut variance = posterior.noise;
            for (i, a) in x.iter().enumerate() {
                for (j, b) in x.iter().enumerate() {
                    variance += a * b * posterior.covariance[(i, j)];
                }
            }
            (*y - expected).abs() <= 1.645 * (variance * posterior.t_variance_factor()).sqrt()
        });
    inside.count() as f64 / 40.0
}

/// Per setting: returned over the better candidate, and how often intervals hold.
fn measure(oracle: &dyn Trainer, labelled: bool, draws: Draws) -> Vec<(Setting, f64, f64)> {
    settings()
        .into_par_iter()
        .enumerate()
        .map(|(index, setting)| {
            let (mut losses, mut inside) = ([0.0; 3], 0.0);
            for draw in 0..draws.count {
                let seed = 100_000 * (index as u64 + 1) + draws.first + draw;
                let (data, theta) = world(setting, seed, labelled);
                let choice = choose(oracle, &data);
                let of = |kind| loss(&choice.candidate(kind).unwrap().coefficients[0], &theta);
                let found = loss(&choice.predictor().unwrap().coefficients[0], &theta);
                let all = [
                    of(PredictorKind::TargetOnly),
                    of(PredictorKind::Shared),
                    found,
                ];
                losses
                    .iter_mut()
                    .zip(all)
                    .for_each(|(sum, one)| *sum += one);
                let new = &mut rng(7 + seed);
                inside += held(&choice, &theta, setting.noise, new) / draws.count as f64;
            }
            let ratio = losses[2] / losses[0].min(losses[1]);
            (setting, ratio, inside)
        })
        .collect()
}

/// The settings of few or of more rows in which what is handed back is worse than the better candidate by more than a factor.
fn above(all: &[(Setting, f64, f64)], few: bool, factor: f64) -> Vec<&(Setting, f64, f64)> {
    let above = |one: &&(Setting, f64, f64)| (one.0.rows < 8) == few && one.1 > factor;
    all.iter().filter(above).collect()
}

/// Settings of few draws that may be above their limit: single draws decide there, such as rows that happen to lie close
/// together and tell next to nothing.
const EXCEPTIONS: usize = 2;

/// Checks all settings, with so many exceptions.
fn judge(oracle: &dyn Trainer, labelled: bool, draws: Draws, exceptions: usize) {
    let all = measure(oracle, labelled, draws);
    assert_eq!(all.len(), 216);
    let mean = all.iter().map(|(_, ratio, _)| ratio.ln()).sum::<f64>() / all.len() as f64;
    let inside = all.iter().map(|(.., inside)| inside).sum::<f64>() / all.len() as f64;
    let worst = |few: bool| {
        let of = all.iter().filter(|one| (one.0.rows < 8) == few);
        of.map(|one| one.1).fold(0.0, f64::max)
    };
    println!(
        "geometric mean {:.3}, intervals {inside:.3}, at worst {:.2} with few rows and {:.2} with more",
        mean.exp(),
        worst(true),
        worst(false)
    );
    assert!(mean.exp() < 1.1, "{}", mean.exp());
    assert!((0.8..0.97).contains(&inside), "{inside}");
    for (few, limit) in [(true, 3.0), (false, 1.5)] {
        let found = above(&all, few, limit);
        assert!(found.len() <= exceptions, "{found:?}");
        let far = above(&all, few, 1.5 * limit);
        assert!(far.is_empty(), "{far:?}");
    }
}

fn pooled() -> PartialPooling {
    PartialPooling {
        groups: GROUPS.to_vec(),
        ..PartialPooling::default()
    }
}

#[test]
fn pooled_sources_do_no_harm() {
    judge(&pooled(), true, FEW, EXCEPTIONS);
}

#[test]
fn a_shared_representation_does_no_harm() {
    judge(&JointRidge::default(), false, FEW, EXCEPTIONS);
}

#[test]
#[ignore = "takes minutes; its figures are in docs/results/negative-transfer.md"]
fn no_setting_is_above_its_limit_with_many_draws() {
    judge(&JointRidge::default(), false, MANY, 0);
    judge(&pooled(), true, MANY, 0);
}

/// Three of four rows can be explained by a large noise and no slope at all, but no source has such a noise.
#[test]
fn noise_that_no_source_has_explains_nothing() {
    let setting = Setting {
        slopes: Slopes::Unrelated,
        rows: 4,
        noise: 1.0,
        sources: 12,
    };
    let (data, theta) = world(setting, 4_200_051, false);
    let choice = choose(&JointRidge::default(), &data);
    let found = loss(&choice.predictor().unwrap().coefficients[0], &theta);
    assert!(found < 2.0, "{found} {:?}", choice.weights);
}
