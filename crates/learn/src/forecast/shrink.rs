//! How strong embeddings are, as against how strong they look.
//!
//! Noise makes the factors of a fitted product larger than they are: of the information `Σ = Σ_w n_w c_w c_wᵀ` of
//! estimated embeddings the part
//!
//! ```text
//! E = E[Σ_w n_w δ_w δ_wᵀ] + σ²(d − k)(XᵀGX)⁻¹ − λ((XᵀGX)⁻¹XᵀX + XᵀX(XᵀGX)⁻¹)
//! ```
//!
//! is noise of the heads, noise that the representation was fitted to, and less what the penalty has taken away, with
//! `G` the mean Gram matrix of a row. Directions of which most is noise look strong enough to be known well, and are not.
//! With `e` the eigenvalues of `Σ^-½ E Σ^-½` and `s = 1 − e`, embeddings have the mean `S ĉ` and the error `S^½ δ`,
//! which together are as strong as `Σ − E`. A target is seen through the same representation, but its rows had little say
//! in it: what the representation misses of a direction is missing in the target's embedding, which is larger by
//! `(1 + e_X)^½`.
//!
//! `E` counts the noise of every direction as if there were no other, which is too much where strong directions have told
//! of the weak ones' inputs already. How much of it is noise is not known, so draws take parts of it from none to all.

use faer::Mat;

use super::information::Information;
use super::seen::Seen;
use crate::error::Result;
use crate::linalg;

/// Part of a direction's strength that is left however much of it is noise.
const LEAST: f64 = 0.05;
/// How many times larger than estimated a target's embedding may be.
const MOST_MISSED: f64 = 2.0;
/// Part of the largest eigenvalue below which a direction has no strength at all.
const NOTHING: f64 = 1e-12;

/// How embeddings of source tasks and of targets differ from their estimates.
#[derive(Debug)]
pub(super) struct Strength {
    sources: Shrinkage,
    /// What a representation that is not exact has taken from targets' own embeddings, given back.
    targets: Mat<f64>,
    /// Which task features belong to source tasks.
    of_sources: Vec<bool>,
}

/// What to do with estimates and with errors.
#[derive(Debug)]
struct Shrinkage {
    mean: Mat<f64>,
    error: Mat<f64>,
}

impl Strength {
    /// From errors of the task map drawn from its posterior, with a part of `E` taken as noise.
    pub(super) fn of(
        seen: &Seen,
        now: &Information,
        errors: &[Mat<f64>],
        part: f64,
    ) -> Result<Self> {
        let width = seen.task_dim();
        let mut rows = Mat::zeros(width, width);
        for entry in seen.data().sources() {
            let count = entry.statistics.count() as f64;
            super::add_outer(&mut rows, &entry.features, count);
        }
        let of_sources: Vec<bool> = (0..width).map(|s| rows[(s, s)] > 0.0).collect();
        let mean_of = |moment: &Mat<f64>| {
            let scale = faer::Scale(1.0 / errors.len() as f64);
            let each = errors
                .iter()
                .map(|error| scale * seen.embed(error, moment.as_ref()));
            each.fold(Mat::zeros(seen.k(), seen.k()), |sum, one| sum + one)
        };
        let estimate = seen.embed(&seen.map, rows.as_ref());
        let (fitted, penalty) = representation_noise(seen, now, &estimate)?;
        let noise = &fitted - penalty + mean_of(&rows);
        let information = Roots::of(&estimate)?;
        let left = |share: f64| (1.0 - part * share).clamp(LEAST, 1.0);
        let sources = Shrinkage {
            mean: information.times(&noise, left)?,
            error: information.times(&noise, |share| left(share).sqrt())?,
        };
        let strong = linalg::product(sources.error.as_ref(), seen.map.as_ref());
        let information = Roots::of(&seen.embed(&strong, now.rows.as_ref()))?;
        let missed = |share: f64| (1.0 + part * share.max(0.0)).sqrt().min(MOST_MISSED);
        let targets = information.times(&fitted, missed)?;
        Ok(Self {
            sources,
            targets,
            of_sources,
        })
    }

    /// The mean of embeddings.
    pub(super) fn centre(&self, seen: &Seen) -> Mat<f64> {
        self.with((&self.sources.mean, &self.targets), &seen.map)
    }

    /// What is left of an error.
    pub(super) fn error(&self, error: &Mat<f64>) -> Mat<f64> {
        self.with((&self.sources.error, &self.targets), error)
    }

    /// Embeddings that are as strong as those drawn are in the mean.
    pub(super) fn typical(&self, seen: &Seen) -> Mat<f64> {
        self.with((&self.sources.error, &self.targets), &seen.map)
    }

    fn with(&self, (sources, targets): (&Mat<f64>, &Mat<f64>), map: &Mat<f64>) -> Mat<f64> {
        let of_source = linalg::product(sources.as_ref(), map.as_ref());
        let of_target = linalg::product(targets.as_ref(), map.as_ref());
        Mat::from_fn(map.nrows(), map.ncols(), |i, j| {
            let source = self.of_sources[j % self.of_sources.len()];
            if source {
                of_source[(i, j)]
            } else {
                of_target[(i, j)]
            }
        })
    }
}

/// The noise that a learnt representation was fitted to, `σ²(d − k) (XᵀGX)⁻¹` with `d` the directions of inputs that rows
/// say more of than the penalty does, and what the penalty took away; both in units of the information of rows.
fn representation_noise(
    seen: &Seen,
    now: &Information,
    information: &Mat<f64>,
) -> Result<(Mat<f64>, Mat<f64>)> {
    let (factor, k) = (seen.representation.as_ref(), seen.k());
    let gram = now.mean_gram(seen);
    let half = linalg::product(gram.as_ref(), factor);
    let inner = linalg::product(factor.transpose(), half.as_ref());
    let inverse = linalg::pseudo_inverse(inner.as_ref(), NOTHING)?;
    let square = linalg::product(factor.transpose(), factor);
    let taken = &inverse * &square + &square * &inverse;
    let (strengths, _) = linalg::eigen(gram.as_ref(), "the inputs' Gram matrix")?;
    let free = |i: usize| {
        let rows = information[(i, i)];
        let told = strengths.iter().map(|g| rows * g.max(0.0));
        let told: f64 = told
            .map(|told| told / (told + seen.lambda).max(f64::MIN_POSITIVE))
            .sum();
        let free = if seen.learns_representation {
            told - k as f64
        } else {
            0.0
        };
        (seen.noise * free.max(0.0)).sqrt()
    };
    let free: Vec<f64> = (0..k).map(free).collect();
    let fitted = Mat::from_fn(k, k, |i, j| free[i] * inverse[(i, j)] * free[j]);
    Ok((fitted, faer::Scale(seen.lambda) * taken))
}

/// The roots of an information matrix and of its inverse.
struct Roots {
    up: Mat<f64>,
    down: Mat<f64>,
}

impl Roots {
    fn of(information: &Mat<f64>) -> Result<Self> {
        let (values, vectors) = linalg::eigen(information.as_ref(), "the information")?;
        let floor = NOTHING
            * values
                .first()
                .copied()
                .unwrap_or(0.0)
                .max(f64::MIN_POSITIVE);
        let root = |power: f64| {
            let scaled = Mat::from_fn(vectors.nrows(), vectors.ncols(), |i, j| {
                vectors[(i, j)] * values[j].max(floor).powf(power)
            });
            linalg::product(scaled.as_ref(), vectors.transpose())
        };
        Ok(Self {
            up: root(0.5),
            down: root(-0.5),
        })
    }

    /// `Σ^½ f(Σ^-½ E Σ^-½) Σ^-½`.
    fn times(&self, noise: &Mat<f64>, function: impl Fn(f64) -> f64) -> Result<Mat<f64>> {
        let relative = &self.down * noise * &self.down;
        let (shares, turned) = linalg::eigen(relative.as_ref(), "the noise in embeddings")?;
        let scaled = Mat::from_fn(turned.nrows(), turned.ncols(), |i, j| {
            turned[(i, j)] * function(shares[j])
        });
        Ok(&self.up * (scaled * turned.transpose()) * &self.down)
    }
}
