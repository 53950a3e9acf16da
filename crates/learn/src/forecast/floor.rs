//! What no rows lower: how far the truth is from what the features can express.
//!
//! Cosines and networks stand for functions that nobody has written down, and miss a part of them. Labels do not tell it from noise while it is small beside the noise, so it is taken from a prior: a share of the mean square
//! of the target's function, log-normal with the median [`MEDIAN_SHARE`]. What is missed is in the residuals of the fit, too,
//! and cannot be more than they are: of a drawn `a` and the noise variance `σ²`, `a σ² / (a + σ²)` counts.

use crate::rng::{Purpose, derive, normal};

/// The median of the share of a function's mean square that is missed: one percent of its size.
const MEDIAN_SHARE: f64 = 1e-4;
/// How much the logarithm of that share varies.
const LOG_SPREAD: f64 = 1.0;

/// The floor of a target in each of some draws, by the mean square of its function and the noise of its labels.
pub(super) fn draws(
    place: usize,
    (mean_square, noise): (f64, f64),
    (count, seed): (usize, u64),
) -> Vec<f64> {
    let one = |draw: usize| {
        let mut rng = derive(seed, Purpose::Forecast, &[draw as u64, 1 + place as u64, 1]);
        let missed = MEDIAN_SHARE * (LOG_SPREAD * normal(&mut rng)).exp() * mean_square;
        let bound = noise.max(0.0);
        missed * bound / (missed + bound).max(f64::MIN_POSITIVE)
    };
    (0..count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_a_share_of_the_function_and_less_than_the_noise() {
        let mean = |floors: Vec<f64>| floors.iter().sum::<f64>() / floors.len() as f64;
        let wide = mean(draws(0, (1.0, 1.0), (2000, 1)));
        assert!((1e-4..3e-4).contains(&wide), "{wide}");
        let bounded = draws(0, (1.0, 1e-9), (200, 1));
        assert!(bounded.iter().all(|floor| *floor < 1e-9));
        assert_eq!(draws(0, (1.0, 0.0), (1, 1)), vec![0.0]);
    }
}
