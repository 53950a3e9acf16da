//! Lines that make a text no table are blanked out, so that what is left can be read.
//!
//! A blank line is no row, and the lines around it keep their numbers.

use memchr::{memchr, memchr_iter, memrchr};

use super::cell::{Dialect, FaultKind, after_idle_line, record};
use super::{NOT_UTF8, detect, first_row, is_header, problem};

/// Blanks the lines below the header that cannot be rows of the table; gives each with its line,
/// counted from 1, and what is wrong.
///
/// What is wrong with the header stays: the reader will say so.
pub(crate) fn mend(
    bytes: &mut [u8],
    separator: Option<u8>,
    comment: Option<u8>,
) -> Vec<(usize, String)> {
    let mut bad = blank_what_is_no_text(bytes, comment);
    bad.extend(blank_broken_rows(bytes, separator, comment));
    bad.sort_by_key(|&(line, _)| line);
    bad
}

fn blank_what_is_no_text(bytes: &mut [u8], comment: Option<u8>) -> Vec<(usize, String)> {
    let separator = b',';
    let dialect = Dialect { separator, comment };
    let mut header = 0;
    while let Some(next) = after_idle_line(bytes, header, dialect).filter(|_| header < bytes.len())
    {
        header = next;
    }
    let mut bad = Vec::new();
    let mut lines = Lines::default();
    let mut from = line_end(bytes, header);
    while let Err(wrong) = std::str::from_utf8(&bytes[from..]) {
        let at = from + wrong.valid_up_to();
        let start = memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
        bad.push((lines.of(bytes, start), NOT_UTF8.to_owned()));
        from = line_end(bytes, at);
        bytes[start..from].fill(b' ');
    }
    bad
}

fn blank_broken_rows(
    bytes: &mut [u8],
    separator: Option<u8>,
    comment: Option<u8>,
) -> Vec<(usize, String)> {
    let broken = std::str::from_utf8(bytes)
        .map_or_else(|_| Vec::new(), |text| broken(text, separator, comment));
    let mut lines = Lines::default();
    let mut bad = Vec::with_capacity(broken.len());
    for (start, reason) in broken {
        bad.push((lines.of(bytes, start), reason));
        let end = line_end(bytes, start);
        bytes[start..end].fill(b' ');
    }
    bad
}

/// Where the rows start that are none, and what is wrong with each.
fn broken(text: &str, separator: Option<u8>, comment: Option<u8>) -> Vec<(usize, String)> {
    let bytes = text.as_bytes();
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let Some(start) = first_row(text, mark, separator, comment) else {
        return Vec::new();
    };
    let separator = separator.unwrap_or_else(|| detect(text, start));
    let Ok((first, first_end)) = record(text, start, separator) else {
        return Vec::new();
    };
    let mut at = if is_header(&first) {
        first_end + 1
    } else {
        start
    };
    let dialect = Dialect { separator, comment };
    let mut broken = Vec::new();
    while at < bytes.len() {
        if let Some(next) = after_idle_line(bytes, at, dialect) {
            at = next;
            continue;
        }
        let kind = match record(text, at, separator) {
            Ok((cells, end)) if cells.len() == first.len() => {
                at = end + 1;
                continue;
            }
            Ok((cells, _)) => FaultKind::Ragged(cells.len()),
            Err(fault) => fault.kind,
        };
        broken.push((at, problem(&kind)));
        // A quote that is never closed may have swallowed good rows: only its own line is bad.
        at = line_end(bytes, at) + 1;
    }
    broken
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length)
}

/// Counts lines as far as it is asked.
#[derive(Default)]
struct Lines {
    counted: usize,
    breaks: usize,
}

impl Lines {
    /// The line of a byte, counted from 1; bytes are asked for in order.
    fn of(&mut self, bytes: &[u8], at: usize) -> usize {
        self.breaks += memchr_iter(b'\n', &bytes[self.counted..at]).count();
        self.counted = at;
        1 + self.breaks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(text: &[u8]) -> (String, Vec<usize>) {
        let mut bytes = text.to_vec();
        let bad = mend(&mut bytes, None, None);
        (
            String::from_utf8(bytes).unwrap(),
            bad.into_iter().map(|(line, _)| line).collect(),
        )
    }

    #[test]
    fn only_bad_lines_are_blanked() {
        for (text, rest, bad) in [
            (&b"a,b\n1,2\n"[..], "a,b\n1,2\n", vec![]),
            (b"a,b\n1\n3,4\n5,6,7", "a,b\n \n3,4\n     ", vec![2, 4]),
            (b"a,b\n\"1,2\n3,4\n", "a,b\n    \n3,4\n", vec![2]),
            (b"a,b\n\xff,2\n1\n3,4\n", "a,b\n   \n \n3,4\n", vec![2, 3]),
            (
                b"\xef\xbb\xbf\na\tb\n1\t2\t\n",
                "\u{feff}\na\tb\n    \n",
                vec![3],
            ),
        ] {
            assert_eq!(mended(text), (rest.to_owned(), bad));
        }
    }

    #[test]
    fn the_header_is_left_to_the_reader() {
        for text in [&b"\"a,b\n1,2\n"[..], b"", b"\n\n", b"a,b"] {
            assert_eq!(mended(text).0.as_bytes(), text);
        }
        let mut bytes = b"\xff,b\n1,2\n".to_vec();
        assert!(mend(&mut bytes, None, None).is_empty());
    }
}
