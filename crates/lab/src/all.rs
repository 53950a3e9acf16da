//! Every built-in experiment in turn, each as it would run alone, then one report on all of them.

use std::path::{Path, PathBuf};

use taskscout::registry::Registry;
use taskscout_report::{
    CombinedSummary, ExperimentReport, FailedExperiment, combined_report, write_atomically,
};

use crate::config::{self, ExperimentConfig};
use crate::error::{LabError, Result};
use crate::experiment::{in_words, list_failures, out_folder, run};
use crate::folder::{Reserved, RunFolder, TopFolder};
use crate::names::BuiltIn;
use crate::options::ExperimentOptions;
use crate::prepare::{Prepared, prepare};
use crate::publish::pretty;
use crate::scenario::{WorldOption, point};
use crate::watch::{Watch, Watcher};

/// Names the default folder.
const NAME: &str = "all";
const REPORT: &str = "report.html";
const SUMMARY: &str = "summary.json";
/// What is said of the experiment that needs logs, where there are none.
const WITHOUT_DATA: &str = "note: drone is left out, as it needs logs: give their folder with --data and a flight with --target";

/// One experiment and where its results go.
struct Part {
    prepared: Prepared,
    folder: RunFolder,
}

impl Part {
    fn new(
        config: ExperimentConfig,
        out: &Path,
        options: &ExperimentOptions,
        registry: &Registry,
        watch: &Watcher,
    ) -> Result<Self> {
        let name = config.name.clone();
        let reserved = Reserved::new(out.join(&name), watch)?;
        let prepared = prepare(config, options, registry, watch)
            .map_err(|error| error.after(&format!("in experiment {name}, ")))?;
        let folder = reserved.examine(&prepared, options)?;
        Ok(Self { prepared, folder })
    }

    fn name(&self) -> &str {
        &self.prepared.config.name
    }
}

/// What the experiments gave.
#[derive(Default)]
struct Outcome {
    reports: Vec<ExperimentReport>,
    failed: Vec<FailedExperiment>,
    /// What is missing, in words.
    missing: Vec<String>,
}

/// The built-in experiments that have run, and the report on all of them. No other process may use their
/// folders until this is dropped.
pub struct Together {
    out: PathBuf,
    summary: String,
    missing: Vec<String>,
    _parts: Vec<Part>,
    _top: TopFolder,
}

impl Together {
    /// What the summary on all of them holds, as JSON.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The report on all of them.
    #[must_use]
    pub fn page(&self) -> PathBuf {
        self.out.join(REPORT)
    }

    /// What is missing, in words; nothing if all trials gave results.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        (!self.missing.is_empty()).then(|| self.missing.join("; "))
    }
}

/// Runs every built-in experiment. What concerns any of them (options, folders) is checked before
/// the first one starts; one that fails later does not stop the others. `each` hears the results of every one
/// in words, as soon as they are there.
///
/// # Errors
/// What any of the experiments refuses to run with, a folder that cannot be used, and that none of them has
/// results.
pub fn run_all(
    options: &ExperimentOptions,
    registry: &Registry,
    watch: &Watcher,
    each: &mut dyn FnMut(&str),
) -> Result<Together> {
    let out = out_folder(NAME, options);
    let experiments = BuiltIn::ALL.iter();
    let experiments = experiments
        .filter(|&&experiment| experiment != BuiltIn::Drone || options.data.is_some())
        .map(|&experiment| config::built_in(experiment))
        .collect::<Result<Vec<_>>>()?;
    let own: Vec<ExperimentOptions> = experiments
        .iter()
        .map(|config| own_options(config, &experiments, options))
        .collect();
    let mut parts = experiments
        .into_iter()
        .zip(&own)
        .map(|(config, options)| Part::new(config, &out, options, registry, watch))
        .collect::<Result<Vec<_>>>()?;
    let top = TopFolder::open(&out, &[REPORT, SUMMARY], options, watch.as_ref())?;
    if options.data.is_none() {
        watch.note(WITHOUT_DATA);
    }
    for (part, options) in parts.iter_mut().zip(&own) {
        part.folder.begin(options)?;
    }
    let outcome = run_parts(&parts, options, watch.as_ref(), each);
    Ok(Together {
        summary: publish(&out, &outcome)?,
        missing: outcome.missing,
        out,
        _parts: parts,
        _top: top,
    })
}

/// The options of one experiment: without those that others have and it has not.
fn own_options(
    config: &ExperimentConfig,
    experiments: &[ExperimentConfig],
    options: &ExperimentOptions,
) -> ExperimentOptions {
    let mut own = options.clone();
    let world = config.world.with_targets(options);
    let has = |other: &ExperimentConfig, option| other.world.with_targets(options).has(option);
    for option in WorldOption::ALL {
        let of_others = experiments.iter().any(|other| has(other, option));
        if of_others && !world.has(option) {
            option.remove(&mut own);
        }
    }
    let logs = |config: &ExperimentConfig| config.world.has(WorldOption::Data);
    if experiments.iter().any(logs) {
        share_out(logs(config), &mut own);
    }
    own
}

/// Leaves worlds with logs or those without what means them: the same options say it in other words.
fn share_out(logs: bool, own: &mut ExperimentOptions) {
    // Numbers between commas are a place in a task space, all else is the name of a recording.
    let is_point = |text: &String| text.contains(',') && point(text).is_ok();
    own.target.retain(|target| is_point(target) != logs);
    own.task_features = own
        .task_features
        .filter(|features| features.is_of_logs() == logs);
}

fn run_parts(
    parts: &[Part],
    options: &ExperimentOptions,
    watch: &dyn Watch,
    each: &mut dyn FnMut(&str),
) -> Outcome {
    let mut outcome = Outcome::default();
    for (index, part) in parts.iter().enumerate() {
        watch.note(&format!(
            "{} ({} of {})",
            part.name(),
            index + 1,
            parts.len()
        ));
        match run(&part.prepared, &part.folder, options) {
            Ok(published) => {
                each(&in_words(&published));
                let report = published.report;
                let failures = list_failures(&part.prepared, &report);
                let named = failures.map(|failures| format!("in {}, {failures}", part.name()));
                outcome.missing.extend(named);
                outcome.reports.push(report);
            }
            Err(error) => {
                watch.note(&format!("failed: {}: {error}", part.name()));
                outcome
                    .missing
                    .push(format!("{} has no results", part.name()));
                outcome.failed.push(FailedExperiment {
                    experiment: part.name().to_owned(),
                    error: error.to_string(),
                });
            }
        }
    }
    outcome
}

/// Writes the report and the summary on all, and gives the latter.
fn publish(out: &Path, outcome: &Outcome) -> Result<String> {
    let Outcome {
        reports, failed, ..
    } = outcome;
    if reports.is_empty() {
        return Err(LabError::Failure(format!(
            "none of the {} experiments has results: see the reasons above",
            failed.len()
        )));
    }
    let summary = pretty(&CombinedSummary::new(reports, failed))?;
    let page = combined_report(reports, failed);
    for (file, text) in [(SUMMARY, &summary), (REPORT, &page)] {
        write_atomically(out.join(file), text.as_bytes())
            .map_err(|error| LabError::Failure(error.to_string()))?;
    }
    Ok(summary)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::names::TaskFeaturesName;

    #[test]
    fn an_option_goes_to_the_experiments_that_have_it() {
        let toy = "name = \"toy\"\nworld = { kind = \"toy\", noise = 1 }\ntarget = { samples = 9 }\n\
                   schedule = { rounds = 1, growth = 1, first_round = 99 }";
        let toy = config::parse(toy, "toy.toml").unwrap();
        let bilinear = config::built_in(BuiltIn::Bilinear).unwrap();
        let both = [bilinear.clone(), toy.clone()];
        let options = ExperimentOptions {
            matrix_seed: Some(3),
            target: vec!["0,0,0,1".into()],
            joint_targets: true,
            ..ExperimentOptions::default()
        };
        let of_bilinear = own_options(&bilinear, &both, &options);
        assert_eq!(of_bilinear.matrix_seed, Some(3));
        assert!(of_bilinear.target.is_empty() && !of_bilinear.joint_targets);
        let of_toy = own_options(&toy, &both, &options);
        assert_eq!(of_toy.matrix_seed, None);
        assert!(of_toy.target.len() == 1 && of_toy.joint_targets);
        let drone = config::built_in(BuiltIn::Drone).unwrap();
        let all = [bilinear.clone(), toy.clone(), drone.clone()];
        let options = ExperimentOptions {
            target: vec!["0,0,0,1".into(), "hawk_x".into(), "7".into()],
            task_features: Some(TaskFeaturesName::OneHot),
            ..options
        };
        let of_toy = own_options(&toy, &all, &options);
        assert_eq!(of_toy.target, ["0,0,0,1"]);
        assert_eq!(of_toy.task_features, None);
        let of_drone = own_options(&drone, &all, &options);
        assert_eq!(of_drone.target, ["hawk_x", "7"]);
        assert_eq!(of_drone.task_features, Some(TaskFeaturesName::OneHot));
        // What nobody has stays, to be refused.
        let alone = own_options(&bilinear, &both[..1], &options);
        assert!(!alone.target.is_empty());
    }
}
