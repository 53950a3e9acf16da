//! The information of rows about both factors, and what it leaves open of a target's function.

use std::borrow::Cow;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use super::seen::Seen;
use super::{MAX_FORECAST_UNKNOWNS, add_outer};
use crate::data::{FoldSelection, Statistics};
use crate::error::Result;
use crate::linalg::{self, packed};
use crate::regression::{BilinearProblem, Observation};

/// Tasks whose cross terms are formed at once, which bounds the memory that they take.
const TASKS_PER_BLOCK: usize = 64;
/// Penalty, relative to the largest entry, that keeps equations solvable where the fit had none: rotations between the
/// factors change no function and have no information.
const LEAST_RIDGE: f64 = 1e-9;
/// Part of the largest eigenvalue of inputs' second moment below which a direction of inputs does not occur.
pub(super) const NO_INPUT: f64 = 1e-12;

/// How far off a target's function may be: the variances of its independent parts, and the share of them that comes
/// from the representation.
#[derive(Debug)]
pub(super) struct Spread {
    pub(super) variances: Vec<f64>,
    pub(super) representation: f64,
}

impl Spread {
    /// The expected loss.
    pub(super) fn total(&self) -> f64 {
        self.variances.iter().sum()
    }

    /// The same with more or less left open.
    pub(super) fn times(mut self, factor: f64) -> Self {
        self.variances.iter_mut().for_each(|one| *one *= factor);
        self
    }
}

/// The information of some rows.
#[derive(Debug, Clone)]
pub(super) struct Information {
    /// `Σ n_w ψ_W ψ_Wᵀ`: rows by task features.
    pub(super) rows: Mat<f64>,
    /// Of the heads, `Σ ψ_Wψ_Wᵀ ⊗ Xᵀ G_w X`, lower half, the same for each output.
    heads: Mat<f64>,
    /// Of both factors, lower half; none where they have too many unknowns.
    both: Option<Mat<f64>>,
    /// `Σ G_w`: what inputs look like, for all tasks alike.
    inputs: Vec<f64>,
    /// How many rows.
    count: f64,
}

impl Information {
    /// Of all rows that are there.
    pub(super) fn of_data(seen: &Seen) -> Result<Self> {
        let problem = BilinearProblem::new(seen.data(), None, FoldSelection::All)?;
        Self::of(seen, &problem)
    }

    fn of(seen: &Seen, problem: &BilinearProblem<'_>) -> Result<Self> {
        let mut rows = Mat::zeros(seen.task_dim(), seen.task_dim());
        let mut inputs = vec![0.0; packed::len(problem.feature_dim)];
        let mut count = 0.0;
        for one in &problem.observations {
            add_outer(&mut rows, one.features, one.statistics.count() as f64);
            count += one.statistics.count() as f64;
            let sums = inputs.iter_mut().zip(one.statistics.gram());
            sums.for_each(|(sum, value)| *sum += value);
        }
        let projected = problem.project(seen.representation.as_ref());
        let (heads, _) = problem.map_equations(&projected, seen.k());
        let unknowns = problem.feature_dim * seen.k() + seen.outputs() * heads.nrows();
        let whole = seen.learns_representation && unknowns <= MAX_FORECAST_UNKNOWNS;
        Ok(Self {
            both: whole.then(|| both_factors(seen, problem, &heads)),
            rows,
            heads,
            inputs,
            count,
        })
    }

    /// With rows to come.
    pub(super) fn with(&self, seen: &Seen, added: &[(Statistics, Vec<f64>)]) -> Result<Self> {
        if added.is_empty() {
            return Ok(self.clone());
        }
        let observations = added.iter().map(|(statistics, features)| Observation {
            statistics: Cow::Borrowed(statistics),
            features,
        });
        let problem = BilinearProblem {
            feature_dim: seen.data().feature_dim(),
            task_dim: seen.task_dim(),
            outputs: seen.outputs(),
            observations: observations.collect(),
        };
        let more = Self::of(seen, &problem)?;
        let pairs = self.inputs.iter().zip(&more.inputs);
        Ok(Self {
            rows: &self.rows + more.rows,
            heads: &self.heads + more.heads,
            both: self.both.as_ref().zip(more.both).map(|(a, b)| a + b),
            inputs: pairs.map(|(a, b)| a + b).collect(),
            count: self.count + more.count,
        })
    }

    /// Of so many times the rows, which look alike.
    pub(super) fn times(&self, factor: f64) -> Self {
        let scale = faer::Scale(factor);
        Self {
            rows: scale * &self.rows,
            heads: scale * &self.heads,
            both: self.both.as_ref().map(|both| scale * both),
            inputs: self.inputs.iter().map(|value| factor * value).collect(),
            count: factor * self.count,
        }
    }

    /// The equations of the heads, factorised.
    pub(super) fn head_solver(&self, seen: &Seen) -> Result<linalg::Cholesky> {
        let mut heads = self.heads.clone();
        add_ridge(&mut heads, seen.lambda);
        linalg::cholesky(heads.as_ref(), "the information about heads")
    }

    /// Mean square of an input feature.
    pub(super) fn input_strength(&self, seen: &Seen) -> f64 {
        let dim = seen.data().feature_dim();
        let trace: f64 = (0..dim).map(|i| self.inputs[packed::len(i) + i]).sum();
        (trace / (dim as f64 * self.count)).max(f64::MIN_POSITIVE)
    }

    /// The mean Gram matrix of a row.
    pub(super) fn mean_gram(&self, seen: &Seen) -> Mat<f64> {
        let mut gram = packed::unpack(&self.inputs, seen.data().feature_dim());
        gram *= faer::Scale(1.0 / self.count);
        gram
    }

    /// How far off the function of a target may be, whose inputs have the second moment `R Rᵀ`.
    pub(super) fn spread(&self, seen: &Seen, moment: &Mat<f64>, root: &Mat<f64>) -> Result<Spread> {
        let heads = self.head_spread(seen, moment, root)?;
        let whole = match &self.both {
            _ if !seen.learns_representation => vec![heads.clone(); seen.outputs()],
            Some(both) => whole_spread(seen, both, moment, root)?,
            None => self.alike_spread(seen, moment, root, &heads)?,
        };
        let scale = seen.noise / seen.outputs() as f64;
        let mut variances = Vec::new();
        for output in &whole {
            let (values, _) = linalg::eigen(output.as_ref(), "the variance of a forecast")?;
            variances.extend(values.into_iter().map(|value| scale * value.max(0.0)));
        }
        let total: f64 = variances.iter().sum();
        let of_heads = scale * seen.outputs() as f64 * trace(&heads);
        Ok(Spread {
            variances,
            representation: (1.0 - of_heads / total.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0),
        })
    }

    /// What the heads alone leave open, in units of the noise, for one output.
    fn head_spread(&self, seen: &Seen, moment: &Mat<f64>, root: &Mat<f64>) -> Result<Mat<f64>> {
        let solver = self.head_solver(seen)?;
        let turned = linalg::product(seen.representation.transpose(), root.as_ref());
        let (k, width) = (seen.k(), seen.task_dim());
        let mut sum = Mat::zeros(root.ncols(), root.ncols());
        for member in members(moment)? {
            let columns = Mat::from_fn(k * width, root.ncols(), |row, column| {
                member[row % width] * turned[(row / width, column)]
            });
            let white = solver.whiten(columns.as_ref());
            sum += linalg::product(white.transpose(), white.as_ref());
        }
        Ok(sum)
    }

    /// What both factors leave open where all tasks' inputs look alike: `tr(Σ⁻¹A)` times the inverse of the inputs'
    /// Gram matrix outside of the representation, and the heads.
    fn alike_spread(
        &self,
        seen: &Seen,
        moment: &Mat<f64>,
        root: &Mat<f64>,
        heads: &Mat<f64>,
    ) -> Result<Vec<Mat<f64>>> {
        let mut gram = self.mean_gram(seen);
        let basis = linalg::svd(seen.representation.as_ref(), "the representation")?.u;
        // A representation's own directions are the heads' matter.
        let weight = 1e5 * trace(&gram);
        gram += faer::Scale(weight) * linalg::product(basis.as_ref(), basis.transpose());
        add_ridge(&mut gram, seen.lambda / self.count);
        let white =
            linalg::cholesky(gram.as_ref(), "the inputs' Gram matrix")?.whiten(root.as_ref());
        let outside = linalg::product(white.transpose(), white.as_ref());
        let mut information = seen.embed(&seen.map, self.rows.as_ref());
        add_ridge(&mut information, seen.lambda / self.input_strength(seen));
        let solver = linalg::cholesky(information.as_ref(), "the information about embeddings")?;
        let of_output = |output: usize| {
            let need = super::sandwich(seen.output(&seen.map, output), moment.as_ref());
            let value = trace(&solver.solve(need.as_ref()));
            heads + faer::Scale(value) * &outside
        };
        Ok((0..seen.outputs()).map(of_output).collect())
    }
}

/// The information about both factors, lower half: first `X` by embedding coordinate and feature, then `B` by output,
/// embedding coordinate and task feature.
fn both_factors(seen: &Seen, problem: &BilinearProblem<'_>, heads: &Mat<f64>) -> Mat<f64> {
    let (d, k, width) = (problem.feature_dim, seen.k(), seen.task_dim());
    let (first, _) = problem.representation_equations(seen.map.as_ref());
    let size = d * k + seen.outputs() * k * width;
    let mut matrix = Mat::zeros(size, size);
    matrix
        .as_mut()
        .submatrix_mut(0, 0, d * k, d * k)
        .copy_from(&first);
    for output in 0..seen.outputs() {
        let at = d * k + output * k * width;
        let block = matrix.as_mut().submatrix_mut(at, at, k * width, k * width);
        let mut block = block;
        block.copy_from(heads);
        let cross = cross_terms(seen, problem, output);
        for row in 0..k * width {
            let (j, s) = (row / width, row % width);
            for column in 0..d * k {
                matrix[(at + row, column)] = cross[(s, column * k + j)];
            }
        }
    }
    matrix
}

/// `Σ_w ψ_s c_i (G_w X)_{aj}`: a row for each task feature `s`, a column for each `(i, a, j)`.
fn cross_terms(seen: &Seen, problem: &BilinearProblem<'_>, output: usize) -> Mat<f64> {
    let (d, k, width) = (problem.feature_dim, seen.k(), seen.task_dim());
    let mut sum = Mat::zeros(width, k * d * k);
    for first in (0..problem.observations.len()).step_by(TASKS_PER_BLOCK) {
        let last = (first + TASKS_PER_BLOCK).min(problem.observations.len());
        let mut features = Mat::zeros(width, last - first);
        let mut terms = Mat::zeros(last - first, k * d * k);
        for w in first..last {
            let one = &problem.observations[w];
            (0..width).for_each(|s| features[(s, w - first)] = one.features[s]);
            let embedding = problem.embedding(seen.map.as_ref(), w, output);
            let gram = one.statistics.gram_matrix();
            let image = linalg::product(gram.as_ref(), seen.representation.as_ref());
            for (i, c) in embedding.iter().enumerate() {
                for a in 0..d {
                    (0..k).for_each(|j| {
                        terms[(w - first, (i * d + a) * k + j)] = c * image[(a, j)];
                    });
                }
            }
        }
        matmul(
            sum.as_mut(),
            Accum::Add,
            features.as_ref(),
            terms.as_ref(),
            1.0,
            Par::Seq,
        );
    }
    sum
}

/// `Rᵀ J F⁻¹ Jᵀ R` of each output.
fn whole_spread(
    seen: &Seen,
    both: &Mat<f64>,
    moment: &Mat<f64>,
    root: &Mat<f64>,
) -> Result<Vec<Mat<f64>>> {
    let mut both = both.clone();
    add_ridge(&mut both, seen.lambda);
    let solver = linalg::cholesky(both.as_ref(), "the information about both factors")?;
    let (d, k, width) = (root.nrows(), seen.k(), seen.task_dim());
    let turned = linalg::product(seen.representation.transpose(), root.as_ref());
    let members = members(moment)?;
    let mut all = Vec::new();
    for output in 0..seen.outputs() {
        let at = d * k + output * k * width;
        let mut sum = Mat::zeros(root.ncols(), root.ncols());
        for member in &members {
            let embedding = linalg::apply(seen.output(&seen.map, output), member);
            let mut columns = Mat::zeros(both.nrows(), root.ncols());
            for column in 0..root.ncols() {
                for row in 0..d * k {
                    columns[(row, column)] = embedding[row / d] * root[(row % d, column)];
                }
                for row in 0..k * width {
                    columns[(at + row, column)] =
                        member[row % width] * turned[(row / width, column)];
                }
            }
            let white = solver.whiten(columns.as_ref());
            sum += linalg::product(white.transpose(), white.as_ref());
        }
        all.push(sum);
    }
    Ok(all)
}

/// Task features whose outer products add up to a moment.
fn members(moment: &Mat<f64>) -> Result<Vec<Vec<f64>>> {
    let (values, vectors) = linalg::eigen(moment.as_ref(), "the target's second moment")?;
    let floor = NO_INPUT * values.first().copied().unwrap_or(0.0);
    let kept = values.iter().enumerate();
    Ok(kept
        .filter(|(_, value)| **value > floor && **value > 0.0)
        .map(|(i, value)| {
            let vector = linalg::column(vectors.as_ref(), i);
            vector.into_iter().map(|x| x * value.sqrt()).collect()
        })
        .collect())
}

/// Adds `λ`, or the least that keeps the equations solvable.
pub(super) fn add_ridge(matrix: &mut Mat<f64>, lambda: f64) {
    let diagonal = |matrix: &Mat<f64>, i: usize| matrix[(i, i)];
    let largest = (0..matrix.nrows()).fold(0.0, |most: f64, i| most.max(diagonal(matrix, i)));
    let ridge = lambda.max(LEAST_RIDGE * largest).max(f64::MIN_POSITIVE);
    (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += ridge);
}

pub(super) fn trace(matrix: &Mat<f64>) -> f64 {
    (0..matrix.nrows()).map(|i| matrix[(i, i)]).sum()
}
