//! The inputs over all rows of all recordings.

use rayon::prelude::*;

use super::column::unit;
use super::{InputSummary, Measured};
use crate::recording::Logs;

/// Moments of the inputs.
#[derive(Debug)]
pub(super) struct Pooled {
    means: Vec<f64>,
    /// What deviations are divided by, so that their products do not overflow.
    units: Vec<f64>,
    ends: Vec<(f64, f64)>,
    /// Sums of products of deviations, `d × d`, the lower triangle filled.
    products: Vec<f64>,
    rows: usize,
}

impl Pooled {
    pub(super) fn new(logs: &Logs, measured: &[Measured]) -> Self {
        let d = logs.inputs.len();
        let rows: usize = logs
            .recordings
            .iter()
            .map(|recording| recording.rows())
            .sum();
        let of = |index: usize| measured.iter().map(move |one| &one.inputs[index]);
        let units: Vec<f64> = (0..d)
            .map(|index| unit(of(index).flat_map(|column| [column.min, column.max])))
            .collect();
        let means: Vec<f64> = (0..d)
            .map(|index| {
                let sum: f64 = of(index)
                    .map(|column| column.mean / units[index] * column.count as f64)
                    .sum();
                units[index] * (sum / rows.max(1) as f64)
            })
            .collect();
        let parts: Vec<Vec<f64>> = logs
            .recordings
            .par_iter()
            .map(|recording| products(&recording.x, &means, &units))
            .collect();
        // In the order of the recordings: the sum does not depend on the threads.
        let mut sums = vec![0.0; d * d];
        for part in parts {
            for (sum, value) in sums.iter_mut().zip(part) {
                *sum += value;
            }
        }
        let ends = (0..d).map(|index| {
            of(index).fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), column| {
                (min.min(column.min), max.max(column.max))
            })
        });
        Self {
            ends: ends.collect(),
            means,
            units,
            products: sums,
            rows,
        }
    }

    pub(super) fn summaries(&self, names: &[String]) -> Vec<InputSummary> {
        let d = names.len();
        let summary = |(index, name): (usize, &String)| InputSummary {
            input: name.clone(),
            mean: self.means[index],
            std: self.units[index]
                * (self.products[index * d + index] / self.rows.saturating_sub(1).max(1) as f64)
                    .sqrt(),
            min: self.ends[index].0,
            max: self.ends[index].1,
        };
        names.iter().enumerate().map(summary).collect()
    }

    /// The correlation of two inputs; no number where one is constant.
    pub(super) fn correlation(&self, first: usize, second: usize) -> f64 {
        let d = self.means.len();
        let product = |a: usize, b: usize| self.products[a.max(b) * d + a.min(b)];
        let scale = product(first, first).sqrt() * product(second, second).sqrt();
        product(first, second) / scale
    }
}

fn products(x: &[f64], means: &[f64], units: &[f64]) -> Vec<f64> {
    let d = means.len();
    let mut sums = vec![0.0; d * d];
    let mut off = vec![0.0; d];
    for row in x.chunks_exact(d.max(1)) {
        let columns = row.iter().zip(means).zip(units);
        for (off, ((value, mean), unit)) in off.iter_mut().zip(columns) {
            *off = value / unit - mean / unit;
        }
        for (a, sums) in sums.chunks_exact_mut(d).enumerate() {
            for (sum, b) in sums[..=a].iter_mut().zip(&off) {
                *sum += off[a] * b;
            }
        }
    }
    sums
}
