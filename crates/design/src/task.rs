//! Tasks: an identity, with parameters as an attribute.
//!
//! Two recordings of the same wind are two tasks, and a fan that is set to 3.7 m/s twice is one: what
//! tells tasks apart is their [`TaskId`], never a comparison of parameters. A finite space gives its
//! tasks their names or numbers; a continuous one gives each point an id of its own
//! ([`Space::task_of`](crate::space::Space::task_of)).
//!
//! ```
//! use taskscout::space::{List, Space};
//! use taskscout::task::{Task, TaskId};
//! // Two flights in the same wind.
//! let flights = List::named(
//!     vec!["monday".into(), "tuesday".into()],
//!     &[vec![3.7], vec![3.7]],
//! )?;
//! let space = Space::List(flights);
//! let (monday, tuesday) = (space.task_at(0).unwrap(), space.task_at(1).unwrap());
//! assert_eq!(monday.parameters(), tuesday.parameters());
//! assert_ne!(monday.id, tuesday.id);
//! // A task derefs to its parameters.
//! assert_eq!(monday[0], 3.7);
//! // Data of a colleague's, under a name of one's own.
//! let old = Task::new("run 17 of 2021", vec![4.1]);
//! assert_eq!(old.id, TaskId::from("run 17 of 2021"));
//! # Ok::<(), taskscout::Error>(())
//! ```

use std::fmt::Write as _;
use std::ops::Deref;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What distinguishes a task from all others of a study.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(String);

impl TaskId {
    /// The id of a row of a table that has no names.
    #[must_use]
    pub fn row(row: usize) -> Self {
        Self(row.to_string())
    }

    /// The id of a point of a continuous space: a digest of its parameters.
    #[must_use]
    pub fn point(parameters: &[f64]) -> Self {
        let mut digest = Sha256::new();
        for value in parameters {
            // So that −0 and 0 are the same point.
            digest.update((value + 0.0).to_bits().to_le_bytes());
        }
        let mut id = String::from("@");
        for byte in &digest.finalize()[..8] {
            // Writing to a string cannot fail.
            let _ = write!(id, "{byte:02x}");
        }
        Self(id)
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for TaskId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl From<String> for TaskId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl std::fmt::Display for TaskId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A task: its identity and its parameters `w`.
///
/// It derefs to its parameters, so `task[0]` is the first of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What distinguishes it from others.
    pub id: TaskId,
    parameters: Vec<f64>,
}

impl Task {
    /// A task with an id of the user's own.
    #[must_use]
    pub fn new(id: impl Into<TaskId>, parameters: Vec<f64>) -> Self {
        Self {
            id: id.into(),
            parameters,
        }
    }

    /// A point of a continuous space.
    #[must_use]
    pub fn point(parameters: Vec<f64>) -> Self {
        Self {
            id: TaskId::point(&parameters),
            parameters,
        }
    }

    /// Its parameters `w`.
    #[must_use]
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }
}

impl Deref for Task {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.parameters
    }
}

impl From<&Task> for Task {
    fn from(task: &Task) -> Self {
        task.clone()
    }
}

impl From<&[f64]> for Task {
    fn from(parameters: &[f64]) -> Self {
        Self::point(parameters.to_vec())
    }
}

impl<const N: usize> From<&[f64; N]> for Task {
    fn from(parameters: &[f64; N]) -> Self {
        Self::point(parameters.to_vec())
    }
}

impl From<&Vec<f64>> for Task {
    fn from(parameters: &Vec<f64>) -> Self {
        Self::point(parameters.clone())
    }
}

impl From<Vec<f64>> for Task {
    fn from(parameters: Vec<f64>) -> Self {
        Self::point(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_told_apart_by_the_last_bit_and_zero_has_no_sign() {
        let a = TaskId::point(&[1.0, 0.0]);
        assert_eq!(a, TaskId::point(&[1.0, -0.0]));
        assert_ne!(a, TaskId::point(&[1.0_f64.next_up(), 0.0]));
        assert_ne!(a, TaskId::point(&[1.0]));
    }

    #[test]
    fn ids_are_text_whatever_they_look_like() {
        let ids = ["7", "007", "7.0"].map(TaskId::from);
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
        assert_eq!(TaskId::row(7), ids[0]);
    }
}
