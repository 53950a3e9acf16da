//! One task on its own, where groups of features have penalties of their own.

use faer::Mat;

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
/// What each group but the first is given to begin with, relative to the labels: little or much.
const STARTS: [f64; 2] = [0.03, 1.0];

/// Coefficients of an output from a task's rows alone. Precisions of the groups and noise come from
/// the marginal likelihood, by MacKay's fixed point from more than one start.
///
/// # Errors
/// A breakdown of the numerics.
pub(super) fn fit(rows: &Statistics, output: usize, groups: &[usize]) -> Result<Vec<f64>> {
    let mut best: Option<(f64, Vec<f64>)> = None;
    for start in STARTS {
        let (evidence, coefficients) = settle(rows, output, groups, start)?;
        if best.as_ref().is_none_or(|(known, _)| evidence > *known) {
            best = Some((evidence, coefficients));
        }
    }
    Ok(best.map_or_else(|| vec![0.0; groups.len()], |(_, found)| found))
}

fn settle(
    rows: &Statistics,
    output: usize,
    groups: &[usize],
    start: f64,
) -> Result<(f64, Vec<f64>)> {
    let (d, n) = (groups.len(), rows.count() as f64);
    let (gram, moment, square) = (rows.gram_matrix(), rows.moment(output), rows.square(output));
    let level = (square / n.max(1.0)).max(f64::MIN_POSITIVE);
    let guess = NOISE_PART * (level - first_explains(rows, output)).max(1e-9 * level);
    let count = groups.iter().max().map_or(0, |last| last + 1);
    let mut precisions: Vec<f64> = (0..count)
        .map(|group| if group == 0 { 0.1 } else { 1.0 / start } / level)
        .collect();
    let mut noise = guess;
    let mut out = (f64::NEG_INFINITY, vec![0.0; d]);
    for _ in 0..STEPS {
        let mut matrix = gram.clone();
        matrix *= faer::Scale(1.0 / noise);
        (0..d).for_each(|a| matrix[(a, a)] += precisions[groups[a]]);
        let factor = linalg::cholesky(matrix.as_ref(), "the equations of a single task")?;
        let open = factor.solve(Mat::identity(d, d).as_ref());
        let mean: Vec<f64> = linalg::apply(open.as_ref(), moment)
            .iter()
            .map(|value| value / noise)
            .collect();
        let explained = linalg::dot(&mean, moment) / noise;
        let prior: f64 = groups.iter().map(|&group| precisions[group].ln()).sum();
        let evidence =
            -0.5 * (square / noise - explained + n * noise.ln() + factor.log_det() - prior);
        let (mut freedom, mut squares) = (vec![0.0; count], vec![0.0; count]);
        for (a, &group) in groups.iter().enumerate() {
            freedom[group] += 1.0 - precisions[group] * open[(a, a)];
            squares[group] += mean[a].powi(2);
        }
        let free = (n - freedom.iter().sum::<f64>()).max(0.0) + NOISE_ROWS;
        let residual = rows.residual(output, &mean).max(0.0) + NOISE_ROWS * guess;
        // The first group, a constant as a rule, is not held to anything.
        for group in 1..count {
            let wanted = (freedom[group].max(0.0) + INERTIA)
                / (squares[group] + INERTIA / precisions[group]);
            precisions[group] = wanted.clamp(0.1 * precisions[group], 10.0 * precisions[group]);
        }
        noise = (residual / free).max(1e-9 * guess);
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
