//! The figures and tables that an experiment adds of its own.

use maud::{Markup, html};

use super::figures::{Pictures, figure};
use super::parts::{Level, heading, named_rows, notes, tied};
use super::sections::Sections;
use super::{ExperimentReport, chosen};
use crate::additions::{ReportFigure, ReportTable};
use crate::columns::Column;
use crate::format::MISSING;

impl ReportTable {
    /// The table under its title, as part of a page ([`html_page`](super::html_page)).
    #[must_use]
    pub fn to_html(&self) -> String {
        html! { (heading(Level(2), &self.title, "")) (own_table(self)) }.into_string()
    }
}

impl ReportFigure {
    /// The figure under its title, with its numbers and picture to take along, as part of a page; `id` keeps it apart
    /// from others there.
    #[must_use]
    pub fn to_html(&self, id: &str) -> String {
        html! {
            (heading(Level(2), self.figure.title(), ""))
            (drawn(self, id, Pictures::Offered))
        }
        .into_string()
    }

    /// The same without the title.
    #[must_use]
    pub fn to_html_figure(&self, id: &str) -> String {
        drawn(self, id, Pictures::Offered).into_string()
    }
}

fn drawn(own: &ReportFigure, id: &str, pictures: Pictures) -> Markup {
    figure(&own.figure, (id, &own.name), &own.caption, pictures)
}

/// The beginning of a page: its title, facts in small print, what it says in a sentence or two, and what a careful reader must know.
#[must_use]
pub fn html_opening(title: &str, facts: &str, verdict: &str, remarks: &[String]) -> String {
    html! {
        (heading(Level(1), title, ""))
        p.facts { (tied(facts)) }
        p { strong { (tied(verdict)) } }
        (notes(remarks))
    }
    .into_string()
}

/// Adds the tables, then the figures, of those whose target is chosen; what says which tasks were collected stands
/// together, first.
pub(super) fn additions(
    sections: &mut Sections,
    report: &ExperimentReport,
    wanted: impl Fn(Option<&str>) -> bool,
    id: &str,
    pictures: Pictures,
) {
    let tables = || {
        let tables = report.tables.iter().enumerate();
        tables.filter(|(_, own)| wanted(own.target.as_deref()))
    };
    let figures = || {
        let figures = report.figures.iter().enumerate();
        figures.filter(|(_, own)| wanted(own.target.as_deref()))
    };
    let plans = html! {
        @for (index, own) in figures().filter(|(_, own)| chosen::is_figure(own)) {
            (drawn(own, &format!("{id}-own-{index}"), pictures))
        }
        @for (_, own) in tables().filter(|(_, own)| chosen::is_table(own)) { (own_table(own)) }
    };
    sections.add(format!("{id}-chosen"), chosen::TITLE, plans);
    for (index, own) in tables().filter(|(_, own)| !chosen::is_table(own)) {
        sections.add(format!("{id}-table-{index}"), &own.title, own_table(own));
    }
    for (index, own) in figures().filter(|(_, own)| !chosen::is_figure(own)) {
        let drawn = drawn(own, &format!("{id}-own-{index}"), pictures);
        let place = format!("{id}-figure-{index}");
        sections.add(place, own.figure.title(), drawn);
    }
}

fn own_table(own: &ReportTable) -> Markup {
    let width = own.rows.iter().map(Vec::len).chain([own.head.len()]).max();
    let column = |index: usize| {
        let cells = own.rows.iter().map(|row| row.get(index));
        let cells: Vec<String> = cells
            .map(|cell| cell.cloned().unwrap_or_default())
            .collect();
        Column {
            heading: own.head.get(index).cloned().unwrap_or_default(),
            words: !is_figures(&cells),
            cells,
        }
    };
    let columns: Vec<Column> = (0..width.unwrap_or(0)).map(column).collect();
    match columns.split_first() {
        Some((names, others)) => named_rows(names, others, &own.caption),
        None => html! {},
    }
}

/// Whether a column holds numbers, which stand to the right.
fn is_figures(cells: &[String]) -> bool {
    let mut said = cells
        .iter()
        .map(String::as_str)
        .filter(|cell| !cell.is_empty() && *cell != MISSING);
    said.all(|cell| {
        let number = cell.trim_start_matches(['-', '−', '+', '±', '<', '>', '≤', '≥', '(', ' ']);
        number.starts_with(|first: char| first.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::additions::ReportFigure;
    use crate::html::html_report;
    use crate::rows::ResultRow;
    use crate::testing::{assert_balanced, curve};
    use serde_json::json;
    use taskscout_plot::{Panel, PanelFigure, PanelLine};

    fn texts(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn numbers_stand_right_and_words_left() {
        assert!(is_figures(&texts(&["−0.5 ± 0.1", "≤ 12 %", "–", ""])));
        assert!(!is_figures(&texts(&["0.5", "no model"])));
        let table = ReportTable {
            target: None,
            title: "Control <error>".to_owned(),
            head: texts(&["strategy", "mean |θ|", "verdict"]),
            rows: vec![
                texts(&["a&b", "0.1 [0.05, 0.2]", "stable"]),
                texts(&["short"]),
            ],
            caption: "In <radians>.".to_owned(),
        };
        let out = own_table(&table).into_string();
        assert_balanced(&out);
        assert!(out.contains("<caption>In &lt;radians&gt;.</caption>"));
        assert!(out.contains(
            "<th scope=\"row\">a&amp;b</th><td>0.1<small>[0.05, 0.2]</small></td>\
             <td class=\"words\">stable</td>"
        ));
        assert!(out.contains("<th scope=\"row\">short</th><td></td><td class=\"words\"></td>"));
    }

    fn report(targets: &[&str], on: &[Option<&str>]) -> String {
        let rows = targets.iter().flat_map(|target| {
            let with = |row| ResultRow {
                target: Some((*target).to_owned()),
                ..row
            };
            let rows = curve("passive", 2, &[(100, 2.0), (200, 1.0)]);
            rows.into_iter().map(with)
        });
        let settings = json!({"seed": 1});
        let mut report = ExperimentReport::new(rows.collect(), json!({}), settings).unwrap();
        for target in on {
            let name = target.unwrap_or("everything");
            let line = PanelLine::new("<aware>", vec![(0.0, 1.0), (1.0, 2.0)]);
            let panel = Panel {
                lines: vec![line],
                ..Panel::new("<p>")
            };
            report.figures.push(ReportFigure {
                target: target.map(str::to_owned),
                name: "path".to_owned(),
                figure: PanelFigure::new(format!("figure <{name}>"), vec![panel]).into(),
                caption: "<i>".to_owned(),
            });
            report.tables.push(ReportTable {
                target: target.map(str::to_owned),
                title: format!("table <{name}>"),
                head: texts(&["a", "b"]),
                rows: vec![texts(&["x", "1"])],
                caption: String::new(),
            });
        }
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(
            serde_json::from_str::<ExperimentReport>(&text)
                .unwrap()
                .figures,
            report.figures
        );
        let page = html_report(&[report]);
        assert_balanced(&page);
        page
    }

    fn in_order(page: &str, texts: &[&str]) {
        let places: Vec<Option<usize>> = texts.iter().map(|text| page.find(text)).collect();
        assert!(places.iter().all(Option::is_some), "{texts:?} {places:?}");
        assert!(places.is_sorted(), "{texts:?} {places:?}");
    }

    #[test]
    fn additions_stand_with_their_target_and_the_rest_at_the_end() {
        let page = report(&["t1", "t2"], &[None, Some("t2"), Some("t1"), Some("gone")]);
        in_order(
            &page,
            &[
                ">Target t1</h2>",
                ">table &lt;t1&gt;</h3>",
                ">figure &lt;t1&gt;</h3>",
                ">Target t2</h2>",
                ">table &lt;t2&gt;</h3>",
                ">figure &lt;t2&gt;</h3>",
                ">table &lt;everything&gt;</h2>",
                ">table &lt;gone&gt;</h2>",
                ">figure &lt;everything&gt;</h2>",
                ">figure &lt;gone&gt;</h2>",
                ">Settings</h2>",
            ],
        );
        assert_eq!(page.matches("figure &lt;t1&gt;</h").count(), 1);
        assert_eq!(page.matches("id=\"plot-0-1-own-1-title\"").count(), 1);
    }

    #[test]
    fn with_one_target_all_stand_in_its_section() {
        let page = report(&["t1"], &[None, Some("t1")]);
        in_order(
            &page,
            &[
                ">table &lt;everything&gt;</h2>",
                ">figure &lt;t1&gt;</h2>",
                ">Losses and budgets</h2>",
                ">Tasks</h2>",
            ],
        );
        assert_eq!(page.matches("figure &lt;everything&gt;</h").count(), 1);
    }

    #[test]
    fn odd_tables_still_make_a_page() {
        let table = |head: &[&str], rows: Vec<Vec<String>>| ReportTable {
            target: None,
            title: String::new(),
            head: texts(head),
            rows,
            caption: String::new(),
        };
        assert!(own_table(&table(&[], vec![])).0.is_empty());
        for odd in [
            table(&["only"], vec![texts(&["a"])]),
            table(&["a", "b"], vec![]),
            table(&["a"], vec![texts(&["x", "1", "2"])]),
        ] {
            assert_balanced(&own_table(&odd).into_string());
        }
        let only = own_table(&table(&["only"], vec![texts(&["a"])])).into_string();
        assert!(only.contains(">a</th>"));
    }
}
