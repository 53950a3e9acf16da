//! The question of a study and its answer now, each in a sentence, and how sure it is.

use serde::Serialize;
use taskscout::forecast::Interval;
use taskscout::study::ForecastRequest;

use crate::count::counted;
use crate::outlook::{Outlook, TargetOutlook, digits};
use crate::status::{ItemStatus, Status};
use crate::stored::StoredStudy;
use crate::what_if::Supposed;

/// Tasks that a sentence names before it counts the others.
const NAMED: usize = 4;
/// The part of the error that rows of a target must leave to be much better than the plan.
const MUCH: f64 = 0.9;

/// What somebody who has a minute wants to know.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What the study is to find out.
    pub question: String,
    /// What to do now.
    pub verdict: String,
    /// How good the model is, and what more would bring.
    pub sure: String,
    /// Why these tasks.
    pub why: String,
}

impl StoredStudy {
    /// The question of the study and its answer, given where it stands, what more would bring, and what it would ask
    /// for next.
    #[must_use]
    pub fn answer(
        &self,
        status: &Status,
        outlook: Option<&Outlook>,
        next: Option<&Supposed>,
    ) -> Answer {
        Answer {
            question: self.question(status),
            verdict: self.verdict(status, outlook, next),
            sure: sure(status, outlook),
            why: why(status, next),
        }
    }

    fn question(&self, status: &Status) -> String {
        let names = |names: Vec<&str>| joined(&names, NAMED);
        let outputs = self.definition().outputs.iter();
        let outputs = names(outputs.map(|column| column.name.as_str()).collect());
        let targets: Vec<&str> = status.targets.iter().map(|one| one.name.as_str()).collect();
        let tasks = match self.study().config().space.count() {
            Some(count) => format!("Which of {count} tasks"),
            None => "Which tasks".to_owned(),
        };
        let on = match targets.is_empty() {
            true => String::new(),
            false => format!(" on {}", names(targets)),
        };
        let are = match self.definition().outputs.len() {
            1 => "is",
            _ => "are",
        };
        format!("{tasks} should be measured next, so that {outputs} {are} predicted well{on}?")
    }

    fn verdict(
        &self,
        status: &Status,
        outlook: Option<&Outlook>,
        next: Option<&Supposed>,
    ) -> String {
        if !status.open.is_empty() {
            let items: Vec<(&str, usize)> = status.open.iter().map(missing).collect();
            let rows = outlook.and_then(better_rows).map_or(String::new(), |name| {
                format!(" Rows of {name} itself would help more, if they can be had.")
            });
            return format!("Measure {} next.{rows}", tasks(&items));
        }
        if let Some(outlook) = outlook.filter(|outlook| outlook.advice.stop) {
            return format!(
                "Stop here: the next {} are expected to lower the error by {} only.",
                outlook.unit,
                percent(of_error(outlook.advice.gain))
            );
        }
        if let Some((name, gain)) = outlook.and_then(only_rows_help) {
            return format!(
                "Collect rows of {name} itself, if they can be had, and else stop here: other tasks are expected to lower the error by {} only.",
                percent(gain)
            );
        }
        match next.filter(|next| !next.items.is_empty()) {
            Some(next) => {
                let items: Vec<(&str, usize)> = next
                    .items
                    .iter()
                    .map(|item| (item.task.as_str(), item.n))
                    .collect();
                format!(
                    "Ask for a plan; with {} {} it would be {}.",
                    next.budget,
                    next.unit,
                    tasks(&items)
                )
            }
            None => format!("{}.", crate::words::capital(&status.next)),
        }
    }
}

/// What an item still misses.
fn missing(item: &ItemStatus) -> (&str, usize) {
    (&item.task, item.n.saturating_sub(item.collected))
}

fn tasks(items: &[(&str, usize)]) -> String {
    // A task may be asked for by several items.
    let mut found: Vec<(&str, usize)> = Vec::new();
    for (task, n) in items {
        match found.iter_mut().find(|(known, _)| known == task) {
            Some((_, sum)) => *sum += n,
            None => found.push((task, *n)),
        }
    }
    let samples: usize = found.iter().map(|(_, n)| n).sum();
    let alone = found.len() == 1;
    let named: Vec<String> = found
        .iter()
        .map(|(task, n)| match alone {
            true => (*task).to_owned(),
            false => format!("{task} ({n})"),
        })
        .collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let samples = counted(samples, "sample");
    format!("{samples} of {}", joined(&named, NAMED))
}

/// Names with commas and a last `and`; those beyond the first few are counted.
fn joined(names: &[&str], most: usize) -> String {
    let rest = names.len().saturating_sub(most);
    match names {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        _ if rest > 0 => format!("{} and {rest} more", names[..most].join(", ")),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// An interval with its unit, for a sentence.
fn range(interval: &Interval) -> String {
    format!(
        "between {} and {} in 9 of 10 cases",
        digits(interval.low),
        digits(interval.high)
    )
}

fn sure(status: &Status, outlook: Option<&Outlook>) -> String {
    let Some(outlook) = outlook else {
        let rows: usize = status.targets.iter().map(|target| target.rows).sum();
        return format!(
            "There is no forecast yet: {} of the targets and {} have come.",
            counted(rows, "row"),
            counted(status.source_rows, "source row")
        );
    };
    let one = |target: &TargetOutlook| {
        format!(
            "The error on {} is now about {} {} ({}).",
            target.name,
            digits(target.now.mean),
            outlook.error_unit,
            range(&target.now)
        )
    };
    let mut all: Vec<String> = outlook.targets.iter().map(one).collect();
    all.push(format!("{}.", crate::words::capital(&outlook.sentence)));
    all.join(" ")
}

/// Whether rows of a target would lower its error much more than the plan does: its name.
fn better_rows(outlook: &Outlook) -> Option<&str> {
    let target = outlook.targets.first()?;
    let next = target.further.first()?;
    let rows = next.target_rows.as_ref()?;
    (rows.mean < MUCH * next.design.mean).then_some(target.name.as_str())
}

/// The part of the error that goes where a part of the loss, its square, goes.
fn of_error(gain: f64) -> f64 {
    1.0 - (1.0 - gain.clamp(0.0, 1.0)).sqrt()
}

/// Where rows of a target would help and a planned batch is hardly worth it: the target's name, and the part of the error
/// that the batch takes off at most.
fn only_rows_help(outlook: &Outlook) -> Option<(&str, f64)> {
    let name = better_rows(outlook)?;
    let gains = outlook.targets.iter().map(|target| {
        let next = target.further.first()?;
        Some(1.0 - next.design.mean / target.before().mean)
    });
    let most = gains
        .collect::<Option<Vec<f64>>>()?
        .into_iter()
        .fold(0.0, f64::max);
    let least = ForecastRequest::further(&[]).least_gain;
    (most < of_error(least)).then_some((name, most))
}

fn why(status: &Status, next: Option<&Supposed>) -> String {
    let reasons = status.open.iter().map(|item| item.why.as_str());
    let reasons: Vec<&str> = match status.open.is_empty() {
        false => reasons.collect(),
        true => next.map_or_else(Vec::new, |next| {
            next.items.iter().map(|item| item.why.as_str()).collect()
        }),
    };
    // A reason may have several parts, and items share them.
    let mut distinct: Vec<String> = Vec::new();
    for part in reasons.iter().flat_map(|reason| reason.split("; ")) {
        let part = part.to_owned();
        if !distinct.contains(&part) {
            distinct.push(part);
        }
    }
    match distinct.len() {
        0 => String::new(),
        1..=3 => format!("{}.", crate::words::capital(&distinct.join("; "))),
        _ => format!(
            "{}; each item has its reason below.",
            crate::words::capital(&distinct[..2].join("; "))
        ),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_named_once_and_the_rest_is_counted() {
        assert_eq!(tasks(&[("a", 3)]), "3 samples of a");
        assert_eq!(
            tasks(&[("a", 3), ("b", 1), ("a", 2)]),
            "6 samples of a (5) and b (1)"
        );
        let many = ["a", "b", "c", "d", "e", "f"].map(|name| (name, 1));
        assert_eq!(
            tasks(&many),
            "6 samples of a (1), b (1), c (1), d (1) and 2 more"
        );
        assert_eq!(joined(&[], 4), "nothing");
    }
}
