//! Any of the spaces that can be written to a file and read back.

use serde::{Deserialize, Serialize};

use super::ball::Ball;
use super::boxed::AxisBox;
use super::constrained::{Constrained, LinearConstraint};
use super::list::List;
use super::one_hot::OneHot;
use super::own::OwnSpace;
use super::product::Product;
use super::region::{self, Region};
use super::{Atom, QuadraticForm, TaskSpace, corners, exhaustive, search};
use crate::error::{Error, Result};
use crate::rng::Rng;
use crate::task::{Task, TaskId};

/// The task spaces that can be written to a file and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Space {
    /// `‖w‖ ≤ radius`.
    Ball(Ball),
    /// `low ≤ w ≤ high`, parameter by parameter.
    Box(AxisBox),
    /// A table of candidate tasks.
    List(List),
    /// Unit vectors: a task is one of `size` kinds.
    OneHot(OneHot),
    /// Parts side by side: a task is one task of each part, joined.
    Product(Product),
    /// A space cut by linear constraints.
    Constrained(Constrained),
    /// The user's own.
    Own(OwnSpace),
}

impl Space {
    /// The ball `‖w‖ ≤ radius`; see [`Ball::new`].
    pub fn ball(dim: usize, radius: f64) -> Result<Self> {
        Ball::new(dim, radius).map(Self::Ball)
    }

    /// The box `low ≤ w ≤ high`; see [`AxisBox::new`].
    pub fn boxed(low: Vec<f64>, high: Vec<f64>) -> Result<Self> {
        AxisBox::new(low, high).map(Self::Box)
    }

    /// A table of candidate tasks; see [`List::new`].
    pub fn list(tasks: &[Vec<f64>]) -> Result<Self> {
        List::new(tasks).map(Self::List)
    }

    /// The unit vectors of `size` parameters; see [`OneHot::new`].
    pub fn one_hot(size: usize) -> Result<Self> {
        OneHot::new(size).map(Self::OneHot)
    }

    /// Parts side by side; see [`Product::new`].
    pub fn product(parts: Vec<Self>) -> Result<Self> {
        Product::new(parts).map(Self::Product)
    }

    /// A space cut by linear constraints; see [`Constrained::new`].
    pub fn constrained(base: Self, constraints: Vec<LinearConstraint>) -> Result<Self> {
        Constrained::new(base, constraints).map(Self::Constrained)
    }

    /// Number of tasks, where they can be listed.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        self.region().listing().map(region::Listing::count)
    }

    /// How widely each parameter varies; zero where it is discrete or fixed.
    pub fn widths(&self) -> Vec<f64> {
        region::widths(self.region())
    }

    /// Between which numbers each parameter lies; no bounds where it is discrete.
    ///
    /// ```
    /// use taskscout::space::Space;
    /// assert_eq!(Space::ball(1, 2.0)?.bounds(), [(-2.0, 2.0)]);
    /// assert_eq!(Space::boxed(vec![0.0], vec![3.0])?.bounds(), [(0.0, 3.0)]);
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    pub fn bounds(&self) -> Vec<(f64, f64)> {
        region::bounds(self.region())
    }

    /// All tasks as one row-major block, where they can be listed.
    #[must_use]
    pub fn task_matrix(&self) -> Option<std::borrow::Cow<'_, [f64]>> {
        use std::borrow::Cow;
        let listing = self.region().listing()?;
        let (count, width) = (listing.count(), listing.width());
        if let Some(rows) = listing.rows(0..count) {
            return Some(Cow::Borrowed(rows));
        }
        let mut rows = vec![0.0; count * width];
        let tasks = rows.chunks_exact_mut(width).enumerate();
        tasks.for_each(|(index, task)| listing.write(index, task));
        Some(Cow::Owned(rows))
    }

    /// The user's name for a task: only lists have names.
    #[must_use]
    pub fn name_of(&self, task: &[f64]) -> Option<&str> {
        match self {
            Self::List(list) => list.name(list.index_of(task)?),
            Self::Constrained(space) => space.base().name_of(task),
            _ => None,
        }
    }

    /// A task of a finite space, by its place in the listing.
    #[must_use]
    pub fn task_at(&self, index: usize) -> Option<Task> {
        let listing = self.region().listing()?;
        (index < listing.count()).then(|| {
            let mut parameters = vec![0.0; listing.width()];
            listing.write(index, &mut parameters);
            Task::new(listing.id(index), parameters)
        })
    }

    /// The task of given parameters: the first listed one that has them in a finite space, the
    /// point itself elsewhere.
    #[must_use]
    pub fn task_of(&self, parameters: &[f64]) -> Task {
        let listing = self.region().listing();
        match listing.and_then(|listing| Some(listing.id(listing.index_of(parameters)?))) {
            // The parameters stay as they were given, which may differ in rounding.
            Some(id) => Task::new(id, parameters.to_vec()),
            None => Task::point(parameters.to_vec()),
        }
    }

    /// Whether data of a task may be taken: a table of candidates lists what may be asked for, not all
    /// that may come.
    pub fn admit(&self, task: &[f64]) -> Result<()> {
        Error::check_length("the task", self.dim(), task.len())?;
        Error::check_finite(task, |index| format!("parameter {index} of the task"))?;
        match self {
            Self::List(_) => Ok(()),
            Self::Constrained(space) if matches!(space.base(), Self::List(_)) => Ok(()),
            space => space.check(task),
        }
    }

    /// A task drawn uniformly, as [`TaskSpace::sample`] draws its parameters.
    ///
    /// # Errors
    /// A space that cannot be drawn from.
    pub fn sample_task(&self, rng: &mut Rng) -> Result<Task> {
        if let Self::List(list) = self {
            let row = list.draw_row(rng);
            let parameters = list.get(row).unwrap_or_default();
            return Ok(Task::new(list.id(row), parameters.to_vec()));
        }
        Ok(self.task_of(&self.sample(rng)?))
    }

    /// The place of a task in the listing of a finite space, by its id.
    #[must_use]
    pub fn row_of(&self, id: &TaskId) -> Option<usize> {
        let listing = self.region().listing()?;
        (0..listing.count()).find(|&index| listing.id(index) == *id)
    }

    /// A task downhill of another, for an objective: a local search only.
    pub fn descend(&self, objective: &(dyn Fn(&[f64]) -> f64 + Sync), start: &[f64]) -> Vec<f64> {
        search::descend(self, objective, start)
    }

    /// What the rest of this module works with.
    pub(super) fn region(&self) -> &dyn Region {
        match self {
            Self::Ball(space) => space,
            Self::Box(space) => space,
            Self::List(space) => space,
            Self::OneHot(space) => space,
            Self::Product(space) => space,
            Self::Constrained(space) => space,
            Self::Own(space) => space,
        }
    }

    /// Whether code of the user's own is there.
    pub fn check_ready(&self) -> Result<()> {
        match self {
            Self::Own(space) => space.own().get().map(|_| ()),
            Self::Product(space) => space.parts().iter().try_for_each(Self::check_ready),
            Self::Constrained(space) => space.base().check_ready(),
            _ => Ok(()),
        }
    }

    /// Attaches what is the user's own and was read from a file; `make` has it by name and settings.
    ///
    /// # Errors
    /// Those of `make`, or constraints that leave no task of it.
    pub fn attach(
        &mut self,
        make: &dyn Fn(&str, &serde_json::Value) -> Result<Self>,
    ) -> Result<()> {
        if self.check_ready().is_ok() {
            return Ok(());
        }
        *self = match self {
            Self::Own(space) => {
                let own = space.own();
                make(&own.name, &own.settings)?
            }
            Self::Product(space) => {
                let mut parts = space.parts().to_vec();
                for part in &mut parts {
                    part.attach(make)?;
                }
                Self::product(parts)?
            }
            Self::Constrained(space) => {
                let mut base = space.base().clone();
                base.attach(make)?;
                Self::constrained(base, space.constraints().to_vec())?
            }
            _ => return Ok(()),
        };
        Ok(())
    }

    /// The best atom where a formula or an enumeration gives it.
    pub(super) fn closed_form(&self, form: &QuadraticForm<'_>) -> Result<Option<Atom>> {
        let identity = form.features.is_identity();
        if let (Self::OneHot(space), true) = (self, identity) {
            return Ok(Some(space.largest_diagonal(form)));
        }
        if let Some(listing) = self.region().listing() {
            return exhaustive::best(listing, form).map(Some);
        }
        match self {
            Self::Ball(space) if identity => space.top_eigenvector(form).map(Some),
            Self::Box(_) | Self::Product(_) if identity => corners::best(self, form),
            Self::Constrained(space) => space.allowed_optimum(form),
            _ => Ok(None),
        }
    }
}

impl TaskSpace for Space {
    fn dim(&self) -> usize {
        self.region().dim()
    }

    fn check(&self, task: &[f64]) -> Result<()> {
        Error::check_length("the task", self.dim(), task.len())?;
        Error::check_finite(task, |index| format!("parameter {index} of the task"))?;
        match self.region().breach(task) {
            None => Ok(()),
            Some(reason) => Err(Error::OutsideSpace {
                task: region::shorten(task),
                reason,
            }),
        }
    }

    fn contains(&self, task: &[f64]) -> bool {
        let region = self.region();
        task.len() == region.dim()
            && task.iter().all(|value| value.is_finite())
            && region.holds(task)
    }

    fn sample(&self, rng: &mut Rng) -> Result<Vec<f64>> {
        let mut task = vec![0.0; self.dim()];
        self.region().draw(rng, &mut task)?;
        Ok(task)
    }

    fn best_atom(&self, form: &QuadraticForm<'_>, rng: &mut Rng) -> Result<Atom> {
        form.check(self.dim())?;
        if let Self::Own(space) = self {
            return space.best_atom(form, rng);
        }
        if let Some(atom) = self.closed_form(form)? {
            return Ok(atom);
        }
        let mut task = search::maximise_form(self, form, rng)?;
        if let (Self::Box(space), true) = (self, form.features.is_identity()) {
            task = space.climb(form.matrix, task, rng);
        }
        let value = form.value(&task);
        Ok(Atom {
            task,
            value,
            exact: false,
        })
    }

    fn ascend(&self, form: &QuadraticForm<'_>, tasks: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        match self {
            Self::Own(space) => space.ascend(form, tasks),
            _ => search::ascend(self, form, tasks),
        }
    }

    fn minimise(&self, objective: &(dyn Fn(&[f64]) -> f64 + Sync), rng: &mut Rng) -> Result<Atom> {
        match (self, self.region().listing()) {
            (Self::Own(space), _) => space.minimise(objective, rng),
            (_, Some(listing)) => exhaustive::least(listing, objective),
            _ => search::minimise(self, objective, rng),
        }
    }

    fn tasks(&self) -> Option<Vec<Vec<f64>>> {
        let listing = self.region().listing()?;
        let task = |index| {
            let mut task = vec![0.0; self.dim()];
            listing.write(index, &mut task);
            task
        };
        Some((0..listing.count()).map(task).collect())
    }
}
