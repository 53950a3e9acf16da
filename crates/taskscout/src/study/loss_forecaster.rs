//! Who predicts losses: embeddings where there are some, or families of tasks.

use std::sync::Arc;

use faer::Mat;
use rand::Rng as _;

use super::Study;
use crate::error::{Error, Result};
use crate::features::Features as _;
use crate::forecast::{FamilyForecaster, ForecastTargetTask, Forecaster, Interval, PlannedRows};
use crate::model::{AnyRepresentation, Model};
use crate::rng::{Purpose, derive};
use crate::target::{Target, TargetParameters};
use crate::train::{TargetOnlyCache, TrainContext};

/// Predicts losses from what a study has.
pub(super) enum LossForecaster {
    Embeddings(Box<Forecaster>),
    Families(FamilyForecaster),
}

impl LossForecaster {
    /// The loss over all targets by their shares, and that of each, once some further rows have come.
    pub(super) fn overall_and_target_losses(
        &self,
        further: &PlannedRows,
    ) -> Result<(Interval, Vec<Interval>)> {
        match self {
            Self::Embeddings(forecaster) => forecaster.overall_and_target_losses(further),
            Self::Families(forecaster) => forecaster.overall_and_target_losses(further),
        }
    }
}

impl Study {
    /// What the model of this study can be forecast with.
    pub(super) fn loss_forecaster(&self, draws: usize) -> Result<LossForecaster> {
        self.check_forecast()?;
        let targets = self.forecast_targets()?;
        let model = self.model()?;
        if model.structure.is_hierarchical() {
            return self.family_forecaster(&model, targets, draws);
        }
        let mut forecaster = self.forecaster_of(targets, draws)?;
        let network = matches!(model.representation, AnyRepresentation::Mlp(_));
        if network || !self.config.input_features.is_identity() {
            forecaster = forecaster.with_approximate_features()?;
        }
        let rows = network && self.data.keeps_rows();
        if let Some(fits) = rows
            .then(|| self.fits_of_halves(model.dim()))
            .transpose()?
            .flatten()
        {
            forecaster = forecaster.compare_halves(&self.data, &fits)?;
        }
        Ok(LossForecaster::Embeddings(Box::new(forecaster)))
    }

    /// A forecaster by the families of tasks; the guard can only choose where all targets have rows.
    fn family_forecaster(
        &self,
        model: &Model,
        targets: Vec<ForecastTargetTask>,
        draws: usize,
    ) -> Result<LossForecaster> {
        let all = self.config.targets.iter();
        let distribution =
            |target: &&Target| matches!(target.kind, TargetParameters::Distribution { .. });
        if let Some(target) = all.clone().find(distribution) {
            return Err(Error::State(format!(
                "there is no forecast for the distribution of targets `{}` with families of tasks: name its members as targets, or use the oracle `exact`",
                target.name
            )));
        }
        let told = (0..self.config.targets.len()).all(|index| self.data.target_rows(index) > 0);
        let choices = if told { Some(self.predictors()?) } else { None };
        let choices = choices.as_deref().map_or(&[][..], Vec::as_slice);
        let draws = (draws, self.config.seed);
        let families = FamilyForecaster::new(&self.data, model, choices, targets, draws)?;
        Ok(LossForecaster::Families(families))
    }

    fn check_forecast(&self) -> Result<()> {
        if self.data.source_rows() == 0 {
            return Err(Error::State(
                "a forecast needs a model: tell the study samples of source tasks first".into(),
            ));
        }
        Ok(())
    }

    /// A forecaster by the embeddings of tasks.
    pub(super) fn embedding_forecaster(&self, draws: usize) -> Result<Forecaster> {
        self.check_forecast()?;
        self.forecaster_of(self.forecast_targets()?, draws)
    }

    fn forecaster_of(&self, targets: Vec<ForecastTargetTask>, draws: usize) -> Result<Forecaster> {
        let model = self.model()?;
        Forecaster::new(&self.data, &model, targets, draws, self.config.seed)
    }

    /// Two models that were trained apart, each on half of the rows; kept until other rows come. None where a half has too little to
    /// learn from.
    fn fits_of_halves(&self, k: usize) -> Result<Option<Arc<[Model; 2]>>> {
        self.cache.halves.get(self.data.version(), || {
            let trainer = self.config.oracle.trainer()?;
            let halves = self.data.halves()?;
            if halves.iter().any(|half| half.source_rows() == 0) {
                return Ok(None);
            }
            let fit = |which: usize| {
                let mut rng = derive(self.config.seed, Purpose::Forecast, &[which as u64]);
                let context = TrainContext {
                    k: Some(k),
                    seed: rng.next_u64(),
                    warm_start: None,
                    target_only_cache: TargetOnlyCache::default(),
                    ..self.train_context(false)
                };
                trainer.model(&halves[which], &context)
            };
            match rayon::join(|| fit(0), || fit(1)) {
                (Ok(first), Ok(second)) => Ok(Some(Arc::new([first, second]))),
                (Err(Error::Diverged { .. }), _) | (_, Err(Error::Diverged { .. })) => Ok(None),
                (Err(error), _) | (_, Err(error)) => Err(error),
            }
        })
    }

    /// The targets as a forecast sees them.
    fn forecast_targets(&self) -> Result<Vec<ForecastTargetTask>> {
        let targets = &self.config.targets;
        if targets.is_empty() {
            return Err(Error::State(
                "a forecast needs a target: name one, or look at the model's own report".into(),
            ));
        }
        let total: f64 = targets.iter().map(|target| target.weight).sum();
        let width = self.data.task_dim();
        let seen = |(index, target): (usize, &Target)| {
            let share = target.weight / total;
            if let TargetParameters::Distribution {
                second_moment: moment,
            } = &target.kind
            {
                let entry = |i: usize, j: usize| moment.get(i).and_then(|row| row.get(j));
                return Ok(ForecastTargetTask {
                    second_moment: Mat::from_fn(width, width, |i, j| {
                        entry(i, j).copied().unwrap_or(0.0)
                    }),
                    share,
                    index,
                });
            }
            if target.has_own_task_feature() && self.data.target_rows(index) == 0 {
                return Err(Error::State(format!(
                    "nothing is known of the target `{}`: tell the study some of its samples before asking for a forecast",
                    target.name
                )));
            }
            let features = &self.data.targets()[index].features;
            Ok(ForecastTargetTask::task(index, features, share))
        };
        targets.iter().enumerate().map(seen).collect()
    }
}
