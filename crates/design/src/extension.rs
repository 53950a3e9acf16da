//! Parts of a study that are the user's own: known to a file by a name and settings, made by code.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A part from outside this crate (a space, a strategy, a trainer), under a name, with the settings
/// that a file keeps. What is read from a file is without its code until it is attached, which a
/// registry does by its name.
///
/// ```
/// use std::sync::Arc;
/// use taskscout::study::{External, Oracle};
/// use taskscout::train::JointRidge;
/// let oracle = Oracle::External(External::new("stiff", &(), Arc::new(JointRidge {
///     lambda: Some(10.0),
///     ..JointRidge::default()
/// }))?);
/// assert_eq!(oracle.name(), "stiff");
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Extension<T: ?Sized> {
    /// Its name.
    pub name: String,
    /// Its settings, as it wrote them.
    #[serde(default)]
    pub settings: serde_json::Value,
    #[serde(skip, default = "none")]
    part: Option<Arc<T>>,
}

fn none<T: ?Sized>() -> Option<Arc<T>> {
    None
}

impl<T: ?Sized> Extension<T> {
    /// A part under a name, with the settings that a file should keep.
    ///
    /// # Errors
    /// An empty name, or settings that cannot be written.
    pub fn new(name: impl Into<String>, settings: &impl Serialize, part: Arc<T>) -> Result<Self> {
        let name = name.into();
        if name.trim().is_empty() {
            return Err(Error::setting("name", "is empty: name what is your own"));
        }
        let settings = serde_json::to_value(settings).map_err(|error| {
            Error::setting(
                format!("`{name}`"),
                format!("has settings that cannot be kept: {error}"),
            )
        })?;
        Ok(Self {
            name,
            settings,
            part: Some(part),
        })
    }

    /// A part that is yet to be attached.
    #[must_use]
    pub fn unattached(name: impl Into<String>, settings: serde_json::Value) -> Self {
        Self {
            name: name.into(),
            settings,
            part: None,
        }
    }

    /// The part.
    ///
    /// # Errors
    /// A part that was read from a file and not attached since.
    pub fn get(&self) -> Result<&T> {
        self.part.as_deref().ok_or_else(|| self.missing())
    }

    /// The part, shared.
    ///
    /// # Errors
    /// As [`Extension::get`].
    pub fn part(&self) -> Result<Arc<T>> {
        self.part.clone().ok_or_else(|| self.missing())
    }

    fn missing(&self) -> Error {
        Error::State(format!(
            "`{0}` is not part of the study's file, which cannot hold its code: register `{0}` and open the file with the registry, or attach it",
            self.name
        ))
    }

    /// Makes the part whole.
    pub fn attach(&mut self, part: Arc<T>) {
        self.part = Some(part);
    }
}

impl<T: ?Sized> Clone for Extension<T> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            settings: self.settings.clone(),
            part: self.part.clone(),
        }
    }
}

/// Two are equal when their names and settings are.
impl<T: ?Sized> PartialEq for Extension<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.settings == other.settings
    }
}
