//! Studies saved by version 0.1.0: one JSON text with the whole state. Nothing is believed before it is
//! checked.

use std::sync::Arc;

use serde::Deserialize;

use super::event::{Carried, CarriedTask, Course, Event};
use super::{Progress, Study, StudyConfig, TrackedItem};
use crate::data::{Rows, RowsOrStatistics, Stage, Statistics, TARGET_FOLD_COUNT};
use crate::design::Design;
use crate::error::{Error, Result};
use crate::model;
use crate::space::Space;
use crate::strategy::{PlanItem, TaskDesign};

/// A study as version 0.1.0 wrote it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Legacy {
    config: StudyConfig,
    data: Data,
    items: Vec<StoredProgress>,
    rounds: usize,
    exploration: Option<Design>,
    #[serde(default)]
    starts: Vec<StoredStart>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    feature_dim: usize,
    outputs: usize,
    task_dim: usize,
    #[serde(default)]
    keeps_rows: bool,
    sources: Vec<StoredSource>,
    targets: Vec<StoredTarget>,
    version: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSource {
    task: Vec<f64>,
    features: Vec<f64>,
    stage: Stage,
    round: usize,
    statistics: Statistics,
    #[serde(default)]
    rows: Rows,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredTarget {
    #[expect(dead_code, reason = "the settings name targets, too")]
    name: String,
    #[expect(dead_code, reason = "they follow from the settings")]
    features: Vec<f64>,
    folds: Vec<Statistics>,
    #[serde(default)]
    rows: Vec<Rows>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredProgress {
    item: StoredItem,
    round: usize,
    progress: Collected,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredItem {
    id: u64,
    task: Vec<f64>,
    n: usize,
    stage: Stage,
    similarity: Option<f64>,
    reason: String,
}

#[derive(Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
enum Collected {
    Open { collected: usize },
    Done,
    Failed { collected: usize, reason: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredStart {
    version: u64,
    start: model::WarmStart,
}

impl Legacy {
    pub(super) fn study(self) -> Result<Study> {
        let Self {
            config,
            data,
            items,
            rounds,
            exploration,
            starts,
        } = self;
        config.validate_shape()?;
        let mut study = Study::create(config, data.keeps_rows)?;
        let space = &study.config.space;
        let course = Course {
            items: items
                .into_iter()
                .map(|item| item.tracked(space))
                .collect::<Result<_>>()?,
            rounds,
            exploration: exploration.map(|design| TaskDesign::of(design, space)),
            starts: starts
                .into_iter()
                .map(|start| (start.version, start.start))
                .collect(),
            notes: Vec::new(),
        };
        let data = data.carried(&study)?;
        study.apply(Event::Carried {
            data,
            course: Box::new(course),
        })?;
        Ok(study)
    }
}

impl Data {
    fn carried(self, study: &Study) -> Result<Carried> {
        let ours = &study.data;
        let shapes = [
            ("features", ours.feature_dim(), self.feature_dim),
            ("outputs", ours.outputs(), self.outputs),
            ("task features", ours.task_dim(), self.task_dim),
            ("targets", ours.targets().len(), self.targets.len()),
        ];
        for (what, expected, found) in shapes {
            Error::check_length(&format!("the data's {what}"), expected, found)?;
        }
        let keeps_rows = self.keeps_rows;
        let sources = self.sources.into_iter().map(|source| CarriedTask {
            task: study.config.space.task_of(&source.task),
            features: source.features,
            stage: source.stage,
            round: source.round,
            rows: batch(source.statistics, Some(source.rows), keeps_rows),
        });
        let sources = sources.collect();
        let mut targets = Vec::with_capacity(self.targets.len());
        for target in self.targets {
            Error::check_length(
                "the folds of a target",
                TARGET_FOLD_COUNT,
                target.folds.len(),
            )?;
            let mut rows = target.rows.into_iter();
            let folds = target.folds.into_iter();
            targets.push(
                folds
                    .map(|fold| batch(fold, rows.next(), keeps_rows))
                    .collect(),
            );
        }
        Ok(Carried {
            sources,
            targets,
            version: self.version,
        })
    }
}

fn batch(statistics: Statistics, rows: Option<Rows>, keeps_rows: bool) -> RowsOrStatistics {
    let statistics = Arc::new(statistics);
    if keeps_rows {
        let rows = rows.unwrap_or_default();
        return RowsOrStatistics::StatisticsAndRows { statistics, rows };
    }
    RowsOrStatistics::Statistics(statistics)
}

impl StoredProgress {
    fn tracked(self, space: &Space) -> Result<TrackedItem> {
        let StoredItem {
            id,
            task,
            n,
            stage,
            similarity,
            reason,
        } = self.item;
        let (collected, progress) = match self.progress {
            Collected::Open { collected } => (collected, Progress::Open),
            Collected::Done => (n, Progress::Done),
            Collected::Failed { collected, reason } => (collected, Progress::Failed { reason }),
        };
        if collected > n {
            return Err(Error::unreadable(
                "the study",
                format!(
                    "has more samples of item {id} than it asked for: restore the file from a copy"
                ),
            ));
        }
        Ok(TrackedItem {
            item: PlanItem {
                id,
                task: space.task_of(&task),
                n,
                stage,
                similarity,
                reason,
            },
            round: self.round,
            collected,
            progress,
        })
    }
}
