//! Coordinates in which a design problem is well scaled.
//!
//! An invertible map `T` of embeddings changes neither criterion, because
//! `tr((T Σ Tᵀ)⁻¹ T A Tᵀ) = tr(Σ⁻¹ A)`. The solver therefore works where the candidates have unit
//! second moment. Whether they are given in metres or micrometres, rotated, or with one direction
//! `10¹⁰` times weaker than another then makes no difference.
//!
//! The second moment of the candidates squares their condition number. It is taken again in the new
//! coordinates until it is well conditioned, as in shifted Cholesky QR, which resolves directions
//! down to [`WEAKEST`] of the strongest. What lies below is not reached by any candidate.

use faer::{Mat, MatRef};

use super::Need;
use super::scan::EmbeddingRows;
use super::units::units;
use crate::error::{Error, Result};
use crate::linalg::{self, wide};

/// Strength, relative to the strongest direction, below which candidates do not reach a direction.
pub(super) const WEAKEST: f64 = 1e-12;
/// Part of the need that rounding may leave outside the reach of the candidates.
const REACH_TOLERANCE: f64 = 1e-9;
/// A second moment this well conditioned is resolved to full precision.
const RESOLVED: f64 = 1e-7;
/// Smallest eigenvalue that a pass trusts, relative to the largest.
const SHIFT: f64 = 1e-14;
const MAX_PASSES: usize = 6;

/// The coordinates `c̃ = T c`.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// `T`, `rank × k`.
    pub(super) to: Mat<f64>,
    /// Units of the columns; `T` is well scaled after division by them.
    units: Vec<f64>,
    /// Orthonormal directions, in those units, that no candidate reaches: rows.
    missing: Mat<f64>,
}

/// What a target needs, in a frame: `A = L Lᵀ · scale²`, with `L` of unit norm.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    pub(super) l: Mat<f64>,
    pub(super) scale: f64,
    /// Part of the need that is out of reach and was left out.
    pub(super) missed: f64,
}

impl Frame {
    /// The frame of some candidates, of which `largest` are the largest magnitudes by column, and
    /// `whole` those of the table they are from, and of what is given: directions that are known
    /// already are reached.
    pub(super) fn new(
        rows: EmbeddingRows<'_>,
        (largest, whole): (&[f64], &[f64]),
        given: Option<MatRef<'_, f64>>,
    ) -> Result<Self> {
        let k = rows.dim;
        let units = units(largest, whole, given)?;
        let known = match given {
            None => Mat::zeros(k, 0),
            Some(given) => known_directions(given, &units)?,
        };
        // `transform` acts on candidates in units; `to` on candidates as they are.
        let mut transform = Mat::<f64>::identity(k, k);
        let mut missing: Vec<Vec<f64>> = Vec::new();
        // Squares of moderate values can be scaled afterwards, which spares a product.
        let moderate = units.iter().all(|unit| (1e-100..1e100).contains(unit));
        for pass in 0..MAX_PASSES {
            let gram = if moderate && pass == 0 {
                let raw = rows.gram(None);
                Mat::from_fn(k, k, |i, j| raw[(i, j)] / units[i] / units[j])
            } else {
                rows.gram(Some(in_units(transform.as_ref(), &units).as_ref()))
            };
            let seen = linalg::product(transform.as_ref(), known.as_ref());
            let gram = gram + linalg::product(seen.as_ref(), seen.transpose());
            if let Some(factor) = wide::well_conditioned(gram.as_ref()) {
                transform = wide::whiten(&factor, transform.as_ref());
                break;
            }
            let (values, vectors) = linalg::eigen(gram.as_ref(), "the candidates")?;
            if values[0] <= 0.0 {
                return Err(Error::setting(
                    "candidates",
                    "that may be used are all zero: a zero embedding teaches nothing, so allow others",
                ));
            }
            let floor = SHIFT * values[0];
            let turned = linalg::product(vectors.transpose(), transform.as_ref());
            let stretched = Mat::from_fn(turned.nrows(), k, |i, j| {
                turned[(i, j)] / values[i].max(floor).sqrt()
            });
            let strength = |i: usize| linalg::norm(&row(stretched.as_ref(), i)).recip();
            let strongest = (0..stretched.nrows()).map(strength).fold(0.0, f64::max);
            let (kept, lost): (Vec<usize>, Vec<usize>) =
                (0..stretched.nrows()).partition(|&i| strength(i) > WEAKEST * strongest);
            missing.extend(lost.iter().map(|&i| row(stretched.as_ref(), i)));
            transform = Mat::from_fn(kept.len(), k, |i, j| stretched[(kept[i], j)]);
            let resolved = kept.iter().all(|&i| values[i] > RESOLVED * values[0]);
            if resolved {
                break;
            }
        }
        Ok(Self {
            to: in_units(transform.as_ref(), &units),
            units,
            missing: orthonormal_rows(&missing, k)?,
        })
    }

    /// Functionals on embeddings that vanish on all that is reached: rows.
    pub(super) fn missing(&self) -> Mat<f64> {
        in_units(self.missing.as_ref(), &self.units)
    }

    /// Number of directions that the candidates reach.
    pub(super) fn rank(&self) -> usize {
        self.to.nrows()
    }

    /// An embedding in this frame.
    pub(super) fn embed(&self, embedding: &[f64]) -> Vec<f64> {
        linalg::apply(self.to.as_ref(), embedding)
    }

    /// A symmetric matrix in this frame, `T X Tᵀ`.
    pub(super) fn congruent(&self, matrix: MatRef<'_, f64>) -> Mat<f64> {
        let half = linalg::product(self.to.as_ref(), matrix);
        let full = linalg::product(half.as_ref(), self.to.transpose());
        Mat::from_fn(full.nrows(), full.ncols(), |i, j| {
            0.5 * (full[(i, j)] + full[(j, i)])
        })
    }

    /// The moment that asks for all directions that are reached alike: the projection onto them.
    pub(super) fn everything(&self) -> Result<Mat<f64>> {
        let k = self.units.len();
        let normals = self.missing();
        let rows: Vec<Vec<f64>> = (0..normals.nrows())
            .map(|i| row(normals.as_ref(), i))
            .collect();
        let normals = orthonormal_rows(&rows, k)?;
        Ok(Mat::<f64>::identity(k, k) - linalg::product(normals.transpose(), normals.as_ref()))
    }

    /// What the target needs, or which part of it no candidate reaches. A `partial` need leaves
    /// that part out.
    pub(super) fn need(&self, need: &Need<'_>, partial: bool) -> Result<Factor> {
        let (raw, reached) = self.root_of(need)?;
        let missed = match raw.map(|raw| self.check_reach(raw.as_ref())) {
            None | Some(Ok(())) => 0.0,
            Some(Err(Error::Unreachable { share, .. })) if partial => share,
            Some(Err(error)) => return Err(error),
        };
        let top = largest_entry(reached.as_ref());
        if !top.is_finite() {
            return Err(Error::numerical(
                "scaling what the target needs",
                "it is beyond the range of numbers beside the candidates; rescale one of them",
            ));
        }
        if top <= 0.0 {
            return Err(Error::setting(
                "target",
                "is zero: there is nothing to design for",
            ));
        }
        let reached = Mat::from_fn(reached.nrows(), reached.ncols(), |i, j| {
            reached[(i, j)] / top
        });
        if let Some(l) = wide_root(&reached) {
            let size = l.norm_l2();
            return Ok(Factor {
                l: faer::Scale(size.recip()) * l,
                scale: top * size,
                missed,
            });
        }
        let svd = linalg::svd(reached.as_ref(), "what the target needs")?;
        let size = linalg::norm(&svd.s);
        let kept = svd
            .s
            .iter()
            .filter(|&&value| value > 1e-14 * svd.s[0])
            .count();
        let l = Mat::from_fn(self.rank(), kept, |i, j| svd.u[(i, j)] * (svd.s[j] / size));
        Ok(Factor {
            l,
            scale: top * size,
            missed,
        })
    }

    /// A root of what is needed, as it is and in this frame; of all directions that are reached, the
    /// latter alone.
    fn root_of(&self, need: &Need<'_>) -> Result<(Option<Mat<f64>>, Mat<f64>)> {
        Ok(match need {
            Need::Everything => {
                // The projection onto the directions that are reached.
                let normals = self.missing();
                let normals = orthonormal_rows(
                    &(0..normals.nrows())
                        .map(|i| row(normals.as_ref(), i))
                        .collect::<Vec<_>>(),
                    self.units.len(),
                )?;
                let outside = linalg::product(
                    linalg::product(self.to.as_ref(), normals.transpose()).as_ref(),
                    normals.as_ref(),
                );
                (None, &self.to - outside)
            }
            Need::Targets { rows, weights } => {
                let columns = targets(rows, *weights, self.units.len())?;
                let reached = linalg::product(self.to.as_ref(), columns.as_ref());
                (Some(columns), reached)
            }
            Need::Moment(matrix) => {
                let k = self.units.len();
                Error::check_length("the target moment", k, matrix.nrows())?;
                Error::check_length("a row of the target moment", k, matrix.ncols())?;
                let scaled = Mat::from_fn(k, k, |i, j| {
                    0.5 * (matrix[(i, j)] + matrix[(j, i)]) / self.units[i] / self.units[j]
                });
                let root = root(scaled.as_ref(), "target")?;
                let columns = Mat::from_fn(k, root.ncols(), |i, j| root[(i, j)] * self.units[i]);
                let reached = wide::multiply(self.to.as_ref(), columns.as_ref());
                (Some(columns), reached)
            }
        })
    }

    /// Refuses a need that reaches outside the candidates.
    fn check_reach(&self, columns: MatRef<'_, f64>) -> Result<()> {
        if self.missing.nrows() == 0 {
            return Ok(());
        }
        let scaled = Mat::from_fn(columns.nrows(), columns.ncols(), |i, j| {
            columns[(i, j)] / self.units[i]
        });
        let top = largest_entry(scaled.as_ref());
        if top <= 0.0 {
            return Ok(());
        }
        let scaled = Mat::from_fn(columns.nrows(), columns.ncols(), |i, j| {
            scaled[(i, j)] / top
        });
        let outside = linalg::product(self.missing.as_ref(), scaled.as_ref());
        let share = outside.squared_norm_l2() / scaled.squared_norm_l2();
        if share <= REACH_TOLERANCE {
            return Ok(());
        }
        let svd = linalg::svd(outside.as_ref(), "the part of the need out of reach")?;
        let direction = linalg::apply(self.missing.transpose(), &linalg::column(svd.u.as_ref(), 0));
        Err(Error::Unreachable {
            share,
            direction,
            rank: self.rank(),
            needed: self.units.len(),
        })
    }
}

/// Another matrix with the same outer product and no more columns than rows, for a matrix of many
/// rows and columns; none for others, whose singular values can be had.
fn wide_root(columns: &Mat<f64>) -> Option<Mat<f64>> {
    let (rank, count) = (columns.nrows(), columns.ncols());
    if rank.min(count) < wide::WIDE {
        return None;
    }
    if count <= rank {
        return Some(columns.clone());
    }
    let gram = wide::multiply(columns.as_ref(), columns.transpose());
    Some(wide::well_conditioned(gram.as_ref())?.lower())
}

/// Columns `√(w_j / Σ w) · c_j` of some weighted targets.
pub(super) fn targets(rows: &[f64], weights: Option<&[f64]>, k: usize) -> Result<Mat<f64>> {
    let n = rows.len() / k;
    if rows.is_empty() || !rows.len().is_multiple_of(k) {
        return Err(Error::WrongLength {
            place: format!("target {n}"),
            expected: k,
            found: rows.len() % k,
        });
    }
    Error::check_finite(rows, |index| {
        format!("target {}, value {}", index / k, index % k)
    })?;
    if let Some(weights) = weights {
        Error::check_length("the weights of the targets", n, weights.len())?;
        if let Some(row) = weights.iter().position(|&w| !(w > 0.0 && w.is_finite())) {
            return Err(Error::setting(
                "target weights",
                format!(
                    "of target {row} is {}: a weight must be positive and finite",
                    weights[row]
                ),
            ));
        }
    }
    let weight = |j: usize| weights.map_or(1.0, |weights| weights[j]);
    let total: f64 = (0..n).map(weight).sum();
    Ok(Mat::from_fn(k, n, |i, j| {
        rows[j * k + i] * (weight(j) / total).sqrt()
    }))
}

/// The directions, in units, that information is there for: columns with a largest entry of one.
fn known_directions(given: MatRef<'_, f64>, units: &[f64]) -> Result<Mat<f64>> {
    let k = units.len();
    let scaled = Mat::from_fn(k, k, |i, j| {
        0.5 * (given[(i, j)] + given[(j, i)]) / units[i] / units[j]
    });
    let root = root(scaled.as_ref(), "given")?;
    let kept: Vec<Vec<f64>> = (0..root.ncols())
        .map(|j| linalg::column(root.as_ref(), j))
        .collect();
    let size = |column: &[f64]| column.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    let top = kept.iter().map(|column| size(column)).fold(0.0, f64::max);
    // What is rounding beside the rest is not known.
    let kept: Vec<Vec<f64>> = kept
        .into_iter()
        .filter(|column| size(column) > 1e-7 * top)
        .collect();
    Ok(Mat::from_fn(k, kept.len(), |i, j| {
        kept[j][i] / size(&kept[j])
    }))
}

/// A root `L` of a moment `L Lᵀ`.
fn root(moment: MatRef<'_, f64>, key: &str) -> Result<Mat<f64>> {
    if !linalg::is_finite(moment) {
        return Err(Error::setting(
            key,
            "has a matrix that is not finite: repair it, or rescale it",
        ));
    }
    let size = largest_entry(moment);
    if size <= 0.0 {
        return Ok(Mat::zeros(moment.nrows(), 0));
    }
    let moment = Mat::from_fn(moment.nrows(), moment.ncols(), |i, j| moment[(i, j)] / size);
    if let Some(factor) = wide::well_conditioned(moment.as_ref()) {
        return Ok(faer::Scale(size.sqrt()) * factor.lower());
    }
    let (values, vectors) = linalg::eigen(moment.as_ref(), "the target moment")?;
    let top = values.first().copied().unwrap_or(0.0);
    if values
        .last()
        .is_some_and(|&least| least < -1e-9 * top.abs())
    {
        return Err(Error::setting(
            key,
            "has a matrix that is not positive semidefinite: give a sum of outer products",
        ));
    }
    let kept = values
        .iter()
        .filter(|&&value| value > 1e-15 * top && value > 0.0)
        .count();
    Ok(Mat::from_fn(moment.nrows(), kept, |i, j| {
        vectors[(i, j)] * values[j].sqrt() * size.sqrt()
    }))
}

/// The largest magnitude of an entry.
fn largest_entry(matrix: MatRef<'_, f64>) -> f64 {
    let entries = (0..matrix.ncols()).flat_map(|j| (0..matrix.nrows()).map(move |i| (i, j)));
    entries.fold(0.0, |top, place| top.max(matrix[place].abs()))
}

/// A matrix that acts on values in units, as one that acts on values as they are.
fn in_units(matrix: MatRef<'_, f64>, units: &[f64]) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
        matrix[(i, j)] / units[j]
    })
}

fn row(matrix: MatRef<'_, f64>, i: usize) -> Vec<f64> {
    (0..matrix.ncols()).map(|j| matrix[(i, j)]).collect()
}

/// An orthonormal basis of the span of some independent rows, as rows.
fn orthonormal_rows(rows: &[Vec<f64>], k: usize) -> Result<Mat<f64>> {
    if rows.is_empty() {
        return Ok(Mat::zeros(0, k));
    }
    let largest = |row: &[f64]| {
        row.iter()
            .fold(f64::MIN_POSITIVE, |top, x| top.max(x.abs()))
    };
    let scaled = Mat::from_fn(rows.len(), k, |i, j| rows[i][j] / largest(&rows[i]));
    let svd = linalg::svd(scaled.as_ref(), "the directions out of reach")?;
    Ok(svd.v.transpose().to_owned())
}
