//! What events make of a study.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use super::event::{BatchId, Carried, CarriedTask, Course, Event, Planned};
use super::fits::{Cache, KeptStart, STARTS_KEPT};
use super::{Progress, Study, StudyConfig, TrackedItem};
use crate::data::{Rows, RowsOrStatistics, SourceData, Stage, Statistics, TaskData};
use crate::error::{Error, Result};
use crate::features::Features as _;
use crate::space::TaskSpace as _;
use crate::target::Target;
use crate::task::{Task, TaskId};

/// An event, and the name of the batch that it brought, once somebody has asked for it: a name is a digest of all rows.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub(super) event: Arc<Event>,
    batch: OnceLock<Option<BatchId>>,
}

impl Recorded {
    fn of(event: Event) -> Self {
        Self {
            event: Arc::new(event),
            batch: OnceLock::new(),
        }
    }

    /// The name of the batch; an event that cannot be written has none.
    pub(super) fn batch(&self) -> Option<&BatchId> {
        let name = || self.event.batch().ok().flatten();
        self.batch.get_or_init(name).as_ref()
    }
}

impl Study {
    /// A study without data.
    pub(super) fn create(config: StudyConfig, keeps_rows: bool) -> Result<Self> {
        let mut study = Self::empty(config, keeps_rows)?;
        study.events.push(Recorded::of(Event::Created {
            config: Box::new(study.config.clone()),
            keeps_rows,
        }));
        Ok(study)
    }

    fn empty(config: StudyConfig, keeps_rows: bool) -> Result<Self> {
        let mut data = TaskData::new(
            config.input_features.dim(),
            config.outputs,
            config.task_dim(),
        );
        if keeps_rows {
            data = data.keeping_rows();
        }
        for (index, target) in config.targets.iter().enumerate() {
            data.add_target(&target.name, config.target_features(index))?;
        }
        Ok(Self {
            config,
            events: Vec::new(),
            data,
            items: Vec::new(),
            rounds: 0,
            exploration: None,
            starts: Vec::new(),
            notes: Vec::new(),
            cache: Cache::default(),
        })
    }

    /// The study that some events make, the first of which created it. What is the user's own is attached
    /// afterwards ([`Study::attach`]).
    ///
    /// # Errors
    /// Events that do not follow from each other.
    pub fn of_events(events: impl IntoIterator<Item = Event>) -> Result<Self> {
        let mut events = events.into_iter();
        let Some(Event::Created { config, keeps_rows }) = events.next() else {
            return Err(Error::unreadable(
                "the study",
                "does not begin with its settings: restore the file from a copy",
            ));
        };
        config.validate_shape()?;
        let mut study = Self::create(*config, keeps_rows)?;
        for event in events {
            study.take_in(event)?;
        }
        Ok(study)
    }

    /// Takes an event in, and names the batch that it brought, if it brought one.
    ///
    /// # Errors
    /// An event that does not follow from the state; nothing has changed then.
    pub fn apply(&mut self, event: Event) -> Result<Option<BatchId>> {
        let batch = event.batch()?;
        let recorded = Recorded::of(event);
        let _ = recorded.batch.set(batch.clone());
        self.record(recorded)?;
        Ok(batch)
    }

    /// The same where nobody asks for the name.
    ///
    /// # Errors
    /// As for [`Study::apply`].
    pub(crate) fn take_in(&mut self, event: Event) -> Result<()> {
        self.record(Recorded::of(event))
    }

    fn record(&mut self, recorded: Recorded) -> Result<()> {
        match &*recorded.event {
            Event::Retracted { batch } => self.forget(batch),
            Event::Settled => self.carry(),
            event => {
                self.change(event)?;
                self.events.push(recorded);
                Ok(())
            }
        }
    }

    /// The events that made the study what it is, without those that were retracted.
    pub fn events(&self) -> impl ExactSizeIterator<Item = &Event> {
        self.events.iter().map(|recorded| &*recorded.event)
    }

    /// The batches of rows that can be retracted, oldest first, with the events that brought them.
    pub fn batches(&self) -> impl Iterator<Item = (&BatchId, &Event)> {
        let named = self.events.iter();
        named.filter_map(|recorded| Some((recorded.batch()?, &*recorded.event)))
    }

    /// The place of the newest batch of a name.
    pub(super) fn find_batch(&self, batch: &BatchId) -> Result<usize> {
        let has = |recorded: &Recorded| recorded.batch() == Some(batch);
        self.events.iter().rposition(has).ok_or_else(|| {
            Error::State(format!(
                "there is no batch {batch} to retract: it was never told, was retracted, or is settled"
            ))
        })
    }

    fn forget(&mut self, batch: &BatchId) -> Result<()> {
        let at = self.find_batch(batch)?;
        let mut events = self.events.clone();
        events.remove(at);
        // Targets that were named later come with their events.
        let mut config = self.config.clone();
        if let Some(Event::Created { config: first, .. }) = events.first().map(|one| &*one.event) {
            config.targets.truncate(first.targets.len());
        }
        let mut study = Self::empty(config, self.data.keeps_rows())?;
        for recorded in &events {
            study.change(&recorded.event)?;
        }
        study.events = events;
        *self = study;
        Ok(())
    }

    /// Makes one event of all but the first.
    fn carry(&mut self) -> Result<()> {
        let source = |entry: &crate::data::SourceData| CarriedTask {
            task: entry.task.clone(),
            features: entry.features.clone(),
            stage: entry.stage,
            round: entry.round,
            rows: as_batch(&entry.statistics, &entry.rows),
        };
        let folds = |target: &crate::data::TargetData| {
            let folds = target.folds.iter().zip(&target.rows);
            folds.map(|(fold, rows)| as_batch(fold, rows)).collect()
        };
        let data = Carried {
            sources: self.data.sources().iter().map(source).collect(),
            targets: self.data.targets().iter().map(folds).collect(),
            version: self.data.version(),
        };
        let starts = self.starts.iter();
        let course = Course {
            items: self.items.clone(),
            rounds: self.rounds,
            exploration: self.exploration.clone(),
            starts: starts
                .map(|start| (start.version, (*start.start).clone()))
                .collect(),
            notes: self.notes.clone(),
        };
        let carried = Recorded::of(Event::Carried {
            data,
            course: Box::new(course),
        });
        self.events = vec![
            Recorded::of(Event::Created {
                config: Box::new(self.config.clone()),
                keeps_rows: self.data.keeps_rows(),
            }),
            carried,
        ];
        Ok(())
    }

    /// Changes the state, or nothing if the event does not follow from it.
    fn change(&mut self, event: &Event) -> Result<()> {
        match event {
            Event::Created { .. } if self.events.is_empty() => Ok(()),
            Event::Planned { plan } => self.take_plan(plan),
            Event::Told {
                item,
                task,
                features,
                rows,
            } => self.take_rows(*item, task.as_ref(), features, rows),
            Event::TargetTold { target, blocks } => self.data.add_target_blocks(*target, blocks),
            Event::TargetAdded { target } => self.take_target(target),
            Event::Added {
                task,
                features,
                rows,
            } => {
                Error::check_length("the task", self.config.space.dim(), task.len())?;
                // Every oracle uses what exploration found.
                let when = (Stage::Explore, self.rounds);
                self.data.add_source_batch(task, features, when, rows)
            }
            Event::Failed { item, reason } => {
                let index = self.open_item(*item)?;
                self.items[index].progress = Progress::Failed {
                    reason: reason.clone(),
                };
                Ok(())
            }
            Event::Noted { text } => {
                self.notes.push(text.clone());
                Ok(())
            }
            Event::Carried { data, course } if self.is_untouched() => self.take_over(data, course),
            Event::Created { .. }
            | Event::Carried { .. }
            | Event::Retracted { .. }
            | Event::Settled => Err(does_not_follow("only a new study begins like that")),
        }
    }

    fn is_untouched(&self) -> bool {
        self.data.version() == 0 && self.rounds == 0 && self.notes.is_empty()
    }

    /// Stages and tasks that items after this one brought data of, and none before it: rows that workers tell in
    /// another order than they were planned in end in the same place.
    fn first_told_by_later_items(&self, index: usize) -> Vec<(Stage, TaskId)> {
        let came = |one: &&TrackedItem| one.collected > 0;
        let place = |one: &TrackedItem| (one.item.stage, one.item.task.id.clone());
        let (before, after) = self.items.split_at(index);
        let mut later: Vec<_> = after.iter().filter(came).map(place).collect();
        if !later.is_empty() {
            let earlier: HashSet<_> = before.iter().filter(came).map(place).collect();
            later.retain(|place| !earlier.contains(place));
        }
        later
    }

    /// Takes rows of an item in, of the task that they came from if it is another one.
    fn take_rows(
        &mut self,
        item: u64,
        task: Option<&Task>,
        features: &[f64],
        rows: &RowsOrStatistics,
    ) -> Result<()> {
        let index = self.open_item(item)?;
        let later = self.first_told_by_later_items(index);
        let tracked = &mut self.items[index];
        let task = task.unwrap_or(&tracked.item.task);
        Error::check_length("the task", self.config.space.dim(), task.len())?;
        let when = (tracked.item.stage, tracked.round);
        if !rows.is_empty() {
            let follows =
                |entry: &SourceData| later.contains(&(entry.stage, entry.task.id.clone()));
            self.data
                .insert_source_batch(task, features, when, rows, &follows)?;
        }
        tracked.collected += rows.len();
        if tracked.collected >= tracked.item.n {
            tracked.progress = Progress::Done;
        }
        Ok(())
    }

    fn take_target(&mut self, target: &Target) -> Result<()> {
        let config = self.config.with_target(target);
        config.validate_shape()?;
        if target.has_own_task_feature() {
            self.data.add_task_feature();
        }
        let features = config.target_features(config.targets.len() - 1);
        self.data.add_target(&target.name, features)?;
        self.config = config;
        self.cache.forget_targets();
        Ok(())
    }

    fn take_plan(&mut self, planned: &Planned) -> Result<()> {
        let plan = &planned.plan;
        if plan.round != self.rounds {
            return Err(does_not_follow(&format!(
                "it plans round {}, but the next one is {}",
                plan.round, self.rounds
            )));
        }
        for (item, id) in plan.items.iter().zip(self.items.len() as u64..) {
            if item.id != id {
                return Err(does_not_follow(&format!(
                    "it has item {} where {id} comes next",
                    item.id
                )));
            }
            let place = format!("the task of item {id}");
            Error::check_length(&place, self.config.space.dim(), item.task.len())?;
        }
        self.items.extend(plan.items.iter().map(|item| TrackedItem {
            item: item.clone(),
            round: plan.round,
            collected: 0,
            progress: Progress::Open,
        }));
        if planned.exploration.is_some() {
            self.exploration.clone_from(&planned.exploration);
        }
        let version = self.data.version();
        self.starts
            .extend(planned.start.iter().map(|start| KeptStart {
                version,
                start: Arc::new(start.clone()),
            }));
        let surplus = self.starts.len().saturating_sub(STARTS_KEPT);
        self.starts.drain(..surplus);
        self.rounds += 1;
        Ok(())
    }

    fn take_over(&mut self, data: &Carried, course: &Course) -> Result<()> {
        let parameters = self.config.space.dim();
        for (tracked, id) in course.items.iter().zip(0..) {
            if tracked.item.id != id {
                return Err(Error::unreadable(
                    "the study",
                    format!(
                        "has item {} in the place of {id}: restore the file from a copy",
                        tracked.item.id
                    ),
                ));
            }
            let place = format!("the task of item {id}");
            Error::check_length(&place, parameters, tracked.item.task.len())?;
        }
        for task in course.exploration.iter().flat_map(|design| &design.tasks) {
            Error::check_length("a task of the exploration design", parameters, task.len())?;
        }
        let targets = self.data.targets().len();
        Error::check_length("the data's targets", targets, data.targets.len())?;
        let mut taken = self.data.clone();
        for source in &data.sources {
            Error::check_length("a source task", parameters, source.task.len())?;
            let when = (source.stage, source.round);
            taken.add_source_batch(&source.task, &source.features, when, &source.rows)?;
        }
        for (target, folds) in data.targets.iter().enumerate() {
            for (fold, batch) in folds.iter().enumerate() {
                taken.add_to_fold(target, fold, batch)?;
            }
        }
        taken.set_version(data.version);
        self.data = taken;
        self.items.clone_from(&course.items);
        self.rounds = course.rounds;
        self.exploration.clone_from(&course.exploration);
        let starts = course.starts.iter();
        self.starts = starts
            .map(|(version, start)| KeptStart {
                version: *version,
                start: Arc::new(start.clone()),
            })
            .collect();
        self.notes.clone_from(&course.notes);
        Ok(())
    }
}

fn as_batch(statistics: &Arc<Statistics>, rows: &Rows) -> RowsOrStatistics {
    let statistics = Arc::clone(statistics);
    if rows.is_empty() {
        return RowsOrStatistics::Statistics(statistics);
    }
    let rows = rows.clone();
    RowsOrStatistics::StatisticsAndRows { statistics, rows }
}

fn does_not_follow(why: &str) -> Error {
    Error::State(format!(
        "the event does not follow from the state of the study: {why}"
    ))
}
