//! Why a task is in a plan, in a few words.
//!
//! A task that looks much like a target, in the metric of the tasks there are, serves it. Any other covers a direction: with the
//! information `M` of the whole plan, `M⁺ c_i` is what task `i` measures beside the others.

use faer::{Mat, Side};
use taskscout::design::CampaignPlan;
use taskscout::error::combination;

use super::lens::Lens;
use super::metric::{Metric, largest};
use super::need::{Wanted, add_outer};
use crate::error::{CliError, Result};

/// A cosine from which a task is said to serve a target.
const ALIKE: f64 = 0.9;
/// Eigenvalues of the information below this, relatively, are none.
const RANK_TOLERANCE: f64 = 1e-12;
/// Terms of a direction that are shown.
const TERMS: usize = 2;

/// What is said of one task.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reason {
    pub(crate) words: String,
    /// The largest cosine to a target; none without targets.
    pub(crate) similarity: Option<f64>,
}

/// The reasons for all tasks of a plan, whose parameters are row-major in `tasks`.
pub(crate) fn reasons(
    plan: &CampaignPlan,
    tasks: &[f64],
    lens: &Lens,
    (wanted, metric): (&Wanted, &Metric),
    required: impl Fn(usize) -> bool,
) -> Result<Vec<Reason>> {
    let k = lens.dim();
    let embeddings: Vec<&[f64]> = plan
        .tasks
        .iter()
        .map(|task| &*task.atom.embedding)
        .collect();
    let units = largest(embeddings.iter().copied(), k);
    let inverse = inverse_information(plan, wanted, &units)?;
    let features = lens.features_of(tasks);
    let width = lens.names.len();
    let feature_units = largest(features.chunks_exact(width.max(1)), width);
    let count = wanted.rows.len() / k;
    let say = |(index, task): (usize, &[f64])| {
        let measured: Vec<f64> = (0..k)
            .map(|i| (0..k).map(|j| inverse[(i, j)] * task[j] / units[j]).sum())
            .collect();
        let direction = in_features(&measured, lens, &units, &feature_units);
        let mut best: Option<(usize, f64)> = None;
        let mut similarity: Option<f64> = None;
        for (target, row) in wanted.rows.chunks_exact(k).enumerate() {
            let along: f64 = (0..k).map(|i| measured[i] * row[i] / units[i]).sum();
            let help = wanted.weight(target) * along * along;
            if best.is_none_or(|(_, most)| help > most) {
                best = Some((target, help));
            }
            let cosine = metric.cosine(task, row);
            similarity = Some(similarity.map_or(cosine, |most| most.max(cosine)));
        }
        let covers = format!(
            "covers {}",
            combination(&direction, |feature| lens.names[feature].clone())
        );
        let words = match best {
            None => covers,
            Some((target, _)) => {
                let cosine = metric.cosine(task, &wanted.rows[target * k..(target + 1) * k]);
                let name = wanted.target_name(target, count);
                if cosine.abs() >= ALIKE {
                    let side = if cosine < 0.0 { " as its opposite" } else { "" };
                    format!("serves {name}{side} (cosine {cosine:.2})")
                } else if count == 1 {
                    covers
                } else {
                    format!("{covers} for {name}")
                }
            }
        };
        Reason {
            words: if required(index) {
                format!("required; {words}")
            } else {
                words
            },
            similarity,
        }
    };
    Ok(embeddings.into_iter().enumerate().map(say).collect())
}

/// `M⁺` in the given units, of all samples of the plan and what was given.
fn inverse_information(plan: &CampaignPlan, wanted: &Wanted, units: &[f64]) -> Result<Mat<f64>> {
    let k = units.len();
    let mut sum = match &wanted.given {
        Some(given) => given.clone(),
        None => Mat::zeros(k, k),
    };
    for task in &plan.tasks {
        add_outer(&mut sum, &task.atom.embedding, task.n as f64);
    }
    let scaled = Mat::from_fn(k, k, |i, j| sum[(i, j)] / units[i] / units[j]);
    let failed = || {
        CliError::Failure(
            "the reasons of the plan could not be computed: rescale the parameters".into(),
        )
    };
    let eigen = scaled
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| failed())?;
    let (values, vectors) = (eigen.S(), eigen.U());
    let top = (0..k).map(|index| values[index]).fold(0.0, f64::max);
    let kept: Vec<usize> = (0..k)
        .filter(|&index| values[index] > RANK_TOLERANCE * top)
        .collect();
    Ok(Mat::from_fn(k, k, |i, j| {
        let term = |&index: &usize| vectors[(i, index)] * vectors[(j, index)] / values[index];
        kept.iter().map(term).sum()
    }))
}

/// What is measured, in terms of features, each in units of the largest in the plan: the strongest
/// terms, of length one.
fn in_features(measured: &[f64], lens: &Lens, units: &[f64], feature_units: &[f64]) -> Vec<f64> {
    let mut direction: Vec<f64> = match &lens.map {
        None => measured.to_vec(),
        Some(map) => (0..map.ncols())
            .map(|j| {
                let value: f64 = (0..map.nrows())
                    .map(|i| map[(i, j)] * measured[i] / units[i])
                    .sum();
                value * feature_units[j]
            })
            .collect(),
    };
    let mut order: Vec<usize> = (0..direction.len()).collect();
    order.sort_by(|&a, &b| direction[b].abs().total_cmp(&direction[a].abs()));
    for &weak in order.iter().skip(TERMS) {
        direction[weak] = 0.0;
    }
    // A direction has no sign: the strongest term is shown as positive.
    let sign = order
        .first()
        .map_or(1.0, |&first| direction[first].signum());
    let size = sign * direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    if size.abs() > 0.0 {
        direction.iter_mut().for_each(|value| *value /= size);
    }
    direction
}
