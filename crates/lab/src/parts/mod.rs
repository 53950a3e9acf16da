//! Parts of the user's own, by the name that they are registered under: in files and on the command line.
//!
//! A file says `kind = "NAME"` of a space or a feature map, `strategies = ["NAME"]` and `oracle = "NAME"`;
//! the [`Registry`] that the command was started with has the code. Names of the command's own parts are
//! taken ([`check_names`]), so that a file means the same to everybody who has them.

mod kinds;
mod settings;

use taskscout::registry::Registry;
use taskscout::strategy::StrategyKind;

pub use kinds::{
    attach_features, attach_space, features, optional_features, optional_space, space,
};
pub(crate) use settings::Settings;

use crate::error::{LabError, Result};
use crate::names::OracleName;
use crate::record::RESERVED;

/// Where a user finds out about parts of one's own.
const PAGE: &str = "docs/how-to/add-your-own-parts.md";

/// Refuses registered names that mean something else to the command.
///
/// # Errors
/// The first such name, and what to do about it.
pub fn check_names(registry: &Registry) -> Result<()> {
    let strategies: Vec<&str> = StrategyKind::ALL
        .iter()
        .map(|kind| kind.name())
        .chain(RESERVED)
        .collect();
    // Other oracles of the command may be there under their names, from `taskscout_neural::register`.
    let oracles = [OracleName::Exact.name(), OracleName::Mllam.name()];
    refuse_taken("space", registry.space_names(), kinds::SPACES)?;
    refuse_taken("features", registry.feature_names(), kinds::FEATURES)?;
    refuse_taken("strategy", registry.strategy_names(), &strategies)?;
    refuse_taken("trainer", registry.trainer_names(), &oracles)?;
    // Results are kept in files that are named after them.
    registry
        .strategy_names()
        .try_for_each(|name| check_plain("the registered strategy", name))
}

/// The registry with the networks that come with the command, for studies that were saved with them.
///
/// # Errors
/// If they cannot be registered.
pub fn with_networks(registry: &Registry) -> Result<Registry> {
    let mut all = registry.clone();
    let networks = OracleName::Neural.name();
    if !registry.trainer_names().any(|name| name == networks) {
        taskscout_neural::register(&mut all)?;
    }
    Ok(all)
}

fn refuse_taken<'a>(
    kind: &str,
    mut names: impl Iterator<Item = &'a str>,
    taken: &[&str],
) -> Result<()> {
    match names.find(|name| taken.contains(name)) {
        None => Ok(()),
        Some(name) => Err(LabError::Input(format!(
            "`{name}` is the name of a built-in part: give another name to `Registry::{kind}`"
        ))),
    }
}

/// Refuses the name of a strategy that no file can be named after.
pub(crate) fn check_plain(what: &str, name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && !name.starts_with('.') && name.chars().all(plain) {
        return Ok(());
    }
    Err(LabError::Input(format!(
        "{what} `{name}` names files too: use letters, digits, `-`, `_` and `.`"
    )))
}

/// That a name is nobody's, with the names that are somebody's and what makes it one of them.
pub(crate) fn unknown<'a>(
    kind: &str,
    ours: &[&'a str],
    registered: impl Iterator<Item = &'a str>,
) -> String {
    let mut known = ours.to_vec();
    known.extend(registered.filter(|name| !ours.contains(name)));
    format!(
        "use one of {}, or register it with `Registry::{kind}` in a command of your own ({PAGE})",
        known.join(", ")
    )
}

/// Makes a part from its settings. Where none are given, what has none may be a unit to serde.
pub(crate) fn make<T>(
    settings: Option<&Settings>,
    make: impl Fn(&serde_json::Value) -> taskscout::Result<T>,
) -> taskscout::Result<T> {
    let given = settings.cloned().unwrap_or_default().into_value();
    let made = make(&given);
    if settings.is_some_and(|settings| !settings.is_empty()) {
        return made;
    }
    made.or_else(|error| make(&serde_json::Value::Null).map_err(|_| error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde::Deserialize;
    use taskscout::prelude::*;

    use super::*;

    /// Takes no settings, not even an empty table.
    #[derive(Debug, Deserialize)]
    struct Nothing;

    impl Strategy for Nothing {
        fn plan(&self, _context: &PlanContext<'_>) -> taskscout::Result<Decision> {
            Ok(Decision::default())
        }
    }

    #[test]
    fn names_of_the_command_are_taken() {
        for name in ["aware", "oracle", "target-only", "my/own", ".hidden"] {
            let mut registry = Registry::new();
            registry.strategy::<Nothing>(name).unwrap();
            let message = check_names(&registry).unwrap_err().to_string();
            assert!(message.contains(&format!("`{name}`")), "{message}");
        }
        let mut registry = Registry::new();
        registry.strategy::<Nothing>("nothing").unwrap();
        taskscout_neural::register(&mut registry).unwrap();
        check_names(&registry).unwrap();
        let map = std::sync::Arc::new(FeatureMap::identity(2).unwrap());
        registry.features("fourier", map).unwrap();
        assert!(check_names(&registry).is_err());
    }

    #[test]
    fn a_part_without_settings_needs_none() {
        let mut registry = Registry::new();
        registry.strategy::<Nothing>("nothing").unwrap();
        let with = |settings: Option<&Settings>| {
            make(settings, |value| registry.make_strategy("nothing", value))
        };
        with(None).unwrap();
        with(Some(&Settings::default())).unwrap();
        let settings = toml::from_str("speed = 3").unwrap();
        let message = with(Some(&settings)).unwrap_err().to_string();
        assert!(
            message.contains("does not take these settings"),
            "{message}"
        );
    }
}
