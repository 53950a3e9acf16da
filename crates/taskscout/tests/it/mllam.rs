//! The oracles `mllam` and `erm` against truths, rates and invariances.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::{Truth, gaussian, matrix_bits, normals, on_threads, orthonormal, rng, unit};
use faer::{Mat, MatRef};
use taskscout::Error;
use taskscout::data::{FoldSelection, Samples, Stage, TaskData};
use taskscout::features::FeatureMap;
use taskscout::model::Model;
use taskscout::rng::Rng;
use taskscout::space::Space;
use taskscout::strategy::{StrategyConfig, StrategyKind, WarmUp};
use taskscout::study::{Oracle, Study, StudyConfig};
use taskscout::target::Target;
use taskscout::train::{
    AlternatingMinimization, AlternatingMinimizationThenErm, ErmOnLastStage, JointRidge,
    TrainContext, Trainer,
};

fn of_rank(k: usize) -> TrainContext {
    TrainContext {
        k: Some(k),
        ..TrainContext::default()
    }
}

/// The same, with predictors of the first target.
fn proposing(k: usize) -> TrainContext {
    TrainContext {
        candidate_targets: vec![0],
        ..of_rank(k)
    }
}

fn basis(model: &Model) -> MatRef<'_, f64> {
    model.representation.as_linear().unwrap().matrix()
}

/// Sine of the largest angle between the columns of two orthonormal matrices, from the part of one
/// that lies outside the other: exact for small angles too.
fn sine(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    let outside = a - b * (b.transpose() * a);
    let svd = outside.thin_svd().unwrap();
    svd.S().column_vector()[0]
}

fn error(model: &Model, truth: &Truth) -> f64 {
    sine(basis(model), truth.representation.as_ref())
}

/// Sources with `n` rows each, one for each column of an orthonormal basis, and a target.
fn passive(truth: &Truth, n: usize, rng: &mut Rng) -> TaskData {
    let (d, p) = (truth.representation.nrows(), truth.task_dim);
    let tasks = orthonormal(p - 1, p - 1, rng);
    let mut data = TaskData::new(d, truth.outputs(), p).keeping_rows();
    for j in 0..p - 1 {
        let mut features: Vec<f64> = (0..p - 1).map(|i| tasks[(i, j)]).collect();
        features.push(0.0);
        let rows = truth.rows(&features, n, rng);
        data.add_source_rows(&features, &features, Stage::WarmUp, 0, &rows)
            .unwrap();
    }
    let target = data.add_target("target", unit(p, p - 1)).unwrap();
    data.add_target_rows(target, &truth.rows(&unit(p, p - 1), n, rng))
        .unwrap();
    data
}

/// The paper's ill-conditioned task map: most columns are alike.
fn ill_conditioned(k: usize, p: usize, rng: &mut Rng) -> Mat<f64> {
    use rand::RngExt as _;
    let mut map = Mat::from_fn(k, p, |_, _| rng.random::<f64>());
    for j in p / 3..p {
        (0..k).for_each(|i| map[(i, j)] = map[(i, p - 1)]);
    }
    map += Mat::from_fn(k, p, |_, _| 0.1 * rng.random::<f64>());
    (0..k).for_each(|i| map[(i, p - 1)] = map[(i, 0)]);
    for j in 0..p {
        let norm = map.col(j).norm_l2();
        (0..k).for_each(|i| map[(i, j)] /= norm);
    }
    map
}

#[test]
fn without_noise_the_subspace_is_found_to_a_millionth() {
    // Features, k, task features, rows a task: more and fewer rows than features, one direction,
    // as many directions as tasks.
    let shapes = [
        (20, 3, 12, 60),
        (40, 3, 30, 12),
        (60, 2, 40, 14),
        (15, 1, 4, 10),
        (12, 4, 5, 40),
        (30, 5, 25, 25),
    ];
    for (case, (d, k, p, n)) in shapes.into_iter().enumerate() {
        for splits in [1, 4] {
            let rng = &mut rng(case as u64);
            let truth = Truth::draw(d, k, p, 1, 0.0, rng);
            let data = passive(&truth, n, rng);
            let oracle = AlternatingMinimization {
                splits,
                ..AlternatingMinimization::default()
            };
            let model = oracle.model(&data, &of_rank(k)).unwrap();
            let error = error(&model, &truth);
            println!(
                "{d} {k} {p} {n} split {splits}: {error:.1e} in {}",
                model.report.iterations
            );
            assert!(error <= 1e-6, "{error} {:?}", model.report);
            assert!(model.report.converged);
            let product = crate::common::fitted(&model);
            assert!(
                crate::common::relative_distance(product.as_ref(), truth.product().as_ref()) < 1e-5
            );
        }
    }
}

#[test]
fn without_noise_the_papers_ill_conditioned_map_is_no_obstacle() {
    let rng = &mut rng(11);
    let mut truth = Truth::draw(200, 4, 80, 1, 0.0, rng);
    truth.map = ill_conditioned(4, 80, rng);
    let data = passive(&truth, 160, rng);
    let start = std::time::Instant::now();
    let model = AlternatingMinimization::default()
        .model(&data, &of_rank(4))
        .unwrap();
    let error = error(&model, &truth);
    println!(
        "{error:.1e} in {} iterations, {:?}",
        model.report.iterations,
        start.elapsed()
    );
    assert!(error <= 1e-6, "{error} {:?}", model.report);
}

/// Mean over worlds of log error at each count of rows, and its slope against the log of rows.
fn slope(rows: &[usize], oracle: &dyn Trainer, seeds: u64) -> (f64, Vec<f64>) {
    let means: Vec<f64> = rows
        .iter()
        .map(|&n| {
            let of = |seed: u64| {
                let rng = &mut rng(100 + seed);
                let truth = Truth::draw(30, 3, 21, 1, 1.0, rng);
                let data = passive(&truth, n, rng);
                error(&oracle.model(&data, &of_rank(3)).unwrap(), &truth).ln()
            };
            (0..seeds).map(of).sum::<f64>() / seeds as f64
        })
        .collect();
    let x: Vec<f64> = rows.iter().map(|&n| (n as f64).ln()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mx, my) = (mean(&x), mean(&means));
    let cov: f64 = x.iter().zip(&means).map(|(x, y)| (x - mx) * (y - my)).sum();
    let var: f64 = x.iter().map(|x| (x - mx) * (x - mx)).sum();
    (cov / var, means.iter().map(|m| m.exp()).collect())
}

#[test]
fn with_noise_the_error_falls_as_one_over_the_root_of_rows() {
    for splits in [1, 4] {
        let oracle = AlternatingMinimization {
            splits,
            ..AlternatingMinimization::default()
        };
        let (slope, errors) = slope(&[60, 130, 280, 600], &oracle, 6);
        println!("splits {splits}: slope {slope:.3}, errors {errors:.4?}");
        assert!((-0.6..=-0.4).contains(&slope), "{slope} {errors:?}");
    }
}

#[test]
fn splitting_takes_the_two_steps_on_different_rows() {
    // With two parts, heads come from the first half of every task's rows and
    // B_X from the second. Without noise in the second, wrong labels in the first change the heads
    // only, by a factor: B_X is still right. Without splitting it is not.
    let rng = &mut rng(21);
    let truth = Truth::draw(8, 1, 6, 1, 0.0, rng);
    let (tasks, n) = (5, 40);
    let mut data = TaskData::new(8, 1, 6).keeping_rows();
    for j in 0..tasks {
        let rows = truth.rows(&unit(6, j), n, rng);
        let mut labels = rows.outputs().to_vec();
        labels[..n / 2].iter_mut().for_each(|y| *y *= 3.0);
        let rows = Samples::new(rows.inputs().to_vec(), 8, labels, 1).unwrap();
        data.add_source_rows(unit(6, j), &unit(6, j), Stage::WarmUp, 0, &rows)
            .unwrap();
    }
    // Iterations on parts alone, and on all rows alone.
    let parts = AlternatingMinimization {
        iterations: 30,
        splits: 2,
        max_iterations: 1,
        tolerance: f64::INFINITY,
    };
    let all = AlternatingMinimization {
        splits: 1,
        max_iterations: 30,
        tolerance: 0.0,
        ..parts
    };
    let context = TrainContext {
        target_rows: FoldSelection::None,
        ..of_rank(1)
    };
    let split = parts.model(&data, &context).unwrap();
    let whole = all.model(&data, &context).unwrap();
    println!(
        "{:.1e} {:.1e}",
        error(&split, &truth),
        error(&whole, &truth)
    );
    assert!(error(&split, &truth) < 0.2 * error(&whole, &truth));
}

#[test]
fn neither_threads_nor_the_order_of_batches_matter() {
    let draw = |reverse: bool, batch: usize| {
        let rng = &mut rng(31);
        let truth = Truth::draw(20, 2, 9, 1, 0.5, rng);
        let batches: Vec<(Vec<f64>, Samples)> = (0..8)
            .map(|j| (unit(9, j), truth.rows(&unit(9, j), 60, rng)))
            .collect();
        let mut data = TaskData::new(20, 1, 9).keeping_rows();
        let order: Vec<usize> = if reverse {
            (0..8).rev().collect()
        } else {
            (0..8).collect()
        };
        for index in order {
            let (task, rows) = &batches[index];
            let inputs = rows.inputs().chunks(batch * 20);
            for (x, y) in inputs.zip(rows.outputs().chunks(batch)) {
                let part = Samples::new(x.to_vec(), 20, y.to_vec(), 1).unwrap();
                data.add_source_rows(task, task, Stage::WarmUp, 0, &part)
                    .unwrap();
            }
        }
        let target = data.add_target("t", unit(9, 8)).unwrap();
        data.add_target_rows(target, &truth.rows(&unit(9, 8), 60, rng))
            .unwrap();
        data
    };
    let data = draw(false, 60);
    for oracle in [
        &AlternatingMinimization::default() as &dyn Trainer,
        &ErmOnLastStage::default(),
    ] {
        let fit = |threads| on_threads(threads, || oracle.fit(&data, &proposing(2)).unwrap());
        let (one, four) = (fit(1), fit(4));
        assert_eq!(
            (&one.folds, &one.candidates),
            (&four.folds, &four.candidates)
        );
        let (one, four) = (one.model, four.model);
        assert_eq!(matrix_bits(basis(&one)), matrix_bits(basis(&four)));
        assert_eq!(
            matrix_bits(one.map.matrix()),
            matrix_bits(four.map.matrix())
        );
        // The model is the same whether or not folds are asked for.
        let alone = oracle.model(&data, &of_rank(2)).unwrap();
        assert_eq!(matrix_bits(basis(&one)), matrix_bits(basis(&alone)));
        for other in [draw(true, 60), draw(false, 7)] {
            let model = oracle.model(&other, &of_rank(2)).unwrap();
            let moved = sine(basis(&model), basis(&one));
            assert!(moved < 1e-9, "{moved}");
        }
    }
}

#[test]
fn a_task_of_several_stages_is_one_task() {
    let rng = &mut rng(41);
    let truth = Truth::draw(10, 2, 5, 1, 0.5, rng);
    let context = TrainContext {
        target_rows: FoldSelection::None,
        ..of_rank(2)
    };
    let mut once = TaskData::new(10, 1, 5).keeping_rows();
    let mut twice = once.clone();
    for j in 0..5 {
        let (first, second) = (
            truth.rows(&unit(5, j), 30, rng),
            truth.rows(&unit(5, j), 20, rng),
        );
        for (rows, stage) in [(&first, Stage::WarmUp), (&second, Stage::Explore)] {
            once.add_source_rows(unit(5, j), &unit(5, j), Stage::WarmUp, 0, rows)
                .unwrap();
            twice
                .add_source_rows(unit(5, j), &unit(5, j), stage, 0, rows)
                .unwrap();
        }
    }
    let fit = |data| {
        AlternatingMinimization::default()
            .model(data, &context)
            .unwrap()
    };
    let (a, b) = (fit(&once), fit(&twice));
    assert!(sine(basis(&a), basis(&b)) < 1e-9);
    assert_eq!(a.report.labels, b.report.labels);
    // Stages that the context leaves out do not count.
    let warm_up = TrainContext {
        stages: Some(vec![Stage::WarmUp]),
        ..context.clone()
    };
    let part = AlternatingMinimization::default()
        .model(&twice, &warm_up)
        .unwrap();
    assert_eq!(part.report.labels, 5 * 30);
}

#[test]
fn the_folds_have_not_seen_their_rows() {
    let rng = &mut rng(51);
    let truth = Truth::draw(12, 2, 7, 1, 0.5, rng);
    let data = passive(&truth, 60, rng);
    // The same with other labels in the last block of the target's rows, a fold of its own.
    let mut other = TaskData::new(12, 1, 7).keeping_rows();
    for entry in data.sources() {
        let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
        let rows = Samples::new(wide(entry.rows.inputs()), 12, wide(entry.rows.outputs()), 1);
        other
            .add_source_rows(&entry.task, &entry.features, entry.stage, 0, &rows.unwrap())
            .unwrap();
    }
    let target = other.add_target("target", unit(7, 6)).unwrap();
    let mut same = other.clone();
    let rows = truth.rows(&unit(7, 6), 60, rng);
    let mut labels = rows.outputs().to_vec();
    labels[45..].iter_mut().for_each(|y| *y += 100.0);
    let changed = Samples::new(rows.inputs().to_vec(), 12, labels, 1).unwrap();
    same.add_target_rows(target, &rows).unwrap();
    other.add_target_rows(target, &changed).unwrap();
    let folds = |data| {
        let fitted = AlternatingMinimization::default()
            .fit(data, &proposing(2))
            .unwrap();
        fitted.folds
    };
    let (a, b) = (folds(&same), folds(&other));
    let equal: Vec<bool> = a.iter().zip(&b).map(|(a, b)| a == b).collect();
    assert_eq!(equal.iter().filter(|&&equal| equal).count(), 1, "{equal:?}");
}

/// Warm-up rows of one world, exploration rows of another, and a target of the second.
fn two_worlds(rng: &mut Rng) -> (TaskData, Truth) {
    let (old, new) = (
        Truth::draw(12, 2, 6, 1, 0.1, rng),
        Truth::draw(12, 2, 6, 1, 0.1, rng),
    );
    let mut data = TaskData::new(12, 1, 6).keeping_rows();
    for j in 0..5 {
        for (truth, stage) in [(&old, Stage::WarmUp), (&new, Stage::Explore)] {
            let rows = truth.rows(&unit(6, j), 80, rng);
            data.add_source_rows(unit(6, j), &unit(6, j), stage, 0, &rows)
                .unwrap();
        }
    }
    let target = data.add_target("target", unit(6, 5)).unwrap();
    let rows = old.rows(&unit(6, 5), 300, rng);
    data.add_target_rows(target, &rows).unwrap();
    (data, new)
}

#[test]
fn erm_ignores_warm_up_rows_and_the_target() {
    let (data, new) = two_worlds(&mut rng(61));
    let model = ErmOnLastStage::default().model(&data, &of_rank(2)).unwrap();
    assert!(error(&model, &new) < 0.15, "{}", error(&model, &new));
    assert_eq!(model.report.labels, 5 * 80);
    let both = JointRidge::default().model(&data, &of_rank(2)).unwrap();
    assert!(error(&both, &new) > 0.2);
    // The target's column is least squares on its rows under the finished φ.
    let rows = data.target_statistics(0, FoldSelection::All).unwrap();
    let under = rows.project(basis(&model)).unwrap();
    let head = model.map.embedding(&unit(6, 5), 0).unwrap();
    let image = crate::common::apply(under.gram_matrix().as_ref(), &head);
    for (image, moment) in image.iter().zip(under.cross_moment(0)) {
        assert!(
            (image - moment).abs() < 1e-6 * rows.sum_of_squares(0),
            "{image} {moment}"
        );
    }
    // Without any of the last two stages, what there is.
    let warm_up = TrainContext {
        stages: Some(vec![Stage::WarmUp]),
        ..of_rank(2)
    };
    let old = ErmOnLastStage::default().model(&data, &warm_up).unwrap();
    assert!(error(&old, &new) > 0.5);
}

#[test]
fn erm_takes_all_stages_where_the_last_are_too_short() {
    let rng = &mut rng(71);
    let truth = Truth::draw(12, 2, 7, 1, 0.1, rng);
    let mut data = passive(&truth, 80, rng);
    let few = truth.rows(&unit(7, 0), 5, rng);
    data.add_source_rows(unit(7, 0), &unit(7, 0), Stage::Explore, 1, &few)
        .unwrap();
    let model = ErmOnLastStage::default().model(&data, &of_rank(2)).unwrap();
    assert!(error(&model, &truth) < 0.05);
    assert!(
        model.report.notes[0].contains("all stages"),
        "{:?}",
        model.report.notes
    );
}

#[test]
fn several_outputs_share_the_representation() {
    let rng = &mut rng(81);
    let truth = Truth::draw(15, 3, 6, 2, 0.0, rng);
    let data = passive(&truth, 40, rng);
    let model = AlternatingMinimization::default()
        .model(&data, &of_rank(3))
        .unwrap();
    assert!(error(&model, &truth) < 1e-6, "{}", error(&model, &truth));
    let fitted = crate::common::fitted(&model);
    assert!(crate::common::relative_distance(fitted.as_ref(), truth.product().as_ref()) < 1e-5);
}

#[test]
fn the_rank_and_the_noise_come_from_the_data() {
    let rng = &mut rng(91);
    let truth = Truth::draw(15, 3, 12, 1, 0.5, rng);
    let data = passive(&truth, 200, rng);
    for oracle in [
        &AlternatingMinimization::default() as &dyn Trainer,
        &ErmOnLastStage::default(),
    ] {
        let model = oracle.model(&data, &TrainContext::default()).unwrap();
        assert_eq!(model.dim(), 3);
        assert!((model.noise / 0.25 - 1.0).abs() < 0.1, "{}", model.noise);
    }
    // The evidence prefers the true number of directions.
    let evidence = |k| {
        let report = AlternatingMinimization::default()
            .model(&data, &of_rank(k))
            .unwrap()
            .report;
        report.log_evidence
    };
    assert!(evidence(3) > evidence(2) && evidence(3) > evidence(4));
}

#[test]
fn bad_settings_and_too_little_data_are_refused_by_name() {
    let rng = &mut rng(101);
    let truth = Truth::draw(10, 2, 5, 1, 0.3, rng);
    let data = passive(&truth, 40, rng);
    let setting = |oracle: &dyn Trainer, key: &str| {
        let refused = oracle.model(&data, &of_rank(2)).unwrap_err();
        assert!(
            matches!(&refused, Error::Setting { key: found, .. } if found == key),
            "{refused}"
        );
    };
    let plain = AlternatingMinimization::default();
    setting(&AlternatingMinimization { splits: 0, ..plain }, "splits");
    setting(
        &AlternatingMinimization {
            max_iterations: 0,
            ..plain
        },
        "max_iterations",
    );
    setting(
        &AlternatingMinimization {
            tolerance: f64::NAN,
            ..plain
        },
        "tolerance",
    );
    setting(
        &ErmOnLastStage {
            max_sweeps: 0,
            ..ErmOnLastStage::default()
        },
        "max_sweeps",
    );
    setting(
        &ErmOnLastStage {
            tolerance: -1.0,
            ..ErmOnLastStage::default()
        },
        "tolerance",
    );
    for text in [r#"{"split": 2}"#, r#"{"splits": -1}"#] {
        assert!(serde_json::from_str::<AlternatingMinimization>(text).is_err());
    }
    for k in [0, 6] {
        let refused = plain.model(&data, &of_rank(k)).unwrap_err();
        assert!(matches!(refused, Error::Setting { .. }), "{refused}");
    }
    let empty = TaskData::new(10, 1, 5).keeping_rows();
    assert!(matches!(
        plain.model(&empty, &of_rank(2)),
        Err(Error::State(_))
    ));
    assert!(matches!(
        ErmOnLastStage::default().model(&empty, &of_rank(2)),
        Err(Error::State(_))
    ));
    // Fewer labels than unknowns, and fewer rows a task than k.
    for n in [3, 1] {
        let scarce = passive(&truth, n, rng);
        let refused = plain.model(&scarce, &of_rank(2)).unwrap_err();
        assert!(matches!(refused, Error::RankDeficient { .. }), "{refused}");
    }
    // Statistics alone do not do for splitting, but they do without it.
    let mut kept_nothing = TaskData::new(10, 1, 5);
    for j in 0..4 {
        let rows = truth.rows(&unit(5, j), 40, rng);
        kept_nothing
            .add_source_rows(unit(5, j), &unit(5, j), Stage::WarmUp, 0, &rows)
            .unwrap();
    }
    assert!(matches!(
        plain.model(&kept_nothing, &of_rank(2)),
        Err(Error::State(_))
    ));
    let whole = AlternatingMinimization { splits: 1, ..plain };
    assert!(!whole.needs().rows);
    assert!(whole.model(&kept_nothing, &of_rank(2)).is_ok());
}

#[test]
fn heads_that_span_too_little_are_refused() {
    let rng = &mut rng(111);
    let mut truth = Truth::draw(10, 2, 5, 1, 0.0, rng);
    let line = gaussian(1, 5, rng);
    truth.map = Mat::from_fn(2, 5, |i, j| (1.0 + i as f64) * line[(0, j)]);
    let data = passive(&truth, 40, rng);
    match AlternatingMinimization::default().model(&data, &of_rank(2)) {
        Err(Error::RankDeficient { rank, needed, .. }) => assert_eq!((rank, needed), (1, 2)),
        other => panic!("{other:?}"),
    }
    // Labels of nothing at all.
    let mut silent = TaskData::new(10, 1, 5).keeping_rows();
    for j in 0..5 {
        let rows = Samples::new(normals(400, rng), 10, vec![0.0; 40], 1).unwrap();
        silent
            .add_source_rows(unit(5, j), &unit(5, j), Stage::WarmUp, 0, &rows)
            .unwrap();
    }
    for oracle in [
        &AlternatingMinimization::default() as &dyn Trainer,
        &ErmOnLastStage::default(),
    ] {
        let refused = oracle.model(&silent, &of_rank(2)).unwrap_err();
        assert!(matches!(refused, Error::RankDeficient { .. }), "{refused}");
    }
}

/// A study of the paper's oracles, a few rounds in.
fn study(rounds: usize) -> Study {
    let rng = &mut rng(121);
    let truth = Truth::draw(12, 2, 9, 1, 0.3, rng);
    let mut config = StudyConfig::new(
        Space::ball(8, 1.0).unwrap(),
        FeatureMap::identity(12).unwrap(),
        vec![Target::unknown("target")],
        StrategyConfig::new(StrategyKind::Aware),
    )
    .unwrap();
    config.k = Some(2);
    config.warm_up = WarmUp::Rounds { rounds: 1 };
    config.oracle = Oracle::Mllam(AlternatingMinimizationThenErm::default());
    let mut study = Study::new(config).unwrap();
    study
        .tell_target(0, &truth.rows(&unit(9, 8), 60, rng))
        .unwrap();
    for _ in 0..rounds {
        for item in &study.ask(400).unwrap().items {
            let mut features = item.task.to_vec();
            features.push(0.0);
            study
                .tell(item.id, &truth.rows(&features, item.n, rng))
                .unwrap();
        }
    }
    study
}

#[test]
fn a_study_plans_with_one_oracle_and_ends_with_the_other() {
    let context = of_rank(2);
    let first = study(1);
    let expected = AlternatingMinimization::default()
        .model(first.data(), &context)
        .unwrap();
    assert_eq!(*first.model().unwrap(), expected);
    let later = study(3);
    let expected = ErmOnLastStage::default()
        .model(later.data(), &context)
        .unwrap();
    assert_eq!(*later.model().unwrap(), expected);
    // Whichever model is fitted first, neither takes the other's place.
    let (mut planned, mut trained) = (later.clone(), later.clone());
    let choice = trained.predictors().unwrap();
    let plans = (planned.ask(400).unwrap(), trained.ask(400).unwrap());
    assert_eq!(plans.0, plans.1);
    assert_eq!(*planned.model().unwrap(), expected);
    assert_eq!(*trained.model().unwrap(), expected);
    assert_eq!(planned.predictors().unwrap(), choice);
    let mllam = AlternatingMinimization::default()
        .model(later.data(), &context)
        .unwrap();
    assert_ne!(mllam, expected);
    // A file keeps the oracle and the rows that it needs.
    let text = serde_json::to_string(&later).unwrap();
    let mut loaded: Study = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded.config(), later.config());
    assert_eq!(loaded.ask(400).unwrap(), plans.0);
}
