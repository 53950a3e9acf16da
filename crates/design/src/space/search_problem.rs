//! A space, an objective over it, and the moves that a search makes there.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};
use rayon::prelude::*;

use super::Space;
use super::region::{Leaf, Listing, Region, RegionPart, leaves, widths};
use crate::error::Result;
use crate::rng::Rng;

/// Writes the objective of each task of a batch (row-major).
pub(super) type Objective<'a> = dyn Fn(&[f64], &mut [f64]) + Sync + 'a;

/// A task and its objective; lower is better.
#[derive(Debug, Clone)]
pub(super) struct SearchPoint {
    pub(super) task: Vec<f64>,
    pub(super) value: f64,
}

/// A space, an objective over it, and what moving in the space needs to know.
pub(super) struct SearchProblem<'a> {
    region: &'a dyn Region,
    objective: &'a Objective<'a>,
    /// How widely each parameter varies; zero where it is discrete or fixed.
    pub(super) widths: Vec<f64>,
    /// The finite parts and where their parameters begin.
    pub(super) finite: Vec<(usize, &'a dyn Listing)>,
}

impl<'a> SearchProblem<'a> {
    pub(super) fn new(space: &'a Space, objective: &'a Objective<'a>) -> Self {
        let region = space.region();
        let finite = |leaf| match leaf {
            Leaf {
                start,
                part: RegionPart::Finite(listing),
            } => Some((start, listing)),
            _ => None,
        };
        Self {
            region,
            objective,
            widths: widths(region),
            finite: leaves(region).into_iter().filter_map(finite).collect(),
        }
    }

    /// A random task, in one category if that is given, whose continuous parameters come from a
    /// hint if there is one; nothing if they cannot be brought into the space together.
    pub(super) fn draw(
        &self,
        category: Option<usize>,
        hint: Option<&Vec<f64>>,
        rng: &mut Rng,
    ) -> Result<Option<Vec<f64>>> {
        let mut task = vec![0.0; self.region.dim()];
        self.region.draw(rng, &mut task)?;
        if let Some(hint) = hint {
            let values = task.iter_mut().zip(hint).zip(&self.widths);
            let free = values.filter(|(_, width)| **width > 0.0);
            free.for_each(|((value, hint), _)| *value = *hint);
        }
        if let Some(category) = category {
            self.set_category(category, &mut task);
        }
        Ok(self.settled(task))
    }

    /// The task brought into the space by moving its continuous parameters, if that succeeds.
    pub(super) fn settled(&self, mut task: Vec<f64>) -> Option<Vec<f64>> {
        self.region.settle(&mut task).then_some(task)
    }

    /// A task near another: all continuous parameters moved a little, or some of them further.
    pub(super) fn perturb(
        &self,
        centre: &[f64],
        scale: f64,
        dense: bool,
        same_category: bool,
        rng: &mut Rng,
    ) -> Vec<f64> {
        let mut task = centre.to_vec();
        let free = self.widths.iter().filter(|&&width| width > 0.0).count();
        // In many dimensions a move of every parameter is long, so each part of it is shorter.
        let (share, size) = if dense {
            (1.0, scale / (free.max(1) as f64).sqrt())
        } else {
            (0.3_f64.max(1.0 / free.max(1) as f64), scale)
        };
        for (value, &width) in task.iter_mut().zip(&self.widths) {
            if width > 0.0 && rng.random::<f64>() < share {
                let normal: f64 = StandardNormal.sample(rng);
                *value += size * width * normal;
            }
        }
        let mut moved = false;
        if !same_category {
            let chance = if free > 0 { 0.1 } else { 0.5 };
            for &(start, listing) in &self.finite {
                if rng.random::<f64>() < chance {
                    let choice = rng.random_range(0..listing.count());
                    listing.write(choice, &mut task[start..start + listing.width()]);
                    moved = true;
                }
            }
        }
        self.retract(centre, task, moved)
    }

    /// Brings a task that was moved from `centre` back into the space: by projection, else, where
    /// the finite parts are the same, along the line to the centre, else by staying there.
    pub(super) fn retract(
        &self,
        centre: &[f64],
        mut task: Vec<f64>,
        recategorised: bool,
    ) -> Vec<f64> {
        if self.region.settle(&mut task) {
            return task;
        }
        if !recategorised {
            let direction: Vec<f64> = task.iter().zip(centre).map(|(w, c)| w - c).collect();
            let (_, end) = self.region.chord(centre, &direction);
            let t = end.clamp(0.0, 1.0) * (1.0 - 1e-12);
            for (value, (c, d)) in task.iter_mut().zip(centre.iter().zip(&direction)) {
                *value = c + t * d;
            }
            if self.region.holds(&task) {
                return task;
            }
        }
        centre.to_vec()
    }

    /// Evaluates tasks, in order; NaN counts as infinity.
    pub(super) fn evaluate(&self, tasks: Vec<Vec<f64>>) -> Vec<SearchPoint> {
        const BATCH: usize = 8;
        let rows = tasks.concat();
        let mut values = vec![0.0; tasks.len()];
        values
            .par_chunks_mut(BATCH)
            .zip(rows.par_chunks(BATCH * self.region.dim()))
            .for_each(|(values, rows)| (self.objective)(rows, values));
        let pairs = tasks.into_iter().zip(values);
        pairs
            .map(|(task, value)| {
                let value = if value.is_nan() { f64::INFINITY } else { value };
                SearchPoint { task, value }
            })
            .collect()
    }

    /// Number of choices of the finite parts together.
    pub(super) fn categories(&self) -> usize {
        let counts = self.finite.iter().map(|(_, listing)| listing.count());
        counts.fold(1, usize::saturating_mul)
    }

    /// Writes one choice of the finite parts.
    fn set_category(&self, mut category: usize, task: &mut [f64]) {
        for &(start, listing) in &self.finite {
            let choice = category % listing.count();
            listing.write(choice, &mut task[start..start + listing.width()]);
            category /= listing.count();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, derive};
    use crate::space::{LinearConstraint, TaskSpace as _};

    #[test]
    fn moves_stay_in_the_space() {
        let ball = Space::ball(2, 1.0).unwrap();
        let space = Space::product(vec![
            Space::one_hot(3).unwrap(),
            ball,
            Space::boxed(vec![-1.0; 2], vec![1.0; 2]).unwrap(),
        ])
        .unwrap();
        let sum = LinearConstraint {
            normal: vec![0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 0.0],
            bound: -0.5,
        };
        let space = Space::constrained(space, vec![sum]).unwrap();
        let objective = |_: &[f64], values: &mut [f64]| values.fill(0.0);
        let search_problem = SearchProblem::new(&space, &objective);
        let mut rng = derive(1, Purpose::Search, &[]);
        let centre = space.sample(&mut rng).unwrap();
        let mut categories = std::collections::BTreeSet::new();
        for index in 0..500 {
            let task = search_problem.perturb(&centre, 0.5, index % 2 == 0, false, &mut rng);
            space.check(&task).unwrap();
            categories.extend((0..3).filter(|&c| task[c] > 0.5));
            let near = search_problem.perturb(&centre, 0.5, index % 2 == 0, true, &mut rng);
            space.check(&near).unwrap();
            assert_eq!(near[..3], centre[..3]);
        }
        assert_eq!(categories.len(), 3);
    }
}
