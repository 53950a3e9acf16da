//! A space of the user's own inside a study.

use serde::{Deserialize, Serialize};

use super::region::{Leaf, Region};
use super::{Atom, QuadraticForm, Space, TaskSpace, check_dim};
use crate::error::Result;
use crate::extension::Extension;
use crate::rng::Rng;

/// A user's own space under a name. Two are equal when their names, settings and dimensions are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnSpace {
    dim: usize,
    own: Extension<dyn TaskSpace>,
}

impl OwnSpace {
    /// Takes a space as it is.
    ///
    /// # Errors
    /// A space without parameters, or one that is not attached.
    pub fn new(own: Extension<dyn TaskSpace>) -> Result<Self> {
        let dim = own.get()?.dim();
        check_dim("dim", dim, super::MAX_DIM)?;
        Ok(Self { dim, own })
    }

    /// The user's part.
    #[must_use]
    pub fn own(&self) -> &Extension<dyn TaskSpace> {
        &self.own
    }

    pub(super) fn best_atom(&self, form: &QuadraticForm<'_>, rng: &mut Rng) -> Result<Atom> {
        self.own.get()?.best_atom(form, rng)
    }

    pub(super) fn minimise(
        &self,
        objective: &(dyn Fn(&[f64]) -> f64 + Sync),
        rng: &mut Rng,
    ) -> Result<Atom> {
        self.own.get()?.minimise(objective, rng)
    }

    pub(super) fn ascend(
        &self,
        form: &QuadraticForm<'_>,
        tasks: &[Vec<f64>],
    ) -> Result<Vec<Vec<f64>>> {
        self.own.get()?.ascend(form, tasks)
    }
}

impl Space {
    /// A space of the user's own.
    ///
    /// # Errors
    /// As [`OwnSpace::new`].
    pub fn own(own: Extension<dyn TaskSpace>) -> Result<Self> {
        OwnSpace::new(own).map(Self::Own)
    }
}

/// Nothing is known of its shape: a task stays where it is, or is not in the space.
impl Region for OwnSpace {
    fn dim(&self) -> usize {
        self.dim
    }

    fn breach(&self, task: &[f64]) -> Option<String> {
        let checked = self.own.get().and_then(|own| own.check(task));
        checked.err().map(|error| error.to_string())
    }

    fn draw(&self, rng: &mut Rng, task: &mut [f64]) -> Result<()> {
        let drawn = self.own.get()?.sample(rng)?;
        crate::error::Error::check_length("a task of the space", task.len(), drawn.len())?;
        task.copy_from_slice(&drawn);
        Ok(())
    }

    fn settle(&self, task: &mut [f64]) -> bool {
        self.breach(task).is_none()
    }

    fn chord(&self, _task: &[f64], _direction: &[f64]) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn leaves<'a>(&'a self, _start: usize, _leaves: &mut Vec<Leaf<'a>>) {}
}
