//! Families of tasks with a known truth: `y = xᵀ M ψ_W(w) + noise`.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use faer::Mat;
use taskscout::data::{Samples, Stage, Statistics, TaskData};
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::identify::{IdentifiedParameters, ParameterSearch, TaskFamily};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::{Space, TaskSpace as _};

use crate::common::{apply, gaussian, rng, rows};

pub(crate) const D: usize = 5;
pub(crate) const NOISE: f64 = 0.3;

/// A space whose tasks have functions by a matrix for every output.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) space: Space,
    pub(crate) features: FeatureMap,
    pub(crate) matrices: Vec<Mat<f64>>,
    pub(crate) noise: f64,
}

impl World {
    pub(crate) fn new(space: Space, features: FeatureMap, outputs: usize, rng: &mut Rng) -> Self {
        let p = features.dim();
        Self {
            space,
            features,
            matrices: (0..outputs).map(|_| gaussian(D, p, rng)).collect(),
            noise: NOISE,
        }
    }

    /// Two parameters in a box, polynomial features of degree two: six of them.
    pub(crate) fn plane(seed: u64) -> Self {
        let space = Space::boxed(vec![-1.0, -1.0], vec![1.0, 1.0]).unwrap();
        let features = FeatureMap::polynomial(2, 2, true).unwrap();
        Self::new(space, features, 1, &mut rng(seed))
    }

    /// One parameter, of which the function is a parabola that can be told apart everywhere.
    pub(crate) fn line(seed: u64) -> Self {
        let space = Space::boxed(vec![0.0], vec![1.0]).unwrap();
        let features = FeatureMap::polynomial(1, 2, true).unwrap();
        Self::new(space, features, 1, &mut rng(seed))
    }

    pub(crate) fn function(&self, task: &[f64]) -> Vec<Vec<f64>> {
        let psi = apply_row(&self.features, task);
        self.matrices
            .iter()
            .map(|matrix| apply(matrix.as_ref(), &psi))
            .collect()
    }

    pub(crate) fn samples(&self, task: &[f64], n: usize, rng: &mut Rng) -> Samples {
        rows(&self.function(task), n, self.noise, rng)
    }

    pub(crate) fn target(&self, task: &[f64], n: usize, rng: &mut Rng) -> Statistics {
        statistics(&self.samples(task, n, rng))
    }

    /// Rows of tasks drawn from the space, `each` of every one.
    pub(crate) fn sources(&self, tasks: usize, each: usize, rng: &mut Rng) -> TaskData {
        let mut data = TaskData::new(D, self.matrices.len(), self.features.dim());
        for _ in 0..tasks {
            let task = self.space.sample(rng).unwrap();
            let psi = apply_row(&self.features, &task);
            let rows = self.samples(&task, each, rng);
            data.add_source_rows(&task, &psi, Stage::WarmUp, 0, &rows)
                .unwrap();
        }
        data
    }

    pub(crate) fn family(&self, tasks: usize, each: usize, rng: &mut Rng) -> TaskFamily {
        let data = self.sources(tasks, each, rng);
        TaskFamily::fit(&data, self.features.dim(), None)
            .unwrap()
            .unwrap()
    }

    pub(crate) fn search<'a>(&'a self, family: &'a TaskFamily) -> ParameterSearch<'a> {
        ParameterSearch {
            family,
            space: &self.space,
            features: &self.features,
        }
    }

    /// What the rows of a target say, searched from a seed.
    pub(crate) fn identify(
        &self,
        family: &TaskFamily,
        rows: &Statistics,
        seed: u64,
    ) -> IdentifiedParameters {
        let rng = &mut derive(seed, Purpose::Identify, &[]);
        self.search(family).identify(rows, rng).unwrap()
    }
}

pub(crate) fn statistics(rows: &Samples) -> Statistics {
    let mut statistics = Statistics::new(rows.input_dim(), rows.output_dim());
    statistics.accumulate(rows).unwrap();
    statistics
}

/// Whether the box of what was found holds a task, up to the search's last digits.
pub(crate) fn holds(found: &IdentifiedParameters, task: &[f64]) -> bool {
    let edges = found.low.iter().zip(&found.high);
    task.iter()
        .zip(edges)
        .all(|(w, (low, high))| (low - 1e-6..=high + 1e-6).contains(w))
}

/// `‖a − b‖²` summed over outputs: the loss on standard normal inputs.
pub(crate) fn loss(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (a - b).powi(2)).sum()
}
