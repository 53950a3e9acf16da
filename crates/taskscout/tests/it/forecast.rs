//! Forecasts: the risk law where it is exact, any inputs, outputs and targets, and what is refused.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::{Truth, apply, gaussian, normals, on_threads, orthonormal, rng, unit};
use faer::Mat;
use taskscout::forecast::{ForecastTargetTask, Forecaster, Interval, PlannedRows};
use taskscout::model::{Activation, FitReport, Layer, Mlp, ModelStructure, TaskEmbeddingMap};
use taskscout::prelude::*;
use taskscout::study::{Forecast, SpendOn, TargetRows};
use taskscout::theory::{RiskShape, excess_risk};

/// A fit that says nothing of itself but how many labels it saw.
fn report(labels: usize) -> FitReport {
    FitReport {
        iterations: 1,
        converged: true,
        objective: 0.0,
        residual_sum_of_squares: 0.0,
        lambda: f64::NAN,
        degrees_of_freedom: f64::NAN,
        log_evidence: f64::NAN,
        condition_numbers: [1.0, 1.0],
        labels,
        objective_history: Vec::new(),
        notes: Vec::new(),
    }
}

/// Tasks that are the axes of their features, all with so many rows, and a target with a task feature of its own. The
/// model is the truth.
fn known_truth((d, k): (usize, usize), (tasks, n): (usize, usize)) -> (TaskData, Model, f64) {
    let rng = &mut rng(3);
    let (noise, target_rows) = (0.25, n);
    let truth = Truth::draw(d, k, tasks + 1, 1, noise, rng);
    let mut data = TaskData::new(d, 1, tasks + 1);
    for task in 0..tasks {
        let features = unit(tasks + 1, task);
        let rows = truth.rows(&features, n, rng);
        data.add_source_rows(&features, &features, Stage::WarmUp, 0, &rows)
            .unwrap();
    }
    let own = unit(tasks + 1, tasks);
    let target = data.add_target("new", own.clone()).unwrap();
    data.add_target_rows(target, &truth.rows(&own, target_rows, rng))
        .unwrap();
    let labels = tasks * n + target_rows;
    let model = Model::from_factors(
        truth.representation.as_ref(),
        truth.map.as_ref(),
        tasks + 1,
        noise * noise,
        report(labels),
    );
    let embed = |s: usize| apply(truth.map.as_ref(), &unit(tasks + 1, s));
    let outer = |c: &[f64], n: usize| Mat::from_fn(k, k, |i, j| n as f64 * c[i] * c[j]);
    let target = embed(tasks);
    let mut information = outer(&target, target_rows);
    (0..tasks).for_each(|s| information += outer(&embed(s), n));
    let shape = RiskShape {
        noise: noise * noise,
        inputs: d,
        target_rows,
    };
    let law = excess_risk(shape, information.as_ref(), outer(&target, 1).as_ref()).unwrap();
    (data, model.unwrap(), law)
}

/// With little noise beside the embeddings the forecast is the risk law, with all unknowns together and, where these are
/// too many, with inputs that are alike.
#[test]
fn isotropic_inputs_give_the_risk_law() {
    for (d, k, tasks, n) in [(30, 2, 6, 5000), (520, 8, 10, 4000)] {
        let (data, model, law) = known_truth((d, k), (tasks, n));
        let targets = vec![ForecastTargetTask::task(0, &unit(tasks + 1, tasks), 1.0)];
        let forecaster = Forecaster::new(&data, &model, targets, 200, 0).unwrap();
        let now = forecaster.losses(&PlannedRows::default()).unwrap()[0];
        let ratio = now.mean / law;
        // Grams are as drawn, not as expected, and (1 + d/n) is left out of the law.
        assert!((0.85..1.35).contains(&ratio), "{d}: {ratio}");
        assert!(now.low < law && law < now.high * 1.3, "{d}: {now:?} {law}");
        // Ten times the rows of everything.
        let more = |n: usize| 9 * n;
        let features = |s: usize| unit(tasks + 1, s);
        let sources = (0..tasks).map(|s| (Task::point(features(s)).id, features(s), more(n)));
        let further = PlannedRows {
            sources: sources.collect(),
            targets: vec![(0, more(n))],
        };
        let then = forecaster.losses(&further).unwrap()[0];
        assert!(
            (8.0..12.5).contains(&(now.mean / then.mean)),
            "{d}: {now:?} {then:?}"
        );
    }
}

/// Source tasks whose inputs never move along a direction say nothing of it, however many rows they give.
#[test]
fn inputs_that_do_not_occur_teach_nothing() {
    let rng = &mut rng(5);
    let (d, tasks) = (6, 4);
    let truth = Truth::draw(d, 1, tasks + 1, 1, 0.3, rng);
    let flat = |rows: &Samples| {
        let inputs: Vec<f64> = rows
            .inputs()
            .chunks(d)
            .flat_map(|x| [&x[..3], &[0.0; 3]].concat())
            .collect();
        Samples::new(inputs, d, rows.outputs().to_vec(), 1).unwrap()
    };
    let mut data = TaskData::new(d, 1, tasks + 1);
    for task in 0..tasks {
        let features = unit(tasks + 1, task);
        let rows = flat(&truth.rows(&features, 500, rng));
        data.add_source_rows(&features, &features, Stage::WarmUp, 0, &rows)
            .unwrap();
    }
    let own = unit(tasks + 1, tasks);
    data.add_target("new", own.clone()).unwrap();
    data.add_target_rows(0, &truth.rows(&own, 200, rng))
        .unwrap();
    let model = JointRidge::default().model(
        &data,
        &TrainContext {
            k: Some(1),
            ..TrainContext::default()
        },
    );
    let targets = vec![ForecastTargetTask::task(0, &own, 1.0)];
    let forecaster = Forecaster::new(&data, &model.unwrap(), targets, 200, 0).unwrap();
    let gain = |further: &PlannedRows| {
        let now = forecaster.losses(&PlannedRows::default()).unwrap()[0].mean;
        now / forecaster.losses(further).unwrap()[0].mean
    };
    let features = unit(tasks + 1, 0);
    let flat = PlannedRows {
        sources: vec![(Task::point(features.clone()).id, features, 5000)],
        targets: Vec::new(),
    };
    let own = PlannedRows {
        targets: vec![(0, 2000)],
        ..PlannedRows::default()
    };
    assert!(gain(&flat) < 1.6, "{}", gain(&flat));
    assert!(gain(&own) > 4.0, "{}", gain(&own));
}

/// Of a network the heads and the last layer count.
#[test]
fn networks_have_a_forecast() {
    let rng = &mut rng(7);
    let (d, hidden, k, tasks) = (3, 6, 2, 5);
    let layer = |rows, columns, rng: &mut Rng| Layer {
        weights: gaussian(rows, columns, rng),
        bias: None,
    };
    let layers = vec![layer(d, hidden, rng), layer(hidden, k, rng)];
    let network = Mlp::new(layers, Activation::Tanh).unwrap();
    let map = gaussian(k, tasks + 1, rng);
    let mut data = TaskData::new(d, 1, tasks + 1).keeping_rows();
    let rows = |s: usize, n: usize, rng: &mut Rng| {
        let inputs = normals(n * d, rng);
        let values = network
            .apply(faer::MatRef::from_row_major_slice(&inputs, n, d))
            .unwrap();
        let label = |i: usize| (0..k).map(|j| values[(i, j)] * map[(j, s)]).sum::<f64>();
        let labels = (0..n).map(|i| label(i) + 0.2 * normal(rng)).collect();
        Samples::new(inputs, d, labels, 1).unwrap()
    };
    for s in 0..tasks {
        let features = unit(tasks + 1, s);
        data.add_source_rows(&features, &features, Stage::WarmUp, 0, &rows(s, 200, rng))
            .unwrap();
    }
    data.add_target("new", unit(tasks + 1, tasks)).unwrap();
    data.add_target_rows(0, &rows(tasks, 100, rng)).unwrap();
    let model = Model {
        representation: network.clone().into(),
        map: TaskEmbeddingMap::new(map.clone(), tasks + 1),
        spectrum: vec![1.0; k],
        noise: 0.04,
        report: report(1100),
        warm_start: None,
        structure: ModelStructure::Network,
    };
    let targets = vec![ForecastTargetTask::task(0, &unit(tasks + 1, tasks), 1.0)];
    let forecaster = Forecaster::new(&data, &model, targets, 100, 0).unwrap();
    let loss = |further: PlannedRows| forecaster.losses(&further).unwrap()[0].mean;
    let now = loss(PlannedRows::default());
    // The head alone costs σ²k/n, the last layer more.
    assert!(now > 1.1 * 0.04 * k as f64 / 100.0, "{now}");
    let features = unit(tasks + 1, 0);
    let sources = vec![(Task::point(features.clone()).id, features, 5000)];
    let then = loss(PlannedRows {
        sources,
        targets: Vec::new(),
    });
    assert!(then < 0.99 * now, "{now} {then}");
}

/// A study of two outputs with an unknown target, a known one and a distribution.
fn several(seed: u64) -> (Study, Truth) {
    let rng = &mut rng(11);
    let (d, tasks, outputs) = (8, 5, 2);
    let truth = Truth {
        representation: orthonormal(d, 2, rng),
        map: gaussian(2, outputs * tasks, rng),
        task_dim: tasks,
        noise: 0.3,
    };
    let moment = (0..tasks)
        .map(|i| unit(tasks, i).iter().map(|x| x / 5.0).collect())
        .collect();
    let mut study = Study::builder(Space::ball(tasks, 1.0).unwrap())
        .inputs(d)
        .outputs(outputs)
        .target(Target::unknown("hidden"))
        .target(Target::known("known", unit(tasks, 1)))
        .target(Target::distribution("all", moment).with_weight(2.0))
        .k(2)
        .seed(seed)
        .build()
        .unwrap();
    for (target, features) in [(0, unit(tasks, 0)), (1, unit(tasks, 1))] {
        study
            .tell_target(target, &truth.rows(&features, 60, rng))
            .unwrap();
    }
    for _ in 0..2 {
        for item in study.ask(400).unwrap().items {
            let rows = truth.rows(item.task.parameters(), item.n, rng);
            study.tell(item.id, &rows).unwrap();
        }
    }
    (study, truth)
}

#[test]
fn outputs_and_targets_of_all_kinds_have_a_forecast() {
    let (study, truth) = several(0);
    let forecast = study
        .forecast(&ForecastRequest::further(&[400, 4000]))
        .unwrap();
    assert_eq!(forecast.targets.len(), 3);
    for target in &forecast.targets {
        for points in [&target.by_design, &target.passive, &target.target_rows] {
            assert_eq!(
                points.iter().map(|point| point.budget).collect::<Vec<_>>(),
                [400, 4000]
            );
            let losses: Vec<f64> = points.iter().map(|point| point.loss.mean).collect();
            assert!(
                losses[0] <= target.now.mean && losses[1] < losses[0],
                "{target:?}"
            );
        }
        assert!(target.now.low < target.now.mean && target.now.mean < target.now.high);
    }
    // The distribution's loss now, against the truth: the model's own prediction for every axis.
    let model = study.model().unwrap();
    let fitted = model.representation.as_linear().unwrap().matrix() * model.map.matrix();
    let product = truth.product();
    let width = model.map.task_dim();
    let error = |output: usize, s: usize| -> f64 {
        (0..8)
            .map(|a| (fitted[(a, output * width + s)] - product[(a, output * 5 + s)]).powi(2))
            .sum()
    };
    let loss: f64 = (0..2)
        .flat_map(|o| (0..5).map(move |s| (o, s)))
        .map(|(o, s)| error(o, s) / 10.0)
        .sum();
    let expected = forecast.targets[2].now;
    assert!(
        (expected.low..expected.high * 1.5).contains(&loss),
        "{loss} {expected:?}"
    );
    let next = forecast.next_batch;
    assert!((next.value - (next.now - next.then) / 400.0).abs() < 1e-15 && next.value > 0.0);
    assert!(!forecast.advice.stop && forecast.advice.sentence.contains("go on"));
}

/// Who has more may spend less, so more never hurts: also where plans of single rows differ.
#[test]
fn a_forecast_never_rises_with_the_budget() {
    let budgets = [10, 14, 20, 28, 40, 56, 80, 112];
    for seed in 0..3 {
        let (study, _) = several(seed);
        let forecast = study.forecast(&ForecastRequest::further(&budgets)).unwrap();
        for target in &forecast.targets {
            for points in [&target.by_design, &target.passive, &target.target_rows] {
                let mut before = target.now;
                for point in points {
                    let (then, now) = (point.loss, before);
                    assert!(then.mean <= now.mean && then.high <= now.high, "{points:?}");
                    before = then;
                }
            }
        }
    }
}

#[test]
fn forecasts_are_the_same_on_any_number_of_threads_and_kept() {
    let request = ForecastRequest::further(&[300]);
    let on = |threads: usize| {
        on_threads(threads, || {
            let (study, _) = several(1);
            serde_json::to_string(&*study.forecast(&request).unwrap()).unwrap()
        })
    };
    assert_eq!(on(1), on(4));
    let (mut study, truth) = several(1);
    let first = study.forecast(&request).unwrap();
    assert!(std::sync::Arc::ptr_eq(
        &first,
        &study.forecast(&request).unwrap()
    ));
    let other = study.forecast(&ForecastRequest::further(&[600])).unwrap();
    assert!(other.targets[0].by_design[0].loss.mean < first.targets[0].by_design[0].loss.mean);
    study
        .tell_target(0, &truth.rows(&unit(5, 0), 500, &mut rng(1)))
        .unwrap();
    let after = study.forecast(&request).unwrap();
    assert!(after.targets[0].now.mean < first.targets[0].now.mean);
}

/// Dear switches buy fewer samples, and a batch that gains little is advised against.
#[test]
fn costs_and_the_least_gain_count() {
    let (study, _) = several(2);
    let mut dear = study.config().clone();
    dear.collection = Collection {
        sample_cost: 2.0,
        switch_cost: 20.0,
        ..Collection::default()
    };
    let mut costly = Study::new(dear).unwrap();
    let rng = &mut rng(2);
    let truth = several(2).1;
    for target in [0, 1] {
        costly
            .tell_target(target, &truth.rows(&unit(5, target), 60, rng))
            .unwrap();
    }
    for _ in 0..2 {
        for item in costly.ask(800).unwrap().items {
            costly
                .tell(item.id, &truth.rows(item.task.parameters(), item.n, rng))
                .unwrap();
        }
    }
    let point = costly
        .forecast(&ForecastRequest::further(&[800]))
        .unwrap()
        .targets[0]
        .by_design[0];
    assert!(point.samples < 400, "{point:?}");
    let switches = costly
        .items()
        .iter()
        .filter(|item| item.collected > 0)
        .count();
    let rows = costly.data().source_rows();
    assert!((costly.spent() - (2 * rows + 20 * switches) as f64).abs() < 1e-9);
    let request = ForecastRequest {
        least_gain: 0.9,
        ..ForecastRequest::further(&[100])
    };
    let forecast = study.forecast(&request).unwrap();
    assert!(
        forecast.advice.stop && forecast.advice.sentence.contains("stop"),
        "{}",
        forecast.advice.sentence
    );
    assert!(
        [SpendOn::Design, SpendOn::Passive, SpendOn::TargetRows]
            .contains(&forecast.next_batch.spend_on)
    );
}

/// Rows of the targets are advised only where they can be had, and at what they cost.
#[test]
fn target_rows_cost_what_they_cost() {
    let (study, _) = several(2);
    let forecast = |target_rows: TargetRows| {
        let request = ForecastRequest {
            target_rows,
            ..ForecastRequest::further(&[100, 400])
        };
        study.forecast(&request).unwrap()
    };
    let usual = forecast(TargetRows::LikeSources);
    let samples = |forecast: &Forecast| -> Vec<usize> {
        let points = forecast.targets[0].target_rows.iter();
        points.map(|point| point.samples).collect()
    };
    assert_eq!(samples(&usual), [100, 400]);
    // The fewer rows a budget buys, the less they help.
    let dear = forecast(TargetRows::Each(200.0));
    assert_eq!(samples(&dear), [2]);
    assert_eq!(dear.targets[0].target_rows[0].budget, 400);
    let last = |forecast: &Forecast| forecast.targets[0].target_rows.last().unwrap().loss.mean;
    assert!(last(&dear) > last(&usual));
    let none = forecast(TargetRows::NotAvailable);
    assert!(samples(&none).is_empty());
    assert_ne!(none.next_batch.spend_on, SpendOn::TargetRows);
    assert!((none.next_batch.by_design - usual.next_batch.by_design).abs() < 1e-12);
    let request = ForecastRequest {
        target_rows: TargetRows::Each(0.0),
        ..ForecastRequest::further(&[100])
    };
    let refused = study.forecast(&request).unwrap_err().to_string();
    assert!(refused.contains("above 0"), "{refused}");
}

#[test]
fn quantities_are_estimated_with_intervals() {
    let (study, truth) = several(3);
    let found = study.quantities(100).unwrap();
    assert_eq!(found.k, 2);
    assert!(
        found.k_star.mean >= 1.0 && found.k_star.high <= 2.0,
        "{found:?}"
    );
    let values = truth.map.as_ref().subcols(0, 10).singular_values().unwrap();
    // Columns of both outputs side by side, as the truth has them.
    let condition = values[0] / values[1];
    let near = |interval: Interval, value: f64| {
        (interval.low * 0.8..interval.high * 1.25).contains(&value)
    };
    assert!(
        near(found.condition_number, condition),
        "{found:?} {condition}"
    );
    assert!(
        found.largest_l2_norm.low > 0.0
            && found.largest_l2_norm.high <= found.largest_l1_norm.high * 1.001,
        "{found:?}"
    );
}

#[test]
fn bad_requests_are_refused_in_one_sentence() {
    let (study, _) = several(4);
    let says =
        |study: &Study, request: &ForecastRequest| study.forecast(request).unwrap_err().to_string();
    let further = ForecastRequest::further;
    assert_eq!(
        says(&study, &further(&[])),
        "`further` is empty: give at least one budget to look ahead to"
    );
    assert!(says(&study, &further(&[100, 0])).contains("has a budget of 0"));
    let few = ForecastRequest {
        draws: 3,
        ..further(&[100])
    };
    assert_eq!(
        says(&study, &few),
        "`draws` is 3: an interval needs at least 20"
    );
    let spent = ForecastRequest::up_to(&study, &[500])
        .unwrap_err()
        .to_string();
    assert!(
        spent.starts_with("`budget` 500 is not above the 800"),
        "{spent}"
    );
    assert_eq!(
        ForecastRequest::up_to(&study, &[1000]).unwrap().further,
        [200]
    );
    let fresh = Study::new(study.config().clone()).unwrap();
    assert!(says(&fresh, &further(&[100])).starts_with("a forecast needs a model"));
    let mut unseen = Study::builder(Space::ball(3, 1.0).unwrap())
        .inputs(2)
        .target(Target::unknown("hidden"))
        .k(1)
        .build()
        .unwrap();
    for item in unseen.ask(30).unwrap().items {
        let rows = Samples::new(
            normals(2 * item.n, &mut rng(1)),
            2,
            normals(item.n, &mut rng(2)),
            1,
        );
        unseen.tell(item.id, &rows.unwrap()).unwrap();
    }
    assert!(says(&unseen, &further(&[100])).starts_with("nothing is known of the target `hidden`"));
    assert!(unseen.quantities(100).is_err());
}
