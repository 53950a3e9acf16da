//! What every feature map promises, checked on every map.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

use std::sync::Arc;

use proptest::prelude::*;
use taskscout::features::{FeatureMap, Features, Polynomial, Standardised, apply_row};

/// Every kind of map, several shapes each.
fn maps() -> Vec<FeatureMap> {
    let pendulum = vec![
        vec![0, 0],
        vec![1, 0],
        vec![0, 1],
        vec![1, 1],
        vec![2, 0],
        vec![2, 1],
        vec![0, 3],
    ];
    let own = Arc::new(Polynomial::new(3, 3, false).unwrap());
    let cosines = FeatureMap::fourier(3, 20, 1.0, 4).unwrap();
    let seen = Standardised::of_rows(&rows(50, 3), cosines.clone()).map(FeatureMap::Standardised);
    let terms = FeatureMap::polynomial(3, 2, true).unwrap();
    let pair = FeatureMap::stacked(vec![cosines, terms.clone()]);
    let scaled = FeatureMap::standardised(
        vec![0.3, -1.7, 0.0],
        vec![0.7, 3.0, 1e-1],
        pair.clone().unwrap(),
    );
    let nested = FeatureMap::stacked(vec![terms.clone(), scaled.clone().unwrap(), terms.clone()]);
    [
        FeatureMap::identity(1),
        FeatureMap::identity(4),
        FeatureMap::fourier(1, 5, 0.5, 1),
        FeatureMap::fourier(10, 37, 1.0, 2),
        FeatureMap::polynomial(1, 4, true),
        FeatureMap::polynomial(4, 3, false),
        FeatureMap::polynomial(4, 1, true),
        FeatureMap::monomials(2, pendulum),
        FeatureMap::one_hot_polynomial(3, 2, 2, true),
        FeatureMap::one_hot_polynomial(1, 3, 1, false),
        seen,
        pair,
        scaled,
        nested,
        FeatureMap::stacked(vec![terms]),
        FeatureMap::custom("own", own),
    ]
    .into_iter()
    .map(|map| map.unwrap())
    .collect()
}

/// Rows of values in [−2, 2] that look random.
fn rows(n: usize, dim: usize) -> Vec<f64> {
    (0..n * dim)
        .map(|i| 2.0 * (1.0 + 12.9898 * i as f64).sin())
        .collect()
}

fn features(map: &dyn Features, rows: &[f64]) -> Vec<f64> {
    let n = rows.len() / map.input_dim();
    let mut out = vec![f64::NAN; n * map.dim()];
    map.apply(rows, &mut out);
    out
}

#[test]
fn every_entry_is_overwritten() {
    for map in maps() {
        assert!(map.dim() > 0 && map.input_dim() > 0);
        for n in [0, 1, 2, 7, 64, 301] {
            let out = features(&map, &rows(n, map.input_dim()));
            assert!(out.iter().all(|v| v.is_finite()), "{map:?} on {n} rows");
        }
    }
}

#[test]
fn a_batch_is_its_rows() {
    for map in maps() {
        let rows = rows(67, map.input_dim());
        let batch = features(&map, &rows);
        for (row, expected) in rows.chunks(map.input_dim()).zip(batch.chunks(map.dim())) {
            for (one, many) in apply_row(&map, row).iter().zip(expected) {
                assert!((one - many).abs() <= 1e-12 * many.abs().max(1.0), "{map:?}");
            }
        }
    }
}

#[test]
fn a_file_brings_back_the_same_features() {
    for map in maps() {
        let json = serde_json::to_string(&map).unwrap();
        let mut back: FeatureMap = serde_json::from_str(&json).unwrap();
        assert_eq!(map, back, "{json}");
        if let FeatureMap::Custom(_) = back {
            back.attach(Arc::new(Polynomial::new(3, 3, false).unwrap()))
                .unwrap();
        }
        back.check_ready().unwrap();
        let rows = rows(9, map.input_dim());
        let (before, after) = (features(&map, &rows), features(&back, &rows));
        assert!(
            before
                .iter()
                .zip(&after)
                .all(|(a, b)| a.to_bits() == b.to_bits()),
            "{json}"
        );
    }
}

#[test]
fn only_the_identity_is_the_identity() {
    for map in maps() {
        let identity = matches!(map, FeatureMap::Identity(_));
        assert_eq!(map.is_identity(), identity, "{map:?}");
    }
}

#[test]
fn groups_follow_each_other_from_first_to_last() {
    for map in maps() {
        let mut end = 0;
        for group in map.groups() {
            assert!(group.start == end && !group.is_empty(), "{map:?}");
            end = group.end;
        }
        assert_eq!(end, map.dim(), "{map:?}");
    }
}

#[test]
fn a_file_is_checked_like_a_constructor() {
    for (json, expected) in [
        (r#"{"kind":"identity","dim":0}"#, "`dim` is 0"),
        (
            r#"{"kind":"identity","dim":2,"size":3}"#,
            "unknown field `size`",
        ),
        (
            r#"{"kind":"identiti","dim":2}"#,
            "unknown variant `identiti`",
        ),
        (
            r#"{"kind":"fourier","input_dim":2,"dim":3,"scale":-1.0,"seed":1}"#,
            "`scale` is -1",
        ),
        (
            r#"{"kind":"polynomial","input_dim":1000,"degree":3}"#,
            "more than 100000 features",
        ),
        (
            r#"{"kind":"monomials","input_dim":2,"exponents":[[1]]}"#,
            "`exponents` row 0 has 1 values where 2 are needed",
        ),
        (
            r#"{"kind":"one-hot-polynomial","categories":2,"parameters":1,"degree":65}"#,
            "`degree` is 65",
        ),
        (
            r#"{"kind":"standardised","mean":[0],"scale":[-1],"inner":{"kind":"identity","dim":1}}"#,
            "`scale` value 0 is -1",
        ),
        (
            r#"{"kind":"standardised","mean":[0],"scale":[1],"inner":{"kind":"identity","dim":2}}"#,
            "`mean` has 1 values where 2 are needed",
        ),
        (
            r#"{"kind":"standardised","mean":[0],"scale":[1],"inner":{"kind":"custom","name":"own","input_dim":1,"dim":1}}"#,
            "a custom map cannot be part of a standardised one",
        ),
        (r#"{"kind":"stacked","parts":[]}"#, "`parts` is empty"),
        (
            r#"{"kind":"stacked","parts":[{"kind":"identity","dim":1},{"kind":"identity","dim":2}]}"#,
            "`parts` 1 takes rows of 2 values",
        ),
        (
            r#"{"kind":"stacked","parts":[{"kind":"identity","dim":1}],"weights":[1]}"#,
            "unknown field `weights`",
        ),
        (
            r#"{"kind":"custom","name":"","input_dim":2,"dim":1}"#,
            "`name` is empty",
        ),
    ] {
        let message = serde_json::from_str::<FeatureMap>(json)
            .unwrap_err()
            .to_string();
        assert!(message.contains(expected), "{json}: {message}");
    }
}

#[test]
fn a_file_may_leave_out_defaults() {
    let json = r#"{"kind":"fourier","input_dim":2,"dim":3,"seed":4}"#;
    let map: FeatureMap = serde_json::from_str(json).unwrap();
    assert_eq!(map, FeatureMap::fourier(2, 3, 1.0, 4).unwrap());
}

#[test]
fn maps_within_maps_within_maps_end() {
    let wrapped = |depth: usize| {
        let inner = r#"{"kind":"identity","dim":1}"#;
        let (open, close) = (r#"{"kind":"stacked","parts":["#, "]}");
        open.repeat(depth) + inner + &close.repeat(depth)
    };
    let map: FeatureMap = serde_json::from_str(&wrapped(20)).unwrap();
    assert_eq!(apply_row(&map, &[2.5]), [2.5]);
    serde_json::from_str::<FeatureMap>(&wrapped(100_000)).unwrap_err();
}

/// Any map of `inputs` values, with maps inside maps.
fn any_map(inputs: usize) -> impl Strategy<Value = FeatureMap> {
    let leaf = prop_oneof![
        Just(FeatureMap::identity(inputs).unwrap()),
        (1_usize..9, 0.1_f64..3.0, any::<u64>()).prop_map(move |(dim, scale, seed)| {
            FeatureMap::fourier(inputs, dim, scale, seed).unwrap()
        }),
        (1_u32..4, any::<bool>()).prop_map(move |(degree, constant)| {
            FeatureMap::polynomial(inputs, degree, constant).unwrap()
        }),
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let finite = prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL;
        let mean = prop::collection::vec(finite, inputs);
        let scale =
            prop::collection::vec(prop::num::f64::POSITIVE | prop::num::f64::NORMAL, inputs);
        prop_oneof![
            (mean, scale, inner.clone()).prop_map(|(mean, scale, inner)| {
                FeatureMap::standardised(mean, scale, inner).unwrap()
            }),
            prop::collection::vec(inner, 1..4)
                .prop_map(|parts| FeatureMap::stacked(parts).unwrap()),
        ]
    })
}

proptest! {
    /// Whatever the numbers and however deep, a file gives back the same bits.
    #[test]
    fn any_map_comes_back_bit_for_bit(map in (1_usize..4).prop_flat_map(any_map)) {
        let back: FeatureMap = serde_json::from_str(&serde_json::to_string(&map).unwrap()).unwrap();
        prop_assert_eq!(&map, &back);
        let rows = rows(5, map.input_dim());
        let bits = |map: &FeatureMap| -> Vec<u64> {
            features(map, &rows).into_iter().map(f64::to_bits).collect()
        };
        prop_assert_eq!(bits(&map), bits(&back));
    }

    /// A row's features do not depend on its neighbours in the batch.
    #[test]
    fn rows_do_not_mix(values in prop::collection::vec(-3.0_f64..3.0, 30), which in any::<prop::sample::Index>()) {
        let maps = maps();
        let map = which.get(&maps);
        let n = values.len() / map.input_dim();
        let rows = &values[..n * map.input_dim()];
        let forward = features(map, rows);
        let reversed: Vec<f64> = rows.chunks(map.input_dim()).rev().flatten().copied().collect();
        let backward = features(map, &reversed);
        for (a, b) in forward.chunks(map.dim()).zip(backward.chunks(map.dim()).rev()) {
            for (a, b) in a.iter().zip(b) {
                prop_assert!((a - b).abs() <= 1e-11 * a.abs().max(1.0));
            }
        }
    }
}
