//! The words of an expression.

use super::Problem;
use super::name::Name;

/// A word, and the byte at which it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

/// Kinds of words.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    Name(Name),
    /// One of `+ - * / ^ ( ) ,`.
    Sign(char),
    End,
}

/// Where `=` stands, if the expression has a name.
pub(super) fn equals(text: &str) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(at, letter)| {
        quoted ^= letter == '`';
        (letter == '=' && !quoted).then_some(at)
    })
}

/// The words of a text from a byte on, the last of them its end.
pub(super) fn tokens(text: &str, start: usize) -> Result<Vec<Token>, Problem> {
    let mut tokens = Vec::new();
    let mut at = start;
    // After an operand `/` divides; elsewhere a topic begins with it.
    let mut after_operand = false;
    while let Some(letter) = text[at..].chars().next() {
        if letter.is_whitespace() {
            at += letter.len_utf8();
            continue;
        }
        let (kind, end) = match letter {
            '/' if !after_operand => name(text, at)?,
            '+' | '-' | '*' | '/' | '^' | '(' | ')' | ',' => (Kind::Sign(letter), at + 1),
            '0'..='9' | '.' => number(text, at)?,
            '`' | '_' => name(text, at)?,
            letter if letter.is_alphabetic() => name(text, at)?,
            other => {
                let problem = format!(
                    "`{}` means nothing here: remove it, or put a name that has it in `…`",
                    other.escape_debug()
                );
                return Err(Problem::new(at, problem));
            }
        };
        after_operand = !matches!(kind, Kind::Sign(sign) if sign != ')');
        tokens.push(Token { at, end, kind });
        at = end;
    }
    tokens.push(Token {
        at,
        end: at,
        kind: Kind::End,
    });
    Ok(tokens)
}

fn number(text: &str, at: usize) -> Result<(Kind, usize), Problem> {
    let bytes = text.as_bytes();
    let mut end = at;
    while let Some(byte) = bytes.get(end) {
        let sign = matches!(byte, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E') && end > at;
        if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || sign) {
            break;
        }
        end += 1;
    }
    match text[at..end].parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Kind::Number(value), end)),
        _ => {
            let problem = format!(
                "`{}` is not a number: write one such as 9.81 or 1e-3",
                &text[at..end]
            );
            Err(Problem::new(at, problem))
        }
    }
}

/// A name with its fields, elements and ranges; a part in `…` is taken as it is.
fn name(text: &str, at: usize) -> Result<(Kind, usize), Problem> {
    let mut name = Name::new(at);
    let mut end = at;
    let is_topic = text[at..].starts_with('/');
    let mut in_field = !is_topic;
    while let Some(letter) = text[end..].chars().next() {
        let next = text[end + letter.len_utf8()..].chars().next();
        let begins = |it: Option<char>| it.is_some_and(|it| it.is_alphabetic() || it == '_');
        match letter {
            '`' => {
                let rest = &text[end + 1..];
                let Some(length) = rest.find('`') else {
                    let problem = "a second ` is missing: close the name with it";
                    return Err(Problem::new(end, problem));
                };
                name.push_str(&rest[..length]);
                end += length + 2;
                continue;
            }
            '[' => {
                let rest = &text[end + 1..];
                let length = rest.find(']').ok_or_else(|| {
                    Problem::new(end, "`]` is missing: write elements as q[0] or q[0:4]")
                })?;
                name.element(&rest[..length])
                    .map_err(|problem| Problem::new(end, problem))?;
                end += length + 2;
                continue;
            }
            '.' if begins(next) || next.is_some_and(|it| it == '`' || it.is_ascii_digit()) => {
                in_field = true;
            }
            '#' if next.is_some_and(|it| it.is_ascii_digit()) => {}
            '/' if !in_field && begins(next) => {}
            letter if letter.is_alphanumeric() || letter == '_' => {}
            _ => break,
        }
        name.push(letter);
        end += letter.len_utf8();
    }
    if name.is_empty() {
        let problem = "a name or number is missing here: a topic is written as /imu/data.field";
        return Err(Problem::new(at, problem));
    }
    Ok((Kind::Name(name), end))
}
