//! What a study has learnt, for its page: the answer, the forecast, the models, the next plan.

use std::time::Instant;

use serde::Serialize;
use taskscout::study::ForecastRequest;
use taskscout_studies::{Answer, Outlook, PastError, StoredStudy, Supposed, TargetPlace, WhatIf};

/// What a study has learnt up to an entry of its log.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Learnt {
    /// The entry.
    pub(crate) version: u64,
    /// The question and the answer.
    answer: Answer,
    /// What more would bring; none if that cannot be said yet.
    outlook: Option<Outlook>,
    no_forecast: Option<String>,
    /// Ways to predict each target.
    models: Vec<Model>,
    /// Where the targets lie among the tasks.
    targets: Vec<TargetPlace>,
    /// What would be asked for next.
    next: Option<Supposed>,
    no_plan: Option<String>,
    /// Seconds that learning took.
    #[serde(skip)]
    pub(crate) seconds: f64,
}

/// Ways to predict a target, the one that counts most first.
#[derive(Debug, Clone, Serialize)]
struct Model {
    target: String,
    ways: Vec<String>,
    no_model: Option<String>,
}

/// Where a study stands, to be compared with where it would stand after a change.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Standing {
    spent: f64,
    unit: String,
    source_rows: usize,
    open_items: usize,
    /// Rows of each target.
    target_rows: Vec<(String, usize)>,
    error_unit: String,
    errors: Vec<PastError>,
    no_forecast: Option<String>,
    /// What would be asked for next.
    next: Option<Supposed>,
    no_plan: Option<String>,
}

/// Where a study stands before and after a change that is not made yet.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Effect {
    pub(crate) before: Standing,
    pub(crate) after: Standing,
}

fn split<T, E: std::fmt::Display>(result: Result<T, E>) -> (Option<T>, Option<String>) {
    match result {
        Ok(value) => (Some(value), None),
        Err(error) => (None, Some(error.to_string())),
    }
}

fn outlook(study: &StoredStudy) -> Result<Outlook, taskscout_studies::Error> {
    study.outlook(&ForecastRequest::further(&study.usual_budgets()))
}

impl Learnt {
    /// Learns, which may take a while.
    pub(crate) fn of(study: &mut StoredStudy) -> Result<Self, taskscout_studies::Error> {
        let began = Instant::now();
        let status = study.status()?;
        let (outlook, no_forecast) = split(outlook(study));
        let (next, no_plan) = split(study.what_if(&WhatIf::budget(study.usual_batch())));
        let models = status.targets.iter().map(|target| {
            let (ways, no_model) = split(study.choice(Some(&target.name)));
            Model {
                target: target.name.clone(),
                ways: ways.unwrap_or_default(),
                no_model,
            }
        });
        Ok(Self {
            version: study.version(),
            answer: study.answer(&status, outlook.as_ref(), next.as_ref()),
            models: models.collect(),
            targets: study.target_places(),
            outlook,
            no_forecast,
            next,
            no_plan,
            seconds: began.elapsed().as_secs_f64(),
        })
    }
}

impl Standing {
    /// Where a study stands, its next plan made with a budget.
    pub(crate) fn of(
        study: &mut StoredStudy,
        budget: usize,
    ) -> Result<Self, taskscout_studies::Error> {
        let status = study.status()?;
        let (outlook, no_forecast) = split(outlook(study));
        let (next, no_plan) = split(study.what_if(&WhatIf::budget(budget)));
        let targets = status.targets.iter();
        let errors = outlook.iter().flat_map(|outlook| &outlook.targets);
        Ok(Self {
            spent: status.spent,
            unit: status.unit,
            source_rows: status.source_rows,
            open_items: status.open.len(),
            target_rows: targets.map(|one| (one.name.clone(), one.rows)).collect(),
            error_unit: outlook
                .as_ref()
                .map_or_else(String::new, |outlook| outlook.error_unit.clone()),
            errors: errors
                .map(|target| PastError {
                    target: target.name.clone(),
                    error: target.now,
                })
                .collect(),
            no_forecast,
            next,
            no_plan,
        })
    }
}
