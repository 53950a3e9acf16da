//! The guard: it must not peek, and transfer must not cost more than it gives.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::sync::Arc;

use crate::common::{Collected, Truth, matrix_bits, normals, rng, rows, unit};
use faer::Mat;

use taskscout::Error;
use taskscout::data::{Samples, TARGET_FOLD_COUNT, TaskData};
use taskscout::metric::target_loss;
use taskscout::rng::Rng;
use taskscout::space::Space;
use taskscout::study::{External, Study};
use taskscout::target::Target;
use taskscout::train::{
    AveragedPredictor, JointRidge, PredictorKind, TrainContext, TrainOutput, Trainer, guard,
};

const D: usize = 15;
const K: usize = 2;
/// Six source task features and the target's own.
const P: usize = 7;
const NOISE: f64 = 0.5;

fn sources(truth: &Truth, rng: &mut Rng) -> Collected {
    let mut collected = Collected::new(D, truth.outputs(), P);
    for _ in 0..10 {
        let mut features = normals(P, rng);
        features[P - 1] = 0.0;
        let rows = truth.rows(&features, 60, rng);
        collected.source(&features, rows);
    }
    collected
}

fn context(k: usize) -> TrainContext {
    TrainContext {
        k: Some(k),
        candidate_targets: vec![0],
        ..TrainContext::default()
    }
}

fn choose(collected: &Collected, k: usize) -> taskscout::Result<AveragedPredictor> {
    let fitted = JointRidge::default().fit(&collected.data, &context(k))?;
    let candidates = fitted.candidates.into_iter().flatten().collect();
    guard::average_candidates(&collected.data, 0, candidates, None)
}

/// Sources that share a subspace, and `n` rows of a target inside or outside of it, with the
/// target's true coefficients.
fn world(seed: u64, related: bool, n: usize) -> (Collected, Vec<f64>) {
    let rng = &mut rng(seed);
    let truth = Truth::draw(D, K, P, 1, NOISE, rng);
    let mut collected = sources(&truth, rng);
    let beta = if related {
        truth.coefficients(&unit(P, P - 1)).remove(0)
    } else {
        // What the sources' subspace does not hold of a random vector.
        let random = Mat::from_fn(D, 1, |_, _| normals(1, rng)[0]);
        let left = &random - &truth.representation * (truth.representation.transpose() * &random);
        (0..D).map(|i| left[(i, 0)]).collect()
    };
    let batch = rows(std::slice::from_ref(&beta), n, NOISE, rng);
    collected.target(&unit(P, P - 1), batch);
    (collected, beta)
}

fn loss(choice: &AveragedPredictor, kind: PredictorKind, beta: &[f64]) -> f64 {
    let coefficients = &choice.candidate(kind).unwrap().coefficients[0];
    target_loss(coefficients, beta, Mat::<f64>::identity(D, D).as_ref()).unwrap()
}

/// Loss of what is handed back.
fn returned_loss(choice: &AveragedPredictor, beta: &[f64]) -> f64 {
    let coefficients = &choice.predictor().unwrap().coefficients[0];
    target_loss(coefficients, beta, Mat::<f64>::identity(D, D).as_ref()).unwrap()
}

/// The same rows with garbage labels in the rows `from..to`.
fn garbled(rows: &Samples, from: usize, to: usize) -> Samples {
    let mut outputs = rows.outputs().to_vec();
    for (index, y) in outputs[from..to].iter_mut().enumerate() {
        *y = 50.0 * (index as f64).sin() - 3.0 * *y;
    }
    Samples::new(
        rows.inputs().to_vec(),
        rows.input_dim(),
        outputs,
        rows.output_dim(),
    )
    .unwrap()
}

#[test]
fn a_fold_left_out_is_not_seen() {
    let rng = &mut rng(1);
    let truth = Truth::draw(D, K, P, 1, NOISE, rng);
    let plain = sources(&truth, rng);
    let batch = truth.rows(&unit(P, P - 1), 40, rng);
    let fit = |batch: Samples| {
        let mut collected = plain.clone();
        collected.target(&unit(P, P - 1), batch);
        let fitted = JointRidge::default()
            .fit(&collected.data, &context(K))
            .unwrap();
        let (model, folds) = (fitted.model, fitted.folds);
        let folds: Vec<Vec<u64>> = folds
            .iter()
            .map(|fold| matrix_bits(fold.representation.as_linear().unwrap().matrix()))
            .collect();
        (collected, model, folds)
    };
    let (honest, model, representations) = fit(batch.clone());
    assert_eq!(representations.len(), TARGET_FOLD_COUNT);
    let mut spoilt = [false; TARGET_FOLD_COUNT];
    for block in 0..4 {
        let (changed, other, others) = fit(garbled(&batch, 10 * block, 10 * (block + 1)));
        let folds = |collected: &Collected| collected.data.targets()[0].folds.clone();
        let differs: Vec<bool> = folds(&honest)
            .iter()
            .zip(&folds(&changed))
            .map(|(a, b)| a != b)
            .collect();
        assert_eq!(differs.iter().filter(|&&differs| differs).count(), 1);
        for fold in 0..TARGET_FOLD_COUNT {
            assert_eq!(
                representations[fold] == others[fold],
                differs[fold],
                "block {block}, fold {fold}"
            );
            spoilt[fold] |= differs[fold];
        }
        assert_ne!(
            matrix_bits(model.representation.as_linear().unwrap().matrix()),
            matrix_bits(other.representation.as_linear().unwrap().matrix())
        );
    }
    assert_eq!(spoilt, [true; TARGET_FOLD_COUNT]);
}

#[test]
fn the_guard_knows_when_transfer_helps() {
    let shared = [PredictorKind::Shared, PredictorKind::SharedResidual];
    for seed in 0..6 {
        let (related, _) = world(seed, true, 24);
        let choice = choose(&related, K).unwrap();
        assert!(shared.contains(&choice.kind), "{seed}: {}", choice.reason);
        assert!(
            choice
                .reason
                .starts_with(&format!("{} predicts", choice.kind)),
            "{}",
            choice.reason
        );
        let (unrelated, _) = world(seed, false, 400);
        let choice = choose(&unrelated, K).unwrap();
        assert_eq!(
            choice.kind,
            PredictorKind::TargetOnly,
            "{seed}: {}",
            choice.reason
        );
        assert!(
            choice
                .reason
                .starts_with(&format!("{} predicts", choice.kind)),
            "{}",
            choice.reason
        );
    }
}

#[test]
fn what_is_handed_back_is_not_worse_than_the_target_alone() {
    for (related, n) in [(true, 24), (true, 100), (false, 60), (false, 400)] {
        let (mut returned, mut alone) = (0.0, 0.0);
        for seed in 0..12 {
            let (collected, beta) = world(100 + seed, related, n);
            let choice = choose(&collected, K).unwrap();
            returned += returned_loss(&choice, &beta);
            alone += loss(&choice, PredictorKind::TargetOnly, &beta);
        }
        assert!(
            returned < 1.05 * alone,
            "related {related}, {n} rows: {returned} {alone}"
        );
        if related {
            assert!(returned < 0.6 * alone, "{n} rows: {returned} {alone}");
        }
    }
}

/// Held-out errors lie near the noise plus the true loss, not near the errors on seen rows.
#[test]
fn held_out_errors_are_honest() {
    let (mut reported, mut actual) = (0.0, 0.0);
    for seed in 0..8 {
        let (collected, beta) = world(200 + seed, true, 60);
        let choice = choose(&collected, K).unwrap();
        for candidate in &choice.candidates {
            reported += candidate.held_out_error.unwrap();
            actual += NOISE * NOISE + loss(&choice, candidate.kind, &beta);
        }
    }
    // A quarter of the rows is missing from every fold's fit, so the report is on the high side.
    let ratio = reported / actual;
    assert!((0.9..1.3).contains(&ratio), "{ratio}");
}

#[test]
fn too_few_rows_fall_back_with_a_reason() {
    for n in [1, 2, 3] {
        let (collected, _) = world(3, true, n);
        let choice = choose(&collected, K).unwrap();
        assert_eq!(choice.kind, PredictorKind::Shared);
        assert!(
            choice
                .reason
                .starts_with(&format!("{n} target rows are too few")),
            "{}",
            choice.reason
        );
        assert!(
            choice.reason.contains("shared predictor"),
            "{}",
            choice.reason
        );
        assert!(
            choice
                .candidates
                .iter()
                .all(|candidate| candidate.held_out_error.is_none())
        );
        assert_eq!(
            choice.predictor().map(|predictor| predictor.kind),
            Some(PredictorKind::Shared)
        );
    }
    let (collected, _) = world(3, true, 4);
    assert!(
        choose(&collected, K)
            .unwrap()
            .candidates
            .iter()
            .all(|candidate| candidate.held_out_error.is_some())
    );
}

#[test]
fn a_target_without_rows_or_without_a_place_is_refused() {
    let rng = &mut rng(4);
    let truth = Truth::draw(D, K, P, 1, NOISE, rng);
    let mut collected = sources(&truth, rng);
    collected.data.add_target("empty", unit(P, P - 1)).unwrap();
    let error = choose(&collected, K).unwrap_err();
    assert!(
        matches!(&error, Error::State(message) if message.contains("`empty` has no samples")),
        "{error}"
    );
    let error = guard::average_candidates(&collected.data, 1, Vec::new(), None).unwrap_err();
    assert!(matches!(error, Error::State(_)), "{error}");
}

/// Every direction of the representation rests on the single target row that a fold leaves out.
#[test]
fn a_fold_without_the_only_row_still_gives_a_representation() {
    let rng = &mut rng(5);
    let truth = Truth::draw(6, 3, 3, 1, 0.1, rng);
    let mut collected = Collected::new(6, 1, 3);
    for index in 0..2 {
        let rows = truth.rows(&unit(3, index), 30, rng);
        collected.source(&unit(3, index), rows);
    }
    let row = truth.rows(&unit(3, 2), 1, rng);
    collected.target(&unit(3, 2), row);
    let choice = choose(&collected, 3).unwrap();
    assert!(
        choice.reason.starts_with("1 target rows are too few"),
        "{}",
        choice.reason
    );
}

#[test]
fn several_outputs_are_judged_together() {
    let rng = &mut rng(6);
    let truth = Truth::draw(D, K, P, 2, NOISE, rng);
    let mut collected = sources(&truth, rng);
    let batch = truth.rows(&unit(P, P - 1), 24, rng);
    collected.target(&unit(P, P - 1), batch);
    let choice = choose(&collected, K).unwrap();
    assert_ne!(choice.kind, PredictorKind::TargetOnly, "{}", choice.reason);
    let predictor = choice.predictor().unwrap();
    assert_eq!(predictor.coefficients.len(), 2);
    for (learnt, truth) in predictor
        .coefficients
        .iter()
        .zip(truth.coefficients(&unit(P, P - 1)))
    {
        let loss = target_loss(learnt, &truth, Mat::<f64>::identity(D, D).as_ref()).unwrap();
        assert!(loss < 0.1, "{loss}");
    }
}

/// A trainer that proposes nothing would leave its targets without a predictor.
#[derive(Debug)]
struct Silent;

impl Trainer for Silent {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> taskscout::Result<TrainOutput> {
        Ok(JointRidge::default().model(data, context)?.into())
    }
}

#[test]
fn a_trainer_without_proposals_is_told_what_to_do() {
    let trainer = External::new("silent", &(), Arc::new(Silent)).unwrap();
    let mut study = Study::builder(Space::ball(P, 1.0).unwrap())
        .inputs(D)
        .target(Target::unknown("tomorrow"))
        .trainer(trainer)
        .k(K)
        .build()
        .unwrap();
    let rng = &mut rng(9);
    let truth = Truth::draw(D, K, P, 1, NOISE, rng);
    study
        .tell_target(0, &truth.rows(&unit(P, 0), 12, rng))
        .unwrap();
    for item in study.ask(200).unwrap().items {
        let rows = truth.rows(&item.task, item.n, rng);
        study.tell(item.id, &rows).unwrap();
    }
    study.model().unwrap();
    let message = study.predictors().unwrap_err().to_string();
    let says = "`silent` proposed predictors for 0 of 1 targets: let it make its `TrainOutput` by";
    assert!(message.contains(says), "{message}");
}
