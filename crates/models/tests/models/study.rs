//! Models of studies.

use taskscout::data::Samples;
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::Space;
use taskscout::strategy::{StrategyConfig, StrategyKind};
use taskscout::study::{Study, StudyConfig};
use taskscout::target::Target;
use taskscout::train::PredictorKind;
use taskscout_models::{Basis, SavedModel};

use crate::common::normals;

const D: usize = 12;
const NOISE: f64 = 0.5;

/// Rows of a task: two directions of the state, weighed by the task, and noise; the second output is
/// ten times the first, with noise of its own.
fn collect(task: &[f64], n: usize, outputs: usize, rng: &mut Rng) -> Samples {
    let x = normals(rng, D * n);
    let mut y = Vec::new();
    for row in x.chunks(D) {
        let clean = task[0] * (row[0] - row[3]) + task[1] * (row[1] + row[2]);
        let noise = normals(rng, outputs);
        y.extend((0..outputs).map(|o| 10_f64.powi(o as i32) * (clean + NOISE * noise[o])));
    }
    Samples::new(x, D, y, outputs).unwrap()
}

const TARGET: [f64; 3] = [0.6, 0.8, 0.0];

fn study(outputs: usize, target_rows: usize, seed: u64) -> Study {
    let mut rng = derive(seed, Purpose::Test, &[]);
    let mut study = Study::new(StudyConfig {
        k: Some(2),
        outputs,
        seed,
        ..StudyConfig::new(
            Space::ball(3, 1.0).unwrap(),
            FeatureMap::identity(D).unwrap(),
            vec![Target::unknown("wind")],
            StrategyConfig::new(StrategyKind::Passive),
        )
        .unwrap()
    })
    .unwrap();
    study
        .tell_target(0, &collect(&TARGET, target_rows, outputs, &mut rng))
        .unwrap();
    for item in study.ask(3000).unwrap().items {
        let rows = collect(&item.task, item.n, outputs, &mut rng);
        study.tell(item.id, &rows).unwrap();
    }
    study
}

#[test]
fn a_model_knows_what_the_guard_knows() {
    let study = study(1, 60, 4);
    let choice = &study.predictors().unwrap()[0];
    assert_eq!(choice.kind, PredictorKind::Shared, "{}", choice.reason);
    let model = SavedModel::from_study(&study, choice, "tunnel").unwrap();
    let uncertainty = &model.parts().uncertainty;
    assert_eq!(uncertainty.basis, Basis::Features);
    // R Rᵀ is what the guard knows, widened by how little so few rows tell of the noise.
    let posterior = &choice.posteriors[0];
    assert!((uncertainty.noise[0] - posterior.noise * posterior.t_variance_factor()).abs() < 1e-12);
    let root = &uncertainty.roots[0];
    let expected = faer::Scale(posterior.t_variance_factor()) * &posterior.covariance;
    assert!((root * root.transpose() - expected).norm_max() < 1e-10);

    let provenance = model.provenance();
    assert_eq!(provenance.study, "tunnel");
    assert_eq!(provenance.strategy, "passive");
    assert_eq!(provenance.oracle, "exact");
    assert_eq!(
        (
            provenance.rounds,
            provenance.source_rows,
            provenance.target_rows
        ),
        (1, 3000, 60)
    );
    assert_eq!(provenance.reason, choice.reason);
    let space = &model.parts().tasks.as_ref().unwrap().space;
    assert_eq!(space.as_ref(), Some(&study.config().space));
    // The task that is the target has the target's embedding, nearly.
    let task = model.embedding(&TARGET, 0).unwrap();
    let target = model.target_embedding(0).unwrap();
    let cosine = taskscout::metric::cosine(&task, &target);
    assert!(cosine > 0.98, "{cosine}");
}

/// Of new observations about 68 % lie within one standard deviation and 95 % within two; over 20
/// studies with 500 observations each the shares scatter by a few percent, since each study's noise
/// is estimated from 60 rows.
#[test]
fn intervals_hold_what_they_promise() {
    let (mut one, mut two, mut all) = (0, 0, 0);
    for seed in 0..20 {
        let study = study(1, 60, seed);
        let choice = &study.predictors().unwrap()[0];
        let model = SavedModel::from_study(&study, choice, "tunnel").unwrap();
        let mut rng = derive(seed, Purpose::Test, &[1]);
        let fresh = collect(&TARGET, 500, 1, &mut rng);
        let found = model.predict(fresh.inputs()).unwrap();
        for (prediction, y) in found.iter().zip(fresh.outputs()) {
            let distance = (prediction.mean - y).abs() / prediction.std;
            one += usize::from(distance < 1.0);
            two += usize::from(distance < 2.0);
            all += 1;
        }
    }
    let (one, two) = (
        f64::from(one as u32) / f64::from(all),
        f64::from(two as u32) / f64::from(all),
    );
    assert!((one - 0.683).abs() < 0.05, "{one}");
    assert!((two - 0.954).abs() < 0.03, "{two}");
}

#[test]
fn outputs_of_different_size_have_noise_of_their_own() {
    let study = study(2, 200, 2);
    let choice = &study.predictors().unwrap()[0];
    let model = SavedModel::from_study(&study, choice, "tunnel").unwrap();
    let noise = &model.parts().uncertainty.noise;
    assert!((noise[0] / (NOISE * NOISE) - 1.0).abs() < 0.4, "{noise:?}");
    assert!(
        (noise[1] / (100.0 * NOISE * NOISE) - 1.0).abs() < 0.4,
        "{noise:?}"
    );
    assert_eq!(
        model,
        SavedModel::from_bytes(&model.to_bytes().unwrap()).unwrap()
    );
}

#[test]
fn the_target_alone_makes_a_model_too() {
    let mut alone = Study::new(study(1, 60, 1).config().clone()).unwrap();
    let mut rng = derive(0, Purpose::Test, &[2]);
    alone
        .tell_target(0, &collect(&TARGET, 100, 1, &mut rng))
        .unwrap();
    let choice = &alone.target_only().unwrap()[0];
    let model = SavedModel::from_study(&alone, choice, "tunnel").unwrap();
    assert!(model.parts().tasks.is_none() && model.parts().representation.is_none());
    assert_eq!(model.parts().uncertainty.basis, Basis::Features);
    assert_eq!(model.parts().uncertainty.roots[0].nrows(), D);
    let message = model.embedding(&TARGET, 0).unwrap_err().to_string();
    assert!(message.contains("knows its target only"), "{message}");
    // Far from the data the mean is less certain; at the origin nothing is left but noise.
    let near = model.predict(&[0.0; D]).unwrap()[0];
    let far = model.predict(&[9.0; D]).unwrap()[0];
    assert!(near.model_std < 1e-12 && far.model_std > 1.0);
    assert!(far.std > far.model_std);
}

#[test]
fn a_choice_of_another_study_is_refused() {
    let study = study(1, 60, 4);
    let mut choice = study.predictors().unwrap()[0].clone();
    choice.target = "other".into();
    let message = SavedModel::from_study(&study, &choice, "x")
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("the study has no target `other`"),
        "{message}"
    );
}
