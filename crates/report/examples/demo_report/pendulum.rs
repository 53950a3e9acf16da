//! Made-up figures and tables such as an experiment that steers a pendulum adds to its report.

use serde_json::{Value, json};
use taskscout_report::{
    PanelFigure, PathStep, Portrait, PortraitCurve, Portraits, ReportFigure, ReportTable, TaskPath,
    Trace, TracePanel, Traces,
};

use crate::wobble;

const PARAMETERS: [&str; 5] = ["wind x", "wind y", "gravity", "damping", "air drag"];

/// Models and how much of the disturbance each leaves uncorrected.
const MODELS: [(&str, f64); 5] = [
    ("no model", 1.0),
    ("target-only", 0.45),
    ("passive", 0.3),
    ("aware", 0.06),
    ("true", 0.0),
];

/// What a learner chose, on its way from anywhere to the hidden parameters.
fn steps(strategy: &str, speed: f64, hidden: &[f64]) -> Vec<PathStep> {
    let step = |seed: u64, round: usize| {
        let left = (-speed * round as f64).exp();
        let at = |p: usize| {
            let place = 17 * p as u64 + 3;
            let noise = 0.12 * left * wobble(seed, 1_000 + place + 97 * round as u64);
            let start = wobble(seed, place);
            (hidden[p] + left * (start - hidden[p]) + noise).clamp(-1.0, 1.0)
        };
        let task: Vec<f64> = (0..hidden.len()).map(at).collect();
        let around = |sign: f64| {
            let ends = task
                .iter()
                .map(|w| (w + sign * 0.7 * left).clamp(-1.0, 1.0));
            ends.collect()
        };
        PathStep {
            strategy: strategy.to_owned(),
            seed,
            round,
            budget: (3_840.0 * (1.7f64.powi(round as i32 + 1) - 1.0) / 0.7) as usize,
            region: (strategy == "aware").then(|| (around(-1.0), around(1.0))),
            task,
        }
    };
    (1..=10)
        .flat_map(|seed| (0..6).map(move |round| step(seed, round)))
        .collect()
}

/// Angle and rate every hundredth of a second, under a controller that knows part of the truth.
fn run(start: f64, wind: f64, uncorrected: f64) -> Vec<(f64, f64, f64)> {
    let (mut angle, mut rate, mut path) = (start, 0.0, Vec::new());
    for step in 0..2_000 {
        let time = f64::from(step) / 100.0;
        path.push((time, angle, rate));
        let gust = wind * (1.0 + 0.3 * (1.7 * time).sin()) + 1.1 * f64::sin(angle);
        let pull = -2.25 * angle - 0.8 * rate + uncorrected * gust;
        rate += 0.01 * pull;
        angle += 0.01 * rate;
    }
    path
}

fn traces(wind: f64) -> Traces {
    let panel = |start: f64| TracePanel {
        title: format!("released at {start} rad"),
        traces: MODELS
            .iter()
            .map(|(name, left)| Trace {
                name: (*name).to_owned(),
                points: run(start, wind, *left).iter().map(|p| (p.0, p.1)).collect(),
            })
            .collect(),
    };
    Traces {
        title: "The angle under control".to_owned(),
        x_title: "time (s)".to_owned(),
        y_title: "angle (rad)".to_owned(),
        panels: vec![panel(1.0), panel(-0.6)],
    }
}

fn portraits(wind: f64) -> Portraits {
    let curve = |name: &str, left: f64| PortraitCurve {
        name: name.to_owned(),
        points: run(1.0, wind, left).iter().map(|p| (p.1, p.2)).collect(),
    };
    let portrait = |title: &str, chosen: &[(&str, f64)]| Portrait {
        title: title.to_owned(),
        x_title: "θ (rad)".to_owned(),
        y_title: "dθ/dt (rad/s)".to_owned(),
        curves: chosen
            .iter()
            .map(|(name, left)| curve(name, *left))
            .collect(),
    };
    Portraits {
        title: "Does the pendulum come to rest?".to_owned(),
        portraits: vec![
            portrait("without samples of sources", &MODELS[..2]),
            portrait("with samples of sources", &MODELS[2..]),
        ],
    }
}

/// The figures about one hidden target.
pub(crate) fn figures(target: &str, hidden: &[f64], wind: f64) -> Vec<ReportFigure> {
    let path = TaskPath {
        parameters: PARAMETERS.map(str::to_owned).to_vec(),
        low: vec![-1.0; 5],
        high: vec![1.0; 5],
        truth: Some(hidden.to_vec()),
        steps: [steps("aware", 0.8, hidden), steps("agnostic", 0.05, hidden)].concat(),
    };
    let figure = |name: &str, figure: PanelFigure, caption: &str| ReportFigure {
        target: Some(target.to_owned()),
        name: format!("{name}-{}", if wind > 0.5 { "windy" } else { "calm" }),
        figure: figure.into(),
        caption: caption.to_owned(),
    };
    vec![
        figure(
            "path",
            path.figure(),
            "The source task of largest weight in each round. Thin: one seed; thick: their mean; \
             shaded: the mean 90 % region of the estimate; dashed: the target's parameters, which no \
             learner sees.",
        ),
        figure(
            "traces",
            traces(wind).figure(),
            "One run of 20 seconds with each model in the controller.",
        ),
        figure(
            "portraits",
            portraits(wind).figure(),
            "Angle against its rate; the dot is the start, the cross the upright rest.",
        ),
    ]
}

/// Control errors with each model.
pub(crate) fn table(target: &str, wind: f64) -> ReportTable {
    let row = |(name, left): &(&str, f64)| {
        let path = run(1.0, wind, *left);
        let error = path.iter().map(|p| p.1.abs()).sum::<f64>() / path.len() as f64;
        let verdict = if error < 0.2 {
            "settles"
        } else {
            "hangs aside"
        };
        vec![
            (*name).to_owned(),
            format!("{error:.3} [{:.3}, {:.3}]", 0.9 * error, 1.1 * error),
            format!("{:.2}", path.last().map_or(0.0, |p| p.1)),
            verdict.to_owned(),
        ]
    };
    ReportTable {
        target: Some(target.to_owned()),
        title: "Control".to_owned(),
        head: ["model", "mean |θ| (rad)", "last θ (rad)", "verdict"]
            .map(str::to_owned)
            .to_vec(),
        rows: MODELS.iter().map(row).collect(),
        caption: "Over 20 seconds from θ = 1.".to_owned(),
    }
}

/// Estimates of the hidden parameters, one a seed.
pub(crate) fn identified(hidden: &[f64]) -> Value {
    let one = |seed: u64| {
        let w: Vec<f64> = hidden.iter().map(|w| w + 0.05 * wobble(seed, 5)).collect();
        let around = |gap: f64| w.iter().map(|w| w + gap).collect::<Vec<f64>>();
        json!({"seed": seed, "w": w, "low": around(-0.1), "high": around(0.1)})
    };
    (1..=50).map(one).collect()
}
