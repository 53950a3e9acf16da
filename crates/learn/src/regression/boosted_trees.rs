//! Boosted oblivious trees: a regression that finds steps and interactions by itself.
//!
//! Trees are added one after the other, each fitted to what those before leave over. A level of a tree asks one question of all rows, the
//! one that lowers the squared error most; leaves hold shrunken means, `Σ r / (n + λ)`, times the learning rate. Inputs
//! are cut into bins at quantiles once, so that a level costs one pass over the rows.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::features::{Split, Tree, Trees};

/// How trees are boosted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoostedTrees {
    /// Trees in all.
    pub trees: usize,
    /// Questions of a tree.
    pub depth: usize,
    /// Part of each tree that is added.
    pub learning_rate: f64,
    /// Rows of value zero that every leaf has beside its own.
    pub leaf_penalty: f64,
    /// Bins of an input at most, up to 256.
    pub bins: usize,
}

impl Default for BoostedTrees {
    fn default() -> Self {
        Self {
            trees: 250,
            depth: 5,
            learning_rate: 0.08,
            leaf_penalty: 3.0,
            bins: 64,
        }
    }
}

/// Inputs as places among their bins.
struct Binned {
    /// Of each input, the thresholds between bins, rising.
    thresholds: Vec<Vec<f64>>,
    /// Of each input, the bin of every row.
    bins: Vec<Vec<u8>>,
}

/// What a leaf's rows in a bin add up to.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    rows: f64,
    sum: f64,
}

impl BoostedTrees {
    /// Fits rows of `inputs` values each, row-major, to labels.
    ///
    /// ```
    /// use taskscout::features::apply_row;
    /// use taskscout::train::BoostedTrees;
    /// let x: Vec<f64> = (0..400).map(|i| f64::from(i) / 100.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| if *x > 2.5 { 1.0 } else { -1.0 }).collect();
    /// let step = BoostedTrees::default().fit(&x, 1, &y)?;
    /// assert!((apply_row(&step, &[1.0])[0] + 1.0).abs() < 0.05);
    /// assert!((apply_row(&step, &[3.0])[0] - 1.0).abs() < 0.05);
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Settings out of range, no rows, rows and labels of different number, or values that are not finite.
    pub fn fit(&self, x: &[f64], inputs: usize, y: &[f64]) -> Result<Trees> {
        self.validate()?;
        if y.is_empty() || inputs == 0 {
            return Err(Error::State("trees need rows to learn from".into()));
        }
        Error::check_length("the inputs", y.len() * inputs, x.len())?;
        Error::check_finite(x, |at| {
            format!("row {}, input {}", at / inputs, at % inputs)
        })?;
        Error::check_finite(y, |row| format!("the label of row {row}"))?;
        let binned = Binned::of(x, inputs, self.bins);
        let base = y.iter().sum::<f64>() / y.len() as f64;
        let mut left: Vec<f64> = y.iter().map(|y| y - base).collect();
        let mut trees = Vec::with_capacity(self.trees);
        for _ in 0..self.trees {
            let mut leaf = vec![0_u16; left.len()];
            let Some(tree) = self.tree(&binned, &left, &mut leaf) else {
                break;
            };
            for (left, leaf) in left.iter_mut().zip(&leaf) {
                *left -= tree.leaves[usize::from(*leaf)];
            }
            trees.push(tree);
        }
        Trees::new(inputs, base, trees)
    }

    fn validate(&self) -> Result<()> {
        let wrong = |key: &str, what: String| Err(Error::setting(key, what));
        if !(1..=12).contains(&self.depth) {
            return wrong("depth", format!("is {}: give 1 to 12", self.depth));
        }
        if !(2..=256).contains(&self.bins) {
            return wrong("bins", format!("is {}: give 2 to 256", self.bins));
        }
        if !(self.learning_rate > 0.0 && self.learning_rate <= 1.0) {
            let rate = self.learning_rate;
            return wrong(
                "learning_rate",
                format!("is {rate}: give above 0, at most 1"),
            );
        }
        if !(self.leaf_penalty >= 0.0 && self.leaf_penalty.is_finite()) {
            let rows = self.leaf_penalty;
            return wrong(
                "leaf_penalty",
                format!("is {rows}: give a finite number from 0"),
            );
        }
        Ok(())
    }

    /// One more tree, with the leaf of every row; none where no question lowers the error.
    fn tree(&self, binned: &Binned, left: &[f64], leaf: &mut [u16]) -> Option<Tree> {
        let mut splits = Vec::with_capacity(self.depth);
        for bit in 0..self.depth {
            let Some((input, bin)) = self.question(binned, left, leaf, 1 << bit) else {
                break;
            };
            let above = binned.thresholds[input][bin];
            splits.push(Split { input, above });
            for (leaf, &own) in leaf.iter_mut().zip(&binned.bins[input]) {
                *leaf |= u16::from(usize::from(own) > bin) << bit;
            }
        }
        if splits.is_empty() {
            return None;
        }
        let mut cells = vec![Cell::default(); 1 << splits.len()];
        for (&leaf, &left) in leaf.iter().zip(left) {
            cells[usize::from(leaf)].add(left);
        }
        let value =
            |cell: &Cell| self.learning_rate * cell.sum / (cell.rows + self.leaf_penalty).max(1.0);
        Some(Tree {
            leaves: cells.iter().map(value).collect(),
            splits,
        })
    }

    /// The input and bin whose question lowers the error most over all leaves; of equal ones the first.
    fn question(
        &self,
        binned: &Binned,
        left: &[f64],
        leaf: &[u16],
        leaves: usize,
    ) -> Option<(usize, usize)> {
        let best_of = |input: usize| {
            let bins = binned.thresholds[input].len() + 1;
            let mut cells = vec![Cell::default(); leaves * bins];
            let places = leaf.iter().zip(&binned.bins[input]);
            for ((&leaf, &bin), &left) in places.zip(left) {
                cells[usize::from(leaf) * bins + usize::from(bin)].add(left);
            }
            let mut gains = vec![0.0; bins - 1];
            for cells in cells.chunks_exact(bins) {
                self.add_gains(cells, &mut gains);
            }
            let gains = gains.into_iter().enumerate();
            let best = gains.max_by(|(i, a), (j, b)| a.total_cmp(b).then(j.cmp(i)))?;
            Some((best.1, input, best.0))
        };
        let all: Vec<Option<(f64, usize, usize)>> = (0..binned.bins.len())
            .into_par_iter()
            .map(best_of)
            .collect();
        let found = all.into_iter().flatten().filter(|(gain, ..)| *gain > 0.0);
        let best = found.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        Some((best.1, best.2))
    }

    /// Adds what each question gains in a leaf with such bins.
    fn add_gains(&self, cells: &[Cell], gains: &mut [f64]) {
        let mut total = Cell::default();
        for cell in cells {
            total.merge(*cell);
        }
        let score = |cell: Cell| cell.sum * cell.sum / (cell.rows + self.leaf_penalty).max(1.0);
        let whole = score(total);
        let mut below = Cell::default();
        for (gain, cell) in gains.iter_mut().zip(cells) {
            below.merge(*cell);
            let above = Cell {
                rows: total.rows - below.rows,
                sum: total.sum - below.sum,
            };
            *gain += score(below) + score(above) - whole;
        }
    }
}

impl Cell {
    fn add(&mut self, value: f64) {
        self.rows += 1.0;
        self.sum += value;
    }

    fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.sum += other.sum;
    }
}

impl Binned {
    /// Cuts inputs at quantiles, half-way between neighbouring values.
    fn of(x: &[f64], inputs: usize, most: usize) -> Self {
        let of_input = |input: usize| {
            let values: Vec<f64> = x.iter().skip(input).step_by(inputs).copied().collect();
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let mut thresholds: Vec<f64> = (1..most)
                .filter_map(|cut| {
                    let low = sorted[(cut * sorted.len() / most).saturating_sub(1)];
                    let next = sorted[sorted.partition_point(|value| *value <= low)..].first()?;
                    Some(low + 0.5 * (next - low))
                })
                .collect();
            thresholds.dedup();
            let bin = |value: &f64| thresholds.partition_point(|cut| cut < value) as u8;
            (values.iter().map(bin).collect(), thresholds)
        };
        let all: Vec<(Vec<u8>, Vec<f64>)> = (0..inputs).into_par_iter().map(of_input).collect();
        let (bins, thresholds) = all.into_iter().unzip();
        Self { thresholds, bins }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::features::{Features as _, apply_row};
    use crate::rng::{Purpose, derive, normal, uniform};

    /// Rows of three inputs; labels are a product of steps, which no sum over inputs has.
    fn rows(n: usize, noise: f64) -> (Vec<f64>, Vec<f64>) {
        let mut rng = derive(5, Purpose::Test, &[n as u64]);
        let x: Vec<f64> = (0..3 * n).map(|_| 2.0 * uniform(&mut rng) - 1.0).collect();
        let clean = x.chunks(3).map(|x| x[0].signum() * x[1].signum() + x[2]);
        let y = clean.map(|y| y + noise * normal(&mut rng)).collect();
        (x, y)
    }

    #[test]
    fn steps_and_products_of_them_are_found() {
        let (x, y) = rows(3000, 0.3);
        let trees = BoostedTrees::default().fit(&x, 3, &y).unwrap();
        let (x, y) = rows(1000, 0.0);
        let mut found = vec![0.0; 1000];
        trees.apply(&x, &mut found);
        let error = found
            .iter()
            .zip(&y)
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f64>()
            / 1000.0;
        // A sum over single inputs leaves 1, the variance of the product of steps.
        assert!(error < 0.08, "{error}");
    }

    #[test]
    fn the_same_rows_give_the_same_trees_on_any_number_of_threads() {
        let (x, y) = rows(500, 0.3);
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            pool.install(|| BoostedTrees::default().fit(&x, 3, &y).unwrap())
        };
        assert_eq!(fit(1), fit(3));
    }

    #[test]
    fn constant_columns_and_labels_break_nothing() {
        let trees = BoostedTrees::default()
            .fit(&[1.0; 20], 2, &[3.0; 10])
            .unwrap();
        assert_eq!(apply_row(&trees, &[0.0, 5.0]), [3.0]);
        assert!(BoostedTrees::default().fit(&[], 2, &[]).is_err());
        assert!(
            BoostedTrees::default()
                .fit(&[1.0, f64::NAN], 1, &[0.0; 2])
                .is_err()
        );
        let wrong = BoostedTrees {
            depth: 0,
            ..BoostedTrees::default()
        };
        assert!(wrong.fit(&[1.0], 1, &[0.0]).is_err());
    }
}
