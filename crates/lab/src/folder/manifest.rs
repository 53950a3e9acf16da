//! `manifest.json`: what a run has written into its folder, and what it was made from.
//!
//! A file is listed before it is made, so that everything of a run is listed whenever it is stopped;
//! what is not listed is somebody else's, and stays as it is.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use taskscout_io::files::{temporary_of, write_atomically};

use super::lock::LOCK;
use crate::error::{LabError, Result};
use crate::run_input::RunInput;

/// The file of the manifest.
pub(super) const MANIFEST: &str = "manifest.json";
/// Who wrote it, since other programs call files of theirs the same.
const WRITTEN_BY: (&str, &str) = ("written_by", "taskscout");
/// All keys of those that were written before it said so; the first and the last were always there.
const EARLIER: [&str; 3] = ["inputs", "accepted", "files"];

/// What a run has written, and what it was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// Data and programs.
    #[serde(default)]
    pub(super) inputs: Vec<RunInput>,
    /// Changes of these that the run went on in spite of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) accepted: Vec<String>,
    /// Files, by their path from the folder with `/` between its parts.
    pub(super) files: BTreeSet<String>,
}

/// It as it is written.
#[derive(Serialize)]
struct Written<'a> {
    written_by: &'a str,
    #[serde(flatten)]
    manifest: &'a Manifest,
}

/// What is wrong with the manifest of a folder.
fn bad(folder: &Path, problem: &str) -> LabError {
    LabError::Input(format!(
        "{} does not list the files of the run ({problem}): move the folder away, or give another --out",
        folder.join(MANIFEST).display()
    ))
}

/// Whether this program wrote a manifest.
fn is_ours(manifest: &Value) -> bool {
    let Some(keys) = manifest.as_object() else {
        return false;
    };
    match keys.get(WRITTEN_BY.0) {
        Some(who) => who == WRITTEN_BY.1,
        None => {
            let [first, _, last] = EARLIER;
            let always = keys.contains_key(first) && keys.contains_key(last);
            always && keys.keys().all(|key| EARLIER.contains(&key.as_str()))
        }
    }
}

impl Manifest {
    /// That of a folder, if it has one; another program's is refused.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>> {
        let known = Self::read_ours(folder)?;
        if known.is_none() && folder.join(MANIFEST).symlink_metadata().is_ok() {
            return Err(bad(folder, "another program wrote it"));
        }
        Ok(known)
    }

    /// That of a folder, if it has one of this program.
    pub(super) fn read_ours(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(MANIFEST);
        let bad = |problem: &str| bad(folder, problem);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(bad(&error.to_string())),
        };
        let found: Value =
            serde_json::from_slice(&text).map_err(|error| bad(&error.to_string()))?;
        if !is_ours(&found) {
            return Ok(None);
        }
        let manifest: Self =
            serde_json::from_value(found).map_err(|error| bad(&error.to_string()))?;
        match manifest.files.iter().find(|name| !is_inside(name)) {
            Some(name) => Err(bad(&format!("`{name}` lies elsewhere"))),
            None => Ok(Some(manifest)),
        }
    }

    /// Writes it into its folder.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let written = Written {
            written_by: WRITTEN_BY.1,
            manifest: self,
        };
        let text = serde_json::to_string_pretty(&written)
            .map_err(|error| LabError::Failure(format!("cannot write the manifest: {error}")))?;
        write_atomically(folder.join(MANIFEST), (text + "\n").as_bytes())
            .map_err(|error| LabError::Input(error.to_string()))
    }

    /// Lists files that are to be made, and says whether some are new to it. What is there without
    /// being listed is somebody else's.
    pub(super) fn claim(&mut self, folder: &Path, names: &[String]) -> Result<bool> {
        let mut new = false;
        for name in names {
            if self.files.contains(name) {
                continue;
            }
            if folder.join(name).symlink_metadata().is_ok() {
                return Err(LabError::Input(format!(
                    "{} is there already, but this run did not write it: move it away, or give another --out",
                    folder.join(name).display()
                )));
            }
            self.files.insert(name.clone());
            new = true;
        }
        Ok(new)
    }

    /// Removes what it lists, and nothing else.
    pub(super) fn clear(&self, folder: &Path) -> Result<()> {
        for name in &self.files {
            refuse_links(folder, name)?;
        }
        for name in &self.files {
            let path = folder.join(name);
            // A link is removed as such, not what it points to.
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(LabError::Input(format!(
                        "cannot remove {}: {error}; give another --out",
                        path.display()
                    )));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes what a killed process left of files that it was writing.
    pub(super) fn sweep(&self, folder: &Path) {
        let mut folders: BTreeSet<PathBuf> = [PathBuf::new()].into();
        let parents = self
            .files
            .iter()
            .filter_map(|name| Path::new(name).parent());
        folders.extend(parents.map(Path::to_owned));
        for below in folders {
            let linked = refuse_links(folder, &below.join("file").to_string_lossy()).is_err();
            let Ok(entries) = std::fs::read_dir(folder.join(&below)) else {
                continue;
            };
            for entry in entries.flatten().filter(|_| !linked) {
                let name = entry.file_name().to_string_lossy().into_owned();
                let Some(target) = temporary_of(&name) else {
                    continue;
                };
                let target = slashed(&below.join(target));
                if target == MANIFEST || self.files.contains(&target) {
                    // One that stays does no harm.
                    let _ = std::fs::remove_file(entry.path());
                }
            }
        }
    }
}

/// A path with `/` between its parts, whatever the system has there.
fn slashed(path: &Path) -> String {
    let parts = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

/// Whether a path stays inside the folder that it starts from.
fn is_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Refuses a file that lies behind a link to a folder.
fn refuse_links(folder: &Path, name: &str) -> Result<()> {
    let mut path = folder.to_owned();
    let parts: Vec<Component<'_>> = Path::new(name).components().collect();
    for part in parts.iter().take(parts.len().saturating_sub(1)) {
        path.push(part);
        if path
            .symlink_metadata()
            .is_ok_and(|about| about.is_symlink())
        {
            return Err(LabError::Input(format!(
                "{} is a symbolic link, and files behind links are not removed: remove the link, or give another --out",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Whether a folder holds nothing but what a process leaves that was killed at its very start.
pub(super) fn is_blank(folder: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(folder) else {
        return true;
    };
    entries.all(|entry| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name == LOCK || temporary_of(&name) == Some(MANIFEST)
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn paths_stay_inside() {
        for inside in ["results.csv", "trials/aware-0.csv"] {
            assert!(is_inside(inside), "{inside}");
        }
        for outside in ["", "/etc/passwd", "../a", "trials/../../a", "."] {
            assert!(!is_inside(outside), "{outside}");
        }
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"inputs": [], "files": ["../a"]}"#;
        std::fs::write(folder.path().join(MANIFEST), text).unwrap();
        let error = Manifest::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("`../a` lies elsewhere"), "{error}");
    }

    #[test]
    fn manifests_of_other_programs_are_none_of_ours() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let write = |text: &str| std::fs::write(folder.join(MANIFEST), text).unwrap();
        for others in [
            r#"{"files": ["thesis.tex"]}"#,
            r#"{"name": "page", "inputs": [], "files": ["thesis.tex"]}"#,
            r#"{"written_by": "else", "inputs": [], "files": ["thesis.tex"]}"#,
            r#"["thesis.tex"]"#,
        ] {
            write(others);
            let error = Manifest::read(folder).unwrap_err().to_string();
            assert!(error.contains("another program wrote it"), "{error}");
            assert_eq!(Manifest::read_ours(folder).unwrap(), None, "{others}");
        }
        // As versions wrote it that did not say who they are.
        for earlier in [
            r#"{"inputs": [], "files": ["results.csv"]}"#,
            r#"{"inputs": [], "accepted": ["a"], "files": ["results.csv"]}"#,
        ] {
            write(earlier);
            let known = Manifest::read(folder).unwrap().unwrap();
            assert!(known.files.contains("results.csv"), "{earlier}");
            known.write(folder).unwrap();
            let text = std::fs::read_to_string(folder.join(MANIFEST)).unwrap();
            assert!(text.contains(r#""written_by": "taskscout""#), "{text}");
            assert_eq!(Manifest::read(folder).unwrap(), Some(known));
        }
    }

    #[test]
    fn only_what_is_listed_goes() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        std::fs::create_dir(folder.join("trials")).unwrap();
        let names = ["results.csv", "trials/a.csv"].map(String::from);
        let mut manifest = Manifest::default();
        assert!(manifest.claim(folder, &names).unwrap());
        assert!(!manifest.claim(folder, &names).unwrap());
        let (ours, others) = (
            [
                "results.csv",
                "trials/a.csv",
                ".manifest.json.3-0.tmp",
                "trials/.a.csv.12-3.tmp",
            ],
            ["mine.csv", "trials/b.csv", "trials/.b.csv.12-3.tmp"],
        );
        for name in ours.iter().chain(&others) {
            std::fs::write(folder.join(name), "x").unwrap();
        }
        manifest.sweep(folder);
        manifest.clear(folder).unwrap();
        for name in ours {
            assert!(!folder.join(name).exists(), "{name}");
        }
        for name in others {
            assert!(folder.join(name).exists(), "{name}");
        }
        let error = manifest.claim(folder, &["mine.csv".into()]).unwrap_err();
        assert!(
            error.to_string().contains("this run did not write it"),
            "{error}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn nothing_goes_behind_a_link() {
        let scratch = tempfile::tempdir().unwrap();
        let (folder, other) = (scratch.path().join("run"), scratch.path().join("other"));
        for path in [&folder, &other] {
            std::fs::create_dir(path).unwrap();
        }
        std::fs::write(other.join("a.csv"), "mine").unwrap();
        std::os::unix::fs::symlink(&other, folder.join("trials")).unwrap();
        std::os::unix::fs::symlink(other.join("a.csv"), folder.join("results.csv")).unwrap();
        let mut manifest = Manifest {
            files: ["results.csv".to_owned(), "trials/a.csv".to_owned()].into(),
            ..Manifest::default()
        };
        let error = manifest.clear(&folder).unwrap_err().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        assert!(folder.join("results.csv").exists(), "nothing half done");
        manifest.files.remove("trials/a.csv");
        manifest.clear(&folder).unwrap();
        assert!(folder.join("results.csv").symlink_metadata().is_err());
        assert_eq!(std::fs::read(other.join("a.csv")).unwrap(), b"mine");
    }
}
