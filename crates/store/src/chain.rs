//! Checksums: each record's covers all that it says and the checksum of the record before it, so that a
//! changed, missing or exchanged record is found.
//!
//! With H = SHA-256 and every text and body preceded by its length,
//! sₖ = H(sₖ₋₁, study, k, time, author, kind, body, H(chunk 1), H(chunk 2), …), s₀ = 0.
//! Each record keeps sₖ₋₁ beside sₖ, so that it can be judged when the one before it is lost.
//! The head of a study has a checksum of its own over name, version, times and s of the last record: a log
//! that was cut does not look complete.

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::log::{Head, Kept, NewRecord, Record};

/// A checksum.
pub(crate) type Sum = [u8; 32];

/// What the first record of a study is chained to.
pub(crate) const FIRST: Sum = [0; 32];

/// Bytes of a checksum.
pub(crate) const BYTES: usize = 32;

fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

/// The checksum of plain bytes.
pub(crate) fn of(bytes: &[u8]) -> Sum {
    Sha256::digest(bytes).into()
}

/// A record as it is stored, with its checksums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    /// The record.
    pub(crate) record: Record,
    /// The checksums of its chunks of rows, one after the other.
    pub(crate) chunks: Vec<u8>,
    /// The checksum of the record before it.
    pub(crate) before: Vec<u8>,
    /// Its own checksum.
    pub(crate) sum: Vec<u8>,
}

impl Stored {
    /// The checksum that it has to have.
    pub(crate) fn expected(&self, study: &str) -> Sum {
        let record = &self.record;
        let mut hash = Sha256::new();
        part(&mut hash, &self.before);
        part(&mut hash, study.as_bytes());
        hash.update(record.version.to_le_bytes());
        hash.update(record.time_us.to_le_bytes());
        part(&mut hash, record.author.as_bytes());
        part(&mut hash, record.kind.as_bytes());
        part(&mut hash, &record.body);
        part(&mut hash, &self.chunks);
        hash.finalize().into()
    }

    /// Whether it is what was written, after a record with the checksum `before`.
    pub(crate) fn follows(&self, study: &str, before: &[u8]) -> bool {
        self.before == before && self.sum == self.expected(study)
    }

    /// The checksum of one of its chunks.
    pub(crate) fn chunk(&self, place: usize) -> &[u8] {
        let end = (place + 1) * BYTES;
        self.chunks.get(end - BYTES..end).unwrap_or_default()
    }
}

/// New records as they are stored after version `version` with the checksum `before`, without their rows.
pub(crate) fn link(
    study: &str,
    mut version: u64,
    before: &[u8],
    records: &[NewRecord],
) -> Vec<Stored> {
    let mut before = before.to_vec();
    let stored = |new: &NewRecord| {
        version += 1;
        let record = Record {
            version,
            time_us: new.time_us,
            author: new.author.clone(),
            kind: new.kind.clone(),
            body: new.body.clone(),
            row_chunks: new.rows.len(),
        };
        let chunks = new.rows.iter().flat_map(|chunk| of(chunk)).collect();
        let mut stored = Stored {
            record,
            chunks,
            before: before.clone(),
            sum: Vec::new(),
        };
        stored.sum = stored.expected(study).to_vec();
        before.clone_from(&stored.sum);
        stored
    };
    records.iter().map(stored).collect()
}

/// The records after `since` if they are all there and none was changed; `before` is the checksum of the record
/// `since`, `last` that of the head.
pub(crate) fn verify(
    head: &Head,
    last: &[u8],
    since: u64,
    before: Option<Vec<u8>>,
    records: Vec<Stored>,
) -> Result<Vec<Record>> {
    let study = &head.study;
    let missing = |version| Error::damaged_record(study, version, "it is missing");
    let mut before = match before {
        _ if since == 0 => FIRST.to_vec(),
        Some(sum) if sum.len() == BYTES => sum,
        Some(_) => {
            let problem = "its checksum is no checksum";
            return Err(Error::damaged_record(study, since, problem));
        }
        None => return Err(missing(since)),
    };
    let mut version = since;
    let mut good = Vec::with_capacity(records.len());
    for stored in records {
        version += 1;
        if stored.record.version != version {
            return Err(missing(version));
        }
        if !stored.follows(study, &before) {
            let problem = "its checksum does not fit to what it says";
            return Err(Error::damaged_record(study, version, problem));
        }
        before = stored.sum;
        good.push(stored.record);
    }
    if version != head.version {
        return Err(missing(version + 1));
    }
    if before != last {
        let problem = "its last record is not the one that was appended last";
        return Err(Error::damaged_study(study, problem));
    }
    Ok(good)
}

/// The checksum of a study's head, with that of its last record.
pub(crate) fn head(head: &Head, last: &[u8]) -> Sum {
    let mut hash = Sha256::new();
    part(&mut hash, b"head");
    part(&mut hash, head.study.as_bytes());
    hash.update(head.version.to_le_bytes());
    hash.update(head.created_us.to_le_bytes());
    hash.update(head.changed_us.to_le_bytes());
    hash.update(last);
    hash.finalize().into()
}

/// The checksum of a kept value.
pub(crate) fn kept(study: &str, kept: &Kept) -> Sum {
    let mut hash = Sha256::new();
    part(&mut hash, b"kept");
    part(&mut hash, study.as_bytes());
    part(&mut hash, kept.key.as_bytes());
    hash.update(kept.version.to_le_bytes());
    part(&mut hash, &kept.body);
    hash.finalize().into()
}
