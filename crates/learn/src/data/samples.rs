//! Rows as they arrive from a task.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A batch of rows from one task: inputs `x`, one or several outputs `y`, and which episode each
/// row belongs to where that is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Samples {
    inputs: Vec<f64>,
    input_dim: usize,
    outputs: Vec<f64>,
    output_dim: usize,
    episodes: Option<Vec<u64>>,
}

/// A batch as a file has it, not checked yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    inputs: Vec<f64>,
    input_dim: usize,
    outputs: Vec<f64>,
    output_dim: usize,
    episodes: Option<Vec<u64>>,
}

impl TryFrom<Raw> for Samples {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        let samples = Self::new(raw.inputs, raw.input_dim, raw.outputs, raw.output_dim)?;
        match raw.episodes {
            Some(episodes) => samples.with_episodes(episodes),
            None => Ok(samples),
        }
    }
}

impl Samples {
    /// Checks and takes a batch: `inputs` is row-major `n × input_dim`, `outputs` row-major
    /// `n × output_dim`.
    ///
    /// # Errors
    /// A length that is no whole number of rows, a different number of rows on the two sides, or
    /// a value that is not finite, named by row and column.
    pub fn new(
        inputs: Vec<f64>,
        input_dim: usize,
        outputs: Vec<f64>,
        output_dim: usize,
    ) -> Result<Self> {
        if input_dim == 0 || output_dim == 0 {
            let key = if input_dim == 0 {
                "input_dim"
            } else {
                "output_dim"
            };
            return Err(Error::setting(
                key,
                "is 0: a sample needs at least one input and one output",
            ));
        }
        let n = outputs.len() / output_dim;
        Error::check_length("the outputs", n * output_dim, outputs.len())?;
        if !inputs.len().is_multiple_of(input_dim) {
            return Err(Error::WrongLength {
                place: format!("input row {}", inputs.len() / input_dim),
                expected: input_dim,
                found: inputs.len() % input_dim,
            });
        }
        Error::check_length("the inputs", n.saturating_mul(input_dim), inputs.len())?;
        let name =
            |kind: &str, dim: usize, i: usize| format!("row {}, {kind} {}", i / dim, i % dim);
        Error::check_finite(&inputs, |i| name("input", input_dim, i))?;
        Error::check_finite(&outputs, |i| name("output", output_dim, i))?;
        Ok(Self {
            inputs,
            input_dim,
            outputs,
            output_dim,
            episodes: None,
        })
    }

    /// Says which episode each row belongs to; the rows of an episode stay in one fold wherever a
    /// batch has at least as many episodes as there are folds.
    ///
    /// # Errors
    /// A number of ids other than the number of rows.
    pub fn with_episodes(mut self, episodes: Vec<u64>) -> Result<Self> {
        Error::check_length("the episode ids", self.len(), episodes.len())?;
        self.episodes = Some(episodes);
        Ok(self)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outputs.len() / self.output_dim
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// Length of an input row.
    #[must_use]
    pub fn input_dim(&self) -> usize {
        self.input_dim
    }

    /// Number of outputs of a row.
    #[must_use]
    pub fn output_dim(&self) -> usize {
        self.output_dim
    }

    /// All inputs, row-major.
    #[must_use]
    pub fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    /// All outputs, row-major.
    #[must_use]
    pub fn outputs(&self) -> &[f64] {
        &self.outputs
    }

    /// The episode of each row, where known.
    #[must_use]
    pub fn episodes(&self) -> Option<&[u64]> {
        self.episodes.as_deref()
    }

    /// The same rows without their episodes.
    pub(crate) fn without_episodes(&self) -> Self {
        Self {
            episodes: None,
            ..self.clone()
        }
    }

    /// Some of the rows, without their episodes.
    pub(crate) fn part(&self, rows: std::ops::Range<usize>) -> Self {
        let (d, m) = (self.input_dim, self.output_dim);
        Self {
            inputs: self.inputs[rows.start * d..rows.end * d].to_vec(),
            outputs: self.outputs[rows.start * m..rows.end * m].to_vec(),
            episodes: None,
            ..*self
        }
    }

    /// Cuts the batch into at most `folds` contiguous blocks of rows, as equal as episodes allow.
    pub(crate) fn blocks(&self, folds: usize) -> Vec<std::ops::Range<usize>> {
        let n = self.len();
        let mut cuts: Vec<usize> = (0..=folds).map(|fold| fold * n / folds.max(1)).collect();
        if let Some(episodes) = &self.episodes {
            let starts: Vec<usize> = (1..n).filter(|&i| episodes[i] != episodes[i - 1]).collect();
            // With fewer episodes than folds, whole episodes would leave folds empty: cut inside.
            if starts.len() + 1 >= folds {
                // Each cut moves to the nearest start that leaves one for every cut after it.
                let mut free = 0;
                for (fold, cut) in cuts.iter_mut().enumerate().take(folds).skip(1) {
                    let end = starts.len() + 1 + fold - folds;
                    if let Some(near) =
                        (free..end).min_by_key(|&start| starts[start].abs_diff(*cut))
                    {
                        *cut = starts[near];
                        free = near + 1;
                    }
                }
            }
        }
        cuts.windows(2)
            .map(|pair| pair[0]..pair[1].max(pair[0]))
            .collect()
    }
}
