//! The loop: `ask → collect → tell → ask …`.
//!
//! A [`Study`] is a pure, serialisable state machine. It does no input or output and owns no clock,
//! so the same study drives a simulator, a wind tunnel and a test. It holds its configuration, its
//! plans and the statistics of what came back, never a model: models are derived from the data and
//! cached under the version of the data that they came from.

mod apply;
mod ask;
mod blocks;
mod builder;
mod collection;
mod command;
mod config;
mod costs;
mod event;
mod features;
mod file;
mod fits;
mod forecast;
mod forecast_report;
mod identify;
mod knowledge;
mod legacy;
mod limits;
mod loss_forecaster;
mod misfit;
mod planning;
mod snapshot;

use std::borrow::Cow;
use std::sync::Arc;

use apply::Recorded;
pub use ask::Available;
pub use builder::StudyBuilder;
pub use collection::Collection;
pub use command::Command;
pub use config::{External, Oracle, StudyConfig};
pub use event::{BatchId, Carried, CarriedTask, Course, Event, Planned};
pub use file::StudyFile;
use fits::{Cache, KeptStart};
pub use forecast_report::{
    Advice, Forecast, ForecastPoint, ForecastRequest, NextBatch, SpendOn, TargetForecast,
    TargetRows, UnderWay,
};
pub use knowledge::Needs;
use serde::{Deserialize, Serialize};

use crate::data::{Samples, TaskData};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::strategy::{PlanItem, Strategy, TaskDesign};
use crate::train::Trainer;

/// How far the collection of a plan item has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Progress {
    /// Asked for, and not all has come back.
    Open,
    /// All that was asked for has come back, or more.
    Done,
    /// Given up; what had come back is kept.
    Failed {
        /// Why.
        reason: String,
    },
}

/// A plan item and how far it has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrackedItem {
    /// The item.
    pub item: PlanItem,
    /// The round it belongs to.
    pub round: usize,
    /// Samples that have come back: fewer than asked for, as many, or more.
    pub collected: usize,
    /// How far it has come.
    pub progress: Progress,
}

/// A collection campaign: ask for a plan, tell what came back, ask again.
///
/// ```
/// use taskscout::prelude::*;
/// # struct Tunnel;
/// # impl TaskSource for Tunnel {
/// #     fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
/// #         let x: Vec<f64> = (0..3 * n).map(|_| normal(rng)).collect();
/// #         let c = task[0] + 0.5 * task[1];
/// #         let y = x.chunks(3).map(|row| c * (row[0] - row[2])).collect();
/// #         Samples::new(x, 3, y, 1)
/// #     }
/// # }
/// # let mut tunnel = Tunnel;
/// # let mut rng = derive(0, Purpose::Collect, &[]);
/// let mut study = Study::builder(Space::ball(4, 1.0)?)
///     .inputs(3)
///     .target(Target::unknown("tomorrow"))
///     .k(1)
///     .build()?;
/// let tomorrow = Task::point(vec![0.6, 0.8, 0.0, 0.0]);
/// study.tell_target(0, &tunnel.sample(&tomorrow, 40, &mut rng)?)?;
/// for _round in 0..2 {
///     for item in study.ask(200)?.items {
///         study.tell(item.id, &tunnel.sample(&item.task, item.n, &mut rng)?)?;
///     }
/// }
/// let choice = &study.predictors()?[0];
/// println!("{}: {}", choice.target, choice.reason);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Study {
    config: StudyConfig,
    /// What made the rest, in order, with the names of batches.
    events: Vec<Recorded>,
    data: TaskData,
    items: Vec<TrackedItem>,
    rounds: usize,
    exploration: Option<TaskDesign>,
    starts: Vec<KeptStart>,
    notes: Vec<String>,
    cache: Cache,
}

impl Study {
    /// Starts a study.
    ///
    /// # Errors
    /// A setting that does not fit.
    pub fn new(config: StudyConfig) -> Result<Self> {
        config.validate()?;
        let keeps_rows = config
            .oracle
            .trainer()
            .is_ok_and(|trainer| trainer.needs().rows);
        Self::create(config, keeps_rows)
    }

    /// Attaches an input map of the user's own again, after loading.
    ///
    /// # Errors
    /// A map of other dimensions, or a study whose input map is not the user's own.
    pub fn attach_input_features(&mut self, map: Arc<dyn Features>) -> Result<()> {
        self.config.input_features.attach(map)
    }

    /// Attaches a task map of the user's own again, after loading.
    ///
    /// # Errors
    /// A map of other dimensions, or a study whose task map is not the user's own.
    pub fn attach_task_features(&mut self, map: Arc<dyn Features>) -> Result<()> {
        self.config.task_features.attach(map)
    }

    /// Attaches a strategy of the user's own again, after loading.
    ///
    /// # Errors
    /// A study whose strategy is not the user's own.
    pub fn attach_strategy(&mut self, strategy: Arc<dyn Strategy>) -> Result<()> {
        match &mut self.config.own_strategy {
            Some(own) => {
                own.attach(strategy);
                Ok(())
            }
            None => Err(Error::State(format!(
                "the strategy `{}` is complete as it is: only one of your own is attached",
                self.config.strategy.kind
            ))),
        }
    }

    /// Attaches an oracle from outside this crate again, after loading.
    ///
    /// # Errors
    /// A study whose oracle is one of this crate's own.
    pub fn attach_trainer(&mut self, trainer: Arc<dyn Trainer>) -> Result<()> {
        if trainer.needs().rows && !self.data.keeps_rows() && self.data.source_rows() > 0 {
            return Err(Error::State(
                "this oracle learns from rows, but the study kept statistics only: start a new study with it".into(),
            ));
        }
        self.cache = Cache::default();
        self.config.oracle.attach(trainer)
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &StudyConfig {
        &self.config
    }

    /// What has come back so far, as statistics.
    #[must_use]
    pub fn data(&self) -> &TaskData {
        &self.data
    }

    /// Every item ever planned, and how far it has come.
    #[must_use]
    pub fn items(&self) -> &[TrackedItem] {
        &self.items
    }

    /// Rounds planned so far.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// What was written down, in order.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Applies `ψ_X`.
    fn featurise<'a>(&self, samples: &'a Samples) -> Result<Cow<'a, Samples>> {
        self.config.check_ready()?;
        let map = &self.config.input_features;
        Error::check_length("an input row", map.input_dim(), samples.input_dim())?;
        Error::check_length("an output row", self.config.outputs, samples.output_dim())?;
        if map.is_identity() {
            return Ok(Cow::Borrowed(samples));
        }
        let mut features = vec![0.0; samples.len() * map.dim()];
        map.apply(samples.inputs(), &mut features);
        let rows = Samples::new(
            features,
            map.dim(),
            samples.outputs().to_vec(),
            samples.output_dim(),
        )?;
        let rows = match samples.episodes() {
            Some(episodes) => rows.with_episodes(episodes.to_vec())?,
            None => rows,
        };
        Ok(Cow::Owned(rows))
    }
}
