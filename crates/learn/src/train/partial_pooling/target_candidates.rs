//! What competes for a target: what source tasks have in common, updated by its rows, and its rows alone.

use std::sync::Arc;

use super::{PartialPooling, group_ridge};
use crate::data::{FoldSelection, Statistics, TARGET_FOLD_COUNT, TaskData};
use crate::error::{Error, Result};
use crate::hierarchy::{FunctionBasis, HierarchicalModel, row_weight};
use crate::model::Representation as _;
use crate::regression::LinearPosterior;
use crate::train::guard::{
    self, Blend, Candidate, FACTOR_ODDS, HeldOutScore, Predictor, PredictorKind, TargetHead,
    VARIANCE_FACTORS,
};

/// Odds of source tasks that the target is like, against its rows alone. Where its rows ask for a departure that source tasks
/// do not have among themselves, there are none.
const ODDS: f64 = 3000.0;

/// What a target's row counts for beside source tasks: all of it, or less where a model of some rows does not hold for those left out.
/// Each is as probable beforehand as it is large.
const ROW_WEIGHTS: [f64; 4] = [1.0, 0.3, 0.1, 0.03];
/// What all rows together count for at least, where a row counts for less than one.
const LEAST_ROWS: f64 = 2.0;

/// What a hierarchical model makes of a target's rows, and how it does on folds left out.
struct Learnt {
    /// Ways that differ only in their widths have the same.
    posterior: Arc<LinearPosterior>,
    /// What its variances are times.
    factor: f64,
    /// How probable it is that the target is like the source tasks.
    alike: f64,
    held_out: Vec<HeldOutScore>,
}

impl PartialPooling {
    /// Logarithm of the density that a hierarchical model gives to rows of the targets that it has not seen.
    pub(super) fn held_out_density(
        &self,
        data: &TaskData,
        hierarchy: &HierarchicalModel,
        seen: FoldSelection,
    ) -> Result<f64> {
        let mut total = 0.0;
        for target in 0..hierarchy.targets.len() {
            let folds: Vec<usize> = (0..TARGET_FOLD_COUNT)
                .filter(|&fold| seen.includes(fold))
                .collect();
            let learnt = learn(data, hierarchy, target, &folds, seen)?;
            let judged = learnt.iter().flat_map(|one| &one.held_out);
            total += judged.map(|one| one.log_density).sum::<f64>();
        }
        Ok(total)
    }

    /// What source tasks make of an output of the target's rows, with how that does on folds left out: the mean over the sets of
    /// features.
    pub(super) fn shared(
        &self,
        data: &TaskData,
        hierarchy: &HierarchicalModel,
        target: usize,
    ) -> Result<Option<Candidate>> {
        let folds = guard::comparable_folds(data, target).unwrap_or_default();
        let Some(learnt) = learn(data, hierarchy, target, &folds, FoldSelection::All)? else {
            return Ok(None);
        };
        let odds = |alike: f64| 1.0 + (ODDS - 1.0) * alike;
        let kind = PredictorKind::Shared;
        let d = data.feature_dim();
        if hierarchy.basis.network.is_some() {
            let unplaced = |judged: HeldOutScore| HeldOutScore {
                coefficients: Vec::new(),
                ..judged
            };
            let candidate = Candidate {
                predictor: unpick(data, hierarchy, &learnt.posterior.mean),
                posteriors: Vec::new(),
                prior_odds: odds(learnt.alike),
                held_out: learnt.held_out.into_iter().map(unplaced).collect(),
            };
            return Ok(Some(candidate));
        }
        let mut ways = vec![learnt.placed(&hierarchy.basis.columns, d)];
        let mut noises = vec![hierarchy.noise()];
        // Without folds to compare sets by, the first stands for all.
        for other in hierarchy.others.iter().filter(|_| !folds.is_empty()) {
            if let Some(one) = learn(data, other, target, &folds, FoldSelection::All)? {
                ways.push(one.placed(&other.basis.columns, d));
                noises.push(other.noise());
            }
        }
        let left_out = left_out(data, target, &folds, hierarchy.output);
        let learnt = blend(&ways, &self.expected(&noises), |at| &left_out[at])?;
        let odds = odds(learnt.alike);
        Ok(Some(learnt.candidate(kind, odds)))
    }

    /// How probable sets are beforehand, up to a common factor, by the noise that they leave in source tasks: the density that a row of
    /// the target is expected to have.
    fn expected(&self, noises: &[f64]) -> Vec<f64> {
        let least = noises.iter().copied().fold(f64::INFINITY, f64::min);
        let one = |noise: &f64| (least / noise).powf(0.5 * self.noise_rows);
        let all: Vec<f64> = noises.iter().map(one).collect();
        let usable = all.iter().all(|one| one.is_finite());
        if usable { all } else { vec![1.0; noises.len()] }
    }

    /// What an output of a target's rows gives by itself: the mean over the sets of features, by how well each foretells rows left out.
    pub(super) fn own(&self, data: &TaskData, target: usize, output: usize) -> Result<Candidate> {
        let folds = guard::comparable_folds(data, target).unwrap_or_default();
        let ways = self
            .bases(data.feature_dim())
            .iter()
            .map(|(_, basis)| self.own_on(data, (target, output), basis, &folds))
            .collect::<Result<Vec<_>>>()?;
        if ways.is_empty() {
            return Err(Error::setting("sets", "is empty: name at least one"));
        }
        let even = vec![1.0; ways.len()];
        let left_out = left_out(data, target, &folds, output);
        let learnt = blend(&ways, &even, |at| &left_out[at])?;
        Ok(learnt.candidate(PredictorKind::TargetOnly, 1.0))
    }

    /// The same on one set of features.
    fn own_on(
        &self,
        data: &TaskData,
        (target, output): (usize, usize),
        basis: &FunctionBasis,
        folds: &[usize],
    ) -> Result<Learnt> {
        let rows = |wanted: &dyn Fn(usize) -> bool| {
            let mut total = Statistics::new(basis.columns.len(), data.outputs());
            let entry = &data.targets()[target];
            for (fold, statistics) in entry.folds.iter().enumerate() {
                if wanted(fold) {
                    total.merge(&statistics.pick(&basis.columns)?)?;
                }
            }
            Ok::<_, Error>(total.of_output(output))
        };
        let weight = row_weight(data.target_rows(target), self.effective_rows);
        let posterior = group_ridge::fit(&rows(&|_| true)?, 0, &basis.groups)?;
        let mut ways = Learnt::of_all_widths(posterior, 0.0, !folds.is_empty());
        let mut left_out = Vec::with_capacity(folds.len());
        for &fold in folds {
            let unseen = rows(&|at| at == fold)?;
            let known = group_ridge::fit(&rows(&|at| at != fold)?, 0, &basis.groups)?;
            let judged = HeldOutScore::judge_widths(fold, &known, &unseen, weight)?;
            for (way, judged) in ways.iter_mut().zip(judged) {
                way.held_out.push(judged);
            }
            left_out.push(unseen);
        }
        let learnt = blend(&ways, &FACTOR_ODDS[..ways.len()], |at| &left_out[at])?;
        Ok(learnt.placed(&basis.columns, data.feature_dim()))
    }
}

impl Learnt {
    /// A posterior with all its variances times each of the factors that it may need; as it is where no fold can tell
    /// which.
    fn of_all_widths(posterior: LinearPosterior, alike: f64, compared: bool) -> Vec<Self> {
        let count = if compared { VARIANCE_FACTORS.len() } else { 1 };
        let posterior = Arc::new(posterior);
        let one = |&factor: &f64| Self {
            posterior: posterior.clone(),
            factor,
            alike,
            held_out: Vec::new(),
        };
        VARIANCE_FACTORS[..count].iter().map(one).collect()
    }

    /// The same with coefficients on all features.
    fn placed(self, columns: &[usize], d: usize) -> Self {
        let judged = self.held_out.iter();
        Self {
            posterior: Arc::new(self.posterior.placed(columns, d)),
            held_out: judged.map(|one| placed(one, columns, d)).collect(),
            ..self
        }
    }

    /// The same as a candidate on the features.
    fn candidate(self, kind: PredictorKind, odds: f64) -> Candidate {
        Candidate {
            predictor: Predictor {
                kind,
                coefficients: vec![self.posterior.mean.clone()],
                head: None,
                held_out_error: None,
            },
            posteriors: vec![self.posterior.with_variances_times(self.factor)],
            prior_odds: odds,
            held_out: self.held_out,
        }
    }
}

/// What a hierarchical model makes of the folds of a target's rows that are seen, the mean over what a row may count for, and how that does on some
/// of them left out; nothing where it knows no source task of the target's kind.
fn learn(
    data: &TaskData,
    hierarchy: &HierarchicalModel,
    target: usize,
    folds: &[usize],
    seen: FoldSelection,
) -> Result<Option<Learnt>> {
    let Some(prior) = hierarchy.prior(target) else {
        return Ok(None);
    };
    // Without folds to compare weights by, every row counts in full.
    let n = data.target_rows(target);
    let most = if folds.is_empty() { 0.0 } else { n as f64 };
    let low = ROW_WEIGHTS.partition_point(|weight| weight * most >= LEAST_ROWS);
    let weights = &ROW_WEIGHTS[..low.max(1)];
    let rows = hierarchy.target_statistics(data, target, |at| seen.includes(at))?;
    let updated = prior.updated(&rows, 0, weights)?.into_iter();
    let mut ways: Vec<Learnt> = updated
        .flat_map(|updated| {
            Learnt::of_all_widths(updated.posterior, updated.alike, !folds.is_empty())
        })
        .collect();
    let counted = row_weight(n, hierarchy.effective_rows);
    let mut left_out = Vec::with_capacity(folds.len());
    for &fold in folds {
        let unseen = hierarchy.target_statistics(data, target, |at| at == fold)?;
        let rest =
            hierarchy.target_statistics(data, target, |at| at != fold && seen.includes(at))?;
        let updated = prior.updated(&rest, 0, weights)?;
        for (ways, updated) in ways.chunks_mut(VARIANCE_FACTORS.len()).zip(updated) {
            let judged = HeldOutScore::judge_widths(fold, &updated.posterior, &unseen, counted)?;
            for (way, judged) in ways.iter_mut().zip(judged) {
                way.held_out.push(judged);
            }
        }
        left_out.push(unseen);
    }
    let widths = if folds.is_empty() {
        1
    } else {
        FACTOR_ODDS.len()
    };
    let odds = |&weight: &f64| FACTOR_ODDS[..widths].iter().map(move |odds| weight * odds);
    let odds: Vec<f64> = weights.iter().flat_map(odds).collect();
    blend(&ways, &odds, |at| &left_out[at]).map(Some)
}

/// The mean of ways to learn the same, by how probable each is beforehand and how well it foretells the folds left out.
fn blend<'a>(
    ways: &[Learnt],
    probabilities: &[f64],
    folds: impl Fn(usize) -> &'a Statistics,
) -> Result<Learnt> {
    let judged: Vec<&[HeldOutScore]> = ways.iter().map(|way| way.held_out.as_slice()).collect();
    let Blend { shares, held_out } = Blend::of(probabilities, &judged, folds)?;
    let shared = || shares.iter().copied().zip(ways);
    let posteriors = by_posterior(shared());
    let parts: Vec<(f64, &LinearPosterior)> = posteriors
        .iter()
        .map(|(share, posterior)| (*share, posterior))
        .collect();
    Ok(Learnt {
        posterior: Arc::new(LinearPosterior::mean_of(&parts)),
        factor: 1.0,
        alike: shared().map(|(share, way)| share * way.alike).sum(),
        held_out,
    })
}

/// The shares of posteriors, those that differ only in their widths as one with the mean of them.
fn by_posterior<'a>(ways: impl Iterator<Item = (f64, &'a Learnt)>) -> Vec<(f64, LinearPosterior)> {
    let mut sums: Vec<(f64, f64, &Arc<LinearPosterior>)> = Vec::new();
    for (share, way) in ways {
        let scaled = share * way.factor;
        match sums.last_mut() {
            Some((shares, factors, last)) if Arc::ptr_eq(last, &way.posterior) => {
                *shares += share;
                *factors += scaled;
            }
            _ => sums.push((share, scaled, &way.posterior)),
        }
    }
    let told = sums.into_iter().filter(|(share, ..)| *share > 0.0);
    told.map(|(share, factors, posterior)| (share, posterior.with_variances_times(factors / share)))
        .collect()
}

/// The same with coefficients on all features.
fn placed(judged: &HeldOutScore, columns: &[usize], d: usize) -> HeldOutScore {
    let place = |values: &Vec<f64>| {
        let mut all = vec![0.0; d];
        for (&column, &value) in columns.iter().zip(values) {
            all[column] = value;
        }
        all
    };
    HeldOutScore {
        coefficients: judged.coefficients.iter().map(place).collect(),
        ..judged.clone()
    }
}

/// Folds of a target's rows with one output.
fn left_out(data: &TaskData, target: usize, folds: &[usize], output: usize) -> Vec<Statistics> {
    let all = &data.targets()[target].folds;
    folds
        .iter()
        .map(|&fold| all[fold].of_output(output))
        .collect()
}

/// One candidate for all outputs. It is expected to do well where it is for every one of them.
pub(super) fn together(by_output: Vec<Candidate>) -> Option<Candidate> {
    by_output.into_iter().reduce(|mut all, one| {
        all.predictor
            .coefficients
            .extend(one.predictor.coefficients);
        if let (Some(head), Some(other)) = (&mut all.predictor.head, one.predictor.head) {
            head.coefficients.extend(other.coefficients);
        }
        all.posteriors.extend(one.posteriors);
        all.prior_odds = all.prior_odds.min(one.prior_odds);
        for (fold, other) in all.held_out.iter_mut().zip(one.held_out) {
            fold.log_density += other.log_density;
            fold.sum_of_squared_errors += other.sum_of_squared_errors;
            fold.variances.extend(other.variances);
            fold.coefficients.extend(other.coefficients);
        }
        all
    })
}

/// Coefficients on the basis of a hierarchical model as a predictor.
fn unpick(data: &TaskData, hierarchy: &HierarchicalModel, learnt: &[f64]) -> Predictor {
    let d = data.feature_dim();
    let mut on_features = vec![0.0; d];
    let width = hierarchy.basis.network.as_ref().map_or(0, |phi| phi.dim());
    let mut on_network = vec![0.0; width];
    for (&column, &value) in hierarchy.basis.columns.iter().zip(learnt) {
        if column < d {
            on_features[column] = value;
        } else {
            on_network[column - d] = value;
        }
    }
    Predictor {
        kind: PredictorKind::Shared,
        coefficients: vec![on_features],
        head: hierarchy.basis.network.as_ref().map(|phi| TargetHead {
            representation: phi.clone(),
            coefficients: vec![on_network],
        }),
        held_out_error: None,
    }
}
