//! Exact optimisation by looking at every task.
//!
//! Tasks are scored in batches of fixed size on all cores; the batches, and so the results, do not
//! depend on the number of threads.

use rayon::prelude::*;

use super::form::Scorer;
use super::region::Listing;
use super::{Atom, QuadraticForm};
use crate::error::{Error, Result};

/// Scores this close to the best, relatively, count as equal to it: the first such task is taken,
/// so that rounding, which differs between processors, does not decide.
const TIE: f64 = 1e-12;

/// The listed task that maximises a form.
pub(super) fn best(listing: &dyn Listing, form: &QuadraticForm<'_>) -> Result<Atom> {
    let (count, width) = (listing.count(), listing.width());
    let scorer = Scorer::new(form, count)?;
    let batch = scorer.batch();
    let mut scores = vec![0.0; count];
    scores
        .par_chunks_mut(batch)
        .enumerate()
        .for_each(|(chunk, scores)| {
            let first = chunk * batch;
            let range = first..first + scores.len();
            if let Some(rows) = listing.rows(range.clone()) {
                return scorer.score(rows, scores);
            }
            let mut rows = vec![0.0; scores.len() * width];
            for (index, row) in range.zip(rows.chunks_exact_mut(width)) {
                listing.write(index, row);
            }
            scorer.score(&rows, scores);
        });
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let close = top - TIE * top.abs();
    let index = scores.iter().position(|&score| score >= close);
    let task = found(listing, index.filter(|_| top.is_finite()), "features")?;
    let value = form.value(&task);
    Ok(Atom {
        task,
        value,
        exact: true,
    })
}

/// The listed task that minimises an objective; NaN is worse than anything.
pub(super) fn least(
    listing: &dyn Listing,
    objective: &(dyn Fn(&[f64]) -> f64 + Sync),
) -> Result<Atom> {
    const BATCH: usize = 64;
    let (count, width) = (listing.count(), listing.width());
    let mut values = vec![0.0; count];
    values
        .par_chunks_mut(BATCH)
        .enumerate()
        .for_each(|(chunk, values)| {
            let mut task = vec![0.0; width];
            for (offset, value) in values.iter_mut().enumerate() {
                listing.write(chunk * BATCH + offset, &mut task);
                *value = objective(&task);
            }
        });
    let mut index = None;
    let mut value = f64::INFINITY;
    for (candidate, &found) in values.iter().enumerate() {
        if found < value {
            (index, value) = (Some(candidate), found);
        }
    }
    Ok(Atom {
        task: found(listing, index, "objective")?,
        value,
        exact: true,
    })
}

/// The task at an index, or an error that no task had a finite value.
fn found(listing: &dyn Listing, index: Option<usize>, what: &str) -> Result<Vec<f64>> {
    let Some(index) = index else {
        return Err(no_finite_value(what, listing.count()));
    };
    let mut task = vec![0.0; listing.width()];
    listing.write(index, &mut task);
    Ok(task)
}

/// What is said when nothing could be compared.
pub(super) fn no_finite_value(what: &str, tasks: usize) -> Error {
    Error::numerical(
        "finding the best task of the space",
        format!("the {what} gave no finite value at any of {tasks} tasks, so check it"),
    )
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use crate::features::FeatureMap;
    use crate::rng::{Purpose, derive};
    use crate::space::{QuadraticForm, Space, TaskSpace};

    #[test]
    fn ties_go_to_the_first_task() {
        let tasks = (0..500).map(|i| {
            let angle = f64::from(i);
            vec![angle.cos(), angle.sin()]
        });
        let space = Space::list(&tasks.collect::<Vec<_>>()).unwrap();
        let features = FeatureMap::identity(2).unwrap();
        let matrix = Mat::identity(2, 2);
        let form = QuadraticForm {
            features: &features,
            matrix: matrix.as_ref(),
        };
        let mut rng = derive(0, Purpose::Search, &[]);
        let atom = space.best_atom(&form, &mut rng).unwrap();
        assert_eq!(atom.task, [1.0, 0.0]);
        let atom = space.minimise(&|_| 2.0, &mut rng).unwrap();
        assert_eq!(atom.task, [1.0, 0.0]);
    }

    #[test]
    fn nan_is_worst_and_nothing_but_nan_is_an_error() {
        let space = Space::one_hot(3).unwrap();
        let mut rng = derive(0, Purpose::Search, &[]);
        let partly = |w: &[f64]| if w[0] > 0.5 { f64::NAN } else { w[1] };
        let atom = space.minimise(&partly, &mut rng).unwrap();
        assert_eq!(atom.task, [0.0, 0.0, 1.0]);
        let message = space.minimise(&|_| f64::NAN, &mut rng).unwrap_err();
        let message = message.to_string();
        assert!(
            message.contains("no finite value at any of 3 tasks"),
            "{message}"
        );
    }
}
