//! What is needed, and what is known already.

use std::path::Path;

use faer::Mat;
use taskscout::design::Need;
use taskscout_tables::Table;

use super::columns::usual_name;
use super::names::{self, Names};
use super::options::DesignOptions;
use super::say::Notes;
use super::source::Source;
use crate::error::{CliError, Result};

/// More target rows than this are planned for by their moment alone.
const MANY: usize = 2048;

/// What a campaign needs and knows.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// `A`, the second moment of the targets' embeddings; none where everything counts alike.
    pub(crate) moment: Option<Mat<f64>>,
    /// Embeddings of the targets, row-major.
    pub(crate) rows: Vec<f64>,
    /// Their weights, if they differ.
    pub(crate) weights: Option<Vec<f64>>,
    /// What they are called.
    pub(crate) names: Names,
    /// Whether the rows say all about the need.
    by_rows: bool,
    /// Information that is there already.
    pub(crate) given: Option<Mat<f64>>,
}

impl Wanted {
    /// Reads targets and data so far.
    pub(crate) fn read(
        source: &Source,
        options: &DesignOptions,
        notes: &mut Notes,
    ) -> Result<Self> {
        let given = given(source, options)?;
        let mut wanted = match (&options.target, &source.learnt) {
            (Some(path), _) => targets(path, source, options)?,
            (None, Some(learnt)) => Self {
                moment: Some(learnt.needs.moment.clone()),
                rows: learnt.needs.targets.concat(),
                weights: None,
                names: packed(&learnt.targets),
                by_rows: false,
                given: None,
            },
            (None, None) => {
                notes.add("no --target: all that the tasks can teach counts alike (A = I)".into());
                Self {
                    moment: None,
                    rows: Vec::new(),
                    weights: None,
                    names: Names::None,
                    by_rows: false,
                    given: None,
                }
            }
        };
        wanted.given = given;
        Ok(wanted)
    }

    /// The need in the terms of a design.
    pub(crate) fn need(&self) -> Need<'_> {
        match &self.moment {
            None => Need::Everything,
            Some(_) if self.by_rows => Need::Targets {
                rows: &self.rows,
                weights: self.weights.as_deref(),
            },
            Some(moment) => Need::Moment(moment.as_ref()),
        }
    }

    /// The weight of a target.
    pub(crate) fn weight(&self, index: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[index])
    }

    /// What a target is called.
    pub(crate) fn target_name(&self, index: usize, count: usize) -> String {
        match self.names.get(index) {
            Some(name) => name,
            None if count == 1 => "the target".into(),
            None => format!("target {index}"),
        }
    }
}

fn packed(names: &[String]) -> Names {
    let mut ends = Vec::with_capacity(names.len());
    let mut end = 0;
    for name in names {
        end += name.len();
        ends.push(end);
    }
    Names::Text {
        text: names.concat(),
        ends,
    }
}

fn targets(path: &Path, source: &Source, options: &DesignOptions) -> Result<Wanted> {
    let table = names::read_targets(path, &source.columns, options)?;
    let weight = options.target_weight.as_deref();
    let weights = match weight {
        None => None,
        Some(column) => Some(positive(&table, column)?),
    };
    let parameters = source.parameters(&table, weight.as_slice())?;
    let names = match usual_name(&table) {
        Some(column) => Names::read(&table, &column)?,
        None => Names::None,
    };
    let k = source.lens.dim();
    let rows = source.lens.embed(&parameters).into_owned();
    check_finite(&rows, k, &table)?;
    let count = rows.len() / k;
    let total: f64 = (0..count)
        .map(|row| weights.as_ref().map_or(1.0, |weights| weights[row]))
        .sum();
    let share = |row: usize| weights.as_ref().map_or(1.0, |weights| weights[row]) / total;
    Ok(Wanted {
        moment: Some(outer_sum(&rows, k, share)),
        by_rows: count <= MANY,
        rows,
        weights,
        names,
        given: None,
    })
}

fn positive(table: &Table, column: &str) -> Result<Vec<f64>> {
    let weights = table.numbers(column)?;
    match weights.iter().position(|&weight| weight <= 0.0) {
        None => Ok(weights.to_vec()),
        Some(row) => Err(CliError::Input(format!(
            "{}, column {column}, is {}: a weight must be positive, so correct it or leave the row out",
            table.place(row),
            weights[row]
        ))),
    }
}

/// What is known already: the study's samples and those of the file.
fn given(source: &Source, options: &DesignOptions) -> Result<Option<Mat<f64>>> {
    let k = source.lens.dim();
    let mut sum = match &source.learnt {
        Some(learnt) => learnt.needs.given.clone(),
        None => Mat::zeros(k, k),
    };
    if let Some(path) = &options.given {
        let table = names::read_table(path, options, &|_| false)?;
        let column = options.given_count.as_str();
        let counts = table.numbers(column)?;
        if let Some(row) = counts.iter().position(|&count| count < 0.0) {
            return Err(CliError::Input(format!(
                "{}, column {column}, is {}: a number of samples cannot be negative, so correct it",
                table.place(row),
                counts[row]
            )));
        }
        let parameters = source.parameters(&table, &[column])?;
        let rows = source.lens.embed(&parameters);
        check_finite(&rows, k, &table)?;
        sum += outer_sum(&rows, k, |row| counts[row]);
    }
    let something = (0..k).any(|i| sum[(i, i)] > 0.0);
    Ok(something.then_some(sum))
}

/// Parameters are finite, but their products may not be.
fn check_finite(rows: &[f64], k: usize, table: &Table) -> Result<()> {
    match rows.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(CliError::Input(format!(
            "{}: a feature of the row is too large for a number: rescale the parameters",
            table.place(index / k)
        ))),
    }
}

/// `Σ weight_i c_i c_iᵀ`.
fn outer_sum(rows: &[f64], k: usize, weight: impl Fn(usize) -> f64) -> Mat<f64> {
    let mut sum = Mat::zeros(k, k);
    for (index, row) in rows.chunks_exact(k).enumerate() {
        add_outer(&mut sum, row, weight(index));
    }
    sum
}

/// Adds `weight · c cᵀ`.
pub(crate) fn add_outer(sum: &mut Mat<f64>, c: &[f64], weight: f64) {
    for (j, &value) in c.iter().enumerate() {
        let scaled = weight * value;
        for (entry, &other) in sum.col_as_slice_mut(j).iter_mut().zip(c) {
            *entry += scaled * other;
        }
    }
}
