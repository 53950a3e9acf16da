//! The first line of a flight log: which column holds what.

use std::path::Path;

use memchr::memchr_iter;

use super::cell::{self, shortened};
use crate::error::{Error, Result};

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Ignored,
    Time,
    Velocity,
    Attitude,
    Motors,
    Force,
}

/// The columns that are needed, by name.
const NEEDED: [(&str, Role); 4] = [
    ("v", Role::Velocity),
    ("q", Role::Attitude),
    ("pwm", Role::Motors),
    ("fa", Role::Force),
];

impl Role {
    /// The column's name, for messages.
    pub(super) fn column(self) -> &'static str {
        let needed = NEEDED.iter().find(|(_, role)| *role == self);
        needed.map_or("t", |(name, _)| name)
    }
}

/// Where things are in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) roles: Vec<Role>,
    pub(super) has_time: bool,
    /// Where the line after the header starts.
    pub(super) body: usize,
}

impl Layout {
    pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Self> {
        let mut at = first_line(bytes, path)?;
        let line = 1 + memchr_iter(b'\n', &bytes[..at]).count();
        let refused = |problem: String| Error::Header {
            path: path.to_owned(),
            line,
            problem,
        };
        let mut names: Vec<&str> = Vec::new();
        let end = loop {
            let (end, (from, to)) =
                cell::bounds(bytes, at).map_err(|broken| refused(broken.problem().into()))?;
            let name = std::str::from_utf8(&bytes[from..to]).map_err(|_| {
                let shown = shortened(&bytes[from..to]);
                refused(format!(
                    "has a column `{shown}` that is not UTF-8 text: save the file in UTF-8"
                ))
            })?;
            names.push(name.trim());
            if bytes.get(end) != Some(&b',') {
                break end;
            }
            at = end + 1;
        };
        let mut roles = vec![Role::Ignored; names.len()];
        let mut place = |wanted: &str, role: Role| -> Result<bool> {
            let mut found = (0..names.len()).filter(|&index| names[index] == wanted);
            let Some(first) = found.next() else {
                return Ok(false);
            };
            if found.next().is_some() {
                return Err(refused(format!(
                    "has two columns `{wanted}`: rename one of them"
                )));
            }
            roles[first] = role;
            Ok(true)
        };
        for (column, role) in NEEDED {
            if !place(column, role)? {
                return Err(Error::MissingColumn {
                    path: path.to_owned(),
                    column,
                    columns: listed(&names),
                });
            }
        }
        let has_time = place("t", Role::Time)?;
        Ok(Self {
            roles,
            has_time,
            body: (end + 1).min(bytes.len()),
        })
    }
}

/// Where the first line that is not blank begins.
fn first_line(bytes: &[u8], path: &Path) -> Result<usize> {
    let mut at = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    while let Some(next) = cell::after_blank_line(bytes, at) {
        if next >= bytes.len() {
            return Err(Error::Empty {
                path: path.to_owned(),
                problem: "is empty: remove it, or copy it again",
            });
        }
        at = next;
    }
    Ok(at)
}

/// The names for a message; the index has none.
fn listed(names: &[&str]) -> String {
    const LISTED: usize = 20;
    let named = || names.iter().filter(|name| !name.is_empty());
    let mut text = named()
        .take(LISTED)
        .map(|name| format!("`{}`", shortened(name.as_bytes())))
        .collect::<Vec<_>>()
        .join(", ");
    let more = named().count().saturating_sub(LISTED);
    if more > 0 {
        text += &format!(" and {more} more");
    }
    if text.is_empty() {
        text += "without names";
    }
    text
}
