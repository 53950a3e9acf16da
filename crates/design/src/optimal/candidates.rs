//! Candidate tasks as a matrix: what a finite task space is to a design.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::error::{Error, Result};

/// Rows looked at by one thread at a time; results do not depend on how many threads there are.
const BLOCK: usize = 4096;

/// A table of embeddings, one row a candidate task, checked once.
///
/// Rows are borrowed where the caller has them: a million candidates are not copied.
///
/// ```
/// use taskscout::design::Candidates;
/// let rows = [1.0, 0.0, 0.0, 2.0, 0.6, 0.8];
/// let candidates = Candidates::new(2, &rows[..])?.with_costs(vec![1.0, 5.0, 1.0])?;
/// assert_eq!((candidates.len(), candidates.row(1)), (3, &[0.0, 2.0][..]));
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Candidates<'a> {
    dim: usize,
    rows: Cow<'a, [f64]>,
    /// The largest magnitude in each column.
    largest: Vec<f64>,
    /// The same in the table that these rows are part of.
    whole: Vec<f64>,
    costs: Option<Vec<f64>>,
    limits: Option<Vec<f64>>,
}

impl<'a> Candidates<'a> {
    /// What a sample or a switch may cost: sums and products of more would overflow.
    pub const MOST_COST: f64 = 1e100;

    /// Takes row-major embeddings of `dim` numbers each, all finite, not all zero.
    ///
    /// # Errors
    /// No rows, a broken row, a value that is not finite (with its place), or nothing but zeros.
    pub fn new(dim: usize, rows: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let rows = rows.into();
        if dim == 0 || rows.is_empty() {
            return Err(Error::setting(
                "candidates",
                "is empty: give at least one candidate with at least one parameter",
            ));
        }
        if !rows.len().is_multiple_of(dim) {
            let place = format!("candidate {}", rows.len() / dim);
            Error::check_length(&place, dim, rows.len() % dim)?;
        }
        let largest = largest_by_column(dim, &rows);
        // A NaN or an infinity shows in the maxima; only then is its place looked for.
        if largest.iter().any(|value| !value.is_finite()) {
            Error::check_finite(&rows, |index| {
                format!("candidate {}, value {}", index / dim, index % dim)
            })?;
        }
        if largest.iter().all(|&value| value < f64::MIN_POSITIVE) {
            return Err(Error::setting(
                "candidates",
                "are all zero: a task with a zero embedding teaches nothing, so give others",
            ));
        }
        Ok(Self {
            dim,
            rows,
            whole: largest.clone(),
            largest,
            costs: None,
            limits: None,
        })
    }

    /// Gives every candidate the cost of one of its samples.
    ///
    /// # Errors
    /// As many costs as candidates are needed, positive and at most 1e100.
    pub fn with_costs(mut self, costs: Vec<f64>) -> Result<Self> {
        Error::check_length("`costs`", self.len(), costs.len())?;
        if let Some(row) = costs
            .iter()
            .position(|&cost| !(cost > 0.0 && cost <= Self::MOST_COST))
        {
            return Err(Error::setting(
                "costs",
                format!(
                    "of candidate {row} is {:e}: a cost must be positive and at most {:e}",
                    costs[row],
                    Self::MOST_COST
                ),
            ));
        }
        self.costs = Some(costs);
        Ok(self)
    }

    /// Gives every candidate the largest share of the budget that may be spent on it: zero leaves
    /// it out, one or more sets no limit.
    ///
    /// # Errors
    /// As many limits as candidates are needed, none negative or NaN, and together they must allow
    /// the whole budget to be spent.
    pub fn with_limits(mut self, limits: Vec<f64>) -> Result<Self> {
        check_limits(self.len(), &limits)?;
        self.limits = Some(limits);
        Ok(self)
    }

    /// The same candidates with their costs and without limits; no row is copied.
    pub(super) fn borrowed(&self) -> Candidates<'_> {
        Candidates {
            dim: self.dim,
            rows: Cow::Borrowed(&self.rows),
            largest: self.largest.clone(),
            whole: self.whole.clone(),
            costs: self.costs.clone(),
            limits: None,
        }
    }

    /// Says that these are some rows of another table, whose units are theirs too.
    pub(super) fn part_of(mut self, table: &Candidates<'_>) -> Self {
        self.whole.clone_from(&table.whole);
        self
    }

    /// Number of values of an embedding.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of candidates, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always a candidate")]
    pub fn len(&self) -> usize {
        self.rows.len() / self.dim
    }

    /// An embedding.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.dim..(index + 1) * self.dim]
    }

    /// The cost of a sample.
    #[must_use]
    pub fn cost(&self, index: usize) -> f64 {
        self.costs.as_ref().map_or(1.0, |costs| costs[index])
    }

    /// The largest share of the budget, at most 1.
    #[must_use]
    pub fn limit(&self, index: usize) -> f64 {
        self.limits
            .as_ref()
            .map_or(1.0, |limits| limits[index].min(1.0))
    }

    /// Whether some candidate has a limit between zero and one.
    pub(super) fn is_limited(&self) -> bool {
        let between = |limit: &f64| *limit > 0.0 && *limit < 1.0;
        self.limits
            .as_ref()
            .is_some_and(|limits| limits.iter().any(between))
    }

    pub(super) fn rows(&self) -> &[f64] {
        &self.rows
    }

    pub(super) fn costs(&self) -> Option<&[f64]> {
        self.costs.as_deref()
    }

    /// The largest magnitude in each column.
    pub(super) fn largest(&self) -> &[f64] {
        &self.largest
    }

    /// The largest magnitude in each column of the table that these rows are part of.
    pub(super) fn whole(&self) -> &[f64] {
        &self.whole
    }
}

/// Whether so many candidates can have these largest shares of a budget.
pub(super) fn check_limits(count: usize, limits: &[f64]) -> Result<()> {
    Error::check_length("`limits`", count, limits.len())?;
    if let Some(row) = limits
        .iter()
        .position(|&limit| limit.is_nan() || limit < 0.0)
    {
        return Err(Error::setting(
            "limits",
            format!(
                "of candidate {row} is {}: a limit must be at least 0",
                limits[row]
            ),
        ));
    }
    let total: f64 = limits.iter().map(|limit| limit.min(1.0)).sum();
    if total < 1.0 - 1e-9 {
        return Err(Error::setting(
            "limits",
            format!(
                "allow only {:.1} % of the budget to be spent: lower the budget, or allow more of some task",
                100.0 * total
            ),
        ));
    }
    Ok(())
}

/// The largest magnitude in each column; NaN where a column holds one.
fn largest_by_column(dim: usize, rows: &[f64]) -> Vec<f64> {
    let largest_of = |block: &[f64]| {
        let mut largest = vec![0.0_f64; dim];
        for row in block.chunks_exact(dim) {
            for (top, value) in largest.iter_mut().zip(row) {
                *top = larger(*top, value.abs());
            }
        }
        largest
    };
    // A small table is read sooner than other threads wake.
    if rows.len() <= 8 * BLOCK * dim {
        return largest_of(rows);
    }
    let blocks: Vec<Vec<f64>> = rows.par_chunks(BLOCK * dim).map(largest_of).collect();
    let join = |mut all: Vec<f64>, block: Vec<f64>| {
        for (top, value) in all.iter_mut().zip(block) {
            *top = larger(*top, value);
        }
        all
    };
    blocks.into_iter().reduce(join).unwrap_or_default()
}

/// The larger of two numbers, NaN if one of them is: `f64::max` would lose it.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
