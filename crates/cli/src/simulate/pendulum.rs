//! `taskscout simulate pendulum`.

use std::time::Instant;

use taskscout_io::tables::Column;
use taskscout_models::SavedModel;
use taskscout_worlds::pendulum::{
    Environment, Policy, Settings, State, TASK_NAMES, Trajectory, simulate_many,
};

use super::options::{PendulumOptions, PolicyName};
use crate::error::{CliError, Result};
use crate::output::{check_free, print, tell_if_large, writer};
use taskscout_lab::memory::{NUMBER, Need};

/// Numbers of a row while it is simulated and written.
const ROW_NUMBERS: f64 = 24.0;
/// Most rows of one table: some gigabytes of memory.
const MAX_ROWS: usize = 50_000_000;

/// Simulates all tasks and writes one table.
pub(crate) fn execute(options: &PendulumOptions) -> Result<()> {
    let write = writer(&options.out)?;
    check_free(&options.out, options.force)?;
    let tasks = tasks(&options.w)?;
    let settings = settings(options)?;
    let rows = rows(options.steps, tasks.len())?;
    let model = model(options)?;
    let environments = tasks
        .iter()
        .map(|task| Environment::from_task(task))
        .collect::<taskscout::Result<Vec<_>>>()?;

    let started = Instant::now();
    let residual = |angle: f64, velocity: f64| predict(model.as_ref(), angle, velocity);
    let policy = match policy(options)? {
        PolicyName::Random => Policy::Random,
        PolicyName::None => Policy::NoModel,
        PolicyName::True => Policy::True,
        PolicyName::Model => Policy::Model(&residual),
    };
    let (steps, seed) = (options.steps, options.seed);
    let runs = simulate_many(&environments, &settings, policy, steps, seed)?;
    let rate = rows as f64 / started.elapsed().as_secs_f64();

    write(&options.out, &columns(&tasks, runs))?;
    let plural = if tasks.len() == 1 { "" } else { "s" };
    print(&format!(
        "{rows} rows of {} task{plural} written to {}: {:.2} million steps a second\n",
        tasks.len(),
        options.out.display(),
        1e-6 * rate
    ))
}

/// The tasks of `--w`, each inside the box.
fn tasks(texts: &[String]) -> Result<Vec<Vec<f64>>> {
    let task = |text: &String| {
        let task = numbers("--w", text, &TASK_NAMES)?;
        Environment::from_task(&task)
            .map_err(|error| CliError::from(error).after(&format!("--w {text}: ")))?;
        Ok(task)
    };
    texts.iter().map(task).collect()
}

/// Numbers separated by commas, one for each name.
fn numbers(option: &str, text: &str, names: &[&str]) -> Result<Vec<f64>> {
    let refuse = |problem: String| {
        CliError::Input(format!(
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

fn settings(options: &PendulumOptions) -> Result<Settings> {
    let start = numbers("--start", &options.start, &["angle", "velocity"])?;
    let settings = Settings {
        step_s: options.step,
        noise: options.noise,
        start: State {
            angle_rad: start[0],
            velocity_rad_s: start[1],
        },
    };
    settings.check().map_err(|error| match error {
        taskscout::Error::Setting { key, problem } => {
            let option = key.trim_end_matches("_s");
            CliError::Input(format!("--{option} {problem}"))
        }
        other => other.into(),
    })?;
    Ok(settings)
}

/// The rows of the table, if there are neither none nor too many.
fn rows(steps: usize, tasks: usize) -> Result<usize> {
    let rows = steps.saturating_mul(tasks);
    if (1..=MAX_ROWS).contains(&rows) {
        let mut need = Need::default();
        need.add(format!("{rows} rows"), NUMBER * ROW_NUMBERS * rows as f64);
        need.check("give fewer --steps, or fewer tasks at a time")?;
        tell_if_large(&need);
        return Ok(rows);
    }
    Err(CliError::Input(format!(
        "--steps {steps} for {tasks} tasks: give at least 1 step, and at most {MAX_ROWS} rows in all"
    )))
}

fn policy(options: &PendulumOptions) -> Result<PolicyName> {
    match (options.policy, &options.model) {
        (None, None) => Ok(PolicyName::Random),
        (None | Some(PolicyName::Model), Some(_)) => Ok(PolicyName::Model),
        (Some(PolicyName::Model), None) => Err(CliError::Input(
            "--policy model controls with a saved model: name it with --model".into(),
        )),
        (Some(_), Some(_)) => Err(CliError::Input(
            "--model belongs to --policy model: leave out one of them".into(),
        )),
        (Some(policy), None) => Ok(policy),
    }
}

/// The model of `--model`, if it fits a pendulum.
fn model(options: &PendulumOptions) -> Result<Option<SavedModel>> {
    let (PolicyName::Model, Some(path)) = (policy(options)?, &options.model) else {
        return Ok(None);
    };
    let model = SavedModel::load(path)?;
    if (model.input_dim(), model.outputs()) != (2, 1) {
        return Err(CliError::Input(format!(
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

/// The table: which task, when, and what was recorded.
fn columns(tasks: &[Vec<f64>], runs: Vec<Trajectory>) -> Vec<Column> {
    let steps = runs.first().map_or(0, Trajectory::len);
    let of_task = |name: String, value: &dyn Fn(usize) -> f64| {
        let repeated = |task| std::iter::repeat_n(value(task), steps);
        Column::numbers(name, (0..tasks.len()).flat_map(repeated).collect())
    };
    let mut columns = vec![of_task("task".into(), &|task| task as f64)];
    columns.extend((0..TASK_NAMES.len()).map(|parameter| {
        let name = format!("w{}", parameter + 1);
        of_task(name, &|task| tasks[task][parameter])
    }));
    let times = runs
        .iter()
        .flat_map(|run| (0..steps).map(|step| run.time_s(step)));
    columns.push(Column::numbers("time_s", times.collect()));
    columns.extend(recorded(runs));
    columns
}

/// What was recorded, one run after the other.
fn recorded(runs: Vec<Trajectory>) -> impl Iterator<Item = Column> {
    let names = [
        "angle_rad",
        "velocity_rad_s",
        "control_nm",
        "residual_nm",
        "label_nm",
    ];
    let rows = runs.iter().map(Trajectory::len).sum();
    let mut columns = names.map(|_| Vec::with_capacity(rows));
    for run in runs {
        let parts = [
            run.angles_rad,
            run.velocities_rad_s,
            run.controls_nm,
            run.residuals_nm,
            run.labels_nm,
        ];
        for (column, part) in columns.iter_mut().zip(parts) {
            column.extend(part);
        }
    }
    names
        .into_iter()
        .zip(columns)
        .map(|(name, values)| Column::numbers(name, values))
}
