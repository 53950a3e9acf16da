//! Where the keys of an experiment file stand, so that whatever is wrong with their meaning is told
//! with a line and a column, as what is wrong with their syntax is.
//!
//! Checks name a setting by its path ([`LabError::Setting`]). Only here is it looked up: first among
//! the options of the command line, which replace what the file says, then in the file.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::LabError;
use crate::options::ExperimentOptions;

/// The keys of an experiment file with their places.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Places {
    file: String,
    text: String,
    keys: Vec<Place>,
}

/// Where a key stands.
#[derive(Debug, Clone, PartialEq)]
struct Place {
    /// Names of tables and key, joined by dots.
    path: String,
    /// The bytes of the value, or of a table's first mention.
    span: Range<usize>,
}

impl Places {
    /// The places in a text that is known to be readable.
    #[must_use]
    pub fn of(text: &str, file: &str) -> Self {
        let mut keys = Vec::new();
        if let Ok(document) = DeTable::parse(text) {
            visit(document.get_ref(), "", &mut keys);
        }
        Self {
            file: file.to_owned(),
            text: text.to_owned(),
            keys,
        }
    }

    /// The paths of the keys directly inside a table.
    pub(crate) fn inside(&self, table: &str) -> impl Iterator<Item = &str> {
        let prefix = format!("{table}.");
        self.keys.iter().filter_map(move |key| {
            let rest = key.path.strip_prefix(&prefix)?;
            (!rest.contains(['.', '['])).then_some(key.path.as_str())
        })
    }

    /// Whether something stands at a path.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.keys.iter().any(|key| key.path == path)
    }

    /// Says of an error about a setting where it stands in the file.
    #[must_use]
    pub fn found(&self, error: LabError) -> LabError {
        self.locate(error, &ExperimentOptions::default())
    }

    /// Says of an error about a setting where that was given.
    pub(crate) fn locate(&self, error: LabError, options: &ExperimentOptions) -> LabError {
        let LabError::Setting(wrong) = error else {
            return error;
        };
        if let Some(flag) = given_as(&wrong.path, options) {
            let gap = if wrong.subject.is_empty() { ":" } else { "" };
            return LabError::Input(format!("{flag}{gap} {}", wrong.problem));
        }
        if self.file.is_empty() {
            return LabError::Input(wrong.to_string());
        }
        let span = self.nearest(&wrong.path).map(|place| place.span.clone());
        in_file(&self.text, &self.file, span, &wrong.to_string())
    }

    /// What the library says of a setting of the file, with its place.
    #[must_use]
    pub fn told(&self, error: taskscout::Error) -> LabError {
        match error {
            taskscout::Error::Setting { key, problem } => {
                self.found(LabError::setting(&key, problem))
            }
            other => other.into(),
        }
    }

    /// The key of this path; else, as checks of a part know its own keys only, the one key of that
    /// name further inside its table; else the table that lacks it.
    fn nearest(&self, path: &str) -> Option<&Place> {
        let exact = |path: &str| self.keys.iter().find(|key| key.path == path);
        if let Some(key) = exact(path) {
            return Some(key);
        }
        let (table, name) = path.rsplit_once('.')?;
        let (prefix, ending) = (format!("{table}."), format!(".{name}"));
        let mut inner = self
            .keys
            .iter()
            .filter(|key| !key.path.contains('['))
            .filter(|key| key.path.starts_with(&prefix) && key.path.ends_with(&ending));
        match (inner.next(), inner.next()) {
            (Some(only), None) => Some(only),
            _ => self.nearest(table),
        }
    }
}

fn visit(table: &DeTable<'_>, parent: &str, keys: &mut Vec<Place>) {
    for (key, value) in table {
        let path = match parent {
            "" => key.get_ref().to_string(),
            parent => format!("{parent}.{}", key.get_ref()),
        };
        let span = match value.get_ref() {
            DeValue::Table(_) if key.span().start < value.span().start => key.span(),
            _ => value.span(),
        };
        keys.push(Place {
            path: path.clone(),
            span,
        });
        inside(value, &path, keys);
    }
}

/// Tables below a key, also those in lists: these by the path of the list, and by that with their place from 0, `list[2]`.
fn inside(value: &Spanned<DeValue<'_>>, path: &str, keys: &mut Vec<Place>) {
    let items = match value.get_ref() {
        DeValue::Table(table) => return visit(table, path, keys),
        DeValue::Array(items) => items,
        _ => return,
    };
    for (place, item) in items.iter().enumerate() {
        inside(item, path, keys);
        // Lists in lists have no places, which would multiply them.
        if !path.contains('[') {
            let path = format!("{path}[{place}]");
            inside(item, &path, keys);
            let span = item.span();
            keys.push(Place { path, span });
        }
    }
}

/// What is wrong at a place of a file, with the line that it is about.
#[must_use]
pub fn in_file(text: &str, file: &str, span: Option<Range<usize>>, problem: &str) -> LabError {
    let Some(span) = span else {
        return LabError::Input(format!("{file}: {problem}"));
    };
    let (line, column) = line_and_column(text, span.start);
    LabError::InFile {
        sentence: format!("{file}, line {line}, column {column}: {problem}"),
        snippet: snippet(text, file, span),
    }
}

/// The first line of a place, with a mark below; nothing where there is no such place.
fn snippet(text: &str, file: &str, span: Range<usize>) -> String {
    let Some(from) = text.get(span.start..) else {
        return String::new();
    };
    let line = from.lines().next().map_or(0, str::len);
    let mut end = span.end.clamp(span.start, span.start + line);
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let marked = AnnotationKind::Primary.span(span.start..end);
    let shown = Snippet::source(text).path(file).annotation(marked);
    let group = Level::ERROR.primary_title("").element(shown);
    let rendered = Renderer::plain().render(&[group]);
    // The sentence stands above it already.
    let (_, rest) = rendered.split_once('\n').unwrap_or_default();
    rest.to_owned()
}

/// Both from 1; columns count characters.
fn line_and_column(text: &str, start: usize) -> (usize, usize) {
    let before = text.get(..start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let last = before.rsplit('\n').next().unwrap_or_default();
    (line, last.chars().count() + 1)
}

/// The option that a value came from, where it did not come from its key in a file.
pub(crate) fn given_as(path: &str, options: &ExperimentOptions) -> Option<&'static str> {
    if let Some(key) = path.strip_prefix("world.") {
        return options.world.given_as(key);
    }
    let flags: &[(bool, &str)] = match path {
        "seeds" => &[(options.seeds.is_some(), "--seeds")],
        "seed" => &[(options.seed.is_some(), "--seed")],
        "target.samples" => &[(options.n_target.is_some(), "--n-target")],
        "target.joint" => &[(options.world.joint_targets(), "--joint-targets")],
        "target.distribution" => &[(
            options
                .world
                .synthetic()
                .is_some_and(|own| own.target_distribution),
            "--target-distribution",
        )],
        "strategies" => &[(options.strategies.is_some(), "--strategies")],
        "learner.oracle" => &[(options.oracle.is_some(), "--oracle")],
        // What the file itself says of budgets is checked before these change them.
        "schedule" => &[
            (options.budget_scale.is_some(), "--budget-scale"),
            (options.quick, "--quick"),
            (options.schedule.is_some(), "--schedule"),
        ],
        _ => &[],
    };
    let given = flags.iter().find(|(given, _)| *given);
    given.map(|(_, flag)| *flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
name = \"é\" # two bytes
[world]
noise = 0.5
input_features = { kind = \"identity\", dim = 3 }
[learner.descent]
batch = 2
[[source.targets]]
task = [1]
[[source.targets]]
task = [2]
";

    fn place(path: &str) -> String {
        let (places, options) = (Places::of(TEXT, "f.toml"), ExperimentOptions::default());
        let told = places.locate(LabError::about(path, "wrong"), &options);
        told.to_string().replace(": wrong", "")
    }

    #[test]
    fn the_line_is_shown_with_a_mark() {
        let shown = |text: &str, start: usize, end: usize| snippet(text, "f.toml", start..end);
        let two = "a = 1\nbatch = -2 # few\n";
        let lines = shown(two, 14, 16);
        assert!(lines.contains("f.toml:2:9"), "{lines}");
        assert!(lines.contains("2 | batch = -2 # few"), "{lines}");
        assert!(
            lines.contains("|         ^^\n") || lines.ends_with("|         ^^"),
            "{lines}"
        );
        // A place that spans lines is marked on its first, and one past the end does no harm.
        assert!(!shown(two, 14, 24).contains("3 |"));
        assert_eq!(shown("a", 5, 9), "");
        assert_eq!(shown("é", 1, 2), "");
        assert!(shown("é", 0, 1).contains("1 | é"));
    }

    #[test]
    fn a_key_is_found_by_its_path_or_nearby() {
        assert_eq!(place("name"), "f.toml, line 1, column 8");
        assert_eq!(place("world.noise"), "f.toml, line 3, column 9");
        assert_eq!(place("world.input_features"), "f.toml, line 4, column 1");
        // A part of the world that knows its own key only.
        assert_eq!(place("world.dim"), "f.toml, line 4, column 45");
        assert_eq!(place("learner.batch"), "f.toml, line 6, column 9");
        // What is missing belongs to its table.
        assert_eq!(place("world.k"), "f.toml, line 2, column 1");
        // Two of the same name: the table of both.
        assert!(place("source.task").starts_with("f.toml, line 7"));
        assert_eq!(place("schedule.rounds"), "f.toml");
        // Items of lists by their places.
        assert_eq!(place("source.targets[1].task"), "f.toml, line 10, column 8");
        assert_eq!(place("source.targets[1].k"), "f.toml, line 9, column 1");
    }

    #[test]
    fn a_table_knows_its_own_keys() {
        let places = Places::of(TEXT, "f.toml");
        let inside: Vec<&str> = places.inside("learner.descent").collect();
        assert_eq!(inside, ["learner.descent.batch"]);
        let inside: Vec<&str> = places.inside("learner").collect();
        assert_eq!(inside, ["learner.descent"]);
    }
}
