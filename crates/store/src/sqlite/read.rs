//! Reading, with every check that finds what was changed.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::failure::Place;
use crate::chain::{self, BYTES, Stored};
use crate::error::{Error, Result};
use crate::log::{self, Head, Kept, Loaded, Query, Record};

/// The head of a study with its number and the checksum of its last record.
pub(super) struct Found {
    pub(super) id: i64,
    pub(super) head: Head,
    pub(super) last: Vec<u8>,
    sum: Vec<u8>,
}

const HEAD: &str = "SELECT id, name, version, created_us, changed_us, last, sum FROM study";

const RECORD: &str = "SELECT version, time_us, author, kind, chunks, before, sum, body FROM record";

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        id: row.get(0)?,
        head: Head {
            study: row.get(1)?,
            version: row.get(2)?,
            created_us: row.get(3)?,
            changed_us: row.get(4)?,
        },
        last: row.get(5)?,
        sum: row.get(6)?,
    })
}

pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let chunks: Vec<u8> = row.get(4)?;
    Ok(Stored {
        record: Record {
            version: row.get(0)?,
            time_us: row.get(1)?,
            author: row.get(2)?,
            kind: row.get(3)?,
            body: row.get(7)?,
            row_chunks: chunks.len() / BYTES,
        },
        chunks,
        before: row.get(5)?,
        sum: row.get(6)?,
    })
}

fn intact(found: Found) -> Result<Found> {
    if found.sum == chain::head(&found.head, &found.last) {
        return Ok(found);
    }
    let problem = "the checksum of its head does not fit";
    Err(Error::damaged_study(&found.head.study, problem))
}

/// All studies, by name. The index of the names is not used, and records without a study are looked for: a
/// study that fell out of the table would be missing silently.
pub(super) fn list(connection: &Connection, place: &Place) -> Result<Vec<Head>> {
    let reading = |error| place.reading(&error);
    let mut statement = connection
        .prepare(&format!("{HEAD} NOT INDEXED"))
        .map_err(reading)?;
    let rows = statement.query_map([], found).map_err(reading)?;
    let mut ids = std::collections::BTreeSet::new();
    let mut heads = Vec::new();
    for row in rows {
        let found = intact(row.map_err(reading)?)?;
        ids.insert(found.id);
        heads.push(found.head);
    }
    // From each study's number to the next in the index of the records: as many steps as studies.
    let sql = "WITH RECURSIVE s(id) AS (SELECT min(study) FROM record UNION ALL \
               SELECT (SELECT min(study) FROM record WHERE study > s.id) FROM s WHERE s.id IS NOT NULL) \
               SELECT id FROM s WHERE id IS NOT NULL";
    let mut statement = connection.prepare(sql).map_err(reading)?;
    let with_records = statement.query_map([], |row| row.get::<_, i64>(0));
    for id in with_records.map_err(reading)? {
        if !ids.remove(&id.map_err(reading)?) {
            return Err(place.damaged("there are records of a study that is missing"));
        }
    }
    if !ids.is_empty() {
        return Err(place.damaged("there is a study whose records are missing"));
    }
    heads.sort_by(|a, b| a.study.cmp(&b.study));
    if heads.windows(2).any(|pair| pair[0].study == pair[1].study) {
        return Err(place.damaged("a study is there twice"));
    }
    Ok(heads)
}

/// A study by its name.
pub(super) fn find(connection: &Connection, place: &Place, study: &str) -> Result<Found> {
    let row = connection
        .prepare_cached(&format!("{HEAD} WHERE name = ?1"))
        .and_then(|mut statement| statement.query_row([study], found).optional())
        .map_err(|error| place.reading(&error))?;
    match row {
        Some(found) if found.head.study == study => intact(found),
        Some(_) => Err(place.damaged("the index of the studies does not fit to them")),
        None => {
            let heads = list(connection, place)?;
            if heads.iter().any(|head| head.study == study) {
                return Err(place.damaged("the index of the studies does not fit to them"));
            }
            let names: Vec<String> = heads.into_iter().map(|head| head.study).collect();
            Err(Error::no_study(study, &names))
        }
    }
}

/// The checksum of a record.
pub(super) fn sum(
    connection: &Connection,
    place: &Place,
    id: i64,
    version: u64,
) -> Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT sum FROM record WHERE study = ?1 AND version = ?2")
        .and_then(|mut s| {
            s.query_row(params![id, version], |row| row.get(0))
                .optional()
        })
        .map_err(|error| place.reading(&error))
}

pub(super) fn load(
    connection: &Connection,
    place: &Place,
    study: &str,
    query: &Query,
) -> Result<Loaded> {
    let found = find(connection, place, study)?;
    let (kept, damaged) = kept(connection, place, &found, query)?;
    let since = log::start(query, &kept);
    if since > found.head.version {
        return Err(Error::Behind {
            study: study.into(),
            since,
            found: found.head.version,
        });
    }
    let before = sum(connection, place, found.id, since)?;
    let records = records(connection, place, found.id, since)?;
    let records = chain::verify(&found.head, &found.last, since, before, records)?;
    Ok(Loaded {
        version: found.head.version,
        records,
        kept,
        damaged,
    })
}

fn records(connection: &Connection, place: &Place, id: i64, since: u64) -> Result<Vec<Stored>> {
    let sql = format!("{RECORD} WHERE study = ?1 AND version > ?2 ORDER BY version");
    let read = |sql: &str| -> rusqlite::Result<Vec<Stored>> {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_map(params![id, since], stored)?.collect()
    };
    read(&sql).map_err(|error| place.reading(&error))
}

/// The kept values that are wanted, and the keys of those that are damaged.
fn kept(
    connection: &Connection,
    place: &Place,
    found: &Found,
    query: &Query,
) -> Result<(Vec<Kept>, Vec<String>)> {
    if query.snapshot.is_none() && query.keys.is_empty() && query.prefixes.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for key in keys(connection, place, found.id)?
        .iter()
        .filter(|key| query.wants(key))
    {
        let sql = "SELECT version, sum, body FROM kept WHERE study = ?1 AND key = ?2";
        let read = connection.prepare_cached(sql).and_then(|mut statement| {
            statement.query_row(params![found.id, key], |row| {
                let sum: Vec<u8> = row.get(1)?;
                let (key, version, body) = (key.clone(), row.get(0)?, row.get(2)?);
                Ok((Kept { key, version, body }, sum))
            })
        });
        match read {
            Ok((kept, sum))
                if sum == chain::kept(&found.head.study, &kept)
                    && kept.version <= found.head.version =>
            {
                good.push(kept);
            }
            // Whatever is wrong with it, it can be made again.
            _ => bad.push(key.clone()),
        }
    }
    Ok((good, bad))
}

fn keys(connection: &Connection, place: &Place, id: i64) -> Result<Vec<String>> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT key FROM kept WHERE study = ?1 ORDER BY key";
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_map([id], |row| row.get(0))?.collect()
    };
    let mut keys = read().map_err(|error| place.reading(&error))?;
    keys.sort();
    keys.dedup();
    Ok(keys)
}

/// One record with the number of its study, checked.
pub(super) fn one(
    connection: &Connection,
    place: &Place,
    study: &str,
    version: u64,
) -> Result<(i64, Stored)> {
    let found = find(connection, place, study)?;
    if version == 0 || version > found.head.version {
        return Err(Error::NoRecord {
            study: study.into(),
            version,
            last: found.head.version,
        });
    }
    let record = connection
        .prepare_cached(&format!("{RECORD} WHERE study = ?1 AND version = ?2"))
        .and_then(|mut s| s.query_row(params![found.id, version], stored).optional())
        .map_err(|error| place.reading(&error))?;
    let missing = || Error::damaged_record(study, version, "it is missing");
    let record = record.ok_or_else(missing)?;
    let before = match version {
        1 => Some(chain::FIRST.to_vec()),
        _ => sum(connection, place, found.id, version - 1)?,
    };
    let fits = before.is_some_and(|before| record.follows(study, &before));
    if !fits || record.record.version != version {
        let problem = "its checksum does not fit to what it says";
        return Err(Error::damaged_record(study, version, problem));
    }
    Ok((found.id, record))
}

/// One chunk of rows, checked.
pub(super) fn chunk(
    connection: &Connection,
    place: &Place,
    study: &str,
    (id, stored): &(i64, Stored),
    chunk: usize,
) -> Result<Vec<u8>> {
    let version = stored.record.version;
    let sql = "SELECT bytes FROM chunk WHERE study = ?1 AND version = ?2 AND place = ?3";
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached(sql)
        .and_then(|mut s| {
            s.query_row(params![id, version, chunk], |row| row.get(0))
                .optional()
        })
        .map_err(|error| place.reading(&error))?;
    match bytes {
        Some(bytes) if chain::of(&bytes) == stored.chunk(chunk) => Ok(bytes),
        Some(_) => {
            let problem = format!("its rows (chunk {}) were changed", chunk + 1);
            Err(Error::damaged_record(study, version, problem))
        }
        None => {
            let problem = format!("its rows (chunk {}) are missing", chunk + 1);
            Err(Error::damaged_record(study, version, problem))
        }
    }
}
