//! What people read after each change of a study: short lines, with what to do next.

use std::path::Path;
use std::time::Duration;

use taskscout::study::{Collection, Progress, TrackedItem};
use taskscout_io::tables::short;
use taskscout_lab::plan::aligned;
use taskscout_models::SavedModel;

use crate::asking::Asked;
use crate::changes::Receipt;
use crate::checklist::ItemOutcome;
use crate::count::counted;
use crate::definition::Column;
use crate::feature_choice::described;
use crate::place::StudyHead;
use crate::state::{Batch, Line};
use crate::status::Status;
use crate::stored::StoredStudy;
use crate::time::minute;
use crate::worker::{WorkEvent, Worked};

/// What stands above the commands in the long help.
pub const ABOUT: &str = "Run a measurement campaign: which tasks to measure next, what came back, the model

A study lives in a file (or in PostgreSQL, for teams). It proposes what to measure, records what you tell it,
learns one shared representation from everything, and proposes again. Whatever it acknowledged is on disk:
a killed program, a full disk or a second person at the same time loses nothing and counts nothing twice.";

/// What stands below the commands in the long help.
pub const EXAMPLES: &str = "A campaign:
  taskscout study new --candidates winds.csv --cost minutes --inputs vx,vy,pwm --outputs force --target tomorrow
  taskscout study target hover.csv                  the few rows that there are of the target
  taskscout study ask --budget 120 --out today.csv  a plan: what to measure, how much, and why
  taskscout study tell 0 run0.csv                   what came back of item 0
  taskscout study tell today.csv                    or all of it: today.csv, with the column `file` filled in
  taskscout study undo                              the last change was a mistake
  taskscout study forecast                          does another day pay?
  taskscout study model --out force.safetensors     the model so far, for `taskscout predict`

The store is studies.db here, or what --store or TASKSCOUT_STORE says; the study is the only one in it, or
what --study or TASKSCOUT_STUDY says. docs/how-to/run-a-campaign.md tells the story of two days in a tunnel.";

/// The same sentence with a capital letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// A study that just began.
#[must_use]
pub fn begun(status: &Status, study: &StoredStudy, store: &str) -> String {
    let names = |columns: &[Column]| {
        let labels: Vec<String> = columns.iter().map(Column::label).collect();
        labels.join(", ")
    };
    let (definition, config) = (study.definition(), study.study().config());
    // An address may hold a password.
    let place = match store.split_once("://") {
        Some((kind, _)) if kind.starts_with("postgres") => "the database",
        _ => store,
    };
    let table = config.space.count();
    format!(
        "study `{}` begins in {place}\n\ntasks     {}{}\n          {}\ninputs    {}\n          {}\noutputs   {}\ncosts     {}\n{}\nnext: {}\n",
        status.study,
        table.map_or(String::new(), |count| format!(
            "{count}, with the parameters "
        )),
        names(&definition.parameters),
        described(&config.task_features, &definition.feature_choices.tasks),
        names(&definition.inputs),
        described(&config.input_features, &definition.feature_choices.inputs),
        names(&definition.outputs),
        costs(&config.collection, definition.budget_unit()),
        mistaken_cost(&definition.parameters, &config.collection)
            .filter(|_| table.is_some())
            .unwrap_or_default(),
        status.next
    )
}

/// What columns of costs are often called.
const COSTS: [&str; 10] = [
    "cost", "costs", "price", "minutes", "hours", "days", "euro", "euros", "usd", "dollars",
];

/// A remark on a column that has the name of a cost and was taken as a parameter.
fn mistaken_cost(parameters: &[Column], collection: &Collection) -> Option<String> {
    let sounds_like_cost = |column: &&Column| {
        let name = column.name.to_lowercase();
        let mut words = name.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| COSTS.contains(&word))
    };
    let found = parameters.iter().find(sounds_like_cost)?;
    collection.task_costs.is_empty().then(|| {
        let name = &found.name;
        format!(
            "\nnote: the column `{name}` was taken as a parameter of the tasks; if it is what a sample costs, begin the study anew with `--cost {name}`\n"
        )
    })
}

/// What collecting costs, in words.
fn costs(collection: &Collection, unit: &str) -> String {
    let costs = collection.task_costs.values().copied();
    let sample = match (costs.clone().reduce(f64::min), costs.reduce(f64::max)) {
        (Some(low), Some(high)) => format!("{} to {}", short(low), short(high)),
        _ => short(collection.sample_cost),
    };
    format!(
        "{sample} {unit} a sample, {} a task",
        short(collection.switch_cost)
    )
}

/// The studies of a store.
#[must_use]
pub fn list(heads: &[StudyHead]) -> String {
    let mut lines = vec![
        ["entries", "study", "last change (UTC)"]
            .map(str::to_owned)
            .to_vec(),
    ];
    lines.extend(heads.iter().map(|head| {
        vec![
            head.version.to_string(),
            head.study.clone(),
            minute(head.changed_us),
        ]
    }));
    aligned(&lines)
}

/// Rows that were told, and what is missing of their item.
#[must_use]
pub fn receipt(receipt: &Receipt, item: Option<&TrackedItem>) -> String {
    let Batch {
        id,
        of,
        rows,
        time_us,
        author,
        ..
    } = &receipt.batch;
    if receipt.already {
        return format!(
            "{} of {of} told before ({} UTC, {author}): nothing changed\n",
            counted(*rows, "row"),
            minute(*time_us)
        );
    }
    let rest = item.map_or(String::new(), |tracked| match tracked.progress {
        Progress::Done => "; the item is complete".into(),
        _ => format!(
            "; {} are missing",
            tracked.item.n.saturating_sub(tracked.collected)
        ),
    });
    let warning = receipt.same_as.as_ref().map_or(String::new(), |other| {
        format!("warning: the same rows were told as {other} before; if a file was mistaken, say `taskscout study undo`\n")
    });
    format!(
        "{} of {of} taken as batch {id}{rest}\n{warning}",
        counted(*rows, "row")
    )
}

/// A plan, as a checklist and with what to know of it.
#[must_use]
pub fn asked(asked: &Asked, checklist: &str, out: Option<&Path>) -> String {
    let mut text = checklist.to_owned();
    if asked.already {
        text += "this plan was made before under the same key: nothing changed, and a budget given now does not count\n";
    }
    if let Some(behind) = asked.behind {
        text += &format!(
            "note: another process trains, so the plan was made with the last model, {behind} entries behind\n"
        );
    }
    if asked.plan.short > 0 {
        text += &format!(
            "note: {} samples of the budget found no task with rows left\n",
            asked.plan.short
        );
    }
    if let Some(out) = out {
        text += &format!(
            "{} written: fill in the column `file` (or `failed`), then `taskscout study tell {}`\n",
            out.display(),
            out.display()
        );
    }
    text
}

/// What became of the items of a table.
#[must_use]
pub fn outcomes(outcomes: &[(u64, ItemOutcome)], study: &StoredStudy) -> String {
    let line = |(item, outcome): &(u64, ItemOutcome)| match outcome {
        ItemOutcome::Taken(taken) => receipt(taken, study.item(*item).ok()),
        ItemOutcome::GivenUp(reason) => format!("item {item} given up: {reason}\n"),
        ItemOutcome::WasGivenUp => format!("item {item} was given up before: nothing changed\n"),
    };
    outcomes.iter().map(line).collect()
}

/// An item that somebody measures from now on.
#[must_use]
pub fn started(started: Option<&TrackedItem>, lasting: Duration) -> String {
    match started {
        None => "nothing is open that nobody measures: ask for a plan\n".into(),
        Some(tracked) => format!(
            "item {} is yours for {} minutes: {} samples of task {} at {:?}\n",
            tracked.item.id,
            lasting.as_secs().div_ceil(60),
            tracked.item.n.saturating_sub(tracked.collected),
            tracked.item.task.id,
            tracked.item.task.parameters()
        ),
    }
}

/// An item that was given up or back.
#[must_use]
pub fn failed(item: u64, retry: bool) -> String {
    match retry {
        true => format!("item {item} is free again\n"),
        false => format!("item {item} is given up\n"),
    }
}

/// Batches that were retracted.
#[must_use]
pub fn retracted(batches: &[Batch]) -> String {
    let line = |batch: &Batch| {
        format!(
            "batch {} ({} rows of {}) retracted\n",
            batch.id, batch.rows, batch.of
        )
    };
    batches.iter().map(line).collect()
}

/// A change that was taken back.
#[must_use]
pub fn undone(line: &Line) -> String {
    format!(
        "taken back: {} (entry {}, by {})\n",
        line.what, line.version, line.author
    )
}

/// The batches as a table.
#[must_use]
pub fn batches(batches: &[Batch]) -> String {
    let head = ["rows", "batch", "of", "told (UTC)", "by", "file"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(batches.iter().map(|batch| {
        vec![
            batch.rows.to_string(),
            batch.id.to_string(),
            batch.of.to_string(),
            minute(batch.time_us),
            batch.author.clone(),
            batch.source.clone().unwrap_or_default(),
        ]
    }));
    aligned(&lines)
}

/// The history as a table.
#[must_use]
pub fn history(history: &[Line]) -> String {
    let mut lines = vec![
        ["entry", "time (UTC)", "by", "what"]
            .map(str::to_owned)
            .to_vec(),
    ];
    lines.extend(history.iter().map(|line| {
        let back = if line.undone { " (taken back)" } else { "" };
        vec![
            line.version.to_string(),
            minute(line.time_us),
            line.author.clone(),
            format!("{}{back}", line.what),
        ]
    }));
    aligned(&lines)
}

/// A model that was written to a file.
#[must_use]
pub fn saved(model: &SavedModel, ways: &[String], out: &Path) -> String {
    format!(
        "{} written: the model of target {}, made of these ways to predict by how well each does\n  {}\nuse it with `taskscout predict {} --inputs FILE`\n",
        out.display(),
        model.provenance().target,
        ways.join("\n  "),
        out.display()
    )
}

/// What a worker just did.
#[must_use]
pub fn work(event: &WorkEvent) -> String {
    match event {
        WorkEvent::Asked(items) => format!("asked: {} to measure", counted(*items, "item")),
        WorkEvent::Started(item) => format!("item {item}: measuring"),
        WorkEvent::Told(item, rows) => format!("item {item}: {} told", counted(*rows, "row")),
        WorkEvent::Failed(item, reason, true) => {
            format!("item {item}: {reason}; it will be tried again")
        }
        WorkEvent::Failed(item, reason, false) => format!("item {item}: {reason}; given up"),
        WorkEvent::Overtaken(item) => format!("item {item}: somebody else told it meanwhile"),
        WorkEvent::Note(note) => format!("note: {note}"),
    }
}

/// What a worker did in all.
#[must_use]
pub fn worked(worked: &Worked) -> String {
    format!(
        "{} measured, {} told, {} failed\n",
        counted(worked.told, "item"),
        counted(worked.rows, "row"),
        counted(worked.failed, "attempt")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_became_a_parameter_is_remarked() {
        let columns = ["wind", "tunnel_minutes"].map(Column::named);
        let free = Collection::default();
        let note = mistaken_cost(&columns, &free).unwrap();
        assert!(note.contains("`--cost tunnel_minutes`"), "{note}");
        assert_eq!(mistaken_cost(&columns[..1], &free), None);
        let priced = Collection {
            task_costs: [("a".into(), 2.0)].into(),
            ..Collection::default()
        };
        assert_eq!(mistaken_cost(&columns, &priced), None);
    }
}
