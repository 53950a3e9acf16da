//! The pendulum as a world that a study collects from.
//!
//! Inputs are `(θ, θ̇)`, the label is the residual torque with noise. Rows come from one trajectory
//! of the random policy from rest, or from several if episodes have a length, let go at rest or
//! anywhere in a range of states.

use faer::{Mat, MatRef};
use rand_distr::{Distribution as _, StandardUniform};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::source::TaskSource;
use taskscout::space::Space;
use taskscout::task::Task;
use taskscout::train::Predictor;
use taskscout::{Error, Result};

use super::environment::{Environment, TASK_NAMES, breach, show};
use super::features::{TaskFeatures, space};
use super::motion::Motion;
use super::policy::{Policy, Sight};
use super::settings::{Settings, State, check_noise};
use super::simulate::{Course, Instant};

/// Rows on which a target's loss is measured.
const TEST_ROWS: usize = 20_000;

/// Widest ranges of starts, in radians and radians a second.
const MOST_START: [f64; 2] = [std::f64::consts::PI, 20.0];

/// The shape of a pendulum world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendulumConfig {
    /// `ψ_X`, of the two inputs `(θ, θ̇)`.
    pub input_features: FeatureMap,
    /// `ψ_W`.
    #[serde(default)]
    pub task_features: TaskFeatures,
    /// Standard deviation of the noise.
    #[serde(default = "default_noise")]
    pub noise: f64,
    /// The targets, as tasks inside the box `[−1, 1]^5`.
    pub targets: Vec<Vec<f64>>,
    /// Steps after which the pendulum starts again from a new position; never if not given.
    #[serde(default)]
    pub episode_steps: Option<usize>,
    /// How far from upright and at rest it is let go, uniformly, in radians and radians a second;
    /// upright and at rest if not given.
    #[serde(default)]
    pub start_range: [f64; 2],
}

fn default_noise() -> f64 {
    Settings::default().noise
}

/// A pendulum to learn from.
///
/// ```
/// use taskscout::features::FeatureMap;
/// use taskscout::rng::{Purpose, derive};
/// use taskscout::source::TaskSource as _;
/// use taskscout::task::Task;
/// use taskscout_worlds::pendulum::{Pendulum, PendulumConfig, TaskFeatures};
///
/// let mut world = Pendulum::new(PendulumConfig {
///     input_features: FeatureMap::fourier(2, 60, 1.0, 0)?,
///     task_features: TaskFeatures::Affine,
///     noise: 0.5,
///     targets: vec![vec![0.0, 0.0, 1.0, 0.5, 0.0]],
///     episode_steps: None,
///     start_range: [0.0, 0.0],
/// })?;
/// let mut rng = derive(0, Purpose::Collect, &[0, 0, 0]);
/// let rows = world.sample(&Task::point(vec![0.5, 0.0, 0.0, 0.0, 0.0]), 100, &mut rng)?;
/// assert_eq!((rows.len(), rows.input_dim()), (100, 2));
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pendulum {
    config: PendulumConfig,
    space: Space,
    task_features: FeatureMap,
    targets: Vec<Target>,
}

/// A target with what its loss is measured on.
#[derive(Debug, Clone)]
struct Target {
    environment: Environment,
    features: Mat<f64>,
    labels: Vec<f64>,
}

impl Pendulum {
    /// Rows on which a target's loss is measured.
    pub const TEST_ROWS: usize = TEST_ROWS;

    /// Makes a world.
    ///
    /// # Errors
    /// Settings out of range, such as a target outside the box.
    pub fn new(config: PendulumConfig) -> Result<Self> {
        check(&config)?;
        let target = |task: &Vec<f64>| Target::new(task, &config);
        let targets: Vec<Result<Target>> = config.targets.par_iter().map(target).collect();
        Ok(Self {
            space: space()?,
            task_features: config.task_features.map()?,
            targets: targets.into_iter().collect::<Result<_>>()?,
            config,
        })
    }

    /// The world's settings.
    #[must_use]
    pub fn config(&self) -> &PendulumConfig {
        &self.config
    }

    /// Where source tasks live.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// `ψ_W`.
    #[must_use]
    pub fn task_features(&self) -> &FeatureMap {
        &self.task_features
    }

    /// The conditions of a target.
    ///
    /// # Errors
    /// A target that is not there.
    pub fn target_environment(&self, index: usize) -> Result<&Environment> {
        Ok(&self.target(index)?.environment)
    }

    /// Goes on with a trajectory of a task: `n` rows from where `motion` stands, which is at the
    /// last row's end afterwards.
    ///
    /// A collection that comes in batches is one trajectory if each batch is given the motion that
    /// the last one left; begin with [`Motion::default`], which starts as the configuration says, or
    /// with [`Motion::new`] away from rest, which starts there.
    ///
    /// # Errors
    /// A task outside the box; a motion that runs away.
    pub fn sample_from(
        &self,
        task: &[f64],
        n: usize,
        motion: &mut Motion,
        rng: &mut Rng,
    ) -> Result<Samples> {
        draw(&Environment::from_task(task)?, &self.config, n, motion, rng)?.samples()
    }

    /// Collects samples of a target, from rest.
    ///
    /// # Errors
    /// A target that is not there; a motion that runs away.
    pub fn sample_target(&self, index: usize, n: usize, rng: &mut Rng) -> Result<Samples> {
        let environment = self.target_environment(index)?;
        draw(environment, &self.config, n, &mut Motion::default(), rng)?.samples()
    }

    /// Mean squared error of a predictor on a target's noise-free labels, at 20,000 states of the
    /// random policy that serve nothing else.
    ///
    /// # Errors
    /// A target that is not there; a predictor of other features or of several outputs.
    pub fn target_loss(&self, index: usize, predictor: &Predictor) -> Result<f64> {
        let target = self.target(index)?;
        let predictions = predictor.predict(target.features.as_ref())?;
        if predictions.len() != target.labels.len() {
            return Err(Error::State(format!(
                "the predictor has {} outputs, but a pendulum has one residual torque: fit it to that alone",
                predictor.coefficients.len()
            )));
        }
        let errors = predictions.iter().zip(&target.labels);
        let total: f64 = errors.map(|(a, b)| (a - b) * (a - b)).sum();
        Ok(total / target.labels.len() as f64)
    }

    fn target(&self, index: usize) -> Result<&Target> {
        self.targets.get(index).ok_or_else(|| {
            Error::State(format!(
                "there is no target {index}: the pendulum has {}, counted from 0",
                self.targets.len()
            ))
        })
    }
}

impl TaskSource for Pendulum {
    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
        self.sample_from(task, n, &mut Motion::default(), rng)
    }
}

impl Target {
    fn new(task: &[f64], config: &PendulumConfig) -> Result<Self> {
        let environment = Environment::from_task(task)?;
        // By the task, not by its place in the list: a target's loss is the same in any company.
        let key: Vec<u64> = task.iter().map(|w| (w + 0.0).to_bits()).collect();
        let mut rng = derive(0, Purpose::Test, &key);
        let mut motion = Motion::default();
        let rows = draw(&environment, config, TEST_ROWS, &mut motion, &mut rng)?;
        let map = &config.input_features;
        let mut features = vec![0.0; TEST_ROWS * map.dim()];
        map.apply(&rows.inputs, &mut features);
        Ok(Self {
            environment,
            features: MatRef::from_row_major_slice(&features, TEST_ROWS, map.dim()).to_owned(),
            labels: rows.residuals,
        })
    }
}

/// Rows of the random policy.
#[derive(Debug)]
struct Rows {
    inputs: Vec<f64>,
    residuals: Vec<f64>,
    labels: Vec<f64>,
    episodes: Vec<u64>,
}

impl Rows {
    fn samples(self) -> Result<Samples> {
        Samples::new(self.inputs, 2, self.labels, 1)?.with_episodes(self.episodes)
    }
}

fn draw(
    environment: &Environment,
    config: &PendulumConfig,
    n: usize,
    motion: &mut Motion,
    rng: &mut Rng,
) -> Result<Rows> {
    let settings = Settings {
        noise: config.noise,
        ..Settings::default()
    };
    let course = Course::new(environment, &settings, Policy::Random.pushes());
    let mut rows = Rows {
        inputs: Vec::with_capacity(2 * n),
        residuals: Vec::with_capacity(n),
        labels: Vec::with_capacity(n),
        episodes: Vec::with_capacity(n),
    };
    let torque = |sight: &Sight| Policy::Random.torque(sight);
    let length = config.episode_steps.unwrap_or(usize::MAX);
    let mut left = n;
    while left > 0 {
        if motion.step() >= length {
            motion.restart(release(config, rng));
        } else if *motion == Motion::default() {
            *motion = Motion::new(release(config, rng));
        }
        let steps = left.min(length - motion.step());
        course
            .run(motion, steps, rng, torque, |instant: &Instant| {
                rows.inputs
                    .extend([instant.angle_rad, instant.velocity_rad_s]);
                rows.residuals.push(instant.residual_nm);
                rows.labels.push(instant.label_nm);
            })
            .map_err(|runaway| runaway.error(&format!("task {}", show(&environment.task()))))?;
        left -= steps;
        rows.episodes.resize(n - left, motion.episode());
    }
    Ok(rows)
}

/// Where an episode begins.
fn release(config: &PendulumConfig, rng: &mut Rng) -> State {
    let [angle, velocity] = config.start_range;
    if angle.max(velocity) <= 0.0 {
        return State::default();
    }
    let mut within = |width: f64| {
        let share: f64 = StandardUniform.sample(rng);
        width * (2.0 * share - 1.0)
    };
    State {
        angle_rad: within(angle),
        velocity_rad_s: within(velocity),
    }
}

fn check(config: &PendulumConfig) -> Result<()> {
    let inputs = config.input_features.input_dim();
    if inputs != 2 {
        return Err(Error::setting(
            "input_features",
            format!("take {inputs} inputs, but a pendulum has two: its angle and its velocity"),
        ));
    }
    config.input_features.check_ready()?;
    check_noise(config.noise)?;
    if config.episode_steps == Some(0) {
        return Err(Error::setting(
            "episode_steps",
            "is 0: give at least 1, or leave it out for one long trajectory",
        ));
    }
    for (width, most) in config.start_range.iter().zip(MOST_START) {
        if !(0.0..=most).contains(width) {
            return Err(Error::setting(
                "start_range",
                format!("has a width of {width}: it must be from 0 to {most}"),
            ));
        }
    }
    for (index, task) in config.targets.iter().enumerate() {
        if task.len() != TASK_NAMES.len() {
            let problem = format!(
                "row {index} has {} values where {} are needed: {}",
                task.len(),
                TASK_NAMES.len(),
                TASK_NAMES.join(", ")
            );
            return Err(Error::setting("targets", problem));
        }
        if let Some(reason) = breach(task) {
            return Err(Error::setting("targets", format!("row {index}: {reason}")));
        }
    }
    Ok(())
}
