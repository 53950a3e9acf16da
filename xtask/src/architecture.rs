//! What the folders promise: crates depend on each other one way, and functions fit on a screen.

use std::fs;
use std::path::{Path, PathBuf};

use crate::steps::Failure;

/// Our crates, each allowed to depend on those before it.
const ORDER: [&str; 12] = [
    "design",
    "learn",
    "taskscout",
    "neural",
    "io",
    "logs",
    "worlds",
    "models",
    "plot",
    "report",
    "lab",
    "cli",
];

/// Lines that a function may have, its signature and braces included; tests may have more.
const LONGEST: usize = 60;

/// Checks the order of the crates and the length of functions.
pub(crate) fn check(root: &Path) -> Result<Option<String>, Failure> {
    let mut complaints = Vec::new();
    for (place, name) in ORDER.iter().enumerate() {
        let file = root.join("crates").join(name).join("Cargo.toml");
        for needed in dependencies(&fs::read_to_string(&file)?) {
            let allowed = ORDER[..place].contains(&needed.as_str());
            if !allowed {
                complaints.push(format!("crates/{name} depends on {needed}, which does not stand before it in the order of xtask/src/architecture.rs"));
            }
        }
    }
    let mut functions = 0;
    for file in sources(&root.join("crates"))? {
        let text = fs::read_to_string(&file)?;
        for (name, lines) in lengths(&text) {
            functions += 1;
            if lines > LONGEST {
                let shown = file.strip_prefix(root).unwrap_or(&file).display();
                complaints.push(format!("`{name}` in {shown} has {lines} lines"));
            }
        }
    }
    if complaints.is_empty() {
        return Ok(Some(format!(
            "{} crates, {functions} functions",
            ORDER.len()
        )));
    }
    Err(Failure::new(complaints.join("; "))
        .with_remedy("turn the dependency round; split the function along what it does"))
}

/// Our crates among the dependencies of a manifest, those of tests left out.
fn dependencies(manifest: &str) -> Vec<String> {
    let (mut found, mut inside) = (Vec::new(), false);
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.trim() == "[dependencies]";
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or("");
        if inside && (name == "taskscout" || name.starts_with("taskscout-")) {
            let short = name.strip_prefix("taskscout-").unwrap_or(name);
            found.push(short.to_owned());
        }
    }
    found
}

/// The sources of all crates without their tests.
fn sources(crates: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(crates)? {
        collect(&entry?.path().join("src"), &mut found)?;
    }
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        if path.is_dir() {
            collect(&path, found)?;
        } else if name.is_some_and(|name| name.ends_with(".rs") && name != "tests.rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// The functions of a formatted file with their lines, up to its tests.
fn lengths(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text
        .lines()
        .take_while(|line| *line != "mod tests {")
        .collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let closing = format!("{indent}}}");
        // A declaration without a body ends before any brace does.
        let open = lines[start..].iter().position(|line| line.ends_with('{'));
        let semicolon = lines[start..].iter().position(|line| line.ends_with(';'));
        if semicolon.is_some_and(|semicolon| open.is_none_or(|open| semicolon < open)) {
            continue;
        }
        if let Some(end) = lines[start..].iter().position(|line| *line == closing) {
            found.push((name.to_owned(), end + 1));
        }
    }
    found
}

/// The name of the function that a line begins.
fn function(line: &str) -> Option<&str> {
    let mut words = line.trim_start().split(' ').skip_while(|word| {
        word.starts_with("pub") || ["const", "async", "super)", "crate)"].contains(word)
    });
    if words.next()? != "fn" {
        return None;
    }
    words.next()?.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_built_counts_as_a_dependency() {
        let manifest = "[dependencies]\nfaer.workspace = true\ntaskscout-io.workspace = true\ntaskscout = { path = \"x\" }\n\n[dev-dependencies]\ntaskscout-worlds.workspace = true\n";
        assert_eq!(dependencies(manifest), ["io", "taskscout"]);
    }

    #[test]
    fn functions_are_measured_and_declarations_are_not() {
        let text = "trait T {\n    fn declared(&self);\n}\n\npub(crate) fn long<T>(\n    x: T,\n) -> T {\n    if true {\n        x\n    }\n}\n\nmod tests {\n    fn in_a_test() {\n    }\n}\n";
        assert_eq!(lengths(text), [("long".to_owned(), 7)]);
    }
}
