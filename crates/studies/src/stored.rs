//! A study in a store: everything that can be done to it, by many people and processes at once.
//!
//! Every change is decided on what the log says and appended if the log still says it; where somebody was faster, what
//! came is taken in and the change is decided again. So nothing is lost, and nothing is counted twice.

use std::sync::Arc;
use std::time::{Duration, Instant};

use taskscout::registry::Registry;
use taskscout::study::{Event, Progress, Study, TrackedItem};
use taskscout_store::{Error as StoreError, Kept, Query, Record, Store};

use crate::definition::{Definition, Scaling};
use crate::entry::{Entry, Happened};
use crate::error::{Error, Result, of_store};
use crate::feature_choice::Learning;
use crate::heartbeat::Heartbeats;
use crate::state::{Batch, Lease, Line, State, needs_replay};

/// The key of the newest state.
const STATE: &str = "state";
/// Bytes of entries after which a new state is kept.
const GROWN: usize = 4 << 20;
/// How long a change is tried against others who write all the time.
const PATIENCE: Duration = Duration::from_secs(60);

/// What tells the time, in microseconds since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// A study in a store.
///
/// ```
/// use taskscout::prelude::*;
/// use taskscout_store::Memory;
/// use taskscout_studies::{AskOptions, Column, Definition, Measured, StoredStudy};
///
/// let study = Study::builder(Space::boxed(vec![0.0], vec![12.0])?)
///     .inputs(2)
///     .target(Target::unknown("tomorrow"))
///     .strategy(StrategyKind::Passive)
///     .build()?;
/// let definition = Definition {
///     parameters: vec![Column::named("wind")],
///     inputs: vec![Column::named("speed"), Column::named("pitch")],
///     outputs: vec![Column::named("drag")],
///     ..Definition::default()
/// };
/// let store = Box::new(Memory::new());
/// let mut tunnel = StoredStudy::create(store, "tunnel", definition, &study, "ada")?;
/// let item = tunnel.ask(&AskOptions::budget(40))?.plan.items[0].id;
/// let rows = Measured::new(Samples::new(vec![1.0, 0.1, 2.0, 0.3], 2, vec![0.7, 1.9], 1)?);
/// assert!(!tunnel.tell(item, None, &rows)?.already);
/// // The same rows again change nothing.
/// assert!(tunnel.tell(item, None, &rows)?.already);
/// assert_eq!(tunnel.study().items()[0].collected, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StoredStudy {
    pub(crate) store: Box<dyn Store>,
    pub(crate) name: String,
    pub(crate) author: String,
    pub(crate) registry: Registry,
    pub(crate) clock: Clock,
    pub(crate) state: State,
    pub(crate) heartbeats: Heartbeats,
    /// The study in the features that predict best.
    pub(crate) learning: Learning,
    /// Bytes of entries since the kept state.
    pub(crate) grown: usize,
    /// Bytes of entries after which a new state is kept.
    pub(crate) keep_after: usize,
    /// Whether this handle has asked for a plan.
    pub(crate) asked_before: bool,
}

/// An entry to be appended, with the rows that it brings.
pub(crate) struct Draft {
    pub(crate) entry: Entry,
    pub(crate) rows: Vec<Vec<u8>>,
}

/// What follows from the state: entries to be appended with values to be kept, or that there is nothing to do.
pub(crate) enum Step<T> {
    Append(Vec<Draft>, Vec<Kept>, T),
    Nothing(T),
}

impl Draft {
    pub(crate) fn of(entry: Entry) -> Self {
        Self {
            entry,
            rows: Vec::new(),
        }
    }

    pub(crate) fn event(event: Event) -> Self {
        Self::of(Entry::Event(Box::new(Happened {
            event,
            told: None,
            key: None,
        })))
    }
}

impl std::fmt::Debug for StoredStudy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredStudy")
            .field("name", &self.name)
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

impl StoredStudy {
    /// Begins a study under a name that is not taken.
    ///
    /// # Errors
    /// Columns that do not fit the study, a study that has data already, a name that is taken, or a store that cannot
    /// be written.
    pub fn create(
        store: Box<dyn Store>,
        name: &str,
        definition: Definition,
        study: &Study,
        author: &str,
    ) -> Result<Self> {
        Self::create_with(store, name, (definition, study), author, &Registry::new())
    }

    /// The same for a study with parts of the user's own, which the registry has.
    ///
    /// # Errors
    /// As [`StoredStudy::create`], or a part that is not registered.
    pub fn create_with(
        mut store: Box<dyn Store>,
        name: &str,
        (definition, study): (Definition, &Study),
        author: &str,
        registry: &Registry,
    ) -> Result<Self> {
        definition.validate()?;
        check_shape(&definition, study)?;
        let mut events = study.events();
        let (Some(event), None) = (events.next().cloned(), events.next()) else {
            return Err(Error::Input(
                "the study has data already: begin a new one, and add the rows to it".into(),
            ));
        };
        let clock = system_clock();
        let created = Entry::Created {
            definition: Box::new(definition),
            event: Box::new(event),
        };
        let record = created.record(author, clock(), Vec::new())?;
        store.create(name, &[record]).map_err(of_store)?;
        Self::open(store, name, author, registry)
    }

    /// Opens a study that is there.
    ///
    /// # Errors
    /// No study of this name, or one that cannot be read.
    pub fn open(
        mut store: Box<dyn Store>,
        name: &str,
        author: &str,
        registry: &Registry,
    ) -> Result<Self> {
        let query = Query::snapshot(STATE).with_all(Heartbeats::PREFIX);
        let loaded = store.load(name, &query).map_err(of_store)?;
        let kept = loaded.kept(STATE);
        let known = kept.and_then(|kept| State::unpack(&kept.body, registry));
        let replays = |record: &Record| record.kind == "undone" || record.kind == "retracted";
        let complete = kept.is_none();
        let (state, rest) = match known {
            Some(state) if !loaded.records.iter().any(replays) => (state, &loaded.records[..]),
            _ if complete => (State::replay(&loaded.records, registry)?, &[][..]),
            _ => {
                let all = store.load(name, &Query::all()).map_err(of_store)?;
                (State::replay(&all.records, registry)?, &[][..])
            }
        };
        let mut study = Self {
            store,
            name: name.to_owned(),
            author: author.to_owned(),
            registry: registry.clone(),
            clock: system_clock(),
            state,
            heartbeats: Heartbeats::of(&loaded.kept),
            learning: Learning::default(),
            grown: loaded.records.iter().map(|record| record.body.len()).sum(),
            keep_after: GROWN,
            asked_before: false,
        };
        for record in rest {
            let entry = Entry::of(record)?;
            study.state.apply(record, entry)?;
        }
        Ok(study)
    }

    /// The same with another clock, for tests.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The same, keeping its state after so many bytes of new entries instead of 4 MB: less makes opening faster and
    /// writing slower.
    #[must_use]
    pub fn keeping_state_after(mut self, bytes: usize) -> Self {
        self.keep_after = bytes;
        self
    }

    /// Says who writes from now on.
    pub fn set_author(&mut self, author: &str) {
        author.clone_into(&mut self.author);
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of entries in its log.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.state.about.version
    }

    /// What its columns are.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.state.about.definition
    }

    /// How rows are scaled, once there are any.
    #[must_use]
    pub fn scaling(&self) -> Option<&Scaling> {
        self.state.about.scaling.as_ref()
    }

    /// The library's study, of what was known when the log was last looked at.
    #[must_use]
    pub fn study(&self) -> &Study {
        &self.state.study
    }

    /// The batches of rows that were told and not retracted, oldest first.
    #[must_use]
    pub fn batches(&self) -> &[Batch] {
        &self.state.about.batches
    }

    /// What happened, oldest first.
    #[must_use]
    pub fn history(&self) -> &[Line] {
        &self.state.about.history
    }

    /// Entries that were lost with a damaged file.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.state.about.lost
    }

    /// The time, in microseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        (self.clock)()
    }

    pub(crate) fn lease(&self, item: u64) -> Option<Lease> {
        let lease = self.state.about.leases.get(&item)?;
        let beat = self.heartbeats.until(item, lease.since);
        Some(Lease {
            until_us: beat.map_or(lease.until_us, |beat| beat.max(lease.until_us)),
            ..lease.clone()
        })
    }

    /// Takes in what others did since.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn refresh(&mut self) -> Result<()> {
        let query = Query::since(self.version()).with_all(Heartbeats::PREFIX);
        let loaded = self.store.load(&self.name, &query).map_err(of_store)?;
        self.heartbeats = Heartbeats::of(&loaded.kept);
        for record in &loaded.records {
            let entry = Entry::of(record)?;
            self.grown += record.body.len();
            if needs_replay(&entry, self.state.merged) {
                return self.reload();
            }
            self.state.apply(record, entry)?;
        }
        Ok(())
    }

    /// Reads the whole log anew.
    pub(crate) fn reload(&mut self) -> Result<()> {
        let loaded = self
            .store
            .load(&self.name, &Query::all())
            .map_err(of_store)?;
        self.state = State::replay(&loaded.records, &self.registry)?;
        Ok(())
    }

    /// Decides and appends, again and again while others are faster.
    pub(crate) fn transact<T>(
        &mut self,
        mut decide: impl FnMut(&mut Self) -> Result<Step<T>>,
    ) -> Result<T> {
        let began = Instant::now();
        let mut tries = 0_u32;
        loop {
            let (drafts, keep, value) = match decide(self)? {
                Step::Nothing(value) => return Ok(value),
                Step::Append(drafts, keep, value) => (drafts, keep, value),
            };
            match self.append(drafts, &keep) {
                Err(StoreError::Conflict { .. }) if began.elapsed() < PATIENCE => {
                    // Those who clash wait unequally long, or they clash again.
                    let spread = u64::from(std::process::id()) % 7 + u64::from(tries.min(20));
                    std::thread::sleep(Duration::from_millis(spread));
                    tries += 1;
                    self.refresh()?;
                }
                Ok(()) => return Ok(value),
                Err(error) => return Err(of_store(error)),
            }
        }
    }

    /// Appends entries that follow from the state, and takes them in.
    fn append(&mut self, drafts: Vec<Draft>, keep: &[Kept]) -> std::result::Result<(), StoreError> {
        let time_us = self.now();
        let invalid = |error: Error| StoreError::Invalid(error.to_string());
        let mut entries = Vec::with_capacity(drafts.len());
        let mut records = Vec::with_capacity(drafts.len());
        for Draft { entry, rows } in drafts {
            records.push(entry.record(&self.author, time_us, rows).map_err(invalid)?);
            entries.push(entry);
        }
        let first = self.version() + 1;
        self.store
            .append(&self.name, self.version(), &records, keep)?;
        let replays = entries
            .iter()
            .any(|entry| needs_replay(entry, self.state.merged));
        if replays {
            return self.reload().map_err(invalid);
        }
        for (version, (record, entry)) in (first..).zip(records.into_iter().zip(entries)) {
            self.grown += record.body.len();
            let record = Record {
                version,
                time_us,
                author: record.author,
                kind: record.kind,
                row_chunks: record.rows.len(),
                body: Vec::new(),
            };
            self.state.apply(&record, entry).map_err(invalid)?;
        }
        self.keep_state();
        Ok(())
    }

    /// Keeps the state, where reading the log has become dear. Nothing is lost where that fails.
    fn keep_state(&mut self) {
        if self.grown < self.keep_after {
            return;
        }
        let version = self.version();
        if let Ok(body) = self.state.pack() {
            let key = STATE.to_owned();
            let kept = Kept { key, version, body };
            let _ = self.store.append(&self.name, version, &[], &[kept]);
        }
        self.grown = 0;
    }

    /// A plan item by its number.
    ///
    /// # Errors
    /// No such item.
    pub fn item(&self, item: u64) -> Result<&TrackedItem> {
        let items = self.study().items();
        let found = usize::try_from(item).ok().and_then(|at| items.get(at));
        found.ok_or_else(|| match items.len() {
            0 => Error::Input(format!(
                "there is no item {item}: nothing has been asked for yet"
            )),
            count => Error::Input(format!(
                "there is no item {item}: items so far are 0 to {}",
                count - 1
            )),
        })
    }

    /// Whether rows may still be told to an item.
    pub(crate) fn is_open(&self, item: u64) -> bool {
        self.item(item)
            .is_ok_and(|tracked| tracked.progress == Progress::Open)
    }
}

fn check_shape(definition: &Definition, study: &Study) -> Result<()> {
    use taskscout::features::Features as _;
    use taskscout::space::TaskSpace as _;
    let config = study.config();
    let (inputs, outputs) = (definition.inputs.len(), definition.outputs.len());
    let parameters = definition.parameters.len();
    let expected = (
        config.input_features.input_dim(),
        config.outputs,
        config.space.dim(),
    );
    if (inputs, outputs, parameters) == expected {
        return Ok(());
    }
    Err(Error::Input(format!(
        "{inputs} inputs, {outputs} outputs and {parameters} parameters are named, but the study has {}, {} and {}: name each once",
        expected.0, expected.1, expected.2
    )))
}

fn system_clock() -> Clock {
    use std::time::{SystemTime, UNIX_EPOCH};
    Arc::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| {
            i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
        })
    })
}
