//! What the log of a study adds up to.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use taskscout::registry::Registry;
use taskscout::study::{BatchId, Event, Study};
use taskscout_store::Record;

use crate::count::counted;
use crate::definition::{Definition, Scaling};
use crate::entry::{Entry, Happened};
use crate::error::{Error, Result};

/// Who measures an item, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The person or process.
    pub author: String,
    /// When it is over, in microseconds since 1970.
    pub until_us: i64,
    /// The entry that began it.
    pub since: u64,
}

/// Rows that were told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The name that `retract` takes.
    pub id: BatchId,
    /// The entry that brought it.
    pub version: u64,
    /// When, in microseconds since 1970.
    pub time_us: i64,
    /// By whom.
    pub author: String,
    /// What the rows are of.
    pub of: RowsOf,
    /// How many.
    pub rows: usize,
    /// The file that they came from.
    pub source: Option<String>,
    /// A digest of the rows and of what they were told for.
    pub(crate) digest: String,
}

/// What rows are of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowsOf {
    /// A plan item.
    Item(u64),
    /// A target, by its name.
    Target(String),
    /// A task that nobody asked for, by its id.
    Task(String),
}

impl std::fmt::Display for RowsOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Item(item) => write!(f, "item {item}"),
            Self::Target(name) => write!(f, "target {name}"),
            Self::Task(id) => write!(f, "task {id}"),
        }
    }
}

/// A line of the history of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The entry.
    pub version: u64,
    /// When, in microseconds since 1970.
    pub time_us: i64,
    /// By whom.
    pub author: String,
    /// What happened.
    pub kind: String,
    /// The same in words.
    pub what: String,
    /// Whether it was taken back.
    pub undone: bool,
}

/// All that is known of a study at a version of its log.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) study: Study,
    pub(crate) about: About,
    /// Whether single batches are merged, so that retracting one needs the whole log.
    pub(crate) merged: bool,
}

/// What is known of a study beside the library's study.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) version: u64,
    pub(crate) definition: Definition,
    pub(crate) scaling: Option<Scaling>,
    pub(crate) batches: Vec<Batch>,
    pub(crate) leases: BTreeMap<u64, Lease>,
    /// How often items were given back.
    pub(crate) releases: BTreeMap<u64, usize>,
    pub(crate) history: Vec<Line>,
    /// Plans by what those who asked call them.
    #[serde(default)]
    pub(crate) keys: BTreeMap<String, Keyed>,
    /// Entries that were lost with a damaged file.
    pub(crate) lost: usize,
}

/// A plan that was asked for by a key.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Keyed {
    pub(crate) round: usize,
    /// Samples of the budget that found no task.
    pub(crate) short: usize,
}

/// A state as bytes.
#[derive(Serialize, Deserialize)]
struct Packed {
    about: String,
    study: Vec<u8>,
}

impl State {
    /// The state that all records of a log make.
    pub(crate) fn replay(records: &[Record], registry: &Registry) -> Result<Self> {
        let entries: Vec<Entry> = records.iter().map(Entry::of).collect::<Result<_>>()?;
        let undone: BTreeSet<u64> = entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Undone { version } => Some(*version),
                _ => None,
            })
            .collect();
        let mut pairs = records.iter().zip(entries);
        let Some((first, Entry::Created { definition, event })) = pairs.next() else {
            return Err(Error::Failure(
                "the log of the study does not begin with its settings: restore the database from a copy".into(),
            ));
        };
        let mut state = Self::begin(*definition, *event, registry)?;
        state.about.version = first.version;
        state.note(first, "created", "the study began".into());
        let after_loss = |version: u64| {
            records
                .iter()
                .any(|r| r.kind == "lost" && r.version < version)
        };
        for (record, entry) in pairs {
            if undone.contains(&record.version) {
                state.about.version = record.version;
                let what = state.words(&entry);
                state.note(record, &record.kind, what);
                state.mark_undone(record.version);
                continue;
            }
            match state.apply(record, entry) {
                // What followed from a lost entry is lost with it.
                Err(_) if after_loss(record.version) => {
                    state.about.version = record.version;
                    state.about.lost += 1;
                    state.note(
                        record,
                        &record.kind,
                        "lost: it followed from a lost entry".into(),
                    );
                }
                other => other?,
            }
        }
        Ok(state)
    }

    fn begin(definition: Definition, event: Event, registry: &Registry) -> Result<Self> {
        let mut study = Study::of_events([event])?;
        study.attach(registry)?;
        Ok(Self {
            study,
            about: About {
                version: 0,
                definition,
                scaling: None,
                batches: Vec::new(),
                leases: BTreeMap::new(),
                releases: BTreeMap::new(),
                history: Vec::new(),
                keys: BTreeMap::new(),
                lost: 0,
            },
            merged: false,
        })
    }

    /// Takes the next entry of the log in.
    ///
    /// # Errors
    /// One that does not follow, or that only a replay of the whole log can take in ([`needs_replay`]).
    pub(crate) fn apply(&mut self, record: &Record, entry: Entry) -> Result<()> {
        let what = self.words(&entry);
        match entry {
            Entry::Created { .. } => {
                return Err(Error::Failure(format!(
                    "entry {} of the study begins it again: restore the database from a copy",
                    record.version
                )));
            }
            Entry::Event(happened) => self.happen(record, *happened)?,
            Entry::Scaled(scaling) => self.about.scaling = Some(*scaling),
            Entry::Started { item, until_us } => {
                let lease = Lease {
                    author: record.author.clone(),
                    until_us,
                    since: record.version,
                };
                self.about.leases.insert(item, lease);
            }
            Entry::Released { item, .. } => {
                self.about.leases.remove(&item);
                *self.about.releases.entry(item).or_default() += 1;
            }
            Entry::Undone { .. } => {}
            Entry::Lost => self.about.lost += 1,
        }
        self.about.version = record.version;
        self.note(record, &record.kind, what);
        Ok(())
    }

    fn happen(&mut self, record: &Record, happened: Happened) -> Result<()> {
        let Happened { event, told, key } = happened;
        let brought = self.brought(&event);
        match &event {
            Event::Told { item, .. } | Event::Failed { item, .. } => {
                self.about.leases.remove(item);
            }
            Event::Retracted { batch } => {
                let newest = self
                    .about
                    .batches
                    .iter()
                    .rposition(|known| known.id == *batch);
                if let Some(at) = newest {
                    self.about.batches.remove(at);
                }
            }
            _ => {}
        }
        let planned = match (&event, key) {
            (Event::Planned { plan }, Some(key)) => {
                let (round, short) = (plan.plan.round, plan.plan.short);
                Some((key, Keyed { round, short }))
            }
            _ => None,
        };
        let batch = self.study.apply(event)?;
        self.about.keys.extend(planned);
        if let (Some(id), Some((of, rows)), Some(told)) = (batch, brought, told) {
            self.about.batches.push(Batch {
                id,
                version: record.version,
                time_us: record.time_us,
                author: record.author.clone(),
                of,
                rows,
                source: told.source,
                digest: told.digest,
            });
        }
        Ok(())
    }

    fn brought(&self, event: &Event) -> Option<(RowsOf, usize)> {
        match event {
            Event::Told { item, rows, .. } => Some((RowsOf::Item(*item), rows.len())),
            Event::Added { task, rows, .. } => {
                Some((RowsOf::Task(task.id.to_string()), rows.len()))
            }
            Event::TargetTold { target, blocks } => {
                let name = self.study.config().targets.get(*target)?.name.clone();
                let rows = blocks
                    .iter()
                    .map(taskscout::data::RowsOrStatistics::len)
                    .sum();
                Some((RowsOf::Target(name), rows))
            }
            _ => None,
        }
    }

    /// What an entry says, in a line.
    fn words(&self, entry: &Entry) -> String {
        match entry {
            Entry::Created { .. } => "the study began".into(),
            Entry::Scaled(_) => "columns are scaled by these rows from now on".into(),
            Entry::Started { item, .. } => format!("item {item} is being measured"),
            Entry::Released { item, reason } => format!("item {item} was given back: {reason}"),
            Entry::Undone { version } => format!("entry {version} was taken back"),
            Entry::Lost => "lost with a damaged file".into(),
            Entry::Event(happened) => match (&happened.event, self.brought(&happened.event)) {
                (_, Some((of, rows))) => {
                    let told = happened
                        .told
                        .as_ref()
                        .and_then(|told| told.source.as_deref());
                    let source = told.map_or(String::new(), |file| format!(" from {file}"));
                    format!("{} of {of}{source}", counted(rows, "row"))
                }
                (Event::Planned { plan }, _) => {
                    let plan = &plan.plan;
                    format!(
                        "round {}: {}, {}",
                        // People count from one.
                        plan.round + 1,
                        counted(plan.items.len(), "item"),
                        counted(plan.budget(), "sample")
                    )
                }
                (Event::Failed { item, reason }, _) => format!("item {item} given up: {reason}"),
                (Event::Retracted { batch }, _) => format!("batch {batch} retracted"),
                (Event::Noted { text }, _) => text.clone(),
                (Event::TargetAdded { target }, _) => format!("target {} named", target.name),
                _ => "all that was told became final".into(),
            },
        }
    }

    fn note(&mut self, record: &Record, kind: &str, what: String) {
        self.about.history.push(Line {
            version: record.version,
            time_us: record.time_us,
            author: record.author.clone(),
            kind: kind.to_owned(),
            what,
            undone: false,
        });
    }

    fn mark_undone(&mut self, version: u64) {
        let mut lines = self.about.history.iter_mut();
        if let Some(line) = lines.find(|line| line.version == version) {
            line.undone = true;
        }
    }

    /// The state as bytes, with the rows of a task merged: it costs what tasks and features take, not what was told.
    pub(crate) fn pack(&self) -> Result<Vec<u8>> {
        let mut study = self.study.clone();
        study.settle()?;
        let packed = Packed {
            about: serde_json::to_string(&self.about).map_err(unpackable)?,
            study: study.snapshot()?,
        };
        let bytes = postcard::to_stdvec(&packed).map_err(unpackable)?;
        zstd::bulk::compress(&bytes, 1).map_err(unpackable)
    }

    /// The state of such bytes; none if they are of another version of this program, which makes them anew.
    pub(crate) fn unpack(bytes: &[u8], registry: &Registry) -> Option<Self> {
        let bytes = zstd::stream::decode_all(bytes).ok()?;
        let Packed { about, study } = postcard::from_bytes(&bytes).ok()?;
        Some(Self {
            study: Study::restore_with(&study, registry).ok()?,
            about: serde_json::from_str(&about).ok()?,
            merged: true,
        })
    }
}

/// Whether an entry can only be taken in by a replay of the whole log.
pub(crate) fn needs_replay(entry: &Entry, merged: bool) -> bool {
    match entry {
        Entry::Undone { .. } => true,
        Entry::Event(happened) => merged && matches!(happened.event, Event::Retracted { .. }),
        _ => false,
    }
}

fn unpackable(error: impl std::fmt::Display) -> Error {
    Error::Failure(format!("the state of the study cannot be written: {error}"))
}
