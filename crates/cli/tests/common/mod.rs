//! What the tests of the command share: a folder of their own with the real binary in it
//! ([`Scratch`]), how the command may answer ([`refused`]), and what a run leaves ([`results`]).

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

mod answer;
#[path = "../../../store/tests/common/cluster.rs"]
#[allow(dead_code, reason = "tests of stores need more of it")]
pub(crate) mod cluster;
mod run;
mod scratch;
pub(crate) mod tunnel;

pub(crate) use answer::{failed, misused, refused, stderr, stdout, succeeded};
pub(crate) use run::{names, results, summary, timeless};
pub(crate) use scratch::{Scratch, binary};

/// The experiment that is run where any will do.
pub(crate) const SMALL: &str = include_str!("../../../../experiments/small.toml");
