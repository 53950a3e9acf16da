//! The two normal equations of a bilinear model, assembled from statistics.
//!
//! For `y = ψᵀ B_X B ψ_W + ξ` each factor alone is a linear least-squares problem:
//!
//! - given `B_X`, the matrix of the equations for `B` is `Σ_w ψ_W ψ_Wᵀ ⊗ (B_Xᵀ G_w B_X)`;
//! - given `B`, the one for `B_X` is `Σ_w c_w c_wᵀ ⊗ G_w` with `c_w = B ψ_W(w)`.
//!
//! Both reduce to products with the table of packed Gram matrices, one row a task: `P = 𝒢 V` for
//! the `k(k+1)/2` entries of every `B_Xᵀ G_w B_X`, and `K = Cᵀ 𝒢` for the blocks of the second.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::gram_table::GramTable;
use crate::data::{FoldSelection, Stage, Statistics, TaskData};
use crate::error::Result;
use crate::linalg::packed;

/// One task's statistics with the features of each of its outputs.
pub(crate) struct Observation<'a> {
    pub(crate) statistics: std::borrow::Cow<'a, Statistics>,
    /// `ψ_W(w)`. The features of output `o` are `e_o ⊗ ψ_W(w)`: each output has its own columns of
    /// `B`, and all share `B_X`.
    pub(crate) features: &'a [f64],
}

/// The data of a fit.
pub(crate) struct BilinearProblem<'a> {
    pub(crate) feature_dim: usize,
    /// Task features of one output.
    pub(crate) task_dim: usize,
    pub(crate) outputs: usize,
    pub(crate) observations: Vec<Observation<'a>>,
}

/// A task's sufficient statistics under a representation `φ`: its Gram matrix and, for each output,
/// its moment.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectedStatistics {
    /// `B_Xᵀ G_w B_X`, a packed lower triangle.
    pub gram: Vec<f64>,
    /// `B_Xᵀ b_w` of each output.
    pub moments: Vec<Vec<f64>>,
}

impl ProjectedStatistics {
    /// Of statistics that are under `φ` already.
    pub(crate) fn of(statistics: &Statistics) -> Self {
        Self {
            gram: statistics.gram().to_vec(),
            moments: (0..statistics.outputs())
                .map(|output| statistics.cross_moment(output).to_vec())
                .collect(),
        }
    }
}

impl<'a> BilinearProblem<'a> {
    /// The rows of the named stages (all, if `None`) and of the targets.
    pub(crate) fn new(
        data: &'a TaskData,
        stages: Option<&[Stage]>,
        targets: FoldSelection,
    ) -> Result<Self> {
        let wanted = |stage: &Stage| stages.is_none_or(|stages| stages.contains(stage));
        let mut observations: Vec<Observation<'a>> = data
            .sources()
            .iter()
            .filter(|entry| wanted(&entry.stage) && entry.statistics.count() > 0)
            .map(|entry| Observation {
                statistics: std::borrow::Cow::Borrowed(&entry.statistics),
                features: &entry.features,
            })
            .collect();
        for (index, target) in data.targets().iter().enumerate() {
            let statistics = data.target_statistics(index, targets)?;
            if statistics.count() > 0 {
                observations.push(Observation {
                    statistics: std::borrow::Cow::Owned(statistics),
                    features: &target.features,
                });
            }
        }
        Ok(Self {
            feature_dim: data.feature_dim(),
            task_dim: data.task_dim(),
            outputs: data.outputs(),
            observations,
        })
    }

    /// Task features over all outputs.
    pub(crate) fn map_dim(&self) -> usize {
        self.task_dim * self.outputs
    }

    /// Labels in all.
    pub(crate) fn labels(&self) -> usize {
        self.observations
            .iter()
            .map(|o| o.statistics.count())
            .sum::<usize>()
            * self.outputs
    }

    /// `Σ y²` over everything.
    pub(crate) fn squares(&self) -> f64 {
        self.observations
            .iter()
            .map(|o| {
                (0..self.outputs)
                    .map(|output| o.statistics.sum_of_squares(output))
                    .sum::<f64>()
            })
            .sum()
    }

    /// The task features of every observation as rows of a matrix.
    pub(crate) fn design_matrix(&self) -> Mat<f64> {
        Mat::from_fn(self.observations.len(), self.task_dim, |i, j| {
            self.observations[i].features[j]
        })
    }

    /// The embedding of an observation's output under a map `B`.
    pub(crate) fn embedding(
        &self,
        map: MatRef<'_, f64>,
        observation: usize,
        output: usize,
    ) -> Vec<f64> {
        let columns = map.subcols(output * self.task_dim, self.task_dim);
        crate::linalg::apply(columns, self.observations[observation].features)
    }

    /// The Gram matrices of all observations.
    fn grams(&self) -> GramTable<'_> {
        let grams = self.observations.iter().map(|o| o.statistics.gram());
        GramTable::new(self.feature_dim, grams)
    }

    /// Every task's statistics under `φ = B_X`.
    pub(crate) fn project(&self, representation: MatRef<'_, f64>) -> Vec<ProjectedStatistics> {
        let small = self.grams().project(representation);
        let of = |(w, observation): (usize, &Observation<'_>)| {
            let moment = |output| {
                let moment = observation.statistics.cross_moment(output);
                crate::linalg::apply(representation.transpose(), moment)
            };
            ProjectedStatistics {
                gram: crate::linalg::column(small.as_ref(), w),
                moments: (0..self.outputs).map(moment).collect(),
            }
        };
        self.observations.iter().enumerate().map(of).collect()
    }

    /// The equations for `B` given `B_X`, ordered embedding coordinate, then task feature. Outputs
    /// share the matrix and have a right-hand side each.
    pub(crate) fn map_equations(
        &self,
        projected: &[ProjectedStatistics],
        k: usize,
    ) -> (Mat<f64>, Mat<f64>) {
        map_equations(self.design_matrix().as_ref(), projected, k, self.outputs)
    }

    /// The equations for `B_X` given `B`, ordered embedding coordinate, then feature.
    pub(crate) fn representation_equations(&self, map: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
        self.representation_equations_for(map.nrows(), |w, output| self.embedding(map, w, output))
    }

    /// The equations for the full matrix `M`, ordered task feature, then feature, over the first
    /// `p` task features: `Σ_w ψ_Wψ_Wᵀ ⊗ G_w`, with a right-hand side for each output.
    pub(crate) fn full_equations(&self, p: usize) -> (Mat<f64>, Mat<f64>) {
        let d = self.feature_dim;
        let mut rhs = Mat::<f64>::zeros(p * d, self.outputs);
        let mut weights = Mat::<f64>::zeros(self.observations.len(), packed::len(p));
        for (w, observation) in self.observations.iter().enumerate() {
            let psi = observation.features;
            for i in 0..p {
                (0..=i).for_each(|j| weights[(w, packed::len(i) + j)] = psi[i] * psi[j]);
                for output in 0..self.outputs {
                    let moment = observation.statistics.cross_moment(output);
                    (0..d).for_each(|a| rhs[(i * d + a, output)] += psi[i] * moment[a]);
                }
            }
        }
        (self.grams().kronecker_sum(weights.as_ref(), p), rhs)
    }

    /// The equations for `B_X` given the embedding of every observation and output.
    pub(crate) fn representation_equations_for(
        &self,
        k: usize,
        embedding: impl Fn(usize, usize) -> Vec<f64>,
    ) -> (Mat<f64>, Mat<f64>) {
        let (weights, rhs) = self.representation_weights(k, embedding);
        (self.grams().kronecker_sum(weights.as_ref(), k), rhs)
    }

    /// The equations for `B_X` of several problems with the same sources, one after another, each given its `B`: the
    /// sources' Gram matrices are read once for all of them.
    pub(crate) fn representation_equations_of_all(
        problems: &[(&Self, MatRef<'_, f64>)],
    ) -> Vec<(Mat<f64>, Mat<f64>)> {
        let Some(&(any, map)) = problems.first() else {
            return Vec::new();
        };
        let k = map.nrows();
        let (sources, pairs) = (any.sources(), packed::len(k));
        let of = |&(problem, map): &(&Self, MatRef<'_, f64>)| {
            problem.representation_weights(k, |w, output| problem.embedding(map, w, output))
        };
        let (parts, rhs): (Vec<Mat<f64>>, Vec<Mat<f64>>) = problems.iter().map(of).unzip();
        // Rows of the sources, then those of each problem's targets, which count in no other problem.
        let targets = parts.iter().map(|part| part.nrows() - sources);
        let mut weights = Mat::zeros(sources + targets.sum::<usize>(), pairs * parts.len());
        let mut row = sources;
        for (set, part) in parts.iter().enumerate() {
            let mut columns = weights.as_mut().subcols_mut(set * pairs, pairs);
            let (own, rest) = part.as_ref().split_at_row(sources);
            columns.as_mut().subrows_mut(0, sources).copy_from(own);
            columns.subrows_mut(row, rest.nrows()).copy_from(rest);
            row += rest.nrows();
        }
        let targets = problems
            .iter()
            .flat_map(|(p, _)| &p.observations[sources..]);
        let grams = any.observations[..sources].iter().chain(targets);
        let table = GramTable::new(any.feature_dim, grams.map(|o| o.statistics.gram()));
        let sums = table.kronecker_sums(weights.as_ref(), k);
        sums.into_iter().zip(rhs).collect()
    }

    /// Observations of sources, which come first.
    fn sources(&self) -> usize {
        let of_source =
            |o: &&Observation<'_>| matches!(o.statistics, std::borrow::Cow::Borrowed(_));
        self.observations.iter().take_while(of_source).count()
    }

    /// `Σ_o c cᵀ` of every observation, packed, and the right-hand side of the equations for `B_X`.
    fn representation_weights(
        &self,
        k: usize,
        embedding: impl Fn(usize, usize) -> Vec<f64>,
    ) -> (Mat<f64>, Mat<f64>) {
        let d = self.feature_dim;
        let pairs = packed::len(k);
        let mut rhs = Mat::zeros(k * d, 1);
        let mut weights = Mat::<f64>::zeros(self.observations.len(), pairs);
        for (w, observation) in self.observations.iter().enumerate() {
            for output in 0..self.outputs {
                let c = embedding(w, output);
                let moment = observation.statistics.cross_moment(output);
                for i in 0..k {
                    (0..=i).for_each(|j| weights[(w, packed::len(i) + j)] += c[i] * c[j]);
                    (0..d).for_each(|a| rhs[(i * d + a, 0)] += c[i] * moment[a]);
                }
            }
        }
        (weights, rhs)
    }
}

/// The equations for `B` from statistics under `φ` of tasks with these features, ordered embedding
/// coordinate, then task feature; one right-hand side an output.
fn map_equations(
    design: MatRef<'_, f64>,
    projected: &[ProjectedStatistics],
    k: usize,
    outputs: usize,
) -> (Mat<f64>, Mat<f64>) {
    let (rows, p) = (design.nrows(), design.ncols());
    let mut matrix = Mat::zeros(k * p, k * p);
    for i in 0..k {
        for j in 0..=i {
            let at = packed::len(i) + j;
            let weighted = Mat::from_fn(rows, p, |w, s| projected[w].gram[at] * design[(w, s)]);
            let block = matrix.as_mut().submatrix_mut(i * p, j * p, p, p);
            matmul(
                block,
                Accum::Replace,
                design.transpose(),
                weighted.as_ref(),
                1.0,
                Par::Seq,
            );
        }
    }
    let mut rhs = Mat::zeros(k * p, outputs);
    for output in 0..outputs {
        let moments = Mat::from_fn(rows, k, |w, i| projected[w].moments[output][i]);
        let sums = crate::linalg::product(design.transpose(), moments.as_ref());
        (0..k * p).for_each(|row| rhs[(row, output)] = sums[(row % p, row / p)]);
    }
    (matrix, rhs)
}

/// The map `B`, `k × (outputs · p)`, that minimises `Σ_w ‖y − φᵀ B ψ_W(w)‖² + λ‖B‖²`, from each
/// task's statistics under `φ` and its features, one task a row.
///
/// # Errors
/// Equations that cannot be solved.
pub fn ridge_task_map(
    features: MatRef<'_, f64>,
    projected: &[ProjectedStatistics],
    k: usize,
    outputs: usize,
    lambda: f64,
) -> crate::Result<Mat<f64>> {
    let p = features.ncols();
    let (mut matrix, rhs) = map_equations(features, projected, k, outputs);
    add_ridge(&mut matrix, lambda);
    let solver = crate::linalg::cholesky(matrix.as_ref(), "the equations of the task map")?;
    let solution = solver.solve(rhs.as_ref());
    Ok(Mat::from_fn(k, outputs * p, |i, column| {
        solution[(i * p + column % p, column / p)]
    }))
}

/// Adds `λ`, or the least that keeps the equations solvable, and says which.
pub(crate) fn add_ridge(matrix: &mut Mat<f64>, lambda: f64) -> f64 {
    // A floor relative to the matrix keeps the factorisation defined as λ → 0.
    let largest = (0..matrix.nrows())
        .map(|i| matrix[(i, i)])
        .fold(0.0, f64::max);
    let ridge = lambda.max(1e-13 * largest).max(f64::MIN_POSITIVE);
    (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += ridge);
    ridge
}

#[cfg(test)]
mod tests;
