//! Drawing panels: lay out their grid, then each from back to front.

use super::Theme;
use super::canvas::{Anchor, Canvas, Stroke, Text};
use super::frame::{BELOW_AXIS, Frame, Head, TEXT, content_top, empty, left_of_axis, open};
use super::legend::{self, Entry, Legend};
use super::palette::{Marker, Paint, Style, styles};
use super::panels::{LineStyle, Panel, PanelFigure, PanelLine, PanelMark, edges, finite};
use super::place::text_width;
use super::scale::{Range, Spacing};
use super::thin::thin;
use crate::format::{grouped, signed};

/// Room for a panel's title.
const TITLE: f64 = 26.0;
/// Room at the right end, for half a tick label.
const RIGHT: f64 = 22.0;
/// Lines with more points than this show none of them.
const FEW: usize = 24;
const LEVEL: Stroke<'static> = Stroke::new(Paint::Ink, 1.4).dashed("6 4");

pub(super) fn render(figure: &PanelFigure, theme: Theme, id: &str) -> String {
    let head = |height| Head {
        title: &figure.title,
        description: &figure.description,
        width: figure.width,
        height,
        id,
    };
    if figure.is_empty() {
        return empty(theme, &head(figure.panel_height));
    }
    let looks = Looks::of(figure);
    let legend = Legend::new(
        looks.entries(figure),
        16.0,
        figure.width,
        content_top(theme),
    );
    let top = content_top(theme) + legend::ROW * legend.rows() as f64 + 10.0;
    let grid = Grid::new(figure, top);
    let mut canvas = Canvas::new(theme);
    open(&mut canvas, &head(grid.bottom()));
    legend.draw(&mut canvas);
    for (index, panel) in figure.panels.iter().enumerate() {
        grid.draw(&mut canvas, &looks, index, panel);
    }
    canvas.raw("</svg>");
    canvas.finish()
}

/// Names and how they look, the same in all panels.
struct Looks<'a>(Vec<(&'a str, Style)>);

impl<'a> Looks<'a> {
    fn of(figure: &'a PanelFigure) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for panel in &figure.panels {
            let lines = panel.lines.iter().map(|line| line.name.as_str());
            let bands = panel.bands.iter().map(|band| band.name.as_str());
            let marks = panel.marks.iter().map(|mark| mark.name.as_str());
            for name in lines.chain(bands).chain(marks) {
                if !name.is_empty() && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let styles = styles(&names);
        Self(names.into_iter().zip(styles).collect())
    }

    fn style(&self, name: &str) -> Option<Style> {
        let own = self.0.iter().find(|(own, _)| *own == name);
        own.map(|(_, style)| *style)
    }

    fn paint(&self, name: &str) -> Paint {
        self.style(name)
            .map_or(Paint::Ink, |style| Paint::Series(style.colour))
    }

    fn stroke(&self, line: &PanelLine) -> Stroke<'static> {
        let paint = self.paint(&line.name);
        match line.style {
            LineStyle::Full => {
                Stroke::new(paint, 2.0).dashed(self.style(&line.name).map_or("", |s| s.dash))
            }
            LineStyle::Thin => Stroke::new(paint, 1.0).faint(),
            LineStyle::Dashed => Stroke::new(paint, 1.6).dashed("5 4"),
        }
    }

    /// One entry a name that has a line, looking like its most visible one, then the levels.
    fn entries(&self, figure: &PanelFigure) -> Vec<Entry> {
        let lines: Vec<&PanelLine> = figure.panels.iter().flat_map(|p| &p.lines).collect();
        let mut entries: Vec<Entry> = Vec::new();
        for (name, style) in &self.0 {
            let own = lines.iter().filter(|line| line.name == *name);
            let drawn = own.filter(|line| line.points.iter().any(|&p| finite(p)));
            if let Some(line) = drawn.min_by_key(|line| line.style == LineStyle::Thin) {
                entries.push(Entry {
                    text: (*name).to_owned(),
                    stroke: self.stroke(line),
                    marker: Some(*style).filter(|_| has_markers(line)),
                });
            }
        }
        for level in figure.panels.iter().flat_map(|panel| &panel.levels) {
            let known = entries.iter().any(|entry| entry.text == level.label);
            if !known && !level.label.is_empty() && level.y.is_finite() {
                entries.push(Entry {
                    text: level.label.clone(),
                    stroke: LEVEL,
                    marker: None,
                });
            }
        }
        entries
    }
}

fn has_markers(line: &PanelLine) -> bool {
    line.style == LineStyle::Full && line.points.len() <= FEW
}

/// Where panels lie.
struct Grid<'a> {
    figure: &'a PanelFigure,
    columns: usize,
    top: f64,
    /// Room left of each panel's axis.
    gutter: f64,
}

impl<'a> Grid<'a> {
    fn new(figure: &'a PanelFigure, top: f64) -> Self {
        let gutters = figure.panels.iter().map(|panel| {
            let title = if panel.y_title.is_empty() { 20.0 } else { 0.0 };
            left_of_axis(&y_range(panel).ticks()) - title
        });
        Self {
            figure,
            columns: figure.columns.clamp(1, figure.panels.len().max(1)),
            top,
            gutter: gutters.fold(0.0, f64::max),
        }
    }

    fn bottom(&self) -> f64 {
        let rows = self.figure.panels.len().div_ceil(self.columns);
        self.top + rows as f64 * self.figure.panel_height
    }

    fn frame(&self, index: usize, panel: &Panel) -> Frame {
        let (row, column) = (index / self.columns, index % self.columns);
        let wide = self.figure.width / self.columns as f64;
        let (left, top) = (
            wide * column as f64,
            self.top + self.figure.panel_height * row as f64,
        );
        let mut frame = Frame::new(x_range(panel), y_range(panel));
        frame.left = left + self.gutter;
        frame.right = (left + wide - RIGHT).max(frame.left + 1.0);
        frame.top = top + TITLE;
        frame.bottom = (top + self.figure.panel_height - BELOW_AXIS - 4.0).max(frame.top + 1.0);
        frame.floor = frame.bottom;
        frame
    }

    fn draw(&self, canvas: &mut Canvas, looks: &Looks<'_>, index: usize, panel: &Panel) {
        let frame = self.frame(index, panel);
        let panels = &self.figure.panels;
        let below = panels.get(index + self.columns);
        let x_title = match below {
            Some(below) if below.x_title == panel.x_title => "",
            _ => &panel.x_title,
        };
        let before = index.checked_sub(1).and_then(|before| panels.get(before));
        let y_title = match before.filter(|_| !index.is_multiple_of(self.columns)) {
            Some(before) if before.y_title == panel.y_title => "",
            _ => &panel.y_title,
        };
        frame.axes(canvas, x_title, (y_title, frame.left - self.gutter + 14.0));
        let title = fitted(&panel.title, frame.right + RIGHT - frame.left);
        let title = Text::new(&title, TEXT).bold();
        canvas.text(frame.left, frame.top - 10.0, title);
        if panel.is_empty() {
            let middle = (
                (frame.left + frame.right) / 2.0,
                (frame.top + frame.bottom) / 2.0,
            );
            let text = Text::new("no values", TEXT).muted();
            canvas.text(middle.0, middle.1, text.anchor(Anchor::Middle));
        }
        Content {
            panel,
            frame: &frame,
            looks,
        }
        .draw(canvas);
    }
}

/// What lies between the axes of a panel.
struct Content<'a> {
    panel: &'a Panel,
    frame: &'a Frame,
    looks: &'a Looks<'a>,
}

impl Content<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        for band in &self.panel.bands {
            let sides: Vec<[(f64, f64); 2]> =
                band.points.iter().filter_map(|&p| edges(p)).collect();
            let side = |which: usize| sides.iter().map(move |side| self.frame.place(side[which]));
            let mut outline = thin(side(1).collect());
            outline.extend(thin(side(0).collect()).into_iter().rev());
            if sides.len() > 1 {
                canvas.band(&outline, self.looks.paint(&band.name));
            }
        }
        let thin = |line: &&PanelLine| line.style == LineStyle::Thin;
        for line in self.panel.lines.iter().filter(thin) {
            self.line(canvas, line);
        }
        for line in self.panel.lines.iter().filter(|line| !thin(line)) {
            self.line(canvas, line);
        }
        // Over the lines, so that it still shows where they have reached it.
        for level in self.panel.levels.iter().filter(|level| level.y.is_finite()) {
            let y = self.frame.py(level.y);
            let note = format!("{}: {}", level.label, number(level.y));
            let across = [(self.frame.left, y), (self.frame.right, y)];
            canvas.noted_polyline(&across, LEVEL, &note);
        }
        for line in self.panel.lines.iter().filter(|line| has_markers(line)) {
            self.markers(canvas, line);
        }
        let marks = self.panel.marks.iter();
        for mark in marks.filter(|mark| finite((mark.x, mark.y))) {
            self.mark(canvas, mark);
        }
    }

    fn line(&self, canvas: &mut Canvas, line: &PanelLine) {
        let path = thin(drawn(line).map(|point| self.frame.place(point)).collect());
        let note = note(line);
        match (path.as_slice(), self.looks.style(&line.name)) {
            ([], _) => {}
            // A single point of a line without markers would not show.
            ([point], Some(style)) => canvas.marker(*point, style, &note),
            _ => canvas.noted_polyline(&path, self.looks.stroke(line), &note),
        }
    }

    fn markers(&self, canvas: &mut Canvas, line: &PanelLine) {
        let Some(style) = self.looks.style(&line.name) else {
            return;
        };
        let note = note(line);
        for point in drawn(line) {
            let at = format!("{note}: {} at {}", number(point.1), number(point.0));
            canvas.marker(self.frame.place(point), style, &at);
        }
    }

    fn mark(&self, canvas: &mut Canvas, mark: &PanelMark) {
        let (x, y) = self.frame.place((mark.x, mark.y));
        let place = format!("({}, {})", number(mark.x), number(mark.y));
        let words = [mark.name.as_str(), &mark.label, &place];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        match self.looks.style(&mark.name) {
            None => canvas.cross((x, y), &words.join(" ")),
            Some(style) => {
                let dot = Style {
                    marker: Marker::Circle,
                    ..style
                };
                canvas.marker((x, y), dot, &words.join(" "));
            }
        }
        if !mark.label.is_empty() {
            let fits = x + 9.0 + text_width(&mark.label, TEXT) <= self.frame.right + RIGHT;
            let text = Text::new(&mark.label, TEXT);
            // Above the point, and below only where that would run into the panel's title.
            let base = if y - 8.0 - TEXT > self.frame.top {
                y - 7.0
            } else {
                y + 16.0
            };
            if fits {
                canvas.text(x + 7.0, base, text);
            } else {
                canvas.text(x - 7.0, base, text.anchor(Anchor::End));
            }
        }
    }
}

fn drawn(line: &PanelLine) -> impl Iterator<Item = (f64, f64)> {
    line.points.iter().copied().filter(|&point| finite(point))
}

/// What a line says when hovered over.
fn note(line: &PanelLine) -> String {
    match line.note.as_str() {
        "" => line.name.clone(),
        note => format!("{}, {note}", line.name),
    }
}

/// A text cut so that it fits.
fn fitted(text: &str, width: f64) -> String {
    if text_width(text, TEXT) <= width {
        return text.to_owned();
    }
    let letters = (width / text_width("x", TEXT)) as usize;
    let start: String = text.chars().take(letters.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

/// A number for a tooltip.
fn number(value: f64) -> String {
    if value.abs() >= 1e3 && value.abs() < 1e15 {
        grouped(value)
    } else {
        signed(value)
    }
}

fn x_range(panel: &Panel) -> Range {
    given(panel.x_range).unwrap_or_else(|| {
        let points = values(panel).map(|(x, _)| x);
        Range::linear(&points.collect::<Vec<f64>>())
    })
}

fn y_range(panel: &Panel) -> Range {
    given(panel.y_range).unwrap_or_else(|| {
        let levels = panel.levels.iter().map(|level| level.y);
        let all = values(panel).map(|(_, y)| y).chain(levels);
        Range::linear(&all.filter(|y| y.is_finite()).collect::<Vec<f64>>())
    })
}

fn given(range: Option<(f64, f64)>) -> Option<Range> {
    let (low, high) = range.filter(|&range| finite(range))?;
    let wide = high - low > 1e-9 * low.abs().max(high.abs()) && (high - low).is_finite();
    wide.then_some(Range {
        spacing: Spacing::Linear,
        low,
        high,
    })
}

/// Every finite point that a panel draws.
fn values(panel: &Panel) -> impl Iterator<Item = (f64, f64)> {
    let lines = panel.lines.iter().flat_map(|line| line.points.clone());
    let bands = panel.bands.iter().flat_map(|band| &band.points);
    let bands = bands.filter_map(|&point| edges(point)).flatten();
    let marks = panel.marks.iter().map(|mark| (mark.x, mark.y));
    lines
        .chain(bands)
        .chain(marks)
        .filter(|&point| finite(point))
}
