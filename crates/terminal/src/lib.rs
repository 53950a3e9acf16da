//! What commands show on a terminal while they work: results, progress, signs of life, and how to go on after Ctrl-C.
//!
//! Results go to standard output, all else to standard error. On a terminal progress is a bar, elsewhere plain lines.
//! Whatever names hold, nothing acts on the terminal. Colour is used where a terminal allows it, and never where
//! `NO_COLOR` is set or output is piped.
//!
//! ```
//! use taskscout_terminal::{Alive, show, tell};
//!
//! let alive = Alive::start("planning"); // a spinner, or a line now and then, if it takes more than a moment
//! let answer = 6 * 7;
//! drop(alive);
//! show(&format!("{answer} samples\n"))?;
//! tell("written: plan.csv");
//! # Ok::<(), taskscout_lab::LabError>(())
//! ```

// They panic where nobody reads: `output` has what to use instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod alive;
mod colour;
mod interrupt;
mod output;
mod progress;

pub use alive::Alive;
pub use interrupt::survive_full_files;
pub use output::{conclude, print, print_json, show, show_concluding, tell};
pub use progress::terminal;
