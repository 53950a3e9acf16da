//! Experiment files: reading them, and saying where one is wrong.

use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use taskscout_io::files::read_text;

use super::ExperimentConfig;
use super::places::{self, Places};
use crate::error::{LabError, Result};
use crate::names::BuiltIn;
use crate::scenario::{WorldConfig, WorldKind};

/// Bytes of the largest experiment file.
const LARGEST: u64 = 16 << 20;

/// An experiment of the paper.
pub(crate) fn built_in(experiment: BuiltIn) -> Result<ExperimentConfig> {
    let (name, text) = match experiment {
        BuiltIn::Bilinear => (
            "experiments/bilinear.toml",
            include_str!("../../../../experiments/bilinear.toml"),
        ),
        BuiltIn::Fourier => (
            "experiments/fourier.toml",
            include_str!("../../../../experiments/fourier.toml"),
        ),
        BuiltIn::Pendulum => (
            "experiments/pendulum.toml",
            include_str!("../../../../experiments/pendulum.toml"),
        ),
        BuiltIn::Drone => (
            "experiments/drone.toml",
            include_str!("../../../../experiments/drone.toml"),
        ),
        BuiltIn::Mlp => (
            "experiments/mlp.toml",
            include_str!("../../../../experiments/mlp.toml"),
        ),
    };
    parse(text, name)
}

/// An experiment of the user's.
pub(crate) fn from_file(path: &Path) -> Result<ExperimentConfig> {
    let text = read_text(path, LARGEST).map_err(|error| {
        LabError::Input(format!(
            "cannot read {}: {error}; give the path of an experiment file",
            path.display()
        ))
    })?;
    let mut config = parse(&text, &path.display().to_string())?;
    // A bare file name has an empty parent.
    let folder = path
        .parent()
        .filter(|folder| folder.components().count() > 0);
    let folder = folder.unwrap_or(Path::new("."));
    config.origin.folder = Some(folder.to_owned());
    config.world.locate(folder);
    Ok(config)
}

/// An experiment from its text; `name` is where that stands.
pub(crate) fn parse(text: &str, name: &str) -> Result<ExperimentConfig> {
    let mut config = read(text).map_err(|error| {
        let message = error.message().trim().replace('\n', " ");
        let problem = format!("{message} (docs/reference/experiments.md lists all keys)");
        places::in_file(text, name, error.span(), &problem)
    })?;
    config.places = Places::of(text, name);
    config.origin.text = text.to_owned();
    config.origin.name = name.to_owned();
    Ok(config)
}

/// Reads an experiment file.
fn read(text: &str) -> std::result::Result<ExperimentConfig, toml::de::Error> {
    let Glance { world, source } = toml::from_str(text)?;
    let kind = match (world, source) {
        (Some(world), None) => world.kind,
        (None, Some(_)) => return with_world(text, WorldConfig::Program),
        (None, None) => {
            return Err(toml::de::Error::custom(
                "there is no [world], nor a [source]: say where the data come from",
            ));
        }
        (Some(_), Some(_)) => {
            return Err(toml::de::Error::custom(
                "there are a [world] and a [source]: data come from one of them, so leave out the other",
            ));
        }
    };
    match kind {
        WorldKind::Synthetic => with_world(text, WorldConfig::Synthetic),
        WorldKind::Pendulum => with_world(text, WorldConfig::Pendulum),
        WorldKind::Logs => with_world(text, WorldConfig::Logs),
        #[cfg(test)]
        WorldKind::Toy => with_world(text, WorldConfig::Toy),
    }
}

/// A first look at a file, to know which keys it may have.
#[derive(Deserialize)]
struct Glance {
    world: Option<GlanceWorld>,
    source: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct GlanceWorld {
    kind: WorldKind,
}

fn with_world<W: DeserializeOwned>(
    text: &str,
    config: fn(W) -> WorldConfig,
) -> std::result::Result<ExperimentConfig, toml::de::Error> {
    Ok(toml::from_str::<ExperimentConfig<W>>(text)?.map_world(config))
}
