//! Several runs and one report on all of them: every experiment of the paper, or one experiment on several ground truths.

mod paper;
mod part;
mod single;
mod truths;
mod truths_report;

use std::path::{Path, PathBuf};

use taskscout::registry::Registry;
use taskscout_report::{
    CombinedSummary, ExperimentReport, FailedExperiment, combined_report_about, write_atomically,
};

pub use truths::{MOST_TRUTHS, OverTruths, run_truths};

use crate::config::{self, ExperimentConfig};
use crate::error::{LabError, Result};
use crate::experiment::out_folder;
use crate::folder::TopFolder;
use crate::options::ExperimentOptions;
use crate::publish::pretty;
use crate::scenario::{WorldOption, point};
use crate::watch::Watcher;
use part::Part;
use single::Single;
use truths::Truths;

/// Names the default folder.
const NAME: &str = "all";
const REPORT: &str = "report.html";
const SUMMARY: &str = "summary.json";
/// What is said of the experiment that needs logs, where there are none.
const WITHOUT_DATA: &str = "note: drone is left out, as it needs logs: give their folder with --data and a flight with --target";

/// What the experiments gave.
#[derive(Default)]
struct Outcome {
    reports: Vec<ExperimentReport>,
    failed: Vec<FailedExperiment>,
    /// What is missing, in words.
    missing: Vec<String>,
    /// What of the paper each part shows.
    shows: Vec<(String, String)>,
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

/// Runs every experiment of the paper and its theory: one page with every figure and table beside the published ones. The
/// synthetic worlds run on several ground truths, unless the options ask for a certain one or for a quick look. What concerns
/// any of them (options, folders) is checked before the first one starts; one that fails later does not stop the others.
/// `each` hears the results of every one in words, as soon as they are there.
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
    let mut parts = plan(&out, options, registry, watch)?;
    let top = TopFolder::open(&out, &[REPORT, SUMMARY], options, watch.as_ref())?;
    if options.data.is_none() {
        watch.note(WITHOUT_DATA);
    }
    parts.iter_mut().try_for_each(|part| part.begin(watch))?;
    let outcome = run_parts(&parts, watch, each);
    Ok(Together {
        summary: publish(&out, &outcome)?,
        missing: outcome.missing,
        out,
        _parts: parts,
        _top: top,
    })
}

/// All parts, checked. Changes nothing.
fn plan(
    out: &Path,
    options: &ExperimentOptions,
    registry: &Registry,
    watch: &Watcher,
) -> Result<Vec<Part>> {
    let planned = paper::parts(options);
    let configs = planned
        .iter()
        .map(|part| config::built_in(part.experiment))
        .collect::<Result<Vec<_>>>()?;
    let mut parts = Vec::new();
    for (part, config) in planned.iter().zip(&configs) {
        let own = own_options(config, &configs, &part.options);
        let (name, path) = (part.name.to_owned(), out.join(part.name));
        let made = match own.truths {
            Some(_) => Truths::new(config, path, &own, registry, watch)
                .map(|runs| Part::truths(name, part.shows, runs)),
            None => Single::new(config.clone(), path, own, registry, watch)
                .map(|run| Part::single(name, part.shows, run)),
        };
        parts.push(made.map_err(|error| error.after(&format!("in experiment {}, ", part.name)))?);
    }
    let theory = out.join("theory");
    parts.push(Part::theory(paper::THEORY, theory, options, watch)?);
    Ok(parts)
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

fn run_parts(parts: &[Part], watch: &Watcher, each: &mut dyn FnMut(&str)) -> Outcome {
    let mut outcome = Outcome::default();
    for (index, part) in parts.iter().enumerate() {
        let name = &part.name;
        watch.note(&format!("{name} ({} of {})", index + 1, parts.len()));
        match part.run(watch) {
            Ok(done) => {
                each(&done.words);
                let named = done.missing.map(|missing| format!("in {name}, {missing}"));
                outcome.missing.extend(named);
                outcome.shows.push((name.clone(), part.shows.to_owned()));
                outcome.reports.push(done.report);
            }
            Err(error) => {
                watch.note(&format!("failed: {name}: {error}"));
                outcome.missing.push(format!("{name} has no results"));
                outcome.failed.push(FailedExperiment {
                    experiment: name.clone(),
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
        reports,
        failed,
        shows,
        ..
    } = outcome;
    if reports.is_empty() {
        return Err(LabError::Failure(format!(
            "none of the {} experiments has results: see the reasons above",
            failed.len()
        )));
    }
    let summary = pretty(&CombinedSummary::new(reports, failed))?;
    let page = combined_report_about(reports, failed, shows);
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
    use crate::names::BuiltIn;
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
