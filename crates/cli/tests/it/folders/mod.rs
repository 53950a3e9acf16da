//! Run folders, end to end with the real binary: what a run was made from, who may write, what is
//! removed, and what is left of a run that was killed.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud
#![cfg(unix)] // links, signals and shell scripts

mod force;
mod killed;
mod resumed;
mod setup;
