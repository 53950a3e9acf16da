//! What `all` runs: every figure and table of the paper, by experiment.

use crate::names::{BuiltIn, LogFeatures, Published};
use crate::options::{AllOptions, ExperimentOptions, LogWorldOptions, WorldOptions};

/// Target samples of the paper's appendix.
const FEW: usize = 800;
/// Ground truths of the synthetic worlds, if nobody says otherwise.
const TRUTHS: u64 = 8;

/// A part as it is to run.
pub(super) struct Planned {
    pub(super) name: &'static str,
    pub(super) experiment: BuiltIn,
    /// What of the paper it shows, in words.
    pub(super) shows: &'static str,
    pub(super) options: ExperimentOptions,
}

/// What is said of the theory.
pub(super) const THEORY: &str = "the theorems: designs beside their bounds, the risk law beside measurements, the ball as a list";

/// The parts, with what was asked of all of them.
pub(super) fn parts(options: &AllOptions) -> Vec<Planned> {
    let mut parts = Vec::new();
    for &experiment in &[BuiltIn::Bilinear, BuiltIn::Fourier, BuiltIn::Mlp] {
        parts.extend(synthetic(experiment, options));
    }
    parts.push(Planned {
        name: "pendulum",
        experiment: BuiltIn::Pendulum,
        shows: "the pendulum's curves and tables: all five targets, the tasks that were chosen, control",
        options: ExperimentOptions {
            world: WorldOptions::Pendulum(options.pendulum.clone()),
            ..options.common.clone()
        },
    });
    if options.drone.data.is_some() {
        parts.extend(drone(options));
    }
    parts
}

/// A synthetic world with many and with few target samples, on several ground truths.
fn synthetic(experiment: BuiltIn, all: &AllOptions) -> Vec<Planned> {
    let (name, few, shows) = match experiment {
        BuiltIn::Bilinear => (
            "bilinear",
            "bilinear-800",
            "the table of synthetic results, linear features: budget, loss and similarity with 8,000 target samples, save-task, continuous against discretised tasks",
        ),
        BuiltIn::Fourier => (
            "fourier",
            "fourier-800",
            "the table of synthetic results, Fourier features: budget, loss and similarity with 8,000 target samples, save-task",
        ),
        _ => (
            "mlp",
            "mlp-800",
            "the table of synthetic results, a network: budget, loss and similarity with 8,000 target samples, save-task",
        ),
    };
    let (truths, options) = (on_truths(experiment, all), &all.common);
    let strategies = |names: &[&str]| {
        let own = || names.iter().map(ToString::to_string).collect();
        Some(options.strategies.clone().unwrap_or_else(own))
    };
    let compared: &[&str] = match experiment {
        BuiltIn::Bilinear => &["passive", "agnostic", "aware", "discrete-l1", "discrete-l2"],
        _ => &["passive", "agnostic", "aware"],
    };
    let mut parts = vec![Planned {
        name,
        experiment,
        shows,
        options: ExperimentOptions {
            strategies: strategies(compared),
            save_task: options.save_task || options.strategies.is_none(),
            ..truths.clone()
        },
    }];
    // Who gives the number of target samples has both in one.
    if options.n_target.is_none() {
        parts.push(Planned {
            name: few,
            experiment,
            shows: "the appendix: the same with 800 target samples",
            options: ExperimentOptions {
                name: Some(few.into()),
                n_target: Some(FEW),
                ..truths
            },
        });
    }
    parts
}

/// Several ground truths with few seeds each, where a run is not only a look and nobody asks for a certain one.
fn on_truths(experiment: BuiltIn, all: &AllOptions) -> ExperimentOptions {
    let (mut own, mut world) = (all.common.clone(), all.synthetic.clone());
    if !own.quick && world.matrix_seed.is_none() && world.truths.is_none() {
        world.truths = Some(TRUTHS);
        // Networks take most of the time.
        let seeds = if experiment == BuiltIn::Mlp { 1 } else { 2 };
        own.seeds = own.seeds.or(Some(seeds));
    }
    own.world = WorldOptions::Synthetic(world);
    own
}

/// The drone by taskscout's own procedure, and by the paper's with its two representations.
fn drone(all: &AllOptions) -> Vec<Planned> {
    let (options, drone) = (&all.common, &all.drone);
    let of_world = |world: LogWorldOptions| WorldOptions::Logs(Box::new(world));
    let as_published = |name: &'static str, shows, phi| Planned {
        name,
        experiment: BuiltIn::Drone,
        shows,
        options: ExperimentOptions {
            name: Some(name.into()),
            as_published: options.as_published.or(Some(Published::Code)),
            oracle: None,
            world: of_world(LogWorldOptions {
                phi: Some(phi),
                task_features: None,
                ..drone.clone()
            }),
            ..options.clone()
        },
    };
    vec![
        Planned {
            name: "drone",
            experiment: BuiltIn::Drone,
            shows: "the drone's curves and similarities of tasks, by taskscout's own procedure",
            options: ExperimentOptions {
                world: of_world(drone.clone()),
                ..options.clone()
            },
        },
        as_published(
            "drone-linear",
            "the drone's curves by the paper's procedure, linear with two directions",
            LogFeatures::Linear,
        ),
        as_published(
            "drone-network",
            "the drone's curves by the paper's procedure, network 11-2",
            LogFeatures::Mlp,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{PendulumOptions, SyntheticOptions};

    #[test]
    fn an_option_goes_to_the_experiments_that_have_it() {
        let mut all = AllOptions {
            synthetic: SyntheticOptions {
                matrix_seed: Some(3),
                ..SyntheticOptions::default()
            },
            pendulum: PendulumOptions {
                target: vec!["0,0,0,1,0".into()],
                ..PendulumOptions::default()
            },
            ..AllOptions::default()
        };
        let names = |all: &AllOptions| parts(all).iter().map(|part| part.name).collect::<Vec<_>>();
        assert!(!names(&all).contains(&"drone"), "it needs logs");
        all.drone.data = Some("flights".into());
        assert!(names(&all).contains(&"drone-network"));
        for part in parts(&all) {
            match (part.experiment, &part.options.world) {
                (BuiltIn::Pendulum, WorldOptions::Pendulum(own)) => assert_eq!(own.target.len(), 1),
                (BuiltIn::Drone, WorldOptions::Logs(own)) => assert!(own.target.is_empty()),
                (_, WorldOptions::Synthetic(own)) => {
                    // A certain ground truth is asked for, so there is one.
                    assert_eq!((own.matrix_seed, own.truths), (Some(3), None));
                }
                (experiment, world) => unreachable!("{experiment:?} has {world:?}"),
            }
        }
        all.synthetic.matrix_seed = None;
        let several = |part: &Planned| part.options.world.synthetic()?.truths;
        assert_eq!(several(&parts(&all)[0]), Some(TRUTHS));
    }
}
