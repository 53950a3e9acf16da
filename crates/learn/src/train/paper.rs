//! The paper's choice of trainers: MLLAM for the coarse and the agnostic stage, ERM for the last.

use serde::{Deserialize, Serialize};

use super::{
    AlternatingMinimization, ErmOnLastStage, TrainContext, TrainOutput, Trainer, TrainerNeeds,
};
use crate::data::TaskData;
use crate::error::Result;

/// [`ErmOnLastStage`] where there are rows of exploration or exploitation, [`AlternatingMinimization`] where there are none.
///
/// The model that chooses tasks is [`AlternatingMinimizationThenErm::mllam`]'s on all stages.
///
/// ```
/// use taskscout::train::{AlternatingMinimization, AlternatingMinimizationThenErm};
/// let trainer: AlternatingMinimizationThenErm = serde_json::from_str(r#"{"splits": 2}"#)?;
/// assert_eq!(trainer.mllam, AlternatingMinimization { splits: 2, ..AlternatingMinimization::default() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AlternatingMinimizationThenErm {
    /// The trainer of the first two stages.
    pub mllam: AlternatingMinimization,
}

impl AlternatingMinimizationThenErm {
    fn oracle(&self, data: &TaskData, context: &TrainContext) -> &dyn Trainer {
        const LAST: &ErmOnLastStage = &ErmOnLastStage::DEFAULT;
        if ErmOnLastStage::has_stages(data, context) {
            LAST
        } else {
            &self.mllam
        }
    }
}

impl Trainer for AlternatingMinimizationThenErm {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        self.oracle(data, context).fit(data, context)
    }

    fn needs(&self) -> TrainerNeeds {
        self.mllam.needs()
    }
}
