//! `taskscout reproduce drone` and worlds of logs, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

mod models;
mod refusals;
mod runs;
mod setup;
mod tables;
