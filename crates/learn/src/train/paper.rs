//! The paper's choice of trainers: MLLAM for the coarse and the agnostic stage, ERM for the last.

use serde::{Deserialize, Serialize};

use super::{LastStageErm, Mllam, TrainContext, TrainResult, Trainer, TrainerNeeds};
use crate::data::TaskData;
use crate::error::Result;

/// [`LastStageErm`] where there are rows of exploration or exploitation, [`Mllam`] where there are none.
///
/// The model that chooses tasks is [`MllamOrErm::mllam`]'s on all stages.
///
/// ```
/// use taskscout::train::{Mllam, MllamOrErm};
/// let trainer: MllamOrErm = serde_json::from_str(r#"{"splits": 2}"#)?;
/// assert_eq!(trainer.mllam, Mllam { splits: 2, ..Mllam::default() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MllamOrErm {
    /// The trainer of the first two stages.
    pub mllam: Mllam,
}

impl MllamOrErm {
    fn oracle(&self, data: &TaskData, context: &TrainContext) -> &dyn Trainer {
        const LAST: &LastStageErm = &LastStageErm::DEFAULT;
        if LastStageErm::has_stages(data, context) {
            LAST
        } else {
            &self.mllam
        }
    }
}

impl Trainer for MllamOrErm {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainResult> {
        self.oracle(data, context).fit(data, context)
    }

    fn needs(&self) -> TrainerNeeds {
        self.mllam.needs()
    }
}
