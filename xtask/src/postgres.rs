//! The PostgreSQL that tests start servers of their own with, installed where it can be.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Makes sure that PostgreSQL is there; if not, says why the tests go without it.
pub(crate) fn provide() -> Result<(), String> {
    if installed() {
        return Ok(());
    }
    if !root() {
        return Err(String::from(
            "it is not installed; install Debian's `postgresql`, or the one of your system",
        ));
    }
    eprintln!("xtask: installing postgresql");
    for arguments in [
        &["update", "-qq"][..],
        &[
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "postgresql",
        ],
    ] {
        let mut apt = Command::new("apt-get");
        apt.args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            // The package would start a server of its own, which nobody here needs.
            .env("RUNLEVEL", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        if !apt.status().is_ok_and(|status| status.success()) {
            return Err(format!("`apt-get {}` failed", arguments.join(" ")));
        }
    }
    if installed() {
        return Ok(());
    }
    Err(String::from(
        "it was installed, and its programs were not found",
    ))
}

/// Whether the programs that make and start a server are there. Debian keeps them out of the path.
fn installed() -> bool {
    let debian = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let debian = debian.flatten().map(|entry| entry.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = debian.collect();
    folders.extend(std::env::split_paths(&path));
    folders.iter().any(|folder| complete(folder))
}

fn complete(folder: &Path) -> bool {
    ["initdb", "pg_ctl"]
        .iter()
        .all(|name| folder.join(name).is_file())
}

fn root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|out| out.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_the_programs_is_not_complete() {
        assert!(!complete(Path::new("no/such/folder")));
    }
}
