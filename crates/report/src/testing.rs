//! Small helpers that the unit tests share.

use crate::rows::ResultRow;

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

/// Asserts that two numbers agree to twelve digits.
pub(crate) fn close(left: f64, right: f64) {
    assert!(
        (left - right).abs() <= 1e-12 * right.abs().max(1.0),
        "{left} is not {right}"
    );
}

/// Asserts that every tag of an XML-like text is closed in order; void HTML tags may stand alone.
pub(crate) fn assert_balanced(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag is never closed");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "`<` inside tag `{tag}`");
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next();
        let name = name.unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "`</{name}>` closes something else");
        } else if !tag.ends_with('/') && !tag.starts_with('!') && name != "meta" {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}
