//! Whether the documentation leads anywhere: relative links, anchors, and pages that messages name.
//!
//! A page that moves breaks links that nobody clicks for months, and an error message that names a
//! page is worth nothing once the page has gone.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::steps::Failure;

/// Folders whose files may name pages as `docs/…`: sources, settings and their read-me files.
const NAMING: [&str; 3] = ["crates", "examples", "experiments"];

/// Checks all pages of the repository, and the names of pages in messages and settings.
pub(crate) fn check(root: &Path) -> Result<Option<String>, Failure> {
    let pages = pages(root)?;
    let (mut complaints, mut links) = (Vec::new(), 0);
    for page in &pages {
        let text = fs::read_to_string(page)?;
        let shown = page.strip_prefix(root).unwrap_or(page).display();
        for (line, link) in relative_links(&text) {
            links += 1;
            if let Some(wrong) = complaint(page, &text, &link)? {
                complaints.push(format!("{shown}, line {line}: {wrong}"));
            }
        }
    }
    for folder in NAMING {
        for file in files(&root.join(folder), &["rs", "toml", "md"])? {
            let shown = file.strip_prefix(root).unwrap_or(&file).display();
            for name in named_pages(&fs::read_to_string(&file)?) {
                links += 1;
                if !root.join(&name).exists() {
                    complaints.push(format!("{shown} names {name}, which does not exist"));
                }
            }
        }
    }
    if complaints.is_empty() {
        return Ok(Some(format!("{} pages, {links} links", pages.len())));
    }
    Err(Failure::new(complaints.join("\n  "))
        .with_remedy("correct the link, or add the page or the heading"))
}

/// The pages whose links are checked, sorted.
fn pages(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        if path.is_file() && path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    for folder in ["docs", "examples"] {
        found.extend(files(&root.join(folder), &["md"])?);
    }
    found.sort();
    Ok(found)
}

/// All files below a folder with one of these endings, sorted.
fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, endings)?);
        } else if path
            .extension()
            .is_some_and(|ending| endings.iter().any(|one| ending == *one))
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// What is wrong with a link of a page, if anything.
fn complaint(page: &Path, text: &str, link: &str) -> Result<Option<String>, Failure> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = page.parent().unwrap_or(Path::new(".")).join(path);
    if !path.is_empty() && !target.exists() {
        return Ok(Some(format!("`{link}` leads to no file")));
    }
    let is_page = path.is_empty() || path.ends_with(".md");
    if anchor.is_empty() || !is_page {
        return Ok(None);
    }
    let found = if path.is_empty() {
        anchors(text)
    } else {
        anchors(&fs::read_to_string(&target)?)
    };
    let missing = !found.iter().any(|one| one == anchor);
    Ok(missing.then(|| format!("`{link}` leads to no heading")))
}

/// The relative links of a page with their lines from 1; what is code is no link.
fn relative_links(text: &str) -> Vec<(usize, String)> {
    let prose = without_code_spans(&without_fences(text));
    let mut found = Vec::new();
    for (index, line) in prose.lines().enumerate() {
        for rest in line.split("](").skip(1) {
            let Some((link, _)) = rest.split_once(')') else {
                continue;
            };
            if !link.contains("://") && !link.starts_with("mailto:") {
                found.push((index + 1, link.to_owned()));
            }
        }
    }
    found
}

/// The anchors of a page: what GitHub makes of its headings.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut found = Vec::new();
    for line in without_fences(text).lines() {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let anchor = anchor(heading.trim());
        let times = seen.entry(anchor.clone()).or_insert(0);
        found.push(match *times {
            0 => anchor,
            again => format!("{anchor}-{again}"),
        });
        *times += 1;
    }
    found
}

/// The anchor of one heading: small letters, `-` for spaces, no other punctuation, links as their text.
fn anchor(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        text += before;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text += rest;
    text.chars()
        .filter(|one| one.is_alphanumeric() || [' ', '-', '_'].contains(one))
        .map(|one| if one == ' ' { '-' } else { one })
        .flat_map(char::to_lowercase)
        .collect()
}

/// The text with fenced code blocks as empty lines, so that lines keep their numbers.
fn without_fences(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        if !inside && !fence {
            kept += line;
        }
        kept.push('\n');
    }
    kept
}

/// The text without what stands between backticks; line ends stay.
fn without_code_spans(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let ticks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let (before, inside) = (&rest[..start], &rest[start + ticks..]);
        kept += before;
        let Some(end) = closing(inside, ticks) else {
            rest = inside;
            continue;
        };
        kept.extend(inside[..end].chars().filter(|one| *one == '\n'));
        rest = &inside[end + ticks..];
    }
    kept + rest
}

/// Where a run of exactly so many backticks begins.
fn closing(text: &str, ticks: usize) -> Option<usize> {
    let mut from = 0;
    while let Some(place) = text[from..].find('`') {
        let start = from + place;
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        if run == ticks {
            return Some(start);
        }
        from = start + run;
    }
    None
}

/// The pages that a file names, such as `docs/tutorial.md` in an error message.
fn named_pages(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("docs/") {
        let end = text[start..]
            .find(|one: char| !(one.is_ascii_alphanumeric() || "/-_.".contains(one)))
            .map_or(text.len(), |length| start + length);
        let name = text[start..end].trim_end_matches('.');
        if name.ends_with(".md") {
            found.push(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_with_their_lines_and_code_is_none() {
        let text = "[a](a.md) and [b](../b.md#c-d)\n```\n[no](no.md)\n```\n`[no](no.md)` ``x ` [no](no.md)``\n![alt](i.svg) [web](https://x.org/y.md)\n";
        let found = relative_links(text);
        let expected = [(1, "a.md"), (1, "../b.md#c-d"), (6, "i.svg")];
        assert_eq!(found, expected.map(|(line, link)| (line, link.to_owned())));
    }

    #[test]
    fn a_code_span_may_go_on_in_the_next_line() {
        assert_eq!(
            relative_links("`a\n[no](no.md)` [b](b.md)\n"),
            [(2, "b.md".to_owned())]
        );
    }

    #[test]
    fn anchors_are_those_of_the_web_page() {
        let text = "# What `inspect` shows, and why?\n## results.csv\n```\n# no heading\n```\n## λ and [k](x.md#y)\n## results.csv\n#no heading\n";
        assert_eq!(
            anchors(text),
            [
                "what-inspect-shows-and-why",
                "resultscsv",
                "λ-and-k",
                "resultscsv-1"
            ]
        );
    }

    #[test]
    fn pages_are_found_in_messages() {
        let text = "\"(docs/reference/logs.md lists them)\" docs/a.md. docs/ docs/images/x.svg";
        assert_eq!(named_pages(text), ["docs/reference/logs.md", "docs/a.md"]);
    }

    #[test]
    fn broken_links_are_told_with_their_place() {
        let root = std::env::temp_dir().join(format!("xtask-links-{}", std::process::id()));
        for folder in ["docs", "examples", "crates", "experiments"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(
            root.join("README.md"),
            "# Top\n[ok](docs/a.md#one) [self](#top)\n",
        )
        .unwrap();
        fs::write(root.join("docs/a.md"), "# One\n[up](../README.md)\n").unwrap();
        assert_eq!(check(&root), Ok(Some("2 pages, 3 links".to_owned())));

        fs::write(
            root.join("docs/a.md"),
            "# Two\n\n[gone](b.md) [up](../README.md#up)\n",
        )
        .unwrap();
        fs::write(root.join("crates/c.rs"), "// see docs/b.md").unwrap();
        let failure = check(&root).unwrap_err().to_string();
        fs::remove_dir_all(&root).unwrap();
        for part in [
            "README.md, line 2: `docs/a.md#one` leads to no heading",
            "docs/a.md, line 3: `b.md` leads to no file",
            "docs/a.md, line 3: `../README.md#up` leads to no heading",
            "crates/c.rs names docs/b.md, which does not exist",
        ] {
            assert!(failure.contains(part), "{part} in: {failure}");
        }
    }
}
