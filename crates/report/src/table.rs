//! The summary as a table for the terminal, with the published figures beside the measured ones.
//!
//! ```
//! use serde_json::json;
//! use taskscout_report::{ResultRow, Summary, terminal_table};
//!
//! let row = |strategy: &str, loss| ResultRow {
//!     experiment: "bilinear".into(), oracle: "exact".into(), strategy: strategy.into(),
//!     budget: 100, test_loss: Some(loss), ..ResultRow::default()
//! };
//! let paper = json!({"strategies": {"aware": {"budget_ratio": 0.5}}});
//! let summary = Summary::from_rows(&[row("passive", 0.5), row("aware", 0.2)], paper)?;
//! println!("{}", terminal_table(&summary));
//! # Ok::<(), taskscout_report::Error>(())
//! ```

use crate::columns::{Column, Section};
use crate::paper;
use crate::summary::Summary;

/// An aligned plain-text table, one block a target; every line ends with a newline.
#[must_use]
pub fn terminal_table(summary: &Summary) -> String {
    table(summary, true)
}

/// The same without seconds, so that equal results give equal tables.
#[must_use]
pub fn plain_table(summary: &Summary) -> String {
    table(summary, false)
}

fn table(summary: &Summary, seconds: bool) -> String {
    let target = summary.target.as_ref();
    let mut out = format!(
        "{}, {} oracle, {}{}\n",
        summary.experiment,
        summary.oracle,
        seeds(summary.seeds),
        target.map_or_else(String::new, |name| format!(", target {name}"))
    );
    let mut published = false;
    for (target, strategies) in summary.sections() {
        let section = Section {
            target,
            strategies,
            paper: &summary.paper,
            judged: summary.judged_among(strategies),
            floor: summary.floor_of(target),
        };
        out.push('\n');
        if let Some(target) = target {
            out.push_str(&format!("target {target}\n"));
        }
        out.push_str(&align(&columns(&section, seconds)));
        for remark in section.remarks() {
            out.push_str(&format!("{remark}\n"));
        }
        published |= section.has_published();
    }
    // Where nothing published stands in the table, words on it would be about something else.
    let remarks = published.then(|| paper::remarks(&summary.paper));
    for (index, remark) in remarks.iter().flatten().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        out.push_str(&format!("{gap}{remark}\n"));
    }
    out
}

pub(crate) fn seeds(count: usize) -> String {
    match count {
        1 => "1 seed".to_owned(),
        n => format!("{n} seeds"),
    }
}

fn columns(section: &Section<'_>, seconds: bool) -> Vec<Column> {
    let mut columns = vec![section.names()];
    // The report has all columns; a terminal has about a hundred characters.
    columns.extend(
        section
            .results()
            .into_iter()
            .filter(|column| column.heading != "predictor"),
    );
    let tasks = section.tasks().into_iter();
    columns.extend(tasks.filter(|column| column.heading == "tasks"));
    let total = section.times().pop().filter(|_| seconds);
    columns.extend(total.map(|column| Column {
        heading: "seconds".to_owned(),
        ..column
    }));
    columns
}

/// Text to the left, everything else to the right, two spaces between columns.
fn align(columns: &[Column]) -> String {
    let width = |column: &Column| {
        let cells = column.cells.iter().chain([&column.heading]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let mut out = String::new();
    for row in 0..=rows {
        let mut line = String::new();
        for column in columns {
            let cell = match row {
                0 => Some(&column.heading),
                _ => column.cells.get(row - 1),
            };
            let cell = cell.map_or("", String::as_str);
            let width = width(column);
            line.push_str(&match column.heading.as_str() {
                "strategy" | "predictor" => format!("{cell:<width$}  "),
                _ => format!("{cell:>width$}  "),
            });
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::ResultRow;
    use crate::testing::curve;
    use serde_json::json;

    fn summary() -> Summary {
        let mut rows = curve("passive", 3, &[(100, 8.0), (200, 4.0)]);
        rows.extend(curve("aware", 3, &[(100, 5.0), (200, 2.0)]));
        rows.extend(curve("agnostic", 3, &[(100, 9.0), (200, 6.0)]));
        for row in &mut rows {
            row.predictor = Some(
                if row.seed == 0 {
                    "identified"
                } else {
                    "shared"
                }
                .to_owned(),
            );
        }
        let paper = json!({"strategies": {"aware": {"budget_ratio": 0.387}}, "source": "Table 2"});
        Summary::from_rows(&rows, paper).unwrap()
    }

    #[test]
    fn shows_figures_beside_the_published_ones() {
        let table = terminal_table(&summary());
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "e, exact oracle, 3 seeds");
        for heading in [
            "shared loss",
            "budget to passive's loss",
            "paper: budget",
            "seconds",
        ] {
            assert!(lines[2].contains(heading), "{heading} in {}", lines[2]);
        }
        assert!(!lines[2].contains("returned loss"), "an empty column shows");
        assert!(lines[3].contains("reference"));
        assert!(lines[4].starts_with("aware") && lines[4].contains("38.7 %"));
        assert!(!table.contains("predictor"), "the report has that column");
        assert!(lines[5].contains("not reached"));
        assert!(table.ends_with("\n\nPublished figures: Table 2\n"));
    }

    #[test]
    fn columns_line_up() {
        let table = terminal_table(&summary());
        let ends: Vec<usize> = table
            .lines()
            .skip(2)
            .take(4)
            .map(|line| line.chars().count())
            .collect();
        assert!(ends.iter().all(|&end| end == ends[0]), "{table}");
    }

    #[test]
    fn each_target_gets_a_block() {
        let mut rows: Vec<ResultRow> = curve("passive", 1, &[(100, 8.0)]);
        rows[0].target = Some("calm".to_owned());
        let mut windy = rows.clone();
        windy[0].target = Some("windy".to_owned());
        rows.append(&mut windy);
        let table = terminal_table(&Summary::from_rows(&rows, json!({})).unwrap());
        assert!(table.contains("\ntarget calm\n") && table.contains("\ntarget windy\n"));
        assert!(table.starts_with("e, exact oracle, 1 seed\n"));
        rows.truncate(1);
        let table = terminal_table(&Summary::from_rows(&rows, json!({})).unwrap());
        assert!(table.starts_with("e, exact oracle, 1 seed, target calm\n"));
    }

    #[test]
    fn words_on_published_figures_need_such_figures() {
        let rows = curve("passive", 1, &[(100, 8.0)]);
        let table = |paper| terminal_table(&Summary::from_rows(&rows, paper).unwrap());
        let words = json!({"source": "a paper", "note": "Other flights."});
        assert!(!table(words).contains("a paper"));
        let figures = json!({"source": "a paper", "passive": {"final_loss": 1.0}});
        assert!(table(figures).contains("a paper"));
    }

    #[test]
    fn a_budget_that_does_not_last_is_marked() {
        let mut rows = curve("passive", 1, &[(100, 8.0), (200, 4.0), (400, 2.0)]);
        rows.extend(curve("aware", 1, &[(100, 3.0), (200, 1.0), (400, 9.0)]));
        rows.extend(curve("agnostic", 1, &[(100, 3.0), (200, 1.0), (400, 1.0)]));
        let table = terminal_table(&Summary::from_rows(&rows, json!({})).unwrap());
        let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line("aware").contains("37.5 %*"), "{table}");
        assert!(line("agnostic").contains("37.5 %") && !line("agnostic").contains('*'));
        assert!(
            line("* aware").contains("9.00 at 400 samples, its last round, against 2.00"),
            "{table}"
        );
    }
}
