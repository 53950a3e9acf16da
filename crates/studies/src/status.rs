//! Where a study stands.

use serde::Serialize;
use taskscout_lab::plan::aligned;
use taskscout_report::plain_reason;

use crate::count::counted;
use crate::error::Result;
use crate::feature_choice::described;
use crate::lease::ItemState;
use crate::state::Line;
use crate::stored::StoredStudy;
use crate::time::minute;

/// Where a study stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// The study.
    pub study: String,
    /// The number of entries in its log.
    pub version: u64,
    /// How tasks are chosen.
    pub strategy: String,
    /// The trainer.
    pub trainer: String,
    /// The features of tasks: how tasks are related by their parameters.
    pub task_features: String,
    /// The features of inputs: what a prediction is a weighted sum of.
    pub input_features: String,
    /// Rounds that were asked for.
    pub rounds: usize,
    /// What was spent, in units of the budget.
    pub spent: f64,
    /// What budgets are counted in.
    pub unit: String,
    /// Rows of source tasks.
    pub source_rows: usize,
    /// The targets.
    pub targets: Vec<TargetStatus>,
    /// How many items there are in each state.
    pub items: ItemCounts,
    /// The items that are not finished.
    pub open: Vec<ItemStatus>,
    /// Batches that can be retracted.
    pub batches: usize,
    /// Entries that were lost with a damaged file.
    pub lost: usize,
    /// What happened last.
    pub last: Option<Line>,
    /// What to do next.
    pub next: String,
}

/// A target and its rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetStatus {
    /// Its name.
    pub name: String,
    /// Its rows so far.
    pub rows: usize,
    /// Whether it can have rows of its own; a distribution given by its members has none.
    pub takes_rows: bool,
}

/// How many items there are in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ItemCounts {
    /// Nobody measures them yet.
    pub proposed: usize,
    /// Somebody measures them.
    pub running: usize,
    /// Whoever measured them was not heard of in time.
    pub lost: usize,
    /// All rows came.
    pub told: usize,
    /// Given up.
    pub failed: usize,
}

/// An item of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemStatus {
    /// Its number.
    pub item: u64,
    /// The round that asked.
    pub round: usize,
    /// The task.
    pub task: String,
    /// The task's parameters, in the order of the study's columns.
    pub parameters: Vec<f64>,
    /// Samples asked for.
    pub n: usize,
    /// Samples that came.
    pub collected: usize,
    /// The stage that asked.
    pub stage: String,
    /// How far it has come.
    pub state: ItemState,
    /// Who measures it.
    pub author: Option<String>,
    /// What it costs, a switch included.
    pub cost: f64,
    /// Why this task.
    pub reason: String,
    /// The same in words that need no explanation.
    pub why: String,
}

impl StoredStudy {
    /// Where the study stands.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn status(&mut self) -> Result<Status> {
        self.refresh()?;
        let (study, config) = (self.study(), self.study().config());
        let choices = &self.definition().feature_choices;
        let targets = config.targets.iter().enumerate();
        let targets: Vec<TargetStatus> = targets
            .map(|(index, target)| TargetStatus {
                name: target.name.clone(),
                rows: study.data().target_rows(index),
                takes_rows: target.can_have_samples(),
            })
            .collect();
        let items = self.items();
        let mut counts = ItemCounts::default();
        for item in &items {
            *counts.of(item.state) += 1;
        }
        let open: Vec<ItemStatus> = items
            .into_iter()
            .filter(|item| !matches!(item.state, ItemState::Told | ItemState::Failed))
            .collect();
        Ok(Status {
            study: self.name().to_owned(),
            version: self.version(),
            strategy: config.strategy.kind.to_string(),
            trainer: config.oracle.name().to_owned(),
            task_features: described(&config.task_features, &choices.tasks),
            input_features: described(&config.input_features, &choices.inputs),
            rounds: study.rounds(),
            spent: study.spent(),
            unit: self.definition().budget_unit().to_owned(),
            source_rows: study.data().source_rows(),
            next: next_step(&targets, &open, study.rounds()),
            targets,
            items: counts,
            open,
            batches: self.batches().len(),
            lost: self.lost(),
            last: self.history().last().cloned(),
        })
    }

    /// Every item ever planned.
    #[must_use]
    pub fn items(&self) -> Vec<ItemStatus> {
        let collection = &self.study().config().collection;
        let items = self.study().items().iter();
        items
            .map(|tracked| ItemStatus {
                item: tracked.item.id,
                round: tracked.round,
                task: tracked.item.task.id.to_string(),
                parameters: tracked.item.task.to_vec(),
                n: tracked.item.n,
                collected: tracked.collected,
                stage: tracked.item.stage.to_string(),
                state: self.item_state(tracked),
                author: self.lease(tracked.item.id).map(|lease| lease.author),
                cost: collection.switch_cost
                    + collection.cost_of(&tracked.item.task.id) * tracked.item.n as f64,
                reason: tracked.item.reason.clone(),
                why: plain_reason(&tracked.item.reason),
            })
            .collect()
    }
}

impl ItemCounts {
    fn of(&mut self, state: ItemState) -> &mut usize {
        match state {
            ItemState::Proposed => &mut self.proposed,
            ItemState::Running => &mut self.running,
            ItemState::Lost => &mut self.lost,
            ItemState::Told => &mut self.told,
            ItemState::Failed => &mut self.failed,
        }
    }
}

fn next_step(targets: &[TargetStatus], open: &[ItemStatus], rounds: usize) -> String {
    let unseen = targets
        .iter()
        .find(|target| target.rows == 0 && target.takes_rows);
    match (open.len(), unseen, rounds) {
        (0, Some(target), 0) => format!(
            "tell some rows of target {} if you have any, then ask for a plan",
            target.name
        ),
        (0, _, 0) => "ask for a plan".into(),
        (0, _, _) => "ask for the next plan, or look at the forecast whether it pays".into(),
        (1, ..) => "measure the open item, and tell its rows".into(),
        (count, ..) => format!("measure the {count} open items, and tell their rows"),
    }
}

impl Status {
    /// For a person at a terminal.
    #[must_use]
    pub fn to_text(&self) -> String {
        let targets: Vec<String> = self
            .targets
            .iter()
            .map(|target| format!("{} ({})", target.name, counted(target.rows, "row")))
            .collect();
        let ItemCounts {
            proposed,
            running,
            lost,
            told,
            failed,
        } = self.items;
        let mut lines = vec![
            format!("study      {} (entry {})", self.study, self.version),
            format!("strategy   {}, trainer {}", self.strategy, self.trainer),
            format!("tasks      {}", self.task_features),
            format!("inputs     {}", self.input_features),
            format!("targets    {}", or_none(&targets.join(", "))),
            format!(
                "collected  {} in {}, {} {} spent",
                counted(self.source_rows, "source row"),
                counted(self.rounds, "round"),
                taskscout_io::tables::short(self.spent),
                self.unit
            ),
            format!(
                "items      {proposed} proposed, {running} running, {lost} lost, {told} told, {failed} failed"
            ),
        ];
        if self.lost > 0 {
            lines.push(format!(
                "damage     {} entries were lost with a damaged file",
                self.lost
            ));
        }
        if let Some(last) = &self.last {
            let when = minute(last.time_us);
            lines.push(format!(
                "last       {when} UTC, {}: {}",
                last.author, last.what
            ));
        }
        lines.push(format!("next       {}", self.next));
        let mut text = lines.join("\n");
        text.push('\n');
        if !self.open.is_empty() {
            text.push('\n');
            text.push_str(&items_text(&self.open));
        }
        text
    }
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none yet" } else { text }
}

/// Items as a table.
fn items_text(items: &[ItemStatus]) -> String {
    let head = ["item", "task", "n", "came", "state", "who", "stage", "why"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(items.iter().map(|item| {
        vec![
            item.item.to_string(),
            item.task.clone(),
            item.n.to_string(),
            item.collected.to_string(),
            item.state.to_string(),
            item.author.clone().unwrap_or_default(),
            item.stage.clone(),
            item.reason.clone(),
        ]
    }));
    aligned(&lines)
}
