//! The rows that everything else is made from, and how they belong together.

use serde::{Deserialize, Serialize};

/// What one strategy, on one seed, had achieved after one round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// The experiment's name.
    pub experiment: String,
    /// The training oracle.
    pub oracle: String,
    /// The strategy's name.
    pub strategy: String,
    /// The target, where an experiment has several.
    pub target: Option<String>,
    /// The seed of the run.
    pub seed: u64,
    /// The round, counted as the experiment counts them.
    pub round: usize,
    /// Source samples collected so far.
    pub budget: usize,
    /// Mean squared error of the shared predictor on the target.
    pub test_loss: Option<f64>,
    /// The same for the predictor that the guard hands back.
    pub returned_loss: Option<f64>,
    /// Which predictor the guard hands back.
    pub predictor: Option<String>,
    /// Smallest squared cosine between learnt and true representation.
    pub subspace_similarity: Option<f64>,
    /// Cosine between the embedding of the main exploit task and the target's.
    pub relevance: Option<f64>,
    /// Different tasks sampled so far.
    pub tasks: usize,
    /// Tasks that hold at least 1 % of the source samples so far.
    pub long_term_tasks: usize,
    /// Seconds spent collecting in this round.
    pub collect_s: f64,
    /// Seconds spent training in this round.
    pub train_s: f64,
    /// Seconds spent on the design in this round.
    pub design_s: f64,
}

/// Splits rows by experiment and oracle, in order of first appearance.
#[must_use]
pub fn split_experiments(rows: &[ResultRow]) -> Vec<Vec<ResultRow>> {
    let mut groups: Vec<Vec<ResultRow>> = Vec::new();
    for row in rows {
        let same = |group: &&mut Vec<ResultRow>| {
            group.first().is_some_and(|first| {
                first.experiment == row.experiment && first.oracle == row.oracle
            })
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row.clone()),
            None => groups.push(vec![row.clone()]),
        }
    }
    groups
}

/// Rows by target, in order of first appearance.
pub(crate) fn split_targets(rows: &[ResultRow]) -> Vec<(Option<&str>, Vec<&ResultRow>)> {
    let mut groups: Vec<(Option<&str>, Vec<&ResultRow>)> = Vec::new();
    for row in rows {
        let target = row.target.as_deref();
        match groups.iter_mut().find(|(name, _)| *name == target) {
            Some((_, group)) => group.push(row),
            None => groups.push((target, vec![row])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::row;

    #[test]
    fn splits_by_experiment_and_oracle() {
        let first = row("aware", 1, 0, 100, 0.5);
        let other = ResultRow {
            oracle: "mllam".to_owned(),
            ..first.clone()
        };
        let groups = split_experiments(&[first.clone(), other.clone(), first.clone()]);
        assert_eq!(groups, vec![vec![first.clone(), first], vec![other]]);
    }

    #[test]
    fn splits_by_target_in_order() {
        let on = |target: Option<&str>| ResultRow {
            target: target.map(str::to_owned),
            ..row("aware", 1, 0, 100, 0.5)
        };
        let rows = [on(Some("b")), on(None), on(Some("b"))];
        let groups = split_targets(&rows);
        let sizes: Vec<_> = groups
            .iter()
            .map(|(name, own)| (*name, own.len()))
            .collect();
        assert_eq!(sizes, [(Some("b"), 2), (None, 1)]);
    }
}
