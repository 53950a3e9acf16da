//! Who wins: the comparison of candidates, and the reason in words.

use faer::MatRef;

use super::{Predictor, PredictorKind};
use crate::data::TaskData;
use crate::error::Result;
use crate::identify::Identified;
use crate::linalg;

/// Rows looked at a time.
const CHUNK: usize = 1024;

/// Standard errors that convince: several candidates try, and each on rows that hang together.
const CONVINCING: f64 = 2.5;

/// For each candidate, by how much its held-out error must be below that of a member of the family
/// to be believed: some standard errors of the difference, `2σ √(Σ (ŷ − ŷ')²) / n`.
pub(super) fn doubts(
    candidates: &[Predictor],
    identified: &Identified,
    rows: usize,
    apart: impl Fn(&Predictor) -> Result<f64>,
) -> Result<Vec<f64>> {
    candidates
        .iter()
        .map(|candidate| {
            let outputs = candidate.coefficients.len().max(1);
            let labels = (rows * outputs) as f64;
            Ok(CONVINCING * 2.0 * (identified.noise * apart(candidate)?).sqrt() / labels)
        })
        .collect()
}

/// Sum of the squared differences between two predictors over the rows of a target.
pub(super) fn apart(data: &TaskData, target: usize, a: &Predictor, b: &Predictor) -> Result<f64> {
    let (d, entry) = (data.feature_dim(), &data.targets()[target]);
    let mut total = 0.0;
    for (fold, rows) in entry.folds.iter().zip(&entry.rows) {
        if a.head.is_none() && b.head.is_none() {
            for (left, right) in a.coefficients.iter().zip(&b.coefficients) {
                let difference: Vec<f64> = left.iter().zip(right).map(|(a, b)| a - b).collect();
                total += linalg::packed::quadratic(fold.gram(), &difference);
            }
            continue;
        }
        for (features, _) in rows.chunks(CHUNK, d, data.outputs()) {
            let features = MatRef::from_row_major_slice(&features, features.len() / d, d);
            let (left, right) = (a.predict(features)?, b.predict(features)?);
            total += left
                .iter()
                .zip(&right)
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f64>();
        }
    }
    Ok(total.max(0.0))
}

/// The winner, and the reason in words. With `doubts` a member of the family, the last candidate,
/// is taken unless another one is better by more than its doubt; else the smallest held-out error
/// wins.
pub(super) fn verdict(
    candidates: &[Predictor],
    doubts: Option<&[f64]>,
    rows: usize,
) -> (PredictorKind, String) {
    let error = |candidate: &Predictor| candidate.held_out.unwrap_or(f64::INFINITY);
    let best = candidates
        .iter()
        .min_by(|a, b| error(a).total_cmp(&error(b)));
    let scores = || {
        let score = |candidate: &Predictor| format!("{} {:.4e}", candidate.kind, error(candidate));
        candidates.iter().map(score).collect::<Vec<_>>().join(", ")
    };
    if let (Some(doubts), Some(member)) = (doubts, candidates.last()) {
        let convincing = candidates
            .iter()
            .zip(doubts)
            .any(|(other, doubt)| error(other) + doubt < error(member));
        if !convincing {
            let held_out = match member.held_out {
                Some(_) => format!(
                    "no other predicts held-out rows clearly better ({})",
                    scores()
                ),
                None => format!("{rows} target rows are too few to hold some out"),
            };
            return (
                member.kind,
                format!(
                    "the target's rows speak for a member of the source family, and {held_out}"
                ),
            );
        }
    }
    match best {
        Some(best) if best.held_out.is_some() => (
            best.kind,
            format!(
                "{} predicts held-out target rows best ({})",
                best.kind,
                scores()
            ),
        ),
        _ => (
            PredictorKind::Shared,
            format!(
                "{rows} target rows are too few to compare on held-out ones, so the shared predictor is taken"
            ),
        ),
    }
}
