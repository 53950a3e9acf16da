//! Relevance designs for finite (one-hot) task spaces: the shortest way to write the target's
//! embedding as a combination of the sources'.
//!
//! With source embeddings `c_1 … c_N` and a target `c_0`, all in `R^k`,
//!
//! ```text
//! ν = argmin ‖ν‖₁ (or ‖ν‖₂)   subject to   Σ_i ν_i c_i = c_0
//! ```
//!
//! and task `i` gets samples in proportion to `|ν_i|` ([`Relevance::L1`]) or `ν_i²`
//! ([`Relevance::L2`]), above a floor that all tasks share. By Elfving's theorem (Elfving 1952) the
//! weights `|ν_i| / ‖ν‖₁` are the trace-optimal design for `A = c_0 c_0ᵀ`, with value `‖ν‖₁²`.
//!
//! An invertible map of `R^k` leaves `ν` as it is, so embeddings are whitened first: with
//! `Σ_i c_i c_iᵀ = I` the L2 solution is `ν_i = c_iᵀ c_0`. L1 is a linear program whose dual is
//! `max c_0ᵀ y` subject to `|c_iᵀ y| ≤ 1`. It is solved by a primal–dual interior point with
//! predictor and corrector (Mehrotra 1992) on `k × k` normal equations. A crossover (Megiddo 1991)
//! then moves to a vertex: at most `k` tasks, all others exactly zero. The dual point certifies it.
//!
//! ```
//! use taskscout::design::discrete::{relevance, weights, Relevance};
//! // Three tasks in two dimensions; the target is the first plus half the second.
//! let embeddings = [1.0, 0.0, 0.0, 2.0, 0.4, 0.4];
//! let solution = relevance(Relevance::L1, &embeddings, 2, &[1.0, 1.0])?;
//! assert!((solution.norm - 1.5).abs() < 1e-9 && solution.lower_bound > 1.5 - 1e-6);
//! // Half of the budget goes evenly to all tasks, the other half by relevance.
//! let shares = weights(Relevance::L1, &embeddings, 2, &[(vec![1.0, 1.0], 1.0)], 0.5)?;
//! assert!((shares[0] - (0.5 / 3.0 + 0.5 * 2.0 / 3.0)).abs() < 1e-9);
//! assert!((shares[2] - 0.5 / 3.0).abs() < 1e-9);
//! # Ok::<(), taskscout::Error>(())
//! ```

mod interior;
mod vertex;

use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::linalg::{self, dot};

/// Rows per piece of work. Fixed, and partial sums add up in order: threads do not change results.
const CHUNK: usize = 2048;
/// Singular values below this part of the largest count as zero.
const RANK_TOLERANCE: f64 = 1e-11;
/// A coordinate that stays below this part of the largest value is rounding and not blown up.
const COORDINATE_FLOOR: f64 = 1e-12;
/// Part of the target that may lie outside the sources' reach before it is an error.
const REACH_TOLERANCE: f64 = 1e-6;

/// Which norm of `ν` is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relevance {
    /// `‖ν‖₁`: few tasks, the trace-optimal design for one target.
    L1,
    /// `‖ν‖₂`: all tasks that have something in common with the target.
    L2,
}

/// `ν`, and how sure we are of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelevanceSolution {
    /// The coefficient `ν_i` of each task.
    pub coefficients: Vec<f64>,
    /// `‖ν‖₁` or `‖ν‖₂`.
    pub norm: f64,
    /// A norm that no solution can be below: the value of a feasible dual point. Exact up to the
    /// rounding of whitened embeddings, 10⁻¹⁶ times their condition number.
    pub lower_bound: f64,
    /// Iterations of the interior point; zero for L2, a closed form.
    pub iterations: usize,
}

/// The coefficients of least norm that write the target as a combination of the embeddings, which
/// are rows of `k` values.
///
/// `Σ_i ν_i c_i = c_0` holds up to rounding, relative to `Σ_i ‖ν_i c_i‖`.
///
/// # Errors
/// No tasks, wrong lengths, values that are not finite, a zero target, a target that the embeddings
/// do not span, or an L1 solution that cannot be certified to a relative gap of 10⁻⁶.
pub fn relevance(
    kind: Relevance,
    embeddings: &[f64],
    k: usize,
    target: &[f64],
) -> Result<RelevanceSolution> {
    Sources::new(embeddings, k)?.solve(kind, target, "the target")
}

/// The coefficients of least L1 norm, and the dual point `y` that certifies them: `|c_iᵀy| ≤ 1` up to rounding.
pub(super) fn shortest(
    embeddings: &[f64],
    k: usize,
    target: &[f64],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let sources = Sources::new(embeddings, k)?;
    let goal = sources.goal(target, "the target")?;
    let (mut nu, certificate) = sources.shortest(&goal)?;
    nu.iter_mut().for_each(|value| *value *= goal.factor);
    let mut dual = sources.unwhitened(&certificate.dual);
    let most = max_abs(embeddings.chunks(k).map(|row| dot(row, &dual)));
    dual.iter_mut().for_each(|value| *value /= most);
    Ok((nu, dual))
}

/// Weights over tasks for several targets, each with a positive weight of its own: the mean of the
/// targets' normalised relevances. A share `floor` of the budget is spread evenly, so that each task
/// gets at least `floor / N`. The weights sum to one.
///
/// # Errors
/// As [`relevance`]; no targets, target weights that are not positive, or a floor outside `[0, 1]`.
pub fn weights(
    kind: Relevance,
    embeddings: &[f64],
    k: usize,
    targets: &[(Vec<f64>, f64)],
    floor: f64,
) -> Result<Vec<f64>> {
    if !(0.0..=1.0).contains(&floor) {
        let problem = format!("is {floor}: it must lie between 0 and 1");
        return Err(Error::setting("floor", problem));
    }
    if targets.is_empty() {
        return Err(Error::setting("targets", "are empty: give at least one"));
    }
    for (i, (_, weight)) in targets.iter().enumerate() {
        if !(*weight > 0.0 && weight.is_finite()) {
            let problem = format!("is {weight}: it must be positive and finite");
            return Err(Error::setting(format!("weight of target {i}"), problem));
        }
    }
    let sources = Sources::new(embeddings, k)?;
    // Relative to the largest, so that no sum or square overflows.
    let largest = max_abs(targets.iter().map(|(_, weight)| *weight));
    let total: f64 = targets.iter().map(|(_, weight)| weight / largest).sum();
    let tasks = sources.tasks();
    let mut shares = vec![floor / tasks as f64; tasks];
    for (i, (target, weight)) in targets.iter().enumerate() {
        let nu = sources
            .solve(kind, target, &format!("target {i}"))?
            .coefficients;
        let top = max_abs(nu.iter().copied());
        let raw = nu.iter().map(|value| match kind {
            Relevance::L1 => (value / top).abs(),
            Relevance::L2 => (value / top).powi(2),
        });
        let scale = (1.0 - floor) * (weight / largest / total) / raw.clone().sum::<f64>();
        shares
            .iter_mut()
            .zip(raw)
            .for_each(|(share, part)| *share += scale * part);
    }
    Ok(shares)
}

fn max_abs(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |most, value| most.max(value.abs()))
}

fn sum_abs(values: &[f64]) -> f64 {
    values.iter().map(|value| value.abs()).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn add(values: &mut [f64], length: f64, step: &[f64]) {
    let pairs = values.iter_mut().zip(step);
    pairs.for_each(|(value, step)| *value += length * step);
}

/// Many short rows, read in parallel.
struct RowTable {
    values: Vec<f64>,
    width: usize,
}

impl RowTable {
    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..][..self.width]
    }

    /// The inner product of each row with a vector.
    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let rows = self.values.par_chunks(self.width).with_min_len(CHUNK);
        rows.map(|row| dot(row, vector)).collect()
    }

    /// The sum of the rows, each times its factor.
    fn combine(&self, factors: &[f64]) -> Vec<f64> {
        let sum = self.sum(1, |i, _| factors[i]);
        (0..self.width).map(|j| sum[(0, j)]).collect()
    }

    /// `Σ_i d_i r_i r_iᵀ`.
    fn gram(&self, factors: &[f64]) -> Mat<f64> {
        self.sum(self.width, |i, j| factors[i] * self.row(i)[j])
    }

    /// `Σ_i left_i r_iᵀ` for vectors of a height, entry `j` of vector `i` given by `left(i, j)`.
    fn sum(&self, height: usize, left: impl Fn(usize, usize) -> f64 + Sync) -> Mat<f64> {
        let chunks = self.values.par_chunks(CHUNK * self.width).enumerate();
        let parts = chunks.map(|(c, chunk)| {
            let n = chunk.len() / self.width;
            let left = Mat::from_fn(height, n, |j, i| left(c * CHUNK + i, j));
            let rows = MatRef::from_row_major_slice(chunk, n, self.width);
            linalg::product(left.as_ref(), rows)
        });
        let mut sum = Mat::zeros(height, self.width);
        let parts: Vec<Mat<f64>> = parts.collect();
        parts.iter().for_each(|part| sum += part);
        sum
    }
}

/// Embeddings in two coordinate systems.
struct Sources {
    /// Each coordinate divided by its scale.
    scaled: RowTable,
    scales: Vec<f64>,
    /// `Σ_i c_i c_iᵀ = I` on the reachable subspace.
    white: RowTable,
    /// Singular values and right singular vectors (as rows) of the scaled embeddings.
    s: Vec<f64>,
    v: RowTable,
}

/// A target in both systems, of unit length in the white one; `ν` has to grow by `factor`.
struct Goal {
    scaled: Vec<f64>,
    white: Vec<f64>,
    factor: f64,
}

impl Sources {
    fn new(embeddings: &[f64], k: usize) -> Result<Self> {
        if k == 0 || embeddings.is_empty() {
            let problem = "hold no task: give at least one row of at least one value";
            return Err(Error::setting("embeddings", problem));
        }
        let whole = embeddings.len().next_multiple_of(k);
        Error::check_length("the list of embeddings", whole, embeddings.len())?;
        Error::check_finite(embeddings, |i| {
            format!("the embedding of task {}, coordinate {},", i / k, i % k)
        })?;
        let scales = scales(embeddings, k);
        let values: Vec<f64> = embeddings
            .iter()
            .enumerate()
            .map(|(i, c)| c / scales[i % k])
            .collect();
        let linalg::Svd { mut s, v, .. } = stacked_svd(&values, k)?;
        let floor = RANK_TOLERANCE * s.first().copied().unwrap_or(0.0);
        s.retain(|&value| value > floor);
        let scaled = RowTable { values, width: k };
        let v = RowTable {
            values: (0..s.len())
                .flat_map(|i| linalg::column(v.as_ref(), i))
                .collect(),
            width: k,
        };
        let white = RowTable {
            values: scaled
                .values
                .par_chunks(k)
                .flat_map_iter(|row| whiten(&v, &s, row))
                .collect(),
            width: s.len(),
        };
        Ok(Self {
            scaled,
            scales,
            white,
            s,
            v,
        })
    }

    /// A dual point in white coordinates in those of the embeddings: the product with an embedding stays as it is.
    fn unwhitened(&self, dual: &[f64]) -> Vec<f64> {
        let over: Vec<f64> = dual.iter().zip(&self.s).map(|(y, s)| y / s).collect();
        let along = self.v.combine(&over);
        along
            .iter()
            .zip(&self.scales)
            .map(|(y, scale)| y / scale)
            .collect()
    }

    fn tasks(&self) -> usize {
        self.scaled.values.len() / self.scaled.width
    }

    fn goal(&self, target: &[f64], place: &str) -> Result<Goal> {
        Error::check_length(place, self.scaled.width, target.len())?;
        Error::check_finite(target, |j| format!("{place}, coordinate {j},"))?;
        let most = max_abs(target.iter().copied());
        if most <= 0.0 {
            let problem = "is zero: there is nothing to design for";
            return Err(Error::setting(place, problem));
        }
        // Divided first by the largest value of either side, so that no quotient overflows.
        let largest = max_abs(self.scales.iter().copied());
        let units: Vec<f64> = self.scales.iter().map(|scale| scale / largest).collect();
        let own: Vec<f64> = target.iter().map(|value| value / most).collect();
        let scaled: Vec<f64> = own.iter().zip(&units).map(|(t, unit)| t / unit).collect();
        let inside = (0..self.s.len()).map(|i| dot(self.v.row(i), &scaled));
        let reached = self.v.combine(&inside.collect::<Vec<_>>());
        // Missed in the sources' units or in the target's own, beyond what rounding leaves there.
        let missed = minus(&scaled, &reached);
        let in_own: Vec<f64> = missed
            .iter()
            .zip(&units)
            .map(|(m, unit)| m * unit)
            .collect();
        let size = linalg::norm(&scaled);
        let beyond = (linalg::norm(&in_own) - 1e-13 * size) / linalg::norm(&own);
        let part = beyond.max(linalg::norm(&missed) / size);
        if part > REACH_TOLERANCE {
            return Err(Error::RankDeficient {
                what: format!(
                    "the set of source embeddings, which cannot express {:.4} % of {place},",
                    100.0 * part.min(1.0)
                ),
                rank: self.s.len(),
                needed: self.s.len() + 1,
                remedy: "add tasks that have what it misses, or use a smaller k".into(),
            });
        }
        let white: Vec<f64> = whiten(&self.v, &self.s, &reached).collect();
        let length = linalg::norm(&white);
        Ok(Goal {
            scaled: reached.iter().map(|value| value / length).collect(),
            white: white.iter().map(|value| value / length).collect(),
            factor: length * (most / largest),
        })
    }

    fn solve(&self, kind: Relevance, target: &[f64], place: &str) -> Result<RelevanceSolution> {
        let goal = self.goal(target, place)?;
        let (mut nu, bound, iterations) = match kind {
            Relevance::L1 => {
                let (nu, certificate) = self.shortest(&goal)?;
                (nu, certificate.bound, certificate.iterations)
            }
            Relevance::L2 => {
                let mut nu = self.white.times(&goal.white);
                let missing = minus(&goal.scaled, &self.scaled.combine(&nu));
                let missing: Vec<f64> = whiten(&self.v, &self.s, &missing).collect();
                add(&mut nu, 1.0, &self.white.times(&missing));
                let bound = linalg::norm(&nu);
                (nu, bound, 0)
            }
        };
        let length = match kind {
            Relevance::L1 => sum_abs(&nu),
            Relevance::L2 => linalg::norm(&nu),
        };
        let norm = length * goal.factor;
        if !norm.is_finite() || norm < f64::MIN_POSITIVE {
            return Err(Error::numerical(
                format!("scaling the relevance of {place}"),
                "its embedding and the sources' differ too much in size, so rescale one of them",
            ));
        }
        nu.iter_mut().for_each(|value| *value *= goal.factor);
        Ok(RelevanceSolution {
            coefficients: nu,
            norm,
            lower_bound: bound.min(length) * goal.factor,
            iterations,
        })
    }
}

/// The largest magnitude of each coordinate, or of all where it is rounding beside them.
fn scales(embeddings: &[f64], k: usize) -> Vec<f64> {
    let largest = max_abs(embeddings.iter().copied()).max(f64::MIN_POSITIVE);
    (0..k)
        .map(|j| max_abs(embeddings.iter().skip(j).step_by(k).copied()))
        .map(|most| {
            if most > COORDINATE_FLOOR * largest {
                most
            } else {
                largest
            }
        })
        .collect()
}

/// Singular values and right singular vectors of many rows of `k` values. Those of the stacked
/// factors of all chunks are those of the whole; a Gram matrix would lose half of the digits.
fn stacked_svd(values: &[f64], k: usize) -> Result<linalg::Svd> {
    let factors = values.par_chunks(CHUNK * k).map(|chunk| {
        let rows = MatRef::from_row_major_slice(chunk, chunk.len() / k, k);
        let part = linalg::svd(rows, "the embeddings")?;
        let entries = (0..part.s.len()).flat_map(|i| (0..k).map(move |j| (i, j)));
        Ok(entries.map(|(i, j)| part.s[i] * part.v[(j, i)]).collect())
    });
    let stack: Vec<f64> = factors.collect::<Result<Vec<Vec<f64>>>>()?.concat();
    let stack = MatRef::from_row_major_slice(&stack, stack.len() / k, k);
    linalg::svd(stack, "the embeddings")
}

/// Coordinates along the right singular vectors, each divided by its singular value.
fn whiten(v: &RowTable, s: &[f64], row: &[f64]) -> impl Iterator<Item = f64> {
    s.iter()
        .enumerate()
        .map(move |(i, s)| dot(v.row(i), row) / s)
}
