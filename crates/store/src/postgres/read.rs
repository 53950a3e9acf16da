//! Reading, with every check that finds what was changed.

use postgres::Row;

use super::session::{Done, Fault, Work};
use super::{signed, unsigned};
use crate::chain::{self, BYTES, Stored};
use crate::error::{Error, Result};
use crate::log::{self, Head, Kept, Loaded, Query, Record};

/// The head of a study with its number and the checksum of its last record.
pub(super) struct Found {
    pub(super) id: i64,
    pub(super) head: Head,
    pub(super) last: Vec<u8>,
}

const HEADS: &str =
    "SELECT id, name, version, created_us, changed_us, last, sum FROM taskscout.study";
const HEAD: &str = "SELECT id, name, version, created_us, changed_us, last, sum FROM taskscout.study WHERE name = $1";
const HEAD_LOCKED: &str = "SELECT id, name, version, created_us, changed_us, last, sum FROM taskscout.study WHERE name = $1 FOR UPDATE";
const SUM: &str = "SELECT sum FROM taskscout.record WHERE study = $1 AND version = $2";
const SINCE: &str = "SELECT version, time_us, author, kind, chunks, before, sum, body FROM taskscout.record \
                     WHERE study = $1 AND version > $2 ORDER BY version";
const ONE: &str = "SELECT version, time_us, author, kind, chunks, before, sum, body FROM taskscout.record \
                   WHERE study = $1 AND version = $2";
const KEYS: &str = "SELECT key FROM taskscout.kept WHERE study = $1";
const KEPT: &str = "SELECT version, sum, body FROM taskscout.kept WHERE study = $1 AND key = $2";
const CHUNK: &str =
    "SELECT bytes FROM taskscout.chunk WHERE study = $1 AND version = $2 AND place = $3";

fn found(row: &Row) -> Done<Found> {
    let head = Head {
        study: row.try_get(1)?,
        version: unsigned(row.try_get(2)?),
        created_us: row.try_get(3)?,
        changed_us: row.try_get(4)?,
    };
    let (last, sum): (Vec<u8>, Vec<u8>) = (row.try_get(5)?, row.try_get(6)?);
    if sum != chain::head(&head, &last) {
        let problem = "the checksum of its head does not fit";
        return Err(Fault::Ours(Error::damaged_study(&head.study, problem)));
    }
    Ok(Found {
        id: row.try_get(0)?,
        head,
        last,
    })
}

fn stored(row: &Row) -> Done<Stored> {
    let chunks: Vec<u8> = row.try_get(4)?;
    Ok(Stored {
        record: Record {
            version: unsigned(row.try_get(0)?),
            time_us: row.try_get(1)?,
            author: row.try_get(2)?,
            kind: row.try_get(3)?,
            body: row.try_get(7)?,
            row_chunks: chunks.len() / BYTES,
        },
        chunks,
        before: row.try_get(5)?,
        sum: row.try_get(6)?,
    })
}

pub(super) fn list(work: &mut Work<'_>) -> Done<Vec<Head>> {
    let rows = work.query(HEADS, &[])?;
    let heads = rows.iter().map(|row| Ok(found(row)?.head));
    let mut heads = heads.collect::<Done<Vec<Head>>>()?;
    heads.sort_by(|a, b| a.study.cmp(&b.study));
    Ok(heads)
}

/// A study by its name; for a writer, nobody else writes to it until the transaction ends.
pub(super) fn find(work: &mut Work<'_>, study: &str, lock: bool) -> Done<Found> {
    let rows = work.query(if lock { HEAD_LOCKED } else { HEAD }, &[&study])?;
    if let Some(row) = rows.first() {
        return found(row);
    }
    let names: Vec<String> = list(work)?.into_iter().map(|head| head.study).collect();
    Err(Fault::Ours(Error::no_study(study, &names)))
}

/// The checksum of a record.
pub(super) fn sum(work: &mut Work<'_>, id: i64, version: u64) -> Done<Option<Vec<u8>>> {
    let rows = work.query(SUM, &[&id, &signed(version)])?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
}

pub(super) fn load(work: &mut Work<'_>, study: &str, query: &Query) -> Done<Loaded> {
    let found = find(work, study, false)?;
    let version = found.head.version;
    let (kept, damaged) = kept(work, &found, query)?;
    let since = log::start(query, &kept);
    if since > version {
        return Err(Fault::Ours(Error::Behind {
            study: study.into(),
            since,
            found: version,
        }));
    }
    let before = sum(work, found.id, since)?;
    let rows = work.query(SINCE, &[&found.id, &signed(since)])?;
    let records = rows.iter().map(stored).collect::<Done<Vec<Stored>>>()?;
    let records = chain::verify(&found.head, &found.last, since, before, records)?;
    Ok(Loaded {
        version,
        records,
        kept,
        damaged,
    })
}

/// The kept values that are wanted, and the keys of those that are damaged.
fn kept(work: &mut Work<'_>, found: &Found, query: &Query) -> Done<(Vec<Kept>, Vec<String>)> {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    if query.snapshot.is_none() && query.keys.is_empty() && query.prefixes.is_empty() {
        return Ok((good, bad));
    }
    let rows = work.query(KEYS, &[&found.id])?;
    let keys = rows.iter().map(|row| row.try_get(0));
    let mut keys = keys.collect::<std::result::Result<Vec<String>, _>>()?;
    keys.retain(|key| query.wants(key));
    keys.sort();
    for key in keys {
        let rows = work.query(KEPT, &[&found.id, &key])?;
        let Some(row) = rows.first() else { continue };
        let kept = Kept {
            key,
            version: unsigned(row.try_get(0)?),
            body: row.try_get(2)?,
        };
        let sum: Vec<u8> = row.try_get(1)?;
        let fits = sum == chain::kept(&found.head.study, &kept);
        if fits && kept.version <= found.head.version {
            good.push(kept);
        } else {
            bad.push(kept.key);
        }
    }
    Ok((good, bad))
}

/// One record with the number of its study, checked.
pub(super) fn one(work: &mut Work<'_>, study: &str, version: u64) -> Done<(i64, Stored)> {
    let found = find(work, study, false)?;
    if version == 0 || version > found.head.version {
        return Err(Fault::Ours(Error::NoRecord {
            study: study.into(),
            version,
            last: found.head.version,
        }));
    }
    let rows = work.query(ONE, &[&found.id, &signed(version)])?;
    let record = rows.first().map(stored).transpose()?;
    let missing = || Error::damaged_record(study, version, "it is missing");
    let record = record.ok_or_else(missing)?;
    let before = match version {
        1 => Some(chain::FIRST.to_vec()),
        _ => sum(work, found.id, version - 1)?,
    };
    if before.is_none_or(|before| !record.follows(study, &before)) {
        let problem = "its checksum does not fit to what it says";
        return Err(Fault::Ours(Error::damaged_record(study, version, problem)));
    }
    Ok((found.id, record))
}

/// One chunk of rows as it is stored.
pub(super) fn chunk(
    work: &mut Work<'_>,
    id: i64,
    version: u64,
    place: usize,
) -> Done<Option<Vec<u8>>> {
    let rows = work.query(CHUNK, &[&id, &signed(version), &signed(place as u64)])?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
}

/// A chunk that is there and was not changed.
pub(super) fn checked(
    study: &str,
    stored: &Stored,
    place: usize,
    bytes: Option<Vec<u8>>,
) -> Result<Vec<u8>> {
    let problem = match bytes {
        Some(bytes) if chain::of(&bytes) == stored.chunk(place) => return Ok(bytes),
        Some(_) => format!("its rows (chunk {}) were changed", place + 1),
        None => format!("its rows (chunk {}) are missing", place + 1),
    };
    Err(Error::damaged_record(study, stored.record.version, problem))
}
