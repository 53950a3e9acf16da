//! What was found, as data: the keys of `summary.json`.

use std::collections::BTreeMap;

use serde::Serialize;
use taskscout::train::PredictorKind;
use taskscout_logs::Facts;

use super::fit::OutputFit;
use super::held_out::HeldOutErrors;
use super::outlook::Outlook;
use super::prepare::Prepared;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearnSummary {
    /// The version that found it.
    pub version: String,
    /// The target's recording.
    pub target: String,
    /// What is known of the target.
    pub target_facts: Vec<Fact>,
    /// Rows of the target that the model was learnt from.
    pub target_rows: usize,
    /// Which rows of its recording they are, from 0, where they were drawn; empty where all were used.
    pub drawn_rows: Vec<usize>,
    /// The inputs.
    pub inputs: Vec<String>,
    /// Each output with its model.
    pub outputs: Vec<OutputSummary>,
    /// How errors were measured, in words.
    pub held_out: String,
    /// What recordings are pooled over.
    pub task_features: Vec<String>,
    /// The other recordings, those that added most first.
    pub recordings: Vec<RecordingSummary>,
    /// Recordings that nothing was learnt from.
    pub left_out: Vec<LeftOut>,
    /// Parameters that were not known, as found from rows.
    pub estimated: Vec<EstimatedParameter>,
    /// What more rows of the target would bring.
    pub more_of_target: Vec<TargetForecast>,
    /// What one more recording of other conditions would bring, the best first.
    pub more_of_others: Vec<ConditionForecast>,
    /// The next recordings, in the order to make them.
    pub plan: Vec<PlannedRecording>,
    /// What else a careful reader should know.
    pub notes: Vec<String>,
    /// All of it in a sentence or two.
    pub verdict: String,
}

/// A label or parameter with its value, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is of: `vehicle`, `wind`.
    pub name: String,
    /// Its value with its unit.
    pub value: String,
}

/// The model of an output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputSummary {
    /// Its name.
    pub output: String,
    /// Its unit, where it is known.
    pub unit: Option<String>,
    /// Root mean squared error on rows that were not seen.
    pub held_out_rmse: Option<f64>,
    /// The same of what the target's own rows give alone.
    pub target_only_rmse: Option<f64>,
    /// Standard deviation of the rows that were not seen.
    pub spread: Option<f64>,
    /// The part of their variance that is explained.
    pub explained: Option<f64>,
    /// Standard deviation of the noise.
    pub noise_std: f64,
    /// Standard deviation of the model over the target's inputs.
    pub model_std: f64,
    /// Weights of the candidates.
    pub weights: BTreeMap<String, f64>,
    /// Why the guard hands this back.
    pub reason: String,
    /// The features that held-out rows speak for.
    pub features: String,
}

/// How alike two functions are: their correlation over the target's inputs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Similarity {
    /// The mean over what they may be.
    pub mean: f64,
    /// One in ten is lower.
    pub low: f64,
    /// One in ten is higher.
    pub high: f64,
}

/// What a recording is to the target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordingSummary {
    /// Its name.
    pub recording: String,
    /// What is known of it.
    pub facts: Vec<Fact>,
    /// Its rows.
    pub rows: usize,
    /// Those that they count for.
    pub effective_rows: f64,
    /// How alike it is to the target, in the mean over outputs.
    pub similarity: Option<Similarity>,
    /// The same for each output.
    pub similarity_by_output: Vec<Option<Similarity>>,
    /// The part of the target's variance before its own rows that this recording took away, given all others.
    pub added: f64,
    /// Why it helps or does not, in words.
    pub why: String,
}

/// A recording that nothing was learnt from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub recording: String,
    /// Why.
    pub reason: String,
}

/// A parameter that was not known exactly, as found from rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EstimatedParameter {
    /// Of which recording.
    pub recording: String,
    /// Which one.
    pub parameter: String,
    /// Its unit.
    pub unit: Option<String>,
    /// What is expected.
    pub mean: f64,
    /// How uncertain that is.
    pub std: f64,
}

/// What more rows of the target would bring.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetForecast {
    /// How many more.
    pub rows: usize,
    /// The expected root mean squared error of each output.
    pub rmse: Vec<f64>,
}

/// What one more recording of a condition would bring.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionForecast {
    /// The condition.
    pub condition: Vec<Fact>,
    /// Whether it has been recorded before.
    pub recorded: bool,
    /// Its rows.
    pub rows: usize,
    /// The part of the model's variance that would be left.
    pub variance_left: f64,
    /// The expected root mean squared error of each output.
    pub rmse: Vec<f64>,
}

/// A recording to make next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedRecording {
    /// The condition, which nobody has recorded.
    pub condition: Vec<Fact>,
    /// Its rows.
    pub rows: usize,
    /// The part of the model's variance that would be left after it and those before it.
    pub variance_left: f64,
    /// Why this one.
    pub reason: String,
}

/// What is known of a recording, as text.
pub(super) fn facts(facts: &Facts) -> Vec<Fact> {
    let labels = facts
        .labels
        .iter()
        .map(|(name, value)| (name, value.clone()));
    let parameters = facts
        .parameters
        .iter()
        .map(|(name, value)| (name, value.to_string()));
    let fact = |(name, value): (&String, String)| Fact {
        name: name.clone(),
        value,
    };
    labels.chain(parameters).map(fact).collect()
}

/// Facts in a line.
pub(super) fn line(facts: &[Fact]) -> String {
    let one = |fact: &Fact| format!("{} {}", fact.name, fact.value);
    facts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Puts everything together.
pub(super) fn summary(
    prepared: &Prepared,
    fits: &[OutputFit],
    (recordings, estimated): (Vec<RecordingSummary>, Vec<EstimatedParameter>),
    (held_out, outlook): (HeldOutErrors, Outlook),
) -> LearnSummary {
    let outputs: Vec<OutputSummary> = fits
        .iter()
        .enumerate()
        .map(|(at, fit)| {
            output(
                prepared,
                fit,
                held_out.outputs.as_ref().map(|all| all[at]),
                outlook.model_std[at],
            )
        })
        .collect();
    let target = &prepared.logs.recordings[prepared.target];
    let mut notes = prepared.notes.clone();
    notes.extend(outlook.notes);
    let mut summary = LearnSummary {
        version: env!("CARGO_PKG_VERSION").into(),
        target: target.name.clone(),
        target_facts: facts(&target.facts),
        target_rows: prepared.learning_rows().len(),
        drawn_rows: drawn(prepared.learning_rows()),
        inputs: prepared.logs.inputs.clone(),
        outputs,
        held_out: held_out.how,
        task_features: prepared.terms.names(),
        recordings,
        left_out: prepared.left_out.clone(),
        estimated,
        more_of_target: outlook.more_of_target,
        more_of_others: outlook.more_of_others,
        plan: outlook.plan,
        notes,
        verdict: String::new(),
    };
    summary.verdict = super::text::verdict(&summary);
    summary
}

/// Rows that are not simply the first ones.
fn drawn(rows: &[usize]) -> Vec<usize> {
    let first = rows.iter().enumerate().all(|(at, row)| at == *row);
    if first { Vec::new() } else { rows.to_vec() }
}

fn output(
    prepared: &Prepared,
    fit: &OutputFit,
    errors: Option<super::held_out::OutputErrors>,
    model_std: f64,
) -> OutputSummary {
    let name = prepared.logs.recordings[prepared.target].outputs[fit.output].clone();
    let kinds = fit.choice.candidates.iter().map(|candidate| candidate.kind);
    let weight = |(kind, weight): (PredictorKind, &f64)| (kind.to_string(), *weight);
    let noise = fit
        .choice
        .posteriors
        .first()
        .map_or(f64::NAN, |posterior| posterior.noise);
    let explained = |errors: super::held_out::OutputErrors| {
        (errors.variance > 0.0).then(|| 1.0 - errors.returned / errors.variance)
    };
    OutputSummary {
        unit: prepared.logs.units.get(&name).cloned(),
        output: name,
        held_out_rmse: errors.map(|errors| errors.returned.sqrt()),
        target_only_rmse: errors.map(|errors| errors.target_only.sqrt()),
        spread: errors.map(|errors| errors.variance.sqrt()),
        explained: errors.and_then(explained),
        noise_std: noise.max(0.0).sqrt(),
        model_std,
        weights: kinds.zip(&fit.choice.weights).map(weight).collect(),
        reason: fit.choice.reason.clone(),
        features: fit.features().to_owned(),
    }
}
