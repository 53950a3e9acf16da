//! Several targets in one world, of a chosen rank.
//!
//! The paper's target has the first column of `B` as its embedding. Of several targets the first `k*` have the first
//! `k*` columns, and each further one is a random mixture of these with positive weights, scaled to unit length. So
//! the targets span exactly `k*` directions, and the rest of the world is the same as with one target.

use rand_distr::{Distribution as _, StandardUniform};
use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::train::Predictor;
use taskscout::{Error, Result};

use super::evaluation::Evaluation;
use super::{Synthetic, SyntheticConfig, column};

/// What tells the draws of targets from those of the rest of the truth.
const OF_TARGETS: u64 = 1;

/// How many targets a world has, and how many directions they span.
///
/// ```
/// use taskscout::features::FeatureMap;
/// use taskscout_worlds::{InputDistribution, Synthetic, SyntheticConfig, Targets};
/// let config = SyntheticConfig {
///     input_features: FeatureMap::identity(10)?, source_dim: 8, space: None, task_features: None,
///     inputs: InputDistribution::Normal,
///     k: 3, network: None, noise: 1.0, matrix_seed: 0,
/// };
/// let world = Synthetic::with_targets(config, Targets { count: 5, k_star: Some(2) })?;
/// assert_eq!(world.targets().len(), 5);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Targets {
    /// How many there are.
    pub count: usize,
    /// `k*`, the dimension of the span of their embeddings; as large as it can be if not given.
    pub k_star: Option<usize>,
}

impl Targets {
    /// Most targets of a world.
    pub const MOST: usize = 1000;

    /// `k*`, once it is known to be possible.
    fn rank(self, k: usize) -> Result<usize> {
        if !(1..=Self::MOST).contains(&self.count) {
            let problem = format!("is {}: it must be from 1 to {}", self.count, Self::MOST);
            return Err(Error::setting("targets", problem));
        }
        let rank = self.k_star.unwrap_or_else(|| self.count.min(k));
        let problem = if rank == 0 {
            "is 0: targets span at least one direction".to_owned()
        } else if rank > k {
            format!(
                "is {rank}, more than k = {k}: targets span at most as many directions as the representation has"
            )
        } else if rank > self.count {
            format!(
                "is {rank}, more than the number of targets, {}: ask for more targets or fewer directions",
                self.count
            )
        } else {
            return Ok(rank);
        };
        Err(Error::setting("k_star", problem))
    }
}

impl Synthetic {
    /// Draws a world with several targets. All but the targets is as in [`Synthetic::new`].
    ///
    /// # Errors
    /// Settings out of range: no target or more than [`Targets::MOST`], a `k*` above `k` or above their number.
    pub fn with_targets(config: SyntheticConfig, targets: Targets) -> Result<Self> {
        let mut world = Self::new(config)?;
        let rank = targets.rank(world.config.k)?;
        let mut rng = derive(world.config.matrix_seed, Purpose::World, &[OF_TARGETS]);
        let columns: Vec<Vec<f64>> = (0..rank).map(|j| column(world.source_map(), j)).collect();
        let further = (rank..targets.count).map(|_| mixture(&columns, &mut rng));
        world.targets = columns.iter().cloned().chain(further).collect();
        Ok(world)
    }

    /// The true embeddings of the targets.
    #[must_use]
    pub fn targets(&self) -> &[Vec<f64>] {
        &self.targets
    }

    /// Collects samples of one of the targets.
    ///
    /// # Errors
    /// A target that the world does not have.
    pub fn sample_target_at(&self, target: usize, n: usize, rng: &mut Rng) -> Result<Samples> {
        self.draw(self.target_at(target)?, n, rng)
    }

    /// The loss of a predictor on one of the targets, as [`Synthetic::target_loss`] measures it.
    ///
    /// # Errors
    /// A target that the world does not have, or a predictor of other features.
    pub fn target_loss_at(&self, target: usize, predictor: &Predictor) -> Result<f64> {
        self.loss(self.target_at(target)?, &[predictor])
    }

    /// The loss of the mean of some predictors on the mean task, whose embedding is the mean of the targets'.
    ///
    /// # Errors
    /// Predictors of other features.
    pub fn mean_task_loss(&self, predictors: &[&Predictor]) -> Result<f64> {
        self.loss(&mean(&self.targets), predictors)
    }

    /// Whether the risk law of the theory holds for this world: with a matrix as `φ` and inputs whose second moment is
    /// far from singular. It then does not depend on that moment, which a change of basis turns into the identity.
    #[must_use]
    pub fn has_risk_law(&self) -> bool {
        if self.representation.as_linear().is_none() {
            return false;
        }
        // Of features that are the inputs themselves the second moment is the identity.
        if matches!(self.config.input_features, FeatureMap::Identity(_)) {
            return true;
        }
        let Evaluation::Moments { second } = &self.evaluation else {
            return false;
        };
        let values = second
            .self_adjoint_eigenvalues(faer::Side::Lower)
            .unwrap_or_default();
        let largest = values.iter().copied().fold(0.0, f64::max);
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        smallest > WELL_CONDITIONED * largest
    }

    fn target_at(&self, target: usize) -> Result<&[f64]> {
        let found = self.targets.get(target).map(Vec::as_slice);
        found.ok_or_else(|| {
            let problem = format!("the world has {} targets", self.targets.len());
            Error::value("target", target, problem)
        })
    }
}

/// Smallest eigenvalue of a second moment over its largest, above which all features count in full.
const WELL_CONDITIONED: f64 = 1e-3;

/// A mixture of some embeddings with positive weights, of unit length.
fn mixture(columns: &[Vec<f64>], rng: &mut Rng) -> Vec<f64> {
    let mut sum = vec![0.0; columns.first().map_or(0, Vec::len)];
    for column in columns {
        let weight: f64 = StandardUniform.sample(rng);
        sum.iter_mut()
            .zip(column)
            .for_each(|(a, b)| *a += weight * b);
    }
    let length = sum.iter().map(|a| a * a).sum::<f64>().sqrt();
    sum.iter_mut().for_each(|a| *a /= length);
    sum
}

/// The mean of some embeddings.
fn mean(embeddings: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; embeddings.first().map_or(0, Vec::len)];
    for embedding in embeddings {
        sum.iter_mut().zip(embedding).for_each(|(a, b)| *a += b);
    }
    let share = 1.0 / embeddings.len().max(1) as f64;
    sum.iter_mut().for_each(|a| *a *= share);
    sum
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use taskscout::features::FeatureMap;
    use taskscout::theory::{Quantities, need_of, need_of_first};
    use taskscout::train::PredictorKind;

    use super::*;
    use crate::InputDistribution;

    fn config() -> SyntheticConfig {
        SyntheticConfig {
            input_features: FeatureMap::identity(10).unwrap(),
            inputs: InputDistribution::Normal,
            source_dim: 9,
            space: None,
            task_features: None,
            k: 4,
            network: None,
            noise: 0.5,
            matrix_seed: 3,
        }
    }

    fn world(count: usize, k_star: Option<usize>) -> Result<Synthetic> {
        Synthetic::with_targets(config(), Targets { count, k_star })
    }

    fn k_star(world: &Synthetic) -> usize {
        let need = need_of(world.targets()).unwrap();
        Quantities::of(world.source_map(), need.as_ref())
            .unwrap()
            .k_star
    }

    #[test]
    fn targets_span_as_many_directions_as_asked_for() {
        for (count, asked, rank) in [
            (1, None, 1),
            (3, None, 3),
            (9, None, 4),
            (9, Some(1), 1),
            (9, Some(2), 2),
            (4, Some(4), 4),
        ] {
            let world = world(count, asked).unwrap();
            assert_eq!(world.targets().len(), count);
            assert_eq!(k_star(&world), rank, "{count} targets, {asked:?}");
        }
    }

    #[test]
    fn the_rest_of_the_world_is_the_same_and_the_first_target_is_the_papers() {
        let (one, several) = (
            Synthetic::new(config()).unwrap(),
            world(5, Some(2)).unwrap(),
        );
        assert_eq!(one.source_map(), several.source_map());
        assert_eq!(one.representation(), several.representation());
        assert_eq!(one.target_embedding(), several.target_embedding());
        let pair = world(2, None).unwrap();
        assert_eq!(
            need_of(pair.targets()).unwrap(),
            need_of_first(pair.source_map(), 2).unwrap()
        );
    }

    #[test]
    fn each_target_has_its_own_samples_and_loss() {
        let world = world(3, Some(2)).unwrap();
        let linear = world.representation().as_linear().unwrap();
        let predictor = |embedding: &[f64]| Predictor {
            kind: PredictorKind::Shared,
            coefficients: vec![linear.coefficients(embedding)],
            head: None,
            held_out_error: None,
        };
        let exact: Vec<Predictor> = world.targets().iter().map(|c| predictor(c)).collect();
        for (target, own) in exact.iter().enumerate() {
            assert!(world.target_loss_at(target, own).unwrap() < 1e-20);
        }
        assert!(world.target_loss_at(1, &exact[0]).unwrap() > 1e-3);
        let all: Vec<&Predictor> = exact.iter().collect();
        assert!(world.mean_task_loss(&all).unwrap() < 1e-20);
        assert!(world.mean_task_loss(&all[..1]).unwrap() > 1e-3);
        let draw = |target| {
            let mut rng = derive(1, Purpose::Target, &[0]);
            world.sample_target_at(target, 5, &mut rng)
        };
        assert_ne!(draw(0).unwrap(), draw(1).unwrap());
        assert!(draw(3).is_err());
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        for (count, k_star, words) in [
            (0, None, "`targets` is 0"),
            (1001, None, "`targets` is 1001"),
            (3, Some(0), "`k_star` is 0"),
            (9, Some(5), "more than k = 4"),
            (2, Some(3), "more than the number of targets, 2"),
        ] {
            let error = world(count, k_star).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
