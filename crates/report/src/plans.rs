//! Which tasks were collected and why: `plans.csv`.
//!
//! ```
//! use taskscout_report::{PlanRow, read_plans, write_plans};
//!
//! let row = PlanRow {
//!     strategy: "aware".into(), task: "gust".into(), parameters: vec![0.5, -1.0], n: 12,
//!     stage: "exploit".into(), reason: "serves the target".into(), ..PlanRow::default()
//! };
//! let table = write_plans(&[row.clone()]);
//! assert!(table.starts_with("strategy,target,seed,round,item,task,parameters,n,stage,reason\n"));
//! assert_eq!(read_plans(&table, "plans.csv")?, [row]);
//! # Ok::<(), taskscout_report::Error>(())
//! ```

use crate::csv::{Record, parse, push_record};
use crate::error::{Error, Result};

/// The columns of `plans.csv`.
const COLUMNS: [&str; 10] = [
    "strategy",
    "target",
    "seed",
    "round",
    "item",
    "task",
    "parameters",
    "n",
    "stage",
    "reason",
];

/// A task that a round asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanRow {
    /// The strategy that planned.
    pub strategy: String,
    /// The target that it served; none for the only one, or for all of them together.
    pub target: Option<String>,
    /// The trial's seed.
    pub seed: u64,
    /// The round.
    pub round: usize,
    /// The number of the plan's item.
    pub item: u64,
    /// The task's name or number.
    pub task: String,
    /// Its parameters, as written separated by spaces.
    pub parameters: Vec<f64>,
    /// Samples asked for.
    pub n: usize,
    /// The stage that asked: warm-up, explore or exploit.
    pub stage: String,
    /// Why this task.
    pub reason: String,
}

impl PlanRow {
    /// Whether the task is a point of a continuous space, whose name is but a digest of its parameters.
    pub(crate) fn is_point(&self) -> bool {
        let digits = self.task.strip_prefix('@');
        digits.is_some_and(|digits| {
            digits.len() == 16 && digits.chars().all(|digit| digit.is_ascii_hexdigit())
        })
    }
}

/// The rows as a table.
#[must_use]
pub fn write_plans(rows: &[PlanRow]) -> String {
    let mut text = String::new();
    push_record(&mut text, &COLUMNS.map(str::to_owned));
    for row in rows {
        let parameters: Vec<String> = row.parameters.iter().map(f64::to_string).collect();
        let cells = [
            row.strategy.clone(),
            row.target.clone().unwrap_or_default(),
            row.seed.to_string(),
            row.round.to_string(),
            row.item.to_string(),
            row.task.clone(),
            parameters.join(" "),
            row.n.to_string(),
            row.stage.clone(),
            row.reason.clone(),
        ];
        push_record(&mut text, &cells);
    }
    text
}

/// The rows of a table that [`write_plans`] wrote; `table` is what errors call it.
///
/// # Errors
/// If it has other columns, or a cell is not what its column holds, with line and column.
pub fn read_plans(text: &str, table: &str) -> Result<Vec<PlanRow>> {
    let records = parse(text, table)?;
    let wrong = |line: usize, column: &str, problem: &str| Error::Csv {
        table: table.to_owned(),
        line,
        column: column.to_owned(),
        problem: problem.to_owned(),
    };
    let mut records = records.iter();
    if records.next().is_none_or(|head| head.cells != COLUMNS) {
        return Err(wrong(1, COLUMNS[0], "the header is not that of plans"));
    }
    records
        .map(|record| {
            read(record).map_err(|column| {
                wrong(
                    record.line,
                    column,
                    "the cell is missing or is not a number",
                )
            })
        })
        .collect()
}

/// A row, or the column that is wrong.
fn read(record: &Record) -> std::result::Result<PlanRow, &'static str> {
    let cell = |column: usize| record.cells.get(column).ok_or(COLUMNS[column]);
    fn number<T: std::str::FromStr>(
        text: &str,
        column: usize,
    ) -> std::result::Result<T, &'static str> {
        text.parse().map_err(|_| COLUMNS[column])
    }
    let parameters = cell(6)?.split_whitespace();
    Ok(PlanRow {
        strategy: cell(0)?.clone(),
        target: Some(cell(1)?.clone()).filter(|name| !name.is_empty()),
        seed: number(cell(2)?, 2)?,
        round: number(cell(3)?, 3)?,
        item: number(cell(4)?, 4)?,
        task: cell(5)?.clone(),
        parameters: parameters
            .map(|value| number(value, 6))
            .collect::<std::result::Result<_, _>>()?,
        n: number(cell(7)?, 7)?,
        stage: cell(8)?.clone(),
        reason: cell(9)?.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_and_digits_survive() {
        let row = PlanRow {
            strategy: "aware+save-task".into(),
            target: Some("0,0,1".into()),
            seed: 7,
            round: 2,
            item: 19,
            task: "007".into(),
            parameters: vec![0.1 + 0.2, -1e-300],
            n: 5,
            stage: "explore".into(),
            reason: "sharpens \"direction\" 1, of 2".into(),
        };
        let rows = [
            row.clone(),
            PlanRow {
                target: None,
                ..row
            },
        ];
        assert_eq!(read_plans(&write_plans(&rows), "t").unwrap(), rows);
    }

    #[test]
    fn damaged_tables_are_refused_with_their_place() {
        let whole = write_plans(&[PlanRow {
            n: 3,
            ..PlanRow::default()
        }]);
        let cut = &whole[..whole.len() - 4];
        assert!(
            read_plans(cut, "t")
                .unwrap_err()
                .to_string()
                .contains("line 2")
        );
        let error = read_plans("a,b\n", "t").unwrap_err().to_string();
        assert!(error.contains("the header is not that of plans"), "{error}");
    }
}
