//! Quantiles of the normal distribution.

/// How many standard deviations to each side hold a share of a normal distribution.
pub(super) fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 8.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if share_within(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The share within `z` standard deviations: `2 φ(z) (z + z³/3 + z⁵/(3·5) + …)`.
fn share_within(z: f64) -> f64 {
    let (mut term, mut sum) = (z, z);
    for odd in (3..400).step_by(2) {
        term *= z * z / f64::from(odd);
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    2.0 * density * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (share, z) in [
            (0.9, 1.644_854),
            (0.95, 1.959_964),
            (0.683, 1.000_642),
            (0.999, 3.290_527),
        ] {
            assert!((normal_quantile(share) - z).abs() < 1e-5, "{share}");
        }
    }
}
