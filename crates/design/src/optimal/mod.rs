//! Optimal designs: which tasks, and how much of each?
//!
//! A design is a sparse distribution `q` over source tasks. With embeddings `c_w` its information
//! is `Σ(q) = Σ_w q_w c_w c_wᵀ`, and what the target needs is a second moment `A`:
//!
//! - [`Criterion::Trace`]: `min_q tr(Σ(q)⁻¹ A)`, what the excess risk itself asks for;
//! - [`Criterion::MaxEigenvalue`]: `min_q λ_max(Σ(q)⁻¹ A)`, the paper's `g(f, A)`.
//!
//! `A = I` gives the target-agnostic design, `A = E[c_0 c_0ᵀ]` the target-aware one. [`ball`] solves
//! both in closed form on the unit ball; [`rounding`] turns weights into whole samples.
//!
//! ```
//! use faer::mat;
//! use taskscout::design::{ball, Criterion};
//! // One embedding is three times weaker than the other, so it gets three times the weight.
//! let map = mat![[3.0, 0.0], [0.0, 1.0]];
//! let need = mat![[1.0, 0.0], [0.0, 1.0]];
//! let design = ball::optimal(map.as_ref(), need.as_ref(), Criterion::Trace, 1.0)?;
//! let weights: Vec<f64> = design.atoms.iter().map(|atom| atom.weight).collect();
//! assert!((weights[0] - 0.75).abs() < 1e-12 && (weights[1] - 0.25).abs() < 1e-12);
//! # Ok::<(), taskscout::Error>(())
//! ```

pub mod ball;
mod blocks;
mod campaign;
mod candidates;
pub mod criterion;
pub mod discrete;
mod drawn;
mod frame;
mod frank_wolfe;
mod listed;
mod master;
mod max_eigenvalue;
mod newton;
mod one_direction;
mod problem;
pub mod rounding;
mod scan;
mod searched;
mod trace;
mod units;
mod warm;
mod worst_case;

pub use blocks::{Blocks, solve_blocks, solve_space_blocks};
pub use blocks::{block, solve_listed_blocks};
pub use campaign::{Campaign, CampaignPlan, PlannedTask};
pub use candidates::Candidates;
pub use criterion::Criterion;
use faer::{Mat, MatRef};
pub use problem::solve_listed;
pub use problem::{Need, Problem, solve, solve_space};
use serde::{Deserialize, Serialize};
pub use worst_case::{WorstCase, worst_case};

use crate::linalg;

/// One task of a design, with the reasons for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesignAtom {
    /// The task's parameters; the embedding itself where candidates came without parameters.
    pub task: Vec<f64>,
    /// Its row among the candidates, where they were a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<usize>,
    /// Its share of the budget; the weights of a design sum to one.
    pub weight: f64,
    /// Its embedding `c_w`; of several outputs, the columns of the block `C_w`, one after the other.
    pub embedding: Vec<f64>,
    /// Cosine between its embedding and the nearest target's; none without a target.
    pub similarity: Option<f64>,
    /// Its part in the value of the design; the parts sum to one.
    pub risk_share: f64,
}

/// A sampling distribution over source tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// The tasks that get samples, by falling weight.
    pub atoms: Vec<DesignAtom>,
    /// What it minimises; none for a design that is not an optimum.
    pub criterion: Option<Criterion>,
    /// The criterion's value; NaN for a design that none was computed for.
    #[serde(deserialize_with = "number_or_null")]
    pub objective: f64,
    /// A value that no design of the space can be below, where one is known.
    pub lower_bound: Option<f64>,
    /// Iterations of the solver; zero for a closed form.
    pub iterations: usize,
    /// Part of the need that no source task reaches and the design leaves out.
    #[serde(default)]
    pub missed: f64,
    /// Outputs of a sample: the columns of every embedding.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub outputs: usize,
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_one(outputs: &usize) -> bool {
    *outputs == 1
}

/// JSON has no NaN and writes null instead.
fn number_or_null<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

impl Design {
    /// A design that no criterion has judged yet.
    pub fn unscored(atoms: Vec<DesignAtom>) -> Self {
        Self {
            atoms,
            criterion: None,
            objective: f64::NAN,
            lower_bound: None,
            iterations: 0,
            missed: 0.0,
            outputs: 1,
        }
    }

    /// How far the value may be above the optimum, relatively; none without a bound.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        Some((self.objective - self.lower_bound?) / self.objective)
    }

    /// The information matrix `Σ(q)`.
    #[must_use]
    pub fn information(&self) -> Mat<f64> {
        let k = self.directions();
        let mut sum = Mat::zeros(k, k);
        for atom in &self.atoms {
            for column in atom.embedding.chunks_exact(k.max(1)) {
                for (i, a) in column.iter().enumerate() {
                    for (j, b) in column.iter().enumerate() {
                        sum[(i, j)] += atom.weight * a * b;
                    }
                }
            }
        }
        sum
    }

    /// `k`, the values of an embedding for each output.
    #[must_use]
    pub fn directions(&self) -> usize {
        let values = self.atoms.first().map_or(0, |atom| atom.embedding.len());
        values / self.outputs.max(1)
    }

    /// Fills in each atom's part in the value `tr(Σ⁻¹ A)`: `q_w c_wᵀ Σ⁺ A Σ⁺ c_w / tr(Σ⁺ A)`.
    pub(crate) fn explain(&mut self, need: MatRef<'_, f64>) -> crate::Result<()> {
        self.explain_beside(need, None)
    }

    /// The same beside information that is given.
    pub(crate) fn explain_beside(
        &mut self,
        need: MatRef<'_, f64>,
        given: Option<MatRef<'_, f64>>,
    ) -> crate::Result<()> {
        let mut information = self.information();
        if let Some(given) = given {
            information += given;
        }
        let inverse = linalg::pseudo_inverse(information.as_ref(), 1e-12)?;
        let half = linalg::product(inverse.as_ref(), need);
        let sensitivity = linalg::product(half.as_ref(), inverse.as_ref());
        let parts: Vec<f64> = self
            .atoms
            .iter()
            .map(|atom| {
                let columns = atom.embedding.chunks_exact(need.nrows().max(1));
                let risk = |column| linalg::quadratic(sensitivity.as_ref(), column);
                atom.weight * columns.map(risk).sum::<f64>()
            })
            .collect();
        let total: f64 = parts.iter().sum();
        for (atom, part) in self.atoms.iter_mut().zip(parts) {
            atom.risk_share = if total > 0.0 {
                part / total
            } else {
                atom.weight
            };
        }
        Ok(())
    }

    /// Fills in similarities to the targets, and turns a symmetric space's tasks (`w` and `−w` carry
    /// the same information) towards the nearest one.
    pub fn orient(&mut self, targets: &[Vec<f64>], symmetric: bool) {
        for atom in &mut self.atoms {
            let cosines = targets
                .iter()
                .map(|target| linalg::cosine(&atom.embedding, target));
            let nearest = if symmetric {
                cosines.max_by(|a, b| a.abs().total_cmp(&b.abs()))
            } else {
                cosines.max_by(f64::total_cmp)
            };
            if symmetric && nearest.is_some_and(|cosine| cosine < 0.0) {
                atom.task.iter_mut().for_each(|value| *value = -*value);
                atom.embedding.iter_mut().for_each(|value| *value = -*value);
            }
            atom.similarity = nearest.map(|cosine| if symmetric { cosine.abs() } else { cosine });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(embedding: &[f64], weight: f64) -> DesignAtom {
        DesignAtom {
            task: embedding.to_vec(),
            row: None,
            weight,
            embedding: embedding.to_vec(),
            similarity: None,
            risk_share: 0.0,
        }
    }

    fn design(atoms: Vec<DesignAtom>) -> Design {
        Design {
            atoms,
            criterion: None,
            objective: 1.0,
            lower_bound: None,
            iterations: 0,
            missed: 0.0,
            outputs: 1,
        }
    }

    #[test]
    fn information_is_the_weighted_sum_of_outer_products() {
        let design = design(vec![atom(&[1.0, 2.0], 0.25), atom(&[0.0, 1.0], 0.75)]);
        assert_eq!(design.information(), faer::mat![[0.25, 0.5], [0.5, 1.75]]);
        assert_eq!(
            Design {
                atoms: Vec::new(),
                ..design
            }
            .information()
            .nrows(),
            0
        );
    }

    /// The share of an atom is how fast the value falls as it gets more samples.
    #[test]
    fn shares_are_the_sensitivities_of_the_value() {
        let need = faer::mat![[2.0, 0.3], [0.3, 1.0]];
        let mut design = design(vec![
            atom(&[1.0, 2.0], 0.5),
            atom(&[0.5, -1.0], 0.3),
            atom(&[2.0, 0.1], 0.2),
        ]);
        design.explain(need.as_ref()).unwrap();
        let value = |design: &Design| {
            Criterion::Trace
                .value(design.information().as_ref(), need.as_ref())
                .unwrap()
        };
        let before = value(&design);
        for index in 0..3 {
            let mut more = design.clone();
            more.atoms[index].weight *= 1.0 + 1e-6;
            let slope = (before - value(&more)) / (1e-6 * before);
            assert!(
                (design.atoms[index].risk_share - slope).abs() < 1e-5,
                "{index}: {slope}"
            );
        }
    }

    #[test]
    fn tasks_turn_towards_the_nearest_target_where_signs_do_not_matter() {
        let targets = [vec![-1.0, 0.1], vec![0.0, 1.0]];
        let mut free = design(vec![atom(&[1.0, 0.0], 0.5), atom(&[0.0, 2.0], 0.5)]);
        let mut fixed = free.clone();
        free.orient(&targets, true);
        assert_eq!(
            (free.atoms[0].task.clone(), free.atoms[0].embedding.clone()),
            (vec![-1.0, -0.0], vec![-1.0, -0.0])
        );
        assert!(
            free.atoms[0]
                .similarity
                .is_some_and(|cosine| (cosine - 1.0 / 1.01_f64.sqrt()).abs() < 1e-12)
        );
        assert_eq!(free.atoms[1].task, [0.0, 2.0]);
        fixed.orient(&targets, false);
        assert_eq!(fixed.atoms[0].task, [1.0, 0.0]);
        assert!(
            fixed.atoms[0]
                .similarity
                .is_some_and(|cosine| cosine.abs() < 1e-12)
        );
        fixed.orient(&[], false);
        assert_eq!(fixed.atoms[0].similarity, None);
    }
}
