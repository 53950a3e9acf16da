//! What is needed, and what is known already.
//!
//! [`Asked`] reads the files; [`Wanted`] sees them through a lens, which may depend on them.

use std::path::Path;

use faer::Mat;
use taskscout::design::Need;
use taskscout_io::tables::Table;

use super::columns::usual_name;
use super::options::PlanOptions;
use super::say::Notes;
use super::source::Source;
use super::task_names::{self, Names};
use crate::error::{LabError, Result};

/// More target rows than this are planned for by their moment alone.
const MANY: usize = 2048;
/// Samples of a task beyond which a count is taken for a mistake.
const MOST_SAMPLES: f64 = 1e15;

/// What a campaign needs and knows.
#[derive(Debug)]
pub(super) struct Wanted {
    /// `A`, the second moment of the targets' embeddings; none where everything counts alike.
    pub(super) moment: Option<Mat<f64>>,
    /// Embeddings of the targets, row-major.
    pub(super) rows: Vec<f64>,
    /// Their weights, if they differ.
    pub(super) weights: Option<Vec<f64>>,
    /// What they are called.
    pub(super) names: Names,
    /// Whether the rows say all about the need.
    by_rows: bool,
    /// Rows whose moment is `A` where everything counts alike, in coordinates in which `A ≠ I`.
    everything: Option<Vec<f64>>,
    /// Information that is there already.
    pub(super) given: Option<Mat<f64>>,
}

/// The files of targets and of data so far, as parameters.
#[derive(Debug)]
pub(super) struct Asked {
    target: Option<Rows>,
    given: Option<Rows>,
}

/// Rows of parameters, and a number for each.
#[derive(Debug)]
struct Rows {
    table: Table,
    parameters: Vec<f64>,
    numbers: Option<Vec<f64>>,
}

impl Asked {
    /// Reads both files.
    pub(super) fn read(source: &Source, options: &PlanOptions) -> Result<Self> {
        let target = options.target.as_deref();
        let given = options.given.as_deref();
        Ok(Self {
            target: target
                .map(|path| targets(path, source, options))
                .transpose()?,
            given: given
                .map(|path| samples(path, source, options))
                .transpose()?,
        })
    }

    /// Whether targets were named.
    pub(super) fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// The parameters of all rows.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &[f64]> {
        let rows = self.target.iter().chain(&self.given);
        rows.map(|rows| &rows.parameters[..])
    }
}

impl Wanted {
    /// Sees targets and data so far through the source's lens.
    pub(super) fn new(asked: &Asked, source: &Source, notes: &mut Notes) -> Result<Self> {
        let given = given(asked.given.as_ref(), source)?;
        let mut wanted = match (&asked.target, &source.learnt) {
            (Some(rows), _) => of_targets(rows, source)?,
            (None, Some(learnt)) => Self {
                moment: Some(learnt.needs.moment.clone()),
                rows: learnt.needs.targets.concat(),
                names: packed(&learnt.targets),
                ..Self::everything(None)
            },
            (None, None) => {
                notes.add("no --target: all features of the tasks count equally (A = I)".into());
                Self::everything(source.lens.identity().as_ref())
            }
        };
        wanted.given = given;
        Ok(wanted)
    }

    /// Everything counts alike; the rows have the moment of that, if it is not the identity.
    fn everything(rows: Option<&Mat<f64>>) -> Self {
        let count = rows.map_or(0, Mat::ncols) as f64;
        let scaled = |rows: &Mat<f64>| -> Vec<f64> {
            let columns = (0..rows.ncols()).flat_map(|j| (0..rows.nrows()).map(move |i| (i, j)));
            columns.map(|place| rows[place] * count.sqrt()).collect()
        };
        Self {
            moment: rows.map(|rows| rows * rows.transpose()),
            everything: rows.map(scaled),
            rows: Vec::new(),
            weights: None,
            names: Names::None,
            by_rows: false,
            given: None,
        }
    }

    /// The need in the terms of a design.
    pub(super) fn need(&self) -> Need<'_> {
        if let Some(rows) = &self.everything {
            return Need::Targets {
                rows,
                weights: None,
            };
        }
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
    pub(super) fn weight(&self, index: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[index])
    }

    /// What a target is called.
    pub(super) fn target_name(&self, index: usize, count: usize) -> String {
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

fn targets(path: &Path, source: &Source, options: &PlanOptions) -> Result<Rows> {
    let table = task_names::read_targets(path, &source.columns, options)?;
    let weight = options.target_weight.as_deref();
    Ok(Rows {
        numbers: weight.map(|column| positive(&table, column)).transpose()?,
        parameters: source.parameters(&table, weight.as_slice())?,
        table,
    })
}

fn of_targets(targets: &Rows, source: &Source) -> Result<Wanted> {
    let table = &targets.table;
    let names = match usual_name(table) {
        Some(column) => Names::read(table, &column)?,
        None => Names::None,
    };
    let k = source.lens.dim();
    let rows = source.lens.embed(&targets.parameters).into_owned();
    source
        .lens
        .check(&targets.parameters, &rows, |row| table.place(row))?;
    let count = rows.len() / k;
    let weights = targets.numbers.clone();
    let weight = |row: usize| weights.as_ref().map_or(1.0, |weights| weights[row]);
    let total: f64 = (0..count).map(weight).sum();
    Ok(Wanted {
        moment: Some(outer_sum(&rows, k, |row| weight(row) / total)),
        by_rows: count <= MANY,
        rows,
        names,
        everything: None,
        given: None,
        weights,
    })
}

fn positive(table: &Table, column: &str) -> Result<Vec<f64>> {
    let weights = table.numbers(column)?;
    match weights.iter().position(|&weight| weight <= 0.0) {
        None => Ok(weights.to_vec()),
        Some(row) => Err(LabError::Input(format!(
            "{}, column {column}, is {}: a weight must be positive, so correct it or leave the row out",
            table.place(row),
            weights[row]
        ))),
    }
}

fn samples(path: &Path, source: &Source, options: &PlanOptions) -> Result<Rows> {
    let table = task_names::read_table(path, options, &|_| false)?;
    let column = options.given_count.as_str();
    let counts = table.numbers(column)?.to_vec();
    if let Some(row) = counts.iter().position(|&count| count < 0.0) {
        return Err(LabError::Input(format!(
            "{}, column {column}, is {}: a number of samples cannot be negative, so correct it",
            table.place(row),
            counts[row]
        )));
    }
    if let Some(row) = counts.iter().position(|&count| count > MOST_SAMPLES) {
        return Err(LabError::Input(format!(
            "{}, column {column}, is {}: more than {MOST_SAMPLES:e} samples of a task are not counted, so correct it",
            table.place(row),
            counts[row]
        )));
    }
    Ok(Rows {
        parameters: source.parameters(&table, &[column])?,
        numbers: Some(counts),
        table,
    })
}

/// What is known already: the study's samples and those of the file.
fn given(rows: Option<&Rows>, source: &Source) -> Result<Option<Mat<f64>>> {
    let k = source.lens.dim();
    let mut sum = match &source.learnt {
        Some(learnt) => learnt.needs.given.clone(),
        None => Mat::zeros(k, k),
    };
    if let Some(given) = rows {
        let rows = source.lens.embed(&given.parameters);
        let place = |row| given.table.place(row);
        source.lens.check(&given.parameters, &rows, place)?;
        let counts = given.numbers.as_deref().unwrap_or(&[]);
        sum += outer_sum(&rows, k, |row| counts[row]);
    }
    let something = (0..k).any(|i| sum[(i, i)] > 0.0);
    Ok(something.then_some(sum))
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
pub(super) fn add_outer(sum: &mut Mat<f64>, c: &[f64], weight: f64) {
    for (j, &value) in c.iter().enumerate() {
        let scaled = weight * value;
        for (entry, &other) in sum.col_as_slice_mut(j).iter_mut().zip(c) {
            *entry += scaled * other;
        }
    }
}
