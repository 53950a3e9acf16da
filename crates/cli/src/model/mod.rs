//! `taskscout export` and `taskscout predict`: models to robots, and to tables.

mod export;
pub(crate) mod options;
mod predict;

pub(crate) use export::execute as export;
pub(crate) use predict::execute as predict;
