//! What a terminal says of the pendulum's targets: the parameters found, and what models are worth.

use std::collections::BTreeMap;

use serde_json::Value;
use taskscout_report::ExperimentReport;

use super::report::CONTROL;

/// A line on what was found of each target, and one on its control errors where there are any.
pub(super) fn words(report: &ExperimentReport) -> Vec<String> {
    let summary = &report.summary;
    let mut targets: Vec<(&str, &BTreeMap<String, Value>)> = Vec::new();
    targets.extend(
        summary
            .target
            .iter()
            .map(|name| (name.as_str(), &summary.extra)),
    );
    let several = summary.targets.iter();
    targets.extend(several.map(|own| (own.target.as_str(), &own.extra)));
    let mut lines = Vec::new();
    for (target, entries) in targets {
        lines.extend(found(entries).map(|found| format!("target {target}: {found}")));
        lines.extend(control(report, target).map(|control| format!("target {target}: {control}")));
    }
    lines
}

/// `identified by aware as w = (…)`, mean and spread over seeds.
fn found(entries: &BTreeMap<String, Value>) -> Option<String> {
    let by = entries.get("identified_by")?;
    let one = |found: &Value| -> Option<Vec<f64>> {
        found
            .get("w")?
            .as_array()?
            .iter()
            .map(Value::as_f64)
            .collect()
    };
    let seeds: Vec<Vec<f64>> = entries
        .get("identified")?
        .as_array()?
        .iter()
        .map(one)
        .collect::<Option<_>>()?;
    let parameters = 0..seeds.first()?.len();
    let parameter = |index: usize| {
        let values = seeds.iter().filter_map(|w| w.get(index).copied());
        spread(&values.collect::<Vec<f64>>())
    };
    let w: Vec<String> = parameters.map(parameter).collect();
    let over = match seeds.len() {
        1 => "1 seed".to_owned(),
        n => format!("mean and deviation over {n} seeds"),
    };
    Some(format!(
        "identified by {} as w = ({}), {over}; the truth lies in {} of {} regions",
        by.get("strategy")?.as_str()?,
        w.join(", "),
        by.get("held")?,
        by.get("of")?
    ))
}

/// `0.51 ± 0.02`: the mean and the standard deviation of several values.
fn spread(values: &[f64]) -> String {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return format!("{mean:.2}");
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    format!("{mean:.2} ± {:.2}", (squares / (count - 1.0)).sqrt())
}

/// The first column of the table of control errors.
fn control(report: &ExperimentReport, target: &str) -> Option<String> {
    let own = |table: &&taskscout_report::ReportTable| {
        table.title == CONTROL && table.target.as_deref() == Some(target)
    };
    let table = report.tables.iter().find(own)?;
    let cell = |row: &Vec<String>| Some(format!("{} {}", row.first()?, row.get(1)?));
    let cells: Vec<String> = table.rows.iter().filter_map(cell).collect();
    Some(format!(
        "control, {}: {}",
        table.head.get(1)?,
        cells.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;
    use taskscout_report::{ReportTable, ResultRow};

    fn report(targets: &[&str]) -> ExperimentReport {
        let row = |target: &&str| ResultRow {
            strategy: "aware".into(),
            target: Some((*target).to_owned()),
            returned_loss: Some(1.0),
            ..ResultRow::default()
        };
        let rows = targets.iter().map(row).collect();
        ExperimentReport::new(rows, json!({}), json!({})).unwrap()
    }

    #[test]
    fn every_target_has_its_lines() {
        let mut two = report(&["calm", "windy"]);
        let by = json!({"strategy": "aware", "held": 1, "of": 2, "confidence": 0.9});
        let seeds = json!([{"seed": 0, "w": [0.5, -1.0]}, {"seed": 1, "w": [0.7, -1.0]}]);
        let summary = two.summary.clone();
        let summary = summary.with_target("windy", "identified", seeds).unwrap();
        two.summary = summary.with_target("windy", "identified_by", by).unwrap();
        two.tables.push(ReportTable {
            target: Some("calm".into()),
            title: CONTROL.into(),
            head: vec!["model".into(), "mean |θ| (rad)".into()],
            rows: vec![
                vec!["no model".into(), "0.5".into()],
                vec!["true f".into(), "0.1".into()],
            ],
            caption: String::new(),
        });
        assert_eq!(
            words(&two),
            [
                "target calm: control, mean |θ| (rad): no model 0.5, true f 0.1",
                "target windy: identified by aware as w = (0.60 ± 0.14, -1.00 ± 0.00), mean and \
                 deviation over 2 seeds; the truth lies in 1 of 2 regions",
            ]
        );
    }

    #[test]
    fn one_seed_has_no_spread_and_nothing_found_no_line() {
        let mut one = report(&["calm"]);
        assert!(words(&one).is_empty());
        one.summary = one
            .summary
            .with("identified", json!([{"seed": 0, "w": [0.25]}]))
            .with(
                "identified_by",
                json!({"strategy": "aware", "held": 1, "of": 1}),
            );
        let said = words(&one);
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("as w = (0.25), 1 seed;"), "{said:?}");
    }
}
