//! Pages of reports.

use super::*;
use crate::testing::{assert_balanced, curve, row};
use serde_json::json;

fn rows() -> Vec<ResultRow> {
    let mut rows = curve("passive", 3, &[(100, 8.0), (200, 4.0), (400, 2.0)]);
    rows.extend(curve("aware", 3, &[(100, 4.0), (200, 1.0), (400, 0.5)]));
    rows.extend(curve("agnostic", 3, &[(100, 9.0), (200, 7.0), (400, 3.0)]));
    rows
}

fn page_of(rows: Vec<ResultRow>, paper: Value, settings: Value) -> String {
    html_report(&[ExperimentReport::new(rows, paper, settings).unwrap()])
}

#[test]
fn says_the_result_in_words_and_shows_everything() {
    let paper = json!({"strategies": {"aware": {"budget_ratio": 0.387}}, "note": "A <note>."});
    let page = page_of(rows(), paper, json!({"seeds": 3}));
    assert_balanced(&page);
    for text in [
        ">aware</abbr></b> reached that loss with 42\u{a0}% [42–42\u{a0}%] of this budget",
        ">agnostic</abbr></b> never reached it",
        "38.7\u{a0}%",
        "A &lt;note&gt;.",
        "<details>",
        "&quot;seeds&quot;: 3",
        "What the words mean",
        env!("CARGO_PKG_VERSION"),
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn loads_nothing_and_runs_nothing() {
    let page = page_of(rows(), json!({}), json!({}));
    for forbidden in [
        "<script",
        "src=",
        "url(",
        "@import",
        "<link",
        "<a href=\"http",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn hostile_names_are_escaped_everywhere() {
    let evil = "<script>alert('x')</script>";
    let mut rows = rows();
    rows.extend(curve(evil, 3, &[(100, 4.0), (200, 1.0)]));
    for row in &mut rows {
        row.experiment = format!("e\"{evil}");
        row.predictor = Some(evil.to_owned());
        row.target = Some(evil.to_owned());
    }
    let page = page_of(rows, json!({"source": evil}), json!({ evil: evil }));
    assert!(!page.contains("<script"));
    assert_balanced(&page);
}

#[test]
fn a_budget_that_does_not_last_is_told() {
    let mut rows = rows();
    rows.extend(curve(
        "discrete-l1",
        3,
        &[(100, 4.0), (200, 1.0), (400, 9.0)],
    ));
    let page = page_of(rows, json!({"source": "a paper"}), json!({}));
    assert!(page.contains("* discrete-l1 reaches passive's loss, but later rises above it"));
    assert!(page.contains("<b>discrete-l1</b> rose above it again"));
    assert!(!page.contains("* aware rises"));
    assert!(!page.contains("a paper"), "nothing published is shown");
}

#[test]
fn nothing_is_never_called_a_number() {
    // Losses of zero, one seed, sets without values, constants.
    for rows in [
        curve("passive", 1, &[(100, 0.0), (200, 0.0)]),
        [
            curve("passive", 1, &[(100, 0.0), (200, 0.0)]),
            curve("aware", 1, &[(100, 0.0), (200, 0.0)]),
        ]
        .concat(),
        [
            curve("passive", 2, &[(100, f64::INFINITY)]),
            curve("aware", 2, &[(100, f64::NAN)]),
        ]
        .concat(),
        [
            curve("passive", 1, &[(0, 1.0)]),
            curve("aware", 1, &[(0, 0.0)]),
        ]
        .concat(),
    ] {
        let report = ExperimentReport::new(rows, json!({}), json!({})).unwrap();
        let table = crate::terminal_table(&report.summary);
        let page = html_report(&[report]);
        for text in [table, page] {
            let text = text.replace("information", "").replace("infinite", "");
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
}

#[test]
fn degenerate_reports_still_make_a_page() {
    assert_balanced(&html_report(&[]));
    let alone = vec![row("aware", 1, 0, 100, f64::NAN)];
    let page = page_of(alone, Value::Null, Value::Null);
    assert_balanced(&page);
    assert!(page.contains("</b> has no results") && !page.contains("NaN"));
}

/// A long page first leaves pictures to folders, then drawings for phones.
#[test]
fn long_pages_draw_every_figure_once() {
    let page = |count: usize| {
        let one = ExperimentReport::new(rows(), json!({}), json!({})).unwrap();
        html_report(&vec![one; count])
    };
    let phone = "class=\"narrow\"";
    assert!(page(2).contains(phone));
    let (lean, once) = (page(100), page(130));
    assert!(
        lean.contains(phone) && lean.len() <= LONGEST,
        "{}",
        lean.len()
    );
    assert!(
        !once.contains(phone) && once.len() <= 2_000_000,
        "{}",
        once.len()
    );
}
