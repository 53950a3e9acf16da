//! Parts side by side: a task is one task of each part, joined.
//!
//! A drone and a wind are `one-hot × box`. Where all parts are finite and have at most a million
//! combinations, the product is finite too: its tasks are listed with the last part varying
//! fastest.
//!
//! ```
//! use taskscout::space::{Space, TaskSpace};
//! let drone = Space::one_hot(2)?;
//! let wind = Space::boxed(vec![0.0], vec![12.1])?;
//! let space = Space::product(vec![drone, wind])?;
//! assert!(space.contains(&[0.0, 1.0, 6.1]));
//! let why = space.check(&[0.0, 1.0, 13.1]).unwrap_err().to_string();
//! assert!(why.contains("part 1: parameter 0 is 13.1, which exceeds its upper bound 12.1 by 1"));
//! # Ok::<(), taskscout::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::region::{Leaf, Listing, Region, RegionPart, intersect};
use super::{MAX_DIM, Space, check_dim};
use crate::error::{Error, Result};
use crate::rng::Rng;

/// Most combinations of finite parts that are listed.
const MAX_COMBINATIONS: usize = 1_000_000;

/// Spaces side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Product {
    parts: Vec<Space>,
    dim: usize,
    /// Number of combinations, where they can be listed.
    count: Option<usize>,
}

impl Product {
    /// The product of at least one part.
    pub fn new(parts: Vec<Space>) -> Result<Self> {
        if parts.is_empty() {
            let problem = "is empty: a product needs at least one part";
            return Err(Error::setting("parts", problem));
        }
        let dims = parts.iter().map(|part| part.region().dim());
        let dim = dims.fold(0, usize::saturating_add);
        check_dim("parts", dim, MAX_DIM)?;
        let count = parts.iter().try_fold(1_usize, |count, part| {
            let count = count.checked_mul(part.count()?)?;
            (count <= MAX_COMBINATIONS).then_some(count)
        });
        Ok(Self { parts, dim, count })
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> &[Space] {
        &self.parts
    }

    /// The parts with the range of their parameters.
    fn ranges(&self) -> impl Iterator<Item = (std::ops::Range<usize>, &dyn Region)> {
        self.parts.iter().scan(0, |start, part| {
            let region = part.region();
            let range = *start..*start + region.dim();
            *start = range.end;
            Some((range, region))
        })
    }
}

impl Listing for Product {
    fn count(&self) -> usize {
        self.count.unwrap_or(0)
    }

    fn width(&self) -> usize {
        self.dim
    }

    fn write(&self, mut index: usize, task: &mut [f64]) {
        let mut end = self.dim;
        for part in self.parts.iter().rev() {
            if let Some(listing) = part.region().listing() {
                let start = end - listing.width();
                listing.write(index % listing.count(), &mut task[start..end]);
                index /= listing.count();
                end = start;
            }
        }
    }

    fn index_of(&self, task: &[f64]) -> Option<usize> {
        if task.len() != self.dim {
            return None;
        }
        self.ranges().try_fold(0, |index, (range, part)| {
            let listing = part.listing()?;
            Some(index * listing.count() + listing.index_of(&task[range])?)
        })
    }
}

impl Region for Product {
    fn dim(&self) -> usize {
        self.dim
    }

    fn holds(&self, task: &[f64]) -> bool {
        self.ranges().all(|(range, part)| part.holds(&task[range]))
    }

    fn breach(&self, task: &[f64]) -> Option<String> {
        self.ranges()
            .enumerate()
            .find_map(|(index, (range, part))| {
                let reason = part.breach(&task[range])?;
                Some(format!("part {index}: {reason}"))
            })
    }

    fn draw(&self, rng: &mut Rng, task: &mut [f64]) -> Result<()> {
        self.ranges()
            .try_for_each(|(range, part)| part.draw(rng, &mut task[range]))
    }

    fn listing(&self) -> Option<&dyn Listing> {
        self.count.is_some().then_some(self)
    }

    fn settle(&self, task: &mut [f64]) -> bool {
        self.ranges().fold(true, |inside, (range, part)| {
            part.settle(&mut task[range]) && inside
        })
    }

    fn chord(&self, task: &[f64], direction: &[f64]) -> (f64, f64) {
        let all = (f64::NEG_INFINITY, f64::INFINITY);
        self.ranges().fold(all, |inside, (range, part)| {
            intersect(inside, part.chord(&task[range.clone()], &direction[range]))
        })
    }

    fn leaves<'a>(&'a self, start: usize, leaves: &mut Vec<Leaf<'a>>) {
        if self.count.is_some() {
            let part = RegionPart::Finite(self);
            leaves.push(Leaf { start, part });
            return;
        }
        for (range, part) in self.ranges() {
            part.leaves(start + range.start, leaves);
        }
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    parts: Vec<Space>,
}

impl TryFrom<Raw> for Product {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.parts)
    }
}

impl From<Product> for Raw {
    fn from(space: Product) -> Self {
        Self { parts: space.parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::TaskSpace as _;

    #[test]
    fn a_finite_product_is_listed_last_part_fastest() {
        let list = Space::list(&[vec![5.0], vec![7.0]]).unwrap();
        let space = Space::product(vec![list, Space::one_hot(2).unwrap()]).unwrap();
        let expected = [
            [5.0, 1.0, 0.0],
            [5.0, 0.0, 1.0],
            [7.0, 1.0, 0.0],
            [7.0, 0.0, 1.0],
        ];
        assert_eq!(space.tasks().unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_listed_is_not() {
        let ten = Space::one_hot(10).unwrap();
        let six = Space::product(vec![ten.clone(); 6]).unwrap();
        assert_eq!(six.count(), Some(1_000_000));
        let seven = Space::product(vec![ten.clone(); 7]).unwrap();
        assert_eq!(seven.count(), None);
        let mixed = Space::product(vec![ten, Space::ball(2, 1.0).unwrap()]).unwrap();
        assert!(mixed.tasks().is_none());
        let message = Space::product(vec![]).unwrap_err().to_string();
        assert!(message.contains("`parts` is empty"), "{message}");
    }
}
