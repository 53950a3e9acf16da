//! The rows of the benchmark `neural`: what both sides learn from, and where both start.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use faer::{Mat, MatRef};
use rand_distr::{Distribution as _, StandardNormal};
use taskscout::data::{Samples, Stage, TaskData};
use taskscout::features::FeatureMap;
use taskscout::model::{
    Activation, Layer, Mlp, Model, Representation as _, TaskEmbeddingMap, WarmStart,
};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::source::TaskSource as _;
use taskscout::task::Task;
use taskscout_worlds::{InputDistribution, NetworkTruth, Synthetic, SyntheticConfig};

use crate::support::Result;
use crate::support::numpy::Numpy;

/// The Python side.
const SCRIPT: &str = "torch_steps.py";

/// Task features of a source; the target has one of its own after them.
pub(crate) const SOURCE_FEATURES: usize = 79;

/// Task features of all tasks.
pub(crate) const FEATURES: usize = SOURCE_FEATURES + 1;

/// Widths of the true network's hidden layers.
const TRUTH: [usize; 1] = [10];

/// How much is drawn.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) sources: usize,
    pub(crate) rows_each: usize,
    pub(crate) target_rows: usize,
    /// Held-out rows of each source, and of the target.
    pub(crate) held_out: [usize; 2],
}

/// Rows of several tasks, source after source, then the target.
#[derive(Default)]
struct Table {
    x: Vec<f64>,
    y: Vec<f64>,
    task: Vec<usize>,
}

impl Table {
    fn add(&mut self, task: usize, samples: &Samples) {
        self.x.extend_from_slice(samples.inputs());
        self.y.extend_from_slice(samples.outputs());
        self.task.extend(std::iter::repeat_n(task, samples.len()));
    }

    fn write(&self, file: &mut impl std::io::Write) -> Result<()> {
        write(file, self.x.iter().copied())?;
        write(file, self.y.iter().copied())?;
        write(file, self.task.iter().map(|&task| task as f64))
    }
}

/// What both sides learn from.
pub(crate) struct Rows {
    /// Ours.
    pub(crate) data: TaskData,
    /// Widths of the network that learns, from its inputs to `k`.
    widths: Vec<usize>,
    features: Vec<Vec<f64>>,
    train: Table,
    /// Without noise.
    held_out: Table,
}

impl Rows {
    /// Draws the rows of a world in which a network maps as many inputs to as many outputs; always
    /// the same.
    pub(crate) fn draw(widths: &[usize], counts: Counts) -> Result<Self> {
        let &[inputs, .., k] = widths else {
            return Err("a network has inputs and outputs".into());
        };
        let (mut world, mut silent) = (world(inputs, k, 1.0)?, world(inputs, k, 0.0)?);
        let mut data = TaskData::new(inputs, 1, FEATURES).keeping_rows();
        let (mut features, mut train, mut held_out) =
            (Vec::new(), Table::default(), Table::default());
        for task in 0..counts.sources {
            let w = unit_vector(&mut derive(0, Purpose::Plan, &[task as u64]));
            let mut own = w.clone();
            own.push(0.0);
            let mut rng = derive(0, Purpose::Collect, &[task as u64]);
            let samples = world.sample(&Task::from(&w), counts.rows_each, &mut rng)?;
            data.add_source_rows(&w, &own, Stage::WarmUp, 0, &samples)?;
            train.add(task, &samples);
            let mut rng = derive(0, Purpose::Test, &[task as u64]);
            held_out.add(
                task,
                &silent.sample(&Task::from(&w), counts.held_out[0], &mut rng)?,
            );
            features.push(own);
        }
        let mut own = vec![0.0; FEATURES];
        own[SOURCE_FEATURES] = 1.0;
        data.add_target("target", own.clone())?;
        let samples =
            world.sample_target(counts.target_rows, &mut derive(0, Purpose::Target, &[]))?;
        data.add_target_rows(0, &samples)?;
        train.add(counts.sources, &samples);
        let mut rng = derive(0, Purpose::Test, &[counts.sources as u64]);
        held_out.add(
            counts.sources,
            &silent.sample_target(counts.held_out[1], &mut rng)?,
        );
        features.push(own);
        Ok(Self {
            data,
            widths: widths.to_vec(),
            features,
            train,
            held_out,
        })
    }

    /// Rows to learn from.
    pub(crate) fn len(&self) -> usize {
        self.train.y.len()
    }

    /// Rows to measure on.
    pub(crate) fn held_out(&self) -> usize {
        self.held_out.y.len()
    }

    /// A network and a task map, always the same: uniform, as PyTorch starts.
    pub(crate) fn start(&self) -> Result<WarmStart> {
        let mut rng = derive(0, Purpose::Weights, &[]);
        let mut uniform = |rows: usize, columns: usize, inputs: usize| {
            let bound = 1.0 / (inputs as f64).sqrt();
            Mat::from_fn(rows, columns, |_, _| {
                // Rounded, since both sides compute in single precision.
                f64::from(rand::RngExt::random_range(&mut rng, -bound..bound) as f32)
            })
        };
        let layers = self.widths.windows(2).map(|pair| Layer {
            weights: uniform(pair[0], pair[1], pair[0]),
            bias: None,
        });
        let layers = layers.collect();
        let k = self.widths[self.widths.len() - 1];
        let map = uniform(k, FEATURES, FEATURES);
        Ok(WarmStart {
            representation: Mlp::new(layers, Activation::Relu)?.into(),
            map: Some(TaskEmbeddingMap::new(map, FEATURES)),
        })
    }

    /// Mean squared error of a model on the held-out rows.
    pub(crate) fn loss(&self, model: &Model) -> Result<f64> {
        let embeddings: Vec<Vec<f64>> = self
            .features
            .iter()
            .map(|features| model.map.embedding(features, 0))
            .collect::<taskscout::Result<_>>()?;
        let table = &self.held_out;
        let x = MatRef::from_row_major_slice(&table.x, table.y.len(), self.widths[0]);
        let phi = model.representation.apply(x)?;
        let squares = table
            .task
            .iter()
            .zip(&table.y)
            .enumerate()
            .map(|(row, (&task, y))| {
                let fit = embeddings[task].iter().enumerate();
                (y - fit.map(|(i, c)| c * phi[(row, i)]).sum::<f64>()).powi(2)
            });
        Ok(squares.sum::<f64>() / table.y.len() as f64)
    }

    /// Writes everything where Python can read it.
    pub(crate) fn share(&self) -> Result<Shared> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        fs::create_dir_all(folder)?;
        let name = format!("neural-{}-{}.bin", std::process::id(), self.train.x.len());
        let shared = Shared(folder.join(name));
        let mut file = BufWriter::new(File::create(&shared.0)?);
        write(&mut file, self.features.iter().flatten().copied())?;
        self.train.write(&mut file)?;
        self.held_out.write(&mut file)?;
        let start = self.start()?;
        if let taskscout::model::AnyRepresentation::Mlp(mlp) = &start.representation {
            for layer in mlp.layers() {
                write(&mut file, entries(layer.weights.as_ref()))?;
            }
        }
        if let Some(map) = &start.map {
            write(&mut file, entries(map.matrix()))?;
        }
        file.flush()?;
        Ok(shared)
    }
}

/// A file that goes when it is no longer needed.
pub(crate) struct Shared(PathBuf);

impl Shared {
    /// Starts the Python side on it.
    pub(crate) fn python(
        &self,
        python: &Path,
        rows: &Rows,
        batch: usize,
        rate: f64,
        threads: usize,
    ) -> Result<Numpy> {
        let arguments = [
            self.0.display().to_string(),
            rows.features.len().to_string(),
            FEATURES.to_string(),
            rows.len().to_string(),
            rows.held_out().to_string(),
            name(&rows.widths),
            batch.to_string(),
            rate.to_string(),
        ];
        Numpy::start(python, SCRIPT, &arguments, threads)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // A file in a folder for temporary files may stay if it has to.
        let _ = fs::remove_file(&self.0);
    }
}

/// A network by its widths.
pub(crate) fn name(widths: &[usize]) -> String {
    let widths: Vec<String> = widths.iter().map(ToString::to_string).collect();
    widths.join("-")
}

fn world(inputs: usize, k: usize, noise: f64) -> Result<Synthetic> {
    Ok(Synthetic::new(SyntheticConfig {
        input_features: FeatureMap::identity(inputs)?,
        inputs: InputDistribution::Normal,
        source_dim: SOURCE_FEATURES,
        space: None,
        task_features: None,
        k,
        network: Some(NetworkTruth {
            hidden: TRUTH.to_vec(),
            activation: Activation::Relu,
        }),
        noise,
        matrix_seed: 0,
    })?)
}

fn unit_vector(rng: &mut Rng) -> Vec<f64> {
    let mut w: Vec<f64> = (0..SOURCE_FEATURES)
        .map(|_| StandardNormal.sample(rng))
        .collect();
    let norm = w.iter().map(|value| value * value).sum::<f64>().sqrt();
    w.iter_mut().for_each(|value| *value /= norm);
    w
}

/// The entries of a matrix, row by row.
fn entries(matrix: MatRef<'_, f64>) -> impl Iterator<Item = f64> {
    let columns = matrix.ncols();
    (0..matrix.nrows() * columns).map(move |i| matrix[(i / columns, i % columns)])
}

fn write(file: &mut impl std::io::Write, values: impl Iterator<Item = f64>) -> Result<()> {
    for value in values {
        file.write_all(&(value as f32).to_le_bytes())?;
    }
    Ok(())
}
