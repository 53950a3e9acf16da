//! Pendulums, simulated into one table.

use std::path::PathBuf;
use std::time::Instant;

use taskscout_models::SavedModel;
use taskscout_worlds::pendulum::{
    Environment, Policy, Settings, State, TASK_NAMES, columns, simulate_many,
};

use super::Tell;
use crate::error::{LabError, Result};
use crate::files::{check_free, writer};
use crate::memory::{NUMBER, Need};

/// Numbers of a row while it is simulated and written.
const ROW_NUMBERS: f64 = 24.0;
/// Most rows of one table: some gigabytes of memory.
const MAX_ROWS: usize = 50_000_000;

/// What controls a pendulum's torque.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyKind {
    /// Upright with random pushes, for collecting data.
    Random,
    /// The controller without a model.
    None,
    /// The controller that knows the true residual.
    True,
    /// The controller with a saved model.
    Model,
}

/// Pendulums to simulate, as a command line gives them.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedPendulum {
    /// The tasks, each five numbers separated by commas.
    pub tasks: Vec<String>,
    /// Steps of every task.
    pub steps: usize,
    /// The seed of all noise and pushes.
    pub seed: u64,
    /// What controls the torque; random, or the model if there is one, if not given.
    pub policy: Option<PolicyKind>,
    /// A saved model of the residual torque.
    pub model: Option<PathBuf>,
    /// Standard deviation of the noise.
    pub noise: f64,
    /// Length of a step in seconds.
    pub step_s: f64,
    /// Angle and velocity at the start, separated by a comma.
    pub start: String,
    /// Where the table goes.
    pub out: PathBuf,
    /// Whether a file that is there may be replaced.
    pub force: bool,
}

/// Simulates all tasks and writes one table; gives a sentence on what was done.
///
/// # Errors
/// Options that cannot be, a model of something else, a simulation that runs away, or a file that cannot be written.
pub fn simulate_pendulum(asked: &AskedPendulum, tell: Tell<'_>) -> Result<String> {
    let write = writer(&asked.out)?;
    check_free(&asked.out, asked.force)?;
    let tasks = tasks(&asked.tasks)?;
    let settings = settings(asked)?;
    let rows = rows(asked.steps, tasks.len(), tell)?;
    let model = model(asked)?;
    let environments = tasks
        .iter()
        .map(|task| Environment::from_task(task))
        .collect::<taskscout::Result<Vec<_>>>()?;

    let started = Instant::now();
    let residual = |angle: f64, velocity: f64| predict(model.as_ref(), angle, velocity);
    let policy = match policy(asked)? {
        PolicyKind::Random => Policy::Random,
        PolicyKind::None => Policy::NoModel,
        PolicyKind::True => Policy::True,
        PolicyKind::Model => Policy::Model(&residual),
    };
    let (steps, seed) = (asked.steps, asked.seed);
    let runs = simulate_many(&environments, &settings, policy, steps, seed)?;
    let rate = rows as f64 / started.elapsed().as_secs_f64();

    write(&asked.out, &columns(&tasks, runs))?;
    let plural = if tasks.len() == 1 { "" } else { "s" };
    Ok(format!(
        "{rows} rows of {} task{plural} written to {}: {:.2} million steps a second",
        tasks.len(),
        asked.out.display(),
        1e-6 * rate
    ))
}

/// The tasks of `--w`, each inside the box.
fn tasks(texts: &[String]) -> Result<Vec<Vec<f64>>> {
    let task = |text: &String| {
        let task = numbers("--w", text, &TASK_NAMES)?;
        Environment::from_task(&task)
            .map_err(|error| LabError::from(error).after(&format!("--w {text}: ")))?;
        Ok(task)
    };
    texts.iter().map(task).collect()
}

/// Numbers separated by commas, one for each name.
fn numbers(option: &str, text: &str, names: &[&str]) -> Result<Vec<f64>> {
    let refuse = |problem: String| {
        LabError::Input(format!(
            "{option} {text} {problem}: give {} numbers separated by commas ({})",
            names.len(),
            names.join(", ")
        ))
    };
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() != names.len() {
        return Err(refuse(format!("has {} values", parts.len())));
    }
    let number = |part: &&str| {
        part.parse()
            .map_err(|_| refuse(format!("has `{part}`, which is not a number")))
    };
    parts.iter().map(number).collect()
}

fn settings(asked: &AskedPendulum) -> Result<Settings> {
    let start = numbers("--start", &asked.start, &["angle", "velocity"])?;
    let settings = Settings {
        step_s: asked.step_s,
        noise: asked.noise,
        start: State {
            angle_rad: start[0],
            velocity_rad_s: start[1],
        },
    };
    settings.check().map_err(|error| match error {
        taskscout::Error::Setting { key, problem } => {
            let option = key.trim_end_matches("_s");
            LabError::Input(format!("--{option} {problem}"))
        }
        other => other.into(),
    })?;
    Ok(settings)
}

/// The rows of the table, if there are neither none nor too many.
fn rows(steps: usize, tasks: usize, tell: Tell<'_>) -> Result<usize> {
    let rows = steps.saturating_mul(tasks);
    if (1..=MAX_ROWS).contains(&rows) {
        let mut need = Need::default();
        need.add(format!("{rows} rows"), NUMBER * ROW_NUMBERS * rows as f64);
        need.check("give fewer --steps, or fewer tasks at a time")?;
        need.note().iter().for_each(|note| tell(note));
        return Ok(rows);
    }
    Err(LabError::Input(format!(
        "--steps {steps} for {tasks} tasks: give at least 1 step, and at most {MAX_ROWS} rows in all"
    )))
}

fn policy(asked: &AskedPendulum) -> Result<PolicyKind> {
    match (asked.policy, &asked.model) {
        (None, None) => Ok(PolicyKind::Random),
        (None | Some(PolicyKind::Model), Some(_)) => Ok(PolicyKind::Model),
        (Some(PolicyKind::Model), None) => Err(LabError::Input(
            "--policy model controls with a saved model: name it with --model".into(),
        )),
        (Some(_), Some(_)) => Err(LabError::Input(
            "--model belongs to --policy model: leave out one of them".into(),
        )),
        (Some(policy), None) => Ok(policy),
    }
}

/// The model of `--model`, if it fits a pendulum.
fn model(asked: &AskedPendulum) -> Result<Option<SavedModel>> {
    let (PolicyKind::Model, Some(path)) = (policy(asked)?, &asked.model) else {
        return Ok(None);
    };
    let model = SavedModel::load(path)?;
    if (model.input_dim(), model.outputs()) != (2, 1) {
        return Err(LabError::Input(format!(
            "{} takes {} inputs and gives {} outputs, but a model of a pendulum takes 2 (angle, velocity) and gives 1: name another",
            path.display(),
            model.input_dim(),
            model.outputs()
        )));
    }
    Ok(Some(model))
}

/// What a model expects at a state; no number where it has no answer, which ends the simulation.
fn predict(model: Option<&SavedModel>, angle: f64, velocity: f64) -> f64 {
    let predictions = model.and_then(|model| model.predict(&[angle, velocity]).ok());
    let first = predictions.and_then(|predictions| Some(predictions.first()?.mean));
    first.unwrap_or(f64::NAN)
}
