//! A branch and bound over tasks by rising price: every further task takes away one direction of what
//! is needed at most, which bounds what the rest must cost.

use super::orthogonal::{NOTHING, fresh, orthonormal, without};
use crate::linalg;

/// A branch and bound over rows by rising price.
pub(super) struct Branch<'a> {
    /// In the frame, without what is known.
    pub(super) columns: &'a [Vec<f64>],
    pub(super) order: &'a [(usize, f64)],
    pub(super) most: usize,
    /// Part of a needed direction that is none.
    pub(super) nothing: f64,
    /// Only what costs less is of interest.
    pub(super) limit: f64,
    pub(super) best: Option<Vec<usize>>,
    pub(super) effort: usize,
}

impl Branch<'_> {
    /// Tries all rows from one on beside those chosen, with what these leave of the need.
    pub(super) fn descend(
        &mut self,
        from: usize,
        chosen: &mut Vec<usize>,
        basis: &mut Vec<Vec<f64>>,
        need: &[Vec<f64>],
        price: f64,
    ) {
        let wanted = orthonormal(need, self.nothing);
        let left = wanted.len();
        if left == 0 {
            (self.best, self.limit) = (Some(chosen.clone()), price * (1.0 - 1e-9));
            return;
        }
        for (index, &(place, cost)) in self.order.iter().enumerate().skip(from) {
            // Prices rise, and a row takes away one direction at most.
            let bound = |more: usize| price + more as f64 * cost;
            if chosen.len() + left > self.most || bound(left) >= self.limit {
                return;
            }
            let work = (2 * basis.len() + left + 1) * need.first().map_or(1, Vec::len);
            self.effort = self.effort.saturating_sub(work);
            if self.effort == 0 {
                return;
            }
            let Some(next) = fresh(&self.columns[place], basis) else {
                continue;
            };
            let tight = chosen.len() + left + 1 > self.most || bound(left + 1) >= self.limit;
            let inside: f64 = wanted
                .iter()
                .map(|column| linalg::dot(column, &next).powi(2))
                .sum();
            if tight && inside < 1.0 - NOTHING {
                continue;
            }
            let rest: Vec<Vec<f64>> = need
                .iter()
                .map(|column| without(column, std::slice::from_ref(&next)))
                .collect();
            chosen.push(place);
            basis.push(next);
            self.descend(index + 1, chosen, basis, &rest, price + cost);
            chosen.pop();
            basis.pop();
        }
    }
}
