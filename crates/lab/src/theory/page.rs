//! The page on theory: tables, figures and sentences.

use serde_json::{Value, json};
use taskscout::theory::Allocation;
use taskscout_report::{
    ExperimentReport, Judged, Panel, PanelFigure, PanelLine, ReportFigure, ReportTable,
};

use super::designs::DesignRow;
use super::risk::{RiskRow, Spread};
use super::{Findings, list_page, result_rows, settings};
use crate::error::{LabError, Result};

/// A list of points, mean by mean.
type Points = Vec<(f64, f64)>;

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (total, count) = values.fold((0.0, 0.0), |(total, count), value| {
        (total + value, count + 1.0)
    });
    total / count
}

/// The whole page.
pub(super) fn report(findings: &Findings) -> Result<ExperimentReport> {
    let rows = result_rows(&findings.risks);
    let mut report = ExperimentReport::new(rows, Value::Null, settings(findings))
        .map_err(|error| LabError::Failure(error.to_string()))?;
    report.summary.judged = Judged::Shared;
    report.summary = report
        .summary
        .with("risk_law", law(&findings.risks))
        .with("designs", json!(by_k_star(findings)))
        .with("eigenbasis", json!(findings.bases))
        .with("lists", list_page::values(&findings.lists));
    report.tables.push(design_table(findings));
    report.tables.push(law_table(findings));
    report.tables.push(basis_table(findings));
    report.tables.push(list_page::table(&findings.lists));
    report
        .figures
        .push(design_figure(findings, "k_star", "designs"));
    report
        .figures
        .push(design_figure(findings, "kappa", "kappa"));
    report.figures.push(list_page::figure(&findings.lists));
    report.figures.push(law_figure(findings));
    Ok(report)
}

/// `k*`, and the mean over ground truths of every value and bound.
fn by_k_star(findings: &Findings) -> Vec<Value> {
    let of = |k_star: usize| -> Vec<&DesignRow> {
        let same = |row: &&DesignRow| row.sweep == "k_star" && row.known.k_star == k_star;
        findings.designs.iter().filter(same).collect()
    };
    let most = findings.designs.iter().map(|row| row.known.k_star).max();
    (1..=most.unwrap_or(0))
        .map(|k_star| {
            let rows = of(k_star);
            let value = |how: Allocation| mean(rows.iter().map(|row| row.value(how)));
            let values: serde_json::Map<String, Value> = Allocation::ALL
                .iter()
                .map(|&how| (how.name().to_owned(), json!(value(how))))
                .collect();
            json!({
                "k_star": k_star,
                "values": values,
                "construction_bound": mean(rows.iter().map(|row| row.bounds.construction)),
                "printed_bound": mean(rows.iter().map(|row| row.bounds.aware)),
                "kappa": mean(rows.iter().map(|row| row.known.condition)),
                "longest_w": mean(rows.iter().map(|row| row.known.longest())),
            })
        })
        .collect()
}

/// Measured over predicted risk: for each spread and size the mean of both, and their ratio.
fn law(risks: &[RiskRow]) -> Value {
    let mut found = Vec::new();
    for (spread, samples) in cells(risks) {
        let own = || of_cell(risks, spread, samples);
        let (measured, predicted) = (
            mean(own().map(|row| row.measured)),
            mean(own().map(|row| row.predicted)),
        );
        found.push(json!({
            "spread": spread, "samples": samples, "measured": measured, "predicted": predicted,
            "ratio": measured / predicted,
        }));
    }
    Value::Array(found)
}

fn cells(risks: &[RiskRow]) -> Vec<(&'static str, usize)> {
    let mut sizes: Vec<usize> = risks.iter().map(|row| row.samples).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let spreads = Spread::ALL.iter();
    spreads
        .flat_map(|spread| sizes.iter().map(|&size| (spread.name(), size)))
        .collect()
}

fn of_cell<'a>(
    risks: &'a [RiskRow],
    spread: &'a str,
    samples: usize,
) -> impl Iterator<Item = &'a RiskRow> {
    let own = move |row: &&RiskRow| row.spread == spread && row.samples == samples;
    risks.iter().filter(own)
}

/// The sentences for a terminal.
pub(super) fn words(findings: &Findings) -> String {
    let mut lines = vec![String::from("tr(Σ⁻¹A) by k*, mean over ground truths:")];
    let head = [
        "k*",
        "passive",
        "agnostic",
        "l1",
        "l2",
        "paper",
        "optimal",
        "its bound",
        "printed",
    ];
    lines.push(aligned(&head.map(str::to_owned)));
    for row in design_rows(findings) {
        lines.push(aligned(&row));
    }
    lines.push(String::new());
    lines.push("measured over predicted risk:".into());
    lines.push(aligned(
        &["spread", "samples", "predicted", "measured", "ratio"].map(str::to_owned),
    ));
    for row in law_rows(findings) {
        lines.push(aligned(&row));
    }
    lines.push(String::new());
    lines.extend(list_page::words(&findings.lists));
    lines.join("\n") + "\n"
}

pub(super) fn aligned(cells: &[String]) -> String {
    let padded: Vec<String> = cells.iter().map(|cell| format!("{cell:>10}")).collect();
    padded.join("  ")
}

fn design_rows(findings: &Findings) -> Vec<Vec<String>> {
    let number = |value: &Value| format!("{:.3}", value.as_f64().unwrap_or(f64::NAN));
    by_k_star(findings)
        .iter()
        .map(|row| {
            let mut cells = vec![row["k_star"].to_string()];
            cells.extend(Allocation::ALL.map(|how| number(&row["values"][how.name()])));
            cells.push(number(&row["construction_bound"]));
            cells.push(number(&row["printed_bound"]));
            cells
        })
        .collect()
}

fn design_table(findings: &Findings) -> ReportTable {
    let mut head = vec!["k*".to_owned()];
    head.extend(Allocation::ALL.map(|how| how.name().to_owned()));
    head.extend(["its bound", "printed bound"].map(str::to_owned));
    ReportTable {
        target: None,
        title: "What designs cost that know B".into(),
        head,
        rows: design_rows(findings),
        caption: "tr(Σ⁻¹A) for one sample, mean over ground truths: the excess risk is this times σ²(d − k)/N. `paper` is the paper's construction; `its bound` is k*² max ‖W*‖², and `printed bound` has the factor min{k*, κ²}.".into(),
    }
}

fn law_rows(findings: &Findings) -> Vec<Vec<String>> {
    let law = law(&findings.risks);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let rows = law.as_array().into_iter().flatten();
    rows.map(|row| {
        vec![
            text(&row["spread"]),
            row["samples"].to_string(),
            format!("{:.5}", number(&row["predicted"])),
            format!("{:.5}", number(&row["measured"])),
            format!("{:.2}", number(&row["ratio"])),
        ]
    })
    .collect()
}

fn law_table(findings: &Findings) -> ReportTable {
    ReportTable {
        target: None,
        title: "The risk law beside measurements".into(),
        head: ["spread", "samples", "predicted", "measured", "measured / predicted"]
            .map(str::to_owned)
            .to_vec(),
        rows: law_rows(findings),
        caption: "Means over ground truths and seeds. Samples are spread by someone who knows B; the model is learnt by the trainer `exact`.".into(),
    }
}

fn basis_table(findings: &Findings) -> ReportTable {
    let span = |(low, high): (f64, f64)| format!("{low:.4} to {high:.4}");
    let row = |row: &super::BasisRow| {
        vec![
            row.matrix_seed.to_string(),
            span(row.optimal),
            span(row.paper),
            span(row.bound),
        ]
    };
    ReportTable {
        target: None,
        title: "Which eigenbasis of A is taken".into(),
        head: ["ground truth", "optimal", "paper's construction", "its bound"]
            .map(str::to_owned)
            .to_vec(),
        rows: findings.bases.iter().map(row).collect(),
        caption: "For A = I/k every basis is an eigenbasis. The value of the optimal design is the same for all of them; the bound of the paper's construction is not, which is where its factor min{k*, κ²} comes from.".into(),
    }
}

/// The values of some allocations against what is varied, mean over ground truths, on a log scale.
fn design_figure(findings: &Findings, sweep: &'static str, name: &str) -> ReportFigure {
    let own: Vec<&DesignRow> = findings
        .designs
        .iter()
        .filter(|row| row.sweep == sweep)
        .collect();
    let place = |row: &DesignRow| match sweep {
        "k_star" => row.known.k_star as f64,
        _ => row.known.condition.log10(),
    };
    let mut places: Vec<f64> = own.iter().map(|row| place(row)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    let line = |title: &str, value: &dyn Fn(&DesignRow) -> f64| {
        let point = |&x: &f64| {
            let here = own.iter().filter(|row| (place(row) - x).abs() < 1e-6);
            (x, mean(here.map(|row| value(row))).log10())
        };
        PanelLine::new(title, places.iter().map(point).collect::<Points>())
    };
    let mut lines: Vec<PanelLine> = Allocation::ALL
        .iter()
        .map(|&how| line(how.name(), &|row| row.value(how)))
        .collect();
    lines.push(line("bound of paper's", &|row| row.bounds.construction));
    let (title, x_title) = match sweep {
        "k_star" => (
            "What designs cost, by the directions that the target needs",
            "k*",
        ),
        _ => ("What designs cost, by the condition of B", "log10 κ(B)"),
    };
    let panel = Panel {
        lines,
        x_title: x_title.into(),
        y_title: "log10 tr(Σ⁻¹A)".into(),
        ..Panel::new("")
    };
    ReportFigure {
        target: None,
        name: name.into(),
        figure: tall(PanelFigure::new(title, vec![panel])).into(),
        caption: "Mean over ground truths; lower needs fewer samples for the same risk.".into(),
    }
}

fn law_figure(findings: &Findings) -> ReportFigure {
    let panel = |spread: &Spread| {
        let line = |title: &str, value: fn(&RiskRow) -> f64| {
            let cells = cells(&findings.risks).into_iter();
            let own = cells.filter(|(name, _)| *name == spread.name());
            let point = |(name, samples): (&'static str, usize)| {
                let value = mean(of_cell(&findings.risks, name, samples).map(value));
                ((samples as f64).log10(), value.log10())
            };
            PanelLine::new(title, own.map(point).collect::<Points>())
        };
        Panel {
            lines: vec![
                line("predicted", |row| row.predicted),
                line("measured", |row| row.measured),
            ],
            x_title: "log10 source samples".into(),
            y_title: "log10 loss".into(),
            ..Panel::new(spread.name())
        }
    };
    ReportFigure {
        target: None,
        name: "risk".into(),
        figure: PanelFigure::new(
            "The risk law beside measurements",
            Spread::ALL.iter().map(panel).collect(),
        )
        .into(),
        caption: "Means over ground truths and seeds.".into(),
    }
}

pub(super) fn tall(mut figure: PanelFigure) -> PanelFigure {
    figure.panel_height = 380.0;
    figure
}

/// `designs.csv`: every value, one line a ground truth and sweep.
pub(super) fn designs_table(rows: &[DesignRow]) -> String {
    let names: Vec<&str> = Allocation::ALL.iter().map(|how| how.name()).collect();
    let mut text = format!(
        "sweep,matrix_seed,k_star,kappa,longest_w,{},construction_bound,printed_bound,agnostic_bound,passive_bound\n",
        names.join(",")
    );
    for row in rows {
        let values: Vec<String> = row
            .values
            .iter()
            .map(|(_, value)| value.to_string())
            .collect();
        text += &format!(
            "{},{},{},{},{},{},{},{},{},{}\n",
            row.sweep,
            row.matrix_seed,
            row.known.k_star,
            row.known.condition,
            row.known.longest(),
            values.join(","),
            row.bounds.construction,
            row.bounds.aware,
            row.bounds.agnostic,
            row.bounds.passive
        );
    }
    text
}
