//! A plan for the lab: a table to print, to fill in, and to tell back.

use std::path::Path;

use taskscout::strategy::Plan;
use taskscout::study::Progress;
use taskscout_io::tables::{Column as TableColumn, ReadOptions, Table, short, write_csv};
use taskscout_lab::plan::aligned;

use crate::asking::{AskOptions, Asked};
use crate::changes::Receipt;
use crate::count::counted;
use crate::error::{Error, Result};
use crate::status::ItemStatus;
use crate::stored::StoredStudy;
use crate::tables::{FAILED, FILE, ITEM, ItemLine, read_items};

/// What became of an item of a table.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemOutcome {
    /// Its rows were taken.
    Taken(Receipt),
    /// It was given up, and why.
    GivenUp(String),
    /// It had been given up before.
    WasGivenUp,
}

impl StoredStudy {
    /// The items of a plan.
    fn items_of(&self, plan: &Plan) -> Vec<ItemStatus> {
        let wanted = |item: &ItemStatus| plan.items.iter().any(|planned| planned.id == item.item);
        self.items().into_iter().filter(wanted).collect()
    }

    /// A plan as a checklist for people.
    #[must_use]
    pub fn checklist_text(&self, plan: &Plan) -> String {
        let definition = self.definition();
        let mut head = vec!["item".to_owned(), "task".to_owned()];
        head.extend(definition.parameters.iter().map(crate::Column::label));
        head.extend(["n", "cost", "stage", "why"].map(str::to_owned));
        let mut lines = vec![head];
        let items = self.items_of(plan);
        for item in &items {
            let mut line = vec![format!("[ ] {}", item.item), item.task.clone()];
            line.extend(item.parameters.iter().map(|value| short(*value)));
            line.extend([item.n.to_string(), short(item.cost), item.stage.clone()]);
            line.push(item.reason.clone());
            lines.push(line);
        }
        let total: f64 = items.iter().map(|item| item.cost).sum();
        let samples: usize = items.iter().map(|item| item.n).sum();
        format!(
            "{}\nround {}: {}, {}, {} {}\n",
            aligned(&lines),
            plan.round + 1,
            counted(items.len(), "item"),
            counted(samples, "sample"),
            short(total),
            definition.budget_unit()
        )
    }

    /// Asks for a plan and writes it as a [checklist](Self::write_checklist). Nothing is planned if the folder is not
    /// there.
    ///
    /// # Errors
    /// As [`StoredStudy::ask`], and a file that cannot be written.
    pub fn ask_onto(&mut self, options: &AskOptions, path: &Path) -> Result<Asked> {
        let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(Error::Input(format!(
                "there is no folder {}: make it first",
                folder.display()
            )));
        }
        if is_filled_in(path) {
            return Err(Error::Input(format!(
                "{} is a checklist that was filled in: tell it, or give another file",
                path.display()
            )));
        }
        let asked = self.ask(options)?;
        self.write_checklist(&asked.plan, path)?;
        Ok(asked)
    }

    /// Writes a plan as a table with columns to fill in: the file of each item's rows, or why there are none.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_checklist(&self, plan: &Plan, path: &Path) -> Result<()> {
        let items = self.items_of(plan);
        let text = |name: &str, of: &dyn Fn(&ItemStatus) -> String| {
            TableColumn::text(name, items.iter().map(of).collect())
        };
        let number = |name: &str, of: &dyn Fn(&ItemStatus) -> f64| {
            TableColumn::numbers(name, items.iter().map(of).collect())
        };
        let mut columns = vec![
            number(ITEM, &|item| item.item as f64),
            text("task", &|item| item.task.clone()),
        ];
        for (at, parameter) in self.definition().parameters.iter().enumerate() {
            columns.push(number(&parameter.name, &|item| item.parameters[at]));
        }
        columns.extend([
            number("n", &|item| item.n as f64),
            number("cost", &|item| item.cost),
            text("stage", &|item| item.stage.clone()),
            text("reason", &|item| item.reason.clone()),
            text(FILE, &|_| String::new()),
            text(FAILED, &|_| String::new()),
        ]);
        Ok(write_csv(path, &columns)?)
    }

    /// Tells a table of several items: rows marked by a column `item`, or a checklist that was filled in. What was told
    /// before is passed over, so a table that was told in part can be told again.
    ///
    /// # Errors
    /// The first item that cannot be taken; what came before it is told.
    pub fn tell_items(&mut self, path: &Path) -> Result<Vec<(u64, ItemOutcome)>> {
        self.refresh()?;
        if let Ok(item) = path.display().to_string().parse::<u64>()
            && !path.exists()
        {
            return Err(Error::Input(format!(
                "nothing says where the rows of item {item} are: give their file, `tell {item} FILE`"
            )));
        }
        let lines = read_items(path, self.definition())?;
        // Nothing is told before every item is known to be there.
        for item in lines.keys() {
            self.item(*item)?;
        }
        let mut outcomes = Vec::with_capacity(lines.len());
        for (item, line) in lines {
            let outcome = match line {
                ItemLine::Rows(rows, parameters) => {
                    let task = self.achieved(item, parameters)?;
                    ItemOutcome::Taken(self.tell(item, task.as_ref(), &rows)?)
                }
                ItemLine::Failed(_)
                    if matches!(self.item(item)?.progress, Progress::Failed { .. }) =>
                {
                    ItemOutcome::WasGivenUp
                }
                ItemLine::Failed(reason) => {
                    self.fail(item, &reason, false)?;
                    ItemOutcome::GivenUp(reason)
                }
            };
            outcomes.push((item, outcome));
        }
        Ok(outcomes)
    }
}

/// Whether a file is a checklist in which somebody has written.
fn is_filled_in(path: &Path) -> bool {
    let options = ReadOptions {
        text: Some(&|column| column == FILE || column == FAILED),
        ..ReadOptions::default()
    };
    let Ok(table) = Table::read_with(path, &options) else {
        return false;
    };
    let written = |column: &str| {
        let cells = table.text(column);
        cells.is_ok_and(|cells| cells.iter().any(|cell| !cell.trim().is_empty()))
    };
    table.numbers(ITEM).is_ok() && (written(FILE) || written(FAILED))
}
