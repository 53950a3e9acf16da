//! The first pass: where the rows are, so that the second can fill the columns in parallel.

use memchr::{memchr, memchr_iter, memchr2};
use rayon::prelude::*;

use super::cell::{Dialect, Fault, after_idle_line, cell};
use crate::tables::lines::Lines;

/// A run of whole rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// The first byte.
    pub(super) start: usize,
    /// The byte after the last.
    pub(super) end: usize,
    pub(super) rows: usize,
    line_count: usize,
    lines: Lines,
}

/// Cuts the text from `start` into parts of about `size` bytes.
///
/// Without quotes a line end is the end of a row wherever one looks, and parts are found in
/// parallel. With quotes only a walk from the beginning can tell.
pub(super) fn parts(
    text: &str,
    start: usize,
    dialect: Dialect,
    size: usize,
) -> Result<Vec<Part>, Fault> {
    let bytes = text.as_bytes();
    if memchr(b'"', &bytes[start..]).is_some() {
        let mut parts = Vec::new();
        let mut at = start;
        while at < bytes.len() {
            let part = part(text, at, at + size, dialect, true)?;
            at = part.end;
            parts.push(part);
        }
        return Ok(parts);
    }
    let mut starts = vec![start];
    let mut at = start + size;
    while let Some(length) = bytes.get(at..).and_then(|rest| memchr(b'\n', rest)) {
        at += length + 1;
        starts.push(at);
        at += size;
    }
    starts.push(bytes.len());
    starts
        .par_windows(2)
        .map(|ends| part(text, ends[0], ends[1], dialect, false))
        .collect()
}

/// The rows that start before `target`.
fn part(
    text: &str,
    start: usize,
    target: usize,
    dialect: Dialect,
    quotes: bool,
) -> Result<Part, Fault> {
    let bytes = text.as_bytes();
    let target = target.min(bytes.len());
    let mut lines = Lines::default();
    let (mut at, mut rows, mut line) = (start, 0, 0);
    while at < target {
        if let Some(next) = after_idle_line(bytes, at, dialect) {
            at = next;
            line += 1;
            continue;
        }
        lines.push(rows, line);
        let end = row_end(text, at, dialect.separator, quotes)?;
        line += 1;
        if quotes {
            line += memchr_iter(b'\n', &bytes[at..end]).count();
        }
        rows += 1;
        at = (end + 1).min(bytes.len());
    }
    Ok(Part {
        start,
        end: at,
        rows,
        line_count: line,
        lines,
    })
}

/// Where the line end after the row stands, or the end of the text.
fn row_end(text: &str, mut at: usize, separator: u8, quotes: bool) -> Result<usize, Fault> {
    let bytes = text.as_bytes();
    loop {
        let rest = &bytes[at..];
        let found = if quotes {
            memchr2(b'\n', b'"', rest)
        } else {
            memchr(b'\n', rest)
        };
        match found {
            // Cell by cell as long as a quote lies ahead: only its place tells what it means.
            Some(length) if rest[length] == b'"' => {
                let (_, end) = cell(text, at, separator)?;
                if bytes.get(end) != Some(&separator) {
                    return Ok(end);
                }
                at = end + 1;
            }
            Some(length) => return Ok(at + length),
            None => return Ok(bytes.len()),
        }
    }
}

/// The lines of all rows, the first part beginning at the given line.
pub(super) fn lines(parts: &[Part], first_line: usize) -> Lines {
    let mut all = Lines::default();
    let (mut rows, mut line) = (0, first_line);
    for part in parts {
        all.append(&part.lines, rows, line);
        rows += part.rows;
        line += part.line_count;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_and_lines(text: &str, size: usize) -> (usize, Vec<usize>) {
        let dialect = Dialect {
            separator: b',',
            comment: Some(b'#'),
        };
        let parts = parts(text, 0, dialect, size).unwrap();
        assert_eq!(parts.first().map_or(0, |part| part.start), 0);
        for pair in parts.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
        }
        assert_eq!(parts.last().map_or(0, |part| part.end), text.len());
        let rows = parts.iter().map(|part| part.rows).sum();
        let lines = lines(&parts, 1);
        (rows, (0..rows).filter_map(|row| lines.of(row)).collect())
    }

    #[test]
    fn parts_of_any_size_find_the_same_rows() {
        for size in 1..40 {
            let plain = "1,2\n\n# note\n3,4\r\n  \n5,6\n7,8";
            assert_eq!(rows_and_lines(plain, size), (4, vec![1, 4, 6, 7]));
            let quoted = "1,2\n\"a\n\n#b\",2\n3,\"\"\n\n\"\"\"\n\",1\n";
            assert_eq!(rows_and_lines(quoted, size), (4, vec![1, 2, 5, 7]));
        }
        assert_eq!(rows_and_lines("\n\n", 1).0, 0);
        assert_eq!(rows_and_lines("", 1).0, 0);
    }
}
