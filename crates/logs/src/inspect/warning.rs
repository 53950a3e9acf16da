//! Warnings: what is wrong, where, and what to do about it.

use serde::Serialize;

/// Places that a message names; the others are counted.
const NAMED: usize = 3;

/// Something that would spoil learning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    /// Of which kind it is.
    pub kind: WarningKind,
    /// The input that is concerned, or the output; none if it is the whole row.
    pub column: Option<String>,
    /// The recordings that are concerned, or for outputs the tasks.
    pub places: Vec<String>,
    /// The same in a sentence, with what to do about it.
    pub message: String,
}

/// The kinds of warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// Something that was odd when the files were read.
    Reading,
    /// Too few rows to learn a task from.
    FewRows,
    /// An input or output that never changes.
    Constant,
    /// Two inputs that say the same.
    Copies,
    /// Values far outside.
    Outliers,
    /// Many values at exactly the least or greatest.
    Saturation,
    /// Time jumps.
    Gaps,
    /// Time stands still.
    RepeatedTimes,
    /// An input that varies far more in one recording than in another.
    Units,
    /// Attitudes that are no rotations.
    Quaternions,
    /// Rows that repeat the row before.
    RepeatedRows,
}

impl Warning {
    /// What was said when the files were read.
    pub(super) fn reading(message: &str) -> Self {
        Self {
            kind: WarningKind::Reading,
            column: None,
            places: Vec::new(),
            message: message.to_owned(),
        }
    }

    /// A warning about places, each with a remark.
    pub(super) fn about(
        kind: WarningKind,
        column: Option<String>,
        places: Vec<(String, String)>,
    ) -> Self {
        let (what, remedy) = words(kind);
        let subject = column.as_deref().unwrap_or_default();
        let what = if subject.is_empty() {
            what.to_owned()
        } else {
            format!("{subject} {what}")
        };
        let mut list: Vec<String> = places
            .iter()
            .take(NAMED)
            .map(|(place, remark)| match remark.as_str() {
                "" => place.clone(),
                remark => format!("{place} ({remark})"),
            })
            .collect();
        if places.len() > NAMED {
            list.push(format!("{} more", places.len() - NAMED));
        }
        let last = list.pop().unwrap_or_default();
        let list = if list.is_empty() {
            last
        } else {
            format!("{} and {last}", list.join(", "))
        };
        Self {
            kind,
            column,
            message: format!("{what} in {list}: {remedy}"),
            places: places.into_iter().map(|(place, _)| place).collect(),
        }
    }
}

/// What is wrong, and what to do about it.
fn words(kind: WarningKind) -> (&'static str, &'static str) {
    match kind {
        WarningKind::Reading => ("was odd", "see the message"),
        WarningKind::FewRows => (
            "too few rows to learn from",
            "record more, or leave these out",
        ),
        WarningKind::Constant => (
            "is constant",
            "nothing can be learnt from it there, so check the sensor or leave it out",
        ),
        WarningKind::Copies => (
            "has the same values as another input",
            "leave one of them out",
        ),
        WarningKind::Outliers => (
            "has values more than 10 robust deviations from its median",
            "check the sensor, and remove these rows if they are faults",
        ),
        WarningKind::Saturation => (
            "is often exactly at its limit",
            "values beyond the limit are not recorded, so models are less reliable there",
        ),
        WarningKind::Gaps => (
            "time has gaps of more than 10 steps",
            "cut the recording there if it holds two runs",
        ),
        WarningKind::RepeatedTimes => (
            "time repeats",
            "write times with more digits; without them, the order of the rows is used",
        ),
        WarningKind::Units => (
            "varies more than 100 times as much as in other recordings",
            "check that all recordings have the same unit",
        ),
        WarningKind::Quaternions => (
            "q is not of unit norm",
            "check that it is the attitude, and normalise it",
        ),
        WarningKind::RepeatedRows => (
            "many rows repeat the row before",
            "they add nothing, so log no faster than the sensors measure",
        ),
    }
}
