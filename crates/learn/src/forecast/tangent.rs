//! What the layers before the last one leave open of a network.
//!
//! A forecast takes a network as a matrix on what stands before its last layer. The layers before are learnt from the same
//! rows, so their error counts, too. To first order in the weights `θ` a network is linear in its tangents `∂φ/∂θ`:
//!
//! ```text
//! c_wᵀ φ(x; θ + δ) ≈ c_wᵀ φ(x; θ) + Σ_a c_a (∂φ_a/∂θ)ᵀ δ
//! F_θθ = Σ_ab (Σ_w n_w c_w c_wᵀ)_ab E[∂φ_a/∂θ (∂φ_b/∂θ)ᵀ],    and likewise for the heads and the terms between both
//! ```
//!
//! with inputs that are alike for all tasks. The ratio of `tr(F⁻¹ N)` with all layers to that with the last one alone, `N`
//! being the same sum over the target's tasks, is how many times as much is open.

use faer::{Mat, MatRef, Scale};

use super::MAX_FORECAST_UNKNOWNS;
use super::information::{add_ridge, trace};
use super::seen::Seen;
use crate::data::{Rows, TaskData};
use crate::error::Result;
use crate::linalg;
use crate::representation::AnyRepresentation;

/// Rows that the second moment of tangents is a mean over, at most.
const MOST_ROWS: usize = 2000;

/// The second moment of a network's tangents and values over inputs.
#[derive(Debug)]
pub(super) struct Tangents {
    /// `E[t tᵀ]` of `t = [∂φ_1/∂θ, …, ∂φ_k/∂θ, φ]`.
    moment: Mat<f64>,
    /// Weights of all layers, last layer last.
    weights: usize,
    /// Weights of the layers before the last.
    before_last: usize,
}

impl Tangents {
    /// Of a network with more than one layer whose rows are kept; none for others, and where it has too many weights.
    pub(super) fn of(
        data: &TaskData,
        phi: &AnyRepresentation,
        seen: &Seen,
    ) -> Result<Option<Self>> {
        let AnyRepresentation::Mlp(network) = phi else {
            return Ok(None);
        };
        let Some(network) = network.with_last(seen.representation.as_ref())? else {
            return Ok(None);
        };
        let (weights, before_last) = network.weight_counts();
        if seen.k() * (weights + 1) > MAX_FORECAST_UNKNOWNS {
            return Ok(None);
        }
        let inputs = sample(data);
        if inputs.nrows() == 0 {
            return Ok(None);
        }
        let tangents = network.tangents(inputs.as_ref())?;
        let mut moment = linalg::product(tangents.transpose(), tangents.as_ref());
        moment *= Scale(1.0 / inputs.nrows() as f64);
        Ok(Some(Self {
            moment,
            weights,
            before_last,
        }))
    }

    /// How many times as much all layers leave open of a target's function as the last one, given rows by task features.
    pub(super) fn ratio(&self, seen: &Seen, rows: &Mat<f64>, target: &Mat<f64>) -> Result<f64> {
        let information = self.assemble(seen, rows);
        let need = self.assemble(seen, target);
        let open = |first: usize| -> Result<f64> {
            let size = information.nrows() - first;
            let part = |all: &Mat<f64>| all.submatrix(first, first, size, size).to_owned();
            let mut information = part(&information);
            add_ridge(&mut information, seen.lambda);
            let solver = linalg::cholesky(information.as_ref(), "the information about weights")?;
            Ok(trace(&solver.solve(part(&need).as_ref())))
        };
        let ratio = open(0)? / open(self.before_last)?;
        Ok(Some(ratio).filter(|ratio| ratio.is_finite()).unwrap_or(1.0))
    }

    /// The information about weights and heads of rows with this moment of task features.
    fn assemble(&self, seen: &Seen, rows: &Mat<f64>) -> Mat<f64> {
        let (k, width, weights) = (seen.k(), seen.task_dim(), self.weights);
        let size = weights + seen.outputs() * k * width;
        let mut sum = Mat::zeros(size, size);
        let embeddings = seen.embed(&seen.map, rows.as_ref());
        for a in 0..k {
            for b in 0..k {
                let mut corner = sum.as_mut().submatrix_mut(0, 0, weights, weights);
                corner += Scale(embeddings[(a, b)]) * self.block(a, b);
            }
        }
        let values = self.moment.submatrix(k * weights, k * weights, k, k);
        for output in 0..seen.outputs() {
            let at = weights + output * k * width;
            let turned = linalg::product(seen.output(&seen.map, output), rows.as_ref());
            for i in 0..k {
                let between = Mat::from_fn(weights, k, |row, a| {
                    self.moment[(a * weights + row, k * weights + i)]
                });
                let between = linalg::product(between.as_ref(), turned.as_ref());
                for s in 0..width {
                    for row in 0..weights {
                        sum[(row, at + i * width + s)] = between[(row, s)];
                        sum[(at + i * width + s, row)] = between[(row, s)];
                    }
                }
                for j in 0..k {
                    let mut heads =
                        sum.as_mut()
                            .submatrix_mut(at + i * width, at + j * width, width, width);
                    heads += Scale(values[(i, j)]) * rows;
                }
            }
        }
        sum
    }

    /// `E[∂φ_a/∂θ (∂φ_b/∂θ)ᵀ]`.
    fn block(&self, a: usize, b: usize) -> MatRef<'_, f64> {
        let n = self.weights;
        self.moment.submatrix(a * n, b * n, n, n)
    }
}

/// Inputs of rows spread evenly over all that are kept.
fn sample(data: &TaskData) -> Mat<f64> {
    let sources = data.sources().iter().map(|entry| &entry.rows);
    let targets = data.targets().iter().flat_map(|target| &target.rows);
    let all: Vec<&Rows> = sources.chain(targets).collect();
    let count: usize = all.iter().map(|rows| rows.len()).sum();
    let step = count.div_ceil(MOST_ROWS).max(1);
    let d = data.feature_dim();
    let rows = all
        .iter()
        .flat_map(|rows| rows.inputs().chunks_exact(d.max(1)));
    let values: Vec<f64> = rows
        .step_by(step)
        .flat_map(|row| row.iter().map(|&value| f64::from(value)))
        .collect();
    MatRef::from_row_major_slice(&values, values.len() / d.max(1), d).to_owned()
}
