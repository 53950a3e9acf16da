//! An experiment that is ready to run: everything checked that can be checked without running.

mod need;
mod oracle;
mod study_config;

use taskscout::features::FeatureMap;
use taskscout::registry::Registry;

pub(crate) use study_config::{chooses_from_list, study_config};

use crate::config::ExperimentConfig;
use crate::error::{LabError, Result};
use crate::memory::Need;
use crate::names::WorldName;
use crate::options::ExperimentOptions;
use crate::record::{Contender, DISTRIBUTION, MEAN_TASK, Serves, Trial};
use crate::scenario::{Data, Presentation, Scenario, ScenarioTarget, Setup};
use crate::schedule::Rounds;
use crate::strategy_run::StrategyRun;
use crate::watch::Watcher;

/// An experiment that is ready to run.
pub(crate) struct Prepared {
    pub(crate) config: ExperimentConfig,
    pub(crate) scenario: Scenario,
    pub(crate) data: Box<dyn Data>,
    pub(crate) presentation: Box<dyn Presentation>,
    pub(crate) rounds: Rounds,
    pub(crate) contenders: Vec<Contender>,
    /// The memory that a run will take.
    pub(crate) need: Need,
    /// Trials at a time.
    pub(crate) jobs: usize,
    /// Who hears of the run.
    pub(crate) watch: Watcher,
}

/// What to do where memory is short.
const SMALLER: &str =
    "use fewer input features, task features or target samples, a smaller k, or fewer --jobs";

/// Applies the options and checks what comes of it.
pub(crate) fn prepare(
    config: ExperimentConfig,
    options: &ExperimentOptions,
    registry: &Registry,
    watch: &Watcher,
) -> Result<Prepared> {
    let config = config.with_options(options, registry)?;
    let places = config.places.clone();
    let prepared =
        checked(config, options, watch).map_err(|error| places.locate(error, options))?;
    for note in &prepared.config.left_aside {
        watch.note(&format!("note: {note}"));
    }
    Ok(prepared)
}

fn checked(
    config: ExperimentConfig,
    options: &ExperimentOptions,
    watch: &Watcher,
) -> Result<Prepared> {
    let own = config.world.need();
    own.check(SMALLER)?;
    let Setup {
        scenario,
        data,
        presentation,
    } = config.world.build(watch)?;
    if config.target.joint && scenario.targets.iter().any(|target| target.name.is_none()) {
        return Err(LabError::setting(
            "target.joint",
            "is true, but the world has a single target: leave it out",
        ));
    }
    check_distribution(&config, &scenario)?;
    let rounds = config.schedule.rounds(scenario.budget_unit)?;
    let strategies = config.strategies.iter().cloned().map(Contender::Strategy);
    let contenders = std::iter::once(Contender::TargetOnly)
        .chain(strategies)
        .chain(
            scenario
                .can_sample_targets()
                .then_some(Contender::TargetData),
        )
        .collect();
    let mut prepared = Prepared {
        need: Need::default(),
        jobs: 1,
        rounds,
        contenders,
        scenario,
        data,
        presentation,
        config,
        watch: watch.clone(),
    };
    prepared.check_samples()?;
    if options.save_models {
        prepared.check_savable()?;
    }
    (prepared.jobs, prepared.need) = need::of(&prepared, options, &own)?;
    prepared.need.check(SMALLER)?;
    prepared.check_related()?;
    for run in &prepared.config.strategies {
        prepared.check(run)?;
    }
    Ok(prepared)
}

/// Checks that there is a distribution where one is asked for, and samples of all its members.
fn check_distribution(config: &ExperimentConfig, scenario: &Scenario) -> Result<()> {
    if !config.target.distribution {
        return Ok(());
    }
    let refuse = |key: &str, problem: String| Err(LabError::setting(key, problem));
    if !config.world.has_distribution() {
        return refuse(
            "target.distribution",
            "is true, but only synthetic worlds with `targets` have a distribution of targets: leave it out, or say how many there are".into(),
        );
    }
    if config.target.joint {
        return refuse(
            "target.joint",
            "is true beside `distribution`, which is one study already: leave one of them out"
                .into(),
        );
    }
    let (samples, members) = (config.target.samples, scenario.targets.len());
    if samples < LEAST_SHARE * members {
        return refuse(
            "target.samples",
            format!(
                "is {samples}, but the distribution has {members} members and each of them needs a head of its own: give at least {}",
                LEAST_SHARE * members
            ),
        );
    }
    Ok(())
}

/// Samples of a distribution for each of its members, at least.
const LEAST_SHARE: usize = 2;

impl Prepared {
    /// What results are about, by name and in their order: the targets, or their distribution and its mean.
    pub(crate) fn judged_on(&self) -> Vec<Option<String>> {
        if self.config.target.distribution {
            return [DISTRIBUTION, MEAN_TASK]
                .map(|name| Some(name.to_owned()))
                .to_vec();
        }
        let targets = self.scenario.targets.iter();
        targets.map(|target| target.name.clone()).collect()
    }

    /// Every trial. Seeds outermost, then targets: a run that is stopped has whole comparisons.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        let seeds = self.config.seed..self.config.seed + self.config.seeds;
        let mut trials = Vec::new();
        for seed in seeds {
            for serves in self.served() {
                let of_seed = |contender: &Contender| Trial {
                    contender: contender.clone(),
                    seed,
                    serves: serves.clone(),
                };
                trials.extend(self.contenders.iter().map(of_seed));
            }
        }
        trials
    }

    /// One study for each target, or one for all of them.
    fn served(&self) -> Vec<Serves> {
        let count = self.scenario.targets.len();
        if self.config.target.distribution {
            return vec![Serves::Distribution { count }];
        }
        if self.config.target.joint {
            return vec![Serves::Joint { count }];
        }
        let one = |(index, target): (usize, &ScenarioTarget)| match target.name.clone() {
            Some(name) => Serves::One { index, name },
            None => Serves::Unnamed,
        };
        self.scenario.targets.iter().enumerate().map(one).collect()
    }

    /// Checks that the targets have as many rows as the learner is to have of them.
    fn check_samples(&self) -> Result<()> {
        let samples = self.config.target.samples;
        for target in &self.scenario.targets {
            let Some(rows) = target.rows.filter(|&rows| rows < samples) else {
                continue;
            };
            return Err(LabError::setting(
                "target.samples",
                format!(
                    "is {samples}, but {} has {rows} rows to learn from: ask for fewer",
                    target.name.as_deref().unwrap_or("the target"),
                ),
            ));
        }
        Ok(())
    }

    /// Checks that models can be saved: the code of features of the user's own cannot.
    fn check_savable(&self) -> Result<()> {
        let FeatureMap::Custom(own) = &self.scenario.input_features else {
            return Ok(());
        };
        Err(LabError::Input(format!(
            "--save-models cannot save models with the registered input features `{}`, because a file cannot hold their code: leave out --save-models, or use features of the library",
            own.name()
        )))
    }

    /// Checks that something is known of targets, where learning starts from it.
    fn check_related(&self) -> Result<()> {
        let hidden = self
            .scenario
            .targets
            .iter()
            .any(|target| target.known.is_none());
        if !hidden || !self.config.learner.samples_related() {
            return Ok(());
        }
        let remedy = match self.config.world.name() == WorldName::Logs {
            true => "use --task-features wind, or another --oracle such as exact",
            false => "use another --oracle such as exact",
        };
        let path = match self.config.world.name() == WorldName::Logs {
            true => "world.task_features",
            false => "learner.oracle",
        };
        Err(LabError::about(
            path,
            format!(
                "the oracle pooled needs targets with known task features, but here these are hidden: {remedy}"
            ),
        ))
    }

    /// Checks what a strategy asks of learner and schedule.
    fn check(&self, run: &StrategyRun) -> Result<()> {
        let served = if self.config.target.together() {
            0..self.scenario.targets.len()
        } else {
            0..1
        };
        let bad = |error| LabError::in_table("learner", &format!("with strategy {run}, "), error);
        let study = study_config(self, run, served, self.config.seed).map_err(bad)?;
        study.validate().map_err(bad)?;
        let budgets = &self.rounds.budgets;
        let spread = match run {
            // Every round of a passive strategy spreads over the space, the first of an active one.
            StrategyRun::BuiltIn { kind, .. } if kind.is_active() => 1,
            StrategyRun::BuiltIn { .. } => budgets.len(),
            // What a registered one needs, it says itself.
            StrategyRun::Own(_) => 0,
        };
        let least = self.scenario.least_budget;
        let too_small = |&budget: &usize| budget < least;
        let short = budgets.iter().take(spread).position(too_small);
        short.map_or(Ok(()), |round| {
            Err(LabError::setting(
                "schedule",
                format!(
                    "gives round {round} a budget of {} samples, but {run} needs at least {least}: raise the budget",
                    budgets[round]
                ),
            ))
        })
    }
}
