//! A world for tests: `y = x₀ (w₀ + w₂/2) + x₁ (w₁ − w₃/2)` and noise, with named targets.

use std::path::Path;

use rand::RngExt as _;
use serde::{Deserialize, Serialize};
use serde_json::json;
use taskscout::data::Samples;
use taskscout::features::FeatureMap;
use taskscout::rng::Rng;
use taskscout::source::TaskSource;
use taskscout::space::Space;
use taskscout::task::Task;
use taskscout::train::Predictor;
use taskscout::{Error, metric};
use taskscout_report::ExperimentReport;

use super::{
    Data, Judge, Open, Presentation, Scenario, ScenarioTarget, Setup, TrialSource, WorldKind,
    WorldSettings, points,
};
use crate::error::Result;
use crate::options::PendulumOptions;
use crate::record::{Trial, TrialRecord};
use crate::watch::Watcher;

const INPUTS: usize = 6;

/// `[world]` of `kind = "toy"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    kind: WorldKind,
    noise: f64,
    /// The name of a target that cannot be sampled.
    #[serde(default)]
    broken: Option<String>,
    /// Rows of each of four one-hot tasks, instead of as many as one likes of any on a ball.
    #[serde(default)]
    rows: Option<[usize; 4]>,
    #[serde(default = "two_targets")]
    targets: Vec<Vec<f64>>,
}

fn two_targets() -> Vec<Vec<f64>> {
    vec![vec![0.6, 0.0, 0.0, 0.0], vec![0.0, 0.6, 0.0, 0.2]]
}

impl Settings {
    /// Takes over the options of the command line.
    pub(super) fn apply(&mut self, options: &PendulumOptions) -> Result<()> {
        let points = points(&options.target)?;
        if !points.is_empty() {
            self.targets = points;
        }
        Ok(())
    }
}

impl WorldSettings for Settings {
    fn build(&self, _watch: &Watcher) -> Result<Setup> {
        let target = |(index, w): (usize, &Vec<f64>)| ScenarioTarget {
            name: Some(name(index)),
            truth: Some(w.clone()),
            ..ScenarioTarget::default()
        };
        let space = match self.rows {
            Some(rows) => Space::one_hot(rows.len())?,
            None => Space::ball(4, 1.0)?,
        };
        Ok(Setup {
            scenario: Scenario::new(
                space,
                FeatureMap::identity(4)?,
                FeatureMap::identity(INPUTS)?,
                self.targets.iter().enumerate().map(target).collect(),
            ),
            data: Box::new(self.clone()),
            presentation: Box::new(Counting),
        })
    }
}

fn name(target: usize) -> String {
    format!("toy {target}")
}

fn embedding(w: &[f64]) -> [f64; 2] {
    [w[0] + 0.5 * w[2], w[1] - 0.5 * w[3]]
}

impl Data for Settings {
    fn open<'a>(&'a self, _collected: &Path, _trial: &Trial) -> taskscout::Result<Open<'a>> {
        Ok(Open {
            source: Box::new(self.clone()),
            judge: Box::new(self.clone()),
        })
    }
}

impl TaskSource for Settings {
    fn available(&self, task: &Task) -> Option<usize> {
        let rows = self.rows?;
        let (_, n) = task.iter().zip(rows).find(|(here, _)| **here > 0.5)?;
        Some(n)
    }

    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
        let c = embedding(task);
        let mut uniform = |width: f64| rng.random_range(-width..=width);
        let inputs: Vec<f64> = (0..n * INPUTS).map(|_| uniform(1.0)).collect();
        let label = |x: &[f64]| c[0] * x[0] + c[1] * x[1] + uniform(self.noise);
        let outputs = inputs.chunks_exact(INPUTS).map(label).collect();
        Samples::new(inputs, INPUTS, outputs, 1)
    }
}

impl TrialSource for Settings {
    fn sample_target(
        &mut self,
        target: usize,
        n: usize,
        rng: &mut Rng,
    ) -> taskscout::Result<Samples> {
        if Some(name(target)) == self.broken {
            return Err(Error::State("the rig is gone: bring it back".into()));
        }
        self.sample(&Task::from(&self.targets[target]), n, rng)
    }
}

impl Judge for Settings {
    fn loss(&self, target: usize, predictor: &Predictor) -> taskscout::Result<f64> {
        let c = embedding(&self.targets[target]);
        let truth = [c[0], c[1], 0.0, 0.0, 0.0, 0.0];
        let errors = predictor.coefficients[0].iter().zip(truth);
        Ok(errors.map(|(b, t)| (b - t) * (b - t)).sum::<f64>() / 3.0)
    }

    fn relevance(&self, target: usize, task: &[f64]) -> Option<f64> {
        let target = embedding(&self.targets[target]);
        Some(metric::cosine(&embedding(task), &target))
    }
}

/// Counts the trials that kept details.
struct Counting;

impl Presentation for Counting {
    fn wants_details(&self) -> bool {
        true
    }

    fn report(&self, trials: &[TrialRecord], report: &mut ExperimentReport) -> Result<Vec<String>> {
        let detailed = trials.iter().filter(|record| record.details.is_some());
        let summary = report.summary.clone();
        report.summary = summary.with("detailed", json!(detailed.count()));
        Ok(Vec::new())
    }
}
