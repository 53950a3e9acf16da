//! A world of families: vehicles in winds, whose functions are those of the vehicle in the wind plus something of their own.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use taskscout::features::FeatureMap;
use taskscout::prelude::*;
use taskscout::study::StudyBuilder;

/// Inputs, the first of them a constant.
const INPUTS: usize = 12;
const VEHICLES: usize = 3;
const WINDS: usize = 8;
/// Standard deviation of a label's noise, and of a coefficient that is a flight's own.
const NOISE: f64 = 0.4;
const OWN: f64 = 0.08;

/// The world.
pub(crate) struct Families {
    /// Coefficients by vehicle: without wind, and by wind.
    vehicles: Vec<[Vec<f64>; 2]>,
    seed: u64,
}

impl Families {
    /// Its ground truth follows from the seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = derive(seed, Purpose::World, &[]);
        let mut draw = || (0..INPUTS).map(|_| normal(&mut rng)).collect();
        Self {
            vehicles: (0..VEHICLES).map(|_| [draw(), draw()]).collect(),
            seed,
        }
    }

    /// Half the strongest wind, which no source task has.
    pub(crate) fn target_task() -> Vec<f64> {
        task(0, 0.5)
    }

    pub(crate) fn study(&self) -> StudyBuilder {
        let wind = |at: usize| (at as f64 + 0.3) / WINDS as f64;
        let tasks =
            (0..VEHICLES).flat_map(|vehicle| (0..WINDS).map(move |at| task(vehicle, wind(at))));
        let tasks: Vec<Vec<f64>> = tasks.collect();
        let power = |vehicle: usize, wind: u32| {
            let mut powers = vec![0; VEHICLES + 1];
            (powers[vehicle], powers[VEHICLES]) = (1, wind);
            powers
        };
        let powers = (0..VEHICLES).flat_map(|vehicle| [power(vehicle, 0), power(vehicle, 1)]);
        let features = FeatureMap::monomials(VEHICLES + 1, powers.collect()).unwrap();
        let pooled = PartialPooling {
            groups: vec![1, INPUTS - 1],
            ..PartialPooling::default()
        };
        Study::builder(Space::list(&tasks).unwrap())
            .input_features(FeatureMap::identity(INPUTS).unwrap())
            .task_features(features)
            .trainer(pooled)
    }

    /// The coefficients of a task.
    fn coefficients(&self, task: &[f64]) -> Vec<f64> {
        let vehicle = (0..VEHICLES).find(|&at| task[at] > 0.5).unwrap();
        let wind = task[VEHICLES];
        let own = [vehicle as u64, wind.to_bits()];
        let mut rng = derive(self.seed, Purpose::World, &own);
        let [still, windy] = &self.vehicles[vehicle];
        let pairs = still.iter().zip(windy);
        pairs
            .map(|(still, windy)| still + wind * windy + OWN * normal(&mut rng))
            .collect()
    }

    pub(crate) fn rows(&self, task: &[f64], n: usize, rng: &mut Rng) -> Result<Samples> {
        let coefficients = self.coefficients(task);
        let (mut x, mut y) = (Vec::with_capacity(n * INPUTS), Vec::with_capacity(n));
        for _ in 0..n {
            let row: Vec<f64> = (0..INPUTS)
                .map(|at| if at == 0 { 1.0 } else { normal(rng) })
                .collect();
            let value: f64 = row.iter().zip(&coefficients).map(|(x, c)| x * c).sum();
            y.push(value + NOISE * normal(rng));
            x.extend(row);
        }
        Samples::new(x, INPUTS, y, 1)
    }

    /// The exact loss: inputs are independent with a mean square of one.
    pub(crate) fn target_loss(&self, predictor: &Predictor) -> f64 {
        let truth = self.coefficients(&Self::target_task());
        let pairs = truth.iter().zip(&predictor.coefficients[0]);
        pairs.map(|(a, b)| (a - b).powi(2)).sum()
    }
}

/// A vehicle by one-hot, then the wind.
fn task(vehicle: usize, wind: f64) -> Vec<f64> {
    let mut task = vec![0.0; VEHICLES + 1];
    (task[vehicle], task[VEHICLES]) = (1.0, wind);
    task
}

impl TaskSource for Families {
    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
        self.rows(task, n, rng)
    }
}
