//! One model for one's own logs: which recordings help a target, why, and what would help next.
//!
//! [`learn`] reads a folder of recordings with their labels and parameters, pools all of them for one target, and hands back one
//! [`SavedModel`] of all outputs with a [`LearnSummary`]: what each recording added, what was left out, the error on rows of
//! the target that the model had not seen, what more rows would bring, and which conditions that nobody recorded to record next.
//!
//! ```
//! use std::sync::Arc;
//! use taskscout_lab::learn::{LearnOptions, learn};
//! use taskscout_logs::{Format, ReadOptions};
//!
//! // A cart on four surfaces: friction grows with the load, and a table beside the logs knows the loads.
//! let folder = tempfile::tempdir().unwrap();
//! let mut loads = "recording,load [kg]\n".to_owned();
//! for (name, load, rows) in [("a", 0.0, 60), ("b", 1.0, 60), ("c", 2.0, 60), ("new", 1.5, 12)] {
//!     let mut text = "speed,force\n".to_owned();
//!     for i in 0..rows {
//!         let speed = (i as f64 * 0.7).sin();
//!         let force = -(1.0 + load) * speed + 0.05 * (i as f64 * 12.9898).sin();
//!         text += &format!("{speed},{force}\n");
//!     }
//!     std::fs::write(folder.path().join(format!("{name}.csv")), text).unwrap();
//!     loads += &format!("{name},{load}\n");
//! }
//! std::fs::write(folder.path().join("tasks.csv"), loads).unwrap();
//! let format = Format::Table {
//!     inputs: vec!["speed".into()],
//!     outputs: vec!["force".into()],
//!     task: None,
//!     time: None,
//! };
//! let options = LearnOptions {
//!     read: ReadOptions { format, ..ReadOptions::default() },
//!     ..LearnOptions::new(folder.path(), "new")
//! };
//! let learnt = learn(&options, &(Arc::new(()) as taskscout_lab::Watcher))?;
//! let force = learnt.model.predict(&[1.0])?[0].mean;
//! assert!((force + 2.5).abs() < 0.2, "{force}");
//! assert_eq!(learnt.summary.recordings.len(), 3);
//! # Ok::<(), taskscout_lab::LabError>(())
//! ```

mod fit;
mod held_out;
mod learnt;
mod model;
mod outlook;
mod prepare;
mod relevance;
mod report;
mod save;
mod summary;
mod text;
mod unknown;
pub mod words;

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use taskscout_logs::join::Method;
use taskscout_logs::{Expression, FactOptions, Format, ReadOptions};
use taskscout_models::{InputExpressions, SavedModel};

use crate::error::{LabError, Result};
use crate::names::LogFeatures;
use crate::watch::Watcher;

use self::fit::OutputFit;
use self::prepare::Prepared;
pub use self::save::{LearnFiles, save};
pub use self::summary::{
    ConditionForecast, EstimatedParameter, Fact, LearnSummary, LeftOut, OutputSummary,
    PlannedRecording, RecordingSummary, Similarity, TargetForecast,
};

/// What is learnt from, and for what.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnOptions {
    /// The folder of logs, or a file.
    pub data: PathBuf,
    /// How they are read.
    pub read: ReadOptions,
    /// Where labels and parameters of recordings come from.
    pub facts: FactOptions,
    /// The target: the name of a recording, or of one output of it.
    pub target: String,
    /// Rows of the target to learn from, drawn from all of its recording; all rows if not given.
    pub n_target: Option<usize>,
    /// The last part of the target's recording that nothing is learnt from, but that judges the model; if 0, the error is that of
    /// parts left out in turn.
    pub test_share: f64,
    /// What outputs are linear in.
    pub phi: LogFeatures,
    /// Rows past which more of the same recording tell little new.
    pub effective_rows: f64,
    /// Inputs are standardised for each level of this label; of `vehicle` where there is one, if not given.
    pub scale_by: Option<String>,
    /// What columns are measured in, by their names, beside what the logs say.
    pub units: Vec<(String, String)>,
    /// How many recordings to plan.
    pub plan: usize,
    /// What random draws derive from.
    pub seed: u64,
}

impl LearnOptions {
    /// The usual settings for a target of a folder.
    #[must_use]
    pub fn new(data: impl AsRef<Path>, target: impl Into<String>) -> Self {
        Self {
            data: data.as_ref().to_owned(),
            read: ReadOptions::default(),
            facts: FactOptions::default(),
            target: target.into(),
            n_target: None,
            test_share: 0.0,
            phi: LogFeatures::Auto,
            effective_rows: taskscout::train::PartialPooling::default().effective_rows,
            scale_by: None,
            units: Vec::new(),
            plan: 3,
            seed: 0,
        }
    }
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Learnt {
    /// The model of all outputs of the target.
    pub model: SavedModel,
    /// What was found.
    pub summary: LearnSummary,
}

impl Learnt {
    /// What was found, in words and tables for people.
    #[must_use]
    pub fn text(&self) -> String {
        text::page(&self.summary)
    }

    /// The same as one HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        report::page(&self.summary)
    }
}

/// How inputs were computed from the columns of robots' logs, for the model.
fn expressions(read: &ReadOptions) -> Result<Option<InputExpressions>> {
    let Format::Robot(robot) = &read.format else {
        return Ok(None);
    };
    let complete = |text: &String| {
        let found = Expression::with_constants(text, &robot.constants);
        found.map(|one| one.to_string())
    };
    let inputs = robot.inputs.iter().map(complete);
    let inputs: std::result::Result<Vec<String>, _> = inputs.collect();
    Ok(Some(InputExpressions {
        inputs: inputs.map_err(taskscout_logs::Error::from)?,
        times: robot.times.clone(),
        interpolate: robot.method == Method::Linear,
        tolerance_s: robot.tolerance_s,
    }))
}

/// Learns one model for a target from all recordings.
///
/// # Errors
/// Logs that cannot be read, a target that is not there or has too few rows, nothing beside it, or settings that make no sense.
pub fn learn(options: &LearnOptions, watch: &Watcher) -> Result<Learnt> {
    if options.phi == LogFeatures::Mlp {
        return Err(LabError::Input(
            "--phi mlp needs an experiment: give linear, quadratic, fourier or auto here, or use `taskscout reproduce drone`".into(),
        ));
    }
    let mut prepared = Prepared::read(options, watch)?;
    let need = prepared.need();
    need.check("learn from fewer recordings, or on simpler features with --phi linear")?;
    need.note().iter().for_each(|note| watch.note(note));
    let estimated = unknown::estimate(&mut prepared)?;
    let known = |one: &EstimatedParameter| one.recording != prepared.name();
    // Where the target's own parameters are guessed from its rows, regressions at the guess would have seen them.
    if estimated.iter().all(known) {
        learnt::add(&mut prepared, options.seed)?;
    }
    let fits: Vec<OutputFit> = prepared
        .outputs
        .par_iter()
        .map(|&output| OutputFit::new(&prepared, output, prepared.learning_rows()))
        .collect::<Result<_>>()?;
    let held_out = held_out::judge(&prepared, &fits)?;
    let model = model::model(&prepared, &fits, expressions(&options.read)?)?;
    let recordings = relevance::recordings(&prepared, &fits)?;
    let outlook = outlook::look(&prepared, &fits, &held_out, options.plan)?;
    let summary = summary::summary(
        &prepared,
        &fits,
        (recordings, estimated),
        (held_out, outlook),
    );
    Ok(Learnt { model, summary })
}
