//! Models of logs, and forecasts on every world of the experiments.
//!
//! One program for all of them: each would be linked by itself otherwise, with everything that it uses.

mod families;
mod forecast;
mod learn;
