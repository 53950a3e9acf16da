//! Which recordings help, by how much, and why.
//!
//! Similarity is the correlation of a recording's function and the target's over the target's inputs, with its spread over draws from both
//! posteriors. What a recording added is how much more variance the target would have, before its own rows, without it.

use std::collections::HashMap;

use faer::{Mat, Side};
use rayon::prelude::*;
use taskscout::features::Features as _;
use taskscout::rng::{Purpose, Rng, derive, normal};
use taskscout::train::partial_pooling::{
    HierarchicalModel, SourceFunctionPosterior, SourceTaskWithRowLimit,
    expected_target_prediction_variance,
};
use taskscout_io::tables::short;
use taskscout_logs::Facts;

use super::fit::OutputFit;
use super::prepare::Prepared;
use super::summary::{RecordingSummary, Similarity, facts};
use super::unknown::matrix;
use crate::error::{LabError, Result};

/// Rows of the target that functions are compared on.
const ROWS: usize = 200;
/// Draws from the posteriors.
const DRAWS: usize = 60;
/// What a recording adds at least to be said to help.
const HELPS: f64 = 0.01;

/// All source recordings, those that added most first.
pub(super) fn recordings(prepared: &Prepared, fits: &[OutputFit]) -> Result<Vec<RecordingSummary>> {
    let similarities: Vec<Vec<Option<Similarity>>> = fits
        .par_iter()
        .map(|fit| similarities(prepared, fit))
        .collect::<Result<_>>()?;
    let added: Vec<Vec<f64>> = fits
        .iter()
        .map(|fit| added(prepared, fit))
        .collect::<Result<_>>()?;
    let outputs = fits.len().max(1) as f64;
    let effective = prepared.effective_rows();
    let mut out = Vec::with_capacity(prepared.sources.len());
    for (slot, &source) in prepared.sources.iter().enumerate() {
        let recording = &prepared.logs.recordings[source];
        let by_output: Vec<Option<Similarity>> = similarities.iter().map(|all| all[slot]).collect();
        let added = added.iter().map(|all| all[slot]).sum::<f64>() / outputs;
        let similarity = mean(&by_output);
        let rows = recording.rows();
        out.push(RecordingSummary {
            recording: recording.name.clone(),
            facts: facts(&recording.facts),
            rows,
            effective_rows: rows as f64 / (1.0 + rows as f64 / effective),
            similarity,
            similarity_by_output: by_output,
            added,
            why: why(prepared, &recording.facts, similarity, added),
        });
    }
    out.sort_by(|a, b| b.added.total_cmp(&a.added));
    Ok(out)
}

/// What the design of rows needs of all source recordings.
pub(super) fn source_tasks(prepared: &Prepared) -> Vec<SourceTaskWithRowLimit> {
    let task = |&source: &usize| SourceTaskWithRowLimit {
        features: prepared.task_features[source].clone(),
        rows: prepared.logs.recordings[source].rows(),
        capacity: 0,
    };
    prepared.sources.iter().map(task).collect()
}

/// By how much each recording lowered the target's variance, given all others.
fn added(prepared: &Prepared, fit: &OutputFit) -> Result<Vec<f64>> {
    let all = source_tasks(prepared);
    let target = (0, prepared.task_features[prepared.target].as_slice());
    let Some(hierarchy) = fit.hierarchy() else {
        return Ok(vec![0.0; all.len()]);
    };
    let Some(with) = expected_target_prediction_variance(hierarchy, target, &all, 0)? else {
        return Ok(vec![0.0; all.len()]);
    };
    let without = |slot: usize| {
        let mut others = all.clone();
        others[slot].rows = 0;
        let without =
            expected_target_prediction_variance(hierarchy, target, &others, 0)?.unwrap_or(with);
        Ok((1.0 - with / without).max(0.0))
    };
    (0..all.len()).map(without).collect()
}

/// How alike each recording is to the target.
fn similarities(prepared: &Prepared, fit: &OutputFit) -> Result<Vec<Option<Similarity>>> {
    let nothing = || vec![None; prepared.sources.len()];
    let (Some(hierarchy), Some(posterior)) = (fit.hierarchy(), fit.choice.posteriors.first())
    else {
        return Ok(nothing());
    };
    let rows = prepared.learning_rows();
    let step = rows.len().div_ceil(ROWS).max(1);
    let rows: Vec<usize> = rows.iter().copied().step_by(step).collect();
    let d = prepared.features.map.dim();
    let ground = |like: usize| matrix(&prepared.feature_rows(prepared.target, &rows, like), d);
    let own = Function::new(&posterior.mean, &posterior.covariance)?;
    let mut rng = derive(0, Purpose::Test, &[fit.output as u64]);
    let own = own.draws(&ground(prepared.target), &mut rng);
    let sources = prepared.sources.iter().enumerate();
    let slots: HashMap<&str, (usize, usize)> = sources
        .map(|(slot, &source)| {
            (
                prepared.logs.recordings[source].name.as_str(),
                (slot, source),
            )
        })
        .collect();
    let of = |task: SourceFunctionPosterior| {
        let Some(&(slot, source)) = slots.get(task.task.id.as_str()) else {
            return Ok(None);
        };
        let basis = basis(hierarchy, &ground(source))?;
        let function = Function::new(&task.posterior.mean, &task.posterior.covariance)?;
        let mut rng = derive(1 + source as u64, Purpose::Test, &[fit.output as u64]);
        let found = compare(&own, &function.draws(&basis, &mut rng));
        Ok(found.map(|similarity| (slot, similarity)))
    };
    // One after the other as they come: all of them at once take the square of the features for each recording.
    let found: Vec<Option<(usize, Similarity)>> = hierarchy
        .task_posteriors()
        .par_bridge()
        .map(of)
        .collect::<Result<_>>()?;
    let mut similarities = nothing();
    for (slot, similarity) in found.into_iter().flatten() {
        similarities[slot] = Some(similarity);
    }
    Ok(similarities)
}

fn basis(hierarchy: &HierarchicalModel, features: &Mat<f64>) -> Result<Mat<f64>> {
    Ok(hierarchy.basis_values(features.as_ref())?)
}

/// Coefficients with a root of their covariance.
struct Function<'a> {
    mean: &'a [f64],
    root: Mat<f64>,
}

impl<'a> Function<'a> {
    fn new(mean: &'a [f64], covariance: &Mat<f64>) -> Result<Self> {
        let eigen = covariance.self_adjoint_eigen(Side::Lower).map_err(|_| {
            LabError::Failure(
                "the uncertainty of a recording's function has no eigenvalues: rescale the inputs"
                    .into(),
            )
        })?;
        let (vectors, values) = (eigen.U(), eigen.S().column_vector());
        let root = Mat::from_fn(mean.len(), mean.len(), |i, j| {
            vectors[(i, j)] * values[j].max(0.0).sqrt()
        });
        Ok(Self { mean, root })
    }

    /// Draws of the function's values, a column each.
    fn draws(&self, basis: &Mat<f64>, rng: &mut Rng) -> Mat<f64> {
        let d = self.mean.len();
        let noise = Mat::from_fn(d, DRAWS, |_, _| normal(rng));
        let mut coefficients = &self.root * &noise;
        for j in 0..DRAWS {
            (0..d).for_each(|i| coefficients[(i, j)] += self.mean[i]);
        }
        basis * &coefficients
    }
}

/// The correlation of two functions over draws of both; none where one does not change.
fn compare(a: &Mat<f64>, b: &Mat<f64>) -> Option<Similarity> {
    let mut all: Vec<f64> = (0..DRAWS)
        .filter_map(|draw| correlation(a, b, draw))
        .collect();
    if all.is_empty() {
        return None;
    }
    all.sort_by(f64::total_cmp);
    let quantile = |share: f64| all[((all.len() - 1) as f64 * share).round() as usize];
    Some(Similarity {
        mean: all.iter().sum::<f64>() / all.len() as f64,
        low: quantile(0.1),
        high: quantile(0.9),
    })
}

fn correlation(a: &Mat<f64>, b: &Mat<f64>, draw: usize) -> Option<f64> {
    let n = a.nrows() as f64;
    let mean = |m: &Mat<f64>| (0..m.nrows()).map(|i| m[(i, draw)]).sum::<f64>() / n;
    let (ma, mb) = (mean(a), mean(b));
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for i in 0..a.nrows() {
        let (x, y) = (a[(i, draw)] - ma, b[(i, draw)] - mb);
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    let size = (aa * bb).sqrt();
    (size > 0.0).then(|| ab / size)
}

fn mean(all: &[Option<Similarity>]) -> Option<Similarity> {
    let known: Vec<Similarity> = all.iter().flatten().copied().collect();
    let n = known.len() as f64;
    let over = |part: fn(&Similarity) -> f64| known.iter().map(part).sum::<f64>() / n;
    (!known.is_empty()).then(|| Similarity {
        mean: over(|one| one.mean),
        low: over(|one| one.low),
        high: over(|one| one.high),
    })
}

/// Why a recording helps or does not.
fn why(prepared: &Prepared, own: &Facts, similarity: Option<Similarity>, added: f64) -> String {
    let target = &prepared.logs.recordings[prepared.target].facts;
    let labels = prepared.terms.labels();
    let (same, other): (Vec<&str>, Vec<&str>) = labels
        .iter()
        .partition(|label| own.labels.get(**label) == target.labels.get(**label));
    let mut parts = Vec::new();
    if !same.is_empty() {
        parts.push(format!("same {}", same.join(" and ")));
    }
    if !other.is_empty() {
        parts.push(format!("other {}", other.join(" and ")));
    }
    for name in prepared.terms.parameters() {
        parts.push(match (own.value(name), target.value(name)) {
            (Some(value), Some(wanted)) if (value - wanted).abs() <= 0.0 => format!("same {name}"),
            (Some(value), Some(wanted)) => {
                format!("{name} {} against {}", short(value), short(wanted))
            }
            (None, _) => format!("{name} not known"),
            (Some(value), None) => format!("{name} {}", short(value)),
        });
    }
    let verdict = match similarity {
        _ if added >= HELPS => "helps",
        Some(one) if one.mean > 0.5 => "alike, but others say the same",
        Some(_) => "adds little: its outputs go another way",
        None => "adds little",
    };
    match parts.is_empty() {
        true => verdict.to_owned(),
        false => format!("{verdict}: {}", parts.join(", ")),
    }
}
