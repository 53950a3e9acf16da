//! What decides how much a target costs.

use faer::MatRef;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::linalg;
use crate::optimal::discrete::{Relevance, relevance};

/// Eigenvalues and singular values below this part of the largest count as zero.
const RANK_TOLERANCE: f64 = 1e-9;
/// Part of a direction of the target that may lie outside the reach of the sources.
const REACH_TOLERANCE: f64 = 1e-6;

/// The paper's quantities of a task map `B` and a need `A`.
///
/// With `A = Σ_i λ_i u_i u_iᵀ`, `W*_i` is the shortest combination of task features with `B W*_i = u_i √λ_i`, and `ν_i`
/// the one with the smallest sum of magnitudes. For one target these are `w*` and `ν` of the paper's comparison.
///
/// ```
/// use faer::mat;
/// use taskscout::theory::Quantities;
/// let map = mat![[2.0, 0.0, 1.0], [0.0, 1.0, 0.0]];
/// let target = mat![[1.0, 0.0], [0.0, 0.0]];
/// let known = Quantities::of(map.as_ref(), target.as_ref())?;
/// assert_eq!((known.k, known.k_star, known.task_features), (2, 1, 3));
/// // Half of the first feature, or 0.4 of it and 0.2 of the third.
/// assert!((known.longest() - 0.2_f64.sqrt()).abs() < 1e-12);
/// assert!((known.l1_norms[0] - 0.5).abs() < 1e-6);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantities {
    /// Directions of the representation.
    pub k: usize,
    /// Task features of a source task, `d_W`.
    pub task_features: usize,
    /// `k* = rank A`: directions that the target needs.
    pub k_star: usize,
    /// `κ(B)`: the largest over the smallest singular value.
    pub condition: f64,
    /// `σ_min(B)`.
    pub weakest: f64,
    /// `tr A`.
    pub strength: f64,
    /// `‖A‖`, its largest eigenvalue.
    pub largest: f64,
    /// `‖W*_i‖₂`, in the order of falling eigenvalues of `A`.
    pub norms: Vec<f64>,
    /// `‖ν_i‖₁`, likewise.
    pub l1_norms: Vec<f64>,
}

impl Quantities {
    /// Computes all of them.
    ///
    /// # Errors
    /// Matrices that do not fit each other or are not finite, a need of nothing, or one that no source task reaches.
    pub fn of(map: MatRef<'_, f64>, need: MatRef<'_, f64>) -> Result<Self> {
        let targets = directions(map, need)?;
        let svd = linalg::svd(map, "the task map")?;
        let (strongest, weakest) = match (svd.s.first(), svd.s.get(map.nrows() - 1)) {
            (Some(first), Some(last)) => (*first, *last),
            _ => (0.0, 0.0),
        };
        let inverse = linalg::pseudo_inverse(map, RANK_TOLERANCE)?;
        let columns = columns_of(map);
        let (mut norms, mut l1_norms) = (Vec::new(), Vec::new());
        for target in &targets {
            let shortest = linalg::apply(inverse.as_ref(), target);
            let reached = linalg::apply(map, &shortest);
            let missed: Vec<f64> = reached.iter().zip(target).map(|(a, b)| a - b).collect();
            if linalg::norm(&missed) > REACH_TOLERANCE * linalg::norm(target) {
                return Err(Error::RankDeficient {
                    what: "the source part of the task map, which misses part of the target,"
                        .into(),
                    rank: svd
                        .s
                        .iter()
                        .filter(|s| **s > RANK_TOLERANCE * strongest)
                        .count(),
                    needed: map.nrows(),
                    remedy: "widen the task space, or use a smaller k".into(),
                });
            }
            norms.push(linalg::norm(&shortest));
            l1_norms.push(relevance(Relevance::L1, &columns, map.nrows(), target)?.norm);
        }
        Ok(Self {
            k: map.nrows(),
            task_features: map.ncols(),
            k_star: targets.len(),
            condition: strongest / weakest,
            weakest,
            strength: (0..need.nrows()).map(|i| need[(i, i)]).sum(),
            largest: linalg::dot(&targets[0], &targets[0]),
            norms,
            l1_norms,
        })
    }

    /// `max_i ‖W*_i‖₂`.
    #[must_use]
    pub fn longest(&self) -> f64 {
        self.norms.iter().copied().fold(0.0, f64::max)
    }
}

/// The directions `u_i √λ_i` of a need, by falling eigenvalue.
pub(super) fn directions(map: MatRef<'_, f64>, need: MatRef<'_, f64>) -> Result<Vec<Vec<f64>>> {
    Error::check_length("the target moment", map.nrows(), need.nrows())?;
    Error::check_length("the target moment", map.nrows(), need.ncols())?;
    let (values, vectors) = linalg::eigen(need, "the target moment")?;
    let largest = values.first().copied().unwrap_or(0.0);
    if largest <= 0.0 {
        return Err(Error::setting(
            "target",
            "has a zero second moment: it needs nothing",
        ));
    }
    let kept = values.iter().enumerate();
    Ok(kept
        .take_while(|(_, value)| **value > RANK_TOLERANCE * largest)
        .map(|(i, value)| {
            let vector = linalg::column(vectors.as_ref(), i);
            vector.into_iter().map(|x| x * value.sqrt()).collect()
        })
        .collect())
}

/// The columns of a map, one after the other: the embeddings of the tasks with one feature each.
pub(super) fn columns_of(map: MatRef<'_, f64>) -> Vec<f64> {
    (0..map.ncols())
        .flat_map(|j| linalg::column(map, j))
        .collect()
}
