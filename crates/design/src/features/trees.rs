//! Sums of oblivious trees as one feature.
//!
//! An oblivious tree of depth `D` asks the same `D` questions of every row, `x_j > t`, and the answers are the bits of the place
//! of its leaf. A sum of such trees is a step function that no polynomial has, and it is quick to evaluate anywhere: a graph of
//! comparisons and one table.
//!
//! ```
//! use taskscout::features::{Split, Tree, Trees, apply_row};
//! let split = Split { input: 0, above: 1.0 };
//! let trees = Trees::new(1, 0.5, vec![Tree { splits: vec![split], leaves: vec![0.0, 2.0] }])?;
//! assert_eq!(apply_row(&trees, &[0.3]), [0.5]);
//! assert_eq!(apply_row(&trees, &[1.3]), [2.5]);
//! # Ok::<(), taskscout::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::{Features, MAX_INPUTS, check_dim};
use crate::error::{Error, Result};

/// Most questions of a tree: its leaves double with each.
const MAX_DEPTH: usize = 16;

/// A question: whether an input is above a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The place of the input.
    pub input: usize,
    /// The threshold.
    pub above: f64,
}

/// A tree whose questions are the same for all rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// The questions; the first decides the lowest bit of the leaf's place.
    pub splits: Vec<Split>,
    /// One value a leaf, `2^D`.
    pub leaves: Vec<f64>,
}

impl Tree {
    /// The value of a row.
    #[must_use]
    pub fn value(&self, row: &[f64]) -> f64 {
        let bits = self.splits.iter().enumerate();
        let leaf = bits.fold(0, |leaf, (bit, split)| {
            leaf | usize::from(row[split.input] > split.above) << bit
        });
        self.leaves[leaf]
    }
}

/// A constant and the values of trees, added up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Trees {
    inputs: usize,
    base: f64,
    trees: Vec<Tree>,
}

impl Trees {
    /// Takes trees over so many inputs.
    ///
    /// # Errors
    /// A question about an input that is not there, leaves of the wrong number, or numbers that are not finite.
    pub fn new(inputs: usize, base: f64, trees: Vec<Tree>) -> Result<Self> {
        check_dim("inputs", inputs, MAX_INPUTS)?;
        Error::check_finite(&[base], |_| "`base`".into())?;
        for (at, tree) in trees.iter().enumerate() {
            if tree.splits.len() > MAX_DEPTH {
                let problem = format!("has {} splits: at most {MAX_DEPTH}", tree.splits.len());
                return Err(Error::setting(format!("tree {at}"), problem));
            }
            let leaves = 1 << tree.splits.len();
            Error::check_length(&format!("`leaves` of tree {at}"), leaves, tree.leaves.len())?;
            Error::check_finite(&tree.leaves, |leaf| format!("leaf {leaf} of tree {at}"))?;
            for split in &tree.splits {
                Error::check_finite(&[split.above], |_| format!("a split of tree {at}"))?;
                if split.input >= inputs {
                    let problem = format!("asks for input {} of {inputs}", split.input);
                    return Err(Error::setting(format!("tree {at}"), problem));
                }
            }
        }
        Ok(Self {
            inputs,
            base,
            trees,
        })
    }

    /// What is added to the trees.
    #[must_use]
    pub fn base(&self) -> f64 {
        self.base
    }

    /// The trees.
    #[must_use]
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The same function with the last inputs fixed, exactly: questions about them are answered.
    ///
    /// # Errors
    /// As many values as inputs, or more.
    pub fn with_last_inputs(&self, values: &[f64]) -> Result<Self> {
        let Some(inputs) = self.inputs.checked_sub(values.len()).filter(|&n| n > 0) else {
            let problem = format!(
                "are {}: fewer than the {} inputs",
                values.len(),
                self.inputs
            );
            return Err(Error::setting("fixed inputs", problem));
        };
        let fixed = self.trees.iter().map(|tree| {
            let (mut splits, mut leaves) = (Vec::new(), tree.leaves.clone());
            for split in &tree.splits {
                let Some(value) = split.input.checked_sub(inputs).map(|at| values[at]) else {
                    splits.push(*split);
                    continue;
                };
                // Leaves whose bit at this place is the answer; the bits above move down by one.
                let (bit, answer) = (splits.len(), usize::from(value > split.above));
                let kept = (0..leaves.len()).filter(|leaf| leaf >> bit & 1 == answer);
                leaves = kept.map(|leaf| leaves[leaf]).collect();
            }
            Tree { splits, leaves }
        });
        let (constant, trees): (Vec<Tree>, Vec<Tree>) =
            fixed.partition(|tree| tree.splits.is_empty());
        let base = self.base + constant.iter().map(|tree| tree.leaves[0]).sum::<f64>();
        Self::new(inputs, base, trees)
    }
}

impl Features for Trees {
    fn input_dim(&self) -> usize {
        self.inputs
    }

    fn dim(&self) -> usize {
        1
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(self.inputs).zip(out) {
            let trees = self.trees.iter().map(|tree| tree.value(row));
            *out = self.base + trees.sum::<f64>();
        }
    }
}

/// Trees as a file has them, not checked yet.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    inputs: usize,
    base: f64,
    trees: Vec<Tree>,
}

impl TryFrom<Raw> for Trees {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.inputs, raw.base, raw.trees)
    }
}

impl From<Trees> for Raw {
    fn from(trees: Trees) -> Self {
        Self {
            inputs: trees.inputs,
            base: trees.base,
            trees: trees.trees,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::features::apply_row;

    fn trees() -> Trees {
        let split = |input, above| Split { input, above };
        let tree = |splits: Vec<Split>, first: f64| Tree {
            leaves: (0..1 << splits.len())
                .map(|leaf| first + f64::from(leaf))
                .collect(),
            splits,
        };
        let all = vec![
            tree(vec![split(0, 0.5), split(2, 1.0), split(1, -1.0)], 10.0),
            tree(vec![split(2, 0.0), split(2, 3.0)], 100.0),
            tree(vec![split(1, 0.0)], -5.0),
        ];
        Trees::new(3, 0.25, all).unwrap()
    }

    #[test]
    fn answers_are_the_bits_of_the_leaf() {
        // Tree 0: x0 no, x2 yes, x1 yes: leaf 6. Tree 1: yes, no: leaf 1. Tree 2: yes.
        let found = apply_row(&trees(), &[0.0, 0.5, 2.0]);
        assert_eq!(found, [0.25 + 16.0 + 101.0 - 4.0]);
    }

    #[test]
    fn fixed_inputs_change_nothing() {
        for last in [-1.0, 0.5, 2.0, 4.0] {
            let fixed = trees().with_last_inputs(&[last]).unwrap();
            assert_eq!((fixed.input_dim(), fixed.trees().len()), (2, 2));
            for row in [[0.0, 0.5], [1.0, -2.0], [0.7, -0.5]] {
                let all = apply_row(&trees(), &[row[0], row[1], last]);
                assert_eq!(apply_row(&fixed, &row), all, "{row:?} {last}");
            }
        }
        assert!(trees().with_last_inputs(&[0.0; 3]).is_err());
    }

    #[test]
    fn files_hold_valid_trees_only() {
        let text = serde_json::to_string(&trees()).unwrap();
        assert_eq!(serde_json::from_str::<Trees>(&text).unwrap(), trees());
        for (from, to) in [("\"inputs\":3", "\"inputs\":1"), ("[-5.0,", "[")] {
            let wrong = text.replace(from, to);
            assert_ne!(wrong, text);
            assert!(serde_json::from_str::<Trees>(&wrong).is_err(), "{wrong}");
        }
    }
}
