//! A study as its page gets it.

use std::collections::BTreeMap;

use serde::Serialize;
use taskscout::study::Collection;
use taskscout_studies::{
    Batch, Column, ItemState, ItemStatus, Line, PastPoint, Status, StoredStudy,
};

use crate::learnt::Learnt;

/// Lines of the history that are shown.
const LINES: usize = 200;
/// Finished items that are shown.
const FINISHED: usize = 300;
/// Batches that are shown.
const BATCHES: usize = 300;
/// Tasks on the map.
const TASKS: usize = 2000;
/// Tasks with their samples.
const SAMPLED: usize = 40;

/// What is known of a study without learning.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Facts {
    pub(crate) version: u64,
    status: Status,
    parameters: Vec<String>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    collection: Costs,
    /// The tasks that can be asked for, where they are a list.
    tasks: Vec<TaskPoint>,
    /// How many those are in all.
    task_count: Option<usize>,
    /// Open items, and the last that are finished.
    items: Vec<ItemStatus>,
    item_count: usize,
    /// Tasks with the most samples, by round.
    samples: Vec<TaskSamples>,
    batches: Vec<Batch>,
    batch_count: usize,
    history: Vec<Line>,
    /// The budget that the next plan is shown for.
    budget: usize,
}

#[derive(Debug, Clone, Serialize)]
struct Costs {
    sample_cost: f64,
    switch_cost: f64,
    smallest_batch: usize,
    max_tasks: Option<usize>,
    forbidden: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct TaskPoint {
    task: String,
    parameters: Vec<f64>,
}

/// Samples of a task that came, by round.
#[derive(Debug, Clone, Serialize)]
struct TaskSamples {
    task: String,
    parameters: Vec<f64>,
    rounds: BTreeMap<usize, usize>,
    total: usize,
}

/// The page of a study: what is known, what was learnt from it, and what is wrong.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct View<'a> {
    #[serde(flatten)]
    pub(crate) facts: &'a Facts,
    /// What was learnt, of the newest entry or of one before.
    pub(crate) learnt: Option<&'a Learnt>,
    /// What was expected at earlier moments.
    pub(crate) past: Vec<&'a PastPoint>,
    /// Why nothing newer is shown.
    pub(crate) trouble: Option<&'a str>,
}

fn newest<T: Clone>(all: &[T], most: usize) -> Vec<T> {
    all[all.len().saturating_sub(most)..].to_vec()
}

impl Facts {
    pub(crate) fn of(study: &mut StoredStudy) -> Result<Self, taskscout_studies::Error> {
        let status = study.status()?;
        let definition = study.definition();
        let config = study.study().config();
        let labels = |columns: &[Column]| columns.iter().map(Column::label).collect();
        let count = config.space.count();
        let shown = count.filter(|count| *count <= TASKS).unwrap_or(0);
        let tasks = (0..shown).filter_map(|row| config.space.task_at(row));
        let items = study.items();
        Ok(Self {
            version: study.version(),
            parameters: labels(&definition.parameters),
            inputs: labels(&definition.inputs),
            outputs: labels(&definition.outputs),
            collection: Costs::of(&config.collection),
            tasks: tasks
                .map(|task| TaskPoint {
                    task: task.id.to_string(),
                    parameters: task.to_vec(),
                })
                .collect(),
            task_count: count,
            item_count: items.len(),
            samples: samples(&items),
            items: shown_items(items),
            batches: newest(study.batches(), BATCHES),
            batch_count: study.batches().len(),
            history: newest(study.history(), LINES),
            budget: study.usual_batch(),
            status,
        })
    }
}

impl Costs {
    fn of(collection: &Collection) -> Self {
        let forbidden = collection.forbidden.iter().map(ToString::to_string);
        Self {
            sample_cost: collection.sample_cost,
            switch_cost: collection.switch_cost,
            smallest_batch: collection.smallest_batch,
            max_tasks: collection.max_tasks,
            forbidden: forbidden.collect(),
        }
    }
}

/// Every open item, and the last that are finished.
fn shown_items(items: Vec<ItemStatus>) -> Vec<ItemStatus> {
    let finished = |item: &ItemStatus| matches!(item.state, ItemState::Told | ItemState::Failed);
    let done = items.iter().filter(|item| finished(item)).count();
    let mut skipped = done.saturating_sub(FINISHED);
    let keep = |item: &ItemStatus| {
        let skip = finished(item) && skipped > 0;
        skipped -= usize::from(skip);
        !skip
    };
    let mut items = items;
    items.retain(keep);
    items
}

fn samples(items: &[ItemStatus]) -> Vec<TaskSamples> {
    let mut found: BTreeMap<&str, TaskSamples> = BTreeMap::new();
    for item in items.iter().filter(|item| item.collected > 0) {
        let entry = found.entry(&item.task).or_insert_with(|| TaskSamples {
            task: item.task.clone(),
            parameters: item.parameters.clone(),
            rounds: BTreeMap::new(),
            total: 0,
        });
        *entry.rounds.entry(item.round).or_default() += item.collected;
        entry.total += item.collected;
    }
    let mut found: Vec<TaskSamples> = found.into_values().collect();
    found.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.task.cmp(&b.task)));
    found.truncate(SAMPLED);
    found
}
