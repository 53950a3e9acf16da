//! What the learnt models are worth to a controller.

use std::collections::BTreeMap;

use faer::MatRef;
use rayon::prelude::*;
use serde::Serialize;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::train::Predictor;
use taskscout_worlds::pendulum::{
    CONTROL_SECONDS, ControlRun, Environment, STARTS, State, control,
};

use crate::error::Result;

/// Controllers without a learnt model.
pub(super) const NO_MODEL: &str = "no model";
pub(super) const TRUE_MODEL: &str = "true f";

/// How well a controller did, in the mean over starts and seeds; no numbers if every run was lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Score {
    /// Mean of |θ| over 20 s.
    pub(super) mean_angle: f64,
    /// Root mean square of (θ, θ̇) over 20 s.
    pub(super) rms: f64,
    /// Mean of |θ| over the last half of the run.
    pub(super) settled_angle: f64,
    /// Runs that left the state space of the model: the pendulum ran away.
    pub(super) lost: usize,
}

/// Controllers by name, in the order in which they are shown, with their models: none for no
/// model, and one for each seed.
pub(super) type Controllers<'a> = Vec<(String, Vec<&'a Predictor>)>;

/// Scores of all controllers on one target.
pub(super) fn scores(
    environment: &Environment,
    features: &FeatureMap,
    controllers: &Controllers<'_>,
) -> Result<Vec<(String, Score)>> {
    let all = |model: &(dyn Fn(f64, f64) -> f64 + Sync)| -> Vec<Option<ControlRun>> {
        let run = |start: &State| control(environment, &model, *start, CONTROL_SECONDS).ok();
        STARTS.par_iter().map(run).collect()
    };
    let mut scores = vec![(NO_MODEL.to_owned(), score(&all(&|_, _| 0.0)))];
    for (name, models) in controllers {
        let runs: Vec<Option<ControlRun>> = models
            .par_iter()
            .flat_map(|model| all(&|angle, velocity| torque(model, features, angle, velocity)))
            .collect();
        scores.push((name.clone(), score(&runs)));
    }
    let truth = all(&|angle, velocity| environment.residual(angle, velocity));
    scores.push((TRUE_MODEL.to_owned(), score(&truth)));
    Ok(scores)
}

fn score(runs: &[Option<ControlRun>]) -> Score {
    let kept: Vec<&ControlRun> = runs.iter().flatten().collect();
    let lost = runs.len() - kept.len();
    if kept.is_empty() {
        // Zeros would be the best score of all.
        return Score {
            mean_angle: f64::NAN,
            rms: f64::NAN,
            settled_angle: f64::NAN,
            lost,
        };
    }
    let share = 1.0 / kept.len() as f64;
    let mut score = Score {
        lost,
        ..Score::default()
    };
    for run in kept {
        let angles = &run.trajectory.angles_rad;
        let late = &angles[angles.len() / 2..];
        let settled = late.iter().map(|angle| angle.abs()).sum::<f64>() / late.len() as f64;
        score.mean_angle += share * run.mean_angle_rad;
        score.rms += share * run.rms;
        score.settled_angle += share * settled;
    }
    score
}

/// One run of each controller from one start, for pictures: the first seed's model.
pub(super) fn runs(
    environment: &Environment,
    features: &FeatureMap,
    controllers: &Controllers<'_>,
    start: State,
) -> Vec<(String, ControlRun)> {
    let mut runs = BTreeMap::new();
    let mut order = vec![NO_MODEL.to_owned()];
    let mut keep = |name: &str, run: taskscout::Result<ControlRun>| {
        if let Ok(run) = run {
            runs.insert(name.to_owned(), run);
        }
    };
    keep(
        NO_MODEL,
        control(environment, &|_, _| 0.0, start, CONTROL_SECONDS),
    );
    for (name, models) in controllers {
        if let Some(model) = models.first() {
            let torque = |angle, velocity| torque(model, features, angle, velocity);
            keep(name, control(environment, &torque, start, CONTROL_SECONDS));
            order.push(name.clone());
        }
    }
    let truth = |angle, velocity| environment.residual(angle, velocity);
    keep(
        TRUE_MODEL,
        control(environment, &truth, start, CONTROL_SECONDS),
    );
    order.push(TRUE_MODEL.to_owned());
    let named = |name: String| runs.remove(&name).map(|run| (name, run));
    order.into_iter().filter_map(named).collect()
}

/// A model's residual torque; one that is no number counts as none.
fn torque(model: &Predictor, features: &FeatureMap, angle: f64, velocity: f64) -> f64 {
    let mut row = vec![0.0; features.dim()];
    features.apply(&[angle, velocity], &mut row);
    let row = MatRef::from_row_major_slice(&row, 1, features.dim());
    let torque = model.predict(row).ok().and_then(|y| y.first().copied());
    torque.filter(|y| y.is_finite()).unwrap_or(0.0)
}
