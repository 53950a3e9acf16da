//! Rounds with fewer samples than there are tasks that a strategy would like to look at.

use taskscout::prelude::*;
use taskscout::strategy::{Explore, StrategyConfig};

/// A rig with four settings, whose force depends on the first and on the square of the second.
struct Rig;

impl TaskSource for Rig {
    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
        let x: Vec<f64> = (0..3 * n).map(|_| normal(rng)).collect();
        let (a, b) = (1.0 + task[0], task[1] * task[1]);
        let y = x.chunks(3).map(|x| a * x[0] + b * x[1] + 0.1 * normal(rng));
        let y = y.collect();
        Samples::new(x, 3, y, 1)
    }
}

/// Thirty tasks would be explored, and the target needs some as well.
#[test]
fn a_round_smaller_than_the_tasks_to_explore_is_shared_with_the_target() {
    let space = Space::boxed(vec![-1.0; 4], vec![1.0; 4]).unwrap();
    let config = StrategyConfig {
        explore: Explore::Spread,
        ..StrategyConfig::new(StrategyKind::Aware)
    };
    let mut study = Study::builder(space)
        .inputs(3)
        .task_features(FeatureMap::polynomial(4, 2, true).unwrap())
        .target(Target::unknown("new"))
        .strategy(config)
        .build()
        .unwrap();
    let mut rng = derive(1, Purpose::Target, &[]);
    let new = Task::point(vec![0.5, -0.5, 0.0, 0.0]);
    study
        .tell_target(0, &Rig.sample(&new, 40, &mut rng).unwrap())
        .unwrap();
    run(&mut study, &mut Rig, &[200, 20, 20], &mut ()).unwrap();
    let stages: Vec<Stage> = study.items().iter().map(|item| item.item.stage).collect();
    assert!(stages.contains(&Stage::Explore) && stages.contains(&Stage::Exploit));
    let told: usize = study.items().iter().map(|item| item.collected).sum();
    assert_eq!(told, 240);
}
