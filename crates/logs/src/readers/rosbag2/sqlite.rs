//! rosbag2's SQLite files: a table of topics, one of messages, and since ROS 2 Iron one of definitions.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::super::bag::{Bag, Declared, TopicId};
use crate::error::{Error, Result};

/// The first bytes of messages that are compressed one by one.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes that a message may unpack to: so many for each of its own, and some for small ones.
const MOST_EXPANSION: u64 = 256;
const SMALL: u64 = 1 << 20;

/// Encoding and text of a definition.
type Definition = (String, String);

/// What is wrong with a file.
type Problem = String;

/// Reads all messages of a file into a bag.
///
/// # Errors
/// A file that cannot be read, is no bag, or is damaged.
pub(super) fn read_into(path: &Path, bag: &mut Bag<'_>) -> Result<()> {
    let read = fs::metadata(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    bag.metadata
        .insert("format".into(), "rosbag2 SQLite".into());
    let database = Database::open(path, read.len());
    let outcome = database.and_then(|database| database.read(bag));
    outcome.map_err(|problem| Error::Bag {
        path: path.to_owned(),
        problem,
    })
}

struct Database {
    connection: Connection,
    /// Whether pages at the end are missing.
    cut: bool,
}

/// What SQLite says, as the end of a sentence.
#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn damaged(error: rusqlite::Error) -> Problem {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    match error.sqlite_error_code() {
        Some(NotADatabase) => {
            "is not a rosbag2 database: it is no SQLite file, so check that it was copied whole"
                .into()
        }
        Some(DatabaseCorrupt) => {
            "is damaged: SQLite calls it malformed; `sqlite3 FILE .recover` may save what is intact"
                .into()
        }
        _ => format!("cannot be read as a rosbag2 database: {error}"),
    }
}

impl Database {
    fn open(path: &Path, length: u64) -> std::result::Result<Self, Problem> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let first = Connection::open_with_flags(path, flags).and_then(|found| {
            let pages = found.query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
                row.get::<_, i64>(0)
            });
            pages.map(|_| found)
        });
        // A file with a log of its own beside it wants to write into its folder, unless it is told that nobody else does.
        let connection = match first {
            Err(error) if is_closed(&error) => {
                Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)
            }
            other => other,
        };
        let connection = connection.map_err(damaged)?;
        // A file may be anybody's: no functions in its schema, and nothing larger than the file itself.
        let largest = i32::try_from(length.max(1 << 16)).unwrap_or(i32::MAX);
        connection
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, largest)
            .map_err(damaged)?;
        connection
            .execute_batch(
                "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;",
            )
            .map_err(damaged)?;
        let number = |name: &str| {
            connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, u64>(0))
        };
        let pages = number("page_count").map_err(damaged)?;
        let size = number("page_size").map_err(damaged)?;
        Ok(Self {
            cut: pages.saturating_mul(size) > length,
            connection,
        })
    }

    fn read(&self, bag: &mut Bag<'_>) -> std::result::Result<(), Problem> {
        for table in ["topics", "messages"] {
            if !self.has_table(table)? {
                return Err(format!(
                    "is not a rosbag2 database: it has no table `{table}`"
                ));
            }
        }
        let definitions = self.definitions()?;
        let topics = self.topics(&definitions, bag)?;
        let before = bag.warnings.len();
        match self.messages(&topics, bag) {
            Ok(()) => {}
            Err((read, problem)) if self.cut && read > 0 => bag.warnings.push(format!(
                "the file is cut off: {read} messages were read and the others are lost ({problem})"
            )),
            Err((_, problem)) => return Err(problem),
        }
        if self.cut && bag.warnings.len() == before {
            bag.warnings
                .push("the file is cut off, but all its messages could be read".into());
        }
        Ok(())
    }

    /// Whether there is a table of this name; views and virtual tables could be anything.
    fn has_table(&self, name: &str) -> std::result::Result<bool, Problem> {
        let query = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND rootpage > 0";
        let count = self
            .connection
            .query_row(query, [name], |row| row.get::<_, i64>(0));
        Ok(count.map_err(damaged)? > 0)
    }

    fn definitions(&self) -> std::result::Result<HashMap<String, Definition>, Problem> {
        if !self.has_table("message_definitions")? {
            return Ok(HashMap::new());
        }
        let query =
            "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions";
        let mut statement = self.connection.prepare(query).map_err(damaged)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))));
        let rows = rows.map_err(damaged)?;
        rows.collect::<rusqlite::Result<_>>().map_err(damaged)
    }

    fn topics(
        &self,
        definitions: &HashMap<String, Definition>,
        bag: &mut Bag<'_>,
    ) -> std::result::Result<HashMap<i64, TopicId>, Problem> {
        let query = "SELECT id, name, type, serialization_format FROM topics ORDER BY id";
        let mut statement = self.connection.prepare(query).map_err(damaged)?;
        let mut rows = statement.query([]).map_err(damaged)?;
        let mut topics = HashMap::new();
        while let Some(row) = rows.next().map_err(damaged)? {
            let field = |index| row.get::<_, String>(index).map_err(damaged);
            let (topic, type_name, encoding) = (field(1)?, field(2)?, field(3)?);
            // Events of a service are defined by the service.
            let service = type_name.strip_suffix("_Event");
            let definition = definitions
                .get(&type_name)
                .or_else(|| definitions.get(service?));
            let (schema_encoding, schema) =
                definition.map_or(("", ""), |(encoding, text)| (encoding, text));
            let id = bag.topic(&Declared {
                topic: &topic,
                type_name: &type_name,
                encoding: &encoding,
                schema_encoding,
                schema: schema.as_bytes(),
            });
            topics.insert(row.get::<_, i64>(0).map_err(damaged)?, id);
        }
        Ok(topics)
    }

    /// Reads the messages; an error has the number of those read before it.
    fn messages(
        &self,
        topics: &HashMap<i64, TopicId>,
        bag: &mut Bag<'_>,
    ) -> std::result::Result<(), (usize, Problem)> {
        let mut read = 0;
        let mut unpacked = Vec::new();
        let mut all = || -> std::result::Result<(), Problem> {
            let query = "SELECT topic_id, timestamp, data FROM messages";
            let mut statement = self.connection.prepare(query).map_err(damaged)?;
            let mut rows = statement.query([]).map_err(damaged)?;
            while let Some(row) = rows.next().map_err(damaged)? {
                let topic: i64 = row.get(0).map_err(damaged)?;
                let time: i64 = row.get(1).map_err(damaged)?;
                let data = row.get_ref(2).map_err(damaged)?;
                let data = data
                    .as_bytes()
                    .map_err(|_| format!("is damaged: message {} has no bytes", read + 1))?;
                if let Some(topic) = topics.get(&topic) {
                    bag.message(*topic, time, unpack(data, &mut unpacked))?;
                }
                read += 1;
            }
            Ok(())
        };
        let outcome = all();
        outcome.map_err(|problem| (read, problem))
    }
}

/// The message itself where the recorder compressed it; CDR never begins like that.
fn unpack<'a>(data: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    use std::io::Read as _;
    if !data.starts_with(&ZSTD) {
        return data;
    }
    buffer.clear();
    let most = SMALL + MOST_EXPANSION * data.len() as u64;
    let decoder = zstd::Decoder::with_buffer(data);
    let outcome = decoder.and_then(|decoder| decoder.take(most).read_to_end(buffer));
    match outcome {
        Ok(_) => buffer,
        Err(_) => data,
    }
}

/// Whether the file cannot be opened where it is, as in a folder that may not be written to.
fn is_closed(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly))
}

/// The file as one that nobody writes to.
fn immutable(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri + "?immutable=1"
}
