//! Logs of durable studies: what was acknowledged is there, once, whatever happens.
//!
//! A [`Store`] keeps, per study, records that are only ever appended, measured [rows] that are read only when
//! asked for, and derived values that may be thrown away. It knows nothing of what the records say. Every
//! append names the version that its writer has seen (compare-and-swap), every record has a checksum that is
//! chained to the one before, and every read sees one consistent moment.
//!
//! | store | for | address |
//! |---|---|---|
#![cfg_attr(
    feature = "sqlite",
    doc = "| [`Sqlite`] | one machine, one file | `studies.db`, `sqlite:///folder/studies.db` |"
)]
#![cfg_attr(
    feature = "postgres",
    doc = "| [`Postgres`] | teams and clusters | `postgresql://user@host/database` |"
)]
//! | [`Memory`] | tests | – |
//!
//! Everybody who writes a store runs the one suite in [`testing`].

// Without a database nobody checks what was stored.
#![cfg_attr(not(any(feature = "sqlite", feature = "postgres")), allow(dead_code))]

mod chain;
mod error;
mod log;
mod memory;
mod open;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod process;
pub mod rows;
#[cfg(feature = "sqlite")]
mod sqlite;
pub mod testing;

pub use error::{Error, Result};
pub use log::{Claims, Head, Kept, LONGEST, LOST, Loaded, NewRecord, Query, Record, Rows, Store};
pub use memory::Memory;
pub use open::{open, open_existing};
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
#[cfg(feature = "sqlite")]
pub use sqlite::{Recovered, RecoveredStudy, Sqlite, recover};
