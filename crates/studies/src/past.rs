//! What was expected at earlier moments of a study, as its log tells.

use serde::Serialize;
use taskscout::forecast::Interval;
use taskscout::study::ForecastRequest;
use taskscout_store::Query;

use crate::error::{Result, of_store};
use crate::feature_choice::Learning;
use crate::state::State;
use crate::stored::StoredStudy;

/// What was known after an entry of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PastPoint {
    /// The entry.
    pub version: u64,
    /// When it was written, in microseconds since 1970.
    pub time_us: i64,
    /// What had been spent.
    pub spent: f64,
    /// Rows of source tasks.
    pub source_rows: usize,
    /// The error that was expected on each target then; empty where nothing could be said.
    pub errors: Vec<PastError>,
}

/// The error that was expected on a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PastError {
    /// The target.
    pub target: String,
    /// The error.
    pub error: Interval,
}

impl StoredStudy {
    /// The entries after which something new was known, at most `most` of them, spread evenly: each that brought rows,
    /// where the next one did not bring rows of the same round.
    #[must_use]
    pub fn turning_points(&self, most: usize) -> Vec<u64> {
        let brings = |kind: &str| matches!(kind, "told" | "added" | "target-told" | "retracted");
        let lines: Vec<_> = self.history().iter().collect();
        let mut found: Vec<u64> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let mut later = lines[at + 1..].iter();
            let followed = later.find(|next| next.kind == "planned" || brings(&next.kind));
            let last_of_round = followed.is_none_or(|next| next.kind == "planned");
            if brings(&line.kind) && last_of_round {
                found.push(line.version);
            }
        }
        let all = found.len();
        if all <= most || most < 2 {
            return found;
        }
        (0..most)
            .map(|at| found[at * (all - 1) / (most - 1)])
            .collect()
    }

    /// What was expected after an entry of the log. The model of that moment is learnt again, which takes as long as it
    /// took then.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn past(&mut self, version: u64) -> Result<PastPoint> {
        let loaded = self.store.load(&self.name, &Query::all());
        let mut records = loaded.map_err(of_store)?.records;
        records.retain(|record| record.version <= version);
        let time_us = records.last().map_or(0, |record| record.time_us);
        let mut then = self.imagine(false)?;
        then.state = State::replay(&records, &self.registry)?;
        then.learning = Learning::default();
        let study = then.study();
        let (spent, source_rows) = (study.spent(), study.data().source_rows());
        let budget = then.usual_budgets()[0].max(1);
        let outlook = then.outlook(&ForecastRequest::further(&[budget]));
        let errors = outlook.map_or_else(
            |_| Vec::new(),
            |outlook| {
                let error = |target: crate::TargetOutlook| PastError {
                    target: target.name,
                    error: target.now,
                };
                outlook.targets.into_iter().map(error).collect()
            },
        );
        Ok(PastPoint {
            version,
            time_us,
            spent,
            source_rows,
            errors,
        })
    }
}
