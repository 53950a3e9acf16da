//! The two criteria a design can be judged by.

use faer::MatRef;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::linalg::{self, wide};

/// Relative size below which an eigenvalue of the information counts as zero.
const RANK_TOLERANCE: f64 = 1e-12;
/// Part of `A` outside the range of the information that rounding may leave.
const RANGE_TOLERANCE: f64 = 1e-9;

/// What a design minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// `tr(Σ⁻¹ A)`: the excess risk on the target, up to a constant.
    Trace,
    /// `λ_max(Σ⁻¹ A)`: the worst direction, as in the paper.
    MaxEigenvalue,
}

impl Criterion {
    /// The criterion's value for an information matrix `Σ` and a need `A`, both symmetric and
    /// positive semidefinite; infinite if `A` reaches outside the range of `Σ`.
    ///
    /// # Errors
    /// Entries that are not finite.
    pub fn value(self, information: MatRef<'_, f64>, need: MatRef<'_, f64>) -> Result<f64> {
        if let (Self::Trace, Some(factor)) = (self, wide::well_conditioned(information)) {
            let solved = factor.solve(need);
            return Ok((0..need.nrows()).map(|i| solved[(i, i)]).sum());
        }
        let (values, vectors) = linalg::eigen(information, "the information matrix")?;
        let floor = RANK_TOLERANCE * values.first().copied().unwrap_or(0.0).max(0.0);
        let rank = values.iter().filter(|&&value| value > floor).count();
        let half = linalg::product(vectors.transpose(), need);
        let rotated = linalg::product(half.as_ref(), vectors.as_ref());
        let trace: f64 = (0..rotated.nrows()).map(|i| rotated[(i, i)]).sum();
        let outside: f64 = (rank..rotated.nrows()).map(|i| rotated[(i, i)]).sum();
        if outside > RANGE_TOLERANCE * trace {
            return Ok(f64::INFINITY);
        }
        let scaled = faer::Mat::from_fn(rank, rank, |i, j| {
            rotated[(i, j)] / (values[i] * values[j]).sqrt()
        });
        Ok(match self {
            Self::Trace => (0..rank).map(|i| scaled[(i, i)]).sum(),
            Self::MaxEigenvalue => {
                let (values, _) = linalg::eigen(scaled.as_ref(), "the criterion")?;
                values.first().copied().unwrap_or(0.0).max(0.0)
            }
        })
    }
}

impl std::fmt::Display for Criterion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Trace => "trace",
            Self::MaxEigenvalue => "max-eigenvalue",
        })
    }
}

#[cfg(test)]
mod tests {
    use faer::{Mat, mat};
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::rng::{Purpose, derive};

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

        /// Against `Σ⁻¹ A` formed by solving.
        #[test]
        fn values_are_trace_and_top_eigenvalue(k in 1_usize..6, rank in 1_usize..6, seed in any::<u64>()) {
            let mut rng = derive(seed, Purpose::Test, &[]);
            let mut square = |columns: usize| {
                let root: Mat<f64> = Mat::from_fn(k, columns, |_, _| StandardNormal.sample(&mut rng));
                &root * root.transpose()
            };
            let (information, need) = (square(k + 2), square(rank.min(k)));
            let ratio = linalg::cholesky(information.as_ref(), "a test").unwrap().solve(need.as_ref());
            let trace: f64 = (0..k).map(|i| ratio[(i, i)]).sum();
            let value = |criterion: Criterion| criterion.value(information.as_ref(), need.as_ref()).unwrap();
            prop_assert!((value(Criterion::Trace) / trace - 1.0).abs() < 1e-8);
            // Σ⁻¹A has real eigenvalues; the largest is the limit of the powers' growth.
            let top = ratio.eigenvalues().unwrap().iter().fold(0.0_f64, |top, value| top.max(value.re));
            prop_assert!((value(Criterion::MaxEigenvalue) / top - 1.0).abs() < 1e-8);
        }
    }

    #[test]
    fn a_need_out_of_range_costs_infinitely_much() {
        let information = mat![[2.0, 0.0], [0.0, 0.0]];
        for criterion in [Criterion::Trace, Criterion::MaxEigenvalue] {
            let value = |need: Mat<f64>| {
                criterion
                    .value(information.as_ref(), need.as_ref())
                    .unwrap()
            };
            assert!(value(mat![[1.0, 0.0], [0.0, 1e-3]]).is_infinite());
            assert!((value(mat![[1.0, 0.0], [0.0, 0.0]]) - 0.5).abs() < 1e-12);
            assert!(
                criterion
                    .value(Mat::<f64>::zeros(2, 2).as_ref(), information.as_ref())
                    .unwrap()
                    .is_infinite()
            );
            let broken = mat![[f64::NAN, 0.0], [0.0, 1.0]];
            assert!(
                criterion
                    .value(broken.as_ref(), information.as_ref())
                    .is_err()
            );
        }
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        assert_eq!(Criterion::MaxEigenvalue.to_string(), "max-eigenvalue");
        assert_eq!(
            serde_json::to_string(&Criterion::Trace).unwrap(),
            "\"trace\""
        );
    }
}
