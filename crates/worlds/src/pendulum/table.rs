//! Runs as columns of a table.

use taskscout_io::tables::Column;

use super::{TASK_NAMES, Trajectory};

/// Runs of tasks as one table: which task, when, and what was recorded. All runs have as many steps as the first.
#[must_use]
pub fn columns(tasks: &[Vec<f64>], runs: Vec<Trajectory>) -> Vec<Column> {
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
