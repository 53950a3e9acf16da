//! Small worlds with a known network.

use taskscout::data::{Stage, TaskData};
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, derive};
use taskscout::source::TaskSource as _;
use taskscout::strategy::{StrategyConfig, StrategyKind};
use taskscout::study::{External, Oracle, Study, StudyConfig};
use taskscout::target::Target;
use taskscout::task::Task;
use taskscout::train::Trainer;
use taskscout_worlds::{InputDistribution, NetworkTruth, Synthetic, SyntheticConfig};

/// Task features of a source in these worlds.
pub(crate) const SOURCES: usize = 6;

/// Five inputs, a hidden layer of six, two outputs.
pub(crate) fn world(noise: f64, seed: u64) -> Synthetic {
    Synthetic::new(SyntheticConfig {
        input_features: FeatureMap::identity(5).unwrap(),
        inputs: InputDistribution::Normal,
        source_dim: SOURCES,
        space: None,
        task_features: None,
        k: 2,
        network: Some(NetworkTruth {
            hidden: vec![6],
            activation: taskscout::model::Activation::Relu,
        }),
        noise,
        matrix_seed: seed,
    })
    .unwrap()
}

/// Rows of every coordinate direction, and of the target.
pub(crate) fn collect(
    world: &mut Synthetic,
    per_task: usize,
    target: usize,
    seed: u64,
) -> TaskData {
    let mut data = TaskData::new(5, 1, SOURCES + 1).keeping_rows();
    let own = |at: usize| {
        (0..=SOURCES)
            .map(|i| f64::from(u8::from(i == at)))
            .collect::<Vec<f64>>()
    };
    data.add_target("target", own(SOURCES)).unwrap();
    for task in 0..SOURCES {
        let w = own(task)[..SOURCES].to_vec();
        let mut rng = derive(seed, Purpose::Collect, &[task as u64]);
        let rows = world.sample(&Task::from(&w), per_task, &mut rng).unwrap();
        data.add_source_rows(&w, &own(task), Stage::WarmUp, 0, &rows)
            .unwrap();
    }
    let mut rng = derive(seed, Purpose::Target, &[0]);
    data.add_target_rows(0, &world.sample_target(target, &mut rng).unwrap())
        .unwrap();
    data
}

/// A study of the world with an oracle from this crate.
pub(crate) fn study(
    world: &Synthetic,
    kind: StrategyKind,
    name: &str,
    trainer: std::sync::Arc<dyn Trainer>,
    seed: u64,
) -> Study {
    let config = StudyConfig::new(
        world.space().clone(),
        FeatureMap::identity(5).unwrap(),
        vec![Target::unknown("target")],
        StrategyConfig::new(kind),
    )
    .unwrap();
    Study::new(StudyConfig {
        k: Some(2),
        seed,
        oracle: Oracle::External(External::new(name, &(), trainer).unwrap()),
        ..config
    })
    .unwrap()
}
