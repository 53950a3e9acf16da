//! A study as tables, for other programs and for years to come.

use std::path::Path;

use serde_json::json;
use taskscout::data::Samples;
use taskscout_io::files::write_atomically;
use taskscout_io::tables::{Column as TableColumn, write_csv, write_mcap, write_parquet};

use crate::error::{Error, Result, of_store};
use crate::state::Batch;
use crate::stored::StoredStudy;
use crate::time::iso;

/// How rows are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RowFormat {
    /// As text.
    #[default]
    Csv,
    /// As compact columns.
    Parquet,
}

impl RowFormat {
    /// Parquet where rows are to be compact, and else text.
    #[must_use]
    pub fn compact(compact: bool) -> Self {
        if compact { Self::Parquet } else { Self::Csv }
    }
}

impl StoredStudy {
    /// The rows of a batch, in the units of the study's columns, bit for bit as they were told.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn rows(&mut self, batch: &Batch) -> Result<Samples> {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let mut take = |chunk: Vec<u8>| {
            let table = taskscout_store::rows::decode(&chunk)?;
            x.extend(table.x);
            y.extend(table.y);
            Ok(())
        };
        self.store
            .rows(&self.name, batch.version, &mut take)
            .map_err(of_store)?;
        let definition = self.definition();
        let (inputs, outputs) = (definition.inputs.len(), definition.outputs.len());
        Ok(Samples::new(x, inputs, y, outputs)?)
    }

    /// Writes all that the study holds into a new folder: settings, plans, history, and the rows of every batch.
    ///
    /// # Errors
    /// A folder that has something in it or cannot be written.
    pub fn export(&mut self, folder: &Path, format: RowFormat) -> Result<()> {
        self.refresh()?;
        new_folder(folder)?;
        let status = self.status()?;
        let about = json!({
            "study": self.name,
            "definition": self.definition(),
            "scaling": self.scaling(),
            "settings": self.study().config(),
            "status": status,
        });
        let text = serde_json::to_string_pretty(&about)
            .map_err(|error| Error::Failure(format!("the settings cannot be written: {error}")))?;
        write_atomically(folder.join("study.json"), text.as_bytes())
            .map_err(|error| Error::Failure(error.to_string()))?;
        let plans = self.plan_columns();
        write_csv(folder.join("plans.csv"), &plans)?;
        write_mcap(folder.join("plans.mcap"), &plans)?;
        write_csv(folder.join("history.csv"), &self.history_columns())?;
        write_csv(folder.join("batches.csv"), &self.batch_columns())?;
        let rows = folder.join("rows");
        new_folder(&rows)?;
        for batch in self.batches().to_vec() {
            let samples = self.rows(&batch)?;
            let columns = self.row_columns(&samples);
            match format {
                RowFormat::Csv => write_csv(rows.join(format!("{}.csv", batch.id)), &columns)?,
                RowFormat::Parquet => {
                    write_parquet(rows.join(format!("{}.parquet", batch.id)), &columns)?;
                }
            }
        }
        Ok(())
    }

    fn row_columns(&self, samples: &Samples) -> Vec<TableColumn> {
        let column = |values: &[f64], width: usize, at: usize| -> Vec<f64> {
            values.iter().skip(at).step_by(width).copied().collect()
        };
        let definition = self.definition();
        let inputs = definition.inputs.iter().enumerate().map(|(at, named)| {
            let values = column(samples.inputs(), definition.inputs.len(), at);
            TableColumn::numbers(&named.name, values)
        });
        let outputs = definition.outputs.iter().enumerate().map(|(at, named)| {
            let values = column(samples.outputs(), definition.outputs.len(), at);
            TableColumn::numbers(&named.name, values)
        });
        inputs.chain(outputs).collect()
    }

    fn plan_columns(&self) -> Vec<TableColumn> {
        let items = self.items();
        let text = |name: &str, of: &dyn Fn(&crate::ItemStatus) -> String| {
            TableColumn::text(name, items.iter().map(of).collect())
        };
        let number = |name: &str, of: &dyn Fn(&crate::ItemStatus) -> f64| {
            TableColumn::numbers(name, items.iter().map(of).collect())
        };
        let mut columns = vec![
            number("round", &|item| item.round as f64),
            number("item", &|item| item.item as f64),
            text("task", &|item| item.task.clone()),
        ];
        for (at, parameter) in self.definition().parameters.iter().enumerate() {
            columns.push(number(&parameter.name, &|item| item.parameters[at]));
        }
        columns.extend([
            number("n", &|item| item.n as f64),
            number("collected", &|item| item.collected as f64),
            number("cost", &|item| item.cost),
            text("stage", &|item| item.stage.clone()),
            text("state", &|item| item.state.to_string()),
            text("reason", &|item| item.reason.clone()),
        ]);
        columns
    }

    fn history_columns(&self) -> Vec<TableColumn> {
        let lines = self.history();
        let text = |name: &str, of: &dyn Fn(&crate::Line) -> String| {
            TableColumn::text(name, lines.iter().map(of).collect())
        };
        let versions = lines.iter().map(|line| line.version as f64).collect();
        vec![
            TableColumn::numbers("entry", versions),
            text("time", &|line| iso(line.time_us)),
            text("author", &|line| line.author.clone()),
            text("kind", &|line| line.kind.clone()),
            text("what", &|line| line.what.clone()),
            text("undone", &|line| line.undone.to_string()),
        ]
    }

    fn batch_columns(&self) -> Vec<TableColumn> {
        let batches = self.batches();
        let text = |name: &str, of: &dyn Fn(&Batch) -> String| {
            TableColumn::text(name, batches.iter().map(of).collect())
        };
        vec![
            text("batch", &|batch| batch.id.to_string()),
            text("time", &|batch| iso(batch.time_us)),
            text("author", &|batch| batch.author.clone()),
            text("of", &|batch| batch.of.to_string()),
            TableColumn::numbers(
                "rows",
                batches.iter().map(|batch| batch.rows as f64).collect(),
            ),
            text("source", &|batch| batch.source.clone().unwrap_or_default()),
        ]
    }
}

/// Makes a folder, or takes one that is empty.
fn new_folder(folder: &Path) -> Result<()> {
    let filled = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if filled {
        return Err(Error::Input(format!(
            "{} has something in it: give a new folder",
            folder.display()
        )));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::Failure(format!(
            "cannot make the folder {}: {error}",
            folder.display()
        ))
    })
}
