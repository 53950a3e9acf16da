//! A world for tests: `y = x₀ (w₀ + w₂/2) + x₁ (w₁ − w₃/2)` and noise, with named targets.

use rand::RngExt as _;
use serde::{Deserialize, Serialize};
use serde_json::json;
use taskscout::data::Samples;
use taskscout::features::FeatureMap;
use taskscout::rng::Rng;
use taskscout::space::Space;
use taskscout::task::Task;
use taskscout::train::Predictor;
use taskscout::{Error, metric};
use taskscout_report::ExperimentReport;

use super::{World, WorldKind, WorldOption, WorldSettings, WorldTarget};
use crate::error::Result;
use crate::options::ExperimentOptions;
use crate::trial::TrialRecord;
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

impl WorldSettings for Settings {
    fn has(&self, option: WorldOption) -> bool {
        matches!(
            option,
            WorldOption::Target | WorldOption::TaskFeatures | WorldOption::JointTargets
        )
    }

    fn apply(&mut self, options: &ExperimentOptions) -> Result<()> {
        let points = options.target_points()?;
        if !points.is_empty() {
            self.targets = points;
        }
        Ok(())
    }

    fn build(&self, _watch: &Watcher) -> Result<Box<dyn World>> {
        Ok(Box::new(Toy {
            settings: self.clone(),
            space: match self.rows {
                Some(rows) => Space::one_hot(rows.len())?,
                None => Space::ball(4, 1.0)?,
            },
            task_features: FeatureMap::identity(4)?,
            input_features: FeatureMap::identity(INPUTS)?,
        }))
    }
}

struct Toy {
    settings: Settings,
    space: Space,
    task_features: FeatureMap,
    input_features: FeatureMap,
}

fn embedding(w: &[f64]) -> [f64; 2] {
    [w[0] + 0.5 * w[2], w[1] - 0.5 * w[3]]
}

impl World for Toy {
    fn space(&self) -> &Space {
        &self.space
    }

    fn task_features(&self) -> &FeatureMap {
        &self.task_features
    }

    fn input_features(&self) -> &FeatureMap {
        &self.input_features
    }

    fn targets(&self) -> Vec<WorldTarget> {
        let named = |(index, w): (usize, &Vec<f64>)| WorldTarget {
            name: Some(format!("toy {index}")),
            truth: Some(w.clone()),
            known: None,
        };
        self.settings
            .targets
            .iter()
            .enumerate()
            .map(named)
            .collect()
    }

    fn budget_unit(&self) -> f64 {
        1.0
    }

    fn available(&self, task: &Task) -> Option<usize> {
        let rows = self.settings.rows?;
        let (_, n) = task.iter().zip(rows).find(|(here, _)| **here > 0.5)?;
        Some(n)
    }

    fn sample(&self, task: &Task, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
        let c = embedding(task);
        let mut uniform = |width: f64| rng.random_range(-width..=width);
        let inputs: Vec<f64> = (0..n * INPUTS).map(|_| uniform(1.0)).collect();
        let label = |x: &[f64]| c[0] * x[0] + c[1] * x[1] + uniform(self.settings.noise);
        let outputs = inputs.chunks_exact(INPUTS).map(label).collect();
        Samples::new(inputs, INPUTS, outputs, 1)
    }

    fn sample_target(&self, target: usize, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
        if self.targets()[target].name == self.settings.broken {
            return Err(Error::State("the rig is gone: bring it back".into()));
        }
        self.sample(&Task::from(&self.settings.targets[target]), n, rng)
    }

    fn target_loss(&self, target: usize, predictor: &Predictor) -> taskscout::Result<f64> {
        let c = embedding(&self.settings.targets[target]);
        let truth = [c[0], c[1], 0.0, 0.0, 0.0, 0.0];
        let errors = predictor.coefficients[0].iter().zip(truth);
        Ok(errors.map(|(b, t)| (b - t) * (b - t)).sum::<f64>() / 3.0)
    }

    fn relevance(&self, target: usize, task: &[f64]) -> Option<f64> {
        let target = embedding(&self.settings.targets[target]);
        Some(metric::relevance(&embedding(task), &target))
    }

    fn wants_details(&self) -> bool {
        true
    }

    fn report(&self, trials: &[TrialRecord], report: &mut ExperimentReport) -> Result<()> {
        let detailed = trials.iter().filter(|record| record.details.is_some());
        let summary = report.summary.clone();
        report.summary = summary.with("detailed", json!(detailed.count()));
        Ok(())
    }
}
