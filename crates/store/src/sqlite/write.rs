//! Writing, inside a transaction that the caller commits.

use rusqlite::{Connection, params};

use super::failure::Place;
use super::read;
use crate::chain::{self, Stored};
use crate::error::{Error, Result};
use crate::log::{self, Head, Kept, NewRecord};

pub(super) fn create(
    connection: &Connection,
    place: &Place,
    study: &str,
    records: &[NewRecord],
) -> Result<u64> {
    let heads = read::list(connection, place)?;
    if heads.iter().any(|head| head.study == study) {
        return Err(Error::Exists {
            study: study.into(),
        });
    }
    let stored = chain::link(study, 0, &chain::FIRST, records);
    let first = records.first().map_or(0, |record| record.time_us);
    let mut head = Head {
        study: study.into(),
        version: 0,
        created_us: first,
        changed_us: first,
    };
    let last = advance(&mut head, &chain::FIRST, &stored);
    let sql = "INSERT INTO study (name, version, created_us, changed_us, last, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let sum = chain::head(&head, &last);
    let values = params![
        study,
        head.version,
        head.created_us,
        head.changed_us,
        last,
        sum
    ];
    let inserted = connection.execute(sql, values);
    inserted.map_err(|error| place.writing(&error))?;
    let id = connection.last_insert_rowid();
    insert(connection, place, id, &stored, records)?;
    Ok(head.version)
}

pub(super) fn append(
    connection: &Connection,
    place: &Place,
    study: &str,
    expected: u64,
    records: &[NewRecord],
    keep: &[Kept],
) -> Result<u64> {
    let found = read::find(connection, place, study)?;
    let (id, mut head) = (found.id, found.head);
    log::check_kept(
        study,
        head.version.saturating_add(records.len() as u64),
        keep,
    )?;
    if !records.is_empty() {
        if head.version != expected {
            return Err(Error::Conflict {
                study: study.into(),
                expected,
                found: head.version,
            });
        }
        if read::sum(connection, place, id, head.version)?.as_deref() != Some(found.last.as_slice())
        {
            let problem = "it is missing, or not the one that was appended last";
            return Err(Error::damaged_record(study, head.version, problem));
        }
        let stored = chain::link(study, head.version, &found.last, records);
        let last = advance(&mut head, &found.last, &stored);
        let sql =
            "UPDATE study SET version = ?2, changed_us = ?3, last = ?4, sum = ?5 WHERE id = ?1";
        let sum = chain::head(&head, &last);
        let updated =
            connection.execute(sql, params![id, head.version, head.changed_us, last, sum]);
        updated.map_err(|error| place.writing(&error))?;
        insert(connection, place, id, &stored, records)?;
    }
    for value in keep {
        self::keep(connection, id, study, value).map_err(|error| place.writing(&error))?;
    }
    Ok(head.version)
}

/// Moves a head to the last of the new records and gives that one's checksum.
fn advance(head: &mut Head, before: &[u8], stored: &[Stored]) -> Vec<u8> {
    match stored.last() {
        None => before.to_vec(),
        Some(last) => {
            head.version = last.record.version;
            head.changed_us = last.record.time_us;
            last.sum.clone()
        }
    }
}

fn insert(
    connection: &Connection,
    place: &Place,
    id: i64,
    stored: &[Stored],
    given: &[NewRecord],
) -> Result<()> {
    let rows = stored.iter().zip(given);
    let insert = || -> rusqlite::Result<()> {
        for (stored, given) in rows {
            record(connection, id, stored)?;
            for (place, bytes) in given.rows.iter().enumerate() {
                chunk(connection, id, stored.record.version, place, bytes)?;
            }
        }
        Ok(())
    };
    insert().map_err(|error| place.writing(&error))
}

pub(super) fn record(connection: &Connection, id: i64, stored: &Stored) -> rusqlite::Result<()> {
    let record = &stored.record;
    let sql = "INSERT INTO record (study, version, time_us, author, kind, before, sum, chunks, body) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    connection.prepare_cached(sql)?.execute(params![
        id,
        record.version,
        record.time_us,
        record.author,
        record.kind,
        stored.before,
        stored.sum,
        stored.chunks,
        record.body
    ])?;
    Ok(())
}

pub(super) fn chunk(
    connection: &Connection,
    id: i64,
    version: u64,
    place: usize,
    bytes: &[u8],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO chunk (study, version, place, bytes) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![id, version, place, bytes])?;
    Ok(())
}

/// A newer value replaces an older one, never the other way round.
fn keep(connection: &Connection, id: i64, study: &str, kept: &Kept) -> rusqlite::Result<()> {
    let sql = "INSERT INTO kept (study, key, version, sum, body) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (study, key) DO UPDATE SET version = ?3, sum = ?4, body = ?5 \
               WHERE kept.version <= ?3 OR kept.version > (SELECT version FROM study WHERE id = ?1)";
    let sum = chain::kept(study, kept);
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![id, kept.key, kept.version, sum, kept.body])?;
    Ok(())
}
