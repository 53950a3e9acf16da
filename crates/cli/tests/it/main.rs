//! The command, end to end with the real binary.
//!
//! One program for all of them: each would be linked by itself otherwise, with everything that it uses.

mod all;
#[path = "../common/mod.rs"]
mod common;
mod data;
mod design;
mod design_scale;
mod drone;
mod experiments;
mod flights;
mod folders;
mod help;
mod learn;
mod models;
mod offsets;
mod options;
mod pendulum;
mod pipes;
mod program;
mod program_outputs;
mod report;
mod robot_pages;
mod settings;
mod simulate;
mod sizes;
mod study;
mod study_bad_input;
mod study_example;
mod study_kills;
mod study_words;
mod study_work;
mod targets;
mod theory;
mod truths;
