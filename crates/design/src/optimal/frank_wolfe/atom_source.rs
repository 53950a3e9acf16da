//! Where the atoms of a design come from.

use faer::Mat;

use crate::error::Result;
use crate::optimal::frame::Frame;
use crate::optimal::master::{Dual, Master};
use crate::optimal::{Criterion, warm};

/// Which task an atom is.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::optimal) enum Key {
    /// A row of a table.
    Row(usize),
    /// Parameters.
    Task(Vec<f64>),
}

/// A task that a design may use.
#[derive(Debug, Clone)]
pub(in crate::optimal) struct CandidateAtom {
    pub(in crate::optimal) key: Key,
    /// Its embedding in the frame, divided by the root of its cost; of several outputs, one column
    /// after the other.
    pub(in crate::optimal) column: Vec<f64>,
    /// The largest share it may have.
    pub(in crate::optimal) limit: f64,
}

/// What a source offers for a dual point.
#[derive(Debug)]
pub(in crate::optimal) struct Offer {
    /// Atoms by falling score.
    pub(in crate::optimal) atoms: Vec<CandidateAtom>,
    /// `max_q Σ q_i ‖R c_i‖²` over all designs, or the best found.
    pub(in crate::optimal) support: f64,
    /// Whether no task can raise it.
    pub(in crate::optimal) exact: bool,
}

/// Where atoms come from.
pub(in crate::optimal) trait AtomSource {
    /// The coordinates to work in.
    fn frame(&self) -> &Frame;

    /// Atoms to start from, which span the frame and whose limits hold the budget.
    fn first(&mut self) -> Result<Vec<CandidateAtom>>;

    /// Atoms and weights to start from, where there is something better than those of [`first`].
    ///
    /// [`first`]: AtomSource::first
    fn start(&mut self, _master: &Master<'_>) -> Result<Option<warm::StartWeights>> {
        Ok(None)
    }

    /// The best atoms for a dual point, given the best score among those in use.
    fn best(&mut self, dual: &Dual, floor: f64) -> Result<Offer>;

    /// Whether its searches have taken all that they may.
    fn is_spent(&self) -> bool {
        false
    }

    /// Given where the solver stands, a source may drop tasks that no optimum uses.
    fn screen(&mut self, _stand: &Iterate<'_>) -> Result<()> {
        Ok(())
    }

    /// Takes all tasks in again; whether any had been dropped.
    fn restore(&mut self) -> bool {
        false
    }
}

/// Where the solver stands.
pub(in crate::optimal) struct Iterate<'a> {
    pub(in crate::optimal) criterion: Criterion,
    pub(in crate::optimal) dual: &'a Dual,
    /// `Σ(q)`, in the frame.
    pub(in crate::optimal) information: Mat<f64>,
    pub(in crate::optimal) value: f64,
    pub(in crate::optimal) lower_bound: f64,
}
