//! Recordings as tasks: which of them help another one?
//!
//! Every recording and output is a task. Rows are split by time: what comes first may be learnt
//! from, what comes last judges. Inputs are standardised for each vehicle with its own rows of the
//! first part, so that a neutral attitude or a hovering thrust is zero for all of them. Rows are drawn
//! without replacement: a task has as many as were recorded.

use faer::Mat;
use rand_distr::{Distribution as _, StandardUniform};
use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::error::{Error, Result};
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::Space;
use taskscout::train::Predictor;

use crate::logs::{Logs, Recording};

/// Metres a second that count as one in task features, to keep their powers near one.
const WIND_UNIT: f64 = 10.0;
/// Highest power of the wind.
const WIND_DEGREE: u32 = 2;

/// What is known of a task beside its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskKnowledge {
    /// Its vehicle, its axis and, up to a square, the wind: one-hot ⊗ polynomial of the wind.
    #[default]
    Wind,
    /// Nothing but which one it is: one-hot.
    OneHot,
}

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

/// A recording's output as a task.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedTask {
    /// Its name.
    pub name: String,
    /// Its vehicle; empty if unknown.
    pub vehicle: String,
    /// Its output.
    pub axis: String,
    /// The mean wind in metres a second, where it is known.
    pub wind: Option<f64>,
    /// Rows that may be learnt from.
    pub rows: usize,
    recording: usize,
    output: usize,
    /// Its parameters `w`.
    vector: Vec<f64>,
}

impl RecordedTask {
    /// Its parameters `w`.
    #[must_use]
    pub fn vector(&self) -> &[f64] {
        &self.vector
    }
}

/// Mean and scale of the inputs of a vehicle.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// What is subtracted.
    pub mean: Vec<f64>,
    /// What is then divided by.
    pub scale: Vec<f64>,
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
    /// By recording.
    scalings: Vec<Scaling>,
    task_features: FeatureMap,
    exams: Vec<Exam>,
}

impl Recorded {
    /// Makes tasks of recordings; targets are named by recording and output, as
    /// [`Logs::find`] gives them.
    ///
    /// # Errors
    /// A recording too short to be split, nothing beside the target, or features of another number
    /// of inputs.
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
        let mut tasks = plain_tasks(&logs, config.train_share)?;
        let position = |&(recording, output): &(usize, usize)| {
            let same = |task: &RecordedTask| (task.recording, task.output) == (recording, output);
            tasks.iter().position(same)
        };
        let targets: Vec<usize> = targets.iter().filter_map(position).collect();
        if tasks.len() <= targets.len().min(1) {
            return Err(Error::State(
                "there is no recording beside the target: give more of them".into(),
            ));
        }
        let task_features = match config.knowledge {
            TaskKnowledge::OneHot => {
                let count = tasks.len();
                for (index, task) in tasks.iter_mut().enumerate() {
                    task.vector = (0..count)
                        .map(|i| f64::from(u8::from(i == index)))
                        .collect();
                }
                FeatureMap::identity(count)?
            }
            TaskKnowledge::Wind => winds(&mut tasks)?,
        };
        let scalings = scalings(&logs, config.train_share);
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
        let list = taskscout::space::List::new(&vectors)?.with_names(names)?;
        Ok(Space::List(list))
    }

    /// The task of given parameters.
    #[must_use]
    pub fn find(&self, vector: &[f64]) -> Option<usize> {
        self.tasks.iter().position(|task| task.vector == vector)
    }

    /// `n` rows of a task that were not among the first `before`, in the order of a seed.
    ///
    /// # Errors
    /// More rows than are left.
    pub fn draw(&self, task: usize, before: usize, n: usize, seed: u64) -> Result<Samples> {
        let mut rng = derive(seed, Purpose::Collect, &[task as u64]);
        let known = &self.tasks[task];
        if before + n > known.rows {
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

    /// `n` rows of a target that may be learnt from, without replacement.
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
        let mean = labels.iter().sum::<f64>() / labels.len() as f64;
        labels.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / labels.len() as f64
    }

    /// How the inputs of a task are standardised.
    #[must_use]
    pub fn scaling(&self, task: usize) -> &Scaling {
        &self.scalings[self.tasks[task].recording]
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
        let y = rows.iter().map(|row| recording.y[row * m + known.output]);
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
        let m = recording.outputs.len();
        Exam {
            features: self.features(recording, &rows, self.scaling(task)),
            labels: rows
                .iter()
                .map(|row| recording.y[row * m + known.output])
                .collect(),
        }
    }
}

impl Scaling {
    fn push(&self, row: &[f64], out: &mut Vec<f64>) {
        let standard = row.iter().zip(&self.mean).zip(&self.scale);
        out.extend(standard.map(|((x, mean), scale)| (x - mean) / scale));
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

fn plain_tasks(logs: &Logs, share: f64) -> Result<Vec<RecordedTask>> {
    let mut tasks = Vec::new();
    for (index, recording) in logs.recordings.iter().enumerate() {
        let rows = train_rows(recording, share);
        if rows < 2 || recording.rows() - rows < 2 {
            return Err(Error::State(format!(
                "{} has {} rows, too few to learn from some and to judge with others: leave it out",
                recording.name,
                recording.rows()
            )));
        }
        for (output, axis) in recording.outputs.iter().enumerate() {
            let flight = recording.flight.as_ref();
            tasks.push(RecordedTask {
                name: recording.task_name(output),
                vehicle: flight.map(|name| name.vehicle.clone()).unwrap_or_default(),
                axis: axis.clone(),
                wind: recording.wind.map(|wind| wind.mean_m_s),
                rows,
                recording: index,
                output,
                vector: Vec::new(),
            });
        }
    }
    Ok(tasks)
}

/// Gives tasks their parameters, `(one-hot of vehicle and axis, wind, number)`, and returns their
/// features: for each vehicle and axis the powers of the wind, as far as its recordings tell them
/// apart.
fn winds(tasks: &mut [RecordedTask]) -> Result<FeatureMap> {
    let mut groups: Vec<(String, String)> = Vec::new();
    for task in tasks.iter() {
        let key = (task.vehicle.clone(), task.axis.clone());
        if !groups.contains(&key) {
            groups.push(key);
        }
    }
    let parameters = groups.len() + 2;
    let mut exponents = Vec::new();
    for (group, (vehicle, axis)) in groups.iter().enumerate() {
        let members = || {
            tasks
                .iter()
                .filter(|task| (&task.vehicle, &task.axis) == (vehicle, axis))
        };
        let mut speeds: Vec<f64> = members().filter_map(|task| task.wind).collect();
        let known = speeds.len() == members().count();
        speeds.sort_by(f64::total_cmp);
        speeds.dedup();
        let degree = if known {
            WIND_DEGREE.min(speeds.len().saturating_sub(1) as u32)
        } else {
            0
        };
        for power in 0..=degree {
            let mut row = vec![0; parameters];
            row[group] = 1;
            row[groups.len()] = power;
            exponents.push(row);
        }
    }
    for (number, task) in tasks.iter_mut().enumerate() {
        let mut vector = vec![0.0; parameters];
        let own = |key: &(String, String)| (&key.0, &key.1) == (&task.vehicle, &task.axis);
        if let Some(group) = groups.iter().position(own) {
            vector[group] = 1.0;
        }
        vector[groups.len()] = task.wind.unwrap_or(0.0) / WIND_UNIT;
        vector[groups.len() + 1] = number as f64;
        task.vector = vector;
    }
    FeatureMap::monomials(parameters, exponents)
}

/// For each recording, mean and standard deviation of its vehicle's inputs over what may be learnt
/// from.
fn scalings(logs: &Logs, share: f64) -> Vec<Scaling> {
    let p = logs.inputs.len();
    let vehicle = |recording: &Recording| recording.flight.as_ref().map(|f| f.vehicle.clone());
    let of = |recording: &Recording| {
        let own = vehicle(recording);
        let (mut count, mut sums, mut squares) = (0.0, vec![0.0; p], vec![0.0; p]);
        for other in logs.recordings.iter().filter(|other| vehicle(other) == own) {
            let rows = other.x.chunks_exact(p).take(train_rows(other, share));
            for row in rows {
                count += 1.0;
                for (j, x) in row.iter().enumerate() {
                    sums[j] += x;
                    squares[j] += x * x;
                }
            }
        }
        let mean: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
        let deviation = |j: usize| {
            let variance: f64 = squares[j] / count - mean[j] * mean[j];
            let scale = variance.max(0.0).sqrt();
            // A constant input stays one.
            if scale > 1e-6 * mean[j].abs().max(1e-6) {
                scale
            } else {
                1.0
            }
        };
        Scaling {
            scale: (0..p).map(deviation).collect(),
            mean,
        }
    };
    logs.recordings.iter().map(of).collect()
}
