//! Taking the last change back.

use taskscout::study::{Command, Progress};

use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::state::Line;
use crate::stored::{Draft, Step, StoredStudy};

/// What is not a change of one's own: it is passed over.
const PASSED: [&str; 3] = ["scaled", "started", "undone"];
/// Why the items of a plan are given up that was taken back.
const PLAN_GONE: &str = "the plan was taken back";

impl StoredStudy {
    /// Takes the last change back that has not been taken back yet, and says which it was: again and again, one change
    /// after the other. Rows are as if they had never been told; the items of a plan that nothing was told to are given
    /// up, since their numbers may be on paper already.
    ///
    /// # Errors
    /// Nothing to take back, or something that cannot be; a store that cannot be written.
    pub fn undo(&mut self) -> Result<Line> {
        self.refresh()?;
        self.transact(|this| {
            let lines = this.history().iter().rev();
            let mut changes = lines.filter(|line| !line.undone && !PASSED.contains(&&*line.kind));
            let last = changes.find(|line| !this.is_compensated(line)).cloned();
            let Some(last) = last.filter(|line| line.version > 1) else {
                return Err(Error::Input("there is nothing to take back".into()));
            };
            let drafts = this.taking_back(&last)?;
            Ok(Step::Append(drafts, Vec::new(), last))
        })
    }

    /// Whether a change was already made up for by a later one, as rows by their retraction.
    fn is_compensated(&self, line: &Line) -> bool {
        match line.kind.as_str() {
            "told" | "added" | "target-told" => !self
                .batches()
                .iter()
                .any(|batch| batch.version == line.version),
            "planned" => self.open_items_of(line.version).is_empty(),
            // With its plan.
            "failed" => line.what.ends_with(&format!(": {PLAN_GONE}")),
            _ => false,
        }
    }

    fn taking_back(&self, line: &Line) -> Result<Vec<Draft>> {
        let version = line.version;
        match line.kind.as_str() {
            "planned" => {
                let reason = PLAN_GONE;
                let items = self.open_items_of(version).into_iter();
                let fail = |item| {
                    let command = Command::Fail { item, reason };
                    Ok(Draft::event(self.study().decide(&command)?))
                };
                items.map(fail).collect()
            }
            "told" | "added" | "target-told" | "failed" | "retracted" | "noted" | "released" => {
                Ok(vec![Draft::of(Entry::Undone { version })])
            }
            other => Err(Error::Input(format!(
                "the last change ({other}: {}) cannot be taken back",
                line.what
            ))),
        }
    }

    /// The items of a plan that are open and that nothing was told to.
    fn open_items_of(&self, version: u64) -> Vec<u64> {
        let round = self.round_of(version);
        let items = self.study().items().iter();
        let untouched = items.filter(|tracked| {
            Some(tracked.round) == round
                && tracked.collected == 0
                && tracked.progress == Progress::Open
        });
        untouched.map(|tracked| tracked.item.id).collect()
    }

    /// The round that an entry planned: plans are numbered in the order of the log.
    fn round_of(&self, version: u64) -> Option<usize> {
        let mut plans = self.history().iter().filter(|line| line.kind == "planned");
        plans.position(|line| line.version == version)
    }
}
