//! The candidate that is a member of the source family.

use super::{Head, Identify, Member, Predictor, PredictorKind, comparable, mean_errors};
use crate::data::{Statistics, TargetRows, TaskData};
use crate::error::Result;
use crate::identify::Identified;
use crate::model::{Phi, Representation as _};
use crate::train::FoldFit;

/// The candidate with its held-out error, and what was found of its parameters.
pub(super) fn candidate(
    data: &TaskData,
    target: usize,
    representation: &Phi,
    folds: &[FoldFit],
    identify: Identify<'_>,
) -> Result<Option<(Predictor, Identified)>> {
    let Some(member) = identify(target, TargetRows::All, representation)? else {
        return Ok(None);
    };
    let held_out = held_out(data, target, folds, identify)?;
    let predictor = predictor(data, &member, held_out);
    Ok(Some((predictor, member.identified)))
}

/// Mean squared error on the folds left out one by one.
fn held_out(
    data: &TaskData,
    target: usize,
    folds: &[FoldFit],
    identify: Identify<'_>,
) -> Result<Option<f64>> {
    let fitted: Vec<usize> = folds.iter().map(|fit| fit.fold).collect();
    if !comparable(data, target, &fitted) {
        return Ok(None);
    }
    let mut total = 0.0;
    for FoldFit {
        fold,
        representation,
    } in folds
    {
        let Some(member) = identify(target, TargetRows::Without(*fold), representation)? else {
            return Ok(None);
        };
        let unseen = under(data, target, *fold, member.basis.as_ref())?;
        total += member
            .identified
            .coefficients
            .iter()
            .enumerate()
            .map(|(output, coefficients)| unseen.residual(output, coefficients))
            .sum::<f64>();
    }
    let errors = mean_errors(data, target, &fitted, &[total]);
    Ok(errors.first().copied())
}

/// A fold's statistics on what coefficients are on.
fn under(data: &TaskData, target: usize, fold: usize, basis: Option<&Phi>) -> Result<Statistics> {
    let entry = &data.targets()[target];
    match basis {
        None => Ok(entry.folds[fold].clone()),
        Some(phi) => phi.statistics(&entry.folds[fold], &entry.rows[fold]),
    }
}

fn predictor(data: &TaskData, member: &Member, held_out: Option<f64>) -> Predictor {
    let found = &member.identified.coefficients;
    let (coefficients, head) = match &member.basis {
        None => (found.clone(), None),
        Some(Phi::Linear(linear)) => (found.iter().map(|c| linear.coefficients(c)).collect(), None),
        Some(phi) => {
            let head = Head {
                representation: phi.clone(),
                coefficients: found.clone(),
            };
            (vec![vec![0.0; data.feature_dim()]; found.len()], Some(head))
        }
    };
    Predictor {
        kind: PredictorKind::Identified,
        coefficients,
        head,
        held_out,
    }
}
