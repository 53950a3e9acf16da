//! The live page of studies and runs, and its JSON API.
//!
//! [`serve`] shows the studies of a store and the run folders of experiments while people, programs and other machines
//! write them: what to measure next and why, how sure the model is, what more would bring. On the page rows can be
//! told, items failed, batches retracted, each with its effect before anything is stored.
//!
//! Everything that a browser needs is inside, and nothing is asked of any other server. It listens on this machine
//! only, unless told otherwise, and then a token is needed.
//!
//! ```no_run
//! use taskscout::registry::Registry;
//! use taskscout_server::{ServeOptions, serve};
//!
//! let options = ServeOptions { what: "studies.db".into(), ..ServeOptions::default() };
//! serve(&options, &Registry::new(), &|line| eprintln!("{line}"))?;
//! # Ok::<(), taskscout_studies::Error>(())
//! ```

// Whoever asked is told instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod access;
mod app;
mod assets;
mod change;
mod followed;
mod learnt;
mod listen;
mod live;
mod openapi;
mod options;
mod refusal;
mod router;
mod routes;
mod runs;
mod serve;
mod shelf;
mod view;

pub use options::ServeOptions;
pub use serve::{Serving, begin, serve};
