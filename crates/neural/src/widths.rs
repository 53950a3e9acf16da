//! The size of a network, when nobody says.

use taskscout::data::{FoldSelection, TaskData};
use taskscout::model::{Activation, AnyRepresentation};
use taskscout::train::{Candidate, TrainContext, TrainOutput, Trainer, TrainerNeeds, candidates};
use taskscout::{Error, Result};

use crate::dataset::Dataset;
use crate::neural::Neural;
use crate::settings::NeuralSettings;
use crate::shape::MlpShape;

/// Hidden layers that are tried, from small to large.
const TRIED: [&[usize]; 4] = [&[8], &[16], &[32, 32], &[64, 64]];
/// One row of so many is held out to compare them on.
const HELD_OUT: usize = 8;
/// Part of the held-out error that a larger network must save.
const WORTH_IT: f64 = 0.005;

/// The `neural` oracle with a network whose size comes from the data: rows of the sources are held
/// out, and a larger network is taken only where it predicts them better.
#[derive(Debug)]
pub struct NeuralAuto {
    activation: Activation,
    settings: NeuralSettings,
}

impl NeuralAuto {
    /// An oracle that chooses its network.
    #[must_use]
    pub fn new(activation: Activation, settings: NeuralSettings) -> Self {
        Self {
            activation,
            settings,
        }
    }

    /// The network that suits the sources.
    ///
    /// # Errors
    /// Too little data.
    pub fn choose(&self, data: &TaskData, context: &TrainContext) -> Result<MlpShape> {
        let targets = match data.source_rows() {
            0 => context.target_rows,
            _ => FoldSelection::None,
        };
        let rows = Dataset::new(data, context.stages.as_deref(), targets)?;
        let k = Neural::<MlpShape>::outputs(data, context);
        self.suited(&rows, k, context.seed)
    }

    /// The network that suits some rows, compared on the last of each task.
    fn suited(&self, rows: &Dataset, k: usize, seed: u64) -> Result<MlpShape> {
        let (unseen, seen) = rows.split_blocks(HELD_OUT);
        let shape = |hidden: &[usize]| MlpShape {
            hidden: hidden.to_vec(),
            activation: self.activation,
            bias: true,
        };
        let mut best: Option<(f64, MlpShape)> = None;
        for hidden in TRIED {
            if unseen.len() == 0 || seen.len() == 0 {
                break;
            }
            let oracle = Neural::new(shape(hidden), self.settings.clone());
            let error = match oracle.held_out(&seen, &unseen, k, seed) {
                Err(Error::Diverged { .. } | Error::Numerical { .. }) => continue,
                other => other?,
            };
            let better = |(known, _): &(f64, MlpShape)| error < (1.0 - WORTH_IT) * known;
            if best.as_ref().is_none_or(better) {
                best = Some((error, shape(hidden)));
            }
        }
        Ok(best.map_or_else(|| shape(TRIED[0]), |(_, shape)| shape))
    }

    fn oracle(
        &self,
        data: &TaskData,
        context: &TrainContext,
    ) -> Result<(Neural<MlpShape>, String)> {
        let shape = self.choose(data, context)?;
        let note = format!("hidden layers {:?}, chosen on held-out rows", shape.hidden);
        Ok((Neural::new(shape, self.settings.clone()), note))
    }
}

impl Trainer for NeuralAuto {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        let (oracle, note) = self.oracle(data, context)?;
        let alone = |target, context: &TrainContext| self.alone(data, target, context);
        let mut fitted = oracle.fit_beside(data, context, &alone)?;
        fitted.model.report.notes.push(note);
        Ok(fitted)
    }

    fn needs(&self) -> TrainerNeeds {
        TrainerNeeds::NETWORK
    }

    fn target_only(
        &self,
        data: &TaskData,
        context: &TrainContext,
        target: usize,
    ) -> Result<Vec<Candidate>> {
        let alone = |target, context: &TrainContext| self.alone(data, target, context);
        candidates::target_only_candidates_with_network(data, context, target, &alone)
    }
}

impl NeuralAuto {
    /// A representation learnt from the rows of one target alone, of a size that suits them.
    fn alone(
        &self,
        data: &TaskData,
        target: usize,
        context: &TrainContext,
    ) -> Result<Option<AnyRepresentation>> {
        let rows = Dataset::alone(data, target, context.target_rows)?;
        let shape = self.suited(&rows, data.outputs(), context.seed)?;
        Neural::new(shape, self.settings.clone()).alone(data, target, context)
    }
}
