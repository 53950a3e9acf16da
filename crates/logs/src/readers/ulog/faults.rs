//! What was wrong with a log and no reason to refuse it.

use std::path::Path;

/// Remarks that are kept; a damaged log could make any number of them.
const MOST: usize = 20;

/// What was wrong with a log.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Whether it ends inside a message.
    pub(super) cut: bool,
    /// Messages that make no sense, and where the first is.
    odd: Option<(u64, usize)>,
    /// Times that the logger could not keep up, and milliseconds in all.
    dropouts: (usize, u64),
    remarks: Vec<String>,
}

impl Faults {
    /// A message that makes no sense.
    pub(super) fn odd(&mut self, at: u64) {
        let (_, count) = self.odd.get_or_insert((at, 0));
        *count += 1;
    }

    pub(super) fn dropout(&mut self, milliseconds: u16) {
        self.dropouts.0 += 1;
        self.dropouts.1 += u64::from(milliseconds);
    }

    /// Bytes that are no messages.
    pub(super) fn lost(&mut self, from: u64, to: u64, goes_on: bool) {
        let rest = if goes_on {
            "the log goes on behind them"
        } else {
            "nothing readable comes after"
        };
        self.note(Some(format!(
            "bytes {from} to {to} are damaged and left out; {rest}"
        )));
    }

    pub(super) fn note(&mut self, remark: Option<String>) {
        if self.remarks.len() < MOST {
            self.remarks.extend(remark);
        }
    }

    /// All of it in sentences that name the file.
    pub(super) fn warnings(self, path: &Path) -> Vec<String> {
        let mut all = self.remarks;
        if let Some((at, count)) = self.odd {
            let (make, are) = match count {
                1 => ("message makes", "is"),
                _ => ("messages make", "are"),
            };
            all.push(format!(
                "{count} {make} no sense and {are} left out, the first at byte {at}: the log is damaged"
            ));
        }
        if self.cut {
            all.push("the last message is cut off; everything before it was read".into());
        }
        if let (count @ 1.., milliseconds) = self.dropouts {
            let times = if count == 1 { "time" } else { "times" };
            all.push(format!(
                "the logger could not keep up {count} {times}, {:.1} s in all are missing: log fewer topics or use a faster card",
                milliseconds as f64 / 1000.0
            ));
        }
        let place = path.display();
        all.into_iter()
            .map(|text| format!("{place}: {text}"))
            .collect()
    }
}
