//! Durable studies: what the command's studies are, from Python.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use taskscout::data::Samples;
use taskscout::rng::{Purpose, derive};
use taskscout::study::ForecastRequest;
use taskscout::task::Task;
use taskscout_store::{Memory, Store};
use taskscout_studies::{
    AskOptions, CollectionSettings, Measured, RowFormat, Settings, StoredStudy, TargetSettings,
    default_author, list, open_store,
};
use taskscout_worlds::program::seed;

use crate::errors::{InputError, Result, json, of_json, raised};
use crate::model::Model;
use crate::parts::{Part, Raised, registry};
use crate::threads::detached;

/// A study in a store.
#[pyclass(frozen, module = "taskscout._native")]
pub(crate) struct Study {
    // The lock is taken without the interpreter's, so that neither waits for the other.
    stored: Mutex<StoredStudy>,
    /// What parts that are written in Python raise.
    raised: Raised,
}

/// The studies of a store, as JSON.
#[pyfunction]
pub(crate) fn list_studies(py: Python<'_>, storage: &str) -> PyResult<String> {
    let listed = detached(py, || json(&list(&mut *open_store(storage, false)?)?));
    listed.map_err(raised)
}

impl Study {
    fn of(stored: Result<StoredStudy>, raised: Raised) -> PyResult<Self> {
        let stored = Mutex::new(raised.or(stored)?);
        Ok(Self { stored, raised })
    }

    /// Does something to the study, while Python goes on.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut StoredStudy) -> Result<T> + Send,
    ) -> PyResult<T> {
        if self.raised.is_inside() {
            let said = "a part of the study calls the study, which waits for the part: use what the part is given";
            return Err(InputError::new_err(said));
        }
        let done = detached(py, || {
            let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut stored)
        });
        self.raised.or(done)
    }

    /// The same for what is handed out as JSON.
    fn with_json<T: serde::Serialize>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut StoredStudy) -> Result<T> + Send,
    ) -> PyResult<String> {
        self.with(py, |stored| json(&work(stored)?))
    }
}

/// Rows as Rust has them: row-major, both sides with the same number of rows.
fn measured(
    inputs: &PyReadonlyArray2<'_, f64>,
    outputs: &PyReadonlyArray2<'_, f64>,
    source: Option<String>,
) -> PyResult<Measured> {
    let samples: Result<Samples> = Samples::new(
        inputs.as_slice()?.to_vec(),
        inputs.shape()[1],
        outputs.as_slice()?.to_vec(),
        outputs.shape()[1],
    )
    .map_err(Into::into);
    let samples = samples.map_err(raised)?;
    Ok(Measured { samples, source })
}

fn author_or_default(author: Option<String>) -> String {
    author.unwrap_or_else(default_author)
}

#[pymethods]
impl Study {
    /// Begins a study from settings as JSON, in memory where no storage is given.
    #[staticmethod]
    #[pyo3(signature = (settings, storage, author, parts))]
    fn create(
        py: Python<'_>,
        settings: &str,
        storage: Option<&str>,
        author: Option<String>,
        parts: Vec<Part>,
    ) -> PyResult<Self> {
        let author = author_or_default(author);
        let raised = Raised::default();
        let stored = detached(py, || {
            let settings: Settings = of_json(settings)?;
            let registry = registry(parts, &raised)?;
            let (definition, study) = settings.build(&registry)?;
            let store: Box<dyn Store> = match storage {
                Some(address) => open_store(address, true)?,
                None => Box::new(Memory::new()),
            };
            let name = settings.name.as_deref().unwrap_or("study");
            StoredStudy::create_with(store, name, (definition, &study), &author, &registry)
        });
        Self::of(stored, raised)
    }

    /// Opens a study, or the only one of a store.
    #[staticmethod]
    #[pyo3(signature = (storage, name, author, parts))]
    fn load(
        py: Python<'_>,
        storage: &str,
        name: Option<&str>,
        author: Option<String>,
        parts: Vec<Part>,
    ) -> PyResult<Self> {
        let author = author_or_default(author);
        let raised = Raised::default();
        let stored = detached(py, || {
            let store = open_store(storage, false)?;
            StoredStudy::find(store, name, &author, &registry(parts, &raised)?)
        });
        Self::of(stored, raised)
    }

    /// Its name.
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |stored| Ok(stored.name().to_owned()))
    }

    /// The columns and the seed, as JSON.
    fn definition(&self, py: Python<'_>) -> PyResult<String> {
        self.with_json(py, |stored| {
            let definition = stored.definition();
            Ok(serde_json::json!({
                "parameters": definition.parameters,
                "inputs": definition.inputs,
                "outputs": definition.outputs,
                "seed": stored.study().config().seed,
            }))
        })
    }

    /// Asks for a plan, as JSON.
    fn ask(&self, py: Python<'_>, budget: usize, limits: &str) -> PyResult<String> {
        self.with_json(py, |stored| {
            let limits: CollectionSettings = of_json(limits)?;
            let own = &stored.study().config().collection;
            let changed = limits.changing(own);
            let collection = (changed != *own).then_some(changed);
            stored.ask(&AskOptions {
                budget,
                collection,
                ..AskOptions::default()
            })
        })
    }

    /// Tells rows of an item, of a task with other parameters if it was not met.
    #[pyo3(signature = (item, inputs, outputs, parameters, source))]
    fn tell(
        &self,
        py: Python<'_>,
        item: u64,
        inputs: PyReadonlyArray2<'_, f64>,
        outputs: PyReadonlyArray2<'_, f64>,
        parameters: Option<Vec<f64>>,
        source: Option<String>,
    ) -> PyResult<String> {
        let rows = measured(&inputs, &outputs, source)?;
        self.with_json(py, |stored| {
            let task = stored.achieved(item, parameters)?;
            stored.tell(item, task.as_ref(), &rows)
        })
    }

    #[pyo3(signature = (target, inputs, outputs, source))]
    fn tell_target(
        &self,
        py: Python<'_>,
        target: Option<&str>,
        inputs: PyReadonlyArray2<'_, f64>,
        outputs: PyReadonlyArray2<'_, f64>,
        source: Option<String>,
    ) -> PyResult<String> {
        let rows = measured(&inputs, &outputs, source)?;
        self.with_json(py, |stored| {
            let target = stored.only_target(target)?;
            stored.tell_target(&target, &rows)
        })
    }

    /// Adds rows of a task by its name, its parameters, or both.
    #[pyo3(signature = (name, parameters, inputs, outputs, source))]
    fn add(
        &self,
        py: Python<'_>,
        name: Option<&str>,
        parameters: Option<Vec<f64>>,
        inputs: PyReadonlyArray2<'_, f64>,
        outputs: PyReadonlyArray2<'_, f64>,
        source: Option<String>,
    ) -> PyResult<String> {
        let rows = measured(&inputs, &outputs, source)?;
        self.with_json(py, |stored| {
            let task: Task = stored.named_task(name, parameters.as_deref())?;
            stored.add(&task, &rows)
        })
    }

    fn add_target(&self, py: Python<'_>, target: &str) -> PyResult<()> {
        self.with(py, |stored| {
            let target: TargetSettings = of_json(target)?;
            stored.name_target(&target)
        })
    }

    fn fail(&self, py: Python<'_>, item: u64, reason: &str, retry: bool) -> PyResult<()> {
        self.with(py, |stored| stored.fail(item, reason, retry))
    }

    /// Forgets a batch by the first letters of its name, or all of an item; the batches as JSON.
    #[pyo3(signature = (batch, item))]
    fn retract(&self, py: Python<'_>, batch: Option<&str>, item: Option<u64>) -> PyResult<String> {
        self.with_json(py, |stored| {
            stored.refresh()?;
            let batches = stored.find_batches(batch, item)?;
            for batch in &batches {
                stored.retract(&batch.id)?;
            }
            Ok(batches)
        })
    }

    /// Takes the last change back; its line of the history as JSON.
    fn undo(&self, py: Python<'_>) -> PyResult<String> {
        self.with_json(py, StoredStudy::undo)
    }

    fn note(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        self.with(py, |stored| stored.note(text))
    }

    /// Where the study stands: as JSON, and in words.
    fn status(&self, py: Python<'_>) -> PyResult<(String, String)> {
        self.with(py, |stored| {
            let status = stored.status()?;
            Ok((json(&status)?, status.to_text()))
        })
    }

    /// Every item ever planned, as JSON.
    fn items(&self, py: Python<'_>) -> PyResult<String> {
        self.with_json(py, |stored| {
            stored.refresh()?;
            Ok(stored.items())
        })
    }

    fn batches(&self, py: Python<'_>) -> PyResult<String> {
        self.with_json(py, |stored| {
            stored.refresh()?;
            Ok(stored.batches().to_vec())
        })
    }

    fn history(&self, py: Python<'_>) -> PyResult<String> {
        self.with_json(py, |stored| {
            stored.refresh()?;
            Ok(stored.history().to_vec())
        })
    }

    /// What further budgets would bring: as JSON, in words, and as a figure.
    fn forecast(
        &self,
        py: Python<'_>,
        budgets: Vec<usize>,
    ) -> PyResult<(String, String, Option<String>)> {
        self.with(py, |stored| {
            stored.refresh()?;
            let budgets = match &budgets[..] {
                [] => stored.usual_budgets(),
                given => given.to_vec(),
            };
            let outlook = stored.outlook(&ForecastRequest::further(&budgets))?;
            Ok((json(&outlook)?, outlook.to_text(), outlook.to_svg()))
        })
    }

    /// The seed of an item's rows: the one that the command's workers give to programs.
    fn item_seed(&self, py: Python<'_>, item: u64) -> PyResult<u64> {
        self.with(py, |stored| {
            let collected = stored.item(item)?.collected as u64;
            let keys = [item, collected, 0];
            let mut rng = derive(stored.study().config().seed, Purpose::Collect, &keys);
            Ok(seed(&mut rng))
        })
    }

    /// The model of a target, of the only one if none is named.
    #[pyo3(signature = (target))]
    fn model(&self, py: Python<'_>, target: Option<&str>) -> PyResult<Model> {
        let saved = self.with(py, |stored| {
            stored.refresh()?;
            stored.model(target)
        })?;
        Ok(Model::of(saved, self.raised.clone()))
    }

    /// The page of the study, as HTML.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |stored| {
            stored.refresh()?;
            stored.report()
        })
    }

    /// Writes settings, plans, history and rows into a new folder.
    fn export(&self, py: Python<'_>, folder: PathBuf, parquet: bool) -> PyResult<()> {
        let format = if parquet {
            RowFormat::Parquet
        } else {
            RowFormat::Csv
        };
        self.with(py, |stored| {
            stored.refresh()?;
            stored.export(&folder, format)
        })
    }
}

impl std::fmt::Debug for Study {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Study").finish_non_exhaustive()
    }
}
