//! Packages of Debian that tests need, installed where that is allowed.

use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Installs a package, one at a time; if that cannot be, says why.
pub(crate) fn install(package: &str) -> Result<(), String> {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    if !root() {
        return Err(format!(
            "`{package}` is not installed; install Debian's `{package}`, or the one of your system"
        ));
    }
    eprintln!("xtask: installing {package}");
    for arguments in [
        &["update", "-qq"][..],
        &["install", "-y", "-qq", "--no-install-recommends", package],
    ] {
        let mut apt = Command::new("apt-get");
        apt.args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            // A package would start servers of its own, which nobody here needs.
            .env("RUNLEVEL", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        if !apt.status().is_ok_and(|status| status.success()) {
            return Err(format!("`apt-get {}` failed", arguments.join(" ")));
        }
    }
    Ok(())
}

fn root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|out| out.stdout.trim_ascii() == b"0")
}
