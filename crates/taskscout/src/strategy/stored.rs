//! Strategies as files have them.

use serde::Deserialize;

use super::{Exploit, Explore, Given, Saving, Serve, Split, StrategyConfig, StrategyKind};
use crate::design::Criterion;

/// A strategy in a file. Version 0.1.0 wrote `related` as `aware` with the exploit tasks `kin`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredConfig {
    kind: StrategyKind,
    #[serde(default)]
    save_task: bool,
    #[serde(default)]
    saving: Saving,
    #[serde(default)]
    explore: Explore,
    #[serde(default = "trace")]
    explore_criterion: Criterion,
    #[serde(default = "trace")]
    exploit_criterion: Criterion,
    #[serde(default)]
    split: Split,
    #[serde(default)]
    exploit: StoredExploit,
    #[serde(default)]
    given: Given,
    #[serde(default)]
    serve: Serve,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredExploit {
    #[default]
    Auto,
    Design,
    Nearest,
    Paper,
    Kin,
}

fn trace() -> Criterion {
    Criterion::Trace
}

impl From<StoredConfig> for StrategyConfig {
    fn from(stored: StoredConfig) -> Self {
        let (kind, exploit) = match (stored.kind, stored.exploit) {
            (StrategyKind::Aware, StoredExploit::Kin) => (StrategyKind::Related, Exploit::Auto),
            (kind, StoredExploit::Auto | StoredExploit::Kin) => (kind, Exploit::Auto),
            (kind, StoredExploit::Design) => (kind, Exploit::Design),
            (kind, StoredExploit::Nearest) => (kind, Exploit::Nearest),
            (kind, StoredExploit::Paper) => (kind, Exploit::Paper),
        };
        Self {
            kind,
            save_task: stored.save_task,
            saving: stored.saving,
            explore: stored.explore,
            explore_criterion: stored.explore_criterion,
            exploit_criterion: stored.exploit_criterion,
            split: stored.split,
            exploit,
            given: stored.given,
            serve: stored.serve,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_0_1_0_called_kin_is_a_strategy_of_its_own() {
        let read = |text: &str| serde_json::from_str::<StrategyConfig>(text);
        let old = read(r#"{"kind": "aware", "exploit": "kin"}"#).unwrap();
        assert_eq!(old, StrategyConfig::new(StrategyKind::Related));
        let text = serde_json::to_string(&old).unwrap();
        assert_eq!(read(&text).unwrap(), old);
        assert!(read(r#"{"kind": "aware", "exploits": "design"}"#).is_err());
    }
}
