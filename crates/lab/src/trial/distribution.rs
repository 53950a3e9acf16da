//! A target that is a distribution `ν` over the world's targets, its members, all alike.
//!
//! The samples are a mixed pool: each row is of a random member, and says of which. So every member has a task feature of
//! its own, as a single hidden target has, and the study learns all embeddings at once. Its designs
//! serve `A = E_ν[c cᵀ]`, whose rank is `k*`. What is measured is the excess risk over `ν`, the mean over members of
//! the loss of the member's own head, and beside it the loss of the mean head on the mean task.

use taskscout::rng::{Purpose, derive, uniform};
use taskscout::train::{AveragedPredictor, Predictor, PredictorKind};
use taskscout_report::ResultRow;

use super::course::Course;
use crate::error::Result;
use crate::record::{DISTRIBUTION, MEAN_TASK};

/// What the members' predictors are called where they are of several kinds.
const MIXED: &str = "mixed";

impl Course<'_> {
    /// How many samples each target has from the start: of a distribution, its share of the pool.
    pub(super) fn target_shares(&self) -> Vec<usize> {
        let (samples, count) = (
            self.prepared.config.target.samples,
            self.trial.targets().len(),
        );
        if !self.trial.is_distribution() {
            return vec![samples; count];
        }
        let mut rng = derive(self.trial.seed, Purpose::Target, &[]);
        // Of a member without any row nothing could be said.
        let mut shares = vec![1; count];
        for _ in count..samples {
            let member = (uniform(&mut rng) * count as f64) as usize;
            shares[member.min(count - 1)] += 1;
        }
        shares
    }

    /// Rows of results for what the trial is judged on: those of its targets themselves, or of their distribution.
    pub(super) fn judged_rows(&self, members: Vec<ResultRow>) -> Result<Vec<ResultRow>> {
        if !self.trial.is_distribution() {
            return Ok(members);
        }
        let Some(first) = members.first().cloned() else {
            return Ok(members);
        };
        let about = |name: &str| ResultRow {
            target: Some(name.to_owned()),
            predictor: agreed(&members),
            // A cosine with one target says little of a distribution.
            relevance: None,
            ..first.clone()
        };
        let over = ResultRow {
            test_loss: mean(members.iter().map(|row| row.test_loss)),
            returned_loss: mean(members.iter().map(|row| row.returned_loss)),
            ..about(DISTRIBUTION)
        };
        let has_shared = over.test_loss.is_some();
        let mean_task = ResultRow {
            test_loss: self
                .mean_task_loss(|choice| choice.candidate(PredictorKind::Shared))?
                .filter(|_| has_shared),
            returned_loss: self.mean_task_loss(AveragedPredictor::predictor)?,
            ..about(MEAN_TASK)
        };
        Ok(vec![over, mean_task])
    }

    /// The loss of the mean of one predictor of every member, where all have it.
    fn mean_task_loss(
        &self,
        predictor: impl Fn(&AveragedPredictor) -> Option<&Predictor>,
    ) -> Result<Option<f64>> {
        let all: Option<Vec<&Predictor>> = self.choices.iter().map(predictor).collect();
        let judge = self.world.judge.as_ref();
        match all {
            Some(all) => Ok(judge.mean_task_loss(&all)?),
            None => Ok(None),
        }
    }
}

/// The mean, where there is one for every member.
fn mean(losses: impl ExactSizeIterator<Item = Option<f64>>) -> Option<f64> {
    let count = losses.len() as f64;
    Some(losses.sum::<Option<f64>>()? / count)
}

/// The kind of predictor that all members have.
fn agreed(members: &[ResultRow]) -> Option<String> {
    let first = members.first()?.predictor.clone()?;
    let all = members
        .iter()
        .all(|row| row.predictor.as_ref() == Some(&first));
    Some(if all { first } else { MIXED.to_owned() })
}
