//! Names of columns: checked when a table is read, suggested when one is misspelt.

use std::collections::HashMap;

use strsim::levenshtein;

use crate::tables::error::{Error, Result};
use crate::tables::visible::name as shown;

/// More names than this are not listed in a message.
const LISTED: usize = 20;

/// Refuses names that are empty or there twice.
pub(crate) fn check<'a>(names: impl Iterator<Item = &'a str>, table: &str) -> Result<()> {
    let mut seen = HashMap::new();
    for (index, name) in names.enumerate() {
        let problem = if name.is_empty() {
            format!(
                "column {} has no name: name it in the header, or remove the column (pandas leaves it out with index=False)",
                index + 1
            )
        } else if let Some(first) = seen.insert(name, index) {
            format!(
                "columns {} and {} are both called `{}`: rename one of them",
                first + 1,
                index + 1,
                shown(name)
            )
        } else {
            continue;
        };
        return Err(Error::Names {
            table: table.to_owned(),
            problem,
        });
    }
    Ok(())
}

/// The error for a column that is not there.
pub(crate) fn missing(table: &str, column: &str, names: &[&str]) -> Error {
    let mut columns = names
        .iter()
        .take(LISTED)
        .map(|name| format!("`{}`", shown(name)))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > LISTED {
        columns += &format!(" and {} more", names.len() - LISTED);
    }
    Error::MissingColumn {
        table: table.to_owned(),
        column: column.to_owned(),
        nearest: nearest(column, names).map(str::to_owned),
        columns,
    }
}

/// The name most like the one asked for, if it is near enough to be meant.
#[must_use]
pub fn nearest<'a>(wanted: &str, names: &[&'a str]) -> Option<&'a str> {
    let wanted = wanted.trim().to_lowercase();
    let length = wanted.chars().count();
    names
        .iter()
        .map(|name| (levenshtein(&wanted, &name.to_lowercase()), *name))
        // A name of one letter is no likelier to be meant than any other.
        .filter(|&(edits, _)| edits <= length.div_ceil(3) && (edits == 0 || edits < length))
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_near() {
        let names = ["speed", "direction", "gust"];
        assert_eq!(nearest("sped", &names), Some("speed"));
        assert_eq!(nearest("spede", &names), Some("speed"));
        assert_eq!(nearest(" Speed", &names), Some("speed"));
        assert_eq!(nearest("temperature", &names), None);
        assert_eq!(nearest("x", &["y", "z"]), None);
        assert_eq!(nearest("X", &["y", "x"]), Some("x"));
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..25).map(|index| format!("c{index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = missing("t.csv", "wind", &names).to_string();
        assert!(message.starts_with("t.csv has no column `wind`: the columns are `c0`, `c1`"));
        assert!(message.ends_with("`c19` and 5 more"), "{message}");
    }

    #[test]
    fn refuses_empty_and_repeated_names() {
        let message = check(["a", ""].into_iter(), "t.csv")
            .unwrap_err()
            .to_string();
        assert!(message.starts_with("t.csv: column 2 has no name: name it in the header"));
        let message = check(["a", "b", "a"].into_iter(), "t.csv")
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "t.csv: columns 1 and 3 are both called `a`: rename one of them"
        );
    }
}
