//! How good is what was learnt? Losses and similarities, in closed form or on fixed test inputs.

use faer::{Mat, MatRef};
use taskscout::features::{FeatureMap, Features as _};
use taskscout::metric;
use taskscout::model::{AnyRepresentation, Representation as _};
use taskscout::rng::{Purpose, derive};
use taskscout::train::Predictor;
use taskscout::{Error, Result};

use super::{InputDistribution, Synthetic, SyntheticConfig, TEST_ROWS, multiply};

/// What losses are measured on.
#[derive(Debug, Clone)]
pub(super) enum Evaluation {
    /// `E[ψ ψᵀ]` over inputs: losses in closed form.
    Moments { second: Mat<f64> },
    /// Features of fixed test inputs, and what `φ` makes of them.
    Rows {
        features: Mat<f64>,
        values: Mat<f64>,
    },
}

impl Evaluation {
    pub(super) fn new(
        config: &SyntheticConfig,
        representation: &AnyRepresentation,
    ) -> Result<Self> {
        Ok(match representation.as_linear() {
            Some(_) => Self::Moments {
                second: second_moment(&config.input_features, config.inputs)?,
            },
            None => {
                let features = test_features(config);
                let values = representation.apply(features.as_ref())?;
                Self::Rows { features, values }
            }
        })
    }
}

impl Synthetic {
    /// Mean squared error of a predictor on the target's noise-free labels, over all inputs; of several targets
    /// the first.
    ///
    /// In closed form where the truth and the predictor are linear in the features, else on
    /// 20,000 fixed test inputs.
    ///
    /// # Errors
    /// A predictor of other features.
    pub fn target_loss(&self, predictor: &Predictor) -> Result<f64> {
        self.loss(&self.target_embedding(), &[predictor])
    }

    /// Mean squared error of the mean of some predictors on noise-free labels of an embedding.
    pub(super) fn loss(&self, embedding: &[f64], predictors: &[&Predictor]) -> Result<f64> {
        match &self.evaluation {
            Evaluation::Moments { second } => {
                let linear = self.representation.as_linear();
                let truth = linear.map_or_else(Vec::new, |phi| phi.coefficients(embedding));
                if predictors.iter().all(|one| one.head.is_none()) {
                    let mean = mean_coefficients(predictors);
                    return metric::target_loss(&mean, &truth, second.as_ref());
                }
                let features = test_features(&self.config);
                let labels = multiply(features.as_ref(), &truth);
                mean_square(predictors, features.as_ref(), &labels)
            }
            Evaluation::Rows { features, values } => {
                let labels = multiply(values.as_ref(), embedding);
                mean_square(predictors, features.as_ref(), &labels)
            }
        }
    }

    /// How much of the true representation a learnt one catches: the smallest squared cosine
    /// between the two, as subspaces of features or, where one is no matrix, of functions.
    ///
    /// # Errors
    /// A representation of other features.
    pub fn similarity(&self, learnt: &AnyRepresentation) -> Result<f64> {
        let similarity = match (
            &self.evaluation,
            self.representation.as_linear(),
            learnt.as_linear(),
        ) {
            (_, Some(truth), Some(learnt)) => {
                metric::subspace_similarity(learnt.matrix(), truth.matrix())?
            }
            (Evaluation::Rows { features, values }, _, _) => {
                metric::squared_canonical_correlations(
                    learnt.apply(features.as_ref())?.as_ref(),
                    values.as_ref(),
                )?
            }
            (Evaluation::Moments { .. }, _, _) => {
                let features = test_features(&self.config);
                let truth = self.representation.apply(features.as_ref())?;
                metric::squared_canonical_correlations(
                    learnt.apply(features.as_ref())?.as_ref(),
                    truth.as_ref(),
                )?
            }
        };
        Ok(similarity.min)
    }
}

/// Features of the fixed test inputs.
pub(super) fn test_features(config: &SyntheticConfig) -> Mat<f64> {
    let map = &config.input_features;
    let mut rng = derive(config.matrix_seed, Purpose::Test, &[]);
    let inputs = config.inputs.draw(TEST_ROWS * map.input_dim(), &mut rng);
    let mut features = vec![0.0; TEST_ROWS * map.dim()];
    map.apply(&inputs, &mut features);
    MatRef::from_row_major_slice(&features, TEST_ROWS, map.dim()).to_owned()
}

/// The mean of the first output's coefficients.
fn mean_coefficients(predictors: &[&Predictor]) -> Vec<f64> {
    let first = |one: &Predictor| one.coefficients.first().cloned().unwrap_or_default();
    let mut all = predictors.iter().map(|one| first(one));
    let mut mean = all.next().unwrap_or_default();
    for other in all {
        mean.iter_mut().zip(other).for_each(|(a, b)| *a += b);
    }
    if predictors.len() > 1 {
        let share = 1.0 / predictors.len() as f64;
        mean.iter_mut().for_each(|a| *a *= share);
    }
    mean
}

fn mean_square(
    predictors: &[&Predictor],
    features: MatRef<'_, f64>,
    labels: &[f64],
) -> Result<f64> {
    let mut errors: Vec<f64> = labels.iter().map(|label| -label).collect();
    for predictor in predictors {
        let predicted = predictor.predict(features)?;
        Error::check_length("the predictions", labels.len(), predicted.len())?;
        let share = 1.0 / predictors.len() as f64;
        errors
            .iter_mut()
            .zip(predicted)
            .for_each(|(error, value)| *error += share * value);
    }
    let total: f64 = errors.iter().map(|error| error * error).sum();
    Ok(total / labels.len() as f64)
}

/// `E[ψ ψᵀ]`: the identity, or, for `cos(Ax + b)`, in closed form
/// `½ (cos(b_i − b_j) E[cos((a_i − a_j)ᵀx)] + cos(b_i + b_j) E[cos((a_i + a_j)ᵀx)])`.
fn second_moment(features: &FeatureMap, inputs: InputDistribution) -> Result<Mat<f64>> {
    let d = features.dim();
    match features {
        FeatureMap::Identity(_) => Ok(Mat::identity(d, d)),
        FeatureMap::Fourier(fourier) => {
            let m = fourier.input_dim();
            let row = |i: usize| &fourier.matrix()[i * m..(i + 1) * m];
            let mean = |i: usize, j: usize, sign: f64| {
                let pairs = row(i).iter().zip(row(j));
                inputs.mean_cosine(pairs.map(|(a, b)| a + sign * b))
            };
            let b = fourier.offset();
            Ok(Mat::from_fn(d, d, |i, j| {
                let near = (b[i] - b[j]).cos() * mean(i, j, -1.0);
                let far = (b[i] + b[j]).cos() * mean(i, j, 1.0);
                0.5 * (near + far)
            }))
        }
        _ => Err(Error::setting(
            "input_features",
            "of a synthetic world must be `identity` or `fourier`",
        )),
    }
}
