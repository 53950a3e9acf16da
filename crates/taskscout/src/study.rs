//! The loop: `ask → collect → tell → ask …`.
//!
//! A [`Study`] is a pure, serialisable state machine. It does no input or output and owns no clock,
//! so the same study drives a simulator, a wind tunnel and a test. It holds its configuration, its
//! plans and the statistics of what came back, never a model: models are derived from the data and
//! cached under the version of the data that they came from.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use faer::Mat;
use serde::{Deserialize, Serialize};

use crate::data::{Samples, Stage, TargetRows, TaskData};
use crate::design::Design;
use crate::error::{Error, Result};
use crate::features::{FeatureMap, Features as _, apply_row};
use crate::linalg;
use crate::model::Model;
use crate::space::{Space, TaskSpace as _};
use crate::strategy::{Knowledge, Plan, PlanContext, PlanItem, StrategyConfig, WarmUp};
use crate::target::{Target, TargetKind};
use crate::train::{Choice, Exact, TrainContext, Trainer, guard};

/// All settings of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyConfig {
    /// Where source tasks may be chosen.
    pub space: Space,
    /// `ψ_W`, the features of a task.
    pub task_features: FeatureMap,
    /// `ψ_X`, the features of an input.
    pub input_features: FeatureMap,
    /// Outputs of a sample.
    #[serde(default = "one")]
    pub outputs: usize,
    /// The tasks we care about.
    pub targets: Vec<Target>,
    /// Dimension of the representation; from the data if not given.
    #[serde(default)]
    pub k: Option<usize>,
    /// How tasks are chosen.
    pub strategy: StrategyConfig,
    /// When the warm-up ends.
    #[serde(default)]
    pub warm_up: WarmUp,
    /// Let the model that picks tasks learn from warm-up and exploration only, which keeps it
    /// stable when the features cannot express the truth.
    #[serde(default)]
    pub stable_model: bool,
    /// The training oracle.
    #[serde(default)]
    pub oracle: Oracle,
    /// The seed that all draws derive from.
    #[serde(default)]
    pub seed: u64,
}

fn one() -> usize {
    1
}

/// The training oracles that a study can be configured with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Oracle {
    /// Regularised joint least squares on statistics.
    Exact(Exact),
}

impl Default for Oracle {
    fn default() -> Self {
        Self::Exact(Exact::default())
    }
}

impl Oracle {
    fn trainer(&self) -> &dyn Trainer {
        match self {
            Self::Exact(exact) => exact,
        }
    }
}

impl StudyConfig {
    /// A study of one output with identity task features and defaults for all else.
    ///
    /// # Errors
    /// A space without parameters.
    pub fn new(
        space: Space,
        input_features: FeatureMap,
        targets: Vec<Target>,
        strategy: StrategyConfig,
    ) -> Result<Self> {
        Ok(Self {
            task_features: FeatureMap::identity(space.dim())?,
            space,
            input_features,
            outputs: 1,
            targets,
            k: None,
            strategy,
            warm_up: WarmUp::default(),
            stable_model: false,
            oracle: Oracle::default(),
            seed: 0,
        })
    }

    /// Task features of a source, without targets' own coordinates.
    #[must_use]
    pub fn source_features(&self) -> usize {
        self.task_features.dim()
    }

    /// Checks all settings against each other.
    ///
    /// # Errors
    /// The first setting that does not fit, by its key.
    pub fn validate(&self) -> Result<()> {
        self.task_features.check_ready()?;
        self.input_features.check_ready()?;
        if self.task_features.input_dim() != self.space.dim() {
            return Err(Error::setting(
                "task_features",
                format!(
                    "take {} parameters, but tasks of the space have {}",
                    self.task_features.input_dim(),
                    self.space.dim()
                ),
            ));
        }
        if self.outputs == 0 {
            return Err(Error::setting(
                "outputs",
                "is 0: a sample needs at least one output",
            ));
        }
        if self.outputs > 1 && self.strategy.kind.is_active() {
            return Err(Error::setting(
                "outputs",
                "is above 1, which active strategies cannot plan for: use `passive`",
            ));
        }
        if self.targets.is_empty() {
            return Err(Error::setting(
                "targets",
                "is empty: name at least one task that you care about",
            ));
        }
        for (index, target) in self.targets.iter().enumerate() {
            if self.targets[..index]
                .iter()
                .any(|other| other.name == target.name)
            {
                return Err(Error::setting(
                    "targets",
                    format!("has two named `{}`: give each its own name", target.name),
                ));
            }
            target.validate(self.space.dim(), self.source_features())?;
        }
        let limit = self
            .input_features
            .dim()
            .min(self.outputs * self.task_dim());
        if self.k.is_some_and(|k| k == 0 || k > limit) {
            return Err(Error::setting(
                "k",
                format!(
                    "is {}: it must be from 1 to {limit}, the smaller number of features",
                    self.k.unwrap_or(0)
                ),
            ));
        }
        Ok(())
    }

    /// Task features with targets' own coordinates.
    fn task_dim(&self) -> usize {
        self.source_features()
            + self
                .targets
                .iter()
                .filter(|target| target.has_own_coordinate())
                .count()
    }

    /// `ψ_W` of a source task, with zeros for targets' own coordinates.
    fn features_of(&self, task: &[f64]) -> Vec<f64> {
        let mut features = apply_row(&self.task_features, task);
        features.resize(self.task_dim(), 0.0);
        features
    }

    /// Task features of a target: its own coordinate, or `ψ_W(w)`.
    fn target_features(&self, index: usize) -> Vec<f64> {
        match &self.targets[index].kind {
            TargetKind::Known { task } => self.features_of(task),
            TargetKind::SecondMoment { .. } => vec![0.0; self.task_dim()],
            TargetKind::Unknown => {
                let before = self.targets[..index]
                    .iter()
                    .filter(|target| target.has_own_coordinate())
                    .count();
                let mut features = vec![0.0; self.task_dim()];
                features[self.source_features() + before] = 1.0;
                features
            }
        }
    }
}

/// How far the collection of a plan item has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Progress {
    /// Asked for; `collected` samples have come back.
    Open {
        /// Samples so far.
        collected: usize,
    },
    /// All samples have come back.
    Done,
    /// Given up; what had come back is kept.
    Failed {
        /// Samples that had come back.
        collected: usize,
        /// Why.
        reason: String,
    },
}

/// A plan item and how far it has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrackedItem {
    /// The item.
    pub item: PlanItem,
    /// The round it belongs to.
    pub round: usize,
    /// How far it has come.
    pub progress: Progress,
}

/// A collection campaign: ask for a plan, tell what came back, ask again.
///
/// ```
/// use taskscout::features::FeatureMap;
/// use taskscout::source::TaskSource;
/// # use taskscout::data::Samples;
/// use taskscout::space::Space;
/// use taskscout::strategy::{StrategyConfig, StrategyKind};
/// use taskscout::study::{Study, StudyConfig};
/// use taskscout::target::Target;
/// # use rand_distr::{Distribution, StandardNormal};
/// # use taskscout::rng::{derive, Purpose, Rng};
/// # struct Tunnel;
/// # impl TaskSource for Tunnel {
/// #     fn sample(&mut self, task: &[f64], n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
/// #         let x: Vec<f64> = (0..3 * n).map(|_| StandardNormal.sample(rng)).collect();
/// #         let c = task[0] + 0.5 * task[1];
/// #         let y = x.chunks(3).map(|row| c * (row[0] - row[2])).collect();
/// #         Samples::new(x, 3, y, 1)
/// #     }
/// # }
/// # let mut tunnel = Tunnel;
/// # let mut rng = derive(0, Purpose::Collect, &[]);
/// let mut study = Study::new(StudyConfig {
///     k: Some(1),
///     ..StudyConfig::new(
///         Space::ball(4, 1.0)?,
///         FeatureMap::identity(3)?,
///         vec![Target::unknown("tomorrow")],
///         StrategyConfig::new(StrategyKind::Aware),
///     )?
/// })?;
/// study.tell_target(0, &tunnel.sample(&[0.6, 0.8, 0.0, 0.0], 40, &mut rng)?)?;
/// for _round in 0..2 {
///     let plan = study.ask(200)?;
///     for item in &plan.items {
///         study.tell(item.id, &tunnel.sample(&item.task, item.n, &mut rng)?)?;
///     }
/// }
/// let choice = &study.predictors()?[0];
/// println!("{}: {}", choice.target, choice.reason);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Study {
    config: StudyConfig,
    data: TaskData,
    items: Vec<TrackedItem>,
    rounds: usize,
    exploration: Option<Design>,
    #[serde(skip)]
    cache: Cache,
}

/// A study as a file has it, not checked yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    config: StudyConfig,
    data: TaskData,
    items: Vec<TrackedItem>,
    rounds: usize,
    exploration: Option<Design>,
}

impl TryFrom<Raw> for Study {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        let empty = Self::new(raw.config)?;
        let (ours, theirs) = (&empty.data, &raw.data);
        Error::check_length(
            "the data's features",
            ours.feature_dim(),
            theirs.feature_dim(),
        )?;
        Error::check_length("the data's outputs", ours.outputs(), theirs.outputs())?;
        Error::check_length(
            "the data's task features",
            ours.task_dim(),
            theirs.task_dim(),
        )?;
        Error::check_length(
            "the data's targets",
            ours.targets().len(),
            theirs.targets().len(),
        )?;
        theirs.validate()?;
        if let Some((index, _)) = raw
            .items
            .iter()
            .enumerate()
            .find(|(index, item)| item.item.id != *index as u64)
        {
            return Err(Error::State(format!(
                "item {index} of the study has another number: the file is damaged"
            )));
        }
        Ok(Self {
            data: raw.data,
            items: raw.items,
            rounds: raw.rounds,
            exploration: raw.exploration,
            ..empty
        })
    }
}

/// Models by the version of the data; empty in a clone and after loading.
#[derive(Debug, Default)]
struct Cache(Mutex<Vec<(u64, bool, Arc<Model>)>>);

impl Clone for Cache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Study {
    /// Starts a study.
    ///
    /// # Errors
    /// A setting that does not fit.
    pub fn new(config: StudyConfig) -> Result<Self> {
        config.validate()?;
        let mut data = TaskData::new(
            config.input_features.dim(),
            config.outputs,
            config.task_dim(),
        );
        for (index, target) in config.targets.iter().enumerate() {
            data.add_target(&target.name, config.target_features(index))?;
        }
        Ok(Self {
            config,
            data,
            items: Vec::new(),
            rounds: 0,
            exploration: None,
            cache: Cache::default(),
        })
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &StudyConfig {
        &self.config
    }

    /// What has come back so far, as statistics.
    #[must_use]
    pub fn data(&self) -> &TaskData {
        &self.data
    }

    /// Every item ever planned, and how far it has come.
    #[must_use]
    pub fn items(&self) -> &[TrackedItem] {
        &self.items
    }

    /// Rounds planned so far.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Plans the collection of `budget` samples.
    ///
    /// # Errors
    /// Items of the last plan that are still open, a budget too small for the tasks, or too little
    /// data to plan with.
    pub fn ask(&mut self, budget: usize) -> Result<Plan> {
        if let Some(open) = self
            .items
            .iter()
            .find(|item| matches!(item.progress, Progress::Open { .. }))
        {
            return Err(Error::State(format!(
                "item {} of round {} is still open: tell its samples, or fail it, before asking again",
                open.item.id, open.round
            )));
        }
        if budget == 0 {
            return Err(Error::setting(
                "budget",
                "is 0: ask for at least one sample",
            ));
        }
        let strategy = self.config.strategy.build();
        let warming_up = strategy.needs_model() && self.warming_up()?;
        let model = if strategy.needs_model() && !warming_up {
            Some(self.planning_model()?)
        } else {
            None
        };
        let knowledge = match &model {
            Some(model) => Some(self.knowledge(model)?),
            None => None,
        };
        let decision = strategy.plan(&PlanContext {
            space: &self.config.space,
            features: &self.config.task_features,
            round: self.rounds,
            budget,
            seed: self.config.seed,
            warming_up,
            active_rounds: self.active_rounds(),
            knowledge,
            exploration: self.exploration.as_ref(),
        })?;
        let first = self.items.len() as u64;
        let items: Vec<PlanItem> = decision
            .items
            .into_iter()
            .zip(first..)
            .map(|(item, id)| PlanItem { id, ..item })
            .collect();
        let plan = Plan {
            round: self.rounds,
            items,
        };
        if decision.exploration.is_some() {
            self.exploration = decision.exploration;
        }
        let track = |item: &PlanItem| TrackedItem {
            item: item.clone(),
            round: plan.round,
            progress: Progress::Open { collected: 0 },
        };
        self.items.extend(plan.items.iter().map(track));
        self.rounds += 1;
        Ok(plan)
    }

    /// Whether the next round still belongs to the warm-up. Once ended, it does not come back.
    fn warming_up(&self) -> Result<bool> {
        if self.data.source_rows() == 0 {
            return Ok(true);
        }
        let ended = self
            .items
            .iter()
            .any(|item| item.item.stage != Stage::WarmUp);
        match self.config.warm_up {
            WarmUp::Rounds { rounds } => Ok(self.rounds < rounds),
            WarmUp::Evidence { max_rounds } => {
                Ok(!ended && self.rounds < max_rounds && !self.last_direction_is_real()?)
            }
        }
    }

    /// Rounds since the warm-up ended.
    fn active_rounds(&self) -> usize {
        let rounds: std::collections::BTreeSet<usize> = self
            .items
            .iter()
            .filter(|item| item.item.stage != Stage::WarmUp)
            .map(|item| item.round)
            .collect();
        rounds.len()
    }

    /// Whether the data prefer the model's `k` directions to one fewer.
    fn last_direction_is_real(&self) -> Result<bool> {
        let model = self.planning_model()?;
        if model.dim() == 1 {
            return Ok(true);
        }
        let fewer = TrainContext {
            k: Some(model.dim() - 1),
            ..self.train_context(self.config.stable_model)
        };
        let smaller = self.config.oracle.trainer().fit(&self.data, &fewer)?;
        Ok(model.report.evidence > smaller.report.evidence)
    }

    /// Takes raw samples of a plan item, all at once or batch by batch. Either all rows of a batch
    /// are taken or none.
    ///
    /// # Errors
    /// An item that is unknown or closed, more samples than were asked for, or rows that do not fit.
    pub fn tell(&mut self, item: u64, samples: &Samples) -> Result<()> {
        let (index, collected) = self.open_item(item)?;
        if samples.is_empty() {
            return Ok(());
        }
        let tracked = &self.items[index];
        let (asked, total) = (tracked.item.n, collected + samples.len());
        if total > asked {
            return Err(Error::State(format!(
                "item {item} asked for {asked} samples, but {total} were told: tell the surplus as another item"
            )));
        }
        let rows = self.featurise(samples)?;
        let features = self.config.features_of(&tracked.item.task);
        let (stage, round) = (tracked.item.stage, tracked.round);
        self.data
            .add(&self.items[index].item.task, &features, stage, round, &rows)?;
        self.items[index].progress = if total == asked {
            Progress::Done
        } else {
            Progress::Open { collected: total }
        };
        Ok(())
    }

    /// Gives a plan item up; what had come back is kept.
    ///
    /// # Errors
    /// An item that is unknown or closed.
    pub fn fail(&mut self, item: u64, reason: &str) -> Result<()> {
        let (index, collected) = self.open_item(item)?;
        self.items[index].progress = Progress::Failed {
            collected,
            reason: reason.to_owned(),
        };
        Ok(())
    }

    fn open_item(&self, id: u64) -> Result<(usize, usize)> {
        let index = usize::try_from(id)
            .ok()
            .filter(|&index| index < self.items.len());
        let Some(index) = index else {
            return Err(Error::State(format!(
                "there is no item {id}: items so far are 0 to {}",
                self.items.len().saturating_sub(1)
            )));
        };
        match &self.items[index].progress {
            Progress::Open { collected } => Ok((index, *collected)),
            Progress::Done => Err(Error::State(format!(
                "item {id} is complete: it takes no more samples"
            ))),
            Progress::Failed { reason, .. } => Err(Error::State(format!(
                "item {id} was given up ({reason}): ask for a new plan"
            ))),
        }
    }

    /// Takes raw samples of a target.
    ///
    /// # Errors
    /// A target that is unknown or a mere distribution, or rows that do not fit.
    pub fn tell_target(&mut self, target: usize, samples: &Samples) -> Result<()> {
        if self
            .config
            .targets
            .get(target)
            .is_some_and(|target| !target.has_samples())
        {
            return Err(Error::State(format!(
                "target `{}` is a distribution over tasks: it has no samples of its own",
                self.config.targets[target].name
            )));
        }
        let rows = self.featurise(samples)?;
        self.data.add_target_rows(target, &rows)
    }

    /// Applies `ψ_X`.
    fn featurise<'a>(&self, samples: &'a Samples) -> Result<Cow<'a, Samples>> {
        let map = &self.config.input_features;
        Error::check_length("an input row", map.input_dim(), samples.input_dim())?;
        Error::check_length("an output row", self.config.outputs, samples.output_dim())?;
        if map.is_identity() {
            return Ok(Cow::Borrowed(samples));
        }
        let mut features = vec![0.0; samples.len() * map.dim()];
        map.apply(samples.inputs(), &mut features);
        let rows = Samples::new(
            features,
            map.dim(),
            samples.outputs().to_vec(),
            samples.output_dim(),
        )?;
        let rows = match samples.episodes() {
            Some(episodes) => rows.with_episodes(episodes.to_vec())?,
            None => rows,
        };
        Ok(Cow::Owned(rows))
    }

    /// The model of everything told so far.
    ///
    /// # Errors
    /// Too little data, or a breakdown of the numerics.
    pub fn model(&self) -> Result<Arc<Model>> {
        self.cached(false, || {
            self.config
                .oracle
                .trainer()
                .fit(&self.data, &self.train_context(false))
        })
    }

    /// The model that picks tasks.
    fn planning_model(&self) -> Result<Arc<Model>> {
        if !self.config.stable_model {
            return self.model();
        }
        self.cached(true, || {
            self.config
                .oracle
                .trainer()
                .fit(&self.data, &self.train_context(true))
        })
    }

    fn train_context(&self, stable: bool) -> TrainContext {
        let stages = stable.then(|| vec![Stage::WarmUp, Stage::Explore]);
        TrainContext {
            k: self.config.k,
            stages,
            targets: TargetRows::All,
        }
    }

    /// The model kept for this version of the data, or a new one.
    fn cached(&self, stable: bool, fit: impl FnOnce() -> Result<Model>) -> Result<Arc<Model>> {
        let version = self.data.version();
        let mut cache = self
            .cache
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        cache.retain(|(known, _, _)| *known == version);
        if let Some((_, _, model)) = cache.iter().find(|(_, kind, _)| *kind == stable) {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(fit()?);
        cache.push((version, stable, Arc::clone(&model)));
        Ok(model)
    }

    /// The predictor of every target that has samples, chosen by the guard, with the reason.
    ///
    /// # Errors
    /// A target without samples, or a failing fit.
    pub fn predictors(&self) -> Result<Vec<Choice>> {
        let (model, folds) = self
            .config
            .oracle
            .trainer()
            .fit_with_folds(&self.data, &self.train_context(false))?;
        let model = self.cached(false, || Ok(model))?;
        let with_samples: Vec<usize> = (0..self.config.targets.len())
            .filter(|&target| self.config.targets[target].has_samples())
            .collect();
        guard::choose(&self.data, &model, &folds, &with_samples)
    }

    /// What a model says, in the terms that designs need.
    fn knowledge<'a>(&self, model: &'a Model) -> Result<Knowledge<'a>> {
        let k = model.dim();
        let (mut need, mut error, mut targets) = (Mat::<f64>::zeros(k, k), 0.0, Vec::new());
        let total: f64 = self.config.targets.iter().map(|target| target.weight).sum();
        for (index, target) in self.config.targets.iter().enumerate() {
            let weight = target.weight / total;
            if let TargetKind::SecondMoment { moment } = &target.kind {
                let map = model.map.source(0, self.config.source_features());
                let half = Mat::from_fn(map.ncols(), k, |i, j| {
                    (0..map.ncols()).map(|s| moment[i][s] * map[(j, s)]).sum()
                });
                need += faer::Scale(weight) * linalg::product(map, half.as_ref());
                continue;
            }
            let embedding = model
                .map
                .embedding(&self.data.targets()[index].features, 0)?;
            for i in 0..k {
                (0..k).for_each(|j| need[(i, j)] += weight * embedding[i] * embedding[j]);
            }
            error += weight * self.embedding_error(model, index)?;
            targets.push(embedding);
        }
        Ok(Knowledge {
            model,
            need: clip(&need, error)?,
            targets,
        })
    }

    /// Trace of the covariance of a target's estimated embedding, `σ² tr (B_Xᵀ G B_X)⁻¹`.
    fn embedding_error(&self, model: &Model, target: usize) -> Result<f64> {
        let rows = self.data.target_statistics(target, TargetRows::All)?;
        if rows.count() == 0 {
            return Ok(0.0);
        }
        let gram = rows.project(model.representation.matrix())?.gram_matrix();
        let (values, _) = linalg::eigen(gram.as_ref(), "the target's Gram matrix")?;
        // Directions that the target's rows do not show are left to the clipping of the others.
        let floor = 1e-9 * values.first().copied().unwrap_or(0.0);
        Ok(values
            .iter()
            .filter(|&&value| value > floor)
            .map(|value| model.noise / value)
            .sum())
    }
}

/// Drops eigenvalues of `A` below its own error, but the largest.
fn clip(need: &Mat<f64>, error: f64) -> Result<Mat<f64>> {
    let (values, vectors) = linalg::eigen(need.as_ref(), "the target moment")?;
    let mut out = Mat::zeros(need.nrows(), need.ncols());
    for (index, &value) in values.iter().enumerate() {
        if index > 0 && value <= error.max(1e-12 * values[0]) {
            break;
        }
        let vector = linalg::column(vectors.as_ref(), index);
        for (i, a) in vector.iter().enumerate() {
            for (j, b) in vector.iter().enumerate() {
                out[(i, j)] += value * a * b;
            }
        }
    }
    Ok(out)
}
