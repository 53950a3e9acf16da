//! What the library promises, through what users call.
//!
//! One program for all of them: each would be linked by itself otherwise, with everything that it uses.

mod ball_design;
mod blocks;
mod campaign;
mod capacity;
mod collection;
#[path = "../common/mod.rs"]
mod common;
mod design_limits;
mod design_regressions;
mod design_scale;
mod design_solver;
mod design_space;
mod discrete_design;
mod driver;
mod events;
mod exact;
mod examples;
mod features_conformance;
mod few_rows;
mod forecast;
mod forecast_under_way;
mod guard;
mod identify;
mod identify_study;
mod misfit;
mod mllam;
mod negative_transfer;
mod open_asks;
mod outputs;
mod own_spaces;
mod pooled;
mod related;
mod small_budgets;
mod small_rounds;
mod space_conformance;
mod statistics;
mod strategies;
mod study;
mod theory;
mod worst_case;
