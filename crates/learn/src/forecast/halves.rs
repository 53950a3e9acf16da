//! How far apart two fits are that each saw half of the rows, as against how far apart they should be.
//!
//! The variance of a forecast is that of a fit near one optimum. A network has many: which of them descent ends in depends on
//! its start, and the least residual of several is partly chance. Two networks that were trained apart, each on half of the
//! rows, show what that adds:
//!
//! ```text
//! ratio = E_x‖f_A − f_B‖² / (2 tr(S V_half))
//! ```
//!
//! The ratio rests on as many degrees of freedom as there are independent errors, `(Σv)² / Σv²` of their variances `v`. A forecast
//! takes draws of the factor by which it is to be multiplied from the posterior that a scaled inverse `χ²` prior around one
//! leaves.

use faer::{Mat, MatRef};
use rand_distr::{ChiSquared, Distribution as _};

use super::information::Spread;
use crate::data::{TargetData, TaskData};
use crate::error::Result;
use crate::linalg;
use crate::model::{Model, Representation as _};
use crate::rng::{Purpose, derive};

/// Degrees of freedom of the prior that the variance of one optimum is all there is.
const PRIOR_FREEDOM: f64 = 4.0;
/// Rows of a target that functions are compared on, at most.
const MOST_ROWS: usize = 2000;

/// The mean square of the difference of a target's functions under two models, over its rows and outputs; nothing where it has no
/// rows.
pub(super) fn difference(
    target: &TargetData,
    data: &TaskData,
    models: &[Model; 2],
) -> Result<Option<f64>> {
    let inputs = sample(target, data.feature_dim());
    if inputs.nrows() == 0 {
        return Ok(None);
    }
    let mut sum = 0.0;
    let seen = [0, 1].map(|half: usize| models[half].representation.apply(inputs.as_ref()));
    let [first, second] = seen;
    let (first, second) = (first?, second?);
    for output in 0..data.outputs() {
        let values = |values: &Mat<f64>, model: &Model| -> Result<Vec<f64>> {
            let embedding = model.map.embedding(&target.features, output)?;
            Ok(linalg::apply(values.as_ref(), &embedding))
        };
        let (first, second) = (values(&first, &models[0])?, values(&second, &models[1])?);
        let pairs = first.iter().zip(&second);
        sum += pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    }
    Ok(Some(sum / (inputs.nrows() * data.outputs()) as f64))
}

/// Inputs of a target's rows, spread evenly over them.
fn sample(target: &TargetData, dim: usize) -> Mat<f64> {
    let count: usize = target.rows.iter().map(|rows| rows.len()).sum();
    let step = count.div_ceil(MOST_ROWS).max(1);
    let rows = target.rows.iter();
    let rows = rows.flat_map(|rows| rows.inputs().chunks_exact(dim.max(1)));
    let values: Vec<f64> = rows
        .step_by(step)
        .flat_map(|row| row.iter().map(|&value| f64::from(value)))
        .collect();
    MatRef::from_row_major_slice(&values, values.len() / dim.max(1), dim).to_owned()
}

/// Draws of the factor by which variances of a target are to be multiplied; one where nothing is open.
pub(super) fn factors(
    found: f64,
    expected: &Spread,
    place: usize,
    (count, seed): (usize, u64),
) -> Vec<f64> {
    let total = expected.total();
    if !(total > 0.0 && total.is_finite() && found.is_finite()) {
        return vec![1.0; count];
    }
    let squares: f64 = expected.variances.iter().map(|one| one * one).sum();
    let freedom = total * total / squares;
    let ratio = found / (2.0 * total);
    let all = PRIOR_FREEDOM + freedom;
    let one = |draw: usize| {
        let mut rng = derive(seed, Purpose::Forecast, &[draw as u64, 1 + place as u64, 2]);
        let chi = ChiSquared::new(all).map_or(all, |chi| chi.sample(&mut rng));
        (PRIOR_FREEDOM + freedom * ratio) / chi.max(f64::MIN_POSITIVE)
    };
    (0..count).map(one).collect()
}
