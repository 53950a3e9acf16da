//! The second pass: every part fills its share of the columns.

use rayon::prelude::*;

use super::cell::{Fault, FaultKind, after_idle_line, cell, plain_number, record};
use super::index::Part;
use crate::table::Values;

/// The columns of the text.
///
/// `is_text` says what the first row suggests. A column taken for numbers that turns out to hold
/// text is read again as text, so that the common case needs one pass and no intermediate strings.
pub(super) fn columns(
    text: &str,
    parts: &[Part],
    separator: u8,
    is_text: &[bool],
) -> Result<Vec<Values>, Fault> {
    let rows = parts.iter().map(|part| part.rows).sum();
    let texts = || Values::Text(vec![String::new(); rows]);
    let mut columns: Vec<Option<Values>> = is_text
        .iter()
        .map(|&is_text| {
            Some(if is_text {
                texts()
            } else {
                Values::Numbers(vec![0.0; rows])
            })
        })
        .collect();
    let wrong = fill(text, parts, separator, &mut columns)?;
    if wrong.contains(&true) {
        let mut again: Vec<Option<Values>> = Vec::with_capacity(columns.len());
        for (column, &wrong) in columns.iter_mut().zip(&wrong) {
            if wrong {
                *column = None;
            }
            again.push(wrong.then(texts));
        }
        fill(text, parts, separator, &mut again)?;
        for (column, read) in columns.iter_mut().zip(again) {
            *column = column.take().or(read);
        }
    }
    let columns = columns.into_iter().flatten();
    Ok(columns.map(Values::settled).collect())
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
    separator: u8,
    columns: &mut [Option<Values>],
) -> Result<Vec<bool>, Fault> {
    let width = columns.len();
    let filled: Vec<_> = sinks(parts, columns)
        .into_par_iter()
        .zip(parts)
        .map(|(sinks, part)| fill_part(text, part, separator, sinks))
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
    separator: u8,
    mut sinks: Vec<Sink<'_>>,
) -> Result<Vec<usize>, Fault> {
    let bytes = text.as_bytes();
    let last = sinks.len().saturating_sub(1);
    let mut wrong = Vec::new();
    let (mut at, mut row) = (part.start, 0);
    while at < part.end {
        if let Some(next) = after_idle_line(bytes, at, separator) {
            at = next;
            continue;
        }
        let row_start = at;
        for (column, sink) in sinks.iter_mut().enumerate() {
            at = fill_cell(text, at, separator, row, sink, || wrong.push(column))?;
            let more = bytes.get(at) == Some(&separator);
            if more == (column == last) {
                let (cells, _) = record(text, row_start, separator)?;
                return Err(Fault {
                    at: row_start,
                    kind: FaultKind::Ragged(cells.len()),
                });
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
    at: usize,
    separator: u8,
    row: usize,
    sink: &mut Sink<'_>,
    is_text: impl FnOnce(),
) -> Result<usize, Fault> {
    if let Sink::Numbers(numbers) = sink
        && let Some((value, end)) = plain_number(text.as_bytes(), at, separator)
    {
        numbers[row] = value;
        return Ok(end);
    }
    let (cell, end) = cell(text, at, separator)?;
    match sink {
        Sink::Nowhere => {}
        Sink::Text(texts) => texts[row] = cell.text().into_owned(),
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
