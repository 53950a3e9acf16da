//! Series of each instance, with units.

use super::definition::{Definition, Units};
use crate::series::{Column, Selection, Series};

/// The series of a type: one for each instance, with the columns that are wanted.
pub(super) fn parts(
    mut series: Series,
    definition: &Definition,
    letters: Option<&(String, String)>,
    units: &Units,
    selection: &Selection,
) -> Vec<Series> {
    let mut counter = None;
    if let Some((unit_letters, multiple_letters)) = letters {
        let multiples = multiple_letters
            .chars()
            .map(Some)
            .chain(std::iter::repeat(None));
        let letters = unit_letters.chars().zip(multiples);
        for (part, (unit, multiple)) in definition.fields.iter().zip(letters) {
            let own = |column: &Column| column.name.split('[').next() == Some(part.name.as_str());
            if unit == '#' {
                counter = series.columns.iter().position(own);
            }
            let unit = units.unit(unit, multiple, part);
            for column in series.columns.iter_mut().filter(|column| own(column)) {
                column.unit.clone_from(&unit);
            }
        }
    }
    let parts = match counter {
        Some(counter) => split(series, counter),
        None => vec![series],
    };
    let wanted = |mut part: Series| {
        part.columns
            .retain(|column| selection.column(&part.name, &column.name));
        let any = !part.columns.is_empty() || !part.text.is_empty() || selection.series(&part.name);
        any.then_some(part)
    };
    parts.into_iter().filter_map(wanted).collect()
}

/// A series for each value of the column that counts instances; the first, 0, keeps the name.
fn split(series: Series, counter: usize) -> Vec<Series> {
    let numbers: Vec<u8> = series.columns[counter]
        .values
        .iter()
        .map(|&value| value as u8)
        .collect();
    let mut known = numbers.clone();
    known.sort_unstable();
    known.dedup();
    if known.as_slice() == [0] {
        return vec![series];
    }
    let part = |&instance: &u8| {
        let of = |values: &[f64]| -> Vec<f64> {
            let pairs = values.iter().zip(&numbers);
            pairs
                .filter(|(_, number)| **number == instance)
                .map(|(value, _)| *value)
                .collect()
        };
        let columns = series.columns.iter().map(|column| Column {
            name: column.name.clone(),
            unit: column.unit.clone(),
            values: of(&column.values),
        });
        let name = match instance {
            0 => series.name.clone(),
            instance => format!("{}#{instance}", series.name),
        };
        Series::new(name, of(&series.time), columns.collect()).with_text(series.text.clone())
    };
    known.iter().map(part).collect()
}
