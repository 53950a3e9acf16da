//! Sufficient statistics of a linear model: all that training needs of a task's rows.

use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Samples;
use crate::error::{Error, Result};
use crate::linalg::packed;
use crate::linalg::row_sums::{RowSums, Value};

/// Rows that are summed on their own: fixed chunks added in order make the sums independent of the number of threads.
const CHUNK_ROWS: usize = 2048;
/// Chunks in flight at once, at most, which bounds the memory that partial sums take.
const CHUNKS_IN_FLIGHT: usize = 8;

/// Sufficient statistics of rows for least squares: `G = Σ ψψᵀ` (a packed lower triangle), `b = Σ ψ y` and `Σ y²` for each output, and `n`.
///
/// Statistics of disjoint rows merge by addition, so they serve streams, threads and machines, and
/// folds come apart again by subtraction. Outputs share the Gram matrix.
///
/// ```
/// use taskscout::data::{Samples, Statistics};
/// let rows = Samples::new(vec![1.0, 0.0, 1.0, 2.0], 2, vec![3.0, 5.0], 1)?;
/// let mut statistics = Statistics::new(2, 1);
/// statistics.accumulate(&rows)?;
/// assert_eq!(statistics.count(), 2);
/// assert_eq!(statistics.gram(), &[2.0, 2.0, 4.0]);
/// assert_eq!(statistics.cross_moment(0), &[8.0, 10.0]);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Statistics {
    dim: usize,
    count: usize,
    gram: Vec<f64>,
    moments: Vec<f64>,
    squares: Vec<f64>,
}

/// Statistics as a file has them, not checked yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    dim: usize,
    count: usize,
    gram: Vec<f64>,
    moments: Vec<f64>,
    squares: Vec<f64>,
}

impl TryFrom<Raw> for Statistics {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        let Raw {
            dim,
            count,
            gram,
            moments,
            squares,
        } = raw;
        let overflow = || Error::setting("dim", format!("is {dim}: too large for statistics"));
        let entries = dim
            .checked_add(1)
            .and_then(|next| dim.checked_mul(next))
            .ok_or_else(overflow)?
            / 2;
        Error::check_length("the Gram matrix", entries, gram.len())?;
        let expected = dim.checked_mul(squares.len()).ok_or_else(overflow)?;
        Error::check_length("the moments", expected, moments.len())?;
        for (what, values) in [
            ("the Gram matrix", &gram),
            ("the moments", &moments),
            ("the squares", &squares),
        ] {
            Error::check_finite(values, |i| format!("entry {i} of {what}"))?;
        }
        Ok(Self {
            dim,
            count,
            gram,
            moments,
            squares,
        })
    }
}

impl Statistics {
    /// Statistics of no rows, for `dim` features and `outputs` outputs.
    #[must_use]
    pub fn new(dim: usize, outputs: usize) -> Self {
        Self {
            dim,
            count: 0,
            gram: vec![0.0; packed::len(dim)],
            moments: vec![0.0; dim * outputs],
            squares: vec![0.0; outputs],
        }
    }

    /// Rows of which only the Gram matrix, a packed lower triangle, is known: what is expected of rows to come.
    pub(crate) fn of_gram(dim: usize, outputs: usize, count: usize, gram: Vec<f64>) -> Self {
        Self {
            count,
            gram,
            ..Self::new(dim, outputs)
        }
    }

    /// Number of features.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.squares.len()
    }

    /// Number of rows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The Gram matrix, a packed lower triangle: entry `(i, j)`, `j ≤ i`, at `i(i+1)/2 + j`.
    #[must_use]
    pub fn gram(&self) -> &[f64] {
        &self.gram
    }

    /// `Σ ψ y` of an output; empty if there is no such output.
    #[must_use]
    pub fn cross_moment(&self, output: usize) -> &[f64] {
        self.moments
            .chunks_exact(self.dim.max(1))
            .nth(output)
            .unwrap_or(&[])
    }

    /// `Σ y²` of an output; not a number if there is no such output.
    #[must_use]
    pub fn sum_of_squares(&self, output: usize) -> f64 {
        self.squares.get(output).copied().unwrap_or(f64::NAN)
    }

    /// The full Gram matrix.
    #[must_use]
    pub fn gram_matrix(&self) -> Mat<f64> {
        packed::unpack(&self.gram, self.dim)
    }

    /// Sum of squared residuals of the predictor `ψ ↦ ψᵀ coefficients` on an output; not a number if
    /// there is no such output, or the number of coefficients is not that of features.
    #[must_use]
    pub fn residual_sum_of_squares(&self, output: usize, coefficients: &[f64]) -> f64 {
        if coefficients.len() != self.dim {
            return f64::NAN;
        }
        let fit = crate::linalg::dot(coefficients, self.cross_moment(output));
        self.sum_of_squares(output) - 2.0 * fit + packed::quadratic(&self.gram, coefficients)
    }

    /// Adds feature rows, on all cores of the current thread pool.
    ///
    /// # Errors
    /// Rows of another width than these statistics.
    pub fn accumulate(&mut self, rows: &Samples) -> Result<()> {
        Error::check_length("a feature row", self.dim, rows.input_dim())?;
        Error::check_length("an output row", self.outputs(), rows.output_dim())?;
        self.add_rows(rows.inputs(), rows.outputs());
        Ok(())
    }

    /// Adds feature rows that somebody else holds, row-major, without copying them; all of them or none.
    ///
    /// ```
    /// use taskscout::data::Statistics;
    /// let mut statistics = Statistics::new(2, 1);
    /// statistics.accumulate_slices(&[1.0, 0.0, 1.0, 2.0], &[3.0, 5.0])?;
    /// assert_eq!(statistics.gram(), &[2.0, 2.0, 4.0]);
    /// assert!(statistics.accumulate_slices(&[1.0, f64::NAN], &[3.0]).is_err());
    /// assert_eq!(statistics.count(), 2);
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another number of values than whole rows of these statistics have, a value that is not finite, named by row and
    /// column, or values whose squares are too large to add up.
    pub fn accumulate_slices(&mut self, inputs: &[f64], outputs: &[f64]) -> Result<()> {
        self.accumulate_values(inputs, outputs)
    }

    /// Adds feature rows in single precision, row-major, without copying them; the sums are in double precision. All of
    /// them or none.
    ///
    /// ```
    /// use taskscout::data::Statistics;
    /// let mut statistics = Statistics::new(2, 1);
    /// statistics.accumulate_f32(&[1.0_f32, 0.0, 1.0, 2.0], &[3.0, 5.0])?;
    /// assert_eq!(statistics.gram(), &[2.0, 2.0, 4.0]);
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`accumulate_slices`](Self::accumulate_slices).
    pub fn accumulate_f32(&mut self, inputs: &[f32], outputs: &[f32]) -> Result<()> {
        self.accumulate_values(inputs, outputs)
    }

    fn accumulate_values<T: Value>(&mut self, inputs: &[T], outputs: &[T]) -> Result<()> {
        let (d, m) = (self.dim, self.outputs());
        let rows = outputs.len() / m.max(1);
        Error::check_length("the outputs", rows * m, outputs.len())?;
        Error::check_length("the feature rows", rows * d, inputs.len())?;
        // A value that is not finite shows in the sums, which are few: only then are the rows looked at.
        let before = self.clone();
        self.add_rows(inputs, outputs);
        if self.is_finite() {
            return Ok(());
        }
        *self = before;
        let wide =
            |values: &[T]| -> Vec<f64> { values.iter().map(|&value| value.into()).collect() };
        Error::check_finite(&wide(inputs), |i| format!("row {}, input {}", i / d, i % d))?;
        Error::check_finite(&wide(outputs), |i| {
            format!("row {}, output {}", i / m, i % m)
        })?;
        Err(Error::numerical(
            "adding up squares of the rows",
            "some values are too large, so rescale the columns",
        ))
    }

    fn is_finite(&self) -> bool {
        let sums = [&self.gram, &self.moments, &self.squares];
        sums.iter()
            .all(|values| values.iter().all(|value| value.is_finite()))
    }

    /// Adds rows whose shape is known to fit.
    pub(crate) fn add_rows<T: Value>(&mut self, inputs: &[T], outputs: &[T]) {
        let (d, m) = (self.dim, self.outputs());
        if m == 0 {
            return;
        }
        if d > 0 {
            self.add_products(inputs, outputs);
        }
        // By chunk as well, so that batches add up to the same bits as the rows added at once.
        for chunk in outputs.chunks(CHUNK_ROWS * m) {
            for (o, square) in self.squares.iter_mut().enumerate() {
                *square += sum_of_squares(chunk.iter().skip(o).step_by(m));
            }
        }
        self.count += outputs.len() / m;
    }

    /// Adds Gram matrices and moments, chunks in their order.
    fn add_products<T: Value>(&mut self, inputs: &[T], outputs: &[T]) {
        let (d, m) = (self.dim, self.outputs());
        let chunks: Vec<(&[T], &[T])> = inputs
            .chunks(CHUNK_ROWS * d)
            .zip(outputs.chunks(CHUNK_ROWS * m))
            .collect();
        // One thread works best in memory that it has just used.
        let threads = rayon::current_num_threads();
        let slots = if threads == 1 { 1 } else { CHUNKS_IN_FLIGHT };
        let slots = slots.min(chunks.len());
        let mut sums: Vec<RowSums> = (0..slots).map(|_| RowSums::new(d, m)).collect();
        for group in chunks.chunks(slots.max(1)) {
            let sums = &mut sums[..group.len()];
            match (&mut *sums, group) {
                // Small batches are not worth another thread.
                ([sum], [(x, y)]) => sum.set(x, y),
                _ => sums
                    .par_iter_mut()
                    .zip(group)
                    .for_each(|(sum, (x, y))| sum.set(x, y)),
            }
            for sum in sums {
                sum.add_to(&mut self.gram, &mut self.moments);
            }
        }
    }

    /// Adds the statistics of other rows.
    ///
    /// # Errors
    /// Statistics of another number of features or outputs.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        Error::check_length("the statistics to merge", self.dim, other.dim)?;
        Error::check_length("the outputs to merge", self.outputs(), other.outputs())?;
        self.count += other.count;
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        add(&mut self.gram, &other.gram);
        add(&mut self.moments, &other.moments);
        add(&mut self.squares, &other.squares);
        Ok(())
    }

    /// The sum of several statistics of the same shape.
    pub(crate) fn sum<'a>(
        dim: usize,
        outputs: usize,
        parts: impl IntoIterator<Item = &'a Self>,
    ) -> Result<Self> {
        let mut total = Self::new(dim, outputs);
        for part in parts {
            total.merge(part)?;
        }
        Ok(total)
    }

    /// The statistics of some of the features.
    pub(crate) fn select(&self, columns: std::ops::Range<usize>) -> Result<Self> {
        Error::check_length("the features", self.dim.max(columns.end), self.dim)?;
        let mut part = Self::new(columns.len(), self.outputs());
        let mut next = part.gram.iter_mut();
        for i in columns.clone() {
            let row = &self.gram[packed::len(i)..];
            for (from, to) in row[columns.start..=i].iter().zip(next.by_ref()) {
                *to = *from;
            }
        }
        for output in 0..self.outputs() {
            let moment = &self.cross_moment(output)[columns.clone()];
            part.moments[output * columns.len()..(output + 1) * columns.len()]
                .copy_from_slice(moment);
        }
        part.squares.clone_from(&self.squares);
        part.count = self.count;
        Ok(part)
    }

    /// The statistics of some of the features, in the order given.
    ///
    /// # Errors
    /// A feature that there is not.
    pub(crate) fn pick(&self, columns: &[usize]) -> Result<Self> {
        let last = columns.iter().max().map_or(0, |last| last + 1);
        Error::check_length("the features", self.dim.max(last), self.dim)?;
        let mut part = Self::new(columns.len(), self.outputs());
        let mut next = part.gram.iter_mut();
        for (at, &i) in columns.iter().enumerate() {
            for (&j, to) in columns[..=at].iter().zip(next.by_ref()) {
                *to = self.gram[packed::len(i.max(j)) + i.min(j)];
            }
        }
        for output in 0..self.outputs() {
            let moment = self.cross_moment(output);
            for (at, &i) in columns.iter().enumerate() {
                part.moments[output * columns.len() + at] = moment[i];
            }
        }
        part.squares.clone_from(&self.squares);
        part.count = self.count;
        Ok(part)
    }

    /// The statistics of one output alone.
    pub(crate) fn of_output(&self, output: usize) -> Self {
        Self {
            dim: self.dim,
            count: self.count,
            gram: self.gram.clone(),
            moments: self.cross_moment(output).to_vec(),
            squares: vec![self.squares[output]],
        }
    }

    /// The statistics of `representationᵀ ψ`: a `k × k` Gram matrix and `k`-vectors.
    ///
    /// # Errors
    /// A representation of another number of features.
    pub fn project(&self, representation: MatRef<'_, f64>) -> Result<Self> {
        Error::check_length("the representation", self.dim, representation.nrows())?;
        let gram = self.gram_matrix();
        let half = crate::linalg::product(gram.as_ref(), representation);
        let small = crate::linalg::product(representation.transpose(), half.as_ref());
        let k = representation.ncols();
        let mut out = Self::new(k, self.outputs());
        packed::add_upper(&mut out.gram, small.as_ref());
        for o in 0..self.outputs() {
            let projected = crate::linalg::apply(representation.transpose(), self.cross_moment(o));
            out.moments[o * k..(o + 1) * k].copy_from_slice(&projected);
        }
        out.squares.clone_from(&self.squares);
        out.count = self.count;
        Ok(out)
    }
}

/// `Σ y²`, in several sums at once.
fn sum_of_squares<'a, T: Value + 'a>(values: impl Iterator<Item = &'a T>) -> f64 {
    const LANES: usize = 4;
    let mut sums = [0.0; LANES];
    for (index, &value) in values.enumerate() {
        let value: f64 = value.into();
        sums[index % LANES] += value * value;
    }
    sums.iter().sum()
}
