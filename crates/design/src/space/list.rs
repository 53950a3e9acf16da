//! A table of candidate tasks.
//!
//! A million candidates are no trouble: they lie in one block of memory, and every question is a
//! scan or a binary search. Rows count from 0.
//!
//! ```
//! use taskscout::space::{List, Space};
//! let list = List::new(&[vec![0.0, 1.3], vec![0.0, 2.5]])?
//!     .with_names(vec!["10wind".to_owned(), "20wind".to_owned()])?;
//! assert_eq!(list.index_of(&[0.0, 2.5]), Some(1));
//! assert_eq!(Space::List(list).name_of(&[0.0, 2.5]), Some("20wind"));
//!
//! let twice = List::new(&[vec![1.0], vec![2.0], vec![1.0]]).unwrap_err();
//! assert!(twice.to_string().contains("`tasks` row 2 repeats row 0"));
//! # Ok::<(), taskscout::Error>(())
//! ```

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use rand::RngExt as _;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::region::{Leaf, Listing, Region, RegionPart, TOLERANCE, brief};
use super::{MAX_DIM, check_dim};
use crate::error::{Error, Result};
use crate::rng::Rng;
use crate::task::TaskId;

/// A finite list of tasks, perhaps with names. Tasks without names differ in their parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct List {
    dim: usize,
    /// Row-major.
    values: Vec<f64>,
    names: Option<Vec<String>>,
    /// Rows in lexicographic order, to look tasks up.
    order: Vec<u32>,
}

impl List {
    /// A list of tasks of equal length, all finite and different.
    pub fn new(tasks: &[Vec<f64>]) -> Result<Self> {
        let Some(first) = tasks.first() else {
            return Err(empty());
        };
        let dim = first.len();
        for (row, task) in tasks.iter().enumerate() {
            Error::check_length(&format!("`tasks` row {row}"), dim, task.len())?;
        }
        Self::from_rows(dim, tasks.concat())
    }

    /// A list of tasks that differ by their names: several may have the same parameters.
    pub fn named(names: Vec<String>, tasks: &[Vec<f64>]) -> Result<Self> {
        let dim = tasks.first().ok_or_else(empty)?.len();
        for (row, task) in tasks.iter().enumerate() {
            Error::check_length(&format!("`tasks` row {row}"), dim, task.len())?;
        }
        Self::unchecked(dim, tasks.concat())?.with_names(names)
    }

    /// The same from one row-major block of rows of `dim` values.
    pub fn from_rows(dim: usize, values: Vec<f64>) -> Result<Self> {
        let list = Self::unchecked(dim, values)?;
        list.check_different()?;
        Ok(list)
    }

    /// A list whose tasks may have the same parameters.
    fn unchecked(dim: usize, mut values: Vec<f64>) -> Result<Self> {
        check_dim("tasks", dim, MAX_DIM).map_err(|_| {
            Error::setting(
                "tasks",
                format!("have {dim} parameters each: at least 1 is needed"),
            )
        })?;
        if values.is_empty() {
            return Err(empty());
        }
        let count = values.len() / dim;
        if !values.len().is_multiple_of(dim) {
            let place = format!("`tasks` row {count}");
            Error::check_length(&place, dim, values.len() % dim)?;
        }
        Error::check_finite(&values, |index| {
            format!("`tasks` row {}, value {}", index / dim, index % dim)
        })?;
        // So that −0 and 0 are the same task.
        values.iter_mut().for_each(|value| *value += 0.0);
        let order = sorted(dim, &values)?;
        Ok(Self {
            dim,
            values,
            names: None,
            order,
        })
    }

    /// Gives every task a name, which is its id from then on; names differ and are not empty.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self> {
        Error::check_length("`names`", self.len(), names.len())?;
        let mut first = HashMap::with_capacity(names.len());
        for (row, name) in names.iter().enumerate() {
            if name.is_empty() {
                let problem = format!("row {row} is empty: name every task or none");
                return Err(Error::setting("names", problem));
            }
            if let Some(earlier) = first.insert(name.as_str(), row) {
                let problem = format!("row {row} repeats the name `{name}` of row {earlier}");
                return Err(Error::setting("names", problem));
            }
        }
        self.names = Some(names);
        Ok(self)
    }

    /// Refuses tasks that nothing distinguishes.
    fn check_different(&self) -> Result<()> {
        let same = |a: u32, b: u32| compare(self.row(a), self.row(b)).is_eq();
        let pairs = self.order.windows(2).map(|pair| (pair[0], pair[1]));
        let repeats = pairs.filter(|&(a, b)| same(a, b));
        match repeats.min_by_key(|&(_, later)| later) {
            None => Ok(()),
            Some((earlier, later)) => Err(Error::setting(
                "tasks",
                format!(
                    "row {later} repeats row {earlier} (rows count from 0): remove one of them, or name them all"
                ),
            )),
        }
    }

    /// Number of parameters of a task.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of tasks, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a list is never empty")]
    pub fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    /// The tasks, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.dim)
    }

    /// All values, row-major.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// A task.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&[f64]> {
        let start = row.checked_mul(self.dim)?;
        self.values.get(start..start.checked_add(self.dim)?)
    }

    /// A task's name, if there are names.
    #[must_use]
    pub fn name(&self, row: usize) -> Option<&str> {
        Some(self.names.as_ref()?.get(row)?.as_str())
    }

    /// The id of a task: its name, or its row.
    #[must_use]
    pub fn id(&self, row: usize) -> TaskId {
        self.name(row)
            .map_or_else(|| TaskId::row(row), TaskId::from)
    }

    /// A row drawn uniformly.
    pub(super) fn draw_row(&self, rng: &mut Rng) -> usize {
        rng.random_range(0..self.len())
    }

    /// The first row with the parameters of a task, up to rounding.
    #[must_use]
    pub fn index_of(&self, task: &[f64]) -> Option<usize> {
        if task.len() != self.dim {
            return None;
        }
        let task: Vec<f64> = task.iter().map(|value| value + 0.0).collect();
        let before = |row: &u32| compare(self.row(*row), &task).is_lt();
        let place = self.order.partition_point(before);
        let row = self.order.get(place).copied();
        if let Some(row) = row.filter(|&row| compare(self.row(row), &task).is_eq()) {
            return Some(row as usize);
        }
        let (row, parameter, distance) = self.nearest(&task);
        let size = self.iter().map(|row| row[parameter].abs());
        (distance <= TOLERANCE * size.fold(0.0, f64::max)).then_some(row)
    }

    /// The row nearest to a task in the largest difference of a parameter, that parameter and
    /// that difference.
    fn nearest(&self, task: &[f64]) -> (usize, usize, f64) {
        let mut best = (0, 0, f64::INFINITY);
        for (index, row) in self.iter().enumerate() {
            let mut worst = (0, 0.0);
            for (parameter, (a, b)) in row.iter().zip(task).enumerate() {
                if (a - b).abs() > worst.1 {
                    worst = (parameter, (a - b).abs());
                }
                if worst.1 >= best.2 {
                    break;
                }
            }
            if worst.1 < best.2 {
                best = (index, worst.0, worst.1);
            }
        }
        best
    }

    fn row(&self, row: u32) -> &[f64] {
        self.get(row as usize).unwrap_or(&[])
    }
}

fn empty() -> Error {
    Error::setting("tasks", "is empty: list at least one task")
}

fn compare(a: &[f64], b: &[f64]) -> Ordering {
    let pairs = a.iter().zip(b);
    let mut orders = pairs.map(|(a, b)| a.total_cmp(b));
    orders
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// The rows in lexicographic order, equal ones as they come.
fn sorted(dim: usize, values: &[f64]) -> Result<Vec<u32>> {
    let Ok(count) = u32::try_from(values.len() / dim) else {
        return Err(Error::setting("tasks", "has more than 4294967295 rows"));
    };
    let row = |index: u32| &values[index as usize * dim..(index as usize + 1) * dim];
    let mut order: Vec<u32> = (0..count).collect();
    order.par_sort_unstable_by(|&a, &b| compare(row(a), row(b)).then(a.cmp(&b)));
    Ok(order)
}

impl Listing for List {
    fn count(&self) -> usize {
        self.len()
    }

    fn width(&self) -> usize {
        self.dim
    }

    fn write(&self, index: usize, task: &mut [f64]) {
        task.copy_from_slice(&self.values[index * self.dim..(index + 1) * self.dim]);
    }

    fn id(&self, index: usize) -> TaskId {
        self.id(index)
    }

    fn index_of(&self, task: &[f64]) -> Option<usize> {
        self.index_of(task)
    }

    fn rows(&self, range: Range<usize>) -> Option<&[f64]> {
        self.values
            .get(range.start * self.dim..range.end * self.dim)
    }
}

impl Region for List {
    fn dim(&self) -> usize {
        self.dim
    }

    fn breach(&self, task: &[f64]) -> Option<String> {
        if self.index_of(task).is_some() {
            return None;
        }
        let (row, parameter, distance) = self.nearest(task);
        Some(format!(
            "it is not one of the {} tasks listed; the nearest, row {row}, differs by {} in parameter {parameter}",
            self.len(),
            brief(distance)
        ))
    }

    fn draw(&self, rng: &mut Rng, task: &mut [f64]) -> Result<()> {
        self.write(self.draw_row(rng), task);
        Ok(())
    }

    fn listing(&self) -> Option<&dyn Listing> {
        Some(self)
    }

    fn settle(&self, _task: &mut [f64]) -> bool {
        true
    }

    fn chord(&self, _task: &[f64], _direction: &[f64]) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn leaves<'a>(&'a self, start: usize, leaves: &mut Vec<Leaf<'a>>) {
        let part = RegionPart::Finite(self);
        leaves.push(Leaf { start, part });
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    tasks: Vec<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
}

impl TryFrom<Raw> for List {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        match raw.names {
            Some(names) => Self::named(names, &raw.tasks),
            None => Self::new(&raw.tasks),
        }
    }
}

impl From<List> for Raw {
    fn from(list: List) -> Self {
        Self {
            tasks: list.iter().map(<[f64]>::to_vec).collect(),
            names: list.names,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bad_lists_are_named_by_row() {
        for (tasks, expected) in [
            (vec![], "`tasks` is empty"),
            (vec![vec![], vec![]], "`tasks` have 0 parameters"),
            (
                vec![vec![1.0, 2.0], vec![3.0]],
                "`tasks` row 1 has 1 values where 2",
            ),
            (
                vec![vec![1.0, 2.0], vec![3.0, f64::INFINITY]],
                "`tasks` row 1, value 1 is inf",
            ),
            (
                vec![vec![0.0, 2.0], vec![1.0, 1.0], vec![-0.0, 2.0]],
                "`tasks` row 2 repeats row 0",
            ),
        ] {
            let message = List::new(&tasks).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        let torn = List::from_rows(2, vec![1.0; 3]).unwrap_err().to_string();
        assert!(
            torn.contains("`tasks` row 1 has 1 values where 2"),
            "{torn}"
        );
    }

    #[test]
    fn bad_names_are_named_by_row() {
        for (names, expected) in [
            (vec!["a"], "`names` has 1 values where 2"),
            (vec!["a", ""], "`names` row 1 is empty"),
            (
                vec!["a", "a"],
                "`names` row 1 repeats the name `a` of row 0",
            ),
        ] {
            let list = List::new(&[vec![1.0], vec![2.0]]).unwrap();
            let names = names.into_iter().map(str::to_owned).collect();
            let message = list.with_names(names).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn an_unknown_task_is_refused_with_its_neighbour() {
        let list = List::new(&[vec![0.0, 1.0], vec![5.0, 5.0]]).unwrap();
        let reason = list.breach(&[5.0, 4.5]).unwrap();
        assert!(
            reason.contains("nearest, row 1, differs by 0.5 in parameter 1"),
            "{reason}"
        );
        assert!(list.breach(&[5.0, 5.0 + 1e-10]).is_none());
        assert_eq!(list.index_of(&[0.0]), None);
        assert_eq!(list.get(2), None);
    }

    proptest! {
        #[test]
        fn every_row_is_found(values in prop::collection::btree_set(-50_i32..50, 1..40), dim in 1_usize..4) {
            let count = values.len() / dim;
            prop_assume!(count > 0);
            let values: Vec<f64> = values.into_iter().rev().take(count * dim).map(f64::from).collect();
            let list = List::from_rows(dim, values).unwrap();
            for (row, task) in list.iter().enumerate() {
                prop_assert_eq!(list.index_of(task), Some(row));
                let rounded: Vec<f64> = task.iter().map(|v| v + 1e-11).collect();
                if count > 1 {
                    prop_assert_eq!(list.index_of(&rounded), Some(row));
                }
            }
        }
    }
}
