//! Writing SVG elements.

use std::f64::consts::PI;

use super::Theme;
use super::frame::TEXT;
use super::look::{look, place, point};
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
        let (x, y, title) = (place(x), place(y), self.noted(note));
        let style = match self.theme {
            Theme::Page | Theme::Phone => text_classes(text),
            Theme::Standalone => text_attributes(text, self.theme),
        };
        self.raw(&format!(
            "<text x=\"{x}\" y=\"{y}\"{style}{transform}>{title}{}</text>",
            escape(text.content)
        ));
    }

    /// What is shown when hovering over something; nothing for no words, and where nobody hovers.
    fn noted(&self, note: &str) -> String {
        match (note, self.theme) {
            ("", _) | (_, Theme::Phone) => String::new(),
            (note, _) => format!("<title>{}</title>", escape(note)),
        }
    }

    /// An element with a note.
    fn shape(&mut self, name: &str, attributes: &str, note: &str) {
        let end = match self.noted(note).as_str() {
            "" => "/>".to_owned(),
            title => format!(">{title}</{name}>"),
        };
        self.raw(&format!("<{name} {attributes}{end}"));
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
        let faint = match stroke.faint {
            true => " stroke-opacity=\"0.4\"",
            false => "",
        };
        let joined = match self.theme {
            Theme::Standalone => " stroke-linejoin=\"round\"",
            Theme::Page | Theme::Phone => "",
        };
        let attributes = format!(
            "points=\"{}\" {}{}{dash}{faint}{joined}",
            coordinates(points),
            look(self.theme, None, Some(stroke.paint)),
            width(stroke.width)
        );
        self.shape("polyline", &attributes, note);
    }

    /// A shaded area.
    pub(crate) fn band(&mut self, outline: &[(f64, f64)], paint: Paint) {
        let look = look(self.theme, Some(paint), None);
        let points = coordinates(outline);
        self.raw(&format!(
            "<polygon points=\"{points}\" {look} fill-opacity=\"0.15\"/>"
        ));
    }

    /// A filled rectangle, with a note for those who hover over it.
    pub(crate) fn rect(&mut self, at: (f64, f64), size: (f64, f64), paint: Paint, note: &str) {
        let look = look(self.theme, Some(paint), None);
        self.shape("rect", &format!("{} {look}", corner(at, size)), note);
    }

    /// The edge of a rectangle.
    pub(crate) fn outline(&mut self, at: (f64, f64), size: (f64, f64), paint: Paint) {
        let look = look(self.theme, None, Some(paint));
        self.shape("rect", &format!("{} {look}", corner(at, size)), "");
    }

    /// A point of a series, with a note for those who hover over it.
    pub(crate) fn marker(&mut self, (x, y): (f64, f64), style: Style, note: &str) {
        let closed = !matches!(style.marker, Marker::Cross | Marker::Plus);
        let paint = point(self.theme, style, closed);
        let (name, form) = form(style.marker, x, y);
        self.shape(name, &format!("{form} {paint}"), note);
    }

    /// A cross in the colour of text, with a note.
    pub(crate) fn cross(&mut self, (x, y): (f64, f64), note: &str) {
        let attributes = format!(
            "d=\"M{} {}h14m-7 -7v14\" {} stroke-width=\"1.4\"",
            place(x - 7.0),
            place(y),
            look(self.theme, None, Some(Paint::Ink))
        );
        self.shape("path", &attributes, note);
    }

    /// A filled circle, with a note for those who hover over it.
    pub(crate) fn dot(&mut self, at: (f64, f64), radius: f64, paint: Paint, note: &str) {
        let look = look(self.theme, Some(paint), None) + " fill-opacity=\"0.75\"";
        self.round(at, radius, &look, note);
    }

    /// The edge of a circle, likewise.
    pub(crate) fn circle(&mut self, at: (f64, f64), radius: f64, stroke: Stroke<'_>, note: &str) {
        let look = look(self.theme, None, Some(stroke.paint)) + &width(stroke.width);
        self.round(at, radius, &look, note);
    }

    fn round(&mut self, (x, y): (f64, f64), radius: f64, look: &str, note: &str) {
        let (x, y, radius) = (place(x), place(y), place(radius));
        let attributes = format!("cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {look}");
        self.shape("circle", &attributes, note);
    }

    /// A star with five points, with a note.
    pub(crate) fn star(&mut self, (x, y): (f64, f64), radius: f64, paint: Paint, note: &str) {
        let corners: Vec<(f64, f64)> = star()
            .iter()
            .map(|(dx, dy)| (x + radius / 1.5 * dx, y + radius / 1.5 * dy))
            .collect();
        let attributes = format!(
            "points=\"{}\" {} stroke-width=\"1.2\"",
            coordinates(&corners),
            look(self.theme, Some(paint), Some(Paint::Surface))
        );
        self.shape("polygon", &attributes, note);
    }

    /// A ring where a curve reaches the reference.
    pub(crate) fn ring(&mut self, at: (f64, f64), paint: Paint, note: &str) {
        let look = look(self.theme, Some(Paint::Surface), Some(paint));
        self.round(at, 5.5, &format!("{look} stroke-width=\"2.2\""), note);
    }
}

/// The look of a text on a page.
fn text_classes(text: Text<'_>) -> String {
    let paint = match text.paint {
        Paint::Ink => None,
        paint => Some(format!("f{}", paint.letter())),
    };
    let anchor = match text.anchor {
        Anchor::Start => None,
        Anchor::Middle => Some("c".to_owned()),
        Anchor::End => Some("e".to_owned()),
    };
    let bold = text.bold.then(|| "b".to_owned());
    let classes: Vec<String> = [paint, anchor, bold].into_iter().flatten().collect();
    let class = match classes.is_empty() {
        true => String::new(),
        false => format!(" class=\"{}\"", classes.join(" ")),
    };
    match text.size.to_bits() == TEXT.to_bits() {
        true => class,
        false => format!(" font-size=\"{}\"{class}", text.size),
    }
}

/// The look of a text in a file of its own. The halo keeps lines from running through letters.
fn text_attributes(text: Text<'_>, theme: Theme) -> String {
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = match text.bold {
        true => " font-weight=\"600\"",
        false => "",
    };
    format!(
        " font-size=\"{}\"{anchor}{weight} {} stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
        text.size,
        look(theme, Some(text.paint), Some(Paint::Surface))
    )
}

/// How wide a line is; lines are 1 wide where nothing is said.
fn width(width: f64) -> String {
    match width.to_bits() == 1.0_f64.to_bits() {
        true => String::new(),
        false => format!(" stroke-width=\"{width}\""),
    }
}

/// Where a rectangle lies, and how large it is.
fn corner((x, y): (f64, f64), (width, height): (f64, f64)) -> String {
    let [x, y, width, height] = [x, y, width, height].map(place);
    format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

/// The element of a point and its form.
fn form(marker: Marker, x: f64, y: f64) -> (&'static str, String) {
    let r = 4.2;
    let polygon = |corners: &[(f64, f64)]| {
        let corners: Vec<(f64, f64)> = corners
            .iter()
            .map(|(dx, dy)| (x + r * dx, y + r * dy))
            .collect();
        ("polygon", format!("points=\"{}\"", coordinates(&corners)))
    };
    let strokes = |x: f64, y: f64, rest: &str| {
        let path = format!("d=\"M{} {}{rest}\"", place(x), place(y));
        ("path", path)
    };
    match marker {
        Marker::Circle => (
            "circle",
            format!("cx=\"{}\" cy=\"{}\" r=\"{r}\"", place(x), place(y)),
        ),
        Marker::Square => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        Marker::Triangle => polygon(&[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)]),
        Marker::Down => polygon(&[(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)]),
        Marker::Diamond => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        Marker::Star => polygon(&star()),
        Marker::Cross => strokes(x - 3.5, y - 3.5, "l7 7m0 -7l-7 7"),
        Marker::Plus => strokes(x - 4.5, y, "h9m-4.5 -4.5v9"),
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

fn coordinates(points: &[(f64, f64)]) -> String {
    let pairs: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{},{}", place(*x), place(*y)))
        .collect();
    pairs.join(" ")
}
