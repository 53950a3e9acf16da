//! Stores: one suite for all of them, and what damages them.
//!
//! One program for all of them: each would be linked by itself otherwise, with everything that it uses.

#[path = "../common/mod.rs"]
mod common;
mod store_damage;
mod store_fixture;
mod store_memory;
mod store_postgres;
mod store_rows;
mod store_sqlite;
mod store_tls;
