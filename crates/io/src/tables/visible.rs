//! Names and cells as they may stand on a terminal.
//!
//! A file can call a column anything, even what a terminal takes for a command: an escape sequence
//! recolours it, a line break forges a line, a mark of direction turns a word round.

use std::borrow::Cow;

/// More characters of a cell than this are not shown in a message.
const LONGEST: usize = 40;
/// More characters of a name than this are not shown in a message.
const LONGEST_NAME: usize = 200;

/// The text with every character that would act on a terminal instead of being shown written as an
/// escape, such as `\n` or `\u{1b}`.
///
/// ```
/// use taskscout_io::tables::visible;
///
/// assert_eq!(visible("gale, 22 m/s"), "gale, 22 m/s");
/// assert_eq!(visible("gale\u{1b}[2J\r\n"), r"gale\u{1b}[2J\r\n");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

/// The same for text of several lines: line breaks and tabs stay.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| {
        !matches!(letter, '\n' | '\t') && acts(letter)
    })
}

fn escaped(text: &str, acts: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if acts(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// Control characters, line separators, marks of direction, and the byte-order mark.
fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

/// A cell as it may stand in a message: one line, and not too long.
pub(crate) fn cell(cell: &str) -> String {
    cut(&visible(&cell.replace(['\n', '\r'], " ")), LONGEST)
}

/// A name as it may stand in a message.
pub(crate) fn name(name: &str) -> String {
    cut(&visible(name), LONGEST_NAME)
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_harmless_is_as_it_was() {
        for text in ["", "wind speed, m/s", "é ü 風 ±", "a\\nb", "🌀"] {
            assert!(matches!(visible(text), Cow::Borrowed(shown) if shown == text));
        }
    }

    #[test]
    fn what_acts_is_escaped() {
        for (text, shown) in [
            ("a\0b", r"a\u{0}b"),
            ("\u{1b}[31m", r"\u{1b}[31m"),
            ("a\tb\r\n", r"a\tb\r\n"),
            ("\u{7f}\u{9b}2J", r"\u{7f}\u{9b}2J"),
            ("gpj\u{202e}exe", r"gpj\u{202e}exe"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(visible_lines("a\tb\n\u{7}"), "a\tb\n\\u{7}");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(name(&"é".repeat(300)), "é".repeat(200) + "…");
        assert_eq!(name("speed"), "speed");
        assert_eq!(cell("a\nb\u{7}"), r"a b\u{7}");
    }

    proptest! {
        #[test]
        fn nothing_that_acts_is_left(text in any::<String>()) {
            let shown = visible(&text);
            prop_assert!(!shown.contains(acts));
            prop_assert!(shown.chars().count() >= text.chars().count());
        }
    }
}
