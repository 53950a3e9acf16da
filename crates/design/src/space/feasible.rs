//! What constraints leave of a space: found once, when the space is made, and drawn from.
//!
//! Over a continuous base, draws are uniform by rejection. Where rejection would be slow they come
//! from hit-and-run (Smith 1984): from a task inside, move to a uniform point of a random line's
//! stretch inside, again and again. Its stationary distribution is the uniform one.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::constrained::{Constrained, LinearConstraint};
use super::region::{Leaf, Region, RegionPart, leaves, widths};
use crate::error::{Error, Result};
use crate::linalg;
use crate::rng::{Purpose, Rng, derive};

/// Draws from the base in search of a task that the constraints allow.
const TRIES: usize = 256;

/// Starts of alternating projections, where no draw was allowed.
const STARTS: usize = 64;

/// What the constraints leave.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Feasible {
    /// These tasks of a finite base.
    Tasks(Vec<usize>),
    /// A part of a continuous base.
    Anchor {
        /// A task in it.
        task: Vec<f64>,
        /// Whether enough draws from the base are allowed for rejection to be fast.
        rejection: bool,
        /// An orthonormal basis of the directions that equalities forbid.
        forbidden: Vec<Vec<f64>>,
    },
}

/// Finds what the constraints leave, or says that it is nothing.
pub(super) fn find(space: &Constrained) -> Result<Feasible> {
    let base = space.base().region();
    let mut task = vec![0.0; base.dim()];
    if let Some(listing) = base.listing() {
        let allowed = |&index: &usize| {
            listing.write(index, &mut task);
            space.allows(&task)
        };
        let tasks: Vec<usize> = (0..listing.count()).filter(allowed).collect();
        if tasks.is_empty() {
            return Err(nothing_left(format!(
                "allow none of the {} tasks of the base: loosen a bound",
                listing.count()
            )));
        }
        return Ok(Feasible::Tasks(tasks));
    }
    let mut rng = derive(0, Purpose::Search, &[]);
    let mut allowed = 0;
    let mut anchor = None;
    for _ in 0..TRIES {
        base.draw(&mut rng, &mut task)?;
        if space.allows(&task) {
            allowed += 1;
            anchor.get_or_insert_with(|| task.clone());
        }
    }
    for _ in 0..STARTS {
        if anchor.is_some() {
            break;
        }
        base.draw(&mut rng, &mut task)?;
        if space.settle(&mut task) {
            anchor = Some(task.clone());
        }
    }
    let Some(task) = anchor else {
        return Err(nothing_left(format!(
            "leave no task that {TRIES} draws and {STARTS} projections could find: check that they can hold together, or loosen a bound"
        )));
    };
    Ok(Feasible::Anchor {
        task,
        rejection: allowed >= TRIES / 64,
        forbidden: forbidden(space),
    })
}

fn nothing_left(problem: String) -> Error {
    Error::setting("constraints", problem)
}

/// Directions in which no task can move, because two opposite constraints make an equality.
fn forbidden(space: &Constrained) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let constraints = space.constraints();
    let widths = widths(space.base().region());
    for (index, one) in constraints.iter().enumerate() {
        let opposite = |other: &LinearConstraint| {
            let scale = linalg::norm(&one.normal) / linalg::norm(&other.normal);
            let pairs = one.normal.iter().zip(&other.normal);
            let apart = pairs.map(|(a, b)| (a + scale * b).abs()).sum::<f64>();
            let gap = (one.bound + scale * other.bound).abs();
            let size = linalg::norm(&one.normal);
            apart <= 1e-12 * size && gap <= 1e-12 * one.bound.abs()
        };
        if constraints[index + 1..].iter().any(opposite) {
            // What cannot vary is no part of a direction.
            let varies = one.normal.iter().zip(&widths);
            let mut normal: Vec<f64> = varies
                .map(|(value, width)| if *width > 0.0 { *value } else { 0.0 })
                .collect();
            let size = linalg::norm(&normal);
            remove(&basis, &mut normal);
            let length = linalg::norm(&normal);
            if length > 1e-9 * size {
                normal.iter_mut().for_each(|value| *value /= length);
                basis.push(normal);
            }
        }
    }
    basis
}

/// Removes the components along an orthonormal basis.
fn remove(basis: &[Vec<f64>], vector: &mut [f64]) {
    for unit in basis {
        let along = linalg::dot(unit, vector);
        for (value, unit) in vector.iter_mut().zip(unit) {
            *value -= along * unit;
        }
    }
}

/// Draws a task uniformly from what the constraints leave.
pub(super) fn draw(space: &Constrained, rng: &mut Rng, task: &mut [f64]) -> Result<()> {
    const MAX_REJECTIONS: usize = 2000;
    let base = space.base().region();
    match space.feasible() {
        Feasible::Tasks(rows) => {
            let row = rows[rng.random_range(0..rows.len())];
            if let Some(listing) = base.listing() {
                listing.write(row, task);
            }
        }
        Feasible::Anchor {
            task: anchor,
            rejection,
            forbidden,
        } => {
            let tries = if *rejection { MAX_REJECTIONS } else { 0 };
            for _ in 0..tries {
                base.draw(rng, task)?;
                if space.allows(task) {
                    return Ok(());
                }
            }
            task.copy_from_slice(anchor);
            hit_and_run(space, forbidden, rng, task);
        }
    }
    Ok(())
}

/// Walks from a task in the space to one that hardly depends on it.
fn hit_and_run(space: &Constrained, forbidden: &[Vec<f64>], rng: &mut Rng, task: &mut [f64]) {
    let base = space.base().region();
    let (widths, parts) = (widths(base), leaves(base));
    let steps = (100 + 20 * widths.len()).min(5000);
    let mut next = task.to_vec();
    for _ in 0..steps {
        let mut direction: Vec<f64> = widths
            .iter()
            .map(|width| {
                let normal: f64 = StandardNormal.sample(rng);
                width * normal
            })
            .collect();
        remove(forbidden, &mut direction);
        let (low, high) = space.chord(task, &direction);
        if low < high && (high - low).is_finite() {
            let t = low + (high - low) * rng.random::<f64>();
            let moved = task.iter().zip(&direction).map(|(w, d)| w + t * d);
            next.iter_mut().zip(moved).for_each(|(next, w)| *next = w);
            accept_inside(space, &next, task);
        }
        // The finite parts take part too: a fresh choice, kept where the constraints allow it.
        next.copy_from_slice(task);
        for Leaf { start, part } in &parts {
            if let RegionPart::Finite(listing) = part {
                let choice = rng.random_range(0..listing.count());
                listing.write(choice, &mut next[*start..*start + listing.width()]);
            }
        }
        accept_inside(space, &next, task);
    }
}

/// Takes the next task of a walk if it is in the space.
fn accept_inside(space: &Constrained, next: &[f64], task: &mut [f64]) {
    if space.holds(next) {
        task.copy_from_slice(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{LinearConstraint, Space, TaskSpace as _};

    fn constraint(normal: &[f64], bound: f64) -> LinearConstraint {
        LinearConstraint {
            normal: normal.to_vec(),
            bound,
        }
    }

    /// The mean of many samples, all checked to lie in the space.
    fn mean(space: &Space, samples: usize) -> Vec<f64> {
        let mut rng = derive(1, Purpose::Plan, &[]);
        let mut mean = vec![0.0; space.dim()];
        for _ in 0..samples {
            let task = space.sample(&mut rng).unwrap();
            space.check(&task).unwrap();
            for (mean, value) in mean.iter_mut().zip(task) {
                *mean += value / samples as f64;
            }
        }
        mean
    }

    fn anchor(space: &Space) -> (bool, usize) {
        let Space::Constrained(space) = space else {
            panic!("not constrained")
        };
        match space.feasible() {
            Feasible::Anchor {
                rejection,
                forbidden,
                ..
            } => (*rejection, forbidden.len()),
            Feasible::Tasks(_) => panic!("finite"),
        }
    }

    #[test]
    fn a_simplex_is_sampled_evenly() {
        // Four shares that sum to one: rejection never hits, hit-and-run stays on the plane.
        let cube = Space::boxed(vec![0.0; 4], vec![1.0; 4]).unwrap();
        let sum = [constraint(&[1.0; 4], 1.0), constraint(&[-2.0; 4], -2.0)];
        let space = Space::constrained(cube, sum.to_vec()).unwrap();
        assert_eq!(anchor(&space), (false, 1));
        // A share has mean 1/4 and standard deviation √(3/80) = 0.19.
        for share in mean(&space, 600) {
            assert!(
                (share - 0.25).abs() < 5.0 * 0.19 / 600_f64.sqrt(),
                "{share}"
            );
        }
    }

    #[test]
    fn a_thin_cap_of_a_ball_is_sampled_inside() {
        let cap = vec![constraint(&[-1.0, 0.0, 0.0, 0.0, 0.0], -0.9)];
        let space = Space::constrained(Space::ball(5, 1.0).unwrap(), cap).unwrap();
        assert_eq!(anchor(&space), (false, 0));
        let mean = mean(&space, 300);
        assert!(mean[0] > 0.9 && mean[0] < 0.95, "{mean:?}");
        assert!(mean[1].abs() < 0.08, "{mean:?}");
    }

    #[test]
    fn a_large_share_is_sampled_by_rejection() {
        let half = vec![constraint(&[1.0, 0.0], 0.0)];
        let square = Space::boxed(vec![-1.0; 2], vec![1.0; 2]).unwrap();
        let space = Space::constrained(square, half).unwrap();
        assert_eq!(anchor(&space), (true, 0));
        let mean = mean(&space, 1000);
        // Uniform on [−1, 0]: standard deviation 0.29.
        assert!((mean[0] + 0.5).abs() < 0.05, "{mean:?}");
    }

    #[test]
    fn hit_and_run_changes_categories() {
        // Category 0 allows w ≤ 0.001, category 1 w ≤ 0.003: sampled one to three.
        let wind = Space::boxed(vec![0.0], vec![1.0]).unwrap();
        let base = Space::product(vec![Space::one_hot(2).unwrap(), wind]).unwrap();
        let cut = vec![constraint(&[0.0, -0.002, 1.0], 0.001)];
        let space = Space::constrained(base, cut).unwrap();
        assert_eq!(anchor(&space), (false, 0));
        let mean = mean(&space, 600);
        assert!((mean[1] - 0.75).abs() < 0.1, "{mean:?}");
    }

    #[test]
    fn what_cannot_hold_is_refused() {
        let refused = |base: Space, constraints: Vec<LinearConstraint>| {
            let error = Space::constrained(base, constraints).unwrap_err();
            error.to_string()
        };
        let ball = || Space::ball(2, 1.0).unwrap();
        let message = refused(ball(), vec![constraint(&[1.0, 0.0], -2.0)]);
        assert!(message.contains("`constraints` leave no task"), "{message}");
        let list = Space::list(&[vec![1.0], vec![2.0]]).unwrap();
        let message = refused(list, vec![constraint(&[1.0], 0.5)]);
        assert!(message.contains("allow none of the 2 tasks"), "{message}");
        let message = refused(ball(), vec![]);
        assert!(message.contains("`constraints` is empty"), "{message}");
        let message = refused(ball(), vec![constraint(&[1.0], 0.5)]);
        assert!(
            message.contains("`constraints` 0, normal has 1 values where 2"),
            "{message}"
        );
        let message = refused(ball(), vec![constraint(&[0.0, 0.0], 0.5)]);
        assert!(message.contains("normal of zeros"), "{message}");
        let message = refused(ball(), vec![constraint(&[1.0, 0.0], f64::NAN)]);
        assert!(
            message.contains("`constraints` 0, bound is NaN"),
            "{message}"
        );
    }
}
