//! Asking for a plan, while others ask, tell and train.
//!
//! An `ask` trains a model if the strategy needs one. While another process does that, the last model serves: the plan
//! says so, and nobody waits. What was asked for and has not come yet counts as if it had, so no two plans ask for the
//! same information.

use std::borrow::Cow;
use std::sync::Arc;

use taskscout::model::Model;
use taskscout::strategy::Plan;
use taskscout::study::{Collection, Command, Event, Study};
use taskscout::task::Task;
use taskscout_store::{Kept, Query};

use crate::error::{Error, Result, of_store};
use crate::stored::{Draft, Step, StoredStudy};

/// The key of the last model that plans were made with.
const MODEL: &str = "model";
/// What whoever trains claims.
const TRAINING: &str = "training";

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AskOptions {
    /// The budget, in samples or in units of cost.
    pub budget: usize,
    /// Costs and limits for this plan only; the study's own if not given.
    pub collection: Option<Collection>,
}

impl AskOptions {
    /// A budget under the study's own costs and limits.
    #[must_use]
    pub fn budget(budget: usize) -> Self {
        Self {
            budget,
            collection: None,
        }
    }
}

/// A plan, and what it was made with.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Asked {
    /// The plan.
    pub plan: Plan,
    /// Entries of the log that the model behind it did not know of, where another process was training.
    pub behind: Option<u64>,
}

/// A model that plans can be made with, and the entry of the log that it knows everything up to.
struct Earlier {
    model: Arc<Model>,
    version: u64,
}

impl StoredStudy {
    /// Asks for a plan.
    ///
    /// # Errors
    /// A budget too small for the tasks, too little data to plan with, or a store that cannot be written.
    pub fn ask(&mut self, options: &AskOptions) -> Result<Asked> {
        self.refresh()?;
        let claimed = self.store.claim(&self.name, TRAINING).map_err(of_store)?;
        let asked = self.ask_claimed(options, claimed);
        if claimed {
            self.store.release(&self.name, TRAINING).map_err(of_store)?;
        }
        asked
    }

    fn ask_claimed(&mut self, options: &AskOptions, claimed: bool) -> Result<Asked> {
        let mut earlier = if claimed { None } else { self.last_model()? };
        self.transact(|this| {
            let study = this.planner(options, earlier.as_ref())?;
            let available = |task: &Task| this.left(task);
            let limited = !this.definition().capacities.is_empty();
            let event = study.decide(&Command::Ask {
                budget: options.budget,
                available: limited.then_some(&available),
            })?;
            let trained = study.trained();
            let behind = earlier.as_ref().map(|model| this.version() - model.version);
            let version = this.version();
            drop(study);
            let Event::Planned { plan: planned } = &event else {
                return Err(Error::Failure(
                    "a plan was asked for, and none was made".into(),
                ));
            };
            let plan = planned.plan.clone();
            let keep = trained.as_ref().and_then(|model| kept(model, version));
            // Whoever is overtaken plans again with what was just learnt, and does not train again.
            if let Some(model) = trained.filter(|_| earlier.is_none()) {
                earlier = Some(Earlier { model, version });
            }
            let asked = Asked { plan, behind };
            let drafts = vec![Draft::event(event)];
            Ok(Step::Append(drafts, keep.into_iter().collect(), asked))
        })
    }

    /// The study that plans: under the costs of this plan, with the last model where another process trains.
    fn planner(&self, options: &AskOptions, earlier: Option<&Earlier>) -> Result<Cow<'_, Study>> {
        let mut study = Cow::Borrowed(self.study());
        if let Some(collection) = &options.collection {
            study = Cow::Owned(study.under(collection.clone())?);
        }
        // A model of other targets than there are now does not fit any more.
        let served = earlier.and_then(|known| study.planning_with(Arc::clone(&known.model)).ok());
        Ok(served.map_or(study, Cow::Owned))
    }

    fn last_model(&mut self) -> Result<Option<Earlier>> {
        let query = Query::since(self.version()).with(MODEL);
        let loaded = self.store.load(&self.name, &query).map_err(of_store)?;
        let kept = loaded.kept(MODEL);
        Ok(kept.and_then(|kept| {
            let model = serde_json::from_slice(&kept.body).ok()?;
            Some(Earlier {
                model: Arc::new(model),
                version: kept.version.min(self.version()),
            })
        }))
    }

    /// Rows that a task has left.
    pub(crate) fn left(&self, task: &Task) -> Option<usize> {
        let capacity = self.definition().capacities.get(&task.id)?;
        Some(capacity.saturating_sub(self.study().data().rows_of(&task.id)))
    }
}

/// A model as a value to keep; none if a file cannot hold it.
fn kept(model: &Model, version: u64) -> Option<Kept> {
    let body = serde_json::to_vec(model).ok()?;
    Some(Kept {
        key: MODEL.to_owned(),
        version,
        body,
    })
}
