//! How much of the passive budget a strategy needs, over several ground truths.
//!
//! Budgets and losses differ from truth to truth, so each truth counts in its own units: budgets as shares of passive's final
//! budget there, losses as multiples of passive's final mean loss there. The ratio is the share at which the mean curve over
//! truths first comes down to one; with one truth that is [`budget_ratio`](crate::budget_ratio).
//!
//! The interval is a bootstrap in two steps, 1,000 times: truths are drawn with replacement, then the seeds of each, the same
//! draw for both strategies. It covers what another truth may give, which an interval over the seeds of one truth does not.

use crate::curve::{Cells, Curve, CurvePoint, MeanSem};
use crate::judged::Judged;
use crate::ratio::{
    BudgetRatio, REFERENCE, RESAMPLES, START, SplitMix64, Target, finite, percentiles, shared_seeds,
};
use crate::rows::ResultRow;

/// The measurements of one ground truth.
struct Truth {
    reference: Cells,
    own: Cells,
    /// Places of the seeds that both have.
    seeds: Vec<(usize, usize)>,
}

/// The share of the passive budget that a strategy needs over ground truths, whose rows are given one truth after the other.
///
/// `None` if a truth has no such ratio: without passive, without its final loss, or without any loss of the strategy. The
/// rows belong to one experiment and one target.
///
/// ```
/// use taskscout_report::{Judged, ResultRow, budget_ratio_over_truths};
/// let row = |strategy: &str, round: usize, budget, loss| ResultRow {
///     strategy: strategy.into(), round, budget, test_loss: Some(loss), ..ResultRow::default()
/// };
/// // Half the budget is enough on both, though one truth needs ten times the samples.
/// let truth = |n: usize| vec![
///     row("passive", 0, n, 4.0), row("passive", 1, 2 * n, 1.0),
///     row("aware", 0, n, 1.0), row("aware", 1, 2 * n, 0.1),
/// ];
/// let ratio = budget_ratio_over_truths(&[&truth(100), &truth(1000)], "aware", Judged::Shared);
/// assert!((ratio.unwrap().mean.unwrap() - 0.5).abs() < 1e-12);
/// ```
#[must_use]
pub fn budget_ratio_over_truths(
    truths: &[&[ResultRow]],
    strategy: &str,
    judged: Judged,
) -> Option<BudgetRatio> {
    let truth = |rows: &&[ResultRow]| {
        let rows: Vec<&ResultRow> = rows.iter().collect();
        let reference = Cells::new(&rows, REFERENCE, judged.metric());
        let own = Cells::new(&rows, strategy, judged.metric());
        own.mean_curve().is_defined().then_some(())?;
        Some(Truth {
            seeds: shared_seeds(&reference, &own),
            reference,
            own,
        })
    };
    let truths: Vec<Truth> = truths.iter().map(truth).collect::<Option<_>>()?;
    let whole = |truth: &Truth| {
        let target = Target::of(&truth.reference.mean_curve())?;
        Some(in_shares(&truth.own.mean_curve(), target))
    };
    let curves: Vec<Curve> = truths.iter().map(whole).collect::<Option<_>>()?;
    let reach = mean_of(&curves).reach(1.0);
    let interval = bootstrap(&truths);
    Some(BudgetRatio {
        mean: reach.map(|reach| reach.budget),
        low: interval.and_then(|(low, _)| finite(low)),
        high: interval.and_then(|(_, high)| finite(high)),
        at_first_round: reach.is_some_and(|reach| reach.at_first_round && reach.budget > 0.0),
    })
}

/// A curve in shares of a budget and multiples of a loss.
fn in_shares(curve: &Curve, target: Target) -> Curve {
    let point = |point: &CurvePoint| CurvePoint {
        budget: point.budget / target.budget,
        value: point.value.map(|value| MeanSem {
            mean: value.mean / target.loss,
            sem: None,
        }),
        ..*point
    };
    Curve {
        points: curve.points.iter().map(point).collect(),
        ..curve.clone()
    }
}

/// The mean over truths, round by round, as far as all of them go.
fn mean_of(curves: &[Curve]) -> Curve {
    let rounds = curves.iter().map(|curve| curve.points.len()).min();
    let point = |round: usize| {
        let here = || curves.iter().map(|curve| &curve.points[round]);
        let values: Option<Vec<f64>> = here().map(|point| Some(point.value?.mean)).collect();
        CurvePoint {
            round,
            budget: here().map(|point| point.budget).sum::<f64>() / curves.len() as f64,
            value: values.and_then(MeanSem::of),
            n: curves.len(),
        }
    };
    Curve {
        strategy: String::new(),
        seeds: curves.len(),
        points: (0..rounds.unwrap_or(0)).map(point).collect(),
    }
}

fn bootstrap(truths: &[Truth]) -> Option<(f64, f64)> {
    let most = truths.iter().map(|truth| truth.seeds.len()).max()?;
    if truths.iter().any(|truth| truth.seeds.is_empty()) || (truths.len() < 2 && most < 2) {
        return None;
    }
    let mut generator = SplitMix64(START);
    let mut draw = || {
        let mut curves = Vec::with_capacity(truths.len());
        for _ in truths {
            let truth = &truths[generator.below(truths.len())];
            let count = truth.seeds.len();
            let drawn = (0..count).map(|_| truth.seeds[generator.below(count)]);
            let (theirs, ours): (Vec<usize>, Vec<usize>) = drawn.unzip();
            let target = Target::of(&truth.reference.curve(&theirs));
            curves.extend(target.map(|target| in_shares(&truth.own.curve(&ours), target)));
        }
        let whole = curves.len() == truths.len();
        let reach = mean_of(&curves).reach(1.0).filter(|_| whole);
        reach.map_or(f64::INFINITY, |reach| reach.budget)
    };
    let ratios: Vec<f64> = (0..RESAMPLES).map(|_| draw()).collect();
    Some(percentiles(ratios))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::budget_ratio;
    use crate::testing::{close, row};

    /// Six seeds whose losses differ, for a truth with its own scale of budgets and losses; `gain` is what aware gains.
    fn truth(scale: usize, loss: f64, gain: f64) -> Vec<ResultRow> {
        let mut rows = Vec::new();
        for seed in 0..6_u64 {
            let wobble = 1.0 + 0.2 * (seed as f64 * 1.7).sin();
            for round in 0..4 {
                let (budget, share) = (scale * (round + 1), (round + 1) as f64);
                rows.push(row("passive", seed, round, budget, wobble * loss / share));
                rows.push(row("aware", seed, round, budget, gain * loss / share));
            }
        }
        rows
    }

    fn over(truths: &[Vec<ResultRow>]) -> BudgetRatio {
        let truths: Vec<&[ResultRow]> = truths.iter().map(Vec::as_slice).collect();
        budget_ratio_over_truths(&truths, "aware", Judged::Shared).unwrap()
    }

    #[test]
    fn one_truth_is_the_plain_ratio_and_units_do_not_matter() {
        let one = truth(100, 8.0, 0.6);
        let plain = budget_ratio(&one, "aware", Judged::Shared).unwrap();
        close(
            over(std::slice::from_ref(&one)).mean.unwrap(),
            plain.mean.unwrap(),
        );
        let both = over(&[one, truth(7000, 0.01, 0.6)]);
        close(both.mean.unwrap(), plain.mean.unwrap());
    }

    #[test]
    fn truths_that_differ_widen_the_interval() {
        let alike = over(&[truth(100, 8.0, 0.6), truth(100, 8.0, 0.6)]);
        let apart = over(&[truth(100, 8.0, 0.3), truth(100, 8.0, 0.9)]);
        let width = |ratio: BudgetRatio| ratio.high.unwrap() - ratio.low.unwrap();
        assert!(width(apart) > 2.0 * width(alike), "{alike:?} {apart:?}");
        let mean = apart.mean.unwrap();
        assert!(apart.low.unwrap() < mean && mean < apart.high.unwrap());
    }

    #[test]
    fn a_truth_without_passive_has_no_ratio() {
        let mut odd = truth(100, 8.0, 0.6);
        odd.retain(|row| row.strategy != REFERENCE);
        let truths = [truth(100, 8.0, 0.6), odd];
        let truths: Vec<&[ResultRow]> = truths.iter().map(Vec::as_slice).collect();
        assert_eq!(
            budget_ratio_over_truths(&truths, "aware", Judged::Shared),
            None
        );
    }
}
