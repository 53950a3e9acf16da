//! Do three outputs that share a representation need less budget than three studies of one output each?
//!
//! The world is that of the paper's bilinear experiment, smaller: `y_o = xᵀ B_X B_o w + ξ_o` with 40 inputs,
//! 19 task parameters in the unit ball and a target with a column of its own, three directions, noise
//! of standard deviation 1 and an ill-conditioned `B_o` for every output. A row costs the same whether one
//! of its outputs is used or all. Three ways to spend a total budget:
//!
//! - `together`: one study of three outputs;
//! - `apart`: three studies of one output, a third of the budget each;
//! - `same rows`: the rows of `together`, from which each output is learnt by itself.
//!
//! Every total is a run of its own, with a warm-up of 12 % and four rounds after it.
//!
//! Prints tables for docs/results/several-outputs.md: `cargo run --release --example several_outputs`.

use faer::Mat;
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal, StandardUniform};
use rayon::prelude::*;
use taskscout::Result;
use taskscout::data::Samples;
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::Space;
use taskscout::strategy::{StrategyConfig, StrategyKind};
use taskscout::study::{Study, StudyConfig};
use taskscout::target::Target;
use taskscout::task::Task;
use taskscout::train::AveragedPredictor;

const INPUTS: usize = 40;
const SOURCES: usize = 19;
const K: usize = 3;
const OUTPUTS: usize = 3;
const TARGET_ROWS: usize = 1600;
/// Rows in all, over the studies of a way together.
const TOTALS: [usize; 6] = [750, 1500, 3000, 6000, 12_000, 24_000];
/// Shares of the rounds, the warm-up first.
const ROUNDS: [f64; 5] = [0.12, 0.08, 0.14, 0.24, 0.42];
const SEEDS: u64 = 10;
const TRUTHS: [u64; 2] = [1, 2];
const DRAWS: usize = 2000;

/// A ground truth.
struct World {
    /// `B_X`.
    representation: Mat<f64>,
    /// `B_o`, the target's column last.
    maps: Vec<Mat<f64>>,
}

impl World {
    fn new(seed: u64) -> Self {
        let rng = &mut derive(seed, Purpose::World, &[]);
        let gaussian: Mat<f64> = Mat::from_fn(INPUTS, K, |_, _| StandardNormal.sample(rng));
        Self {
            representation: gaussian.qr().compute_thin_Q(),
            maps: (0..OUTPUTS).map(|_| ill_conditioned(rng)).collect(),
        }
    }

    /// The coefficients of an output of a task; of the target without one.
    fn function(&self, task: Option<&[f64]>, output: usize) -> Vec<f64> {
        let map = &self.maps[output];
        let embed = |i: usize| match task {
            Some(task) => task.iter().enumerate().map(|(j, w)| map[(i, j)] * w).sum(),
            None => map[(i, SOURCES)],
        };
        let embedding: Vec<f64> = (0..K).map(embed).collect();
        let row = |i: usize| {
            (0..K)
                .map(|j| self.representation[(i, j)] * embedding[j])
                .sum()
        };
        (0..INPUTS).map(row).collect()
    }

    /// Rows with all outputs.
    fn rows(&self, task: Option<&[f64]>, n: usize, rng: &mut Rng) -> Result<Samples> {
        let functions: Vec<Vec<f64>> = (0..OUTPUTS).map(|o| self.function(task, o)).collect();
        let x: Vec<f64> = (0..n * INPUTS)
            .map(|_| StandardNormal.sample(rng))
            .collect();
        let mut y = Vec::with_capacity(n * OUTPUTS);
        for row in x.chunks_exact(INPUTS) {
            for function in &functions {
                let noise: f64 = StandardNormal.sample(rng);
                y.push(row.iter().zip(function).map(|(a, b)| a * b).sum::<f64>() + noise);
            }
        }
        Samples::new(x, INPUTS, y, OUTPUTS)
    }

    /// The mean squared error of a predictor of one output.
    fn loss(&self, coefficients: &[f64], output: usize) -> f64 {
        let truth = self.function(None, output);
        let squares = coefficients
            .iter()
            .zip(&truth)
            .map(|(a, b)| (a - b).powi(2));
        squares.sum()
    }
}

/// A task map with directions that are hard to see, as in the paper's experiment.
fn ill_conditioned(rng: &mut Rng) -> Mat<f64> {
    let columns = SOURCES + 1;
    let mut map: Mat<f64> = Mat::from_fn(K, columns, |_, _| StandardUniform.sample(rng));
    for j in columns / 3..columns {
        (0..K).for_each(|i| map[(i, j)] = map[(i, columns - 1)]);
    }
    for j in 0..columns {
        for i in 0..K {
            let more: f64 = StandardUniform.sample(rng);
            map[(i, j)] += 0.1 * more;
        }
    }
    for i in 0..K {
        map[(i, columns - 1)] = map[(i, 0)];
    }
    for j in 0..columns {
        let norm = map.col(j).norm_l2();
        (0..K).for_each(|i| map[(i, j)] /= norm);
    }
    map
}

/// The rows with one of their outputs.
fn only(samples: &Samples, output: usize) -> Result<Samples> {
    let labels = samples.outputs().iter().skip(output).step_by(OUTPUTS);
    let labels = labels.copied().collect();
    Samples::new(samples.inputs().to_vec(), INPUTS, labels, 1)
}

fn study(kind: StrategyKind, outputs: usize, seed: u64) -> Result<Study> {
    let config = StudyConfig::new(
        Space::ball(SOURCES, 1.0)?,
        FeatureMap::identity(INPUTS)?,
        vec![Target::unknown("target")],
        StrategyConfig::new(kind),
    )?;
    Study::new(StudyConfig {
        outputs,
        k: Some(K),
        seed,
        ..config
    })
}

/// The coefficients of what the guard hands back, an output each.
fn handed_back(choice: &AveragedPredictor) -> Vec<Vec<f64>> {
    let taken = choice.candidate(choice.kind);
    taken.map_or_else(Vec::new, |candidate| candidate.coefficients.clone())
}

/// Losses with a total budget, mean over outputs: together, apart, same rows.
fn run(world: &World, kind: StrategyKind, seed: u64, total: usize) -> Result<[f64; 3]> {
    let target = world.rows(None, TARGET_ROWS, &mut derive(seed, Purpose::Target, &[]))?;
    let mut together = study(kind, OUTPUTS, seed)?;
    together.tell_target(0, &target)?;
    let (mut apart, mut same) = (Vec::new(), Vec::new());
    for output in 0..OUTPUTS {
        // Studies of their own draw tasks of their own.
        apart.push(study(kind, 1, seed + 1000 * output as u64)?);
        same.push(study(StrategyKind::Passive, 1, seed)?);
        apart[output].tell_target(0, &only(&target, output)?)?;
        same[output].tell_target(0, &only(&target, output)?)?;
    }
    for share in ROUNDS {
        let budget = (share * total as f64) as usize;
        for item in together.ask(budget)?.items {
            let rng = &mut derive(seed, Purpose::Collect, &[item.id, OUTPUTS as u64]);
            let rows = world.rows(Some(&item.task), item.n, rng)?;
            together.tell(item.id, &rows)?;
            for (output, study) in same.iter_mut().enumerate() {
                study.add(&Task::point(item.task.to_vec()), &only(&rows, output)?)?;
            }
        }
        for (output, study) in apart.iter_mut().enumerate() {
            for item in study.ask(budget / OUTPUTS)?.items {
                let rng = &mut derive(seed, Purpose::Collect, &[item.id, output as u64]);
                let rows = world.rows(Some(&item.task), item.n, rng)?;
                study.tell(item.id, &only(&rows, output)?)?;
            }
        }
    }
    let mut losses = [0.0; 3];
    let joint = handed_back(&together.predictors()?[0]);
    for output in 0..OUTPUTS {
        losses[0] += world.loss(&joint[output], output) / OUTPUTS as f64;
        for (loss, studies) in losses[1..].iter_mut().zip([&apart, &same]) {
            let own = handed_back(&studies[output].predictors()?[0]);
            *loss += world.loss(&own[0], output) / OUTPUTS as f64;
        }
    }
    Ok(losses)
}

/// The budget at which a mean curve first reaches a loss, on straight lines between logarithms; the
/// smallest budget where it begins below.
fn budget_at(curve: &[f64], goal: f64) -> f64 {
    let Some(reached) = curve.iter().position(|&loss| loss <= goal) else {
        return f64::INFINITY;
    };
    let Some(before) = reached.checked_sub(1) else {
        return TOTALS[0] as f64;
    };
    let part = (curve[before] / goal).ln() / (curve[before] / curve[reached]).ln();
    let (from, to) = (TOTALS[before] as f64, TOTALS[reached] as f64);
    from * (to / from).powf(part)
}

/// A number of resampled seeds with its 90 % interval.
fn interval(of: impl Fn(&[usize]) -> f64) -> (f64, f64, f64) {
    let mut rng = derive(0, Purpose::Bootstrap, &[]);
    let all: Vec<usize> = (0..SEEDS as usize).collect();
    let mut draws: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let seeds: Vec<usize> = all.iter().map(|_| rng.random_range(0..all.len())).collect();
            of(&seeds)
        })
        .collect();
    draws.sort_by(f64::total_cmp);
    (of(&all), draws[DRAWS / 20], draws[DRAWS - 1 - DRAWS / 20])
}

/// Losses of a strategy by seed, total and way.
type Runs = Vec<Vec<[f64; 3]>>;

fn print(truth: u64, kind: StrategyKind, runs: &Runs) {
    let last = TOTALS.len() - 1;
    let curve = |way: usize, seeds: &[usize]| -> Vec<f64> {
        let at = |total: usize| {
            seeds
                .iter()
                .map(|&seed| runs[seed][total][way])
                .sum::<f64>()
        };
        (0..=last)
            .map(|total| at(total) / seeds.len() as f64)
            .collect()
    };
    for (way, name) in ["together", "apart", "same rows"].iter().enumerate() {
        let losses = (0..=last).map(|total| {
            let (mean, low, high) = interval(|seeds| curve(way, seeds)[total]);
            format!("{:.1} ({:.1}–{:.1})", 1e3 * mean, 1e3 * low, 1e3 * high)
        });
        let losses: Vec<String> = losses.collect();
        let (rows, low, high) =
            interval(|seeds| budget_at(&curve(way, seeds), curve(1, seeds)[last]));
        let reached = if rows.is_finite() {
            format!("{rows:.0} ({low:.0}–{high:.0})")
        } else {
            "not reached".into()
        };
        let losses = losses.join(" | ");
        println!("| {truth} | {kind}, {name} | {losses} | {reached} |");
    }
}

fn main() -> Result<()> {
    let totals = TOTALS.map(|total| format!("{total} rows")).join(" | ");
    println!(
        "Losses times 1000; the last column has the rows that reach the last loss of `apart`."
    );
    println!("| truth | | {totals} | rows for the same |");
    println!("|---|---|{}---|", "---|".repeat(TOTALS.len()));
    for truth in TRUTHS {
        let world = World::new(truth);
        for kind in [StrategyKind::Aware, StrategyKind::Passive] {
            let of_seed = |seed| -> Result<Vec<[f64; 3]>> {
                let totals = TOTALS.iter();
                totals
                    .map(|&total| run(&world, kind, seed, total))
                    .collect()
            };
            let runs: Result<Runs> = (0..SEEDS).into_par_iter().map(of_seed).collect();
            print(truth, kind, &runs?);
        }
    }
    Ok(())
}
