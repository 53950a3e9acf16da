//! What people do to a study on its page, and what would follow from it.
//!
//! Rows count once however often they are sent. Whoever acts says what the page showed; if that is no longer so,
//! nothing is done and the answer says what changed.

use serde::{Deserialize, Serialize};
use taskscout_io::tables::visible;
use taskscout_studies::{
    AskOptions, ItemState, Numbers, Receipt, StoredStudy, Upload, WhatIf, words,
};

use crate::learnt::{Effect, Standing};
use crate::refusal::{Answered, Refusal};

/// Letters of names and reasons that are kept.
const LONGEST: usize = 500;

/// What the page showed of an item.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seen {
    state: ItemState,
    collected: usize,
}

/// Where rows belong.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowsFor {
    /// What the file is called.
    pub(crate) name: String,
    pub(crate) author: Option<String>,
    /// The item that all rows are of.
    item: Option<u64>,
    /// The target that all rows are of. Without item and target a column `item` says it row by row.
    target: Option<String>,
    /// The parameters that were really set.
    achieved: Option<String>,
    /// What the page showed of the item.
    state: Option<ItemState>,
    collected: Option<usize>,
}

/// A change without rows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub(crate) enum Change {
    /// An item is given up, or back to be tried again.
    Fail {
        item: u64,
        reason: String,
        #[serde(default)]
        retry: bool,
        seen: Seen,
    },
    /// Somebody measures an item now.
    Start { item: u64, minutes: u32, seen: Seen },
    /// Rows are forgotten.
    Retract { batch: String },
    /// Something is written down.
    Note { text: String, seen_version: u64 },
    /// A plan is asked for.
    Ask {
        #[serde(flatten)]
        wanted: WhatIf,
        /// What to call it: the same plan comes back under the same key.
        key: String,
        seen_rounds: usize,
    },
    /// The last change is taken back.
    Undo { seen_version: u64 },
}

/// A change and who makes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Signed {
    pub(crate) author: Option<String>,
    #[serde(flatten)]
    pub(crate) change: Change,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Done {
    pub(crate) sentence: String,
    /// The number of entries in the log now.
    pub(crate) version: u64,
    /// Whether nothing changed because it had been done before.
    pub(crate) already: bool,
}

/// What would be taken of a table, and what would follow.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RowsPreview {
    upload: Upload,
    effect: Effect,
    remarks: Vec<String>,
}

/// Who acts, as the log will name it.
pub(crate) fn author(given: Option<&str>) -> String {
    let name = visible(given.unwrap_or_default().trim()).into_owned();
    let name: String = name.chars().take(80).collect();
    match name.is_empty() {
        true => "somebody on the page".to_owned(),
        false => name,
    }
}

fn kept(text: &str) -> String {
    visible(text.trim()).chars().take(LONGEST).collect()
}

/// Refuses to act on an item that is no longer what the page showed.
fn check(study: &StoredStudy, item: u64, seen: Seen) -> Answered<()> {
    let tracked = study.item(item)?;
    let state = study.item_state(tracked);
    if state == seen.state && tracked.collected == seen.collected {
        return Ok(());
    }
    Err(Refusal::stale(format!(
        "item {item} changed since this page was loaded: it is {state} now, with {} of {} rows; look again before you act",
        tracked.collected, tracked.item.n
    )))
}

impl RowsFor {
    /// Tells the rows of a table.
    pub(crate) fn tell(&self, study: &mut StoredStudy, upload: &Upload) -> Answered<Vec<Receipt>> {
        if let Some(target) = &self.target {
            return Ok(vec![study.tell_target(target, upload.measured())?]);
        }
        let Some(item) = self.item else {
            return self.tell_by_item(study, upload);
        };
        let set: Option<Numbers> = match self.achieved.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(text) => Some(text.parse().map_err(Refusal::input)?),
        };
        let task = study.achieved(item, set.map(|set| set.0))?;
        Ok(vec![study.tell(item, task.as_ref(), upload.measured())?])
    }

    fn tell_by_item(&self, study: &mut StoredStudy, upload: &Upload) -> Answered<Vec<Receipt>> {
        let lines = upload.by_item()?;
        if lines.is_empty() {
            return Err(Refusal::input(format!(
                "{} has no column `item`: choose the item or the target that its rows are of",
                upload.name
            )));
        }
        // Nothing is told before every item is known to be there.
        for item in lines.keys() {
            study.item(*item)?;
        }
        let tell = |(item, rows)| Ok(study.tell(item, None, &rows)?);
        lines.into_iter().map(tell).collect()
    }

    /// What the page showed, if it said so.
    fn seen(&self) -> Option<(u64, Seen)> {
        let seen = Seen {
            state: self.state?,
            collected: self.collected?,
        };
        Some((self.item?, seen))
    }

    /// Tells the rows, unless the page is stale; the same rows again are welcome.
    pub(crate) fn take(&self, study: &mut StoredStudy, upload: &Upload) -> Answered<Done> {
        if let Some((item, seen)) = self.seen()
            && let Err(stale) = check(study, item, seen)
        {
            let mut copy = study.imagine(false)?;
            let known = self.tell(&mut copy, upload);
            if !known.is_ok_and(|all| all.iter().all(|receipt| receipt.already)) {
                return Err(stale);
            }
        }
        let receipts = self.tell(study, upload)?;
        Ok(Done {
            sentence: sentence(study, &receipts),
            version: study.version(),
            already: receipts.iter().all(|receipt| receipt.already),
        })
    }
}

fn sentence(study: &StoredStudy, receipts: &[Receipt]) -> String {
    let one = |receipt: &Receipt| {
        let item = match receipt.batch.of {
            taskscout_studies::RowsOf::Item(item) => study.item(item).ok(),
            _ => None,
        };
        words::receipt(receipt, item).trim().replace('\n', " ")
    };
    let all: Vec<String> = receipts.iter().map(one).collect();
    all.join("; ")
}

/// What would be taken of a table and what would follow, with nothing stored.
pub(crate) fn preview_rows(
    mut study: StoredStudy,
    rows: &RowsFor,
    upload: Upload,
) -> Answered<RowsPreview> {
    let budget = study.usual_batch();
    let before = Standing::of(&mut study, budget)?;
    let receipts = rows.tell(&mut study, &upload)?;
    let remark = |receipt: &Receipt| {
        let of = &receipt.batch.of;
        match (receipt.already, &receipt.same_as) {
            (true, _) => Some(format!(
                "these rows of {of} were told before: nothing would change"
            )),
            (_, Some(other)) => Some(format!(
                "the same rows were told for {other} before: look whether this is the right file"
            )),
            _ => None,
        }
    };
    let after = Standing::of(&mut study, budget)?;
    Ok(RowsPreview {
        remarks: receipts.iter().filter_map(remark).collect(),
        upload,
        effect: Effect { before, after },
    })
}

impl Change {
    /// Whether a copy needs the whole log to try it.
    pub(crate) fn needs_log(&self) -> bool {
        matches!(self, Self::Retract { .. } | Self::Undo { .. })
    }

    /// What would follow, with nothing stored.
    pub(crate) fn preview(&self, mut study: StoredStudy) -> Answered<Effect> {
        let budget = study.usual_batch();
        let before = Standing::of(&mut study, budget)?;
        self.apply(&mut study)?;
        let after = Standing::of(&mut study, budget)?;
        Ok(Effect { before, after })
    }

    /// Does it, unless the page is stale.
    pub(crate) fn apply(&self, study: &mut StoredStudy) -> Answered<Done> {
        let (sentence, already) = match self {
            Self::Fail {
                item,
                reason,
                retry,
                seen,
            } => {
                check(study, *item, *seen)?;
                let reason = match kept(reason) {
                    empty if empty.is_empty() => "no reason given".to_owned(),
                    reason => reason,
                };
                study.fail(*item, &reason, *retry)?;
                (words::failed(*item, *retry), false)
            }
            Self::Start {
                item,
                minutes,
                seen,
            } => {
                check(study, *item, *seen)?;
                let lasting = std::time::Duration::from_secs(60 * u64::from((*minutes).max(1)));
                let started = study.start(Some(*item), lasting)?;
                (words::started(started.as_ref(), lasting), false)
            }
            Self::Retract { batch } => retract(study, batch)?,
            Self::Note { text, seen_version } => note(study, text, *seen_version)?,
            Self::Ask {
                wanted,
                key,
                seen_rounds,
            } => ask(study, wanted, key, *seen_rounds)?,
            Self::Undo { seen_version } => {
                if study.version() != *seen_version {
                    return Err(Refusal::stale(
                        "something happened since this page was loaded: look at the history before you take back the last change",
                    ));
                }
                (words::undone(&study.undo()?), false)
            }
        };
        Ok(Done {
            sentence: sentence.trim().replace('\n', " "),
            version: study.version(),
            already,
        })
    }
}

fn retract(study: &mut StoredStudy, batch: &str) -> Answered<(String, bool)> {
    let found = study
        .batches()
        .iter()
        .find(|known| known.id.as_str() == batch);
    let Some(found) = found.cloned() else {
        return Err(Refusal::stale(
            "these rows are not there any more: somebody else retracted them since this page was loaded",
        ));
    };
    study.retract(&found.id)?;
    Ok((words::retracted(&[found]), false))
}

fn note(study: &mut StoredStudy, text: &str, seen: u64) -> Answered<(String, bool)> {
    let text = kept(text);
    if text.is_empty() {
        return Err(Refusal::input("the note is empty: write something"));
    }
    // Sent twice, it stands once.
    let mut newer = study.history().iter().filter(|line| line.version > seen);
    if newer.any(|line| line.kind == "noted" && line.what == text) {
        return Ok(("noted before".to_owned(), true));
    }
    study.note(&text)?;
    Ok(("noted".to_owned(), false))
}

fn ask(
    study: &mut StoredStudy,
    wanted: &WhatIf,
    key: &str,
    seen_rounds: usize,
) -> Answered<(String, bool)> {
    let own = &study.study().config().collection;
    let changed = wanted.collection(own);
    let options = AskOptions {
        budget: wanted.budget,
        collection: (changed != *own).then_some(changed),
        key: Some(kept(key)).filter(|key| !key.is_empty()),
    };
    if study.study().rounds() != seen_rounds {
        // The same request again gets the same plan.
        let mut copy = study.imagine(false)?;
        if !copy.ask(&options).is_ok_and(|asked| asked.already) {
            return Err(Refusal::stale(
                "somebody else asked for a plan since this page was loaded: look at it first",
            ));
        }
    }
    let asked = study.ask(&options)?;
    let items = asked.plan.items.len();
    let round = asked.plan.round + 1;
    let sentence = match items {
        1 => format!("round {round}: 1 item to measure"),
        _ => format!("round {round}: {items} items to measure"),
    };
    Ok((sentence, asked.already))
}
