//! What a terminal says of the pendulum's targets: the parameters found, and how models control it.

use super::control::Score;
use super::report::decimals;

/// The parameters that were found of a target.
pub(super) struct FoundTask {
    /// The strategy that found them.
    pub(super) by: String,
    /// The best guess, seed by seed.
    pub(super) seeds: Vec<Vec<f64>>,
    /// Seeds whose region holds the truth.
    pub(super) held: usize,
}

/// `identified by aware as w = (…)`, mean and spread over seeds.
pub(super) fn found(found: &FoundTask) -> String {
    let FoundTask { by, seeds, held } = found;
    let parameters = 0..seeds.first().map_or(0, Vec::len);
    let parameter = |index: usize| {
        let values = seeds.iter().filter_map(|w| w.get(index).copied());
        spread(&values.collect::<Vec<f64>>())
    };
    let w: Vec<String> = parameters.map(parameter).collect();
    let over = match seeds.len() {
        1 => "1 seed".to_owned(),
        n => format!("mean and deviation over {n} seeds"),
    };
    format!(
        "identified by {by} as w = ({}), {over}; the truth lies in {held} of {} regions",
        w.join(", "),
        seeds.len()
    )
}

/// `0.51 ± 0.02`: the mean and the standard deviation of several values.
fn spread(values: &[f64]) -> String {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return format!("{mean:.2}");
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    format!("{mean:.2} ± {:.2}", (squares / (count - 1.0)).sqrt())
}

/// What the mean angle is called, here and in tables.
pub(super) const MEAN_ANGLE: &str = "mean |θ| (rad)";

/// The mean angle under each controller.
pub(super) fn control(scores: &[(String, Score)]) -> String {
    let one = |(name, score): &(String, Score)| format!("{name} {}", decimals(score.mean_angle));
    let all: Vec<String> = scores.iter().map(one).collect();
    format!("control, {MEAN_ANGLE}: {}", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_has_a_mean_and_a_spread() {
        let two = FoundTask {
            by: "aware".into(),
            seeds: vec![vec![0.5, -1.0], vec![0.7, -1.0]],
            held: 1,
        };
        assert_eq!(
            found(&two),
            "identified by aware as w = (0.60 ± 0.14, -1.00 ± 0.00), mean and deviation over 2 seeds; \
             the truth lies in 1 of 2 regions"
        );
        let one = FoundTask {
            seeds: vec![vec![0.25]],
            ..two
        };
        assert!(found(&one).contains("as w = (0.25), 1 seed;"));
    }

    #[test]
    fn controllers_stand_in_their_order() {
        let score = |mean_angle: f64| Score {
            mean_angle,
            ..Score::default()
        };
        let scores = [
            ("no model".to_owned(), score(0.5)),
            ("true f".to_owned(), score(0.1)),
        ];
        assert_eq!(
            control(&scores),
            format!(
                "control, mean |θ| (rad): no model {}, true f {}",
                decimals(0.5),
                decimals(0.1)
            )
        );
    }
}
