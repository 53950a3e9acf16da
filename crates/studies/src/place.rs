//! Where studies are: stores by their address, studies by their name.

use serde::Serialize;
use taskscout::registry::Registry;
use taskscout::task::Task;
use taskscout_store::Store;

use crate::error::{Error, Result, of_store};
use crate::state::{Batch, RowsOf};
use crate::stored::StoredStudy;

/// The budget of the first batch, where nobody says another.
const FIRST_BATCH: usize = 60;

/// A study in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StudyHead {
    /// Its name.
    pub study: String,
    /// The number of entries in its log.
    pub version: u64,
    /// When it began, in microseconds since 1970.
    pub created_us: i64,
    /// When it last changed.
    pub changed_us: i64,
}

/// Opens a store, and makes it if it is not there and may be made.
///
/// # Errors
/// A store that cannot be opened.
pub fn open_store(address: &str, make: bool) -> Result<Box<dyn Store>> {
    let store = match make {
        true => taskscout_store::open(address),
        false => taskscout_store::open_existing(address),
    };
    store.map_err(of_store)
}

/// The studies of a store, by name.
///
/// # Errors
/// A store that cannot be read.
pub fn list(store: &mut dyn Store) -> Result<Vec<StudyHead>> {
    let heads = store.list().map_err(of_store)?.into_iter();
    Ok(heads
        .map(|head| StudyHead {
            study: head.study,
            version: head.version,
            created_us: head.created_us,
            changed_us: head.changed_us,
        })
        .collect())
}

/// Who writes, where nobody says: the user and the machine.
#[must_use]
pub fn default_author() -> String {
    let known = |names: &[&str]| names.iter().find_map(|name| std::env::var(name).ok());
    let user = known(&["USER", "LOGNAME", "USERNAME"]).unwrap_or_else(|| "somebody".into());
    let machine = known(&["HOSTNAME", "COMPUTERNAME"]).or_else(|| {
        let name = std::fs::read_to_string("/etc/hostname").ok()?;
        Some(name.trim().to_owned())
    });
    match machine.filter(|name| !name.is_empty()) {
        Some(machine) => format!("{user}@{machine}"),
        None => user,
    }
}

impl StoredStudy {
    /// Opens a study by its name, or the only one of a store.
    ///
    /// # Errors
    /// No such study, or several where none is named.
    pub fn find(
        mut store: Box<dyn Store>,
        name: Option<&str>,
        author: &str,
        registry: &Registry,
    ) -> Result<Self> {
        let name = match name {
            Some(name) => name.to_owned(),
            None => match &list(&mut *store)?[..] {
                [only] => only.study.clone(),
                [] => {
                    return Err(Error::Input(
                        "there is no study in this store yet: begin one with `taskscout study new`"
                            .into(),
                    ));
                }
                several => {
                    let names: Vec<&str> = several.iter().map(|head| head.study.as_str()).collect();
                    return Err(Error::Input(format!(
                        "there are several studies here: say which with --study, one of {}",
                        names.join(", ")
                    )));
                }
            },
        };
        Self::open(store, &name, author, registry)
    }

    /// A target by its name, or the only one.
    ///
    /// # Errors
    /// No such target, or none named where there are several.
    pub fn only_target(&self, name: Option<&str>) -> Result<String> {
        let targets = &self.study().config().targets;
        match (name, &targets[..]) {
            (Some(name), _) => self.target_index(name).map(|_| name.to_owned()),
            (None, [only]) => Ok(only.name.clone()),
            (None, []) => Err(Error::Input(
                "the study has no target: name one with `target --add NAME`".into(),
            )),
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|target| target.name.as_str()).collect();
                Err(Error::Input(format!(
                    "the study has several targets: say which with --target, one of {}",
                    names.join(", ")
                )))
            }
        }
    }

    /// A task by its name in the table of candidates, or by its parameters, under a name of its own if one is given.
    ///
    /// # Errors
    /// Neither, or a name that no task has.
    pub fn named_task(&self, name: Option<&str>, parameters: Option<&[f64]>) -> Result<Task> {
        let space = &self.study().config().space;
        match (name, parameters) {
            (Some(name), Some(parameters)) => Ok(Task::new(name, parameters.to_vec())),
            (None, Some(parameters)) => Ok(space.task_of(parameters)),
            (Some(name), None) => {
                let row = space.row_of(&name.into());
                let task = row.and_then(|row| space.task_at(row));
                task.ok_or_else(|| {
                    Error::Input(format!(
                        "no task is called `{name}`: give its parameters with --parameters"
                    ))
                })
            }
            (None, None) => Err(Error::Input(
                "nothing says which task the rows are of: give --task, --parameters or both".into(),
            )),
        }
    }

    /// Batches by the first letters of their name, or those of an item.
    ///
    /// # Errors
    /// None, or several of which the letters may be.
    pub fn find_batches(&self, name: Option<&str>, item: Option<u64>) -> Result<Vec<Batch>> {
        let fits = |batch: &&Batch| match (name, item) {
            (Some(name), _) => batch.id.as_str().starts_with(name),
            (None, Some(item)) => batch.of == RowsOf::Item(item),
            (None, None) => false,
        };
        let found: Vec<Batch> = self.batches().iter().filter(fits).cloned().collect();
        match (found.len(), name) {
            (0, Some(name)) => Err(Error::Input(format!(
                "no batch is called `{name}`: `taskscout study batches` lists them"
            ))),
            (0, None) => Err(Error::Input("no rows of this item were told".into())),
            (2.., Some(name)) => Err(Error::Input(format!(
                "{} batches begin with `{name}`: give more letters",
                found.len()
            ))),
            _ => Ok(found),
        }
    }

    /// The budget of a batch where nobody says: what the last plan costs, or 60 before the first.
    #[must_use]
    pub fn usual_batch(&self) -> usize {
        let items = self.items();
        let last = items.iter().map(|item| item.round).max();
        let of_last = items.iter().filter(|item| Some(item.round) == last);
        let cost: f64 = of_last.map(|item| item.cost).sum();
        match cost {
            cost if cost >= 1.0 => cost.ceil() as usize,
            _ => FIRST_BATCH,
        }
    }

    /// Budgets to look ahead to where nobody says: [a batch](Self::usual_batch) as the last one, half of what was spent
    /// so far, as much, and twice as much.
    #[must_use]
    pub fn usual_budgets(&self) -> Vec<usize> {
        let batch = self.usual_batch();
        let spent = self.study().spent().max(2.0 * batch as f64);
        let later = [0.5, 1.0, 2.0].map(|part| (part * spent).round() as usize);
        let later = later.into_iter().filter(|budget| *budget > batch);
        std::iter::once(batch).chain(later).collect()
    }
}
