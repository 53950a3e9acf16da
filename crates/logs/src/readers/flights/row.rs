//! One row of a flight log.

use super::cell::{self, Broken};
use super::header::{Layout, Role};

/// Motor commands are pulses of 1000 to 2000 µs; in thousands they are as large as the other inputs.
const PULSE_UNIT: f64 = 1000.0;

/// What a row holds.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) time: f64,
    /// Velocity, attitude, motor commands.
    pub(super) x: [f64; 11],
    /// Force.
    pub(super) y: [f64; 3],
}

/// Why a row is bad, and where to go on after it.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The line is no row.
    Row { problem: String, resume: usize },
    /// A cell is wrong.
    Cell {
        column: &'static str,
        problem: String,
        resume: usize,
    },
}

impl Trouble {
    pub(super) fn resume(&self) -> usize {
        match self {
            Self::Row { resume, .. } | Self::Cell { resume, .. } => *resume,
        }
    }
}

impl Row {
    /// Reads the row at `start` and gives where the next line starts.
    #[inline]
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        start: usize,
        layout: &Layout,
    ) -> Result<usize, Trouble> {
        // A quote that is never closed may have swallowed good rows: only its own line is bad.
        let broken = |broken: Broken| Trouble::Row {
            problem: broken.problem().into(),
            resume: cell::next_line(bytes, start),
        };
        let mut wrong: Option<(Role, String)> = None;
        let last = layout.roles.len().saturating_sub(1);
        let mut at = start;
        for (index, &role) in layout.roles.iter().enumerate() {
            at = match self.quick(bytes, at, role) {
                Some(end) => end,
                None => {
                    let (end, content) = cell::bounds(bytes, at).map_err(broken)?;
                    let outcome = self.slow(&bytes[content.0..content.1], role);
                    if let (Err(problem), None) = (outcome, &wrong) {
                        wrong = Some((role, problem));
                    }
                    end
                }
            };
            let more = bytes.get(at) == Some(&b',');
            if more == (index == last) {
                return Err(miscounted(bytes, start, layout.roles.len()));
            }
            at = (at + 1).min(bytes.len());
        }
        match wrong {
            None => {
                for pulse in &mut self.x[7..] {
                    *pulse /= PULSE_UNIT;
                }
                Ok(at)
            }
            Some((role, problem)) => Err(Trouble::Cell {
                column: role.column(),
                problem,
                resume: at,
            }),
        }
    }

    /// Where the separator after the cell stands, if the cell is as it should be.
    #[inline]
    fn quick(&mut self, bytes: &[u8], at: usize, role: Role) -> Option<usize> {
        match role {
            Role::Ignored => None,
            Role::Time => {
                let (time, end) = cell::quick_number(bytes, at)?;
                self.time = time;
                Some(end)
            }
            vector => cell::quick_list(bytes, at, self.vector(vector)),
        }
    }

    /// The same from the content of a cell, at leisure.
    fn slow(&mut self, content: &[u8], role: Role) -> Result<(), String> {
        match role {
            Role::Ignored => Ok(()),
            Role::Time => {
                self.time = cell::number(content)?;
                Ok(())
            }
            vector => cell::list(content, self.vector(vector)),
        }
    }

    fn vector(&mut self, role: Role) -> &mut [f64] {
        match role {
            Role::Velocity => &mut self.x[..3],
            Role::Attitude => &mut self.x[3..7],
            Role::Motors => &mut self.x[7..],
            Role::Force => &mut self.y,
            Role::Ignored | Role::Time => &mut [],
        }
    }
}

/// A row that has more or fewer cells than the header, or is broken further on.
fn miscounted(bytes: &[u8], start: usize, expected: usize) -> Trouble {
    let resume = cell::next_line(bytes, start);
    let (mut at, mut found) = (start, 0);
    loop {
        match cell::bounds(bytes, at) {
            Err(broken) => {
                let problem = broken.problem().into();
                return Trouble::Row { problem, resume };
            }
            Ok((end, _)) => {
                found += 1;
                if bytes.get(end) != Some(&b',') {
                    break;
                }
                at = end + 1;
            }
        }
    }
    let remedy = if found < expected {
        "the line is cut off, so complete or remove it"
    } else {
        "put lists into quotation marks, or remove the line"
    };
    Trouble::Row {
        problem: format!("has {found} cells where the header has {expected}: {remedy}"),
        resume,
    }
}
