//! The ball as a list: what the relevance designs cost that choose from a list of its tasks, beside the optimal design
//! on the ball itself.

use faer::{Mat, MatRef};
use serde::Serialize;
use taskscout::rng::{Purpose, derive};
use taskscout::space::Space;
use taskscout::theory::{Allocation, need_of_first};

use crate::error::Result;

/// Tasks of the lists.
const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];

/// What designs cost on a list of tasks, for a target that is a single task.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ListRow {
    /// Which ground truth.
    pub(super) matrix_seed: u64,
    /// Tasks of the list.
    pub(super) tasks: usize,
    /// `tr(Σ⁻¹A)` of the L1 relevance, which for one target is the optimal design on the list.
    pub(super) l1: f64,
    /// The same of the L2 relevance.
    pub(super) l2: f64,
    /// The same of the optimal design on the ball.
    pub(super) ball: f64,
}

/// Lists of all sizes.
pub(super) fn sweep(matrix_seed: u64, map: MatRef<'_, f64>) -> Result<Vec<ListRow>> {
    let need = need_of_first(map, 1)?;
    let ball = Allocation::Optimal.value(map, need.as_ref())?;
    let space = Space::ball(map.ncols(), 1.0)?;
    let row = |(index, &tasks): (usize, &usize)| {
        let mut rng = derive(matrix_seed, Purpose::Plan, &[1, index as u64]);
        let listed = embeddings(&space.discretised(tasks, &mut rng)?, map);
        let value = |how: Allocation| how.value(listed.as_ref(), need.as_ref());
        Ok(ListRow {
            matrix_seed,
            tasks,
            l1: value(Allocation::L1)?,
            l2: value(Allocation::L2)?,
            ball,
        })
    };
    SIZES.iter().enumerate().map(row).collect()
}

/// The embeddings of all tasks of a list, one a column.
fn embeddings(list: &Space, map: MatRef<'_, f64>) -> Mat<f64> {
    let rows = list.task_matrix().unwrap_or_default();
    let tasks = MatRef::from_column_major_slice(&rows, map.ncols(), rows.len() / map.ncols());
    map * tasks
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_longer_list_is_better_and_none_is_as_good_as_the_ball() {
        let mut rng = derive(5, Purpose::Test, &[]);
        let map = Mat::from_fn(3, 12, |_, _| taskscout::rng::normal(&mut rng));
        let rows = sweep(5, map.as_ref()).unwrap();
        assert_eq!(rows.len(), SIZES.len());
        for row in &rows {
            assert!(
                row.ball <= row.l1 && row.l1 <= row.l2 * (1.0 + 1e-6),
                "{row:?}"
            );
        }
        let (first, last) = (&rows[0], &rows[rows.len() - 1]);
        assert!(last.l1 < 0.8 * first.l1, "{first:?} {last:?}");
    }
}
