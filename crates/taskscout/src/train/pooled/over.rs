//! Partial pooling over a network's outputs, which stand beside the features.

use std::sync::Arc;

use super::Pooled;
use crate::data::{TargetRows, TaskData};
use crate::error::Result;
use crate::model::{Model, Representation as _};
use crate::train::guard::Candidate;
use crate::train::{FoldFit, TrainContext, Trainer};

/// Partial pooling over what a network makes of the features: the network is learnt by an oracle of
/// its own from the source tasks, and stands beside the features.
#[derive(Debug, Clone)]
pub struct PooledOver {
    /// How what the network gives is pooled; its groups are those of the features, and of its sets
    /// the first is used.
    pub pooled: Pooled,
    /// The oracle of the network.
    pub network: Arc<dyn Trainer>,
}

impl Trainer for PooledOver {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<Model> {
        self.pooled.validate(data.feature_dim())?;
        let sources = TrainContext {
            targets: TargetRows::None,
            ..context.clone()
        };
        let inner = self.network.fit(data, &sources)?;
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
        let mut model = self.pooled.model(data, best)?;
        model.start = inner.start;
        Ok(model)
    }

    fn fit_with_folds(
        &self,
        data: &TaskData,
        context: &TrainContext,
    ) -> Result<(Model, Vec<FoldFit>)> {
        Ok((self.fit(data, context)?, Vec::new()))
    }

    fn shared_candidate(
        &self,
        data: &TaskData,
        model: &Model,
        target: usize,
    ) -> Result<Option<Candidate>> {
        self.pooled.shared_candidate(data, model, target)
    }

    fn own_candidate(&self, data: &TaskData, target: usize) -> Result<Option<Candidate>> {
        self.pooled.own_candidate(data, target)
    }

    fn most_directions(&self, features: usize) -> usize {
        self.network.most_directions(features)
    }

    fn needs_rows(&self) -> bool {
        true
    }

    fn warm_starts(&self) -> bool {
        self.network.warm_starts()
    }
}
