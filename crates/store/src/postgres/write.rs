//! Writing, inside a transaction that the session commits.

use super::read;
use super::session::{Done, Fault, Work};
use super::signed;
use crate::chain::{self, Stored};
use crate::error::Error;
use crate::log::{self, Head, Kept, NewRecord};

const STUDY: &str = "INSERT INTO taskscout.study (name, version, created_us, changed_us, last, sum) \
                     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING RETURNING id";
const MOVE: &str =
    "UPDATE taskscout.study SET version = $2, changed_us = $3, last = $4, sum = $5 WHERE id = $1";
const RECORD: &str = "INSERT INTO taskscout.record (study, version, time_us, author, kind, before, sum, chunks, body) \
                      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const CHUNK: &str =
    "INSERT INTO taskscout.chunk (study, version, place, bytes) VALUES ($1, $2, $3, $4)";
const KEEP: &str = "INSERT INTO taskscout.kept AS k (study, key, version, sum, body) \
                    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (study, key) DO UPDATE \
                    SET version = $3, sum = $4, body = $5 WHERE k.version <= $3";

pub(super) fn create(work: &mut Work<'_>, study: &str, records: &[NewRecord]) -> Done<u64> {
    let stored = chain::link(study, 0, &chain::FIRST, records);
    let first = records.first().map_or(0, |record| record.time_us);
    let mut head = Head {
        study: study.into(),
        version: 0,
        created_us: first,
        changed_us: first,
    };
    let last = advance(&mut head, &chain::FIRST, &stored);
    let sum = chain::head(&head, &last);
    let version = signed(head.version);
    let rows = work.query(
        STUDY,
        &[
            &study,
            &version,
            &head.created_us,
            &head.changed_us,
            &last,
            &&sum[..],
        ],
    )?;
    let Some(row) = rows.first() else {
        let found = read::find(work, study, true)?;
        if work.doubt && read::sum(work, found.id, head.version)? == Some(last) {
            return Ok(head.version);
        }
        return Err(Fault::Ours(Error::Exists {
            study: study.into(),
        }));
    };
    insert(work, row.try_get(0)?, &stored, records)?;
    Ok(head.version)
}

pub(super) fn append(
    work: &mut Work<'_>,
    study: &str,
    expected: u64,
    records: &[NewRecord],
    keep: &[Kept],
) -> Done<u64> {
    let found = read::find(work, study, !records.is_empty())?;
    let (id, mut head) = (found.id, found.head);
    if !records.is_empty() && head.version != expected {
        if let Some(version) = stored_before(work, id, study, expected, records)? {
            return Ok(version);
        }
        return Err(Fault::Ours(Error::Conflict {
            study: study.into(),
            expected,
            found: head.version,
        }));
    }
    log::check_kept(
        study,
        head.version.saturating_add(records.len() as u64),
        keep,
    )?;
    if !records.is_empty() {
        if read::sum(work, id, head.version)?.as_deref() != Some(found.last.as_slice()) {
            let problem = "it is missing, or not the one that was appended last";
            return Err(Fault::Ours(Error::damaged_record(
                study,
                head.version,
                problem,
            )));
        }
        let stored = chain::link(study, head.version, &found.last, records);
        let last = advance(&mut head, &found.last, &stored);
        let sum = chain::head(&head, &last);
        let version = signed(head.version);
        work.execute(MOVE, &[&id, &version, &head.changed_us, &last, &&sum[..]])?;
        insert(work, id, &stored, records)?;
    }
    for kept in keep {
        let sum = chain::kept(study, kept);
        let version = signed(kept.version);
        work.execute(KEEP, &[&id, &kept.key, &version, &&sum[..], &kept.body])?;
    }
    Ok(head.version)
}

/// The version that an earlier try reached, if its commit was done and only the answer was lost: the last of
/// its records is there with the very checksum.
fn stored_before(
    work: &mut Work<'_>,
    id: i64,
    study: &str,
    expected: u64,
    records: &[NewRecord],
) -> Done<Option<u64>> {
    if !work.doubt {
        return Ok(None);
    }
    let Some(before) = read::sum(work, id, expected)? else {
        return Ok(None);
    };
    let mine = chain::link(study, expected, &before, records);
    let Some(last) = mine.last() else {
        return Ok(None);
    };
    let version = last.record.version;
    let there = read::sum(work, id, version)?;
    Ok((there.as_deref() == Some(last.sum.as_slice())).then_some(version))
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

fn insert(work: &mut Work<'_>, id: i64, stored: &[Stored], given: &[NewRecord]) -> Done<()> {
    for (stored, given) in stored.iter().zip(given) {
        let record = &stored.record;
        let version = signed(record.version);
        work.execute(
            RECORD,
            &[
                &id,
                &version,
                &record.time_us,
                &record.author,
                &record.kind,
                &stored.before,
                &stored.sum,
                &stored.chunks,
                &record.body,
            ],
        )?;
        for (place, bytes) in given.rows.iter().enumerate() {
            work.execute(CHUNK, &[&id, &version, &signed(place as u64), bytes])?;
        }
    }
    Ok(())
}
