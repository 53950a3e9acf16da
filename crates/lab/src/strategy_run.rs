//! The strategies of an experiment by name.

use serde::{Deserialize, Serialize};
use taskscout::strategy::StrategyKind;

/// A strategy of an experiment, by what its results are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) enum StrategyRun {
    /// One of the library's, with or without save-task; written as `aware` or `aware+save-task`.
    BuiltIn { kind: StrategyKind, save_task: bool },
    /// Any other name: a registered one, or a table `[strategy.NAME]` that says which one it is.
    Own(String),
}

const SAVE_TASK: &str = "+save-task";

impl StrategyRun {
    pub(crate) fn plain(kind: StrategyKind) -> Self {
        Self::BuiltIn {
            kind,
            save_task: false,
        }
    }

    /// The same with save-task, where it can have it.
    pub(crate) fn saving(&self) -> Option<Self> {
        match *self {
            Self::BuiltIn { kind, .. } if kind.explores() => Some(Self::BuiltIn {
                kind,
                save_task: true,
            }),
            _ => None,
        }
    }
}

impl std::fmt::Display for StrategyRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn { kind, save_task } => {
                let saving = if *save_task { SAVE_TASK } else { "" };
                write!(f, "{kind}{saving}")
            }
            Self::Own(name) => f.write_str(name),
        }
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
            Some(kind) if !save_task || kind.explores() => Ok(Self::BuiltIn { kind, save_task }),
            _ if save_task => Err(format!(
                "strategy `{text}`: only `agnostic` and `aware` can save tasks, so use `{name}`"
            )),
            _ => Ok(Self::Own(text)),
        }
    }
}
