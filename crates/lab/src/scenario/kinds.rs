//! The kinds of world, and their keys in an experiment file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use taskscout::registry::Registry;

#[cfg(test)]
use super::toy;
use super::{Setup, logs, pendulum, program, synthetic};
use crate::error::{LabError, Result};
use crate::memory::Need;
use crate::names::WorldName;
use crate::options::WorldOptions;
use crate::watch::Watcher;

/// The `[world]` keys of a kind of world.
pub(crate) trait WorldSettings {
    /// Hears in which folder the experiment file lies.
    fn locate(&mut self, folder: &Path) {
        let _ = folder;
    }

    /// Puts registered spaces and feature maps in the place of their names.
    fn attach(&mut self, registry: &Registry) -> Result<()> {
        let _ = registry;
        Ok(())
    }

    /// Whether there are any.
    fn has_own(&self) -> bool {
        false
    }

    /// What a run still has to be told on the command line, in a sentence.
    fn missing(&self) -> Option<&'static str> {
        None
    }

    /// Whether a network is asked for beside the features.
    fn wants_network(&self) -> bool {
        false
    }

    /// What draws the truth, where one is drawn.
    fn matrix_seed(&self) -> Option<u64> {
        None
    }

    /// The memory that the world takes, where that can be said before it is made.
    fn need(&self) -> Need {
        Need::default()
    }

    /// Makes the world, whose parts tell the watcher what is odd about it, now and later.
    fn build(&self, watch: &Watcher) -> Result<Setup>;
}

/// The kinds of world by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WorldKind {
    Synthetic,
    Pendulum,
    Logs,
    #[cfg(test)]
    Toy,
}

/// `[world]`, whose `kind` decides about its other keys, or `[source]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)] // the kind stands among the settings
pub(crate) enum WorldConfig {
    Synthetic(Box<synthetic::Settings>),
    Pendulum(Box<pendulum::Settings>),
    Logs(Box<logs::Settings>),
    Program(Box<program::Settings>),
    #[cfg(test)]
    Toy(toy::Settings),
}

impl WorldConfig {
    fn settings(&self) -> &dyn WorldSettings {
        match self {
            Self::Synthetic(settings) => settings.as_ref(),
            Self::Pendulum(settings) => settings.as_ref(),
            Self::Logs(settings) => settings.as_ref(),
            Self::Program(settings) => settings.as_ref(),
            #[cfg(test)]
            Self::Toy(settings) => settings,
        }
    }

    fn settings_mut(&mut self) -> &mut dyn WorldSettings {
        match self {
            Self::Synthetic(settings) => settings.as_mut(),
            Self::Pendulum(settings) => settings.as_mut(),
            Self::Logs(settings) => settings.as_mut(),
            Self::Program(settings) => settings.as_mut(),
            #[cfg(test)]
            Self::Toy(settings) => settings,
        }
    }

    /// The kind by name.
    pub(crate) fn name(&self) -> WorldName {
        match self {
            Self::Synthetic(_) => WorldName::Synthetic,
            Self::Pendulum(_) => WorldName::Pendulum,
            Self::Logs(_) => WorldName::Logs,
            Self::Program(_) => WorldName::Program,
            #[cfg(test)]
            Self::Toy(_) => WorldName::Pendulum,
        }
    }

    /// Whether its targets may be one that is a distribution.
    pub(crate) fn has_distribution(&self) -> bool {
        matches!(self, Self::Synthetic(settings) if settings.names_targets())
    }

    /// Takes over the options of this kind of world, and refuses those of others.
    pub(crate) fn apply(&mut self, options: &WorldOptions) -> Result<()> {
        let name = self.name();
        match (self, options) {
            (_, WorldOptions::None) | (Self::Program(_), WorldOptions::Program(_)) => Ok(()),
            (Self::Synthetic(settings), WorldOptions::Synthetic(own)) => {
                settings.apply(own);
                Ok(())
            }
            (Self::Pendulum(settings), WorldOptions::Pendulum(own)) => settings.apply(own),
            (Self::Logs(settings), WorldOptions::Logs(own)) => settings.apply(own),
            #[cfg(test)]
            (Self::Toy(settings), WorldOptions::Pendulum(own)) => settings.apply(own),
            (_, other) => Err(LabError::Input(format!(
                "the options are those of {}, but the experiment has {}: give options of that world",
                other.whose(),
                name.about()
            ))),
        }
    }

    /// Hears in which folder the experiment file lies.
    pub(crate) fn locate(&mut self, folder: &Path) {
        self.settings_mut().locate(folder);
    }

    /// Puts registered spaces and feature maps in the place of their names.
    pub(crate) fn attach(&mut self, registry: &Registry) -> Result<()> {
        self.settings_mut().attach(registry)
    }

    /// Whether there are any.
    pub(crate) fn has_own(&self) -> bool {
        self.settings().has_own()
    }

    /// What a run still has to be told on the command line, in a sentence.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.settings().missing()
    }

    /// Whether a network is asked for beside the features.
    pub(crate) fn wants_network(&self) -> bool {
        self.settings().wants_network()
    }

    /// What draws the truth, where one is drawn.
    pub(crate) fn matrix_seed(&self) -> Option<u64> {
        self.settings().matrix_seed()
    }

    /// The memory that the world takes.
    pub(crate) fn need(&self) -> Need {
        self.settings().need()
    }

    /// Makes the world.
    pub(crate) fn build(&self, watch: &Watcher) -> Result<Setup> {
        self.settings().build(watch)
    }
}
