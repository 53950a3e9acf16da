//! Cosines of many numbers at once.
//!
//! Random Fourier features take one cosine a feature and a row, which a call to the system's
//! library for each would make the slowest part of collecting data. This one has no branches, so
//! the compiler turns the loop into vector instructions, and it gives the same bits on every
//! machine.

/// Largest magnitude that the argument reduction is exact for.
const LIMIT: f64 = 1e5;
/// Adding it to a number of small magnitude rounds that to the nearest integer, which is then found
/// in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// π/2 in two pieces; the first has trailing zeros, so its multiples are exact.
const HALF_PI: [f64; 2] = [1.570_796_326_734_125_6, 6.077_100_506_506_192e-11];
/// Minimax coefficients on [−π/4, π/4] of `(sin r − r)/r³` in `r²`.
const SINE: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];
/// The same of `(cos r − 1 + r²/2)/r⁴` in `r²`.
const COSINE: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

/// Replaces every number by its cosine.
pub(super) fn cosines(values: &mut [f64]) {
    if values.iter().all(|value| value.abs() < LIMIT) {
        values.iter_mut().for_each(|value| *value = reduced(*value));
    } else {
        values.iter_mut().for_each(|value| *value = value.cos());
    }
}

/// `cos x` for `|x| < LIMIT`: `x = n·π/2 + r`, then `±cos r` or `±sin r` by `n mod 4`.
#[inline(always)]
fn reduced(x: f64) -> f64 {
    let shifted = x * std::f64::consts::FRAC_2_PI + ROUND;
    let n = shifted - ROUND;
    let quadrant = shifted.to_bits();
    let r = (x - n * HALF_PI[0]) - n * HALF_PI[1];
    let z = r * r;
    let sine = r + r * z * polynomial(&SINE, z);
    let cosine = (1.0 - 0.5 * z) + z * z * polynomial(&COSINE, z);
    let value = if quadrant & 1 == 0 { cosine } else { sine };
    let sign = (quadrant.wrapping_add(1) & 2) << 62;
    f64::from_bits(value.to_bits() ^ sign)
}

#[inline(always)]
fn polynomial(coefficients: &[f64; 6], z: f64) -> f64 {
    let [a, b, c, d, e, f] = *coefficients;
    a + z * (b + z * (c + z * (d + z * (e + z * f))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_system_to_the_last_digits() {
        let mut worst = 0.0_f64;
        for i in -200_000..200_000 {
            let x = f64::from(i) * 0.013_7;
            worst = worst.max((reduced(x) - x.cos()).abs());
        }
        for i in 0..20_000 {
            let x = f64::from(i) * 4.999;
            worst = worst.max((reduced(x) - x.cos()).abs());
        }
        assert!(worst < 4e-16, "{worst:e}");
    }

    #[test]
    fn huge_and_undefined_numbers_are_left_to_the_system() {
        let mut values = [1e300, f64::NAN, 0.5];
        cosines(&mut values);
        assert_eq!(values[0].to_bits(), 1e300_f64.cos().to_bits());
        assert!(values[1].is_nan());
        assert_eq!(values[2].to_bits(), 0.5_f64.cos().to_bits());
    }
}
