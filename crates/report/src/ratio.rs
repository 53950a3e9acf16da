//! How much of the passive budget a strategy needs.
//!
//! The budget at which a strategy's mean curve first reaches the passive strategy's final mean
//! loss, by linear interpolation between rounds, over the passive final budget:
//!
//! ```text
//! ratio = min { b : mean_loss(b) ≤ passive final mean loss } / passive final budget
//! ```
//!
//! The interval is the percentile bootstrap over seeds: 1,000 times, seeds that both strategies
//! have are drawn with replacement, the same draw for both (their runs share the seed's data, so
//! the pairs must stay together), and the ratio is computed anew. A draw that never reaches the
//! loss counts as +∞. The 5th and 95th percentiles are given. The draws come from SplitMix64
//! (Steele, Lea and Flood 2014) with a fixed start, so the same rows give the same interval.

use serde::{Deserialize, Serialize};

use crate::curve::{Cells, Curve};
use crate::judged::Judged;
use crate::rows::ResultRow;

/// The strategy that budgets are compared with.
pub const REFERENCE: &str = "passive";

pub(crate) const RESAMPLES: usize = 1_000;
const TAIL: f64 = 0.05;
pub(crate) const START: u64 = 0x7461_736b_7363_6f75;

/// The share of the passive budget that a strategy needs, with a 90 % bootstrap interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct BudgetRatio {
    /// The ratio of the mean curves; `None` if the loss is never reached.
    pub mean: Option<f64>,
    /// The 5th percentile; `None` if infinite or if fewer than two seeds are shared.
    pub low: Option<f64>,
    /// The 95th percentile; `None` if infinite ("never") or if fewer than two seeds are shared.
    pub high: Option<f64>,
    /// Whether the first round was enough, so that the true ratio may be smaller. Only written where it was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_first_round: bool,
}

/// Where a curve first reaches a loss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// The budget, interpolated between rounds.
    pub budget: f64,
    /// Whether the first round was already there, so that less might have been enough.
    pub at_first_round: bool,
}

/// Where a curve that had reached a loss was above it again, at the last such round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rise {
    /// The round.
    pub round: usize,
    /// The mean source samples of that round.
    pub budget: f64,
    /// The mean loss of that round.
    pub loss: f64,
    /// Whether it was the last round of all, so that the curve ends above.
    pub at_end: bool,
}

impl Curve {
    /// Where the mean curve first comes down to `loss`; the first round's budget if it starts there.
    ///
    /// ```
    /// use taskscout_report::{mean_curves, Metric, ResultRow};
    /// let row = |round, budget, loss| ResultRow {
    ///     round, budget, test_loss: Some(loss), ..ResultRow::default()
    /// };
    /// let rows = [row(0, 100, 4.0), row(1, 200, 2.0)];
    /// let curve = &mean_curves(&rows, Metric::TestLoss)[0];
    /// assert!((curve.reach(3.0).unwrap().budget - 150.0).abs() < 1e-9);
    /// assert!(curve.reach(1.0).is_none());
    /// ```
    #[must_use]
    pub fn reach(&self, loss: f64) -> Option<Reach> {
        let mut before: Option<(f64, f64)> = None;
        for point in &self.points {
            let Some(value) = point.value else { continue };
            if value.mean <= loss {
                return Some(Reach {
                    budget: match before {
                        None => point.budget,
                        Some(start) => interpolate(start, (point.budget, value.mean), loss),
                    },
                    at_first_round: before.is_none(),
                });
            }
            before = Some((point.budget, value.mean));
        }
        None
    }

    /// Whether the mean curve comes above `loss` again after it had reached it, and where it last is.
    ///
    /// ```
    /// use taskscout_report::{mean_curves, Metric, ResultRow};
    /// let row = |round, budget, loss| ResultRow {
    ///     round, budget, test_loss: Some(loss), ..ResultRow::default()
    /// };
    /// let rows = [row(0, 100, 4.0), row(1, 200, 2.0), row(2, 300, 3.5)];
    /// let curve = &mean_curves(&rows, Metric::TestLoss)[0];
    /// assert_eq!(curve.rise(3.0).unwrap().round, 2);
    /// assert!(curve.rise(3.5).is_none());
    /// ```
    #[must_use]
    pub fn rise(&self, loss: f64) -> Option<Rise> {
        let values = self
            .points
            .iter()
            .filter_map(|point| Some((point, point.value?.mean)));
        let mut later = values.skip_while(|(_, mean)| *mean > loss).peekable();
        let mut last = None;
        while let Some((point, mean)) = later.next() {
            if mean > loss {
                last = Some(Rise {
                    round: point.round,
                    budget: point.budget,
                    loss: mean,
                    at_end: later.peek().is_none(),
                });
            }
        }
        last
    }
}

/// The budget between two rounds, the first above the loss and the second at or below it.
fn interpolate((b0, above): (f64, f64), (b1, below): (f64, f64), loss: f64) -> f64 {
    let share = (above - loss) / (above - below);
    if share < 1.0 {
        b0 + share * (b1 - b0)
    } else {
        b1
    }
}

/// The share of the [`REFERENCE`] strategy's budget that `strategy` needs to reach its final loss.
///
/// `None` if there is no reference, it has no final loss or no budget, or the strategy has no loss
/// in any round. The rows belong to one experiment and one target.
#[must_use]
pub fn budget_ratio<'a>(
    rows: impl IntoIterator<Item = &'a ResultRow>,
    strategy: &str,
    judged: Judged,
) -> Option<BudgetRatio> {
    let rows: Vec<&ResultRow> = rows.into_iter().collect();
    let reference = Cells::new(&rows, REFERENCE, judged.metric());
    let own = Cells::new(&rows, strategy, judged.metric());
    let target = Target::of(&reference.mean_curve())?;
    let curve = Some(own.mean_curve()).filter(Curve::is_defined)?;
    let reach = curve.reach(target.loss);
    let interval = bootstrap(&reference, &own);
    Some(BudgetRatio {
        mean: reach.map(|reach| reach.budget / target.budget),
        low: interval.and_then(|(low, _)| finite(low)),
        high: interval.and_then(|(_, high)| finite(high)),
        at_first_round: reach.is_some_and(|reach| reach.at_first_round && reach.budget > 0.0),
    })
}

/// Where a strategy's mean curve is above the final loss of the [`REFERENCE`] again after it had
/// reached it: its [`budget_ratio`] then speaks of the first time only. `None` if it stays below,
/// never gets there, or is the reference itself.
#[must_use]
pub fn rises_again<'a>(
    rows: impl IntoIterator<Item = &'a ResultRow>,
    strategy: &str,
    judged: Judged,
) -> Option<Rise> {
    let rows: Vec<&ResultRow> = rows.into_iter().collect();
    let curve = |strategy| Cells::new(&rows, strategy, judged.metric()).mean_curve();
    let target = Target::of(&curve(REFERENCE)).filter(|_| strategy != REFERENCE)?;
    curve(strategy).rise(target.loss)
}

/// What has to be reached, and the budget that the reference needed for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) loss: f64,
    pub(crate) budget: f64,
}

impl Target {
    pub(crate) fn of(reference: &Curve) -> Option<Self> {
        let last = reference.last().filter(|point| point.budget > 0.0)?;
        Some(Self {
            loss: last.value?.mean,
            budget: last.budget,
        })
    }
}

pub(crate) fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

fn bootstrap(reference: &Cells, own: &Cells) -> Option<(f64, f64)> {
    let pairs = shared_seeds(reference, own);
    if pairs.len() < 2 {
        return None;
    }
    let mut generator = SplitMix64(START);
    let ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let draw = (0..pairs.len()).map(|_| pairs[generator.below(pairs.len())]);
            let (theirs, ours): (Vec<usize>, Vec<usize>) = draw.unzip();
            let curve = own.curve(&ours);
            Target::of(&reference.curve(&theirs))
                .and_then(|target| Some(curve.reach(target.loss)?.budget / target.budget))
                .unwrap_or(f64::INFINITY)
        })
        .collect();
    Some(percentiles(ratios))
}

/// The 5th and 95th percentiles of resampled ratios, of which there is at least one.
pub(crate) fn percentiles(mut ratios: Vec<f64>) -> (f64, f64) {
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[((share * ratios.len() as f64).ceil() as usize).max(1) - 1];
    (at(TAIL), at(1.0 - TAIL))
}

/// Index pairs of the seeds that both have.
pub(crate) fn shared_seeds(reference: &Cells, own: &Cells) -> Vec<(usize, usize)> {
    let pairs = reference.seeds.iter().enumerate().filter_map(|(i, seed)| {
        let j = own.seeds.binary_search(seed).ok()?;
        Some((i, j))
    });
    pairs.collect()
}

/// Steele, Lea and Flood's generator: tiny, fast and good enough to resample seeds.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, by multiplication.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, curve, row};

    fn ratio(own: &[(usize, f64)], passive: &[(usize, f64)], seeds: u64) -> BudgetRatio {
        let mut rows = curve("passive", seeds, passive);
        rows.extend(curve("aware", seeds, own));
        budget_ratio(&rows, "aware", Judged::Shared).unwrap()
    }

    const PASSIVE: [(usize, f64); 3] = [(100, 8.0), (200, 4.0), (400, 2.0)];

    #[test]
    fn interpolates_between_rounds() {
        // From 5 at 100 to 1 at 200: 2 is three quarters of the way, 175 of 400.
        let ratio = ratio(&[(100, 5.0), (200, 1.0)], &PASSIVE, 1);
        close(ratio.mean.unwrap(), 175.0 / 400.0);
        assert_eq!((ratio.low, ratio.high), (None, None));
        assert!(!ratio.at_first_round);
    }

    #[test]
    fn first_round_may_be_enough() {
        let ratio = ratio(&[(100, 1.5), (200, 1.0)], &PASSIVE, 1);
        close(ratio.mean.unwrap(), 0.25);
        assert!(ratio.at_first_round);
    }

    #[test]
    fn never_reached_is_none() {
        let ratio = ratio(&[(100, 5.0), (400, 2.5)], &PASSIVE, 4);
        assert_eq!((ratio.mean, ratio.low, ratio.high), (None, None, None));
    }

    #[test]
    fn the_reference_needs_all_of_its_budget() {
        let rows = curve("passive", 5, &PASSIVE);
        let ratio = budget_ratio(&rows, "passive", Judged::Shared).unwrap();
        close(ratio.mean.unwrap(), 1.0);
        close(ratio.low.unwrap(), 1.0);
        close(ratio.high.unwrap(), 1.0);
    }

    #[test]
    fn first_reach_counts_when_the_curve_rises_again() {
        let ratio = ratio(&[(100, 3.0), (200, 1.0), (400, 9.0)], &PASSIVE, 1);
        close(ratio.mean.unwrap(), 150.0 / 400.0);
    }

    #[test]
    fn a_rise_after_the_first_reach_is_told() {
        let rise = |own: &[(usize, f64)]| {
            let mut rows = curve("passive", 1, &PASSIVE);
            rows.extend(curve("aware", 1, own));
            rises_again(&rows, "aware", Judged::Shared)
        };
        assert_eq!(rise(&[(100, 3.0), (200, 1.0), (400, 2.0)]), None);
        assert_eq!(rise(&[(100, 9.0), (200, 8.0), (400, 2.5)]), None);
        let at_end = rise(&[(100, 3.0), (200, 1.0), (300, 4.0), (400, 9.0)]).unwrap();
        assert_eq!((at_end.round, at_end.at_end), (3, true));
        close(at_end.budget, 400.0);
        close(at_end.loss, 9.0);
        let between = rise(&[(100, 1.0), (200, 3.0), (400, 0.5)]).unwrap();
        assert_eq!((between.round, between.at_end), (1, false));
        // The reference is what all are measured by.
        let dips = curve("passive", 1, &[(100, 1.0), (200, 5.0), (400, 2.0)]);
        assert_eq!(rises_again(&dips, "passive", Judged::Shared), None);
    }

    #[test]
    fn no_reference_or_no_final_loss_is_no_ratio() {
        assert_eq!(
            budget_ratio(&curve("aware", 2, &PASSIVE), "aware", Judged::Shared),
            None
        );
        let rows = [
            row("passive", 1, 0, 100, 1.0),
            row("passive", 1, 1, 200, f64::NAN),
        ];
        assert_eq!(budget_ratio(&rows, "passive", Judged::Shared), None);
        let mut rows = curve("passive", 2, &PASSIVE);
        rows.push(row("target-only", 0, 0, 0, f64::NAN));
        assert_eq!(budget_ratio(&rows, "target-only", Judged::Shared), None);
    }

    /// Ten seeds whose losses differ from each other in both strategies.
    fn noisy() -> Vec<ResultRow> {
        let mut rows = Vec::new();
        for seed in 0..10u64 {
            let wobble = 1.0 + 0.2 * (seed as f64 * 1.7).sin();
            let other = 1.0 + 0.2 * (seed as f64 * 2.9).cos();
            for (round, budget) in [100, 200, 300, 400].into_iter().enumerate() {
                let b = budget as f64;
                rows.push(row("passive", seed, round, budget, wobble * 100.0 / b));
                rows.push(row("aware", seed, round, budget, other * 60.0 / b));
            }
        }
        rows
    }

    #[test]
    fn interval_contains_the_mean_and_is_deterministic() {
        let ratio = budget_ratio(&noisy(), "aware", Judged::Shared).unwrap();
        let (mean, low, high) = (ratio.mean.unwrap(), ratio.low.unwrap(), ratio.high.unwrap());
        assert!(low < mean && mean < high, "{low} {mean} {high}");
        assert!(high - low > 0.01 && high - low < 0.5, "{low} {high}");
        let again = budget_ratio(&noisy(), "aware", Judged::Shared).unwrap();
        assert_eq!(ratio.low.unwrap().to_bits(), again.low.unwrap().to_bits());
        assert_eq!(ratio.high.unwrap().to_bits(), again.high.unwrap().to_bits());
    }

    #[test]
    fn pairing_keeps_shared_noise_out_of_the_interval() {
        // Both strategies scale with the same factor per seed: every draw gives the same ratio.
        let mut rows = Vec::new();
        for seed in 0..6u64 {
            let factor = 1.0 + seed as f64;
            for (round, budget) in [100usize, 200, 400].into_iter().enumerate() {
                let passive = PASSIVE[round].1 * factor;
                rows.push(row("passive", seed, round, budget, passive));
                rows.push(row("aware", seed, round, budget, passive / 2.0));
            }
        }
        let ratio = budget_ratio(&rows, "aware", Judged::Shared).unwrap();
        close(ratio.mean.unwrap(), 0.5);
        close(ratio.low.unwrap(), 0.5);
        close(ratio.high.unwrap(), 0.5);
    }

    #[test]
    fn draws_that_never_reach_leave_the_upper_end_open() {
        let mut rows = Vec::new();
        for seed in 0..6u64 {
            let end = if seed == 0 { 0.1 } else { 2.1 };
            for (round, &(budget, loss)) in PASSIVE.iter().enumerate() {
                rows.push(row("passive", seed, round, budget, loss));
            }
            rows.push(row("aware", seed, 0, 100, 4.0));
            rows.push(row("aware", seed, 1, 400, end));
        }
        let ratio = budget_ratio(&rows, "aware", Judged::Shared).unwrap();
        assert!(ratio.mean.is_some() && ratio.low.is_some());
        assert_eq!(ratio.high, None);
    }

    #[test]
    fn splitmix_matches_its_reference_values() {
        // First outputs for start 0, as published with the Java SplittableRandom constants.
        let mut generator = SplitMix64(0);
        assert_eq!(generator.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(generator.next(), 0x6e78_9e6a_a1b9_65f4);
    }
}
