//! The options of `taskscout simulate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use taskscout_lab::simulate::words::{
    FLIGHTS_ABOUT, FLIGHTS_EXAMPLES, PENDULUM_ABOUT, PENDULUM_EXAMPLES,
};

/// The worlds by name.
#[derive(Debug, Subcommand)]
pub(crate) enum World {
    /// A pendulum in wind; each task has its own gravity and damping
    #[command(long_about = PENDULUM_ABOUT, after_long_help = PENDULUM_EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Pendulum(PendulumOptions),
    /// Quadrotors in wind, as flight logs
    #[command(long_about = FLIGHTS_ABOUT, after_long_help = FLIGHTS_EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Flights(FlightsOptions),
}

/// Options of `taskscout simulate pendulum`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PendulumOptions {
    /// A task, five numbers from -1 to 1 separated by commas; repeat for several
    #[arg(
        long,
        value_name = "W1,W2,W3,W4,W5",
        required = true,
        allow_hyphen_values = true
    )]
    pub(crate) w: Vec<String>,
    /// Steps of every task
    #[arg(long, value_name = "N")]
    pub(crate) steps: usize,
    /// Where the table goes, a .csv, .parquet or .mcap file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The seed of all noise and pushes
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// What controls the torque [default: random, or model if there is a --model]
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<PolicyName>,
    /// A saved model of the residual torque, for the policy `model`
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Standard deviation of the noise, on labels and on the acceleration
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.5,
        allow_negative_numbers = true
    )]
    pub(crate) noise: f64,
    /// Length of a step in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.01,
        allow_negative_numbers = true
    )]
    pub(crate) step: f64,
    /// The angle in rad and the velocity in rad/s at the start
    #[arg(
        long,
        value_name = "ANGLE,VELOCITY",
        default_value = "0,0",
        allow_hyphen_values = true
    )]
    pub(crate) start: String,
    /// Replace a file that is there already
    #[arg(long)]
    pub(crate) force: bool,
}

/// Options of `taskscout simulate flights`.
#[derive(Debug, Clone, Args)]
pub(crate) struct FlightsOptions {
    /// The folder for the logs; it is created if needed
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Rows of every flight, 50 per second
    #[arg(long, value_name = "N", default_value_t = 2500)]
    pub(crate) rows: usize,
    /// The seed of trajectories, jitter and noise
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The vehicles, separated by commas
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        default_value = "hawk,wren"
    )]
    pub(crate) vehicles: Vec<VehicleName>,
    /// Winds of every vehicle by name, separated by commas: nowind, 10wind, 20wind, 30wind, 35wind, 40wind, 50wind, 70wind, 100wind, 70p20sint [default: five for hawk, six for wren]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) winds: Option<Vec<String>>,
    /// Factor of the noise of the sensors; 0 for no noise
    #[arg(
        long,
        value_name = "X",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    pub(crate) noise: f64,
    /// Write into a folder that has files already, and replace those of the same name
    #[arg(long)]
    pub(crate) force: bool,
}

/// Vehicles by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VehicleName {
    /// 2.6 kg, flies figures of eight with two controllers
    Hawk,
    /// 0.85 kg, flies random trajectories
    Wren,
}

/// Policies by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyName {
    /// Upright with random pushes, for collecting data
    Random,
    /// The controller without a model
    None,
    /// The controller that knows the true residual
    True,
    /// The controller with the model of --model
    Model,
}
