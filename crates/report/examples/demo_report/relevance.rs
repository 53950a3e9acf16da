//! Made-up figures such as an experiment on flight logs adds: which tasks are relevant, and how alike
//! all of them are.

use taskscout_report::{Bar, Bars, HeatMap, ReportFigure};

use crate::wobble;

/// Vehicle, condition and axis of every task.
fn tasks(winds: usize) -> Vec<(&'static str, String, char)> {
    let mut tasks = Vec::new();
    for vehicle in ["custom", "rflysim"] {
        for axis in ['x', 'y', 'z'] {
            let conditions = (0..winds).map(|wind| format!("figure8_baseline_{}wind", 10 * wind));
            tasks.extend(conditions.map(|condition| (vehicle, condition, axis)));
        }
    }
    tasks
}

fn name((vehicle, condition, axis): &(&str, String, char)) -> String {
    format!("{vehicle}_{condition}_{axis}")
}

/// Like among vehicles and axes, and a little by wind.
fn similarity(tasks: &[(&str, String, char)], a: usize, b: usize) -> f64 {
    if a == b {
        return 1.0;
    }
    let (first, second) = (&tasks[a], &tasks[b]);
    let axis = if first.2 == second.2 { 0.6 } else { -0.25 };
    let vehicle = if first.0 == second.0 { 0.25 } else { -0.2 };
    let place = (a.min(b) * tasks.len() + a.max(b)) as u64;
    (axis + vehicle + 0.15 * wobble(3, place)).clamp(-1.0, 1.0)
}

fn map(winds: usize) -> HeatMap {
    let tasks = tasks(winds);
    let all = 0..tasks.len();
    let row = |a: usize| all.clone().map(|b| similarity(&tasks, a, b)).collect();
    let mut values: Vec<Vec<f64>> = all.clone().map(row).collect();
    // A task without rows has no embedding.
    for index in all.clone() {
        (values[4][index], values[index][4]) = (f64::NAN, f64::NAN);
    }
    HeatMap {
        title: format!("How alike {} tasks are", tasks.len()),
        value_title: "cosine of embeddings".to_owned(),
        names: tasks.iter().map(name).collect(),
        groups: tasks
            .iter()
            .map(|task| format!("{} {}", task.0, task.2))
            .collect(),
        values,
    }
}

fn bars() -> Bars {
    let tasks = tasks(8);
    let target = tasks.len() - 1;
    let mut bars: Vec<Bar> = (0..target)
        .map(|task| {
            let similarity = similarity(&tasks, task, target);
            let same = (
                tasks[task].0 == tasks[target].0,
                tasks[task].2 == tasks[target].2,
            );
            let group = match same {
                (true, true) => "same vehicle, same axis",
                (true, false) => "same vehicle",
                (false, true) => "same axis",
                (false, false) => "neither",
            };
            Bar {
                name: name(&tasks[task]),
                value: similarity,
                second: Some(0.3 * similarity.max(0.0).powi(6)),
                group: group.to_owned(),
            }
        })
        .collect();
    bars.sort_by(|a, b| b.value.total_cmp(&a.value));
    bars.truncate(10);
    Bars {
        title: "The most relevant source tasks".to_owned(),
        value_title: "similarity".to_owned(),
        second_title: "weight".to_owned(),
        groups: [
            "same vehicle, same axis",
            "same vehicle",
            "same axis",
            "neither",
        ]
        .map(str::to_owned)
        .to_vec(),
        bars,
    }
}

/// The figures of the experiment.
pub(crate) fn figures() -> Vec<ReportFigure> {
    let figure = |name: &str, figure, caption: &str| ReportFigure {
        target: None,
        name: name.to_owned(),
        figure,
        caption: caption.to_owned(),
    };
    let less = Bars {
        title: "What one wind more is worth".to_owned(),
        value_title: "change of the loss".to_owned(),
        second_title: String::new(),
        groups: Vec::new(),
        bars: [("40wind", -0.31), ("70wind", -0.12), ("no wind", 0.08)]
            .map(|(name, value)| Bar {
                name: name.to_owned(),
                value,
                ..Bar::default()
            })
            .to_vec(),
    };
    vec![
        figure(
            "relevant",
            bars().into(),
            "Cosine between the embeddings of source task and target, and the task's share of the samples.",
        ),
        figure("change", less.into(), "Values of both signs."),
        figure("similarity", map(5).into(), "Every task with every other."),
        figure(
            "similarity-large",
            map(33).into(),
            "The same for many tasks.",
        ),
    ]
}
