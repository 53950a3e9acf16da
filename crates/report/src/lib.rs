//! Results of taskscout experiments as tables, plots and one-file HTML reports.
//!
//! Experiments give tidy rows, one per strategy, seed and round ([`ResultRow`]). From them follow
//!
//! - `results.csv`, which reads back bit for bit ([`write_csv`], [`read_csv`]);
//! - mean curves over seeds ([`mean_curves`]) and the share of the passive budget that a strategy
//!   needs to be as good ([`budget_ratio`]);
//! - `summary.json` ([`Summary`]) and a table for the terminal ([`terminal_table`]);
//! - plots of results ([`loss_plot`], [`metric_plot`]) and `report.html` ([`html_report`]);
//! - figures and tables that an experiment adds of its own ([`ReportFigure`], [`ReportTable`]),
//!   drawn by [`taskscout_plot`], whose names are here too;
//! - the report of a run from its folder ([`SavedReport`]), also of one that is not finished;
//! - the same for several experiments together ([`CombinedSummary`], [`combined_report`]), where
//!   what failed is named beside what did not ([`FailedTrial`], [`FailedExperiment`]).
//!
//! Nothing here knows any published figure: callers give them as JSON ([`paper_figure`] says where
//! they are looked for) and find them beside their own.
//!
//! ```
//! use serde_json::json;
//! use taskscout_report::{ExperimentReport, ResultRow, html_report, terminal_table, write_csv};
//!
//! let row = |strategy: &str, seed, round: usize, loss| ResultRow {
//!     experiment: "bilinear".into(),
//!     oracle: "exact".into(),
//!     strategy: strategy.into(),
//!     seed,
//!     round,
//!     budget: 1000 * (round + 1),
//!     test_loss: Some(loss),
//!     ..ResultRow::default()
//! };
//! let rows = vec![
//!     row("passive", 1, 0, 0.80), row("passive", 1, 1, 0.40),
//!     row("passive", 2, 0, 0.84), row("passive", 2, 1, 0.44),
//!     row("aware", 1, 0, 0.60), row("aware", 1, 1, 0.10),
//!     row("aware", 2, 0, 0.62), row("aware", 2, 1, 0.12),
//! ];
//!
//! let mut csv = Vec::new();
//! write_csv(&rows, &mut csv)?;
//!
//! let paper = json!({"strategies": {"aware": {"budget_ratio": 0.5}}});
//! let report = ExperimentReport::new(rows, paper, json!({"seeds": 2}))?;
//! let aware = report.summary.strategies.get("aware").unwrap();
//! // From 0.61 at 1,000 samples to 0.11 at 2,000: 0.42 is reached at 1,380 of passive's 2,000.
//! assert!((aware.budget_ratio.unwrap().mean.unwrap() - 0.69).abs() < 1e-9);
//!
//! println!("{}", terminal_table(&report.summary));
//! let folder = tempfile::tempdir().unwrap();
//! let page = html_report(&[report]);
//! taskscout_report::write_atomically(folder.path().join("report.html"), page.as_bytes())?;
//! # Ok::<(), taskscout_report::Error>(())
//! ```

pub mod additions;
mod columns;
pub mod combined;
mod contender;
mod csv;
pub mod curve;
mod error;
pub mod failure;
mod floor;
pub mod folder;
mod format;
pub mod html;
mod judged;
mod ordered;
pub mod paper;
mod plans;
pub mod plots;
pub mod ratio;
mod reason;
pub mod results;
mod rows;
mod strategy;
pub mod summary;
mod summary_floor;
pub mod table;
mod task_path;
mod task_use;
#[cfg(test)]
mod testing;
pub mod truths;

pub use additions::{Drawing, ReportFigure, ReportTable};
pub use combined::CombinedSummary;
pub use contender::{TARGET_DATA, TARGET_ONLY};
pub use curve::{Curve, CurvePoint, MeanSem, Metric, mean_curves};
pub use error::{Error, Result};
pub use failure::{FailedExperiment, FailedTrial};
pub use floor::{Floor, with_floor};
pub use folder::{FigureFiles, REPORT_FILE, SavedReport, file_stem, run_plans, run_rows};
pub use format::percent;
pub use html::{
    ExperimentReport, TargetPoint, combined_report, combined_report_about, csv_link, html_opening,
    html_page, html_report, tile,
};
pub use judged::Judged;
pub use ordered::OrderedMap;
pub use paper::paper_figure;
pub use plans::{PlanRow, read_plans, write_plans};
pub use plots::{loss_plot, metric_plot};
pub use ratio::{BudgetRatio, REFERENCE, Reach, Rise, budget_ratio, rises_again};
pub use reason::plain_reason;
pub use results::{COLUMNS, read_csv, write_csv};
pub use rows::{ResultRow, split_experiments};
pub use summary::{Seconds, StrategySummary, Summary, TargetSummary};
pub use table::{plain_table, terminal_table};
pub use task_path::{PathStep, TaskPath};
pub use taskscout_io::files::write_atomically;
pub use taskscout_plot::figures::{
    Bar, Bars, HeatMap, Portrait, PortraitCurve, Portraits, Spot, SpotKind, Stack, Stacks,
    TaskScatter, Trace, TracePanel, Traces,
};
pub use taskscout_plot::{
    Crossing, LinePlot, LineStyle, Numbers, Panel, PanelBand, PanelFigure, PanelLevel, PanelLine,
    PanelMark, Reference, Series, SeriesPoint, Theme, YAxis,
};
pub use truths::budget_ratio_over_truths;
