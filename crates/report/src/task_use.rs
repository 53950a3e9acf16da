//! How plans concentrate: tasks that several rounds use, and tasks that hold nine tenths of the samples.
//!
//! The share of a task in all samples says little of a strategy that draws fresh tasks every round: each of its many
//! tasks is small. What an engineer pays for is coming back to few tasks.

use std::collections::{BTreeMap, BTreeSet};

use crate::curve::MeanSem;
use crate::plans::PlanRow;
use crate::strategy::StrategySummary;
use crate::summary::Summary;

/// The part of the samples that the largest tasks are counted for.
const MOST: f64 = 0.9;

/// How a trial used its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TaskUse {
    /// Tasks that more than one round asked for.
    repeated: usize,
    /// The fewest tasks that hold nine tenths of the samples.
    main: usize,
}

impl TaskUse {
    fn of(rows: &[&PlanRow]) -> Self {
        let mut tasks: BTreeMap<&str, (usize, BTreeSet<usize>)> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.n > 0) {
            let (samples, rounds) = tasks.entry(&row.task).or_default();
            *samples += row.n;
            rounds.insert(row.round);
        }
        let mut sizes: Vec<usize> = tasks.values().map(|(samples, _)| *samples).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let total: usize = sizes.iter().sum();
        let enough = MOST * total as f64;
        let mut held = 0;
        let main = sizes.iter().take_while(|&&samples| {
            let more = (held as f64) < enough;
            held += samples;
            more
        });
        Self {
            main: main.count(),
            repeated: tasks
                .values()
                .filter(|(_, rounds)| rounds.len() > 1)
                .count(),
        }
    }
}

impl Summary {
    /// Fills in how every strategy used its tasks, means over seeds.
    pub fn set_task_use(&mut self, plans: &[PlanRow]) {
        let with = |target: Option<&str>, name: &str, figures: &StrategySummary| {
            let own = |row: &&PlanRow| {
                row.strategy == name
                    && (target.is_none() || row.target.is_none() || row.target.as_deref() == target)
            };
            let mut trials: BTreeMap<(u64, Option<&str>), Vec<&PlanRow>> = BTreeMap::new();
            for row in plans.iter().filter(own) {
                trials
                    .entry((row.seed, row.target.as_deref()))
                    .or_default()
                    .push(row);
            }
            let uses: Vec<TaskUse> = trials.values().map(|rows| TaskUse::of(rows)).collect();
            let mean = |of: fn(&TaskUse) -> usize| {
                let values = uses.iter().map(|one| of(one) as f64);
                MeanSem::of(values).map(|value| value.mean)
            };
            StrategySummary {
                repeated_tasks: mean(|one| one.repeated),
                main_tasks: mean(|one| one.main),
                ..figures.clone()
            }
        };
        let target = self.target.clone();
        self.strategies = self
            .strategies
            .iter()
            .map(|(name, figures)| (name.to_owned(), with(target.as_deref(), name, figures)))
            .collect();
        for section in &mut self.targets {
            let target = section.target.clone();
            section.strategies = section
                .strategies
                .iter()
                .map(|(name, figures)| (name.to_owned(), with(Some(&target), name, figures)))
                .collect();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use serde_json::Value;

    use super::*;
    use crate::rows::ResultRow;

    fn plan(seed: u64, round: usize, task: &str, n: usize) -> PlanRow {
        PlanRow {
            strategy: "aware".into(),
            seed,
            round,
            task: task.into(),
            n,
            ..PlanRow::default()
        }
    }

    #[test]
    fn tasks_of_several_rounds_and_of_most_samples_are_counted() {
        // Of 100 samples the tasks have 60, 31, 5 and 4: two hold 91.
        let plans = [
            plan(0, 0, "a", 30),
            plan(0, 1, "a", 30),
            plan(0, 1, "b", 31),
            plan(0, 0, "c", 5),
            plan(0, 2, "d", 4),
            plan(0, 2, "e", 0),
            // Ten alike, each in one round: nine hold nine tenths.
        ];
        let rows: Vec<&PlanRow> = plans.iter().collect();
        let found = TaskUse::of(&rows);
        assert_eq!((found.repeated, found.main), (1, 2));
        let alike: Vec<PlanRow> = (0..10).map(|i| plan(1, i, &format!("t{i}"), 7)).collect();
        let rows: Vec<&PlanRow> = alike.iter().collect();
        let found = TaskUse::of(&rows);
        assert_eq!((found.repeated, found.main), (0, 9));
        let row = |seed| ResultRow {
            experiment: "e".into(),
            oracle: "exact".into(),
            strategy: "aware".into(),
            seed,
            budget: 100,
            test_loss: Some(0.1),
            ..ResultRow::default()
        };
        let mut summary = Summary::from_rows(&[row(0), row(1)], Value::Null).unwrap();
        let all: Vec<PlanRow> = plans.into_iter().chain(alike).collect();
        summary.set_task_use(&all);
        let aware = summary.strategies.get("aware").unwrap();
        assert_eq!(
            (aware.repeated_tasks, aware.main_tasks),
            (Some(0.5), Some(5.5))
        );
    }
}
