//! Where the bilinear fit starts: ridge regression for the full matrix `M = B_X B`.
//!
//! The sources are fitted once (`conjugate`); each target's own column is added from the rows that a fit
//! may see, and the whole is truncated to rank `k` in the metric of the information.

use faer::Mat;

use super::TargetOnlyCache;
use super::joint_ridge::Factors;
use crate::data::{FoldSelection, TaskData};
use crate::error::Result;
use crate::linalg;
use crate::regression::{BilinearProblem, Kronecker, NoisePrior, Roots};

/// The ridge solution for a full matrix `M = B_X B`, from which the bilinear fit starts, with the
/// information behind it: the mean Gram matrix of the sources and `Σ n_w ψ_Wψ_Wᵀ`.
#[derive(Debug, Clone)]
pub(crate) struct FullRidge {
    /// One `d × p` matrix an output, side by side.
    matrix: Mat<f64>,
    pub(crate) noise: f64,
    task_sum: Mat<f64>,
    rows: usize,
    inputs: Roots,
}

impl FullRidge {
    /// Solves `min Σ_w ‖y − ψᵀ M ψ_W‖² + λ‖M‖²` for the largest evidence of `λ`.
    pub(super) fn new(problem: &BilinearProblem<'_>) -> Result<Self> {
        let (d, p) = (problem.feature_dim, problem.task_dim);
        let mut gram = vec![0.0; linalg::packed::len(d)];
        for observation in &problem.observations {
            gram.iter_mut()
                .zip(observation.statistics.gram())
                .for_each(|(a, b)| *a += b);
        }
        let rows = problem
            .observations
            .iter()
            .map(|o| o.statistics.count())
            .sum::<usize>();
        gram.iter_mut()
            .for_each(|value| *value /= rows.max(1) as f64);
        let mut full = Self {
            matrix: Mat::zeros(d, problem.map_dim()),
            noise: 0.0,
            task_sum: Mat::zeros(p, p),
            rows,
            inputs: Roots::new(linalg::packed::unpack(&gram, d).as_ref())?,
        };
        if problem.observations.is_empty() {
            return Ok(full);
        }
        for observation in &problem.observations {
            full.add_task(observation.statistics.count(), observation.features);
        }
        let kronecker = Kronecker::new(problem, full.task_sum.as_ref(), &full.inputs)?;
        let (mut matrix, mut noise) = (Mat::zeros(d, problem.map_dim()), 0.0);
        for output in 0..problem.outputs {
            let rhs = kronecker.right_hand_side(problem, output);
            let spectrum = kronecker.spectrum(problem, rhs.as_ref(), output);
            // The truncation wants directions unshrunk, hence the smaller of two penalties here: a
            // preconditioner that takes the tasks' inputs for equal is too sure of the signal.
            let start = kronecker.first_guess(problem, &rhs, spectrum.best_lambda());
            let (solution, of_output) = kronecker.solve(problem, &rhs, &spectrum, &start);
            noise += of_output / problem.outputs as f64;
            matrix
                .as_mut()
                .subcols_mut(output * p, p)
                .copy_from(&solution);
        }
        Ok(Self {
            matrix,
            noise,
            ..full
        })
    }

    fn add_task(&mut self, count: usize, features: &[f64]) {
        for (j, b) in features.iter().enumerate().filter(|(_, b)| b.abs() > 0.0) {
            features
                .iter()
                .enumerate()
                .for_each(|(i, a)| self.task_sum[(i, j)] += count as f64 * a * b);
        }
    }

    /// The same with each target's own column taken from the target's rows.
    pub(crate) fn with_targets(
        &self,
        data: &TaskData,
        rows: FoldSelection,
        cache: &TargetOnlyCache,
    ) -> Result<Self> {
        let mut full = self.clone();
        for (index, target) in data.targets().iter().enumerate() {
            let statistics = data.target_statistics(index, rows)?;
            if statistics.count() == 0 {
                continue;
            }
            full.add_task(statistics.count(), &target.features);
            full.rows += statistics.count();
            let Some((column, size)) = own_coordinate(&target.features) else {
                continue;
            };
            if self.task_sum[(column, column)] > 0.0 {
                // The sources know this coordinate better than a few rows of the target do.
                continue;
            }
            let solver = cache.ridge_solver(index, rows, &statistics)?;
            for output in 0..data.outputs() {
                let fit = solver.fit(
                    statistics.cross_moment(output),
                    statistics.sum_of_squares(output),
                    NoisePrior::default(),
                );
                let at = output * data.task_dim() + column;
                (0..data.feature_dim())
                    .for_each(|i| full.matrix[(i, at)] = fit.coefficients[i] / size);
                if full.noise <= 0.0 {
                    full.noise = fit.noise;
                }
            }
        }
        Ok(full)
    }

    /// The best rank-`k` approximation in the metric of the information, `‖Ḡ^½ (M − M_k) W^½‖` with
    /// `W = Σ n_w ψ_Wψ_Wᵀ`: directions that were sampled more count more. If all tasks saw the same
    /// inputs this is reduced-rank regression, and the sweeps have nothing left to do.
    pub(crate) fn truncate(&self, k: usize) -> Result<Factors> {
        let scale = 1.0 / self.rows.max(1) as f64;
        let tasks = Roots::new((faer::Scale(scale) * &self.task_sum).as_ref())?;
        let p = self.task_sum.nrows();
        let mut weighted = linalg::product(self.inputs.root.as_ref(), self.matrix.as_ref());
        for output in 0..self.matrix.ncols() / p {
            let block = linalg::product(
                weighted.as_ref().subcols(output * p, p),
                tasks.root.as_ref(),
            );
            weighted
                .as_mut()
                .subcols_mut(output * p, p)
                .copy_from(&block);
        }
        let svd = linalg::svd(weighted.as_ref(), "the full ridge solution")?;
        // A direction the data do not show yet still needs a non-zero start to be able to grow.
        let floor = 1e-6 * svd.s.first().copied().unwrap_or(0.0).max(1e-300);
        let root = |j: usize| svd.s[j].max(floor).sqrt();
        let left = Mat::from_fn(svd.u.nrows(), k, |i, j| svd.u[(i, j)] * root(j));
        let mut map = Mat::from_fn(k, svd.v.nrows(), |i, j| svd.v[(j, i)] * root(i));
        for output in 0..self.matrix.ncols() / p {
            let block = linalg::product(
                map.as_ref().subcols(output * p, p),
                tasks.inverse_root.as_ref(),
            );
            map.as_mut().subcols_mut(output * p, p).copy_from(&block);
        }
        let mut factors = Factors {
            representation: linalg::product(self.inputs.inverse_root.as_ref(), left.as_ref()),
            map,
        };
        factors.balance();
        Ok(factors)
    }
}

/// The coordinate and the value of task features that are a multiple of a unit vector.
fn own_coordinate(features: &[f64]) -> Option<(usize, f64)> {
    let mut set = features
        .iter()
        .enumerate()
        .filter(|(_, value)| value.abs() > 0.0);
    match (set.next(), set.next()) {
        (Some((index, value)), None) => Some((index, *value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::data::{Samples, Stage};
    use crate::regression::CG_TOLERANCE;
    use crate::rng::{Purpose, Rng, derive};

    const D: usize = 5;
    const P: usize = 4;

    fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
        (0..n).map(|_| StandardNormal.sample(rng)).collect()
    }

    /// `tasks` source tasks on the first three task features, all with the same inputs or each
    /// with its own.
    fn sources(tasks: usize, same_inputs: bool) -> TaskData {
        let rng = &mut derive(1, Purpose::Test, &[]);
        let truth: Vec<f64> = normals(D * P, rng);
        let mut data = TaskData::new(D, 1, P);
        let shared = normals(12 * D, rng);
        for _ in 0..tasks {
            let mut features = normals(P, rng);
            features[P - 1] = 0.0;
            let inputs = if same_inputs {
                shared.clone()
            } else {
                normals(12 * D, rng)
            };
            let beta: Vec<f64> = truth
                .chunks_exact(P)
                .map(|row| linalg::dot(row, &features))
                .collect();
            let outputs = inputs
                .chunks_exact(D)
                .map(|x| linalg::dot(x, &beta) + 0.3 * normals(1, rng)[0])
                .collect();
            let rows = Samples::new(inputs, D, outputs, 1).unwrap();
            data.add_source_rows(&features, &features, Stage::WarmUp, 0, &rows)
                .unwrap();
        }
        data
    }

    /// `Σ ψ_Wψ_Wᵀ ⊗ G_w + λ` and `Σ ψ_W ⊗ b_w`, densely.
    fn dense(problem: &BilinearProblem<'_>, lambda: f64) -> (Mat<f64>, Mat<f64>) {
        let (mut matrix, mut rhs) = (Mat::<f64>::zeros(D * P, D * P), Mat::<f64>::zeros(D * P, 1));
        for observation in &problem.observations {
            let (gram, psi) = (observation.statistics.gram_matrix(), observation.features);
            matrix += Mat::from_fn(D * P, D * P, |r, c| {
                psi[r / D] * psi[c / D] * gram[(r % D, c % D)]
            });
            rhs += Mat::from_fn(D * P, 1, |r, _| {
                psi[r / D] * observation.statistics.cross_moment(0)[r % D]
            });
        }
        (0..D * P).for_each(|i| matrix[(i, i)] += lambda);
        (matrix, rhs)
    }

    fn reference(problem: &BilinearProblem<'_>, lambda: f64) -> Mat<f64> {
        let (matrix, rhs) = dense(problem, lambda);
        let solution = linalg::cholesky(matrix.as_ref(), "a test")
            .unwrap()
            .solve(rhs.as_ref());
        Mat::from_fn(D, P, |i, j| solution[(j * D + i, 0)])
    }

    #[test]
    fn with_equal_inputs_the_start_is_the_dense_ridge_solution() {
        let data = sources(7, true);
        let problem = BilinearProblem::new(&data, None, FoldSelection::None).unwrap();
        let full = FullRidge::new(&problem).unwrap();
        let kronecker = Kronecker::new(&problem, full.task_sum.as_ref(), &full.inputs).unwrap();
        let rhs = kronecker.right_hand_side(&problem, 0);
        for lambda in [1e-3, 1.0, 1e3] {
            let start = kronecker.first_guess(&problem, &rhs, lambda);
            let spectrum = kronecker.spectrum(&problem, rhs.as_ref(), 0);
            let (solution, _) = kronecker.solve(&problem, &rhs, &spectrum, &start);
            let expected = reference(&problem, lambda);
            assert!(
                (solution - &expected).norm_max() < 1e-9 * expected.norm_max(),
                "λ = {lambda}"
            );
        }
        let spectrum = kronecker.spectrum(&problem, rhs.as_ref(), 0);
        let lambda = spectrum.best_lambda();
        let expected = reference(&problem, lambda);
        assert!((&full.matrix - &expected).norm_max() < 1e-9 * expected.norm_max());
    }

    /// Ten rows a task for thirty features: the preconditioner alone would call all of it signal.
    #[test]
    fn pure_noise_in_few_rows_is_recognised_as_noise() {
        let (d, tasks, rows) = (30, 15, 10);
        let mut data = TaskData::new(d, 1, tasks);
        let mut rng = derive(3, Purpose::Test, &[]);
        for task in 0..tasks {
            let mut draw = |n: usize| -> Vec<f64> {
                (0..n).map(|_| StandardNormal.sample(&mut rng)).collect()
            };
            let samples = Samples::new(draw(rows * d), d, draw(rows), 1).unwrap();
            let features: Vec<f64> = (0..tasks).map(|i| f64::from(u8::from(i == task))).collect();
            data.add_source_rows(&features, &features, Stage::WarmUp, 0, &samples)
                .unwrap();
        }
        let full = FullRidge::new(&BilinearProblem::new(&data, None, FoldSelection::None).unwrap())
            .unwrap();
        assert!((0.7..1.4).contains(&full.noise), "{}", full.noise);
    }

    #[test]
    fn with_unequal_inputs_it_is_near_in_the_metric_of_the_data() {
        let data = sources(9, false);
        let problem = BilinearProblem::new(&data, None, FoldSelection::None).unwrap();
        let full = FullRidge::new(&problem).unwrap();
        let kronecker = Kronecker::new(&problem, full.task_sum.as_ref(), &full.inputs).unwrap();
        let rhs = kronecker.right_hand_side(&problem, 0);
        let lambda = kronecker.spectrum(&problem, rhs.as_ref(), 0).best_lambda();
        let (matrix, _) = dense(&problem, lambda);
        let expected = reference(&problem, lambda);
        let energy = |m: &Mat<f64>| {
            let flat: Vec<f64> = (0..D * P).map(|i| m[(i % D, i / D)]).collect();
            linalg::quadratic(matrix.as_ref(), &flat)
        };
        let ratio = energy(&(&full.matrix - &expected)) / energy(&expected);
        // The goal of the iterations, with a margin for the preconditioner's metric.
        assert!(ratio.sqrt() < 2.0 * CG_TOLERANCE, "{ratio}");
    }

    #[test]
    fn the_product_by_tasks_is_the_dense_product() {
        let data = sources(9, false);
        let problem = BilinearProblem::new(&data, None, FoldSelection::None).unwrap();
        let full = FullRidge::new(&problem).unwrap();
        let kronecker = Kronecker::new(&problem, full.task_sum.as_ref(), &full.inputs).unwrap();
        let values = normals(D * P, &mut derive(2, Purpose::Test, &[]));
        let m = Mat::from_fn(D, P, |i, j| values[j * D + i]);
        let image = kronecker.multiply(&problem, m.as_ref(), 0.7);
        let expected = linalg::apply(dense(&problem, 0.7).0.as_ref(), &values);
        for (index, value) in expected.iter().enumerate() {
            assert!((image[(index % D, index / D)] - value).abs() < 1e-10);
        }
    }

    #[test]
    fn a_start_of_full_rank_loses_nothing() {
        let mut data = sources(9, false);
        let rng = &mut derive(3, Purpose::Test, &[]);
        let target = data.add_target("t", vec![0.0, 0.0, 0.0, 1.0]).unwrap();
        let rows = Samples::new(normals(20 * D, rng), D, normals(20, rng), 1).unwrap();
        data.add_target_rows(target, &rows).unwrap();
        let problem = BilinearProblem::new(&data, None, FoldSelection::None).unwrap();
        let full = FullRidge::new(&problem)
            .unwrap()
            .with_targets(&data, FoldSelection::All, &TargetOnlyCache::default())
            .unwrap();
        let factors = full.truncate(4).unwrap();
        let product = linalg::product(factors.representation.as_ref(), factors.map.as_ref());
        assert!((&product - &full.matrix).norm_max() < 1e-6 * full.matrix.norm_max());
        for i in 0..4 {
            let (left, right) = (
                factors.representation.col(i).norm_l2(),
                factors.map.row(i).norm_l2(),
            );
            assert!(
                (left / right - 1.0).abs() < 1e-9,
                "unbalanced: {left} {right}"
            );
        }
        let short = full.truncate(2).unwrap();
        assert_eq!((short.representation.ncols(), short.map.nrows()), (2, 2));
    }

    #[test]
    fn an_unknown_target_brings_its_own_column() {
        let mut data = sources(6, false);
        let rng = &mut derive(4, Purpose::Test, &[]);
        let target = data.add_target("t", vec![0.0, 0.0, 0.0, 1.0]).unwrap();
        let rows = Samples::new(normals(20 * D, rng), D, normals(20, rng), 1).unwrap();
        data.add_target_rows(target, &rows).unwrap();
        let alone =
            FullRidge::new(&BilinearProblem::new(&data, None, FoldSelection::None).unwrap())
                .unwrap();
        assert!(
            linalg::column(alone.matrix.as_ref(), 3)
                .iter()
                .all(|value| value.abs() <= 0.0)
        );
        let both = alone
            .with_targets(&data, FoldSelection::All, &TargetOnlyCache::default())
            .unwrap();
        let statistics = data.target_statistics(target, FoldSelection::All).unwrap();
        let own = crate::train::ridge(&statistics, 0).unwrap().coefficients;
        assert_eq!(linalg::column(both.matrix.as_ref(), 3), own);
        for column in 0..3 {
            let kept = linalg::column(both.matrix.as_ref(), column);
            assert_eq!(kept, linalg::column(alone.matrix.as_ref(), column));
        }
        assert_eq!(both.rows, alone.rows + 20);
    }

    /// A known target may lie on an axis of the sources, whose columns are not its own.
    #[test]
    fn a_known_target_takes_no_column_from_the_sources() {
        let mut data = sources(6, false);
        let rng = &mut derive(5, Purpose::Test, &[]);
        let target = data.add_target("t", vec![0.5, 0.0, 0.0, 0.0]).unwrap();
        let rows = Samples::new(normals(3 * D, rng), D, normals(3, rng), 1).unwrap();
        data.add_target_rows(target, &rows).unwrap();
        let alone =
            FullRidge::new(&BilinearProblem::new(&data, None, FoldSelection::None).unwrap())
                .unwrap();
        let both = alone
            .with_targets(&data, FoldSelection::All, &TargetOnlyCache::default())
            .unwrap();
        assert_eq!(both.matrix, alone.matrix);
    }

    /// A known target outside the sources' span sets a column, in the scale of its coordinate.
    #[test]
    fn a_known_target_off_the_sources_is_scaled() {
        let mut data = sources(6, false);
        let rng = &mut derive(6, Purpose::Test, &[]);
        let target = data.add_target("t", vec![0.0, 0.0, 0.0, 0.5]).unwrap();
        let rows = Samples::new(normals(20 * D, rng), D, normals(20, rng), 1).unwrap();
        data.add_target_rows(target, &rows).unwrap();
        let alone =
            FullRidge::new(&BilinearProblem::new(&data, None, FoldSelection::None).unwrap())
                .unwrap();
        let both = alone
            .with_targets(&data, FoldSelection::All, &TargetOnlyCache::default())
            .unwrap();
        let statistics = data.target_statistics(target, FoldSelection::All).unwrap();
        let own = crate::train::ridge(&statistics, 0).unwrap().coefficients;
        let column = linalg::column(both.matrix.as_ref(), 3);
        assert!(
            column
                .iter()
                .zip(&own)
                .all(|(a, b)| (0.5 * a - b).abs() < 1e-12),
            "{column:?} {own:?}"
        );
    }

    #[test]
    fn no_sources_at_all_still_start() {
        let mut data = TaskData::new(D, 1, P);
        let rng = &mut derive(7, Purpose::Test, &[]);
        let target = data.add_target("t", vec![0.0, 0.0, 0.0, 1.0]).unwrap();
        let rows = Samples::new(normals(20 * D, rng), D, normals(20, rng), 1).unwrap();
        data.add_target_rows(target, &rows).unwrap();
        let alone =
            FullRidge::new(&BilinearProblem::new(&data, None, FoldSelection::None).unwrap())
                .unwrap();
        let both = alone
            .with_targets(&data, FoldSelection::All, &TargetOnlyCache::default())
            .unwrap();
        let factors = both.truncate(1).unwrap();
        let product = linalg::product(factors.representation.as_ref(), factors.map.as_ref());
        assert!((&product - &both.matrix).norm_max() < 1e-6 * both.matrix.norm_max());
    }
}
