//! What competes for a target: what source tasks have in common, updated by its rows, and its rows alone.

use super::pool::{Basis, Pool};
use super::{Pooled, graded, row_weight};
use crate::data::{Statistics, TARGET_FOLDS, TargetRows, TaskData};
use crate::error::{Error, Result};
use crate::model::Representation as _;
use crate::train::belief::Belief;
use crate::train::guard::{self, Candidate, Head, HeldOut, Predictor, PredictorKind};

/// Odds of what source tasks say against a few of the target's rows alone, and the rows by which they halve: it counts any departure
/// that the rows ask for, but the more rows there are, the less is left for it to add.
const ODDS: f64 = 300.0;
const ODDS_ROWS: f64 = 25.0;

/// Rows of the target past which more tell little new, as a part of those of a source task. Many rows of one stretch sharpen
/// what is peculiar to it, and source tasks know better what comes after.
const TARGET_SHARE: f64 = 0.5;

impl Pooled {
    /// Logarithm of the density that a pool gives to rows of the targets that it has not seen.
    pub(super) fn held_out_density(
        &self,
        data: &TaskData,
        pool: &Pool,
        seen: TargetRows,
    ) -> Result<f64> {
        let mut total = 0.0;
        for target in 0..pool.targets.len() {
            for fold in (0..TARGET_FOLDS).filter(|&fold| seen.sees(fold)) {
                let rest = |at: usize| at != fold && seen.sees(at);
                total += judge(data, pool, target, fold, rest)?.map_or(0.0, |one| one.log_density);
            }
        }
        Ok(total)
    }

    /// What the pool makes of the target's rows, with how it does on folds left out.
    pub(super) fn shared(
        &self,
        data: &TaskData,
        pool: &Pool,
        target: usize,
    ) -> Result<Option<Candidate>> {
        let Some(belief) = belief(data, pool, target, |_| true)? else {
            return Ok(None);
        };
        let mut held_out = Vec::new();
        for fold in guard::comparable_folds(data, target).unwrap_or_default() {
            held_out.extend(judge(data, pool, target, fold, |at| at != fold)?);
        }
        let d = data.feature_dim();
        let on_features = pool.basis.network.is_none();
        let beliefs = if on_features {
            vec![belief.placed(&pool.basis.columns, d)]
        } else {
            Vec::new()
        };
        let candidate = Candidate {
            predictor: unpick(data, pool, &belief.mean),
            beliefs,
            odds: ODDS / (1.0 + data.target_rows(target) as f64 / ODDS_ROWS),
            held_out,
        };
        Ok(Some(candidate.scored(data, target)))
    }

    /// What a target's rows give by themselves, on the set of features that its held-out rows speak
    /// for.
    pub(super) fn own(&self, data: &TaskData, target: usize) -> Result<Candidate> {
        let mut best: Option<Candidate> = None;
        let folds = guard::comparable_folds(data, target).unwrap_or_default();
        for (_, basis) in &self.bases(data.feature_dim()) {
            let candidate = self.own_on(data, target, basis, &folds)?;
            let error = |one: &Candidate| one.predictor.held_out.unwrap_or(f64::INFINITY);
            if best
                .as_ref()
                .is_none_or(|known| error(&candidate) < error(known))
            {
                best = Some(candidate);
            }
        }
        best.ok_or_else(|| Error::setting("sets", "is empty: name at least one"))
    }

    /// The same on one set of features.
    fn own_on(
        &self,
        data: &TaskData,
        target: usize,
        basis: &Basis,
        folds: &[usize],
    ) -> Result<Candidate> {
        let rows = |wanted: &dyn Fn(usize) -> bool| {
            let mut total = Statistics::new(basis.columns.len(), data.outputs());
            let entry = &data.targets()[target];
            for (fold, statistics) in entry.folds.iter().enumerate() {
                if wanted(fold) {
                    total.merge(&statistics.pick(&basis.columns)?)?;
                }
            }
            Ok::<_, Error>(total)
        };
        let d = data.feature_dim();
        let weight = row_weight(data.target_rows(target), self.worth);
        let held_out = folds.iter().map(|&fold| {
            let known = graded::fit(&rows(&|at| at != fold)?, 0, &basis.groups)?;
            let judged = HeldOut::judge(fold, &[known], &rows(&|at| at == fold)?, weight)?;
            Ok(placed(&judged, &basis.columns, d))
        });
        let held_out = held_out.collect::<Result<_>>()?;
        let belief = graded::fit(&rows(&|_| true)?, 0, &basis.groups)?.placed(&basis.columns, d);
        let candidate = Candidate {
            predictor: Predictor {
                kind: PredictorKind::TargetOnly,
                coefficients: vec![belief.mean.clone()],
                head: None,
                held_out: None,
            },
            beliefs: vec![belief],
            odds: 1.0,
            held_out,
        };
        Ok(candidate.scored(data, target))
    }
}

/// What a pool makes of some folds of a target's rows; nothing where it knows no source task of its kind.
fn belief(
    data: &TaskData,
    pool: &Pool,
    target: usize,
    wanted: impl Fn(usize) -> bool,
) -> Result<Option<Belief>> {
    let Some(prior) = pool.prior(target) else {
        return Ok(None);
    };
    let rows = pool.target_statistics(data, target, wanted)?;
    let weight = row_weight(rows.count(), TARGET_SHARE * pool.worth);
    prior.belief(&rows, 0, weight).map(Some)
}

/// How what a pool makes of some folds does on another one.
fn judge(
    data: &TaskData,
    pool: &Pool,
    target: usize,
    fold: usize,
    wanted: impl Fn(usize) -> bool,
) -> Result<Option<HeldOut>> {
    let Some(known) = belief(data, pool, target, wanted)? else {
        return Ok(None);
    };
    let unseen = pool.target_statistics(data, target, |at| at == fold)?;
    let weight = row_weight(data.target_rows(target), pool.worth);
    let judged = HeldOut::judge(fold, &[known], &unseen, weight)?;
    Ok(Some(match pool.basis.network {
        None => placed(&judged, &pool.basis.columns, data.feature_dim()),
        Some(_) => HeldOut {
            coefficients: Vec::new(),
            ..judged
        },
    }))
}

/// The same with coefficients on all features.
fn placed(judged: &HeldOut, columns: &[usize], d: usize) -> HeldOut {
    let place = |values: &Vec<f64>| {
        let mut all = vec![0.0; d];
        for (&column, &value) in columns.iter().zip(values) {
            all[column] = value;
        }
        all
    };
    HeldOut {
        coefficients: judged.coefficients.iter().map(place).collect(),
        ..judged.clone()
    }
}

/// Coefficients on the basis of a pool as a predictor.
fn unpick(data: &TaskData, pool: &Pool, learnt: &[f64]) -> Predictor {
    let d = data.feature_dim();
    let mut on_features = vec![0.0; d];
    let width = pool.basis.network.as_ref().map_or(0, |phi| phi.dim());
    let mut on_network = vec![0.0; width];
    for (&column, &value) in pool.basis.columns.iter().zip(learnt) {
        if column < d {
            on_features[column] = value;
        } else {
            on_network[column - d] = value;
        }
    }
    Predictor {
        kind: PredictorKind::Shared,
        coefficients: vec![on_features],
        head: pool.basis.network.as_ref().map(|phi| Head {
            representation: phi.clone(),
            coefficients: vec![on_network],
        }),
        held_out: None,
    }
}
