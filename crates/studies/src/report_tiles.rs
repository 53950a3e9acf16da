//! The key numbers at the top of a study's page: what was spent, how good the model is, what the next batch would bring.

use maud::{Markup, html};
use taskscout_io::tables::short;

use crate::outlook::{Outlook, TargetOutlook, digits};
use crate::report_words::number;
use crate::status::Status;

/// All of them.
pub(crate) fn tiles(status: &Status, outlook: Option<&Outlook>) -> Markup {
    let rows: Vec<String> = status
        .targets
        .iter()
        .map(|target| format!("{} of {}", target.rows, target.name))
        .collect();
    let spent = format!("{} {}", short(status.spent), status.unit);
    let done = format!(
        "{} rounds, {} items measured",
        status.rounds, status.items.told
    );
    html! {
        dl.tiles {
            (number("Spent", &spent, &done))
            (number("Rows of tasks", &status.source_rows.to_string(), &rows.join(", ")))
            @match outlook {
                Some(outlook) => (expected(outlook)),
                None => (number("Expected error", "not known yet", "more rows are needed")),
            }
        }
    }
}

/// How good the model is, and what the next batch would bring.
fn expected(outlook: &Outlook) -> Markup {
    html! {
        @for target in &outlook.targets {
            @let now = &target.now;
            (number(
                &format!("Expected error on {}", target.name),
                &format!("{} {}", digits(now.mean), outlook.error_unit),
                &format!("9 of 10 cases: {} to {}", digits(now.low), digits(now.high)),
            ))
        }
        @if let Some(open) = outlook.under_way {
            @let detail = format!("of the error, for {} {}", short(open.cost), outlook.unit);
            (number("Open items", &gains(outlook, |target| {
                Some(fall(target.now.mean, target.before().mean))
            }), &detail))
        }
        @if let Some(budget) = outlook.targets.first().and_then(|one| Some(one.further.first()?.budget)) {
            @let gain = match outlook.advice.stop {
                true => "stop".to_owned(),
                false => gains(outlook, |target| {
                    Some(fall(target.before().mean, target.further.first()?.design.mean))
                }),
            };
            @let on_rows = gains(outlook, |target| {
                let rows = target.further.first()?.target_rows.as_ref()?;
                Some(fall(target.before().mean, rows.mean))
            });
            @let rows = match (on_rows.is_empty(), &outlook.targets[..]) {
                (true, _) => String::new(),
                (false, [only]) => format!("; on rows of {}: {on_rows}", only.name),
                (false, _) => format!("; on rows of the targets: {on_rows}"),
            };
            @let name = match outlook.under_way {
                Some(_) => "Another batch after that, as planned",
                None => "Next batch, as planned",
            };
            @let detail = format!("of the error, for {budget} {}{rows}", outlook.unit);
            (number(name, &gain, &detail))
        }
    }
}

/// Something of every target that has it, with the target's name where there are several.
fn gains(outlook: &Outlook, of: impl Fn(&TargetOutlook) -> Option<String>) -> String {
    let several = outlook.targets.len() > 1;
    let known = outlook.targets.iter().filter_map(|target| {
        let gain = of(target)?;
        Some(match several {
            true => format!("{}: {gain}", target.name),
            false => gain,
        })
    });
    known.collect::<Vec<_>>().join(", ")
}

/// By how much an error falls.
fn fall(before: f64, then: f64) -> String {
    match 100.0 * (1.0 - then / before) {
        percent if percent < 0.5 => "no gain".to_owned(),
        percent => format!("−{percent:.0} %"),
    }
}
