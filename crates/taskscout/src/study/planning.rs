//! Copies of a study for one plan: under other costs, or with a model that is there already.

use std::sync::Arc;

use super::{Collection, Study};
use crate::error::{Error, Result};
use crate::features::Features as _;
use crate::model::{Model, Representation as _};

impl Study {
    /// A copy whose plans are made under other costs and limits: for one day with a slow rig, say.
    ///
    /// ```
    /// use taskscout::prelude::*;
    /// use taskscout::study::{Collection, Command};
    /// let mut study = Study::builder(Space::boxed(vec![0.0, -1.0], vec![12.0, 1.0])?)
    ///     .inputs(3)
    ///     .target(Target::unknown("tomorrow"))
    ///     .build()?;
    /// let today = Collection { max_tasks: Some(2), ..study.config().collection.clone() };
    /// let event = study.under(today)?.decide(&Command::Ask { budget: 100, available: None })?;
    /// study.apply(event)?;
    /// assert_eq!(study.items().len(), 2);
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Costs or limits that make no sense.
    pub fn under(&self, collection: Collection) -> Result<Self> {
        collection.validate()?;
        let mut copy = self.clone();
        copy.cache.earlier.clone_from(&self.cache.earlier);
        copy.config.collection = collection;
        Ok(copy)
    }

    /// A copy that plans with a model of earlier data instead of training one: for somebody who asks while another
    /// process trains.
    ///
    /// # Errors
    /// A model of other features, or of other targets than the study has now.
    pub fn planning_with(&self, model: Arc<Model>) -> Result<Self> {
        let features = self.config.input_features.dim();
        let inputs = model.representation.input_dim();
        Error::check_length("the features of the model", features, inputs)?;
        let tasks = model.map.task_dim();
        Error::check_length(
            "the task features of the model",
            self.config.task_dim(),
            tasks,
        )?;
        let mut copy = self.clone();
        copy.cache.earlier = Some(model);
        Ok(copy)
    }
}
