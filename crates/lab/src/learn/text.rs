//! What was found, in words and tables for a terminal.

use taskscout_io::tables::short;
use taskscout_report::percent;

use super::summary::{Fact, LearnSummary, OutputSummary, line};

/// Recordings that the terminal lists.
const LISTED: usize = 10;
/// What a recording adds at least to be said to help.
const HELPS: f64 = 0.01;

/// The page for a terminal.
pub(super) fn page(summary: &LearnSummary) -> String {
    let mut out = format!("{}\n\n", title(summary));
    out += &table(
        &[
            "output",
            "held-out rmse",
            "target alone",
            "spread",
            "explained",
            "model std",
            "returned",
        ],
        &summary.outputs.iter().map(output).collect::<Vec<_>>(),
    );
    out += &format!("Errors {}.\n", summary.held_out);
    for output in &summary.outputs {
        out += &format!("{}: {}.\n", output.output, output.reason);
    }
    out += &format!(
        "\nRecordings that were learnt from, pooled over {}:\n",
        summary.task_features.join(", ")
    );
    out += &table(&RECORDINGS, &recordings(summary, LISTED));
    let more = summary.recordings.len().saturating_sub(LISTED);
    if more > 0 {
        out += &format!("and {more} more, which added less\n");
    }
    for left in &summary.left_out {
        out += &format!("{} is left out: {}\n", left.recording, left.reason);
    }
    for one in &summary.estimated {
        out += &format!("{}\n", estimated(one));
    }
    for note in &summary.notes {
        out += &format!("note: {note}\n");
    }
    out += "\nWhat more rows of the target would bring, as the model sees it:\n";
    out += &table(&forecast_head(summary), &target_forecast(summary));
    if !summary.plan.is_empty() {
        out += "\nThe next recordings, of conditions that nobody has recorded:\n";
        let row = |(at, one): (usize, &super::PlannedRecording)| {
            vec![(at + 1).to_string(), one.reason.clone()]
        };
        out += &table(
            &["", "why"],
            &summary.plan.iter().enumerate().map(row).collect::<Vec<_>>(),
        );
    }
    out + &format!("\n{}\n", summary.verdict)
}

/// What it is about, in a line.
pub(super) fn title(summary: &LearnSummary) -> String {
    let facts = match summary.target_facts.is_empty() {
        true => String::new(),
        false => format!(" ({})", line(&summary.target_facts)),
    };
    format!(
        "{}{facts}: {} rows of its own, {} other recordings",
        summary.target,
        summary.target_rows,
        summary.recordings.len()
    )
}

/// The head of the table of recordings.
pub(super) const RECORDINGS: [&str; 6] = [
    "recording",
    "rows",
    "effective rows",
    "similarity",
    "added",
    "why",
];

/// The rows of the table of recordings.
pub(super) fn recordings(summary: &LearnSummary, most: usize) -> Vec<Vec<String>> {
    let row = |one: &super::RecordingSummary| {
        let similarity = one.similarity.map_or_else(
            || "–".to_owned(),
            |s| format!("{:.2} [{:.2}, {:.2}]", s.mean, s.low, s.high),
        );
        vec![
            one.recording.clone(),
            one.rows.to_string(),
            format!("{:.0}", one.effective_rows),
            similarity,
            percent(one.added, 1),
            one.why.clone(),
        ]
    };
    summary.recordings.iter().take(most).map(row).collect()
}

/// A parameter that was found, in a sentence.
pub(super) fn estimated(one: &super::EstimatedParameter) -> String {
    let unit = one
        .unit
        .as_ref()
        .map_or_else(String::new, |unit| format!(" {unit}"));
    format!(
        "{} of {} is not known exactly; its rows say {} ± {}{unit}",
        one.parameter,
        one.recording,
        rounded(one.mean),
        rounded(one.std)
    )
}

/// The head of the table of more rows.
pub(super) fn forecast_head(summary: &LearnSummary) -> Vec<String> {
    let output = |one: &OutputSummary| format!("expected rmse of {}{}", one.output, unit(one));
    std::iter::once("more rows".to_owned())
        .chain(summary.outputs.iter().map(output))
        .collect()
}

/// The rows of the table of more rows.
pub(super) fn target_forecast(summary: &LearnSummary) -> Vec<Vec<String>> {
    let now: Vec<f64> = summary
        .outputs
        .iter()
        .map(|one| one.held_out_rmse.unwrap_or(f64::NAN))
        .collect();
    let cells = |rows: usize, all: &[f64]| {
        std::iter::once(rows.to_string())
            .chain(all.iter().map(|value| rounded(*value)))
            .collect()
    };
    let mut out: Vec<Vec<String>> = Vec::new();
    if now.iter().all(|value| value.is_finite()) {
        out.push(cells(0, &now));
    }
    out.extend(
        summary
            .more_of_target
            .iter()
            .map(|one| cells(one.rows, &one.rmse)),
    );
    out
}

/// The row of an output.
pub(super) fn output(one: &OutputSummary) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), rounded);
    let weights: Vec<String> = one
        .weights
        .iter()
        .filter(|(_, weight)| **weight >= 0.005)
        .map(|(kind, weight)| format!("{} {kind}", percent(*weight, 0)))
        .collect();
    vec![
        format!("{}{}", one.output, unit(one)),
        number(one.held_out_rmse),
        number(one.target_only_rmse),
        number(one.spread),
        one.explained
            .map_or_else(|| "–".to_owned(), |part| percent(part, 1)),
        rounded(one.model_std),
        weights.join(", "),
    ]
}

fn unit(one: &OutputSummary) -> String {
    one.unit
        .as_ref()
        .map_or_else(String::new, |unit| format!(" [{unit}]"))
}

/// Three digits.
pub(super) fn rounded(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value.abs() >= 100.0 {
        return short(value.round());
    }
    // As text, which has no limit of size.
    short(format!("{value:.2e}").parse().unwrap_or(value))
}

/// All of it in a sentence or two.
pub(super) fn verdict(summary: &LearnSummary) -> String {
    let helping: Vec<&str> = summary
        .recordings
        .iter()
        .filter(|one| one.added >= HELPS)
        .map(|one| one.recording.as_str())
        .collect();
    let first = match helping.as_slice() {
        [] => "No single recording matters: what they share is known from any of them.".to_owned(),
        [one] => format!("One recording helps most, {one}."),
        [one, two, ..] => format!(
            "{} of {} recordings help, most of all {one} and {two}.",
            helping.len(),
            summary.recordings.len()
        ),
    };
    let ratios: Option<Vec<f64>> = summary
        .outputs
        .iter()
        .map(|one| Some(one.held_out_rmse? / one.target_only_rmse?))
        .collect();
    let second = match ratios.filter(|all| all.iter().all(|ratio| ratio.is_finite())) {
        None => "Record more of the target to see how good the model is.".to_owned(),
        Some(all) => {
            let mean = (all.iter().map(|ratio| ratio.ln()).sum::<f64>() / all.len() as f64).exp();
            compared(mean)
        }
    };
    let third = summary.plan.first().map_or_else(String::new, |plan| {
        format!(" Record next: {}.", line(&plan.condition))
    });
    format!("{first} {second}{third}")
}

fn compared(ratio: f64) -> String {
    if ratio < 0.98 {
        format!(
            "With them the error on rows of the target that were left out is {} lower than with its own rows alone.",
            percent(1.0 - ratio, 0)
        )
    } else if ratio <= 1.02 {
        "They change the error on left-out rows of the target by less than 2 %: its own rows say as much.".to_owned()
    } else {
        format!(
            "The error on rows of the target that were left out is {} higher than with its own rows alone, so check the labels and parameters.",
            percent(ratio - 1.0, 0)
        )
    }
}

/// Columns of text, aligned.
fn table<H: AsRef<str>>(head: &[H], rows: &[Vec<String>]) -> String {
    let width = |at: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(at))
            .map(|cell| cell.chars().count());
        cells
            .chain([head[at].as_ref().chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> = cells
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())))
            .collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    let mut out = line(&mut head.iter().map(AsRef::as_ref));
    for row in rows {
        out += &line(&mut row.iter().map(String::as_str));
    }
    out
}

/// A condition in a line.
pub(super) fn condition(facts: &[Fact]) -> String {
    line(facts)
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn numbers_keep_three_digits_at_any_size() {
        for (value, text) in [
            (0.0, "0"),
            (1.2345, "1.23"),
            (-98.76, "-98.8"),
            (99.96, "100"),
            (1234.5, "1235"),
            (0.000_123_45, "0.000123"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(rounded(value), text, "{value}");
        }
        // What had no digits left before.
        assert!(
            rounded(1.234_5e-20).starts_with("1.23"),
            "{}",
            rounded(1.234_5e-20)
        );
    }
}
