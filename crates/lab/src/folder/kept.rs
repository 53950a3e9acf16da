//! Kept trials: a file that was cut or changed is no result, and its trial is run again.

use taskscout_report::{PlanRow, ResultRow, read_csv, read_plans};

use super::{PLANS, RunFolder, TRIALS};
use crate::error::{LabError, Result};
use crate::prepare::Prepared;
use crate::record::{Contender, MEAN_TASK, Trial, TrialDetails, TrialRecord};

impl RunFolder {
    /// A trial that had been finished, with its details if the world wants them. One whose files are
    /// not whole is set aside, to be run again.
    pub(crate) fn finished(
        &self,
        prepared: &Prepared,
        trial: &Trial,
    ) -> Result<Option<TrialRecord>> {
        let path = self.trial_path(trial, "csv");
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(LabError::Input(format!(
                    "cannot read {}: {error}; remove it to run the trial again",
                    path.display()
                )));
            }
        };
        let wanted = prepared.presentation.wants_details();
        let details = self.details(trial).filter(|_| wanted);
        let plans = self.plans(trial);
        let rows = match read_rows(&bytes) {
            Ok(_) if plans.is_none() => {
                Err("has no plans in the .plans.csv file beside it, or damaged ones".into())
            }
            // Rows alone are half a trial.
            Ok(_) if wanted && details.is_none() => {
                Err("has no details in the .json file beside it, or damaged ones".into())
            }
            Ok(rows) => match flaw(prepared, trial, &rows, details.as_ref()) {
                Some(flaw) => Err(flaw),
                None => Ok(rows),
            },
            Err(problem) => Err(problem),
        };
        match rows {
            Ok(rows) => Ok(Some(TrialRecord {
                trial: trial.clone(),
                rows,
                plans: plans.unwrap_or_default(),
                details,
            })),
            Err(flaw) => self.put_aside(trial, &flaw).map(|()| None),
        }
    }

    /// Moves the rows of a trial out of the way, and says so.
    fn put_aside(&self, trial: &Trial, flaw: &str) -> Result<()> {
        let (path, stem) = (self.trial_path(trial, "csv"), trial.file_stem());
        let name = (1..)
            .map(|count| format!("{TRIALS}/{stem}.csv.set-aside-{count}"))
            .find(|name| self.path.join(name).symlink_metadata().is_err())
            .unwrap_or_default();
        self.claim(std::slice::from_ref(&name))?;
        std::fs::rename(&path, self.path.join(&name))
            .map_err(|error| self.unusable("set aside a trial in", &error))?;
        self.watch.note(&format!(
            "note: {} {flaw}: the trial is run again, and the file is kept as {name}",
            path.display()
        ));
        Ok(())
    }

    /// The plans of a trial, unless they are missing or damaged.
    fn plans(&self, trial: &Trial) -> Option<Vec<PlanRow>> {
        if !trial.contender.plans() {
            return Some(Vec::new());
        }
        let text = std::fs::read_to_string(self.trial_path(trial, PLANS)).ok()?;
        read_plans(&text, "it").ok()
    }

    /// The details of a trial, unless they are missing or damaged.
    fn details(&self, trial: &Trial) -> Option<TrialDetails> {
        let text = std::fs::read_to_string(self.trial_path(trial, "json")).ok()?;
        let details: TrialDetails = serde_json::from_str(&text).ok()?;
        Some(details).filter(|known| known.targets.len() == trial.targets().len())
    }
}

/// The rows of a trial, from the whole of its file.
fn read_rows(bytes: &[u8]) -> std::result::Result<Vec<ResultRow>, String> {
    if !bytes.ends_with(b"\n") {
        return Err("breaks off in the middle of a line".into());
    }
    read_csv(bytes, "it").map_err(|error| format!("cannot be read ({error})"))
}

/// What is wrong with the rows of a kept trial, if anything.
fn flaw(
    prepared: &Prepared,
    trial: &Trial,
    rows: &[ResultRow],
    details: Option<&TrialDetails>,
) -> Option<String> {
    let rounds = rounds(prepared, trial, details);
    let names = prepared.judged_on();
    let targets: Vec<Option<&str>> = match trial.is_distribution() {
        true => names.iter().map(Option::as_deref).collect(),
        false => names[trial.targets()]
            .iter()
            .map(Option::as_deref)
            .collect(),
    };
    for round in 0..rounds {
        for &target in &targets {
            let of_target = target.map_or(String::new(), |name| format!(" of {name}"));
            let same = |row: &&ResultRow| row.round == round && row.target.as_deref() == target;
            match rows.iter().filter(same).count() {
                0 => return Some(format!("lacks round {round}{of_target}")),
                1 => {}
                _ => return Some(format!("has round {round}{of_target} twice")),
            }
        }
    }
    let stranger = |row: &ResultRow| {
        row.experiment != prepared.config.name
            || row.oracle != prepared.config.learner.oracle.name()
            || row.strategy != trial.contender.to_string()
            || row.seed != trial.seed
            || row.round >= rounds
            || !targets.contains(&row.target.as_deref())
    };
    if let Some(place) = rows.iter().position(stranger) {
        return Some(format!("has another trial's row as its row {}", place + 1));
    }
    let bad = |(place, row)| Some(format!("has {} in its row {}", bad_cell(row)?, place + 1));
    rows.iter().enumerate().find_map(bad)
}

/// A cell that no trial writes, in words.
fn bad_cell(row: &ResultRow) -> Option<String> {
    let judged = row.target.as_deref() != Some(MEAN_TASK);
    if judged && row.returned_loss.is_none() {
        return Some("no returned_loss".into());
    }
    let (least, any) = (0.0, f64::NEG_INFINITY);
    let cells = [
        ("test_loss", row.test_loss, least),
        ("returned_loss", row.returned_loss, least),
        ("subspace_similarity", row.subspace_similarity, any),
        ("relevance", row.relevance, any),
        ("collect_s", Some(row.collect_s), least),
        ("train_s", Some(row.train_s), least),
        ("design_s", Some(row.design_s), least),
    ];
    cells.into_iter().find_map(|(name, value, least)| {
        let value = value.filter(|value| !(value.is_finite() && *value >= least))?;
        Some(format!("{value} as {name}"))
    })
}

/// How many rounds a trial has.
fn rounds(prepared: &Prepared, trial: &Trial, details: Option<&TrialDetails>) -> usize {
    let scheduled = prepared.rounds.budgets.len();
    match &trial.contender {
        Contender::TargetOnly => 1,
        Contender::TargetData => scheduled,
        // A world may have given all it has before the last round; the details know.
        Contender::Strategy(_) => details
            .and_then(|details| details.targets.first())
            .map(|target| target.rounds.len())
            .filter(|&rounds| rounds > 0)
            .unwrap_or(scheduled),
    }
}
