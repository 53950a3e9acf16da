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
//!     figure: PanelFigure::new("The angle under control", vec![panel]).into(),
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

use taskscout_plot::figures::{Bars, HeatMap, Stacks, TaskScatter};
use taskscout_plot::{Numbers, PanelFigure, Theme};

/// Width of a figure on a phone, in pixels.
pub(crate) const NARROW: f64 = 380.0;

/// What a figure draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Drawing {
    /// Small plots under one legend.
    Panels(PanelFigure),
    /// Named values.
    Bars(Bars),
    /// Every item against every other.
    HeatMap(HeatMap),
    /// Named values in parts.
    Stacks(Stacks),
    /// Where tasks lie.
    TaskMap(TaskScatter),
}

impl Drawing {
    /// What it shows, in a few words.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Panels(figure) => &figure.title,
            Self::Bars(bars) => &bars.title,
            Self::HeatMap(map) => &map.title,
            Self::Stacks(stacks) => &stacks.title,
            Self::TaskMap(map) => &map.title,
        }
    }

    /// The numbers behind it.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        match self {
            Self::Panels(figure) => figure.numbers(),
            Self::Bars(bars) => bars.numbers(),
            Self::HeatMap(map) => map.numbers(),
            Self::Stacks(stacks) => stacks.numbers(),
            Self::TaskMap(map) => map.numbers(),
        }
    }

    /// Draws it for a phone, where it can be drawn so: panels below each other, bars with less room.
    #[must_use]
    pub fn to_narrow_svg(&self, theme: Theme, id: &str) -> Option<String> {
        let svg = match self {
            Self::Panels(figure) => PanelFigure {
                width: NARROW,
                columns: 1,
                ..figure.clone()
            }
            .to_svg(theme, id),
            Self::Bars(bars) => bars.to_svg_of_width(theme, id, NARROW),
            Self::HeatMap(_) => return None,
            Self::Stacks(stacks) => Stacks {
                width: NARROW,
                ..stacks.clone()
            }
            .to_svg(theme, id),
            Self::TaskMap(map) => TaskScatter {
                width: NARROW,
                height: 340.0,
                ..map.clone()
            }
            .to_svg(theme, id),
        };
        Some(svg)
    }

    /// Draws it; `id` keeps its inner names apart from those of others on the page.
    #[must_use]
    pub fn to_svg(&self, theme: Theme, id: &str) -> String {
        match self {
            Self::Panels(figure) => figure.to_svg(theme, id),
            Self::Bars(bars) => bars.to_svg(theme, id),
            Self::HeatMap(map) => map.to_svg(theme, id),
            Self::Stacks(stacks) => stacks.to_svg(theme, id),
            Self::TaskMap(map) => map.to_svg(theme, id),
        }
    }
}

impl From<PanelFigure> for Drawing {
    fn from(figure: PanelFigure) -> Self {
        Self::Panels(figure)
    }
}

impl From<Bars> for Drawing {
    fn from(bars: Bars) -> Self {
        Self::Bars(bars)
    }
}

impl From<HeatMap> for Drawing {
    fn from(map: HeatMap) -> Self {
        Self::HeatMap(map)
    }
}

impl From<Stacks> for Drawing {
    fn from(stacks: Stacks) -> Self {
        Self::Stacks(stacks)
    }
}

impl From<TaskScatter> for Drawing {
    fn from(map: TaskScatter) -> Self {
        Self::TaskMap(map)
    }
}

/// A figure of an experiment's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportFigure {
    /// The target that it belongs to, or none where it belongs to the experiment as a whole.
    #[serde(default)]
    pub target: Option<String>,
    /// The name of its file, without ending.
    pub name: String,
    /// What to draw.
    pub figure: Drawing,
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
