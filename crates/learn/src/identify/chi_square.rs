//! Quantiles of the chi-square distribution.

/// What the sum of `m` squared standard normal variates stays below with a given probability.
pub(super) fn quantile(probability: f64, m: usize) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while probability_below(high, m) < probability && high < 1e6 {
        high *= 2.0;
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if probability_below(middle, m) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// `P(χ²_m ≤ x)` by the series of the incomplete gamma function,
/// `x^{m/2} e^{−x/2} / (2^{m/2} Γ(m/2 + 1)) · (1 + x/(m+2) + x²/((m+2)(m+4)) + …)`.
fn probability_below(x: f64, m: usize) -> f64 {
    let half = 0.5 * m as f64;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..10_000 {
        term *= x / (m as f64 + 2.0 * f64::from(k));
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    let log_scale = half * (0.5 * x).ln() - 0.5 * x - log_gamma_above(m);
    (log_scale + sum.ln()).exp()
}

/// `ln Γ(m/2 + 1)`, from `Γ(1) = 1` or `Γ(1/2) = √π` upwards.
fn log_gamma_above(m: usize) -> f64 {
    let start = if m.is_multiple_of(2) {
        0.0
    } else {
        0.5 * std::f64::consts::PI.ln()
    };
    let first = if m.is_multiple_of(2) { 2 } else { 1 };
    let factors = (first..=m).step_by(2).map(|i| (0.5 * i as f64).ln());
    start + factors.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        let table = [
            (0.9, 1, 2.7055),
            (0.9, 5, 9.2364),
            (0.95, 2, 5.9915),
            (0.99, 10, 23.2093),
            (0.5, 30, 29.3360),
        ];
        for (probability, m, expected) in table {
            let found = quantile(probability, m);
            assert!((found - expected).abs() < 1e-3, "{m}: {found}");
        }
    }
}
