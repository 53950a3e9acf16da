//! A little colour, where a terminal allows it.
//!
//! `NO_COLOR` and `CLICOLOR=0` turn it off, `CLICOLOR_FORCE` on; where output is piped, or the terminal can do nothing of the
//! kind, there is none.

use std::io::IsTerminal as _;

/// How something is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// What a command concludes.
    Verdict,
    /// What went wrong.
    Error,
    /// What to be careful about.
    Warning,
    /// What stands beside results.
    Note,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Verdict => "1",
            Self::Error => "1;31",
            Self::Warning => "33",
            Self::Note => "36",
        }
    }
}

/// Where something is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Error,
}

/// Whether colours may be written there.
pub(crate) fn allowed(stream: Stream) -> bool {
    let terminal = match stream {
        Stream::Output => std::io::stdout().is_terminal(),
        Stream::Error => std::io::stderr().is_terminal(),
    };
    decided(terminal, |name| std::env::var(name).ok())
}

/// The same by the variables themselves.
fn decided(terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    if set("NO_COLOR") {
        return false;
    }
    if variable("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") {
        return true;
    }
    let off = variable("CLICOLOR").is_some_and(|value| value == "0");
    let dumb = variable("TERM").is_some_and(|value| value == "dumb");
    terminal && !off && !dumb
}

/// A text in a tone; the text itself must hold no control characters.
pub(crate) fn toned(text: &str, tone: Tone, allowed: bool) -> String {
    match allowed {
        true => format!("\u{1b}[{}m{text}\u{1b}[0m", tone.code()),
        false => text.to_owned(),
    }
}

/// A line whose first word says what it is, with that word in its tone.
pub(crate) fn marked(line: &str, allowed: bool) -> String {
    let tones = [
        ("error:", Tone::Error),
        ("failed:", Tone::Error),
        ("warning:", Tone::Warning),
        ("note:", Tone::Note),
    ];
    let found = tones.iter().find(|(word, _)| line.starts_with(word));
    match found {
        Some((word, tone)) => toned(word, *tone, allowed) + &line[word.len()..],
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_pipes_decide() {
        let with = |terminal: bool, set: &[(&str, &str)]| {
            let set: Vec<(String, String)> = set
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            decided(terminal, |name| {
                let found = set.iter().find(|(own, _)| own == name);
                found.map(|(_, value)| value.clone())
            })
        };
        assert!(with(true, &[]) && !with(false, &[]));
        assert!(!with(true, &[("NO_COLOR", "1")]));
        assert!(with(true, &[("NO_COLOR", "")]), "empty means not set");
        assert!(!with(true, &[("CLICOLOR", "0")]));
        assert!(with(true, &[("CLICOLOR", "1")]) && !with(false, &[("CLICOLOR", "1")]));
        assert!(!with(true, &[("TERM", "dumb")]));
        assert!(with(false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!with(
            false,
            &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "yes")]
        ));
    }

    #[test]
    fn only_the_first_word_has_a_tone() {
        assert_eq!(
            marked("warning: a note: b", true),
            "\u{1b}[33mwarning:\u{1b}[0m a note: b"
        );
        assert_eq!(marked("warning: a", false), "warning: a");
        assert_eq!(marked("no warning: a", true), "no warning: a");
    }
}
