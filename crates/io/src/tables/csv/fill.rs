//! The second pass: every part fills its share of the columns.

use rayon::prelude::*;

use super::cell::{Dialect, Fault, FaultKind, after_idle_line, cell, plain_number, record};
use super::index::Part;
use crate::tables::limit::{Exceeded, MemoryLimit, NUMBER, SHORT_TEXT, TEXT};
use crate::tables::table::Values;

/// What the cells of a column are read as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// Numbers, until a cell says otherwise.
    Numbers,
    Text,
    /// Nothing: nobody wants the column.
    Unread,
}

/// Why columns are not read.
#[derive(Debug)]
pub(super) enum Failure {
    Text(Fault),
    Memory(Exceeded),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Text(fault)
    }
}

impl From<Exceeded> for Failure {
    fn from(exceeded: Exceeded) -> Self {
        Self::Memory(exceeded)
    }
}

/// The columns of the text that are read.
///
/// `kinds` says what the first row suggests. A column taken for numbers that turns out to hold
/// text is read again as text, so that the common case needs one pass and no intermediate strings.
pub(super) fn columns(
    text: &str,
    parts: &[Part],
    dialect: Dialect,
    kinds: &[Kind],
    limit: &MemoryLimit,
) -> Result<Vec<Values>, Failure> {
    let rows = parts.iter().map(|part| part.rows).sum();
    let count = |kind: Kind| kinds.iter().filter(|&&known| known == kind).count();
    limit.take(size(rows, count(Kind::Numbers), NUMBER))?;
    limit.take(size(rows, count(Kind::Text), TEXT))?;
    let texts = || Values::Text(vec![String::new(); rows]);
    let mut columns: Vec<Option<Values>> = kinds
        .iter()
        .map(|kind| match kind {
            Kind::Numbers => Some(Values::Numbers(vec![0.0; rows])),
            Kind::Text => Some(texts()),
            Kind::Unread => None,
        })
        .collect();
    let wrong = fill(text, parts, dialect, &mut columns, limit)?;
    if wrong.contains(&true) {
        let again = wrong.iter().filter(|&&wrong| wrong).count();
        limit.take(size(rows, again, TEXT - NUMBER))?;
        let mut again: Vec<Option<Values>> = Vec::with_capacity(columns.len());
        for (column, &wrong) in columns.iter_mut().zip(&wrong) {
            if wrong {
                *column = None;
            }
            again.push(wrong.then(texts));
        }
        fill(text, parts, dialect, &mut again, limit)?;
        for (column, read) in columns.iter_mut().zip(again) {
            *column = column.take().or(read);
        }
    }
    let columns = columns.into_iter().flatten();
    let settled = columns.map(|values| Ok(values.settled(limit)?));
    settled.collect()
}

/// Bytes that so many columns take.
fn size(rows: usize, columns: usize, cell: u64) -> u64 {
    (rows as u64)
        .saturating_mul(columns as u64)
        .saturating_mul(cell)
}

/// Where a part puts the cells of one column.
enum Sink<'a> {
    Numbers(&'a mut [f64]),
    Text(&'a mut [String]),
    Nowhere,
}

/// Fills the columns that are there and tells which of them are not numbers after all.
fn fill(
    text: &str,
    parts: &[Part],
    dialect: Dialect,
    columns: &mut [Option<Values>],
    limit: &MemoryLimit,
) -> Result<Vec<bool>, Failure> {
    let width = columns.len();
    let filled: Vec<_> = sinks(parts, columns)
        .into_par_iter()
        .zip(parts)
        .map(|(sinks, part)| fill_part(text, part, dialect, sinks, limit))
        .collect();
    let mut wrong = vec![false; width];
    // In the order of the file, so that the first fault is the one reported.
    for part in filled {
        for column in part? {
            wrong[column] = true;
        }
    }
    Ok(wrong)
}

/// Hands each part its rows of every column.
fn sinks<'a>(parts: &[Part], columns: &'a mut [Option<Values>]) -> Vec<Vec<Sink<'a>>> {
    let mut sinks: Vec<Vec<Sink<'a>>> = parts
        .iter()
        .map(|_| Vec::with_capacity(columns.len()))
        .collect();
    for column in columns {
        let mut rest = match column {
            Some(Values::Numbers(numbers)) => Sink::Numbers(numbers),
            Some(Values::Text(texts)) => Sink::Text(texts),
            None => Sink::Nowhere,
        };
        for (part, sinks) in parts.iter().zip(&mut sinks) {
            let (own, others) = match rest {
                Sink::Numbers(numbers) => {
                    let (own, others) = numbers.split_at_mut(part.rows);
                    (Sink::Numbers(own), Sink::Numbers(others))
                }
                Sink::Text(texts) => {
                    let (own, others) = texts.split_at_mut(part.rows);
                    (Sink::Text(own), Sink::Text(others))
                }
                Sink::Nowhere => (Sink::Nowhere, Sink::Nowhere),
            };
            sinks.push(own);
            rest = others;
        }
    }
    sinks
}

fn fill_part(
    text: &str,
    part: &Part,
    dialect: Dialect,
    mut sinks: Vec<Sink<'_>>,
    limit: &MemoryLimit,
) -> Result<Vec<usize>, Failure> {
    let bytes = text.as_bytes();
    let separator = dialect.separator;
    let last = sinks.len().saturating_sub(1);
    let mut wrong = Vec::new();
    let (mut at, mut row) = (part.start, 0);
    while at < part.end {
        if let Some(next) = after_idle_line(bytes, at, dialect) {
            at = next;
            continue;
        }
        let row_start = at;
        for (column, sink) in sinks.iter_mut().enumerate() {
            let place = (at, row);
            at = fill_cell(text, place, separator, sink, limit, || wrong.push(column))?;
            let more = bytes.get(at) == Some(&separator);
            if more == (column == last) {
                let (cells, _) = record(text, row_start, separator)?;
                return Err(Failure::Text(Fault {
                    at: row_start,
                    kind: FaultKind::Ragged(cells.len()),
                }));
            }
            at += 1;
        }
        row += 1;
    }
    Ok(wrong)
}

/// Stores one cell and gives where its separator or line end stands.
#[inline]
fn fill_cell(
    text: &str,
    (at, row): (usize, usize),
    separator: u8,
    sink: &mut Sink<'_>,
    limit: &MemoryLimit,
    is_text: impl FnOnce(),
) -> Result<usize, Failure> {
    if let Sink::Numbers(numbers) = sink
        && let Some((value, end)) = plain_number(text.as_bytes(), at, separator)
    {
        numbers[row] = value;
        return Ok(end);
    }
    let (cell, end) = cell(text, at, separator)?;
    match sink {
        Sink::Nowhere => {}
        Sink::Text(texts) => {
            // What a text of a few letters takes has been counted.
            if cell.length() as u64 > SHORT_TEXT {
                limit.take(cell.length() as u64)?;
            }
            texts[row] = cell.text().into_owned();
        }
        Sink::Numbers(numbers) => match cell.number() {
            Some(value) => numbers[row] = value,
            None => {
                is_text();
                *sink = Sink::Nowhere;
            }
        },
    }
    Ok(end)
}
