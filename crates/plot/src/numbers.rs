//! The numbers behind figures, as tables.
//!
//! ```
//! use taskscout_plot::{Panel, PanelFigure, PanelLine};
//!
//! let line = PanelLine::new("aware", vec![(0.0, 0.5), (1.0, 0.25)]);
//! let panel = Panel { lines: vec![line], ..Panel::new("wind, m/s") };
//! let numbers = PanelFigure::new("Path", vec![panel]).numbers();
//! assert_eq!(numbers.to_csv().lines().nth(1), Some("\"wind, m/s\",line,aware,0,0.5,,"));
//! ```

use crate::figures::{Bars, HeatMap, Stacks, TaskScatter};
use crate::svg::{LinePlot, Panel, PanelFigure};

/// A table of a figure's numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Names of the columns.
    pub head: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl Numbers {
    fn new<const N: usize>(head: [&str; N], rows: Vec<Vec<String>>) -> Self {
        Self {
            head: head.map(str::to_owned).to_vec(),
            rows,
        }
    }

    /// The table as CSV (RFC 4180).
    #[must_use]
    pub fn to_csv(&self) -> String {
        self.written(&|text| text.to_owned())
    }

    /// The same with fractions to seven digits, for pages that should be short.
    #[must_use]
    pub fn to_short_csv(&self) -> String {
        self.written(&seven_digits)
    }

    fn written(&self, told: &dyn Fn(&str) -> String) -> String {
        let cell = |text: &String| match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => told(text),
        };
        let line = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(cell).collect();
            cells.join(",") + "\n"
        };
        std::iter::once(&self.head)
            .chain(&self.rows)
            .map(line)
            .collect()
    }
}

/// A long fraction to seven digits; anything else as it is.
fn seven_digits(cell: &str) -> String {
    let fraction = cell.len() > 8 && cell.contains('.');
    let value = cell.parse::<f64>().ok().filter(|_| fraction);
    let short = value.and_then(|value| format!("{value:.6e}").parse::<f64>().ok());
    match short.map(|value| value.to_string()) {
        Some(short) if short.len() < cell.len() => short,
        _ => cell.to_owned(),
    }
}

/// A number in full, or nothing where there is none.
fn number(value: f64) -> String {
    match value.is_finite() {
        true => value.to_string(),
        false => String::new(),
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or(String::new(), number)
}

impl LinePlot {
    /// The numbers that are drawn.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        let lines = self.series.iter().flat_map(|series| {
            series.points.iter().map(|point| {
                vec![
                    series.name.clone(),
                    number(point.x),
                    number(point.y),
                    optional(point.band().map(|band| band.0)),
                    optional(point.band().map(|band| band.1)),
                ]
            })
        });
        let head = ["series", &self.x_title, &self.y_title, "low", "high"];
        Numbers::new(head, lines.collect())
    }
}

impl PanelFigure {
    /// The numbers that are drawn: lines, the edges of bands, marks and levels.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        let head = ["panel", "what", "name", "x", "y", "low", "high"];
        Numbers::new(head, self.panels.iter().flat_map(of_panel).collect())
    }
}

fn of_panel(panel: &Panel) -> Vec<Vec<String>> {
    let none = String::new;
    let row = |what: &str, name: &str, rest: [String; 4]| {
        let mut cells = vec![panel.title.clone(), what.to_owned(), name.to_owned()];
        cells.extend(rest);
        cells
    };
    let mut rows = Vec::new();
    for line in &panel.lines {
        rows.extend(line.points.iter().map(|(x, y)| {
            let name = match line.note.as_str() {
                "" => line.name.clone(),
                note => format!("{}, {note}", line.name),
            };
            row("line", &name, [number(*x), number(*y), none(), none()])
        }));
    }
    for band in &panel.bands {
        rows.extend(band.points.iter().map(|(x, low, high)| {
            let cells = [number(*x), none(), number(*low), number(*high)];
            row("band", &band.name, cells)
        }));
    }
    rows.extend(panel.marks.iter().map(|mark| {
        let name = [mark.name.as_str(), mark.label.as_str()];
        let cells = [number(mark.x), number(mark.y), none(), none()];
        row("mark", name.join(" ").trim(), cells)
    }));
    rows.extend(panel.levels.iter().map(|level| {
        let cells = [none(), number(level.y), none(), none()];
        row("level", &level.label, cells)
    }));
    rows
}

impl Bars {
    /// The numbers that are drawn.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        let rows = self.bars.iter().map(|bar| {
            vec![
                bar.name.clone(),
                bar.group.clone(),
                number(bar.value),
                optional(bar.second),
            ]
        });
        let second = match self.second_title.as_str() {
            "" => "second value",
            title => title,
        };
        let head = ["name", "group", &self.value_title, second];
        Numbers::new(head, rows.collect())
    }
}

impl HeatMap {
    /// The numbers that are drawn, a pair a row.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        let mut rows = Vec::new();
        for (row, one) in self.names.iter().enumerate() {
            for (column, other) in self.names.iter().enumerate() {
                let value = optional(self.value(row, column));
                rows.push(vec![one.clone(), other.clone(), value]);
            }
        }
        Numbers::new(["row", "column", &self.value_title], rows)
    }
}

impl Stacks {
    /// The numbers that are drawn, a part a row, without what is zero.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        let mut rows = Vec::new();
        for stack in &self.stacks {
            let parts = self.parts.iter().zip(&stack.values);
            for (part, value) in parts.filter(|(_, value)| **value > 0.0) {
                rows.push(vec![stack.name.clone(), part.clone(), number(*value)]);
            }
        }
        Numbers::new([&self.name_title, "part", &self.value_title], rows)
    }
}

impl TaskScatter {
    /// The tasks that are drawn.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        let rows = self.spots.iter().map(|spot| {
            vec![
                spot.name.clone(),
                spot.kind.words().to_owned(),
                number(spot.x),
                number(spot.y),
                spot.samples.to_string(),
            ]
        });
        let head = ["task", "what", &self.x_title, &self.y_title, "samples"];
        Numbers::new(head, rows.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Bar, Spot, SpotKind, Stack};

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let rows = vec![vec!["x, \"y\"".to_owned(), "1".to_owned()]];
        let numbers = Numbers::new(["a", "b"], rows);
        assert_eq!(numbers.to_csv(), "a,b\n\"x, \"\"y\"\"\",1\n");
    }

    #[test]
    fn every_kind_tells_its_numbers() {
        let bars = Bars {
            value_title: "similarity".into(),
            bars: vec![Bar {
                name: "calm".into(),
                value: f64::NAN,
                second: Some(0.5),
                group: "wind".into(),
            }],
            ..Bars::default()
        };
        assert_eq!(bars.numbers().rows, [["calm", "wind", "", "0.5"]]);
        let map = HeatMap {
            names: vec!["a".into(), "b".into()],
            values: vec![vec![1.0, -0.5]],
            ..HeatMap::default()
        };
        assert_eq!(map.numbers().rows[1], ["a", "b", "-0.5"]);
        assert_eq!(map.numbers().rows[3], ["b", "b", ""]);
        let stacks = Stacks {
            parts: vec!["round 1".into(), "round 2".into()],
            stacks: vec![Stack {
                name: "calm".into(),
                values: vec![0.0, 7.0],
                note: String::new(),
            }],
            ..Stacks::default()
        };
        assert_eq!(stacks.numbers().rows, [["calm", "round 2", "7"]]);
        let tasks = TaskScatter {
            spots: vec![Spot {
                region: None,
                name: "calm".into(),
                kind: SpotKind::Measured,
                x: 1.0,
                y: 2.0,
                samples: 3,
            }],
            ..TaskScatter::default()
        };
        assert_eq!(tasks.numbers().rows, [["calm", "measured", "1", "2", "3"]]);
    }

    #[test]
    fn short_tables_have_seven_digits() {
        let cells = [
            "0.12345678901234567",
            "1234567890123",
            "wind 0.5, or more",
            "-2.5",
            "0.000000123456789",
        ];
        let numbers = Numbers {
            head: vec!["a".to_owned()],
            rows: cells.iter().map(|cell| vec![(*cell).to_owned()]).collect(),
        };
        let wanted = "a\n0.1234568\n1234567890123\n\"wind 0.5, or more\"\n-2.5\n0.0000001234568\n";
        assert_eq!(numbers.to_short_csv(), wanted);
        assert!(numbers.to_csv().contains("0.12345678901234567"));
    }
}
