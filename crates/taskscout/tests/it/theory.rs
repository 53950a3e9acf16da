//! The paper's quantities: values of designs and their bounds in order, and what depends on an eigenbasis.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::{cases, gaussian, normals, orthonormal, rng};
use faer::{Mat, mat};
use proptest::prelude::*;
use taskscout::design::Criterion;
use taskscout::rng::Rng;
use taskscout::theory::{
    Allocation, Bounds, Quantities, RiskShape, excess_risk, need_of, need_of_first,
};

/// A map whose singular values fall from 1 to `1/condition`.
fn conditioned(k: usize, d: usize, condition: f64, rng: &mut Rng) -> Mat<f64> {
    let (left, right) = (orthonormal(k, k, rng), orthonormal(d, k, rng));
    let scale = |j: usize| condition.powf(-(j as f64) / (k.max(2) - 1) as f64);
    Mat::from_fn(k, k, |i, j| left[(i, j)] * scale(j)) * right.transpose()
}

/// The largest over the smallest, less one.
fn spread(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
        / values.iter().copied().fold(f64::INFINITY, f64::min)
        - 1.0
}

proptest! {
    #![proptest_config(cases(200))]

    /// The optimum is below every other way, and every way is below its bound.
    #[test]
    fn values_and_bounds_are_in_order(
        (k, more, targets) in (1_usize..6, 0_usize..20, 1_usize..6),
        condition in 1.0_f64..50.0,
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let map = conditioned(k, k + more, condition, rng);
        let targets: Vec<Vec<f64>> = (0..targets).map(|_| normals(k, rng)).collect();
        let need = need_of(&targets).unwrap();
        let known = Quantities::of(map.as_ref(), need.as_ref()).unwrap();
        let bounds = Bounds::of(&known);
        let value = |how: Allocation| how.value(map.as_ref(), need.as_ref()).unwrap();
        let best = value(Allocation::Optimal);
        for how in Allocation::ALL {
            prop_assert!(best <= value(how) * (1.0 + 1e-7), "{how:?}");
        }
        let below = |value: f64, bound: f64| value <= bound * (1.0 + 1e-6);
        prop_assert!(below(value(Allocation::Paper), bounds.construction));
        prop_assert!(below(bounds.construction, bounds.aware));
        prop_assert!(below(value(Allocation::Agnostic), bounds.agnostic));
        prop_assert!(below(value(Allocation::Passive), known.k_star as f64 * bounds.passive));
        prop_assert_eq!(known.k_star, targets.len().min(k));
        let expected = if k == 1 { 1.0 } else { condition };
        prop_assert!((known.condition / expected - 1.0).abs() < 1e-8);
        if known.k_star == 1 {
            // One target: the construction is the optimum, and L1 has the value of its norm.
            prop_assert!((value(Allocation::Paper) / best - 1.0).abs() < 1e-7);
            prop_assert!((value(Allocation::L1) / bounds.l1 - 1.0).abs() < 1e-4);
            prop_assert!((best / bounds.construction - 1.0).abs() < 1e-7);
        }
    }

    /// Where eigenvalues of `A` repeat its eigenbasis is arbitrary. A change too small to matter picks another one: the
    /// optimum stays, the tasks of the paper's construction move. This is the instability behind the paper's open
    /// factor `min{k*, κ²}`.
    #[test]
    fn only_the_construction_depends_on_the_eigenbasis(k in 2_usize..6, seed in any::<u64>()) {
        let rng = &mut rng(seed);
        let map = conditioned(k, k + 5, 20.0, rng);
        let need = |rng: &mut Rng| {
            let root = gaussian(k, k, rng);
            let change = &root * root.transpose();
            Mat::<f64>::identity(k, k) + faer::Scale(1e-7 / change.norm_max()) * change
        };
        let needs: Vec<Mat<f64>> = (0..8).map(|_| need(rng)).collect();
        // What each design would give a target of the weakest direction alone.
        let weak = gaussian(k, 1, rng);
        let weak = &weak * weak.transpose();
        let of = |how: Allocation| -> Vec<f64> {
            let value = |need: &Mat<f64>| {
                let information = how.information(map.as_ref(), need.as_ref()).unwrap();
                Criterion::Trace.value(information.as_ref(), weak.as_ref()).unwrap()
            };
            needs.iter().map(value).collect()
        };
        prop_assert!(spread(&of(Allocation::Optimal)) < 1e-5);
        prop_assert!(spread(&of(Allocation::Paper)) > 1e-2, "{:?}", of(Allocation::Paper));
        let longest = |need: &Mat<f64>| Quantities::of(map.as_ref(), need.as_ref()).unwrap().longest();
        let bounds: Vec<f64> = needs.iter().map(longest).collect();
        prop_assert!(spread(&bounds) > 1e-2, "{bounds:?}");
    }
}

#[test]
fn the_risk_law_adds_the_representation_and_the_head() {
    let shape = RiskShape {
        noise: 2.0,
        inputs: 12,
        target_rows: 50,
    };
    let (information, need) = (
        mat![[400.0, 0.0], [0.0, 100.0]],
        mat![[1.0, 0.0], [0.0, 0.5]],
    );
    let risk = excess_risk(shape, information.as_ref(), need.as_ref()).unwrap();
    assert!((risk - 2.0 * (10.0 * (1.0 / 400.0 + 0.5 / 100.0) + 2.0 / 50.0)).abs() < 1e-12);
    let narrow = RiskShape { inputs: 1, ..shape };
    assert!(excess_risk(narrow, information.as_ref(), need.as_ref()).is_err());
}

#[test]
fn nothing_and_the_unreachable_are_refused() {
    let map = mat![[1.0, 0.0], [0.0, 0.0]];
    let unreached = mat![[1.0, 0.0], [0.0, 1.0]];
    let error = |need: &Mat<f64>| {
        let error = Quantities::of(map.as_ref(), need.as_ref()).unwrap_err();
        error.to_string()
    };
    assert!(error(&unreached).contains("misses part of the target"));
    assert!(error(&Mat::zeros(2, 2)).contains("it needs nothing"));
    let k_star = |k_star| need_of_first(map.as_ref(), k_star).unwrap_err().to_string();
    assert!(k_star(3).contains("is more than k = 2"));
    assert!(k_star(0).contains("at least one direction"));
    assert!(need_of(&[]).is_err());
}
