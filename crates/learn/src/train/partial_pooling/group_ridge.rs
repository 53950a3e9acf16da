//! One task on its own, where groups of features have penalties of their own.

use faer::Mat;

use crate::hierarchy::level;

use crate::data::Statistics;
use crate::error::{Error, Result};
use crate::linalg;
use crate::regression::{GramRoot, LinearPosterior};

/// Steps towards precisions and noise.
const STEPS: usize = 40;
/// Rows that the first guess of the noise counts for.
const NOISE_ROWS: f64 = 2.0;
/// Coefficients that a precision's last value counts for in its next.
const INERTIA: f64 = 1e-2;
/// Where to begin: what each group but a constant is given, relative to the labels, and the part of
/// the labels' variance that the noise is guessed to be.
const STARTS: [(f64, f64); 3] = [(0.03, 0.3), (1.0, 0.3), (1.0, 0.02)];
/// Precision of a constant, relative to the labels: it is hardly held.
const CONSTANT: f64 = 0.1;

/// What a task's rows alone say of an output's function. Precisions of the groups and noise come from
/// the marginal likelihood, by MacKay's fixed point from more than one start. A first group of a
/// single feature is taken for a constant, if there are others beside it.
///
/// # Errors
/// A breakdown of the numerics.
pub(super) fn fit(rows: &Statistics, output: usize, groups: &[usize]) -> Result<LinearPosterior> {
    let root = GramRoot::of(rows, output);
    let mut best: Option<Settled> = None;
    for start in STARTS {
        let settled = settle(&root, rows, output, groups, start)?;
        if best
            .as_ref()
            .is_none_or(|known| settled.evidence > known.evidence)
        {
            best = Some(settled);
        }
    }
    match best {
        Some(settled) => settled.posterior(&root, groups),
        None => Err(Error::numerical(
            "the fit of a single task",
            "there is no start for its penalties",
        )),
    }
}

/// Where the fixed point has come to.
struct Settled {
    evidence: f64,
    mean: Vec<f64>,
    precisions: Vec<f64>,
    noise: f64,
}

impl Settled {
    fn posterior(self, root: &GramRoot, groups: &[usize]) -> Result<LinearPosterior> {
        let kernel = LabelCovariance::new(root, groups, &self.precisions, self.noise)?;
        // With prior variances V: V − V Fᵀ (σ² + F V Fᵀ)⁻¹ F V.
        let solved = kernel.factor.solve(kernel.spread.as_ref());
        let explained = linalg::product(kernel.spread.transpose(), solved.as_ref());
        let covariance = Mat::from_fn(groups.len(), groups.len(), |i, j| {
            let prior = if i == j {
                1.0 / self.precisions[groups[i]]
            } else {
                0.0
            };
            prior - explained[(i, j)]
        });
        Ok(LinearPosterior {
            mean: self.mean,
            covariance,
            noise: self.noise,
            degrees_of_freedom: root.rows + NOISE_ROWS,
        })
    }
}

/// The covariance of the labels, for prior variances `V`.
struct LabelCovariance {
    /// `F V`.
    spread: Mat<f64>,
    /// Of `σ² + F V Fᵀ`.
    factor: linalg::Cholesky,
}

impl LabelCovariance {
    fn new(root: &GramRoot, groups: &[usize], precisions: &[f64], noise: f64) -> Result<Self> {
        let r = root.rank();
        let spread = Mat::from_fn(r, groups.len(), |i, j| {
            root.root[(i, j)] / precisions[groups[j]]
        });
        let mut kernel = linalg::product(spread.as_ref(), root.root.transpose());
        (0..r).for_each(|i| kernel[(i, i)] += noise);
        let factor = linalg::cholesky(kernel.as_ref(), "the rows of a single task")?;
        Ok(Self { spread, factor })
    }
}

fn settle(
    root: &GramRoot,
    rows: &Statistics,
    output: usize,
    groups: &[usize],
    (start, noise_part): (f64, f64),
) -> Result<Settled> {
    let level = level(rows.sum_of_squares(output), root.rows);
    let guess = noise_part * (level - first_explains(rows, output)).max(1e-9 * level);
    let count = groups.iter().max().map_or(0, |last| last + 1);
    let constant = count > 1 && groups.iter().filter(|&&group| group == 0).count() == 1;
    let free = usize::from(constant)..count;
    let mut precisions: Vec<f64> = (0..count)
        .map(|group| {
            if free.contains(&group) {
                1.0 / start / level
            } else {
                CONSTANT / level
            }
        })
        .collect();
    let mut noise = guess;
    let mut out = Settled {
        evidence: f64::NEG_INFINITY,
        mean: vec![0.0; groups.len()],
        precisions: precisions.clone(),
        noise,
    };
    let labels = Mat::from_fn(root.rank(), 1, |i, _| root.labels[i]);
    for _ in 0..STEPS {
        let kernel = LabelCovariance::new(root, groups, &precisions, noise)?;
        // With prior variances V: θ = V Fᵀ (σ² + F V Fᵀ)⁻¹ z.
        let solved = linalg::column(kernel.factor.solve(labels.as_ref()).as_ref(), 0);
        let mean = linalg::apply(kernel.spread.transpose(), &solved);
        let (freedom, squares) = decided(root, groups, &kernel, &precisions, &mean);
        let left = root.less(&mean);
        let residual = root.rest + linalg::dot(&left, &left) + NOISE_ROWS * guess;
        let spare = (root.rows - freedom.iter().sum::<f64>()).max(0.0) + NOISE_ROWS;
        out = Settled {
            evidence: evidence(root, &kernel, &solved, noise),
            mean,
            precisions: precisions.clone(),
            noise,
        };
        for group in free.clone() {
            let wanted = (freedom[group].max(0.0) + INERTIA)
                / (squares[group] + INERTIA / precisions[group]);
            precisions[group] = wanted.clamp(0.1 * precisions[group], 10.0 * precisions[group]);
        }
        noise = (residual / spare).max(1e-9 * guess);
    }
    Ok(out)
}

/// The log marginal likelihood of the labels, up to a constant.
fn evidence(root: &GramRoot, kernel: &LabelCovariance, solved: &[f64], noise: f64) -> f64 {
    -0.5 * (root.rest / noise
        + (root.rows - root.rank() as f64) * noise.ln()
        + linalg::dot(solved, &root.labels)
        + kernel.factor.log_det())
}

/// Of each group, the number of coefficients that the rows decide, and their sum of squares.
fn decided(
    root: &GramRoot,
    groups: &[usize],
    kernel: &LabelCovariance,
    precisions: &[f64],
    mean: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let count = precisions.len();
    // A coefficient's share that rows decide: V (FᵀK⁻¹F), on the diagonal.
    let half = kernel.factor.solve(root.root.as_ref());
    let (mut freedom, mut squares) = (vec![0.0; count], vec![0.0; count]);
    for (a, &group) in groups.iter().enumerate() {
        let share: f64 = (0..root.rank())
            .map(|i| half[(i, a)] * root.root[(i, a)])
            .sum();
        freedom[group] += share / precisions[group];
        squares[group] += mean[a].powi(2);
    }
    (freedom, squares)
}

/// Mean square of the labels that the first feature explains.
fn first_explains(rows: &Statistics, output: usize) -> f64 {
    let (gram, moment) = (rows.gram()[0], rows.cross_moment(output)[0]);
    if gram > 0.0 {
        moment * moment / gram / (rows.count() as f64).max(1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::data::Samples;
    use crate::rng::{Purpose, Rng, derive};
    use crate::train::ridge;

    fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
        (0..n).map(|_| StandardNormal.sample(rng)).collect()
    }

    /// Rows of a constant and of normal features.
    fn rows(truth: &[f64], n: usize, noise: f64, rng: &mut Rng) -> Statistics {
        let mut x = normals(n * truth.len(), rng);
        x.chunks_mut(truth.len()).for_each(|row| row[0] = 1.0);
        let clean = x.chunks(truth.len()).map(|row| linalg::dot(row, truth));
        let y = clean
            .zip(normals(n, rng))
            .map(|(y, e)| y + noise * e)
            .collect();
        let mut statistics = Statistics::new(truth.len(), 1);
        let samples = Samples::new(x, truth.len(), y, 1).unwrap();
        statistics.accumulate(&samples).unwrap();
        statistics
    }

    /// Squared errors of graded and of plain ridge, in the mean over draws: features are normal, so
    /// they are those of the coefficients.
    fn errors(truth: impl Fn(&mut Rng) -> Vec<f64>, groups: &[usize], n: usize) -> [f64; 2] {
        let mut total = [0.0; 2];
        for seed in 0..30 {
            let rng = &mut derive(seed, Purpose::Test, &[11]);
            let truth = truth(rng);
            let rows = rows(&truth, n, 0.5, rng);
            let plain = ridge(&rows, 0).unwrap().coefficients;
            for (total, found) in total
                .iter_mut()
                .zip([fit(&rows, 0, groups).unwrap().mean, plain])
            {
                let squares = found.iter().zip(&truth).map(|(a, b)| (a - b).powi(2));
                *total += squares.sum::<f64>() / 30.0;
            }
        }
        total
    }

    #[test]
    fn groups_of_different_size_get_penalties_of_their_own() {
        let groups: Vec<usize> = (0..36)
            .map(|i| [0, 1, 1, 1, 1, 1].get(i).copied().unwrap_or(2))
            .collect();
        let truth = |rng: &mut Rng| {
            let size = |i: usize| if i < 6 { 2.0 } else { 0.05 };
            normals(36, rng)
                .iter()
                .enumerate()
                .map(|(i, z)| size(i) * z)
                .collect()
        };
        let [graded, plain] = errors(truth, &groups, 25);
        assert!(graded < 0.4 * plain, "{graded} {plain}");
        // Where all are alike, little is lost.
        let [graded, plain] = errors(|rng| normals(36, rng), &groups, 60);
        assert!(graded < 1.1 * plain, "{graded} {plain}");
    }

    #[test]
    fn a_constant_is_not_shrunk() {
        for n in [2, 5, 40] {
            let rng = &mut derive(n as u64, Purpose::Test, &[12]);
            let truth = [[300.0].as_slice(), &[0.0; 12]].concat();
            let found = fit(
                &rows(&truth, n, 0.1, rng),
                0,
                &[[0].as_slice(), &[1; 12]].concat(),
            );
            let found = found.unwrap().mean;
            assert!((found[0] - 300.0).abs() < 0.3, "{n} rows: {}", found[0]);
            assert!(
                found[1..].iter().all(|value| value.abs() < 0.3),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_single_group_is_shrunk() {
        let [graded, plain] = errors(|_| vec![0.0; 20], &[0; 20], 30);
        assert!(graded < 1.3 * plain && graded < 0.03, "{graded} {plain}");
    }

    #[test]
    fn labels_that_are_all_zero_or_few_break_nothing() {
        let rng = &mut derive(3, Purpose::Test, &[13]);
        for (n, size) in [
            (0, 1.0),
            (1, 0.0),
            (1, 1e-6),
            (3, 1e6),
            (50, 0.0),
            (50, 1e-90),
        ] {
            let truth = [size, size, 0.0, 0.0];
            let found = fit(&rows(&truth, n, 0.0, rng), 0, &[0, 1, 1, 2])
                .unwrap()
                .mean;
            assert!(
                found
                    .iter()
                    .all(|value| value.is_finite() && value.abs() <= 2.0 * size),
                "{found:?}"
            );
        }
    }
}
