//! What competes for a target: what its kin have in common, updated by its rows, and its rows alone.

use super::pool::{Basis, Pool};
use super::{Pooled, graded, level};
use crate::data::{Statistics, TARGET_FOLDS, TargetRows, TaskData};
use crate::error::{Error, Result};
use crate::model::Representation as _;
use crate::train::guard::{self, Head, Predictor, PredictorKind};

impl Pooled {
    /// Held-out error of what a pool says of the targets, each in units of its labels' squares.
    pub(super) fn held_out(&self, data: &TaskData, pool: &Pool, seen: TargetRows) -> Result<f64> {
        let mut total = 0.0;
        for (target, known) in pool.targets.iter().enumerate() {
            let Some((_, prior)) = known else { continue };
            let all = data.target_statistics(target, TargetRows::All)?;
            let level = level(all.square(0), all.count() as f64);
            for fold in (0..TARGET_FOLDS).filter(|&fold| seen.sees(fold)) {
                let rest = |at: usize| at != fold && seen.sees(at);
                let rows = pool.target_statistics(data, target, rest)?;
                let learnt = prior.update(&rows, 0, prior.departure(&rows, 0)?)?;
                let unseen = pool.target_statistics(data, target, |at| at == fold)?;
                total += unseen.residual(0, &learnt).max(0.0) / level;
            }
        }
        Ok(total)
    }

    /// What the pool makes of the target's rows, with its held-out error.
    pub(super) fn shared(
        &self,
        data: &TaskData,
        pool: &Pool,
        target: usize,
    ) -> Result<Option<Predictor>> {
        let Some(prior) = pool.prior(target) else {
            return Ok(None);
        };
        let folds = guard::comparable_folds(data, target);
        let shared = |fold: Option<usize>| -> Result<Vec<f64>> {
            let rows = pool.target_statistics(data, target, |at| Some(at) != fold)?;
            prior.update(&rows, 0, prior.departure(&rows, 0)?)
        };
        let mut error = None;
        if let Some(folds) = &folds {
            let mut total = 0.0;
            for &fold in folds {
                let unseen = pool.target_statistics(data, target, |at| at == fold)?;
                total += unseen.residual(0, &shared(Some(fold))?);
            }
            error = guard::mean_errors(data, target, folds, &[total])
                .first()
                .copied();
        }
        let mut predictor = unpick(data, pool, &shared(None)?);
        predictor.held_out = error;
        Ok(Some(predictor))
    }

    /// What a target's rows give by themselves, on the set of features that its held-out rows speak
    /// for.
    pub(super) fn own(&self, data: &TaskData, target: usize) -> Result<Predictor> {
        let mut best: Option<(f64, Vec<f64>, &Basis)> = None;
        let bases = self.bases(data.feature_dim());
        let folds = guard::comparable_folds(data, target);
        for (_, basis) in &bases {
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
            let mut error = f64::INFINITY;
            if let Some(folds) = &folds {
                let mut total = 0.0;
                for &fold in folds {
                    let learnt = graded::fit(&rows(&|at| at != fold)?, 0, &basis.groups)?;
                    total += rows(&|at| at == fold)?.residual(0, &learnt);
                }
                error = guard::mean_errors(data, target, folds, &[total])[0];
            }
            if best.as_ref().is_none_or(|(least, ..)| error < *least) {
                best = Some((
                    error,
                    graded::fit(&rows(&|_| true)?, 0, &basis.groups)?,
                    basis,
                ));
            }
        }
        let Some((error, learnt, basis)) = best else {
            return Err(Error::setting("sets", "is empty: name at least one"));
        };
        let mut coefficients = vec![0.0; data.feature_dim()];
        for (column, value) in basis.columns.iter().zip(&learnt) {
            coefficients[*column] = *value;
        }
        Ok(Predictor {
            kind: PredictorKind::TargetOnly,
            coefficients: vec![coefficients],
            head: None,
            held_out: folds.map(|_| error),
        })
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
