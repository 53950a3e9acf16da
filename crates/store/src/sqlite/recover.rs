//! What is intact in a damaged file, copied into a new one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::params;

use super::failure::Place;
use super::pages::{Cell, Pages, Value};
use super::{Sqlite, write};
use crate::chain::{self, BYTES, Stored};
use crate::error::Result;
use crate::log::{Head, LOST, Record};

/// What was found in a damaged file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The studies, by name.
    pub studies: Vec<RecoveredStudy>,
    /// Records that belong to no study whose name was found.
    pub nameless: usize,
}

/// What was found of a study.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecoveredStudy {
    /// Its name.
    pub study: String,
    /// Records that were copied.
    pub copied: u64,
    /// Versions of the records that are lost; in the new file a record of the kind [`LOST`] stands for each.
    pub lost: Vec<u64>,
    /// Versions of records that were copied without all of their rows: reading those is an error.
    pub without_rows: Vec<u64>,
    /// Whether it is known how many records there were; if not, later ones may be lost too.
    pub end_known: bool,
}

/// Copies every intact record of a damaged or cut file into a new one, under the same versions. The damaged
/// file is only read.
///
/// # Errors
/// A file that cannot be read; a new one that is there already or cannot be written.
pub fn recover(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Recovered> {
    let (old, new) = (Place::new(from.as_ref()), Place::new(to.as_ref()));
    old.must_exist()?;
    if new.path().exists() {
        return Err(new.problem("it is there already: name a new file"));
    }
    let failed = |error: std::io::Error| old.problem(format!("it cannot be read ({error})"));
    let mut pages = Pages::open(old.path()).map_err(failed)?;
    let found = Found::scan(&mut pages);
    let mut store = Sqlite::create_or_open(new.path())?;
    let mut recovered = Recovered::default();
    let transaction = store.write()?;
    let mut used = BTreeSet::new();
    for (name, (numbers, versions)) in found.studies(&mut pages) {
        let mut copy = Copy {
            connection: &transaction,
            place: &new,
            pages: &mut pages,
            found: &found,
            used: &mut used,
        };
        if let Some(study) = copy.study(&name, &numbers, versions)? {
            recovered.studies.push(study);
        }
    }
    let all: BTreeSet<(i64, u64)> = found.records.keys().copied().collect();
    recovered.nameless = all.difference(&used).count();
    let done = transaction.commit();
    done.map_err(|error| new.committing(&error))?;
    Ok(recovered)
}

/// Where everything lies. There may be several candidates: old copies of pages stay in a file.
#[derive(Default)]
struct Found {
    heads: Vec<Cell>,
    names: BTreeSet<(i64, String)>,
    records: BTreeMap<(i64, u64), Vec<Cell>>,
    chunks: BTreeMap<(i64, u64, u64), Vec<Cell>>,
}

impl Found {
    /// Looks at all pages. Rows are told apart by their columns.
    fn scan(pages: &mut Pages) -> Self {
        let mut found = Self::default();
        for place in 0..pages.len() {
            let (cells, index) = pages.cells(place);
            for cell in cells {
                for newest in [true, false] {
                    if let Some((number, values)) = pages.row(cell, index, newest) {
                        found.sort(cell, number, &values);
                        break;
                    }
                }
            }
        }
        found
    }

    fn sort(&mut self, cell: Cell, number: i64, values: &[Value]) {
        use Value::{Bytes, Integer as I, Null, Text};
        let version = |number: i64| u64::try_from(number).unwrap_or(0);
        match values {
            [Null, Text(name), I(_), I(_), I(_), Bytes(_), Bytes(_)] => {
                self.heads.push(cell);
                self.name(number, name);
            }
            [Text(name), I(number)] => self.name(*number, name),
            [
                I(study),
                I(at),
                I(_),
                Text(_),
                Text(_),
                Bytes(_),
                Bytes(_),
                Bytes(_),
                Bytes(_),
            ] => {
                let key = (*study, version(*at));
                self.records.entry(key).or_default().push(cell);
            }
            [I(study), I(at), I(place), Bytes(_)] => {
                let key = (*study, version(*at), version(*place));
                self.chunks.entry(key).or_default().push(cell);
            }
            _ => {}
        }
    }

    fn name(&mut self, number: i64, name: &[u8]) {
        if let Ok(name) = String::from_utf8(name.to_vec()) {
            self.names.insert((number, name));
        }
    }

    /// The studies by name: the numbers under which their records may be, and how many those are, if a head
    /// that is intact says so.
    fn studies(&self, pages: &mut Pages) -> BTreeMap<String, (BTreeSet<i64>, Option<u64>)> {
        let mut studies: BTreeMap<String, (BTreeSet<i64>, Option<u64>)> = BTreeMap::new();
        for (number, name) in &self.names {
            let known = studies.entry(name.clone()).or_default();
            known.0.insert(*number);
        }
        for cell in &self.heads {
            let row = pages.row(*cell, false, true);
            if let Some(head) = row.and_then(|(_, values)| head(&values)) {
                let known = studies.entry(head.study).or_default();
                known.1 = known.1.max(Some(head.version));
            }
        }
        studies
    }
}

/// The head of a study, if its checksum fits.
fn head(values: &[Value]) -> Option<Head> {
    use Value::{Bytes, Integer as I, Text};
    let [
        _,
        Text(name),
        I(version),
        I(created_us),
        I(changed_us),
        Bytes(last),
        Bytes(sum),
    ] = values
    else {
        return None;
    };
    let head = Head {
        study: String::from_utf8(name.clone()).ok()?,
        version: u64::try_from(*version).ok()?,
        created_us: *created_us,
        changed_us: *changed_us,
    };
    (chain::head(&head, last) == sum.as_slice()).then_some(head)
}

/// A record of a study, if its checksum fits.
fn record(study: &str, values: Vec<Value>) -> Option<Stored> {
    use Value::{Bytes, Integer as I, Text};
    let values: [Value; 9] = values.try_into().ok()?;
    let [
        I(_),
        I(version),
        I(time_us),
        Text(author),
        Text(kind),
        Bytes(before),
        Bytes(sum),
        Bytes(chunks),
        Bytes(body),
    ] = values
    else {
        return None;
    };
    let record = Record {
        version: u64::try_from(version).ok()?,
        time_us,
        author: String::from_utf8(author).ok()?,
        kind: String::from_utf8(kind).ok()?,
        body,
        row_chunks: chunks.len() / BYTES,
    };
    let stored = Stored {
        record,
        chunks,
        before,
        sum,
    };
    (stored.sum == stored.expected(study)).then_some(stored)
}

/// Copies studies into a new file.
struct Copy<'a> {
    connection: &'a rusqlite::Connection,
    place: &'a Place,
    pages: &'a mut Pages,
    found: &'a Found,
    used: &'a mut BTreeSet<(i64, u64)>,
}

impl Copy<'_> {
    /// Copies a study; nothing if no record of it is intact and no head says that it was there.
    fn study(
        &mut self,
        name: &str,
        numbers: &BTreeSet<i64>,
        versions: Option<u64>,
    ) -> Result<Option<RecoveredStudy>> {
        let (mut number, mut good) = (0, Vec::new());
        for candidate in numbers {
            let intact = self.intact(name, *candidate);
            if intact.len() > good.len() {
                (number, good) = (*candidate, intact);
            }
        }
        self.used
            .extend(good.iter().map(|version| (number, *version)));
        let end = versions.unwrap_or(0).max(good.last().copied().unwrap_or(0));
        if end == 0 {
            return Ok(None);
        }
        let mut study = RecoveredStudy {
            study: name.to_owned(),
            copied: good.len() as u64,
            lost: Vec::new(),
            without_rows: Vec::new(),
            end_known: versions.is_some(),
        };
        self.fill(number, end, &mut study)?;
        Ok(Some(study))
    }

    /// The versions of the records of a number that are intact records of the study.
    fn intact(&mut self, name: &str, number: i64) -> Vec<u64> {
        let found = self.found;
        let candidates = found.records.range((number, 0)..=(number, u64::MAX));
        let mut good = Vec::new();
        for ((_, version), cells) in candidates {
            let stored = self.record(name, cells);
            if stored.is_some_and(|stored| stored.record.version == *version) {
                good.push(*version);
            }
        }
        good
    }

    /// Writes the records 1 to `end`, chained anew, with a mark for each that is lost.
    fn fill(&mut self, number: i64, end: u64, study: &mut RecoveredStudy) -> Result<()> {
        let place = self.place;
        let failed = |error| place.writing(&error);
        let sql = "INSERT INTO study (name, version, created_us, changed_us, last, sum) VALUES (?1, 0, 0, 0, x'', x'')";
        self.connection
            .execute(sql, [&study.study])
            .map_err(failed)?;
        let id = self.connection.last_insert_rowid();
        let mut head = Head {
            study: study.study.clone(),
            version: end,
            created_us: 0,
            changed_us: 0,
        };
        let mut last = chain::FIRST.to_vec();
        for version in 1..=end {
            let cells = self.found.records.get(&(number, version));
            let stored = cells.and_then(|cells| self.record(&study.study, cells));
            let mut stored = match stored {
                Some(stored) => stored,
                None => {
                    study.lost.push(version);
                    lost(version, head.changed_us)
                }
            };
            stored.before.clone_from(&last);
            stored.sum = stored.expected(&study.study).to_vec();
            last.clone_from(&stored.sum);
            head.changed_us = stored.record.time_us;
            if version == 1 {
                head.created_us = stored.record.time_us;
            }
            write::record(self.connection, id, &stored).map_err(failed)?;
            if !self.chunks(number, id, &stored)? {
                study.without_rows.push(version);
            }
        }
        let sql = "UPDATE study SET version = ?2, created_us = ?3, changed_us = ?4, last = ?5, sum = ?6 WHERE id = ?1";
        let sum = chain::head(&head, &last);
        let values = params![id, end, head.created_us, head.changed_us, last, sum];
        self.connection.execute(sql, values).map_err(failed)?;
        Ok(())
    }

    /// The first intact copy of a record.
    fn record(&mut self, study: &str, cells: &[Cell]) -> Option<Stored> {
        let tries = cells
            .iter()
            .flat_map(|cell| [(*cell, true), (*cell, false)]);
        for (cell, newest) in tries {
            let row = self.pages.row(cell, false, newest);
            let stored = row.and_then(|(_, values)| record(study, values));
            if stored.is_some() {
                return stored;
            }
        }
        None
    }

    /// Copies the rows of a record, and says whether all of them were there.
    fn chunks(&mut self, number: i64, id: i64, stored: &Stored) -> Result<bool> {
        let version = stored.record.version;
        let mut whole = true;
        for place in 0..stored.record.row_chunks {
            let cells = self.found.chunks.get(&(number, version, place as u64));
            let tries = cells
                .into_iter()
                .flatten()
                .flat_map(|cell| [(*cell, true), (*cell, false)]);
            let mut bytes = None;
            for (cell, newest) in tries {
                let row = self.pages.row(cell, false, newest);
                if let Some(Value::Bytes(found)) = row.and_then(|(_, mut values)| values.pop())
                    && chain::of(&found) == stored.chunk(place)
                {
                    bytes = Some(found);
                    break;
                }
            }
            match bytes {
                None => whole = false,
                Some(bytes) => write::chunk(self.connection, id, version, place, &bytes)
                    .map_err(|error| self.place.writing(&error))?,
            }
        }
        Ok(whole)
    }
}

/// What stands for a lost record.
fn lost(version: u64, time_us: i64) -> Stored {
    Stored {
        record: Record {
            version,
            time_us,
            author: "taskscout".into(),
            kind: LOST.into(),
            body: Vec::new(),
            row_chunks: 0,
        },
        chunks: Vec::new(),
        before: Vec::new(),
        sum: Vec::new(),
    }
}
