//! The legend above a plot: swatches and names, in as many rows as they need.

use super::canvas::{Canvas, Stroke, Text};
use super::frame::TEXT;
use super::palette::Style;
use super::place::text_width;

/// The height of a row.
pub(crate) const ROW: f64 = 20.0;

const SWATCH: f64 = 30.0;

/// A name and the look that it explains.
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) stroke: Stroke<'static>,
    pub(crate) marker: Option<Style>,
}

/// Entries with their places.
pub(crate) struct Legend {
    entries: Vec<(Entry, f64, usize)>,
    top: f64,
}

impl Legend {
    /// Places entries from `left` on in rows that end before `width`.
    pub(crate) fn new(entries: Vec<Entry>, left: f64, width: f64, top: f64) -> Self {
        let (mut x, mut row) = (left, 0);
        let mut placed = Vec::new();
        for entry in entries {
            let wide = SWATCH + 6.0 + text_width(&entry.text, TEXT) + 16.0;
            if x + wide > width && x > left {
                (x, row) = (left, row + 1);
            }
            placed.push((entry, x, row));
            x += wide;
        }
        Self {
            entries: placed,
            top,
        }
    }

    /// How many rows there are, at least one.
    pub(crate) fn rows(&self) -> usize {
        self.entries.last().map_or(1, |(_, _, row)| row + 1)
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        for (entry, x, row) in &self.entries {
            let y = self.top + ROW * *row as f64 + 11.0;
            canvas.line((*x, y), (x + SWATCH, y), entry.stroke);
            if let Some(style) = entry.marker {
                canvas.marker((x + SWATCH / 2.0, y), style, "");
            }
            canvas.text(x + SWATCH + 6.0, y + 4.0, Text::new(&entry.text, TEXT));
        }
    }
}
