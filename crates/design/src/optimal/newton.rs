//! Newton steps over weights that sum to one, shared by both criteria.

use faer::{Mat, MatRef};

use crate::error::{Error, Result};
use crate::linalg::{self, wide};

/// Share of the way to a bound that one step may go.
pub(super) const TO_BOUND: f64 = 0.97;

/// Atoms up to which all second derivatives are kept: with fewer, Woodbury saves little and loses
/// the digits that the last steps need.
const FULL: usize = 256;

const WHAT: &str = "the equations for the weights of a design";

/// The second derivatives in `q`.
pub(super) enum Curvature {
    /// `m × m`.
    Full(Mat<f64>),
    /// `Φ`, `p × m` with `p < m`, of the second derivatives `ΦᵀΦ`.
    Root(Mat<f64>),
}

impl Curvature {
    /// Second derivatives `scale · (XᵀX) ∘ (ZᵀZ)`, summed over the `width` columns of each atom.
    pub(super) fn new(scale: f64, x: MatRef<'_, f64>, z: MatRef<'_, f64>, width: usize) -> Self {
        if width > 1 {
            return Self::of_blocks(scale, x, z, width);
        }
        let (r, s, m) = (x.nrows(), z.nrows(), x.ncols());
        if m <= (r * s).max(FULL) {
            let mut full = wide::multiply(x.transpose(), x);
            let right = wide::multiply(z.transpose(), z);
            for j in 0..m {
                let pairs = full
                    .col_as_slice_mut(j)
                    .iter_mut()
                    .zip(right.col_as_slice(j));
                pairs.for_each(|(left, right)| *left *= scale * right);
            }
            return Self::Full(full);
        }
        let root = scale.sqrt();
        Self::Root(Mat::from_fn(r * s, m, |p, i| {
            root * x[(p % r, i)] * z[(p / r, i)]
        }))
    }

    /// The same for atoms of several columns: `⟨F_i, F_j⟩` with `F_i = Σ_a x_ia z_iaᵀ`.
    fn of_blocks(scale: f64, x: MatRef<'_, f64>, z: MatRef<'_, f64>, width: usize) -> Self {
        let (r, s, m) = (x.nrows(), z.nrows(), x.ncols() / width);
        let root = Mat::from_fn(r * s, m, |p, i| {
            let of = |column: usize| x[(p % r, column)] * z[(p / r, column)];
            scale.sqrt() * (i * width..(i + 1) * width).map(of).sum::<f64>()
        });
        if m <= (r * s).max(FULL) {
            return Self::Full(wide::multiply(root.transpose(), root.as_ref()));
        }
        Self::Root(root)
    }

    /// `(diag + curvature)⁻¹ · rhs`.
    fn solve(self, diagonal: &[f64], rhs: MatRef<'_, f64>) -> Result<Mat<f64>> {
        match self {
            Self::Full(mut sum) => {
                diagonal
                    .iter()
                    .enumerate()
                    .for_each(|(i, d)| sum[(i, i)] += d);
                Ok(linalg::factorise(sum, WHAT)?.solve(rhs))
            }
            Self::Root(root) => {
                // Woodbury: p × p equations instead of m × m.
                let (p, m) = (root.nrows(), root.ncols());
                let scaled = Mat::from_fn(p, m, |i, j| root[(i, j)] / diagonal[j].sqrt());
                let mut inner = linalg::product(scaled.as_ref(), scaled.transpose());
                (0..p).for_each(|i| inner[(i, i)] += 1.0);
                let divided = Mat::from_fn(m, rhs.ncols(), |i, j| rhs[(i, j)] / diagonal[i]);
                let images = linalg::product(root.as_ref(), divided.as_ref());
                let solved = linalg::factorise(inner, WHAT)?.solve(images.as_ref());
                let back = linalg::product(root.transpose(), solved.as_ref());
                Ok(Mat::from_fn(m, rhs.ncols(), |i, j| {
                    divided[(i, j)] - back[(i, j)] / diagonal[i]
                }))
            }
        }
    }
}

/// What a Newton step has to balance in `t`.
pub(super) struct Strength {
    pub(super) first: f64,
    pub(super) mixed: Vec<f64>,
    pub(super) second: f64,
}

/// A step in the weights, and in `t` where there is one.
pub(super) struct Step {
    pub(super) q: Vec<f64>,
    pub(super) t: f64,
}

/// The Newton direction under `Σ dq = excess`: the solution of
/// `(diag + curvature) dq + mixed · dt + 1 · level = −pull` and `mixed · dq + second · dt = −first`.
pub(super) fn direction(
    curvature: Curvature,
    diagonal: &[f64],
    pull: &[f64],
    strength: Option<&Strength>,
    excess: f64,
) -> Result<Step> {
    let m = pull.len();
    let rhs = Mat::from_fn(m, if strength.is_some() { 3 } else { 2 }, |i, j| match j {
        0 => pull[i],
        1 => 1.0,
        _ => strength.map_or(0.0, |strength| strength.mixed[i]),
    });
    let solved = curvature.solve(diagonal, rhs.as_ref())?;
    let sum = |j: usize| (0..m).map(|i| solved[(i, j)]).sum::<f64>();
    let Some(strength) = strength else {
        let level = -(sum(0) + excess) / sum(1);
        let q = (0..m)
            .map(|i| -solved[(i, 0)] - level * solved[(i, 1)])
            .collect();
        return Ok(Step { q, t: 0.0 });
    };
    // Two equations for the level and for dt are left after dq has been eliminated.
    let across = |j: usize| {
        (0..m)
            .map(|i| strength.mixed[i] * solved[(i, j)])
            .sum::<f64>()
    };
    let (a, b, c) = (sum(1), sum(2), -(sum(0) + excess));
    let (d, e, f) = (
        -across(1),
        strength.second - across(2),
        across(0) - strength.first,
    );
    let determinant = a * e - b * d;
    let (level, t) = ((c * e - b * f) / determinant, (a * f - c * d) / determinant);
    if !(level.is_finite() && t.is_finite()) {
        return Err(Error::numerical(
            "weighing the tasks of a design",
            "its equations are singular; remove tasks that are nearly the same",
        ));
    }
    let q = (0..m)
        .map(|i| -solved[(i, 0)] - level * solved[(i, 1)] - t * solved[(i, 2)])
        .collect();
    Ok(Step { q, t })
}

/// How far along a step weights stay positive and below their limits, up to 1.
pub(super) fn furthest(q: &[f64], step: &[f64], limits: &[f64]) -> f64 {
    let mut length: f64 = 1.0;
    for ((q, d), limit) in q.iter().zip(step).zip(limits) {
        if *d < 0.0 {
            length = length.min(-TO_BOUND * q / d);
        } else if *limit < 1.0 && *d > 0.0 {
            length = length.min(TO_BOUND * (limit - q) / d);
        }
    }
    length
}

/// `1/(u − q)`, zero without a limit.
pub(super) fn nearness(q: f64, limit: f64) -> f64 {
    if limit < 1.0 {
        (limit - q).recip()
    } else {
        0.0
    }
}
