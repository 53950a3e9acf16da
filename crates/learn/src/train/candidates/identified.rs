//! The candidate that is a member of the source family.

use super::RepresentationWithoutFold;
use crate::data::{FoldSelection, Statistics, TaskData};
use crate::error::Result;
use crate::identify::IdentifiedParameters;
use crate::model::{AnyRepresentation, Representation as _};
use crate::regression::LinearPosterior;
use crate::train::guard::{
    Candidate, HeldOutScore, Predictor, PredictorKind, TargetHead, comparable,
};

/// Between these the odds of a member of the source family are those of its marginal likelihood, which knows more than a few
/// noisy rows held out do.
const LEAST_ODDS: f64 = 0.1;
const MOST_ODDS: f64 = 40.0;

/// A target as a member of the source family, and the representation that its coefficients are on: none for
/// the features themselves.
#[derive(Debug, Clone)]
pub struct IdentifiedFamilyMember {
    /// What was found.
    pub identified: IdentifiedParameters,
    /// What is known of its function, one posterior an output.
    pub posteriors: Vec<LinearPosterior>,
    /// `φ`.
    pub representation: Option<AnyRepresentation>,
}

/// What some rows of a target say about its parameters, given a representation; nothing where the
/// space or the data do not allow to tell.
type Identify<'a> =
    &'a dyn Fn(FoldSelection, &AnyRepresentation) -> Result<Option<IdentifiedFamilyMember>>;

/// The candidate with how it does on folds left out, and what was found of its parameters.
pub fn candidate(
    data: &TaskData,
    target: usize,
    representation: &AnyRepresentation,
    folds: &[RepresentationWithoutFold],
    identify: Identify<'_>,
) -> Result<Option<(Option<Candidate>, IdentifiedParameters)>> {
    let Some(member) = identify(FoldSelection::All, representation)? else {
        return Ok(None);
    };
    let fitted: Vec<usize> = folds.iter().map(|fit| fit.fold).collect();
    let mut held_out = Vec::new();
    if comparable(data, target, &fitted) {
        for fit in folds {
            let rows = FoldSelection::Without(fit.fold);
            // What cannot be found without a fold cannot be judged.
            let Some(found) = identify(rows, &fit.representation)? else {
                return Ok(Some((None, member.identified)));
            };
            held_out.push(judge(data, target, fit.fold, &found)?);
        }
    }
    let candidate = Candidate {
        predictor: predictor(data, &member),
        posteriors: on_features(&member).unwrap_or_default(),
        prior_odds: member
            .identified
            .log_odds
            .exp()
            .clamp(LEAST_ODDS, MOST_ODDS),
        held_out,
    };
    let candidate = candidate.scored(data, target);
    Ok(Some((Some(candidate), member.identified)))
}

fn judge(
    data: &TaskData,
    target: usize,
    fold: usize,
    member: &IdentifiedFamilyMember,
) -> Result<HeldOutScore> {
    let unseen = under(data, target, fold, member.representation.as_ref())?;
    let judged = HeldOutScore::judge(fold, &member.posteriors, &unseen, 1.0)?;
    let coefficients = match &member.representation {
        None => judged.coefficients,
        Some(AnyRepresentation::Linear(linear)) => {
            let on_features = |c: &Vec<f64>| linear.coefficients(c);
            judged.coefficients.iter().map(on_features).collect()
        }
        Some(_) => Vec::new(),
    };
    Ok(HeldOutScore {
        coefficients,
        ..judged
    })
}

/// A fold's statistics on what coefficients are on.
fn under(
    data: &TaskData,
    target: usize,
    fold: usize,
    basis: Option<&AnyRepresentation>,
) -> Result<Statistics> {
    let entry = &data.targets()[target];
    match basis {
        None => Ok((*entry.folds[fold]).clone()),
        Some(phi) => phi.statistics(&entry.folds[fold], &entry.rows[fold]),
    }
}

/// What is known of the member on the features, where no network stands between.
fn on_features(member: &IdentifiedFamilyMember) -> Option<Vec<LinearPosterior>> {
    match &member.representation {
        None => Some(member.posteriors.clone()),
        Some(AnyRepresentation::Linear(linear)) => Some(
            member
                .posteriors
                .iter()
                .map(|posterior| posterior.mapped(linear.matrix()))
                .collect(),
        ),
        Some(_) => None,
    }
}

fn predictor(data: &TaskData, member: &IdentifiedFamilyMember) -> Predictor {
    let found = &member.identified.coefficients;
    let (coefficients, head) = match &member.representation {
        None => (found.clone(), None),
        Some(AnyRepresentation::Linear(linear)) => {
            (found.iter().map(|c| linear.coefficients(c)).collect(), None)
        }
        Some(phi) => {
            let head = TargetHead {
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
        held_out_error: None,
    }
}
