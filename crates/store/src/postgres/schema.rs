//! The tables in the server, in a schema of their own.

use super::session::{Done, Fault, Session, Work};
use crate::error::{Error, Result};

/// The version of the tables.
const VERSION: i64 = 1;

/// Two first users make the tables one after the other: "taskscou" as a number.
const LOCK: i64 = 0x7461_736b_7363_6f75;

/// Names and keys are compared byte by byte, whatever the language of the server.
const TABLES: &str = r#"
CREATE SCHEMA IF NOT EXISTS taskscout;
CREATE TABLE taskscout.study (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT COLLATE "C" NOT NULL UNIQUE,
    version BIGINT NOT NULL, created_us BIGINT NOT NULL, changed_us BIGINT NOT NULL,
    last BYTEA NOT NULL, sum BYTEA NOT NULL);
CREATE TABLE taskscout.record (
    study BIGINT NOT NULL REFERENCES taskscout.study (id), version BIGINT NOT NULL,
    time_us BIGINT NOT NULL, author TEXT NOT NULL, kind TEXT NOT NULL, before BYTEA NOT NULL,
    sum BYTEA NOT NULL, chunks BYTEA NOT NULL, body BYTEA NOT NULL, PRIMARY KEY (study, version));
CREATE TABLE taskscout.chunk (
    study BIGINT NOT NULL, version BIGINT NOT NULL, place BIGINT NOT NULL, bytes BYTEA NOT NULL,
    PRIMARY KEY (study, version, place),
    FOREIGN KEY (study, version) REFERENCES taskscout.record (study, version));
CREATE TABLE taskscout.kept (
    study BIGINT NOT NULL REFERENCES taskscout.study (id), key TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL, sum BYTEA NOT NULL, body BYTEA NOT NULL, PRIMARY KEY (study, key));
ALTER TABLE taskscout.chunk ALTER bytes SET STORAGE EXTERNAL;
CREATE TABLE taskscout.about (version BIGINT NOT NULL);
INSERT INTO taskscout.about VALUES (1);
"#;

/// Makes the tables if they are not there.
pub(super) fn make(session: &mut Session) -> Result<()> {
    if ours(session)? {
        return Ok(());
    }
    let place = session.place().to_owned();
    session.write(|work| {
        encoding(work, &place)?;
        work.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
        if !there(work)? {
            work.batch(TABLES)?;
        }
        Ok(())
    })
}

/// Refuses a database without our tables.
pub(super) fn require(session: &mut Session) -> Result<()> {
    if ours(session)? {
        return Ok(());
    }
    Err(Error::Foreign {
        place: session.place().to_owned(),
        problem: "there are no studies in it; name another, or begin a study in it".into(),
    })
}

/// Whether the tables are there; those of a newer version are refused.
fn ours(session: &mut Session) -> Result<bool> {
    let place = session.place().to_owned();
    session.read(|work| {
        if !there(work)? {
            return Ok(false);
        }
        let rows = work.query("SELECT version FROM taskscout.about", &[])?;
        let found: i64 = match rows.first() {
            Some(row) if rows.len() == 1 => row.try_get(0)?,
            _ => 0,
        };
        match found {
            VERSION => Ok(true),
            newer if newer > VERSION => Err(Fault::Ours(Error::Newer {
                place: place.clone(),
                found: newer,
                known: VERSION,
            })),
            _ => Err(Fault::Ours(Error::Damaged {
                place: place.clone(),
                problem: "the version of its tables was changed".into(),
                remedy: "restore the database from a copy".into(),
            })),
        }
    })
}

fn there(work: &mut Work<'_>) -> Done<bool> {
    // Not `to_regclass`: inside a transaction it may not see yet what another has just made.
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n \
               ON n.oid = c.relnamespace WHERE n.nspname = 'taskscout' AND c.relname = 'about')";
    let rows = work.query(sql, &[])?;
    Ok(rows.first().map_or(Ok(false), |row| row.try_get(0))?)
}

/// Names of studies may have any letter.
fn encoding(work: &mut Work<'_>, place: &str) -> Done<()> {
    let rows = work.query("SELECT current_setting('server_encoding')", &[])?;
    let encoding: String = rows
        .first()
        .map_or(Ok(String::new()), |row| row.try_get(0))?;
    if encoding == "UTF8" {
        return Ok(());
    }
    Err(Fault::Ours(Error::Invalid(format!(
        "{place} has the encoding {encoding}, in which not every name can be written: make the database with `createdb --encoding UTF8 --template template0`"
    ))))
}
