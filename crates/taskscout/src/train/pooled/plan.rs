//! Which kin to sample: the rows that take most of the doubt about the targets away.
//!
//! Before the target's own rows, doubt about its function is doubt about what its family has in
//! common. For a group of features with precisions `Λ` of the shared task features and `λ` of the
//! residuals, `n_t` rows of task `t` with features `u_t` leave the variance
//!
//! ```text
//! u_0ᵀ ( Λ + Σ_t u_t u_tᵀ / (1/λ + σ² / (n_t e)) )⁻¹ u_0
//! ```
//!
//! where `e` is the mean square of a feature: the variance of a design for one target, with a prior,
//! and with tasks that cannot tell more of the family than what is not their own. Rows are handed out a
//! few at a time to the task that lowers it most.

use faer::Mat;

use super::Pool;
use crate::error::Result;
use crate::linalg;

/// Portions that a budget is handed out in.
const PORTIONS: usize = 100;

/// A group of features, as far as a plan needs it.
struct Group {
    /// Its share in the squares of a prediction.
    weight: f64,
    /// Mean square of one feature, over the noise variance.
    size: f64,
    /// Precisions of the shared task features.
    shared: Vec<f64>,
    /// Variance of a coefficient of a task's own.
    own: f64,
}

/// A family that a plan is made in.
struct Ground {
    groups: Vec<Group>,
    /// Task features in use.
    features: Vec<usize>,
    worth: f64,
}

/// A source task that rows may be asked of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// Its task features.
    pub(crate) features: Vec<f64>,
    /// Rows that it has given already.
    pub(crate) rows: usize,
    /// Rows that it has left.
    pub(crate) left: usize,
}

/// How a budget serves the targets best: rows for each candidate, fewer than the budget where kin
/// have no more left. `pool` is what has been learnt
/// so far; without it, tasks are taken to be as alike as their features.
pub(crate) fn allocate(
    pool: Option<&Pool>,
    targets: &[Vec<f64>],
    candidates: &[Candidate],
    budget: usize,
) -> Result<Vec<usize>> {
    let grounds: Vec<Ground> = targets
        .iter()
        .enumerate()
        .map(|(index, target)| Ground::of(pool, index, target, candidates))
        .collect();
    let portion = budget.div_ceil(PORTIONS).max(1);
    let mut rows: Vec<f64> = candidates.iter().map(|c| c.rows as f64).collect();
    let mut out = vec![0; candidates.len()];
    let mut left = budget;
    while left > 0 {
        let mut best: Option<(f64, usize)> = None;
        let before = doubt(&grounds, targets, candidates, &rows)?;
        for index in 0..candidates.len() {
            let now = portion.min(left).min(candidates[index].left - out[index]);
            if now == 0 || !grounds.iter().any(|ground| ground.has(&candidates[index])) {
                continue;
            }
            rows[index] += now as f64;
            let gain = (before - doubt(&grounds, targets, candidates, &rows)?) / now as f64;
            rows[index] -= now as f64;
            if best.is_none_or(|(most, _)| gain > most * (1.0 + 1e-9)) {
                best = Some((gain, index));
            }
        }
        let Some((_, index)) = best else { break };
        let now = portion.min(left).min(candidates[index].left - out[index]);
        rows[index] += now as f64;
        out[index] += now;
        left -= now;
    }
    Ok(out)
}

/// The doubt about all targets that rows leave, in units of the noise.
fn doubt(
    grounds: &[Ground],
    targets: &[Vec<f64>],
    candidates: &[Candidate],
    rows: &[f64],
) -> Result<f64> {
    grounds
        .iter()
        .zip(targets)
        .map(|(ground, target)| ground.doubt(target, candidates, rows))
        .sum()
}

impl Ground {
    fn of(pool: Option<&Pool>, index: usize, target: &[f64], candidates: &[Candidate]) -> Self {
        let known = pool.and_then(|pool| {
            let (family, _) = pool.targets.get(index)?.as_ref()?;
            Some((pool, &pool.families[*family]))
        });
        match known {
            Some((pool, family)) => {
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
                    Group {
                        weight,
                        size: weight / sizes.len().max(1) as f64 / component.noise,
                        shared: shared.iter().map(|row| row[group]).collect(),
                        own: 1.0 / own[group],
                    }
                });
                Self {
                    groups: groups.collect(),
                    features: family.shared.clone(),
                    worth: pool.worth,
                }
            }
            None => Self::guess(target, candidates),
        }
    }

    /// Before anything is known: features of tasks say all but a tenth, in a scale of their own.
    fn guess(target: &[f64], candidates: &[Candidate]) -> Self {
        let mut features: Vec<usize> = (0..target.len())
            .filter(|&i| target[i].abs() > 0.0)
            .collect();
        // What the target's kin have besides is part of their family.
        loop {
            let meets = |candidate: &&Candidate| {
                features.iter().any(|&i| candidate.features[i].abs() > 0.0)
            };
            let mut wider: Vec<usize> = candidates
                .iter()
                .filter(meets)
                .flat_map(|candidate| {
                    (0..candidate.features.len()).filter(|&i| candidate.features[i].abs() > 0.0)
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
            let squares = candidates.iter().map(|c| c.features[*i].powi(2));
            squares.fold(target[*i].powi(2), f64::max).max(1e-12)
        };
        Self {
            groups: vec![Group {
                weight: 1.0,
                size: 1.0,
                shared: features.iter().map(size).collect(),
                own: 0.1,
            }],
            features,
            worth: super::Pooled::default().worth,
        }
    }

    /// Whether a task is of the family.
    fn has(&self, candidate: &Candidate) -> bool {
        self.features
            .iter()
            .any(|&index| candidate.features[index].abs() > 0.0)
    }

    fn doubt(&self, target: &[f64], candidates: &[Candidate], rows: &[f64]) -> Result<f64> {
        let q = self.features.len();
        let wanted = Mat::from_fn(q, 1, |i, _| target[self.features[i]]);
        let mut total = 0.0;
        for group in &self.groups {
            let mut matrix = Mat::<f64>::zeros(q, q);
            (0..q).for_each(|i| matrix[(i, i)] = group.shared[i]);
            for (candidate, &n) in candidates.iter().zip(rows) {
                if n <= 0.0 || !self.has(candidate) {
                    continue;
                }
                let counted = n / (1.0 + n / self.worth);
                let told = 1.0 / (group.own + 1.0 / (counted * group.size));
                for (j, &b) in self.features.iter().enumerate() {
                    for (i, &a) in self.features.iter().enumerate() {
                        matrix[(i, j)] += told * candidate.features[a] * candidate.features[b];
                    }
                }
            }
            let factor = linalg::cholesky(matrix.as_ref(), "what rows tell of a family")?;
            let solved = factor.solve(wanted.as_ref());
            total += group.weight * linalg::inner(wanted.as_ref(), solved.as_ref());
        }
        Ok(total)
    }
}
