//! What the benchmarks share: clocks, and Python in a child process.

pub(crate) mod clock;
pub(crate) mod numpy;

/// Anything that can go wrong in a benchmark; it ends the run with its message.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
