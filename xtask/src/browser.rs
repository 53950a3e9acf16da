//! The live page in a real browser: Debian's Chromium, driven by playwright-core, judged by axe-core as well.

use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::apt;
use crate::checks::taskscout_binary;
use crate::steps::{Failure, run};
use crate::workspace::Workspace;

/// What drives the browser and what judges pages, by the versions that the tests were written with.
const PACKAGES: [&str; 2] = ["playwright-core@1.65.1", "axe-core@4.14.0"];
/// Where Debian puts the browser.
const CHROMIUM: &str = "/usr/bin/chromium";

/// When the lines of the test are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// One by one, as they come.
    AsTheyCome,
    /// Together at the end, because something else writes meanwhile.
    AtTheEnd,
}

/// Runs the page through a browser, or says why it went without.
pub(crate) fn test(workspace: &Workspace, lines: Lines) -> Result<Option<String>, Failure> {
    if let Err(reason) = provide(workspace) {
        return Ok(Some(format!("WENT WITHOUT a browser: {reason}")));
    }
    let folder = workspace.target_dir().join("browser");
    let taskscout = taskscout_binary(workspace)?;
    let script = workspace.root().join("crates/server/tests/browser/run.mjs");
    let mut node = Command::new("node");
    node.arg(script)
        .env("TASKSCOUT_BINARY", taskscout)
        .env("TASKSCOUT_PACKAGES", &folder)
        .env("TASKSCOUT_SHOTS", folder.join("shots"))
        .env("TASKSCOUT_CHROMIUM", CHROMIUM);
    let passed = match lines {
        Lines::AsTheyCome => run(&mut node),
        Lines::AtTheEnd => {
            let kept = folder.join("lines.txt");
            let file = std::fs::File::create(&kept)?;
            let passed = run(node.stderr(file.try_clone()?).stdout(file));
            print!("{}", String::from_utf8_lossy(&std::fs::read(&kept)?));
            passed
        }
    };
    passed.map_err(|failure| {
        failure.with_remedy("see the lines with FAIL; pictures are in target/browser/shots")
    })?;
    Ok(None)
}

/// Makes sure that the browser, Node.js and the packages are there. One thread at a time; a second one finds all of it.
pub(crate) fn provide(workspace: &Workspace) -> Result<(), String> {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    let folder = &workspace.target_dir().join("browser");
    for (program, package) in [(CHROMIUM, "chromium"), ("npm", "npm")] {
        if !starts(program) {
            apt::install(package)?;
        }
        if !starts(program) {
            return Err(format!("`{program}` does not start"));
        }
    }
    let marker = folder.join("packages.txt");
    let wanted = PACKAGES.join("\n");
    if std::fs::read_to_string(&marker).is_ok_and(|known| known == wanted) {
        return Ok(());
    }
    let failed = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(folder).map_err(failed)?;
    std::fs::write(folder.join("package.json"), "{\"private\": true}\n").map_err(failed)?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
        .args(PACKAGES)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if !npm.status().is_ok_and(|status| status.success()) {
        return Err(String::from("`npm install` failed"));
    }
    std::fs::write(marker, wanted).map_err(failed)
}

fn starts(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_does_not_start() {
        assert!(!starts("no-such-browser-here"));
    }
}
