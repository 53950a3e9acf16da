//! One model from a folder of logs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use serde::Deserialize;
use taskscout_lab::learn::{LearnFiles, LearnOptions, Learnt, learn, save};
use taskscout_lab::{LabError, LogFeatures, LogOptions, Watcher};
use taskscout_logs::join::Method;
use taskscout_logs::{FactOptions, NamePattern};

use crate::errors::{Result, json, of_json, of_lab, raised};
use crate::model::Model;
use crate::parts::Raised;
use crate::threads::detached;

/// What is told from Python; the same as on the command line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    data: PathBuf,
    target: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    task: Option<String>,
    time: Option<String>,
    skip_bad_rows: bool,
    comment: Option<char>,
    times: Option<String>,
    interpolate: bool,
    tolerance: Option<f64>,
    constants: BTreeMap<String, f64>,
    name_pattern: Option<String>,
    tasks: Option<PathBuf>,
    labels: Vec<String>,
    parameters: Vec<String>,
    n_target: Option<usize>,
    test_share: f64,
    phi: LogFeatures,
    effective_rows: Option<f64>,
    scale_by: Option<String>,
    units: BTreeMap<String, String>,
    plan: usize,
    seed: u64,
    out: Option<PathBuf>,
    force: bool,
}

impl Settings {
    fn learn(self) -> std::result::Result<Learnt, LabError> {
        let files = self.out.as_deref();
        let files = files
            .map(|out| LearnFiles::open(out, self.force))
            .transpose()?;
        let learnt = learn(&self.options()?, &(Arc::new(()) as Watcher))?;
        if let Some(files) = files {
            save(&learnt, &files)?;
        }
        Ok(learnt)
    }

    fn options(self) -> std::result::Result<LearnOptions, LabError> {
        let logs = LogOptions {
            inputs: self.inputs,
            outputs: self.outputs,
            task: self.task,
            time: self.time,
            skip_bad_rows: self.skip_bad_rows,
            comment: self.comment,
            times: self.times,
            join: match self.interpolate {
                true => Method::Linear,
                false => Method::Nearest,
            },
            tolerance_s: self.tolerance,
            constants: self.constants,
        };
        let pattern = self.name_pattern.as_deref().map(NamePattern::parse);
        let usual = LearnOptions::new(&self.data, self.target);
        Ok(LearnOptions {
            read: logs.read_options_for(&self.data)?,
            facts: FactOptions {
                name_pattern: pattern.transpose()?,
                tasks: self.tasks,
                labels: self.labels,
                parameters: self.parameters,
            },
            n_target: self.n_target,
            test_share: self.test_share,
            phi: self.phi,
            effective_rows: self.effective_rows.unwrap_or(usual.effective_rows),
            scale_by: self.scale_by,
            units: self.units.into_iter().collect(),
            plan: self.plan,
            seed: self.seed,
            ..usual
        })
    }
}

/// Learns a model from settings as JSON: the model, what was found as JSON, the same in words and as HTML.
#[pyfunction]
pub(crate) fn learn_logs(
    py: Python<'_>,
    settings: &str,
) -> PyResult<(Model, String, String, String)> {
    let learnt: Result<_> = detached(py, || {
        let settings: Settings = of_json(settings)?;
        let learnt = settings.learn().map_err(of_lab)?;
        let summary = json(&learnt.summary)?;
        Ok((summary, learnt.text(), learnt.html(), learnt.model))
    });
    let (summary, text, html, model) = learnt.map_err(raised)?;
    Ok((Model::of(model, Raised::default()), summary, text, html))
}
