//! What strategies are compared with: the target samples on their own, and the reference that is
//! allowed to collect from the hidden targets.

use std::time::Instant;

use taskscout::source::batches;
use taskscout::train::PredictorKind;
use taskscout_report::ResultRow;

use super::course::Course;
use crate::error::Result;

/// What the target samples alone give.
pub(super) fn target_only(course: &mut Course<'_>) -> Result<()> {
    course.learn()?;
    let train_s = course.began.elapsed().as_secs_f64();
    course.measure_alone(|row| ResultRow { train_s, ..row })
}

/// What the whole budget would give if it were spent on the hidden targets, equal parts each.
pub(super) fn target_data(course: &mut Course<'_>, on_round: &dyn Fn()) -> Result<()> {
    let targets = course.trial.targets().len();
    let mut spent = 0;
    for (round, &budget) in course.prepared.rounds.budgets.iter().enumerate() {
        let clock = Instant::now();
        course.collect_targets(round, budget)?;
        let collect_s = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        course.learn()?;
        let train_s = clock.elapsed().as_secs_f64();
        spent += budget;
        course.measure_alone(|row| ResultRow {
            round,
            budget: spent,
            tasks: targets,
            long_term_tasks: targets,
            collect_s,
            train_s,
            ..row
        })?;
        on_round();
    }
    Ok(())
}

impl Course<'_> {
    /// Learns from the targets' rows alone.
    fn learn(&mut self) -> Result<()> {
        self.choices = self.study.target_only()?;
        Ok(())
    }

    /// Collects a round's budget from the hidden targets.
    fn collect_targets(&mut self, round: usize, budget: usize) -> Result<()> {
        let count = self.trial.targets().len();
        for (slot, target) in self.trial.targets().enumerate() {
            // The first ones take what does not divide.
            let share = budget / count + usize::from(slot < budget % count);
            for (batch, n) in (0..).zip(batches(share)) {
                let rows = self.target_rows(target, n, &[round as u64, batch])?;
                self.study.tell_target(slot, &rows)?;
            }
        }
        Ok(())
    }

    /// Writes down a row for each target.
    fn measure_alone(&mut self, complete: impl Fn(ResultRow) -> ResultRow) -> Result<()> {
        let mut rows = Vec::with_capacity(self.choices.len());
        for (target, choice) in self.trial.targets().zip(self.choices.iter()) {
            let row = ResultRow {
                returned_loss: self.returned_loss(target, choice)?,
                predictor: Some(PredictorKind::TargetOnly.to_string()),
                ..self.blank_row(target)
            };
            rows.push(complete(row));
        }
        self.rows.extend(self.judged_rows(rows)?);
        Ok(())
    }
}
