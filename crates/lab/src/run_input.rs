//! What a run was made from: fingerprints of its data and programs, so that a run which goes on
//! goes on with the same.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{LabError, Result};

/// Changes that are named one by one.
const NAMED: usize = 5;

/// Something that a run was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunInput {
    /// What the user calls it.
    name: String,
    /// Of its content.
    sha256: String,
    /// Whether it may have come to be since, as a file that a program writes.
    #[serde(skip)]
    may_appear: bool,
}

/// Hashes whatever is written.
struct Hashing(Sha256);

impl std::io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl RunInput {
    /// A file.
    pub(crate) fn file(name: impl Into<String>, path: &Path) -> Result<Self> {
        let mut hash = Hashing(Sha256::new());
        taskscout_io::files::open(path)
            .and_then(|mut file| std::io::copy(&mut file, &mut hash))
            .map_err(|error| LabError::Input(format!("cannot read {}: {error}", path.display())))?;
        Ok(Self::new(name, hash.0))
    }

    /// The command that runs, as a file.
    pub(crate) fn command() -> Result<Self> {
        let path = std::env::current_exe().map_err(|error| {
            LabError::Failure(format!("cannot find the command's own file: {error}"))
        })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Self::file(format!("the command {name}"), &path)
    }

    /// A text, such as a command line.
    pub(crate) fn text(name: impl Into<String>, text: &str) -> Self {
        Self::new(name, Sha256::new().chain_update(text))
    }

    /// The same for something that the run itself may have brought about.
    pub(crate) fn that_may_appear(self) -> Self {
        Self {
            may_appear: true,
            ..self
        }
    }

    fn new(name: impl Into<String>, hash: Sha256) -> Self {
        let digest = hash.finalize();
        Self {
            name: name.into(),
            sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            may_appear: false,
        }
    }
}

/// What became of the inputs of a run, in words; none if they are the same.
pub(crate) fn changes(before: &[RunInput], now: &[RunInput]) -> Vec<String> {
    let of = |inputs: &[RunInput], name: &str| -> Vec<String> {
        let same = inputs.iter().filter(|input| input.name == name);
        same.map(|input| input.sha256.clone()).collect()
    };
    let mut names: Vec<&str> = Vec::new();
    for input in before.iter().chain(now) {
        if !names.contains(&input.name.as_str()) {
            names.push(&input.name);
        }
    }
    let may_appear = |name: &str| {
        let mut of_name = now.iter().filter(|input| input.name == name);
        of_name.all(|input| input.may_appear)
    };
    let told = |name: &str| match (of(before, name), of(now, name)) {
        (before, now) if before == now => None,
        (before, _) if before.is_empty() && may_appear(name) => None,
        (before, _) if before.is_empty() => Some(format!("{name} is new")),
        (_, now) if now.is_empty() => Some(format!("{name} is gone")),
        _ => Some(format!("{name} has changed")),
    };
    names.into_iter().filter_map(told).collect()
}

/// What a run is made from after its changes were accepted: not what it brought about itself.
pub(crate) fn accepted(before: &[RunInput], mut now: Vec<RunInput>) -> Vec<RunInput> {
    let known = |name: &str| before.iter().any(|input| input.name == name);
    now.retain(|input| !input.may_appear || known(&input.name));
    now
}

/// Some changes as one part of a sentence.
pub(crate) fn listed(changes: &[String]) -> String {
    let shown = &changes[..changes.len().min(NAMED)];
    match changes.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn changes_are_named() {
        let input = RunInput::text;
        let before = [input("a", "1"), input("b", "1"), input("c", "1")];
        assert!(changes(&before, &before).is_empty());
        let now = [input("d", "1"), input("a", "1"), input("c", "2")];
        let told = changes(&before, &now);
        assert_eq!(told, ["b is gone", "c has changed", "d is new"]);
        let log = [&before[..], &[input("run.log", "1").that_may_appear()]].concat();
        assert!(changes(&before, &log).is_empty());
        assert_eq!(changes(&log, &before), ["run.log is gone"]);
        assert_eq!(accepted(&before, log.to_vec()), before);
        assert_eq!(listed(&told), "b is gone, c has changed, d is new");
        let many: Vec<String> = (0..7).map(|n| n.to_string()).collect();
        assert_eq!(listed(&many), "0, 1, 2, 3, 4, and 2 more");
    }

    #[test]
    fn files_are_known_by_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "abc").unwrap();
        let known = RunInput::file("a", &path).unwrap();
        // The standard's own example.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(known.sha256, expected);
        assert_eq!(known, RunInput::text("a", "abc"));
        let missing = RunInput::file("a", &folder.path().join("b.csv"));
        assert!(missing.unwrap_err().to_string().contains("b.csv"));
    }
}
