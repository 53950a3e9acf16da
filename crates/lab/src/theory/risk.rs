//! The risk law against measurements: samples spread by someone who knows `B`, a model learnt from them, its loss.

use faer::linalg::solvers::Solve as _;
use faer::{Mat, MatRef};
use serde::Serialize;
use taskscout::data::FoldSelection;
use taskscout::design::{Criterion, ball};
use taskscout::features::Features as _;
use taskscout::rng::{Purpose, derive};
use taskscout::source::batches;
use taskscout::strategy::StrategyKind;
use taskscout::study::Study;
use taskscout::target::Target;
use taskscout::theory::{RiskShape, excess_risk};
use taskscout::train::{Predictor, PredictorKind};
use taskscout_worlds::Synthetic;

use crate::error::{LabError, Result};

/// Rows of the target.
const TARGET_ROWS: usize = 8000;

/// How samples are spread over the ball by someone who knows `B`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spread {
    /// Over all task features alike.
    Passive,
    /// Over the right singular vectors alike.
    Agnostic,
    /// Half like this, half by the optimal design for the target.
    Aware,
}

impl Spread {
    pub(super) const ALL: [Self; 3] = [Self::Passive, Self::Agnostic, Self::Aware];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Passive => "passive",
            Self::Agnostic => "agnostic",
            Self::Aware => "aware",
        }
    }

    /// Tasks with their shares of the samples.
    fn tasks(self, world: &Synthetic) -> Result<Vec<(Vec<f64>, f64)>> {
        let map = world.source_map();
        let directions = map.ncols();
        let unit = |j: usize| {
            (0..directions)
                .map(|i| f64::from(u8::from(i == j)))
                .collect()
        };
        let singular = || -> Result<Vec<Vec<f64>>> {
            let svd = map.thin_svd().map_err(|error| {
                LabError::Failure(format!("no singular values were found: {error:?}"))
            })?;
            let v = svd.V();
            let column = |j: usize| (0..directions).map(|i| v[(i, j)]).collect();
            Ok((0..map.nrows()).map(column).collect())
        };
        Ok(match self {
            Self::Passive => evenly((0..directions).map(unit).collect(), 1.0),
            Self::Agnostic => evenly(singular()?, 1.0),
            Self::Aware => {
                let need = outer(&world.target_embedding());
                let best = ball::optimal(map, need.as_ref(), Criterion::Trace, 1.0)?;
                let atoms = best.atoms.into_iter();
                let mut all = evenly(singular()?, 0.5);
                all.extend(atoms.map(|atom| (atom.task, 0.5 * atom.weight)));
                all
            }
        })
    }
}

fn evenly(tasks: Vec<Vec<f64>>, total: f64) -> Vec<(Vec<f64>, f64)> {
    let share = total / tasks.len() as f64;
    tasks.into_iter().map(|task| (task, share)).collect()
}

fn outer(vector: &[f64]) -> Mat<f64> {
    Mat::from_fn(vector.len(), vector.len(), |i, j| vector[i] * vector[j])
}

/// A measurement beside what the law expects.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RiskRow {
    pub(super) matrix_seed: u64,
    pub(super) seed: u64,
    pub(super) spread: &'static str,
    pub(super) samples: usize,
    pub(super) predicted: f64,
    pub(super) measured: f64,
}

/// Collects ever more samples and measures the loss at each size.
pub(super) fn measure(
    world: &Synthetic,
    spread: Spread,
    (matrix_seed, seed): (u64, u64),
    sizes: &[usize],
) -> Result<Vec<RiskRow>> {
    let tasks = spread.tasks(world)?;
    let mut study = Study::builder(world.space().clone())
        .input_features(world.config().input_features.clone())
        .k(world.config().k)
        .strategy(StrategyKind::Passive)
        .target(Target::unknown("target"))
        .seed(seed)
        .build()?;
    let mut rng = derive(seed, Purpose::Target, &[matrix_seed]);
    study.tell_target(0, &world.sample_target(TARGET_ROWS, &mut rng)?)?;
    let (mut rows, mut had) = (Vec::new(), vec![0; tasks.len()]);
    for (step, &samples) in sizes.iter().enumerate() {
        for (index, (task, share)) in tasks.iter().enumerate() {
            let wanted = (share * samples as f64).round() as usize;
            let missing = wanted.saturating_sub(had[index]);
            for (batch, n) in (0..).zip(batches(missing)) {
                let keys = [matrix_seed, step as u64, index as u64, batch];
                let mut rng = derive(seed, Purpose::Collect, &keys);
                let rows = world.sample_source(task, n, &mut rng)?;
                study.add(&world.space().task_of(task), &rows)?;
            }
            had[index] = had[index].max(wanted);
        }
        study.settle()?;
        rows.push(RiskRow {
            matrix_seed,
            seed,
            spread: spread.name(),
            samples,
            predicted: predicted(world, &tasks, &had)?,
            measured: loss(world, &study)?,
        });
    }
    Ok(rows)
}

/// What the law expects of so many samples of each task.
fn predicted(world: &Synthetic, tasks: &[(Vec<f64>, f64)], had: &[usize]) -> Result<f64> {
    let target = world.target_embedding();
    let need = outer(&target);
    let mut information = faer::Scale(TARGET_ROWS as f64) * &need;
    for ((task, _), &n) in tasks.iter().zip(had) {
        information += faer::Scale(n as f64) * outer(&world.embedding(task));
    }
    let shape = RiskShape {
        noise: world.config().noise.powi(2),
        inputs: world.config().input_features.dim(),
        target_rows: TARGET_ROWS,
    };
    Ok(excess_risk(shape, information.as_ref(), need.as_ref())?)
}

/// The loss of the target's head on the representation that was learnt, by least squares on the target's rows.
fn loss(world: &Synthetic, study: &Study) -> Result<f64> {
    let model = study.model()?;
    let Some(linear) = model.representation.as_linear() else {
        return Err(LabError::Failure(
            "the representation is no matrix, so the law says nothing of it".into(),
        ));
    };
    let own = study.data().target_statistics(0, FoldSelection::All)?;
    let phi = linear.matrix();
    let gram = phi.transpose() * own.gram_matrix() * phi;
    let moment = own.cross_moment(0);
    let moment = phi.transpose() * MatRef::from_column_major_slice(moment, moment.len(), 1);
    let head = gram.partial_piv_lu().solve(&moment);
    let head: Vec<f64> = (0..head.nrows()).map(|i| head[(i, 0)]).collect();
    let predictor = Predictor {
        kind: PredictorKind::Shared,
        coefficients: vec![linear.coefficients(&head)],
        head: None,
        held_out_error: None,
    };
    Ok(world.target_loss(&predictor)?)
}
