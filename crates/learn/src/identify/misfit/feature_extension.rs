//! The family with one more task feature, by a block of its equations.
//!
//! With the feature's values `c_w`, `B = Σ_w ψ_W c_w ⊗ G_w` and `U = K⁻¹B`, its coefficients are
//! `m = S⁻¹ s` for the score `s = Σ_w c_w (b_w − G_w M ψ_W)` and the Schur complement
//! `S = Σ_w c_w² G_w − BᵀU + λ`. A task's prediction moves by `D m` and what is open about it grows by
//! `D S⁻¹ Dᵀ`, with `D = c_w I − (ψ_W ⊗ I)ᵀ U`.

use faer::{Mat, MatRef};

use super::candidate_features::{CandidateFeature, candidates};
use super::left_out::{Change, Held, Left, LeftOutTask};
use super::{Misfit, SuspectedMissingFeature, TaskFamily};
use crate::error::Result;
use crate::linalg::{self, packed};

/// Candidates that are added to the family, by their score.
const TRIED: usize = 6;
/// Remedies that are named.
const NAMED: usize = 3;
/// Share of the excess that a remedy has to take away.
const CLEAR_SHARE: f64 = 0.2;
/// Share of the excess by which two remedies may differ by accident.
const TIE_SHARE: f64 = 0.05;
/// Steps towards the penalty of the new feature.
const PENALTY_STEPS: usize = 20;

/// The features that would lower the residual clearly, the best first.
pub(super) fn remedies(
    family: &TaskFamily,
    tasks: &[LeftOutTask],
    left: &Left,
    misfit: &Misfit,
) -> Result<Vec<SuspectedMissingFeature>> {
    if !TaskFamily::can_be_fitted(family.dim(), family.task_features() + 1) {
        return Ok(Vec::new());
    }
    let scores = Scores::new(family, tasks)?;
    let mut ranked: Vec<(f64, CandidateFeature)> = candidates(tasks)?
        .into_iter()
        .map(|candidate| (scores.of(&candidate.new), candidate))
        .collect();
    // The constant is what is forgotten most often, so it is always tried.
    ranked.sort_by(|(a, one), (b, other)| {
        let constant = other.is_constant().cmp(&one.is_constant());
        constant.then(b.total_cmp(a))
    });
    let clear = (CLEAR_SHARE * misfit.excess()).max(misfit.standard_error);
    let mut found = Vec::new();
    for (_, candidate) in ranked.into_iter().take(TRIED) {
        let score = scores.vector(&candidate.values);
        let extension =
            FeatureExtension::new(family, tasks, &candidate.values, &score, misfit.noise)?;
        let change = |held: &Held| Some(extension.change(held, &tasks[held.index]));
        let Some(out) = left.with(change) else {
            continue;
        };
        if misfit.residual_variance - out.residual > clear {
            found.push(SuspectedMissingFeature {
                feature: candidate.name(),
                exponents: candidate.exponents,
                residual_variance: out.residual,
            });
        }
    }
    let tie = misfit.standard_error.max(TIE_SHARE * misfit.excess());
    simplest_first(&mut found, tie);
    found.truncate(NAMED);
    Ok(found)
}

/// Sorts by the residual, but puts the simplest of those that are as good as the best first: tasks
/// in the corners of a box hardly tell `w1²` from the constant.
fn simplest_first(found: &mut [SuspectedMissingFeature], tie: f64) {
    found.sort_by(|a, b| a.residual_variance.total_cmp(&b.residual_variance));
    let Some(best) = found.first().map(|remedy| remedy.residual_variance) else {
        return;
    };
    let as_good = found.partition_point(|remedy| remedy.residual_variance <= best + tie);
    found[..as_good].sort_by_key(|remedy| remedy.exponents.iter().sum::<u32>());
}

/// Residual moments of every task under the family.
struct Scores<'a> {
    tasks: &'a [LeftOutTask],
    features: usize,
    outputs: usize,
    /// `b_w − G_w M ψ_W`, one column an output.
    moments: Vec<Mat<f64>>,
    /// The Gram matrix of a row, over all tasks.
    metric: linalg::Cholesky,
}

impl<'a> Scores<'a> {
    fn new(family: &TaskFamily, tasks: &'a [LeftOutTask]) -> Result<Self> {
        let (d, outputs) = (family.dim(), family.outputs());
        let residual = |task: &LeftOutTask| {
            let mut moments = Mat::zeros(d, outputs);
            for output in 0..outputs {
                let mut image = vec![0.0; d];
                let function = family.coefficients(&task.features, output);
                packed::multiply_add(task.statistics.gram(), &function, &mut image);
                let moment = task.statistics.cross_moment(output);
                (0..d).for_each(|a| moments[(a, output)] = moment[a] - image[a]);
            }
            moments
        };
        let rows: f64 = tasks.iter().map(LeftOutTask::count).sum();
        let mut metric = Mat::<f64>::zeros(d, d);
        for task in tasks {
            metric += faer::Scale(1.0 / rows) * task.statistics.gram_matrix();
        }
        let size: f64 = (0..d).map(|i| metric[(i, i)]).sum::<f64>() / d as f64;
        // A score only ranks: directions that inputs hardly have need not be exact.
        (0..d).for_each(|i| metric[(i, i)] += 1e-6 * size.max(f64::MIN_POSITIVE));
        Ok(Self {
            tasks,
            features: d,
            outputs,
            moments: tasks.iter().map(residual).collect(),
            metric: linalg::cholesky(metric.as_ref(), "the Gram matrix of all tasks")?,
        })
    }

    /// `s = Σ_w c_w (b_w − G_w M ψ_W)`.
    fn vector(&self, values: &[f64]) -> Mat<f64> {
        let mut sum = Mat::<f64>::zeros(self.features, self.outputs);
        for (moments, &value) in self.moments.iter().zip(values) {
            sum += faer::Scale(value) * moments;
        }
        sum
    }

    /// The squared residuals that a feature would explain, if all tasks had the same inputs.
    fn of(&self, new: &[f64]) -> f64 {
        let size: f64 = self
            .tasks
            .iter()
            .zip(new)
            .map(|(task, value)| task.count() * value * value)
            .sum();
        let score = self.metric.whiten(self.vector(new).as_ref());
        score.squared_norm_l2() / size.max(f64::MIN_POSITIVE)
    }
}

/// One more task feature.
struct FeatureExtension<'a> {
    values: &'a [f64],
    /// `U`, in blocks of a task feature.
    blocks: Mat<f64>,
    /// `W` of `S⁻¹ = W Wᵀ`, and `Wᵀ s`.
    root: Mat<f64>,
    shift: Mat<f64>,
}

impl<'a> FeatureExtension<'a> {
    fn new(
        family: &TaskFamily,
        tasks: &[LeftOutTask],
        values: &'a [f64],
        score: &Mat<f64>,
        noise: f64,
    ) -> Result<Self> {
        let (d, p) = (family.dim(), family.task_features());
        let mut shared = Mat::<f64>::zeros(p * d, d);
        let mut schur = Mat::<f64>::zeros(d, d);
        for (task, &value) in tasks.iter().zip(values) {
            let gram = task.statistics.gram_matrix();
            for (i, feature) in task.features.iter().enumerate() {
                let mut block = shared.as_mut().subrows_mut(i * d, d);
                block += faer::Scale(feature * value) * &gram;
            }
            schur += faer::Scale(value * value) * &gram;
        }
        let blocks = linalg::product(family.inverse(), shared.as_ref());
        schur -= linalg::product(shared.transpose(), blocks.as_ref());
        let (eigenvalues, vectors) = linalg::eigen(schur.as_ref(), "the equations of a feature")?;
        let eigenvalues: Vec<f64> = eigenvalues.iter().map(|value| value.max(0.0)).collect();
        let rotated = linalg::product(vectors.transpose(), score.as_ref());
        let lambda = penalty(&eigenvalues, rotated.as_ref(), noise);
        let scale: Vec<f64> = eigenvalues
            .iter()
            .map(|value| (value + lambda).sqrt().recip())
            .collect();
        Ok(Self {
            values,
            blocks,
            root: Mat::from_fn(d, d, |i, j| vectors[(i, j)] * scale[j]),
            shift: Mat::from_fn(d, rotated.ncols(), |i, o| scale[i] * rotated[(i, o)]),
        })
    }

    /// What it does to a task that is left out.
    fn change(&self, held: &Held, task: &LeftOutTask) -> Change {
        let d = self.root.nrows();
        let mut direction = Mat::<f64>::zeros(d, d);
        for (i, &feature) in task.features.iter().enumerate() {
            let block = self.blocks.as_ref().subrows(i * d, d);
            direction -= faer::Scale(feature) * block;
        }
        (0..d).for_each(|a| direction[(a, a)] += self.values[held.index]);
        let seen = linalg::product(held.root.as_ref(), direction.as_ref());
        Change {
            spread: linalg::product(seen.as_ref(), self.root.as_ref()),
            shift: self.shift.clone(),
        }
    }
}

/// The feature's penalty by MacKay's fixed point, `λ = σ² γ / ‖m‖²`.
fn penalty(eigenvalues: &[f64], rotated: MatRef<'_, f64>, noise: f64) -> f64 {
    let top = eigenvalues
        .iter()
        .copied()
        .fold(f64::MIN_POSITIVE, f64::max);
    let (low, high) = (1e-9 * top, 1e6 * top);
    let mut lambda = 1e-3 * top;
    for _ in 0..PENALTY_STEPS {
        let (mut freedom, mut size) = (0.0, 0.0);
        for (i, value) in eigenvalues.iter().enumerate() {
            for output in 0..rotated.ncols() {
                freedom += value / (value + lambda);
                size += (rotated[(i, output)] / (value + lambda)).powi(2);
            }
        }
        lambda = (noise * freedom / size.max(f64::MIN_POSITIVE)).clamp(low, high);
    }
    lambda
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simplest_of_the_best_comes_first() {
        let remedy = |exponents: [u32; 2], residual| SuspectedMissingFeature {
            feature: String::new(),
            exponents: exponents.to_vec(),
            residual_variance: residual,
        };
        let given = [
            remedy([1, 0], 0.5),
            remedy([2, 1], 0.29),
            remedy([0, 2], 0.3),
            remedy([0, 0], 0.31),
        ];
        let order = |tie| {
            let mut found = given.to_vec();
            simplest_first(&mut found, tie);
            let order: Vec<f64> = found
                .iter()
                .map(|remedy| remedy.residual_variance)
                .collect();
            order
        };
        assert_eq!(order(0.05), [0.31, 0.3, 0.29, 0.5]);
        assert_eq!(order(0.005), [0.29, 0.3, 0.31, 0.5]);
        simplest_first(&mut [], 0.1);
    }
}
