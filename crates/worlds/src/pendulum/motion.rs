//! Where a run stands between two calls.

use serde::{Deserialize, Serialize};

use super::settings::State;

/// Where a run stands: what a caller keeps to go on with a trajectory later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    pub(super) state: State,
    /// The random policy's push in force.
    pub(super) excitation: f64,
    /// Steps since the episode began.
    pub(super) step: usize,
    /// Episodes before this one.
    pub(super) episode: u64,
}

impl Motion {
    /// The beginning of a run.
    #[must_use]
    pub fn new(start: State) -> Self {
        Self {
            state: start,
            ..Self::default()
        }
    }

    /// Where the pendulum is.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Steps since the episode began.
    #[must_use]
    pub fn step(&self) -> usize {
        self.step
    }

    /// The number of the episode, from 0.
    #[must_use]
    pub fn episode(&self) -> u64 {
        self.episode
    }

    /// Begins the next episode.
    pub(super) fn restart(&mut self, start: State) {
        *self = Self {
            episode: self.episode + 1,
            ..Self::new(start)
        };
    }
}
