//! What users add, by name: spaces, feature maps, strategies and trainers.
//!
//! A file holds the name and the settings of what is the user's own; a registry holds the code. A study
//! opened with it goes on as if it had never been closed:
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use taskscout::prelude::*;
//!
//! /// Everything from one task that the engineer likes.
//! #[derive(Debug, Serialize, Deserialize)]
//! struct Favourite {
//!     task: Vec<f64>,
//! }
//!
//! impl Strategy for Favourite {
//!     fn plan(&self, context: &PlanContext<'_>) -> Result<Decision> {
//!         let task = context.space.task_of(&self.task);
//!         let item = PlanItem::new(task, context.budget, Stage::Explore, "the favourite");
//!         Ok(Decision::of(vec![item]))
//!     }
//! }
//!
//! let mut registry = Registry::new();
//! registry.strategy::<Favourite>("favourite")?;
//!
//! let settings = Favourite { task: vec![0.6, 0.8] };
//! let mut study = Study::builder(Space::ball(2, 1.0)?)
//!     .inputs(3)
//!     .target(Target::unknown("tomorrow"))
//!     .own_strategy(registry.make_strategy("favourite", &settings)?)
//!     .build()?;
//! assert_eq!(study.ask(40)?.items[0].task[1], 0.8);
//!
//! let saved = study.snapshot()?;
//! let mut study = Study::restore_with(&saved, &registry)?;
//! assert_eq!(study.ask(7)?.items[0].n, 7);
//! // Without the registry the study can be read, and says what it lacks.
//! let message = Study::restore(&saved)?.ask(7).unwrap_err().to_string();
//! assert!(message.contains("register `favourite`"), "{message}");
//! # Ok::<(), taskscout::Error>(())
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::extension::Extension;
use crate::features::Features;
use crate::space::TaskSpace;
use crate::strategy::Strategy;
use crate::train::Trainer;

/// Makes a part from its settings.
type Make<T> = Arc<dyn Fn(&Value) -> Result<Arc<T>> + Send + Sync>;

/// Spaces, feature maps, strategies and trainers of the user's own, by name.
#[derive(Clone, Default)]
pub struct Registry {
    spaces: Makers<dyn TaskSpace>,
    features: Makers<dyn Features>,
    strategies: Makers<dyn Strategy>,
    trainers: Makers<dyn Trainer>,
}

/// The parts of one kind.
struct Makers<T: ?Sized>(BTreeMap<String, Make<T>>);

impl<T: ?Sized> Clone for Makers<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: ?Sized> Default for Makers<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: ?Sized> Makers<T> {
    fn add(&mut self, kind: &str, name: &str, make: Make<T>) -> Result<()> {
        if name.trim().is_empty() {
            return Err(Error::setting(kind, "has an empty name: name it"));
        }
        if self.0.insert(name.to_owned(), make).is_some() {
            return Err(Error::setting(
                kind,
                format!("`{name}` is registered twice: give one another name"),
            ));
        }
        Ok(())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn make(&self, kind: &str, name: &str, settings: &Value) -> Result<Arc<T>> {
        let Some(make) = self.0.get(name) else {
            let known: Vec<&str> = self.names().collect();
            let known = if known.is_empty() {
                "none is".to_owned()
            } else {
                format!("registered are {}", known.join(", "))
            };
            return Err(Error::setting(
                kind,
                format!(
                    "`{name}` is not registered ({known}): call `Registry::{kind}` with that name first"
                ),
            ));
        };
        make(settings)
    }
}

/// Settings as data.
fn value(name: &str, settings: &impl Serialize) -> Result<Value> {
    serde_json::to_value(settings).map_err(|error| {
        let problem = format!("has settings that cannot be kept: {error}");
        Error::setting(format!("`{name}`"), problem)
    })
}

/// Reads a part from its settings.
fn read<P: DeserializeOwned>(
    kind: &'static str,
    name: &str,
) -> impl Fn(&Value) -> Result<P> + use<P> {
    let name = name.to_owned();
    move |settings| {
        serde_json::from_value(settings.clone()).map_err(|error| {
            let problem = format!("`{name}` does not take these settings: {error}");
            Error::setting(kind, problem)
        })
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry")
            .field("spaces", &self.spaces.0.keys())
            .field("features", &self.features.0.keys())
            .field("strategies", &self.strategies.0.keys())
            .field("trainers", &self.trainers.0.keys())
            .finish()
    }
}

impl Registry {
    /// A registry without anything.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a space that is read from its settings.
    ///
    /// # Errors
    /// A name that is empty or taken.
    pub fn space<P: TaskSpace + DeserializeOwned + 'static>(
        &mut self,
        name: &str,
    ) -> Result<&mut Self> {
        let read = read::<P>("space", name);
        self.space_with(name, move |settings| Ok(Arc::new(read(settings)?)))
    }

    /// Registers a space that a function makes from its settings.
    ///
    /// # Errors
    /// A name that is empty or taken.
    pub fn space_with(
        &mut self,
        name: &str,
        make: impl Fn(&Value) -> Result<Arc<dyn TaskSpace>> + Send + Sync + 'static,
    ) -> Result<&mut Self> {
        self.spaces.add("space", name, Arc::new(make))?;
        Ok(self)
    }

    /// Registers a feature map; files know it by its name and dimensions alone.
    ///
    /// # Errors
    /// A name that is empty or taken.
    pub fn features(&mut self, name: &str, map: Arc<dyn Features>) -> Result<&mut Self> {
        let make = move |_: &Value| Ok(Arc::clone(&map));
        self.features.add("features", name, Arc::new(make))?;
        Ok(self)
    }

    /// Registers a strategy that is read from its settings.
    ///
    /// # Errors
    /// A name that is empty or taken.
    pub fn strategy<P: Strategy + DeserializeOwned + 'static>(
        &mut self,
        name: &str,
    ) -> Result<&mut Self> {
        let read = read::<P>("strategy", name);
        self.strategy_with(name, move |settings| Ok(Arc::new(read(settings)?)))
    }

    /// Registers a strategy that a function makes from its settings.
    ///
    /// # Errors
    /// A name that is empty or taken.
    pub fn strategy_with(
        &mut self,
        name: &str,
        make: impl Fn(&Value) -> Result<Arc<dyn Strategy>> + Send + Sync + 'static,
    ) -> Result<&mut Self> {
        self.strategies.add("strategy", name, Arc::new(make))?;
        Ok(self)
    }

    /// Registers a trainer that is read from its settings.
    ///
    /// # Errors
    /// A name that is empty or taken.
    pub fn trainer<P: Trainer + DeserializeOwned + 'static>(
        &mut self,
        name: &str,
    ) -> Result<&mut Self> {
        let read = read::<P>("trainer", name);
        self.trainer_with(name, move |settings| Ok(Arc::new(read(settings)?)))
    }

    /// Registers a trainer that a function makes from its settings.
    ///
    /// # Errors
    /// A name that is empty or taken.
    pub fn trainer_with(
        &mut self,
        name: &str,
        make: impl Fn(&Value) -> Result<Arc<dyn Trainer>> + Send + Sync + 'static,
    ) -> Result<&mut Self> {
        self.trainers.add("trainer", name, Arc::new(make))?;
        Ok(self)
    }

    /// A registered space with settings, for a study.
    ///
    /// # Errors
    /// A name that is not registered, or settings that do not fit.
    pub fn make_space(&self, name: &str, settings: &impl Serialize) -> Result<crate::space::Space> {
        let settings = value(name, settings)?;
        let part = self.spaces.make("space", name, &settings)?;
        crate::space::Space::own(Extension::new(name, &settings, part)?)
    }

    /// A registered strategy with settings, for a study.
    ///
    /// # Errors
    /// A name that is not registered, or settings that do not fit.
    pub fn make_strategy(
        &self,
        name: &str,
        settings: &impl Serialize,
    ) -> Result<Extension<dyn Strategy>> {
        let settings = value(name, settings)?;
        let part = self.strategies.make("strategy", name, &settings)?;
        Extension::new(name, &settings, part)
    }

    /// A registered trainer with settings, for a study.
    ///
    /// # Errors
    /// A name that is not registered, or settings that do not fit.
    pub fn make_trainer(
        &self,
        name: &str,
        settings: &impl Serialize,
    ) -> Result<Extension<dyn Trainer>> {
        let settings = value(name, settings)?;
        let part = self.trainers.make("trainer", name, &settings)?;
        Extension::new(name, &settings, part)
    }

    /// A registered feature map.
    ///
    /// # Errors
    /// A name that is not registered.
    pub fn make_features(&self, name: &str) -> Result<Arc<dyn Features>> {
        self.features.make("features", name, &Value::Null)
    }

    /// The names of the registered spaces.
    pub fn space_names(&self) -> impl Iterator<Item = &str> {
        self.spaces.names()
    }

    /// The names of the registered feature maps.
    pub fn feature_names(&self) -> impl Iterator<Item = &str> {
        self.features.names()
    }

    /// The names of the registered strategies.
    pub fn strategy_names(&self) -> impl Iterator<Item = &str> {
        self.strategies.names()
    }

    /// The names of the registered trainers.
    pub fn trainer_names(&self) -> impl Iterator<Item = &str> {
        self.trainers.names()
    }
}
