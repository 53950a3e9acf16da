//! The paper's choice of oracles: MLLAM for the coarse and the agnostic stage, ERM for the last.

use serde::{Deserialize, Serialize};

use super::{Erm, Fitted, Mllam, TrainContext, Trainer, TrainerNeeds};
use crate::data::TaskData;
use crate::error::Result;

/// [`Erm`] where there are rows of exploration or exploitation, [`Mllam`] where there are none.
///
/// The model that chooses tasks is [`Staged::mllam`]'s on all stages.
///
/// ```
/// use taskscout::train::{Mllam, Staged};
/// let oracle: Staged = serde_json::from_str(r#"{"splits": 2}"#)?;
/// assert_eq!(oracle.mllam, Mllam { splits: 2, ..Mllam::default() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Staged {
    /// The oracle of the first two stages.
    pub mllam: Mllam,
}

impl Staged {
    fn oracle(&self, data: &TaskData, context: &TrainContext) -> &dyn Trainer {
        const LAST: &Erm = &Erm::DEFAULT;
        if Erm::has_stages(data, context) {
            LAST
        } else {
            &self.mllam
        }
    }
}

impl Trainer for Staged {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<Fitted> {
        self.oracle(data, context).fit(data, context)
    }

    fn needs(&self) -> TrainerNeeds {
        self.mllam.needs()
    }
}
