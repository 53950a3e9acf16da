//! Recordings made ready: which are learnt from, how they are scaled, and what is known of them.

use std::collections::BTreeMap;

use taskscout::data::{ColumnMoments, Samples, Stage, TaskData};
use taskscout::features::{FeatureMap, Features as _};
use taskscout::rng::{Purpose, derive, uniform};
use taskscout::task::{Task, TaskId};
use taskscout::train::{FeatureGroupSubset, PartialPooling};
use taskscout_io::tables::visible;
use taskscout_logs::{Facts, Logs, Recording, TaskTerms, gather, read};

use super::summary::LeftOut;
use super::{LearnOptions, learnt};
use crate::error::{LabError, Result};
use crate::log_features::Features;
use crate::memory::{NUMBER, Need};
use crate::pooling_need::{self, Pooled};
use crate::watch::Watcher;

/// Rows whose features are in memory at the same time.
const BATCH: usize = 4096;
/// Unknowns of a family up to which all features together are a set of their own: its equations take the cube of them.
const LARGEST: usize = 1500;
/// Rows of the target that the noise of sets of features in the sources counts for.
const NOISE_ROWS: f64 = 25.0;
/// Fewest rows of a recording that is learnt from.
const FEWEST: usize = 2;
/// The label whose levels have inputs of their own scale, where there is one.
const VEHICLE: &str = "vehicle";

/// Mean and scale of inputs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InputScaling {
    pub(super) mean: Vec<f64>,
    pub(super) scale: Vec<f64>,
}

/// Everything that learning starts from.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) logs: Logs,
    /// The target, as a place among the recordings.
    pub(super) target: usize,
    /// The outputs to learn, as places.
    pub(super) outputs: Vec<usize>,
    /// The recordings to learn from, as places.
    pub(super) sources: Vec<usize>,
    pub(super) left_out: Vec<LeftOut>,
    /// Rows of the target to learn from, in the order of time.
    learning: Vec<usize>,
    /// Rows of the target that judge the model; none if parts are left out in turn.
    pub(super) test: Vec<usize>,
    scalings: Vec<InputScaling>,
    /// What is taken off each output of the logs.
    pub(super) offsets: Vec<f64>,
    /// Those of the target.
    pub(super) features: Features,
    /// Of each recording, its features; they differ in what was learnt from the others.
    maps: Vec<FeatureMap>,
    /// The scaling level of each recording.
    level: Vec<usize>,
    /// Groups of features before those that were learnt, where some were.
    before_learnt: Option<usize>,
    pooling: PartialPooling,
    pub(super) terms: TaskTerms,
    /// The task features of each recording.
    pub(super) task_features: Vec<Vec<f64>>,
    pub(super) notes: Vec<String>,
    /// Those of them on columns that double precision tells little of.
    imprecise: Vec<String>,
}

impl Prepared {
    /// Reads the logs and makes them ready.
    pub(super) fn read(options: &LearnOptions, watch: &Watcher) -> Result<Self> {
        let mut logs = read(&options.data, &options.read)?;
        logs.check_sizes()?;
        gather(&mut logs, &options.data, &options.read, &options.facts)?;
        logs.units.extend(options.units.iter().cloned());
        for warning in &logs.warnings {
            watch.note(&format!("warning: {warning}"));
        }
        let prepared = Self::of(logs, options)?;
        for warning in &prepared.imprecise {
            watch.note(&format!("warning: {warning}"));
        }
        Ok(prepared)
    }

    /// Makes logs ready.
    pub(super) fn of(logs: Logs, options: &LearnOptions) -> Result<Self> {
        let (target, outputs) = find(&logs, &options.target)?;
        let (sources, left_out) = sources(&logs, target);
        if sources.is_empty() {
            return Err(LabError::Input(format!(
                "there is no recording beside {} to learn from: give a folder with more of them",
                visible(&options.target)
            )));
        }
        let (learning, test) = split(&logs.recordings[target], options)?;
        let features = Features::new(options.phi, logs.inputs.len())?;
        let mut pooling = PartialPooling {
            effective_rows: options.effective_rows,
            noise_rows: NOISE_ROWS,
            ..features.pooled.clone()
        };
        pooling.validate(features.map.dim())?;
        let used: Vec<&Facts> = used(&sources, target)
            .map(|at| &logs.recordings[at].facts)
            .collect();
        let terms = TaskTerms::of(&used);
        if !pooling.sets.is_empty() && terms.len() * features.map.dim() <= LARGEST {
            pooling.sets.push(FeatureGroupSubset {
                name: "all features".into(),
                groups: (0..pooling.groups.len()).collect(),
            });
        }
        let task_features = logs
            .recordings
            .iter()
            .map(|one| known_features(&terms, &one.facts))
            .collect();
        let mut prepared = Self {
            notes: logs
                .warnings
                .iter()
                .chain(terms.left_out())
                .cloned()
                .collect(),
            imprecise: Vec::new(),
            target,
            outputs,
            sources,
            left_out,
            learning,
            test,
            scalings: Vec::new(),
            offsets: Vec::new(),
            maps: vec![features.map.clone(); logs.recordings.len()],
            level: Vec::new(),
            before_learnt: None,
            features,
            pooling,
            terms,
            task_features,
            logs,
        };
        prepared.scale(options.scale_by.as_deref())?;
        Ok(prepared)
    }

    /// What is kept of all recordings while they are learnt from: for `--phi auto` most of it is what is known of each.
    pub(super) fn need(&self) -> Need {
        let (tasks, outputs) = (self.sources.len(), self.outputs.len());
        let mut sets = pooling_need::sets(&self.pooling, self.features.map.dim());
        let mut features = self.features.map.dim();
        if self.chooses_features() && tasks >= learnt::FEWEST {
            // Of the features that are learnt each output sees two, on sets that are small.
            sets.iter_mut().for_each(|set| *set += 2);
            features += 2 * outputs;
        }
        let threads = rayon::current_num_threads();
        let (d, tasks) = (features as f64, tasks as f64);
        let mut need = pooling_need::need(
            &sets,
            Pooled {
                tasks,
                shared: self.terms.len() as f64,
                outputs: outputs as f64,
                at_once: outputs.min(threads) as f64,
            },
        );
        need.add(
            format!("the statistics of {tasks} recordings with {features} features"),
            NUMBER * outputs as f64 * tasks * (0.5 * d * (d + 1.0) + d),
        );
        need
    }

    /// The name of the target's recording.
    pub(super) fn name(&self) -> &str {
        &self.logs.recordings[self.target].name
    }

    /// Rows of the target to learn from, in the order of time.
    pub(super) fn learning_rows(&self) -> &[usize] {
        &self.learning
    }

    /// How the inputs of a recording are standardised.
    pub(super) fn scaling(&self, recording: usize) -> &InputScaling {
        &self.scalings[recording]
    }

    /// The values of the features for some rows of a recording, row-major, standardised as those of `like`.
    pub(super) fn feature_rows(&self, recording: usize, rows: &[usize], like: usize) -> Vec<f64> {
        let x = self.input_rows(recording, rows, like);
        let mut out = vec![0.0; rows.len() * self.features.map.dim()];
        self.maps[like].apply(&x, &mut out);
        out
    }

    /// The inputs of some rows of a recording, row-major, standardised as those of `like`.
    pub(super) fn input_rows(&self, recording: usize, rows: &[usize], like: usize) -> Vec<f64> {
        let (width, scaling) = (self.logs.inputs.len(), &self.scalings[like]);
        let raw = &self.logs.recordings[recording].x;
        let mut x = Vec::with_capacity(rows.len() * width);
        for &row in rows {
            let values = raw[row * width..(row + 1) * width].iter();
            let standard = values.zip(&scaling.mean).zip(&scaling.scale);
            x.extend(standard.map(|((x, mean), scale)| (x - mean) / scale));
        }
        x
    }

    /// How an output is pooled.
    pub(super) fn pooling(&self, output: usize) -> PartialPooling {
        let mut pooling = self.pooling.clone();
        let place = self.outputs.iter().position(|&own| own == output);
        if let (Some(first), Some(place)) = (self.before_learnt, place) {
            let sets = learnt::sets(first, place, self.outputs.len());
            pooling.sets.extend(sets);
        }
        pooling
    }

    /// How the target's own rows are learnt from alone: without what was learnt from other recordings.
    pub(super) fn alone(&self) -> &PartialPooling {
        &self.pooling
    }

    /// Whether there are sets of features to choose from.
    pub(super) fn chooses_features(&self) -> bool {
        !self.pooling.sets.is_empty()
    }

    /// Rows past which more of the same recording tell little new.
    pub(super) fn effective_rows(&self) -> f64 {
        self.pooling.effective_rows
    }

    /// The recordings in use, those of a scaling level together.
    pub(super) fn levels(&self) -> Vec<Vec<usize>> {
        let mut levels: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in used(&self.sources, self.target) {
            levels.entry(self.level[at]).or_default().push(at);
        }
        levels.into_values().collect()
    }

    /// Puts what was learnt for each recording behind its features, a column for each of two regressions and each output.
    pub(super) fn set_learnt(&mut self, learnt: &[Option<FeatureMap>]) -> Result<()> {
        for (map, learnt) in self.maps.iter_mut().zip(learnt) {
            if let Some(learnt) = learnt {
                *map = FeatureMap::stacked(vec![map.clone(), learnt.clone()])?;
            }
        }
        self.features.map = self.maps[self.target].clone();
        self.before_learnt = Some(self.pooling.groups.len());
        let columns = 2 * self.outputs.len();
        self.pooling.groups.extend(std::iter::repeat_n(1, columns));
        Ok(())
    }

    /// An output of some rows of a recording, less the offset.
    pub(super) fn labels(&self, recording: usize, output: usize, rows: &[usize]) -> Vec<f64> {
        let recording = &self.logs.recordings[recording];
        let width = recording.outputs.len();
        let value = |row: &usize| recording.y[row * width + output] - self.offsets[output];
        rows.iter().map(value).collect()
    }

    /// The statistics of all source recordings, and of some rows of the target, for an output.
    pub(super) fn data(&self, output: usize, target_rows: &[usize]) -> Result<TaskData> {
        let d = self.features.map.dim();
        let mut data = TaskData::new(d, 1, self.terms.len());
        data.add_target(self.name(), self.task_features[self.target].clone())?;
        data.add_target_rows(0, &self.samples(self.target, output, target_rows)?)?;
        for &source in &self.sources {
            let recording = &self.logs.recordings[source];
            let task = Task::new(
                TaskId::from(recording.name.as_str()),
                self.task_features[source].clone(),
            );
            let all: Vec<usize> = (0..recording.rows()).collect();
            for rows in all.chunks(BATCH) {
                let samples = self.samples(source, output, rows)?;
                data.add_source_rows(
                    task.clone(),
                    &self.task_features[source],
                    Stage::WarmUp,
                    0,
                    &samples,
                )?;
            }
        }
        Ok(data)
    }

    fn samples(&self, recording: usize, output: usize, rows: &[usize]) -> Result<Samples> {
        let features = self.feature_rows(recording, rows, recording);
        let labels = self.labels(recording, output, rows);
        Ok(Samples::new(features, self.features.map.dim(), labels, 1)?)
    }

    /// Standardises inputs for each level of a label, and takes large offsets off the outputs.
    fn scale(&mut self, by: Option<&str>) -> Result<()> {
        let level =
            |recording: &Recording| recording.facts.labels.get(by.unwrap_or(VEHICLE)).cloned();
        if let Some(label) =
            by.filter(|_| self.logs.recordings.iter().all(|one| level(one).is_none()))
        {
            return Err(LabError::Input(format!(
                "--scale-by {label}: no recording has this label; name one of theirs"
            )));
        }
        let mut levels: Vec<Option<String>> = self.logs.recordings.iter().map(level).collect();
        levels.sort_unstable();
        levels.dedup();
        let (mut scalings, mut notes) = (Vec::new(), Vec::new());
        for own in &levels {
            let members: Vec<usize> = (0..self.logs.recordings.len())
                .filter(|&at| level(&self.logs.recordings[at]) == *own)
                .collect();
            let columns = self.input_columns(&members);
            let whose = own
                .as_ref()
                .map_or_else(String::new, |own| format!(" of {own}"));
            for (column, name) in self.logs.inputs.iter().enumerate() {
                notes.extend(columns.warning(column, &format!("input `{name}`{whose}")));
            }
            scalings.push(InputScaling {
                mean: columns.mean().to_vec(),
                scale: (0..self.logs.inputs.len())
                    .map(|at| columns.scale(at))
                    .collect(),
            });
        }
        let of = |one: &Recording| {
            let at = levels
                .iter()
                .position(|own| *own == level(one))
                .unwrap_or(0);
            scalings[at].clone()
        };
        self.scalings = self.logs.recordings.iter().map(of).collect();
        let place = |one: &Recording| levels.iter().position(|own| *own == level(one));
        let places = self
            .logs
            .recordings
            .iter()
            .map(|one| place(one).unwrap_or(0));
        self.level = places.collect();
        let names = self.logs.recordings[self.target].outputs.clone();
        for (output, name) in names.iter().enumerate() {
            let columns = self.output_column(output);
            self.offsets.push(columns.offset(0));
            if self.outputs.contains(&output) {
                notes.extend(columns.warning(0, &format!("output `{name}`")));
            }
        }
        self.notes.extend(notes.iter().cloned());
        self.imprecise = notes;
        Ok(())
    }

    /// The inputs of all rows of some recordings that are learnt from.
    fn input_columns(&self, members: &[usize]) -> ColumnMoments {
        let width = self.logs.inputs.len();
        ColumnMoments::of(width, || {
            let learnt = members
                .iter()
                .filter(|at| **at == self.target || self.sources.contains(at));
            learnt.flat_map(move |&at| {
                let recording = &self.logs.recordings[at];
                let rows = self.rows_learnt(at);
                rows.map(move |row| &recording.x[row * width..(row + 1) * width])
            })
        })
    }

    fn rows_learnt(&self, recording: usize) -> Box<dyn Iterator<Item = usize> + '_> {
        match recording == self.target {
            true => Box::new(self.learning.iter().copied()),
            false => Box::new(0..self.logs.recordings[recording].rows()),
        }
    }

    /// What an output's offset comes from: the source recordings, because few rows of the target are known.
    fn output_column(&self, output: usize) -> ColumnMoments {
        ColumnMoments::of(1, || {
            self.sources.iter().flat_map(|&at| {
                let recording = &self.logs.recordings[at];
                let rows = recording.y.chunks_exact(recording.outputs.len());
                rows.map(move |row| std::slice::from_ref(&row[output]))
            })
        })
    }
}

/// The task features of a recording before anything is estimated.
fn known_features(terms: &TaskTerms, facts: &Facts) -> Vec<f64> {
    let values: Vec<Option<f64>> = terms.parameters().map(|name| facts.value(name)).collect();
    terms.features(facts, &values)
}

/// The source recordings and the target, in the order of the logs.
fn used(sources: &[usize], target: usize) -> impl Iterator<Item = usize> {
    let mut all = sources.to_vec();
    all.push(target);
    all.sort_unstable();
    all.into_iter()
}

/// The recording and the outputs that a name stands for.
fn find(logs: &Logs, name: &str) -> Result<(usize, Vec<usize>)> {
    let whole = logs
        .recordings
        .iter()
        .position(|recording| recording.name == name);
    if let Some(recording) = whole {
        return Ok((
            recording,
            (0..logs.recordings[recording].outputs.len()).collect(),
        ));
    }
    let (recording, output) = logs.find(name).map_err(|error| {
        let message = error.to_string();
        LabError::Input(message.replacen("there is no task", "--target: there is no recording", 1))
    })?;
    Ok((recording, vec![output]))
}

/// The recordings to learn from, and those that are not, with the reason.
fn sources(logs: &Logs, target: usize) -> (Vec<usize>, Vec<LeftOut>) {
    let (mut sources, mut left_out) = (Vec::new(), Vec::new());
    let outputs = &logs.recordings[target].outputs;
    for (at, recording) in logs.recordings.iter().enumerate() {
        if at == target {
            continue;
        }
        let why = match recording.rows() {
            _ if recording.outputs != *outputs => "it has other outputs than the target",
            0 => "it has no rows",
            rows if rows < FEWEST => "it has a single row",
            _ => {
                sources.push(at);
                continue;
            }
        };
        left_out.push(LeftOut {
            recording: recording.name.clone(),
            reason: why.into(),
        });
    }
    (sources, left_out)
}

/// The target's rows to learn from, and those that judge.
fn split(target: &Recording, options: &LearnOptions) -> Result<(Vec<usize>, Vec<usize>)> {
    if !(0.0..1.0).contains(&options.test_share) {
        return Err(LabError::Input(format!(
            "--test-share is {}: give the part of the target's recording that judges, from 0 to below 1",
            options.test_share
        )));
    }
    let rows = target.rows();
    let first = ((1.0 - options.test_share) * rows as f64) as usize;
    let wanted = options.n_target.unwrap_or(first);
    if wanted > first || wanted < FEWEST {
        return Err(LabError::Input(match options.n_target {
            Some(wanted) => format!(
                "--n-target is {wanted}, but {} has {first} rows to learn from: ask for {FEWEST} to {first}",
                visible(&target.name)
            ),
            None => format!(
                "{} has {first} rows to learn from: record at least {FEWEST} of the target",
                visible(&target.name)
            ),
        }));
    }
    let learning = if wanted == first {
        (0..first).collect()
    } else {
        draw(first, wanted, options.seed)
    };
    let test = if options.test_share > 0.0 {
        (first..rows).collect()
    } else {
        let unused = |row: &usize| learning.binary_search(row).is_err();
        (0..rows).filter(unused).collect()
    };
    Ok((learning, test))
}

/// So many of the first rows, each at most once, in their order.
fn draw(rows: usize, wanted: usize, seed: u64) -> Vec<usize> {
    let mut rng = derive(seed, Purpose::Target, &[]);
    let mut all: Vec<usize> = (0..rows).collect();
    for at in 0..wanted {
        let left = rows - at;
        let pick = ((uniform(&mut rng) * left as f64) as usize).min(left - 1);
        all.swap(at, at + pick);
    }
    all.truncate(wanted);
    all.sort_unstable();
    all
}
