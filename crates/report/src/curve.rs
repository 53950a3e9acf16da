//! Mean curves over seeds.
//!
//! For each strategy and round: the mean over seeds of the budget and of a metric, and the standard
//! error `s / √n` with the sample standard deviation `s` (divisor `n − 1`). Values that are missing
//! or not finite are left out, and `n` says how many remained.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::rows::ResultRow;

/// A column of results that can be averaged and plotted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Metric {
    /// Loss of the shared predictor.
    TestLoss,
    /// Loss of the predictor handed back.
    ReturnedLoss,
    /// Similarity between learnt and true representation.
    SubspaceSimilarity,
    /// Cosine between the main exploit task and the target.
    Relevance,
}

impl Metric {
    /// The metric's finite value in a row.
    #[must_use]
    pub fn value(self, row: &ResultRow) -> Option<f64> {
        let value = match self {
            Self::TestLoss => row.test_loss,
            Self::ReturnedLoss => row.returned_loss,
            Self::SubspaceSimilarity => row.subspace_similarity,
            Self::Relevance => row.relevance,
        };
        value.filter(|value| value.is_finite())
    }
}

/// A mean and its standard error, which one value alone does not have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeanSem {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub sem: Option<f64>,
}

impl MeanSem {
    /// Mean and standard error of the finite values; `None` if there are none.
    ///
    /// ```
    /// use taskscout_report::MeanSem;
    /// let loss = MeanSem::of([1.0, 2.0, 3.0]).unwrap();
    /// assert!((loss.mean - 2.0).abs() < 1e-12);
    /// assert!((loss.sem.unwrap() - 1.0 / 3f64.sqrt()).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        if values.is_empty() {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        if !mean.is_finite() {
            return None;
        }
        // Scaled, so that the squares of large deviations stay finite.
        let scale = values.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
        let unit = if scale > 0.0 { scale } else { 1.0 };
        let squares: f64 = values.iter().map(|v| ((v - mean) / unit).powi(2)).sum();
        let sem = (values.len() > 1).then(|| unit * (squares / (n - 1.0) / n).sqrt());
        Some(Self { mean, sem })
    }
}

/// One round of a mean curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The round.
    pub round: usize,
    /// Mean source samples so far.
    pub budget: f64,
    /// Mean and standard error of the metric; `None` where no seed has it.
    pub value: Option<MeanSem>,
    /// How many seeds have the metric in this round.
    pub n: usize,
}

/// A strategy's mean curve, by rising round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The strategy.
    pub strategy: String,
    /// How many seeds the strategy has rows for.
    pub seeds: usize,
    /// One point a round.
    pub points: Vec<CurvePoint>,
}

impl Curve {
    /// The last round's point.
    #[must_use]
    pub fn last(&self) -> Option<&CurvePoint> {
        self.points.last()
    }

    /// Mean and standard error in the last round.
    #[must_use]
    pub fn final_value(&self) -> Option<MeanSem> {
        self.last().and_then(|point| point.value)
    }

    /// Whether any round has a value.
    #[must_use]
    pub fn is_defined(&self) -> bool {
        self.points.iter().any(|point| point.value.is_some())
    }
}

/// One mean curve per strategy, in order of first appearance. The rows belong to one experiment
/// and one target.
#[must_use]
pub fn mean_curves<'a>(
    rows: impl IntoIterator<Item = &'a ResultRow>,
    metric: Metric,
) -> Vec<Curve> {
    let rows: Vec<&ResultRow> = rows.into_iter().collect();
    strategies(&rows)
        .into_iter()
        .map(|strategy| Cells::new(&rows, strategy, metric).mean_curve())
        .collect()
}

/// Names of the strategies, in order of first appearance.
pub(crate) fn strategies<'a>(rows: &[&'a ResultRow]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.strategy.as_str()) {
            names.push(&row.strategy);
        }
    }
    names
}

/// A strategy's measurements by seed and round, from which curves over any choice of seeds follow.
pub(crate) struct Cells {
    strategy: String,
    rounds: Vec<usize>,
    pub(crate) seeds: Vec<u64>,
    /// By seed, then round.
    values: Vec<Vec<Option<Cell>>>,
}

/// One measurement.
#[derive(Debug, Clone, Copy)]
struct Cell {
    budget: f64,
    value: Option<f64>,
}

impl Cells {
    pub(crate) fn new(rows: &[&ResultRow], strategy: &str, metric: Metric) -> Self {
        let own = || rows.iter().filter(|row| row.strategy == strategy);
        let unique = |set: BTreeSet<u64>| set.into_iter().collect::<Vec<_>>();
        let seeds = unique(own().map(|row| row.seed).collect());
        let rounds: BTreeSet<usize> = own().map(|row| row.round).collect();
        let rounds: Vec<usize> = rounds.into_iter().collect();
        let mut values = vec![vec![None; rounds.len()]; seeds.len()];
        for row in own() {
            let place = seeds
                .binary_search(&row.seed)
                .ok()
                .zip(rounds.binary_search(&row.round).ok());
            if let Some((seed, round)) = place {
                values[seed][round] = Some(Cell {
                    budget: row.budget as f64,
                    value: metric.value(row),
                });
            }
        }
        Self {
            strategy: strategy.to_owned(),
            rounds,
            seeds,
            values,
        }
    }

    /// The mean curve over all seeds.
    pub(crate) fn mean_curve(&self) -> Curve {
        self.curve(&(0..self.seeds.len()).collect::<Vec<_>>())
    }

    /// The mean curve over some seeds, given by index, each as often as it is named.
    pub(crate) fn curve(&self, chosen: &[usize]) -> Curve {
        let points = self
            .rounds
            .iter()
            .enumerate()
            .filter_map(|(index, &round)| {
                let cells = chosen
                    .iter()
                    .filter_map(|&seed| self.values.get(seed).and_then(|row| row[index]));
                let budget = MeanSem::of(cells.clone().map(|cell| cell.budget))?.mean;
                let values: Vec<f64> = cells.filter_map(|cell| cell.value).collect();
                Some(CurvePoint {
                    round,
                    budget,
                    n: values.len(),
                    value: MeanSem::of(values),
                })
            });
        Curve {
            strategy: self.strategy.clone(),
            seeds: self.seeds.len(),
            points: points.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, row};

    #[test]
    fn sem_by_hand() {
        let value = MeanSem::of([2.0, 4.0, 4.0, 6.0]).unwrap();
        close(value.mean, 4.0);
        // s² = 8/3, s/√4
        close(value.sem.unwrap(), (8.0f64 / 3.0).sqrt() / 2.0);
        assert_eq!(MeanSem::of([5.0]).unwrap().sem, None);
        assert_eq!(MeanSem::of([]), None);
        close(MeanSem::of([f64::NAN, 3.0]).unwrap().mean, 3.0);
    }

    #[test]
    fn averages_by_round_and_keeps_the_order_of_strategies() {
        let rows = [
            row("passive", 1, 1, 200, 0.5),
            row("passive", 1, 0, 100, 1.0),
            row("aware", 1, 0, 100, 0.9),
            row("passive", 2, 0, 120, 3.0),
            row("passive", 2, 1, 220, f64::NAN),
        ];
        let curves = mean_curves(&rows, Metric::TestLoss);
        assert_eq!(curves.len(), 2);
        assert_eq!(
            (curves[0].strategy.as_str(), curves[0].seeds),
            ("passive", 2)
        );
        let first = curves[0].points[0];
        close(first.budget, 110.0);
        close(first.value.unwrap().mean, 2.0);
        close(first.value.unwrap().sem.unwrap(), 1.0);
        let last = curves[0].last().unwrap();
        assert_eq!((last.round, last.n), (1, 1));
        close(last.budget, 210.0);
        close(curves[0].final_value().unwrap().mean, 0.5);
    }

    #[test]
    fn a_round_without_values_stays_undefined() {
        let rows = [row("passive", 1, 0, 100, f64::NAN)];
        let curves = mean_curves(&rows, Metric::TestLoss);
        assert!(!curves[0].is_defined());
        assert_eq!(curves[0].final_value(), None);
    }
}
