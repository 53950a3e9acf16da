//! Rows kept in single precision, for representations that statistics cannot serve.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The rows of a task or of a fold, features and labels, row after row: training gathers whole
/// rows, so a row's features lie together.
///
/// Empty in studies whose trainer works on statistics alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    inputs: Vec<f32>,
    outputs: Vec<f32>,
    count: usize,
}

impl Rows {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Features, row by row.
    #[must_use]
    pub fn inputs(&self) -> &[f32] {
        &self.inputs
    }

    /// Labels, row by row.
    #[must_use]
    pub fn outputs(&self) -> &[f32] {
        &self.outputs
    }

    /// Adds rows of `d` features each.
    pub(super) fn add(&mut self, inputs: &[f64], outputs: &[f64], d: usize) {
        self.inputs.extend(inputs.iter().map(|&value| value as f32));
        self.outputs
            .extend(outputs.iter().map(|&value| value as f32));
        self.count += inputs.len() / d.max(1);
    }

    /// Adds rows that are in single precision already.
    pub(super) fn append(&mut self, more: &Self) {
        self.inputs.extend_from_slice(&more.inputs);
        self.outputs.extend_from_slice(&more.outputs);
        self.count += more.count;
    }

    /// Some of the rows, of `d` features and so many outputs each.
    pub(super) fn part(&self, rows: std::ops::Range<usize>, d: usize, outputs: usize) -> Self {
        Self {
            inputs: self.inputs[rows.start * d..rows.end * d].to_vec(),
            outputs: self.outputs[rows.start * outputs..rows.end * outputs].to_vec(),
            count: rows.len(),
        }
    }

    /// Chunks of rows in double precision: features and labels.
    pub(crate) fn chunks(
        &self,
        rows: usize,
        d: usize,
        outputs: usize,
    ) -> impl Iterator<Item = (Vec<f64>, Vec<f64>)> + '_ {
        let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect();
        self.inputs
            .chunks(rows * d.max(1))
            .zip(self.outputs.chunks(rows * outputs.max(1)))
            .map(move |(x, y)| (wide(x), wide(y)))
    }

    /// Whether it has the shape it claims, for rows that came from a file.
    pub(super) fn validate(&self, place: &str, d: usize, outputs: usize) -> Result<()> {
        Error::check_length(
            &format!("the kept inputs of {place}"),
            self.count.saturating_mul(d),
            self.inputs.len(),
        )?;
        Error::check_length(
            &format!("the kept outputs of {place}"),
            self.count.saturating_mul(outputs),
            self.outputs.len(),
        )?;
        let values = self.inputs.iter().chain(&self.outputs);
        match values.copied().find(|value| !value.is_finite()) {
            Some(value) => Err(Error::NotFinite {
                place: format!("a kept value of {place}"),
                value: f64::from(value),
            }),
            None => Ok(()),
        }
    }
}
