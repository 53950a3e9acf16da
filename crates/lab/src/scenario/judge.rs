//! How good is what was learnt?

use taskscout::features::{FeatureMap, Features as _};
use taskscout::model::AnyRepresentation;
use taskscout::train::Predictor;

use crate::memory::{NUMBER, Need};

/// What only somebody who knows the truth, or has rows kept back, can say of what was learnt.
pub(crate) trait Judge {
    /// Mean squared error of a predictor of a target, on noise-free labels where there are any.
    fn loss(&self, target: usize, predictor: &Predictor) -> taskscout::Result<f64>;

    /// Loss of the mean of the targets' predictors on their mean task, where that is known.
    fn mean_task_loss(&self, predictors: &[&Predictor]) -> taskscout::Result<Option<f64>> {
        let _ = predictors;
        Ok(None)
    }

    /// How much of the true representation a learnt one catches, where there is a true one.
    fn similarity(&self, learnt: &AnyRepresentation) -> taskscout::Result<Option<f64>> {
        let _ = learnt;
        Ok(None)
    }

    /// Cosine between the true embeddings of a source task and a target, where they are known.
    fn relevance(&self, target: usize, task: &[f64]) -> Option<f64> {
        let _ = (target, task);
        None
    }
}

/// The memory of rows that predictors are judged on: their inputs and, while they are made, their
/// features twice.
pub(crate) fn judging(rows: usize, map: &FeatureMap) -> Need {
    let mut need = Need::default();
    let values = (map.input_dim() + 2 * map.dim()) as f64;
    need.add(
        format!("{rows} test rows of {} features", map.dim()),
        NUMBER * rows as f64 * values,
    );
    need
}
