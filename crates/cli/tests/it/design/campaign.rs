//! What a campaign adds: data that is there, costs, switches, limits, tasks wanted or not.

use serde_json::Value;

use crate::common::{Scratch, stdout};
use crate::design::winds::{WINDS, close, near, trace};

#[test]
fn what_is_given_counts() {
    let scratch = Scratch::winds();
    scratch.file("given.csv", "samples,north,east\n500,2,0.5\n0,9,9\n");
    let before = scratch.plan("--budget 100");
    let after = scratch.plan("--budget 100 --given given.csv --given-count samples");
    assert!(after.number("objective") < 0.5 * before.number("objective"));
    let mut information = after.sum(|task| 100.0 * task["weight"].as_f64().unwrap());
    let given = [2.0, 0.5];
    for i in 0..2 {
        (0..2).for_each(|j| information[(i, j)] += 500.0 * given[i] * given[j]);
    }
    assert!(close(
        after.number("objective"),
        100.0 * trace(&information)
    ));
    assert!(after.n("gale") < before.n("gale"));
}

#[test]
fn costs_and_switches_change_the_plan() {
    let scratch = Scratch::winds();
    let plan = scratch.plan("--cost minutes --budget 200");
    let cost = |task: &Value| {
        let row = usize::try_from(task["row"].as_u64().unwrap()).unwrap();
        let line = WINDS.lines().nth(row + 1).unwrap();
        line.split(',').nth(3).unwrap().parse::<f64>().unwrap()
    };
    let per_cost = plan.sum(|task| task["weight"].as_f64().unwrap() / cost(task));
    assert!(close(plan.number("objective"), trace(&per_cost)));
    let paid: f64 = plan
        .rows()
        .iter()
        .map(|task| task["n"].as_f64().unwrap() * cost(task))
        .sum();
    assert!(near(plan.number("spent"), paid) && paid <= 200.0);
    let free = scratch.plan("--budget 200");
    assert!(plan.n("gale") < free.n("gale"), "it costs most");
    let switched = scratch.plan("--budget 200 --switch-cost 60");
    assert!(switched.rows().len() <= 2);
    let tasks = switched.rows().len() as f64;
    assert!(near(
        switched.number("spent"),
        switched.samples() as f64 + 60.0 * tasks
    ));
    assert!(
        switched.number("gap") > 1e-4,
        "the bound knows of one switch only"
    );
}

#[test]
fn tasks_can_be_limited() {
    let scratch = Scratch::winds();
    let free = scratch.plan("--budget 150");
    assert!(free.n("gale") > 20);
    let limited = scratch.plan("--budget 150 --capacity left");
    assert_eq!((limited.n("gale"), limited.n("w")), (20, 0));
    assert!(limited.number("objective") > free.number("objective"));
    let few = scratch.plan("--budget 150 --max-tasks 2 --capacity left");
    assert_eq!(few.rows().len(), 2);
    let least = scratch.plan("--budget 150 --min-samples 40 --require se");
    assert!(
        least
            .rows()
            .iter()
            .all(|task| task["n"].as_u64().unwrap() >= 40)
    );
    // All that is left in all logs but those without a limit.
    let everything = scratch.design(
        "--candidates winds.csv --columns north,east --target target.csv --capacity left --forbid e --budget 1000",
    );
    let text = stdout(&everything);
    assert!(
        text.contains("350 of 1000 samples") && text.contains("left over    650"),
        "{text}"
    );
}

#[test]
fn tasks_can_be_required_and_forbidden() {
    let scratch = Scratch::winds();
    let free = scratch.plan("--budget 100");
    assert_eq!((free.n("se"), free.n("gale") > 0), (0, true));
    let plan = scratch.plan("--budget 100 --require se --require 1 --forbid gale --min-samples 5");
    assert!(plan.n("se") >= 5 && plan.n("ne") >= 5 && plan.n("gale") == 0);
    let reason = plan
        .rows()
        .iter()
        .find(|task| task["name"] == "se")
        .unwrap();
    assert!(reason["reason"].as_str().unwrap().starts_with("required; "));
    assert!(plan.number("objective") > free.number("objective"));
}
