//! Forecasts for families of tasks, which have no embeddings.
//!
//! What is open of a target's function is the covariance `C` that the guard's mean of candidates has, over the second moment
//! `S` of the target's inputs: with the eigenvalues `λ` of `S^½ C S^½` the expected loss is `Σ λ`. Rows of other tasks
//! narrow what the family shares, by the ratio `r` of [`expected_target_prediction_variance`] with them and without; `m` rows of the
//! target add to its own. Together they leave
//!
//! ```text
//! Σ r λ / (1 + m r λ / σ²)
//! ```
//!
//! No floor is added, as it is to forecasts by embeddings: what features of tasks miss is a task's own here, which `C` has.

use faer::Mat;
use rand_distr::{ChiSquared, Distribution as _};

use super::expected::Expected;
use super::{ForecastTargetTask, Interval, PlannedRows, too_few_draws};
use crate::data::TaskData;
use crate::error::{Error, Result};
use crate::hierarchy::HierarchicalModel;
use crate::linalg;
use crate::model::Model;
use crate::regression::LinearPosterior;
use crate::rng::{Purpose, derive, normal};
use crate::task::TaskId;
use crate::train::AveragedPredictor;
use crate::train::partial_pooling::{SourceTaskWithRowLimit, expected_target_prediction_variance};

/// Degrees of freedom that a scale is taken to rest on at least.
const LEAST_FREEDOM: f64 = 3.0;

/// Predicts losses of the returned predictors of targets that belong to families.
#[derive(Debug)]
pub struct FamilyForecaster {
    hierarchies: Vec<HierarchicalModel>,
    targets: Vec<Target>,
    /// Source tasks that have given rows.
    sources: Vec<(TaskId, SourceTaskWithRowLimit)>,
    /// How many draws, and their seed.
    draws: (usize, u64),
}

/// A target as it is now.
#[derive(Debug)]
struct Target {
    task: ForecastTargetTask,
    features: Vec<f64>,
    rows: usize,
    /// For each output, what is open of the target's function.
    outputs: Vec<OpenOutput>,
}

/// What is open of an output's function.
#[derive(Debug)]
struct OpenOutput {
    /// The variances of independent parts of the function.
    variances: Vec<f64>,
    noise: f64,
    freedom: f64,
}

impl FamilyForecaster {
    /// Takes what was learnt from some data: the model of families, and what the guard made of it for targets that have rows,
    /// found by their names. What is open of a target that the guard has nothing for is what its family and its rows leave.
    ///
    /// # Errors
    /// Too few draws, a target that the data do not have or that no source task is related to, or families on a network,
    /// whose functions have no covariance on the features.
    pub fn new(
        data: &TaskData,
        model: &Model,
        choices: &[AveragedPredictor],
        targets: Vec<ForecastTargetTask>,
        draws: (usize, u64),
    ) -> Result<Self> {
        too_few_draws(draws.0)?;
        let hierarchies = model.structure.hierarchical_models().to_vec();
        let expected = Expected::of(data)?;
        let target = |task: ForecastTargetTask| {
            let index = task.index;
            let Some(entry) = data.targets().get(index) else {
                return Err(unknown_target(index, data.targets().len()));
            };
            let choice = choices.iter().find(|choice| choice.target == entry.name);
            let root = expected.input_root(index)?;
            let open = |hierarchy: &HierarchicalModel| {
                let output = hierarchy.output;
                match choice.and_then(|choice| choice.posteriors.get(output)) {
                    Some(posterior) => OpenOutput::of(posterior, &root),
                    None => open_by_family(data, hierarchy, (index, choice.is_some()), &root),
                }
            };
            Ok(Target {
                features: entry.features.clone(),
                rows: data.target_rows(index),
                outputs: hierarchies.iter().map(open).collect::<Result<_>>()?,
                task,
            })
        };
        Ok(Self {
            targets: targets.into_iter().map(target).collect::<Result<_>>()?,
            sources: known_sources(data),
            hierarchies,
            draws,
        })
    }

    /// The loss over all targets by their shares, and that of each, once some further rows have come.
    ///
    /// # Errors
    /// Rows of tasks or targets that do not fit, or a breakdown of the numerics.
    pub fn overall_and_target_losses(
        &self,
        further: &PlannedRows,
    ) -> Result<(Interval, Vec<Interval>)> {
        let known = |index: &usize| self.targets.iter().any(|one| one.task.index == *index);
        if let Some((index, _)) = further.targets.iter().find(|(index, _)| !known(index)) {
            return Err(unknown_target(*index, self.targets.len()));
        }
        let sources = self.with(further)?;
        let targets = self.targets.iter().enumerate();
        let draws = targets.map(|(place, target)| self.draws(place, target, &sources, further));
        let draws: Vec<Vec<f64>> = draws.collect::<Result<_>>()?;
        let total = |draw: usize| {
            let parts = self.targets.iter().zip(&draws);
            parts
                .map(|(target, one)| target.task.share * one[draw])
                .sum()
        };
        let all: Vec<f64> = (0..self.draws.0).map(total).collect();
        let each = draws.iter().map(|one| Interval::of(one)).collect();
        Ok((Interval::of(&all), each))
    }

    /// The source tasks with rows to come.
    fn with(&self, further: &PlannedRows) -> Result<Vec<SourceTaskWithRowLimit>> {
        let mut sources = self.sources.clone();
        let width = self.targets.first().map_or(0, |one| one.features.len());
        for (id, features, n) in &further.sources {
            Error::check_length("the task's features", width, features.len())?;
            match sources.iter_mut().find(|(known, _)| known == id) {
                Some((_, source)) => source.rows += n,
                None => sources.push((id.clone(), source(features, *n))),
            }
        }
        Ok(sources.into_iter().map(|(_, source)| source).collect())
    }

    /// The draws of a target's loss: its errors are normal, and how large they are is known as well as the noise.
    fn draws(
        &self,
        place: usize,
        target: &Target,
        sources: &[SourceTaskWithRowLimit],
        further: &PlannedRows,
    ) -> Result<Vec<f64>> {
        let own = further.targets.iter();
        let own = own.filter(|(index, _)| *index == target.task.index);
        let own: usize = own.map(|(_, n)| n).sum();
        let known: Vec<SourceTaskWithRowLimit> =
            self.sources.iter().map(|(_, one)| one.clone()).collect();
        let mut left = Vec::with_capacity(target.outputs.len());
        for (hierarchy, open) in self.hierarchies.iter().zip(&target.outputs) {
            let of = |sources: &[SourceTaskWithRowLimit]| {
                let place = (target.task.index, target.features.as_slice());
                expected_target_prediction_variance(hierarchy, place, sources, target.rows)
            };
            let ratio = match (of(sources)?, of(&known)?) {
                (Some(then), Some(now)) if now > 0.0 => (then / now).min(1.0),
                _ => 1.0,
            };
            left.push(open.after(ratio, own));
        }
        let one = |draw: usize| {
            let mut rng = derive(
                self.draws.1,
                Purpose::Forecast,
                &[draw as u64, 1 + place as u64],
            );
            let mut sum = 0.0;
            for (open, variances) in target.outputs.iter().zip(&left) {
                let chi = ChiSquared::new(open.freedom);
                let scale = chi.map_or(1.0, |chi| open.freedom / chi.sample(&mut rng));
                let squares = variances.iter().map(|variance| {
                    let z = normal(&mut rng);
                    variance * z * z
                });
                sum += scale * squares.sum::<f64>();
            }
            sum / left.len().max(1) as f64
        };
        Ok((0..self.draws.0).map(one).collect())
    }
}

/// What is open of a target's function by its family and its rows alone, which may be none.
fn open_by_family(
    data: &TaskData,
    hierarchy: &HierarchicalModel,
    (index, chosen): (usize, bool),
    root: &Mat<f64>,
) -> Result<OpenOutput> {
    let Some(columns) = hierarchy.feature_columns().filter(|_| !chosen) else {
        return Err(Error::State(
            "there is no forecast for families of tasks on a network: use features that are no network".into(),
        ));
    };
    let Some(prior) = hierarchy.prior(index) else {
        return Err(Error::State(format!(
            "no source task is related to the target `{}`, and it has no rows: tell the study some of its rows",
            data.targets()[index].name
        )));
    };
    let rows = hierarchy.target_statistics(data, index, |_| true)?;
    let posterior = prior.posterior(&rows, 0, 1.0)?;
    let root = Mat::from_fn(columns.len(), root.ncols(), |i, j| root[(columns[i], j)]);
    OpenOutput::of(&posterior, &root)
}

fn unknown_target(index: usize, count: usize) -> Error {
    Error::State(format!(
        "there is no target {index}: this study has {count}"
    ))
}

impl OpenOutput {
    fn of(posterior: &LinearPosterior, root: &Mat<f64>) -> Result<Self> {
        Error::check_length("the posterior", root.nrows(), posterior.mean.len())?;
        if !posterior.noise.is_finite() {
            return Err(Error::NotFinite {
                place: "the noise of a target's labels".into(),
                value: posterior.noise,
            });
        }
        let half = linalg::product(posterior.covariance.as_ref(), root.as_ref());
        let open = linalg::product(root.transpose(), half.as_ref());
        let (values, _) = linalg::eigen(open.as_ref(), "the uncertainty of a target's function")?;
        Ok(Self {
            variances: values.into_iter().map(|value| value.max(0.0)).collect(),
            noise: posterior.noise,
            freedom: posterior.degrees_of_freedom.max(LEAST_FREEDOM),
        })
    }

    /// The variances that are left where other tasks leave a part, and so many rows of the target come.
    fn after(&self, ratio: f64, rows: usize) -> Vec<f64> {
        let noise = self.noise.max(f64::MIN_POSITIVE);
        let left = |value: &f64| {
            let value = ratio * value;
            value / (1.0 + rows as f64 * value / noise)
        };
        self.variances.iter().map(left).collect()
    }
}

fn source(features: &[f64], rows: usize) -> SourceTaskWithRowLimit {
    SourceTaskWithRowLimit {
        features: features.to_vec(),
        rows,
        // Nothing is allocated here.
        capacity: 0,
    }
}

/// The source tasks that have given rows, each once.
fn known_sources(data: &TaskData) -> Vec<(TaskId, SourceTaskWithRowLimit)> {
    let mut known: Vec<(TaskId, SourceTaskWithRowLimit)> = Vec::new();
    let mut places: std::collections::HashMap<&TaskId, usize> = Default::default();
    for entry in data.sources() {
        let place = *places.entry(&entry.task.id).or_insert_with(|| {
            known.push((entry.task.id.clone(), source(&entry.features, 0)));
            known.len() - 1
        });
        known[place].1.rows += entry.statistics.count();
    }
    known
}
