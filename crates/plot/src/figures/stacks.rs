//! Bars of several parts, for instance the samples of tasks by round.

use serde::{Deserialize, Serialize};

use crate::format::{grouped, list};
use crate::svg::Theme;
use crate::svg::canvas::{Anchor, Canvas, Stroke, Text};
use crate::svg::frame::{Head, TEXT, content_top, empty, open, widest};
use crate::svg::legend::{self, Entry, Legend};
use crate::svg::palette::{Paint, group_paint};
use crate::svg::place::{shortened, text_width};

const MARGIN: f64 = 16.0;
/// The height of a row and of the bar in it.
const ROW: f64 = 24.0;
const BAR: f64 = 14.0;
/// Most room for names, as a part of the width.
const NAMES: f64 = 0.36;
/// Between a bar's end and its number.
const AIR: f64 = 5.0;
/// Bars that a description names.
const NAMED: usize = 3;

/// Horizontal bars whose parts lie one behind the other.
///
/// ```
/// use taskscout_plot::Theme;
/// use taskscout_plot::figures::{Stack, Stacks};
///
/// let stacks = Stacks {
///     title: "Samples by task and round".into(),
///     name_title: "task".into(),
///     value_title: "samples".into(),
///     parts: vec!["round 1".into(), "round 2".into()],
///     stacks: vec![Stack { name: "gust".into(), values: vec![30.0, 12.0], note: "near the target".into() }],
///     ..Stacks::default()
/// };
/// let svg = stacks.to_svg(Theme::Standalone, "samples");
/// assert!(svg.contains("gust, round 2: 12"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stacks {
    /// What they show.
    pub title: String,
    /// What has bars.
    pub name_title: String,
    /// What the values are.
    pub value_title: String,
    /// Names of the parts, in the order in which they lie.
    pub parts: Vec<String>,
    /// The bars from top to bottom.
    pub stacks: Vec<Stack>,
    /// Width in pixels.
    pub width: f64,
}

impl Default for Stacks {
    fn default() -> Self {
        Self {
            title: String::new(),
            name_title: "name".into(),
            value_title: "value".into(),
            parts: Vec::new(),
            stacks: Vec::new(),
            width: 760.0,
        }
    }
}

/// One bar.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// Its name, shortened in its middle where it is long.
    pub name: String,
    /// How long each part is, in the order of the parts; what is missing is zero.
    pub values: Vec<f64>,
    /// Shown when hovering over the name.
    #[serde(default)]
    pub note: String,
}

impl Stack {
    /// The length of each part, from zero up.
    fn lengths(&self) -> impl Iterator<Item = f64> + '_ {
        let known = |value: &f64| match value.is_finite() {
            true => value.max(0.0),
            false => 0.0,
        };
        self.values.iter().map(known)
    }

    fn total(&self) -> f64 {
        self.lengths().sum()
    }
}

impl Stacks {
    /// Whether there is anything to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.stacks.iter().any(|stack| stack.total() > 0.0)
    }

    /// Draws the bars; `id` keeps inner names apart from those of others on the page.
    #[must_use]
    pub fn to_svg(&self, theme: Theme, id: &str) -> String {
        let description = self.describe();
        let head = |height| Head {
            title: &self.title,
            description: &description,
            width: self.width,
            height,
            id,
        };
        if self.is_empty() {
            return empty(theme, &head(120.0));
        }
        let start = content_top(theme);
        let legend = Legend::new(self.entries(), MARGIN, self.width, start);
        let top = start + legend::ROW * legend.rows() as f64 + 10.0;
        let mut canvas = Canvas::new(theme);
        let height = top + ROW * self.stacks.len() as f64 + 8.0;
        open(&mut canvas, &head(height));
        legend.draw(&mut canvas);
        self.draw(&mut canvas, top);
        canvas.raw("</svg>");
        canvas.finish()
    }

    fn entries(&self) -> Vec<Entry> {
        let used = |part: usize| {
            let mut of_part = self
                .stacks
                .iter()
                .filter_map(|stack| stack.values.get(part));
            of_part.any(|value| *value > 0.0)
        };
        let parts = self.parts.iter().enumerate();
        parts
            .filter(|(part, _)| used(*part))
            .map(|(part, name)| Entry {
                text: name.clone(),
                stroke: Stroke::new(group_paint(part), 11.0),
                marker: None,
            })
            .collect()
    }

    fn draw(&self, canvas: &mut Canvas, top: f64) {
        let names = widest(self.stacks.iter().map(|stack| stack.name.as_str()));
        let left = MARGIN + names.min(NAMES * self.width) + 10.0;
        let totals: Vec<f64> = self.stacks.iter().map(Stack::total).collect();
        let most = totals.iter().copied().fold(0.0, f64::max);
        let room = totals
            .iter()
            .map(|total| text_width(&grouped(*total), TEXT))
            .fold(0.0, f64::max);
        let right = (self.width - MARGIN - room - AIR).max(left + 1.0);
        for (row, (stack, total)) in self.stacks.iter().zip(&totals).enumerate() {
            let y = top + ROW * (row as f64 + 0.5);
            let name = shortened(&stack.name, left - 10.0 - MARGIN, TEXT);
            let note = match stack.note.as_str() {
                "" => stack.name.clone(),
                note => format!("{}: {note}", stack.name),
            };
            let text = Text::new(&name, TEXT).anchor(Anchor::End);
            canvas.noted_text((left - 10.0, y + 4.0), text, &note);
            let mut at = left;
            for (part, value) in stack
                .lengths()
                .enumerate()
                .filter(|(_, value)| *value > 0.0)
            {
                let wide = value / most * (right - left);
                let part_name = self.parts.get(part).map_or("", String::as_str);
                let note = format!("{}, {part_name}: {}", stack.name, grouped(value));
                // A gap of the ground's colour parts neighbours, also without colours.
                let drawn = if wide > 3.0 {
                    wide - 1.0
                } else {
                    wide.max(0.6)
                };
                canvas.rect((at, y - BAR / 2.0), (drawn, BAR), group_paint(part), &note);
                at += wide;
            }
            let total = grouped(*total);
            canvas.text(at + AIR, y + 4.0, Text::new(&total, TEXT));
        }
        let bottom = top + ROW * self.stacks.len() as f64;
        let axis = Stroke::new(Paint::Muted, 1.0);
        canvas.line((left, top), (left, bottom), axis);
    }

    /// The same in sentences, for readers who cannot see it.
    fn describe(&self) -> String {
        let named = self.stacks.iter().take(NAMED);
        let named: Vec<String> = named
            .map(|stack| format!("{} ({})", stack.name, grouped(stack.total())))
            .collect();
        format!(
            "{} of {}, from the top: {}.",
            self.value_title,
            self.stacks.len(),
            list(&named)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_balanced;

    fn stacks(values: Vec<Vec<f64>>) -> Stacks {
        let stack = |(index, values): (usize, Vec<f64>)| Stack {
            name: format!("<task {index}>"),
            values,
            note: "a & b".into(),
        };
        Stacks {
            title: "Samples".into(),
            parts: vec!["<one>".into(), "two".into()],
            stacks: values.into_iter().enumerate().map(stack).collect(),
            ..Stacks::default()
        }
    }

    #[test]
    fn parts_lie_behind_each_other_and_names_are_escaped() {
        let svg = stacks(vec![vec![100.0, 300.0], vec![0.0, 200.0]]).to_svg(Theme::Page, "s");
        assert_balanced(&svg);
        assert!(!svg.contains("<task") && svg.contains("&lt;task 0&gt;, &lt;one&gt;: 100"));
        assert_eq!(svg.matches("<rect").count(), 3, "what is zero has no part");
        assert!(svg.contains(">400</text>") && svg.contains(">200</text>"));
    }

    #[test]
    fn odd_values_still_draw() {
        for values in [
            vec![],
            vec![vec![]],
            vec![vec![0.0]],
            vec![vec![f64::NAN, -3.0, f64::INFINITY]],
            vec![vec![1e300, 1.0, 2.0, 3.0]],
        ] {
            let mut odd = stacks(values);
            for width in [760.0, 380.0, 10.0] {
                odd.width = width;
                let svg = odd.to_svg(Theme::Standalone, "s");
                assert_balanced(&svg);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }
}
