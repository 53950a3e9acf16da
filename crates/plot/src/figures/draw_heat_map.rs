//! Drawing a heat map: the key to its colours, cells, lines between groups, names.
//!
//! A colour is one of two inks over the surface, as strong as the value is large: zero is the page
//! itself, light or dark.

use std::collections::BTreeMap;

use super::HeatMap;
use crate::format::{escape, signed};
use crate::svg::Theme;
use crate::svg::canvas::{Anchor, Canvas, Stroke, Text};
use crate::svg::frame::{Head, TEXT, content_top, empty, open};
use crate::svg::palette::Paint;
use crate::svg::place::{shortened, text_width};

const WIDTH: f64 = 760.0;
const MARGIN: f64 = 16.0;
/// Most room for names, left and below, and for the names of groups, right.
const NAMES: f64 = 170.0;
const GROUPS: f64 = 130.0;
/// The largest cell.
const CELL: f64 = 40.0;
/// Maps up to this size tell every cell when hovered over; larger ones would be large files.
const TOLD: usize = 32;
/// Least distance between names.
const APART: f64 = 10.0;
/// Room for the key.
const KEY: f64 = 44.0;
/// Strengths of a colour: in small maps as fine as two decimals, in large ones few enough to merge.
const FINE: f64 = 100.0;
const COARSE: f64 = 10.0;

/// Draws a heat map.
pub(super) fn draw_heat_map(map: &HeatMap, theme: Theme, id: &str) -> String {
    let description = map.describe();
    let head = |height| Head {
        title: &map.title,
        description: &description,
        width: WIDTH,
        height,
        id,
    };
    if map.is_empty() {
        return empty(theme, &head(120.0));
    }
    let sheet = Sheet::new(map, content_top(theme) + KEY, id);
    let mut canvas = Canvas::new(theme);
    open(&mut canvas, &head(sheet.bottom()));
    if sheet.has_gaps() {
        canvas.raw(&sheet.hatching(theme));
    }
    sheet.key(&mut canvas);
    sheet.cells(&mut canvas);
    sheet.groups(&mut canvas);
    sheet.names(&mut canvas);
    canvas.raw("</svg>");
    canvas.finish()
}

/// How a cell looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    Hatched,
    /// Strength of the colour for negative or positive values, in steps.
    Inked {
        positive: bool,
        step: u32,
    },
}

impl Look {
    fn of(value: Option<f64>, steps: f64) -> Self {
        value.map_or(Self::Hatched, |value| Self::Inked {
            positive: value >= 0.0,
            step: (value.abs().min(1.0) * steps).round() as u32,
        })
    }

    /// The colour as two attributes; nothing where only the surface shows.
    fn ink(self, kind: &str, theme: Theme, steps: f64, id: &str) -> Option<String> {
        match self {
            Self::Hatched => Some(format!("{kind}=\"url(#{}-hatch)\"", escape(id))),
            Self::Inked { step: 0, .. } => None,
            Self::Inked { positive, step } => {
                let paint = Paint::Series(if positive { 1 } else { 2 });
                let ink = match theme {
                    Theme::Standalone => format!("{kind}=\"{}\"", paint.attribute(theme)),
                    Theme::Page | Theme::Phone => {
                        format!("class=\"{}{}\"", &kind[..1], paint.letter())
                    }
                };
                let strength = f64::from(step) / steps;
                Some(format!("{ink} {kind}-opacity=\"{strength}\""))
            }
        }
    }
}

/// Where everything lies.
struct Sheet<'a> {
    map: &'a HeatMap,
    id: &'a str,
    n: usize,
    left: f64,
    top: f64,
    cell: f64,
    /// Room for the names of rows and columns.
    names: f64,
}

impl<'a> Sheet<'a> {
    fn new(map: &'a HeatMap, top: f64, id: &'a str) -> Self {
        let n = map.names.len();
        let named = map.stretches().iter().any(|(group, ..)| !group.is_empty());
        let right = if named { GROUPS } else { 0.0 };
        let size = |names: f64| {
            let side = WIDTH - 2.0 * MARGIN - names - 8.0 - right;
            (side / n as f64).min(CELL)
        };
        let font = name_size(size(NAMES));
        let widths = map.names.iter().map(|name| text_width(name, font));
        let names = widths.fold(0.0, f64::max).min(NAMES);
        Self {
            map,
            id,
            n,
            left: MARGIN + names + 8.0,
            top,
            cell: size(names),
            names,
        }
    }

    fn side(&self) -> f64 {
        self.cell * self.n as f64
    }

    fn bottom(&self) -> f64 {
        self.top + self.side() + 8.0 + self.names + 10.0
    }

    fn has_gaps(&self) -> bool {
        self.values().any(|value| value.is_none())
    }

    fn values(&self) -> impl Iterator<Item = Option<f64>> {
        let cells = (0..self.n).flat_map(|row| (0..self.n).map(move |column| (row, column)));
        cells.map(|(row, column)| self.map.value(row, column))
    }

    fn hatching(&self, theme: Theme) -> String {
        format!(
            "<defs><pattern id=\"{}-hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><path d=\"M0 0v5\" stroke=\"{}\" stroke-width=\"2\"/>\
             </pattern></defs>",
            escape(self.id),
            Paint::Muted.attribute(theme)
        )
    }

    /// Which colour is which value; where none is below zero, the key begins there.
    fn key(&self, canvas: &mut Canvas) {
        let (y, wide, steps) = (self.top - KEY + 6.0, 9.0, 10_i32);
        let title = &self.map.value_title;
        canvas.text(MARGIN, y + 10.0, Text::new(title, TEXT));
        let left = MARGIN + text_width(title, TEXT).min(300.0) + 16.0;
        let signed = self.values().flatten().any(|value| value < 0.0);
        let first = if signed { -steps } else { 0 };
        let all = wide * f64::from(steps - first + 1);
        for step in first..=steps {
            let x = left + wide * f64::from(step - first);
            let look = Look::of(Some(f64::from(step) / f64::from(steps)), COARSE);
            if let Some(ink) = look.ink("fill", canvas.theme, COARSE, self.id) {
                canvas.raw(&format!(
                    "<path d=\"M{x:.1} {y:.1}h{wide}v13h-{wide}z\" {ink}/>"
                ));
            }
        }
        canvas.outline((left, y), (all, 13.0), Paint::Muted);
        for (step, label) in [(-steps, "−1"), (0, "0"), (steps, "1")] {
            if step < first {
                continue;
            }
            let text = Text::new(label, 11.0).muted().anchor(Anchor::Middle);
            canvas.text(
                left + wide * (f64::from(step - first) + 0.5),
                y + 26.0,
                text,
            );
        }
        if self.has_gaps() {
            let x = left + all + 24.0;
            if let Some(ink) = Look::Hatched.ink("fill", canvas.theme, COARSE, self.id) {
                canvas.raw(&format!("<path d=\"M{x:.1} {y:.1}h18v13h-18z\" {ink}/>"));
            }
            canvas.outline((x, y), (18.0, 13.0), Paint::Muted);
            canvas.text(x + 25.0, y + 10.0, Text::new("no value", TEXT));
        }
    }

    fn cells(&self, canvas: &mut Canvas) {
        if self.n <= TOLD && canvas.theme != Theme::Phone {
            self.told_cells(canvas);
        } else {
            self.runs(canvas);
        }
        canvas.outline(
            (self.left, self.top),
            (self.side(), self.side()),
            Paint::Muted,
        );
    }

    /// Cell by cell, each with a note.
    fn told_cells(&self, canvas: &mut Canvas) {
        canvas.raw("<g shape-rendering=\"crispEdges\">");
        for row in 0..self.n {
            for column in 0..self.n {
                let value = self.map.value(row, column);
                let ink = Look::of(value, FINE).ink("fill", canvas.theme, FINE, self.id);
                // Without ink a cell is still there to be hovered over.
                let ink = ink.unwrap_or_else(|| "fill-opacity=\"0\"".to_owned());
                let text = value.map_or_else(|| "no value".to_owned(), signed);
                canvas.raw(&format!(
                    "<path d=\"{}\" {ink}><title>{}, {}: {text}</title></path>",
                    self.patch(row, column, 1),
                    escape(&self.map.names[row]),
                    escape(&self.map.names[column]),
                ));
            }
        }
        canvas.raw("</g>");
    }

    /// Neighbours of the same colour in one stroke, all strokes of a colour in one path; a cell is a
    /// unit of the drawing, and hatching, which must not be scaled, lies outside.
    fn runs(&self, canvas: &mut Canvas) {
        let mut paths: BTreeMap<Look, String> = BTreeMap::new();
        for row in 0..self.n {
            let looks = (0..self.n).map(|column| Look::of(self.map.value(row, column), COARSE));
            let looks: Vec<Look> = looks.collect();
            let mut column = 0;
            for run in looks.chunk_by(|a, b| a == b) {
                *paths.entry(run[0]).or_default() += &match run[0] {
                    Look::Hatched => self.patch(row, column, run.len()),
                    Look::Inked { .. } => format!("M{column} {row}h{}", run.len()),
                };
                column += run.len();
            }
        }
        let hatched = paths.remove(&Look::Hatched);
        canvas.raw(&format!(
            "<g transform=\"translate({:.2} {:.2}) scale({:.4})\" fill=\"none\" stroke-width=\"1\" \
             shape-rendering=\"crispEdges\">",
            self.left,
            self.top + self.cell / 2.0,
            self.cell
        ));
        for (look, path) in paths {
            if let Some(ink) = look.ink("stroke", canvas.theme, COARSE, self.id) {
                canvas.raw(&format!("<path d=\"{path}\" {ink}/>"));
            }
        }
        canvas.raw("</g>");
        let ink = Look::Hatched.ink("fill", canvas.theme, COARSE, self.id);
        if let (Some(path), Some(ink)) = (hatched, ink) {
            canvas.raw(&format!("<path d=\"{path}\" {ink}/>"));
        }
    }

    /// The outline of some cells of a row.
    fn patch(&self, row: usize, column: usize, cells: usize) -> String {
        let (x, y) = (self.left + self.at(column), self.top + self.at(row));
        let (wide, high) = (self.at(cells), self.cell);
        format!("M{x:.2} {y:.2}h{wide:.2}v{high:.2}h-{wide:.2}z")
    }

    /// Distance of an item's edge from the first.
    fn at(&self, index: usize) -> f64 {
        self.cell * index as f64
    }

    fn groups(&self, canvas: &mut Canvas) {
        let (left, top, side) = (self.left, self.top, self.side());
        for (group, start, end) in self.map.stretches() {
            let edge = self.at(start);
            if start > 0 {
                let line = Stroke::new(Paint::Ink, 1.4);
                canvas.line((left, top + edge), (left + side, top + edge), line);
                canvas.line((left + edge, top), (left + edge, top + side), line);
            }
            if !group.is_empty() && self.at(end - start) >= APART {
                let middle = top + 0.5 * (edge + self.at(end));
                let name = shortened(group, GROUPS - 10.0, TEXT);
                let text = Text::new(&name, TEXT).bold();
                canvas.noted_text((left + side + 10.0, middle + 4.0), text, group);
            }
        }
    }

    /// As many names as there is room for, spread evenly.
    fn names(&self, canvas: &mut Canvas) {
        let size = name_size(self.cell);
        let stride = (APART / self.cell).ceil().max(1.0) as usize;
        for (index, name) in self.map.names.iter().enumerate().step_by(stride) {
            let middle = self.at(index) + self.cell / 2.0;
            let short = shortened(name, self.names, size);
            let text = Text::new(&short, size).anchor(Anchor::End);
            let row = (self.left - 6.0, self.top + middle + 0.35 * size);
            canvas.noted_text(row, text, name);
            let column = (
                self.left + middle + 0.35 * size,
                self.top + self.side() + 7.0,
            );
            canvas.noted_upright_text(column, text, name);
        }
    }
}

/// Letters that fit beside a cell.
fn name_size(cell: f64) -> f64 {
    cell.clamp(9.0, TEXT).floor()
}
