//! The tables of the file, and whether a file has them.

use rusqlite::{Connection, TransactionBehavior};

use super::failure::Place;
use crate::error::{Error, Result};

/// Says that the file is one of ours: "tsko" as a number.
const APPLICATION: i64 = 0x7473_6b6f;

/// The version of the tables.
pub(super) const VERSION: i64 = 1;

/// The tables of version 1. Long values stand last, so that what is before them is read without them.
pub(super) const TABLES: [(&str, &str); 5] = [
    (
        "study",
        "CREATE TABLE study (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, \
         created_us INTEGER NOT NULL, changed_us INTEGER NOT NULL, last BLOB NOT NULL, sum BLOB NOT NULL) STRICT",
    ),
    (
        "record",
        "CREATE TABLE record (study INTEGER NOT NULL REFERENCES study (id), version INTEGER NOT NULL, \
         time_us INTEGER NOT NULL, author TEXT NOT NULL, kind TEXT NOT NULL, before BLOB NOT NULL, sum BLOB NOT NULL, \
         chunks BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (study, version)) STRICT",
    ),
    (
        "chunk",
        "CREATE TABLE chunk (study INTEGER NOT NULL, version INTEGER NOT NULL, place INTEGER NOT NULL, \
         bytes BLOB NOT NULL, PRIMARY KEY (study, version, place), \
         FOREIGN KEY (study, version) REFERENCES record (study, version)) STRICT",
    ),
    (
        "kept",
        "CREATE TABLE kept (study INTEGER NOT NULL REFERENCES study (id), key TEXT NOT NULL, \
         version INTEGER NOT NULL, sum BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (study, key)) STRICT",
    ),
    (
        "claim",
        "CREATE TABLE claim (study TEXT NOT NULL, what TEXT NOT NULL, machine TEXT NOT NULL, \
         process INTEGER NOT NULL, started INTEGER NOT NULL, handle INTEGER NOT NULL, \
         PRIMARY KEY (study, what)) STRICT",
    ),
];

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// A database without anything in it.
    Empty,
    /// One of ours, of this version.
    Ours,
}

/// Says what a file is, and refuses what is not ours.
pub(super) fn state(connection: &Connection, place: &Place) -> Result<State> {
    let number = |pragma: &str| -> Result<i64> {
        let found = connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0));
        found.map_err(|error| place.opening(&error))
    };
    let application = number("application_id")?;
    let version = number("user_version")?;
    let known = tables(connection, place)?;
    if application == 0 && version == 0 && known.is_empty() {
        return Ok(State::Empty);
    }
    if application != APPLICATION {
        return Err(Error::Foreign {
            place: place.to_string(),
            problem: "it is a database of another program; name another file".into(),
        });
    }
    if version > VERSION {
        return Err(Error::Newer {
            place: place.to_string(),
            found: version,
            known: VERSION,
        });
    }
    let ours = TABLES.iter().all(|(name, sql)| {
        let same = |(found, text): &&(String, String)| found == name && text == sql;
        known.iter().filter(same).count() == 1
    });
    if version != VERSION || !ours || known.len() != TABLES.len() {
        return Err(place.damaged("the description of its tables was changed"));
    }
    Ok(State::Ours)
}

/// The tables that the file says it has.
fn tables(connection: &Connection, place: &Place) -> Result<Vec<(String, String)>> {
    let opening = |error| place.opening(&error);
    let sql = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL";
    let mut statement = connection.prepare(sql).map_err(opening)?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    found.and_then(Iterator::collect).map_err(opening)
}

/// Makes the tables, unless another process was faster.
pub(super) fn make(connection: &mut Connection, place: &Place) -> Result<()> {
    let fail = |error| place.writing(&error);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(fail)?;
    if state(&transaction, place)? == State::Ours {
        return Ok(());
    }
    for (_, sql) in TABLES {
        transaction.execute_batch(sql).map_err(fail)?;
    }
    let marks = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}");
    transaction.execute_batch(&marks).map_err(fail)?;
    transaction
        .commit()
        .map_err(|error| place.committing(&error))
}
