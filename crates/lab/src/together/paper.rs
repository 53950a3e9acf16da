//! What `all` runs: every figure and table of the paper, by experiment.

use crate::names::{BuiltIn, LogFeatures, Published};
use crate::options::ExperimentOptions;

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
pub(super) fn parts(options: &ExperimentOptions) -> Vec<Planned> {
    let mut parts = Vec::new();
    for &experiment in &[BuiltIn::Bilinear, BuiltIn::Fourier, BuiltIn::Mlp] {
        parts.extend(synthetic(experiment, options));
    }
    parts.push(Planned {
        name: "pendulum",
        experiment: BuiltIn::Pendulum,
        shows: "the pendulum's curves and tables: all five targets, the tasks that were chosen, control",
        options: options.clone(),
    });
    if options.data.is_some() {
        parts.extend(drone(options));
    }
    parts
}

/// A synthetic world with many and with few target samples, on several ground truths.
fn synthetic(experiment: BuiltIn, options: &ExperimentOptions) -> Vec<Planned> {
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
    let truths = on_truths(experiment, options);
    let strategies = |names: &[&str]| {
        let own = || names.iter().map(ToString::to_string).collect();
        Some(options.strategies.clone().unwrap_or_else(own))
    };
    let all: &[&str] = match experiment {
        BuiltIn::Bilinear => &["passive", "agnostic", "aware", "discrete-l1", "discrete-l2"],
        _ => &["passive", "agnostic", "aware"],
    };
    let mut parts = vec![Planned {
        name,
        experiment,
        shows,
        options: ExperimentOptions {
            strategies: strategies(all),
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
fn on_truths(experiment: BuiltIn, options: &ExperimentOptions) -> ExperimentOptions {
    let mut own = options.clone();
    if options.quick || options.matrix_seed.is_some() || options.truths.is_some() {
        return own;
    }
    own.truths = Some(TRUTHS);
    // Networks take most of the time.
    let seeds = if experiment == BuiltIn::Mlp { 1 } else { 2 };
    own.seeds = options.seeds.or(Some(seeds));
    own
}

/// The drone by taskscout's own procedure, and by the paper's with its two representations.
fn drone(options: &ExperimentOptions) -> Vec<Planned> {
    let as_published = |name: &'static str, shows, phi| Planned {
        name,
        experiment: BuiltIn::Drone,
        shows,
        options: ExperimentOptions {
            name: Some(name.into()),
            as_published: options.as_published.or(Some(Published::Code)),
            phi: Some(phi),
            oracle: None,
            task_features: None,
            ..options.clone()
        },
    };
    vec![
        Planned {
            name: "drone",
            experiment: BuiltIn::Drone,
            shows: "the drone's curves and similarities of tasks, by taskscout's own procedure",
            options: options.clone(),
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
