//! Small budgets: every sample counts, and one more never makes a plan worse.

use std::path::Path;

use faer::Mat;
use rand::RngExt as _;
use taskscout::design::Criterion;
use taskscout::rng::{Purpose, derive};

use crate::common::Scratch;
use crate::design::winds::{Plan, design_in, numbers};

/// What is left of the error by these samples, not by sample.
fn risk(plan: &Plan) -> f64 {
    plan.number("plan_objective") / plan.number("budget")
}

#[test]
fn a_sample_more_never_makes_the_example_worse() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wind-tunnel");
    for asked in ["--target target.csv", ""] {
        let mut before = f64::INFINITY;
        for budget in 4..=60 {
            let line = format!("--candidates winds.csv {asked} --budget {budget} --json");
            let plan = Plan::of(&design_in(&folder, &line, "2"));
            assert_eq!(plan.samples(), budget);
            let now = risk(&plan);
            assert!(now <= before * (1.0 + 1e-4), "{line}: {now} after {before}");
            assert!(plan.number("plan_objective") >= plan.number("lower_bound") * (1.0 - 1e-9));
            before = now;
        }
    }
}

/// The least value over all ways to take so many samples of some tasks.
fn least(tasks: &[[f64; 2]], need: &Mat<f64>, criterion: Criterion, budget: usize) -> f64 {
    fn rest(
        tasks: &[[f64; 2]],
        sum: &Mat<f64>,
        left: usize,
        value: &dyn Fn(&Mat<f64>) -> f64,
    ) -> f64 {
        let Some((task, others)) = tasks.split_first() else {
            return if left == 0 { value(sum) } else { f64::INFINITY };
        };
        (0..=left)
            .map(|n| {
                let mut sum = sum.clone();
                for i in 0..2 {
                    (0..2).for_each(|j| sum[(i, j)] += n as f64 * task[i] * task[j]);
                }
                rest(others, &sum, left - n, value)
            })
            .fold(f64::INFINITY, f64::min)
    }
    let value = |sum: &Mat<f64>| criterion.value(sum.as_ref(), need.as_ref()).unwrap();
    rest(tasks, &Mat::zeros(2, 2), budget, &value)
}

#[test]
fn small_plans_are_nearly_the_best_of_all() {
    let scratch = Scratch::new();
    let mut rng = derive(11, Purpose::Test, &[]);
    let (mut worst, mut sum, mut count): (f64, f64, f64) = (0.0, 0.0, 0.0);
    for case in 0..40 {
        let mut draw = || f64::from(rng.random_range(-20..=20_i32)) / 10.0;
        let tasks: Vec<[f64; 2]> = (0..4 + case % 3).map(|_| [draw(), draw()]).collect();
        let targets: Vec<[f64; 2]> = (0..1 + case % 2).map(|_| [draw(), draw()]).collect();
        let text = |rows: &[[f64; 2]]| {
            let lines = rows.iter().map(|row| format!("{},{}\n", row[0], row[1]));
            "x,y\n".to_owned() + &lines.collect::<String>()
        };
        scratch.file("c.csv", &text(&tasks));
        scratch.file("t.csv", &text(&targets));
        let mut need = Mat::zeros(2, 2);
        for target in &targets {
            for i in 0..2 {
                let share = target[i] / targets.len() as f64;
                (0..2).for_each(|j| need[(i, j)] += share * target[j]);
            }
        }
        for (name, criterion) in [
            ("trace", Criterion::Trace),
            ("max-eigenvalue", Criterion::MaxEigenvalue),
        ] {
            let budget = 2 + case % 5;
            let best = least(&tasks, &need, criterion, budget);
            if !best.is_finite() {
                continue;
            }
            let line = format!(
                "--candidates c.csv --target t.csv --features identity --criterion {name} --budget {budget} --json"
            );
            let plan = Plan::of(&scratch.design(&line));
            assert_eq!(plan.samples() as usize, budget);
            let factor = risk(&plan) / best;
            assert!(factor > 1.0 - 1e-6, "{factor}: better than the best");
            assert!(factor < 1.08, "{line}, case {case}: {factor}");
            worst = worst.max(factor);
            sum += factor - 1.0;
            count += 1.0;
        }
    }
    assert!(
        count > 40.0 && sum / count < 0.01,
        "{worst}, {}",
        sum / count
    );
}

/// Moves of samples keep what was asked for.
#[test]
fn moved_samples_keep_caps_costs_and_capacities() {
    let scratch = Scratch::winds();
    for budget in [6, 9, 14, 23] {
        let plan = scratch.plan(&format!(
            "--cost minutes --capacity left --forbid gale --require se --max-tasks 4 --budget {budget}"
        ));
        assert!(plan.number("spent") <= f64::from(budget) + 1e-9);
        assert!(plan.rows().len() <= 4 && plan.n("gale") == 0 && plan.n("w") == 0);
        assert!((1..=10).contains(&plan.n("se")));
        let plan = scratch.plan(&format!(
            "--min-samples 3 --switch-cost 1 --budget {}",
            3 * budget
        ));
        assert!(plan.number("spent") <= 3.0 * f64::from(budget) + 1e-9);
        assert!(plan.rows().iter().all(|task| task["n"].as_u64() >= Some(3)));
        assert!(
            plan.rows()
                .iter()
                .all(|task| numbers(&task["task"]).len() == 2)
        );
    }
}
