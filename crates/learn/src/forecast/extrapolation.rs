//! How much more is open on inputs that no row has shown.
//!
//! `tr(S V)` with the second moment `S` of a target's own rows asks for the error where these rows are, and there it is smallest.
//! With many independent rows that makes no difference. Rows of a robot are neighbours on a few trajectories, and the next
//! trajectory goes elsewhere. What the error is there is seen by leaving out: with the target's rows in folds `j` of contiguous
//! rows, and all rows of the target taken to look like those outside of the fold,
//!
//! ```text
//! ratio² = Σ_j n_j tr(S_j V_{-j}) / Σ_j n_j tr(S_j V)
//! ```
//!
//! A new trajectory is not as far from all others as a fourth of all rows is from the rest, hence the root.
//!
//! No label is needed for it, so it is known beforehand and holds for rows to come, too.

use super::ForecastTargetTask;
use super::PlannedRows;
use super::expected::Expected;
use super::information::Information;
use super::seen::Seen;
use crate::data::Statistics;
use crate::error::Result;

/// How many times as much is open on inputs that the target's rows have not shown; one where it has no rows to tell.
pub(super) fn ratio(
    seen: &Seen,
    expected: &Expected,
    information: &Information,
    target: &ForecastTargetTask,
    further: &PlannedRows,
) -> Result<f64> {
    let Some(entry) = seen.data().targets().get(target.index) else {
        return Ok(1.0);
    };
    let folds: Vec<&Statistics> = entry.folds.iter().map(AsRef::as_ref).collect();
    let all = folds.iter().map(|fold| fold.count()).sum::<usize>() as f64;
    let growth = expected.growth(target.index, further);
    let (mut apart, mut together) = (0.0, 0.0);
    for fold in folds.iter().filter(|fold| fold.count() > 0) {
        let (count, rest) = (fold.count() as f64, all - fold.count() as f64);
        if rest <= 0.0 {
            return Ok(1.0);
        }
        // The same number of rows, all like those of the other folds.
        let scale = all / rest;
        let others = folds.iter().map(|one| one.gram());
        let mut change = vec![0.0; fold.gram().len()];
        for gram in others {
            let sums = change.iter_mut().zip(gram);
            sums.for_each(|(sum, value)| *sum += growth * (scale - 1.0) * value);
        }
        let sums = change.iter_mut().zip(fold.gram());
        sums.for_each(|(sum, value)| *sum -= growth * scale * value);
        let (dim, outputs) = (seen.data().feature_dim(), seen.outputs());
        let change = Statistics::of_gram(dim, outputs, 0, change);
        let without = information.with(seen, &[(change, entry.features.clone())])?;
        let root = expected.root_like(target.index, fold)?;
        let open = |information: &Information| {
            let spread = information.spread(seen, &target.second_moment, &root)?;
            Ok::<f64, crate::error::Error>(spread.total())
        };
        apart += count * open(&without)?;
        together += count * open(information)?;
    }
    let ratio = apart / together;
    Ok(if ratio.is_finite() {
        ratio.max(1.0).sqrt()
    } else {
        1.0
    })
}
