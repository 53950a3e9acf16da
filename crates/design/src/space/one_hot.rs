//! Unit vectors: a task is one of `size` kinds, with nothing else known about it.
//!
//! With identity features the best atom is the largest diagonal entry of `H`.
//!
//! ```
//! use taskscout::space::{Space, TaskSpace};
//! let space = Space::one_hot(3)?;
//! assert!(space.contains(&[0.0, 1.0, 0.0]));
//! assert!(!space.contains(&[0.5, 0.5, 0.0]));
//! assert_eq!(space.tasks().map(|tasks| tasks.len()), Some(3));
//! # Ok::<(), taskscout::Error>(())
//! ```

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::region::{Leaf, Listing, Region, RegionPart, TOLERANCE, brief};
use super::{Atom, QuadraticForm, check_dim};
use crate::error::{Error, Result};
use crate::rng::Rng;

/// Most kinds: a quadratic form over them fills a gigabyte.
const MAX_SIZE: usize = 10_000;

/// The unit vectors of `size` parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct OneHot {
    size: usize,
}

impl OneHot {
    /// `size` kinds of task, at most 10,000.
    pub fn new(size: usize) -> Result<Self> {
        check_dim("size", size, MAX_SIZE)?;
        Ok(Self { size })
    }

    /// Number of kinds, which is also the number of parameters.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The best atom for identity features: the form at unit vector `i` is `H_ii`.
    pub(super) fn largest_diagonal(&self, form: &QuadraticForm<'_>) -> Atom {
        let mut best = 0;
        for index in 1..self.size {
            if form.matrix[(index, index)] > form.matrix[(best, best)] {
                best = index;
            }
        }
        let mut task = vec![0.0; self.size];
        self.write(best, &mut task);
        Atom {
            task,
            value: form.matrix[(best, best)],
            exact: true,
        }
    }
}

impl Listing for OneHot {
    fn count(&self) -> usize {
        self.size
    }

    fn width(&self) -> usize {
        self.size
    }

    fn write(&self, index: usize, task: &mut [f64]) {
        task.fill(0.0);
        task[index] = 1.0;
    }

    fn index_of(&self, task: &[f64]) -> Option<usize> {
        let inside = task.len() == self.size && self.breach(task).is_none();
        task.iter()
            .position(|&value| value > 0.5)
            .filter(|_| inside)
    }
}

impl Region for OneHot {
    fn dim(&self) -> usize {
        self.size
    }

    fn breach(&self, task: &[f64]) -> Option<String> {
        let is = |value: f64, wanted: f64| (value - wanted).abs() <= TOLERANCE;
        let odd = task.iter().position(|&v| !is(v, 0.0) && !is(v, 1.0));
        if let Some(index) = odd {
            let value = brief(task[index]);
            return Some(format!(
                "parameter {index} is {value}, where a one-hot task has only zeros and a single 1"
            ));
        }
        let ones = task.iter().filter(|&&value| is(value, 1.0)).count();
        (ones != 1).then(|| format!("it has {ones} ones, where a one-hot task has a single 1"))
    }

    fn draw(&self, rng: &mut Rng, task: &mut [f64]) -> Result<()> {
        self.write(rng.random_range(0..self.size), task);
        Ok(())
    }

    fn listing(&self) -> Option<&dyn Listing> {
        Some(self)
    }

    fn settle(&self, _task: &mut [f64]) -> bool {
        true
    }

    fn chord(&self, _task: &[f64], _direction: &[f64]) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn leaves<'a>(&'a self, start: usize, leaves: &mut Vec<Leaf<'a>>) {
        let part = RegionPart::Finite(self);
        leaves.push(Leaf { start, part });
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    size: usize,
}

impl TryFrom<Raw> for OneHot {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.size)
    }
}

impl From<OneHot> for Raw {
    fn from(space: OneHot) -> Self {
        Self { size: space.size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_one_hot_is_told_why() {
        let space = OneHot::new(3).unwrap();
        assert!(space.breach(&[0.0, 1.0 - 1e-12, 1e-12]).is_none());
        for (task, expected) in [
            ([0.0, 0.0, 0.0], "it has 0 ones"),
            ([1.0, 1.0, 0.0], "it has 2 ones"),
            ([0.0, -1.0, 0.0], "parameter 1 is -1"),
        ] {
            let reason = space.breach(&task).unwrap();
            assert!(reason.contains(expected), "{reason}");
        }
        let message = OneHot::new(0).unwrap_err().to_string();
        assert!(message.contains("`size` is 0"), "{message}");
    }
}
