//! Draws from the posterior of embeddings and noise, and of the loss that follows.

use faer::Mat;
use rand_distr::{ChiSquared, Distribution as _};

use super::ForecastTargetTask;
use super::information::{Information, Spread, add_ridge, trace};
use super::seen::Seen;
use super::shrink::Strength;
use crate::error::Result;
use crate::linalg;
use crate::model::Model;
use crate::rng::{Purpose, derive, normal};

/// Labels beyond the parameters of a fit that its noise is taken to rest on at least.
const LEAST_FREEDOM: f64 = 3.0;
/// Parts of the noise that may be in the strength of embeddings, one draw after the other.
const PARTS: [f64; 5] = [0.5, 0.0, 1.0, 0.25, 0.75];

/// Draws of the task map and of the noise.
#[derive(Debug)]
pub(super) struct Draws {
    maps: Vec<Mat<f64>>,
    /// How far each is from its mean.
    errors: Vec<Mat<f64>>,
    /// The noise variance of each draw over the estimated one.
    noises: Vec<f64>,
    seed: u64,
}

/// `tr(Σ⁻¹A)` of a target in each draw, over that of the estimate.
pub(super) type Ratios = Vec<f64>;

impl Draws {
    /// Draws `B` given `X`, each output from `N(B_o, σ² (Σ ψ_Wψ_Wᵀ ⊗ XᵀG_wX + λ)⁻¹)` and less by how much noise makes
    /// embeddings look stronger ([`shrink`](super::shrink)), and the noise from its scaled inverse `χ²` distribution.
    pub(super) fn new(
        seen: &mut Seen,
        now: &Information,
        model: &Model,
        (count, seed): (usize, u64),
    ) -> Result<Self> {
        let (noises, errors) = posterior(seen, now, model, (count, seed))?;
        let mut strengths = Vec::new();
        for part in PARTS {
            strengths.push(Strength::of(seen, now, &errors, part)?);
        }
        let of_draw = |draw: usize| &strengths[draw % PARTS.len()];
        let maps = errors.iter().enumerate();
        let maps = maps
            .map(|(draw, error)| of_draw(draw).centre(seen) + of_draw(draw).error(error))
            .collect();
        let errors = errors.iter().enumerate();
        let errors = errors
            .map(|(draw, error)| of_draw(draw).error(error))
            .collect();
        seen.map = strengths[0].typical(seen);
        Ok(Self {
            errors,
            maps,
            noises,
            seed,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.maps.len()
    }

    pub(super) fn maps(&self) -> &[Mat<f64>] {
        &self.maps
    }

    /// The largest eigenvalue that the errors of embeddings alone give to `A`, in the mean.
    pub(super) fn noise_in_need(&self, seen: &Seen, targets: &[ForecastTargetTask]) -> Result<f64> {
        let mut sum = 0.0;
        for error in &self.errors {
            let error = seen.need(error, targets);
            let (values, _) = linalg::eigen(error.as_ref(), "the error of the target moment")?;
            sum += values.first().copied().unwrap_or(0.0);
        }
        Ok(sum / self.maps.len().max(1) as f64)
    }

    /// How much more or less the representation's error is than estimated, by target and draw.
    pub(super) fn laws(
        &self,
        seen: &Seen,
        information: &Information,
        targets: &[ForecastTargetTask],
    ) -> Result<Vec<Ratios>> {
        let strength = information.input_strength(seen);
        let law = |map: &Mat<f64>| -> Result<Vec<f64>> {
            let mut sum = seen.embed(map, information.rows.as_ref());
            add_ridge(&mut sum, seen.lambda / strength);
            let solver = linalg::cholesky(sum.as_ref(), "the information about embeddings")?;
            let value = |target: &ForecastTargetTask| {
                let need = seen.embed(map, target.second_moment.as_ref());
                trace(&solver.solve(need.as_ref()))
            };
            Ok(targets.iter().map(value).collect())
        };
        let estimate = law(&seen.map)?;
        let mut ratios = vec![Vec::with_capacity(self.maps.len()); targets.len()];
        for map in &self.maps {
            for (place, value) in law(map)?.into_iter().enumerate() {
                ratios[place].push(value / estimate[place].max(f64::MIN_POSITIVE));
            }
        }
        Ok(ratios)
    }

    /// The loss of each draw: its error is normal with the variances of the spread. The same draws for all ways to
    /// spend, so that these can be compared.
    pub(super) fn losses(&self, place: usize, spread: &Spread, ratios: &Ratios) -> Vec<f64> {
        let one = |draw: usize| {
            let mut rng = derive(
                self.seed,
                Purpose::Forecast,
                &[draw as u64, 1 + place as u64],
            );
            let share = spread.representation;
            let scale = self.noises[draw] * (share * ratios[draw] + 1.0 - share);
            let squares = spread.variances.iter().map(|variance| {
                let z = normal(&mut rng);
                variance * z * z
            });
            scale * squares.sum::<f64>()
        };
        (0..self.maps.len()).map(one).collect()
    }
}

/// Draws the noise, in units of the estimate, and the error of the task map.
fn posterior(
    seen: &Seen,
    now: &Information,
    model: &Model,
    (count, seed): (usize, u64),
) -> Result<(Vec<f64>, Vec<Mat<f64>>)> {
    let solver = now.head_solver(seen)?;
    let (k, width, outputs) = (seen.k(), seen.task_dim(), seen.outputs());
    let labels = model.report.labels as f64;
    let used = Some(model.report.degrees_of_freedom).filter(|freedom| freedom.is_finite());
    let used = used.unwrap_or((seen.representation.nrows() * k) as f64);
    let freedom = (labels - used).max(LEAST_FREEDOM);
    let mut errors = Mat::zeros(k * width, count * outputs);
    let mut noises = Vec::with_capacity(count);
    for draw in 0..count {
        let mut rng = derive(seed, Purpose::Forecast, &[draw as u64, 0]);
        let chi = ChiSquared::new(freedom).map(|chi| chi.sample(&mut rng));
        let noise = chi.map_or(1.0, |chi| freedom / chi);
        let size = (noise * seen.noise).sqrt();
        noises.push(noise);
        for output in 0..outputs {
            for row in 0..k * width {
                errors[(row, draw * outputs + output)] = size * normal(&mut rng);
            }
        }
    }
    // L⁻ᵀ z = (L Lᵀ)⁻¹ L z has the covariance (L Lᵀ)⁻¹.
    let errors = linalg::product(solver.lower().as_ref(), errors.as_ref());
    let errors = solver.solve(errors.as_ref());
    let error = |draw: usize| {
        Mat::from_fn(k, outputs * width, |i, column| {
            let (output, s) = (column / width, column % width);
            errors[(i * width + s, draw * outputs + output)]
        })
    };
    Ok((noises, (0..count).map(error).collect()))
}
