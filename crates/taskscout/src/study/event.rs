//! What happens to a study, as data.
//!
//! The state of a study is what its events make of it: equal events give equal bytes. An event holds all
//! that it changes (the plan that was made, the statistics of the rows that came), so that replaying it
//! needs no training, no feature map and no random draw.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use super::{StudyConfig, TrackedItem};
use crate::data::{RowsOrStatistics, Stage};
use crate::error::{Error, Result};
use crate::model;
use crate::strategy::{Plan, TaskDesign};
use crate::target::Target;
use crate::task::Task;

/// The version of the bytes of an event.
pub(super) const VERSION: u16 = 1;

/// Bytes of a checksum.
const CHECKSUM: usize = 8;

/// Something that happened to a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Event {
    /// The study began.
    Created {
        /// Its settings.
        #[serde(with = "as_json")]
        config: Box<StudyConfig>,
        /// Whether it keeps rows, which its oracle needs.
        keeps_rows: bool,
    },
    /// A plan was made.
    Planned {
        /// The plan and what it was made with.
        #[serde(with = "as_json")]
        plan: Box<Planned>,
    },
    /// Rows of a plan item came.
    Told {
        /// The item.
        item: u64,
        /// The task that was really achieved, where it was another than the item's.
        task: Option<Task>,
        /// The task's features.
        features: Vec<f64>,
        /// The rows.
        rows: RowsOrStatistics,
    },
    /// Rows of a target came.
    TargetTold {
        /// The target.
        target: usize,
        /// The rows, in the blocks that go to different folds.
        blocks: Vec<RowsOrStatistics>,
    },
    /// A target was named after the study had begun.
    TargetAdded {
        /// The target.
        #[serde(with = "as_json")]
        target: Box<Target>,
    },
    /// Rows of a source task came that nobody had asked for.
    Added {
        /// The task.
        task: Task,
        /// Its features.
        features: Vec<f64>,
        /// The rows.
        rows: RowsOrStatistics,
    },
    /// A plan item was given up.
    Failed {
        /// The item.
        item: u64,
        /// Why.
        reason: String,
    },
    /// Rows turned out to be wrong: from here on the study never saw them.
    Retracted {
        /// The batch.
        batch: BatchId,
    },
    /// Somebody wrote something down.
    Noted {
        /// What.
        text: String,
    },
    /// All that was told so far became final: it takes less memory, and cannot be retracted any more.
    Settled,
    /// What a settled study, or one saved by an earlier version, begins with.
    Carried {
        /// The data.
        data: Carried,
        /// Plans and their progress.
        #[serde(with = "as_json")]
        course: Box<Course>,
    },
}

/// A plan, and what was fixed when it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The exploration design in use from now on, if another.
    pub exploration: Option<TaskDesign>,
    /// What fits of newer data start from, for oracles that can use it.
    pub start: Option<model::WarmStart>,
}

/// Data that became final.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// Rows of source tasks.
    pub sources: Vec<CarriedTask>,
    /// Rows of targets, fold by fold.
    pub targets: Vec<Vec<RowsOrStatistics>>,
    /// Batches so far.
    pub version: u64,
}

/// Rows of a source task that became final.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedTask {
    /// The task.
    pub task: Task,
    /// Its features.
    pub features: Vec<f64>,
    /// The stage that asked.
    pub stage: Stage,
    /// The round that first asked.
    pub round: usize,
    /// The rows.
    pub rows: RowsOrStatistics,
}

/// Plans and their progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// Every item ever planned.
    pub items: Vec<TrackedItem>,
    /// Rounds planned.
    pub rounds: usize,
    /// The exploration design in use.
    pub exploration: Option<TaskDesign>,
    /// What fits start from, with the number of batches that it was learnt from.
    pub starts: Vec<(u64, model::WarmStart)>,
    /// What was written down.
    pub notes: Vec<String>,
}

/// The name of a batch of rows: a digest of the event that brought it. Equal batches have equal names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BatchId(String);

impl BatchId {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for BatchId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl std::fmt::Display for BatchId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Event {
    /// The event as bytes: its length, its version, its content and a checksum. Such records may be
    /// appended to a [snapshot](super::Study::snapshot).
    ///
    /// # Errors
    /// Settings that cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut body = VERSION.to_le_bytes().to_vec();
        body = postcard::to_extend(self, body).map_err(|error| {
            Error::numerical("writing an event", format!("it cannot be kept: {error}"))
        })?;
        let sum = Sha256::digest(&body);
        let mut record = (body.len() as u64).to_le_bytes().to_vec();
        record.append(&mut body);
        record.extend_from_slice(&sum[..CHECKSUM]);
        Ok(record)
    }

    /// Reads one record from the front of some bytes, and says how many it took; nothing if the
    /// bytes end before it does.
    ///
    /// # Errors
    /// A damaged record, or one of a newer version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<(Self, usize)>> {
        let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
            return Ok(None);
        };
        let length = u64::from_le_bytes(*length);
        let whole = usize::try_from(length)
            .ok()
            .and_then(|length| length.checked_add(CHECKSUM));
        let Some(record) = whole.and_then(|whole| rest.get(..whole)) else {
            return Ok(None);
        };
        let (body, sum) = record.split_at(record.len() - CHECKSUM);
        if Sha256::digest(body)[..CHECKSUM] != *sum {
            return Err(damaged("its checksum does not fit"));
        }
        let Some((version, content)) = body.split_first_chunk::<2>() else {
            return Err(damaged("it is too short"));
        };
        let version = u16::from_le_bytes(*version);
        if version != VERSION {
            return Err(Error::unreadable(
                "an event of the study",
                format!(
                    "has version {version}, and this program reads {VERSION}: use a newer taskscout"
                ),
            ));
        }
        let event = postcard::from_bytes(content)
            .map_err(|error| damaged(&format!("it cannot be read ({error})")))?;
        Ok(Some((event, 8 + record.len())))
    }

    /// The name of the batch that the event brought, if it brought one.
    ///
    /// # Errors
    /// As [`Event::to_bytes`].
    pub fn batch(&self) -> Result<Option<BatchId>> {
        if !self.brings_rows() {
            return Ok(None);
        }
        let digest = Sha256::digest(self.to_bytes()?);
        let hex = digest[..8].iter().map(|byte| format!("{byte:02x}"));
        Ok(Some(BatchId(hex.collect())))
    }

    /// Whether rows came with it.
    pub(super) fn brings_rows(&self) -> bool {
        matches!(
            self,
            Self::Told { .. } | Self::TargetTold { .. } | Self::Added { .. }
        )
    }
}

fn damaged(why: &str) -> Error {
    Error::unreadable(
        "an event of the study",
        format!("is damaged: {why}; restore the file from a copy"),
    )
}

/// Structures as JSON inside bytes, which their optional and tagged parts need.
mod as_json {
    use super::{Deserialize, Deserializer, Serialize, Serializer};
    use serde::de::{DeserializeOwned, Error as _};
    use serde::ser::Error as _;

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &T,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            return value.serialize(to);
        }
        let text = serde_json::to_string(value).map_err(S::Error::custom)?;
        text.serialize(to)
    }

    pub(super) fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        if from.is_human_readable() {
            return T::deserialize(from);
        }
        let text = String::deserialize(from)?;
        serde_json::from_str(&text).map_err(D::Error::custom)
    }
}
