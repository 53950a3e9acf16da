//! A map of tasks: where those lie that were measured, those that are next, and the target.

use serde::{Deserialize, Serialize};

use super::padded;
use crate::format::{grouped, signed};
use crate::nullable;
use crate::svg::Theme;
use crate::svg::canvas::{Canvas, Stroke, Text};
use crate::svg::frame::{BELOW_AXIS, Frame, Head, TEXT, content_top, empty, left_of_axis, open};
use crate::svg::legend::ROW;
use crate::svg::palette::Paint;
use crate::svg::place::{shortened, text_width};
use crate::svg::scale::{Range, Spacing};

/// Radius of the mark of a task with few and with most samples.
const SMALL: f64 = 3.0;
const LARGE: f64 = 10.0;
/// Names that stand beside their marks at most.
const NAMED: usize = 8;
/// What a name may take, in pixels.
const NAME_WIDTH: f64 = 150.0;

/// What the box around a target says.
const REGION: &str = "where the target may lie (9 of 10 cases)";
/// Its edge.
const EDGE: Stroke<'_> = Stroke::new(Paint::Series(2), 1.5).dashed("5 4");

/// What a task on the map is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpotKind {
    /// It can be measured.
    Possible,
    /// It was measured.
    Measured,
    /// It is to be measured next.
    Next,
    /// It is the target, as given or as its rows tell.
    Target,
}

impl SpotKind {
    /// In the order in which they are drawn.
    const ALL: [Self; 4] = [Self::Possible, Self::Measured, Self::Next, Self::Target];

    /// What it is, in a word or two.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Possible => "can be measured",
            Self::Measured => "measured",
            Self::Next => "next",
            Self::Target => "target",
        }
    }

    fn legend(self) -> &'static str {
        match self {
            Self::Measured => "measured (larger: more samples)",
            other => other.words(),
        }
    }
}

/// A task on the map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SpotKind,
    /// Where it lies across.
    #[serde(deserialize_with = "nullable::number")]
    pub x: f64,
    /// Where it lies upwards.
    #[serde(deserialize_with = "nullable::number")]
    pub y: f64,
    /// How many samples it has, or is to have.
    pub samples: usize,
    /// Where it may lie, where that is estimated: from and to across, from and to upwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<[(f64, f64); 2]>,
}

impl Spot {
    /// The region, where it has numbers.
    fn drawn_region(&self) -> Option<[(f64, f64); 2]> {
        let finite = |(from, to): &(f64, f64)| from.is_finite() && to.is_finite() && from <= to;
        self.region.filter(|sides| sides.iter().all(finite))
    }
}

/// Tasks by two numbers of each.
///
/// ```
/// use taskscout_plot::Theme;
/// use taskscout_plot::figures::{Spot, SpotKind, TaskScatter};
///
/// let spot = |name: &str, kind, x, y, samples| Spot { name: name.into(), kind, x, y, samples, region: None };
/// let map = TaskScatter {
///     title: "Map of tasks".into(),
///     x_title: "wind (m/s)".into(),
///     y_title: "load (kg)".into(),
///     spots: vec![
///         spot("calm", SpotKind::Measured, 0.0, 0.5, 40),
///         spot("tomorrow", SpotKind::Target, 7.0, 0.7, 0),
///     ],
///     ..TaskScatter::default()
/// };
/// let svg = map.to_svg(Theme::Standalone, "map");
/// assert!(svg.contains("<title>calm: measured, 40 samples, at 0, 0.500</title>"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskScatter {
    /// What it shows.
    pub title: String,
    /// Title of the horizontal axis.
    pub x_title: String,
    /// Title of the vertical axis.
    pub y_title: String,
    /// The tasks.
    pub spots: Vec<Spot>,
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
}

impl Default for TaskScatter {
    fn default() -> Self {
        Self {
            title: String::new(),
            x_title: String::new(),
            y_title: String::new(),
            spots: Vec::new(),
            width: 640.0,
            height: 420.0,
        }
    }
}

impl TaskScatter {
    fn drawn(&self) -> impl Iterator<Item = &Spot> {
        let spots = self.spots.iter();
        spots.filter(|spot| spot.x.is_finite() && spot.y.is_finite())
    }

    /// Whether there is anything to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.drawn().next().is_none()
    }

    /// Draws the map; `id` keeps its inner names apart from those of others on the page.
    #[must_use]
    pub fn to_svg(&self, theme: Theme, id: &str) -> String {
        let description = self.describe();
        let head = Head {
            title: &self.title,
            description: &description,
            width: self.width,
            height: self.height,
            id,
        };
        if self.is_empty() {
            return empty(theme, &head);
        }
        let mut canvas = Canvas::new(theme);
        open(&mut canvas, &head);
        let top = self.legend(&mut canvas, content_top(theme));
        let frame = self.frame(top);
        frame.axes(&mut canvas, &self.x_title, (&self.y_title, 14.0));
        self.regions(&mut canvas, &frame);
        self.marks(&mut canvas, &frame);
        self.names(&mut canvas, &frame);
        canvas.raw("</svg>");
        canvas.finish()
    }

    fn frame(&self, top: f64) -> Frame {
        let range = |side: usize, of: &dyn Fn(&Spot) -> f64| {
            let regions = self.drawn().filter_map(Spot::drawn_region);
            let ends = regions.flat_map(|sides| [sides[side].0, sides[side].1]);
            let values: Vec<f64> = self
                .drawn()
                .map(of)
                .chain(ends)
                .map(|value| value.clamp(-1e290, 1e290))
                .collect();
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let wide = high - low > 1e-9 * high.abs().max(low.abs()).max(1e-9);
            let (low, high) = match wide {
                true => padded((low, high), 0.09),
                false => (low - 0.5, high + 0.5),
            };
            Range {
                spacing: Spacing::Linear,
                low,
                high,
            }
        };
        let mut frame = Frame::new(range(0, &|spot| spot.x), range(1, &|spot| spot.y));
        frame.left = left_of_axis(&frame.y_ticks);
        frame.right = (self.width - 16.0).max(frame.left + 1.0);
        frame.top = top;
        frame.bottom = (self.height - BELOW_AXIS).max(top + 1.0);
        frame.floor = frame.bottom;
        frame
    }

    fn legend(&self, canvas: &mut Canvas, top: f64) -> f64 {
        let (mut x, mut y) = (16.0, top + 11.0);
        for kind in SpotKind::ALL {
            if !self.drawn().any(|spot| spot.kind == kind) {
                continue;
            }
            let wide = 22.0 + text_width(kind.legend(), TEXT) + 16.0;
            if x + wide > self.width && x > 16.0 {
                (x, y) = (16.0, y + ROW);
            }
            mark(canvas, kind, (x + 8.0, y), 5.0, "");
            canvas.text(x + 22.0, y + 4.0, Text::new(kind.legend(), TEXT));
            x += wide;
        }
        if self.drawn().any(|spot| spot.drawn_region().is_some()) {
            let wide = 22.0 + text_width(REGION, TEXT);
            if x + wide > self.width && x > 16.0 {
                (x, y) = (16.0, y + ROW);
            }
            canvas.polyline(&corners((x + 1.0, y - 5.0), (x + 15.0, y + 5.0)), EDGE);
            canvas.text(x + 22.0, y + 4.0, Text::new(REGION, TEXT));
        }
        y + 19.0
    }

    /// Where targets may lie, below all marks.
    fn regions(&self, canvas: &mut Canvas, frame: &Frame) {
        for [across, up] in self.drawn().filter_map(Spot::drawn_region) {
            let low = frame.place((across.0, up.0));
            let high = frame.place((across.1, up.1));
            canvas.polyline(&corners(low, high), EDGE);
        }
    }

    fn marks(&self, canvas: &mut Canvas, frame: &Frame) {
        let most = self.drawn().map(|spot| spot.samples).max().unwrap_or(1);
        for kind in SpotKind::ALL {
            for spot in self.drawn().filter(|spot| spot.kind == kind) {
                let share = spot.samples as f64 / most.max(1) as f64;
                let size = SMALL + (LARGE - SMALL) * share.sqrt();
                mark(
                    canvas,
                    kind,
                    frame.place((spot.x, spot.y)),
                    size,
                    &note(spot),
                );
            }
        }
    }

    /// Names of targets and of what is next, and of what has most samples, where nothing is in their way.
    fn names(&self, canvas: &mut Canvas, frame: &Frame) {
        let mut wanted: Vec<&Spot> = self
            .drawn()
            .filter(|spot| spot.kind != SpotKind::Possible && !spot.name.is_empty())
            .collect();
        let order = |spot: &&Spot| {
            let kind = SpotKind::ALL.iter().position(|kind| *kind == spot.kind);
            std::cmp::Reverse((kind, spot.samples))
        };
        wanted.sort_by_key(order);
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        for spot in wanted {
            let (x, y) = frame.place((spot.x, spot.y));
            let name = shortened(&spot.name, NAME_WIDTH, TEXT);
            let wide = text_width(&name, TEXT);
            let fits = x + 13.0 + wide <= self.width;
            let left = if fits { x + 13.0 } else { x - 13.0 - wide };
            let free = |(from, to, at): &(f64, f64, f64)| {
                left > *to + 4.0 || left + wide < *from - 4.0 || (y - at).abs() > 14.0
            };
            if taken.len() < NAMED && taken.iter().all(free) {
                canvas.text(left, y + 4.0, Text::new(&name, TEXT));
                taken.push((left, left + wide, y));
            }
        }
    }

    /// The same in sentences, for readers who cannot see it.
    fn describe(&self) -> String {
        let count = |kind| self.drawn().filter(|spot| spot.kind == kind).count();
        let targets = self.drawn().filter(|spot| spot.kind == SpotKind::Target);
        let targets: Vec<String> = targets
            .map(|spot| {
                let region = spot.drawn_region().map_or(String::new(), |[across, up]| {
                    let side =
                        |(from, to): (f64, f64)| format!("{} to {}", number(from), number(to));
                    format!(
                        " (between {} and {} in 9 of 10 cases)",
                        side(across),
                        side(up)
                    )
                });
                format!(
                    "{} at {}, {}{region}",
                    spot.name,
                    number(spot.x),
                    number(spot.y)
                )
            })
            .collect();
        let target = match targets.is_empty() {
            true => "the target is not located yet".to_owned(),
            false => format!("target {}", targets.join("; ")),
        };
        format!(
            "{} tasks measured, {} next; {target}.",
            count(SpotKind::Measured),
            count(SpotKind::Next)
        )
    }
}

/// The edge of a rectangle between two of its corners.
fn corners(low: (f64, f64), high: (f64, f64)) -> [(f64, f64); 5] {
    [low, (high.0, low.1), high, (low.0, high.1), low]
}

fn number(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value => signed(value),
    }
}

/// What a task says when hovered over.
fn note(spot: &Spot) -> String {
    let samples = match spot.samples {
        0 => String::new(),
        n => format!(", {} samples", grouped(n as f64)),
    };
    let (x, y) = (number(spot.x), number(spot.y));
    format!("{}: {}{samples}, at {x}, {y}", spot.name, spot.kind.words())
}

/// A mark of a kind, told apart by shape as well as by colour.
fn mark(canvas: &mut Canvas, kind: SpotKind, at: (f64, f64), size: f64, note: &str) {
    match kind {
        SpotKind::Possible => canvas.dot(at, 2.2, Paint::Muted, note),
        SpotKind::Measured => canvas.dot(at, size, Paint::Series(1), note),
        SpotKind::Next => canvas.circle(at, size + 2.0, Stroke::new(Paint::Series(5), 2.5), note),
        SpotKind::Target => canvas.star(at, 9.0, Paint::Series(2), note),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_balanced;

    fn spot(name: &str, kind: SpotKind, x: f64, y: f64) -> Spot {
        Spot {
            name: name.into(),
            kind,
            x,
            y,
            samples: 4,
            region: None,
        }
    }

    fn map(spots: Vec<Spot>) -> TaskScatter {
        TaskScatter {
            title: "Map".into(),
            x_title: "<x>".into(),
            y_title: "y".into(),
            spots,
            ..TaskScatter::default()
        }
    }

    #[test]
    fn names_are_escaped_and_what_is_measured_is_told_from_the_target() {
        let spots = vec![
            spot("<a>", SpotKind::Measured, 0.0, 0.0),
            spot("goal", SpotKind::Target, 1.0, 1.0),
            spot("far", SpotKind::Possible, 2.0, 2.0),
        ];
        let svg = map(spots).to_svg(Theme::Page, "m");
        assert_balanced(&svg);
        assert!(!svg.contains("<a>") && svg.contains(">&lt;a&gt;</text>"));
        assert!(svg.contains("1 tasks measured, 0 next; target goal at 1.00, 1.00."));
        assert!(
            !svg.contains(">far</text>"),
            "what can be measured is not named"
        );
    }

    #[test]
    fn an_estimated_target_has_a_box_that_fits_into_the_axes() {
        let mut target = spot("goal", SpotKind::Target, 1.0, 1.0);
        target.region = Some([(0.5, 40.0), (0.0, 2.0)]);
        let svg = map(vec![target.clone()]).to_svg(Theme::Page, "m");
        assert_balanced(&svg);
        assert!(svg.contains("stroke-dasharray") && svg.contains(REGION));
        assert!(
            svg.contains("between 0.500 to 40.0 and 0 to 2.00 in 9 of 10 cases"),
            "{svg}"
        );
        let frame = map(vec![target.clone()]).frame(0.0);
        let (right, _) = frame.place((40.0, 1.0));
        assert!(right < frame.right);
        target.region = Some([(f64::NAN, 40.0), (0.0, 2.0)]);
        let svg = map(vec![target]).to_svg(Theme::Page, "m");
        assert!(!svg.contains(REGION) && !svg.contains("NaN"));
    }

    #[test]
    fn odd_places_still_draw() {
        for spots in [
            vec![],
            vec![spot("only", SpotKind::Measured, 3.0, 0.0)],
            vec![spot("nowhere", SpotKind::Next, f64::NAN, 0.0)],
            vec![
                spot("far", SpotKind::Next, 1e300, -1e300),
                spot("near", SpotKind::Target, 0.0, 0.0),
            ],
            vec![spot("same", SpotKind::Measured, 1.0, 1.0); 30],
        ] {
            let mut odd = map(spots);
            for width in [640.0, 380.0, 20.0] {
                odd.width = width;
                let svg = odd.to_svg(Theme::Standalone, "m");
                assert_balanced(&svg);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }
}
