//! Settings that belong to some oracles only: what the learner in use does not take is refused, so
//! that nobody believes it to be in force.
//!
//! A file may choose an oracle and be run with another one (`--oracle`, `--phi`): what its own choice
//! takes is then left aside, in a note. What the other one takes stands in `[learner.with.ORACLE]`.

use taskscout::registry::Registry;

use super::ExperimentConfig;
use super::own::check_oracle;
use crate::error::{LabError, Result};
use crate::names::{OracleChoice, OracleName};

/// What decides which settings are in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    oracle: OracleChoice,
    /// Whether the world asks for a network beside its features.
    network: bool,
}

impl Choice {
    /// Whether a setting is in force.
    fn takes(&self, path: &str) -> bool {
        let oracle = &self.oracle;
        let pooled_network = *oracle == OracleName::Pooled && self.network;
        match path {
            "learner.settings" => oracle.built_in().is_none(),
            "learner.lambda" | "learner.tolerance" => *oracle == OracleName::Exact,
            "learner.mllam" => *oracle == OracleName::Mllam,
            "learner.descent" => *oracle == OracleName::JointGd,
            "learner.neural" => *oracle == OracleName::Neural || pooled_network,
            "learner.network" => {
                *oracle == OracleName::Neural || *oracle == OracleName::JointGd || pooled_network
            }
            "world.worth" => *oracle == OracleName::Pooled,
            // Pooling has no representation but that of its network.
            "learner.k" => *oracle != OracleName::Pooled || self.network,
            _ => true,
        }
    }
}

/// Whose a setting is, in words.
fn owners(path: &str) -> &'static str {
    match path {
        "learner.settings" => "oracles that are registered",
        "learner.lambda" | "learner.tolerance" => "the oracle exact",
        "learner.mllam" => "the oracle mllam",
        "learner.descent" => "the oracle joint-gd",
        "learner.neural" => "the oracle neural, and of pooled with phi = \"mlp\"",
        "learner.network" => "the oracles neural and joint-gd, and of pooled with phi = \"mlp\"",
        "learner.k" => "all oracles but pooled, which has no k unless phi = \"mlp\"",
        _ => "the oracle pooled",
    }
}

impl ExperimentConfig {
    /// What decides which settings are in force.
    pub(super) fn choice(&self) -> Choice {
        Choice {
            oracle: self.learner.oracle.clone(),
            network: self.world.wants_network(),
        }
    }

    /// Refuses settings that neither the choice of the file takes nor the one in use, and says which of
    /// the file's are left aside.
    pub(super) fn check_unused(
        &self,
        of_file: &Choice,
        registry: &Registry,
    ) -> Result<Vec<String>> {
        let in_use = self.choice();
        check_oracle("learner.oracle", &in_use.oracle, registry)?;
        let learns_network = matches!(
            in_use.oracle.built_in(),
            Some(OracleName::Pooled | OracleName::JointGd)
        );
        if in_use.network && !learns_network {
            return Err(LabError::setting(
                "world.phi",
                format!(
                    "is mlp, a network that only the oracles pooled and joint-gd can learn, but the oracle is {}: use --oracle pooled, or use --phi linear (with --oracle neural if you want a network)",
                    in_use.oracle.name()
                ),
            ));
        }
        let mut left_aside = Vec::new();
        let settings = self
            .places
            .inside("learner")
            .chain(self.places.inside("world"));
        for path in settings.filter(|path| !in_use.takes(path)) {
            let owners = owners(path);
            if !of_file.takes(path) {
                return Err(LabError::setting(
                    path,
                    format!(
                        "is a setting of {owners}, but the oracle is {}: leave it out, or put it into [learner.with.ORACLE] if it is for another --oracle",
                        in_use.oracle.name()
                    ),
                ));
            }
            left_aside.push(format!(
                "`{path}` of the file is a setting of {owners}, so this run does not use it"
            ));
        }
        self.check_others(of_file, registry)?;
        Ok(left_aside)
    }

    /// Checks `[learner.with.ORACLE]`.
    fn check_others(&self, of_file: &Choice, registry: &Registry) -> Result<()> {
        for oracle in self.learner.with.keys() {
            let name = oracle.name();
            let table = format!("learner.with.{name}");
            check_oracle(&table, oracle, registry)?;
            if *oracle == of_file.oracle {
                return Err(LabError::setting(
                    &table,
                    "is a table for other oracles, but this is the oracle of the file: put these settings into [learner]",
                ));
            }
            let other = Choice {
                oracle: oracle.clone(),
                ..*of_file
            };
            for path in self.places.inside(&table) {
                let setting = path.replace(&format!(".with.{name}"), "");
                if !other.takes(&setting) {
                    return Err(LabError::setting(
                        path,
                        format!("is a setting of {}: leave it out", owners(&setting)),
                    ));
                }
            }
        }
        Ok(())
    }
}
