//! The ball as a list, in a table, a figure, sentences and a file.

use serde_json::{Value, json};
use taskscout_report::{Panel, PanelFigure, PanelLine, ReportFigure, ReportTable};

use super::lists::ListRow;
use super::page::{aligned, mean, tall};

/// The means over ground truths for each size of list.
struct Size {
    tasks: usize,
    l1: f64,
    l2: f64,
    ball: f64,
}

fn sizes(rows: &[ListRow]) -> Vec<Size> {
    let mut tasks: Vec<usize> = rows.iter().map(|row| row.tasks).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let size = |tasks: usize| {
        let own = || rows.iter().filter(move |row| row.tasks == tasks);
        Size {
            tasks,
            l1: mean(own().map(|row| row.l1)),
            l2: mean(own().map(|row| row.l2)),
            ball: mean(own().map(|row| row.ball)),
        }
    };
    tasks.into_iter().map(size).collect()
}

/// For `summary.json`.
pub(super) fn values(rows: &[ListRow]) -> Value {
    let entry =
        |size: &Size| json!({"tasks": size.tasks, "l1": size.l1, "l2": size.l2, "ball": size.ball});
    sizes(rows).iter().map(entry).collect()
}

const HEAD: [&str; 5] = ["tasks", "L1", "L2", "ball", "L1 / ball"];

fn cells(rows: &[ListRow]) -> Vec<Vec<String>> {
    let row = |size: &Size| {
        let mut cells = vec![size.tasks.to_string()];
        cells.extend([size.l1, size.l2, size.ball].map(|value| format!("{value:.3}")));
        cells.push(format!("{:.1}", size.l1 / size.ball));
        cells
    };
    sizes(rows).iter().map(row).collect()
}

pub(super) fn table(rows: &[ListRow]) -> ReportTable {
    ReportTable {
        target: None,
        title: "The ball as a list".into(),
        head: HEAD.map(str::to_owned).to_vec(),
        rows: cells(rows),
        caption: "tr(Σ⁻¹A) for one sample and one target, mean over ground truths. L1 and L2 are the relevance designs on lists of random tasks of the ball's surface; for one target L1 is the best design on its list. `ball` is the optimal design on the ball itself.".into(),
    }
}

pub(super) fn figure(rows: &[ListRow]) -> ReportFigure {
    let sizes = sizes(rows);
    let line = |title: &str, value: fn(&Size) -> f64| {
        let point = |size: &Size| ((size.tasks as f64).log10(), value(size).log10());
        PanelLine::new(title, sizes.iter().map(point).collect::<Vec<_>>())
    };
    let panel = Panel {
        lines: vec![
            line("L1 on the list", |size| size.l1),
            line("L2 on the list", |size| size.l2),
            line("optimal on the ball", |size| size.ball),
        ],
        x_title: "log10 tasks of the list".into(),
        y_title: "log10 tr(Σ⁻¹A)".into(),
        ..Panel::new("")
    };
    ReportFigure {
        target: None,
        name: "lists".into(),
        figure: tall(PanelFigure::new(
            "Designs on the ball and on lists of its tasks",
            vec![panel],
        ))
        .into(),
        caption: "Mean over ground truths; lower needs fewer samples for the same risk.".into(),
    }
}

/// The sentences for a terminal.
pub(super) fn words(rows: &[ListRow]) -> Vec<String> {
    let mut lines = vec!["tr(Σ⁻¹A) for one target on lists of the ball's tasks:".to_owned()];
    lines.push(aligned(&HEAD.map(str::to_owned)));
    lines.extend(cells(rows).iter().map(|row| aligned(row)));
    lines
}

/// `lists.csv`: every value, one line a ground truth and list.
pub(super) fn file(rows: &[ListRow]) -> String {
    let mut text = String::from("matrix_seed,tasks,l1,l2,ball\n");
    for row in rows {
        text += &format!(
            "{},{},{},{},{}\n",
            row.matrix_seed, row.tasks, row.l1, row.l2, row.ball
        );
    }
    text
}
