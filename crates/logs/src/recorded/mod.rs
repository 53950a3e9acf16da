//! Recordings as tasks: which of them help another one?
//!
//! Every recording and output is a task. Rows are split by time: what comes first may be learnt
//! from, what comes last judges. Inputs are standardised for each vehicle with its own rows of the
//! first part, so that a neutral attitude or a hovering thrust is zero for all of them, and an output
//! whose offset is large beside its spread has it taken off ([`Recorded::offset`]): predictors are of
//! what is left, losses in the units of the logs are the same. Rows are drawn without replacement: a
//! task has as many as were recorded.

mod scaling;
mod tasks;

use faer::Mat;
use rand_distr::{Distribution as _, StandardUniform};
use taskscout::data::Samples;
use taskscout::error::{Error, Result};
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::Space;
use taskscout::task::TaskId;
use taskscout::train::Predictor;

pub use self::scaling::Scaling;
use self::scaling::Scalings;
pub use self::tasks::{RecordedTask, TaskKnowledge};
use crate::recording::{Logs, Recording};

/// How recordings become tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedConfig {
    /// `ψ_X`, of standardised inputs.
    pub input_features: FeatureMap,
    /// What is known of tasks.
    pub knowledge: TaskKnowledge,
    /// The part of a recording, from its start, that may be learnt from.
    pub train_share: f64,
}

/// Rows that judge predictors of a target.
#[derive(Debug)]
struct Exam {
    features: Mat<f64>,
    labels: Vec<f64>,
}

/// Recordings as a world to learn from.
#[derive(Debug)]
pub struct Recorded {
    logs: Logs,
    config: RecordedConfig,
    tasks: Vec<RecordedTask>,
    targets: Vec<usize>,
    scalings: Scalings,
    task_features: FeatureMap,
    exams: Vec<Exam>,
}

impl Recorded {
    /// Makes tasks of recordings; targets are named by recording and output, as
    /// [`Logs::find`] gives them.
    ///
    /// # Errors
    /// A recording too short to be split, a target that there is not, nothing beside the target, or
    /// features of another number of inputs.
    pub fn new(logs: Logs, targets: &[(usize, usize)], config: RecordedConfig) -> Result<Self> {
        if !(config.train_share > 0.0 && config.train_share < 1.0) {
            return Err(Error::setting(
                "train_share",
                format!(
                    "is {}: give the part of a recording to learn from, between 0 and 1",
                    config.train_share
                ),
            ));
        }
        if config.input_features.input_dim() != logs.inputs.len() {
            return Err(Error::setting(
                "input_features",
                format!(
                    "take {} inputs, but the logs have {}",
                    config.input_features.input_dim(),
                    logs.inputs.len()
                ),
            ));
        }
        let mut tasks = tasks::plain(&logs, config.train_share)?;
        let position = |&(recording, output): &(usize, usize)| {
            let same = |task: &RecordedTask| (task.recording, task.output) == (recording, output);
            tasks.iter().position(same).ok_or_else(|| {
                Error::State(format!(
                    "there is no output {output} of recording {recording} to be a target: the logs have {} recordings",
                    logs.recordings.len()
                ))
            })
        };
        let targets = targets.iter().map(position).collect::<Result<Vec<_>>>()?;
        if tasks.len() <= targets.len().min(1) {
            return Err(Error::State(
                "there is no recording beside the target: give more of them".into(),
            ));
        }
        let task_features = config.knowledge.describe(&mut tasks)?;
        let scalings = scaling::scalings(&logs, config.train_share, &tasks, &targets);
        let mut world = Self {
            logs,
            config,
            tasks,
            targets,
            scalings,
            task_features,
            exams: Vec::new(),
        };
        world.exams = world
            .targets
            .iter()
            .map(|&target| world.exam(target))
            .collect();
        Ok(world)
    }

    /// All tasks, targets among them.
    #[must_use]
    pub fn tasks(&self) -> &[RecordedTask] {
        &self.tasks
    }

    /// The targets, as indices of tasks.
    #[must_use]
    pub fn targets(&self) -> &[usize] {
        &self.targets
    }

    /// `ψ_W`.
    #[must_use]
    pub fn task_features(&self) -> &FeatureMap {
        &self.task_features
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &RecordedConfig {
        &self.config
    }

    /// The recordings.
    #[must_use]
    pub fn logs(&self) -> &Logs {
        &self.logs
    }

    /// All tasks but some.
    ///
    /// # Errors
    /// No task that is left.
    pub fn space_without(&self, left_out: &[usize]) -> Result<Space> {
        let (mut vectors, mut names) = (Vec::new(), Vec::new());
        for (index, task) in self.tasks.iter().enumerate() {
            if !left_out.contains(&index) {
                vectors.push(task.vector.clone());
                names.push(task.name.clone());
            }
        }
        let list = taskscout::space::List::named(names, &vectors)?;
        Ok(Space::List(list))
    }

    /// The task of an id, which is its name.
    #[must_use]
    pub fn find(&self, id: &TaskId) -> Option<usize> {
        self.tasks.iter().position(|task| task.name == id.as_str())
    }

    /// `n` rows of a task that were not among the first `before`, in the order of a seed.
    ///
    /// # Errors
    /// More rows than are left.
    pub fn draw(&self, task: usize, before: usize, n: usize, seed: u64) -> Result<Samples> {
        let mut rng = derive(seed, Purpose::Collect, &[task as u64]);
        let known = &self.tasks[task];
        if before.saturating_add(n) > known.rows {
            return Err(Error::State(format!(
                "{} has {} rows to learn from, of which {before} are taken: ask for at most {}",
                known.name,
                known.rows,
                known.rows - before.min(known.rows)
            )));
        }
        let order = shuffled(known.rows, &mut rng);
        self.rows(task, &order[before..before + n])
    }

    /// `n` rows of a target that may be learnt from, without replacement, in the order of time.
    ///
    /// # Errors
    /// More rows than there are.
    pub fn sample_target(&self, target: usize, n: usize, rng: &mut Rng) -> Result<Samples> {
        let task = self.targets[target];
        let known = &self.tasks[task];
        if n > known.rows {
            return Err(Error::setting(
                "target.samples",
                format!(
                    "is {n}, but {} has {} rows to learn from: ask for fewer",
                    known.name, known.rows
                ),
            ));
        }
        let mut rows = shuffled(known.rows, rng);
        rows.truncate(n);
        // In the order of time, so that folds of neighbouring rows are stretches of the recording.
        rows.sort_unstable();
        self.rows(task, &rows)
    }

    /// Mean squared error on the last part of a target's recording.
    ///
    /// # Errors
    /// A predictor of other features.
    pub fn target_loss(&self, target: usize, predictor: &Predictor) -> Result<f64> {
        let exam = &self.exams[target];
        let predicted = predictor.predict(exam.features.as_ref())?;
        let squares = predicted
            .iter()
            .zip(&exam.labels)
            .map(|(p, y)| (p - y).powi(2));
        Ok(squares.sum::<f64>() / exam.labels.len() as f64)
    }

    /// Variance of the labels that judge a target: the loss of their own mean.
    #[must_use]
    pub fn target_variance(&self, target: usize) -> f64 {
        let labels = &self.exams[target].labels;
        // Rounding of the mean would leave a little of nothing.
        let first = labels.first().map(|y| y.to_bits());
        if labels.iter().all(|y| Some(y.to_bits()) == first) {
            return 0.0;
        }
        let mean = labels.iter().sum::<f64>() / labels.len() as f64;
        labels.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / labels.len() as f64
    }

    /// How the inputs of a task are standardised.
    #[must_use]
    pub fn scaling(&self, task: usize) -> &Scaling {
        &self.scalings.inputs[self.tasks[task].recording]
    }

    /// What is taken off the output of a task before it is learnt.
    #[must_use]
    pub fn offset(&self, task: usize) -> f64 {
        self.scalings.offsets[task]
    }

    /// What double precision cannot tell of some columns, a sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.scalings.warnings
    }

    /// `ψ_X` of up to `count` rows of a task, evenly over what may be learnt from, with inputs
    /// standardised as another task's are.
    #[must_use]
    pub fn features_as(&self, task: usize, other: usize, count: usize) -> Mat<f64> {
        let known = &self.tasks[task];
        let recording = &self.logs.recordings[known.recording];
        let step = known.rows.div_ceil(count.max(1)).max(1);
        let rows: Vec<usize> = (0..known.rows).step_by(step).collect();
        self.features(recording, &rows, self.scaling(other))
    }

    fn rows(&self, task: usize, rows: &[usize]) -> Result<Samples> {
        let known = &self.tasks[task];
        let recording = &self.logs.recordings[known.recording];
        let (p, m) = (self.logs.inputs.len(), recording.outputs.len());
        let scaling = self.scaling(task);
        let mut x = Vec::with_capacity(rows.len() * p);
        for &row in rows {
            scaling.push(&recording.x[row * p..(row + 1) * p], &mut x);
        }
        let offset = self.offset(task);
        let y = rows
            .iter()
            .map(|row| recording.y[row * m + known.output] - offset);
        Samples::new(x, p, y.collect(), 1)
    }

    fn features(&self, recording: &Recording, rows: &[usize], scaling: &Scaling) -> Mat<f64> {
        let (p, map) = (self.logs.inputs.len(), &self.config.input_features);
        let mut out = Mat::zeros(rows.len(), map.dim());
        let mut x = Vec::with_capacity(p);
        for (at, &row) in rows.iter().enumerate() {
            x.clear();
            scaling.push(&recording.x[row * p..(row + 1) * p], &mut x);
            for (j, value) in apply_row(map, &x).into_iter().enumerate() {
                out[(at, j)] = value;
            }
        }
        out
    }

    fn exam(&self, task: usize) -> Exam {
        let known = &self.tasks[task];
        let recording = &self.logs.recordings[known.recording];
        let rows: Vec<usize> = (known.rows..recording.rows()).collect();
        let (m, offset) = (recording.outputs.len(), self.offset(task));
        Exam {
            features: self.features(recording, &rows, self.scaling(task)),
            labels: rows
                .iter()
                .map(|row| recording.y[row * m + known.output] - offset)
                .collect(),
        }
    }
}

/// All rows in random order.
fn shuffled(rows: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    for last in (1..rows).rev() {
        let draw: u64 = StandardUniform.sample(rng);
        let below = (u128::from(draw) * (last as u128 + 1)) >> 64;
        order.swap(last, usize::try_from(below).unwrap_or(0));
    }
    order
}

/// Rows of a recording that may be learnt from.
fn train_rows(recording: &Recording, share: f64) -> usize {
    (share * recording.rows() as f64) as usize
}
