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
        let mut copy = self.copy_with_models();
        copy.config.collection = collection;
        Ok(copy)
    }

    /// A copy that keeps what was learnt from the rows, which a clone learns again: for trying what would follow from
    /// a plan or from more rows.
    ///
    /// ```
    /// use taskscout::prelude::*;
    /// let mut study = Study::builder(Space::boxed(vec![0.0], vec![12.0])?)
    ///     .inputs(1)
    ///     .target(Target::unknown("tomorrow"))
    ///     .build()?;
    /// let gale = Task::point(vec![11.0]);
    /// study.add(&gale, &Samples::new(vec![1.0, 2.0, 4.0], 1, vec![0.9, 2.1, 4.0], 1)?)?;
    /// let model = study.model()?;
    /// let copy = study.copy_with_models();
    /// assert!(std::sync::Arc::ptr_eq(&model, &copy.model()?));
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    #[must_use]
    pub fn copy_with_models(&self) -> Self {
        let mut copy = self.clone();
        copy.cache = self.cache.of_data();
        copy
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
