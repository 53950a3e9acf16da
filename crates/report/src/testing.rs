//! Small helpers that the unit tests share.

use crate::rows::ResultRow;

pub(crate) use drawings::{assert_balanced, close};

/// The checks of drawings, which pages need too.
#[path = "../../plot/src/testing.rs"]
mod drawings;

/// A row of experiment `e`, oracle `exact`, with a test loss.
pub(crate) fn row(
    strategy: &str,
    seed: u64,
    round: usize,
    budget: usize,
    test_loss: f64,
) -> ResultRow {
    ResultRow {
        experiment: "e".to_owned(),
        oracle: "exact".to_owned(),
        strategy: strategy.to_owned(),
        seed,
        round,
        budget,
        test_loss: Some(test_loss),
        tasks: 10,
        long_term_tasks: 5,
        collect_s: 1.0,
        train_s: 2.0,
        design_s: 0.5,
        ..ResultRow::default()
    }
}

/// Rows of one strategy whose losses are the same on every seed up to a factor.
pub(crate) fn curve(strategy: &str, seeds: u64, points: &[(usize, f64)]) -> Vec<ResultRow> {
    (0..seeds)
        .flat_map(|seed| {
            points
                .iter()
                .enumerate()
                .map(move |(round, &(budget, loss))| {
                    row(
                        strategy,
                        seed,
                        round,
                        budget,
                        loss * (1.0 + 0.02 * seed as f64),
                    )
                })
        })
        .collect()
}
