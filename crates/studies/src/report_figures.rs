//! Figures of a study's report: where the samples went, and where the target lies among the tasks.

use std::collections::BTreeMap;

use taskscout_io::tables::short;
use taskscout_plot::format::escape;
use taskscout_report::csv_link;

use crate::status::ItemStatus;
use crate::stored::StoredStudy;
use crate::what_if::Supposed;

/// Tasks with bars.
const BARS: usize = 20;
/// Tasks on the map that can be measured.
const POINTS: usize = 1000;
/// Size of the map.
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 300.0;
/// Room for its axes.
const LEFT: f64 = 46.0;
const BELOW: f64 = 38.0;
const EDGE: f64 = 14.0;

/// Samples of a task by round.
struct Sampled {
    parameters: Vec<f64>,
    rounds: BTreeMap<usize, usize>,
    total: usize,
}

fn sampled(items: &[ItemStatus]) -> Vec<(String, Sampled)> {
    let mut found: BTreeMap<String, Sampled> = BTreeMap::new();
    for item in items.iter().filter(|item| item.collected > 0) {
        let entry = found.entry(item.task.clone()).or_insert_with(|| Sampled {
            parameters: item.parameters.clone(),
            rounds: BTreeMap::new(),
            total: 0,
        });
        *entry.rounds.entry(item.round).or_default() += item.collected;
        entry.total += item.collected;
    }
    let mut found: Vec<(String, Sampled)> = found.into_iter().collect();
    found.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(&b.0)));
    found
}

fn tone(round: usize) -> String {
    format!("fill: var(--ts-c{})", 1 + round % 7)
}

/// Samples over tasks by round, as bars; markup.
pub(crate) fn samples(study: &StoredStudy) -> String {
    let all = sampled(&study.items());
    if all.is_empty() {
        return "<p>No rows of planned tasks have come yet.</p>\n".to_owned();
    }
    let most = all.iter().map(|(_, one)| one.total).max().unwrap_or(1) as f64;
    let rounds: BTreeMap<usize, usize> =
        all.iter().flat_map(|(_, one)| one.rounds.clone()).collect();
    let bars: String = all
        .iter()
        .take(BARS)
        .map(|(task, one)| {
            format!(
                "<tr><th scope=\"row\">{}</th><td class=\"bar\">{}</td><td>{}</td></tr>\n",
                escape(task),
                bar(one, most),
                one.total
            )
        })
        .collect();
    let key: String = rounds
        .keys()
        .take(7)
        .map(|round| {
            format!(
                "<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect width=\"12\" height=\"12\" y=\"1\" style=\"{}\"/></svg>round {}</li>\n",
                tone(*round),
                round + 1
            )
        })
        .collect();
    let line = |(task, one): &(String, Sampled)| -> Vec<Vec<String>> {
        let rounds = one.rounds.iter();
        let cells = |(round, n): (&usize, &usize)| {
            vec![task.clone(), (round + 1).to_string(), n.to_string()]
        };
        rounds.map(cells).collect()
    };
    let rows: Vec<Vec<String>> = all.iter().flat_map(line).collect();
    let head = ["task", "round", "samples"].map(str::to_owned);
    format!(
        "<figure><div class=\"scroll\" tabindex=\"0\"><table class=\"bars\"><caption>Samples of each task; colours are rounds</caption>\n<thead><tr><th scope=\"col\">task</th><th scope=\"col\">by round</th><th scope=\"col\">samples</th></tr></thead>\n<tbody>\n{bars}</tbody></table></div>\n<ul class=\"key\">\n{key}</ul></figure>\n{}",
        csv_link("samples.csv", &head, &rows)
    )
}

fn bar(one: &Sampled, most: f64) -> String {
    let said: Vec<String> = one
        .rounds
        .iter()
        .map(|(round, n)| format!("{n} in round {}", round + 1))
        .collect();
    let mut at = 0.0;
    let mut pieces = String::new();
    for (round, n) in &one.rounds {
        let width = 100.0 * *n as f64 / most;
        pieces += &format!(
            "<rect x=\"{at:.2}\" y=\"1\" width=\"{:.2}\" height=\"10\" style=\"{}\"/>",
            (width - 0.4).max(0.4),
            tone(*round)
        );
        at += width;
    }
    format!(
        "<svg viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">{pieces}</svg>",
        said.join(", ")
    )
}

/// A task on the map.
struct Spot {
    name: String,
    kind: &'static str,
    x: f64,
    y: f64,
    samples: usize,
}

/// Kinds of tasks on the map, in the order in which they are drawn.
const KINDS: [(&str, &str); 4] = [
    ("possible", "can be measured"),
    ("measured", "measured; larger with more samples"),
    ("next", "next"),
    ("target", "target, as given or as its rows tell"),
];

/// Tasks by their first two parameters: what can be measured, what was, what is next, and the target; markup.
pub(crate) fn map(study: &StoredStudy, next: Option<&Supposed>) -> String {
    let [across, up, ..] = &study.definition().parameters[..] else {
        return String::new();
    };
    let spots = spots(study, next);
    let Some(frame) = Frame::around(&spots) else {
        return String::new();
    };
    let most = spots
        .iter()
        .map(|spot| spot.samples)
        .max()
        .unwrap_or(1)
        .max(1) as f64;
    let (mut marks, mut key) = (String::new(), String::new());
    for (kind, text) in KINDS {
        let of_kind: Vec<&Spot> = spots.iter().filter(|spot| spot.kind == kind).collect();
        for spot in &of_kind {
            let size = 3.0 + 7.0 * (spot.samples as f64 / most).sqrt();
            marks += &mark(kind, (frame.x(spot.x), frame.y(spot.y)), size, &spot.name);
        }
        if !of_kind.is_empty() {
            key += &format!(
                "<li><svg width=\"18\" height=\"18\" aria-hidden=\"true\">{}</svg>{text}</li>\n",
                mark(kind, (9.0, 9.0), 5.0, "")
            );
        }
    }
    let cells = |spot: &Spot| {
        let (x, y) = (spot.x.to_string(), spot.y.to_string());
        vec![
            spot.name.clone(),
            spot.kind.to_owned(),
            x,
            y,
            spot.samples.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = spots.iter().map(cells).collect();
    let head = ["task", "what", &across.name, &up.name, "samples"].map(str::to_owned);
    let (across, up) = (escape(&across.label()), escape(&up.label()));
    format!(
        "<figure><svg class=\"map\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">{}{marks}</svg>\n<figcaption>Map of tasks by {across} and {up}.</figcaption>\n<ul class=\"key\">\n{key}</ul></figure>\n{}",
        escape(&described(&spots)),
        frame.axes(&across, &up),
        csv_link("tasks.csv", &head, &rows)
    )
}

fn spots(study: &StoredStudy, next: Option<&Supposed>) -> Vec<Spot> {
    let spot = |name: &str, kind: &'static str, at: &[f64], samples: usize| {
        Some(Spot {
            name: name.to_owned(),
            kind,
            x: *at.first().filter(|value| value.is_finite())?,
            y: *at.get(1).filter(|value| value.is_finite())?,
            samples,
        })
    };
    let space = &study.study().config().space;
    let count = space.count().filter(|count| *count <= POINTS).unwrap_or(0);
    let tasks = (0..count).filter_map(|row| space.task_at(row));
    let mut found: Vec<Spot> = tasks
        .filter_map(|task| spot(task.id.as_str(), "possible", task.parameters(), 0))
        .collect();
    let items = study.items();
    for (task, one) in sampled(&items) {
        found.extend(spot(&task, "measured", &one.parameters, one.total));
    }
    let open = items.iter().filter(|item| item.collected < item.n);
    let open: Vec<&ItemStatus> = open
        .filter(|item| {
            !matches!(
                item.state,
                crate::ItemState::Told | crate::ItemState::Failed
            )
        })
        .collect();
    for item in &open {
        found.extend(spot(
            &item.task,
            "next",
            &item.parameters,
            item.n - item.collected,
        ));
    }
    for item in next
        .iter()
        .flat_map(|next| &next.items)
        .filter(|_| open.is_empty())
    {
        found.extend(spot(&item.task, "next", &item.parameters, item.n));
    }
    for target in study.target_places() {
        let at = target.parameters.unwrap_or_default();
        found.extend(spot(&target.name, "target", &at, 0));
    }
    found
}

fn described(spots: &[Spot]) -> String {
    let count = |kind: &str| spots.iter().filter(|spot| spot.kind == kind).count();
    let targets = spots.iter().filter(|spot| spot.kind == "target");
    let targets: Vec<String> = targets
        .map(|spot| format!("{} at {}, {}", spot.name, short(spot.x), short(spot.y)))
        .collect();
    format!(
        "Map of tasks: {} measured, {} next; target {}",
        count("measured"),
        count("next"),
        if targets.is_empty() {
            "not located yet".to_owned()
        } else {
            targets.join("; ")
        }
    )
}

/// A mark of a kind at a place; markup.
fn mark(kind: &str, (x, y): (f64, f64), size: f64, name: &str) -> String {
    let title = match name {
        "" => String::new(),
        name => format!("<title>{}</title>", escape(name)),
    };
    if kind == "target" {
        let point = |k: i32| {
            let angle = std::f64::consts::PI * (f64::from(k) / 5.0 - 0.5);
            let size = if k % 2 == 0 { 8.0 } else { 3.5 };
            format!(
                "{:.1},{:.1}",
                x + size * angle.cos(),
                y + size * angle.sin()
            )
        };
        let points: Vec<String> = (0..10).map(point).collect();
        return format!(
            "<polygon points=\"{}\" style=\"fill: var(--ts-c2)\">{title}</polygon>",
            points.join(" ")
        );
    }
    let (radius, style) = match kind {
        "next" => (
            size + 2.0,
            "fill: none; stroke: var(--ts-c5); stroke-width: 2.5",
        ),
        "measured" => (size, "fill: var(--ts-c1); opacity: .75"),
        _ => (2.2, "fill: var(--ts-muted); opacity: .6"),
    };
    format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" style=\"{style}\">{title}</circle>"
    )
}

/// What the axes of the map span.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame {
    fn around(spots: &[Spot]) -> Option<Self> {
        let ends = |of: &dyn Fn(&Spot) -> f64| {
            let low = spots.iter().map(of).reduce(f64::min)?;
            let high = spots.iter().map(of).reduce(f64::max)?;
            let pad = if high > low { 0.08 * (high - low) } else { 0.5 };
            Some((low - pad, high + pad))
        };
        Some(Self {
            x: ends(&|spot| spot.x)?,
            y: ends(&|spot| spot.y)?,
        })
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (value - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - EDGE)
    }

    fn y(&self, value: f64) -> f64 {
        let part = (value - self.y.0) / (self.y.1 - self.y.0);
        EDGE + (1.0 - part) * (HEIGHT - EDGE - BELOW)
    }

    /// Lines, numbers and titles; markup of markup.
    fn axes(&self, across: &str, up: &str) -> String {
        let value = |(low, high): (f64, f64), part: f64| low + part * (high - low);
        let shown = |v: f64| short(format!("{v:.1e}").parse().unwrap_or(v));
        let mut out = String::new();
        for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let (vx, vy) = (value(self.x, part), value(self.y, part));
            let (x, y) = (self.x(vx), self.y(vy));
            out += &format!(
                "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" style=\"stroke: var(--ts-grid)\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" style=\"fill: var(--ts-muted)\">{}</text><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" style=\"fill: var(--ts-muted)\">{}</text>",
                WIDTH - EDGE,
                LEFT - 5.0,
                y + 4.0,
                shown(vy),
                HEIGHT - BELOW + 15.0,
                shown(vx)
            );
        }
        let middle = (HEIGHT - BELOW) / 2.0;
        out + &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" style=\"fill: var(--ts-ink)\">{across}</text><text x=\"11\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 11 {middle:.0})\" style=\"fill: var(--ts-ink)\">{up}</text>",
            (LEFT + WIDTH) / 2.0,
            HEIGHT - 5.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_of_one_point_has_an_extent() {
        let spot = Spot {
            name: "only".into(),
            kind: "measured",
            x: 3.0,
            y: 0.0,
            samples: 4,
        };
        let frame = Frame::around(&[spot]).unwrap();
        assert!(frame.x(3.0).is_finite() && frame.y(0.0).is_finite());
        assert!(Frame::around(&[]).is_none());
    }
}
