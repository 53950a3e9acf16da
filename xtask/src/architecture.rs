//! What the folders promise: crates and the modules of a crate depend on each other one way, and functions fit
//! on a screen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::steps::Failure;

/// Our crates, each allowed to depend on those before it.
const ORDER: [&str; 17] = [
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
    "store",
    "studies",
    "server",
    "python",
    "terminal",
    "cli",
];

/// Lines that a function may have, its signature and braces included; tests may have more.
const LONGEST: usize = 60;

/// Checks the order of the crates, circles among modules and the length of functions.
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
    for name in ORDER {
        let folder = root.join("crates").join(name).join("src");
        if let Some(circle) = circle(&uses(&folder)?) {
            let path = circle.join(" -> ");
            complaints.push(format!("modules of crates/{name} need each other: {path}"));
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

/// Which modules of a crate each of its modules uses, by their names below `src`.
fn uses(folder: &Path) -> Result<BTreeMap<String, BTreeSet<String>>, Failure> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    let module = |file: &Path| {
        let inside = file.strip_prefix(folder).unwrap_or(file);
        let first = inside.components().next()?.as_os_str().to_str()?;
        Some(first.strip_suffix(".rs").unwrap_or(first).to_owned())
    };
    let modules: BTreeSet<String> = files.iter().filter_map(|file| module(file)).collect();
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in &files {
        let Some(own) = module(file).filter(|own| own != "lib" && own != "main" && own != "tests")
        else {
            continue;
        };
        // Tests may look at everything.
        if file.ends_with("tests.rs") {
            continue;
        }
        let named = named(&fs::read_to_string(file)?).into_iter();
        let used = named.filter(|name| *name != own && modules.contains(name));
        all.entry(own.clone()).or_default().extend(used);
    }
    Ok(all)
}

/// The modules that a file names after `crate::`, tests and comments left out.
fn named(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let mut found = BTreeSet::new();
    for line in lines {
        for after in line.split("crate::").skip(1) {
            let name = |c: char| c.is_alphanumeric() || c == '_';
            let end = after.find(|c| !name(c)).unwrap_or(after.len());
            found.insert(after[..end].to_owned());
        }
    }
    found
}

/// Modules that lead back to the first of them.
fn circle(uses: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    uses.keys().find_map(|start| {
        let mut path = vec![start.clone()];
        leads_back(uses, start, &mut path, &mut BTreeSet::new()).then_some(path)
    })
}

fn leads_back(
    uses: &BTreeMap<String, BTreeSet<String>>,
    start: &str,
    path: &mut Vec<String>,
    seen: &mut BTreeSet<String>,
) -> bool {
    let here = path.last().cloned().unwrap_or_default();
    for next in uses.get(&here).into_iter().flatten() {
        path.push(next.clone());
        if next == start || (seen.insert(next.clone()) && leads_back(uses, start, path, seen)) {
            return true;
        }
        path.pop();
    }
    false
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
    fn circles_of_modules_are_found() {
        let uses = |pairs: &[(&str, &[&str])]| {
            let one = |(module, used): &(&str, &[&str])| {
                (
                    (*module).to_owned(),
                    used.iter().map(|name| (*name).to_owned()).collect(),
                )
            };
            pairs.iter().map(one).collect::<BTreeMap<_, _>>()
        };
        let one_way = uses(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
        assert_eq!(circle(&one_way), None);
        let round = uses(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]);
        assert_eq!(circle(&round).unwrap(), ["b", "c", "b"]);
        let text = "use crate::model::AnyRepresentation;\n// crate::comment\nfn f() { crate::data::g() }\n#[cfg(test)]\nmod tests {\n use crate::late::X;\n}";
        let found: Vec<String> = named(text).into_iter().collect();
        assert_eq!(found, ["data", "model"]);
    }

    #[test]
    fn functions_are_measured_and_declarations_are_not() {
        let text = "trait T {\n    fn declared(&self);\n}\n\npub(crate) fn long<T>(\n    x: T,\n) -> T {\n    if true {\n        x\n    }\n}\n\nmod tests {\n    fn in_a_test() {\n    }\n}\n";
        assert_eq!(lengths(text), [("long".to_owned(), 7)]);
    }
}
