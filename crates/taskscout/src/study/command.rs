//! What one can ask of a study, and the events that follow.

use super::ask::Available;
use super::event::{BatchId, Event};
use super::{Progress, Study};
use crate::data::Samples;
use crate::error::{Error, Result};
use crate::space::Space;
use crate::strategy::Plan;
use crate::target::Target;
use crate::task::Task;

/// Something asked of a study. [`Study::decide`] turns it into the [`Event`] that follows, which
/// [`Study::apply`] takes in.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Command<'a> {
    /// Plan the collection of some samples.
    Ask {
        /// How many.
        budget: usize,
        /// How many a task has left; none if there is no limit.
        available: Option<Available<'a>>,
    },
    /// Take rows of a plan item.
    Tell {
        /// The item.
        item: u64,
        /// The task that was really achieved, if it was another.
        achieved: Option<&'a Task>,
        /// The rows.
        samples: &'a Samples,
    },
    /// Take rows of a target.
    TellTarget {
        /// The target.
        target: usize,
        /// The rows.
        samples: &'a Samples,
    },
    /// Name a target.
    AddTarget {
        /// The target.
        target: &'a Target,
    },
    /// Take rows of a source task that nobody asked for.
    Add {
        /// The task.
        task: &'a Task,
        /// The rows.
        samples: &'a Samples,
    },
    /// Give a plan item up.
    Fail {
        /// The item.
        item: u64,
        /// Why.
        reason: &'a str,
    },
    /// Forget rows.
    Retract {
        /// The batch.
        batch: &'a BatchId,
    },
    /// Write something down.
    Note {
        /// What.
        text: &'a str,
    },
    /// Make all that was told so far final.
    Settle,
}

impl std::fmt::Debug for Command<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ask { .. } => "Ask",
            Self::Tell { .. } => "Tell",
            Self::TellTarget { .. } => "TellTarget",
            Self::AddTarget { .. } => "AddTarget",
            Self::Add { .. } => "Add",
            Self::Fail { .. } => "Fail",
            Self::Retract { .. } => "Retract",
            Self::Note { .. } => "Note",
            Self::Settle => "Settle",
        })
    }
}

impl Study {
    /// What follows from a command, if it can be done; nothing changes yet.
    ///
    /// ```
    /// # use taskscout::features::FeatureMap;
    /// # use taskscout::space::Space;
    /// # use taskscout::strategy::{StrategyConfig, StrategyKind};
    /// # use taskscout::study::StudyConfig;
    /// # use taskscout::target::Target;
    /// use taskscout::study::{Command, Study};
    /// # let config = StudyConfig::new(
    /// #     Space::one_hot(3)?,
    /// #     FeatureMap::identity(2)?,
    /// #     vec![Target::unknown("tomorrow")],
    /// #     StrategyConfig::new(StrategyKind::Passive),
    /// # )?;
    /// let mut study = Study::new(config)?;
    /// let mut log = study.snapshot()?;
    /// // Written before it takes effect: after a crash nothing is missing.
    /// let event = study.decide(&Command::Ask { budget: 30, available: None })?;
    /// log.extend(event.to_bytes()?);
    /// study.apply(event)?;
    /// assert_eq!(Study::restore(&log)?.snapshot()?, study.snapshot()?);
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// What the method of the same name refuses.
    pub fn decide(&self, command: &Command<'_>) -> Result<Event> {
        match *command {
            Command::Ask { budget, available } => {
                let plan = Box::new(self.plan(budget, available)?);
                Ok(Event::Planned { plan })
            }
            Command::Tell {
                item,
                achieved,
                samples,
            } => self.told(item, achieved, samples),
            Command::TellTarget { target, samples } => self.target_told(target, samples),
            Command::AddTarget { target } => {
                self.config.with_target(target).validate()?;
                let target = Box::new(target.clone());
                Ok(Event::TargetAdded { target })
            }
            Command::Add { task, samples } => self.added(task, samples),
            Command::Fail { item, reason } => {
                self.open_item(item)?;
                let reason = reason.to_owned();
                Ok(Event::Failed { item, reason })
            }
            Command::Retract { batch } => {
                self.find_batch(batch)?;
                let batch = batch.clone();
                Ok(Event::Retracted { batch })
            }
            Command::Note { text } => Ok(Event::Noted {
                text: text.to_owned(),
            }),
            Command::Settle => Ok(Event::Settled),
        }
    }

    fn execute(&mut self, command: &Command<'_>) -> Result<Option<BatchId>> {
        let event = self.decide(command)?;
        self.apply(event)
    }

    /// Takes rows in, and names the batch.
    fn take(&mut self, command: &Command<'_>) -> Result<BatchId> {
        named(self.execute(command)?)
    }

    /// Plans the collection of `budget` samples. Items of earlier plans may still be open: what they will
    /// bring counts as there already.
    ///
    /// # Errors
    /// A budget too small for the tasks, or too little data to plan with.
    pub fn ask(&mut self, budget: usize) -> Result<Plan> {
        self.ask_for(budget, None)
    }

    /// Plans the collection of `budget` samples where tasks have finitely many: `available` says how
    /// many a task has left now, none if there is no limit.
    ///
    /// In a finite space designs are solved again within the limits, over the tasks that have
    /// something left. If all tasks together have less than the budget, the plan holds all of it, and
    /// [`Plan::short`] says how much is missing. Where tasks have enough left, the plan is that of [`Study::ask`].
    ///
    /// In an infinite space limits come to bear on the tasks of the plan only: what one cannot give
    /// goes to the others in proportion, and what none of them can is missing.
    ///
    /// ```
    /// # use taskscout::features::FeatureMap;
    /// # use taskscout::space::Space;
    /// # use taskscout::strategy::{StrategyConfig, StrategyKind};
    /// # use taskscout::study::{Study, StudyConfig};
    /// # use taskscout::target::Target;
    /// let mut study = Study::new(StudyConfig::new(
    ///     Space::one_hot(3)?,
    ///     FeatureMap::identity(2)?,
    ///     vec![Target::unknown("tomorrow")],
    ///     StrategyConfig::new(StrategyKind::Passive),
    /// )?)?;
    /// // The first flight has 5 rows, the second none, the third as many as one likes.
    /// let left = [Some(5), Some(0), None];
    /// let plan = study.ask_within(90, &|task| {
    ///     task.iter().zip(left).find(|(here, _)| **here > 0.5)?.1
    /// })?;
    /// let counts: Vec<usize> = plan.items.iter().map(|item| item.n).collect();
    /// assert_eq!((counts, plan.short), (vec![5, 85], 0));
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Study::ask`], and no task with anything left.
    pub fn ask_within(
        &mut self,
        budget: usize,
        available: &dyn Fn(&Task) -> Option<usize>,
    ) -> Result<Plan> {
        self.ask_for(budget, Some(available))
    }

    fn ask_for(&mut self, budget: usize, available: Option<Available<'_>>) -> Result<Plan> {
        let planned = self.plan(budget, available)?;
        let plan = planned.plan.clone();
        self.apply(Event::Planned {
            plan: Box::new(planned),
        })?;
        Ok(plan)
    }

    /// Takes raw samples of a plan item: all at once or batch by batch, fewer than asked for or more.
    /// Either all rows of a batch are taken or none.
    ///
    /// The item is done when at least as many have come as were asked for. One that will bring no more
    /// is ended with [`Study::fail`]; rows that come after it is done are [added](Study::add).
    ///
    /// # Errors
    /// An item that is unknown or closed, or rows that do not fit.
    pub fn tell(&mut self, item: u64, samples: &Samples) -> Result<BatchId> {
        self.take(&Command::Tell {
            item,
            achieved: None,
            samples,
        })
    }

    /// Takes raw samples of a plan item whose task turned out to be another than the one asked for:
    /// they count as what they are.
    ///
    /// # Errors
    /// As [`Study::tell`], and a task outside the space. A table of candidates may be left: what was
    /// achieved need not be listed.
    pub fn tell_achieved(
        &mut self,
        item: u64,
        achieved: &Task,
        samples: &Samples,
    ) -> Result<BatchId> {
        self.take(&Command::Tell {
            item,
            achieved: Some(achieved),
            samples,
        })
    }

    /// Takes raw samples of a source task that nobody asked for: old logs, a colleague's run.
    ///
    /// # Errors
    /// A task outside the space, or rows that do not fit.
    pub fn add(&mut self, task: &Task, samples: &Samples) -> Result<BatchId> {
        self.take(&Command::Add { task, samples })
    }

    /// Names a target that nobody knew of when the study began, and gives its index.
    ///
    /// ```
    /// # use taskscout::data::Samples;
    /// # use taskscout::features::FeatureMap;
    /// # use taskscout::space::Space;
    /// # use taskscout::strategy::{StrategyConfig, StrategyKind};
    /// # use taskscout::study::{Study, StudyConfig};
    /// # use taskscout::target::Target;
    /// # let collect = |task: &[f64], n: usize| {
    /// #     let x: Vec<f64> = (0..2 * n).map(|i| (i as f64 * 0.7).sin()).collect();
    /// #     let y = x.chunks(2).map(|x| task[0] * x[0] + task[1] * x[1]).collect();
    /// #     Samples::new(x, 2, y, 1)
    /// # };
    /// // No target yet: learn what all tasks have in common.
    /// let mut study = Study::new(StudyConfig::new(
    ///     Space::ball(3, 1.0)?,
    ///     FeatureMap::identity(2)?,
    ///     vec![],
    ///     StrategyConfig::new(StrategyKind::Agnostic),
    /// )?)?;
    /// for _round in 0..2 {
    ///     for item in study.ask(60)?.items {
    ///         study.tell(item.id, &collect(&item.task, item.n)?)?;
    ///     }
    /// }
    /// let saved = study.snapshot()?;
    ///
    /// // Next month somebody cares about a task.
    /// let mut study = Study::restore(&saved)?;
    /// let storm = study.add_target(&Target::unknown("storm"))?;
    /// study.tell_target(storm, &collect(&[0.8, 0.1], 10)?)?;
    /// let force = &study.predictors()?[0].returned.coefficients[0];
    /// assert!((force[0] - 0.8).abs() < 0.05);
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// A target that does not fit the space, or a name that is taken.
    pub fn add_target(&mut self, target: &Target) -> Result<usize> {
        self.execute(&Command::AddTarget { target })?;
        Ok(self.config.targets.len() - 1)
    }

    /// Takes raw samples of a target.
    ///
    /// # Errors
    /// A target that is unknown or a mere distribution, or rows that do not fit.
    pub fn tell_target(&mut self, target: usize, samples: &Samples) -> Result<BatchId> {
        self.take(&Command::TellTarget { target, samples })
    }

    /// Gives a plan item up; what had come back is kept.
    ///
    /// # Errors
    /// An item that is unknown or closed.
    pub fn fail(&mut self, item: u64, reason: &str) -> Result<()> {
        self.execute(&Command::Fail { item, reason }).map(|_| ())
    }

    /// Forgets rows that turned out to be wrong: the study is, bit for bit, the one that never saw
    /// them. Plans that were made since stay as they are.
    ///
    /// # Errors
    /// A batch that is not there, or was settled.
    pub fn retract(&mut self, batch: &BatchId) -> Result<()> {
        self.execute(&Command::Retract { batch }).map(|_| ())
    }

    /// Writes something down.
    ///
    /// # Errors
    /// None at present.
    pub fn note(&mut self, text: &str) -> Result<()> {
        self.execute(&Command::Note { text }).map(|_| ())
    }

    /// Makes all that was told so far final: memory and snapshots no longer grow with the number of
    /// batches, and nothing of it can be retracted.
    ///
    /// # Errors
    /// None at present.
    pub fn settle(&mut self) -> Result<()> {
        self.execute(&Command::Settle).map(|_| ())
    }

    fn told(&self, item: u64, achieved: Option<&Task>, samples: &Samples) -> Result<Event> {
        let index = self.open_item(item)?;
        let asked = &self.items[index].item.task;
        let task = achieved.filter(|achieved| achieved.id != asked.id);
        if let Some(task) = task {
            self.check_source(task)?;
        }
        Ok(Event::Told {
            item,
            features: self.config.features_of(task.unwrap_or(asked)),
            task: task.cloned(),
            rows: self.batch(samples)?,
        })
    }

    fn added(&self, task: &Task, samples: &Samples) -> Result<Event> {
        self.check_source(task)?;
        Ok(Event::Added {
            task: task.clone(),
            features: self.config.features_of(task),
            rows: self.batch(samples)?,
        })
    }

    fn target_told(&self, target: usize, samples: &Samples) -> Result<Event> {
        let targets = &self.config.targets;
        match targets.get(target) {
            None => Err(Error::State(format!(
                "there is no target {target}: this study has {}",
                targets.len()
            ))),
            Some(own) if !own.can_have_samples() => Err(Error::State(format!(
                "target `{}` is a distribution over tasks: it has no samples of its own",
                own.name
            ))),
            Some(_) => {
                let rows = self.featurise(samples)?;
                self.data.check_rows(&rows)?;
                let blocks = self.data.split_into_folds(&rows);
                Ok(Event::TargetTold { target, blocks })
            }
        }
    }

    /// Whether data of a task may be taken that no plan named.
    fn check_source(&self, task: &Task) -> Result<()> {
        self.config.space.admit(task)?;
        let known = self.data.sources().iter().map(|entry| &entry.task);
        let planned = self.items.iter().map(|tracked| &tracked.item.task);
        let listed = match &self.config.space {
            Space::List(list) => {
                let row = self.config.space.row_of(&task.id);
                row.and_then(|row| list.get(row))
            }
            _ => None,
        };
        let mut same = known.chain(planned).filter(|known| known.id == task.id);
        let other = same.find(|known| known.parameters() != task.parameters());
        let expected = other.map(Task::parameters);
        let differs = |listed: &&[f64]| *listed != task.parameters();
        match expected.or_else(|| listed.filter(differs)) {
            None => Ok(()),
            Some(expected) => Err(Error::State(format!(
                "task `{}` has parameters {expected:?}, but is told with {:?}: give it another id",
                task.id,
                task.parameters()
            ))),
        }
    }

    pub(super) fn open_item(&self, id: u64) -> Result<usize> {
        let index = usize::try_from(id)
            .ok()
            .filter(|&index| index < self.items.len());
        let Some(index) = index else {
            return Err(Error::State(if self.items.is_empty() {
                format!("there is no item {id}: nothing has been asked for yet")
            } else {
                format!(
                    "there is no item {id}: items so far are 0 to {}",
                    self.items.len() - 1
                )
            }));
        };
        match &self.items[index].progress {
            Progress::Open => Ok(index),
            Progress::Done => Err(Error::State(format!(
                "item {id} is complete: use `add` for more rows of its task"
            ))),
            Progress::Failed { reason } => Err(Error::State(format!(
                "item {id} was given up ({reason}): ask for a new plan"
            ))),
        }
    }
}

/// The name of rows that came.
pub(super) fn named(batch: Option<BatchId>) -> Result<BatchId> {
    batch.ok_or_else(|| Error::State("rows were told, and no batch was made of them".into()))
}
