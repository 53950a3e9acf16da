//! Named values as horizontal bars, for instance how relevant source tasks are.

use serde::{Deserialize, Serialize};

use super::draw_bars::{WIDTH, draw_bars};
use crate::format::{list, signed};
use crate::nullable;
use crate::svg::Theme;

/// Bars that a description names.
const NAMED: usize = 3;

/// Horizontal bars with their names, one below the other.
///
/// For several targets make one each, with the same [`groups`](Bars::groups), so that colours mean
/// the same in all.
///
/// ```
/// use taskscout_plot::figures::{Bar, Bars};
/// use taskscout_plot::Theme;
///
/// let bar = |name: &str, similarity, weight, group: &str| Bar {
///     name: name.into(), value: similarity, second: Some(weight), group: group.into(),
/// };
/// let bars = Bars {
///     title: "The most relevant source tasks".into(),
///     value_title: "similarity".into(),
///     second_title: "weight".into(),
///     groups: vec!["same vehicle".into(), "another vehicle".into()],
///     bars: vec![
///         bar("custom 40wind z", 0.98, 0.42, "same vehicle"),
///         bar("rflysim 10wind z", 0.71, 0.05, "another vehicle"),
///     ],
/// };
/// let svg = bars.to_svg(Theme::Standalone, "relevant");
/// assert!(svg.starts_with("<svg") && svg.contains("same vehicle"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    /// What they show.
    pub title: String,
    /// What the values are.
    pub value_title: String,
    /// What the second values are, which have bars and a scale of their own beside the first; empty
    /// where there are none.
    #[serde(default)]
    pub second_title: String,
    /// Groups in the order of their colours; those of bars that are not named here follow.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The bars from top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// Its name, shortened in its middle where it is long.
    pub name: String,
    /// Its length; a dash stands where it is not finite.
    #[serde(deserialize_with = "nullable::number")]
    pub value: f64,
    /// The second value, if there is one.
    #[serde(default)]
    pub second: Option<f64>,
    /// What it belongs to, which gives the colour; empty for nothing.
    #[serde(default)]
    pub group: String,
}

impl Bars {
    /// Whether there is any value to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let drawn = |bar: &Bar| bar.value.is_finite() || bar.second.is_some_and(f64::is_finite);
        !self.bars.iter().any(drawn)
    }

    /// Draws the bars; `id` keeps inner names apart from those of others on the page.
    #[must_use]
    pub fn to_svg(&self, theme: Theme, id: &str) -> String {
        self.to_svg_of_width(theme, id, WIDTH)
    }

    /// Draws the bars in so many pixels, for instance for a phone.
    #[must_use]
    pub fn to_svg_of_width(&self, theme: Theme, id: &str, width: f64) -> String {
        draw_bars(self, theme, id, width)
    }

    /// The groups that bars have, each with its place in the order of colours.
    pub(crate) fn used_groups(&self) -> Vec<(usize, &str)> {
        let mut all: Vec<&str> = self.groups.iter().map(String::as_str).collect();
        for bar in &self.bars {
            if !bar.group.is_empty() && !all.contains(&bar.group.as_str()) {
                all.push(&bar.group);
            }
        }
        let used = |group: &str| self.bars.iter().any(|bar| bar.group == group);
        let all = all.into_iter().enumerate();
        all.filter(|(_, group)| used(group)).collect()
    }

    /// The same in sentences, for readers who cannot see it.
    pub(crate) fn describe(&self) -> String {
        let first = self.bars.iter().filter(|bar| bar.value.is_finite());
        let named: Vec<String> = first
            .take(NAMED)
            .map(|bar| format!("{} ({})", bar.name, signed(bar.value)))
            .collect();
        let mut words = format!(
            "{} of {}, from the top: {}",
            self.value_title,
            self.bars.len(),
            list(&named)
        );
        for (_, group) in self.used_groups() {
            let count = self.bars.iter().filter(|bar| bar.group == group).count();
            words += &format!("; {count} of {group}");
        }
        words + "."
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_balanced;

    fn bar(name: &str, value: f64, second: Option<f64>, group: &str) -> Bar {
        Bar {
            name: name.to_owned(),
            value,
            second,
            group: group.to_owned(),
        }
    }

    fn bars(bars: Vec<Bar>) -> Bars {
        Bars {
            title: "Relevant".to_owned(),
            value_title: "similarity".to_owned(),
            bars,
            ..Bars::default()
        }
    }

    /// Left edge and width of every bar, from top to bottom.
    fn drawn(svg: &str) -> Vec<(f64, f64)> {
        let number = |tag: &str, name: &str| -> f64 {
            let rest = &tag[tag.find(&format!(" {name}=\"")).unwrap() + name.len() + 3..];
            rest[..rest.find('"').unwrap()].parse().unwrap()
        };
        let tags = svg
            .split("<rect")
            .skip(1)
            .map(|rest| rest.split('>').next().unwrap());
        tags.filter(|tag| tag.contains(" x=\""))
            .map(|tag| (number(tag, "x"), number(tag, "width")))
            .collect()
    }

    #[test]
    fn lengths_are_to_scale_on_both_sides_of_zero() {
        let one = |value| bar("a", value, None, "");
        let svg = bars(vec![one(0.8), one(0.4), one(-0.2)]).to_svg(Theme::Page, "b");
        assert_balanced(&svg);
        let drawn = drawn(&svg);
        assert_eq!(drawn.len(), 3);
        assert!((drawn[0].1 / drawn[1].1 - 2.0).abs() < 0.01);
        assert!((drawn[1].1 / drawn[2].1 - 2.0).abs() < 0.02);
        let zero = drawn[0].0;
        assert!((drawn[1].0 - zero).abs() < 0.11);
        assert!((drawn[2].0 + drawn[2].1 - zero).abs() < 0.11);
        for text in [">0.800</text>", ">0.400</text>", ">−0.200</text>"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn the_second_values_have_a_scale_of_their_own() {
        let both = Bars {
            second_title: "weight".to_owned(),
            ..bars(vec![
                bar("a", 1.0, Some(0.001), ""),
                bar("b", 0.5, Some(0.002), ""),
                bar("c", 0.5, None, ""),
            ])
        };
        let svg = both.to_svg(Theme::Page, "b");
        assert_balanced(&svg);
        let drawn = drawn(&svg);
        assert_eq!(drawn.len(), 5);
        assert!((drawn[4].1 / drawn[3].1 - 2.0).abs() < 0.01, "{drawn:?}");
        assert!(svg.contains(">similarity</text>") && svg.contains(">weight</text>"));
        assert!(svg.contains("<title>a: similarity 1.00, weight 0.00100</title>"));
        // Without a title for them they are not shown.
        let one = Bars {
            second_title: String::new(),
            ..both
        };
        let svg = one.to_svg(Theme::Page, "b");
        assert!(!svg.contains(", weight") && !svg.contains(">weight"));
    }

    #[test]
    fn a_group_has_the_same_colour_in_every_figure() {
        let groups = vec!["same".to_owned(), "other".to_owned(), "unused".to_owned()];
        let with = |bars_of: Vec<Bar>| Bars {
            groups: groups.clone(),
            ..bars(bars_of)
        };
        let late = with(vec![bar("a", 1.0, None, "other"), bar("b", 1.0, None, "x")]);
        assert_eq!(late.used_groups(), [(1, "other"), (3, "x")]);
        let svg = late.to_svg(Theme::Page, "b");
        assert!(svg.contains(">other</text>") && !svg.contains("unused"));
        let first = with(vec![bar("a", 1.0, None, "same")]).to_svg(Theme::Page, "b");
        let colour = |svg: &str| {
            let bar = svg.split("<rect").find(|part| part.contains("<title>"));
            bar.unwrap().split("class=\"f").nth(1).unwrap()[..1].to_owned()
        };
        assert_ne!(colour(&svg), colour(&first));
        let many = (0..30).map(|i| bar("n", 1.0, None, &format!("g{i}")));
        assert_balanced(&bars(many.collect()).to_svg(Theme::Page, "b"));
    }

    #[test]
    fn long_names_lose_their_middle_and_keep_it_in_the_tooltip() {
        let long = format!("custom_{}_40wind_z", "x".repeat(80));
        let svg = bars(vec![bar(&long, 0.5, None, "")]).to_svg(Theme::Page, "b");
        assert!(svg.contains("<title>custom_xxx"));
        let label = svg.split("</title>custom_xxx").nth(1).unwrap();
        let label = label.split('<').next().unwrap();
        assert!(
            label.contains('…') && label.ends_with("_40wind_z"),
            "{label}"
        );
        assert!(svg.contains(&long));
    }

    #[test]
    fn degenerate_bars_still_draw() {
        let (nan, huge) = (f64::NAN, f64::MAX);
        let cases = [
            vec![],
            vec![bar("a", nan, Some(f64::INFINITY), "g")],
            vec![bar("", 0.0, None, "")],
            vec![bar("a", -huge, Some(-0.0), ""), bar("b", huge, None, "")],
            vec![bar("a", 1.0, None, ""), bar("b", nan, None, "")],
            vec![bar("a", -3.0, None, "")],
            (0..30).map(|i| bar("n", f64::from(i), None, "g")).collect(),
        ];
        for case in cases {
            let figure = Bars {
                second_title: "weight".to_owned(),
                ..bars(case)
            };
            for theme in [Theme::Page, Theme::Standalone] {
                let svg = figure.to_svg(theme, "b");
                assert_balanced(&svg);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                assert_eq!(svg.contains("no values to plot"), figure.is_empty());
                assert!(
                    drawn(&svg)
                        .iter()
                        .all(|(x, width)| *x > 0.0 && *width >= 0.0)
                );
            }
        }
    }

    #[test]
    fn hostile_names_are_escaped() {
        let evil = "<script>\"&'";
        let figure = Bars {
            title: evil.to_owned(),
            value_title: evil.to_owned(),
            second_title: evil.to_owned(),
            groups: vec![evil.to_owned()],
            bars: vec![bar(evil, 0.5, Some(0.1), evil)],
        };
        for theme in [Theme::Page, Theme::Standalone] {
            let svg = figure.to_svg(theme, evil);
            assert_balanced(&svg);
            assert!(!svg.contains("<script"));
        }
    }
}
