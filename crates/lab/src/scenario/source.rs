//! Where the rows of an experiment come from.

use std::path::Path;

use taskscout::data::Samples;
use taskscout::rng::Rng;
use taskscout::source::TaskSource;

use super::Judge;
use crate::error::Result;
use crate::record::Trial;
use crate::run_input::RunInput;

/// Where the rows of all trials come from.
pub(crate) trait Data: Send + Sync {
    /// A source and a judge for one trial. Rows that come from outside are kept in the folder `collected`, in
    /// files named after the trial.
    fn open<'a>(&'a self, collected: &Path, trial: &Trial) -> taskscout::Result<Open<'a>>;

    /// What rows come from, if that could be another thing when a run goes on.
    fn made_from(&self) -> Result<Vec<RunInput>> {
        Ok(Vec::new())
    }

    /// Whether rows come from a program of the user's.
    fn asks_program(&self) -> bool {
        false
    }

    /// The files of rows that a trial keeps in the folder `collected`, or shares with others.
    fn journals(&self, trial: &Trial) -> Vec<String> {
        let _ = trial;
        Vec::new()
    }
}

/// What a trial has of the world.
pub(crate) struct Open<'a> {
    pub(crate) source: Box<dyn TrialSource + 'a>,
    pub(crate) judge: Box<dyn Judge + 'a>,
}

/// The source of one trial: of its source tasks, and of its targets.
pub(crate) trait TrialSource: TaskSource {
    /// `n` rows of a target.
    fn sample_target(
        &mut self,
        target: usize,
        n: usize,
        rng: &mut Rng,
    ) -> taskscout::Result<Samples>;

    /// What was taken off each of a target's outputs, for models that give them as they are; empty if nothing.
    fn output_offset(&self, target: usize) -> Vec<f64> {
        let _ = target;
        Vec::new()
    }

    /// Ends the trial.
    fn close(&mut self) -> taskscout::Result<()> {
        Ok(())
    }
}
