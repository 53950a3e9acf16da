//! The oracles on worlds whose network is known.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{collect, study, world};
use taskscout::Error;
use taskscout::model::{AnyRepresentation, Model, Representation as _};
use taskscout::prelude::run;
use taskscout::rng::{Purpose, derive};
use taskscout::source::TaskSource as _;
use taskscout::strategy::StrategyKind;
use taskscout::study::{ForecastRequest, Study};
use taskscout::train::{PredictorKind, TrainContext, Trainer, guard};
use taskscout_neural::{
    Decay, DescentSettings, EarlyStopping, JointGd, MlpShape, Neural, NeuralSettings, Optimiser,
};

fn shape() -> MlpShape {
    MlpShape {
        hidden: vec![12],
        bias: false,
        ..MlpShape::default()
    }
}

fn neural() -> Neural<MlpShape> {
    Neural::new(shape(), NeuralSettings::default())
}

fn joint(descent: DescentSettings) -> JointGd {
    JointGd {
        network: shape(),
        descent,
    }
}

fn two() -> TrainContext {
    TrainContext {
        k: Some(2),
        ..TrainContext::default()
    }
}

/// The same, with predictors of the target.
fn proposing() -> TrainContext {
    TrainContext {
        candidate_targets: vec![0],
        ..two()
    }
}

#[test]
fn the_network_is_found() {
    let mut truth = world(0.1, 1);
    let data = collect(&mut truth, 2000, 1000, 3);
    let model = neural().model(&data, &two()).unwrap();
    let similarity = truth.similarity(&model.representation).unwrap();
    assert!(similarity > 0.98, "similarity {similarity}");
    // The noise is found as well, within what the rows allow.
    assert!((model.noise - 0.01).abs() < 0.003, "noise {}", model.noise);
}

#[test]
fn variable_projection_beats_joint_descent_on_the_same_rows() {
    let mut truth = world(0.5, 2);
    let data = collect(&mut truth, 600, 300, 4);
    let exact = neural().model(&data, &two()).unwrap();
    let descended = joint(DescentSettings::for_networks())
        .model(&data, &two())
        .unwrap();
    let at = |model: &Model| truth.similarity(&model.representation).unwrap();
    assert!(
        at(&exact) > at(&descended),
        "{} {}",
        at(&exact),
        at(&descended)
    );
}

#[test]
fn results_do_not_depend_on_threads() {
    let mut truth = world(0.5, 3);
    let data = collect(&mut truth, 700, 400, 5);
    let oracles: [Arc<dyn Trainer>; 2] = [
        Arc::new(neural()),
        Arc::new(joint(DescentSettings {
            epochs: 3,
            ..DescentSettings::for_networks()
        })),
    ];
    for oracle in oracles {
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| oracle.fit(&data, &proposing()).unwrap())
        };
        let (one, four) = (fit(1), fit(4));
        let ((one, folds), (four, others)) = ((one.model, one.folds), (four.model, four.folds));
        assert_eq!(
            serde_json::to_string(&one).unwrap(),
            serde_json::to_string(&four).unwrap()
        );
        assert_eq!(folds, others);
    }
}

#[test]
fn every_optimiser_and_schedule_learns() {
    let mut truth = world(0.2, 4);
    let data = collect(&mut truth, 800, 400, 6);
    for (optimiser, learning_rate) in [
        (Optimiser::Adam, 0.01),
        (Optimiser::AdamW, 0.01),
        (Optimiser::Sgd, 0.1),
    ] {
        for decay in [
            Decay::Constant,
            Decay::Cosine,
            Decay::Step {
                every: 200,
                factor: 0.8,
            },
        ] {
            let oracle = joint(DescentSettings {
                head: taskscout_neural::TargetHead::Solved,
                optimiser,
                learning_rate,
                decay,
                weight_decay: 1e-4,
                batch: 100,
                epochs: 40,
                clip: Some(5.0),
                ..DescentSettings::default()
            });
            let model = oracle.model(&data, &two()).unwrap();
            let similarity = truth.similarity(&model.representation).unwrap();
            assert!(similarity > 0.6, "{optimiser:?} {decay:?}: {similarity}");
        }
    }
}

#[test]
fn a_linear_network_gives_a_matrix() {
    let mut truth = world(0.2, 5);
    let data = collect(&mut truth, 300, 300, 7);
    let oracle = JointGd {
        network: MlpShape {
            hidden: Vec::new(),
            bias: false,
            ..MlpShape::default()
        },
        descent: DescentSettings {
            epochs: 5,
            ..DescentSettings::default()
        },
    };
    let model = oracle.model(&data, &two()).unwrap();
    assert!(model.representation.as_linear().is_some());
    let own = oracle.target_only(&data, &two(), 0).unwrap();
    assert!(own.iter().all(|one| one.predictor.head.is_none()));
}

#[test]
fn training_stops_early_and_says_so() {
    let mut truth = world(1.0, 6);
    let data = collect(&mut truth, 60, 40, 8);
    let oracle = joint(DescentSettings {
        head: taskscout_neural::TargetHead::Solved,
        optimiser: Optimiser::Adam,
        learning_rate: 0.02,
        weight_decay: 0.0,
        batch: 20,
        epochs: 400,
        decay: Decay::Constant,
        clip: None,
        early_stopping: Some(EarlyStopping {
            share: 0.2,
            patience: 5,
        }),
    });
    let model = oracle.model(&data, &two()).unwrap();
    assert!(model.report.objective_history.len() < 400);
    assert!(
        model
            .report
            .notes
            .iter()
            .any(|note| note.contains("stopped"))
    );
}

#[test]
fn divergence_is_reported_with_its_step_and_does_not_end_the_study() {
    let mut truth = world(0.5, 7);
    let wild = joint(DescentSettings {
        learning_rate: 1e4,
        ..DescentSettings::for_networks()
    });
    let data = collect(&mut truth, 200, 100, 9);
    let error = wild.model(&data, &two()).unwrap_err();
    assert!(matches!(error, Error::Diverged { .. }), "{error}");
    assert!(error.to_string().contains("learning_rate"), "{error}");

    let mut study = study(&truth, StrategyKind::Aware, "joint-gd", Arc::new(wild), 1);
    let mut rng = derive(1, Purpose::Target, &[0]);
    study
        .tell_target(0, &truth.sample_target(80, &mut rng).unwrap())
        .unwrap();
    for _ in 0..3 {
        let plan = study.ask(60).unwrap();
        for item in &plan.items {
            let rows = truth.sample(&item.task, item.n, &mut rng).unwrap();
            study.tell(item.id, &rows).unwrap();
        }
    }
    let choice = &study.predictors().unwrap()[0];
    assert_eq!(choice.kind, PredictorKind::TargetOnly);
    assert!(
        choice.reason.contains("diverged at step"),
        "{}",
        choice.reason
    );
    assert_eq!(study.data().source_rows(), 180);
    let last = study.items().last().unwrap();
    assert!(
        last.item.reason.contains("diverged"),
        "{}",
        last.item.reason
    );
}

#[test]
fn the_guard_hands_back_the_network_when_it_is_better() {
    let mut truth = world(0.5, 8);
    let data = collect(&mut truth, 2000, 200, 10);
    let oracle = neural();
    let candidates = oracle
        .fit(&data, &proposing())
        .unwrap()
        .candidates
        .remove(0);
    let choice = guard::average_candidates(&data, 0, candidates, None).unwrap();
    assert_ne!(choice.kind, PredictorKind::TargetOnly, "{}", choice.reason);
    let loss = |kind| truth.target_loss(choice.candidate(kind).unwrap()).unwrap();
    assert!(
        truth.target_loss(choice.predictor().unwrap()).unwrap() < loss(PredictorKind::TargetOnly)
    );
}

#[test]
fn a_study_goes_on_after_loading_as_without() {
    let mut truth = world(0.5, 9);
    let start = |study: &mut Study, truth: &mut taskscout_worlds::Synthetic| {
        let mut rng = derive(5, Purpose::Target, &[0]);
        study
            .tell_target(0, &truth.sample_target(120, &mut rng).unwrap())
            .unwrap();
        round(study, truth, 0);
        round(study, truth, 1);
    };
    fn round(study: &mut Study, truth: &mut taskscout_worlds::Synthetic, round: u64) {
        let plan = study.ask(240).unwrap();
        for item in &plan.items {
            let mut rng = derive(5, Purpose::Collect, &[round, item.id]);
            let rows = truth.sample(&item.task, item.n, &mut rng).unwrap();
            study.tell(item.id, &rows).unwrap();
        }
    }
    let mut whole = study(&truth, StrategyKind::Aware, "neural", Arc::new(neural()), 2);
    start(&mut whole, &mut truth);
    let text = serde_json::to_string(&whole).unwrap();
    let mut loaded: Study = serde_json::from_str(&text).unwrap();
    let error = loaded.ask(240).unwrap_err().to_string();
    assert!(
        error.contains("neural") && error.contains("attach"),
        "{error}"
    );
    loaded.attach_trainer(Arc::new(neural())).unwrap();
    round(&mut whole, &mut truth, 2);
    round(&mut loaded, &mut truth, 2);
    assert_eq!(
        serde_json::to_string(&whole).unwrap(),
        serde_json::to_string(&loaded).unwrap()
    );
    assert_eq!(whole.predictors().unwrap(), loaded.predictors().unwrap());
}

#[test]
fn k_is_chosen_from_the_data_when_not_given() {
    let mut truth = world(0.2, 10);
    let data = collect(&mut truth, 1500, 800, 11);
    let model = neural().model(&data, &TrainContext::default()).unwrap();
    // Two in truth; the network was fitted to the same rows, and may have made a third of their noise.
    assert!((2..=3).contains(&model.dim()), "{}", model.dim());
    assert!(matches!(model.representation, AnyRepresentation::Mlp(_)));
    assert_eq!(model.representation.input_dim(), 5);
}

#[test]
fn settings_that_cannot_be_are_named() {
    let layer = MlpShape {
        hidden: vec![8, 0],
        ..MlpShape::default()
    };
    assert!(layer.validate().unwrap_err().to_string().contains("size 0"));
    let bad = |change: fn(&mut DescentSettings)| {
        let mut settings = DescentSettings::default();
        change(&mut settings);
        settings.validate().unwrap_err().to_string()
    };
    assert!(bad(|s| s.learning_rate = f64::NAN).contains("learning_rate"));
    assert!(bad(|s| s.weight_decay = -1.0).contains("weight_decay"));
    assert!(bad(|s| s.batch = 0).contains("batch"));
    assert!(bad(|s| s.epochs = 0).contains("epochs"));
    assert!(bad(|s| s.clip = Some(0.0)).contains("clip"));
    assert!(
        bad(|s| s.early_stopping = Some(EarlyStopping {
            share: 1.0,
            patience: 1
        }))
        .contains("share")
    );
}

#[test]
fn rows_are_asked_for_by_name_where_only_statistics_were_kept() {
    let data = taskscout::data::TaskData::new(5, 1, 7);
    let error = neural().model(&data, &two()).unwrap_err().to_string();
    assert!(error.contains("rows"), "{error}");
}

/// A forecast of a network has two networks of half of the rows beside it: as good a prediction, the same on any threads.
#[test]
fn forecasts_of_networks_foresee_losses() {
    let foresee = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let work = || {
            let mut world = world(0.3, 4);
            let mut study = study(
                &world,
                StrategyKind::Passive,
                "neural",
                Arc::new(neural()),
                4,
            );
            let mut rng = derive(4, Purpose::Target, &[0]);
            let own = world.sample_target(200, &mut rng).unwrap();
            study.tell_target(0, &own).unwrap();
            run(&mut study, &mut world, &[600, 600], &mut ()).unwrap();
            let request = ForecastRequest::further(&[600, 6000]);
            let forecast = study.forecast(&request).unwrap();
            let shared = &study.predictors().unwrap()[0];
            let shared = shared.candidate(PredictorKind::Shared).unwrap();
            (forecast, world.target_loss(shared).unwrap())
        };
        pool.build().unwrap().install(work)
    };
    let (forecast, loss) = foresee(1);
    let target = &forecast.targets[0];
    let now = target.now;
    assert!(
        (0.5 * now.low..2.0 * now.high).contains(&loss),
        "{loss} {now:?}"
    );
    assert!(target.passive[1].loss.mean < 0.5 * now.mean);
    assert_eq!(forecast.targets, foresee(2).0.targets);
}
