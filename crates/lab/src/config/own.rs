//! What an experiment names that is not the command's own: strategies and a trainer that are registered.
//!
//! They are made once, when a file is checked, so that a name that nobody registered, or settings that do not
//! fit, are told with their place before anything runs.

use std::collections::BTreeMap;

use taskscout::prelude::Extension;
use taskscout::registry::Registry;
use taskscout::strategy::{Strategy, StrategyKind};
use taskscout::study::External;

use super::ExperimentConfig;
use crate::error::{LabError, Result};
use crate::names::{OracleChoice, OracleName};
use crate::parts::{self, Settings};
use crate::record::RESERVED;
use crate::strategy_run::StrategyRun;

/// The registered strategies and the registered trainer of an experiment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OwnParts {
    strategies: BTreeMap<String, Extension<dyn Strategy>>,
    trainer: Option<External>,
}

impl OwnParts {
    /// The strategy of a run, where it is a registered one.
    pub(crate) fn strategy(&self, run: &StrategyRun) -> Option<&Extension<dyn Strategy>> {
        match run {
            StrategyRun::BuiltIn { .. } => None,
            StrategyRun::Own(name) => self.strategies.get(name),
        }
    }

    /// The trainer in use, where it is a registered one.
    pub(crate) fn trainer(&self) -> Option<&External> {
        self.trainer.as_ref()
    }

    /// Whether there are any.
    pub(crate) fn is_empty(&self) -> bool {
        self.strategies.is_empty() && self.trainer.is_none()
    }
}

impl ExperimentConfig {
    /// Makes the registered parts that the experiment names.
    pub(super) fn make_own(&mut self, registry: &Registry) -> Result<()> {
        let mut strategies = BTreeMap::new();
        for run in &self.strategies {
            if let StrategyRun::Own(name) = run {
                let settings = self.strategy.get(name);
                let made = make_strategy("strategies", name, settings, registry)?;
                strategies.insert(name.clone(), made);
            }
        }
        // Those for another --strategies are checked too.
        for (name, settings) in &self.strategy {
            check_table(name)?;
            make_strategy(&format!("strategy.{name}"), name, Some(settings), registry)?;
        }
        self.own = OwnParts {
            strategies,
            trainer: self.make_trainer(registry)?,
        };
        Ok(())
    }

    fn make_trainer(&self, registry: &Registry) -> Result<Option<External>> {
        let OracleChoice::Own(name) = &self.learner.oracle else {
            return Ok(None);
        };
        check_oracle("learner.oracle", &self.learner.oracle, registry)?;
        let settings = self.learner.settings.as_ref();
        let made = parts::make(settings, |value| registry.make_trainer(name, value));
        let trainer = made.map_err(|error| unfit("learner.settings", "oracle", error))?;
        Ok(Some(trainer))
    }
}

/// Refuses an oracle that nobody knows.
pub(super) fn check_oracle(path: &str, oracle: &OracleChoice, registry: &Registry) -> Result<()> {
    let OracleChoice::Own(name) = oracle else {
        return Ok(());
    };
    if registry.trainer_names().any(|known| known == name) {
        return Ok(());
    }
    let ours: Vec<&str> = OracleName::ALL.iter().map(|oracle| oracle.name()).collect();
    let remedy = parts::unknown("trainer", &ours, registry.trainer_names());
    Err(LabError::about(
        path,
        format!("oracle `{name}` is not known: {remedy}"),
    ))
}

/// Refuses a table `[strategy.NAME]` whose name is taken, or cannot name files.
fn check_table(name: &str) -> Result<()> {
    let path = format!("strategy.{name}");
    let ours = StrategyKind::ALL.iter().map(|kind| kind.name());
    if ours.chain(RESERVED).any(|taken| taken == name) {
        return Err(LabError::setting(
            &path,
            "is the name of a built-in strategy, which takes no settings here: leave the table out, or give it another name",
        ));
    }
    parts::check_plain("the strategy", name)
        .map_err(|error| LabError::about(&path, error.to_string()))
}

/// A strategy under the name that its results have; `kind` among its settings says which registered one it is,
/// where that is another name.
fn make_strategy(
    path: &str,
    name: &str,
    settings: Option<&Settings>,
    registry: &Registry,
) -> Result<Extension<dyn Strategy>> {
    let mut settings = settings.cloned();
    let kind = settings.as_mut().and_then(|table| table.take_text("kind"));
    // Where the table says what it is, it is the table that may be wrong.
    let (path, kind) = match kind {
        Some(kind) => (format!("strategy.{name}.kind"), kind),
        None => (path.to_owned(), name.to_owned()),
    };
    if !registry.strategy_names().any(|known| known == kind) {
        let ours = StrategyKind::ALL.map(StrategyKind::name);
        let remedy = parts::unknown("strategy", &ours, registry.strategy_names());
        return Err(LabError::about(
            &path,
            format!("strategy `{kind}` is not known: {remedy}"),
        ));
    }
    let made = parts::make(settings.as_ref(), |value| {
        registry.make_strategy(&kind, value)
    });
    made.map_err(|error| unfit(&format!("strategy.{name}"), "strategy", error))
}

/// What a part says of its settings, at the table that has them or lacks them.
fn unfit(path: &str, what: &str, error: taskscout::Error) -> LabError {
    let problem = match error {
        taskscout::Error::Setting { problem, .. } => problem,
        other => other.to_string(),
    };
    LabError::about(path, format!("in [{path}], the {what} {problem}"))
}
