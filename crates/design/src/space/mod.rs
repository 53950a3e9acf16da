//! Task spaces: where source tasks may be chosen from.
//!
//! | space | tasks | best atom, `argmax_w ψ(w)ᵀ H ψ(w)` |
//! |---|---|---|
//! | [`Ball`] | `‖w‖ ≤ radius` | top eigenvector of `H` (identity features) |
//! | [`AxisBox`] | `low ≤ w ≤ high` | corners (identity features, `H ⪰ 0`, few parameters) |
//! | [`List`] | a table of candidates | scan |
//! | [`OneHot`] | unit vectors | scan |
//! | [`Product`] | parts side by side | scan or corners where the parts allow it |
//! | [`Constrained`] | a space cut by `normal · w ≤ bound` | scan, or the base's where it is allowed |
//!
//! Anything else is an adaptive search: sample the space, keep the best, sample finer around it,
//! then polish. [`Atom::exact`] says which of the two it was.
//!
//! A space that exists is valid: constructors and deserialisation check the same things.
//!
//! ```
//! use faer::mat;
//! use taskscout::features::FeatureMap;
//! use taskscout::rng::{Purpose, derive};
//! use taskscout::space::{QuadraticForm, Space, TaskSpace};
//!
//! let space = Space::ball(2, 1.0)?;
//! let features = FeatureMap::identity(2)?;
//! let h = mat![[1.0, 0.0], [0.0, 4.0]];
//! let form = QuadraticForm { features: &features, matrix: h.as_ref() };
//! let atom = space.best_atom(&form, &mut derive(0, Purpose::Search, &[]))?;
//! assert_eq!(atom.task, [0.0, 1.0]);
//! assert!(atom.exact && (atom.value - 4.0).abs() < 1e-12);
//! # Ok::<(), taskscout::Error>(())
//! ```

mod any;
mod ball;
mod boxed;
mod constrained;
mod corners;
mod discretise;
mod exhaustive;
mod feasible;
mod form;
mod list;
mod one_hot;
mod own;
mod polish;
mod product;
mod region;
mod search;
mod search_problem;
#[cfg(test)]
mod tests;

use faer::MatRef;

pub use any::Space;
pub use ball::Ball;
pub use boxed::AxisBox;
pub use constrained::{Constrained, LinearConstraint};
pub use list::List;
pub use one_hot::OneHot;
pub use own::OwnSpace;
pub use product::Product;

use crate::error::{Error, Result};
use crate::features::Features;
use crate::rng::Rng;

/// A quadratic form over task features, `w ↦ ψ(w)ᵀ H ψ(w)`, with `H` symmetric.
#[derive(Debug, Clone, Copy)]
pub struct QuadraticForm<'a> {
    /// The feature map `ψ_W`.
    pub features: &'a dyn Features,
    /// `H`, of the dimension of the features.
    pub matrix: MatRef<'a, f64>,
}

/// The best task of a space for some objective.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Atom {
    /// The task's parameters.
    pub task: Vec<f64>,
    /// The objective there.
    pub value: f64,
    /// Whether no task of the space does better (a closed form or a full scan), as opposed to the
    /// best that a search found.
    pub exact: bool,
}

/// A set of tasks that data may be collected from.
///
/// ```
/// use taskscout::prelude::*;
///
/// /// Winds on a circle: all directions, one speed.
/// #[derive(Debug, serde::Deserialize)]
/// struct Circle {
///     speed: f64,
/// }
///
/// impl TaskSpace for Circle {
///     fn dim(&self) -> usize {
///         2
///     }
///
///     fn check(&self, task: &[f64]) -> Result<()> {
///         let off = (task[0].hypot(task[1]) - self.speed).abs();
///         if off < 1e-6 {
///             return Ok(());
///         }
///         Err(Error::OutsideSpace {
///             task: format!("{task:?}"),
///             reason: format!("its speed is off by {off}"),
///         })
///     }
///
///     fn sample(&self, rng: &mut Rng) -> Result<Vec<f64>> {
///         let angle = std::f64::consts::TAU * uniform(rng);
///         Ok(vec![self.speed * angle.cos(), self.speed * angle.sin()])
///     }
///
///     fn best_atom(&self, form: &QuadraticForm<'_>, rng: &mut Rng) -> Result<Atom> {
///         // The best of many directions; `minimise` would do the same.
///         let mut atom = self.minimise(&|task| -form.value(task), rng)?;
///         atom.value = -atom.value;
///         Ok(atom)
///     }
/// }
///
/// let mut registry = Registry::new();
/// registry.space::<Circle>("circle")?;
/// let space = registry.make_space("circle", &serde_json::json!({"speed": 3.7}))?;
/// let mut study = Study::builder(space)
///     .inputs(2)
///     .target(Target::unknown("tomorrow"))
///     .build()?;
/// let plan = study.ask(20)?;
/// assert!(plan.items.iter().all(|item| (item.task[0].hypot(item.task[1]) - 3.7).abs() < 1e-6));
/// # Ok::<(), taskscout::Error>(())
/// ```
pub trait TaskSpace: std::fmt::Debug + Send + Sync {
    /// Number of parameters of a task.
    fn dim(&self) -> usize;

    /// Says why a task is not in the space, naming the bound it breaks, or that it is.
    fn check(&self, task: &[f64]) -> Result<()>;

    /// A task drawn uniformly.
    fn sample(&self, rng: &mut Rng) -> Result<Vec<f64>>;

    /// The task that maximises a quadratic form of its features.
    fn best_atom(&self, form: &QuadraticForm<'_>, rng: &mut Rng) -> Result<Atom>;

    /// The task that minimises an objective: the best of many draws, where the space knows nothing
    /// better.
    ///
    /// # Errors
    /// No draw with a finite value.
    fn minimise(&self, objective: &(dyn Fn(&[f64]) -> f64 + Sync), rng: &mut Rng) -> Result<Atom> {
        const DRAWS: usize = 4096;
        let mut best: Option<Atom> = None;
        for _ in 0..DRAWS {
            let task = self.sample(rng)?;
            let value = objective(&task);
            if value.is_finite() && best.as_ref().is_none_or(|best| value < best.value) {
                best = Some(Atom {
                    task,
                    value,
                    exact: false,
                });
            }
        }
        best.ok_or_else(|| exhaustive::no_finite_value("objective", DRAWS))
    }

    /// Tasks uphill of some others, for a quadratic form.
    fn ascend(&self, _form: &QuadraticForm<'_>, tasks: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        Ok(tasks.to_vec())
    }

    /// All tasks, where there are finitely many.
    fn tasks(&self) -> Option<Vec<Vec<f64>>> {
        None
    }

    /// Whether the task is in the space.
    fn contains(&self, task: &[f64]) -> bool {
        self.check(task).is_ok()
    }
}

/// Most parameters a task may have.
const MAX_DIM: usize = 1_000_000;

/// Checks a dimension that came from a user.
fn check_dim(key: &str, dim: usize, max: usize) -> Result<()> {
    if (1..=max).contains(&dim) {
        return Ok(());
    }
    let problem = format!("is {dim}: it must be from 1 to {max}");
    Err(Error::setting(key, problem))
}
