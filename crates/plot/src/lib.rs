//! Figures as hand-made SVG: line plots, panels, bars, maps and heat maps.
//!
//! A figure is plain data until it is drawn; the same data gives the same bytes. Its numbers are a table ([`Numbers`]). Nothing here knows
//! what an experiment is: whoever has results makes figures of them.
//!
//! ```
//! use taskscout_plot::{LinePlot, Series, SeriesPoint, Theme, YAxis};
//!
//! let point = |x, y| SeriesPoint { x, y, spread: None, range: None, note: String::new() };
//! let plot = LinePlot {
//!     title: "Loss".into(), description: "The loss falls.".into(),
//!     x_title: "samples".into(), y_title: "loss".into(), y_axis: YAxis::Log,
//!     series: vec![Series {
//!         name: "passive".into(), points: vec![point(100.0, 0.4), point(200.0, 0.1)], across: false,
//!     }],
//!     reference: None, crossings: vec![], width: 760.0, height: 440.0,
//! };
//! let svg = plot.to_svg(Theme::Standalone, "loss");
//! assert!(svg.starts_with("<svg") && svg.contains("passive"));
//! ```

pub mod figures;
pub mod format;
mod nullable;
mod numbers;
mod svg;
#[cfg(test)]
mod testing;

pub use numbers::Numbers;
pub use svg::{
    Crossing, FLOOR, LinePlot, LineStyle, OUT_OF_REACH, PAGE_STYLE, Panel, PanelBand, PanelFigure,
    PanelLevel, PanelLine, PanelMark, Reference, Series, SeriesPoint, Theme, YAxis,
};
