//! Strategies: from what is known to the next plan of collection.
//!
//! | strategy | what it samples |
//! |---|---|
//! | `passive` | a fresh random orthonormal basis of the space every round, equal counts |
//! | `passive-fixed` | the same basis every round |
//! | `agnostic` | warm-up, then `q_1 = g(B ψ_W, I)` on the current estimate |
//! | `aware` | warm-up, then part `q_1`, part `q_2` for the target: `g(B ψ_W, A)`, or the task nearest to it |
//! | `discrete-l1`, `discrete-l2` | warm-up, then tasks of a finite space by their relevance to the target |

mod active;
mod active_limits;
mod context;
mod decision;
mod discrete;
mod kind;
pub(crate) mod outputs;
mod passive;
mod plan;
mod published;
mod related;
mod saving;
pub mod schedule;
mod stored;
mod strategy_config;

pub use context::{Knowledge, Nearest, PlanContext};
pub use decision::Decision;
pub use kind::StrategyKind;
pub use plan::{Plan, PlanItem, TaskDesign};
pub use schedule::{Split, WarmUp};
pub use strategy_config::{Exploit, Explore, Given, Overlap, Saving, Serve, StrategyConfig};

use crate::error::Result;

/// A rule for choosing tasks.
///
/// ```
/// use taskscout::data::Stage;
/// use taskscout::strategy::{Decision, PlanContext, PlanItem, Strategy};
/// use taskscout::task::Task;
///
/// /// Everything from one task that the engineer likes.
/// #[derive(Debug)]
/// struct Favourite(Task);
///
/// impl Strategy for Favourite {
///     fn plan(&self, context: &PlanContext<'_>) -> taskscout::Result<Decision> {
///         let (task, n) = (self.0.clone(), context.budget);
///         let item = PlanItem::new(task, n, Stage::Explore, "the favourite");
///         Ok(Decision::of(vec![item]))
///     }
/// }
/// ```
pub trait Strategy: std::fmt::Debug + Send + Sync {
    /// Decides what to collect with the context's budget.
    ///
    /// # Errors
    /// A budget too small for the tasks, or a space that the strategy cannot plan in.
    fn plan(&self, context: &PlanContext<'_>) -> Result<Decision>;

    /// Whether planning needs a trained model after the warm-up.
    fn needs_model(&self) -> bool {
        false
    }
}
