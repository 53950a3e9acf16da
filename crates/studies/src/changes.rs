//! What people and programs do to a study: rows told, items given up, batches retracted, targets named.

use taskscout::data::Samples;
use taskscout::study::{BatchId, Command, Event, Progress, Study};
use taskscout::target::Target;
use taskscout::task::Task;

use crate::definition::Scaling;
use crate::entry::{Entry, Happened, Told};
use crate::error::{Error, Result};
use crate::state::Batch;
use crate::stored::{Draft, Step, StoredStudy};
use crate::told::{Measured, digest, same_rows};

/// What became of rows that were told.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Receipt {
    /// The batch.
    pub batch: Batch,
    /// Whether the same rows had been told before, so that nothing changed.
    pub already: bool,
    /// What the same rows were told for before, where that was something else: a file may have been mistaken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
}

impl StoredStudy {
    /// Takes rows of a plan item, of the task that was really achieved if it was another.
    ///
    /// # Errors
    /// No such item, one that is complete or given up, rows that do not fit, or a store that cannot be written.
    pub fn tell(&mut self, item: u64, achieved: Option<&Task>, rows: &Measured) -> Result<Receipt> {
        let what = format!("item {item}");
        self.take(&what, achieved, rows, &|study, samples| {
            study.decide(&Command::Tell {
                item,
                achieved,
                samples,
            })
        })
    }

    /// Takes rows of a target.
    ///
    /// # Errors
    /// No such target, rows that do not fit, or a store that cannot be written.
    pub fn tell_target(&mut self, target: &str, rows: &Measured) -> Result<Receipt> {
        let what = format!("target {target}");
        let index = self.target_index(target)?;
        self.take(&what, None, rows, &|study, samples| {
            study.decide(&Command::TellTarget {
                target: index,
                samples,
            })
        })
    }

    /// Takes rows of a source task that nobody asked for.
    ///
    /// # Errors
    /// A task outside the space, rows that do not fit, or a store that cannot be written.
    pub fn add(&mut self, task: &Task, rows: &Measured) -> Result<Receipt> {
        let what = format!("task {}", task.id);
        self.take(&what, Some(task), rows, &|study, samples| {
            study.decide(&Command::Add { task, samples })
        })
    }

    /// The place of a target by its name.
    pub(crate) fn target_index(&self, target: &str) -> Result<usize> {
        let targets = &self.study().config().targets;
        let names = targets.iter().map(|known| known.name.as_str());
        match targets.iter().position(|known| known.name == target) {
            Some(index) => Ok(index),
            None if targets.is_empty() => Err(Error::Input(format!(
                "the study has no target yet: name one with `target add {target}`"
            ))),
            None => Err(Error::Input(format!(
                "there is no target `{target}`: the targets are {}",
                names.collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    fn take(
        &mut self,
        what: &str,
        task: Option<&Task>,
        rows: &Measured,
        decide: &dyn Fn(&Study, &Samples) -> taskscout::Result<Event>,
    ) -> Result<Receipt> {
        self.check_rows(rows)?;
        let digest = digest(what, task, &rows.samples);
        let chunks = rows.encoded()?;
        // Statistics of many rows take a while: they are made once, unless the scaling changed.
        let mut made: Option<(Event, Scaling)> = None;
        self.refresh()?;
        let already = self.transact(|this| {
            if this.known(&digest).is_some() {
                return Ok(Step::Nothing(true));
            }
            let known = this.scaling().cloned();
            let scaling = known
                .clone()
                .unwrap_or_else(|| this.definition().scaling_for(&rows.samples));
            let event = match made.take() {
                Some((event, by)) if by == scaling && this.follows(&event) => event,
                _ => decide(this.study(), &scaling.apply(&rows.samples)?)?,
            };
            made = Some((event.clone(), scaling.clone()));
            let told = Some(Told {
                digest: digest.clone(),
                source: rows.source.clone(),
            });
            let first = known
                .is_none()
                .then(|| Draft::of(Entry::Scaled(Box::new(scaling))));
            let mut drafts: Vec<Draft> = first.into_iter().collect();
            drafts.push(Draft {
                entry: Entry::Event(Box::new(Happened {
                    event,
                    told,
                    key: None,
                })),
                rows: chunks.clone(),
            });
            Ok(Step::Append(drafts, Vec::new(), false))
        })?;
        let batch = self.known(&digest).cloned();
        let batch =
            batch.ok_or_else(|| Error::Failure("rows were told and are not there".into()))?;
        let mut others = self.batches().iter();
        let same = others.find(|other| other.id != batch.id && same_rows(&other.digest, &digest));
        let same_as = same.map(|other| other.of.to_string());
        Ok(Receipt {
            batch,
            already,
            same_as,
        })
    }

    /// The batch of a digest.
    fn known(&self, digest: &str) -> Option<&Batch> {
        self.batches().iter().find(|batch| batch.digest == digest)
    }

    /// Whether an event still follows from the state.
    fn follows(&self, event: &Event) -> bool {
        self.study().clone().apply(event.clone()).is_ok()
    }

    fn check_rows(&self, rows: &Measured) -> Result<()> {
        let definition = self.definition();
        let (inputs, outputs) = (definition.inputs.len(), definition.outputs.len());
        let (given, labels) = (rows.samples.input_dim(), rows.samples.output_dim());
        if (given, labels) == (inputs, outputs) {
            return Ok(());
        }
        Err(Error::Input(format!(
            "rows have {given} inputs and {labels} outputs, but the study has {inputs} and {outputs}: give the columns {} and {}",
            listed(&definition.names().inputs),
            listed(&definition.names().outputs)
        )))
    }

    /// Gives an item up, or back to be tried again.
    ///
    /// # Errors
    /// No such item, or one that is complete or given up; a store that cannot be written.
    pub fn fail(&mut self, item: u64, reason: &str, retry: bool) -> Result<()> {
        self.refresh()?;
        self.transact(|this| {
            if this.item(item)?.progress == Progress::Done {
                return Err(Error::Input(format!(
                    "item {item} is complete: if its rows are wrong, retract them with `retract --item {item}`"
                )));
            }
            let event = this.study().decide(&Command::Fail { item, reason })?;
            let draft = if retry {
                let reason = reason.to_owned();
                Draft::of(Entry::Released { item, reason })
            } else {
                Draft::event(event)
            };
            Ok(Step::Append(vec![draft], Vec::new(), ()))
        })
    }

    /// Forgets a batch: from here on the study never saw it.
    ///
    /// # Errors
    /// No such batch; a store that cannot be written.
    pub fn retract(&mut self, batch: &BatchId) -> Result<()> {
        self.refresh()?;
        self.transact(|this| {
            if !this.batches().iter().any(|known| known.id == *batch) {
                return Err(Error::Input(format!(
                    "there is no batch {batch}: `batches` lists those that can be retracted"
                )));
            }
            let batch = batch.clone();
            let draft = Draft::event(Event::Retracted { batch });
            Ok(Step::Append(vec![draft], Vec::new(), ()))
        })
    }

    /// Names a target.
    ///
    /// # Errors
    /// A name that is taken, or parameters that do not fit; a store that cannot be written.
    pub fn add_target(&mut self, target: &Target) -> Result<()> {
        self.refresh()?;
        self.transact(|this| {
            let event = this.study().decide(&Command::AddTarget { target })?;
            Ok(Step::Append(vec![Draft::event(event)], Vec::new(), ()))
        })
    }

    /// Writes something down.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn note(&mut self, text: &str) -> Result<()> {
        self.refresh()?;
        self.transact(|this| {
            let event = this.study().decide(&Command::Note { text })?;
            Ok(Step::Append(vec![Draft::event(event)], Vec::new(), ()))
        })
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
