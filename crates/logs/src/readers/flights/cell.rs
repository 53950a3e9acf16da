//! Cells of a flight log: where they end, and the lists inside them.

use memchr::{memchr, memchr2};
use taskscout_io::tables::{leading_number, parse_number};

/// What keeps a line from being cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Broken {
    /// A quotation mark is never closed.
    OpenQuote,
    /// Text follows a closing quotation mark.
    AfterQuote,
}

impl Broken {
    /// What is wrong, after the name of the line.
    pub(super) fn problem(self) -> &'static str {
        match self {
            Self::OpenQuote => {
                "has a quotation mark that is never closed: the line may be cut off, so complete or remove it"
            }
            Self::AfterQuote => {
                "has text after a closing quotation mark: the line may be damaged, so repair or remove it"
            }
        }
    }
}

/// Where the separator, line end or end of file stands after the cell at `at`, and where the cell's
/// content starts and ends.
#[inline]
pub(super) fn bounds(bytes: &[u8], at: usize) -> Result<(usize, (usize, usize)), Broken> {
    let open = after_blanks(bytes, at);
    if bytes.get(open) != Some(&b'"') {
        let end = memchr2(b',', b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
        return Ok((end, (at, end)));
    }
    let mut close = open + 1;
    loop {
        let length = memchr(b'"', &bytes[close..]).ok_or(Broken::OpenQuote)?;
        close += length;
        if bytes.get(close + 1) != Some(&b'"') {
            break;
        }
        close += 2;
    }
    let end = after_blanks(bytes, close + 1);
    match bytes.get(end) {
        None | Some(b',' | b'\n') => Ok((end, (open + 1, close))),
        Some(_) => Err(Broken::AfterQuote),
    }
}

/// Reads a well-formed cell `"[1, 2, 3]"` into `values` and gives where the separator after it
/// stands; nothing if it is anything else.
#[inline]
pub(super) fn quick_list(bytes: &[u8], at: usize, values: &mut [f64]) -> Option<usize> {
    let quoted = bytes.get(at) == Some(&b'"');
    let mut at = at + usize::from(quoted);
    at = expect(bytes, at, b'[')?;
    let last = values.len().checked_sub(1)?;
    // Without quotes, commas end the cell.
    if !quoted && last > 0 {
        return None;
    }
    for (index, slot) in values.iter_mut().enumerate() {
        at = after_spaces(bytes, at);
        let (value, used) = leading_number(&bytes[at..])?;
        if !value.is_finite() {
            return None;
        }
        *slot = value;
        at = after_spaces(bytes, at + used);
        at = expect(bytes, at, if index == last { b']' } else { b',' })?;
    }
    if quoted {
        at = expect(bytes, at, b'"')?;
    }
    at_end(bytes, at)
}

/// Reads a number that fills its cell, quoted or not; nothing if the cell holds anything else.
#[inline]
pub(super) fn quick_number(bytes: &[u8], at: usize) -> Option<(f64, usize)> {
    let quoted = bytes.get(at) == Some(&b'"');
    let start = at + usize::from(quoted);
    let (value, used) = leading_number(&bytes[start..])?;
    let mut at = start + used;
    if quoted {
        at = expect(bytes, at, b'"')?;
    }
    Some((value, at_end(bytes, at)?)).filter(|_| value.is_finite())
}

/// Reads the content of a cell as a list, at leisure; says what is wrong with it.
pub(super) fn list(content: &[u8], values: &mut [f64]) -> Result<(), String> {
    let content = content.trim_ascii();
    if content.is_empty() {
        return Err("is empty: repair or remove the row".into());
    }
    let inside = content
        .strip_prefix(b"[")
        .and_then(|rest| rest.strip_suffix(b"]"));
    let Some(inside) = inside else {
        return Err(format!(
            "holds `{}`, which is not a list of {} numbers: write it like \"[1.5, 2, 3]\"",
            shortened(content),
            values.len()
        ));
    };
    let parts: Vec<&[u8]> = if inside.trim_ascii().is_empty() {
        Vec::new()
    } else {
        inside.split(|&byte| byte == b',').collect()
    };
    if parts.len() != values.len() {
        return Err(format!(
            "holds a list of {} where {} numbers are needed: repair or remove the row",
            parts.len(),
            values.len()
        ));
    }
    for (part, slot) in parts.into_iter().zip(values) {
        *slot = number(part)?;
    }
    Ok(())
}

/// Reads a cell or a part of a list as a number; says what is wrong with it.
pub(super) fn number(content: &[u8]) -> Result<f64, String> {
    if content.trim_ascii().is_empty() {
        return Err("is empty: repair or remove the row".into());
    }
    match parse_number(content) {
        Some(value) if value.is_finite() => Ok(value),
        Some(value) => Err(format!(
            "is {}: every value must be finite, so repair or remove the row",
            if value.is_nan() { "nan" } else { "infinite" }
        )),
        None => Err(format!(
            "holds `{}`, which is not a number: repair or remove the row",
            shortened(content.trim_ascii())
        )),
    }
}

/// If the line at `at` is blank, where the next one starts.
#[inline]
pub(super) fn after_blank_line(bytes: &[u8], at: usize) -> Option<usize> {
    let end = after_blanks(bytes, at);
    match bytes.get(end) {
        None => Some(bytes.len()),
        Some(b'\n') => Some(end + 1),
        Some(_) => None,
    }
}

/// Where the line after the byte starts, or the end of the file.
pub(super) fn next_line(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length + 1)
}

/// A cell as it may stand in a message: one line, and not too long.
pub(super) fn shortened(content: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(content).replace(['\n', '\r'], " ");
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

#[inline]
fn expect(bytes: &[u8], at: usize, wanted: u8) -> Option<usize> {
    (bytes.get(at) == Some(&wanted)).then_some(at + 1)
}

/// The place itself, if a cell may end there; past the carriage return of a line that has one.
#[inline]
fn at_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at) {
        None | Some(b',' | b'\n') => Some(at),
        Some(b'\r') if matches!(bytes.get(at + 1), None | Some(b'\n')) => Some(at + 1),
        Some(_) => None,
    }
}

#[inline]
fn after_blanks(bytes: &[u8], at: usize) -> usize {
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
    at + bytes[at..].iter().take_while(blank).count()
}

#[inline]
fn after_spaces(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_quick_way_and_the_slow_agree() {
        for text in [
            "\"[1, 2.5]\"",
            "\"[1,2.5]\"",
            "\"[ 1 ,\n 2.5 ]\"",
            "\"[1.0, 2.5]\"\r\n",
            "\"[+1, 25e-1]\",",
        ] {
            let bytes = text.as_bytes();
            let (mut quick, mut slow) = ([0.0; 2], [0.0; 2]);
            let (end, content) = bounds(bytes, 0).unwrap();
            assert_eq!(quick_list(bytes, 0, &mut quick), Some(end), "{text}");
            list(&bytes[content.0..content.1], &mut slow).unwrap();
            assert_eq!((quick, slow), ([1.0, 2.5], [1.0, 2.5]), "{text}");
        }
        let mut one = [0.0];
        assert_eq!(quick_list(b"[0.5],", 0, &mut one), Some(5));
        assert_eq!(quick_list(b"[1, 2.5],", 0, &mut [0.0; 2]), None);
        assert_eq!(quick_number(b"\"0.5\",", 0), Some((0.5, 5)));
        assert_eq!(quick_number(b"0.5\r\n", 0), Some((0.5, 4)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (content, problem) in [
            ("", "is empty"),
            (" ", "is empty"),
            ("1, 2", "holds `1, 2`, which is not a list of 2 numbers"),
            ("[1, 2", "holds `[1, 2`, which is not a list"),
            ("[]", "holds a list of 0 where 2"),
            ("[1]", "holds a list of 1 where 2"),
            ("[1, 2, 3]", "holds a list of 3 where 2"),
            ("[1, ]", "is empty"),
            ("[1, nan]", "is nan"),
            ("[-inf, 1]", "is infinite"),
            ("[1e999, 1]", "is infinite"),
            ("[1, two]", "holds `two`, which is not a number"),
            ("[1, [2]]", "holds `[2]`, which is not a number"),
        ] {
            let message = list(content.as_bytes(), &mut [0.0; 2]).unwrap_err();
            assert!(message.starts_with(problem), "{content}: {message}");
            let quoted = format!("\"{content}\"");
            assert_eq!(quick_list(quoted.as_bytes(), 0, &mut [0.0; 2]), None);
        }
    }

    #[test]
    fn cells_have_ends() {
        for (text, end, content) in [
            ("1,2", 1, "1"),
            ("", 0, ""),
            (" \"a,b\" ,2", 7, "a,b"),
            ("\"a\"\"b\"\n", 6, "a\"\"b"),
            ("[0.5]\n", 5, "[0.5]"),
        ] {
            let (found, (from, to)) = bounds(text.as_bytes(), 0).unwrap();
            assert_eq!((found, &text[from..to]), (end, content));
        }
        assert_eq!(bounds(b"\"a", 0), Err(Broken::OpenQuote));
        assert_eq!(bounds(b"\"a\"\"", 0), Err(Broken::OpenQuote));
        assert_eq!(bounds(b"\"a\"b", 0), Err(Broken::AfterQuote));
    }
}
