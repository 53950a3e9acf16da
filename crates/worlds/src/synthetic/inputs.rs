//! How the inputs of a synthetic world are distributed.

use rand_distr::{Distribution as _, StandardNormal, StandardUniform};
use serde::{Deserialize, Serialize};
use taskscout::rng::Rng;

/// The distribution of each input, of mean 0 and variance 1. Inputs are independent.
///
/// ```
/// use taskscout::rng::{Purpose, derive};
/// use taskscout_worlds::InputDistribution;
///
/// let mut rng = derive(0, Purpose::Collect, &[]);
/// let inputs = InputDistribution::Uniform.draw(1000, &mut rng);
/// let variance = inputs.iter().map(|x| x * x).sum::<f64>() / 1000.0;
/// assert!(inputs.iter().all(|x| x.abs() <= 3.0_f64.sqrt()) && (variance - 1.0).abs() < 0.1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputDistribution {
    /// `N(0, 1)`.
    #[default]
    Normal,
    /// Uniform on `[−√3, √3]`.
    Uniform,
}

impl InputDistribution {
    /// So many independent values.
    #[must_use]
    pub fn draw(self, count: usize, rng: &mut Rng) -> Vec<f64> {
        let one = |_| match self {
            Self::Normal => StandardNormal.sample(rng),
            Self::Uniform => {
                let value: f64 = StandardUniform.sample(rng);
                3.0_f64.sqrt() * (2.0 * value - 1.0)
            }
        };
        (0..count).map(one).collect()
    }

    /// Whether this is what a file without a word about inputs means.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// `E[cos(aᵀx)]`, the characteristic function.
    pub(super) fn mean_cosine(self, frequency: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::Normal => (-0.5 * frequency.map(|a| a.powi(2)).sum::<f64>()).exp(),
            Self::Uniform => frequency.map(|a| sinc(3.0_f64.sqrt() * a)).product(),
        }
    }
}

/// `sin(x) / x`.
fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-4 {
        1.0 - x * x / 6.0
    } else {
        x.sin() / x
    }
}

#[cfg(test)]
mod tests {
    use taskscout::rng::{Purpose, derive};

    use super::*;

    /// Both distributions against means over drawn inputs.
    #[test]
    fn mean_cosines_are_those_of_drawn_inputs() {
        for inputs in [InputDistribution::Normal, InputDistribution::Uniform] {
            let mut rng = derive(3, Purpose::Collect, &[]);
            for frequency in [[0.4, -0.9], [1.7, 0.2], [0.0, 1e-6]] {
                let drawn = inputs.draw(400_000, &mut rng);
                let cosine = |x: &[f64]| (frequency[0] * x[0] + frequency[1] * x[1]).cos();
                let mean = drawn.chunks_exact(2).map(cosine).sum::<f64>() / 200_000.0;
                let exact = inputs.mean_cosine(frequency.into_iter());
                assert!(
                    (mean - exact).abs() < 0.008,
                    "{inputs:?} {frequency:?}: {mean} {exact}"
                );
            }
        }
    }
}
