//! Where tasks lie, and the features `ψ_W` in which the residual is linear.

use serde::{Deserialize, Serialize};
use taskscout::Result;
use taskscout::features::FeatureMap;
use taskscout::space::Space;

use super::environment::TASK_NAMES;

/// The tasks of a pendulum: the box `[−1, 1]^5`.
///
/// # Errors
/// None in practice: the bounds are in order.
pub fn space() -> Result<Space> {
    let count = TASK_NAMES.len();
    Space::boxed(vec![-1.0; count], vec![1.0; count])
}

/// Exponents of the wind `(w₁, w₂)` beyond the linear terms, in the paper's order.
const WIND: [[u32; 2]; 7] = [[1, 1], [2, 0], [2, 1], [3, 0], [0, 2], [1, 2], [0, 3]];

/// Which features of a task are known.
///
/// ```
/// use taskscout::features::Features as _;
/// use taskscout_worlds::pendulum::TaskFeatures;
/// assert_eq!(TaskFeatures::Paper.map()?.dim(), 12);
/// assert_eq!(TaskFeatures::Affine.map()?.dim(), 13);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskFeatures {
    /// The paper's: `w₁…w₅, w₁w₂, w₁², w₁²w₂, w₁³, w₂², w₁w₂², w₂³`.
    Paper,
    /// The same and the constant 1, without which drag in still air and the offset of gravity
    /// cannot be expressed.
    #[default]
    Affine,
}

impl TaskFeatures {
    /// The feature map; the constant comes last.
    ///
    /// # Errors
    /// None in practice: the monomials are distinct.
    pub fn map(self) -> Result<FeatureMap> {
        let count = TASK_NAMES.len();
        let linear = (0..count).map(|i| (0..count).map(|j| u32::from(i == j)).collect());
        let wind = WIND.iter().map(|&[x, y]| vec![x, y, 0, 0, 0]);
        let mut exponents: Vec<Vec<u32>> = linear.chain(wind).collect();
        if self == Self::Affine {
            exponents.push(vec![0; count]);
        }
        FeatureMap::monomials(count, exponents)
    }
}
