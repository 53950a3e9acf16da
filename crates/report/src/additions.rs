//! Figures and tables that an experiment adds to its report.
//!
//! ```
//! use taskscout_report::{Panel, PanelFigure, PanelLine, ReportFigure, ReportTable, Theme};
//!
//! let line = PanelLine::new("aware", vec![(0.0, 0.3), (1.0, 0.1)]);
//! let panel = Panel { lines: vec![line], ..Panel::new("calm") };
//! let figure = ReportFigure {
//!     target: None,
//!     name: "traces".into(),
//!     figure: PanelFigure::new("The angle under control", vec![panel]),
//!     caption: "One run from rest.".into(),
//! };
//! let file = format!("{}.svg", figure.name);
//! let svg = figure.to_svg(Theme::Standalone, &figure.name);
//! assert!(file == "traces.svg" && svg.starts_with("<svg"));
//!
//! let table = ReportTable {
//!     target: None,
//!     title: "Control error".into(),
//!     head: vec!["strategy".into(), "mean |θ|".into()],
//!     rows: vec![vec!["aware".into(), "0.012".into()]],
//!     caption: "Over 20 seconds, in radians.".into(),
//! };
//! # let _ = table;
//! ```

use serde::{Deserialize, Serialize};

use crate::svg::{PanelFigure, Theme};

/// A figure of an experiment's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportFigure {
    /// The target that it belongs to, or none where it belongs to the experiment as a whole.
    #[serde(default)]
    pub target: Option<String>,
    /// The name of its file, without ending.
    pub name: String,
    /// What to draw.
    pub figure: PanelFigure,
    /// What to look at, in sentences.
    pub caption: String,
}

impl ReportFigure {
    /// Draws the figure; `id` keeps its inner names apart from those of others on the page.
    #[must_use]
    pub fn to_svg(&self, theme: Theme, id: &str) -> String {
        self.figure.to_svg(theme, id)
    }
}

/// A table of an experiment's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportTable {
    /// The target that it belongs to, or none where it belongs to the experiment as a whole.
    #[serde(default)]
    pub target: Option<String>,
    /// The heading above it.
    pub title: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// Cells, row by row; the first of a row names it. A ` [low, high]` at the end of a cell
    /// stands on a line of its own.
    pub rows: Vec<Vec<String>>,
    /// What the figures are, in sentences.
    pub caption: String,
}
