//! Whether a study notices that its task features do not suffice.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use rand_distr::{Distribution as _, StandardNormal};
use taskscout::data::Samples;
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::Space;
use taskscout::strategy::{StrategyConfig, StrategyKind};
use taskscout::study::{Study, StudyConfig};
use taskscout::target::Target;

const PARAMETERS: usize = 4;
const DIRECTIONS: usize = 2;

/// Tasks in a box, a truth that is affine in them, on `features` features of an input.
struct World {
    features: usize,
    directions: Vec<f64>,
    heads: Vec<f64>,
}

fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(rng)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

impl World {
    fn new(features: usize, seed: u64) -> Self {
        let rng = &mut derive(seed, Purpose::World, &[]);
        let scale = (features as f64).sqrt();
        let directions = normals(features * DIRECTIONS, rng);
        Self {
            features,
            directions: directions.iter().map(|value| value / scale).collect(),
            heads: normals(DIRECTIONS * (PARAMETERS + 1), rng),
        }
    }

    fn sample(&self, task: &[f64], n: usize, rng: &mut Rng) -> Samples {
        let mut psi = task.to_vec();
        psi.push(1.0);
        let x = normals(n * self.features, rng);
        let mut y = normals(n, rng);
        for (x, y) in x.chunks(self.features).zip(&mut y) {
            let directions = self.directions.chunks(self.features);
            let heads = self.heads.chunks(PARAMETERS + 1);
            let pairs = directions.zip(heads);
            *y = 0.5 * *y + pairs.map(|(b, c)| dot(x, b) * dot(c, &psi)).sum::<f64>();
        }
        Samples::new(x, self.features, y, 1).unwrap()
    }

    /// A passive study of so many rounds with task features of a degree.
    fn study(&self, task_features: FeatureMap, rounds: usize, budget: usize, seed: u64) -> Study {
        let mut study = Study::new(StudyConfig {
            task_features,
            k: Some(DIRECTIONS),
            seed,
            ..StudyConfig::new(
                Space::boxed(vec![-1.0; PARAMETERS], vec![1.0; PARAMETERS]).unwrap(),
                FeatureMap::identity(self.features).unwrap(),
                vec![Target::unknown("tomorrow")],
                StrategyConfig::new(StrategyKind::Passive),
            )
            .unwrap()
        })
        .unwrap();
        for round in 0..rounds {
            for item in study.ask(budget).unwrap().items {
                let rng = &mut derive(seed, Purpose::Collect, &[round as u64, item.id]);
                let rows = self.sample(&item.task, item.n, rng);
                study.tell(item.id, &rows).unwrap();
            }
        }
        study
    }
}

#[test]
fn a_study_names_what_its_features_lack() {
    for seed in 0..5 {
        let world = World::new(10, seed);
        let linear = FeatureMap::identity(PARAMETERS).unwrap();
        let misfit = world.study(linear, 2, 800, seed).misfit().unwrap().unwrap();
        assert!(misfit.is_serious(), "{seed}: {misfit:?}");
        assert_eq!(misfit.remedies[0].feature, "1", "{seed}: {misfit}");
        // The remedy is what one puts into the features.
        let mut exponents: Vec<Vec<u32>> = (0..PARAMETERS)
            .map(|i| (0..PARAMETERS).map(|j| u32::from(i == j)).collect())
            .collect();
        exponents.push(misfit.remedies[0].exponents.clone());
        let mended = FeatureMap::monomials(PARAMETERS, exponents).unwrap();
        assert_eq!(
            apply_row(&mended, &[0.1, 0.2, 0.3, 0.4])[4].to_bits(),
            1.0_f64.to_bits()
        );
        let misfit = world.study(mended, 2, 800, seed).misfit().unwrap().unwrap();
        assert!(!misfit.is_serious(), "{seed}: {misfit:?}");
    }
}

/// More unknowns than can be solved for on the features: those of the representation serve.
#[test]
fn many_features_are_judged_through_the_representation() {
    for seed in 0..3 {
        let world = World::new(300, seed);
        let linear = FeatureMap::identity(PARAMETERS).unwrap();
        let misfit = world
            .study(linear, 2, 4_000, seed)
            .misfit()
            .unwrap()
            .unwrap();
        assert!(misfit.is_serious(), "{seed}: {misfit:?}");
        assert_eq!(misfit.remedies[0].feature, "1", "{seed}: {misfit}");
        let affine = FeatureMap::polynomial(PARAMETERS, 1, true).unwrap();
        assert_eq!(affine.dim(), PARAMETERS + 1);
        let misfit = world
            .study(affine, 2, 4_000, seed)
            .misfit()
            .unwrap()
            .unwrap();
        assert!(!misfit.is_serious(), "{seed}: {misfit:?}");
    }
}

#[test]
fn a_study_without_tasks_says_nothing() {
    let linear = FeatureMap::identity(PARAMETERS).unwrap();
    let study = World::new(10, 0).study(linear, 0, 800, 0);
    assert!(study.misfit().unwrap().is_none());
}

#[test]
fn the_verdict_does_not_depend_on_the_number_of_threads() {
    let linear = FeatureMap::identity(PARAMETERS).unwrap();
    let study = World::new(10, 0).study(linear, 2, 800, 0);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| study.clone().misfit().unwrap())
    };
    assert_eq!(on(1), on(4));
}
