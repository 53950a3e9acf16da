//! The guard against negative transfer: which predictor does the target get?
//!
//! | candidate | learnt from the target |
//! |---|---|
//! | target-only | ridge regression on its rows: `d` numbers |
//! | shared | a head on the shared representation: `k` numbers |
//! | shared + residual | the same, plus a shrunken ridge fit of what it leaves over |
//! | identified | which member of the source family it is: `dim w` numbers ([`crate::identify`]) |
//!
//! They compete on rows of the target that they have not seen: the folds of the target are left
//! out one at a time, *of the joint fit too*, or the comparison would leak. Held-out errors of a few
//! thousand noisy rows cannot rank predictors that are all good; where the marginal likelihood
//! speaks for a member of the family, it is taken unless held-out rows speak against it.

mod identified;
mod kin;
mod on_features;
mod on_rows;
mod verdict;

use faer::MatRef;
use serde::{Deserialize, Serialize};

use super::FoldFit;
use crate::data::{TARGET_FOLDS, TargetRows, TaskData};
use crate::error::{Error, Result};
use crate::identify::Identified;
use crate::model::{Model, Phi, Representation as _};

/// Rows that every fold must have for held-out errors to mean anything.
const MIN_FOLD_ROWS: usize = 2;

/// Part of the labels' squares that is rounding, not error.
const ROUNDING: f64 = 1e-12;

/// The kinds of predictor that compete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PredictorKind {
    /// Ridge regression on the target's rows alone.
    TargetOnly,
    /// The shared representation with a head fitted on the target's rows.
    Shared,
    /// The shared predictor plus a shrunken ridge fit of its residual.
    SharedResidual,
    /// A member of the source family, its parameters found from the target's rows.
    Identified,
}

impl PredictorKind {
    /// All kinds, in the order in which ties are resolved: the simplest transfer first.
    pub const ALL: [Self; 4] = [
        Self::Shared,
        Self::SharedResidual,
        Self::TargetOnly,
        Self::Identified,
    ];
}

impl std::fmt::Display for PredictorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TargetOnly => "target-only",
            Self::Shared => "shared",
            Self::SharedResidual => "shared-residual",
            Self::Identified => "identified",
        })
    }
}

/// One candidate, fitted on all rows of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predictor {
    /// Which kind it is.
    pub kind: PredictorKind,
    /// Coefficients on the features `ψ_X`, one vector an output.
    pub coefficients: Vec<Vec<f64>>,
    /// What it adds by a representation that is no matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
    /// Mean squared error on held-out rows of the target, where there are enough rows to tell.
    pub held_out: Option<f64>,
}

/// A representation with a linear head of a target's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// `φ`.
    pub representation: Phi,
    /// Coefficients on `φ`, one vector an output.
    pub coefficients: Vec<Vec<f64>>,
}

impl Predictor {
    /// Predictions for rows of features `ψ_X`, row by row, one number an output.
    ///
    /// # Errors
    /// Rows of the wrong length.
    pub fn predict(&self, features: MatRef<'_, f64>) -> Result<Vec<f64>> {
        let outputs = self.coefficients.len();
        let mut out = vec![0.0; features.nrows() * outputs];
        let mut add = |values: MatRef<'_, f64>, coefficients: &[Vec<f64>]| -> Result<()> {
            for (output, coefficients) in coefficients.iter().enumerate() {
                Error::check_length("a feature row", coefficients.len(), values.ncols())?;
                for (row, out) in out.iter_mut().skip(output).step_by(outputs).enumerate() {
                    *out += (0..values.ncols())
                        .map(|j| values[(row, j)] * coefficients[j])
                        .sum::<f64>();
                }
            }
            Ok(())
        };
        add(features, &self.coefficients)?;
        if let Some(head) = &self.head {
            add(
                head.representation.apply(features)?.as_ref(),
                &head.coefficients,
            )?;
        }
        Ok(out)
    }
}

/// What the guard hands back for one target, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The target's name.
    pub target: String,
    /// The chosen kind.
    pub kind: PredictorKind,
    /// Why, in one sentence.
    pub reason: String,
    /// All candidates.
    pub candidates: Vec<Predictor>,
    /// The target's parameters as a member of the source family, where they were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identified: Option<Identified>,
}

impl Choice {
    /// The candidate of a kind.
    #[must_use]
    pub fn candidate(&self, kind: PredictorKind) -> Option<&Predictor> {
        self.candidates
            .iter()
            .find(|candidate| candidate.kind == kind)
    }

    /// The chosen predictor.
    #[must_use]
    pub fn predictor(&self) -> Option<&Predictor> {
        self.candidate(self.kind)
    }
}

/// A representation learnt from rows of the target alone, if the oracle has any use for one.
pub type Alone<'a> = &'a dyn Fn(usize, TargetRows) -> Result<Option<Phi>>;

/// What a target's rows give by themselves in the oracle's own way, if it has one.
pub type Own<'a> = &'a dyn Fn(usize) -> Result<Option<Predictor>>;

/// What some rows of a target say about its parameters, given a representation; nothing where the
/// space or the data do not allow to tell.
pub type Identify<'a> = &'a dyn Fn(usize, TargetRows, &Phi) -> Result<Option<Member>>;

/// A member of the source family, and the representation that its coefficients are on: none for
/// the features themselves.
#[derive(Debug, Clone)]
pub struct Member {
    /// What was found.
    pub identified: Identified,
    /// `φ`.
    pub basis: Option<Phi>,
}

/// Who can be asked about a target.
#[derive(Clone, Copy)]
pub struct Hooks<'a> {
    /// What a target can learn by itself ([`super::Trainer::alone`]).
    pub alone: Alone<'a>,
    /// What its rows give by themselves in the oracle's own way ([`super::Trainer::own_predictor`]).
    pub own: Own<'a>,
    /// What it is as a member of the source family.
    pub identify: Option<Identify<'a>>,
    /// The oracle, which may have its own way to a predictor.
    pub oracle: &'a dyn super::Trainer,
}

/// Chooses a predictor for each of the named targets.
///
/// `model` is the fit to everything; `folds` holds representations fitted without a fold of the
/// targets' rows ([`super::Trainer::fit_with_folds`]).
///
/// # Errors
/// A target without rows, or a failing fit.
pub fn choose(
    data: &TaskData,
    model: &Model,
    folds: &[FoldFit],
    hooks: &Hooks<'_>,
    targets: &[usize],
) -> Result<Vec<Choice>> {
    let Hooks {
        alone,
        own,
        identify,
        oracle,
    } = *hooks;
    targets
        .iter()
        .map(|&target| {
            let rows = check_rows(data, target)?;
            let shared = oracle.shared_predictor(data, model, target)?;
            if shared.is_some() || model.pool.is_some() {
                let mut candidates: Vec<Predictor> = shared.into_iter().collect();
                candidates.extend(own(target)?);
                let (kind, reason) = kin::verdict(data, target, &candidates, rows)?;
                return Ok(Choice {
                    target: data.targets()[target].name.clone(),
                    kind,
                    reason,
                    candidates,
                    identified: None,
                });
            }
            let mut candidates = match &model.representation {
                Phi::Linear(linear) => on_features::candidates(data, target, linear, folds)?,
                other => {
                    let folds: Vec<on_rows::Fold<'_>> = folds
                        .iter()
                        .map(|fit| on_rows::Fold {
                            fold: fit.fold,
                            shared: Some(&fit.representation),
                        })
                        .collect();
                    on_rows::candidates(data, target, Some(other), &folds, alone)?
                }
            };
            let member = match identify {
                Some(identify) => {
                    identified::candidate(data, target, &model.representation, folds, identify)?
                }
                None => None,
            };
            let (mut found, mut doubt) = (None, None);
            if let Some((predictor, identified)) = member {
                if identified.belongs() {
                    let apart = |other: &Predictor| verdict::apart(data, target, &predictor, other);
                    doubt = Some(verdict::doubts(&candidates, &identified, rows, apart)?);
                }
                candidates.push(predictor);
                found = Some(identified);
            }
            let (kind, reason) = verdict::verdict(&candidates, doubt.as_deref(), rows);
            Ok(Choice {
                target: data.targets()[target].name.clone(),
                kind,
                reason,
                candidates,
                identified: found,
            })
        })
        .collect()
}

/// What the targets alone can do: the baseline of every comparison, and the resort when no
/// representation could be learnt.
///
/// # Errors
/// A target without rows, or a failing fit.
pub fn target_only(
    data: &TaskData,
    (alone, own): (Alone<'_>, Own<'_>),
    targets: &[usize],
    why: &str,
) -> Result<Vec<Choice>> {
    targets
        .iter()
        .map(|&target| {
            check_rows(data, target)?;
            if let Some(own) = own(target)? {
                return Ok(Choice {
                    target: data.targets()[target].name.clone(),
                    kind: PredictorKind::TargetOnly,
                    reason: why.to_owned(),
                    candidates: vec![own],
                    identified: None,
                });
            }
            let folds: Vec<on_rows::Fold<'_>> = (0..TARGET_FOLDS)
                .map(|fold| on_rows::Fold { fold, shared: None })
                .collect();
            Ok(Choice {
                target: data.targets()[target].name.clone(),
                kind: PredictorKind::TargetOnly,
                reason: why.to_owned(),
                candidates: on_rows::candidates(data, target, None, &folds, alone)?,
                identified: None,
            })
        })
        .collect()
}

/// The rows of a target, of which there must be some.
fn check_rows(data: &TaskData, target: usize) -> Result<usize> {
    let rows = data.target_statistics(target, TargetRows::All)?.count();
    if rows == 0 {
        let name = &data.targets()[target].name;
        return Err(Error::State(format!(
            "target `{name}` has no samples: tell the study some, so that a predictor can be fitted"
        )));
    }
    Ok(rows)
}

/// The folds that can be compared on: all that were fitted, if each has enough rows.
fn comparable(data: &TaskData, target: usize, folds: &[usize]) -> bool {
    let counts = &data.targets()[target].folds;
    !folds.is_empty()
        && folds.iter().all(|&fold| {
            counts
                .get(fold)
                .is_some_and(|fold| fold.count() >= MIN_FOLD_ROWS)
        })
}

/// All folds of a target, if each has enough rows to compare on.
pub(super) fn comparable_folds(data: &TaskData, target: usize) -> Option<Vec<usize>> {
    let folds: Vec<usize> = (0..TARGET_FOLDS).collect();
    comparable(data, target, &folds).then_some(folds)
}

/// Mean squared errors from totals over the folds compared on; differences at the level of
/// rounding are no differences.
pub(super) fn mean_errors(
    data: &TaskData,
    target: usize,
    folds: &[usize],
    totals: &[f64],
) -> Vec<f64> {
    let held_out = folds
        .iter()
        .map(|&fold| &data.targets()[target].folds[fold]);
    let (mut labels, mut squares) = (0, 0.0);
    for fold in held_out {
        labels += fold.count() * fold.outputs();
        squares += (0..fold.outputs())
            .map(|output| fold.square(output))
            .sum::<f64>();
    }
    let floor = ROUNDING * squares;
    totals
        .iter()
        .map(|&total| {
            let known = if total.is_nan() { f64::INFINITY } else { total };
            known.max(floor) / labels as f64
        })
        .collect()
}
