//! The simulators, and what is learnt from them.
//!
//! One program for all of them: each would be linked by itself otherwise, with everything that it uses.

mod flights;
mod pendulum;
mod program;
mod theory;
