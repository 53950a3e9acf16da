//! One state of a system against another, for instance an angle against its rate.

use serde::{Deserialize, Serialize};

use super::{padded, span};
use crate::format::{list, short};
use crate::svg::{Panel, PanelFigure, PanelLine, PanelMark};

/// Phase portraits side by side, all to the same scale.
///
/// ```
/// use taskscout_plot::figures::{Portrait, PortraitCurve, Portraits};
///
/// let spiral = |rate: f64| (0..500).map(|step| f64::from(step) / 50.0)
///     .map(|t| ((-rate * t).exp() * t.cos(), -(-rate * t).exp() * t.sin()))
///     .collect();
/// let portraits = Portraits {
///     title: "Does the pendulum come to rest?".into(),
///     portraits: vec![Portrait {
///         title: "wind from the side".into(),
///         x_title: "θ (rad)".into(),
///         y_title: "dθ/dt (rad/s)".into(),
///         curves: vec![
///             PortraitCurve { name: "passive".into(), points: spiral(0.1) },
///             PortraitCurve { name: "aware".into(), points: spiral(0.5) },
///         ],
///     }],
/// };
/// assert_eq!(portraits.figure().panels[0].lines.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Portraits {
    /// What they show together.
    pub title: String,
    /// The portraits.
    pub portraits: Vec<Portrait>,
}

/// One phase portrait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Portrait {
    /// What it shows.
    pub title: String,
    /// Title of the horizontal axis.
    pub x_title: String,
    /// Title of the vertical axis.
    pub y_title: String,
    /// The curves.
    pub curves: Vec<PortraitCurve>,
}

/// One curve of a portrait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PortraitCurve {
    /// What it belongs to, a strategy or a model, which gives the colour.
    pub name: String,
    /// Points in the order of time.
    pub points: Vec<(f64, f64)>,
}

impl Portraits {
    /// One panel a portrait, with a dot where curves start and a cross at the origin.
    #[must_use]
    pub fn figure(&self) -> PanelFigure {
        let points = || {
            let curves = self.portraits.iter().flat_map(|one| &one.curves);
            curves
                .flat_map(|curve| curve.points.iter().copied())
                .chain([(0.0, 0.0)])
        };
        let x_range = span(points().map(|point| point.0)).map(|range| padded(range, 0.06));
        let y_range = span(points().map(|point| point.1)).map(|range| padded(range, 0.06));
        let panels = self.portraits.iter().map(|portrait| Panel {
            x_range,
            y_range,
            ..portrait.panel()
        });
        let figure = PanelFigure::new(self.title.as_str(), panels.collect());
        PanelFigure {
            description: self.describe(),
            panel_height: if figure.columns < 3 { 360.0 } else { 270.0 },
            ..figure
        }
    }

    fn describe(&self) -> String {
        let sentences = self.portraits.iter().map(|portrait| {
            let ends = portrait.curves.iter().filter_map(|curve| {
                let (x, y) = curve.drawn().next_back()?;
                Some(format!("{} at ({}, {})", curve.name, short(x), short(y)))
            });
            format!(
                "{}: curves end with {}.",
                portrait.title,
                list(&ends.collect::<Vec<_>>())
            )
        });
        sentences.collect::<Vec<_>>().join(" ")
    }
}

impl PortraitCurve {
    fn drawn(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> {
        let finite = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        self.points.iter().copied().filter(finite)
    }
}

impl Portrait {
    fn panel(&self) -> Panel {
        let mut marks = vec![PanelMark {
            name: String::new(),
            x: 0.0,
            y: 0.0,
            label: String::new(),
        }];
        for curve in &self.curves {
            let label = if marks.len() == 1 { "start" } else { "" };
            marks.extend(curve.drawn().next().map(|(x, y)| PanelMark {
                name: curve.name.clone(),
                x,
                y,
                label: label.to_owned(),
            }));
        }
        let lines = self.curves.iter();
        let lines = lines.map(|curve| PanelLine::new(curve.name.as_str(), curve.points.clone()));
        Panel {
            x_title: self.x_title.clone(),
            y_title: self.y_title.clone(),
            lines: lines.collect(),
            marks,
            ..Panel::new(self.title.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Theme;
    use crate::testing::assert_balanced;

    fn portraits(points: &[(f64, f64)]) -> Portraits {
        let curve = |name: &str| PortraitCurve {
            name: name.to_owned(),
            points: points.to_vec(),
        };
        let portrait = Portrait {
            title: "<b>".to_owned(),
            x_title: "θ".to_owned(),
            y_title: "dθ/dt".to_owned(),
            curves: vec![curve("aware"), curve("&")],
        };
        Portraits {
            title: "Rest".to_owned(),
            portraits: vec![portrait.clone(), portrait],
        }
    }

    #[test]
    fn starts_and_the_origin_are_marked_on_one_scale() {
        let figure = portraits(&[(1.0, 2.0), (0.5, -1.0)]).figure();
        let marks = &figure.panels[0].marks;
        assert_eq!(marks.len(), 3);
        assert_eq!(
            (marks[1].label.as_str(), marks[2].label.as_str()),
            ("start", "")
        );
        assert_eq!(figure.panels[0].x_range, figure.panels[1].x_range);
        assert_eq!(figure.panels[0].x_range, Some((-0.06, 1.06)));
        assert_balanced(&figure.to_svg(Theme::Page, "p"));
    }

    #[test]
    fn degenerate_portraits_still_draw() {
        for points in [vec![], vec![(f64::NAN, 0.0)], vec![(0.0, 0.0); 3]] {
            let svg = portraits(&points).figure().to_svg(Theme::Page, "p");
            assert_balanced(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
