//! A state over time under several models.

use serde::{Deserialize, Serialize};

use super::{padded, span};
use crate::svg::{Panel, PanelFigure, PanelLine};

/// How an angle or another state goes over time, one panel a situation and one line a model.
///
/// ```
/// use taskscout_plot::figures::{Trace, TracePanel, Traces};
///
/// let trace = |name: &str, offset: f64| Trace {
///     name: name.into(),
///     points: (0..200).map(f64::from).map(|t| (t / 10.0, offset + (-t / 40.0).exp())).collect(),
/// };
/// let traces = Traces {
///     title: "The angle under control".into(),
///     x_title: "time (s)".into(),
///     y_title: "angle (rad)".into(),
///     panels: vec![TracePanel {
///         title: "wind from the side".into(),
///         traces: vec![trace("no model", 0.4), trace("aware", 0.02)],
///     }],
/// };
/// assert_eq!(traces.figure().panels[0].lines[1].name, "aware");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Traces {
    /// What they show together.
    pub title: String,
    /// Title of the horizontal axes.
    pub x_title: String,
    /// Title of the vertical axes.
    pub y_title: String,
    /// One panel a target, a start or another situation.
    pub panels: Vec<TracePanel>,
}

/// The traces of one situation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracePanel {
    /// Which situation.
    pub title: String,
    /// One trace a model.
    pub traces: Vec<Trace>,
}

/// What happened with one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The model or its strategy, which gives the colour.
    pub name: String,
    /// Time and value.
    pub points: Vec<(f64, f64)>,
}

impl Traces {
    /// The panels in rows of up to two, all to the same vertical scale.
    #[must_use]
    pub fn figure(&self) -> PanelFigure {
        let traces = || self.panels.iter().flat_map(|panel| &panel.traces);
        let points = || traces().flat_map(|trace| &trace.points);
        let x_range = span(points().map(|point| point.0));
        let y_range = span(points().map(|point| point.1)).map(|range| padded(range, 0.06));
        let panels: Vec<Panel> = self
            .panels
            .iter()
            .map(|panel| Panel {
                x_title: self.x_title.clone(),
                y_title: self.y_title.clone(),
                x_range,
                y_range,
                lines: panel.traces.iter().map(Trace::line).collect(),
                ..Panel::new(panel.title.as_str())
            })
            .collect();
        let figure = PanelFigure::new(self.title.as_str(), panels);
        PanelFigure {
            columns: figure.columns.min(2),
            panel_height: 260.0,
            description: self.describe(),
            ..figure
        }
    }

    fn describe(&self) -> String {
        let names = |panel: &TracePanel| {
            let names: Vec<&str> = panel
                .traces
                .iter()
                .map(|trace| trace.name.as_str())
                .collect();
            format!("{}: {}.", panel.title, names.join(", "))
        };
        let sentences: Vec<String> = self.panels.iter().map(names).collect();
        format!(
            "{} against {}. {}",
            self.y_title,
            self.x_title,
            sentences.join(" ")
        )
    }
}

impl Trace {
    fn line(&self) -> PanelLine {
        PanelLine::new(self.name.as_str(), self.points.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Theme;
    use crate::testing::assert_balanced;

    fn traces(points: Vec<(f64, f64)>) -> Traces {
        let panel = TracePanel {
            title: "a > b".to_owned(),
            traces: vec![Trace {
                name: "no <model>".to_owned(),
                points,
            }],
        };
        Traces {
            title: "Angle".to_owned(),
            x_title: "time (s)".to_owned(),
            y_title: "angle (rad)".to_owned(),
            panels: vec![panel.clone(), panel.clone(), panel],
        }
    }

    #[test]
    fn time_fills_the_axis() {
        let figure = traces(vec![(0.0, 1.0), (20.0, 0.0), (10.0, f64::NAN)]).figure();
        assert_eq!(figure.panels[2].x_range, Some((0.0, 20.0)));
        assert_eq!(figure.columns, 2);
        assert_balanced(&figure.to_svg(Theme::Standalone, "p"));
    }

    #[test]
    fn degenerate_traces_still_draw() {
        for points in [
            vec![],
            vec![(f64::NAN, 0.0)],
            vec![(0.0, 0.0)],
            vec![(1.0, 2.0); 900],
        ] {
            let svg = traces(points).figure().to_svg(Theme::Page, "p");
            assert_balanced(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
