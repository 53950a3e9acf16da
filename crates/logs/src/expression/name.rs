//! Names of columns, and which columns of a log they stand for.

use taskscout_io::tables::{nearest_name, visible};

use super::Problem;
use crate::series::Series;

/// Names that a message lists.
const LISTED: usize = 20;

/// A name such as `vehicle_attitude.q[0:4]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Name {
    /// Where it stands in the expression.
    at: usize,
    /// Text, and between any two of them a range of elements.
    pieces: Vec<String>,
    ranges: Vec<Range>,
}

/// Elements from the first on, before the last if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    from: usize,
    to: Option<usize>,
}

impl Name {
    pub(super) fn new(at: usize) -> Self {
        Self {
            at,
            pieces: vec![String::new()],
            ranges: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces == [""]
    }

    pub(super) fn push(&mut self, letter: char) {
        if let Some(last) = self.pieces.last_mut() {
            last.push(letter);
        }
    }

    pub(super) fn push_str(&mut self, text: &str) {
        text.chars().for_each(|letter| self.push(letter));
    }

    /// Adds what stands in square brackets.
    pub(super) fn element(&mut self, text: &str) -> Result<(), String> {
        let odd = |_| format!("`[{text}]` is no element: write q[0] or q[0:4]");
        let number = |text: &str| text.trim().parse::<usize>().map_err(odd);
        let Some((from, to)) = text.split_once(':') else {
            let element = number(text)?;
            self.push_str(&format!("[{element}]"));
            return Ok(());
        };
        let optional = |text: &str| match text.trim() {
            "" => Ok(None),
            text => number(text).map(Some),
        };
        let (from, to) = (optional(from)?.unwrap_or(0), optional(to)?);
        if to.is_some_and(|to| to <= from) {
            return Err(format!(
                "`[{text}]` has no elements: the first comes before the colon, the one behind the last after it"
            ));
        }
        self.ranges.push(Range { from, to });
        self.pieces.push(String::new());
        Ok(())
    }

    /// The name if it is a plain word.
    pub(super) fn word(&self) -> Option<&str> {
        self.ranges.is_empty().then(|| self.pieces[0].as_str())
    }

    /// Whether it begins with the name of a series.
    pub(super) fn is_inside(&self, series: &str) -> bool {
        let rest = self.pieces[0].strip_prefix(series);
        !series.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The name up to its first range.
    pub(super) fn stem(&self) -> String {
        self.pieces[0].clone()
    }

    /// As it is written.
    pub(super) fn text(&self) -> String {
        let mut text = self.pieces[0].clone();
        for (range, piece) in self.ranges.iter().zip(&self.pieces[1..]) {
            let to = range.to.map(|to| to.to_string()).unwrap_or_default();
            text += &format!("[{}:{to}]{piece}", range.from);
        }
        text
    }

    /// What follows this name in a column's full name, if the column is this one or inside it; the greatest element met
    /// in each range is noted.
    fn rest<'a>(&self, mut full: &'a str, greatest: &mut [Option<usize>]) -> Option<&'a str> {
        let mut found = Vec::with_capacity(self.ranges.len());
        for (index, piece) in self.pieces.iter().enumerate() {
            full = full.strip_prefix(piece.as_str())?;
            if let Some(range) = self.ranges.get(index) {
                let (element, rest) = element(full)?;
                if element < range.from || range.to.is_some_and(|to| element >= to) {
                    return None;
                }
                found.push(element);
                full = rest;
            }
        }
        if !full.is_empty() && !full.starts_with(['.', '[']) {
            return None;
        }
        for (greatest, element) in greatest.iter_mut().zip(found) {
            *greatest = (*greatest).max(Some(element));
        }
        Some(full)
    }

    /// The columns of a series that it stands for.
    fn columns(
        &self,
        series: &Series,
        qualified: bool,
        greatest: &mut [Option<usize>],
    ) -> Vec<usize> {
        let mut found = Vec::new();
        let mut has_elements = false;
        for (column, known) in series.columns.iter().enumerate() {
            let full = match series.name.as_str() {
                name if qualified && !name.is_empty() => format!("{name}.{}", known.name),
                _ => known.name.clone(),
            };
            if let Some(rest) = self.rest(&full, greatest) {
                has_elements |= rest.starts_with('[');
                found.push((column, rest.starts_with('.')));
            }
        }
        // Elements of an array may have names too, which stand for the same numbers.
        let kept = found
            .into_iter()
            .filter(|(_, is_field)| !(*is_field && has_elements));
        kept.map(|(column, _)| column).collect()
    }

    /// The columns that it stands for, as places of series and column.
    pub(crate) fn resolve(&self, series: &[Series]) -> Result<Vec<(usize, usize)>, Problem> {
        let refuse = |problem: String| Err(Problem::new(self.at, problem));
        for qualified in [true, false] {
            let mut greatest = vec![None; self.ranges.len()];
            let mut found = Vec::new();
            for (place, one) in series.iter().enumerate() {
                let columns = self.columns(one, qualified, &mut greatest).into_iter();
                found.extend(columns.map(|column| (place, column)));
            }
            let Some(&(first, _)) = found.first() else {
                continue;
            };
            if let Some(&(other, _)) = found.iter().find(|(place, _)| *place != first) {
                let (a, b) = (&series[first].name, &series[other].name);
                let text = self.text();
                return refuse(format!(
                    "`{}` is in `{}` and in `{}`: write `{}.{}` or `{}.{}`",
                    visible(&text),
                    visible(a),
                    visible(b),
                    visible(a),
                    visible(&text),
                    visible(b),
                    visible(&text)
                ));
            }
            for (range, greatest) in self.ranges.iter().zip(greatest) {
                if let (Some(to), Some(last)) = (range.to, greatest)
                    && last + 1 < to
                {
                    return refuse(format!(
                        "`{}` goes beyond the last element, which is {last}: end it with {}",
                        visible(&self.text()),
                        last + 1
                    ));
                }
            }
            return Ok(found);
        }
        refuse(self.unknown(series))
    }

    /// What to say of a name that stands for nothing.
    fn unknown(&self, series: &[Series]) -> String {
        let text = self.text();
        let full = |one: &Series, field: &str| match one.name.as_str() {
            "" => field.to_owned(),
            name => format!("{name}.{field}"),
        };
        let is_text = |one: &Series| {
            let mut fields = one.text.iter();
            fields.any(|field| *field == text || full(one, field) == text)
        };
        if series.iter().any(is_text) {
            return format!(
                "`{}` holds text, not numbers: name another column",
                visible(&text)
            );
        }
        // The longest name of a series that it begins with.
        let owner = series.iter().filter(|one| {
            let rest = text.strip_prefix(one.name.as_str());
            rest.is_some_and(|rest| rest.starts_with('.'))
        });
        if let Some(owner) = owner.max_by_key(|one| one.name.len()) {
            let wanted = &text[owner.name.len() + 1..];
            let columns: Vec<&str> = owner
                .columns
                .iter()
                .map(|column| column.name.as_str())
                .collect();
            return format!(
                "`{}` has no column `{}`{}: its columns are {}",
                visible(&owner.name),
                visible(wanted),
                suggestion(wanted, &columns),
                listed(&columns)
            );
        }
        unknown_anywhere(&text, series)
    }
}

/// What to say of a name that is in no series.
fn unknown_anywhere(text: &str, series: &[Series]) -> String {
    let mut known: Vec<String> = Vec::new();
    for one in series {
        known.push(one.name.clone());
        for column in &one.columns {
            known.push(format!("{}.{}", one.name, column.name));
            known.push(column.name.clone());
        }
    }
    known.retain(|name| !name.is_empty() && !name.starts_with('.'));
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let (what, names): (_, Vec<&str>) = match series {
        [one] => {
            let columns = one.columns.iter();
            (
                "columns",
                columns.map(|column| column.name.as_str()).collect(),
            )
        }
        several => {
            let names = several.iter().map(|one| one.name.as_str());
            ("series", names.collect())
        }
    };
    format!(
        "there is no `{}`{}: the {what} are {}",
        visible(text),
        suggestion(text, &known),
        listed(&names)
    )
}

/// The number in square brackets that a text begins with, and what comes after it.
fn element(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    Some((number.parse().ok()?, rest))
}

/// The nearest name; elements of arrays are also known without their number.
fn suggestion(wanted: &str, names: &[&str]) -> String {
    let mut all = names.to_vec();
    all.extend(
        names
            .iter()
            .filter_map(|name| Some(name.split_once('[')?.0)),
    );
    match nearest_name(wanted, &all) {
        Some(name) => format!(" (did you mean `{}`?)", visible(name)),
        None => String::new(),
    }
}

/// Names with `and` before the last; of many, the first.
fn listed(names: &[&str]) -> String {
    let shown = |name: &&str| format!("`{}`", visible(name));
    match names {
        [] => "none".into(),
        [one] => shown(one),
        _ if names.len() > LISTED => {
            let first: Vec<String> = names[..LISTED].iter().map(shown).collect();
            format!("{} and {} more", first.join(", "), names.len() - LISTED)
        }
        [others @ .., last] => {
            let others: Vec<String> = others.iter().map(shown).collect();
            format!("{} and {}", others.join(", "), shown(last))
        }
    }
}
