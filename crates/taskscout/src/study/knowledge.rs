//! What a model says about the targets, in the terms that designs need.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::{Progress, Study};
use crate::data::TargetRows;
use crate::error::{Error, Result};
use crate::linalg;
use crate::model::{Model, Representation as _};
use crate::strategy::{Given, Knowledge};
use crate::target::TargetKind;
use crate::task::{Task, TaskId};

/// Strength of a target, in units of the noise variance, below which a model has found nothing.
const NO_SIGNAL: f64 = 1e-12;

/// What a study has learnt so far, in the terms of a design problem of one's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// `B`, its source part: embeddings are `B ψ_W(w)`.
    #[serde(with = "linalg::serde_mat")]
    pub map: Mat<f64>,
    /// `A = E[c_0 c_0ᵀ]` over the targets, insignificant eigenvalues clipped.
    #[serde(with = "linalg::serde_mat")]
    pub moment: Mat<f64>,
    /// The information of all source samples so far, `Σ n_w c_w c_wᵀ`.
    #[serde(with = "linalg::serde_mat")]
    pub given: Mat<f64>,
    /// The embeddings of the single targets.
    pub targets: Vec<Vec<f64>>,
}

impl Study {
    /// What the model of everything told so far says about embeddings, for use with
    /// [`design`](crate::design).
    ///
    /// # Errors
    /// Too little data to fit a model, or nothing known of the targets.
    pub fn needs(&self) -> Result<Arc<Needs>> {
        let known = &self.cache.needs;
        known.get(self.data.version(), || self.find_needs().map(Arc::new))
    }

    fn find_needs(&self) -> Result<Needs> {
        let model = self.model()?;
        let knowledge = self.knowledge(&model)?;
        if !knowledge.has_target() {
            return Err(Error::State(
                "nothing is known of the targets yet: tell the study some samples of them first"
                    .into(),
            ));
        }
        let map = model
            .map
            .source(0, self.config.source_features())
            .to_owned();
        let given = self.collected(&model)?;
        Ok(Needs {
            map,
            moment: knowledge.need,
            given,
            targets: knowledge.targets,
        })
    }

    /// The information of all source samples so far, `Σ n_w c_w c_wᵀ`.
    fn collected(&self, model: &Model) -> Result<Mat<f64>> {
        let mut given = Mat::zeros(model.dim(), model.dim());
        for entry in self.data.sources() {
            let embedding = model.map.embedding(&entry.features, 0)?;
            add_outer(&mut given, &embedding, entry.statistics.count() as f64);
        }
        Ok(given)
    }

    /// What was asked for and has not come back yet, by task.
    pub(super) fn under_way(&self) -> HashMap<&TaskId, (&Task, usize)> {
        let mut under_way: HashMap<&TaskId, (&Task, usize)> = HashMap::new();
        let open = self
            .items
            .iter()
            .filter(|one| one.progress == Progress::Open);
        for one in open {
            let task = &one.item.task;
            let missing = one.item.n.saturating_sub(one.collected);
            under_way.entry(&task.id).or_insert((task, 0)).1 += missing;
        }
        under_way
    }

    /// Rows of source tasks: those that came, and those that will.
    pub(super) fn rows_to_come<'a>(
        &'a self,
        under_way: &HashMap<&TaskId, (&'a Task, usize)>,
    ) -> Vec<(&'a Task, usize)> {
        let mut rows = self.data.rows_by_task();
        let mut waiting: BTreeMap<&TaskId, (&Task, usize)> = under_way
            .iter()
            .map(|(id, waiting)| (*id, *waiting))
            .collect();
        for (task, n) in &mut rows {
            *n += waiting.remove(&task.id).map_or(0, |(_, missing)| missing);
        }
        rows.extend(waiting.into_values());
        rows
    }

    /// The information that a plan counts as there already: what is under way and, where the strategy
    /// says so, what has been collected.
    pub(super) fn given(
        &self,
        model: &Model,
        under_way: &HashMap<&TaskId, (&Task, usize)>,
    ) -> Result<Option<Mat<f64>>> {
        let collected = self.config.strategy.given == Given::Collected;
        if under_way.is_empty() && !collected {
            return Ok(None);
        }
        let mut given = if collected {
            self.collected(model)?
        } else {
            Mat::zeros(model.dim(), model.dim())
        };
        let waiting: BTreeMap<_, _> = under_way.iter().collect();
        for (task, n) in waiting.into_values() {
            let embedding = model.map.embedding(&self.config.features_of(task), 0)?;
            add_outer(&mut given, &embedding, *n as f64);
        }
        Ok(Some(given))
    }

    /// Whether any target has rows of its own.
    pub(super) fn has_target_rows(&self) -> bool {
        (0..self.config.targets.len()).any(|target| self.data.target_rows(target) > 0)
    }

    /// What a model says, in the terms that designs need.
    pub(super) fn knowledge<'a>(&self, model: &'a Model) -> Result<Knowledge<'a>> {
        let k = model.dim();
        let (mut need, mut error, mut targets) = (Mat::<f64>::zeros(k, k), 0.0, Vec::new());
        let total: f64 = self.config.targets.iter().map(|target| target.weight).sum();
        for (index, target) in self.config.targets.iter().enumerate() {
            let weight = target.weight / total;
            if let TargetKind::SecondMoment { moment } = &target.kind {
                let map = model.map.source(0, self.config.source_features());
                let half = Mat::from_fn(map.ncols(), k, |i, j| {
                    (0..map.ncols()).map(|s| moment[i][s] * map[(j, s)]).sum()
                });
                need += faer::Scale(weight) * linalg::product(map, half.as_ref());
                continue;
            }
            let embedding = model
                .map
                .embedding(&self.data.targets()[index].features, 0)?;
            for i in 0..k {
                (0..k).for_each(|j| need[(i, j)] += weight * embedding[i] * embedding[j]);
            }
            error += weight * self.embedding_error(model, index)?;
            targets.push(embedding);
        }
        let sources = model.map.source(0, self.config.source_features());
        if sources.squared_norm_l2() <= NO_SIGNAL * model.noise {
            return Err(Error::State(
                "the model finds no signal of the source tasks in what was told so far: look at \
                 their labels, and collect more"
                    .into(),
            ));
        }
        let strength: f64 = (0..k).map(|i| need[(i, i)]).sum();
        if strength <= NO_SIGNAL * model.noise {
            if self.has_target_rows() {
                return Err(Error::State(
                    "the model finds no signal of the targets in what was told so far: collect more"
                        .into(),
                ));
            }
            // Nothing is known of a target: there is the representation to learn all the same.
            return Ok(Knowledge {
                model,
                need: Mat::zeros(k, k),
                targets: Vec::new(),
                nearest: Vec::new(),
            });
        }
        Ok(Knowledge {
            model,
            need: clip(&need, error)?,
            targets,
            nearest: Vec::new(),
        })
    }

    /// Trace of the covariance of a target's estimated embedding, `σ² tr (B_Xᵀ G B_X)⁻¹`.
    fn embedding_error(&self, model: &Model, target: usize) -> Result<f64> {
        let rows = self.data.target_statistics(target, TargetRows::All)?;
        if rows.count() == 0 {
            return Ok(0.0);
        }
        let target = &self.data.targets()[target];
        let mut gram = Mat::<f64>::zeros(model.dim(), model.dim());
        for (fold, rows) in target.folds.iter().zip(&target.rows) {
            gram += model.representation.statistics(fold, rows)?.gram_matrix();
        }
        let (values, _) = linalg::eigen(gram.as_ref(), "the target's Gram matrix")?;
        // Directions that the target's rows do not show are left to the clipping of the others.
        let floor = 1e-9 * values.first().copied().unwrap_or(0.0);
        Ok(values
            .iter()
            .filter(|&&value| value > floor)
            .map(|value| model.noise / value)
            .sum())
    }
}

/// Adds `n c cᵀ`.
fn add_outer(sum: &mut Mat<f64>, embedding: &[f64], n: f64) {
    for (i, a) in embedding.iter().enumerate() {
        for (j, b) in embedding.iter().enumerate() {
            sum[(i, j)] += n * a * b;
        }
    }
}

/// Drops eigenvalues of `A` below its own error, but the largest.
fn clip(need: &Mat<f64>, error: f64) -> Result<Mat<f64>> {
    let (values, vectors) = linalg::eigen(need.as_ref(), "the target moment")?;
    let mut out = Mat::zeros(need.nrows(), need.ncols());
    for (index, &value) in values.iter().enumerate() {
        if index > 0 && value <= error.max(1e-12 * values[0]) {
            break;
        }
        let vector = linalg::column(vectors.as_ref(), index);
        for (i, a) in vector.iter().enumerate() {
            for (j, b) in vector.iter().enumerate() {
                out[(i, j)] += value * a * b;
            }
        }
    }
    Ok(out)
}
