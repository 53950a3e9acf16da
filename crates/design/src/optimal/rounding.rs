//! From weights to whole samples, without losing or inventing one.

use crate::error::{Error, Result};

/// Splits `budget` samples by weight with efficient apportionment (Pukelsheim and Rieder, 1992):
/// start from `⌈(n − l/2) q_i⌉`, then give to the task with the smallest `n_i/q_i` and take from
/// the one with the largest `(n_i − 1)/q_i` until the sum is right. Every task of positive weight
/// gets at least one sample.
///
/// ```
/// let counts = taskscout::design::rounding::apportion(&[0.5, 0.3, 0.2], 7)?;
/// assert_eq!(counts.iter().sum::<usize>(), 7);
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// Weights that are negative, not finite or all zero; fewer samples than tasks of positive weight.
pub fn apportion(weights: &[f64], budget: usize) -> Result<Vec<usize>> {
    Error::check_finite(weights, |i| format!("weight {i}"))?;
    if let Some(index) = weights.iter().position(|&weight| weight < 0.0) {
        return Err(Error::setting(
            format!("weight {index}"),
            "is negative: weights must be at least 0",
        ));
    }
    let total: f64 = weights.iter().sum();
    let support: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    if support.is_empty() || !total.is_finite() {
        return Err(Error::setting(
            "weights",
            "are all zero or too large to add up: give at least one positive weight",
        ));
    }
    if budget < support.len() {
        return Err(Error::BudgetTooSmall {
            budget,
            tasks: support.len(),
        });
    }
    let wanted: Vec<f64> = weights
        .iter()
        .map(|weight| weight / total * budget as f64)
        .collect();
    let sample_budget = SampleBudget {
        money: budget as f64,
        costs: vec![1.0; weights.len()],
        least: vec![0; weights.len()],
        most: vec![usize::MAX; weights.len()],
    };
    spend(&wanted, &sample_budget)
}

/// The same with at most `most[i]` samples of task `i`. It gives fewer than `budget` where the tasks
/// of positive weight have no more left, and nothing to the lightest tasks where there are more
/// tasks than samples.
pub fn apportion_within(weights: &[f64], budget: usize, most: &[usize]) -> Result<Vec<usize>> {
    Error::check_finite(weights, |i| format!("weight {i}"))?;
    let mut support: Vec<usize> = (0..weights.len())
        .filter(|&i| weights[i] > 0.0 && most[i] > 0)
        .collect();
    support.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    support.truncate(budget);
    support.sort_unstable();
    let mut counts = vec![0; weights.len()];
    let capacity = support
        .iter()
        .fold(0_usize, |sum, &i| sum.saturating_add(most[i]));
    let samples = budget.min(capacity);
    if samples == 0 {
        return Ok(counts);
    }
    let total: f64 = support.iter().map(|&i| weights[i]).sum();
    let wanted: Vec<f64> = support
        .iter()
        .map(|&i| weights[i] / total * samples as f64)
        .collect();
    let sample_budget = SampleBudget {
        money: samples as f64,
        costs: vec![1.0; support.len()],
        least: vec![0; support.len()],
        most: support.iter().map(|&i| most[i]).collect(),
    };
    for (&i, count) in support.iter().zip(spend(&wanted, &sample_budget)?) {
        counts[i] = count;
    }
    Ok(counts)
}

/// What samples may cost in all and each, and how many there may be of each task.
#[derive(Debug, Clone)]
pub(super) struct SampleBudget {
    /// Money for all samples.
    pub(super) money: f64,
    /// What a sample of each task costs.
    pub(super) costs: Vec<f64>,
    /// Samples of each task at least; a task that is wanted gets one in any case.
    pub(super) least: Vec<usize>,
    /// Samples of each task at most.
    pub(super) most: Vec<usize>,
}

/// Turns wanted numbers of samples into whole ones that can be paid for, by efficient apportionment.
///
/// # Errors
/// Too little money for the least samples.
pub(super) fn spend(wanted: &[f64], sample_budget: &SampleBudget) -> Result<Vec<usize>> {
    let mut spending = Spending::new(wanted, sample_budget);
    spending.reduce()?;
    spending.fill();
    Ok(spending.counts)
}

/// Whole samples on the way to what the money pays for.
struct Spending<'a> {
    wanted: &'a [f64],
    sample_budget: &'a SampleBudget,
    /// Tasks that get samples.
    support: Vec<usize>,
    counts: Vec<usize>,
    /// Money that is left; less than nothing where too much is spent.
    left: f64,
    /// Money that is rounding.
    slack: f64,
}

impl<'a> Spending<'a> {
    /// Starts from `⌈(n − l/2) q_i⌉`.
    fn new(wanted: &'a [f64], sample_budget: &'a SampleBudget) -> Self {
        let support: Vec<usize> = (0..wanted.len())
            .filter(|&i| wanted[i] > 0.0 || sample_budget.least[i] > 0)
            .collect();
        let total: f64 = wanted.iter().sum();
        let scale = (1.0 - support.len() as f64 / (2.0 * total)).max(0.0);
        let mut counts = vec![0_usize; wanted.len()];
        for &i in &support {
            // Slightly below, so that rounding does not lift a whole number to the next.
            let share = (scale * wanted[i] * (1.0 - 1e-12)).ceil() as usize;
            let least = sample_budget.least[i].max(1);
            counts[i] = share.clamp(least, sample_budget.most[i].max(least));
        }
        let cost: f64 = support
            .iter()
            .map(|&i| counts[i] as f64 * sample_budget.costs[i])
            .sum();
        let cheapest = support
            .iter()
            .map(|&i| sample_budget.costs[i])
            .fold(f64::INFINITY, f64::min);
        Self {
            left: sample_budget.money - cost,
            slack: 1e-6 * cheapest,
            wanted,
            sample_budget,
            support,
            counts,
        }
    }

    /// Samples that a task in use gets at least.
    fn least(&self, i: usize) -> usize {
        self.sample_budget.least[i].max(1)
    }

    /// Samples of a task relative to those wanted, when it has `n`.
    fn ratio(&self, i: usize, n: f64) -> f64 {
        n / self.wanted[i].max(f64::MIN_POSITIVE)
    }

    /// Takes samples until the money suffices, in bulk, until another task is the one to take from.
    fn reduce(&mut self) -> Result<()> {
        while self.left < -self.slack {
            let ratio = |i: usize| self.ratio(i, self.counts[i] as f64 - 1.0);
            let mut spare: Vec<usize> = self
                .support
                .iter()
                .copied()
                .filter(|&i| self.counts[i] > self.least(i))
                .collect();
            spare.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)));
            let Some(&next) = spare.first() else {
                return Err(Error::BudgetTooSmall {
                    budget: self.sample_budget.money as usize,
                    tasks: self.support.len(),
                });
            };
            let level = spare.get(1).map_or(0.0, |&other| ratio(other)) * self.wanted[next];
            let above = self.counts[next] as f64 - 1.0 - level;
            let cost = self.sample_budget.costs[next];
            let lacking = (-(self.left + self.slack) / cost).ceil();
            let taken = (above.min(lacking).floor().max(1.0) as usize)
                .min(self.counts[next] - self.least(next));
            self.counts[next] -= taken;
            self.left += taken as f64 * cost;
        }
        Ok(())
    }

    /// Gives samples while the money pays for them, in bulk, until another task is the one to give
    /// to.
    fn fill(&mut self) {
        loop {
            let (most, costs) = (&self.sample_budget.most, &self.sample_budget.costs);
            let ratio = |i: usize| self.ratio(i, self.counts[i] as f64);
            let mut open: Vec<usize> = self
                .support
                .iter()
                .copied()
                .filter(|&i| self.counts[i] < most[i] && costs[i] <= self.left + self.slack)
                .collect();
            open.sort_by(|&a, &b| ratio(a).total_cmp(&ratio(b)));
            let Some(&next) = open.first() else {
                return;
            };
            let level =
                open.get(1).map_or(f64::INFINITY, |&other| ratio(other)) * self.wanted[next];
            let below = level - self.counts[next] as f64;
            let affordable = ((self.left + self.slack) / costs[next]).floor();
            let given = (below.min(affordable).floor().max(1.0) as usize)
                .min(most[next] - self.counts[next]);
            self.counts[next] += given;
            self.left -= given as f64 * costs[next];
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_sample_is_lost_or_invented(
            weights in prop::collection::vec(0.0_f64..1.0, 1..40),
            extra in 0_usize..10_000,
        ) {
            let support = weights.iter().filter(|&&weight| weight > 0.0).count();
            prop_assume!(support > 0);
            let counts = apportion(&weights, support + extra).unwrap();
            prop_assert_eq!(counts.iter().sum::<usize>(), support + extra);
            for (count, weight) in counts.iter().zip(&weights) {
                prop_assert_eq!(*count > 0, *weight > 0.0);
            }
        }

        #[test]
        fn no_task_gets_more_than_it_has(
            tasks in prop::collection::vec((0.0_f64..1.0, 0_usize..50), 1..40),
            budget in 0_usize..1_000,
        ) {
            let (weights, most): (Vec<f64>, Vec<usize>) = tasks.into_iter().unzip();
            let counts = apportion_within(&weights, budget, &most).unwrap();
            let capacity: usize = weights.iter().zip(&most).filter(|(w, _)| **w > 0.0).map(|(_, m)| m).sum();
            prop_assert_eq!(counts.iter().sum::<usize>(), budget.min(capacity));
            for ((count, weight), most) in counts.iter().zip(&weights).zip(&most) {
                prop_assert!(count <= most && (*weight > 0.0 || *count == 0));
            }
        }

        #[test]
        fn room_for_all_changes_nothing(
            weights in prop::collection::vec(0.01_f64..1.0, 1..40),
            extra in 0_usize..1_000,
        ) {
            let budget = weights.len() + extra;
            let free = apportion(&weights, budget).unwrap();
            let most = vec![usize::MAX; weights.len()];
            prop_assert_eq!(apportion_within(&weights, budget, &most).unwrap(), free);
        }

        #[test]
        fn counts_stay_near_their_share(
            weights in prop::collection::vec(0.01_f64..1.0, 1..40),
            budget in 1_000_usize..10_000,
        ) {
            // Efficient apportionment stays within l/2 + 1 of the ideal share.
            let total: f64 = weights.iter().sum();
            let slack = weights.len() as f64 / 2.0 + 1.0;
            for (count, weight) in apportion(&weights, budget).unwrap().iter().zip(&weights) {
                prop_assert!((*count as f64 - budget as f64 * weight / total).abs() <= slack);
            }
        }
    }

    #[test]
    fn extreme_weights_are_refused_or_handled() {
        assert!(matches!(
            apportion(&[f64::MAX, f64::MAX], 4),
            Err(Error::Setting { .. })
        ));
        assert!(matches!(
            apportion(&[f64::NAN], 4),
            Err(Error::NotFinite { .. })
        ));
        assert!(matches!(
            apportion(&[-1.0, 2.0], 4),
            Err(Error::Setting { .. })
        ));
        assert_eq!(apportion(&[1.0, 1e-300], 5), Ok(vec![4, 1]));
    }

    #[test]
    fn large_budgets_and_uneven_costs_are_no_trouble() {
        for budget in [1_000_000_000, 50_000_000_000] {
            let counts = apportion(&[0.5, 0.3, 0.2], budget).unwrap();
            assert_eq!(counts.iter().sum::<usize>(), budget);
        }
        // What is left does not pay for the dear task, and buys 10¹¹ samples of the cheap one.
        let sample_budget = SampleBudget {
            money: 1e9 + 3e5,
            costs: vec![1e6, 1e-6],
            least: vec![0, 0],
            most: vec![usize::MAX; 2],
        };
        let counts = spend(&[999.0, 1e12], &sample_budget).unwrap();
        let spent = counts[0] as f64 * 1e6 + counts[1] as f64 * 1e-6;
        assert!(
            spent <= sample_budget.money + 1e-3 && spent > sample_budget.money - 1e-3,
            "{counts:?}"
        );
    }

    #[test]
    fn too_small_a_budget_is_refused() {
        assert_eq!(
            apportion(&[0.5, 0.5, 0.0], 1),
            Err(Error::BudgetTooSmall {
                budget: 1,
                tasks: 2
            })
        );
    }
}
