//! Asking for a plan, while others ask, tell and train.
//!
//! An `ask` trains a model if the strategy needs one. While another process does that, the last model serves: the plan
//! says so, and nobody waits. What was asked for and has not come yet counts as if it had, so no two plans ask for the
//! same information.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use taskscout::model::Model;
use taskscout::space::Space;
use taskscout::strategy::Plan;
use taskscout::study::{Collection, Command, Event, Progress, Study, TrackedItem};
use taskscout::task::Task;
use taskscout_io::tables::nearest_name;
use taskscout_store::{Kept, Query};

use crate::entry::{Entry, Happened};
use crate::error::{Error, Result, of_store};
use crate::feature_choice::FeaturesInUse;
use crate::learning::Learner;
use crate::stored::{Draft, Step, StoredStudy};

/// The key of the last model that plans were made with.
const MODEL: &str = "model";
/// What whoever trains claims.
const TRAINING: &str = "training";
/// How long whoever asks for the first time waits for the training of others.
const MOMENT: Duration = Duration::from_secs(1);
/// How often it looks meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AskOptions {
    /// The budget, in samples or in units of cost.
    pub budget: usize,
    /// Costs and limits for this plan only; the study's own if not given.
    pub collection: Option<Collection>,
    /// What to call the plan: asked again under the same key, the same plan comes back. So whoever was cut off before
    /// the answer came can ask again, and nothing is planned twice.
    pub key: Option<String>,
}

impl AskOptions {
    /// A budget under the study's own costs and limits.
    #[must_use]
    pub fn budget(budget: usize) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// The same under a key.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

/// A plan, and what it was made with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Asked {
    /// The plan.
    pub plan: Plan,
    /// Entries of the log that the model behind it did not know of, where another process was training.
    pub behind: Option<u64>,
    /// Whether the plan was made before, under the same key.
    pub already: bool,
}

/// A model that plans can be made with, and the entry of the log that it knows everything up to.
struct Earlier {
    model: Arc<Model>,
    /// The features that it was learnt in, where they are chosen.
    features: Option<FeaturesInUse>,
    version: u64,
}

impl Earlier {
    /// The study that plans with it.
    fn serve(&self, study: &Study) -> Result<Study> {
        let model = Arc::clone(&self.model);
        Ok(match &self.features {
            Some(features) => features.applied_to(study)?.planning_with(model)?,
            None => study.planning_with(model)?,
        })
    }

    /// It as a value to keep; none if a file cannot hold it.
    fn kept(&self) -> Option<Kept> {
        let known = KeptModel {
            model: Model::clone(&self.model),
            features: self.features.clone(),
        };
        Some(Kept {
            key: MODEL.to_owned(),
            version: self.version,
            body: serde_json::to_vec(&known).ok()?,
        })
    }
}

/// What is kept of a model.
#[derive(Serialize, Deserialize)]
struct KeptModel {
    model: Model,
    #[serde(default)]
    features: Option<FeaturesInUse>,
}

/// Who trains the model that a plan needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Training {
    /// Nobody: there is no data yet, or the model is there.
    NotNeeded,
    /// This process.
    Mine,
    /// Another process.
    Others,
}

impl StoredStudy {
    /// Asks for a plan, or for the one that was made before under the same key.
    ///
    /// # Errors
    /// A budget too small for the tasks, too little data to plan with, or a store that cannot be written.
    pub fn ask(&mut self, options: &AskOptions) -> Result<Asked> {
        self.refresh()?;
        if let Some(known) = self.keyed(options) {
            return Ok(known);
        }
        if let Some(collection) = &options.collection {
            check_forbidden(&self.study().config().space, collection)?;
        }
        let claimed = self.claim_training()?;
        let asked = self.ask_claimed(options, claimed);
        if claimed == Training::Mine {
            self.store.release(&self.name, TRAINING).map_err(of_store)?;
        }
        asked
    }

    /// Claims the training that a plan needs. The first time, somebody who trains is waited for a moment: it may be a
    /// process that was just killed, whose claim is over by then, and whoever starts again gets the plan that it would
    /// have got.
    fn claim_training(&mut self) -> Result<Training> {
        let began = Instant::now();
        let moment = match std::mem::replace(&mut self.asked_before, true) {
            true => Duration::ZERO,
            false => MOMENT,
        };
        loop {
            if self.study().data().source_rows() == 0 || self.trained().is_some() {
                return Ok(Training::NotNeeded);
            }
            if self.store.claim(&self.name, TRAINING).map_err(of_store)? {
                return Ok(Training::Mine);
            }
            if began.elapsed() >= moment {
                return Ok(Training::Others);
            }
            std::thread::sleep(LOOK);
            self.refresh()?;
        }
    }

    /// The plan that was made under a key, unless all of it was given up.
    fn keyed(&self, options: &AskOptions) -> Option<Asked> {
        let known = self.state.about.keys.get(options.key.as_ref()?)?;
        let items = self.study().items().iter();
        let tracked: Vec<_> = items.filter(|one| one.round == known.round).collect();
        let gone = |one: &&TrackedItem| matches!(one.progress, Progress::Failed { .. });
        if tracked.iter().all(gone) {
            return None;
        }
        Some(Asked {
            plan: Plan {
                round: known.round,
                items: tracked.into_iter().map(|one| one.item.clone()).collect(),
                short: known.short,
            },
            behind: None,
            already: true,
        })
    }

    fn ask_claimed(&mut self, options: &AskOptions, training: Training) -> Result<Asked> {
        let mut last = match training {
            Training::Others => self.last_model()?,
            _ => None,
        };
        self.transact(|this| {
            if let Some(known) = this.keyed(options) {
                return Ok(Step::Nothing(known));
            }
            // A model of the very data that are there is better than any earlier one.
            let earlier = last.as_ref().filter(|_| this.trained().is_none());
            let study = this.planner(options, earlier)?;
            let available = |task: &Task| this.left(task);
            let limited = !this.definition().capacities.is_empty();
            let event = study.decide(&Command::Ask {
                budget: options.budget,
                available: limited.then_some(&available),
            })?;
            let trained = study.trained();
            let features = this.features_of(&study);
            let version = this.version();
            let behind = earlier.map(|model| version - model.version);
            drop(study);
            let Event::Planned { plan: planned } = &event else {
                return Err(Error::Failure(
                    "a plan was asked for, and none was made".into(),
                ));
            };
            let plan = planned.plan.clone();
            let newest = trained.map(|model| Earlier {
                model,
                features,
                version,
            });
            let keep = newest.as_ref().and_then(Earlier::kept);
            // Whoever is overtaken plans again with what was just learnt, and does not train again.
            if newest.is_some() && behind.is_none() {
                last = newest;
            }
            let asked = Asked {
                plan,
                behind,
                already: false,
            };
            let (told, key) = (None, options.key.clone());
            let entry = Entry::Event(Box::new(Happened { event, told, key }));
            let drafts = vec![Draft::of(entry)];
            Ok(Step::Append(drafts, keep.into_iter().collect(), asked))
        })
    }

    /// The study that plans: under the costs of this plan, with the last model where another process trains.
    fn planner(&self, options: &AskOptions, earlier: Option<&Earlier>) -> Result<Learner<'_>> {
        // A model of other targets than there are now does not fit any more.
        let served = earlier.and_then(|known| known.serve(self.study()).ok());
        let study = match served {
            Some(study) => Learner::Other(Arc::new(study)),
            None => self.learner()?,
        };
        match &options.collection {
            Some(collection) => Ok(Learner::Other(Arc::new(study.under(collection.clone())?))),
            None => Ok(study),
        }
    }

    fn last_model(&mut self) -> Result<Option<Earlier>> {
        let query = Query::since(self.version()).with(MODEL);
        let loaded = self.store.load(&self.name, &query).map_err(of_store)?;
        let kept = loaded.kept(MODEL);
        Ok(kept.and_then(|kept| {
            let known: KeptModel = serde_json::from_slice(&kept.body).ok()?;
            Some(Earlier {
                model: Arc::new(known.model),
                features: known.features,
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

/// Refuses to forbid a task that a table of candidates does not have: it would be another that is meant.
pub(crate) fn check_forbidden(space: &Space, collection: &Collection) -> Result<()> {
    if space.count().is_none() {
        return Ok(());
    }
    let mut forbidden = collection.forbidden.iter();
    match forbidden.find(|task| space.row_of(task).is_none()) {
        None => Ok(()),
        Some(task) => {
            let tasks = (0..space.count().unwrap_or(0)).filter_map(|row| space.task_at(row));
            let names: Vec<String> = tasks.map(|task| task.id.to_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let hint = nearest_name(task.as_str(), &names)
                .map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
            Err(Error::Input(format!(
                "no task is called `{task}`{hint}, so it cannot be forbidden: give its name as the table of candidates has it"
            )))
        }
    }
}
