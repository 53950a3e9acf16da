//! Which strategies take part in the comparison, and which only show what lies around it.

/// What follows the oracle's name where its curve might be taken for a contender's.
pub(crate) use taskscout_plot::OUT_OF_REACH;

/// The strategy that uses no source samples at all.
pub const TARGET_ONLY: &str = "target-only";

/// The strategy that collects from the hidden target itself: a reference that no learner can reach.
pub const ORACLE: &str = "oracle";

/// Whether a strategy may win: it collects from sources, and knows no more than a learner may.
pub(crate) fn competes(strategy: &str) -> bool {
    strategy != TARGET_ONLY && !is_oracle(strategy)
}

/// Whether this is the oracle or a variant of it, as `oracle+save-task`.
pub(crate) fn is_oracle(strategy: &str) -> bool {
    strategy.split('+').next() == Some(ORACLE)
}

/// The name under which a strategy's curve is drawn.
pub(crate) fn label(strategy: &str) -> String {
    let suffix = if is_oracle(strategy) {
        OUT_OF_REACH
    } else {
        ""
    };
    format!("{strategy}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oracle_and_the_target_alone_do_not_compete() {
        assert!(competes("passive") && competes("aware+save-task") && competes("oracle-like"));
        assert!(!competes(TARGET_ONLY) && !competes(ORACLE) && !competes("oracle+save-task"));
        assert_eq!(label(ORACLE), "oracle (out of reach)");
        assert_eq!(label("aware"), "aware");
    }
}
