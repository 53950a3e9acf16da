//! What more rows would bring, and which conditions to record next.
//!
//! More rows of the target narrow its posterior: with covariance `C` of its coefficients, mean square `G` of its features and noise `σ²`, `m` more
//! rows leave the variance `Σ λ / (1 + m λ / σ²)` over the eigenvalues `λ` of `C^½ G C^½`. A recording of another condition narrows
//! what the recordings share instead: the ratio of [`expected_target_prediction_variance`] with it and without it. The plan takes, one after the
//! other, the condition that nobody has recorded and that leaves least.

use faer::{Mat, Side};
use taskscout::features::Features as _;
use taskscout::train::partial_pooling::{
    SourceTaskWithRowLimit, expected_target_prediction_variance,
};
use taskscout_io::tables::short;
use taskscout_logs::{Facts, Known, Parameter};

use super::fit::OutputFit;
use super::held_out::HeldOutErrors;
use super::prepare::Prepared;
use super::relevance::source_tasks;
use super::summary::{ConditionForecast, PlannedRecording, TargetForecast, facts, line};
use super::unknown::matrix;
use crate::error::{LabError, Result};

/// More rows of the target that are looked at.
const MORE_ROWS: [usize; 4] = [25, 100, 400, 1600];
/// Values of each parameter that a recording might have.
const VALUES: usize = 5;
/// Most conditions that are compared.
const MOST_CONDITIONS: usize = 2000;
/// Conditions that are listed.
const LISTED: usize = 8;
/// Rows of the target that its variance is a mean over.
const ROWS: usize = 400;
/// Part of a parameter's range within which two values are the same condition.
const SAME: f64 = 0.02;

/// What more rows would bring.
#[derive(Debug)]
pub(super) struct Outlook {
    /// Standard deviation of the model over the target's inputs, output by output.
    pub(super) model_std: Vec<f64>,
    pub(super) more_of_target: Vec<TargetForecast>,
    pub(super) more_of_others: Vec<ConditionForecast>,
    pub(super) plan: Vec<PlannedRecording>,
    pub(super) notes: Vec<String>,
}

/// The spread of an output's model, and what the rest of its error is.
struct Spread {
    /// Variances along the directions of the target's features.
    values: Vec<f64>,
    noise: f64,
    /// The error that no row of any recording takes away.
    floor: f64,
}

impl Spread {
    fn new(prepared: &Prepared, fit: &OutputFit, error: Option<f64>) -> Result<Self> {
        let Some(posterior) = fit.choice.posteriors.first() else {
            return Err(LabError::Failure(
                "the guard gave no uncertainty of the model".into(),
            ));
        };
        let rows = prepared.learning_rows();
        let step = rows.len().div_ceil(ROWS).max(1);
        let rows: Vec<usize> = rows.iter().copied().step_by(step).collect();
        let features = matrix(
            &prepared.feature_rows(prepared.target, &rows, prepared.target),
            prepared.features.map.dim(),
        );
        // The eigenvalues of F C Fᵀ / n are those of C^½ G C^½.
        let mut kernel: Mat<f64> = &features * &posterior.covariance * features.transpose();
        kernel *= faer::Scale(1.0 / rows.len() as f64);
        let eigen = kernel.self_adjoint_eigen(Side::Lower).map_err(|_| {
            LabError::Failure(
                "the uncertainty of the model has no eigenvalues: rescale the inputs".into(),
            )
        })?;
        let values: Vec<f64> = eigen
            .S()
            .column_vector()
            .iter()
            .map(|value| value.max(0.0))
            .collect();
        let open: f64 = values.iter().sum();
        let floor = error.map_or(posterior.noise, |error| (error - open).max(0.25 * error));
        Ok(Self {
            values,
            noise: posterior.noise.max(f64::MIN_POSITIVE),
            floor,
        })
    }

    fn now(&self) -> f64 {
        self.values.iter().sum()
    }

    fn after(&self, rows: usize) -> f64 {
        let left = |value: &f64| value / (1.0 + rows as f64 * value / self.noise);
        self.values.iter().map(left).sum()
    }

    fn rmse(&self, open: f64) -> f64 {
        (self.floor + open).sqrt()
    }
}

/// Looks ahead; `planned` recordings are planned.
pub(super) fn look(
    prepared: &Prepared,
    fits: &[OutputFit],
    errors: &HeldOutErrors,
    planned: usize,
) -> Result<Outlook> {
    let error = |at: usize| errors.outputs.as_ref().map(|all| all[at].returned);
    let spreads: Vec<Spread> = fits
        .iter()
        .enumerate()
        .map(|(at, fit)| Spread::new(prepared, fit, error(at)))
        .collect::<Result<_>>()?;
    let more = |&rows: &usize| TargetForecast {
        rows,
        rmse: spreads
            .iter()
            .map(|spread| spread.rmse(spread.after(rows)))
            .collect(),
    };
    let rows = usual_rows(prepared);
    let (conditions, notes) = conditions(prepared);
    let more_of_others = others(prepared, fits, &spreads, (&conditions, rows))?;
    Ok(Outlook {
        model_std: spreads.iter().map(|spread| spread.now().sqrt()).collect(),
        more_of_target: MORE_ROWS.iter().map(more).collect(),
        more_of_others,
        plan: plan(prepared, fits, (conditions, rows), planned)?,
        notes,
    })
}

/// The rows that a recording usually has.
fn usual_rows(prepared: &Prepared) -> usize {
    let mut rows: Vec<usize> = prepared
        .sources
        .iter()
        .map(|&at| prepared.logs.recordings[at].rows())
        .collect();
    rows.sort_unstable();
    rows[rows.len() / 2]
}

/// The part of the target's variance that more source tasks leave, in the mean over outputs.
fn variance_left(
    prepared: &Prepared,
    fits: &[OutputFit],
    more: &[SourceTaskWithRowLimit],
) -> Result<f64> {
    let target = (0, prepared.task_features[prepared.target].as_slice());
    let own_rows = prepared.learning_rows().len();
    let known = source_tasks(prepared);
    let all: Vec<SourceTaskWithRowLimit> = known.iter().chain(more).cloned().collect();
    let (mut logs, mut count) = (0.0, 0.0);
    for hierarchy in fits.iter().filter_map(OutputFit::hierarchy) {
        let before = expected_target_prediction_variance(hierarchy, target, &known, own_rows)?;
        let after = expected_target_prediction_variance(hierarchy, target, &all, own_rows)?;
        if let (Some(before), Some(after)) = (before, after) {
            logs += (after / before).ln();
            count += 1.0;
        }
    }
    Ok(if count > 0.0 {
        (logs / count).exp()
    } else {
        1.0
    })
}

/// A recording of a condition as a source task.
fn task(prepared: &Prepared, condition: &Facts, rows: usize) -> SourceTaskWithRowLimit {
    let values: Vec<Option<f64>> = prepared
        .terms
        .parameters()
        .map(|name| condition.value(name))
        .collect();
    SourceTaskWithRowLimit {
        features: prepared.terms.features(condition, &values),
        rows,
        capacity: 0,
    }
}

/// What one more recording of each condition would bring, the best first.
fn others(
    prepared: &Prepared,
    fits: &[OutputFit],
    spreads: &[Spread],
    (conditions, rows): (&[Facts], usize),
) -> Result<Vec<ConditionForecast>> {
    let mut known: Vec<Facts> = Vec::new();
    for &source in &prepared.sources {
        let condition = pooled(prepared, &prepared.logs.recordings[source].facts);
        if !known.contains(&condition) {
            known.push(condition);
        }
    }
    let recorded = known.iter().map(|one| (one, true));
    let mut out = Vec::new();
    for (condition, recorded) in recorded.chain(conditions.iter().map(|one| (one, false))) {
        let left = variance_left(prepared, fits, &[task(prepared, condition, rows)])?;
        out.push(ConditionForecast {
            condition: facts(condition),
            recorded,
            rows,
            variance_left: left,
            rmse: spreads
                .iter()
                .map(|spread| spread.rmse(left * spread.now()))
                .collect(),
        });
    }
    out.sort_by(|a, b| a.variance_left.total_cmp(&b.variance_left));
    out.truncate(LISTED);
    Ok(out)
}

/// The conditions to record next, one after the other.
fn plan(
    prepared: &Prepared,
    fits: &[OutputFit],
    (mut conditions, rows): (Vec<Facts>, usize),
    planned: usize,
) -> Result<Vec<PlannedRecording>> {
    let (mut out, mut taken): (Vec<PlannedRecording>, Vec<SourceTaskWithRowLimit>) =
        (Vec::new(), Vec::new());
    let mut before = 1.0;
    while out.len() < planned && !conditions.is_empty() {
        let mut best: Option<(f64, usize)> = None;
        for (at, condition) in conditions.iter().enumerate() {
            let mut more = taken.clone();
            more.push(task(prepared, condition, rows));
            let left = variance_left(prepared, fits, &more)?;
            if best.is_none_or(|(least, _)| left < least * (1.0 - 1e-9)) {
                best = Some((left, at));
            }
        }
        let Some((left, at)) = best else { break };
        let condition = conditions.remove(at);
        taken.push(task(prepared, &condition, rows));
        let condition = facts(&condition);
        out.push(PlannedRecording {
            reason: format!(
                "{rows} rows of {} take {} % off what other recordings leave open of the target",
                line(&condition),
                short(((1.0 - left / before) * 1000.0).round() / 10.0)
            ),
            condition,
            rows,
            variance_left: left,
        });
        before = left;
    }
    Ok(out)
}

/// What of a recording's facts is pooled over.
fn pooled(prepared: &Prepared, own: &Facts) -> Facts {
    let labels = prepared.terms.labels();
    let parameters: Vec<&str> = prepared.terms.parameters().collect();
    let mut out = own.clone();
    out.labels.retain(|name, _| labels.contains(&name.as_str()));
    out.parameters
        .retain(|name, _| parameters.contains(&name.as_str()));
    out
}

/// Conditions that nobody has recorded: all levels of the labels with a grid over the parameters.
fn conditions(prepared: &Prepared) -> (Vec<Facts>, Vec<String>) {
    let mut all = vec![Facts::default()];
    for label in prepared.terms.labels() {
        let mut levels: Vec<&String> = prepared
            .logs
            .recordings
            .iter()
            .filter_map(|one| one.facts.labels.get(label))
            .collect();
        levels.sort_unstable();
        levels.dedup();
        all = extended(&all, &levels, |facts, level| {
            facts.labels.insert(label.to_owned(), (*level).clone());
        });
    }
    for (place, name) in prepared.terms.parameters().enumerate() {
        let (low, high) = prepared.terms.range(place).unwrap_or_default();
        let unit = prepared.terms.unit(place);
        let value = |at: usize| low + (high - low) * at as f64 / (VALUES - 1) as f64;
        let values: Vec<f64> = (0..VALUES).map(value).collect();
        all = extended(&all, &values, |facts, value| {
            facts
                .parameters
                .insert(name.to_owned(), Parameter::exactly(*value, unit));
        });
    }
    let mut notes = Vec::new();
    if all.len() > MOST_CONDITIONS {
        notes.push(format!(
            "the plan looks at {MOST_CONDITIONS} of {} conditions: name fewer labels or parameters to look at all",
            all.len()
        ));
        let step = all.len().div_ceil(MOST_CONDITIONS);
        all = all.into_iter().step_by(step).collect();
    }
    all.retain(|condition| {
        !prepared
            .logs
            .recordings
            .iter()
            .any(|one| same(prepared, condition, &one.facts))
    });
    if prepared.terms.len() < 2 {
        all.clear();
    }
    (all, notes)
}

fn extended<T>(all: &[Facts], values: &[T], set: impl Fn(&mut Facts, &T)) -> Vec<Facts> {
    let with = |facts: &Facts, value: &T| {
        let mut longer = facts.clone();
        set(&mut longer, value);
        longer
    };
    all.iter()
        .flat_map(|facts| values.iter().map(move |value| (facts, value)))
        .map(|(facts, value)| with(facts, value))
        .collect()
}

/// Whether a recording is of a condition.
fn same(prepared: &Prepared, condition: &Facts, own: &Facts) -> bool {
    let labels = condition
        .labels
        .iter()
        .all(|(name, level)| own.labels.get(name) == Some(level));
    let near = |(place, name): (usize, &str)| {
        let (low, high) = prepared.terms.range(place).unwrap_or_default();
        match (
            condition.value(name),
            own.parameters.get(name).map(|own| own.value),
        ) {
            (Some(a), Some(Known::Exactly(b))) => (a - b).abs() <= SAME * (high - low),
            (Some(a), Some(Known::Within(from, to))) => from <= a && a <= to,
            _ => false,
        }
    };
    labels && prepared.terms.parameters().enumerate().all(near)
}
