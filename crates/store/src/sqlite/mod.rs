//! Studies in one SQLite file.
//!
//! Every connection is set up alike: write-ahead log, `synchronous = FULL` (what was acknowledged survives a
//! power failure), 30 s of patience with other writers, and `BEGIN IMMEDIATE` for every write. The log is copied
//! into the file every few writes, and when the last handle is closed: then the one file is all there is.
//!
//! Not on a network file system: its locks do not hold. Use PostgreSQL there.

mod claims;
mod failure;
mod pages;
mod read;
mod recover;
mod schema;
mod wal;
mod write;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::error::{Error, Result};
use crate::log::{Claims, Head, Kept, Loaded, NewRecord, Query, Rows, Store};
use failure::Place;

pub use recover::{Recovered, RecoveredStudy, recover};

/// How long a writer waits for others.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of rows after which the log is emptied at once.
const LARGE: usize = 4 << 20;

/// A handle on a file of studies.
///
/// ```
/// use taskscout_store::{NewRecord, Query, Sqlite, Store as _};
///
/// # let folder = std::env::temp_dir().join(format!("taskscout-store-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("doc.db");
/// let mut store = Sqlite::create_or_open(&path)?;
/// let first = NewRecord {
///     time_us: 1_700_000_000_000_000,
///     author: "anna".into(),
///     kind: "created".into(),
///     body: b"settings".to_vec(),
///     rows: Vec::new(),
/// };
/// store.create("tunnel", &[first])?;
/// drop(store);
///
/// let mut store = Sqlite::open(&path)?;
/// assert_eq!(store.load("tunnel", &Query::all())?.records[0].author, "anna");
/// # drop(store);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), taskscout_store::Error>(())
/// ```
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    place: Place,
    handle: i64,
    /// What this handle has claimed.
    claimed: BTreeSet<(String, String)>,
    warnings: Vec<String>,
}

impl Sqlite {
    /// Opens a file, which is made if it is not there.
    ///
    /// # Errors
    /// A folder that is not there, a file that cannot be used, or one of another program.
    pub fn create_or_open(path: impl AsRef<Path>) -> Result<Self> {
        let place = Place::new(path.as_ref());
        let wal = beside(place.path(), "-wal");
        let empty = |path: &Path| path.metadata().is_ok_and(|data| data.len() == 0);
        if empty(place.path()) && wal.exists() && !empty(&wal) {
            return Err(place.damaged("it is empty, and what belongs to it is not"));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut connection = connect(&place, flags, true)?;
        if schema::state(&connection, &place)? == schema::State::Empty {
            schema::make(&mut connection, &place)?;
        }
        Ok(Self::on(connection, place).look_at_wal())
    }

    /// Opens a file that is there; for reading only, if it may not be written.
    ///
    /// # Errors
    /// As [`Sqlite::create_or_open`], and a file that is not there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let place = Place::new(path.as_ref());
        place.must_exist()?;
        let write = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let connection = connect(&place, write, true).or_else(|error| match error {
            Error::File { .. } => read_only(&place).map_err(|_| error),
            other => Err(other),
        })?;
        refuse_empty(&connection, &place)?;
        Ok(Self::on(connection, place).look_at_wal())
    }

    /// Opens a file for reading only.
    ///
    /// # Errors
    /// As [`Sqlite::open`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        let place = Place::new(path.as_ref());
        place.must_exist()?;
        let connection = read_only(&place)?;
        refuse_empty(&connection, &place)?;
        Ok(Self::on(connection, place))
    }

    /// A setting of the connection, as SQLite says it.
    ///
    /// # Errors
    /// A setting that SQLite does not know.
    #[doc(hidden)]
    pub fn setting(&mut self, name: &str) -> Result<String> {
        let value = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
        let found = self.connection.pragma_query_value(None, name, value);
        match found.map_err(|error| self.place.reading(&error))? {
            rusqlite::types::Value::Text(text) => Ok(text),
            rusqlite::types::Value::Integer(number) => Ok(number.to_string()),
            other => Ok(format!("{other:?}")),
        }
    }

    /// Lets the file have so many pages (of 4096 bytes) at most, as a full disk would.
    ///
    /// # Errors
    /// A file that cannot be read.
    #[doc(hidden)]
    pub fn limit_pages(&mut self, pages: u32) -> Result<()> {
        let set = self.connection.pragma_update(None, "max_page_count", pages);
        set.map_err(|error| self.place.reading(&error))
    }

    fn on(connection: Connection, place: Place) -> Self {
        Self {
            connection,
            place,
            handle: claims::new_handle(),
            claimed: BTreeSet::new(),
            warnings: Vec::new(),
        }
    }

    /// Looks whether the log beside the file ends in the middle of a write; not while somebody writes.
    fn look_at_wal(mut self) -> Self {
        let wal = beside(self.place.path(), "-wal");
        if !wal.metadata().is_ok_and(|data| data.len() > 0) {
            return self;
        }
        let _ = self.connection.busy_timeout(Duration::ZERO);
        if let Ok(_alone) = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            && wal::remains(&wal)
        {
            let warning = format!(
                "the last write to {} is not complete (a program ended in the middle of it, or {} was cut or changed): what is read is the state before it",
                self.place,
                wal.display()
            );
            self.warnings.push(warning);
        }
        let _ = self.connection.busy_timeout(PATIENCE);
        self
    }

    /// Copies the log into the file and empties it, unless somebody is using it: the next handle need not
    /// read through a long one.
    fn empty_wal(&self) {
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let emptied = "PRAGMA wal_checkpoint(TRUNCATE)";
        let _ = self.connection.query_row(emptied, [], |_| Ok(()));
        let _ = self.connection.busy_timeout(PATIENCE);
    }

    /// What is read in it is of one moment.
    fn read(&mut self) -> Result<Transaction<'_>> {
        let begun = self.connection.transaction();
        begun.map_err(|error| self.place.reading(&error))
    }

    /// Takes the right to write at once, so that no two writers wait for each other.
    fn write(&mut self) -> Result<Transaction<'_>> {
        let behavior = TransactionBehavior::Immediate;
        let begun = self.connection.transaction_with_behavior(behavior);
        begun.map_err(|error| self.place.writing(&error))
    }
}

/// Refuses a database without tables, for those who want to read one.
fn refuse_empty(connection: &Connection, place: &Place) -> Result<()> {
    match schema::state(connection, place)? {
        schema::State::Ours => Ok(()),
        schema::State::Empty => Err(Error::Foreign {
            place: place.to_string(),
            problem: "it is empty; name another file, or begin a study in it".into(),
        }),
    }
}

/// A file that belongs to the database.
fn beside(path: &Path, ending: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// A connection with all that every connection has to have.
fn connect(place: &Place, flags: OpenFlags, write: bool) -> Result<Connection> {
    let opening = |error| place.opening(&error);
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(place.path(), flags).map_err(opening)?;
    connection.busy_timeout(PATIENCE).map_err(opening)?;
    let settings = "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; \
                    PRAGMA cell_size_check = ON; PRAGMA wal_autocheckpoint = 64; PRAGMA journal_size_limit = 1048576";
    connection.execute_batch(settings).map_err(opening)?;
    if write {
        use_wal(&connection, place)?;
    }
    Ok(connection)
}

/// Turns the write-ahead log on. Two processes that do so to a new file at once may disturb each other, and
/// SQLite does not wait there.
fn use_wal(connection: &Connection, place: &Place) -> Result<()> {
    let start = std::time::Instant::now();
    loop {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match mode.map(|mode: String| mode == "wal") {
            Ok(true) => return Ok(()),
            Ok(false) => {
                return Err(place
                    .problem("it cannot have a write-ahead log: use a local disk, or PostgreSQL"));
            }
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < PATIENCE => {}
            Err(error) => return Err(place.opening(&error)),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A connection to a file that may not be written. If nobody has it open, there is no log beside it, and
/// SQLite is told that the file does not change; should it do so all the same, checksums tell.
fn read_only(place: &Place) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let plain = connect(place, flags, false)?;
    let readable = plain.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    if readable.is_ok() || beside(place.path(), "-wal").exists() {
        return Ok(plain);
    }
    let text = place.path().to_string_lossy();
    let escaped = text
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let still = Place::new(Path::new(&format!("file:{escaped}?immutable=1")));
    connect(&still, flags | OpenFlags::SQLITE_OPEN_URI, false)
}

impl Store for Sqlite {
    fn create_checked(&mut self, study: &str, records: &[NewRecord]) -> Result<u64> {
        let place = self.place.clone();
        let transaction = self.write()?;
        let version = write::create(&transaction, &place, study, records)?;
        let done = transaction.commit();
        done.map_err(|error| place.committing(&error))?;
        Ok(version)
    }

    fn append_checked(
        &mut self,
        study: &str,
        expected: u64,
        records: &[NewRecord],
        keep: &[Kept],
    ) -> Result<u64> {
        let place = self.place.clone();
        let transaction = self.write()?;
        let version = write::append(&transaction, &place, study, expected, records, keep)?;
        let done = transaction.commit();
        done.map_err(|error| place.committing(&error))?;
        let bytes = records.iter().flat_map(|record| &record.rows).map(Vec::len);
        if bytes.sum::<usize>() > LARGE {
            self.empty_wal();
        }
        Ok(version)
    }

    fn load(&mut self, study: &str, query: &Query) -> Result<Loaded> {
        let place = self.place.clone();
        read::load(&*self.read()?, &place, study, query)
    }

    fn list(&mut self) -> Result<Vec<Head>> {
        let place = self.place.clone();
        read::list(&*self.read()?, &place)
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Rows for Sqlite {
    fn rows(
        &mut self,
        study: &str,
        version: u64,
        each: &mut dyn FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let place = self.place.clone();
        let stored = read::one(&*self.read()?, &place, study, version)?;
        // Records never change: no transaction stays open while the chunks are used.
        for chunk in 0..stored.1.record.row_chunks {
            let bytes = read::chunk(&self.connection, &place, study, &stored, chunk)?;
            each(bytes)?;
        }
        Ok(())
    }
}

impl Claims for Sqlite {
    fn claim(&mut self, study: &str, what: &str) -> Result<bool> {
        let key = (study.to_owned(), what.to_owned());
        if self.claimed.contains(&key) {
            return Ok(true);
        }
        let (place, handle) = (self.place.clone(), self.handle);
        let transaction = self.write()?;
        let mine = claims::claim(&transaction, handle, study, what);
        let mine = mine.map_err(|error| place.writing(&error))?;
        let done = transaction.commit();
        done.map_err(|error| place.committing(&error))?;
        if mine {
            self.claimed.insert(key);
        }
        Ok(mine)
    }

    fn release(&mut self, study: &str, what: &str) -> Result<()> {
        let key = (study.to_owned(), what.to_owned());
        if !self.claimed.contains(&key) {
            return Ok(());
        }
        let (place, handle) = (self.place.clone(), self.handle);
        let transaction = self.write()?;
        let released = claims::release(&transaction, handle, study, what);
        released.map_err(|error| place.writing(&error))?;
        let done = transaction.commit();
        done.map_err(|error| place.committing(&error))?;
        self.claimed.remove(&key);
        Ok(())
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // What cannot be released is free when the process ends.
        for (study, what) in std::mem::take(&mut self.claimed) {
            let _ = claims::release(&self.connection, self.handle, &study, &what);
        }
    }
}
