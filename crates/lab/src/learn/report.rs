//! What was found, as one HTML file.

use taskscout_report::{
    Bar, Bars, Panel, PanelFigure, PanelLine, ReportFigure, ReportTable, html_opening, html_page,
    percent,
};

use super::summary::LearnSummary;
use super::text;

/// Recordings that the figure shows.
const SHOWN: usize = 12;

/// The page.
pub(super) fn page(summary: &LearnSummary) -> String {
    let title = format!("What helps {}", summary.target);
    let mut remarks: Vec<String> = summary.estimated.iter().map(text::estimated).collect();
    remarks.extend(summary.notes.iter().cloned());
    let mut body = html_opening(&title, &text::title(summary), &summary.verdict, &remarks);
    for table in [
        Some(outputs(summary)),
        Some(recordings(summary)),
        left_out(summary),
    ]
    .into_iter()
    .flatten()
    {
        body += &table.to_html();
    }
    body += &relevant(summary).to_html("relevant");
    body += &more(summary).to_html("forecast");
    for table in [Some(others(summary)), plan(summary)].into_iter().flatten() {
        body += &table.to_html();
    }
    html_page(&format!("{title} – taskscout"), &body)
}

fn table(title: &str, head: &[&str], rows: Vec<Vec<String>>, caption: &str) -> ReportTable {
    ReportTable {
        target: None,
        title: title.into(),
        head: head.iter().map(ToString::to_string).collect(),
        rows,
        caption: caption.into(),
    }
}

fn outputs(summary: &LearnSummary) -> ReportTable {
    let row = |one: &super::OutputSummary| {
        let mut cells = text::output(one);
        cells.push(one.features.clone());
        cells.push(one.reason.clone());
        cells
    };
    table(
        "The model",
        &[
            "output",
            "held-out rmse",
            "target alone",
            "spread",
            "explained",
            "model std",
            "returned",
            "features",
            "why",
        ],
        summary.outputs.iter().map(row).collect(),
        &format!(
            "Root mean squared errors {}. Target alone is what the target's own rows give. Spread is the standard deviation of these rows; model std is the uncertainty of the model over the target's inputs.",
            summary.held_out
        ),
    )
}

fn recordings(summary: &LearnSummary) -> ReportTable {
    table(
        "Which recordings help, and why",
        &text::RECORDINGS,
        text::recordings(summary, usize::MAX),
        &format!(
            "Similarity is the correlation of the recording's outputs and the target's over the target's inputs, with an interval that eight of ten draws lie in, in the mean over outputs. Added is the part of the target's variance before its own rows that this recording took away, given all others. Recordings are pooled over {}.",
            summary.task_features.join(", ")
        ),
    )
}

fn left_out(summary: &LearnSummary) -> Option<ReportTable> {
    let row = |one: &super::LeftOut| vec![one.recording.clone(), one.reason.clone()];
    let rows: Vec<Vec<String>> = summary.left_out.iter().map(row).collect();
    (!rows.is_empty()).then(|| table("Left out", &["recording", "why"], rows, ""))
}

fn relevant(summary: &LearnSummary) -> ReportFigure {
    let groups = ["helps", "alike", "adds little"];
    let bar = |one: &super::RecordingSummary| Bar {
        name: one.recording.clone(),
        value: one
            .similarity
            .map_or(0.0, |similarity| similarity.mean.max(0.0)),
        second: Some(one.added),
        group: groups
            .iter()
            .find(|group| one.why.starts_with(**group))
            .unwrap_or(&groups[2])
            .to_string(),
    };
    ReportFigure {
        target: None,
        name: "relevant".into(),
        figure: Bars {
            title: "Recordings that added most".into(),
            value_title: "similarity".into(),
            second_title: "part of the variance that it took away".into(),
            groups: groups.map(str::to_owned).to_vec(),
            bars: summary.recordings.iter().take(SHOWN).map(bar).collect(),
        }
        .into(),
        caption: "The recordings that lowered the target's variance most.".into(),
    }
}

fn more(summary: &LearnSummary) -> ReportFigure {
    let line = |(at, output): (usize, &super::OutputSummary)| {
        let mut points: Vec<(f64, f64)> =
            output.held_out_rmse.iter().map(|now| (0.0, *now)).collect();
        points.extend(
            summary
                .more_of_target
                .iter()
                .map(|one| (one.rows as f64, one.rmse[at])),
        );
        PanelLine::new(output.output.as_str(), points)
    };
    let panel = Panel {
        lines: summary.outputs.iter().enumerate().map(line).collect(),
        ..Panel::new("expected rmse by more rows of the target")
    };
    ReportFigure {
        target: None,
        name: "forecast".into(),
        figure: PanelFigure::new("What more rows of the target would bring", vec![panel]).into(),
        caption: "The root mean squared error that the model expects of itself. What no row takes away, such as noise and what the features cannot express, stays.".into(),
    }
}

fn others(summary: &LearnSummary) -> ReportTable {
    let row = |one: &super::ConditionForecast| {
        let mut cells = vec![
            text::condition(&one.condition),
            if one.recorded { "yes" } else { "no" }.to_owned(),
            one.rows.to_string(),
            percent(one.variance_left, 1),
        ];
        cells.push(
            one.rmse
                .iter()
                .map(|value| text::rounded(*value))
                .collect::<Vec<_>>()
                .join(", "),
        );
        cells
    };
    table(
        "What one more recording would bring",
        &[
            "condition",
            "recorded before",
            "rows",
            "variance left",
            "expected rmse",
        ],
        summary.more_of_others.iter().map(row).collect(),
        "Of each condition one more recording of usual length. Variance left is the part of the model's variance that would stay.",
    )
}

fn plan(summary: &LearnSummary) -> Option<ReportTable> {
    let row = |(at, one): (usize, &super::PlannedRecording)| {
        vec![
            (at + 1).to_string(),
            text::condition(&one.condition),
            one.rows.to_string(),
            percent(one.variance_left, 1),
            one.reason.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = summary.plan.iter().enumerate().map(row).collect();
    (!rows.is_empty()).then(|| {
        table(
            "The next recordings",
            &["", "condition", "rows", "variance left", "why"],
            rows,
            "Conditions that nobody has recorded, in the order to record them: each is the one that leaves least open after those before it.",
        )
    })
}
