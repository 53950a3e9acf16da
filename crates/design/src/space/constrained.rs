//! A space cut by linear constraints, `normal · w ≤ bound`.
//!
//! Two opposite constraints make an equality, such as shares of a mixture that sum to one. Over a
//! finite base the tasks that remain are listed; over a continuous one the space is sampled by
//! rejection, and by hit-and-run where rejection would be slow.
//!
//! ```
//! use taskscout::space::{LinearConstraint, Space, TaskSpace};
//! let square = Space::boxed(vec![0.0, 0.0], vec![1.0, 1.0])?;
//! let sum = LinearConstraint { normal: vec![1.0, 1.0], bound: 1.5 };
//! let space = Space::constrained(square, vec![sum])?;
//! let why = space.check(&[1.0, 0.75]).unwrap_err().to_string();
//! assert!(why.contains("constraint 0 gives 1.75, which exceeds its bound 1.5 by 0.25"));
//! # Ok::<(), taskscout::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::feasible::{self, Feasible};
use super::region::{Leaf, Listing, Region, RegionPart, TOLERANCE, brief, intersect, widths};
use super::{Atom, QuadraticForm, Space};
use crate::error::{Error, Result};
use crate::linalg;
use crate::rng::Rng;
use crate::task::TaskId;

/// The constraint `normal · w ≤ bound`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearConstraint {
    /// One coefficient for each parameter.
    pub normal: Vec<f64>,
    /// What `normal · w` may not exceed.
    pub bound: f64,
}

impl LinearConstraint {
    /// `normal · w − bound`.
    pub(super) fn excess(&self, task: &[f64]) -> f64 {
        linalg::dot(&self.normal, task) - self.bound
    }

    /// Whether the constraint holds up to rounding.
    pub(super) fn holds(&self, task: &[f64]) -> bool {
        let terms = self.normal.iter().zip(task).map(|(n, w)| (n * w).abs());
        self.excess(task) <= TOLERANCE * terms.sum::<f64>().max(self.bound.abs())
    }

    fn validate(&self, index: usize, dim: usize) -> Result<()> {
        let place = format!("`constraints` {index}, normal");
        Error::check_length(&place, dim, self.normal.len())?;
        Error::check_finite(&self.normal, |value| format!("{place} value {value}"))?;
        Error::check_finite(&[self.bound], |_| format!("`constraints` {index}, bound"))?;
        if self.normal.iter().all(|&value| value == 0.0) {
            let problem = format!("{index} has a normal of zeros, which constrains nothing");
            return Err(Error::setting("constraints", problem));
        }
        Ok(())
    }
}

/// A space cut by linear constraints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Constrained {
    base: Box<Space>,
    constraints: Vec<LinearConstraint>,
    /// Squared widths of the parameters, the metric of projections: it makes them independent of
    /// units, and leaves what cannot vary where it is.
    metric: Vec<f64>,
    feasible: Feasible,
}

impl Constrained {
    /// Cuts a space by constraints. A cut that leaves no task is refused; over a continuous base
    /// so is one in which a bounded search finds none.
    pub fn new(base: Space, constraints: Vec<LinearConstraint>) -> Result<Self> {
        let region = base.region();
        if constraints.is_empty() {
            let problem = "is empty: give at least one constraint, or use the base itself";
            return Err(Error::setting("constraints", problem));
        }
        for (index, constraint) in constraints.iter().enumerate() {
            constraint.validate(index, region.dim())?;
        }
        let metric = widths(region).iter().map(|width| width * width).collect();
        let mut space = Self {
            base: Box::new(base),
            constraints,
            metric,
            feasible: Feasible::Tasks(Vec::new()),
        };
        // A base of the user's own is looked at once its code is attached.
        if space.base.check_ready().is_ok() {
            space.feasible = feasible::find(&space)?;
        }
        Ok(space)
    }

    /// The space that is cut.
    #[must_use]
    pub fn base(&self) -> &Space {
        &self.base
    }

    /// The constraints.
    #[must_use]
    pub fn constraints(&self) -> &[LinearConstraint] {
        &self.constraints
    }

    /// What the constraints leave of the base.
    pub(super) fn feasible(&self) -> &Feasible {
        &self.feasible
    }

    /// Whether a task of the base satisfies all constraints.
    pub(super) fn allows(&self, task: &[f64]) -> bool {
        self.constraints
            .iter()
            .all(|constraint| constraint.holds(task))
    }

    /// The base's best atom, where it has a closed form that the constraints allow.
    pub(super) fn allowed_optimum(&self, form: &QuadraticForm<'_>) -> Result<Option<Atom>> {
        let Some(mut atom) = self.base.closed_form(form)? else {
            return Ok(None);
        };
        if !self.allows(&atom.task) && matches!(*self.base, Space::Ball(_)) {
            // The ball and the form are symmetric: the opposite task is as good.
            atom.task.iter_mut().for_each(|value| *value = -*value);
        }
        Ok(self.allows(&atom.task).then_some(atom))
    }

    /// Moves a task onto the constraint's plane, by the shortest way in the metric.
    fn project(&self, constraint: &LinearConstraint, task: &mut [f64]) {
        let normal = constraint.normal.iter().zip(&self.metric);
        let square: f64 = normal.clone().map(|(n, m)| n * n * m).sum();
        if square > 0.0 {
            let step = constraint.excess(task) / square;
            for (value, (n, m)) in task.iter_mut().zip(normal) {
                *value -= step * n * m;
            }
        }
    }
}

impl Listing for Constrained {
    fn count(&self) -> usize {
        match &self.feasible {
            Feasible::Tasks(rows) => rows.len(),
            Feasible::Anchor { .. } => 0,
        }
    }

    fn width(&self) -> usize {
        self.metric.len()
    }

    fn write(&self, index: usize, task: &mut [f64]) {
        if let (Feasible::Tasks(rows), Some(listing)) =
            (&self.feasible, self.base.region().listing())
        {
            listing.write(rows[index], task);
        }
    }

    /// The same as without the constraints.
    fn id(&self, index: usize) -> TaskId {
        match (&self.feasible, self.base.region().listing()) {
            (Feasible::Tasks(rows), Some(listing)) => listing.id(rows[index]),
            _ => TaskId::row(index),
        }
    }

    fn index_of(&self, task: &[f64]) -> Option<usize> {
        let row = self.base.region().listing()?.index_of(task)?;
        match &self.feasible {
            Feasible::Tasks(rows) => rows.binary_search(&row).ok(),
            Feasible::Anchor { .. } => None,
        }
    }
}

impl Region for Constrained {
    fn dim(&self) -> usize {
        self.metric.len()
    }

    fn breach(&self, task: &[f64]) -> Option<String> {
        if let Some(reason) = self.base.region().breach(task) {
            return Some(reason);
        }
        let mut constraints = self.constraints.iter().enumerate();
        let (index, broken) = constraints.find(|(_, constraint)| !constraint.holds(task))?;
        Some(format!(
            "constraint {index} gives {}, which exceeds its bound {} by {}",
            brief(linalg::dot(&broken.normal, task)),
            brief(broken.bound),
            brief(broken.excess(task))
        ))
    }

    fn draw(&self, rng: &mut Rng, task: &mut [f64]) -> Result<()> {
        feasible::draw(self, rng, task)
    }

    fn listing(&self) -> Option<&dyn Listing> {
        matches!(self.feasible, Feasible::Tasks(_)).then_some(self)
    }

    /// Alternating projections: onto each broken constraint in turn, then back into the base.
    fn settle(&self, task: &mut [f64]) -> bool {
        const SWEEPS: usize = 200;
        let base = self.base.region();
        let mut inside = base.settle(task);
        for _ in 0..SWEEPS {
            if inside && self.allows(task) {
                return true;
            }
            for constraint in &self.constraints {
                if constraint.excess(task) > 0.0 {
                    self.project(constraint, task);
                }
            }
            inside = base.settle(task);
        }
        false
    }

    fn chord(&self, task: &[f64], direction: &[f64]) -> (f64, f64) {
        let mut inside = self.base.region().chord(task, direction);
        for constraint in &self.constraints {
            let terms = constraint.normal.iter().zip(direction);
            let size: f64 = terms.map(|(n, d)| (n * d).abs()).sum();
            let slope = linalg::dot(&constraint.normal, direction);
            if slope.abs() <= 1e-12 * size {
                // Along the plane but for rounding.
                continue;
            }
            let slack = (-constraint.excess(task)).max(0.0) / slope;
            let side = if slope > 0.0 {
                (f64::NEG_INFINITY, slack)
            } else {
                (slack, f64::INFINITY)
            };
            inside = intersect(inside, side);
        }
        inside
    }

    fn leaves<'a>(&'a self, start: usize, leaves: &mut Vec<Leaf<'a>>) {
        if self.listing().is_some() {
            let part = RegionPart::Finite(self);
            leaves.push(Leaf { start, part });
        } else {
            self.base.region().leaves(start, leaves);
        }
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    base: Box<Space>,
    constraints: Vec<LinearConstraint>,
}

impl TryFrom<Raw> for Constrained {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(*raw.base, raw.constraints)
    }
}

impl From<Constrained> for Raw {
    fn from(space: Constrained) -> Self {
        Self {
            base: space.base,
            constraints: space.constraints,
        }
    }
}
