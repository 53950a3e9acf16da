//! Active multi-task representation learning: **which tasks should I collect data from next, so
//! that a shared representation works on the task I care about?**
//!
//! A task is an environment with a known parameter vector `w` (wind, gravity, drone type, a one-hot
//! index). Data from a task is expensive and switching tasks more so. A [`study::Study`] plans the
//! collection, learns one shared representation from what comes back, and plans again:
//!
//! ```text
//! ask → Plan{items: (id, task, n, stage, reason)} → collect → tell → train → design → ask …
//! ```
//!
//! # The model
//!
//! `y = φ(ψ_X(x))ᵀ · B · ψ_W(w) + ξ`, with known feature maps `ψ_X`, `ψ_W` ([`features`]), an unknown
//! shared representation `φ` into `R^k` and an unknown linear task map `B` ([`model`]). A task's
//! embedding is `c_w = B ψ_W(w)`, and the excess risk on a target with embedding `c_0` is, up to
//! constants, `c_0ᵀ (Σ_w n_w c_w c_wᵀ)⁻¹ c_0`: choosing tasks is an optimal-design problem over
//! embeddings ([`design`]).
//!
//! # An example
//!
//! A wind tunnel with four fans. The force on a drone depends on the fans only through one unknown
//! combination of them; the target is a wind whose fan settings nobody knows, of which there are 40
//! samples.
//!
//! ```
//! use rand_distr::{Distribution, StandardNormal};
//! use taskscout::data::Samples;
//! use taskscout::features::FeatureMap;
//! use taskscout::rng::{derive, Purpose, Rng};
//! use taskscout::source::TaskSource;
//! use taskscout::space::Space;
//! use taskscout::strategy::{StrategyConfig, StrategyKind};
//! use taskscout::study::{Study, StudyConfig};
//! use taskscout::target::Target;
//! use taskscout::task::Task;
//!
//! struct Tunnel;
//!
//! impl TaskSource for Tunnel {
//!     fn sample(&mut self, fans: &Task, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
//!         let mut normal = || -> f64 { StandardNormal.sample(rng) };
//!         let states: Vec<f64> = (0..3 * n).map(|_| normal()).collect();
//!         let strength = fans[0] + 0.5 * fans[1];
//!         let forces = states.chunks(3).map(|x| strength * (x[0] - x[2]) + 0.1 * normal()).collect();
//!         Samples::new(states, 3, forces, 1)
//!     }
//! }
//!
//! let mut tunnel = Tunnel;
//! let mut rng = derive(7, Purpose::Collect, &[]);
//! let mut study = Study::new(StudyConfig {
//!     k: Some(1),
//!     ..StudyConfig::new(
//!         Space::ball(4, 1.0)?,
//!         FeatureMap::identity(3)?,
//!         vec![Target::unknown("the wind of tomorrow")],
//!         StrategyConfig::new(StrategyKind::Aware),
//!     )?
//! })?;
//! study.tell_target(0, &tunnel.sample(&Task::point(vec![0.6, 0.8, 0.0, 0.0]), 40, &mut rng)?)?;
//!
//! for round in 0..2 {
//!     for item in study.ask(400)?.items {
//!         println!("round {round}: {} samples at {:?}: {}", item.n, item.task.parameters(), item.reason);
//!         study.tell(item.id, &tunnel.sample(&item.task, item.n, &mut rng)?)?;
//!     }
//! }
//!
//! let choice = &study.predictors()?[0];
//! let force = &choice.candidates[0].coefficients[0];
//! assert!((force[0] - 1.0).abs() < 0.1 && (force[2] + 1.0).abs() < 0.1);
//! # Ok::<(), taskscout::Error>(())
//! ```
//!
//! # Where to look
//!
//! | module | what it holds |
//! |---|---|
//! | [`task`], [`space`], [`features`], [`target`] | what a task is, where tasks live, what is known of them, which we care about |
//! | [`source`], [`data`] | where rows come from, and the statistics they become |
//! | [`train`], [`model`] | training oracles, the guard against negative transfer, what they give |
//! | [`identify`] | a hidden target's parameters, with a region, inside the source space |
//! | [`design`], [`strategy`] | optimal designs, and the strategies that use them |
//! | [`study`] | the loop |
//! | [`metric`], [`rng`], [`error`] | measures of success, derived generators, errors with a remedy |
//!
//! No file, socket or clock is touched, every draw derives from a seed, and results do not depend
//! on the number of threads.

pub mod data;
pub mod design;
pub mod error;
pub mod features;
pub mod identify;
mod linalg;
pub mod metric;
pub mod model;
pub mod rng;
pub mod source;
pub mod space;
pub mod strategy;
pub mod study;
pub mod target;
pub mod task;
pub mod train;

pub use error::{Error, Result};

/// The examples of the repository's front page, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct FrontPage;

/// The example of the book's page on identification.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/identification.md")]
struct Identification;

/// The example of the book's page on pooling.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/pooling.md")]
struct Pooling;
