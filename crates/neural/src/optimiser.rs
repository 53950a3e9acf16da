//! First-order optimisers, learning-rate schedules and gradient clipping.

use serde::{Deserialize, Serialize};
use taskscout::{Error, Result};

/// Moments' decay of Adam.
const BETA: [f32; 2] = [0.9, 0.999];
/// What keeps Adam's quotient finite.
const EPSILON: f32 = 1e-8;

/// How a gradient becomes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Optimiser {
    /// Adam; weight decay joins the gradient.
    #[default]
    Adam,
    /// Adam with decoupled weight decay.
    #[serde(rename = "adamw", alias = "adam-w")]
    AdamW,
    /// Plain gradient steps; weight decay joins the gradient.
    Sgd,
}

/// How the learning rate changes over the steps.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", try_from = "RawDecay")]
#[non_exhaustive]
pub enum Decay {
    /// Not at all.
    #[default]
    Constant,
    /// Times `factor` every `every` steps.
    Step {
        /// Steps between two changes.
        every: usize,
        /// The change.
        factor: f64,
    },
    /// Down to nothing along half a cosine.
    Cosine,
}

/// A decay as a file has it: a choice between kinds would let keys of other kinds pass unseen.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDecay {
    kind: DecayKind,
    every: Option<usize>,
    factor: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum DecayKind {
    Constant,
    Step,
    Cosine,
}

impl TryFrom<RawDecay> for Decay {
    type Error = Error;

    fn try_from(raw: RawDecay) -> Result<Self> {
        match (raw.kind, raw.every, raw.factor) {
            (DecayKind::Constant, None, None) => Ok(Self::Constant),
            (DecayKind::Cosine, None, None) => Ok(Self::Cosine),
            (DecayKind::Step, Some(every), Some(factor)) => Ok(Self::Step { every, factor }),
            _ => Err(Error::setting(
                "decay",
                "needs `every` and `factor` with kind `step`, and nothing else with `constant` or `cosine`",
            )),
        }
    }
}

impl Decay {
    /// The factor on the learning rate at a step of so many.
    #[must_use]
    pub fn factor(self, step: usize, steps: usize) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Step { every, factor } => factor.powi((step / every.max(1)) as i32),
            Self::Cosine => {
                let part = step as f64 / steps.max(1) as f64;
                0.5 * (1.0 + (std::f64::consts::PI * part.min(1.0)).cos())
            }
        }
    }

    pub(crate) fn validate(self) -> Result<()> {
        match self {
            Self::Step { every: 0, .. } => {
                Err(Error::setting("decay.every", "is 0: give at least 1 step"))
            }
            Self::Step { factor, .. } if !(factor > 0.0 && factor <= 1.0) => Err(Error::setting(
                "decay.factor",
                format!("is {factor}: give a number above 0 and at most 1"),
            )),
            _ => Ok(()),
        }
    }
}

/// An optimiser's memory.
pub(crate) struct Stepper {
    kind: Optimiser,
    weight_decay: f32,
    moments: [Vec<f32>; 2],
    steps: i32,
}

impl Stepper {
    pub(crate) fn new(kind: Optimiser, weight_decay: f64, parameters: usize) -> Self {
        let moment = || match kind {
            Optimiser::Sgd => Vec::new(),
            _ => vec![0.0; parameters],
        };
        Self {
            kind,
            weight_decay: weight_decay as f32,
            moments: [moment(), moment()],
            steps: 0,
        }
    }

    /// Moves parameters against a gradient.
    pub(crate) fn step(&mut self, rate: f32, parameters: &mut [f32], gradient: &[f32]) {
        self.steps += 1;
        let decay = self.weight_decay;
        if self.kind == Optimiser::Sgd {
            for (value, &g) in parameters.iter_mut().zip(gradient) {
                *value -= rate * (g + decay * *value);
            }
            return;
        }
        let decoupled = self.kind == Optimiser::AdamW;
        let [first, second] = &mut self.moments;
        let correction = BETA.map(|beta| 1.0 - beta.powi(self.steps));
        let (rate, root) = (rate / correction[0], correction[1].sqrt());
        let plain = rate * correction[0];
        for (((value, &g), m), v) in parameters.iter_mut().zip(gradient).zip(first).zip(second) {
            let g = if decoupled { g } else { g + decay * *value };
            *m = BETA[0] * *m + (1.0 - BETA[0]) * g;
            *v = BETA[1] * *v + (1.0 - BETA[1]) * g * g;
            if decoupled {
                *value -= plain * decay * *value;
            }
            *value -= rate * *m / (v.sqrt() / root + EPSILON);
        }
    }
}

/// Shortens a gradient to a norm.
pub(crate) fn clip(gradient: &mut [f32], most: f64) {
    let norm = gradient
        .iter()
        .map(|&g| f64::from(g) * f64::from(g))
        .sum::<f64>()
        .sqrt();
    if norm > most {
        let factor = (most / norm) as f32;
        gradient.iter_mut().for_each(|g| *g *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_optimiser_finds_the_bottom_of_a_bowl() {
        for kind in [Optimiser::Adam, Optimiser::AdamW, Optimiser::Sgd] {
            let mut point = [3.0_f32, -2.0];
            let mut stepper = Stepper::new(kind, 0.0, 2);
            for step in 0..2000 {
                let gradient = [2.0 * (point[0] - 1.0), 8.0 * (point[1] + 0.5)];
                let rate = 0.05 * Decay::Cosine.factor(step, 2000) as f32;
                stepper.step(rate, &mut point, &gradient);
            }
            assert!((point[0] - 1.0).abs() < 1e-3, "{kind:?} {point:?}");
            assert!((point[1] + 0.5).abs() < 1e-3, "{kind:?} {point:?}");
        }
    }

    #[test]
    fn adam_takes_its_textbook_first_step() {
        let mut point = [0.0_f32];
        Stepper::new(Optimiser::Adam, 0.0, 1).step(0.1, &mut point, &[5.0]);
        assert!((point[0] + 0.1).abs() < 1e-6);
    }

    #[test]
    fn decoupled_decay_shrinks_without_a_gradient() {
        let mut point = [1.0_f32];
        Stepper::new(Optimiser::AdamW, 0.5, 1).step(0.1, &mut point, &[0.0]);
        assert!((point[0] - 0.95).abs() < 1e-6);
    }

    #[test]
    fn schedules_fall_as_they_say() {
        let step = Decay::Step {
            every: 10,
            factor: 0.5,
        };
        assert!((step.factor(25, 100) - 0.25).abs() < 1e-12);
        assert!((Decay::Cosine.factor(50, 100) - 0.5).abs() < 1e-12);
        assert!(
            Decay::Step {
                every: 0,
                factor: 0.5
            }
            .validate()
            .is_err()
        );
    }

    #[test]
    fn clipping_keeps_the_direction() {
        let mut gradient = [3.0_f32, 4.0];
        clip(&mut gradient, 1.0);
        assert!((gradient[0] - 0.6).abs() < 1e-6 && (gradient[1] - 0.8).abs() < 1e-6);
    }
}
