//! Drawing a plot: lay out, then draw from back to front.

use super::canvas::{Anchor, Canvas, Stroke, Text};
use super::lines::{Line, lines, x_range, y_range};
use super::palette::{Paint, Style};
use super::place::{Flag, apart, flags, text_width};
use super::scale::{Range, Spacing, Tick};
use super::{LinePlot, SeriesPoint, Theme};
use crate::format::escape;

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";
const TEXT: f64 = 12.0;
const LEGEND_ROW: f64 = 20.0;
const LABEL_ROW: f64 = 17.0;
const SWATCH: f64 = 30.0;
const FLAG_GAP: f64 = 5.0;

pub(super) fn render(plot: &LinePlot, theme: Theme, id: &str) -> String {
    let mut canvas = Canvas::new(theme);
    if plot.is_empty() {
        open(&mut canvas, plot, plot.height, id);
        let middle = (plot.width / 2.0, plot.height / 2.0);
        let text = Text::new("no values to plot", TEXT).muted();
        canvas.text(middle.0, middle.1, text.anchor(Anchor::Middle));
    } else {
        let drawing = Drawing::new(plot, theme);
        open(&mut canvas, plot, drawing.height, id);
        drawing.legend(&mut canvas);
        drawing.axes(&mut canvas);
        drawing.reference(&mut canvas);
        drawing.lines(&mut canvas);
        drawing.crossings(&mut canvas);
        drawing.end_labels(&mut canvas);
    }
    canvas.raw("</svg>");
    canvas.finish()
}

fn open(canvas: &mut Canvas, plot: &LinePlot, height: f64, id: &str) {
    let (width, id) = (plot.width, escape(id));
    let size = match canvas.theme {
        Theme::Page => "class=\"plot\"".to_owned(),
        Theme::Standalone => format!("width=\"{width}\" height=\"{height}\""),
    };
    canvas.raw(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" {size} \
         role=\"img\" aria-labelledby=\"{id}-title {id}-desc\" font-family=\"{FONT}\">"
    ));
    canvas.raw(&format!(
        "<title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>",
        escape(&plot.title),
        escape(&plot.description)
    ));
    if canvas.theme == Theme::Standalone {
        canvas.raw("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
        canvas.text(16.0, 24.0, Text::new(&plot.title, 15.0).bold());
    }
}

/// A plot with everything placed.
struct Drawing<'a> {
    plot: &'a LinePlot,
    lines: Vec<Line<'a>>,
    legend: Vec<(f64, usize)>,
    flags: Vec<Flag>,
    x: Range,
    y: Range,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Where the lowest value lies: above the labels of the crossings.
    floor: f64,
    legend_top: f64,
    /// The plot's height, and what further rows of legend and labels need.
    height: f64,
}

impl<'a> Drawing<'a> {
    fn new(plot: &'a LinePlot, theme: Theme) -> Self {
        let lines = lines(plot);
        let (x, y) = (x_range(&lines), y_range(plot, &lines));
        let (x_ticks, y_ticks) = (x.ticks(), y.ticks());
        let widest = |texts: &mut dyn Iterator<Item = &str>| {
            texts.map(|text| text_width(text, TEXT)).fold(0.0, f64::max)
        };
        let names = widest(&mut lines.iter().map(|line| line.series.name.as_str()));
        let left = 36.0 + widest(&mut y_ticks.iter().map(|tick| tick.label.as_str()));
        let legend_top = if theme == Theme::Standalone {
            34.0
        } else {
            0.0
        };
        let mut drawing = Self {
            plot,
            legend: Vec::new(),
            flags: Vec::new(),
            left,
            right: plot.width - names.clamp(24.0, 0.3 * plot.width) - 22.0,
            top: 0.0,
            bottom: 0.0,
            floor: 0.0,
            legend_top,
            height: plot.height,
            lines,
            x,
            y,
            x_ticks,
            y_ticks,
        };
        drawing.place_legend();
        drawing.place_flags();
        drawing
    }

    fn place_legend(&mut self) {
        let (mut x, mut row) = (self.left, 0);
        for text in self.legend_texts() {
            let width = SWATCH + 6.0 + text_width(&text, TEXT) + 16.0;
            if x + width > self.plot.width && x > self.left {
                (x, row) = (self.left, row + 1);
            }
            self.legend.push((x, row));
            x += width;
        }
        self.top = self.legend_top + LEGEND_ROW * (row + 1) as f64 + 12.0;
        self.height += LEGEND_ROW * row as f64;
    }

    fn legend_texts(&self) -> Vec<String> {
        let names = self.lines.iter().map(|line| line.series.name.clone());
        let reference = self.plot.reference.iter().map(|line| line.label.clone());
        names.chain(reference).collect()
    }

    fn place_flags(&mut self) {
        let crossings = self.plot.crossings.iter();
        let lines: Vec<(f64, f64)> = crossings
            .map(|crossing| {
                let width = text_width(&crossing.label, TEXT) + FLAG_GAP;
                (self.px(crossing.x), 1.05 * width)
            })
            .collect();
        self.flags = flags(&lines, self.left, self.right);
        let rows = self.flags.iter().map(|flag| flag.row + 1).max();
        let gutter = rows.map_or(0.0, |rows| LABEL_ROW * rows as f64 + 8.0);
        self.height += LABEL_ROW * rows.unwrap_or(1).saturating_sub(1) as f64;
        self.bottom = self.height - 48.0;
        self.floor = self.bottom - gutter;
    }

    fn px(&self, x: f64) -> f64 {
        self.left + self.x.share(x) * (self.right - self.left)
    }

    fn py(&self, y: f64) -> f64 {
        self.floor - self.y.share(y) * (self.floor - self.top)
    }

    fn legend(&self, canvas: &mut Canvas) {
        for (index, text) in self.legend_texts().iter().enumerate() {
            let (x, row) = self.legend[index];
            let y = self.legend_top + LEGEND_ROW * row as f64 + 11.0;
            match self.lines.get(index) {
                Some(line) => {
                    canvas.line((x, y), (x + SWATCH, y), stroke(line.style));
                    canvas.marker((x + SWATCH / 2.0, y), line.style, "");
                }
                None => canvas.line((x, y), (x + SWATCH, y), REFERENCE_STROKE),
            }
            canvas.text(x + SWATCH + 6.0, y + 4.0, Text::new(text, TEXT));
        }
    }

    fn axes(&self, canvas: &mut Canvas) {
        let thin = |paint| Stroke {
            paint,
            width: 1.0,
            dash: "",
        };
        for tick in &self.y_ticks {
            let y = self.py(tick.value);
            canvas.line((self.left, y), (self.right, y), thin(Paint::Grid));
            let text = Text::new(&tick.label, TEXT).muted().anchor(Anchor::End);
            canvas.text(self.left - 8.0, y + 4.0, text);
        }
        let base = self.bottom;
        canvas.line((self.left, base), (self.right, base), thin(Paint::Muted));
        for tick in &self.x_ticks {
            let x = self.px(tick.value);
            canvas.line((x, base), (x, base + 5.0), thin(Paint::Muted));
            let text = Text::new(&tick.label, TEXT).muted().anchor(Anchor::Middle);
            canvas.text(x, base + 18.0, text);
        }
        let middle = (self.left + self.right) / 2.0;
        let title = Text::new(&self.plot.x_title, TEXT).anchor(Anchor::Middle);
        canvas.text(middle, self.height - 8.0, title);
        let middle = (self.top + self.floor) / 2.0;
        let title = Text::new(&self.plot.y_title, TEXT).anchor(Anchor::Middle);
        canvas.upright_text(14.0, middle, title);
    }

    fn reference(&self, canvas: &mut Canvas) {
        if let Some(reference) = &self.plot.reference {
            let y = self.py(reference.y);
            canvas.line((self.left, y), (self.right, y), REFERENCE_STROKE);
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
                let y = self.py(line.points[0].y);
                vec![(self.left, y), (self.right, y)]
            } else {
                self.edge(line, |point| point.y)
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
        (self.px(point.x), self.py(point.y))
    }

    /// The outline of the band around a line: along its upper edge and back along the lower one.
    fn band(&self, line: &Line<'_>) -> Vec<(f64, f64)> {
        if line.points.iter().all(|point| point.spread.is_none()) {
            return Vec::new();
        }
        let upper = |point: &SeriesPoint| point.y + point.spread.unwrap_or(0.0);
        let lower = |point: &SeriesPoint| point.y - point.spread.unwrap_or(0.0);
        if line.series.across {
            let (high, low) = (
                self.py(upper(line.points[0])),
                self.py(lower(line.points[0])),
            );
            let (left, right) = (self.left, self.right);
            return vec![(left, high), (right, high), (right, low), (left, low)];
        }
        let mut outline = self.edge(line, upper);
        outline.extend(self.edge(line, lower).into_iter().rev());
        outline
    }

    /// Pixels along a line. Between rounds values are interpolated linearly, as budget ratios do,
    /// which is a bow and not a straight line on a logarithmic axis.
    fn edge(&self, line: &Line<'_>, height: impl Fn(&SeriesPoint) -> f64) -> Vec<(f64, f64)> {
        let steps = match self.y.spacing {
            Spacing::Linear => 1,
            Spacing::Log => 12,
        };
        let mut path: Vec<(f64, f64)> = Vec::new();
        for pair in line.points.windows(2) {
            let (from, to) = ((pair[0].x, height(pair[0])), (pair[1].x, height(pair[1])));
            path.extend((0..steps).map(|step| {
                let share = f64::from(step) / f64::from(steps);
                let between = |a: f64, b: f64| a + share * (b - a);
                (
                    self.px(between(from.0, to.0)),
                    self.py(between(from.1, to.1)),
                )
            }));
        }
        path.extend(
            line.points
                .last()
                .map(|p| (self.px(p.x), self.py(height(p)))),
        );
        path
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
            let (x, y) = (self.px(crossing.x), self.py(crossing.y));
            let thin = Stroke {
                paint: paint(crossing.series),
                width: 1.2,
                dash: "",
            };
            // Down to the label's row only, so as not to run through those below; a tick marks
            // the place on the axis.
            let foot = self.bottom - LABEL_ROW * flag.row as f64;
            canvas.line((x, y), (x, foot), thin);
            canvas.line((x, self.bottom - 3.0), (x, self.bottom + 5.0), thin);
        }
        for (crossing, flag) in flagged() {
            let (x, y) = (self.px(crossing.x), self.py(crossing.y));
            canvas.ring((x, y), paint(crossing.series), &crossing.label);
            let base = self.bottom - 6.0 - LABEL_ROW * flag.row as f64;
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
                    self.right
                } else {
                    self.px(last.x)
                };
                Some((x, self.py(last.y)))
            })
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|end| end.1).collect();
        let placed = apart(&wanted, 15.0, self.top, self.bottom);
        for ((line, end), y) in self.lines.iter().zip(ends).zip(placed) {
            let x = self.right + 16.0;
            let leader = Stroke {
                paint: Paint::Series(line.style.colour),
                width: 1.0,
                dash: "",
            };
            canvas.line((end.0 + 6.0, end.1), (x - 3.0, y), leader);
            canvas.text(x, y + 4.0, Text::new(&line.series.name, TEXT));
        }
    }
}

const REFERENCE_STROKE: Stroke<'static> = Stroke {
    paint: Paint::Ink,
    width: 1.3,
    dash: "1.3 3.5",
};

fn stroke(style: Style) -> Stroke<'static> {
    Stroke {
        paint: Paint::Series(style.colour),
        width: 2.0,
        dash: style.dash,
    }
}
