//! The paper's quantities on the bilinear world's own task maps.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use taskscout::features::FeatureMap;
use taskscout::theory::{Allocation, Bounds, Quantities, need_of_first};
use taskscout_worlds::{InputDistribution, Synthetic, SyntheticConfig};

/// Values outside this part of the reference would be another world, not another matrix.
const MARGIN: f64 = 1.6;

/// Reference: numpy on one matrix of the same recipe, for k* = 1, 2 and 4 targets.
const REFERENCE: [(usize, [f64; 4]); 3] = [
    (1, [0.12, 0.12, 0.12, 9.5]),
    (2, [0.21, 0.25, 0.39, 9.9]),
    (4, [0.35, 0.50, 1.03, 9.9]),
];

fn world(matrix_seed: u64) -> Synthetic {
    Synthetic::new(SyntheticConfig {
        input_features: FeatureMap::identity(200).unwrap(),
        inputs: InputDistribution::Normal,
        source_dim: 79,
        space: None,
        task_features: None,
        k: 4,
        network: None,
        noise: 1.0,
        matrix_seed,
    })
    .unwrap()
}

#[test]
fn optimal_construction_bound_and_passive_are_as_computed_outside() {
    for (k_star, expected) in REFERENCE {
        let mut means = [0.0; 4];
        for seed in 0..10 {
            let world = world(seed);
            let map = world.source_map();
            let need = need_of_first(map, k_star).unwrap();
            let known = Quantities::of(map, need.as_ref()).unwrap();
            let value = |how: Allocation| how.value(map, need.as_ref()).unwrap();
            let found = [
                value(Allocation::Optimal),
                value(Allocation::Paper),
                Bounds::of(&known).construction,
                value(Allocation::Passive),
            ];
            assert!(found[0] <= found[1] * (1.0 + 1e-9), "{found:?}");
            assert!(found[1] <= found[2] * (1.0 + 1e-9), "{found:?}");
            means
                .iter_mut()
                .zip(found)
                .for_each(|(mean, value)| *mean += value / 10.0);
        }
        println!("k* = {k_star}: {means:.3?}");
        for (mean, expected) in means.iter().zip(expected) {
            let ratio = mean / expected;
            assert!(
                (1.0 / MARGIN..MARGIN).contains(&ratio),
                "k* = {k_star}: {means:?}"
            );
        }
    }
}
