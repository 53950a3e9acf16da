//! Small multiples: panels of lines, bands, marks and levels under one legend.
//!
//! A name has one colour in all panels, that of the strategy of this name in every other plot.
//!
//! ```
//! use taskscout_plot::{Panel, PanelFigure, PanelLevel, PanelLine, Theme};
//!
//! let panel = Panel {
//!     x_title: "source samples collected".into(),
//!     lines: vec![PanelLine::new("aware", vec![(100.0, -0.5), (200.0, 0.2), (400.0, 0.4)])],
//!     levels: vec![PanelLevel { y: 0.5, label: "hidden target".into() }],
//!     ..Panel::new("wind")
//! };
//! let figure = PanelFigure::new("The chosen task", vec![panel]);
//! let svg = figure.to_svg(Theme::Standalone, "path");
//! assert!(svg.starts_with("<svg") && svg.contains("hidden target"));
//! ```

use serde::{Deserialize, Serialize};

use super::{Theme, panel_render};
use crate::nullable;

/// How a line of a panel is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineStyle {
    /// Full width, dashed as a series of this name is in every other plot, so that lines can be
    /// told apart without colours; with points that tell their values if there are few.
    #[default]
    Full,
    /// Thin and faint: one run among many.
    Thin,
    /// Dashed: something to compare with.
    Dashed,
}

/// A line of a panel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PanelLine {
    /// The series, which gives the colour and stands in the legend.
    pub name: String,
    /// Points in the order in which they are joined; those that are not finite are left out.
    #[serde(deserialize_with = "nullable::pairs")]
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    #[serde(default)]
    pub style: LineStyle,
    /// Shown after the name when hovering over the line.
    #[serde(default)]
    pub note: String,
}

impl PanelLine {
    /// A line of full width without a note.
    #[must_use]
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
            ..Self::default()
        }
    }
}

/// A shaded area of a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelBand {
    /// The series, which gives the colour.
    pub name: String,
    /// Position, lower and upper edge; those that are not finite are left out.
    #[serde(deserialize_with = "nullable::triples")]
    pub points: Vec<(f64, f64, f64)>,
}

/// A point to be pointed out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelMark {
    /// The series, which gives the colour of its dot; empty for a cross in the colour of text.
    pub name: String,
    /// Horizontal position.
    #[serde(deserialize_with = "nullable::number")]
    pub x: f64,
    /// Vertical position.
    #[serde(deserialize_with = "nullable::number")]
    pub y: f64,
    /// Written beside it; empty for nothing.
    pub label: String,
}

/// A dashed horizontal line, for instance the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelLevel {
    /// Its height.
    #[serde(deserialize_with = "nullable::number")]
    pub y: f64,
    /// What it is, for the legend.
    pub label: String,
}

/// One plot among several.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Written above it.
    pub title: String,
    /// Title of the horizontal axis; written once where panels below each other share it.
    #[serde(default)]
    pub x_title: String,
    /// Title of the vertical axis; written once where panels beside each other share it.
    #[serde(default)]
    pub y_title: String,
    /// The values that the horizontal axis spans; what lies outside is drawn on its edge. Without
    /// it the axis spans what there is.
    #[serde(default)]
    pub x_range: Option<(f64, f64)>,
    /// The same for the vertical axis.
    #[serde(default)]
    pub y_range: Option<(f64, f64)>,
    /// Lines, later ones over earlier ones of the same style.
    #[serde(default)]
    pub lines: Vec<PanelLine>,
    /// Shaded areas, behind everything else.
    #[serde(default)]
    pub bands: Vec<PanelBand>,
    /// Points to be pointed out.
    #[serde(default)]
    pub marks: Vec<PanelMark>,
    /// Dashed horizontal lines.
    #[serde(default)]
    pub levels: Vec<PanelLevel>,
}

impl Panel {
    /// An empty panel.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Whether there is any line or band to draw.
    pub(super) fn is_empty(&self) -> bool {
        let line = |line: &PanelLine| line.points.iter().any(|&point| finite(point));
        let band = |band: &PanelBand| band.points.iter().any(|&p| edges(p).is_some());
        !self.lines.iter().any(line) && !self.bands.iter().any(band)
    }
}

/// Several panels under one legend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelFigure {
    /// What the figure shows, in a few words.
    pub title: String,
    /// The same in sentences, for readers who cannot see it.
    pub description: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// How many panels stand in a row.
    pub columns: usize,
    /// Width of the whole figure in pixels.
    pub width: f64,
    /// Height of one panel with its titles, in pixels.
    pub panel_height: f64,
}

impl PanelFigure {
    /// Panels in rows of up to three.
    #[must_use]
    pub fn new(title: impl Into<String>, panels: Vec<Panel>) -> Self {
        Self {
            title: title.into(),
            description: String::new(),
            columns: panels.len().clamp(1, 3),
            panels,
            width: 760.0,
            panel_height: 230.0,
        }
    }

    /// Whether there is anything to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.panels.iter().all(Panel::is_empty)
    }

    /// Draws the figure; `id` keeps its inner names apart from those of others on the page.
    #[must_use]
    pub fn to_svg(&self, theme: Theme, id: &str) -> String {
        panel_render::render(self, theme, id)
    }
}

/// Whether a point can be drawn.
pub(super) fn finite((x, y): (f64, f64)) -> bool {
    x.is_finite() && y.is_finite()
}

/// Both edges of a band at a place, if they can be drawn.
pub(super) fn edges((x, low, high): (f64, f64, f64)) -> Option<[(f64, f64); 2]> {
    (finite((x, low)) && high.is_finite()).then_some([(x, low), (x, high)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_balanced;

    fn figure(points: Vec<(f64, f64)>) -> PanelFigure {
        let panel = Panel {
            lines: vec![PanelLine::new("aware", points)],
            ..Panel::new("wind")
        };
        PanelFigure::new("Path", vec![panel])
    }

    #[test]
    fn a_name_has_one_colour_and_one_entry() {
        let mut figure = figure(vec![(0.0, 1.0), (1.0, 2.0)]);
        let mut other = figure.panels[0].clone();
        other.lines.push(PanelLine {
            style: LineStyle::Thin,
            note: "seed 3".to_owned(),
            ..other.lines[0].clone()
        });
        other.levels = vec![PanelLevel {
            y: 1.5,
            label: "truth".to_owned(),
        }];
        figure.panels.extend([other.clone(), other]);
        let svg = figure.to_svg(Theme::Standalone, "p");
        assert_balanced(&svg);
        assert_eq!(svg.matches(">aware</text>").count(), 1);
        assert_eq!(svg.matches(">truth</text>").count(), 1);
        assert!(svg.contains("<title>aware, seed 3</title>") && !svg.contains("var("));
        assert!(svg.contains("<title>aware: 2.00 at 1.00</title>"));
    }

    #[test]
    fn shared_axis_titles_are_written_once() {
        let panel = Panel {
            x_title: "time".to_owned(),
            y_title: "angle".to_owned(),
            lines: vec![PanelLine::new("aware", vec![(0.0, 0.0), (1.0, 1.0)])],
            ..Panel::default()
        };
        let figure = PanelFigure {
            columns: 2,
            ..PanelFigure::new("Traces", vec![panel; 4])
        };
        let svg = figure.to_svg(Theme::Page, "p");
        assert_eq!(svg.matches(">time</text>").count(), 2);
        assert_eq!(svg.matches(">angle</text>").count(), 2);
    }

    #[test]
    fn long_lines_are_thinned_and_show_no_points() {
        let points = |n: u32| (0..n).map(|i| (f64::from(i), f64::from(i) / 7.0)).collect();
        let svg = figure(points(3_000)).to_svg(Theme::Page, "p");
        assert!(
            svg.len() < 6_000 && !svg.contains("<circle"),
            "{}",
            svg.len()
        );
        let few = figure(points(5)).to_svg(Theme::Page, "p");
        // One is in the legend.
        assert_eq!(few.matches("<circle").count(), 6);
    }

    #[test]
    fn degenerate_data_still_draws() {
        let (nan, huge) = (f64::NAN, f64::MAX);
        let cases = [
            vec![],
            vec![(nan, 1.0), (0.0, nan), (f64::INFINITY, 2.0)],
            vec![(1.0, 1.0)],
            vec![(2.0, 3.0); 5],
            vec![(2.0, 3.0); 500],
            vec![(0.0, -huge), (1.0, huge)],
            vec![(0.0, 1.0), (nan, nan), (1.0, 2.0)],
        ];
        for points in cases {
            let empty = points.iter().all(|&point| !finite(point));
            let mut figure = figure(points);
            figure.panels.push(Panel::new("empty"));
            figure.panels[0].x_range = Some((1.0, 1.0));
            figure.panels[0].y_range = Some((nan, 1.0));
            let svg = figure.to_svg(Theme::Page, "p");
            assert_balanced(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert_eq!(svg.contains("no values to plot"), empty);
            assert!(svg.contains("no values"));
        }
        let none = PanelFigure::new("None", Vec::new());
        assert!(none.is_empty() && none.to_svg(Theme::Page, "p").contains("no values to plot"));
    }

    #[test]
    fn hostile_names_are_escaped() {
        let evil = "<script>\"&'";
        let mark = PanelMark {
            name: evil.to_owned(),
            x: 0.0,
            y: 0.0,
            label: evil.to_owned(),
        };
        let panel = Panel {
            title: evil.to_owned(),
            x_title: evil.to_owned(),
            y_title: evil.to_owned(),
            lines: vec![PanelLine {
                note: evil.to_owned(),
                ..PanelLine::new(evil, vec![(0.0, 1.0), (1.0, 2.0)])
            }],
            bands: vec![PanelBand {
                name: evil.to_owned(),
                points: vec![(0.0, 0.0, 1.0), (1.0, 1.0, f64::NAN), (2.0, 1.0, 2.0)],
            }],
            levels: vec![PanelLevel {
                y: 1.0,
                label: evil.to_owned(),
            }],
            marks: vec![
                PanelMark {
                    name: String::new(),
                    ..mark.clone()
                },
                mark,
            ],
            ..Panel::default()
        };
        let figure = PanelFigure {
            description: evil.to_owned(),
            ..PanelFigure::new(evil, vec![panel])
        };
        for theme in [Theme::Page, Theme::Standalone] {
            let svg = figure.to_svg(theme, evil);
            assert_balanced(&svg);
            assert!(!svg.contains("<script"));
        }
    }
}
