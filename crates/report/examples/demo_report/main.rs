//! Writes a report on made-up but plausible curves into a folder:
//! `cargo run -p taskscout-report --example demo_report -- FOLDER`.

mod pendulum;
mod relevance;

use std::path::Path;

use serde_json::{Value, json};
use taskscout_report::{
    ExperimentReport, Judged, ResultRow, Theme, html_report, loss_plot, terminal_table,
    write_atomically, write_csv,
};

/// A strategy's speed (share of the passive budget it needs) and what it learns.
struct Made {
    strategy: &'static str,
    speed: f64,
    relevance: Option<f64>,
    tasks: usize,
}

const STRATEGIES: [Made; 5] = [
    Made {
        strategy: "passive",
        speed: 1.0,
        relevance: None,
        tasks: 79,
    },
    Made {
        strategy: "agnostic",
        speed: 0.52,
        relevance: None,
        tasks: 16,
    },
    Made {
        strategy: "aware",
        speed: 0.33,
        relevance: Some(0.97),
        tasks: 12,
    },
    Made {
        strategy: "aware+save-task",
        speed: 0.36,
        relevance: Some(0.95),
        tasks: 5,
    },
    Made {
        strategy: "passive-fixed",
        speed: 1.25,
        relevance: None,
        tasks: 79,
    },
];

/// A number in [−1, 1) that looks random.
fn wobble(seed: u64, place: u64) -> f64 {
    let mixed = (seed * 7_919 + place * 104_729 + 12_345).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 11) as f64 / (1u64 << 52) as f64) - 1.0
}

fn row(experiment: &str, made: &Made, place: u64, seed: u64, round: usize) -> ResultRow {
    let step = 6_400.0;
    let budget = (0..=round)
        .map(|r| step * 1.1f64.powi(r as i32))
        .sum::<f64>();
    let noise = 1.0 + 0.16 * wobble(seed, 31 * place + round as u64) + 0.2 * wobble(seed, 7);
    let loss = noise * 0.085 * (step * made.speed / budget).powf(1.25 + 0.2 * place as f64 / 4.0);
    let guarded = seed.is_multiple_of(5) && round < 2;
    ResultRow {
        experiment: experiment.to_owned(),
        oracle: "exact".to_owned(),
        strategy: made.strategy.to_owned(),
        target: None,
        seed,
        round,
        budget: budget as usize,
        test_loss: Some(loss),
        returned_loss: Some(if guarded { loss.min(0.04) } else { loss }),
        predictor: Some(if seed == 7 { "identified" } else { "shared" }.to_owned()),
        subspace_similarity: Some((1.0 - 0.35 * loss.sqrt() * 4.0).clamp(0.0, 1.0)),
        relevance: made
            .relevance
            .filter(|_| round > 0)
            .map(|r| r - 0.4 / (1.0 + budget / 4e3)),
        tasks: made.tasks * (round + 1),
        long_term_tasks: made.tasks,
        collect_s: 0.21,
        train_s: 0.84 + 0.1 * wobble(seed, 3),
        design_s: if made.relevance.is_some() {
            0.031
        } else {
            0.000_2
        },
    }
}

fn rows(experiment: &str) -> Vec<ResultRow> {
    let mut rows = Vec::new();
    for (place, made) in STRATEGIES.iter().enumerate() {
        for seed in 1..=10 {
            for round in 0..5 {
                rows.push(row(experiment, made, place as u64, seed, round));
            }
        }
    }
    for seed in 1..=10 {
        rows.push(ResultRow {
            experiment: experiment.to_owned(),
            oracle: "exact".to_owned(),
            strategy: "target-only".to_owned(),
            seed,
            returned_loss: Some(0.031 * (1.0 + 0.2 * wobble(seed, 99))),
            predictor: Some("target-only".to_owned()),
            train_s: 0.004,
            ..ResultRow::default()
        });
    }
    rows
}

/// A report on two hidden targets, with figures and tables of its own.
fn steered(paper: Value) -> taskscout_report::Result<ExperimentReport> {
    let targets: [(&str, [f64; 5], f64); 2] = [
        ("0,0,1,0.5,0", [0.0, 0.0, 1.0, 0.5, 0.0], 0.3),
        ("0,-1,0.5,0,0.5", [0.0, -1.0, 0.5, 0.0, 0.5], 0.9),
    ];
    let oracle = Made {
        strategy: "target-data",
        speed: 0.12,
        relevance: Some(1.0),
        tasks: 1,
    };
    let mut all = Vec::new();
    for (target, _, wind) in &targets {
        let mut own = rows("pendulum");
        let steps = (1..=10).flat_map(|seed| (0..5).map(move |round| (seed, round)));
        own.extend(steps.map(|(seed, round)| row("pendulum", &oracle, 5, seed, round)));
        for row in &mut own {
            row.target = Some((*target).to_owned());
            row.test_loss = row.test_loss.map(|loss| wind * loss.powf(0.7));
        }
        all.extend(own);
    }
    let mut report = ExperimentReport::new(all, paper, Value::Null)?;
    for (target, hidden, wind) in &targets {
        report
            .figures
            .extend(pendulum::figures(target, hidden, *wind));
        report.tables.push(pendulum::table(target, *wind));
        let found = pendulum::identified(hidden);
        report.summary = report.summary.with_target(target, "identified", found)?;
    }
    Ok(report)
}

fn write(folder: &Path, name: &str, text: &str) -> taskscout_report::Result<()> {
    Ok(write_atomically(folder.join(name), text.as_bytes())?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("name a folder to write into")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;

    let paper = json!({
        "source": "made up for this example",
        "strategies": {"aware": {"budget_ratio": 0.387}, "agnostic": {"budget_ratio": 0.516}},
    });
    let settings = json!({"seeds": 10, "schedule": "paper", "n_target": 8000, "rounds": 5});
    let one = rows("bilinear");
    let mut csv = Vec::new();
    write_csv(&one, &mut csv)?;
    write_atomically(folder.join("results.csv"), &csv)?;
    write(
        folder,
        "loss.svg",
        &loss_plot(&one, Judged::Returned).to_svg(Theme::Standalone, "loss"),
    )?;

    let mut report = ExperimentReport::new(one, paper.clone(), settings)?;
    report.summary = report.summary.with(
        "relevant",
        json!([{"task": "custom_40wind_z", "similarity": 0.981, "weight": 0.42}]),
    );
    report.figures = relevance::figures();
    write(
        folder,
        "summary.json",
        &serde_json::to_string_pretty(&report.summary)?,
    )?;
    print!("{}", terminal_table(&report.summary));
    write(
        folder,
        "report.html",
        &html_report(std::slice::from_ref(&report)),
    )?;

    let second = steered(paper)?;
    for figure in report.figures.iter().chain(&second.figures) {
        let svg = figure.to_svg(Theme::Standalone, &figure.name);
        write(folder, &format!("{}.svg", figure.name), &svg)?;
    }
    write(
        folder,
        "pendulum.html",
        &html_report(std::slice::from_ref(&second)),
    )?;
    write(folder, "combined.html", &html_report(&[report, second]))?;
    Ok(())
}
