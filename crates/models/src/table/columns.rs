//! Which columns of a table are the inputs of a model.
//!
//! A model that knows what its inputs are called finds them by name: tables may have their columns in
//! any order, and others beside them. Taking them in order would give numbers that look right and are
//! not.

use taskscout_io::tables::Table;

use crate::error::{Error, Result};
use crate::model::SavedModel;

/// More names than this are not listed.
const LISTED: usize = 20;

/// What is to be read of a table, decided before it is.
pub(super) enum Wanted {
    /// These columns, in the order of the model.
    Named(Vec<String>),
    /// The model's own names, which an option gives in another order.
    Reordered(Vec<String>),
    /// All columns of numbers, for a model without names.
    InOrder,
}

/// The inputs in the order of the model, and what is to be told of them.
pub(super) struct Found {
    pub(super) columns: Vec<String>,
    pub(super) note: Option<String>,
}

impl Wanted {
    /// By the model's names, or by those that an option gives in their place.
    pub(super) fn of(model: &SavedModel, columns: Option<&[String]>) -> Result<Self> {
        let (names, count) = (&model.parts().names.inputs, model.input_dim());
        let Some(columns) = columns else {
            return Ok(match names.is_empty() {
                true => Self::InOrder,
                false => Self::Named(names.clone()),
            });
        };
        if columns.len() != count {
            return Err(Error::Columns(format!(
                "--columns names {} columns, but the model takes {count} inputs{}: name {count}, in the order of the model",
                columns.len(),
                in_brackets(names)
            )));
        }
        // The model's own names in another order can only mean the columns that are called so.
        let same = names.iter().all(|name| columns.contains(name));
        if same && !names.is_empty() && columns != names.as_slice() {
            return Ok(Self::Reordered(names.clone()));
        }
        Ok(Self::Named(columns.to_vec()))
    }

    /// Whether a column is read.
    pub(super) fn wants(&self, column: &str) -> bool {
        match self {
            Self::Named(names) | Self::Reordered(names) => names.iter().any(|name| name == column),
            Self::InOrder => true,
        }
    }

    /// The inputs by the names that they have in the table.
    pub(super) fn find(self, table: &Table, model: &SavedModel) -> Result<Found> {
        let (columns, note) = match self {
            Self::InOrder => {
                let columns = in_order(table, model.input_dim())?;
                let note = format!(
                    "the model has no names for its inputs, so the columns are taken in their order: {}",
                    list(&columns)
                );
                (columns, Some(note))
            }
            Self::Reordered(names) => {
                check_all_there(&names, table, model)?;
                let note = "--columns names the model's own inputs, so they are matched by name";
                (names, Some(note.to_owned()))
            }
            Self::Named(names) => {
                check_all_there(&names, table, model)?;
                // Times are read for who writes predictions with them, but the model does not use them.
                let read = table.columns().iter().map(|column| &*column.name);
                let extra = read.filter(|name| !names.iter().any(|used| used == name));
                let others = extra.chain(table.unwanted());
                let others: Vec<String> = others.map(Into::into).collect();
                let note = format!("columns that the model does not use: {}", list(&others));
                (names, (!others.is_empty()).then_some(note))
            }
        };
        Ok(Found { columns, note })
    }
}

/// Refuses a table that lacks inputs, and lists them.
fn check_all_there(names: &[String], table: &Table, model: &SavedModel) -> Result<()> {
    let known = |name: &String| {
        let mut columns = table.columns().iter().map(|column| &column.name);
        columns.any(|column| column == name)
    };
    let missing: Vec<String> = names.iter().filter(|name| !known(name)).cloned().collect();
    let Some(first) = missing.first() else {
        return Ok(());
    };
    // Of a column that is there but cannot be read, and of a slip of the pen, the table says more.
    let skipped = table.skipped().iter().any(|column| &column.name == first);
    if skipped || names != model.parts().names.inputs || missing.len() == 1 {
        table.numbers(first)?;
    }
    Err(Error::Columns(format!(
        "{} lacks {} of the model's {} inputs, {}: add them, or name the columns to use for its inputs{} with --columns",
        table.name(),
        missing.len(),
        names.len(),
        list(&missing),
        in_brackets(names)
    )))
}

/// All columns of numbers, if the model takes so many.
fn in_order(table: &Table, wanted: usize) -> Result<Vec<String>> {
    let numeric: Vec<String> = table
        .numeric_columns()
        .into_iter()
        .map(str::to_owned)
        .collect();
    if numeric.len() != wanted {
        return Err(Error::Columns(format!(
            "{} has {} columns of numbers, but the model takes {wanted} inputs: name these columns in the order of the model with --columns",
            table.name(),
            numeric.len()
        )));
    }
    Ok(numeric)
}

fn in_brackets(names: &[String]) -> String {
    match names {
        [] => String::new(),
        _ => format!(" ({})", list(names)),
    }
}

fn list(names: &[String]) -> String {
    let mut text = names[..names.len().min(LISTED)].join(", ");
    if names.len() > LISTED {
        text += &format!(" and {} more", names.len() - LISTED);
    }
    text
}
