//! The exact oracle and the task map against rows, truths and invariances.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::{
    Collected, Truth, apply, close, fitted, matrix_bits, normals, on_threads, orthonormal,
    relative_distance, rng, unit,
};
use faer::Mat;
use proptest::prelude::*;
use taskscout::Error;
use taskscout::data::{FoldSelection, Samples, Stage, TARGET_FOLD_COUNT};
use taskscout::metric::subspace_similarity;
use taskscout::model::{Linear, Model};
use taskscout::rng::Rng;
use taskscout::train::{JointRidge, TrainContext, TrainOutput, Trainer, fit_task_embedding_map};

fn fit(collected: &Collected, oracle: &JointRidge, k: usize) -> taskscout::Result<Model> {
    oracle.model(
        &collected.data,
        &TrainContext {
            k: Some(k),
            ..TrainContext::default()
        },
    )
}

/// The oracle run to the end at a fixed penalty.
fn patient(lambda: f64, max_sweeps: usize) -> JointRidge {
    JointRidge {
        lambda: Some(lambda),
        max_sweeps,
        tolerance: 0.0,
    }
}

/// `tasks` random source tasks with `n` rows each, and a target on the last task feature.
fn collect(truth: &Truth, tasks: usize, n: usize, rng: &mut Rng) -> Collected {
    let (d, p) = (truth.representation.nrows(), truth.task_dim);
    let mut collected = Collected::new(d, truth.outputs(), p);
    for _ in 0..tasks {
        let mut features = normals(p, rng);
        features[p - 1] = 0.0;
        let rows = truth.rows(&features, n, rng);
        collected.source(&features, rows);
    }
    let rows = truth.rows(&unit(p, p - 1), n, rng);
    collected.target(&unit(p, p - 1), rows);
    collected
}

/// The squared error of a model's matrix.
fn error(model: &Model, truth: &Truth) -> f64 {
    (fitted(model) - truth.product()).squared_norm_l2()
}

proptest! {
    #![proptest_config(crate::common::cases(40))]

    /// The data have one direction more than the fit, so that there is something to trade.
    #[test]
    fn the_objective_never_rises_and_ends_where_the_rows_say(
        (d, p, outputs) in (2_usize..7, 2_usize..6, 1_usize..3),
        (tasks, n) in (2_usize..9, 1_usize..15),
        (k, log_lambda) in (1_usize..4, -3.0_f64..2.0),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let k = k.min(d.min(p) - 1);
        let truth = Truth::draw(d, k + 1, p, outputs, 0.5, rng);
        let collected = collect(&truth, tasks, n, rng);
        let lambda = 10_f64.powf(log_lambda);
        let model = fit(&collected, &patient(lambda, 15), k).unwrap();
        let report = &model.report;
        let squares: f64 = collected.batches.iter().flat_map(|(_, rows)| rows.outputs()).map(|y| y * y).sum();
        for pair in report.objective_history.windows(2) {
            prop_assert!(pair[1] <= pair[0] + 1e-12 * squares, "{:?}", report.objective_history);
        }
        prop_assert_eq!(report.objective_history.len(), report.iterations);
        prop_assert_eq!(report.objective_history.last().map(|last| last.to_bits()), Some(report.objective.to_bits()));
        prop_assert!(report.iterations <= 15);
        let naive = collected.residual(&model);
        prop_assert!((report.residual_sum_of_squares - naive).abs() <= 1e-8 * naive + 1e-11 * squares, "{} {}", report.residual_sum_of_squares, naive);
        // No pair of factors has a smaller penalty than twice the nuclear norm of its product.
        let nuclear: f64 = model.spectrum.iter().sum();
        prop_assert!(report.objective >= naive + 2.0 * lambda * nuclear - 1e-9 * squares);
        prop_assert_eq!(report.labels, (tasks + 1) * n * outputs);
    }
}

#[test]
fn at_the_end_the_penalty_is_twice_the_nuclear_norm() {
    let rng = &mut rng(5);
    let truth = Truth::draw(6, 2, 5, 1, 0.5, rng);
    let collected = collect(&truth, 8, 20, rng);
    let oracle = |lambda| JointRidge {
        lambda: Some(lambda),
        max_sweeps: 1000,
        tolerance: 1e-10,
    };
    let model = fit(&collected, &oracle(3.0), 2).unwrap();
    let report = &model.report;
    assert!(report.converged, "{} sweeps", report.iterations);
    let nuclear: f64 = model.spectrum.iter().sum();
    assert!(
        close(
            report.objective,
            report.residual_sum_of_squares + 6.0 * nuclear,
            1e-6
        ),
        "{report:?} {nuclear}"
    );
    let shrunk = fit(&collected, &oracle(30.0), 2).unwrap();
    assert!(shrunk.spectrum[0] < model.spectrum[0]);
}

#[test]
fn the_normal_form_is_orthonormal_and_ordered() {
    let rng = &mut rng(6);
    let truth = Truth::draw(7, 3, 5, 2, 0.3, rng);
    let model = fit(&collect(&truth, 8, 20, rng), &JointRidge::default(), 3).unwrap();
    let basis = model.representation.as_linear().unwrap().matrix();
    assert!(
        relative_distance(
            (basis.transpose() * basis).as_ref(),
            Mat::<f64>::identity(3, 3).as_ref()
        ) < 1e-12
    );
    let rows = model.map.matrix() * model.map.matrix().transpose();
    let squares = Mat::from_fn(3, 3, |i, j| {
        if i == j {
            model.spectrum[i].powi(2)
        } else {
            0.0
        }
    });
    assert!(relative_distance(rows.as_ref(), squares.as_ref()) < 1e-12);
    assert!(model.spectrum.windows(2).all(|pair| pair[0] >= pair[1]));
}

#[test]
fn without_noise_a_vanishing_penalty_recovers_the_truth() {
    for (seed, outputs) in [(1, 1), (2, 1), (3, 2)] {
        let rng = &mut rng(seed);
        let truth = Truth::draw(8, 2, 5, outputs, 0.0, rng);
        let collected = collect(&truth, 7, 12, rng);
        let oracle = JointRidge {
            lambda: Some(1e-10),
            max_sweeps: 500,
            tolerance: 1e-14,
        };
        let model = fit(&collected, &oracle, 2).unwrap();
        let distance = relative_distance(fitted(&model).as_ref(), truth.product().as_ref());
        assert!(
            distance < 1e-6,
            "{distance:e} after {} sweeps",
            model.report.iterations
        );
        let similarity = subspace_similarity(
            model.representation.as_linear().unwrap().matrix(),
            truth.representation.as_ref(),
        )
        .unwrap();
        assert!(similarity.min > 1.0 - 1e-10, "{similarity:?}");
    }
}

#[test]
fn two_outputs_trained_together_equal_the_truth() {
    let rng = &mut rng(11);
    let truth = Truth::draw(10, 2, 4, 2, 0.05, rng);
    let collected = collect(&truth, 8, 200, rng);
    let model = fit(&collected, &JointRidge::default(), 2).unwrap();
    assert!(relative_distance(fitted(&model).as_ref(), truth.product().as_ref()) < 0.02);
    for output in 0..2 {
        let own = truth.map.as_ref().subcols(4 * output, 4);
        let learnt = model.representation.as_linear().unwrap().matrix()
            * model.map.matrix().subcols(4 * output, 4);
        assert!(relative_distance(learnt.as_ref(), (&truth.representation * own).as_ref()) < 0.02);
    }
}

#[test]
fn the_data_tell_how_many_directions_there_are() {
    for (seed, k) in [(1, 1), (2, 2), (3, 3), (4, 3)] {
        let rng = &mut rng(seed);
        let mut truth = Truth::draw(12, k, 7, 1, 0.3, rng);
        // Directions of equal strength, so that the problem is clear.
        truth.map = orthonormal(7, k, rng).transpose().to_owned();
        let collected = collect(&truth, 12, 60, rng);
        let model = JointRidge::default()
            .model(&collected.data, &TrainContext::default())
            .unwrap();
        assert_eq!(model.dim(), k, "seed {seed}");
    }
}

#[test]
fn a_k_that_the_data_cannot_hold_is_refused_by_name() {
    let rng = &mut rng(9);
    let truth = Truth::draw(6, 2, 5, 1, 0.5, rng);
    // Two sources and a target: three tasks.
    let collected = collect(&truth, 2, 20, rng);
    assert_eq!(fit(&collected, &JointRidge::default(), 3).unwrap().dim(), 3);
    for k in [0, 4, 100] {
        match fit(&collected, &JointRidge::default(), k) {
            Err(Error::Setting { key, problem }) => {
                assert_eq!(key, "k");
                assert!(
                    problem.contains(&format!("is {k}, but 3 tasks")) && problem.contains("1 to 3"),
                    "{problem}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
    let nothing = Collected::new(6, 1, 5);
    assert!(matches!(
        fit(&nothing, &JointRidge::default(), 1),
        Err(Error::State(_))
    ));
}

#[test]
fn the_noise_is_estimated() {
    let mut ratios = Vec::new();
    for (seed, noise) in [(1, 0.1), (2, 1.0), (3, 4.0), (4, 1.0)] {
        let rng = &mut rng(seed);
        let truth = Truth::draw(10, 2, 6, 1, noise, rng);
        let model = fit(&collect(&truth, 10, 150, rng), &JointRidge::default(), 2).unwrap();
        ratios.push(model.noise / (noise * noise));
    }
    // 1650 labels: a standard deviation of 3.5 %.
    assert!(
        ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.1),
        "{ratios:?}"
    );
}

#[test]
fn the_fit_does_not_depend_on_threads() {
    let rng = &mut rng(13);
    let truth = Truth::draw(9, 3, 6, 2, 0.4, rng);
    let collected = collect(&truth, 40, 9, rng);
    let run = |threads| {
        on_threads(threads, || {
            let context = TrainContext {
                candidate_targets: vec![0],
                ..TrainContext::default()
            };
            let TrainOutput { model, folds, .. } = JointRidge::default()
                .fit(&collected.data, &context)
                .unwrap();
            assert_eq!(folds.len(), TARGET_FOLD_COUNT);
            let folds: Vec<_> = folds
                .iter()
                .map(|fold| matrix_bits(fold.representation.as_linear().unwrap().matrix()))
                .collect();
            (serde_json::to_string(&model).unwrap(), folds)
        })
    };
    assert_eq!(run(1), run(4));
}

/// The penalty that the evidence picks is as good as one picked with the truth in hand.
#[test]
fn the_evidence_picks_a_good_penalty() {
    // Summed over worlds for each multiple of the chosen penalty, from 1/32 to 32.
    let mut errors = [0.0; 11];
    for seed in 0..20 {
        let rng = &mut rng(100 + seed);
        let truth = Truth::draw(12, 2, 6, 1, 2.0, rng);
        let collected = collect(&truth, 10, 15, rng);
        let chosen = fit(&collected, &JointRidge::default(), 2)
            .unwrap()
            .report
            .lambda;
        for (sum, step) in errors.iter_mut().zip(-5..) {
            let oracle = JointRidge {
                lambda: Some(chosen * 2_f64.powi(step)),
                ..JointRidge::default()
            };
            *sum += error(&fit(&collected, &oracle, 2).unwrap(), &truth);
        }
    }
    let best = errors.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(errors[5] < 1.15 * best, "{errors:?}");
    assert!(
        errors[0] > 1.05 * best && errors[10] > 1.05 * best,
        "the grid shows nothing: {errors:?}"
    );
}

/// The same rows seen in turned coordinates.
fn turned(collected: &Collected, inputs: &Mat<f64>) -> Collected {
    let d = inputs.nrows();
    let mut out = Collected::new(d, collected.data.outputs(), collected.data.task_dim());
    for (index, (features, rows)) in collected.batches.iter().enumerate() {
        let x = rows
            .inputs()
            .chunks_exact(d)
            .flat_map(|x| apply(inputs.as_ref(), x))
            .collect();
        let rows = Samples::new(x, d, rows.outputs().to_vec(), rows.output_dim()).unwrap();
        if index + 1 < collected.batches.len() {
            out.source(features, rows);
        } else {
            out.target(features, rows);
        }
    }
    out
}

#[test]
fn turning_the_inputs_turns_the_predictor() {
    for seed in 0..3 {
        let rng = &mut rng(20 + seed);
        let truth = Truth::draw(7, 2, 5, 1, 0.5, rng);
        let collected = collect(&truth, 8, 12, rng);
        let rotation = orthonormal(7, 7, rng);
        let plain = fit(&collected, &JointRidge::default(), 2).unwrap();
        let model = fit(&turned(&collected, &rotation), &JointRidge::default(), 2).unwrap();
        assert!(close(
            model.report.residual_sum_of_squares,
            plain.report.residual_sum_of_squares,
            1e-6
        ));
        assert!(close(model.report.lambda, plain.report.lambda, 1e-6));
        let expected = &rotation * fitted(&plain);
        assert!(relative_distance(fitted(&model).as_ref(), expected.as_ref()) < 1e-6);
    }
}

#[test]
fn only_the_stages_and_rows_that_are_allowed_are_seen() {
    let rng = &mut rng(30);
    let truth = Truth::draw(5, 2, 4, 1, 0.3, rng);
    let mut collected = collect(&truth, 6, 20, rng);
    let context = TrainContext {
        k: Some(2),
        stages: Some(vec![Stage::WarmUp]),
        target_rows: FoldSelection::None,
        ..TrainContext::default()
    };
    let before = JointRidge::default()
        .model(&collected.data, &context)
        .unwrap();
    assert_eq!(before.report.labels, 120);
    let rows = truth.rows(&unit(4, 0), 50, rng);
    collected
        .data
        .add_source_rows(unit(4, 0), &unit(4, 0), Stage::Exploit, 1, &rows)
        .unwrap();
    collected.data.add_target_rows(0, &rows).unwrap();
    let after = JointRidge::default()
        .model(&collected.data, &context)
        .unwrap();
    assert_eq!(
        serde_json::to_string(&before).unwrap(),
        serde_json::to_string(&after).unwrap()
    );
    let all = JointRidge::default()
        .model(
            &collected.data,
            &TrainContext {
                k: Some(2),
                ..TrainContext::default()
            },
        )
        .unwrap();
    assert_eq!(all.report.labels, 120 + 20 + 50 + 50);
}

/// A known target inside the sources' span says nothing that the sources do not.
#[test]
fn a_known_target_does_not_spoil_the_fit() {
    let rng = &mut rng(31);
    let truth = Truth::draw(10, 2, 4, 1, 0.1, rng);
    let mut collected = Collected::new(10, 1, 4);
    for index in 0..4 {
        let rows = truth.rows(&unit(4, index), 300, rng);
        collected.source(&unit(4, index), rows);
    }
    let half: Vec<f64> = unit(4, 0).iter().map(|value| 0.5 * value).collect();
    let rows = truth.rows(&half, 6, rng);
    collected.target(&half, rows);
    let context = TrainContext {
        k: Some(2),
        candidate_targets: vec![0],
        ..TrainContext::default()
    };
    let TrainOutput { model, folds, .. } = JointRidge::default()
        .fit(&collected.data, &context)
        .unwrap();
    assert_eq!(folds.len(), TARGET_FOLD_COUNT);
    assert!(relative_distance(fitted(&model).as_ref(), truth.product().as_ref()) < 0.05);
    for fold in &folds {
        let similarity = subspace_similarity(
            fold.representation.as_linear().unwrap().matrix(),
            truth.representation.as_ref(),
        )
        .unwrap();
        assert!(similarity.min > 0.99, "{similarity:?}");
    }
}

/// Rows `√d · e_i` in turn: `Σ ψψᵀ = n I` exactly.
fn isotropic(beta: &[f64], rounds: usize, noise: f64, rng: &mut Rng) -> Samples {
    let d = beta.len();
    let scale = (d as f64).sqrt();
    let inputs: Vec<f64> = (0..rounds * d)
        .flat_map(|row| unit(d, row % d))
        .map(|value| value * scale)
        .collect();
    let errors = normals(rounds * d, rng);
    let outputs = (0..rounds * d)
        .map(|row| scale * beta[row % d] + noise * errors[row])
        .collect();
    Samples::new(inputs, d, outputs, 1).unwrap()
}

#[test]
fn the_task_map_of_orthonormal_tasks_is_a_sum_of_outer_products() {
    let rng = &mut rng(40);
    let (d, k, p) = (6, 2, 4);
    let truth = Truth::draw(d, k, p, 1, 0.5, rng);
    let tasks = orthonormal(p, p, rng);
    let mut collected = Collected::new(d, 1, p);
    let representation = Linear::new(truth.representation.as_ref()).unwrap();
    let mut expected = Mat::<f64>::zeros(k, p);
    for w in 0..p {
        let features: Vec<f64> = (0..p).map(|i| tasks[(i, w)]).collect();
        let rows = isotropic(&truth.coefficients(&features)[0], 5, 0.5, rng);
        collected.source(&features, rows);
        // With G = n I the head is the projected moment over n.
        let statistics = &collected.data.sources()[w].statistics;
        let head = apply(
            representation.matrix().transpose(),
            statistics.cross_moment(0),
        );
        expected += Mat::from_fn(k, p, |i, s| {
            head[i] / statistics.count() as f64 * features[s]
        });
    }
    let map =
        fit_task_embedding_map(&collected.data, &representation, None, FoldSelection::All).unwrap();
    assert!(relative_distance(map.matrix(), expected.as_ref()) < 1e-12);
}

/// Least squares, row by row: the gradient of the sum of squares vanishes.
#[test]
fn the_task_map_is_least_squares_for_any_tasks() {
    let rng = &mut rng(41);
    let truth = Truth::draw(6, 3, 4, 2, 0.5, rng);
    let collected = collect(&truth, 7, 9, rng);
    let representation = Linear::new(orthonormal(6, 3, rng).as_ref()).unwrap();
    let map =
        fit_task_embedding_map(&collected.data, &representation, None, FoldSelection::All).unwrap();
    let mut gradient = Mat::<f64>::zeros(3, 8);
    let mut size = 0.0_f64;
    for (features, rows) in &collected.batches {
        let labels = rows.outputs().chunks_exact(2);
        for (x, y) in rows.inputs().chunks_exact(6).zip(labels) {
            let z = apply(representation.matrix().transpose(), x);
            for (output, label) in y.iter().enumerate() {
                let left =
                    label - crate::common::dot(&z, &map.embedding(features, output).unwrap());
                size += label.abs();
                for (i, z) in z.iter().enumerate() {
                    (0..4).for_each(|s| gradient[(i, 4 * output + s)] += left * z * features[s]);
                }
            }
        }
    }
    assert!(
        gradient.norm_max() < 1e-11 * size,
        "{}",
        gradient.norm_max()
    );
}

#[test]
fn tasks_that_do_not_span_give_no_task_map() {
    let rng = &mut rng(42);
    let truth = Truth::draw(5, 2, 4, 1, 0.5, rng);
    let collected = collect(&truth, 2, 9, rng);
    let representation = Linear::new(truth.representation.as_ref()).unwrap();
    let deficient =
        |targets| match fit_task_embedding_map(&collected.data, &representation, None, targets) {
            Err(Error::RankDeficient { rank, needed, .. }) => (rank, needed),
            other => panic!("{other:?}"),
        };
    assert_eq!(deficient(FoldSelection::All), (3, 4));
    assert_eq!(deficient(FoldSelection::None), (2, 4));
    let stages = Some(&[Stage::Exploit][..]);
    let result = fit_task_embedding_map(
        &collected.data,
        &representation,
        stages,
        FoldSelection::None,
    );
    assert!(
        matches!(result, Err(Error::RankDeficient { rank: 0, .. })),
        "{result:?}"
    );
}
