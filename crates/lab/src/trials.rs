//! Running the trials of an experiment, side by side; what is there already is kept.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use taskscout_models::SavedModel;
use taskscout_report::{FailedTrial, ResultRow};

use crate::error::{LabError, Result};
use crate::folder::RunFolder;
use crate::options::ExperimentOptions;
use crate::prepare::Prepared;
use crate::record::{Trial, TrialRecord};
use crate::trial;

/// What to do about failed trials.
pub const MEND: &str = ": fix the cause, then run again with --resume";

/// Runs every trial that the folder does not hold yet. One that fails does not stop the others; an
/// error means that there is no result at all.
pub(crate) fn run_trials(
    prepared: &Prepared,
    folder: &RunFolder,
    options: &ExperimentOptions,
) -> Result<(Vec<TrialRecord>, Vec<FailedTrial>)> {
    let trials = prepared.trials();
    let watch = prepared.watch.as_ref();
    watch.start(trials.len());
    let one = |trial: &Trial| run_one(prepared, folder, options, trial);
    let outcomes = side_by_side(&trials, (prepared.jobs, options.jobs.is_some()), one);
    watch.finish();
    sort_out(&trials, outcomes?)
}

/// Runs trials, so many at a time and no more: each has its own thread, which waits for the pool that the trial's work
/// goes to. A pool that took trials itself would begin others while one waits for its parts, and hold them all in memory.
/// Without a wish for so many, the parts of trials may use all processors.
fn side_by_side(
    trials: &[Trial],
    (jobs, wished): (usize, bool),
    run: impl Fn(&Trial) -> Result<Result<TrialRecord>> + Sync,
) -> Result<Vec<Result<TrialRecord>>> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if wished {
        pool = pool.num_threads(jobs);
    }
    let pool = pool
        .build()
        .map_err(|error| LabError::Failure(format!("cannot start worker threads: {error}")))?;
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(trial) = trials.get(index) else {
                return;
            };
            let outcome = pool.install(|| run(trial));
            if outcome.is_err() {
                next.store(trials.len(), Ordering::Relaxed);
            }
            let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            outcomes.push((index, outcome));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(trials.len()) {
            scope.spawn(work);
        }
    });
    let mut outcomes = outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Runs a trial or takes it from the folder. The outer error is the folder's and ends the run, the
/// inner one is the trial's own.
fn run_one(
    prepared: &Prepared,
    folder: &RunFolder,
    options: &ExperimentOptions,
    trial: &Trial,
) -> Result<Result<TrialRecord>> {
    let (name, watch) = (trial.to_string(), prepared.watch.as_ref());
    let models = options.save_models.then(|| folder.model_paths(trial));
    // A trial whose model is asked for and missing or damaged is run again.
    let has_models = |paths: &Vec<PathBuf>| paths.iter().all(|path| SavedModel::load(path).is_ok());
    let complete = models.as_ref().is_none_or(has_models);
    if let Some(record) = folder.finished(prepared, trial)?.filter(|_| complete) {
        watch.trial(&name, "kept from the run before");
        return Ok(Ok(record));
    }
    let journals = prepared.data.journals(trial);
    folder.take_up(trial, prepared.presentation.wants_details(), &journals)?;
    let on_round = || watch.round(&name);
    let collected = folder.collected();
    let outcome = trial::run(prepared, trial, &collected, models.as_deref(), &on_round);
    match &outcome {
        Ok(record) => {
            folder.keep(record)?;
            // Of a distribution the excess risk over it comes first, and its mean task is beside the point.
            let about = record.rows.first().map(|row| &row.target);
            let own = |row: &&ResultRow| !trial.is_distribution() || Some(&row.target) == about;
            let rows: Vec<ResultRow> = record.rows.iter().filter(own).cloned().collect();
            watch.trial(&name, &last_losses(&rows));
        }
        Err(error) => watch.failed(&name, &error.to_string()),
    }
    Ok(outcome)
}

/// The losses after the last round, in the mean over the targets that the trial serves.
fn last_losses(rows: &[ResultRow]) -> String {
    let round = rows.last().map(|row| row.round);
    let last: Vec<&ResultRow> = rows.iter().filter(|row| Some(row.round) == round).collect();
    let mean = |name: &str, loss: fn(&ResultRow) -> Option<f64>| {
        // A mean over some of the targets would not compare with one over all.
        let total: f64 = last.iter().map(|row| loss(row)).sum::<Option<f64>>()?;
        Some(format!("{name} loss {:.3e}", total / last.len() as f64))
    };
    let losses = [
        mean("shared", |row| row.test_loss),
        mean("returned", |row| row.returned_loss),
    ];
    let losses: Vec<String> = losses.into_iter().flatten().collect();
    match (losses.is_empty() || last.is_empty(), last.len()) {
        (true, _) => "done".into(),
        (false, 1) => losses.join(", "),
        (false, targets) => format!("{} (mean over {targets} targets)", losses.join(", ")),
    }
}

/// Parts what succeeded from what failed; nothing at all is an error.
pub(crate) fn sort_out(
    trials: &[Trial],
    outcomes: Vec<Result<TrialRecord>>,
) -> Result<(Vec<TrialRecord>, Vec<FailedTrial>)> {
    let (mut records, mut failed, mut first) = (Vec::new(), Vec::new(), None);
    for (trial, outcome) in trials.iter().zip(outcomes) {
        match outcome {
            Ok(record) => records.push(record),
            Err(error) => {
                failed.push(FailedTrial {
                    strategy: trial.contender.to_string(),
                    target: trial.target_name().map(str::to_owned),
                    seed: trial.seed,
                    error: error.to_string(),
                });
                first.get_or_insert_with(|| {
                    error
                        .after(&format!("every trial failed, {trial} with: "))
                        .before(MEND)
                });
            }
        }
    }
    match first.filter(|_| records.is_empty()) {
        Some(error) => Err(error),
        None => Ok((records, failed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(round: usize, test_loss: Option<f64>, returned_loss: Option<f64>) -> ResultRow {
        ResultRow {
            round,
            test_loss,
            returned_loss,
            ..ResultRow::default()
        }
    }

    #[test]
    fn losses_have_their_names_and_targets_their_mean() {
        let first = row(0, Some(9.0), Some(9.0));
        let one = [first.clone(), row(1, Some(0.5), Some(0.25))];
        assert_eq!(
            last_losses(&one),
            "shared loss 5.000e-1, returned loss 2.500e-1"
        );
        let joint = [
            first.clone(),
            first,
            row(1, Some(0.5), Some(0.25)),
            row(1, Some(1.5), Some(0.75)),
        ];
        assert_eq!(
            last_losses(&joint),
            "shared loss 1.000e0, returned loss 5.000e-1 (mean over 2 targets)"
        );
        // One without a shared predictor, as `target-only` or after training diverged.
        let part = [row(0, Some(0.5), Some(1.0)), row(0, None, Some(2.0))];
        assert_eq!(
            last_losses(&part),
            "returned loss 1.500e0 (mean over 2 targets)"
        );
        assert_eq!(
            last_losses(&[row(0, None, Some(2.0))]),
            "returned loss 2.000e0"
        );
        assert_eq!(last_losses(&[row(0, None, None)]), "done");
        assert_eq!(last_losses(&[]), "done");
    }
}
