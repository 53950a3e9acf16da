//! Targets of a row or two.
#![allow(clippy::unwrap_used)]

use crate::common::{rng, rows};
use taskscout::prelude::*;

/// A row or two cannot be left out, but they can be far from what is handed back.
#[test]
fn few_rows_that_contradict_the_sources_are_told() {
    let slope = |slope: f64, n: usize, seed: u64| {
        let rng = &mut rng(seed);
        rows(&[vec![slope]], n, 0.2, rng)
    };
    let choice = |target: f64| {
        let mut study = Study::builder(Space::list(&[vec![0.0], vec![1.0], vec![2.0]]).unwrap())
            .task_features(FeatureMap::polynomial(1, 1, true).unwrap())
            .inputs(1)
            .target(Target::known("t", vec![1.5]))
            .trainer(PartialPooling::default())
            .build()
            .unwrap();
        study.tell_target(0, &slope(target, 2, 3)).unwrap();
        for item in study.ask(150).unwrap().items {
            study
                .tell(item.id, &slope(5.0, item.n, 10 + item.id))
                .unwrap();
        }
        study.predictors().unwrap()[0].clone()
    };
    let (usual, odd) = (choice(5.0), choice(-5.0));
    assert!(
        usual.reason.contains("too few to compare"),
        "{}",
        usual.reason
    );
    assert!(!usual.reason.contains("contradict"), "{}", usual.reason);
    let far = odd.returned.coefficients[0][0] > 0.0;
    assert!(
        odd.reason.contains("contradict it by") || !far,
        "{} {:?}",
        odd.reason,
        odd.returned
    );
}
