//! Run folders of experiments, followed while trials finish.
//!
//! A request names a run by the name that it has in the list; which folder that is was decided when the server looked
//! there. So no path comes from a request.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Serialize;
use serde_json::Value;
use taskscout_report::{Curve, Metric, SavedReport, mean_curves, run_plans, run_rows};

/// Bytes of a table or a report that are read.
const LARGEST: u64 = 64 << 20;
/// Runs that are listed.
const MOST: usize = 500;
/// Tasks that are shown of each strategy.
const TASKS: usize = 8;

/// A run in the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RunHead {
    pub(crate) run: String,
    /// The experiment that it is of.
    experiment: Option<String>,
    finished: bool,
    /// Trials that finished.
    trials: usize,
    changed_us: i64,
    /// What the folder looks like: another number where something changed.
    #[serde(skip)]
    pub(crate) mark: u64,
}

/// A run as its page gets it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RunView {
    #[serde(flatten)]
    head: RunHead,
    settings: Option<Value>,
    /// Whether a report was written.
    report: bool,
    targets: Vec<TargetView>,
    /// Tasks with the most samples, by strategy.
    tasks: Vec<TaskUse>,
    /// What a finished run says, a sentence for each target.
    verdicts: Vec<String>,
    /// Why something is not shown.
    trouble: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct TargetView {
    target: Option<String>,
    /// Losses of the predictor that is handed back.
    returned: Vec<Curve>,
    /// Losses of the shared predictor.
    shared: Vec<Curve>,
}

#[derive(Debug, Clone, Serialize)]
struct TaskUse {
    strategy: String,
    task: String,
    parameters: Vec<f64>,
    samples: usize,
    reason: String,
}

/// The runs in a folder, by name: the folder itself if it is one, or those in it.
pub(crate) fn scan(folder: &Path) -> BTreeMap<String, (PathBuf, RunHead)> {
    let mut found = BTreeMap::new();
    let mut take = |path: PathBuf| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        if let Some(head) = name.and_then(|name| head(&path, name)) {
            found.insert(head.run.clone(), (path, head));
        }
    };
    // `.` has no name of its own.
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    take(folder.clone());
    let inside = fs::read_dir(&folder).into_iter().flatten().flatten();
    let folders = inside
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    folders.take(MOST).for_each(take);
    found
}

fn head(path: &Path, run: String) -> Option<RunHead> {
    let files = [
        "settings.json",
        "results.csv",
        "summary.json",
        "report.html",
    ];
    let mut times: Vec<(i64, u64)> = Vec::new();
    for name in files {
        times.extend(stamp(&path.join(name)));
    }
    let mut trials = 0;
    for entry in fs::read_dir(path.join("trials"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            trials += 1;
            times.extend(stamp(&path));
        }
    }
    let changed_us = times.iter().map(|(time, _)| *time).max()?;
    let mix = |mark: u64, (time, size): &(i64, u64)| {
        (mark ^ time.unsigned_abs() ^ size.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    Some(RunHead {
        experiment: experiment(path),
        finished: path.join("summary.json").is_file(),
        trials,
        changed_us,
        mark: times.iter().fold(trials as u64, mix),
        run,
    })
}

fn stamp(path: &Path) -> Option<(i64, u64)> {
    let about = fs::metadata(path).ok()?;
    let since = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((i64::try_from(since.as_micros()).ok()?, about.len()))
}

fn text(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok()?.len();
    if size > LARGEST {
        return None;
    }
    fs::read_to_string(path).ok()
}

fn settings(path: &Path) -> Option<Value> {
    serde_json::from_str(&text(&path.join("settings.json"))?).ok()
}

fn experiment(path: &Path) -> Option<String> {
    let settings = settings(path)?;
    let name = settings
        .get("experiment")
        .or_else(|| settings.get("name"))?;
    name.as_str().map(str::to_owned)
}

/// The report of a run, if it was written.
pub(crate) fn report(path: &Path) -> Option<String> {
    text(&path.join("report.html"))
}

impl RunView {
    /// What a run folder has now.
    pub(crate) fn read(path: &Path, head: RunHead) -> Self {
        let (rows, trouble) = match run_rows(path) {
            Ok(rows) => (rows, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let mut targets: Vec<Option<&str>> = Vec::new();
        for row in &rows {
            if !targets.contains(&row.target.as_deref()) {
                targets.push(row.target.as_deref());
            }
        }
        let of = |target: Option<&str>| {
            let own = || rows.iter().filter(|row| row.target.as_deref() == target);
            TargetView {
                target: target.map(str::to_owned),
                returned: mean_curves(own(), Metric::ReturnedLoss),
                shared: mean_curves(own(), Metric::TestLoss),
            }
        };
        Self {
            settings: settings(path),
            report: path.join("report.html").is_file(),
            targets: targets.into_iter().map(of).collect(),
            tasks: tasks(path),
            verdicts: verdicts(path, &head),
            trouble,
            head,
        }
    }
}

/// What the report of a finished run says. Runs in folders inside have pages of their own.
fn verdicts(path: &Path, head: &RunHead) -> Vec<String> {
    match head.finished {
        true => SavedReport::read(path).map_or_else(|_| Vec::new(), |report| report.verdicts()),
        false => Vec::new(),
    }
}

/// The tasks that got the most samples of each strategy, over all rounds and seeds.
fn tasks(path: &Path) -> Vec<TaskUse> {
    let mut found: BTreeMap<(String, String), TaskUse> = BTreeMap::new();
    for plan in run_plans(path) {
        let key = (plan.strategy.clone(), plan.task.clone());
        let entry = found.entry(key).or_insert_with(|| TaskUse {
            strategy: plan.strategy,
            task: plan.task,
            parameters: plan.parameters,
            samples: 0,
            reason: taskscout_report::plain_reason(&plan.reason),
        });
        entry.samples += plan.n;
    }
    let mut by_strategy: BTreeMap<String, Vec<TaskUse>> = BTreeMap::new();
    for task in found.into_values() {
        by_strategy
            .entry(task.strategy.clone())
            .or_default()
            .push(task);
    }
    let top = |mut tasks: Vec<TaskUse>| {
        tasks.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.task.cmp(&b.task)));
        tasks.truncate(TASKS);
        tasks
    };
    by_strategy.into_values().flat_map(top).collect()
}
