//! The figures of one strategy.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::curve::{self, MeanSem, Metric, mean_curves};
use crate::judged::Judged;
use crate::ordered::OrderedMap;
use crate::ratio::{BudgetRatio, Rise, budget_ratio, rises_again};
use crate::rows::ResultRow;

/// The figures of one strategy, in its last round unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StrategySummary {
    /// Loss of the shared predictor.
    pub final_loss: Option<MeanSem>,
    /// Loss of the predictor handed back.
    pub returned_loss: Option<MeanSem>,
    /// Budget to reach the passive strategy's final loss; `None` if passive was not run.
    pub budget_ratio: Option<BudgetRatio>,
    /// Where the loss was last above passive's again after it had reached it; absent if nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rises_again: Option<Rise>,
    /// The same as `budget_ratio` for the predictor handed back: budget to reach the loss of what
    /// passive hands back.
    #[serde(default)]
    pub returned_budget_ratio: Option<BudgetRatio>,
    /// The same as `rises_again` for the predictor handed back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned_rises_again: Option<Rise>,
    /// The loss that decides over the floor's, a number from about 1; absent without a floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret: Option<f64>,
    /// Mean number of tasks.
    pub tasks: f64,
    /// Mean number of tasks that hold at least 1 % of the source samples.
    pub long_term_tasks: f64,
    /// Mean number of tasks that more than one round used; absent without plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated_tasks: Option<f64>,
    /// Mean of the fewest tasks that hold nine tenths of the source samples; absent without plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_tasks: Option<f64>,
    /// Cosine between the main exploit task and the target.
    pub relevance: Option<MeanSem>,
    /// Similarity between learnt and true representation.
    pub subspace_similarity: Option<MeanSem>,
    /// Time for a whole run.
    pub seconds: Seconds,
    /// How many seeds handed back which predictor, the most frequent first. Not serialised.
    #[serde(skip)]
    pub predictors: Vec<(String, usize)>,
}

impl StrategySummary {
    /// The loss that decides, after the last round.
    pub(crate) fn loss(&self, judged: Judged) -> Option<MeanSem> {
        match judged {
            Judged::Returned => self.returned_loss,
            Judged::Shared => self.final_loss,
        }
    }

    /// The budget to passive's final loss.
    pub(crate) fn ratio(&self, judged: Judged) -> Option<BudgetRatio> {
        match judged {
            Judged::Returned => self.returned_budget_ratio,
            Judged::Shared => self.budget_ratio,
        }
    }

    /// Where the loss was above passive's again.
    pub(crate) fn rise(&self, judged: Judged) -> Option<Rise> {
        match judged {
            Judged::Returned => self.returned_rises_again,
            Judged::Shared => self.rises_again,
        }
    }
}

/// Seconds that one seed's run takes, all rounds together, in the mean over seeds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Collecting samples.
    pub collect: f64,
    /// Training.
    pub train: f64,
    /// Choosing tasks.
    pub design: f64,
    /// All three.
    pub total: f64,
}

/// The figures of every strategy that the rows name. The rows belong to one target.
pub(crate) fn strategies(rows: &[&ResultRow]) -> OrderedMap<StrategySummary> {
    let names = curve::strategies(rows);
    names
        .into_iter()
        .map(|name| (name, strategy(rows, name)))
        .collect()
}

fn strategy(rows: &[&ResultRow], name: &str) -> StrategySummary {
    let own: Vec<&ResultRow> = rows
        .iter()
        .copied()
        .filter(|row| row.strategy == name)
        .collect();
    let final_value = |metric| {
        let curves = mean_curves(own.iter().copied(), metric);
        curves.first().and_then(curve::Curve::final_value)
    };
    let last_round = own.iter().map(|row| row.round).max();
    let last: Vec<&ResultRow> = own
        .iter()
        .copied()
        .filter(|row| Some(row.round) == last_round)
        .collect();
    let ratio = |judged| budget_ratio(rows.iter().copied(), name, judged);
    let rise = |judged| rises_again(rows.iter().copied(), name, judged);
    StrategySummary {
        final_loss: final_value(Metric::TestLoss),
        returned_loss: final_value(Metric::ReturnedLoss),
        budget_ratio: ratio(Judged::Shared),
        rises_again: rise(Judged::Shared),
        returned_budget_ratio: ratio(Judged::Returned),
        returned_rises_again: rise(Judged::Returned),
        regret: None,
        tasks: mean(last.iter().map(|row| row.tasks as f64)),
        long_term_tasks: mean(last.iter().map(|row| row.long_term_tasks as f64)),
        repeated_tasks: None,
        main_tasks: None,
        relevance: final_value(Metric::Relevance),
        subspace_similarity: final_value(Metric::SubspaceSimilarity),
        seconds: seconds(&own),
        predictors: predictors(&last),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    MeanSem::of(values).map_or(0.0, |value| value.mean)
}

fn seconds(rows: &[&ResultRow]) -> Seconds {
    let seeds: BTreeSet<u64> = rows.iter().map(|row| row.seed).collect();
    let per_seed = |time: fn(&ResultRow) -> f64| {
        let finite = rows.iter().map(|row| time(row)).filter(|s| s.is_finite());
        finite.sum::<f64>() / seeds.len().max(1) as f64
    };
    let collect = per_seed(|row| row.collect_s);
    let train = per_seed(|row| row.train_s);
    let design = per_seed(|row| row.design_s);
    Seconds {
        collect,
        train,
        design,
        total: collect + train + design,
    }
}

fn predictors(rows: &[&ResultRow]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in rows.iter().filter_map(|row| row.predictor.as_deref()) {
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count))
        .collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}
