//! `meta/info.json`: what the columns of a data set are.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::super::files;
use crate::error::{Error, Result};

/// Bytes of the largest file that is read.
const LARGEST: u64 = 16 << 20;
/// Elements of the largest feature that is a column for each.
const MOST_ELEMENTS: usize = 4096;

/// What a data set says of itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Info {
    version: String,
    robot: Option<String>,
    pub(super) fps: Option<f64>,
    /// The features that are numbers.
    pub(super) features: Vec<Feature>,
}

/// A column, or several of one name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Feature {
    pub(super) name: String,
    /// The number of elements.
    pub(super) size: usize,
    /// What the elements are called, if the data set says so.
    pub(super) labels: Vec<String>,
}

/// The file as it is.
#[derive(Deserialize)]
struct Raw {
    codebase_version: String,
    robot_type: Option<String>,
    fps: Option<f64>,
    features: BTreeMap<String, RawFeature>,
}

#[derive(Deserialize)]
struct RawFeature {
    dtype: String,
    #[serde(default)]
    shape: Vec<usize>,
    #[serde(default)]
    names: Value,
}

impl Info {
    /// Reads the file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let refused = |problem: String| Error::Log {
            path: path.to_owned(),
            problem,
        };
        let bytes = taskscout_io::files::read(path, LARGEST);
        let bytes = bytes.map_err(|source| files::unreadable(path, source))?;
        let raw: Raw = serde_json::from_slice(&bytes).map_err(|error| {
            refused(format!(
                "does not describe a LeRobot data set: {error}; write it again with LeRobot"
            ))
        })?;
        let version = raw.codebase_version.trim_start_matches('v');
        if !(version.starts_with("2.") || version.starts_with("3.")) {
            return Err(refused(format!(
                "has version {} of LeRobot's data sets, and 2 and 3 are read: convert it with LeRobot",
                raw.codebase_version
            )));
        }
        let features = raw
            .features
            .into_iter()
            .filter_map(|(name, raw)| Feature::new(name, &raw));
        Ok(Self {
            features: features.collect(),
            version: raw.codebase_version,
            robot: raw.robot_type,
            fps: raw.fps,
        })
    }

    /// The same as facts of each episode.
    pub(super) fn facts(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::from([("codebase_version".to_owned(), self.version.clone())]);
        facts.extend(
            self.robot
                .clone()
                .map(|robot| ("robot_type".to_owned(), robot)),
        );
        facts.extend(self.fps.map(|fps| ("fps".to_owned(), fps.to_string())));
        for feature in &self.features {
            for (element, label) in feature
                .labels
                .iter()
                .enumerate()
                .filter(|_| feature.size > 1)
            {
                facts.insert(format!("name.{}[{element}]", feature.name), label.clone());
            }
        }
        facts
    }
}

impl Feature {
    /// A feature of numbers; none for videos, images and texts.
    fn new(name: String, raw: &RawFeature) -> Option<Self> {
        let numbers = ["float", "int", "uint", "bool"];
        let is_number = numbers.iter().any(|kind| raw.dtype.starts_with(kind));
        let mut size = 1usize;
        for length in &raw.shape {
            size = size.saturating_mul(*length);
        }
        let sound = is_number && (1..=MOST_ELEMENTS).contains(&size) && raw.shape.len() <= 1;
        let mut labels = Vec::new();
        collect(&raw.names, &mut labels);
        if labels.len() != size {
            labels.clear();
        }
        sound.then_some(Self { name, size, labels })
    }
}

/// All texts in lists and objects, in their order: names come as a list, a list in a list, or under a heading.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(values) => values.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}
