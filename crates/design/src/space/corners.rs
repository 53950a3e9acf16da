//! Corners of boxes, alone or beside finite parts.
//!
//! For identity features and `H ⪰ 0` the form is convex in the continuous parameters, so for each
//! choice of the finite parts its maximum is at a corner. Few enough corners are scanned.

use super::region::{Leaf, Listing, RegionPart, leaves};
use super::{Atom, AxisBox, QuadraticForm, Space, exhaustive};
use crate::error::Result;
use crate::linalg;
use crate::space::TaskSpace as _;

/// Most corners that are scanned: a box of 16 parameters.
const MAX_CORNERS: usize = 1 << 16;

/// The best atom for identity features, if the form is convex and the space has few corners.
pub(super) fn best(space: &Space, form: &QuadraticForm<'_>) -> Result<Option<Atom>> {
    let Some(corners) = Corners::new(space) else {
        return Ok(None);
    };
    let (values, _) = linalg::eigen(form.matrix, "a quadratic form")?;
    let largest = values
        .iter()
        .fold(0.0_f64, |top, value| top.max(value.abs()));
    let convex = values.iter().all(|&value| value >= -1e-12 * largest);
    if !convex {
        return Ok(None);
    }
    // Constraints inside a product are not seen here: a corner that they allow is still the best,
    // one that they forbid says nothing.
    let atom = exhaustive::best(&corners, form)?;
    Ok(space.contains(&atom.task).then_some(atom))
}

/// The corners of a space, listed in mixed radix.
struct Corners<'a> {
    width: usize,
    count: usize,
    parts: Vec<(usize, Choices<'a>)>,
}

/// What one elementary part contributes.
enum Choices<'a> {
    Corners(&'a AxisBox, Vec<usize>),
    Tasks(&'a dyn Listing),
}

impl<'a> Corners<'a> {
    /// Lists the corners, unless a part has none or there are too many.
    fn new(space: &'a Space) -> Option<Self> {
        let mut count = 1_usize;
        let mut parts = Vec::new();
        for Leaf { start, part } in leaves(space.region()) {
            let choices = match part {
                RegionPart::Ball(_) => return None,
                RegionPart::Box(space) => Choices::Corners(space, space.free()),
                RegionPart::Finite(listing) => Choices::Tasks(listing),
            };
            count = choices.count()?.checked_mul(count)?;
            if count > MAX_CORNERS {
                return None;
            }
            parts.push((start, choices));
        }
        Some(Self {
            width: space.dim(),
            count,
            parts,
        })
    }
}

impl Choices<'_> {
    fn count(&self) -> Option<usize> {
        match self {
            Self::Corners(_, free) => 1_usize.checked_shl(u32::try_from(free.len()).ok()?),
            Self::Tasks(listing) => Some(listing.count()),
        }
    }

    fn write(&self, index: usize, task: &mut [f64]) {
        match self {
            Self::Tasks(listing) => listing.write(index, &mut task[..listing.width()]),
            Self::Corners(space, free) => {
                task[..space.low().len()].copy_from_slice(space.low());
                for (bit, &parameter) in free.iter().enumerate() {
                    if index >> bit & 1 == 1 {
                        task[parameter] = space.high()[parameter];
                    }
                }
            }
        }
    }
}

impl Listing for Corners<'_> {
    fn count(&self) -> usize {
        self.count
    }

    fn width(&self) -> usize {
        self.width
    }

    fn write(&self, mut index: usize, task: &mut [f64]) {
        for (start, choices) in &self.parts {
            let count = choices.count().unwrap_or(1);
            choices.write(index % count, &mut task[*start..]);
            index /= count;
        }
    }

    fn index_of(&self, task: &[f64]) -> Option<usize> {
        let mut corner = vec![0.0; self.width];
        (0..self.count).find(|&index| {
            self.write(index, &mut corner);
            corner == task
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_a_box_beside_categories() {
        let boxed = Space::boxed(vec![-1.0, 3.0, 0.0], vec![1.0, 3.0, 2.0]).unwrap();
        let space = Space::product(vec![Space::one_hot(2).unwrap(), boxed]).unwrap();
        let corners = Corners::new(&space).unwrap();
        assert_eq!(corners.count(), 8);
        let mut all = std::collections::BTreeSet::new();
        for index in 0..8 {
            let mut task = vec![f64::NAN; 5];
            corners.write(index, &mut task);
            assert!(space.contains(&task), "{task:?}");
            all.insert(format!("{task:?}"));
        }
        assert_eq!(all.len(), 8);
    }

    #[test]
    fn too_many_corners_are_not_listed() {
        let cube = |dim: usize| Space::boxed(vec![0.0; dim], vec![1.0; dim]).unwrap();
        assert!(Corners::new(&cube(16)).is_some());
        assert!(Corners::new(&cube(17)).is_none());
        assert!(Corners::new(&cube(200)).is_none());
        assert!(Corners::new(&Space::ball(2, 1.0).unwrap()).is_none());
    }
}
