//! Line plots and panels of them as hand-made SVG.
//!
//! [`LinePlot::to_svg`] draws a plot for the page (colours follow the page's light or dark mode) or
//! to stand alone on white. A [`PanelFigure`] is several small plots under one legend;
//! [`crate::figures`] has bars and heat maps too.

pub(crate) mod canvas;
pub(crate) mod frame;
pub(crate) mod legend;
mod lines;
mod look;
pub(crate) mod palette;
mod panel_render;
mod panels;
pub(crate) mod place;
mod render;
pub(crate) mod scale;
mod thin;

use serde::{Deserialize, Serialize};

pub use look::PAGE_STYLE;
pub use palette::{FLOOR, OUT_OF_REACH};
pub use panels::{LineStyle, Panel, PanelBand, PanelFigure, PanelLevel, PanelLine, PanelMark};

/// Where a plot will be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Theme {
    /// Inside an HTML page that has [`PAGE_STYLE`] and may define `--ts-ink`, `--ts-muted`, `--ts-grid`, `--ts-surface`
    /// and the series colours `--ts-c0` to `--ts-c7`.
    Page,
    /// The same for a phone, where nobody hovers: without notes.
    Phone,
    /// As a file of its own, with a white background and its title drawn.
    Standalone,
}

/// How the vertical axis runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum YAxis {
    /// Logarithmic; linear if a value is zero or negative.
    Log,
    /// From 0 to 1, wider where values lie outside.
    Unit,
}

/// One line of a plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The name, which also fixes the look of known strategies.
    pub name: String,
    /// Points by rising `x`; those that are not finite are left out.
    pub points: Vec<SeriesPoint>,
    /// Whether the first point's value is drawn across the whole plot instead.
    pub across: bool,
}

/// One point of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Horizontal position.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
    /// Half the height of the shaded band around `y`.
    pub spread: Option<f64>,
    /// The edges of the band, where they are not alike on both sides.
    #[serde(default)]
    pub range: Option<(f64, f64)>,
    /// Shown when hovering over the point.
    pub note: String,
}

impl SeriesPoint {
    /// The lower and the upper edge of the band, where there is one.
    pub(crate) fn band(&self) -> Option<(f64, f64)> {
        let alike = self.spread.map(|spread| (self.y - spread, self.y + spread));
        let band = self.range.or(alike);
        band.filter(|(low, high)| low.is_finite() && high.is_finite())
    }
}

/// A dotted horizontal line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// What it is, for the legend.
    pub label: String,
    /// Its height.
    pub y: f64,
}

/// A place where a line reaches the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// The line's index among the series.
    pub series: usize,
    /// Horizontal position.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
    /// What to write beside it.
    pub label: String,
}

/// A line plot, ready to be drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinePlot {
    /// What the plot shows, in a few words.
    pub title: String,
    /// The same in sentences, for readers who cannot see it.
    pub description: String,
    /// Title of the horizontal axis.
    pub x_title: String,
    /// Title of the vertical axis.
    pub y_title: String,
    /// How the vertical axis runs.
    pub y_axis: YAxis,
    /// The lines.
    pub series: Vec<Series>,
    /// A line to compare with.
    pub reference: Option<Reference>,
    /// Where lines reach it.
    pub crossings: Vec<Crossing>,
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
}

impl LinePlot {
    /// Whether there is any point to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let drawable = |point: &SeriesPoint| point.x.is_finite() && point.y.is_finite();
        !self.series.iter().any(|s| s.points.iter().any(drawable))
    }

    /// Draws the plot; `id` keeps its inner names apart from those of other plots on the page.
    #[must_use]
    pub fn to_svg(&self, theme: Theme, id: &str) -> String {
        render::render(self, theme, id)
    }
}
