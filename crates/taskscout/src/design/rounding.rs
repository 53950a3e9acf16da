//! From weights to whole samples, without losing or inventing one.

use crate::error::{Error, Result};

/// Splits `budget` samples by weight with efficient apportionment (Pukelsheim and Rieder, 1992):
/// start from `⌈(n − l/2) q_i⌉`, then give to the task with the smallest `n_i/q_i` and take from
/// the one with the largest `(n_i − 1)/q_i` until the sum is right. Every task of positive weight
/// gets at least one sample.
///
/// ```
/// let counts = taskscout::design::rounding::apportion(&[0.5, 0.3, 0.2], 7)?;
/// assert_eq!(counts.iter().sum::<usize>(), 7);
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// Weights that are negative, not finite or all zero; fewer samples than tasks of positive weight.
pub fn apportion(weights: &[f64], budget: usize) -> Result<Vec<usize>> {
    Error::check_finite(weights, |i| format!("weight {i}"))?;
    if let Some(index) = weights.iter().position(|&weight| weight < 0.0) {
        return Err(Error::setting(
            format!("weight {index}"),
            "is negative: weights must be at least 0",
        ));
    }
    let total: f64 = weights.iter().sum();
    let support: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    if support.is_empty() || !total.is_finite() {
        return Err(Error::setting(
            "weights",
            "are all zero or too large to add up: give at least one positive weight",
        ));
    }
    if budget < support.len() {
        return Err(Error::BudgetTooSmall {
            budget,
            tasks: support.len(),
        });
    }
    let share = |i: usize| weights[i] / total;
    let scale = budget as f64 - support.len() as f64 / 2.0;
    let mut counts = vec![0_usize; weights.len()];
    for &i in &support {
        counts[i] = ((scale * share(i)).ceil() as usize).max(1);
    }
    let mut sum: usize = counts.iter().sum();
    while sum < budget {
        let ratio = |i: usize| counts[i] as f64 / share(i);
        let Some(&next) = support
            .iter()
            .min_by(|&&a, &&b| ratio(a).total_cmp(&ratio(b)))
        else {
            break;
        };
        counts[next] += 1;
        sum += 1;
    }
    while sum > budget {
        let ratio = |i: usize| (counts[i] as f64 - 1.0) / share(i);
        let spare = support.iter().filter(|&&i| counts[i] > 1);
        let Some(&next) = spare.max_by(|&&a, &&b| ratio(a).total_cmp(&ratio(b))) else {
            break;
        };
        counts[next] -= 1;
        sum -= 1;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_sample_is_lost_or_invented(
            weights in prop::collection::vec(0.0_f64..1.0, 1..40),
            extra in 0_usize..10_000,
        ) {
            let support = weights.iter().filter(|&&weight| weight > 0.0).count();
            prop_assume!(support > 0);
            let counts = apportion(&weights, support + extra).unwrap();
            prop_assert_eq!(counts.iter().sum::<usize>(), support + extra);
            for (count, weight) in counts.iter().zip(&weights) {
                prop_assert_eq!(*count > 0, *weight > 0.0);
            }
        }

        #[test]
        fn counts_stay_near_their_share(
            weights in prop::collection::vec(0.01_f64..1.0, 1..40),
            budget in 1_000_usize..10_000,
        ) {
            // Efficient apportionment stays within l/2 + 1 of the ideal share.
            let total: f64 = weights.iter().sum();
            let slack = weights.len() as f64 / 2.0 + 1.0;
            for (count, weight) in apportion(&weights, budget).unwrap().iter().zip(&weights) {
                prop_assert!((*count as f64 - budget as f64 * weight / total).abs() <= slack);
            }
        }
    }

    #[test]
    fn extreme_weights_are_refused_or_handled() {
        assert!(matches!(
            apportion(&[f64::MAX, f64::MAX], 4),
            Err(Error::Setting { .. })
        ));
        assert!(matches!(
            apportion(&[f64::NAN], 4),
            Err(Error::NotFinite { .. })
        ));
        assert!(matches!(
            apportion(&[-1.0, 2.0], 4),
            Err(Error::Setting { .. })
        ));
        assert_eq!(apportion(&[1.0, 1e-300], 5), Ok(vec![4, 1]));
    }

    #[test]
    fn too_small_a_budget_is_refused() {
        assert_eq!(
            apportion(&[0.5, 0.5, 0.0], 1),
            Err(Error::BudgetTooSmall {
                budget: 1,
                tasks: 2
            })
        );
    }
}
