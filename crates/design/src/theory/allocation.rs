//! `tr(Σ⁻¹A)` of the ways to spread one sample over the unit ball.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::quantities::{columns_of, directions};
use crate::error::Result;
use crate::linalg;
use crate::optimal::discrete::{Relevance, weights};
use crate::optimal::{Criterion, ball};

/// Singular values of `B` below this part of the largest count as zero.
const RANK_TOLERANCE: f64 = 1e-10;

/// A way to spread samples over source tasks when `B` and `A` are known.
///
/// ```
/// use faer::mat;
/// use taskscout::theory::Allocation;
/// // One target that is the first of four task features: all samples there cost a quarter of an even spread.
/// let map = mat![[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]];
/// let need = mat![[1.0, 0.0], [0.0, 0.0]];
/// let value = |how: Allocation| how.value(map.as_ref(), need.as_ref());
/// assert!((value(Allocation::Passive)? - 4.0).abs() < 1e-12);
/// assert!((value(Allocation::Agnostic)? - 2.0).abs() < 1e-12);
/// assert!((value(Allocation::Optimal)? - 1.0).abs() < 1e-12);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Allocation {
    /// All task features alike, which on average is the ball itself: `Σ = B Bᵀ / d_W`.
    Passive,
    /// `q_1` of the paper: equal weights on the right singular vectors of `B`, `Σ = B Bᵀ / k`.
    Agnostic,
    /// Single task features by `|ν_i|` of the L1 relevance.
    L1,
    /// Single task features by `ν_i²` of the L2 relevance.
    L2,
    /// `q_2` of the paper: the normalised `W*_i` with equal weights.
    Paper,
    /// The optimal design of the ball for the trace, `(tr Ã^½)²`.
    Optimal,
}

impl Allocation {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Passive,
        Self::Agnostic,
        Self::L1,
        Self::L2,
        Self::Paper,
        Self::Optimal,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passive => "passive",
            Self::Agnostic => "agnostic",
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Paper => "paper",
            Self::Optimal => "optimal",
        }
    }

    /// The information `Σ` of one sample spread like this.
    ///
    /// # Errors
    /// Matrices that do not fit each other or are not finite, a need of nothing, or one that no source task reaches.
    pub fn information(self, map: MatRef<'_, f64>, need: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let scatter = || linalg::product(map, map.transpose());
        Ok(match self {
            Self::Passive => faer::Scale(1.0 / map.ncols() as f64) * scatter(),
            Self::Agnostic => {
                let svd = linalg::svd(map, "the task map")?;
                let floor = RANK_TOLERANCE * svd.s.first().copied().unwrap_or(0.0);
                let rank = svd.s.iter().filter(|&&value| value > floor).count();
                faer::Scale(1.0 / rank.max(1) as f64) * scatter()
            }
            Self::L1 => by_relevance(Relevance::L1, map, need)?,
            Self::L2 => by_relevance(Relevance::L2, map, need)?,
            Self::Paper => ball::paper(map, need, 1.0)?.information(),
            Self::Optimal => ball::optimal(map, need, Criterion::Trace, 1.0)?.information(),
        })
    }

    /// `tr(Σ⁻¹A)` for one sample: the excess risk is `σ²(d_X − k)` times this, over the number of samples.
    ///
    /// # Errors
    /// As [`Allocation::information`].
    pub fn value(self, map: MatRef<'_, f64>, need: MatRef<'_, f64>) -> Result<f64> {
        let information = self.information(map, need)?;
        Criterion::Trace.value(information.as_ref(), need)
    }
}

/// Single task features by relevance to the directions of the target, each direction by its eigenvalue.
fn by_relevance(kind: Relevance, map: MatRef<'_, f64>, need: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let targets: Vec<(Vec<f64>, f64)> = directions(map, need)?
        .into_iter()
        .map(|target| {
            let eigenvalue = linalg::dot(&target, &target);
            (target, eigenvalue)
        })
        .collect();
    let shares = weights(kind, &columns_of(map), map.nrows(), &targets, 0.0)?;
    let scaled = Mat::from_fn(map.nrows(), map.ncols(), |i, j| map[(i, j)] * shares[j]);
    Ok(linalg::product(scaled.as_ref(), map.transpose()))
}
