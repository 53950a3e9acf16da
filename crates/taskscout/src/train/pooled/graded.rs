//! One task on its own, where groups of features have penalties of their own.

use faer::Mat;

use super::level;
use super::shadow::Shadow;
use crate::data::Statistics;
use crate::error::Result;
use crate::linalg;

/// Steps towards precisions and noise.
const STEPS: usize = 40;
/// Rows that the first guess of the noise counts for.
const NOISE_ROWS: f64 = 2.0;
/// Part of the labels' variance that the first guess of the noise is.
const NOISE_PART: f64 = 0.3;
/// Coefficients that a precision's last value counts for in its next.
const INERTIA: f64 = 1e-2;
/// What each group but a constant is given to begin with, relative to the labels: little or much.
const STARTS: [f64; 2] = [0.03, 1.0];
/// Precision of a constant, relative to the labels: it is hardly held.
const CONSTANT: f64 = 0.1;

/// Coefficients of an output from a task's rows alone. Precisions of the groups and noise come from
/// the marginal likelihood, by MacKay's fixed point from more than one start. A first group of a
/// single feature is taken for a constant, if there are others beside it.
///
/// # Errors
/// A breakdown of the numerics.
pub(super) fn fit(rows: &Statistics, output: usize, groups: &[usize]) -> Result<Vec<f64>> {
    let shadow = Shadow::of(rows, output);
    let mut best: Option<(f64, Vec<f64>)> = None;
    for start in STARTS {
        let (evidence, coefficients) = settle(&shadow, rows, output, groups, start)?;
        if best.as_ref().is_none_or(|(known, _)| evidence > *known) {
            best = Some((evidence, coefficients));
        }
    }
    Ok(best.map_or_else(|| vec![0.0; groups.len()], |(_, found)| found))
}

fn settle(
    shadow: &Shadow,
    rows: &Statistics,
    output: usize,
    groups: &[usize],
    start: f64,
) -> Result<(f64, Vec<f64>)> {
    let (n, r) = (shadow.rows, shadow.rank());
    let level = level(rows.square(output), n);
    let guess = NOISE_PART * (level - first_explains(rows, output)).max(1e-9 * level);
    let count = groups.iter().max().map_or(0, |last| last + 1);
    let constant = count > 1 && groups.iter().filter(|&&group| group == 0).count() == 1;
    let free = usize::from(constant)..count;
    let mut precisions: Vec<f64> = (0..count)
        .map(|group| {
            if free.contains(&group) {
                1.0 / start / level
            } else {
                CONSTANT / level
            }
        })
        .collect();
    let mut noise = guess;
    let mut out = (f64::NEG_INFINITY, vec![0.0; groups.len()]);
    let labels = Mat::from_fn(r, 1, |i, _| shadow.labels[i]);
    for _ in 0..STEPS {
        // With prior variances V: θ = V Fᵀ (σ² + F V Fᵀ)⁻¹ z.
        let spread = Mat::from_fn(r, groups.len(), |i, j| {
            shadow.root[(i, j)] / precisions[groups[j]]
        });
        let mut kernel = linalg::product(spread.as_ref(), shadow.root.transpose());
        (0..r).for_each(|i| kernel[(i, i)] += noise);
        let factor = linalg::cholesky(kernel.as_ref(), "the rows of a single task")?;
        let solved = linalg::column(factor.solve(labels.as_ref()).as_ref(), 0);
        let mean = linalg::apply(spread.transpose(), &solved);
        let evidence = -0.5
            * (shadow.rest / noise
                + (n - r as f64) * noise.ln()
                + linalg::dot(&solved, &shadow.labels)
                + factor.log_det());
        // A coefficient's share that rows decide: V (FᵀK⁻¹F), on the diagonal.
        let half = factor.solve(shadow.root.as_ref());
        let (mut freedom, mut squares) = (vec![0.0; count], vec![0.0; count]);
        for (a, &group) in groups.iter().enumerate() {
            let told: f64 = (0..r).map(|i| half[(i, a)] * shadow.root[(i, a)]).sum();
            freedom[group] += told / precisions[group];
            squares[group] += mean[a].powi(2);
        }
        let left = shadow.less(&mean);
        let residual = shadow.rest + linalg::dot(&left, &left) + NOISE_ROWS * guess;
        let spare = (n - freedom.iter().sum::<f64>()).max(0.0) + NOISE_ROWS;
        for group in free.clone() {
            let wanted = (freedom[group].max(0.0) + INERTIA)
                / (squares[group] + INERTIA / precisions[group]);
            precisions[group] = wanted.clamp(0.1 * precisions[group], 10.0 * precisions[group]);
        }
        noise = (residual / spare).max(1e-9 * guess);
        out = (evidence, mean);
    }
    Ok(out)
}

/// Mean square of the labels that the first feature explains.
fn first_explains(rows: &Statistics, output: usize) -> f64 {
    let (gram, moment) = (rows.gram()[0], rows.moment(output)[0]);
    if gram > 0.0 {
        moment * moment / gram / (rows.count() as f64).max(1.0)
    } else {
        0.0
    }
}
