//! `[published]`: what `--as-published` changes, as the experiment's own file would say it.
//!
//! The table has the shape of the file itself, and what it says replaces what stands there. `[published.text]` comes on top
//! where the paper's text is followed instead of its code.

use std::path::PathBuf;

use toml::{Table, Value};

use super::{ExperimentConfig, file};
use crate::error::{LabError, Result};
use crate::names::Published;

/// The table of what the paper did otherwise.
const TABLE: &str = "published";
/// Inside it, what the paper's text says otherwise than its code.
const TEXT: &str = "text";

/// Where an experiment was read from.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Origin {
    /// The whole file.
    pub(super) text: String,
    /// What it is called.
    pub(super) name: String,
    /// The folder that it lies in, for files of the user's.
    pub(super) folder: Option<PathBuf>,
}

impl ExperimentConfig {
    /// The same experiment by the paper's procedure.
    pub(super) fn by_the_paper(self, variant: Published) -> Result<Self> {
        let Origin { text, name, folder } = &self.origin;
        let unreadable =
            |error: &dyn std::fmt::Display| LabError::Input(format!("{name}: {error}"));
        let mut file: Table = text
            .parse()
            .map_err(|error: toml::de::Error| unreadable(&error))?;
        let Some(Value::Table(mut changes)) = file.remove(TABLE) else {
            return Err(LabError::Input(format!(
                "--as-published: {name} has no table [{TABLE}] that says what the paper did otherwise: leave the option out, or write the table"
            )));
        };
        let of_text = changes.remove(TEXT);
        merge(&mut file, changes);
        if let (Published::Text, Some(Value::Table(changes))) = (variant, of_text) {
            merge(&mut file, changes);
        }
        settle(&mut file);
        let merged = toml::to_string(&file).map_err(|error| unreadable(&error))?;
        let mut config = file::parse(&merged, &format!("{name} with its table [{TABLE}]"))?;
        if let Some(folder) = folder {
            config.world.locate(folder);
        }
        config.as_published = Some(variant);
        Ok(config)
    }
}

/// Puts changes in the place of what stands there; tables are gone through key by key.
fn merge(into: &mut Table, changes: Table) {
    for (key, change) in changes {
        match (into.get_mut(&key), change) {
            (Some(Value::Table(into)), Value::Table(changes)) if !replaces(&changes) => {
                merge(into, changes);
            }
            (_, change) => {
                into.insert(key, change);
            }
        }
    }
}

/// Settings that the file keeps for the oracle that is now its own become the learner's.
fn settle(file: &mut Table) {
    let Some(Value::Table(learner)) = file.get_mut("learner") else {
        return;
    };
    let oracle = learner
        .get("oracle")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let with = learner.get_mut("with").and_then(Value::as_table_mut);
    if let Some(Value::Table(own)) = with.and_then(|with| with.remove(&oracle)) {
        merge(learner, own);
    }
}

/// Whether a table is one value, as a kind with its settings is.
fn replaces(table: &Table) -> bool {
    table.contains_key("kind")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn merged(file: &str, changes: &str) -> Table {
        let mut file: Table = file.parse().unwrap();
        merge(&mut file, changes.parse().unwrap());
        file
    }

    #[test]
    fn changes_replace_values_and_leave_the_rest() {
        let file = "a = 1\n[world]\nk = 4\nnoise = 1.0\nspace = { kind = \"ball\", dim = 3 }\n";
        let expected =
            "a = 1\n[world]\nk = 5\nnoise = 1.0\nspace = { kind = \"one-hot\" }\nnew = 2\n";
        let changes = "[world]\nk = 5\nspace = { kind = \"one-hot\" }\nnew = 2\n";
        assert_eq!(merged(file, changes), expected.parse().unwrap());
    }
}
