//! Writing SVG elements.

use std::f64::consts::PI;

use super::Theme;
use super::palette::{Marker, Paint, Style};
use crate::format::escape;

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text and how it looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) content: &'a str,
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) paint: Paint,
    pub(crate) bold: bool,
}

impl<'a> Text<'a> {
    pub(crate) fn new(content: &'a str, size: f64) -> Self {
        Self {
            content,
            size,
            anchor: Anchor::Start,
            paint: Paint::Ink,
            bold: false,
        }
    }

    pub(crate) fn anchor(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub(crate) fn muted(self) -> Self {
        Self {
            paint: Paint::Muted,
            ..self
        }
    }

    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }
}

/// A line and how it looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stroke<'a> {
    pub(crate) paint: Paint,
    pub(crate) width: f64,
    pub(crate) dash: &'a str,
    /// Whether what lies below shows through.
    pub(crate) faint: bool,
}

impl<'a> Stroke<'a> {
    pub(crate) const fn new(paint: Paint, width: f64) -> Self {
        Self {
            paint,
            width,
            dash: "",
            faint: false,
        }
    }

    pub(crate) const fn dashed(self, dash: &'a str) -> Self {
        Self { dash, ..self }
    }

    pub(crate) const fn faint(self) -> Self {
        Self {
            faint: true,
            ..self
        }
    }
}

/// SVG in the making.
pub(crate) struct Canvas {
    pub(crate) theme: Theme,
    out: String,
}

impl Canvas {
    pub(crate) fn new(theme: Theme) -> Self {
        Self {
            theme,
            out: String::new(),
        }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Markup as it is.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
        self.out.push('\n');
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, text: Text<'_>) {
        self.turned_text(x, y, text, "", "");
    }

    /// A text with a note for those who hover over it.
    pub(crate) fn noted_text(&mut self, (x, y): (f64, f64), text: Text<'_>, note: &str) {
        self.turned_text(x, y, text, "", note);
    }

    /// A text that reads upwards.
    pub(crate) fn upright_text(&mut self, x: f64, y: f64, text: Text<'_>) {
        self.noted_upright_text((x, y), text, "");
    }

    /// A text that reads upwards, with a note.
    pub(crate) fn noted_upright_text(&mut self, (x, y): (f64, f64), text: Text<'_>, note: &str) {
        let turn = format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"");
        self.turned_text(x, y, text, &turn, note);
    }

    fn turned_text(&mut self, x: f64, y: f64, text: Text<'_>, transform: &str, note: &str) {
        let title = noted(note);
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if text.bold {
            " font-weight=\"600\""
        } else {
            ""
        };
        // The halo keeps lines from running through letters.
        self.raw(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{}\"{anchor}{weight} fill=\"{}\" \
             stroke=\"{}\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\"\
             {transform}>{title}{}</text>",
            text.size,
            text.paint.attribute(self.theme),
            Paint::Surface.attribute(self.theme),
            escape(text.content)
        ));
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke<'_>) {
        self.polyline(&[from, to], stroke);
    }

    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], stroke: Stroke<'_>) {
        self.noted_polyline(points, stroke, "");
    }

    /// A line with a note for those who hover over it.
    pub(crate) fn noted_polyline(&mut self, points: &[(f64, f64)], stroke: Stroke<'_>, note: &str) {
        let dash = match stroke.dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        let faint = if stroke.faint {
            " stroke-opacity=\"0.4\""
        } else {
            ""
        };
        let end = match note {
            "" => "/>".to_owned(),
            note => format!("><title>{}</title></polyline>", escape(note)),
        };
        self.raw(&format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash}{faint} \
             stroke-linejoin=\"round\"{end}",
            coordinates(points),
            stroke.paint.attribute(self.theme),
            stroke.width
        ));
    }

    /// A shaded area.
    pub(crate) fn band(&mut self, outline: &[(f64, f64)], paint: Paint) {
        self.raw(&format!(
            "<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.15\" stroke=\"none\"/>",
            coordinates(outline),
            paint.attribute(self.theme)
        ));
    }

    /// A filled rectangle, with a note for those who hover over it.
    pub(crate) fn rect(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        paint: Paint,
        note: &str,
    ) {
        self.raw(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{}\"><title>{}</title></rect>",
            paint.attribute(self.theme),
            escape(note)
        ));
    }

    /// The edge of a rectangle.
    pub(crate) fn outline(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        paint: Paint,
    ) {
        self.raw(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"none\" stroke=\"{}\"/>",
            paint.attribute(self.theme)
        ));
    }

    /// A point of a series, with a note for those who hover over it.
    pub(crate) fn marker(&mut self, (x, y): (f64, f64), style: Style, note: &str) {
        let colour = Paint::Series(style.colour).attribute(self.theme);
        let surface = Paint::Surface.attribute(self.theme);
        let open = matches!(style.marker, Marker::Cross | Marker::Plus);
        let (fill, edge, width) = match (open, style.hollow) {
            (true, _) => ("none".to_owned(), colour, 2.0),
            (false, true) => (surface, colour, 1.8),
            (false, false) => (colour, surface, 1.2),
        };
        let paint = format!("fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"{width}\"");
        let title = noted(note);
        self.raw(&shape(style.marker, x, y, &paint, &title));
    }

    /// A cross in the colour of text, with a note.
    pub(crate) fn cross(&mut self, (x, y): (f64, f64), note: &str) {
        let paint = Paint::Ink.attribute(self.theme);
        self.raw(&format!(
            "<path d=\"M{:.1} {y:.1}h14m-7 -7v14\" fill=\"none\" stroke=\"{paint}\" \
             stroke-width=\"1.4\"><title>{}</title></path>",
            x - 7.0,
            escape(note)
        ));
    }

    /// A filled circle, with a note for those who hover over it.
    pub(crate) fn dot(&mut self, at: (f64, f64), radius: f64, paint: Paint, note: &str) {
        let look = format!(
            "fill=\"{}\" fill-opacity=\"0.75\"",
            paint.attribute(self.theme)
        );
        self.round(at, radius, &look, note);
    }

    /// The edge of a circle, likewise.
    pub(crate) fn circle(&mut self, at: (f64, f64), radius: f64, stroke: Stroke<'_>, note: &str) {
        let (paint, width) = (stroke.paint.attribute(self.theme), stroke.width);
        let look = format!("fill=\"none\" stroke=\"{paint}\" stroke-width=\"{width}\"");
        self.round(at, radius, &look, note);
    }

    fn round(&mut self, (x, y): (f64, f64), radius: f64, look: &str, note: &str) {
        let title = noted(note);
        self.raw(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" {look}>{title}</circle>"
        ));
    }

    /// A star with five points, with a note.
    pub(crate) fn star(&mut self, (x, y): (f64, f64), radius: f64, paint: Paint, note: &str) {
        let corners: Vec<(f64, f64)> = star()
            .iter()
            .map(|(dx, dy)| (x + radius / 1.5 * dx, y + radius / 1.5 * dy))
            .collect();
        self.raw(&format!(
            "<polygon points=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.2\">{}</polygon>",
            coordinates(&corners),
            paint.attribute(self.theme),
            Paint::Surface.attribute(self.theme),
            noted(note)
        ));
    }

    /// A ring where a curve reaches the reference.
    pub(crate) fn ring(&mut self, (x, y): (f64, f64), paint: Paint, note: &str) {
        self.raw(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5.5\" fill=\"{}\" stroke=\"{}\" \
             stroke-width=\"2.2\"><title>{}</title></circle>",
            Paint::Surface.attribute(self.theme),
            paint.attribute(self.theme),
            escape(note)
        ));
    }
}

fn shape(marker: Marker, x: f64, y: f64, paint: &str, title: &str) -> String {
    let r = 4.2;
    let polygon = |corners: &[(f64, f64)]| {
        let corners: Vec<(f64, f64)> = corners
            .iter()
            .map(|(dx, dy)| (x + r * dx, y + r * dy))
            .collect();
        let points = coordinates(&corners);
        format!("<polygon points=\"{points}\" {paint}>{title}</polygon>")
    };
    let strokes = |path: String| format!("<path d=\"{path}\" {paint}>{title}</path>");
    match marker {
        Marker::Circle => {
            format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\" {paint}>{title}</circle>")
        }
        Marker::Square => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        Marker::Triangle => polygon(&[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)]),
        Marker::Down => polygon(&[(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)]),
        Marker::Diamond => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        Marker::Star => polygon(&star()),
        Marker::Cross => strokes(format!("M{:.1} {:.1}l7 7m0 -7l-7 7", x - 3.5, y - 3.5)),
        Marker::Plus => strokes(format!("M{:.1} {y:.1}h9m-4.5 -4.5v9", x - 4.5)),
    }
}

/// The corners of a star around nothing.
fn star() -> Vec<(f64, f64)> {
    let corner = |index: u32| {
        let (angle, reach) = (f64::from(index) * PI / 5.0, [1.5, 0.65][index as usize % 2]);
        (reach * angle.sin(), -reach * angle.cos())
    };
    (0..10).map(corner).collect()
}

/// What is shown when hovering over something; nothing for no words.
fn noted(note: &str) -> String {
    match note {
        "" => String::new(),
        note => format!("<title>{}</title>", escape(note)),
    }
}

fn coordinates(points: &[(f64, f64)]) -> String {
    let pairs: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    pairs.join(" ")
}
