//! Every item against every other, for instance how alike the embeddings of tasks are.

use serde::{Deserialize, Serialize};

use super::draw_heat_map::draw_heat_map;
use crate::format::signed;
use crate::nullable;
use crate::svg::Theme;

/// A square of cells, coloured from −1 to 1.
///
/// ```
/// use taskscout_plot::figures::HeatMap;
/// use taskscout_plot::Theme;
///
/// let map = HeatMap {
///     title: "How alike tasks are".into(),
///     value_title: "cosine of embeddings".into(),
///     names: vec!["calm".into(), "breeze".into(), "ballast".into()],
///     groups: vec!["wind".into(), "wind".into(), "load".into()],
///     values: vec![vec![1.0, 0.9, -0.2], vec![0.9, 1.0, 0.1], vec![-0.2, 0.1, 1.0]],
/// };
/// let svg = map.to_svg(Theme::Standalone, "similarity");
/// assert!(svg.contains("<title>calm, breeze: 0.900</title>"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// What it shows.
    pub title: String,
    /// What the values are.
    pub value_title: String,
    /// The items, in the order of rows and columns.
    pub names: Vec<String>,
    /// The group of each item, or nothing; lines part neighbours of different groups, so items of a
    /// group should stand together.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Values row by row. Those outside [−1, 1] have the colour of the end, those that are missing
    /// or not finite are hatched.
    #[serde(deserialize_with = "nullable::rows")]
    pub values: Vec<Vec<f64>>,
}

impl HeatMap {
    /// Whether there is any value to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let n = self.names.len();
        !(0..n).any(|row| (0..n).any(|column| self.value(row, column).is_some()))
    }

    /// Draws the map; `id` keeps its inner names apart from those of others on the page.
    #[must_use]
    pub fn to_svg(&self, theme: Theme, id: &str) -> String {
        draw_heat_map(self, theme, id)
    }

    /// The value of a cell, if there is one.
    pub(crate) fn value(&self, row: usize, column: usize) -> Option<f64> {
        let value = self.values.get(row)?.get(column).copied();
        value.filter(|value| value.is_finite())
    }

    /// Stretches of items of the same group: its name, the first item and the one past the last.
    pub(crate) fn stretches(&self) -> Vec<(&str, usize, usize)> {
        let mut stretches: Vec<(&str, usize, usize)> = Vec::new();
        for index in 0..self.names.len() {
            let group = self.groups.get(index).map_or("", String::as_str);
            match stretches.last_mut() {
                Some((own, _, end)) if *own == group => *end = index + 1,
                _ => stretches.push((group, index, index + 1)),
            }
        }
        stretches
    }

    /// The same in sentences, for readers who cannot see it.
    pub(crate) fn describe(&self) -> String {
        let n = self.names.len();
        let pairs = (0..n).flat_map(|row| (0..n).map(move |column| (row, column)));
        let pairs = pairs.filter(|(row, column)| row != column);
        let known: Vec<(usize, usize, f64)> = pairs
            .filter_map(|(row, column)| Some((row, column, self.value(row, column)?)))
            .collect();
        let mut words = format!("{} of {n}, each with each.", self.value_title);
        let by_value = |a: &&(usize, usize, f64), b: &&(usize, usize, f64)| a.2.total_cmp(&b.2);
        if let (Some(least), Some(most)) =
            (known.iter().min_by(by_value), known.iter().max_by(by_value))
        {
            let pair = |&(row, column, value): &(usize, usize, f64)| {
                format!(
                    "{} and {} with {}",
                    self.names[row],
                    self.names[column],
                    signed(value)
                )
            };
            words += &format!(" Largest: {}; least: {}.", pair(most), pair(least));
        }
        let same = |row: usize, column: usize| self.groups.get(row) == self.groups.get(column);
        let mean = |within: bool| {
            let of = known
                .iter()
                .filter(|(row, column, _)| same(*row, *column) == within);
            let values: Vec<f64> = of.map(|(_, _, value)| value.clamp(-1.0, 1.0)).collect();
            let count = values.len() as f64;
            (count > 0.0).then(|| values.iter().sum::<f64>() / count)
        };
        if let (Some(within), Some(across)) = (mean(true), mean(false)) {
            let (within, across) = (signed(within), signed(across));
            words += &format!(" In the mean {within} within groups and {across} across them.");
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_balanced;

    fn map(n: usize, value: impl Fn(usize, usize) -> f64) -> HeatMap {
        HeatMap {
            title: "Alike".to_owned(),
            value_title: "cosine".to_owned(),
            names: (0..n).map(|index| format!("task {index}")).collect(),
            groups: (0..n)
                .map(|index| format!("group {}", 3 * index / n))
                .collect(),
            values: (0..n)
                .map(|row| (0..n).map(|column| value(row, column)).collect())
                .collect(),
        }
    }

    /// A number in [−1, 1] that looks random.
    fn mixed(row: usize, column: usize) -> f64 {
        (((row * 7919 + column * 104_729) % 2001) as f64 - 1000.0) / 1000.0
    }

    #[test]
    fn a_small_map_tells_every_cell() {
        let figure = map(4, |row, column| if row == column { 1.0 } else { -0.25 });
        let svg = figure.to_svg(Theme::Page, "h");
        assert_balanced(&svg);
        assert_eq!(svg.matches("<title>task ").count(), 16 + 8);
        assert!(svg.contains("<title>task 1, task 2: −0.250</title>"));
        assert!(svg.contains("class=\"f1\" fill-opacity=\"1\""));
        assert!(svg.contains("class=\"f2\" fill-opacity=\"0.25\""));
        assert!(!svg.contains("-hatch"));
    }

    #[test]
    fn the_key_has_no_colours_that_no_cell_has() {
        let ends = |value: f64| {
            let svg = map(3, |row, _| if row == 0 { value } else { 0.5 }).to_svg(Theme::Page, "h");
            ["−1", "0", "1"].map(|label| svg.contains(&format!(">{label}</text>")))
        };
        assert_eq!(ends(-0.1), [true, true, true]);
        assert_eq!(ends(0.0), [false, true, true]);
    }

    #[test]
    fn groups_are_parted_and_named() {
        let figure = map(9, mixed);
        let names = ["group 0", "group 1", "group 2"];
        let expected = [(names[0], 0, 3), (names[1], 3, 6), (names[2], 6, 9)];
        assert_eq!(figure.stretches(), expected);
        let svg = figure.to_svg(Theme::Page, "h");
        assert!(
            names
                .iter()
                .all(|name| svg.contains(&format!(">{name}</text>")))
        );
        let lines = |svg: &str| svg.matches("<polyline").count();
        let plain = HeatMap {
            groups: Vec::new(),
            ..figure
        };
        // Two lines across and two down.
        assert_eq!(lines(&svg), 4 + lines(&plain.to_svg(Theme::Page, "h")));
    }

    #[test]
    fn a_large_map_is_drawn_in_runs_and_says_fewer_names() {
        let even = map(200, |row, column| {
            if (row < 100) == (column < 100) {
                0.9
            } else {
                -0.4
            }
        });
        let svg = even.to_svg(Theme::Page, "h");
        assert_balanced(&svg);
        assert!(svg.len() < 60_000, "{}", svg.len());
        assert_eq!(svg.matches("M0 7h100").count(), 1);
        assert_eq!(svg.matches("M100 7h100").count(), 1);
        let labels = svg.matches("</title>task ").count();
        assert!((40..=120).contains(&labels), "{labels}");
        let busy = map(200, mixed).to_svg(Theme::Page, "h");
        assert!(busy.len() < 400_000, "{}", busy.len());
        let told = map(32, mixed).to_svg(Theme::Page, "h");
        assert_eq!(told.matches("</title></path>").count(), 1024);
        assert!(
            !map(33, mixed)
                .to_svg(Theme::Page, "h")
                .contains("task 1, task 2:")
        );
    }

    #[test]
    fn cells_without_a_value_are_hatched_and_those_outside_are_clamped() {
        for n in [4, 70] {
            let odd = map(n, |row, column| match (row, column) {
                (0, 1) => f64::NAN,
                (1, 0) => f64::INFINITY,
                (2, 3) => 1e300,
                (3, 2) => -1e300,
                _ => 0.0,
            });
            let svg = odd.to_svg(Theme::Standalone, "h<");
            assert_balanced(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            assert!(svg.contains("url(#h&lt;-hatch)") && svg.contains("id=\"h&lt;-hatch\""));
            assert!(svg.contains(">no value</text>"));
        }
        let torn = HeatMap {
            values: vec![vec![1.0], vec![]],
            ..map(3, mixed)
        };
        let svg = torn.to_svg(Theme::Page, "h");
        assert_eq!(svg.matches(": no value</title>").count(), 8);
    }

    #[test]
    fn degenerate_maps_still_draw() {
        for empty in [map(0, mixed), map(3, |_, _| f64::NAN)] {
            let svg = empty.to_svg(Theme::Page, "h");
            assert!(empty.is_empty() && svg.contains("no values to plot"));
            assert_balanced(&svg);
        }
        let one = map(1, |_, _| 1.0);
        assert!(!one.is_empty());
        assert_balanced(&one.to_svg(Theme::Standalone, "h"));
    }

    #[test]
    fn words_say_what_colours_do() {
        let figure = map(6, |row, column| {
            match (row / 2 == column / 2, row, column) {
                (_, 4, 5) => 0.99,
                (_, 0, 5) => -0.5,
                (true, ..) => 0.8,
                (false, ..) => 0.1,
            }
        });
        let words = figure.describe();
        assert!(
            words.contains("Largest: task 4 and task 5 with 0.990"),
            "{words}"
        );
        assert!(
            words.contains("least: task 0 and task 5 with −0.500"),
            "{words}"
        );
        assert!(words.contains("In the mean 0.832 within groups"), "{words}");
    }

    #[test]
    fn hostile_names_are_escaped() {
        let evil = "<script>\"&'".to_owned();
        for n in [2, 64] {
            let figure = HeatMap {
                title: evil.clone(),
                value_title: evil.clone(),
                names: vec![evil.clone(); n],
                groups: (0..n)
                    .map(|index| format!("{evil}{}", 2 * index / n))
                    .collect(),
                ..map(n, mixed)
            };
            for theme in [Theme::Page, Theme::Standalone] {
                let svg = figure.to_svg(theme, &evil);
                assert_balanced(&svg);
                assert!(!svg.contains("<script"));
            }
        }
    }
}
