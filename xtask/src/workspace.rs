//! Where the repository is and how to call cargo in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::steps::Failure;

/// The repository's root folder and the cargo that runs this task.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
    cargo: OsString,
}

impl Workspace {
    /// Finds the workspace from what cargo tells its children.
    pub(crate) fn locate() -> Result<Self, Failure> {
        let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest_dir.parent().ok_or_else(|| {
            Failure::new("the xtask crate has no parent folder")
                .with_remedy("run it as `cargo xtask`")
        })?;
        Ok(Self {
            root: root.to_path_buf(),
            cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
        })
    }

    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for everything that is made and can be made again.
    pub(crate) fn target_dir(&self) -> PathBuf {
        let chosen = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        match chosen {
            Some(folder) => std::path::absolute(&folder).unwrap_or(folder),
            None => self.root.join("target"),
        }
    }

    /// A cargo command in the root folder.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.cargo);
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Whether `cargo <subcommand> --version` works, that is, whether the subcommand is installed.
    pub(crate) fn has_subcommand(&self, subcommand: &str) -> bool {
        self.cargo(&[subcommand, "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }
}
