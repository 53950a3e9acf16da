//! Experiment files: reading them, and saying where one is wrong.

use std::path::Path;

use super::ExperimentConfig;
use super::places::{self, Places};
use crate::error::{LabError, Result};
use crate::names::BuiltIn;
use crate::world;
use taskscout_io::files::read_text;

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
    config.world.locate(folder.unwrap_or(Path::new(".")));
    Ok(config)
}

/// An experiment from its text; `name` is where that stands.
pub(crate) fn parse(text: &str, name: &str) -> Result<ExperimentConfig> {
    let mut config = world::read(text).map_err(|error| {
        let place = places::of_span(text, name, error.span());
        let message = error.message().trim().replace('\n', " ");
        LabError::Input(format!(
            "{place}: {message} (docs/reference/experiments.md lists all keys)"
        ))
    })?;
    config.places = Places::of(text, name);
    Ok(config)
}
