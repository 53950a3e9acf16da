//! What the tests of the command share: a folder of their own with the real binary in it
//! ([`Scratch`]), how the command may answer ([`refused`]), and what a run leaves ([`results`]).

#![allow(
    dead_code,
    unused_imports,
    reason = "each test file takes what it needs of it"
)]

mod answer;
#[path = "../../../store/tests/common/cluster.rs"]
pub(crate) mod cluster;
mod run;
mod scratch;
pub(crate) mod tunnel;

pub(crate) use answer::{failed, misused, refused, stderr, stdout, succeeded};
pub(crate) use run::{names, results, summary, timeless};
pub(crate) use scratch::{Scratch, binary};

/// The experiment that is run where any will do.
pub(crate) const SMALL: &str = include_str!("../../../../experiments/small.toml");
