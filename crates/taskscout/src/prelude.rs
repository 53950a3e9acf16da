//! All that a program needs, in one `use`.
//!
//! ```
//! use taskscout::prelude::*;
//! let study = Study::builder(Space::one_hot(3)?).inputs(2).target(Target::unknown("new")).build()?;
//! assert_eq!(study.rounds(), 0);
//! # Ok::<(), taskscout::Error>(())
//! ```

pub use crate::data::{RowsOrStatistics, Samples, Stage, Statistics, TaskData};
pub use crate::design::{Campaign, Candidates, Criterion, Need, Problem};
pub use crate::driver::{Observer, run};
pub use crate::error::{Error, Result};
pub use crate::extension::Extension;
pub use crate::features::{FeatureMap, Features};
pub use crate::model::{AnyRepresentation, Model, Representation};
pub use crate::registry::Registry;
pub use crate::rng::{Purpose, Rng, derive, normal, uniform};
pub use crate::source::TaskSource;
pub use crate::space::{Atom, List, QuadraticForm, Space, TaskSpace};
pub use crate::strategy::{
    Decision, Given, Plan, PlanContext, PlanItem, Split, Strategy, StrategyConfig, StrategyKind,
    WarmUp,
};
pub use crate::study::{
    BatchId, Collection, Command, Event, Forecast, ForecastRequest, Oracle, Progress, Study,
    StudyConfig, StudyFile, TrackedItem,
};
pub use crate::target::Target;
pub use crate::task::{Task, TaskId};
pub use crate::train::{
    AlternatingMinimizationThenErm, AveragedPredictor, Candidate, JointRidge, PartialPooling,
    Predictor, PredictorKind, TrainContext, TrainOutput, Trainer, TrainerNeeds,
};
