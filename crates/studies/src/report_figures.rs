//! Figures of a study's report: where the samples went, and where the target lies among the tasks.

use std::collections::BTreeMap;

use taskscout_plot::figures::{Spot, SpotKind, Stack, Stacks, TaskScatter};
use taskscout_report::ReportFigure;

use crate::ItemState;
use crate::status::ItemStatus;
use crate::stored::StoredStudy;
use crate::what_if::Supposed;

/// Tasks with bars.
const BARS: usize = 20;
/// Tasks on the map that can be measured.
const POINTS: usize = 1000;

/// Samples of a task by round.
struct Sampled {
    parameters: Vec<f64>,
    rounds: BTreeMap<usize, usize>,
    total: usize,
    reason: String,
}

/// Tasks that rows came of, those with most first.
fn sampled(items: &[ItemStatus]) -> Vec<(String, Sampled)> {
    let mut found: BTreeMap<String, Sampled> = BTreeMap::new();
    for item in items.iter().filter(|item| item.collected > 0) {
        let entry = found.entry(item.task.clone()).or_insert_with(|| Sampled {
            parameters: item.parameters.clone(),
            rounds: BTreeMap::new(),
            total: 0,
            reason: String::new(),
        });
        *entry.rounds.entry(item.round).or_default() += item.collected;
        entry.total += item.collected;
        entry.reason.clone_from(&item.why);
    }
    let mut found: Vec<(String, Sampled)> = found.into_iter().collect();
    found.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(&b.0)));
    found
}

/// Samples over tasks by round; none where no rows of planned tasks have come.
pub(crate) fn samples(study: &StoredStudy) -> Option<ReportFigure> {
    let all = sampled(&study.items());
    let rounds = all.iter().flat_map(|(_, one)| one.rounds.keys());
    let rounds = 1 + rounds.max()?;
    let stack = |(task, one): &(String, Sampled)| Stack {
        name: task.clone(),
        values: (0..rounds)
            .map(|round| one.rounds.get(&round).map_or(0.0, |n| *n as f64))
            .collect(),
        note: one.reason.clone(),
    };
    let shown = all.len().min(BARS);
    Some(ReportFigure {
        target: None,
        name: "samples".into(),
        figure: Stacks {
            title: "Samples by task and round".into(),
            name_title: "task".into(),
            value_title: "samples".into(),
            parts: (1..=rounds).map(|round| format!("round {round}")).collect(),
            stacks: all.iter().take(BARS).map(stack).collect(),
            ..Stacks::default()
        }
        .into(),
        caption: match all.len() > shown {
            true => format!(
                "Samples that came, by task and round: the {shown} tasks with most of {} that were measured.",
                all.len()
            ),
            false => "Samples that came, by task and round.".into(),
        },
    })
}

/// Tasks by their first two parameters: what can be measured, what was, what is next, and the target; none where tasks have
/// no two parameters.
pub(crate) fn map(study: &StoredStudy, next: Option<&Supposed>) -> Option<ReportFigure> {
    let [across, up, ..] = &study.definition().parameters[..] else {
        return None;
    };
    let map = TaskScatter {
        title: format!("Map of tasks by {} and {}", across.name, up.name),
        x_title: across.label(),
        y_title: up.label(),
        spots: spots(study, next),
        ..TaskScatter::default()
    };
    let located = map.spots.iter().any(|spot| spot.kind == SpotKind::Target);
    (!map.is_empty()).then(|| ReportFigure {
        target: None,
        name: "map".into(),
        figure: map.into(),
        caption: match located {
            true => "Where the tasks lie, and the target: as given, or as its rows tell.".into(),
            false => {
                "Where the tasks lie. Nothing tells yet where the target lies among them.".into()
            }
        },
    })
}

fn spots(study: &StoredStudy, next: Option<&Supposed>) -> Vec<Spot> {
    let spot = |name: &str, kind, at: &[f64], samples: usize| {
        Some(Spot {
            name: name.to_owned(),
            kind,
            x: *at.first().filter(|value| value.is_finite())?,
            y: *at.get(1).filter(|value| value.is_finite())?,
            samples,
            region: None,
        })
    };
    let space = &study.study().config().space;
    let count = space.count().filter(|count| *count <= POINTS).unwrap_or(0);
    let tasks = (0..count).filter_map(|row| space.task_at(row));
    let mut found: Vec<Spot> = tasks
        .filter_map(|task| spot(task.id.as_str(), SpotKind::Possible, task.parameters(), 0))
        .collect();
    let items = study.items();
    for (task, one) in sampled(&items) {
        found.extend(spot(&task, SpotKind::Measured, &one.parameters, one.total));
    }
    let over = |item: &&ItemStatus| matches!(item.state, ItemState::Told | ItemState::Failed);
    let open: Vec<&ItemStatus> = items
        .iter()
        .filter(|item| item.collected < item.n && !over(item))
        .collect();
    for item in &open {
        let missing = item.n - item.collected;
        found.extend(spot(&item.task, SpotKind::Next, &item.parameters, missing));
    }
    for item in next
        .iter()
        .flat_map(|next| &next.items)
        .filter(|_| open.is_empty())
    {
        found.extend(spot(&item.task, SpotKind::Next, &item.parameters, item.n));
    }
    for target in study.target_places() {
        let at = target.parameters.unwrap_or_default();
        let region = target.range.and_then(|(low, high)| {
            let side = |index: usize| Some((*low.get(index)?, *high.get(index)?));
            Some([side(0)?, side(1)?])
        });
        let star = spot(&target.name, SpotKind::Target, &at, 0);
        found.extend(star.map(|star| Spot { region, ..star }));
    }
    found
}
