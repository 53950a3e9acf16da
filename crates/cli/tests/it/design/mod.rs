//! `taskscout design`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

mod campaign;
mod output;
mod page;
mod refusals;
mod small;
mod spaces;
mod tables;
mod wide;
mod winds;
