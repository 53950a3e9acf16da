//! The result in sentences.

use maud::{Markup, html};
use taskscout_plot::{FLOOR, LinePlot};

use super::words::strategy;
use crate::columns::Section;
use crate::contender::{OUT_OF_REACH, TARGET_DATA, TARGET_ONLY, competes};
use crate::curve::{Curve, mean_curves};
use crate::format::{self, grouped, percent, short};
use crate::judged::Judged;
use crate::paper::paper_figure;
use crate::ratio::{BudgetRatio, REFERENCE, Target};
use crate::rows::ResultRow;
use crate::table::seeds as seed_count;

pub(super) const SHARED_CAPTION: &str =
    "Loss of the shared predictor alone, which the paper measures; the user gets the returned one.";
pub(super) const RETURNED_CAPTION: &str = "Loss of the predictor that the user gets.";
pub(super) const SIMILARITY_CAPTION: &str =
    "How well the representation is found: 1 is the true subspace.";
pub(super) const RELEVANCE_CAPTION: &str =
    "How close the main exploited task is to the target: 1 is the same direction.";

/// A strategy's name, set apart from the words around it.
fn bold(name: &str) -> Markup {
    html! { b { (name) } }
}

/// Phrases with commas and a last `and`.
fn list(phrases: &[Markup]) -> Markup {
    html! {
        @for (index, phrase) in phrases.iter().enumerate() {
            @if index > 0 {
                @if index + 1 < phrases.len() { ", " } @else { " and " }
            }
            (phrase)
        }
    }
}

/// What came out, honestly: who reached passive's loss with how much, and who did not.
pub(super) fn verdict<'a>(
    rows: impl Iterator<Item = &'a ResultRow>,
    section: Section<'_>,
    seeds: usize,
) -> Markup {
    let curves = mean_curves(rows, section.judged.metric());
    let reference = curves.iter().find(|curve| curve.strategy == REFERENCE);
    let mut sentences = match reference.and_then(Target::of) {
        Some(target) => compared(target, section, seeds),
        None => {
            let what = match reference {
                Some(_) => "has no final loss",
                None => "has no results",
            };
            vec![html! { (bold(REFERENCE)) " " (what) ", so budgets are not compared." }]
        }
    };
    sentences.extend(lowest(section));
    sentences.extend(target_only(section));
    sentences.extend(target_data(section));
    html! {
        @for (index, sentence) in sentences.iter().enumerate() {
            @if index > 0 { " " }
            (sentence)
        }
    }
}

fn compared(target: Target, section: Section<'_>, seeds: usize) -> Vec<Markup> {
    let mut sentences = vec![html! {
        "Over " (seed_count(seeds)) ", " (strategy(REFERENCE)) " ended at a loss of " (short(target.loss))
        " after " (grouped(target.budget)) " source samples."
    }];
    let others: Vec<(&str, BudgetRatio)> = section
        .strategies
        .iter()
        .filter(|(name, _)| *name != REFERENCE && competes(name))
        .filter_map(|(name, figures)| Some((name, figures.ratio(section.judged)?)))
        .collect();
    sentences.extend(reached(&others));
    sentences.extend(rose_again(section));
    sentences.extend(missed(&others));
    sentences.extend(published(section));
    sentences
}

fn reached(others: &[(&str, BudgetRatio)]) -> Option<Markup> {
    let mut reached: Vec<(f64, &str, BudgetRatio)> = others
        .iter()
        .filter_map(|(name, ratio)| Some((ratio.mean?, *name, *ratio)))
        .collect();
    reached.sort_by(|a, b| a.0.total_cmp(&b.0));
    let phrase = |(index, (_, name, ratio)): (usize, &(f64, &str, BudgetRatio))| {
        let share = format::ratio(ratio, 0);
        match index {
            0 => html! { (strategy(name)) " reached that loss with " (share) " of this budget" },
            _ => html! { (strategy(name)) " with " (share) },
        }
    };
    let phrases: Vec<Markup> = reached.iter().enumerate().map(phrase).collect();
    (!phrases.is_empty()).then(|| html! { (list(&phrases)) "." })
}

/// Who did not stay below.
fn rose_again(section: Section<'_>) -> Option<Markup> {
    let rises = section
        .strategies
        .iter()
        .filter(|(name, figures)| competes(name) && figures.rise(section.judged).is_some());
    let names: Vec<Markup> = rises.map(|(name, _)| bold(name)).collect();
    (!names.is_empty()).then(|| html! { (list(&names)) " rose above it again afterwards." })
}

fn missed(others: &[(&str, BudgetRatio)]) -> Option<Markup> {
    let names: Vec<Markup> = others
        .iter()
        .filter(|(_, ratio)| ratio.mean.is_none())
        .map(|(name, _)| strategy(name))
        .collect();
    let anything = others.len() > names.len();
    let what = if anything { "it" } else { "that loss" };
    (!names.is_empty()).then(|| html! { (list(&names)) " never reached " (what) "." })
}

fn published(section: Section<'_>) -> Option<Markup> {
    let figures: Vec<Markup> = section
        .strategies
        .iter()
        .filter(|(name, _)| competes(name))
        .filter_map(|(name, _)| {
            let share = paper_figure(section.paper, section.target, name, "budget_ratio")?;
            Some(html! { (percent(share, 1)) " for " (bold(name)) })
        })
        .collect();
    let is = if figures.len() == 1 {
        "figure is"
    } else {
        "figures are"
    };
    (!figures.is_empty()).then(|| html! { "The published " (is) " " (list(&figures)) "." })
}

fn lowest(section: Section<'_>) -> Option<Markup> {
    let losses = section.strategies.iter().filter(|(name, _)| competes(name));
    let losses = losses.filter_map(|(name, figures)| Some((name, figures.loss(section.judged)?)));
    let (name, loss) = losses.min_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
    let passive = section.strategies.get(REFERENCE);
    let reference = passive.and_then(|s| s.loss(section.judged));
    let below = reference
        .filter(|own| name != REFERENCE && own.mean > 0.0 && loss.mean >= 0.0)
        .map(|own| percent(1.0 - loss.mean / own.mean, 0));
    Some(html! {
        "The lowest loss at the end is that of " (bold(name)) ", " (short(loss.mean))
        @if let Some(below) = below { ", " (below) " below passive's" }
        "."
    })
}

fn target_only(section: Section<'_>) -> Option<Markup> {
    let figures = section.strategies.get(TARGET_ONLY)?;
    let loss = figures.returned_loss.or(figures.final_loss)?;
    Some(html! {
        "The target samples alone, without any source task, give " (short(loss.mean)) "."
    })
}

fn target_data(section: Section<'_>) -> Option<Markup> {
    let loss = section.strategies.get(TARGET_DATA)?;
    let loss = loss.returned_loss.or(loss.final_loss)?;
    Some(html! {
        (bold(TARGET_DATA))
        ", which collects from the hidden target itself and is out of any learner's reach, ends at "
        (short(loss.mean)) "."
    })
}

/// What limits the comparison.
pub(super) fn notes<'a>(
    rows: impl Iterator<Item = &'a ResultRow>,
    seeds: usize,
    judged: Judged,
) -> Vec<String> {
    let curves = mean_curves(rows, judged.metric());
    let reference = curves.iter().find(|curve| curve.strategy == REFERENCE);
    let mut notes = Vec::new();
    if seeds == 1 {
        notes.push(
            "There is one seed only, so nothing here says how much of a difference is chance."
                .to_owned(),
        );
    }
    let judged = |curve: &&Curve| ![TARGET_ONLY, TARGET_DATA].contains(&curve.strategy.as_str());
    for curve in curves.iter().filter(judged) {
        notes.extend(incomplete(curve, seeds));
        notes.extend(reference.and_then(|reference| other_budget(curve, reference)));
    }
    notes
}

fn incomplete(curve: &Curve, seeds: usize) -> Option<String> {
    let n = curve.last().map_or(0, |point| point.n);
    (n < seeds).then(|| {
        format!(
            "{} has a finite loss in its last round on {n} of {}; its mean leaves the others out.",
            curve.strategy,
            seed_count(seeds)
        )
    })
}

fn other_budget(curve: &Curve, reference: &Curve) -> Option<String> {
    let (own, other) = (curve.last()?.budget, reference.last()?.budget);
    ((own - other).abs() > 0.05 * other).then(|| {
        format!(
            "{} ends at {} source samples, passive at {}: their final losses are not like for like.",
            curve.strategy,
            grouped(own),
            grouped(other)
        )
    })
}

pub(super) fn loss_caption(plot: &LinePlot, seeds: usize) -> String {
    let mut caption = match seeds {
        1 => "One seed.".to_owned(),
        n => format!("Mean over {n} seeds; bands are ± one standard error."),
    };
    caption += " Points are rounds; lines join them.";
    if plot.reference.is_some() {
        caption += " Dotted: passive's final loss.";
    }
    if !plot.crossings.is_empty() {
        caption += " Rings: where a strategy reaches it, by linear interpolation between rounds, with the share of passive's budget.";
    }
    if plot.series.iter().any(|series| series.name == FLOOR) {
        caption += " Floor: where a design that knows the true task map B from the first sample would end.";
    }
    let beyond = |series: &taskscout_plot::Series| series.name.ends_with(OUT_OF_REACH);
    if plot.series.iter().any(beyond) {
        caption += " `target-data` collects from the hidden target itself, so it is a reference, not a strategy.";
    }
    caption
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Summary;
    use crate::testing::{curve, row};
    use serde_json::{Value, json};

    fn say(rows: &[ResultRow], paper: Value) -> String {
        let summary = Summary::from_rows(rows, paper).unwrap();
        let section = Section {
            target: None,
            strategies: &summary.strategies,
            paper: &summary.paper,
            judged: summary.judged_among(&summary.strategies),
            floor: None,
        };
        let markup = verdict(rows.iter(), section, summary.seeds).into_string();
        plain(&markup)
    }

    /// The text that a reader sees.
    fn plain(markup: &str) -> String {
        let parts = markup.split('<').enumerate();
        let text = parts.map(|(at, part)| match at {
            0 => part,
            _ => part.split_once('>').map_or("", |(_, text)| text),
        });
        text.collect()
    }

    const PASSIVE: [(usize, f64); 2] = [(100, 8.0), (200, 4.0)];

    #[test]
    fn names_the_fastest_first_and_those_that_failed() {
        let mut rows = curve("passive", 1, &PASSIVE);
        rows.extend(curve("agnostic", 1, &[(100, 6.0), (200, 2.0)]));
        rows.extend(curve("aware", 1, &[(100, 5.0), (200, 1.0)]));
        rows.extend(curve("discrete-l1", 1, &[(100, 9.0), (200, 8.0)]));
        let paper = json!({"aware": {"budget_ratio": 0.387}});
        assert_eq!(
            say(&rows, paper),
            "Over 1 seed, passive ended at a loss of 4.00 after 200 source samples. \
             aware reached that loss with 62 % of this budget and agnostic with 75 %. \
             discrete-l1 never reached it. The published figure is 38.7 % for aware. \
             The lowest loss at the end is that of aware, 1.00, 75 % below passive's."
        );
    }

    #[test]
    fn says_so_when_nobody_reached_it() {
        let mut rows = curve("passive", 1, &PASSIVE);
        rows.extend(curve("aware", 1, &[(100, 9.0), (200, 5.0)]));
        let text = say(&rows, Value::Null);
        assert!(text.contains("aware never reached that loss."), "{text}");
        assert!(text.ends_with("The lowest loss at the end is that of passive, 4.00."));
    }

    #[test]
    fn names_are_bold_and_escaped() {
        assert_eq!(bold("a<b").into_string(), "<b>a&lt;b</b>");
    }

    #[test]
    fn target_only_stands_apart() {
        let mut rows = curve("passive", 1, &PASSIVE);
        rows.push(row(TARGET_ONLY, 0, 0, 0, 3.0));
        let text = say(&rows, Value::Null);
        assert!(text.ends_with("The target samples alone, without any source task, give 3.00."));
        assert!(!text.contains("target-only"), "{text}");
    }

    #[test]
    fn target_data_is_named_but_not_judged() {
        let mut rows = curve("passive", 1, &PASSIVE);
        rows.extend(curve("aware", 1, &[(100, 5.0), (200, 1.0)]));
        rows.extend(curve("target-data", 1, &[(100, 0.5), (200, 0.1)]));
        let paper = json!({"target-data": {"budget_ratio": 0.1}});
        assert_eq!(
            say(&rows, paper),
            "Over 1 seed, passive ended at a loss of 4.00 after 200 source samples. \
             aware reached that loss with 62 % of this budget. \
             The lowest loss at the end is that of aware, 1.00, 75 % below passive's. \
             target-data, which collects from the hidden target itself and is out of any learner's reach, \
             ends at 0.100."
        );
        let caption = loss_caption(&crate::plots::loss_plot(&rows, Judged::Shared), 1);
        assert!(caption.ends_with("not a strategy."), "{caption}");
    }

    #[test]
    fn notes_tell_what_is_missing() {
        let mut rows = curve("passive", 2, &PASSIVE);
        rows.extend(curve("aware", 2, &[(100, 5.0)]));
        rows[1].test_loss = None;
        let notes = notes(rows.iter(), 2, Judged::Shared);
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(
            notes[0].starts_with("passive has a finite loss in its last round on 1 of 2 seeds")
        );
        assert!(notes[1].starts_with("aware ends at 100 source samples, passive at 200"));
    }
}
