//! Drawing a plot: lay out, then draw from back to front.

use super::canvas::{Anchor, Canvas, Stroke, Text};
use super::frame::{BELOW_AXIS, Frame, Head, TEXT, content_top, empty, left_of_axis, open, widest};
use super::legend::{self, Entry, Legend};
use super::lines::{Line, lines, x_range, y_range};
use super::palette::{FLOOR, OUT_OF_REACH, Paint, Style};
use super::place::{Flag, apart, flags, text_width};
use super::{Crossing, LinePlot, SeriesPoint, Theme};

const LABEL_ROW: f64 = 17.0;
const FLAG_GAP: f64 = 5.0;

pub(super) fn render(plot: &LinePlot, theme: Theme, id: &str) -> String {
    let head = |height| Head {
        title: &plot.title,
        description: &plot.description,
        width: plot.width,
        height,
        id,
    };
    if plot.is_empty() {
        return empty(theme, &head(plot.height));
    }
    let mut canvas = Canvas::new(theme);
    let drawing = Drawing::new(plot, theme);
    open(&mut canvas, &head(drawing.height));
    drawing.legend.draw(&mut canvas);
    drawing
        .frame
        .axes(&mut canvas, &plot.x_title, (&plot.y_title, 14.0));
    drawing.reference(&mut canvas);
    drawing.lines(&mut canvas);
    drawing.crossings(&mut canvas);
    drawing.end_labels(&mut canvas);
    canvas.raw("</svg>");
    canvas.finish()
}

/// A plot with everything placed.
struct Drawing<'a> {
    plot: &'a LinePlot,
    lines: Vec<Line<'a>>,
    legend: Legend,
    flags: Vec<Flag>,
    frame: Frame,
    /// The plot's height, and what further rows of legend and labels need.
    height: f64,
}

impl<'a> Drawing<'a> {
    fn new(plot: &'a LinePlot, theme: Theme) -> Self {
        let lines = lines(plot);
        let mut frame = Frame::new(x_range(&lines), y_range(plot, &lines));
        let names = widest(lines.iter().map(end_name));
        frame.left = left_of_axis(&frame.y_ticks);
        frame.right = plot.width - names.clamp(24.0, 0.3 * plot.width) - 22.0;
        let top = content_top(theme);
        let legend = Legend::new(entries(plot, &lines), frame.left, plot.width, top);
        frame.top = top + legend::ROW * legend.rows() as f64 + 12.0;
        let mut drawing = Self {
            plot,
            height: plot.height + legend::ROW * (legend.rows() - 1) as f64,
            flags: Vec::new(),
            lines,
            legend,
            frame,
        };
        drawing.place_flags();
        drawing
    }

    fn place_flags(&mut self) {
        let frame = &mut self.frame;
        let crossings = self.plot.crossings.iter();
        let lines: Vec<(f64, f64)> = crossings
            .map(|crossing| {
                let width = text_width(&crossing.label, TEXT) + FLAG_GAP;
                (frame.px(crossing.x), 1.05 * width)
            })
            .collect();
        self.flags = flags(&lines, (frame.left, frame.right), (0.0, self.plot.width));
        let rows = self.flags.iter().map(|flag| flag.row + 1).max();
        let gutter = rows.map_or(0.0, |rows| LABEL_ROW * rows as f64 + 8.0);
        self.height += LABEL_ROW * rows.unwrap_or(1).saturating_sub(1) as f64;
        frame.bottom = self.height - BELOW_AXIS;
        frame.floor = frame.bottom - gutter;
    }

    fn reference(&self, canvas: &mut Canvas) {
        if let Some(reference) = &self.plot.reference {
            let y = self.frame.py(reference.y);
            canvas.line(
                (self.frame.left, y),
                (self.frame.right, y),
                REFERENCE_STROKE,
            );
        }
    }

    fn lines(&self, canvas: &mut Canvas) {
        for line in &self.lines {
            let outline = self.band(line);
            if !outline.is_empty() {
                canvas.band(&outline, Paint::Series(line.style.colour));
            }
        }
        for line in &self.lines {
            let path: Vec<(f64, f64)> = if line.series.across {
                let y = self.frame.py(line.points[0].y);
                vec![(self.frame.left, y), (self.frame.right, y)]
            } else {
                self.course(line)
            };
            canvas.polyline(&path, stroke(line.style));
        }
        for line in self.lines.iter().filter(|line| !line.series.across) {
            let stride = line.points.len().div_ceil(24);
            for point in line.points.iter().rev().step_by(stride) {
                canvas.marker(self.place(point), line.style, &point.note);
            }
        }
    }

    fn place(&self, point: &SeriesPoint) -> (f64, f64) {
        (self.frame.px(point.x), self.frame.py(point.y))
    }

    /// The outline of the band around a line: along its upper edge and back along the lower one.
    fn band(&self, line: &Line<'_>) -> Vec<(f64, f64)> {
        if line.points.iter().all(|point| point.band().is_none()) {
            return Vec::new();
        }
        let upper = |point: &SeriesPoint| point.band().map_or(point.y, |band| band.1);
        let lower = |point: &SeriesPoint| point.band().map_or(point.y, |band| band.0);
        if line.series.across {
            let (high, low) = (
                self.frame.py(upper(line.points[0])),
                self.frame.py(lower(line.points[0])),
            );
            let (left, right) = (self.frame.left, self.frame.right);
            return vec![(left, high), (right, high), (right, low), (left, low)];
        }
        let mut outline = self.edge(line, upper);
        outline.extend(self.edge(line, lower).into_iter().rev());
        outline
    }

    /// Pixels along an edge of a band, straight between points.
    fn edge(&self, line: &Line<'_>, height: impl Fn(&SeriesPoint) -> f64) -> Vec<(f64, f64)> {
        let points = line.points.iter();
        points
            .map(|point| self.frame.place((point.x, height(point))))
            .collect()
    }

    /// Pixels along a line, straight between points and where it reaches the reference. That place is interpolated
    /// linearly; all values in between, so interpolated, would be a bow on a logarithmic axis that nobody measured.
    fn course(&self, line: &Line<'_>) -> Vec<(f64, f64)> {
        let own = |crossing: &&Crossing| {
            let series = self.plot.series.get(crossing.series);
            series.is_some_and(|series| std::ptr::eq(series, line.series))
        };
        let crossings = self.plot.crossings.iter().filter(own);
        let points = line.points.iter().map(|point| (point.x, point.y));
        let mut course: Vec<(f64, f64)> = points.collect();
        for crossing in crossings.filter(|one| one.x.is_finite() && one.y.is_finite()) {
            let at = course.partition_point(|point| point.0 < crossing.x);
            if at > 0 && at < course.len() {
                course.insert(at, (crossing.x, crossing.y));
            }
        }
        course
            .into_iter()
            .map(|point| self.frame.place(point))
            .collect()
    }

    fn crossings(&self, canvas: &mut Canvas) {
        let paint = |series: usize| {
            let line = self.plot.series.get(series).and_then(|series| {
                self.lines
                    .iter()
                    .find(|line| std::ptr::eq(line.series, series))
            });
            line.map_or(Paint::Ink, |line| Paint::Series(line.style.colour))
        };
        let flagged = || self.plot.crossings.iter().zip(&self.flags);
        for (crossing, flag) in flagged() {
            let (x, y) = (self.frame.px(crossing.x), self.frame.py(crossing.y));
            let thin = Stroke::new(paint(crossing.series), 1.2);
            // Down to the label's row only, so as not to run through those below; a tick marks
            // the place on the axis.
            let foot = self.frame.bottom - LABEL_ROW * flag.row as f64;
            canvas.line((x, y), (x, foot), thin);
            canvas.line(
                (x, self.frame.bottom - 3.0),
                (x, self.frame.bottom + 5.0),
                thin,
            );
        }
        for (crossing, flag) in flagged() {
            let (x, y) = (self.frame.px(crossing.x), self.frame.py(crossing.y));
            canvas.ring((x, y), paint(crossing.series), &crossing.label);
            let base = self.frame.bottom - 6.0 - LABEL_ROW * flag.row as f64;
            let text = Text::new(&crossing.label, TEXT).bold();
            if flag.on_left {
                canvas.text(x - FLAG_GAP, base, text.anchor(Anchor::End));
            } else {
                canvas.text(x + FLAG_GAP, base, text);
            }
        }
    }

    fn end_labels(&self, canvas: &mut Canvas) {
        let ends: Vec<(f64, f64)> = self
            .lines
            .iter()
            .filter_map(|line| {
                let last = line.points.last()?;
                let x = if line.series.across {
                    self.frame.right
                } else {
                    self.frame.px(last.x)
                };
                Some((x, self.frame.py(last.y)))
            })
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|end| end.1).collect();
        let placed = apart(&wanted, 15.0, self.frame.top, self.frame.bottom);
        for ((line, end), y) in self.lines.iter().zip(ends).zip(placed) {
            let x = self.frame.right + 16.0;
            let leader = Stroke::new(Paint::Series(line.style.colour), 1.0);
            canvas.line((end.0 + 6.0, end.1), (x - 3.0, y), leader);
            canvas.text(x, y + 4.0, Text::new(end_name(line), TEXT));
        }
    }
}

const REFERENCE_STROKE: Stroke<'static> = Stroke::new(Paint::Ink, 1.3).dashed("1.3 3.5");

fn stroke(style: Style) -> Stroke<'static> {
    Stroke::new(Paint::Series(style.colour), 2.0).dashed(style.dash)
}

/// A line's name at its end, where room is dear: what stands behind it is said in the legend.
fn end_name<'a>(line: &Line<'a>) -> &'a str {
    let name = line.series.name.as_str();
    if name == FLOOR {
        return "floor";
    }
    name.strip_suffix(OUT_OF_REACH).unwrap_or(name)
}

fn entries(plot: &LinePlot, lines: &[Line<'_>]) -> Vec<Entry> {
    let series = lines.iter().map(|line| Entry {
        text: line.series.name.clone(),
        stroke: stroke(line.style),
        marker: Some(line.style),
    });
    let reference = plot.reference.iter().map(|reference| Entry {
        text: reference.label.clone(),
        stroke: REFERENCE_STROKE,
        marker: None,
    });
    series.chain(reference).collect()
}
