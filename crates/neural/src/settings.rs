//! What a user can set of training, and what is wrong with it if something is.

use serde::{Deserialize, Serialize};
use taskscout::{Error, Result};

use crate::optimiser::{Decay, Optimiser};

/// Most networks that a training starts from: all of them are kept until the best is known.
const MOST_STARTS: usize = 1000;

/// Settings of the `neural` oracle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NeuralSettings {
    /// Networks that the first training starts from; the best goes on.
    pub starts: usize,
    /// New networks that a later training tries beside what was learnt before.
    pub restarts: usize,
    /// Noisy mini-batch steps from every start; none, if 0.
    pub anneal_steps: usize,
    /// Steps on all rows after them, at most.
    pub max_steps: usize,
    /// Training ends when a step lowers the summed squared error by less than so many times the
    /// noise variance: below that, more steps fit noise.
    pub tolerance: f64,
    /// The penalty on the parameters of network and task map, in units of the summed squared error;
    /// from the data if not given.
    pub lambda: Option<f64>,
}

impl NeuralSettings {
    /// Checks the numbers.
    ///
    /// # Errors
    /// The first that is out of range, by its key.
    pub fn validate(&self) -> Result<()> {
        for (key, value) in [("starts", self.starts), ("max_steps", self.max_steps)] {
            if value == 0 {
                return Err(Error::setting(key, "is 0: give at least 1"));
            }
        }
        for (key, value) in [("starts", self.starts), ("restarts", self.restarts)] {
            if value > MOST_STARTS {
                return Err(Error::setting(
                    key,
                    format!("is {value}: give at most {MOST_STARTS}"),
                ));
            }
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(Error::setting(
                "tolerance",
                format!("is {}: it must be at least 0 and finite", self.tolerance),
            ));
        }
        match self.lambda {
            Some(lambda) if !(lambda > 0.0 && lambda.is_finite()) => Err(Error::setting(
                "lambda",
                format!("is {lambda}: it must be positive and finite"),
            )),
            _ => Ok(()),
        }
    }
}

impl Default for NeuralSettings {
    fn default() -> Self {
        Self {
            starts: 4,
            restarts: 1,
            anneal_steps: 3000,
            max_steps: 60,
            tolerance: 0.2,
            lambda: None,
        }
    }
}

/// Settings of mini-batch descent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DescentSettings {
    /// How a gradient becomes a step.
    pub optimiser: Optimiser,
    /// The learning rate.
    pub learning_rate: f64,
    /// Weight decay.
    pub weight_decay: f64,
    /// Rows of a batch.
    pub batch: usize,
    /// Passes over all rows.
    pub epochs: usize,
    /// How the learning rate changes.
    pub decay: Decay,
    /// Longest gradient; longer ones are shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// Ends training when held-out rows stop getting better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_stopping: Option<EarlyStopping>,
    /// Where the coefficients of a target on the representation come from.
    #[serde(default, skip_serializing_if = "TargetHead::is_solved")]
    pub head: TargetHead,
}

/// Where the coefficients of a target on the representation come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetHead {
    /// Least squares on the target's rows, with the representation as it was learnt.
    #[default]
    Solved,
    /// The target's column of the task map, which descended with everything else: as published.
    Descended,
}

impl TargetHead {
    fn is_solved(&self) -> bool {
        *self == Self::Solved
    }
}

/// Settings of mini-batch descent of which each may be left out, as a file has them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DescentChanges {
    /// How a gradient becomes a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimiser: Option<Optimiser>,
    /// The learning rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f64>,
    /// Weight decay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_decay: Option<f64>,
    /// Rows of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// Passes over all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<usize>,
    /// How the learning rate changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay: Option<Decay>,
    /// Longest gradient; longer ones are shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// Ends training when held-out rows stop getting better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_stopping: Option<EarlyStopping>,
    /// Where the coefficients of a target on the representation come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<TargetHead>,
}

/// When to stop before the last epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EarlyStopping {
    /// Part of the rows that is held out.
    pub share: f64,
    /// Epochs without a better held-out loss that end training; the best epoch's weights are kept.
    pub patience: usize,
}

impl Default for EarlyStopping {
    fn default() -> Self {
        Self {
            share: 0.1,
            patience: 5,
        }
    }
}

impl Default for DescentSettings {
    /// Adam as the paper trains its linear representations.
    fn default() -> Self {
        Self {
            optimiser: Optimiser::Adam,
            learning_rate: 0.1,
            weight_decay: 0.01,
            batch: 600,
            epochs: 80,
            decay: Decay::Step {
                every: 200,
                factor: 0.9,
            },
            clip: None,
            early_stopping: None,
            head: TargetHead::default(),
        }
    }
}

impl DescentSettings {
    /// As the paper trains its networks.
    #[must_use]
    pub fn for_networks() -> Self {
        Self {
            optimiser: Optimiser::Sgd,
            learning_rate: 0.1,
            weight_decay: 0.0,
            batch: 500,
            epochs: 40,
            decay: Decay::Step {
                every: 80,
                factor: 0.9,
            },
            ..Self::default()
        }
    }

    /// These settings with some of them replaced.
    #[must_use]
    pub fn with(&self, changes: &DescentChanges) -> Self {
        Self {
            optimiser: changes.optimiser.unwrap_or(self.optimiser),
            learning_rate: changes.learning_rate.unwrap_or(self.learning_rate),
            weight_decay: changes.weight_decay.unwrap_or(self.weight_decay),
            batch: changes.batch.unwrap_or(self.batch),
            epochs: changes.epochs.unwrap_or(self.epochs),
            decay: changes.decay.unwrap_or(self.decay),
            clip: changes.clip.or(self.clip),
            early_stopping: changes.early_stopping.or(self.early_stopping),
            head: changes.head.unwrap_or(self.head),
        }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// The first that is out of range, by its key.
    pub fn validate(&self) -> Result<()> {
        let positive = |key: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(Error::setting(
                key,
                format!("is {value}: it must be positive and finite"),
            ))
        };
        positive("learning_rate", self.learning_rate)?;
        if !(self.weight_decay >= 0.0 && self.weight_decay.is_finite()) {
            return Err(Error::setting(
                "weight_decay",
                format!("is {}: it must be at least 0 and finite", self.weight_decay),
            ));
        }
        for (key, value) in [("batch", self.batch), ("epochs", self.epochs)] {
            if value == 0 {
                return Err(Error::setting(key, "is 0: give at least 1"));
            }
        }
        if let Some(clip) = self.clip {
            positive("clip", clip)?;
        }
        if let Some(stopping) = self.early_stopping {
            if !(stopping.share > 0.0 && stopping.share < 1.0) {
                return Err(Error::setting(
                    "early_stopping.share",
                    format!("is {}: give a part between 0 and 1", stopping.share),
                ));
            }
            if stopping.patience == 0 {
                return Err(Error::setting(
                    "early_stopping.patience",
                    "is 0: give at least 1",
                ));
            }
        }
        self.decay.validate()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(text: &str) -> std::result::Result<DescentChanges, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_decay_has_the_keys_of_its_kind_and_no_others() {
        for decay in [
            Decay::Constant,
            Decay::Cosine,
            Decay::Step {
                every: 50,
                factor: 0.1,
            },
        ] {
            let text = serde_json::to_string(&decay).unwrap();
            assert_eq!(serde_json::from_str::<Decay>(&text).unwrap(), decay);
        }
        for (decay, problem) in [
            (r#"{"kind": "cosine", "evry": 9}"#, "`evry`"),
            (r#"{"kind": "constant", "every": 9}"#, "`step`"),
            (r#"{"kind": "cosine", "factor": 0.5}"#, "`step`"),
            (r#"{"kind": "step", "every": 9}"#, "`factor`"),
            (
                r#"{"kind": "step", "every": 9, "factor": 0.5, "x": 1}"#,
                "`x`",
            ),
            (r#"{"kind": "linear"}"#, "`linear`"),
        ] {
            let error = read(&format!(r#"{{"decay": {decay}}}"#)).unwrap_err();
            assert!(error.contains(problem), "{decay}: {error}");
        }
    }

    #[test]
    fn what_is_left_out_stays_as_published() {
        let published = DescentSettings::for_networks();
        assert_eq!(published.with(&DescentChanges::default()), published);
        let changes = read(r#"{"batch": 7, "clip": 2.0}"#).unwrap();
        let changed = published.with(&changes);
        assert_eq!((changed.batch, changed.clip), (7, Some(2.0)));
        assert_eq!(changed.epochs, published.epochs);
        assert!(read(r#"{"bach": 7}"#).unwrap_err().contains("`bach`"));
    }
}
