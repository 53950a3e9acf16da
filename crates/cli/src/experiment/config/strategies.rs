//! The strategies of an experiment by name.

use serde::{Deserialize, Serialize};
use taskscout::strategy::StrategyKind;

/// A strategy, with or without save-task; written as `aware` or `aware+save-task`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct StrategyRun {
    pub(crate) kind: StrategyKind,
    pub(crate) save_task: bool,
}

const SAVE_TASK: &str = "+save-task";

impl StrategyRun {
    pub(crate) fn plain(kind: StrategyKind) -> Self {
        Self {
            kind,
            save_task: false,
        }
    }
}

impl std::fmt::Display for StrategyRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}{}",
            self.kind,
            if self.save_task { SAVE_TASK } else { "" }
        )
    }
}

impl From<StrategyRun> for String {
    fn from(run: StrategyRun) -> Self {
        run.to_string()
    }
}

impl TryFrom<String> for StrategyRun {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        let (name, save_task) = match text.strip_suffix(SAVE_TASK) {
            Some(name) => (name, true),
            None => (text.as_str(), false),
        };
        let kind = StrategyKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name);
        match kind {
            Some(kind) if save_task && !kind.explores() => Err(format!(
                "strategy `{text}`: only `agnostic` and `aware` can save tasks, so use `{name}`"
            )),
            Some(kind) => Ok(Self { kind, save_task }),
            None => {
                let names = StrategyKind::ALL.map(StrategyKind::name).join(", ");
                Err(format!(
                    "unknown strategy `{text}`: use one of {names}, active ones also with {SAVE_TASK}"
                ))
            }
        }
    }
}
