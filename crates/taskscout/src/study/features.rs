//! Copies of a study that see the same rows through other features, and which of them predict best.

use faer::Mat;
use rayon::prelude::*;

use super::Study;
use super::fits::Cache;
use crate::error::{Error, Result};
use crate::features::{FeatureMap, Features as _};
use crate::model::Linear;
use crate::target::TargetParameters;
use crate::train::{AveragedPredictor, JointRidge, TrainContext};

/// Unknowns of a full map from task features to input features above which no score is computed.
const MAX_FORECAST_UNKNOWNS: usize = 4_000;

/// What more features have to gain in log density over fewer ones. Chosen among 0, 1, 3 and 5 on seven simulators
/// (docs/explanation/feature-choice.md).
const CLEARLY_BETTER: f64 = 5.0;

/// The part of an error on held-out rows that is clearly less than it.
const CLEARLY_LESS: f64 = 0.6;

impl Study {
    /// A copy that relates tasks by other features. It is for plans, models and forecasts; rows are told to the study itself.
    ///
    /// ```
    /// use taskscout::prelude::*;
    /// let study = Study::builder(Space::boxed(vec![0.0, -1.0], vec![12.0, 1.0])?)
    ///     .inputs(3)
    ///     .target(Target::unknown("tomorrow"))
    ///     .build()?;
    /// let curved = study.with_task_features(FeatureMap::polynomial(2, 2, true)?)?;
    /// assert_eq!(curved.config().task_features.dim(), 6);
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Features that do not fit the space, or a target that is a distribution, which is given in features of its own.
    pub fn with_task_features(&self, map: FeatureMap) -> Result<Self> {
        let is_distribution =
            |kind: &TargetParameters| matches!(kind, TargetParameters::Distribution { .. });
        if self
            .config
            .targets
            .iter()
            .any(|target| is_distribution(&target.kind))
        {
            return Err(Error::setting(
                "task_features",
                "cannot be exchanged where a target is a distribution, whose moments are those of one map",
            ));
        }
        let mut copy = self.clone();
        copy.config.task_features = map;
        copy.config.validate()?;
        let targets =
            (0..copy.config.targets.len()).map(|index| copy.config.target_features(index));
        let targets = targets.collect();
        copy.data = self
            .data
            .with_task_features(|task| copy.config.features_of(task), targets)?;
        // It names tasks by their place in a design of the other features.
        copy.exploration = None;
        copy.cache = Cache::default();
        Ok(copy)
    }

    /// A copy that sees only the first features of an input: those of a polynomial of a lower degree.
    ///
    /// # Errors
    /// Features that are not the first ones of the study's own, or a study that keeps rows.
    pub fn with_input_features(&self, map: FeatureMap) -> Result<Self> {
        if self.data.keeps_rows() {
            return Err(Error::setting(
                "input_features",
                "cannot be exchanged where rows are kept for a network, which learns features of its own",
            ));
        }
        if !begins_with(&self.config.input_features, &map) {
            return Err(Error::setting(
                "input_features",
                "must be a polynomial of a lower degree than the study's own, with a constant like it",
            ));
        }
        let mut copy = self.clone();
        let (all, kept) = (self.config.input_features.dim(), map.dim());
        copy.config.input_features = map;
        copy.config.validate()?;
        if kept < all {
            let first = Mat::<f64>::identity(all, kept);
            copy.data = self.data.transformed_by(&Linear::new(first.as_ref())?)?;
        }
        copy.cache = Cache::default();
        Ok(copy)
    }

    /// A copy in the features of tasks and of inputs that predict best; where only one of each is given it is that one,
    /// and where none are given the study's own. Features of tasks are those of the best score
    /// ([`Study::feature_score`]), where more features have to be clearly better than fewer, and so are those of inputs,
    /// unless others clearly err less on rows of the targets that they had not seen. Maps that do not fit are left out:
    /// features of tasks where a target is a distribution, features that are fewer than `k`.
    ///
    /// # Errors
    /// A single pair that does not fit.
    pub fn with_best_features(&self, tasks: &[FeatureMap], inputs: &[FeatureMap]) -> Result<Self> {
        let own = &self.config;
        let or_own = |maps: &[FeatureMap], own: &FeatureMap| match maps {
            [] => vec![own.clone()],
            _ => maps.to_vec(),
        };
        let tasks = or_own(tasks, &own.task_features);
        let inputs = or_own(inputs, &own.input_features);
        if let ([tasks], [inputs]) = (&tasks[..], &inputs[..]) {
            return in_features(self, tasks, inputs);
        }
        let pairs: Vec<(&FeatureMap, &FeatureMap)> = tasks
            .iter()
            .flat_map(|tasks| inputs.iter().map(move |inputs| (tasks, inputs)))
            .collect();
        let scored: Vec<(Self, f64)> = pairs
            .par_iter()
            .filter_map(|(tasks, inputs)| {
                let copy = in_features(self, tasks, inputs).ok()?;
                let score = copy.feature_score().ok()??;
                Some((copy, score))
            })
            .collect();
        let mut best: Vec<(Self, f64)> = Vec::new();
        for (copy, score) in scored {
            let inputs =
                |known: &(Self, f64)| known.0.config.input_features == copy.config.input_features;
            match best.iter_mut().find(|known| inputs(known)) {
                Some(known)
                    if score > known.1 + margin(task_features(&copy), task_features(&known.0)) =>
                {
                    *known = (copy, score);
                }
                Some(_) => {}
                None => best.push((copy, score)),
            }
        }
        best.sort_by(|a, b| b.1.total_cmp(&a.1));
        fewest_first(&mut best);
        // The sources outnumber the target by far, and may ask for more than its few rows can bear.
        let errors: Vec<Option<f64>> = match best.len() {
            0 | 1 => vec![None; best.len()],
            _ => best
                .par_iter()
                .map(|(copy, _)| copy.held_out_error())
                .collect(),
        };
        let first = errors.first().copied().flatten();
        let better = |error: f64| first.is_some_and(|first| error < CLEARLY_LESS * first);
        let least = (1..best.len())
            .filter_map(|index| Some((index, errors[index].filter(|error| better(*error))?)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let chosen = least.map_or(0, |(index, _)| index);
        Ok(match best.is_empty() {
            true => self.clone(),
            false => best.swap_remove(chosen).0,
        })
    }

    /// The mean squared error of the targets' predictors on rows that they had not seen; none where there are too few.
    fn held_out_error(&self) -> Option<f64> {
        let all = self.predictors().ok()?;
        let error = |predictor: &AveragedPredictor| -> Option<f64> {
            let weighted = predictor.candidates.iter().zip(&predictor.weights);
            weighted
                .filter(|(_, weight)| **weight > 0.0)
                .map(|(candidate, weight)| Some(weight * candidate.held_out_error?))
                .sum()
        };
        let errors: Vec<f64> = all.iter().map(error).collect::<Option<_>>()?;
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    }

    /// Takes in what happened to a study since this copy was made of it, where no rows came: plans, items, notes.
    /// What was learnt from the rows stays.
    pub fn follow(&mut self, study: &Self) {
        self.events.clone_from(&study.events);
        self.items.clone_from(&study.items);
        self.rounds = study.rounds;
        self.starts.clone_from(&study.starts);
        self.notes.clone_from(&study.notes);
        self.config.collection.clone_from(&study.config.collection);
    }

    /// How well new rows of the same tasks would be predicted with the features of the study, as a log density:
    /// to compare copies with other features. Nothing where there are no source rows, where rows are kept for a
    /// network, or where the features are too many.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn feature_score(&self) -> Result<Option<f64>> {
        let unknowns = self.data.feature_dim() * self.data.task_dim();
        if self.data.source_rows() == 0
            || self.data.keeps_rows()
            || unknowns > MAX_FORECAST_UNKNOWNS
        {
            return Ok(None);
        }
        let context = TrainContext {
            k: self.config.k,
            ..TrainContext::default()
        };
        JointRidge::default()
            .predictive_score(&self.data, &context)
            .map(Some)
    }
}

/// Puts the copy with the fewest features of inputs first, of those that are not clearly worse than the best.
fn fewest_first(best: &mut [(Study, f64)]) {
    let most = best.first().map_or(0.0, |first| first.1);
    let fewest = (0..best.len())
        .filter(|index| best[*index].1 > most - CLEARLY_BETTER)
        .min_by_key(|index| best[*index].0.config.input_features.dim());
    if let Some(fewest) = fewest {
        best[..=fewest].rotate_right(1);
    }
}

/// How many features of tasks a study has.
fn task_features(study: &Study) -> usize {
    study.config.task_features.dim()
}

/// By how much so many features have to do better than others: more have to be worth it.
fn margin(features: usize, others: usize) -> f64 {
    match features.cmp(&others) {
        std::cmp::Ordering::Greater => CLEARLY_BETTER,
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Less => -CLEARLY_BETTER,
    }
}

/// A copy of a study in a pair of maps.
fn in_features(study: &Study, tasks: &FeatureMap, inputs: &FeatureMap) -> Result<Study> {
    let config = &study.config;
    let related = match *tasks == config.task_features {
        true => study.clone(),
        false => study.with_task_features(tasks.clone())?,
    };
    match *inputs == config.input_features {
        true => Ok(related),
        false => related.with_input_features(inputs.clone()),
    }
}

/// Whether the features of a map begin with those of another.
fn begins_with(map: &FeatureMap, first: &FeatureMap) -> bool {
    match (map, first) {
        (FeatureMap::Polynomial(all), FeatureMap::Polynomial(first)) => {
            all.input_dim() == first.input_dim()
                && all.constant() == first.constant()
                && all.degree() >= first.degree()
        }
        _ => map == first,
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::data::Samples;
    use crate::rng::{Purpose, Rng, derive};
    use crate::space::Space;
    use crate::strategy::{StrategyConfig, StrategyKind};
    use crate::study::StudyConfig;
    use crate::target::Target;
    use crate::task::Task;

    /// Rows of the task `w`, whose slopes are `1 + w²` and `w`.
    fn rows(w: f64, n: usize, rng: &mut Rng) -> Samples {
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let x: Vec<f64> = (0..2 * n).map(|_| normal()).collect();
        let y = x
            .chunks(2)
            .map(|x| (1.0 + w * w) * x[0] + w * x[1] + 0.1 * normal())
            .collect();
        Samples::new(x, 2, y, 1).unwrap()
    }

    fn study(tasks: FeatureMap, inputs: FeatureMap) -> Study {
        let rng = &mut derive(4, Purpose::Test, &[]);
        let space = Space::boxed(vec![-1.0], vec![1.0]).unwrap();
        let strategy = StrategyConfig::new(StrategyKind::Passive);
        let mut study = Study::new(StudyConfig {
            task_features: tasks,
            ..StudyConfig::new(space, inputs, vec![Target::unknown("t")], strategy).unwrap()
        })
        .unwrap();
        study.tell_target(0, &rows(0.4, 20, rng)).unwrap();
        for step in 0..9 {
            let w = f64::from(step) / 4.0 - 1.0;
            study.add(&Task::point(vec![w]), &rows(w, 20, rng)).unwrap();
        }
        study
    }

    fn polynomial(dim: usize, degree: u32) -> FeatureMap {
        FeatureMap::polynomial(dim, degree, true).unwrap()
    }

    #[test]
    fn a_copy_learns_what_a_study_with_its_features_learns() {
        let other = study(polynomial(1, 1), polynomial(2, 2));
        let copy = other
            .with_task_features(polynomial(1, 2))
            .and_then(|copy| copy.with_input_features(polynomial(2, 1)))
            .unwrap();
        let own = study(polynomial(1, 2), polynomial(2, 1));
        let predict = |study: &Study| {
            let row = Mat::from_fn(1, 3, |_, j| [1.0, 0.3, -0.7][j]);
            let choice = study.predictors().unwrap()[0].clone();
            choice.predictor().unwrap().predict(row.as_ref()).unwrap()[0]
        };
        let (copied, known) = (predict(&copy), predict(&own));
        assert!((copied - known).abs() < 1e-9, "{copied} {known}");
    }

    #[test]
    fn the_features_of_the_truth_are_chosen() {
        let poor = study(polynomial(1, 1), polynomial(2, 2));
        let tasks: Vec<FeatureMap> = (1..4).map(|degree| polynomial(1, degree)).collect();
        let inputs = [polynomial(2, 1), polynomial(2, 2)];
        let chosen = poor.with_best_features(&tasks, &inputs).unwrap();
        assert_eq!(chosen.config().task_features, tasks[1]);
        assert_eq!(chosen.config().input_features, inputs[0]);
    }

    #[test]
    fn features_that_do_not_fit_are_refused() {
        let study = study(polynomial(1, 1), polynomial(2, 1));
        assert!(study.with_task_features(polynomial(2, 1)).is_err());
        assert!(study.with_input_features(polynomial(2, 2)).is_err());
        let moment = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
        let config = StudyConfig {
            targets: vec![Target::distribution("season", moment)],
            ..study.config().clone()
        };
        let season = Study::new(config).unwrap();
        let refused = season.with_task_features(polynomial(1, 2)).unwrap_err();
        assert!(refused.to_string().contains("distribution"), "{refused}");
        // There is one map only that fits, so it serves.
        let kept = season.with_best_features(&[polynomial(1, 1), polynomial(1, 2)], &[]);
        assert_eq!(kept.unwrap().config().task_features, polynomial(1, 1));
    }
}
