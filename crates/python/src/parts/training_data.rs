//! What a trainer of Python learns from, gathered from the tasks that a fit may see.

use numpy::ndarray::{Array1, Array2, Array3};
use numpy::{IntoPyArray as _, PyArray1, PyArray2, PyArray3};
use pyo3::prelude::*;
use taskscout::data::{FoldSelection, Rows, Statistics, TaskData};
use taskscout::train::TrainContext;
use taskscout::{Error, Result};

/// A task that a fit may see: its features, its rows where they are kept, and their statistics.
struct Group<'a> {
    features: &'a [f64],
    rows: Vec<&'a Rows>,
    statistics: Statistics,
}

/// The tasks of a fit that have any data.
pub(super) struct TrainingData<'a> {
    feature_dim: usize,
    outputs: usize,
    groups: Vec<Group<'a>>,
}

/// What Python gets: of rows, inputs, outputs and the task of each; of statistics, Gram matrices, moments and counts.
pub(super) type Arrays<'py> = (
    Bound<'py, PyArray2<f64>>,
    Option<RowArrays<'py>>,
    Option<StatisticArrays<'py>>,
);
type RowArrays<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<i64>>,
);
type StatisticArrays<'py> = (
    Bound<'py, PyArray3<f64>>,
    Bound<'py, PyArray3<f64>>,
    Bound<'py, PyArray1<i64>>,
);

impl<'a> TrainingData<'a> {
    /// Sources of the stages that the context allows, and some rows of the targets.
    pub(super) fn of(
        data: &'a TaskData,
        context: &TrainContext,
        targets: FoldSelection,
    ) -> Result<Self> {
        let stages = context.stages.as_ref();
        let mut groups = Vec::new();
        for entry in data.sources() {
            if stages.is_none_or(|stages| stages.contains(&entry.stage)) {
                groups.push(Group {
                    features: &entry.features,
                    rows: vec![&entry.rows],
                    statistics: (*entry.statistics).clone(),
                });
            }
        }
        for index in 0..data.targets().len() {
            groups.push(target_group(data, index, targets)?);
        }
        Self::with_rows(data, groups)
    }

    /// One target alone, a task without features but a constant.
    pub(super) fn alone(data: &'a TaskData, target: usize, rows: FoldSelection) -> Result<Self> {
        let group = target_group(data, target, rows)?;
        let constant = &[1.0];
        let features = &constant[..];
        Self::with_rows(data, vec![Group { features, ..group }])
    }

    fn with_rows(data: &TaskData, mut groups: Vec<Group<'a>>) -> Result<Self> {
        groups.retain(|group| group.statistics.count() > 0);
        if groups.is_empty() {
            return Err(Error::State(
                "training needs data: tell the study some samples first".into(),
            ));
        }
        Ok(Self {
            feature_dim: data.feature_dim(),
            outputs: data.outputs(),
            groups,
        })
    }

    /// What changes when the data do.
    pub(super) fn fingerprint(&self) -> Vec<u64> {
        let of = |group: &Group<'_>| {
            let sums = &group.statistics;
            let squares = (0..self.outputs).map(|output| sums.sum_of_squares(output).to_bits());
            squares.chain([sums.count() as u64]).collect::<Vec<_>>()
        };
        self.groups.iter().flat_map(of).collect()
    }

    /// As arrays, with rows or with statistics.
    pub(super) fn arrays<'py>(&self, py: Python<'py>, with_rows: bool) -> PyResult<Arrays<'py>> {
        let p = self.groups.first().map_or(0, |group| group.features.len());
        let shape = (self.groups.len(), p);
        let features = Array2::from_shape_fn(shape, |(i, j)| self.groups[i].features[j]);
        let features = features.into_pyarray(py);
        if with_rows {
            return Ok((features, Some(self.row_arrays(py)?), None));
        }
        Ok((features, None, Some(self.statistic_arrays(py))))
    }

    fn row_arrays<'py>(&self, py: Python<'py>) -> PyResult<RowArrays<'py>> {
        let (mut x, mut y, mut task) = (Vec::new(), Vec::new(), Vec::new());
        for (index, group) in self.groups.iter().enumerate() {
            for rows in &group.rows {
                x.extend_from_slice(rows.inputs());
                y.extend_from_slice(rows.outputs());
                task.extend(std::iter::repeat_n(index as i64, rows.len()));
            }
        }
        let shaped = |values: Vec<f32>, width: usize| {
            Array2::from_shape_vec((task.len(), width), values)
                .map_err(|error| crate::errors::OperationError::new_err(error.to_string()))
        };
        Ok((
            shaped(x, self.feature_dim)?.into_pyarray(py),
            shaped(y, self.outputs)?.into_pyarray(py),
            Array1::from(task).into_pyarray(py),
        ))
    }

    fn statistic_arrays<'py>(&self, py: Python<'py>) -> StatisticArrays<'py> {
        let (n, d, m) = (self.groups.len(), self.feature_dim, self.outputs);
        let grams: Vec<_> = self
            .groups
            .iter()
            .map(|group| group.statistics.gram_matrix())
            .collect();
        let gram = Array3::from_shape_fn((n, d, d), |(t, i, j)| grams[t][(i, j)]);
        let moment = Array3::from_shape_fn((n, d, m), |(t, i, o)| {
            self.groups[t].statistics.cross_moment(o)[i]
        });
        let counts = self.groups.iter().map(|group| group.statistics.count());
        let counts: Vec<i64> = counts.map(|count| count as i64).collect();
        (
            gram.into_pyarray(py),
            moment.into_pyarray(py),
            Array1::from(counts).into_pyarray(py),
        )
    }
}

fn target_group(data: &TaskData, index: usize, targets: FoldSelection) -> Result<Group<'_>> {
    let statistics = data.target_statistics(index, targets)?;
    let target = &data.targets()[index];
    let folds = target.rows.iter().enumerate();
    let seen = folds.filter(|(fold, _)| targets.includes(*fold));
    Ok(Group {
        features: &target.features,
        rows: seen.map(|(_, rows)| rows).collect(),
        statistics,
    })
}
