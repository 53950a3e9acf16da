//! What a report says of one kind of world.

use taskscout::study::Study;
use taskscout::train::AveragedPredictor;
use taskscout_report::ExperimentReport;

use crate::error::Result;
use crate::record::{TargetRelevance, TrialRecord};

/// What a report says of this world and of no other. `()` has nothing to say.
pub(crate) trait Presentation: Send + Sync {
    /// Whether trials keep details beside their rows, for [`Presentation::report`].
    fn wants_details(&self) -> bool {
        false
    }

    /// Whether it is worth a remark that task features cannot express the tasks.
    fn judges_task_features(&self) -> bool {
        self.wants_details()
    }

    /// What the parameters of tasks are called; nothing where they have no names.
    fn parameters(&self) -> Vec<String> {
        Vec::new()
    }

    /// Which source tasks turned out to be like a target, at the end of a trial, and how alike all
    /// pairs of tasks are, if asked for.
    fn relevant(
        &self,
        study: &Study,
        target: usize,
        choice: &AveragedPredictor,
        all_pairs: bool,
    ) -> taskscout::Result<Option<TargetRelevance>> {
        let _ = (study, target, choice, all_pairs);
        Ok(None)
    }

    /// Adds what only this world can say of its finished trials: entries of the summary, figures,
    /// tables, notes. Hands back the lines for the terminal below the table of losses.
    fn report(&self, trials: &[TrialRecord], report: &mut ExperimentReport) -> Result<Vec<String>> {
        let _ = (trials, report);
        Ok(Vec::new())
    }
}

impl Presentation for () {}
