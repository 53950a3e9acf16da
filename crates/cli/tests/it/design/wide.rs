//! Tables and spaces of many features: planned in seconds, with a bound that holds.

use rand::RngExt as _;
use taskscout::rng::{Purpose, derive};

use crate::common::{Scratch, succeeded};
use crate::design::winds::{Plan, design_in};

fn dense(rows: usize, columns: usize) -> String {
    let mut rng = derive(9, Purpose::Test, &[]);
    let names: Vec<String> = (0..columns).map(|j| format!("x{j}")).collect();
    let mut text = names.join(",") + "\n";
    for _ in 0..rows {
        let cell = |_| format!("{:.3}", rng.random_range(-1.0..1.0_f64));
        let cells: Vec<String> = (0..columns).map(cell).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

#[test]
fn a_wide_table_is_planned_with_a_small_gap_and_the_same_bytes() {
    let scratch = Scratch::new();
    scratch.file("wide.csv", &dense(400, 90));
    let line = "--candidates wide.csv --features affine --budget 2000 --json";
    let [one, two] =
        ["1", "2"].map(|threads| Plan::of(&design_in(scratch.folder(), line, threads)));
    assert_eq!(one.samples(), 2000);
    assert!(one.number("gap") < 2e-3, "{}", one.number("gap"));
    assert!(one.number("rounding_factor") < 1.02);
    assert_eq!(one.timeless(), two.timeless());
    // Fewer samples than tasks in the design: those that matter most.
    let few = "--candidates wide.csv --features affine --budget 120 --json";
    let plan = Plan::of(&scratch.design(few));
    assert_eq!(plan.samples(), 120);
    assert!(plan.number("plan_objective") >= plan.number("lower_bound"));
    assert!(plan.number("plan_objective") < 4.0 * plan.number("lower_bound"));
}

/// `k` kinds with nothing in common: all alike, `tr Σ⁻¹ = k²`.
#[test]
fn many_kinds_are_shared_out_alike() {
    let scratch = Scratch::new();
    scratch.file("kinds.toml", "space = { kind = \"one-hot\", size = 400 }\n");
    let plan = Plan::of(&scratch.design("--space kinds.toml --budget 800 --json"));
    assert!((plan.number("objective") / 160_000.0 - 1.0).abs() < 1e-3);
    assert!(plan.number("lower_bound") <= 160_000.0 * (1.0 + 1e-9));
    assert!(plan.rows().iter().all(|task| task["n"].as_u64() == Some(2)));
}

/// In a box around zero no parameter has more information than its half width squared.
#[test]
fn a_box_of_many_parameters_is_planned_by_its_corners() {
    let scratch = Scratch::new();
    let bounds = |value: &str| vec![value; 300].join(", ");
    let (low, high) = (bounds("-2"), bounds("2"));
    let text = format!("space = {{ kind = \"box\", low = [{low}], high = [{high}] }}\n");
    scratch.file("box.toml", &text);
    let output = scratch.design("--space box.toml --features identity --budget 5000 --json");
    succeeded(&output);
    let plan = Plan::of(&output);
    assert!(
        (plan.number("objective") / 75.0 - 1.0).abs() < 5e-3,
        "{}",
        plan.number("objective")
    );
    assert!(plan.number("lower_bound") <= 75.0 * (1.0 + 1e-9));
    assert!(plan.number("gap") < 0.05);
}
