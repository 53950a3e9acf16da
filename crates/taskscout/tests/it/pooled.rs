//! Partial pooling: what related tasks give to a target, and what they cannot take from it.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use faer::Mat;

use crate::common::{bits, dot, normals, on_threads, rng};
use taskscout::data::{Samples, Stage, TaskData};
use taskscout::model::{Activation, AnyRepresentation, Layer, Mlp, Model, Representation as _};
use taskscout::rng::Rng;
use taskscout::train::{
    Candidate, FeatureGroupSubset, JointRidge, PartialPooling, PartialPoolingOnNetwork, Predictor,
    PredictorKind, TrainContext, TrainOutput, Trainer, TrainerNeeds, guard,
};

/// A constant, four features that matter and eight that hardly do.
const GROUPS: [usize; 3] = [1, 4, 8];
const D: usize = 13;
const NOISE: f64 = 0.3;
const WINDS: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

fn oracle() -> PartialPooling {
    PartialPooling {
        groups: GROUPS.to_vec(),
        ..PartialPooling::default()
    }
}

/// Coefficients by group size.
fn coefficients(sizes: [f64; 3], rng: &mut Rng) -> Vec<f64> {
    let size = |i| sizes[usize::from(i > 0) + usize::from(i > 4)];
    let draws = normals(D, rng).into_iter().enumerate();
    draws.map(|(i, z)| size(i) * z).collect()
}

/// Tasks of the model itself: `θ = M (1, wind) + r`.
struct World {
    map: [Vec<f64>; 2],
    own: [f64; 3],
}

impl World {
    fn related(rng: &mut Rng) -> Self {
        let map = [2.0, 1.0].map(|size| coefficients([size, size, 0.1 * size], rng));
        Self {
            map,
            own: [0.1, 0.1, 0.02],
        }
    }

    /// No task has anything to do with another.
    fn unrelated() -> Self {
        Self {
            map: [vec![0.0; D], vec![0.0; D]],
            own: [2.0, 2.0, 0.2],
        }
    }

    fn function(&self, wind: f64, rng: &mut Rng) -> Vec<f64> {
        let own = coefficients(self.own, rng);
        let common = self.map[0].iter().zip(&self.map[1]);
        common
            .zip(own)
            .map(|((a, b), r)| a + wind * b + r)
            .collect()
    }
}

fn rows(theta: &[f64], n: usize, rng: &mut Rng) -> Samples {
    let mut x = normals(n * D, rng);
    x.chunks_mut(D).for_each(|row| row[0] = 1.0);
    let clean: Vec<f64> = x.chunks(D).map(|row| dot(row, theta)).collect();
    let y = clean
        .iter()
        .zip(normals(n, rng))
        .map(|(y, e)| y + NOISE * e);
    Samples::new(x, D, y.collect(), 1).unwrap()
}

/// Changes that should change nothing but units.
#[derive(Clone, Copy)]
struct Units {
    labels: f64,
    wind: f64,
    backwards: bool,
}

const PLAIN: Units = Units {
    labels: 1.0,
    wind: 1.0,
    backwards: false,
};

impl Units {
    fn of(self, samples: &Samples) -> Samples {
        let mut rows: Vec<usize> = (0..samples.len()).collect();
        if self.backwards {
            rows.reverse();
        }
        let x = rows
            .iter()
            .flat_map(|i| &samples.inputs()[i * D..(i + 1) * D]);
        let y = rows.iter().map(|&i| self.labels * samples.outputs()[i]);
        Samples::new(x.copied().collect(), D, y.collect(), 1).unwrap()
    }
}

/// Data of a world, and the target's truth.
fn data(world: &World, n_target: usize, units: Units, rng: &mut Rng) -> (TaskData, Vec<f64>) {
    let mut data = TaskData::new(D, 1, 2);
    data.add_target("target", vec![1.0, 0.5 * units.wind])
        .unwrap();
    for wind in WINDS {
        let theta = world.function(wind, rng);
        let samples = units.of(&rows(&theta, 60, rng));
        let features = [1.0, wind * units.wind];
        data.add_source_rows(&[wind], &features, Stage::Explore, 0, &samples)
            .unwrap();
    }
    let theta = world.function(0.5, rng);
    let samples = rows(&theta, n_target, rng);
    data.add_target_rows(0, &units.of(&samples)).unwrap();
    (data, theta)
}

/// Mean squared error on new rows, less the noise.
fn excess(predictor: &Predictor, theta: &[f64]) -> f64 {
    let found = predictor.coefficients[0].iter().zip(theta);
    found.map(|(a, b)| (a - b).powi(2)).sum()
}

/// What the guard returns, and the target's own rows give.
fn returned(oracle: &dyn Trainer, data: &TaskData) -> (Predictor, Predictor) {
    let context = TrainContext {
        candidate_targets: vec![0],
        ..TrainContext::default()
    };
    let candidates = oracle.fit(data, &context).unwrap().candidates.remove(0);
    let choice = guard::average_candidates(data, 0, candidates, None).unwrap();
    let own = choice.candidate(PredictorKind::TargetOnly).unwrap();
    (choice.predictor().unwrap().clone(), own.clone())
}

/// Mean excess errors of what is returned and of the target alone, over draws.
fn compare(world: impl Fn(&mut Rng) -> World, n_target: usize) -> [f64; 2] {
    let mut total = [0.0; 2];
    for seed in 0..24 {
        let rng = &mut rng(100 + seed);
        let world = world(rng);
        let (data, theta) = data(&world, n_target, PLAIN, rng);
        let (found, alone) = returned(&oracle(), &data);
        total[0] += excess(&found, &theta) / 24.0;
        total[1] += excess(&alone, &theta) / 24.0;
    }
    total
}

#[test]
fn kin_spare_a_target_most_of_its_rows() {
    for (n, factor) in [(4, 0.1), (12, 0.2), (40, 0.7)] {
        let [found, alone] = compare(World::related, n);
        assert!(found < factor * alone, "{n} rows: {found} {alone}");
    }
}

#[test]
fn strangers_do_no_harm() {
    for n in [8, 16, 60] {
        let [found, alone] = compare(|_| World::unrelated(), n);
        assert!(found < 1.05 * alone, "{n} rows: {found} {alone}");
    }
}

fn predictors(units: Units) -> Vec<f64> {
    let rng = &mut rng(7);
    let world = World::related(rng);
    let (data, _) = data(&world, 12, units, rng);
    let model = oracle().model(&data, &TrainContext::default()).unwrap();
    let shared = oracle()
        .shared_candidate(&data, &model, 0)
        .unwrap()
        .unwrap();
    let own = oracle().target_only_candidate(&data, 0).unwrap();
    [shared, own]
        .map(|one| one.predictor.coefficients[0].clone())
        .concat()
}

/// Largest difference, relative to the largest value.
fn apart(a: &[f64], b: &[f64], factor: f64) -> f64 {
    let largest = b.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let differences = a.iter().zip(b).map(|(a, b)| (a / factor - b).abs());
    differences.fold(0.0, f64::max) / largest
}

#[test]
fn units_of_labels_change_nothing() {
    let plain = predictors(PLAIN);
    for labels in [1e-6, 0.1, 37.0, 1e6, 1e40, 1e-40] {
        let found = predictors(Units { labels, ..PLAIN });
        let apart = apart(&found, &plain, labels);
        assert!(apart < 1e-6, "{labels}: {apart}");
    }
}

#[test]
fn units_of_task_features_change_little() {
    let plain = predictors(PLAIN);
    for wind in [0.01, 0.1, 10.0, 100.0] {
        let apart = apart(&predictors(Units { wind, ..PLAIN }), &plain, 1.0);
        assert!(apart < 0.02, "{wind}: {apart}");
    }
}

#[test]
fn the_order_of_rows_changes_nothing() {
    let found = predictors(Units {
        backwards: true,
        ..PLAIN
    });
    assert!(apart(&found, &predictors(PLAIN), 1.0) < 1e-9);
}

#[test]
fn threads_change_no_bit() {
    let one = on_threads(1, || predictors(PLAIN));
    let four = on_threads(4, || predictors(PLAIN));
    assert_eq!(bits(&one), bits(&four));
}

#[test]
fn sets_are_chosen_by_held_out_rows_of_the_target() {
    let set = |name: &str, groups: &[usize]| FeatureGroupSubset {
        name: name.into(),
        groups: groups.to_vec(),
    };
    let oracle = PartialPooling {
        sets: vec![set("the constant", &[0]), set("what matters", &[0, 1])],
        ..oracle()
    };
    let rng = &mut rng(3);
    let world = World::related(rng);
    let (data, theta) = data(&world, 16, PLAIN, rng);
    let model = oracle.model(&data, &TrainContext::default()).unwrap();
    assert_eq!(model.report.notes, ["learnt on what matters"]);
    assert_eq!(
        model.structure.hierarchical_models()[0].feature_columns(),
        Some([0, 1, 2, 3, 4].as_slice())
    );
    for candidate in [
        oracle.shared_candidate(&data, &model, 0).unwrap().unwrap(),
        oracle.target_only_candidate(&data, 0).unwrap(),
    ] {
        let predictor = candidate.predictor;
        assert!(
            predictor.coefficients[0][5..]
                .iter()
                .all(|value| value.abs() <= 0.0)
        );
        assert!(excess(&predictor, &theta) < 0.5 * dot(&theta, &theta));
    }
}

#[test]
fn models_survive_a_file() {
    let (data, _) = data(&World::unrelated(), 8, PLAIN, &mut rng(1));
    let model = oracle().model(&data, &TrainContext::default()).unwrap();
    let text = serde_json::to_string(&model).unwrap();
    let back: Model = serde_json::from_str(&text).unwrap();
    assert!(back.report.log_evidence.is_nan());
    // What families have in common is kept, to the last digit.
    let proposed = |model| oracle().shared_candidate(&data, model, 0).unwrap();
    assert_eq!(proposed(&back), proposed(&model));
    assert_eq!(
        (back.map, back.spectrum, back.structure),
        (model.map, model.spectrum, model.structure)
    );
}

/// Every task feature and label that could leave equations singular.
#[test]
fn odd_data_break_nothing() {
    let samples = |rows: &[[f64; 3]], label: &dyn Fn(&[f64; 3]) -> f64| {
        let y = rows.iter().map(label).collect();
        Samples::new(rows.concat(), 3, y, 1).unwrap()
    };
    let wave = |i: usize| (1.7 * i as f64).sin();
    // The third feature says what the second says.
    let many: Vec<[f64; 3]> = (0..200).map(|i| [1.0, wave(i), wave(i)]).collect();
    type Label<'a> = &'a dyn Fn(&[f64; 3]) -> f64;
    let labels: [(&str, Label<'_>); 5] = [
        ("zero", &|_| 0.0),
        ("constant", &|_| 3.0),
        ("without noise", &|x| 1.0 + 2.0 * x[1]),
        ("huge", &|x| 1e60 * x[1]),
        ("tiny", &|x| 1e-60 * x[1]),
    ];
    let oracle = PartialPooling {
        groups: vec![1, 2],
        ..PartialPooling::default()
    };
    for (name, label) in labels {
        for counts in [vec![], vec![1], vec![200], vec![200, 1, 200, 2, 200]] {
            for target_rows in [0, 1, 3, 8, 200] {
                let mut data = TaskData::new(3, 1, 2);
                data.add_target("target", vec![1.0, 0.5]).unwrap();
                data.add_target("without related tasks or features", vec![0.0, 0.0])
                    .unwrap();
                for (index, &n) in counts.iter().enumerate() {
                    let wind = index as f64;
                    let rows = samples(&many[..n], label);
                    data.add_source_rows(&[wind], &[1.0, wind], Stage::Explore, 0, &rows)
                        .unwrap();
                }
                let unrelated = samples(&many[..5], label);
                data.add_source_rows(&[9.0], &[0.0, 0.0], Stage::Explore, 0, &unrelated)
                    .unwrap();
                let rows = samples(&many[..target_rows], label);
                data.add_target_rows(0, &rows).unwrap();
                let place = format!("{name}, {counts:?} rows, {target_rows} of the target");
                let model = oracle.model(&data, &TrainContext::default());
                let model = model.unwrap_or_else(|error| panic!("{place}: {error}"));
                let shared = oracle.shared_candidate(&data, &model, 0);
                let shared = shared.unwrap_or_else(|error| panic!("{place}: {error}"));
                assert_eq!(shared.is_some(), !counts.is_empty(), "{place}");
                assert!(oracle.shared_candidate(&data, &model, 1).unwrap().is_none());
                let own = oracle.target_only_candidate(&data, 0);
                let own = own.unwrap_or_else(|error| panic!("{place}: {error}"));
                let finite =
                    |one: &Candidate| one.predictor.coefficients[0].iter().all(|c| c.is_finite());
                assert!(shared.iter().chain([&own]).all(finite), "{place}");
                if target_rows == 200 {
                    let size = label(&[1.0, 1.0, 1.0]).abs();
                    for (row, predictor) in many.iter().zip(std::iter::repeat(&own)) {
                        let wrong = dot(row, &predictor.predictor.coefficients[0]) - label(row);
                        assert!(wrong.abs() <= 1e-3 * size, "{place}: {wrong}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_target_without_kin_gets_what_its_own_rows_give() {
    let rng = &mut rng(5);
    let world = World::related(rng);
    let mut data = TaskData::new(D, 1, 3);
    data.add_target("alone", vec![0.0, 0.0, 1.0]).unwrap();
    let theta = world.function(0.5, rng);
    data.add_source_rows(
        &[0.5],
        &[1.0, 0.5, 0.0],
        Stage::Explore,
        0,
        &rows(&theta, 60, rng),
    )
    .unwrap();
    data.add_target_rows(0, &rows(&theta, 40, rng)).unwrap();
    let (found, own) = returned(&oracle(), &data);
    assert_eq!(found, own);
    assert_eq!(found.kind, PredictorKind::TargetOnly);
}

#[test]
fn settings_that_do_not_fit_are_named() {
    let bad = |groups: &[usize]| {
        let set = FeatureGroupSubset {
            name: "odd".into(),
            groups: groups.to_vec(),
        };
        PartialPooling {
            sets: vec![set],
            ..oracle()
        }
    };
    let counting = |effective_rows| PartialPooling {
        effective_rows,
        ..oracle()
    };
    for (oracle, expected) in [
        (
            PartialPooling {
                groups: vec![1, 2],
                ..oracle()
            },
            "`groups` have 3 features in all, but rows have 13",
        ),
        (bad(&[]), "`odd` with groups []"),
        (bad(&[1, 0]), "`odd` with groups [1, 0]"),
        (bad(&[3]), "name some of the 3 groups"),
        (counting(0.0), "`worth` is 0"),
        (counting(f64::INFINITY), "`worth` is inf"),
        (counting(f64::NAN), "`worth` is NaN"),
    ] {
        let message = oracle.validate(D).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// A network that is known beforehand: `|x₁|`.
#[derive(Debug)]
struct Magnitude;

impl Trainer for Magnitude {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> taskscout::Result<TrainOutput> {
        // It must not see the target.
        assert_eq!(context.target_rows, taskscout::data::FoldSelection::None);
        let sign = |i, j| f64::from(i == 1) * [1.0, -1.0][j];
        let layer = |weights| Layer {
            weights,
            bias: None,
        };
        let first = layer(Mat::from_fn(D, 2, sign));
        let last = layer(Mat::from_fn(2, 1, |_, _| 1.0));
        let mlp = Mlp::new(vec![first, last], Activation::Relu)?;
        let model = JointRidge::default().model(
            data,
            &TrainContext {
                k: Some(1),
                ..context.clone()
            },
        )?;
        Ok(TrainOutput::from(Model {
            representation: AnyRepresentation::Mlp(mlp),
            ..model
        }))
    }

    fn needs(&self) -> TrainerNeeds {
        TrainerNeeds {
            rows: true,
            ..TrainerNeeds::default()
        }
    }
}

#[test]
fn what_a_network_gives_is_pooled_beside_the_features() {
    let rng = &mut rng(8);
    let mut data = TaskData::new(D, 1, 2).keeping_rows();
    data.add_target("target", vec![1.0, 0.5]).unwrap();
    let bent = |wind: f64, n: usize, rng: &mut Rng| {
        let mut samples = rows(&[0.0; D], n, rng);
        let y = samples.inputs().chunks(D).zip(samples.outputs());
        let y = y
            .map(|(x, e)| 1.0 + (2.0 + wind) * x[1].abs() + e)
            .collect();
        samples = Samples::new(samples.inputs().to_vec(), D, y, 1).unwrap();
        samples
    };
    for wind in WINDS {
        let samples = bent(wind, 60, rng);
        data.add_source_rows(&[wind], &[1.0, wind], Stage::Explore, 0, &samples)
            .unwrap();
    }
    data.add_target_rows(0, &bent(0.5, 8, rng)).unwrap();
    let over = PartialPoolingOnNetwork {
        pooled: oracle(),
        network: Arc::new(Magnitude),
    };
    assert!(over.needs().rows);
    let context = TrainContext::default();
    let model = over.model(&data, &context).unwrap();
    assert_eq!(model.representation.dim(), 1);
    assert_eq!(model.report.notes, ["learnt on all features and a network"]);
    let test = bent(0.5, 400, rng);
    let features = faer::MatRef::from_row_major_slice(test.inputs(), test.len(), D);
    let error = |predictor: &Predictor| {
        let predicted = predictor.predict(features).unwrap();
        let squares = predicted
            .iter()
            .zip(test.outputs())
            .map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>() / test.len() as f64
    };
    let with = over
        .pooled
        .shared_candidate(&data, &model, 0)
        .unwrap()
        .unwrap();
    let with = with.predictor;
    let head = with.head.as_ref().unwrap();
    assert!(
        (head.coefficients[0][0] - 2.5).abs() < 0.2,
        "{:?}",
        head.coefficients
    );
    let plain = oracle().model(&data, &context).unwrap();
    let without = oracle()
        .shared_candidate(&data, &plain, 0)
        .unwrap()
        .unwrap()
        .predictor;
    assert!(error(&with) < 1.5 * NOISE * NOISE, "{}", error(&with));
    assert!(error(&with) < 0.1 * error(&without), "{}", error(&without));
    let values = model.structure.hierarchical_models()[0]
        .basis_values(features)
        .unwrap();
    assert_eq!((values.nrows(), values.ncols()), (400, D + 1));
}

#[test]
fn effective_rows_are_read_by_their_word_and_written_by_their_old_key() {
    let read = |text: &str| serde_json::from_str::<PartialPooling>(text).unwrap();
    let new = read(r#"{"effective_rows": 80.0}"#);
    assert_eq!(new, read(r#"{"worth": 80.0}"#));
    let written = serde_json::to_value(&new).unwrap();
    assert_eq!(written["worth"], 80.0);
    assert!(written.get("effective_rows").is_none());
}
