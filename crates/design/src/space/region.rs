//! What every space gives the rest of this module: how to test, draw, list and move its tasks.
//!
//! The search needs only a small notion of moving inside a space: [`Region::leaves`] says which
//! parameters vary continuously and how widely, [`Region::settle`] brings a moved task back, and
//! [`Region::chord`] says how far a line stays inside.

use std::ops::Range;

use super::{AxisBox, Ball};
use crate::error::Result;
use crate::rng::Rng;
use crate::task::TaskId;

/// Relative tolerance of every bound, above rounding and below anything a user means.
pub(super) const TOLERANCE: f64 = 1e-9;

/// Tasks that can be listed.
pub(super) trait Listing: Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// Number of parameters of each.
    fn width(&self) -> usize;

    /// Writes one of them.
    fn write(&self, index: usize, task: &mut [f64]);

    /// What distinguishes one of them from the others.
    fn id(&self, index: usize) -> TaskId {
        TaskId::row(index)
    }

    /// The first of them with the parameters of a task, up to rounding.
    fn index_of(&self, task: &[f64]) -> Option<usize>;

    /// Several in a row, where they lie in memory like that.
    fn rows(&self, _range: Range<usize>) -> Option<&[f64]> {
        None
    }
}

/// A set of tasks. Slices always have the dimension of the region and finite values.
pub(super) trait Region: Sync {
    /// Number of parameters of a task.
    fn dim(&self) -> usize;

    /// Which bound a task breaks and by how much, if it does.
    fn breach(&self, task: &[f64]) -> Option<String>;

    /// Whether a task breaks no bound; searches ask this often, and want no message.
    fn holds(&self, task: &[f64]) -> bool {
        self.breach(task).is_none()
    }

    /// Writes a task drawn uniformly.
    fn draw(&self, rng: &mut Rng, task: &mut [f64]) -> Result<()>;

    /// The tasks, where they can be listed.
    fn listing(&self) -> Option<&dyn Listing> {
        None
    }

    /// Brings the continuous parameters back inside, leaving the discrete ones, which are valid,
    /// as they are. Says whether the task is now in the region.
    fn settle(&self, task: &mut [f64]) -> bool;

    /// The interval of `t` for which `task + t · direction` stays inside. The direction is zero in
    /// discrete parameters and in those that cannot vary.
    fn chord(&self, task: &[f64], direction: &[f64]) -> (f64, f64);

    /// Appends the elementary parts; the first parameter has index `start`.
    fn leaves<'a>(&'a self, start: usize, leaves: &mut Vec<Leaf<'a>>);
}

/// An elementary part of a space and where its parameters begin.
pub(super) struct Leaf<'a> {
    pub(super) start: usize,
    pub(super) part: RegionPart<'a>,
}

/// The kinds of elementary part.
pub(super) enum RegionPart<'a> {
    Ball(&'a Ball),
    Box(&'a AxisBox),
    Finite(&'a dyn Listing),
}

/// The elementary parts of a region.
pub(super) fn leaves(region: &dyn Region) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    region.leaves(0, &mut found);
    found
}

/// How widely each parameter varies; zero where it is discrete or fixed.
pub(super) fn widths(region: &dyn Region) -> Vec<f64> {
    let mut widths = vec![0.0; region.dim()];
    for Leaf { start, part } in leaves(region) {
        match part {
            RegionPart::Ball(ball) => widths[start..start + ball.dim()].fill(2.0 * ball.radius()),
            RegionPart::Box(space) => {
                for (index, (low, high)) in space.low().iter().zip(space.high()).enumerate() {
                    widths[start + index] = high - low;
                }
            }
            RegionPart::Finite(_) => {}
        }
    }
    widths
}

/// Between which numbers each parameter lies; no bounds where it is discrete.
pub(super) fn bounds(region: &dyn Region) -> Vec<(f64, f64)> {
    let mut bounds = vec![(f64::NEG_INFINITY, f64::INFINITY); region.dim()];
    for Leaf { start, part } in leaves(region) {
        match part {
            RegionPart::Ball(ball) => {
                bounds[start..start + ball.dim()].fill((-ball.radius(), ball.radius()));
            }
            RegionPart::Box(space) => {
                for (index, (&low, &high)) in space.low().iter().zip(space.high()).enumerate() {
                    bounds[start + index] = (low, high);
                }
            }
            RegionPart::Finite(_) => {}
        }
    }
    bounds
}

/// The intersection of two intervals.
pub(super) fn intersect(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.max(b.0), a.1.min(b.1))
}

/// A task in a message: its first four values.
pub(super) fn shorten(task: &[f64]) -> String {
    let mut shown: Vec<String> = task.iter().take(4).map(|&value| brief(value)).collect();
    if task.len() > shown.len() {
        shown.push("…".to_owned());
    }
    format!("[{}]", shown.join(", "))
}

/// A number in a message: six significant digits.
pub(super) fn brief(value: f64) -> String {
    let rounded = format!("{value:.5e}").parse().unwrap_or(value);
    if value == 0.0 || (1e-4..1e7).contains(&value.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_short() {
        assert_eq!(shorten(&[0.1, -2.0]), "[0.1, -2]");
        assert_eq!(
            shorten(&[1.0 / 3.0, 0.0, 1e-12, 1e9, 5.0]),
            "[0.333333, 0, 1e-12, 1e9, …]"
        );
    }
}
