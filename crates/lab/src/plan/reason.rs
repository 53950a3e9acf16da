//! Why a task is in a plan, in a few words.
//!
//! A task that looks much like a target, in the metric of the tasks there are, serves it. Any other covers a direction: with the
//! information `M` of the whole plan, `M⁺ c_i` is what task `i` measures beside the others.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::Solve as _;
use faer::{Accum, Mat, MatRef, Par, Side};
use taskscout::design::CampaignPlan;
use taskscout::error::combination;

use super::lens::Lens;
use super::metric::{Metric, cosine, largest, well_conditioned};
use super::wanted::Wanted;
use crate::error::{LabError, Result};

/// A cosine from which a task is said to serve a target.
const ALIKE: f64 = 0.9;
/// Eigenvalues of the information below this, relatively, are none.
const RANK_TOLERANCE: f64 = 1e-12;
/// Terms of a direction that are shown.
const TERMS: usize = 2;

/// What is said of one task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reason {
    pub(super) words: String,
    /// The largest cosine to a target; none without targets.
    pub(super) similarity: Option<f64>,
}

/// The reasons for all tasks of a plan, whose parameters are row-major in `tasks`.
pub(super) fn reasons(
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
    let scaled = Mat::from_fn(k, embeddings.len(), |i, j| embeddings[j][i] / units[i]);
    let measured = product(
        inverse_information(plan, wanted, &units)?.as_ref(),
        scaled.as_ref(),
    );
    let targets: Vec<Vec<f64>> = wanted
        .rows
        .chunks_exact(k)
        .map(|row| metric.direction(row))
        .collect();
    let features = lens.features_of(tasks);
    let width = lens.names.len();
    let feature_units = largest(features.chunks_exact(width.max(1)), width);
    let count = wanted.rows.len() / k;
    let say = |(index, task): (usize, &[f64])| {
        let measured: Vec<f64> = (0..k).map(|i| measured[(i, index)]).collect();
        let own = match targets[..] {
            [] => Vec::new(),
            _ => metric.direction(task),
        };
        let direction = in_features(&measured, lens, &units, &feature_units);
        let best = most_helped(wanted, &measured, &units);
        let cosines = targets.iter().map(|target| cosine(&own, target));
        let similarity = cosines.reduce(f64::max);
        let covers = format!(
            "covers {}",
            combination(&direction, |feature| lens.names[feature].clone())
        );
        let served = best.map(|target| {
            let name = wanted.target_name(target, count);
            (name, cosine(&own, &targets[target]))
        });
        let words = in_words(covers, served, count);
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

/// The target that a task helps most.
fn most_helped(wanted: &Wanted, measured: &[f64], units: &[f64]) -> Option<usize> {
    let k = units.len();
    let mut best: Option<(usize, f64)> = None;
    for (target, row) in wanted.rows.chunks_exact(k).enumerate() {
        let along: f64 = (0..k).map(|i| measured[i] * row[i] / units[i]).sum();
        let help = wanted.weight(target) * along * along;
        if best.is_none_or(|(_, most)| help > most) {
            best = Some((target, help));
        }
    }
    best.map(|(target, _)| target)
}

/// What a task covers, and which of so many targets it serves with which cosine.
fn in_words(covers: String, served: Option<(String, f64)>, count: usize) -> String {
    match served {
        None => covers,
        Some((name, cosine)) if cosine.abs() >= ALIKE => {
            let side = if cosine < 0.0 { " as its opposite" } else { "" };
            format!("serves {name}{side} (cosine {cosine:.2})")
        }
        Some(_) if count == 1 => covers,
        Some((name, _)) => format!("{covers} for {name}"),
    }
}

/// `M⁺` in the given units, of all samples of the plan and what was given.
fn inverse_information(plan: &CampaignPlan, wanted: &Wanted, units: &[f64]) -> Result<Mat<f64>> {
    let k = units.len();
    let count = plan.tasks.len();
    let column = |i: usize, j: usize| plan.tasks[j].atom.embedding[i] / units[i];
    let columns = Mat::from_fn(k, count, column);
    let weighted = Mat::from_fn(k, count, |i, j| column(i, j) * plan.tasks[j].n as f64);
    let mut scaled = product(weighted.as_ref(), columns.transpose());
    if let Some(given) = &wanted.given {
        scaled += Mat::from_fn(k, k, |i, j| given[(i, j)] / units[i] / units[j]);
    }
    if let Some(factor) = well_conditioned(&scaled) {
        return Ok(factor.solve(Mat::<f64>::identity(k, k)));
    }
    let failed = || {
        LabError::Failure(
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
    let turned = Mat::from_fn(k, kept.len(), |i, j| vectors[(i, kept[j])]);
    let divided = Mat::from_fn(k, kept.len(), |i, j| turned[(i, j)] / values[kept[j]]);
    Ok(product(divided.as_ref(), turned.transpose()))
}

fn product(lhs: MatRef<'_, f64>, rhs: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(lhs.nrows(), rhs.ncols());
    matmul(out.as_mut(), Accum::Replace, lhs, rhs, 1.0, Par::Seq);
    out
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
