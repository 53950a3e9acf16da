//! Forecasts: what the loss on a target will be once more rows have come.
//!
//! The model `y = ψᵀ X B ψ_W(w) + ξ` has two unknown factors. To first order the error of a target's function is
//! that of both of them together, so its variance is that of a linear model with the Jacobian
//! `J_w = [c_wᵀ ⊗ I, ψ_Wᵀ ⊗ X]`:
//!
//! ```text
//! F = Σ_w J_wᵀ G_w J_w + λ,    V_t = σ² J_t F⁻¹ J_tᵀ,    expected loss = tr(S_t V_t)
//! ```
//!
//! with the Gram matrices `G_w` of the rows that are there and the expected ones of rows to come, and the second moment
//! `S_t` of the target's inputs. For isotropic inputs and a target with a task feature of its own this is the risk law
//! `σ²(d_X − k)·tr((Σ n_w c_w c_wᵀ + n_t c_t c_tᵀ)⁻¹A) + σ²k/n_t` ([`excess_risk`](crate::theory::excess_risk)); it
//! also holds for inputs that differ from task to task, for targets with known parameters and for distributions of
//! targets. Where `F` would have more than [`MAX_FORECAST_UNKNOWNS`] rows, the Gram matrices of all tasks are taken as alike,
//! which leaves `k × k` and `d × d` matrices.
//!
//! The interval is that of the loss that will come, not of its expectation. Each draw takes embeddings `B` from their
//! posterior given `X`, a noise variance from its posterior, and an error of the target's function from `N(0, V_t)`.
//!
//! Features that only approximate add a floor that no rows lower. Forecasts of networks are multiplied by how far two networks,
//! each trained on half of the rows, are apart. Families of tasks, which have no embeddings, have a [`FamilyForecaster`].
//!
//! What is left out: that task features or `k` may be too small for the truth; of a network with very many weights all
//! layers before the last; of a representation of the user's own all of it but the heads on it; the error of a trainer
//! that does not reach the optimum of least squares.

mod draws;
mod expected;
mod extrapolation;
mod families;
mod floor;
mod halves;
mod information;
mod interval;
mod seen;
mod shrink;
mod tangent;

use draws::Draws;
use expected::Expected;
use faer::Mat;
pub use families::FamilyForecaster;
use information::{Information, Spread};
pub use interval::Interval;
use seen::Seen;
use serde::{Deserialize, Serialize};
use tangent::Tangents;

use crate::data::TaskData;
use crate::error::{Error, Result};
use crate::linalg;
use crate::model::Model;
use crate::task::TaskId;
use crate::theory::Quantities;

/// Unknowns of both factors together up to which the information is taken as it is.
pub const MAX_FORECAST_UNKNOWNS: usize = 4000;
/// Draws that an interval needs at least.
pub const MIN_POSTERIOR_DRAWS: usize = 20;
/// What counts as a direction of the target: an eigenvalue so many times what noise alone makes.
const REAL_DIRECTION: f64 = 3.0;

/// Rows that would come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedRows {
    /// Of source tasks: the task, its features `ψ_W(w)` with targets' own task features, and how many.
    pub sources: Vec<(TaskId, Vec<f64>, usize)>,
    /// Of targets: which, and how many.
    pub targets: Vec<(usize, usize)>,
}

/// A target as a forecast sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ForecastTargetTask {
    /// `E[ψ ψᵀ]` of its task features, targets' own task features included; for one task `ψ ψᵀ`.
    pub second_moment: Mat<f64>,
    /// Its share among the targets; shares add up to one.
    pub share: f64,
    /// Its place among the data's targets: whose rows show what its inputs look like.
    pub index: usize,
}

impl ForecastTargetTask {
    /// A single task with these features.
    #[must_use]
    pub fn task(index: usize, features: &[f64], share: f64) -> Self {
        let dim = features.len();
        Self {
            second_moment: Mat::from_fn(dim, dim, |i, j| features[i] * features[j]),
            share,
            index,
        }
    }
}

/// The paper's quantities as far as data tell them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TheoryQuantityEstimates {
    /// Directions of the representation.
    pub k: usize,
    /// `k*`: directions that the targets need, beyond what noise alone would make.
    pub k_star: Interval,
    /// `κ(B)` of the source part of the task map.
    #[serde(rename = "condition")]
    pub condition_number: Interval,
    /// `max_i ‖W*_i‖₂`: the longest of the shortest combinations of source tasks that make the targets' directions.
    #[serde(rename = "longest")]
    pub largest_l2_norm: Interval,
    /// `max_i ‖ν_i‖₁`: the same for the smallest sums of magnitudes.
    #[serde(rename = "l1")]
    pub largest_l1_norm: Interval,
}

/// Predicts losses from what a study has.
///
/// ```
/// use taskscout::forecast::{ForecastTargetTask, Forecaster, PlannedRows};
/// use taskscout::prelude::*;
///
/// // Six tasks on a line, y = (1 + w) (x₀ − x₁) + noise, and a target of which there are 40 rows.
/// let rows = |w: f64, n: usize, rng: &mut Rng| {
///     let x: Vec<f64> = (0..4 * n).map(|_| normal(rng)).collect();
///     let y = x.chunks(4).map(|x| (1.0 + w) * (x[0] - x[1]) + 0.5 * normal(rng)).collect();
///     Samples::new(x, 4, y, 1)
/// };
/// let mut rng = derive(0, Purpose::Collect, &[]);
/// let mut data = TaskData::new(4, 1, 3);
/// for i in 0..6 {
///     let w = f64::from(i) / 5.0;
///     data.add_source_rows(&[w], &[1.0, w, 0.0], Stage::WarmUp, 0, &rows(w, 30, &mut rng)?)?;
/// }
/// let target = data.add_target("new", vec![0.0, 0.0, 1.0])?;
/// data.add_target_rows(target, &rows(0.3, 40, &mut rng)?)?;
/// let context = TrainContext { k: Some(1), ..TrainContext::default() };
/// let model = JointRidge::default().model(&data, &context)?;
///
/// let targets = vec![ForecastTargetTask::task(target, &[0.0, 0.0, 1.0], 1.0)];
/// let forecaster = Forecaster::new(&data, &model, targets, 200, 0)?;
/// let now = forecaster.losses(&PlannedRows::default())?[0];
/// let more = PlannedRows { targets: vec![(target, 400)], ..PlannedRows::default() };
/// let then = forecaster.losses(&more)?[0];
/// assert!(then.mean < now.mean && now.low < now.high);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug)]
pub struct Forecaster {
    seen: Seen,
    expected: Expected,
    now: Information,
    draws: Draws,
    /// Of a network, for what its layers before the last leave open.
    tangents: Option<Tangents>,
    targets: Vec<ForecastTargetTask>,
    /// For each target, what no rows lower, draw by draw; empty where features are exact.
    floors: Vec<Vec<f64>>,
    /// For each target, how many times as much is open as one optimum leaves, draw by draw; empty where nobody looked.
    factors: Vec<Vec<f64>>,
    seed: u64,
}

impl Forecaster {
    /// Takes what was learnt from some data, with so many draws from the posterior.
    ///
    /// # Errors
    /// Too few draws, no data, families of tasks instead of embeddings, or a breakdown of the numerics.
    pub fn new(
        data: &TaskData,
        model: &Model,
        targets: Vec<ForecastTargetTask>,
        draws: usize,
        seed: u64,
    ) -> Result<Self> {
        too_few_draws(draws)?;
        if data.source_rows() == 0 {
            return Err(Error::State(
                "a forecast needs a model: tell the study samples of source tasks first".into(),
            ));
        }
        for target in &targets {
            Error::check_length(
                "a target's moment",
                data.task_dim(),
                target.second_moment.nrows(),
            )?;
        }
        let mut seen = Seen::of(data, model)?;
        let expected = Expected::of(seen.data())?;
        let estimated = Information::of_data(&seen)?;
        let draws = Draws::new(&mut seen, &estimated, model, (draws, seed))?;
        // Once more, with embeddings as strong as they are.
        let now = Information::of_data(&seen)?;
        let tangents = Tangents::of(data, &model.representation, &seen)?;
        Ok(Self {
            seen,
            expected,
            now,
            draws,
            tangents,
            targets,
            floors: Vec::new(),
            factors: Vec::new(),
            seed,
        })
    }

    /// Adds what no rows lower, for features that only approximate the functions that are looked for, as cosines or a
    /// network do.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn with_approximate_features(mut self) -> Result<Self> {
        let targets = self.targets.iter().enumerate();
        let floors = targets.map(|(place, target)| {
            let root = self.expected.input_root(target.index)?;
            let square = self.seen.mean_square(&target.second_moment, &root);
            let draws = (self.draws.len(), self.seed);
            Ok(floor::draws(place, (square, self.seen.noise), draws))
        });
        self.floors = floors.collect::<Result<_>>()?;
        Ok(self)
    }

    /// Multiplies forecasts by what two fits, each of half of the rows, are farther apart than they should be: for
    /// networks, whose descent ends in one of many optima. `fits` are of [halves](TaskData::halves) of the data, and must
    /// have started apart. Targets without kept rows stay as they are.
    ///
    /// # Errors
    /// Fits of other features or tasks than the data has, or a breakdown of the numerics.
    pub fn compare_halves(mut self, data: &TaskData, fits: &[Model; 2]) -> Result<Self> {
        let information = self.now.times(0.5);
        let factors = self.targets.iter().enumerate().map(|(place, target)| {
            let known = data.targets().get(target.index);
            let found = known.map(|known| halves::difference(known, data, fits));
            let Some(found) = found.transpose()?.flatten() else {
                return Ok(vec![1.0; self.draws.len()]);
            };
            let expected = self.open(&information, target)?;
            let draws = (self.draws.len(), self.seed);
            Ok(halves::factors(found, &expected, place, draws))
        });
        self.factors = factors.collect::<Result<_>>()?;
        Ok(self)
    }

    /// How far off a target's function may be on inputs like those of its rows.
    fn open(&self, information: &Information, target: &ForecastTargetTask) -> Result<Spread> {
        let root = self.expected.input_root(target.index)?;
        let spread = information.spread(&self.seen, &target.second_moment, &root)?;
        let layers = self.tangents.as_ref().map_or(Ok(1.0), |tangents| {
            tangents.ratio(&self.seen, &information.rows, &target.second_moment)
        })?;
        Ok(spread.times(layers))
    }

    /// The loss of every target once some further rows have come: mean squared error on noise-free labels, over the
    /// target's inputs and outputs.
    ///
    /// # Errors
    /// Rows of tasks or targets that do not fit, or a breakdown of the numerics.
    pub fn losses(&self, further: &PlannedRows) -> Result<Vec<Interval>> {
        let draws = self.loss_draws(further)?;
        Ok(draws.iter().map(|one| Interval::of(one)).collect())
    }

    /// The loss over all targets by their shares, and that of each.
    ///
    /// # Errors
    /// As [`Forecaster::losses`].
    pub fn overall_and_target_losses(
        &self,
        further: &PlannedRows,
    ) -> Result<(Interval, Vec<Interval>)> {
        let draws = self.loss_draws(further)?;
        let total = |draw: usize| {
            let parts = self.targets.iter().zip(&draws);
            parts.map(|(target, one)| target.share * one[draw]).sum()
        };
        let all: Vec<f64> = (0..self.draws.len()).map(total).collect();
        let each = draws.iter().map(|one| Interval::of(one)).collect();
        Ok((Interval::of(&all), each))
    }

    /// The draws of each target's loss.
    fn loss_draws(&self, further: &PlannedRows) -> Result<Vec<Vec<f64>>> {
        let added = self.expected.rows(&self.seen, further)?;
        let information = self.now.with(&self.seen, &added)?;
        let laws = self.draws.laws(&self.seen, &information, &self.targets)?;
        let target_draws = |(place, target): (usize, &ForecastTargetTask)| {
            let extrapolation =
                extrapolation::ratio(&self.seen, &self.expected, &information, target, further)?;
            let spread = self.open(&information, target)?.times(extrapolation);
            let mut losses = self.draws.losses(place, &spread, &laws[place]);
            if let Some(factors) = self.factors.get(place) {
                let pairs = losses.iter_mut().zip(factors);
                pairs.for_each(|(loss, factor)| *loss *= factor);
            }
            if let Some(floors) = self.floors.get(place) {
                let pairs = losses.iter_mut().zip(floors);
                pairs.for_each(|(loss, floor)| *loss += floor);
            }
            Ok(losses)
        };
        self.targets.iter().enumerate().map(target_draws).collect()
    }

    /// `k*`, `κ(B)`, `‖W*‖` and `‖ν‖₁` with intervals. `tasks` are the source tasks that combinations are made of, as
    /// columns of task features: all tasks of a finite space, or the axes of a ball.
    ///
    /// # Errors
    /// Tasks with another number of features, or targets that no combination of them makes.
    pub fn quantities(&self, tasks: &Mat<f64>) -> Result<TheoryQuantityEstimates> {
        let floor = REAL_DIRECTION * self.draws.noise_in_need(&self.seen, &self.targets)?;
        let mut found: [Vec<f64>; 4] = Default::default();
        for map in self.draws.maps() {
            let need = self.seen.leading_need(map, &self.targets, floor)?;
            let sources = self.seen.source_embeddings(map, tasks)?;
            let known = Quantities::of(sources.as_ref(), need.as_ref())?;
            let l1 = known.l1_norms.iter().copied().fold(0.0, f64::max);
            let values = [known.k_star as f64, known.condition, known.longest(), l1];
            found
                .iter_mut()
                .zip(values)
                .for_each(|(all, value)| all.push(value));
        }
        let [k_star, condition, longest, l1] = found.map(|values| Interval::of(&values));
        Ok(TheoryQuantityEstimates {
            k: self.seen.k(),
            k_star,
            condition_number: condition,
            largest_l2_norm: longest,
            largest_l1_norm: l1,
        })
    }
}

/// Refuses draws that make no interval.
fn too_few_draws(draws: usize) -> Result<()> {
    if draws < MIN_POSTERIOR_DRAWS {
        return Err(Error::setting(
            "draws",
            format!("is {draws}: an interval needs at least {MIN_POSTERIOR_DRAWS}"),
        ));
    }
    Ok(())
}

/// Adds `w ψψᵀ` to a moment of task features.
fn add_outer(sum: &mut Mat<f64>, features: &[f64], weight: f64) {
    for (j, b) in features.iter().enumerate().filter(|(_, b)| **b != 0.0) {
        let scale = weight * b;
        for (i, a) in features.iter().enumerate() {
            sum[(i, j)] += scale * a;
        }
    }
}

/// `B M Bᵀ`.
fn sandwich(map: faer::MatRef<'_, f64>, moment: faer::MatRef<'_, f64>) -> Mat<f64> {
    let half = linalg::product(map, moment);
    linalg::product(half.as_ref(), map.transpose())
}
