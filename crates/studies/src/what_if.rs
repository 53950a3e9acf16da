//! What a plan would ask for and bring under other costs and limits, with nothing stored.

use serde::{Deserialize, Serialize};
use taskscout::forecast::Interval;
use taskscout::study::{Collection, Command, Event, ForecastRequest};
use taskscout::task::Task;
use taskscout_report::plain_reason;

use crate::asking::check_forbidden;
use crate::error::{Error, Result};
use crate::outlook::{Outlook, digits};
use crate::stored::StoredStudy;

/// A plan that nobody asked for yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhatIf {
    /// The budget, in samples or in units of cost.
    pub budget: usize,
    /// What every task of a plan costs beside its samples; the study's own if not given.
    #[serde(default)]
    pub switch_cost: Option<f64>,
    /// Tasks of a plan at most; the study's own if not given.
    #[serde(default)]
    pub max_tasks: Option<usize>,
    /// Tasks that must not be asked for, beside those that the study forbids.
    #[serde(default)]
    pub forbidden: Vec<String>,
}

/// What such a plan would ask for and bring.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Supposed {
    /// The budget.
    pub budget: usize,
    /// What to measure, in order.
    pub items: Vec<SupposedItem>,
    /// Samples of all items.
    pub samples: usize,
    /// What all items cost, switches included.
    pub cost: f64,
    /// What it is counted in.
    pub unit: String,
    /// What errors are measured in.
    pub error_unit: String,
    /// The errors now and then; empty where nothing can be forecast yet.
    pub errors: Vec<SupposedError>,
    /// Why nothing can be forecast.
    pub no_forecast: Option<String>,
    /// The same in a sentence.
    pub sentence: String,
}

/// An item of such a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SupposedItem {
    /// The task.
    pub task: String,
    /// Its parameters, in the order of the study's columns.
    pub parameters: Vec<f64>,
    /// Samples.
    pub n: usize,
    /// What it costs, a switch included.
    pub cost: f64,
    /// The stage that asks.
    pub stage: String,
    /// Cosine between the task's embedding and the nearest target's, where known.
    pub similarity: Option<f64>,
    /// Why this task.
    pub reason: String,
    /// The same in words that need no explanation.
    pub why: String,
}

/// The error on a target, now and after such a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SupposedError {
    /// The target.
    pub target: String,
    /// Now.
    pub now: Interval,
    /// Once what is under way has come; none where nothing is.
    pub under_way: Option<Interval>,
    /// With the budget spent as planned.
    pub then: Interval,
    /// With the budget spent on all tasks alike.
    pub passive: Interval,
}

impl WhatIf {
    /// A budget under the study's own costs and limits.
    #[must_use]
    pub fn budget(budget: usize) -> Self {
        Self {
            budget,
            switch_cost: None,
            max_tasks: None,
            forbidden: Vec::new(),
        }
    }

    /// The costs and limits that it means.
    #[must_use]
    pub fn collection(&self, own: &Collection) -> Collection {
        let forbidden = self.forbidden.iter().map(|task| task.as_str().into());
        Collection {
            switch_cost: self.switch_cost.unwrap_or(own.switch_cost),
            max_tasks: self.max_tasks.or(own.max_tasks),
            forbidden: own.forbidden.iter().cloned().chain(forbidden).collect(),
            ..own.clone()
        }
    }
}

impl StoredStudy {
    /// What a plan would ask for and bring, of what was known when the log was last looked at. Nothing is stored.
    ///
    /// # Errors
    /// A budget too small for the tasks, costs that make no sense, or a task that is not there and cannot be forbidden.
    pub fn what_if(&self, wanted: &WhatIf) -> Result<Supposed> {
        let own = &self.study().config().collection;
        let collection = wanted.collection(own);
        check_forbidden(&self.study().config().space, &collection)?;
        let study = self.learner()?.under(collection.clone())?;
        let available = |task: &Task| self.left(task);
        let limited = !self.definition().capacities.is_empty();
        let event = study.decide(&Command::Ask {
            budget: wanted.budget,
            available: limited.then_some(&available),
        })?;
        let Event::Planned { plan } = event else {
            return Err(Error::Failure(
                "a plan was asked for, and none was made".into(),
            ));
        };
        let items = plan.plan.items.iter().map(|item| SupposedItem {
            task: item.task.id.to_string(),
            parameters: item.task.to_vec(),
            n: item.n,
            cost: collection.switch_cost + collection.cost_of(&item.task.id) * item.n as f64,
            stage: item.stage.to_string(),
            similarity: item.similarity,
            reason: item.reason.clone(),
            why: plain_reason(&item.reason),
        });
        let items: Vec<SupposedItem> = items.collect();
        let request = ForecastRequest::further(&[wanted.budget.max(1)]);
        let outlook = self.outlook_of(&study, &request);
        Ok(self.supposed(wanted.budget, items, outlook))
    }

    fn supposed(
        &self,
        budget: usize,
        items: Vec<SupposedItem>,
        outlook: Result<Outlook>,
    ) -> Supposed {
        let error_unit = self.error_unit().1;
        let (errors, no_forecast) = match outlook {
            Err(error) => (Vec::new(), Some(error.to_string())),
            Ok(outlook) => (outlook.targets.iter().filter_map(error_of).collect(), None),
        };
        let unit = self.definition().budget_unit().to_owned();
        let sentence = match errors.first() {
            Some(first) => format!(
                "{budget} {unit} on {} would lower the expected error on {} from {} to {} {error_unit}",
                crate::count::counted(items.len(), "task"),
                first.target,
                digits(first.under_way.unwrap_or(first.now).mean),
                digits(first.then.mean)
            ),
            None => format!(
                "{budget} {unit} on {}; what they bring cannot be forecast yet",
                crate::count::counted(items.len(), "task")
            ),
        };
        Supposed {
            budget,
            samples: items.iter().map(|item| item.n).sum(),
            cost: items.iter().map(|item| item.cost).sum(),
            items,
            unit,
            error_unit,
            errors,
            no_forecast,
            sentence,
        }
    }
}

fn error_of(target: &crate::TargetOutlook) -> Option<SupposedError> {
    let after = target.further.first()?;
    Some(SupposedError {
        target: target.name.clone(),
        now: target.now,
        under_way: target.under_way,
        then: after.design,
        passive: after.passive,
    })
}
