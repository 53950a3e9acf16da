//! Parameters that are not known of a recording, found from its rows.
//!
//! A recording of unknown wind has rows, and the others say what winds do to rows. Every value that the parameter may have is weighed by the
//! density of the recording's rows under it, all outputs together; the recording's task features become the mean over these
//! weights. What the mean leaves open is part of the recording's residual, whose scale is learnt for each recording.

use faer::Mat;
use taskscout::data::{Statistics, TaskData};
use taskscout::train::partial_pooling::HierarchicalModel;
use taskscout_logs::Facts;

use super::fit::OutputFit;
use super::prepare::Prepared;
use super::summary::EstimatedParameter;
use crate::error::Result;

/// Parameters of a recording that are looked for together; others stay at the mean of what they may be.
const TOGETHER: usize = 2;

/// The values that the unknown parameters of a recording may have, with their task features.
pub(super) struct Guesses {
    /// The places of the parameters that are looked for.
    parameters: Vec<usize>,
    values: Vec<Vec<f64>>,
    pub(super) features: Vec<Vec<f64>>,
}

impl Guesses {
    /// All combinations; none where everything is known.
    pub(super) fn of(prepared: &Prepared, facts: &Facts) -> Option<Self> {
        let candidates = prepared.terms.candidates(facts);
        let parameters: Vec<usize> = (0..candidates.len())
            .filter(|&at| candidates[at].len() > 1)
            .take(TOGETHER)
            .collect();
        if parameters.is_empty() {
            return None;
        }
        let mut values: Vec<Vec<f64>> = vec![Vec::new()];
        for &parameter in &parameters {
            let longer = |start: &Vec<f64>| {
                let start = start.clone();
                candidates[parameter]
                    .iter()
                    .map(move |&value| [start.as_slice(), &[value]].concat())
            };
            values = values.iter().flat_map(longer).collect();
        }
        let known: Vec<Option<f64>> = prepared
            .terms
            .parameters()
            .map(|name| facts.value(name))
            .collect();
        let features = values.iter().map(|guess| {
            let mut all = known.clone();
            parameters
                .iter()
                .zip(guess)
                .for_each(|(&at, &value)| all[at] = Some(value));
            prepared.terms.features(facts, &all)
        });
        let features = features.collect();
        Some(Self {
            parameters,
            values,
            features,
        })
    }

    /// The task features in the mean over shares.
    pub(super) fn mean_features(&self, shares: &[f64]) -> Vec<f64> {
        let mut mean = vec![0.0; self.features.first().map_or(0, Vec::len)];
        for (share, features) in shares.iter().zip(&self.features) {
            mean.iter_mut()
                .zip(features)
                .for_each(|(sum, value)| *sum += share * value);
        }
        mean
    }

    /// What is known of each parameter by shares.
    fn estimates(
        &self,
        prepared: &Prepared,
        recording: &str,
        shares: &[f64],
    ) -> Vec<EstimatedParameter> {
        let one = |(place, &parameter): (usize, &usize)| {
            let moment = |power: i32| -> f64 {
                shares
                    .iter()
                    .zip(&self.values)
                    .map(|(share, guess)| share * guess[place].powi(power))
                    .sum()
            };
            let mean = moment(1);
            EstimatedParameter {
                recording: recording.to_owned(),
                parameter: prepared
                    .terms
                    .parameters()
                    .nth(parameter)
                    .unwrap_or_default()
                    .to_owned(),
                unit: prepared.terms.unit(parameter).map(str::to_owned),
                mean,
                std: (moment(2) - mean * mean).max(0.0).sqrt(),
            }
        };
        self.parameters.iter().enumerate().map(one).collect()
    }
}

/// Shares of guesses by the rows of a recording, all outputs together; even where nothing can be said.
pub(super) fn shares<'a>(
    guesses: &Guesses,
    by_output: impl Iterator<Item = (&'a HierarchicalModel, Statistics)>,
) -> Result<Vec<f64>> {
    let mut logs = vec![0.0; guesses.features.len()];
    for (hierarchy, rows) in by_output {
        if let Some(found) = hierarchy.task_feature_posterior(0, &rows, &guesses.features)? {
            logs.iter_mut()
                .zip(found)
                .for_each(|(sum, share)| *sum += share.max(1e-300).ln());
        }
    }
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
    let total: f64 = shares.iter().sum();
    Ok(shares.iter().map(|share| share / total).collect())
}

/// Finds what is not known, and gives recordings the task features that follow.
pub(super) fn estimate(prepared: &mut Prepared) -> Result<Vec<EstimatedParameter>> {
    let of = |at: usize| Guesses::of(prepared, &prepared.logs.recordings[at].facts);
    let mut used = prepared.sources.clone();
    used.push(prepared.target);
    let open: Vec<(usize, Guesses)> = used
        .into_iter()
        .filter_map(|at| Some((at, of(at)?)))
        .collect();
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let models: Vec<(TaskData, HierarchicalModel)> = prepared
        .outputs
        .iter()
        .map(|&output| OutputFit::hierarchy_of(prepared, output))
        .collect::<Result<_>>()?;
    let (mut out, mut changed) = (Vec::new(), Vec::new());
    for (at, guesses) in open {
        let name = prepared.logs.recordings[at].name.clone();
        let by_output = models
            .iter()
            .map(|(data, hierarchy)| Ok((hierarchy, rows(prepared, data, at, &name)?)))
            .collect::<Result<Vec<_>>>()?;
        let shares = shares(&guesses, by_output.into_iter())?;
        out.extend(guesses.estimates(prepared, &name, &shares));
        changed.push((at, guesses.mean_features(&shares)));
    }
    for (at, features) in changed {
        prepared.task_features[at] = features;
    }
    Ok(out)
}

/// The statistics of a recording's rows.
fn rows(prepared: &Prepared, data: &TaskData, at: usize, name: &str) -> Result<Statistics> {
    if at == prepared.target {
        return Ok(data.target_statistics(0, taskscout::data::FoldSelection::All)?);
    }
    let mut total = Statistics::new(data.feature_dim(), 1);
    for source in data
        .sources()
        .iter()
        .filter(|source| source.task.id.as_str() == name)
    {
        total.merge(&source.statistics)?;
    }
    Ok(total)
}

/// Values of features as a matrix.
pub(super) fn matrix(values: &[f64], columns: usize) -> Mat<f64> {
    let rows = values.len() / columns.max(1);
    Mat::from_fn(rows, columns, |i, j| values[i * columns + j])
}
