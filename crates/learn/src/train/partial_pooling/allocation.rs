//! Which related tasks to sample: the rows that lower the variance of the targets most.
//!
//! Before the target's own rows, the variance of its function is that of what its family has in
//! common. For a group of features with precisions `Λ` of the shared task features and `λ` of the
//! residuals, `n_t` rows of task `t` with features `u_t` leave the variance
//!
//! ```text
//! u_0ᵀ ( Λ + Σ_t u_t u_tᵀ / (1/λ + σ² / (n_t e)) )⁻¹ u_0
//! ```
//!
//! where `e` is the mean square of a feature: the variance of a design for one target, with a prior,
//! and with tasks that say no more of the family than their residuals leave. Rows are handed out a
//! few at a time to the task that lowers it most.

mod expected;

use faer::Mat;

pub use self::expected::expected_target_prediction_variance;
use super::HierarchicalModel;
use crate::error::Result;
use crate::linalg;

/// Portions that a budget is handed out in.
const PORTIONS: usize = 100;

/// A group of features, as far as an allocation needs it.
struct Group {
    /// Its share in the squares of a prediction, over the noise variance.
    weight: f64,
    /// Mean square of one feature, over the noise variance.
    size: f64,
    /// Precisions of the shared task features.
    shared: Vec<f64>,
    /// Variance of a coefficient of a task's own.
    own: f64,
}

/// A target's family, as far as an allocation needs it.
struct TargetFamily {
    groups: Vec<Group>,
    /// Task features in use.
    features: Vec<usize>,
    /// Those of the target.
    target: Vec<f64>,
    effective_rows: f64,
}

/// A source task to allocate rows to.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceTaskWithRowLimit {
    /// Its task features.
    pub features: Vec<f64>,
    /// Rows that it has given already.
    pub rows: usize,
    /// Rows that it has left.
    pub capacity: usize,
}

/// How a budget serves the targets best: rows for each source task, fewer than the budget where related tasks
/// have no more left. `hierarchies` are what has been learnt so far, one an output; without any, tasks are taken to be as
/// alike as their features.
pub fn allocate_row_budget(
    hierarchies: &[HierarchicalModel],
    targets: &[Vec<f64>],
    sources: &[SourceTaskWithRowLimit],
    budget: usize,
) -> Result<Vec<usize>> {
    let mut families = Vec::with_capacity(targets.len() * hierarchies.len().max(1));
    for (index, target) in targets.iter().enumerate() {
        let known: Vec<TargetFamily> = hierarchies
            .iter()
            .filter_map(|hierarchy| TargetFamily::of(hierarchy, index, target))
            .collect();
        if known.is_empty() {
            families.push(TargetFamily::guess(target, sources));
        }
        families.extend(known);
    }
    let portion = budget.div_ceil(PORTIONS).max(1);
    let mut rows: Vec<usize> = sources.iter().map(|c| c.rows).collect();
    let mut out = vec![0; sources.len()];
    let mut left = budget;
    while left > 0 {
        let now = |index: usize| portion.min(left).min(sources[index].capacity - out[index]);
        let covariances = families
            .iter()
            .map(|family| family.covariances(sources, &rows))
            .collect::<Result<Vec<_>>>()?;
        let mut best: Option<(f64, usize)> = None;
        for (index, source) in sources.iter().enumerate() {
            if now(index) == 0 || !families.iter().any(|family| family.has(source)) {
                continue;
            }
            let change = (rows[index], rows[index] + now(index));
            let gains = families
                .iter()
                .zip(&covariances)
                .map(|(family, covariances)| family.gain(covariances, source, change));
            let gain = gains.sum::<f64>() / now(index) as f64;
            if best.is_none_or(|(most, _)| gain > most * (1.0 + 1e-9)) {
                best = Some((gain, index));
            }
        }
        let Some((_, index)) = best else { break };
        let now = now(index);
        rows[index] += now;
        out[index] += now;
        left -= now;
    }
    Ok(out)
}

/// The covariance that rows leave of what a family shares, for a group of features.
struct SharedCovariance {
    /// Covariance of the shared part, over the family's task features.
    covariance: Mat<f64>,
    /// The same times the target's features.
    of_target: Vec<f64>,
}

impl TargetFamily {
    /// What a hierarchical model knows of a target's family.
    fn of(hierarchy: &HierarchicalModel, index: usize, target: &[f64]) -> Option<Self> {
        let (family, _) = hierarchy.targets.get(index)?.as_ref()?;
        let family = &hierarchy.families[*family];
        let component = &family.component;
        let (own, shared) = component
            .precisions
            .split_last()
            .map_or((&[][..], &[][..]), |(own, shared)| (own.as_slice(), shared));
        let groups = (0..own.len()).map(|group| {
            let of_group = component.groups.iter().zip(&component.sizes);
            let sizes: Vec<f64> = of_group
                .filter(|(at, _)| **at == group)
                .map(|(_, size)| *size)
                .collect();
            let weight: f64 = sizes.iter().sum();
            let weight = weight / component.noise;
            Group {
                weight,
                size: weight / sizes.len().max(1) as f64,
                shared: shared.iter().map(|row| row[group]).collect(),
                own: 1.0 / own[group],
            }
        });
        Some(Self {
            groups: groups.collect(),
            target: family.shared.iter().map(|&i| target[i]).collect(),
            features: family.shared.clone(),
            effective_rows: hierarchy.effective_rows,
        })
    }

    /// Before anything is known: features of tasks say all but a tenth, in a scale of their own.
    fn guess(target: &[f64], sources: &[SourceTaskWithRowLimit]) -> Self {
        let mut features: Vec<usize> = (0..target.len())
            .filter(|&i| target[i].abs() > 0.0)
            .collect();
        // What the target's related tasks have besides is part of their family.
        loop {
            let meets = |source: &&SourceTaskWithRowLimit| {
                features.iter().any(|&i| source.features[i].abs() > 0.0)
            };
            let mut wider: Vec<usize> = sources
                .iter()
                .filter(meets)
                .flat_map(|source| {
                    (0..source.features.len()).filter(|&i| source.features[i].abs() > 0.0)
                })
                .chain(features.iter().copied())
                .collect();
            wider.sort_unstable();
            wider.dedup();
            if wider == features {
                break;
            }
            features = wider;
        }
        let size = |i: &usize| {
            let squares = sources.iter().map(|c| c.features[*i].powi(2));
            squares.fold(target[*i].powi(2), f64::max).max(1e-12)
        };
        Self {
            groups: vec![Group {
                weight: 1.0,
                size: 1.0,
                shared: features.iter().map(size).collect(),
                own: 0.1,
            }],
            target: features.iter().map(|&i| target[i]).collect(),
            features,
            effective_rows: super::PartialPooling::default().effective_rows,
        }
    }

    /// Whether a task is of the family.
    fn has(&self, source: &SourceTaskWithRowLimit) -> bool {
        self.features
            .iter()
            .any(|&index| source.features[index].abs() > 0.0)
    }

    /// A task's features, those of the family.
    fn part(&self, features: &[f64]) -> Vec<f64> {
        self.features.iter().map(|&index| features[index]).collect()
    }

    /// The information of `n` rows of a task on what its family shares.
    fn information(&self, group: &Group, n: usize) -> f64 {
        if n == 0 {
            return 0.0;
        }
        let counted = n as f64 / (1.0 + n as f64 / self.effective_rows);
        1.0 / (group.own + 1.0 / (counted * group.size))
    }

    /// The covariances that rows of the source tasks leave, by group.
    fn covariances(
        &self,
        sources: &[SourceTaskWithRowLimit],
        rows: &[usize],
    ) -> Result<Vec<SharedCovariance>> {
        let q = self.features.len();
        let covariance = |group: &Group| {
            let mut matrix = Mat::<f64>::zeros(q, q);
            (0..q).for_each(|i| matrix[(i, i)] = group.shared[i]);
            for (source, &n) in sources.iter().zip(rows) {
                let information = self.information(group, n);
                if information > 0.0 {
                    let u = self.part(&source.features);
                    for j in 0..q {
                        (0..q).for_each(|i| matrix[(i, j)] += information * u[i] * u[j]);
                    }
                }
            }
            let factor = linalg::cholesky(matrix.as_ref(), "the information on a family")?;
            let covariance = factor.solve(Mat::identity(q, q).as_ref());
            let of_target = linalg::apply(covariance.as_ref(), &self.target);
            Ok(SharedCovariance {
                covariance,
                of_target,
            })
        };
        self.groups.iter().map(covariance).collect()
    }

    /// By how much more rows of a source task lower the variance of the target, in units of the noise.
    fn gain(
        &self,
        covariances: &[SharedCovariance],
        source: &SourceTaskWithRowLimit,
        (from, to): (usize, usize),
    ) -> f64 {
        let u = self.part(&source.features);
        let gain = |(group, covariance): (&Group, &SharedCovariance)| {
            // A matrix that grows by `t u uᵀ` (Sherman and Morrison).
            let more = self.information(group, to) - self.information(group, from);
            let seen = linalg::dot(&u, &covariance.of_target);
            let open = linalg::quadratic(covariance.covariance.as_ref(), &u);
            group.weight * more * seen * seen / (1.0 + more * open)
        };
        self.groups.iter().zip(covariances).map(gain).sum()
    }
}

#[cfg(test)]
mod tests;
