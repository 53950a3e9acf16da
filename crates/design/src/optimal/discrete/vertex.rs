//! The crossover from an interior point to a vertex (Megiddo 1991).

use faer::Mat;

use super::interior::Interior;
use super::{Goal, RowTable, Sources, add, max_abs, minus, whiten};
use crate::error::Result;
use crate::linalg::{self, dot};

/// Contributions to the target below this part of the largest are rounding.
const ROUNDING: f64 = 1e-11;
/// Relative residual of the constraint that a cleaned solution may have.
pub(super) const RESIDUAL: f64 = 1e-10;
/// Pivots below this part of their row count as zero; tried in turn, since a fine one keeps the
/// optimum and a coarse one copes with embeddings that are nearly equal.
pub(super) const PIVOTS: [f64; 5] = [1e-10, 1e-8, 1e-7, 1e-6, 1e-4];

impl Sources {
    /// Moves from an interior point to a vertex of no greater norm: `ν` there, its dual, and the
    /// relative residual of the constraint.
    pub(super) fn vertex(
        &self,
        goal: &Goal,
        interior: &Interior,
        pivot: f64,
    ) -> Result<(Vec<f64>, Vec<f64>, f64)> {
        let rows = &self.white;
        let part = |i: usize| interior.nu[i].abs() * linalg::norm(rows.row(i));
        let parts: Vec<f64> = (0..self.tasks()).map(part).collect();
        let floor = 1e-2 * ROUNDING * max_abs(parts.iter().copied());
        let mut order: Vec<usize> = (0..self.tasks()).filter(|&i| parts[i] > floor).collect();
        order.sort_by(|&a, &b| parts[b].total_cmp(&parts[a]));
        let mut basis = VertexBasis::new(rows.width, pivot);
        order
            .iter()
            .for_each(|&i| basis.push(i, interior.nu[i], rows.row(i)));
        let tasks = basis.complete(rows);
        let (mut values, mut residual, inverse) = self.on_support(goal, &tasks)?;
        let parts = tasks
            .iter()
            .zip(&values)
            .map(|(&i, nu)| nu.abs() * linalg::norm(rows.row(i)));
        let parts: Vec<f64> = parts.collect();
        let floor = ROUNDING * max_abs(parts.iter().copied());
        let kept: Vec<usize> = (0..tasks.len()).filter(|&l| parts[l] > floor).collect();
        if kept.len() < tasks.len() {
            let support: Vec<usize> = kept.iter().map(|&l| tasks[l]).collect();
            let (cleaned, rest, _) = self.on_support(goal, &support)?;
            if rest <= RESIDUAL {
                residual = rest;
                values = vec![0.0; tasks.len()];
                kept.iter()
                    .zip(cleaned)
                    .for_each(|(&l, value)| values[l] = value);
            }
        }
        // Where a basic task is unused its slack is free, so it stays as the interior point has it.
        let slack = |l: usize| match values[l] {
            value if value.abs() > 0.0 => value.signum(),
            _ => dot(&interior.y, rows.row(tasks[l])).clamp(-1.0, 1.0),
        };
        let slacks: Vec<f64> = (0..tasks.len()).map(slack).collect();
        let y = linalg::apply(inverse.transpose(), &slacks);
        let mut nu = vec![0.0; self.tasks()];
        tasks
            .iter()
            .zip(values)
            .for_each(|(&i, value)| nu[i] = value);
        Ok((nu, y, residual))
    }

    /// Least squares on some tasks: their coefficients, the relative residual of the constraint, and
    /// the inverse used.
    fn on_support(&self, goal: &Goal, tasks: &[usize]) -> Result<(Vec<f64>, f64, Mat<f64>)> {
        let columns =
            |rows: &RowTable| Mat::from_fn(rows.width, tasks.len(), |i, j| rows.row(tasks[j])[i]);
        let scaled = columns(&self.scaled);
        let inverse = linalg::pseudo_inverse(columns(&self.white).as_ref(), 1e-15)?;
        let sizes: Vec<f64> = tasks
            .iter()
            .map(|&i| linalg::norm(self.scaled.row(i)))
            .collect();
        let rest = |nu: &[f64]| {
            let rest = minus(&goal.scaled, &linalg::apply(scaled.as_ref(), nu));
            let size: f64 = nu
                .iter()
                .zip(&sizes)
                .map(|(nu, size)| nu.abs() * size)
                .sum();
            let part = linalg::norm(&rest) / size.max(linalg::norm(&goal.scaled));
            (rest, part)
        };
        let mut nu = linalg::apply(inverse.as_ref(), &goal.white);
        // A correction carries the rounding of the smallest direction, so it is made only in need.
        let (missing, part) = rest(&nu);
        if part > 1e-2 * RESIDUAL {
            let missing: Vec<f64> = whiten(&self.v, &self.s, &missing).collect();
            add(&mut nu, 1.0, &linalg::apply(inverse.as_ref(), &missing));
        }
        let part = rest(&nu).1;
        Ok((nu, part, inverse))
    }
}

/// A basis of white space that turns from unit vectors into embeddings, slot by slot.
struct VertexBasis {
    /// Task and coefficient of each slot; none while it holds its unit vector.
    slots: Vec<Option<(usize, f64)>>,
    /// Rows of the inverse of the matrix whose columns are the basis.
    inverse: RowTable,
    /// Pivots below this part of their row count as zero.
    tolerance: f64,
}

impl VertexBasis {
    fn new(width: usize, tolerance: f64) -> Self {
        let unit = |at: usize| if at / width == at % width { 1.0 } else { 0.0 };
        let values = (0..width * width).map(unit).collect();
        Self {
            slots: vec![None; width],
            inverse: RowTable { values, width },
            tolerance,
        }
    }

    /// Brings a task with a coefficient into the basis. If it depends on those there, the coefficients
    /// move along the dependence, never to a greater norm, until one of them is zero and drops out.
    fn push(&mut self, task: usize, value: f64, row: &[f64]) {
        let along = self.inverse.times(row);
        let free = (0..row.len()).filter(|&l| self.slots[l].is_none());
        let slot = free.max_by(|&a, &b| along[a].abs().total_cmp(&along[b].abs()));
        if let Some(slot) = slot.filter(|&l| along[l].abs() > self.tolerance * linalg::norm(row)) {
            self.pivot(slot, &along, (task, value));
            return;
        }
        let sign = value.signum();
        let real = || {
            self.slots
                .iter()
                .zip(&along)
                .filter_map(|(slot, a)| Some((slot.as_ref()?.1, a)))
        };
        // Taking a unit off this task costs the others that much.
        let cost: f64 = real().map(|(x, a)| sign * x.signum() * a).sum();
        let towards = if cost <= 1.0 { sign } else { -sign };
        let tiny = self.tolerance * max_abs(along.iter().copied());
        let limits = self
            .slots
            .iter()
            .zip(&along)
            .enumerate()
            .filter_map(|(l, (slot, a))| {
                let limit = -slot.as_ref()?.1 / (towards * a);
                (limit >= 0.0 && a.abs() > tiny).then_some((l, limit))
            });
        let blocking = limits.min_by(|a, b| a.1.total_cmp(&b.1));
        let (leaves, length) = match blocking {
            Some((l, limit)) if towards * sign < 0.0 || limit < value.abs() => {
                (Some(l), towards * limit)
            }
            _ => (None, value),
        };
        for (slot, a) in self.slots.iter_mut().zip(&along) {
            if let Some((_, x)) = slot {
                *x += length * a;
            }
        }
        if let Some(slot) = leaves {
            self.pivot(slot, &along, (task, value - length));
        }
    }

    /// Fills slots that are left with the tasks that stand out most there; gives the tasks of all.
    fn complete(&mut self, rows: &RowTable) -> Vec<usize> {
        for slot in 0..self.slots.len() {
            if self.slots[slot].is_none() {
                let heights = rows.times(self.inverse.row(slot)).into_iter().enumerate();
                if let Some((task, _)) = heights.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) {
                    let row = rows.row(task);
                    self.pivot(slot, &self.inverse.times(row), (task, 0.0));
                }
            }
        }
        self.slots.iter().flatten().map(|slot| slot.0).collect()
    }

    /// Replaces what a slot holds by a vector with these coordinates.
    fn pivot(&mut self, slot: usize, along: &[f64], new: (usize, f64)) {
        let pivot: Vec<f64> = self
            .inverse
            .row(slot)
            .iter()
            .map(|value| value / along[slot])
            .collect();
        for (l, row) in self.inverse.values.chunks_mut(along.len()).enumerate() {
            for (value, pivot) in row.iter_mut().zip(&pivot) {
                *value = if l == slot {
                    *pivot
                } else {
                    *value - along[l] * pivot
                };
            }
        }
        self.slots[slot] = Some(new);
    }
}
