//! Programs as workers: as many as one likes, on as many machines as reach the store.
//!
//! A worker takes an item that nobody measures, has the program measure it, and tells the rows. If it dies, its lease
//! ends and another worker takes the item, with the same seed: a program that takes its randomness from the seed gives
//! the same rows.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use taskscout::data::Samples;
use taskscout::rng::{Purpose, derive};
use taskscout::study::TrackedItem;
use taskscout_worlds::program::{Program, Request, Session, seed};

use crate::asking::AskOptions;
use crate::error::{Error, Result, of_store};
use crate::stored::StoredStudy;
use crate::told::Measured;

/// Rows of a request at most.
const REQUEST: usize = 2048;
/// What whoever asks for the next plan claims, so that workers do not all ask at once.
const ASKING: &str = "asking";
/// How long an item belongs to a worker that was not heard of, at most.
const LEASE: Duration = Duration::from_secs(60);
/// How often a worker looks whether there is something to do.
const PAUSE: Duration = Duration::from_millis(100);

/// What a worker does.
#[derive(Debug, Clone)]
pub struct WorkOptions {
    /// The program that measures.
    pub program: Program,
    /// How long an item may take without a sign of life, which a worker gives three times as often.
    pub lease: Duration,
    /// What to ask for when nothing is open; nothing if not given, and the worker ends then.
    pub ask: Option<AskOptions>,
    /// Rounds of the study after which nothing more is asked for.
    pub rounds: usize,
    /// Items that this worker measures at most.
    pub items: usize,
    /// How often an item is tried again.
    pub retries: usize,
    /// Where answers of the program are kept until they are told.
    pub journal: PathBuf,
}

/// What a worker did last.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkEvent {
    /// It asked for a plan of so many items.
    Asked(usize),
    /// It began an item.
    Started(u64),
    /// It told so many rows of an item.
    Told(u64, usize),
    /// An item could not be measured, and why; whether it will be tried again.
    Failed(u64, String, bool),
    /// Somebody else had told the item meanwhile.
    Overtaken(u64),
    /// The program has something to say.
    Note(String),
}

/// What a worker did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Worked {
    /// Items told.
    pub told: usize,
    /// Attempts that failed.
    pub failed: usize,
    /// Rows told.
    pub rows: usize,
}

impl StoredStudy {
    /// Work with a program in this folder, which has so long for an answer: what is open is measured, and nothing is
    /// asked for.
    ///
    /// # Errors
    /// A program without a name, or a time of nothing.
    pub fn working_with(&self, command: &[String], timeout: Duration) -> Result<WorkOptions> {
        let definition = self.definition();
        let (inputs, outputs) = (definition.inputs.len(), definition.outputs.len());
        let program = Program::new(command.to_vec(), Path::new("."), timeout, inputs)?;
        Ok(WorkOptions {
            program: program.with_outputs(outputs)?,
            // While the program measures, the lease is renewed: it has to outlast a worker that is slow to do so only.
            lease: (timeout + LEASE / 2).min(LEASE),
            ask: None,
            rounds: 0,
            items: usize::MAX,
            retries: 2,
            journal: std::env::temp_dir(),
        })
    }

    /// Measures items with a program until there is nothing left to do.
    ///
    /// # Errors
    /// A store that cannot be read or written, or a plan that cannot be made. What the program does wrong fails its
    /// item only.
    pub fn work(
        &mut self,
        options: &WorkOptions,
        watch: &mut dyn FnMut(&WorkEvent),
    ) -> Result<Worked> {
        let mut worked = Worked::default();
        while worked.told < options.items {
            match self.start(None, options.lease)? {
                Some(tracked) => self.measure_item(&tracked, options, &mut worked, watch)?,
                None if self.more_to_come(options, watch)? => {}
                None => break,
            }
        }
        Ok(worked)
    }

    /// Whether there may be something to do later: others measure, or a plan was just asked for.
    fn more_to_come(
        &mut self,
        options: &WorkOptions,
        watch: &mut dyn FnMut(&WorkEvent),
    ) -> Result<bool> {
        let Some(ask) = &options.ask else {
            return Ok(false);
        };
        let status = self.status()?;
        if status.items.running > 0 {
            std::thread::sleep(PAUSE);
            return Ok(true);
        }
        if self.study().rounds() >= options.rounds {
            return Ok(false);
        }
        if !self.store.claim(&self.name, ASKING).map_err(of_store)? {
            std::thread::sleep(PAUSE);
            return Ok(true);
        }
        let asked = self.ask_if_idle(ask, options.rounds);
        self.store.release(&self.name, ASKING).map_err(of_store)?;
        if let Some(items) = asked? {
            watch(&WorkEvent::Asked(items));
        }
        Ok(true)
    }

    /// Asks, unless somebody has in the meantime.
    fn ask_if_idle(&mut self, ask: &AskOptions, rounds: usize) -> Result<Option<usize>> {
        let status = self.status()?;
        if !status.open.is_empty() || self.study().rounds() >= rounds {
            return Ok(None);
        }
        Ok(Some(self.ask(ask)?.plan.items.len()))
    }

    fn measure_item(
        &mut self,
        tracked: &TrackedItem,
        options: &WorkOptions,
        worked: &mut Worked,
        watch: &mut dyn FnMut(&WorkEvent),
    ) -> Result<()> {
        let item = tracked.item.id;
        watch(&WorkEvent::Started(item));
        let journal = options
            .journal
            .join(format!("{}-item-{item}.jsonl", plain(&self.name)));
        let measured = self.measure(tracked, options, &journal, watch);
        let rows = match measured {
            Ok(rows) => rows,
            Err(error) => {
                worked.failed += 1;
                let retry = self.releases(item) < options.retries;
                let reason = error.to_string();
                watch(&WorkEvent::Failed(item, reason.clone(), retry));
                self.refresh()?;
                if self.is_open(item) {
                    self.fail(item, &reason, retry)?;
                }
                return Ok(());
            }
        };
        match self.tell(item, None, &Measured::new(rows)) {
            Ok(receipt) => {
                worked.told += 1;
                worked.rows += receipt.batch.rows;
                watch(&WorkEvent::Told(item, receipt.batch.rows));
            }
            Err(Error::Input(_)) if !self.is_open(item) => watch(&WorkEvent::Overtaken(item)),
            Err(error) => return Err(error),
        }
        // What was told needs no second copy.
        let _ = std::fs::remove_file(&journal);
        Ok(())
    }

    /// Has the program measure what is missing of an item.
    fn measure(
        &mut self,
        tracked: &TrackedItem,
        options: &WorkOptions,
        journal: &Path,
        watch: &mut dyn FnMut(&WorkEvent),
    ) -> Result<Samples> {
        let item = tracked.item.id;
        let mut session = Session::open(&options.program, journal)?;
        let mut left = tracked.item.n.saturating_sub(tracked.collected);
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let mut part = 0;
        while left > 0 {
            let count = left.min(REQUEST);
            let keys = [item, tracked.collected as u64, part];
            let mut rng = derive(self.study().config().seed, Purpose::Collect, &keys);
            let request = Request {
                target: None,
                task: Some(tracked.item.task.to_vec()),
                count,
                seed: seed(&mut rng),
            };
            let rows = self.alive(item, options.lease, || session.ask(&request));
            while let Some(note) = session.take_note() {
                watch(&WorkEvent::Note(note));
            }
            let rows = rows?;
            inputs.extend_from_slice(rows.inputs());
            outputs.extend_from_slice(rows.outputs());
            left -= count;
            part += 1;
        }
        session.close()?;
        let definition = self.definition();
        let (width, labels) = (definition.inputs.len(), definition.outputs.len());
        Ok(Samples::new(inputs, width, outputs, labels)?)
    }

    /// Does something that takes its time, and renews the lease on an item meanwhile.
    fn alive<T>(&mut self, item: u64, lease: Duration, work: impl FnOnce() -> T) -> T {
        let (done, ended) = channel::<()>();
        let pause = (lease / 3).max(PAUSE);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(pause) {
                    // A store that is away ends no measurement: rows that come late are taken too.
                    let _ = self.heartbeat(item, lease);
                }
            });
            let result = work();
            drop(done);
            result
        })
    }

    /// How often an item was given back.
    fn releases(&self, item: u64) -> usize {
        self.state.about.releases.get(&item).copied().unwrap_or(0)
    }
}

/// A name as a part of a file's name.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() { c } else { '-' };
    name.chars().map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_studies_become_names_of_files() {
        assert_eq!(plain("two days/../etc"), "two-days----etc");
        assert_eq!(plain("Übung 7"), "Übung-7");
    }
}
