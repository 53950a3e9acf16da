//! What a design refuses, in the words of the command: options, files and column names.

use taskscout::Error;
use taskscout::error::{combination, percent};

use super::metric::largest;
use super::source::{Source, Tasks};
use crate::error::LabError;

/// An error of the library as a user of the command understands it.
pub(super) fn refusal(error: Error, source: &Source, count: usize) -> LabError {
    let (whose, what) = match &source.tasks {
        Tasks::Listed(listed) => (listed.file.clone(), "the candidates"),
        Tasks::Space(_) => ("the space".into(), "the tasks of the space"),
    };
    let message = match error {
        Error::Unreachable {
            share,
            direction,
            rank,
            needed,
        } => {
            let few = if count < needed {
                format!(", of which there are only {count}")
            } else {
                String::new()
            };
            let (direction, needed) = in_features(direction, needed, source);
            format!(
                "{} % of what the target needs lies out of reach of {what}{few}, which span {rank} of {needed} directions; missing most is {}: add tasks that differ along it, or leave it out of the parameters (--columns)",
                percent(share),
                combination(&direction, |index| source.lens.feature_or_value(index))
            )
        }
        // The value stands where the user wrote it.
        Error::Value {
            key,
            value,
            problem,
        } => {
            let name = option(&key).map_or_else(|| format!("`{key}`"), str::to_owned);
            format!("{name} {value} {problem}")
        }
        Error::Setting { key, problem } => match option(&key) {
            Some(option) => format!("{option} {problem}"),
            None if key == "candidates" => format!("the tasks of {whose} {problem}"),
            None if key == "target" => format!("the target {problem}"),
            None => format!("`{key}` {problem}"),
        },
        Error::BudgetTooSmall { budget, tasks } => format!(
            "--budget {budget} is too small for the {tasks} tasks that the target needs: raise it, or allow fewer with --max-tasks"
        ),
        Error::NotFinite { place, value } => format!(
            "{place} of {whose} is {value}: its features are too large for a number, so rescale the parameters"
        ),
        error @ (Error::Numerical { .. } | Error::Io { .. }) => return error.into(),
        error => error.to_string(),
    };
    LabError::Input(message)
}

/// A direction of embeddings as one of features, where a basis of these is all that was looked at,
/// and how many there are.
fn in_features(direction: Vec<f64>, needed: usize, source: &Source) -> (Vec<f64>, usize) {
    let (Some(map), Tasks::Listed(listed), true) =
        (&source.lens.map, &source.tasks, source.lens.spanned)
    else {
        return (direction, needed);
    };
    let rows = source.lens.embed(&listed.rows);
    let units = largest(rows.chunks_exact(map.nrows()), map.nrows());
    let value = |j: usize| -> f64 {
        let terms = direction.iter().zip(&units).enumerate();
        terms.map(|(i, (x, unit))| x / unit * map[(i, j)]).sum()
    };
    let mut named: Vec<f64> = (0..map.ncols()).map(value).collect();
    let size = named.iter().map(|x| x * x).sum::<f64>().sqrt();
    named
        .iter_mut()
        .for_each(|x| *x /= size.max(f64::MIN_POSITIVE));
    (named, map.ncols())
}

/// The option that a setting of the library comes from.
fn option(key: &str) -> Option<&'static str> {
    Some(match key {
        "budget" => "--budget",
        "max_tasks" => "--max-tasks",
        "switch_cost" => "--switch-cost",
        "min_samples" => "--min-samples",
        "tolerance" => "--tolerance",
        "required" => "--require",
        "forbidden" => "--forbid",
        "given" => "--given",
        "costs" => "--cost",
        _ => return None,
    })
}
