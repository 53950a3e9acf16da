//! One cell, and the lines that hold none.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::tables::number;

/// What makes a text no table, and the byte where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) kind: FaultKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum FaultKind {
    /// A quoted cell never ends.
    OpenQuote,
    /// A quoted cell is followed by more than a separator.
    AfterQuote,
    /// A row has this many cells instead of one a column.
    Ragged(usize),
    /// A row has more cells than any table has columns.
    TooWide,
}

/// More columns than this are no table; a line of separators alone could ask for gigabytes.
pub(super) const MOST_COLUMNS: usize = 1_000_000;

/// How the lines of a text are to be understood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dialect {
    /// What stands between cells.
    pub(super) separator: u8,
    /// What a line begins with that is no row, if there are such lines.
    pub(super) comment: Option<u8>,
}

/// A cell without the blanks or quotes around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell<'a> {
    inside: &'a str,
    quoted: bool,
}

impl<'a> Cell<'a> {
    pub(super) fn text(self) -> Cow<'a, str> {
        if self.quoted && self.inside.contains('"') {
            Cow::Owned(self.inside.replace("\"\"", "\""))
        } else {
            Cow::Borrowed(self.inside)
        }
    }

    /// The number, the mark of an empty cell, or nothing for other text.
    pub(super) fn number(self) -> Option<f64> {
        if self.inside.is_empty() {
            Some(number::EMPTY)
        } else {
            number::parse(self.inside.as_bytes())
        }
    }

    /// Bytes of the text, quotes inside included.
    pub(super) fn length(self) -> usize {
        self.inside.len()
    }

    pub(super) fn is_empty(self) -> bool {
        self.inside.is_empty()
    }
}

/// The cell that starts at `at`, and where the separator, line end or end of text after it stands.
pub(super) fn cell(text: &str, at: usize, separator: u8) -> Result<(Cell<'_>, usize), Fault> {
    let bytes = text.as_bytes();
    let open = after_blanks(bytes, at, separator);
    if bytes.get(open) == Some(&b'"') {
        return quoted(text, open, separator);
    }
    let end = memchr2(separator, b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
    let inside = text[at..end].trim_ascii();
    let quoted = false;
    Ok((Cell { inside, quoted }, end))
}

fn quoted(text: &str, open: usize, separator: u8) -> Result<(Cell<'_>, usize), Fault> {
    let bytes = text.as_bytes();
    let fault = |at, kind| Err(Fault { at, kind });
    let mut at = open + 1;
    let close = loop {
        let Some(length) = memchr(b'"', &bytes[at..]) else {
            return fault(open, FaultKind::OpenQuote);
        };
        at += length;
        if bytes.get(at + 1) != Some(&b'"') {
            break at;
        }
        at += 2;
    };
    let end = after_blanks(bytes, close + 1, separator);
    match bytes.get(end) {
        Some(&next) if next != separator && next != b'\n' => fault(close, FaultKind::AfterQuote),
        _ => {
            let inside = &text[open + 1..close];
            let quoted = true;
            Ok((Cell { inside, quoted }, end))
        }
    }
}

/// A number that fills its cell, read without looking for the cell's end first; most cells are such.
#[inline]
pub(super) fn plain_number(bytes: &[u8], at: usize, separator: u8) -> Option<(f64, usize)> {
    let (value, used) = number::leading(&bytes[at..])?;
    let end = at + used;
    let end = match bytes.get(end) {
        None | Some(b'\n') => end,
        Some(&next) if next == separator => end,
        Some(b'\r') if bytes.get(end + 1) == Some(&b'\n') => end + 1,
        _ => return None,
    };
    (!f64::is_nan(value)).then_some((value, end))
}

/// All cells of the record that starts at `at`, and where the line end after it stands.
pub(super) fn record(
    text: &str,
    mut at: usize,
    separator: u8,
) -> Result<(Vec<Cell<'_>>, usize), Fault> {
    let mut cells = Vec::new();
    loop {
        let (cell, end) = cell(text, at, separator)?;
        if cells.len() == MOST_COLUMNS {
            return Err(Fault {
                at,
                kind: FaultKind::TooWide,
            });
        }
        cells.push(cell);
        if text.as_bytes().get(end) != Some(&separator) {
            return Ok((cells, end));
        }
        at = end + 1;
    }
}

/// If the line at `at` is blank or a comment, where the next one starts.
#[inline]
pub(super) fn after_idle_line(bytes: &[u8], at: usize, dialect: Dialect) -> Option<usize> {
    match bytes.get(at) {
        Some(&first) if Some(first) == dialect.comment => {
            Some(memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length + 1))
        }
        // Numbers and letters come after the blank, so that a comparison settles most lines.
        Some(&first) if first > b' ' => None,
        _ => {
            let end = after_blanks(bytes, at, dialect.separator);
            match bytes.get(end) {
                None => Some(bytes.len()),
                Some(b'\n') => Some(end + 1),
                Some(_) => None,
            }
        }
    }
}

fn after_blanks(bytes: &[u8], at: usize, separator: u8) -> usize {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r') && *byte != separator;
    at + bytes[at..].iter().take_while(|byte| blank(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str, separator: u8) -> Vec<String> {
        let (cells, _) = record(text, 0, separator).unwrap();
        cells.iter().map(|cell| cell.text().into_owned()).collect()
    }

    #[test]
    fn splits_and_unquotes() {
        assert_eq!(cells("a, b ,\r\nc", b','), ["a", "b", ""]);
        assert_eq!(
            cells(" \"a,\"\"b\"\"\" ,\" \n \",5\" pipe", b','),
            ["a,\"b\"", " \n ", "5\" pipe"]
        );
        assert_eq!(cells("\t \t\"x\"\r\n", b'\t'), ["", "", "x"]);
        assert_eq!(cells("", b','), [""]);
    }

    #[test]
    fn tells_broken_quotes() {
        for (text, at, kind) in [
            ("a,\"b\n", 2, FaultKind::OpenQuote),
            ("\"", 0, FaultKind::OpenQuote),
            ("\"a\"\"", 0, FaultKind::OpenQuote),
            ("\"a\" b", 2, FaultKind::AfterQuote),
        ] {
            assert_eq!(record(text, 0, b',').unwrap_err(), Fault { at, kind });
        }
    }

    #[test]
    fn plain_numbers_fill_their_cell() {
        for (text, end) in [("1.5,2", 3), ("1.5\n", 3), ("1.5\r\n", 4), ("1.5", 3)] {
            let (value, found) = plain_number(text.as_bytes(), 0, b',').unwrap();
            assert_eq!((value.to_bits(), found), (1.5f64.to_bits(), end));
        }
        for text in ["", " 1", "1 ,", "1x", "1\r", "nan", "\"1\"", ",", "\n"] {
            assert_eq!(plain_number(text.as_bytes(), 0, b','), None, "{text}");
        }
    }

    #[test]
    fn idle_lines_are_blank_or_comments() {
        let dialect = |separator, comment| Dialect { separator, comment };
        for (text, next) in [
            ("\n1", Some(1)),
            (" \r\n1", Some(3)),
            ("\t\n", Some(2)),
            ("# 1\n2", Some(4)),
            ("#", Some(1)),
            ("", Some(0)),
            ("  ", Some(2)),
            (" 1", None),
            (",", None),
            ("\"\"", None),
            ("%", None),
        ] {
            let comments = dialect(b',', Some(b'#'));
            assert_eq!(
                after_idle_line(text.as_bytes(), 0, comments),
                next,
                "{text:?}"
            );
            let next = next.filter(|_| !text.starts_with('#'));
            let none = dialect(b',', None);
            assert_eq!(after_idle_line(text.as_bytes(), 0, none), next, "{text:?}");
        }
        assert_eq!(after_idle_line(b"\t\n", 0, dialect(b'\t', None)), None);
        assert_eq!(
            after_idle_line(b"%\n", 0, dialect(b',', Some(b'%'))),
            Some(2)
        );
    }

    #[test]
    fn no_line_has_cells_without_end() {
        let text = ",".repeat(MOST_COLUMNS);
        let fault = record(&text, 0, b',').unwrap_err();
        assert_eq!(fault.kind, FaultKind::TooWide);
        assert!(record(&text[1..], 0, b',').is_ok());
    }
}
