//! What a model says about the targets, in the terms that designs need.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::{Progress, Study};
use crate::data::FoldSelection;
use crate::error::{Error, Result};
use crate::linalg;
use crate::model::{Model, Representation as _};
use crate::strategy::outputs::{embedding, outputs, source_maps};
use crate::strategy::{Exploit, Given, Knowledge};
use crate::target::TargetParameters;
use crate::task::{Task, TaskId};

/// Strength of a target, in units of the noise variance, below which a model has found nothing.
const NO_SIGNAL: f64 = 1e-12;

/// What a study has learnt so far, in the terms of a design problem of one's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// `B`, its source part: embeddings are `B ψ_W(w)`. Of several outputs, that of the first.
    #[serde(with = "linalg::serde_mat")]
    pub map: Mat<f64>,
    /// The same of the other outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "matrices")]
    pub further: Vec<Mat<f64>>,
    /// `A = E[c_0 c_0ᵀ]` over the targets and outputs, insignificant eigenvalues clipped.
    #[serde(with = "linalg::serde_mat")]
    pub moment: Mat<f64>,
    /// The information of all source samples so far, `Σ n_w c_w c_wᵀ`.
    #[serde(with = "linalg::serde_mat")]
    pub given: Mat<f64>,
    /// The embeddings of the single targets; of several outputs, one column after the other.
    pub targets: Vec<Vec<f64>>,
}

/// Several matrices, each as one is written.
mod matrices {
    use faer::Mat;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::linalg;

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct One(#[serde(with = "linalg::serde_mat")] Mat<f64>);

    pub(super) fn serialize<S: Serializer>(
        matrices: &[Mat<f64>],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(matrices.iter().map(|matrix| One(matrix.clone())))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Mat<f64>>, D::Error> {
        let matrices = Vec::<One>::deserialize(from)?;
        Ok(matrices.into_iter().map(|one| one.0).collect())
    }
}

impl Needs {
    /// The maps of all outputs, for [`solve_space_blocks`](crate::design::solve_space_blocks).
    #[must_use]
    pub fn maps(&self) -> Vec<MatRef<'_, f64>> {
        let further = self.further.iter().map(Mat::as_ref);
        std::iter::once(self.map.as_ref()).chain(further).collect()
    }
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
        let given = self.collected(&model)?;
        let mut maps = source_maps(&model, self.config.source_features())
            .into_iter()
            .map(|map| map.to_owned());
        Ok(Needs {
            map: maps.next().unwrap_or_else(Mat::new),
            further: maps.collect(),
            moment: knowledge.need,
            given,
            targets: knowledge.targets,
        })
    }

    /// The information of all source samples so far, `Σ n_w c_w c_wᵀ`.
    fn collected(&self, model: &Model) -> Result<Mat<f64>> {
        let mut given = Mat::zeros(model.dim(), model.dim());
        for entry in self.data.sources() {
            let embedding = embedding(model, &entry.features)?;
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
            let embedding = embedding(model, &self.config.features_of(task))?;
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
        let (mut need, mut error) = (Mat::<f64>::zeros(k, k), 0.0);
        let (mut needs, mut targets) = (Vec::new(), Vec::new());
        let total: f64 = self.config.targets.iter().map(|target| target.weight).sum();
        for (index, target) in self.config.targets.iter().enumerate() {
            let weight = target.weight / total;
            if let TargetParameters::Distribution { second_moment } = &target.kind {
                let own = self.need_of_distribution(model, second_moment, weight);
                need += &own;
                needs.push(own);
                continue;
            }
            let embedding = embedding(model, &self.data.targets()[index].features)?;
            add_outer(&mut need, &embedding, weight);
            let mut own = Mat::zeros(k, k);
            add_outer(&mut own, &embedding, weight);
            needs.push(own);
            error += weight * self.embedding_error(model, index)?;
            targets.push(embedding);
        }
        let maps = source_maps(model, self.config.source_features());
        let sources: f64 = maps.iter().map(|map| map.squared_norm_l2()).sum();
        if sources <= NO_SIGNAL * model.noise {
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
                needs: Vec::new(),
                targets: Vec::new(),
                nearest: Vec::new(),
            });
        }
        Ok(Knowledge {
            model,
            need: match self.config.strategy.exploit {
                // With a clipping rule of its own.
                Exploit::Paper => need,
                _ => clip(&need, error)?,
            },
            needs,
            targets,
            nearest: Vec::new(),
        })
    }

    /// `A` of a distribution of tasks, times its weight, summed over outputs.
    fn need_of_distribution(&self, model: &Model, moment: &[Vec<f64>], weight: f64) -> Mat<f64> {
        let k = model.dim();
        let mut need = Mat::zeros(k, k);
        for map in source_maps(model, self.config.source_features()) {
            let half = Mat::from_fn(map.ncols(), k, |i, j| {
                (0..map.ncols()).map(|s| moment[i][s] * map[(j, s)]).sum()
            });
            need += faer::Scale(weight) * linalg::product(map, half.as_ref());
        }
        need
    }

    /// Trace of the covariance of a target's estimated embedding, `σ² tr (B_Xᵀ G B_X)⁻¹` for each output.
    fn embedding_error(&self, model: &Model, target: usize) -> Result<f64> {
        let rows = self.data.target_statistics(target, FoldSelection::All)?;
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
        let of_output: f64 = values
            .iter()
            .filter(|&&value| value > floor)
            .map(|value| model.noise / value)
            .sum();
        Ok(outputs(model) as f64 * of_output)
    }
}

/// Adds `n C Cᵀ`, for the columns of an embedding.
fn add_outer(sum: &mut Mat<f64>, embedding: &[f64], n: f64) {
    for column in embedding.chunks_exact(sum.nrows().max(1)) {
        for (i, a) in column.iter().enumerate() {
            for (j, b) in column.iter().enumerate() {
                sum[(i, j)] += n * a * b;
            }
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
