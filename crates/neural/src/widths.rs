//! The size of a network, when nobody says.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use taskscout::data::{TargetRows, TaskData};
use taskscout::model::{Activation, Model, Phi};
use taskscout::train::{FoldFit, TrainContext, Trainer};
use taskscout::{Error, Result};

use crate::dataset::Dataset;
use crate::network::MlpShape;
use crate::neural::{Neural, NeuralSettings};

/// Hidden layers that are tried, from small to large.
const TRIED: [&[usize]; 4] = [&[8], &[16], &[32, 32], &[64, 64]];
/// One row of so many is held out to compare them on.
const HELD_OUT: usize = 8;
/// Part of the held-out error that a larger network must save.
const WORTH_IT: f64 = 0.005;

/// What a choice depends on: version of the data, rows of the sources, `k` and seed.
type Key = (u64, usize, Option<usize>, u64);

/// The `neural` oracle with a network whose size comes from the data: rows of the sources are held
/// out, and a larger network is taken only where it predicts them better.
#[derive(Debug)]
pub struct NeuralAuto {
    activation: Activation,
    settings: NeuralSettings,
    /// Sizes that were chosen before: a comparison is made once.
    known: Mutex<HashMap<Key, MlpShape>>,
}

impl NeuralAuto {
    /// An oracle that chooses its network.
    #[must_use]
    pub fn new(activation: Activation, settings: NeuralSettings) -> Self {
        Self {
            activation,
            settings,
            known: Mutex::new(HashMap::new()),
        }
    }

    /// The network that suits the sources.
    ///
    /// # Errors
    /// Too little data.
    pub fn choose(&self, data: &TaskData, context: &TrainContext) -> Result<MlpShape> {
        let key = (data.version(), data.source_rows(), context.k, context.seed);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shape) = known().get(&key) {
            return Ok(shape.clone());
        }
        let targets = match data.source_rows() {
            0 => TargetRows::All,
            _ => TargetRows::None,
        };
        let rows = Dataset::new(data, None, targets)?;
        let (unseen, seen) = rows.split(HELD_OUT);
        let shape = |hidden: &[usize]| MlpShape {
            hidden: hidden.to_vec(),
            activation: self.activation,
            bias: true,
        };
        let mut best: Option<(f64, MlpShape)> = None;
        for hidden in TRIED {
            let oracle = Neural::new(shape(hidden), self.settings.clone());
            let k = Neural::<MlpShape>::outputs(data, context);
            let error = match oracle.held_out(&seen, &unseen, k, context.seed) {
                Err(Error::Diverged { .. }) => continue,
                other => other?,
            };
            let better = |(known, _): &(f64, MlpShape)| error < (1.0 - WORTH_IT) * known;
            if best.as_ref().is_none_or(better) {
                best = Some((error, shape(hidden)));
            }
        }
        let chosen = best.map_or_else(|| shape(TRIED[0]), |(_, shape)| shape);
        known().insert(key, chosen.clone());
        Ok(chosen)
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
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<Model> {
        let (oracle, note) = self.oracle(data, context)?;
        let mut model = oracle.fit(data, context)?;
        model.report.notes.push(note);
        Ok(model)
    }

    fn fit_with_folds(
        &self,
        data: &TaskData,
        context: &TrainContext,
    ) -> Result<(Model, Vec<FoldFit>)> {
        let (oracle, note) = self.oracle(data, context)?;
        let (mut model, folds) = oracle.fit_with_folds(data, context)?;
        model.report.notes.push(note);
        Ok((model, folds))
    }

    fn needs_rows(&self) -> bool {
        true
    }

    fn warm_starts(&self) -> bool {
        true
    }

    fn alone(&self, data: &TaskData, target: usize, context: &TrainContext) -> Result<Option<Phi>> {
        self.oracle(data, context)?.0.alone(data, target, context)
    }
}
