//! Partial pooling over a network's outputs, which stand beside the features.

use std::sync::Arc;

use super::PartialPooling;
use crate::data::{FoldSelection, TaskData};
use crate::error::Result;
use crate::model::Representation as _;
use crate::train::guard::Candidate;
use crate::train::{TrainContext, TrainOutput, Trainer, TrainerNeeds};

/// Partial pooling over what a network makes of the features: the network is learnt by a trainer of
/// its own from the source tasks, and stands beside the features.
#[derive(Debug, Clone)]
pub struct PartialPoolingOnNetwork {
    /// How what the network gives is pooled; its groups are those of the features, and of its sets
    /// the first is used.
    pub pooled: PartialPooling,
    /// The trainer of the network.
    pub network: Arc<dyn Trainer>,
}

impl Trainer for PartialPoolingOnNetwork {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        self.pooled.validate(data.feature_dim())?;
        let sources = TrainContext {
            target_rows: FoldSelection::None,
            ..context.clone()
        };
        let inner = self.network.model(data, &sources)?;
        let mut bases = self.pooled.bases(data.feature_dim());
        bases.truncate(1);
        for (name, basis) in &mut bases {
            let d = data.feature_dim();
            let next = basis.groups.iter().max().map_or(0, |last| last + 1);
            let k = inner.representation.dim();
            basis.columns.extend(d..d + k);
            basis.groups.extend(std::iter::repeat_n(next, k));
            basis.network = Some(inner.representation.clone());
            name.push_str(" and a network");
        }
        let best = self.pooled.best(data, context, bases)?;
        let mut model = self.pooled.hierarchy(data, best)?;
        model.warm_start = inner.warm_start;
        self.pooled.fitted(data, context, model)
    }

    fn target_only(
        &self,
        data: &TaskData,
        context: &TrainContext,
        target: usize,
    ) -> Result<Vec<Candidate>> {
        self.pooled.target_only(data, context, target)
    }

    fn needs(&self) -> TrainerNeeds {
        TrainerNeeds {
            rows: true,
            ..self.network.needs()
        }
    }
}
