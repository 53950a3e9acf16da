//! Several runs and one report on all of them: every experiment of the paper, or one experiment on several ground truths.

mod paper;
mod part;
mod single;
mod truths;
mod truths_report;

use std::path::{Path, PathBuf};

use taskscout::registry::Registry;
use taskscout_report::{
    CombinedSummary, ExperimentReport, FailedExperiment, REPORT_FILE, SavedReport, write_atomically,
};

pub use truths::{MOST_TRUTHS, OverTruths, run_truths};

use crate::config;
use crate::error::{LabError, Result};
use crate::experiment::out_folder;
use crate::folder::TopFolder;
use crate::options::AllOptions;
use crate::publish::pretty;
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
    verdicts: Vec<String>,
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

    /// What each experiment says in a sentence.
    #[must_use]
    pub fn verdicts(&self) -> &[String] {
        &self.verdicts
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
    all: &AllOptions,
    registry: &Registry,
    watch: &Watcher,
    each: &mut dyn FnMut(&str),
) -> Result<Together> {
    let options = &all.common;
    let out = out_folder(NAME, options);
    let mut parts = plan(&out, all, registry, watch)?;
    let top = TopFolder::open(
        &out,
        &[REPORT, REPORT_FILE, SUMMARY],
        options,
        watch.as_ref(),
    )?;
    if all.drone.data.is_none() {
        watch.note(WITHOUT_DATA);
    }
    parts.iter_mut().try_for_each(|part| part.begin(watch))?;
    let mut outcome = run_parts(&parts, watch, each);
    let missing = std::mem::take(&mut outcome.missing);
    let (summary, verdicts) = publish(&out, outcome)?;
    Ok(Together {
        summary,
        verdicts,
        missing,
        out,
        _parts: parts,
        _top: top,
    })
}

/// All parts, checked. Changes nothing.
fn plan(
    out: &Path,
    options: &AllOptions,
    registry: &Registry,
    watch: &Watcher,
) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for part in paper::parts(options) {
        let (config, own) = (config::built_in(part.experiment)?, part.options);
        let (name, path) = (part.name.to_owned(), out.join(part.name));
        let truths = own.world.synthetic().and_then(|own| own.truths);
        let made = match truths {
            Some(_) => Truths::new(&config, path, &own, registry, watch)
                .map(|runs| Part::truths(name, part.shows, runs)),
            None => Single::new(config, path, own, registry, watch)
                .map(|run| Part::single(name, part.shows, run)),
        };
        parts.push(made.map_err(|error| error.after(&format!("in experiment {}, ", part.name)))?);
    }
    let theory = out.join("theory");
    parts.push(Part::theory(paper::THEORY, theory, options, watch)?);
    Ok(parts)
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

/// Writes the report and the summary on all, and gives the latter with what each experiment says.
fn publish(out: &Path, outcome: Outcome) -> Result<(String, Vec<String>)> {
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
    let summary = pretty(&CombinedSummary::new(&reports, &failed))?;
    let saved = SavedReport {
        experiments: reports,
        failed,
        shows,
    };
    let wrong = |error: taskscout_report::Error| LabError::Failure(error.to_string());
    let (page, kept) = (saved.page(), saved.to_json().map_err(wrong)?);
    for (file, text) in [(SUMMARY, &summary), (REPORT_FILE, &kept), (REPORT, &page)] {
        write_atomically(out.join(file), text.as_bytes())
            .map_err(|error| LabError::Failure(error.to_string()))?;
    }
    Ok((summary, saved.verdicts()))
}
