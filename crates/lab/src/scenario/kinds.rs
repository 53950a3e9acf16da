//! The kinds of world, and their keys in an experiment file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use taskscout::registry::Registry;

#[cfg(test)]
use super::toy;
use super::{Setup, WorldOption, logs, pendulum, program, synthetic};
use crate::error::Result;
use crate::memory::Need;
use crate::options::ExperimentOptions;
use crate::watch::Watcher;

/// The `[world]` keys of a kind of world.
pub(crate) trait WorldSettings {
    /// Whether an option that concerns some worlds only concerns this one.
    fn has(&self, option: WorldOption) -> bool;

    /// Takes over what decides whether targets have names.
    fn take_targets(&mut self, options: &ExperimentOptions) {
        let _ = options;
    }

    /// Takes over the options that concern this world.
    fn apply(&mut self, options: &ExperimentOptions) -> Result<()>;

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

    /// Whether an option that concerns some worlds only concerns this one.
    pub(crate) fn has(&self, option: WorldOption) -> bool {
        self.settings().has(option)
    }

    /// The same with the targets that the options ask for, which decide about further options.
    pub(crate) fn with_targets(&self, options: &ExperimentOptions) -> Self {
        let mut world = self.clone();
        world.settings_mut().take_targets(options);
        world
    }

    /// Takes over the options that concern this world, and refuses those of others.
    pub(crate) fn apply(&mut self, options: &ExperimentOptions) -> Result<()> {
        // Which options there are depends on whether targets have names.
        self.settings_mut().take_targets(options);
        // A slip of the pen is told first, whatever the world; logs have targets with names.
        if !matches!(self, Self::Logs(_)) {
            options.target_points()?;
        }
        for option in WorldOption::ALL {
            if option.is_given(options) && !self.has(option) {
                return Err(option.refusal());
            }
        }
        self.settings_mut().apply(options)
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
