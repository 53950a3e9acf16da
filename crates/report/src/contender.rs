//! Which strategies take part in the comparison, and which only show what lies around it.

/// What follows the name of [`TARGET_DATA`] where its curve might be taken for a contender's.
pub(crate) use taskscout_plot::OUT_OF_REACH;

/// The strategy that uses no source samples at all.
pub const TARGET_ONLY: &str = "target-only";

/// The strategy that collects from the hidden target itself: a reference that no learner can reach.
pub const TARGET_DATA: &str = "target-data";

/// What version 0.1.0 called it.
const OLD_NAME: &str = "oracle";

/// Whether a strategy may win: it collects from sources, and knows no more than a learner may.
pub(crate) fn competes(strategy: &str) -> bool {
    strategy != TARGET_ONLY && !is_target_data(strategy)
}

/// Whether this strategy collects from the hidden target itself, or is a variant of it.
pub(crate) fn is_target_data(strategy: &str) -> bool {
    let name = strategy.split('+').next();
    name == Some(TARGET_DATA) || name == Some(OLD_NAME)
}

/// The name under which a strategy's curve is drawn.
pub(crate) fn label(strategy: &str) -> String {
    let suffix = if is_target_data(strategy) {
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
    fn target_data_and_the_target_alone_do_not_compete() {
        assert!(competes("passive") && competes("aware+save-task") && competes("oracle-like"));
        assert!(!competes(TARGET_ONLY) && !competes(TARGET_DATA) && !competes("oracle+save-task"));
        assert_eq!(label(TARGET_DATA), "target-data (out of reach)");
        assert_eq!(label("aware"), "aware");
    }
}
