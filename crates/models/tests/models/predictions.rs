//! Predictions, embeddings, and what is refused.

use faer::MatRef;
use proptest::prelude::*;
use taskscout::features::{Features as _, apply_row};
use taskscout::model::Representation as _;
use taskscout_models::{Error, SavedModel};

use crate::common::{KINDS, Kind, OUTPUTS, inputs, maps, random};

/// The model's formula for one row, written out.
fn by_hand(model: &SavedModel, row: &[f64]) -> Vec<[f64; 3]> {
    let parts = model.parts();
    let raw: Vec<f64> = match &parts.input_scaling {
        Some(s) => row
            .iter()
            .enumerate()
            .map(|(i, x)| (x - s.mean[i]) / s.scale[i])
            .collect(),
        None => row.to_vec(),
    };
    let psi = apply_row(&parts.input_features, &raw);
    let phi = |phi: &taskscout::model::AnyRepresentation| -> Vec<f64> {
        let out = phi
            .apply(MatRef::from_row_major_slice(&psi, 1, psi.len()))
            .unwrap();
        (0..out.ncols()).map(|j| out[(0, j)]).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    (0..OUTPUTS)
        .map(|output| {
            let mut mean = dot(&parts.predictor.coefficients[output], &psi);
            if let Some(head) = &parts.predictor.head {
                mean += dot(&head.coefficients[output], &phi(&head.representation));
            }
            let root = &parts.uncertainty.roots[output];
            let z = if root.nrows() == psi.len() {
                psi.clone()
            } else {
                phi(parts.representation.as_ref().unwrap())
            };
            // zᵀ (R Rᵀ) z
            let covariance = root * root.transpose();
            let mut variance = 0.0;
            for i in 0..z.len() {
                for j in 0..z.len() {
                    variance += z[i] * covariance[(i, j)] * z[j];
                }
            }
            let (shift, scale) = match &parts.output_scaling {
                Some(s) => (s.mean[output], s.scale[output]),
                None => (0.0, 1.0),
            };
            let noise = parts.uncertainty.noise[output];
            [
                mean * scale + shift,
                (variance + noise).sqrt() * scale,
                variance.sqrt() * scale,
            ]
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn predictions_follow_the_formula(which in any::<prop::sample::Index>(), kind in 0_usize..6, scaled in any::<bool>(), seed in any::<u64>()) {
        let maps = maps();
        let (_, map) = which.get(&maps);
        let model = random(map, KINDS[kind], scaled, seed);
        let rows = inputs(&model, 3, seed);
        let all = model.predict(&rows).unwrap();
        for (row, found) in rows.chunks(model.input_dim()).zip(all.chunks(OUTPUTS)) {
            for (one, [mean, std, model_std]) in found.iter().zip(by_hand(&model, row)) {
                for (a, b) in [(one.mean, mean), (one.std, std), (one.model_std, model_std)] {
                    prop_assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{a} {b}");
                }
            }
        }
    }
}

#[test]
fn many_rows_are_those_rows_one_by_one() {
    let (_, map) = maps().swap_remove(1);
    let model = random(&map, KINDS[3], true, 5);
    let rows = inputs(&model, 2500, 9);
    let all = model.predict(&rows).unwrap();
    assert_eq!(all.len(), 2500 * OUTPUTS);
    for row in [0, 1023, 1024, 2499] {
        let width = model.input_dim();
        let alone = model
            .predict(&rows[row * width..(row + 1) * width])
            .unwrap();
        for (a, b) in alone.iter().zip(&all[row * OUTPUTS..]) {
            assert!((a.mean - b.mean).abs() < 1e-12 && (a.std - b.std).abs() < 1e-12);
        }
    }
    assert!(model.predict(&[]).unwrap().is_empty());
}

#[test]
fn rows_that_do_not_fit_are_named() {
    let (_, map) = maps().swap_remove(0);
    let model = random(&map, Kind::Features, false, 5);
    let message = model.predict(&[1.0; 7]).unwrap_err().to_string();
    assert!(
        message.contains("the model takes 5 inputs a row"),
        "{message}"
    );
    let mut rows = vec![1.0; 15];
    rows[12] = f64::NAN;
    let message = model.predict(&rows).unwrap_err().to_string();
    assert!(message.contains("input 2 of row 2 is NaN"), "{message}");
    rows[12] = 1e308;
    rows[11] = 1e308;
    let message = model.predict(&rows).unwrap_err().to_string();
    assert!(message.contains("of row 2 is"), "{message}");
    let mut parts = model.into_parts();
    parts.predictor.coefficients[1].pop();
    let error = SavedModel::new(parts).unwrap_err();
    assert!(matches!(error, Error::Misfit { .. }), "{error}");
}

#[test]
fn embeddings_are_columns_of_the_map() {
    let (_, map) = maps().swap_remove(0);
    let model = random(&map, Kind::Linear, false, 5);
    let tasks = model.parts().tasks.as_ref().unwrap();
    for output in 0..OUTPUTS {
        let embedding = model.embedding(&[0.0, 1.0, 0.0, 0.0], output).unwrap();
        let target = model.target_embedding(output).unwrap();
        for i in 0..3 {
            let column = tasks.map.task_dim() * output;
            assert_eq!(
                embedding[i].to_bits(),
                tasks.map.matrix()[(i, column + 1)].to_bits()
            );
            assert_eq!(
                target[i].to_bits(),
                tasks.map.matrix()[(i, column + 4)].to_bits()
            );
        }
    }
    assert!(model.embedding(&[1.0], 0).is_err());
    assert!(model.target_embedding(2).is_err());
    assert_eq!(map.dim(), 5);
}
