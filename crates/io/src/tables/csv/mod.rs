//! Tables from CSV.
//!
//! Cells are separated by commas; where the first line has none, by tabs or semicolons. Quotes are
//! as in RFC 4180. Blank lines are skipped, and lines that begin with a comment character if a caller
//! gives one; blanks around cells are dropped, and a first line of nothing but numbers means that
//! there is no header.
//!
//! Reading takes two passes, both in parallel: one finds the rows, one parses the cells straight
//! into the columns.

mod cell;
mod fill;
mod index;
mod mend;

use memchr::memchr_iter;

use self::cell::{Cell, Dialect, Fault, FaultKind, MOST_COLUMNS, after_idle_line, record};
use self::fill::{Failure, Kind};
pub(crate) use self::mend::mend;
use crate::tables::error::{Error, Result};
use crate::tables::names;
use crate::tables::read::ReadOptions;
use crate::tables::table::{Column, Table};

/// What is said of bytes that are no text.
const NOT_UTF8: &str = "this is not UTF-8 text; save the table as CSV in UTF-8";
/// Bytes that one thread parses at a time.
pub(crate) const CHUNK: usize = 1 << 20;
/// Rows that a chunk should hold even in a very wide table, to pay for handing it out.
const ROWS_IN_CHUNK: usize = 64;

/// Reads a table; the separator is detected where none is given.
pub(crate) fn read(
    bytes: &[u8],
    name: &str,
    separator: Option<u8>,
    chunk: usize,
    options: &ReadOptions<'_>,
) -> Result<Table> {
    let text = utf8(bytes, name)?;
    let located = |fault: Fault| error(text, name, &fault);
    let comment = options.comment;
    let Some(start) = first_row(text, 0, separator, comment) else {
        return Err(Error::Empty {
            table: name.to_owned(),
            problem: "is empty: give it a header line and at least one row",
        });
    };
    let separator = separator.unwrap_or_else(|| detect(text, start));
    let dialect = Dialect { separator, comment };
    let (first, first_end) = record(text, start, separator).map_err(located)?;
    let has_header = is_header(&first);
    let names = column_names(&first, has_header);
    names::check(names.iter().map(String::as_str), name)?;

    let body = if has_header { first_end + 1 } else { start };
    let Some(second) = first_row(text, body, Some(separator), comment) else {
        return Err(Error::Empty {
            table: name.to_owned(),
            problem: "has a header but no rows: add at least one row below the header",
        });
    };
    let (cells, _) = record(text, second, separator).map_err(located)?;
    let kinds = kinds(&names, &cells, options);

    let size = chunk.max(ROWS_IN_CHUNK.min(chunk) * (first_end - start));
    let parts = index::parts(text, body, dialect, size).map_err(located)?;
    let columns = options
        .limited(|limit| fill::columns(text, &parts, dialect, &kinds, limit))
        .map_err(|failure| refused(text, name, failure, names.len()))?;
    let rows = parts.iter().map(|part| part.rows).sum();
    let lines = Some(index::lines(&parts, line(text, body)));
    let read = names.iter().zip(kinds);
    let read = read.filter(|&(_, kind)| kind != Kind::Unread);
    let columns = read
        .zip(columns)
        .map(|((name, _), values)| Column {
            name: name.clone(),
            values,
        })
        .collect();
    Ok(Table {
        name: name.to_owned(),
        rows,
        columns,
        skipped: Vec::new(),
        names,
        lines,
    })
}

/// What each column is read as, by what is wanted and by the cells of the first row.
fn kinds(names: &[String], cells: &[Cell<'_>], options: &ReadOptions<'_>) -> Vec<Kind> {
    let kind = |(index, name): (usize, &String)| {
        // A row of another length is refused when its turn comes.
        let is_number = cells.get(index).is_none_or(|cell| cell.number().is_some());
        if !options.wants(name) {
            Kind::Unread
        } else if options.is_text(name) || !is_number {
            Kind::Text
        } else {
            Kind::Numbers
        }
    };
    names.iter().enumerate().map(kind).collect()
}

/// Why the cells were not read.
fn refused(text: &str, name: &str, failure: Failure, expected: usize) -> Error {
    match failure {
        Failure::Memory(exceeded) => Error::TooLarge {
            table: name.to_owned(),
            problem: exceeded.problem("its cells"),
        },
        Failure::Text(Fault {
            at,
            kind: FaultKind::Ragged(found),
        }) => Error::Ragged {
            table: name.to_owned(),
            line: line(text, at),
            found,
            expected,
            remedy: ragged_remedy(text, at),
        },
        Failure::Text(fault) => error(text, name, &fault),
    }
}

/// What to do about a row of another length than the first line.
fn ragged_remedy(text: &str, at: usize) -> &'static str {
    let remark = |at: usize| text.as_bytes().get(at) == Some(&b'#');
    if remark(0) || remark(at) {
        "a line that begins with # is a row like any other unless the comment character # is given, so give it (--comment '#') or complete the row"
    } else {
        "complete the row, or quote cells that contain the separator"
    }
}

fn utf8<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str> {
    let text = std::str::from_utf8(bytes).map_err(|wrong| Error::Line {
        table: name.to_owned(),
        line: 1 + memchr_iter(b'\n', &bytes[..wrong.valid_up_to()]).count(),
        problem: NOT_UTF8.into(),
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Where the next line stands that is neither blank nor a comment.
fn first_row(
    text: &str,
    mut at: usize,
    separator: Option<u8>,
    comment: Option<u8>,
) -> Option<usize> {
    let bytes = text.as_bytes();
    let separator = separator.unwrap_or(b',');
    let dialect = Dialect { separator, comment };
    while at < bytes.len() {
        match after_idle_line(bytes, at, dialect) {
            Some(next) => at = next,
            None => return Some(at),
        }
    }
    None
}

/// The first separator that splits the record at `start`; quoted text does not count.
fn detect(text: &str, start: usize) -> u8 {
    let splits =
        |&separator: &u8| record(text, start, separator).is_ok_and(|(cells, _)| cells.len() > 1);
    let mut candidates = [b',', b'\t', b';'].into_iter();
    candidates.find(splits).unwrap_or(b',')
}

/// Whether the first record holds names: anything that is neither a number nor empty.
fn is_header(first: &[Cell<'_>]) -> bool {
    first.iter().any(|cell| cell.number().is_none()) || first.iter().all(|cell| cell.is_empty())
}

fn column_names(first: &[Cell<'_>], has_header: bool) -> Vec<String> {
    if has_header {
        first.iter().map(|cell| cell.text().trim().into()).collect()
    } else {
        (1..=first.len()).map(|index| format!("c{index}")).collect()
    }
}

/// The line, counted from 1, on which a byte stands.
fn line(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    1 + memchr_iter(b'\n', before).count()
}

fn error(text: &str, name: &str, fault: &Fault) -> Error {
    Error::Line {
        table: name.to_owned(),
        line: line(text, fault.at),
        problem: problem(&fault.kind),
    }
}

fn problem(kind: &FaultKind) -> String {
    match kind {
        FaultKind::OpenQuote => "the quotation mark is never closed; close it or remove it".into(),
        FaultKind::AfterQuote => {
            "text follows the closing quotation mark; double the marks inside a cell".into()
        }
        FaultKind::Ragged(found) => format!("there are {found} cells; complete the row"),
        FaultKind::TooWide => format!(
            "there are more than {MOST_COLUMNS} cells, the most that a row may have; split the table"
        ),
    }
}

#[cfg(test)]
mod tests;
