//! Studies from files: nothing is believed before it is checked.

use serde::Deserialize;

use super::fits::Start;
use super::{Progress, Study, StudyConfig, TrackedItem};
use crate::data::TaskData;
use crate::error::{Error, Result};
use crate::space::TaskSpace as _;
use crate::strategy::TaskDesign;

/// A study as a file has it, not checked yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    config: StudyConfig,
    data: TaskData,
    items: Vec<TrackedItem>,
    rounds: usize,
    exploration: Option<TaskDesign>,
    #[serde(default)]
    starts: Vec<Start>,
}

impl TryFrom<Raw> for Study {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        raw.config.validate_shape()?;
        let empty = Self::empty(raw.config)?;
        let (ours, theirs) = (&empty.data, &raw.data);
        Error::check_length(
            "the data's features",
            ours.feature_dim(),
            theirs.feature_dim(),
        )?;
        Error::check_length("the data's outputs", ours.outputs(), theirs.outputs())?;
        Error::check_length(
            "the data's task features",
            ours.task_dim(),
            theirs.task_dim(),
        )?;
        Error::check_length(
            "the data's targets",
            ours.targets().len(),
            theirs.targets().len(),
        )?;
        theirs.validate()?;
        if let Some((index, _)) = raw
            .items
            .iter()
            .enumerate()
            .find(|(index, item)| item.item.id != *index as u64)
        {
            return Err(Error::State(format!(
                "item {index} of the study has another number: the file is damaged"
            )));
        }
        let parameters = empty.config.space.dim();
        for TrackedItem { item, progress, .. } in &raw.items {
            Error::check_length(
                &format!("the task of item {}", item.id),
                parameters,
                item.task.len(),
            )?;
            let (Progress::Open { collected } | Progress::Failed { collected, .. }) = progress
            else {
                continue;
            };
            if *collected > item.n {
                return Err(Error::State(format!(
                    "item {} has more samples than it asked for: the file is damaged",
                    item.id
                )));
            }
        }
        for atom in raw.exploration.iter().flat_map(|design| &design.tasks) {
            Error::check_length("a task of the exploration design", parameters, atom.len())?;
        }
        Ok(Self {
            data: raw.data,
            items: raw.items,
            rounds: raw.rounds,
            exploration: raw.exploration,
            starts: raw.starts,
            ..empty
        })
    }
}
