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
//! use taskscout::prelude::*;
//!
//! struct Tunnel;
//!
//! impl TaskSource for Tunnel {
//!     fn sample(&mut self, fans: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
//!         let states: Vec<f64> = (0..3 * n).map(|_| normal(rng)).collect();
//!         let strength = fans[0] + 0.5 * fans[1];
//!         let force = |x: &[f64]| strength * (x[0] - x[2]);
//!         let forces = states.chunks(3).map(|x| force(x) + 0.1 * normal(rng)).collect();
//!         Samples::new(states, 3, forces, 1)
//!     }
//! }
//!
//! let mut tunnel = Tunnel;
//! let mut study = Study::builder(Space::ball(4, 1.0)?)
//!     .inputs(3)
//!     .target(Target::unknown("the wind of tomorrow"))
//!     .k(1)
//!     .build()?;
//! let tomorrow = Task::point(vec![0.6, 0.8, 0.0, 0.0]);
//! let mut rng = derive(7, Purpose::Collect, &[]);
//! study.tell_target(0, &tunnel.sample(&tomorrow, 40, &mut rng)?)?;
//!
//! // Two rounds of 400 samples: ask, collect, tell.
//! run(&mut study, &mut tunnel, &[400, 400], &mut ())?;
//! for TrackedItem { item, round, .. } in study.items() {
//!     println!("round {round}: {} samples at {:?}: {}", item.n, item.task.parameters(), item.reason);
//! }
//!
//! let force = &study.predictors()?[0].returned.coefficients[0];
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
//! | [`forecast`] | what more samples would buy: expected losses with intervals |
//! | [`theory`] | the paper's quantities, bounds and risk law, as numbers |
//! | [`study`], [`driver`] | the loop, and what turns it |
//! | [`registry`] | spaces, features, strategies and trainers of one's own |
//! | [`prelude`] | all that a program needs, in one `use` |
//! | [`metric`], [`rng`], [`error`] | measures of success, derived generators, errors with a remedy |
//!
//! No file, socket or clock is touched, every draw derives from a seed, and results do not depend
//! on the number of threads.

pub mod driver;
pub mod prelude;
pub mod registry;
pub mod source;
pub mod strategy;
pub mod study;

#[doc(inline)]
pub use taskscout_design::extension::Extension;
#[doc(inline)]
pub use taskscout_design::{error, features, optimal as design, rng, space, task, theory};
pub(crate) use taskscout_design::{extension, linalg};
#[doc(inline)]
pub use taskscout_learn::{data, forecast, identify, metric, model, target, train};

pub use error::{Error, Result};

/// The examples of the repository's front page, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct FrontPage;

/// The examples of the page on studies.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/run-a-study.md")]
struct Studies;

/// The example of the page on parts of your own.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/add-your-own-parts.md")]
struct OwnParts;

/// The example of the page on misfit.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/explanation/misfit.md")]
struct Misfit;

/// The example of the page on identification.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/explanation/identification.md")]
struct Identification;

/// The example of the page on pooling.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/explanation/pooling.md")]
struct Pooling;

/// The example of the book's page on forecasts.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/explanation/forecast.md")]
struct Forecasts;
