//! The source family: one function of the input for every task parameter `w`.
//!
//! `y = φ(x)ᵀ M ψ_W(w) + ξ` with `M` unknown and a Gaussian prior on its entries: after the source
//! tasks, `M` has a Gaussian posterior, in closed form from statistics. The penalty comes from the
//! evidence. Nothing of the targets enters, so what the family says of a target is a prediction.

use faer::{Mat, MatRef};

use crate::data::{FoldSelection, Stage, TaskData};
use crate::error::{Error, Result};
use crate::linalg;
use crate::regression::{BilinearProblem, Spectrum};

/// Most unknowns of `M` that are solved for densely.
const MAX_FORECAST_UNKNOWNS: usize = 1000;

/// Steps towards the penalty of each task feature.
const PENALTY_STEPS: usize = 5;

/// The functions that source tasks can have: the posterior of `M` in `φᵀ M ψ_W(w)`, given the source
/// rows.
#[derive(Debug, Clone)]
pub struct TaskFamily {
    /// `M` of each output, `d × p`.
    matrices: Vec<Mat<f64>>,
    noise: f64,
    /// `(Σ_w ψ_Wψ_Wᵀ ⊗ G_w + Λ)⁻¹`, ordered task feature, then feature.
    inverse: Mat<f64>,
}

impl TaskFamily {
    /// Whether a family of so many features and task features can be fitted: it has unknowns, and not too many.
    #[must_use]
    pub fn can_be_fitted(features: usize, task_features: usize) -> bool {
        (1..=MAX_FORECAST_UNKNOWNS).contains(&features.saturating_mul(task_features))
    }

    /// Fits the family to the source rows of some stages (all, if none are named), over the first
    /// `sources` task features; nothing where there are no rows, no unknowns or too many of them, or
    /// only labels of zero, which tell no task from another.
    ///
    /// # Errors
    /// More task features than the data have, or a breakdown of the numerics.
    pub fn fit(data: &TaskData, sources: usize, stages: Option<&[Stage]>) -> Result<Option<Self>> {
        if sources > data.task_dim() {
            return Err(Error::State(format!(
                "a family over {sources} task features was asked for, but the data have {}: name at most those",
                data.task_dim()
            )));
        }
        let problem = BilinearProblem::new(data, stages, FoldSelection::None)?;
        let d = data.feature_dim();
        if problem.labels() == 0
            || problem.squares() <= 0.0
            || !TaskFamily::can_be_fitted(d, sources)
        {
            return Ok(None);
        }
        let (mut matrix, mut rhs) = problem.full_equations(sources);
        let scales = even_out(&mut matrix, &mut rhs, d);
        let (values, vectors) = linalg::eigen(matrix.as_ref(), "the equations of the family")?;
        let values: Vec<f64> = values.into_iter().map(|value| value.max(0.0)).collect();
        let rotated = linalg::product(vectors.transpose(), rhs.as_ref());
        let spectrum = Spectrum {
            values: values.repeat(problem.outputs),
            moments_squared: (0..problem.outputs)
                .flat_map(|output| linalg::column(rotated.as_ref(), output))
                .map(|moment| moment * moment)
                .collect(),
            square: problem.squares(),
            labels: problem.labels(),
        };
        let lambda = spectrum.best_lambda();
        let equations = Equations {
            matrix,
            rhs,
            scales,
            features: d,
            square: problem.squares(),
            labels: problem.labels(),
        };
        equations
            .settle(vec![lambda; sources], spectrum.unbiased_noise(lambda))
            .map(Some)
    }

    /// Features of an input that the functions are linear in.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.matrices.first().map_or(0, Mat::nrows)
    }

    /// Outputs of a function.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.matrices.len()
    }

    /// `M` of an output.
    #[must_use]
    pub fn matrix(&self, output: usize) -> MatRef<'_, f64> {
        self.matrices[output].as_ref()
    }

    /// Noise variance of the source rows.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The coefficients `M ψ_W` of an output's function.
    #[must_use]
    pub fn coefficients(&self, task_features: &[f64], output: usize) -> Vec<f64> {
        linalg::apply(self.matrix(output), task_features)
    }

    /// The covariance of these coefficients: what the source rows leave open. The same for every
    /// output.
    #[must_use]
    pub fn covariance(&self, task_features: &[f64]) -> Mat<f64> {
        self.expected_covariance(outer(task_features).as_ref())
    }

    /// The same for a noise variance of one.
    pub(super) fn open(&self, task_features: &[f64]) -> Mat<f64> {
        self.spread(outer(task_features).as_ref(), 1.0)
    }

    /// The covariance in the mean over members, given the second moment of their task features.
    #[must_use]
    pub fn expected_covariance(&self, second_moment: MatRef<'_, f64>) -> Mat<f64> {
        self.spread(second_moment, self.noise)
    }

    fn spread(&self, second_moment: MatRef<'_, f64>, noise: f64) -> Mat<f64> {
        let d = self.dim();
        let mut covariance = Mat::<f64>::zeros(d, d);
        for j in 0..second_moment.ncols() {
            for i in 0..second_moment.nrows() {
                let block = self.inverse.as_ref().submatrix(i * d, j * d, d, d);
                covariance += faer::Scale(noise * second_moment[(i, j)]) * block;
            }
        }
        covariance
    }

    /// Task features that the functions are linear in.
    pub(super) fn task_features(&self) -> usize {
        self.matrices.first().map_or(0, Mat::ncols)
    }

    /// `K⁻¹ = (Σ_w ψ_Wψ_Wᵀ ⊗ G_w + Λ)⁻¹`, ordered task feature, then feature.
    pub(super) fn inverse(&self) -> MatRef<'_, f64> {
        self.inverse.as_ref()
    }
}

/// Divides the equations of every task feature by its size in the data, which is returned: penalties
/// must not depend on the units of tasks.
fn even_out(matrix: &mut Mat<f64>, rhs: &mut Mat<f64>, features: usize) -> Vec<f64> {
    let size = |j: usize| {
        let trace: f64 = (j * features..(j + 1) * features)
            .map(|i| matrix[(i, i)])
            .sum();
        trace.sqrt()
    };
    let scales: Vec<f64> = (0..matrix.nrows() / features)
        .map(size)
        .map(|size| if size > 0.0 { size } else { 1.0 })
        .collect();
    // No task feature stands out, and all together stay as large as they were.
    let mean = scales.iter().sum::<f64>() / scales.len() as f64;
    let scales: Vec<f64> = scales.into_iter().map(|scale| scale / mean).collect();
    for i in 0..matrix.nrows() {
        let scale = scales[i / features];
        (0..matrix.ncols()).for_each(|j| matrix[(i, j)] /= scale * scales[j / features]);
        (0..rhs.ncols()).for_each(|output| rhs[(i, output)] /= scale);
    }
    scales
}

/// `v vᵀ`.
fn outer(v: &[f64]) -> Mat<f64> {
    Mat::from_fn(v.len(), v.len(), |i, j| v[i] * v[j])
}

/// The normal equations of `M`, and what is needed to judge a penalty.
struct Equations {
    matrix: Mat<f64>,
    rhs: Mat<f64>,
    /// What the task features were divided by.
    scales: Vec<f64>,
    features: usize,
    square: f64,
    labels: usize,
}

impl Equations {
    /// Lets every task feature find its own penalty, from a common one: with `γ_j` effective
    /// coefficients of the `j`-th, `λ_j = σ² γ_j / ‖M_j‖²` (MacKay's fixed point).
    fn settle(&self, mut lambdas: Vec<f64>, mut noise: f64) -> Result<TaskFamily> {
        let (d, outputs) = (self.features, self.rhs.ncols());
        let limits = (1e-6 * lambdas[0], 1e6 * lambdas[0]);
        for step in 0.. {
            let mut matrix = self.matrix.clone();
            (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += lambdas[i / d]);
            let factor = linalg::cholesky(matrix.as_ref(), "the equations of the family")?;
            let flat = factor.solve(self.rhs.as_ref());
            let diagonal = factor.inverse_diagonal();
            let freedom: Vec<f64> = (0..lambdas.len())
                .map(|j| {
                    let trace: f64 = diagonal[j * d..(j + 1) * d].iter().sum();
                    (d as f64 - lambdas[j] * trace).max(0.0) * outputs as f64
                })
                .collect();
            let size = |j: usize| flat.as_ref().subrows(j * d, d).squared_norm_l2();
            // (K + Λ)x = r gives xᵀKx = xᵀr − xᵀΛx, hence the residual without another pass.
            let shrunk: f64 = (0..lambdas.len()).map(|j| lambdas[j] * size(j)).sum();
            let explained = linalg::inner(self.rhs.as_ref(), flat.as_ref());
            let residual = (self.square - explained - shrunk).max(1e-14 * self.square);
            let labels = self.labels as f64;
            let free = labels - freedom.iter().sum::<f64>();
            noise = (residual / free.max(0.05 * labels))
                .max(f64::MIN_POSITIVE)
                .min(noise * 1e3);
            if step == PENALTY_STEPS {
                return Ok(self.family(&flat, factor.inverse(), noise));
            }
            for (j, lambda) in lambdas.iter_mut().enumerate() {
                let wanted = noise * freedom[j] / size(j).max(f64::MIN_POSITIVE);
                *lambda = wanted.clamp(limits.0, limits.1);
            }
        }
        Err(Error::State(
            "the penalties of the family did not settle".into(),
        ))
    }

    /// The solution in the units of the task features.
    fn family(&self, flat: &Mat<f64>, mut inverse: Mat<f64>, noise: f64) -> TaskFamily {
        let (d, scales) = (self.features, &self.scales);
        let of_output = |output: usize| {
            Mat::from_fn(d, scales.len(), |a, i| {
                flat[(i * d + a, output)] / scales[i]
            })
        };
        let matrices = (0..flat.ncols()).map(of_output).collect();
        for j in 0..inverse.ncols() {
            (0..inverse.nrows()).for_each(|i| inverse[(i, j)] /= scales[i / d] * scales[j / d]);
        }
        TaskFamily {
            matrices,
            noise,
            inverse,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::data::Samples;
    use crate::rng::{Purpose, Rng, derive};

    const D: usize = 3;
    const P: usize = 4;

    fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
        (0..n).map(|_| StandardNormal.sample(rng)).collect()
    }

    /// Data with task features of different sizes, and the same row by row: inputs `ψ_W ⊗ x`.
    fn data(rng: &mut Rng) -> (TaskData, Vec<(Vec<f64>, f64)>) {
        let (mut data, mut all) = (TaskData::new(D, 1, P), Vec::new());
        let truth = normals(D * P, rng);
        for _ in 0..8 {
            let mut psi = normals(P, rng);
            psi[1] *= 30.0;
            let inputs = normals(10 * D, rng);
            let mut outputs = Vec::new();
            for x in inputs.chunks_exact(D) {
                let both: Vec<f64> = psi
                    .iter()
                    .flat_map(|a| x.iter().map(move |b| a * b))
                    .collect();
                let y = linalg::dot(&both, &truth) + 0.5 * normals(1, rng)[0];
                outputs.push(y);
                all.push((both, y));
            }
            let rows = Samples::new(inputs, D, outputs, 1).unwrap();
            data.add_source_rows(&psi, &psi, Stage::WarmUp, 0, &rows)
                .unwrap();
        }
        (data, all)
    }

    /// One ridge regression over all rows at once, with the penalties that the family settled on.
    #[test]
    fn the_family_is_a_ridge_regression_of_all_rows() {
        let rng = &mut derive(1, Purpose::Test, &[]);
        let (data, rows) = data(rng);
        let family = TaskFamily::fit(&data, P, None).unwrap().unwrap();
        let gram = Mat::from_fn(D * P, D * P, |i, j| {
            rows.iter().map(|(x, _)| x[i] * x[j]).sum::<f64>()
        });
        let inverse = linalg::cholesky(family.inverse.as_ref(), "a test").unwrap();
        let penalised = inverse.solve(Mat::<f64>::identity(D * P, D * P).as_ref());
        let penalty = |i: usize, j: usize| penalised[(i, j)] - gram[(i, j)];
        let largest = gram.norm_max();
        let flat: Vec<f64> = (0..D * P)
            .map(|i| family.matrices[0][(i % D, i / D)])
            .collect();
        for i in 0..D * P {
            for j in (0..D * P).filter(|&j| j != i) {
                assert!(penalty(i, j).abs() < 1e-9 * largest, "{i} {j}");
            }
            let lambda = penalty(D * (i / D), D * (i / D));
            assert!((penalty(i, i) - lambda).abs() < 1e-9 * largest);
            let moment: f64 = rows.iter().map(|(x, y)| x[i] * y).sum();
            let image = linalg::apply(penalised.as_ref(), &flat)[i];
            assert!((image - moment).abs() < 1e-8 * largest, "{i}");
        }
        let residual: f64 = rows
            .iter()
            .map(|(x, y)| (y - linalg::dot(x, &flat)).powi(2))
            .sum();
        let weighted = linalg::product(family.inverse.as_ref(), gram.as_ref());
        let freedom: f64 = (0..D * P).map(|i| weighted[(i, i)]).sum();
        let noise = residual / (rows.len() as f64 - freedom);
        assert!((family.noise / noise - 1.0).abs() < 1e-6, "{noise}");
    }

    #[test]
    fn the_covariance_is_that_of_the_dense_formula() {
        let rng = &mut derive(2, Purpose::Test, &[]);
        let family = TaskFamily::fit(&data(rng).0, P, None).unwrap().unwrap();
        let psi = normals(P, rng);
        let lift = Mat::from_fn(D * P, D, |i, a| if i % D == a { psi[i / D] } else { 0.0 });
        let half = linalg::product(family.inverse.as_ref(), lift.as_ref());
        let dense = linalg::product(lift.transpose(), half.as_ref());
        let covariance = family.covariance(&psi);
        for i in 0..D {
            for j in 0..D {
                let expected = family.noise * dense[(i, j)];
                let scale = family.noise * (dense[(i, i)] * dense[(j, j)]).sqrt();
                assert!((covariance[(i, j)] - expected).abs() < 1e-9 * scale);
            }
        }
    }

    #[test]
    fn a_family_needs_unknowns_and_labels_that_differ_from_zero() {
        assert!(
            TaskFamily::can_be_fitted(1, 1) && TaskFamily::can_be_fitted(MAX_FORECAST_UNKNOWNS, 1)
        );
        assert!(
            !TaskFamily::can_be_fitted(MAX_FORECAST_UNKNOWNS, 2)
                && !TaskFamily::can_be_fitted(usize::MAX, 2)
        );
        assert!(!TaskFamily::can_be_fitted(0, P) && !TaskFamily::can_be_fitted(D, 0));
        let rng = &mut derive(3, Purpose::Test, &[]);
        assert!(TaskFamily::fit(&data(rng).0, 0, None).unwrap().is_none());
        let mut silent = TaskData::new(D, 1, P);
        let rows = Samples::new(normals(10 * D, rng), D, vec![0.0; 10], 1).unwrap();
        let psi = normals(P, rng);
        silent
            .add_source_rows(&psi, &psi, Stage::WarmUp, 0, &rows)
            .unwrap();
        assert!(TaskFamily::fit(&silent, P, None).unwrap().is_none());
    }
}
