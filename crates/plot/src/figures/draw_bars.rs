//! Drawing bars: names, then a track of bars for each kind of value.

use super::{Bar, Bars};
use crate::format::{MISSING, signed};
use crate::svg::Theme;
use crate::svg::canvas::{Anchor, Canvas, Stroke, Text};
use crate::svg::frame::{Head, TEXT, content_top, empty, open, widest};
use crate::svg::legend::{self, Entry, Legend};
use crate::svg::palette::{Paint, group_paint};
use crate::svg::place::{shortened, text_width};
use crate::svg::scale::{Range, Spacing};

pub(super) const WIDTH: f64 = 760.0;
const MARGIN: f64 = 16.0;
/// The height of a row and of the bar in it.
const ROW: f64 = 24.0;
const BAR: f64 = 14.0;
/// Most room for names, in pixels and as a part of the width.
const NAMES: f64 = 250.0;
const NAMES_PART: f64 = 0.36;
/// Between tracks.
const GAP: f64 = 30.0;
/// Room above bars for the titles of tracks, and below for ticks.
const ABOVE: f64 = 26.0;
const BELOW: f64 = 30.0;
/// Between a bar's end and its number.
const AIR: f64 = 5.0;

/// Draws bars.
pub(super) fn draw_bars(bars: &Bars, theme: Theme, id: &str, width: f64) -> String {
    let description = bars.describe();
    let head = |height| Head {
        title: &bars.title,
        description: &description,
        width,
        height,
        id,
    };
    if bars.is_empty() {
        return empty(theme, &head(120.0));
    }
    let groups = bars.used_groups();
    let entries = groups.iter().map(|&(place, group)| Entry {
        text: group.to_owned(),
        stroke: Stroke::new(group_paint(place), 11.0),
        marker: None,
    });
    let start = content_top(theme);
    let legend = Legend::new(entries.collect(), MARGIN, width, start);
    let legend_rows = if groups.is_empty() { 0 } else { legend.rows() };
    let top = start + legend::ROW * legend_rows as f64 + ABOVE + 6.0;
    let bottom = top + ROW * bars.bars.len() as f64;
    let mut canvas = Canvas::new(theme);
    open(&mut canvas, &head(bottom + BELOW));
    legend.draw(&mut canvas);
    let names = widest(bars.bars.iter().map(|bar| bar.name.as_str()));
    let left = MARGIN + names.min(NAMES).min(NAMES_PART * width) + 10.0;
    for track in tracks(bars, left, width) {
        track.draw(&mut canvas, bars, &groups, (top, bottom));
    }
    for (bar, y) in bars.bars.iter().zip(rows(top)) {
        let name = shortened(&bar.name, left - 10.0 - MARGIN, TEXT);
        let text = Text::new(&name, TEXT).anchor(Anchor::End);
        canvas.noted_text((left - 10.0, y + 4.0), text, &note(bars, bar));
    }
    canvas.raw("</svg>");
    canvas.finish()
}

/// The middles of rows.
fn rows(top: f64) -> impl Iterator<Item = f64> {
    (0..).map(move |row| top + ROW * (f64::from(row) + 0.5))
}

/// What a bar says when hovered over.
fn note(bars: &Bars, bar: &Bar) -> String {
    let mut note = format!("{}: {} {}", bar.name, bars.value_title, number(bar.value));
    if let Some(second) = bar.second.filter(|_| !bars.second_title.is_empty()) {
        note += &format!(", {} {}", bars.second_title, number(second));
    }
    match bar.group.as_str() {
        "" => note,
        group => format!("{note} ({group})"),
    }
}

fn number(value: f64) -> String {
    match value.is_finite() {
        true => signed(value),
        false => MISSING.to_owned(),
    }
}

/// Picks one of a bar's values.
type Value = fn(&Bar) -> Option<f64>;

/// One kind of value.
struct Track<'a> {
    title: &'a str,
    value: Value,
    range: Range,
    left: f64,
    right: f64,
    /// The ends of the scale, with room for numbers around it.
    low: f64,
    high: f64,
}

fn tracks(bars: &Bars, left: f64, width: f64) -> Vec<Track<'_>> {
    let mut kinds: Vec<(&str, Value)> = vec![(&bars.value_title, |bar| Some(bar.value))];
    if !bars.second_title.is_empty() {
        kinds.push((&bars.second_title, |bar| bar.second));
    }
    let count = kinds.len() as f64;
    let wide = (width - MARGIN - left - GAP * (count - 1.0)) / count;
    let starts = (0..).map(|index| left + (wide + GAP) * f64::from(index));
    let kinds = kinds.into_iter().zip(starts);
    kinds
        .map(|((title, value), start)| Track::new(bars, title, value, (start, start + wide)))
        .collect()
}

impl<'a> Track<'a> {
    fn new(bars: &Bars, title: &'a str, value: Value, (left, right): (f64, f64)) -> Self {
        let values = bars.bars.iter().filter_map(value);
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let room = |chosen: &dyn Fn(f64) -> bool| {
            let texts = values.iter().filter(|&&value| chosen(value));
            let wide = texts.map(|&value| text_width(&number(value), TEXT));
            wide.fold(0.0, f64::max) + AIR
        };
        let range = range(&values);
        let before = if range.low < 0.0 {
            room(&|value| value < 0.0)
        } else {
            0.0
        };
        let low = left + before;
        Self {
            title,
            value,
            range,
            left,
            right,
            low,
            high: (right - room(&|value| value >= 0.0)).max(low + 1.0),
        }
    }

    fn px(&self, value: f64) -> f64 {
        self.low + self.range.share(value) * (self.high - self.low)
    }

    fn draw(
        &self,
        canvas: &mut Canvas,
        bars: &Bars,
        groups: &[(usize, &str)],
        (top, bottom): (f64, f64),
    ) {
        let title = shortened(self.title, self.right - self.left, TEXT);
        let title = Text::new(&title, TEXT).bold();
        canvas.text(self.left, top - 10.0, title);
        self.scale(canvas, (top, bottom));
        for (bar, y) in bars.bars.iter().zip(rows(top)) {
            let Some(value) = (self.value)(bar) else {
                continue;
            };
            let zero = self.px(0.0);
            if !value.is_finite() {
                let dash = Text::new(MISSING, TEXT).muted();
                canvas.text(zero + AIR, y + 4.0, dash);
                continue;
            }
            let end = self.px(value);
            let place = groups.iter().find(|(_, group)| *group == bar.group);
            let paint = group_paint(place.map_or(0, |(place, _)| *place));
            let corner = (zero.min(end), y - BAR / 2.0);
            let size = ((end - zero).abs(), BAR);
            canvas.rect(corner, size, paint, &note(bars, bar));
            let text = number(value);
            let text = Text::new(&text, TEXT);
            if value < 0.0 {
                canvas.text(end - AIR, y + 4.0, text.anchor(Anchor::End));
            } else {
                canvas.text(end + AIR, y + 4.0, text);
            }
        }
        let axis = Stroke::new(Paint::Muted, 1.0);
        canvas.line((self.px(0.0), top), (self.px(0.0), bottom), axis);
    }

    /// Lines at round values with their labels below.
    fn scale(&self, canvas: &mut Canvas, (top, bottom): (f64, f64)) {
        let ticks = self.range.ticks();
        let mut free = f64::NEG_INFINITY;
        for tick in &ticks {
            let x = self.px(tick.value);
            let grid = Stroke::new(Paint::Grid, 1.0);
            canvas.line((x, top), (x, bottom), grid);
            let half = text_width(&tick.label, TEXT) / 2.0;
            if x - half > free {
                let label = Text::new(&tick.label, TEXT).muted();
                canvas.text(x, bottom + 18.0, label.anchor(Anchor::Middle));
                free = x + half + 4.0;
            }
        }
    }
}

/// From zero, or from the least value below it, to the largest.
fn range(values: &[f64]) -> Range {
    // Differences of the largest numbers must stay finite.
    let values = values.iter().map(|value| value.clamp(-1e290, 1e290));
    let low = values.clone().fold(0.0, f64::min);
    let high = values.fold(0.0, f64::max);
    let wide = high - low > f64::MIN_POSITIVE;
    Range {
        spacing: Spacing::Linear,
        low,
        high: if wide { high } else { low + 1.0 },
    }
}
