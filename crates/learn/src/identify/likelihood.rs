//! How well each member of the family explains the rows of a target.
//!
//! With coefficients `β = M ψ_W(w)` known up to a covariance `Σ`, the target's labels have mean
//! `X β` and covariance `σ² I + X Σ Xᵀ`. Twice the negative log-likelihood is then a quadratic form
//! of `ψ_W(w)`, on statistics alone (generalised least squares): a look at one `w` costs `p²`.

use faer::Mat;

use super::family::TaskFamily;
use crate::data::Statistics;
use crate::error::Result;
use crate::linalg::{self, Cholesky};
use crate::regression::LinearPosterior;

/// Rows that the noise of the source tasks counts for.
const NOISE_ROWS: f64 = 4.0;

/// `w ↦ −2 log p(y | w)` as a quadratic form of task features, with what the family leaves open
/// held at one member's.
pub(super) struct Likelihood {
    /// `Mᵀ H M` summed over outputs.
    form: Mat<f64>,
    /// `Mᵀ h` summed over outputs.
    linear: Vec<f64>,
    /// `yᵀ Ω y`, and the logarithms of the normalisation.
    square: f64,
    volume: f64,
    labels: usize,
    update: Update,
}

/// What the rows of the target add to the coefficients of a member.
struct Update {
    /// The root `L` of `Σ = L Lᵀ`, if the covariance counts.
    root: Option<(Mat<f64>, Cholesky)>,
    gram: Mat<f64>,
}

impl Likelihood {
    /// Of the rows of a target. `open` is the covariance of a member's coefficients; without it
    /// the family is taken to be known exactly.
    pub(super) fn new(
        family: &TaskFamily,
        rows: &Statistics,
        open: Option<Mat<f64>>,
    ) -> Result<Self> {
        let (d, noise) = (family.dim(), family.noise());
        let gram = rows.gram_matrix();
        let (mut square, mut volume) = (0.0, 0.0);
        let root = match open {
            None => None,
            Some(mut covariance) => {
                let floor = 1e-12 * (0..d).map(|i| covariance[(i, i)]).fold(0.0, f64::max);
                (0..d).for_each(|i| covariance[(i, i)] += floor.max(f64::MIN_POSITIVE));
                let lower =
                    linalg::cholesky(covariance.as_ref(), "the covariance of the family")?.lower();
                let seen = linalg::product(gram.as_ref(), lower.as_ref());
                let mut inner = linalg::product(lower.transpose(), seen.as_ref());
                (0..d).for_each(|i| inner[(i, i)] += noise);
                let inner = linalg::cholesky(inner.as_ref(), "the covariance of the target")?;
                volume += (inner.log_det() - d as f64 * noise.ln()) * rows.outputs() as f64;
                Some((lower, inner))
            }
        };
        let update = Update { root, gram };
        let p = family.matrix(0).ncols();
        let (mut form, mut linear) = (Mat::<f64>::zeros(p, p), vec![0.0; p]);
        let weighted = update.weigh(update.gram.as_ref(), noise);
        for output in 0..rows.outputs() {
            let matrix = family.matrix(output);
            let moment = rows.cross_moment(output);
            form += linalg::product(
                matrix.transpose(),
                linalg::product(weighted.as_ref(), matrix).as_ref(),
            );
            let column = Mat::from_fn(d, 1, |i, _| moment[i]);
            let explained = linalg::column(update.weigh(column.as_ref(), noise).as_ref(), 0);
            linear
                .iter_mut()
                .zip(linalg::apply(matrix.transpose(), &explained))
                .for_each(|(sum, value)| *sum += value);
            square += rows.sum_of_squares(output) / noise - update.removed(moment, noise);
        }
        let labels = rows.count() * rows.outputs();
        volume += labels as f64 * (noise.ln() + std::f64::consts::TAU.ln());
        Ok(Self {
            form,
            linear,
            square,
            volume,
            labels,
            update,
        })
    }

    /// `−2 log p(y | w)` for a task of these features.
    pub(super) fn value(&self, task_features: &[f64]) -> f64 {
        self.residual(task_features) + self.volume
    }

    /// The squared residual of a member over what noise and the family's uncertainty explain: one,
    /// where the target belongs to the family.
    pub(super) fn misfit(&self, task_features: &[f64], parameters: usize) -> f64 {
        self.residual(task_features) / self.labels.saturating_sub(parameters).max(1) as f64
    }

    fn residual(&self, task_features: &[f64]) -> f64 {
        let quadratic: f64 = task_features
            .iter()
            .enumerate()
            .map(|(j, b)| b * linalg::dot(self.form.col_as_slice(j), task_features))
            .sum();
        quadratic - 2.0 * linalg::dot(&self.linear, task_features) + self.square
    }

    /// The coefficients of an output after the rows of the target have had their say, starting
    /// from those that the family expects.
    pub(super) fn updated(&self, expected: &[f64], moment: &[f64]) -> Vec<f64> {
        let Some((lower, inner)) = &self.update.root else {
            return expected.to_vec();
        };
        let fitted = linalg::apply(self.update.gram.as_ref(), expected);
        let left: Vec<f64> = moment.iter().zip(&fitted).map(|(b, fit)| b - fit).collect();
        let seen = linalg::apply(lower.transpose(), &left);
        let column = Mat::from_fn(seen.len(), 1, |i, _| seen[i]);
        let step = linalg::apply(
            lower.as_ref(),
            &linalg::column(inner.solve(column.as_ref()).as_ref(), 0),
        );
        expected.iter().zip(&step).map(|(a, b)| a + b).collect()
    }
}

impl Likelihood {
    /// What is known of an output's function after the rows of the target are taken in: the covariance of a
    /// member's function, and that over the members it may be, given as the covariance of its task features.
    pub(super) fn posterior(
        &self,
        family: &TaskFamily,
        output: usize,
        (mean_features, which): (&[f64], faer::MatRef<'_, f64>),
        rows: &Statistics,
        parameters: usize,
    ) -> LinearPosterior {
        let d = family.dim();
        let expected = family.coefficients(mean_features, output);
        let matrix = family.matrix(output);
        let half = linalg::product(matrix, which);
        let members = linalg::product(half.as_ref(), matrix.transpose());
        let covariance = match &self.update.root {
            None => members,
            Some((lower, inner)) => {
                // With `S = L Lᵀ`: what is open of a member is σ² L (σ² + Lᵀ G L)⁻¹ Lᵀ, and its mean keeps
                // `1 − L (σ² + Lᵀ G L)⁻¹ Lᵀ G` of what the family says.
                let solved = inner.solve(lower.transpose());
                let open = linalg::product(lower.as_ref(), solved.as_ref());
                let mut kept = linalg::product(open.as_ref(), self.update.gram.as_ref());
                kept *= faer::Scale(-1.0);
                (0..d).for_each(|i| kept[(i, i)] += 1.0);
                let half = linalg::product(kept.as_ref(), members.as_ref());
                linalg::product(half.as_ref(), kept.transpose())
                    + faer::Scale(family.noise()) * &open
            }
        };
        let misfit = self.misfit(mean_features, parameters).max(1.0);
        LinearPosterior {
            mean: self.updated(&expected, rows.cross_moment(output)),
            covariance: faer::Scale(misfit) * &covariance,
            noise: family.noise() * misfit,
            degrees_of_freedom: rows.count() as f64 + NOISE_ROWS,
        }
    }
}

impl Update {
    /// `Xᵀ (σ² I + X Σ Xᵀ)⁻¹ Z` for `XᵀZ`, by Woodbury's identity.
    fn weigh(&self, seen: faer::MatRef<'_, f64>, noise: f64) -> Mat<f64> {
        let mut out = seen.to_owned();
        if let Some((lower, inner)) = &self.root {
            let inside = linalg::product(lower.transpose(), seen);
            let back = linalg::product(lower.as_ref(), inner.solve(inside.as_ref()).as_ref());
            out -= linalg::product(self.gram.as_ref(), back.as_ref());
        }
        out *= faer::Scale(1.0 / noise);
        out
    }

    /// What `Σ` takes from `yᵀ y / σ²`.
    fn removed(&self, moment: &[f64], noise: f64) -> f64 {
        let Some((lower, inner)) = &self.root else {
            return 0.0;
        };
        let seen = linalg::apply(lower.transpose(), moment);
        let column = Mat::from_fn(seen.len(), 1, |i, _| seen[i]);
        linalg::dot(
            &seen,
            &linalg::column(inner.solve(column.as_ref()).as_ref(), 0),
        ) / noise
    }
}
