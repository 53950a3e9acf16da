//! The report of a run from its folder: finished, unfinished, or of an earlier version.
//!
//! A run keeps what its report shows as `report.json`, so that the page can be written again. Without that file a report
//! is made of what the folder has: `results.csv` or the trials that finished so far, settings and plans.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use taskscout_plot::Theme;

use crate::additions::{Drawing, ReportFigure};
use crate::error::{Error, Result};
use crate::failure::FailedExperiment;
use crate::floor::with_floor;
use crate::html::{ExperimentReport, combined_report_about, headline};
use crate::ordered::OrderedMap;
use crate::plans::{PlanRow, read_plans};
use crate::plots::loss_plot;
use crate::results::read_csv;
use crate::rows::{ResultRow, split_experiments};
use crate::summary::{StrategySummary, Summary};

/// The name of what a run keeps of its report.
pub const REPORT_FILE: &str = "report.json";
/// Bytes of a file that are read.
const LARGEST: u64 = 256 << 20;

/// All that a page of a run, or of several, shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedReport {
    /// The experiments.
    pub experiments: Vec<ExperimentReport>,
    /// Those without results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedExperiment>,
    /// What each experiment, by its title, shows in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<(String, String)>,
}

/// A figure as files: a picture and its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureFiles {
    /// The name of both, without ending.
    pub name: String,
    /// The picture.
    pub svg: String,
    /// The numbers.
    pub csv: String,
}

impl SavedReport {
    /// What one experiment shows.
    #[must_use]
    pub fn of(report: &ExperimentReport) -> Self {
        Self {
            experiments: vec![report.clone()],
            ..Self::default()
        }
    }

    /// As text for [`REPORT_FILE`].
    ///
    /// # Errors
    /// What cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|error| unreadable(Path::new(REPORT_FILE), &error.to_string()))
    }

    /// The page.
    #[must_use]
    pub fn page(&self) -> String {
        combined_report_about(&self.experiments, &self.failed, &self.shows)
    }

    /// What each experiment says in a sentence, with its name where there are several.
    #[must_use]
    pub fn verdicts(&self) -> Vec<String> {
        let one = |report: &ExperimentReport| {
            let said = report.verdicts();
            let named = |sentence: String| match self.experiments.len() {
                1 => sentence,
                _ => format!("{}: {sentence}", report.title),
            };
            said.into_iter().map(named).collect::<Vec<_>>()
        };
        self.experiments.iter().flat_map(one).collect()
    }

    /// Every figure as a picture and its numbers.
    #[must_use]
    pub fn figure_files(&self) -> Vec<FigureFiles> {
        let several = self.experiments.len() > 1;
        let one = |report: &ExperimentReport| {
            let mut files = report.figure_files();
            for file in files.iter_mut().filter(|_| several) {
                file.name = format!("{}-{}", file_stem(&report.title), file.name);
            }
            files
        };
        self.experiments.iter().flat_map(one).collect()
    }

    /// The report of a folder: of the run in it, or of all runs in the folders inside.
    ///
    /// # Errors
    /// A folder without any run, or whose files cannot be read.
    pub fn read(folder: &Path) -> Result<Self> {
        if let Some(found) = read_one(folder)? {
            return Ok(found);
        }
        let mut inside: Vec<PathBuf> = fs::read_dir(folder)
            .map_err(|error| unreadable(folder, &error.to_string()))?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
        inside.sort();
        let mut all = Self::default();
        for path in inside {
            let Some(found) = read_one(&path)? else {
                continue;
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            all.failed.extend(found.failed);
            all.experiments
                .extend(found.experiments.into_iter().map(|mut report| {
                    if report.title != name {
                        report.title = format!("{name}: {}", report.title);
                    }
                    report
                }));
        }
        match all.experiments.is_empty() {
            true => Err(unreadable(
                folder,
                "it holds no results of an experiment: give the folder of a run, or one that holds such folders",
            )),
            false => Ok(all),
        }
    }
}

impl ExperimentReport {
    /// What it says in a sentence, for each target that it says something of.
    #[must_use]
    pub fn verdicts(&self) -> Vec<String> {
        let sections = self.sections().into_iter();
        sections
            .filter_map(|section| {
                let sentence = headline(&section)?;
                Some(match section.target {
                    Some(target) => format!("target {target}: {sentence}"),
                    None => sentence,
                })
            })
            .collect()
    }

    /// Every figure as a picture and its numbers: losses, and those that its world adds.
    #[must_use]
    pub fn figure_files(&self) -> Vec<FigureFiles> {
        let own = self.figures.iter().map(ReportFigure::files);
        self.loss_files().into_iter().chain(own).collect()
    }

    /// Loss against budget for each target.
    #[must_use]
    pub fn loss_files(&self) -> Vec<FigureFiles> {
        let sections = self.sections();
        let several = sections.len() > 1;
        let file = |(index, section): (usize, crate::columns::Section<'_>)| {
            let rows = self.rows_of(section.target);
            let plot = loss_plot(rows, section.judged);
            let plot = with_floor(plot, section.floor.as_ref());
            FigureFiles {
                name: match several {
                    true => format!("loss-t{index}"),
                    false => "loss".to_owned(),
                },
                svg: plot.to_svg(Theme::Standalone, "loss"),
                csv: plot.numbers().to_csv(),
            }
        };
        sections.into_iter().enumerate().map(file).collect()
    }
}

impl ReportFigure {
    /// The figure as files.
    #[must_use]
    pub fn files(&self) -> FigureFiles {
        let drawing: &Drawing = &self.figure;
        FigureFiles {
            name: self.name.clone(),
            svg: drawing.to_svg(Theme::Standalone, &self.name),
            csv: drawing.numbers().to_csv(),
        }
    }
}

/// A name as part of the name of a file, which any file system takes.
#[must_use]
pub fn file_stem(name: &str) -> String {
    let letter = |c: char| match c.is_alphanumeric() || "-_.".contains(c) {
        true => c,
        false => '-',
    };
    let stem: String = name.trim_start_matches('.').chars().map(letter).collect();
    match stem.is_empty() {
        true => "unnamed".to_owned(),
        false => stem,
    }
}

fn unreadable(path: &Path, problem: &str) -> Error {
    Error::Folder {
        path: path.display().to_string(),
        problem: problem.to_owned(),
    }
}

fn text(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok()?.len();
    (size <= LARGEST).then(|| fs::read_to_string(path).ok())?
}

/// The report of the run in a folder; none if there is no run.
fn read_one(folder: &Path) -> Result<Option<SavedReport>> {
    let saved = text(&folder.join(REPORT_FILE));
    // Of another version it may not be readable; the tables are.
    let saved = saved.and_then(|text| serde_json::from_str::<SavedReport>(&text).ok());
    if let Some(mut saved) = saved.filter(|saved| !saved.experiments.is_empty()) {
        saved.experiments.iter_mut().for_each(restore_predictors);
        return Ok(Some(saved));
    }
    let rows = run_rows(folder)?;
    if rows.is_empty() {
        return Ok(None);
    }
    let json =
        |name: &str| -> Option<Value> { serde_json::from_str(&text(&folder.join(name))?).ok() };
    let settings = json("settings.json").unwrap_or(Value::Null);
    let summary = json("summary.json");
    let known = summary.and_then(|value| serde_json::from_value::<Summary>(value).ok());
    let unfinished = !folder.join("results.csv").is_file();
    let mut experiments = Vec::new();
    for rows in split_experiments(&rows) {
        let paper = known.as_ref().map_or(Value::Null, |own| own.paper.clone());
        let mut report = ExperimentReport::new(rows, paper, settings.clone())?;
        if let Some(known) = known.clone() {
            report.summary = known;
        }
        report.notes.extend(unfinished.then(|| {
            "This run is not finished: what follows is of the trials that were over when this page was written.".to_owned()
        }));
        report.add_plans(&run_plans(folder), &[], &[]);
        experiments.push(report);
    }
    Ok(Some(SavedReport {
        experiments,
        ..SavedReport::default()
    }))
}

/// Counts again which predictors were handed back, which summaries do not keep.
fn restore_predictors(report: &mut ExperimentReport) {
    let Ok(counted) = Summary::from_rows(&report.rows, Value::Null) else {
        return;
    };
    let restore = |own: &mut OrderedMap<StrategySummary>, from: &OrderedMap<StrategySummary>| {
        *own = own
            .iter()
            .map(|(name, summary)| {
                let mut summary = summary.clone();
                if let Some(counted) = from.get(name) {
                    summary.predictors.clone_from(&counted.predictors);
                }
                (name.to_owned(), summary)
            })
            .collect();
    };
    restore(&mut report.summary.strategies, &counted.strategies);
    for (own, from) in report.summary.targets.iter_mut().zip(&counted.targets) {
        restore(&mut own.strategies, &from.strategies);
    }
}

/// Files in the folder of trials that end so, by name.
fn trial_files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("trials")).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    files.retain(|path| {
        let Some(name) = name(path) else { return false };
        let plans = name.ends_with(".plans.csv");
        name.ends_with(ending) && plans == ending.contains("plans")
    });
    files.sort();
    files
}

/// The results in the folder of a run: of all trials, or of those that finished so far; nothing if it holds no run.
///
/// # Errors
/// A table that is damaged.
pub fn run_rows(folder: &Path) -> Result<Vec<ResultRow>> {
    let table = folder.join("results.csv");
    if let Some(text) = text(&table) {
        return read_csv(text.as_bytes(), &table.display().to_string());
    }
    let mut rows = Vec::new();
    for file in trial_files(folder, ".csv") {
        if let Some(text) = text(&file) {
            rows.extend(read_csv(text.as_bytes(), &file.display().to_string())?);
        }
    }
    Ok(rows)
}

/// The plans in the folder of a run, likewise; what cannot be read is left out.
#[must_use]
pub fn run_plans(folder: &Path) -> Vec<PlanRow> {
    if let Some(text) = text(&folder.join("plans.csv")) {
        return read_plans(&text, "plans.csv").unwrap_or_default();
    }
    let read = |file: &PathBuf| read_plans(&text(file)?, "plans.csv").ok();
    let files = trial_files(folder, ".plans.csv");
    files.iter().filter_map(read).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_balanced, curve};
    use crate::{Bar, Bars, write_csv, write_plans};
    use serde_json::json;

    fn report() -> ExperimentReport {
        let mut rows = curve("passive", 2, &[(100, 8.0), (200, 4.0)]);
        rows.extend(curve("aware", 2, &[(100, 5.0), (200, 1.0)]));
        ExperimentReport::new(rows, json!({}), json!({"version": "9.9"})).unwrap()
    }

    fn table(rows: &[ResultRow]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_csv(rows, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_was_kept_gives_the_same_page() {
        let mut report = report();
        report.written = Some("2026-01-02 03:04 UTC".into());
        for row in &mut report.rows {
            row.predictor = Some("shared".into());
        }
        report.summary = Summary::from_rows(&report.rows, json!({})).unwrap();
        report.figures.push(ReportFigure {
            target: None,
            name: "odd".into(),
            figure: Bars {
                bars: vec![Bar {
                    name: "nothing".into(),
                    value: f64::NAN,
                    ..Bar::default()
                }],
                ..Bars::default()
            }
            .into(),
            caption: String::new(),
        });
        let saved = SavedReport::of(&report);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(REPORT_FILE), saved.to_json().unwrap()).unwrap();
        let read = SavedReport::read(folder.path()).unwrap();
        assert_eq!(read.page(), saved.page());
        let page = read.page();
        assert!(page.contains("2026-01-02 03:04 UTC") && page.contains("taskscout 9.9"));
        let names: Vec<String> = read.figure_files().into_iter().map(|f| f.name).collect();
        assert_eq!(names, ["loss", "odd"]);
        assert_eq!(
            read.verdicts(),
            ["aware: the same error as passive with 62 % of the data."]
        );
    }

    #[test]
    fn a_bound_is_kept_as_a_bound() {
        let mut rows = curve("passive", 2, &[(100, 8.0), (200, 4.0)]);
        rows.extend(curve("aware", 2, &[(100, 3.0), (200, 1.0)]));
        let report = ExperimentReport::new(rows, json!({}), json!({})).unwrap();
        let saved = SavedReport::of(&report);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(REPORT_FILE), saved.to_json().unwrap()).unwrap();
        let read = SavedReport::read(folder.path()).unwrap();
        assert!(read.page().contains("≤\u{a0}50\u{a0}%"));
        assert_eq!(read.page(), saved.page());
        assert!(read.verdicts()[0].contains("at most 50 %"));
    }

    #[test]
    fn an_unfinished_run_and_folders_of_runs_have_pages() {
        let folder = tempfile::tempdir().unwrap();
        let trials = folder.path().join("one/trials");
        fs::create_dir_all(&trials).unwrap();
        let rows = report().rows;
        let (passive, aware): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| row.strategy == "passive");
        fs::write(trials.join("passive-0.csv"), table(&passive)).unwrap();
        let plan = PlanRow {
            strategy: "passive".into(),
            task: "<calm>".into(),
            parameters: vec![1.0, 2.0],
            n: 3,
            ..PlanRow::default()
        };
        fs::write(trials.join("passive-0.plans.csv"), write_plans(&[plan])).unwrap();
        let page = SavedReport::read(&folder.path().join("one"))
            .unwrap()
            .page();
        assert_balanced(&page);
        assert!(page.contains("This run is not finished") && page.contains("&lt;calm&gt;"));
        let two = folder.path().join("two");
        fs::create_dir_all(&two).unwrap();
        fs::write(two.join("results.csv"), table(&[passive, aware].concat())).unwrap();
        let both = SavedReport::read(folder.path()).unwrap();
        let titles: Vec<&str> = both
            .experiments
            .iter()
            .map(|one| one.title.as_str())
            .collect();
        assert_eq!(titles, ["one: e", "two: e"]);
        assert_balanced(&both.page());
    }

    #[test]
    fn what_holds_no_run_is_refused_and_damaged_tables_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let empty = SavedReport::read(folder.path()).unwrap_err().to_string();
        assert!(empty.contains("it holds no results"), "{empty}");
        fs::write(folder.path().join("results.csv"), "nonsense\n1\n").unwrap();
        let damaged = SavedReport::read(folder.path()).unwrap_err().to_string();
        assert!(damaged.contains("results.csv"), "{damaged}");
        let gone = SavedReport::read(&folder.path().join("no")).unwrap_err();
        assert!(gone.to_string().contains("no"), "{gone}");
    }
}
