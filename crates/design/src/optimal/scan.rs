//! Passes over a matrix of candidates, block by block on all cores.
//!
//! A block is a matrix in `faer`'s layout (a row-major candidate is a column), so its images under a
//! small factor `R` are one product, and `‖R c‖²` costs little more than reading the candidate.
//! Blocks have a fixed size and results are joined in their order: the number of threads does not
//! show.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Candidates whose images are computed at once.
const BLOCK: usize = 512;
/// Blocks whose sums are added up before they are joined.
const GROUP: usize = 16;
/// Numbers in a table that one thread reads sooner than others wake.
const SMALL: usize = 1 << 17;
/// Share of a block below which its candidates are scored one by one.
const SPARSE: usize = 8;

/// Candidates as the passes see them.
#[derive(Clone, Copy)]
pub(super) struct EmbeddingRows<'a> {
    pub(super) values: &'a [f64],
    pub(super) dim: usize,
    /// What a sample costs: its information counts `1/cost`.
    pub(super) costs: Option<&'a [f64]>,
}

/// A candidate and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) index: usize,
    pub(super) score: f64,
}

impl EmbeddingRows<'_> {
    fn count(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Candidates of which one may win: few in small tables, so that there is a choice.
    fn group(&self) -> usize {
        (self.count() / 256).clamp(1, BLOCK)
    }

    /// Whether waking other threads would cost more than it saves.
    fn is_small(&self) -> bool {
        self.values.len() < SMALL
    }

    fn cost(&self, index: usize) -> f64 {
        self.costs.map_or(1.0, |costs| costs[index])
    }

    /// `Σ (R c)(R c)ᵀ / cost`, divided by the number of candidates; without a factor, of `c` itself.
    pub(super) fn gram(&self, factor: Option<MatRef<'_, f64>>) -> Mat<f64> {
        let rank = factor.map_or(self.dim, |factor| factor.nrows());
        let sum_of = |(group, values): (usize, &[f64])| {
            let mut sum = Mat::zeros(rank, rank);
            let mut images = vec![0.0; rank * BLOCK];
            for (block, values) in values.chunks(BLOCK * self.dim).enumerate() {
                let n = values.len() / self.dim;
                let images = &mut images[..rank * n];
                let images = match factor {
                    None if self.costs.is_none() => values,
                    _ => {
                        let first = (group * GROUP + block) * BLOCK;
                        self.scaled_images(factor, values, first, images);
                        images
                    }
                };
                let images = MatRef::from_column_major_slice(images, rank, n);
                let add = Accum::Add;
                matmul(sum.as_mut(), add, images, images.transpose(), 1.0, Par::Seq);
            }
            sum
        };
        let size = BLOCK * GROUP * self.dim;
        let groups: Vec<Mat<f64>> = if self.is_small() {
            self.values.chunks(size).enumerate().map(sum_of).collect()
        } else {
            self.values
                .par_chunks(size)
                .enumerate()
                .map(sum_of)
                .collect()
        };
        let count = self.count() as f64;
        let mut total = Mat::zeros(rank, rank);
        groups.iter().for_each(|group| total += group);
        Mat::from_fn(rank, rank, |i, j| {
            (total[(i, j)] + total[(j, i)]) / (2.0 * count)
        })
    }

    /// Writes `R c / √cost` for every candidate of a block.
    fn scaled_images(
        &self,
        factor: Option<MatRef<'_, f64>>,
        values: &[f64],
        first: usize,
        out: &mut [f64],
    ) {
        match factor {
            Some(factor) => image(factor, values, self.dim, out),
            None => out.copy_from_slice(values),
        }
        if self.costs.is_some() {
            let rank = out.len() / (values.len() / self.dim);
            for (offset, image) in out.chunks_exact_mut(rank).enumerate() {
                let scale = self.cost(first + offset).sqrt().recip();
                if scale > 0.0 {
                    image.iter_mut().for_each(|value| *value *= scale);
                } else {
                    // Left out: its values may be anything.
                    image.fill(0.0);
                }
            }
        }
    }

    /// Of every few candidates, the one that has the largest of some values.
    pub(super) fn largest(&self, values: &[f64]) -> Vec<Scored> {
        let group = self.group();
        let best = values.chunks(group).enumerate().map(|(chunk, values)| {
            let mut best = Scored {
                index: 0,
                score: 0.0,
            };
            for (offset, &score) in values.iter().enumerate() {
                if score > best.score {
                    best = Scored {
                        index: chunk * group + offset,
                        score,
                    };
                }
            }
            best
        });
        best.filter(|best| best.score > 0.0).collect()
    }

    /// `‖R c‖² / cost` for every candidate.
    pub(super) fn scores(&self, factor: MatRef<'_, f64>) -> Vec<f64> {
        let mut scores = vec![0.0; self.count()];
        let score = |(block, (scores, values)): (usize, (&mut [f64], &[f64]))| {
            self.score_block(factor, values, block * BLOCK, scores);
        };
        if self.is_small() {
            let blocks = scores
                .chunks_mut(BLOCK)
                .zip(self.values.chunks(BLOCK * self.dim));
            blocks.enumerate().for_each(score);
        } else {
            let values = self.values.par_chunks(BLOCK * self.dim);
            scores
                .par_chunks_mut(BLOCK)
                .zip(values)
                .enumerate()
                .for_each(score);
        }
        scores
    }

    fn score_block(&self, factor: MatRef<'_, f64>, values: &[f64], first: usize, out: &mut [f64]) {
        let rank = factor.nrows();
        let mut images = vec![0.0; rank * out.len()];
        image(factor, values, self.dim, &mut images);
        for ((offset, score), image) in out.iter_mut().enumerate().zip(images.chunks_exact(rank)) {
            let cost = self.cost(first + offset);
            *score = if cost < f64::INFINITY {
                image.iter().map(|value| value * value).sum::<f64>() / cost
            } else {
                0.0
            };
        }
    }

    /// Of every few candidates, the best above a floor for the form `‖R c‖² / cost`.
    ///
    /// `bounds[i]` times `reach` is above the score of candidate `i`, which spares reading most
    /// candidates where norms differ.
    pub(super) fn winners(
        &self,
        factor: MatRef<'_, f64>,
        bounds: &[f64],
        reach: f64,
        floor: f64,
    ) -> Vec<Scored> {
        let least = floor / reach;
        let search = |(block, (bounds, values)): (usize, (&[f64], &[f64]))| {
            self.winners_of(factor, values, bounds, block * BLOCK, least, floor)
        };
        if self.is_small() {
            let blocks = bounds
                .chunks(BLOCK)
                .zip(self.values.chunks(BLOCK * self.dim));
            return blocks.enumerate().flat_map(search).collect();
        }
        let blocks = bounds
            .par_chunks(BLOCK)
            .zip(self.values.par_chunks(BLOCK * self.dim));
        let found: Vec<Vec<Scored>> = blocks.enumerate().map(search).collect();
        found.into_iter().flatten().collect()
    }

    /// The winners of one block.
    fn winners_of(
        &self,
        factor: MatRef<'_, f64>,
        values: &[f64],
        bounds: &[f64],
        first: usize,
        least: f64,
        floor: f64,
    ) -> Vec<Scored> {
        let hopeful = bounds.iter().filter(|&&bound| bound > least).count();
        if hopeful == 0 {
            return Vec::new();
        }
        let together = hopeful * SPARSE > bounds.len();
        let mut scores = vec![0.0; bounds.len()];
        if together {
            self.score_block(factor, values, first, &mut scores);
        } else {
            for offset in (0..bounds.len()).filter(|&offset| bounds[offset] > least) {
                let row = &values[offset * self.dim..(offset + 1) * self.dim];
                scores[offset] = squared_image(factor, row) / self.cost(first + offset);
            }
        }
        let mut winners: Vec<Scored> = Vec::new();
        let group = self.group();
        for (chunk, scores) in scores.chunks(group).enumerate() {
            let mut best: Option<Scored> = None;
            for (offset, &score) in scores.iter().enumerate() {
                let place = chunk * group + offset;
                if bounds[place] > least && score > best.map_or(floor, |best| best.score) {
                    let index = first + place;
                    best = Some(Scored { index, score });
                }
            }
            winners.extend(best);
        }
        winners
    }
}

/// Writes `R c` for every candidate of a block.
fn image(factor: MatRef<'_, f64>, values: &[f64], dim: usize, out: &mut [f64]) {
    let n = values.len() / dim;
    let block = MatRef::from_column_major_slice(values, dim, n);
    let out = MatMut::from_column_major_slice_mut(out, factor.nrows(), n);
    matmul(out, Accum::Replace, factor, block, 1.0, Par::Seq);
}

/// `‖R c‖²` of one candidate.
pub(super) fn squared_image(factor: MatRef<'_, f64>, row: &[f64]) -> f64 {
    let entry = |i: usize| -> f64 {
        row.iter()
            .enumerate()
            .map(|(j, x)| factor[(i, j)] * x)
            .sum()
    };
    (0..factor.nrows()).map(|i| entry(i).powi(2)).sum()
}
