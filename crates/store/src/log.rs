//! What a store keeps: per study a log of records that only grows, and values derived from it.
//!
//! A study has a version, the number of its records. Who appends says which version it has seen; if another
//! writer was faster, nothing is stored ([`Error::Conflict`](crate::Error::Conflict)) and the caller loads
//! what is new and decides again. So many processes can work on one study, and nothing is lost or counted
//! twice.

use crate::error::{Error, Result};

/// Bytes that a body, a chunk of rows or a kept value may have.
pub const LONGEST: usize = 512 << 20;

/// A record to be appended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewRecord {
    /// Microseconds since 1970.
    pub time_us: i64,
    /// Who says so.
    pub author: String,
    /// What kind of record it is; the kind `lost` is [reserved](LOST).
    pub kind: String,
    /// What it says.
    pub body: Vec<u8>,
    /// Measured rows in [encoded](crate::rows) chunks, which are read only when asked for.
    pub rows: Vec<Vec<u8>>,
}

/// The kind of a record that stands for one that a damaged file lost.
pub const LOST: &str = "lost";

/// A record that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the log; the first record has version 1.
    pub version: u64,
    /// Microseconds since 1970.
    pub time_us: i64,
    /// Who said so.
    pub author: String,
    /// What kind of record it is.
    pub kind: String,
    /// What it says.
    pub body: Vec<u8>,
    /// Chunks of rows that came with it.
    pub row_chunks: usize,
}

/// A value that was derived from the log (a snapshot, a model, a lease): one per key, replaced by a newer one.
/// It may be thrown away and made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its name.
    pub key: String,
    /// The version of the study that it was made from. A value of a lower version never replaces one of a
    /// higher, so that whoever took longer does no harm.
    pub version: u64,
    /// What it says.
    pub body: Vec<u8>,
}

/// What to load of a study, all of it as it was at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Records after this version.
    pub since: u64,
    /// A kept value that stands for all records up to its own version: they are left out too, if it is there
    /// and intact.
    pub snapshot: Option<String>,
    /// Keys of the kept values that are wanted.
    pub keys: Vec<String>,
    /// Beginnings of the keys of kept values that are wanted.
    pub prefixes: Vec<String>,
}

impl Query {
    /// Every record, and no kept value.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// The records after a version.
    #[must_use]
    pub fn since(version: u64) -> Self {
        Self {
            since: version,
            ..Self::default()
        }
    }

    /// The kept value `key`, and the records that it does not know of yet; all records if it is missing or
    /// damaged.
    #[must_use]
    pub fn snapshot(key: impl Into<String>) -> Self {
        Self {
            snapshot: Some(key.into()),
            ..Self::default()
        }
    }

    /// This and a kept value.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>) -> Self {
        self.keys.push(key.into());
        self
    }

    /// This and all kept values whose keys begin so.
    #[must_use]
    pub fn with_all(mut self, prefix: impl Into<String>) -> Self {
        self.prefixes.push(prefix.into());
        self
    }

    /// Whether a kept value is wanted.
    #[must_use]
    pub fn wants(&self, key: &str) -> bool {
        self.snapshot.as_deref() == Some(key)
            || self.keys.iter().any(|wanted| wanted == key)
            || self.prefixes.iter().any(|prefix| key.starts_with(prefix))
    }
}

/// What was loaded: one consistent view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The version of the study.
    pub version: u64,
    /// The records that were wanted, by version, up to the version of the study.
    pub records: Vec<Record>,
    /// The kept values that were wanted and are intact, by key.
    pub kept: Vec<Kept>,
    /// Keys of kept values that were wanted and are damaged: make them again.
    pub damaged: Vec<String>,
}

impl Loaded {
    /// A kept value by its key.
    #[must_use]
    pub fn kept(&self, key: &str) -> Option<&Kept> {
        self.kept.iter().find(|kept| kept.key == key)
    }
}

/// A study in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Its name.
    pub study: String,
    /// Its version: the number of its records.
    pub version: u64,
    /// The time of its first record, in microseconds since 1970.
    pub created_us: i64,
    /// The time of its last record.
    pub changed_us: i64,
}

/// Logs of studies.
///
/// What a method acknowledged is on the disk. A handle belongs to one thread at a time; for more, open more.
pub trait Store: Rows + Claims + Send {
    /// Begins a study with its first records (at least one), and gives its version.
    ///
    /// # Errors
    /// A name that is there already; a store that cannot be written.
    fn create(&mut self, study: &str, records: &[NewRecord]) -> Result<u64> {
        check_first(study, records)?;
        self.create_checked(study, records)
    }

    /// What [`Store::create`] does once names and records are checked, for whoever writes a store.
    ///
    /// # Errors
    /// As there.
    fn create_checked(&mut self, study: &str, records: &[NewRecord]) -> Result<u64>;

    /// Appends records if the study still has the version `expected`, replaces kept values, both or none, and
    /// gives the new version. Without records it keeps the values only, whatever the version is.
    ///
    /// # Errors
    /// Another version ([`Error::Conflict`]); a study that is not there; a store that cannot be written.
    fn append(
        &mut self,
        study: &str,
        expected: u64,
        records: &[NewRecord],
        keep: &[Kept],
    ) -> Result<u64> {
        check(study, records, keep)?;
        self.append_checked(study, expected, records, keep)
    }

    /// What [`Store::append`] does once names, records and values are checked, for whoever writes a store.
    ///
    /// # Errors
    /// As there.
    fn append_checked(
        &mut self,
        study: &str,
        expected: u64,
        records: &[NewRecord],
        keep: &[Kept],
    ) -> Result<u64>;

    /// Loads records and kept values as they were at one moment; what was changed since it was written is
    /// found.
    ///
    /// # Errors
    /// A study that is not there or is damaged; a store that cannot be read.
    fn load(&mut self, study: &str, query: &Query) -> Result<Loaded>;

    /// The studies, by name.
    ///
    /// # Errors
    /// A store that is damaged or cannot be read.
    fn list(&mut self) -> Result<Vec<Head>>;

    /// What was noticed when the store was opened and its user should know, a sentence each.
    fn warnings(&self) -> &[String] {
        &[]
    }
}

/// Rows of records, which may be more than fits into memory.
pub trait Rows {
    /// Hands over the chunks of rows of one record one by one, each checked.
    ///
    /// # Errors
    /// A record that is not there or is damaged; what `each` refuses.
    fn rows(
        &mut self,
        study: &str,
        version: u64,
        each: &mut dyn FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()>;
}

/// Claims on work that is expensive and needs to be done once only (training).
///
/// A claim never waits, and ends with its handle or its process, however that ends. It saves work and
/// protects no data: that is what versions are for.
pub trait Claims {
    /// Claims a piece of work; false if another handle has it. Claiming again what this handle has is true.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn claim(&mut self, study: &str, what: &str) -> Result<bool>;

    /// Gives a claim of this handle back; nothing happens if it has none.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn release(&mut self, study: &str, what: &str) -> Result<()>;
}

/// Refuses names and records that a store could not give back as they were.
fn check(study: &str, records: &[NewRecord], keep: &[Kept]) -> Result<()> {
    name("study", study)?;
    for record in records {
        text("author", &record.author)?;
        text("kind", &record.kind)?;
        size("the body of a record", &record.body)?;
        for chunk in &record.rows {
            size("a chunk of rows", chunk)?;
        }
    }
    for kept in keep {
        name("kept value", &kept.key)?;
        size("a kept value", &kept.body)?;
    }
    Ok(())
}

/// The first records of a study: at least one, so that every study has a version.
fn check_first(study: &str, records: &[NewRecord]) -> Result<()> {
    if records.is_empty() {
        return Err(Error::Invalid(format!(
            "the study `{study}` would begin without a record: give the one that says what it is"
        )));
    }
    check(study, records, &[])
}

/// A kept value cannot know of records that are not there.
pub(crate) fn check_kept(study: &str, version: u64, keep: &[Kept]) -> Result<()> {
    match keep.iter().find(|kept| kept.version > version) {
        None => Ok(()),
        Some(kept) => Err(Error::Invalid(format!(
            "the value `{}` is said to be made from version {} of the study `{study}`, which has version {version}: give the version it was made from",
            kept.key, kept.version
        ))),
    }
}

/// Where records start, once it is known whether the snapshot is there.
pub(crate) fn start(query: &Query, kept: &[Kept]) -> u64 {
    let snapshot = query.snapshot.as_deref();
    let known = kept.iter().find(|kept| Some(kept.key.as_str()) == snapshot);
    known.map_or(query.since, |kept| kept.version.max(query.since))
}

fn name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.len() > 500 {
        return Err(Error::Invalid(format!(
            "the name of a {what} has 1 to 500 bytes, and this one has {}: choose another",
            name.len()
        )));
    }
    text(what, name)
}

/// PostgreSQL's text holds no zero byte.
fn text(what: &str, text: &str) -> Result<()> {
    if text.contains('\0') {
        return Err(Error::Invalid(format!(
            "the {what} {text:?} has a zero byte in it: leave that out"
        )));
    }
    Ok(())
}

fn size(what: &str, bytes: &[u8]) -> Result<()> {
    if bytes.len() > LONGEST {
        return Err(Error::Invalid(format!(
            "{what} has {} MB, and {} fit: split it",
            bytes.len() >> 20,
            LONGEST >> 20
        )));
    }
    Ok(())
}
