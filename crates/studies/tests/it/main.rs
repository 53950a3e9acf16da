//! Durable studies, through any store.
//!
//! One program for all of them: each would be linked by itself otherwise, with everything that it uses.

mod stored_study;
mod worker;
