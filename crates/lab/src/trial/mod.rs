//! One trial: a contender and a seed, for one target or for all, from the first plan to the last loss.

mod baselines;
mod course;
mod distribution;
mod strategy;

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::prepare::Prepared;
use crate::record::{Contender, Trial, TrialRecord};
use course::Course;

/// Runs a trial and saves its last models, if paths are given: one for each of its targets. Rows that
/// come from outside are kept in the folder `collected`. `on_round` hears of every finished round.
pub(crate) fn run(
    prepared: &Prepared,
    trial: &Trial,
    collected: &Path,
    models: Option<&[PathBuf]>,
    on_round: &dyn Fn(),
) -> Result<TrialRecord> {
    let mut course = Course::open(prepared, trial, collected)?;
    match &trial.contender {
        Contender::TargetOnly => baselines::target_only(&mut course)?,
        Contender::Strategy(_) => strategy::run(&mut course, on_round)?,
        Contender::TargetData => baselines::target_data(&mut course, on_round)?,
    }
    course.world.source.close()?;
    course.finish(models)
}
