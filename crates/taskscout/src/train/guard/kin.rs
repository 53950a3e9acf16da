//! Who wins where the target has kin: what they have in common, unless its own rows speak against
//! it.

use super::verdict::apart;
use super::{Predictor, PredictorKind};
use crate::data::TaskData;
use crate::error::Result;

/// Standard errors by which a target's own rows must do better than its kin to be taken alone. Rows of
/// a log hang together, so held-out ones know less than their number says.
const CONVINCING: f64 = 2.0;

/// The winner, and the reason in words.
pub(super) fn verdict(
    data: &TaskData,
    target: usize,
    candidates: &[Predictor],
    rows: usize,
) -> Result<(PredictorKind, String)> {
    let of = |kind| candidates.iter().find(|candidate| candidate.kind == kind);
    let (Some(shared), Some(own)) = (of(PredictorKind::Shared), of(PredictorKind::TargetOnly))
    else {
        return Ok(match candidates.first().map(|one| one.kind) {
            None | Some(PredictorKind::TargetOnly) => (
                PredictorKind::TargetOnly,
                "no source task of the same kind is known, so the target's own rows are taken"
                    .into(),
            ),
            Some(kind) => (kind, "it is the only one".into()),
        });
    };
    let (Some(with), Some(without)) = (shared.held_out, own.held_out) else {
        return Ok((
            PredictorKind::Shared,
            format!(
                "{rows} target rows are too few to compare on held-out ones, so what source tasks of the same kind have in common is taken"
            ),
        ));
    };
    // The difference of two mean squared errors is known to 2σ √(Σ (ŷ − ŷ')²) / n.
    let error = 2.0 * (with.min(without) * apart(data, target, shared, own)?).sqrt() / rows as f64;
    let scores = format!("shared {with:.4e}, target-only {without:.4e} on held-out rows");
    Ok(if without + CONVINCING * error < with {
        (
            PredictorKind::TargetOnly,
            format!("the target's own rows do better without its kin ({scores})"),
        )
    } else {
        (
            PredictorKind::Shared,
            format!("source tasks of the same kind help, or at least do no harm ({scores})"),
        )
    })
}
