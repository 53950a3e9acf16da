//! `taskscout study`: campaigns with the real binary, as a lab would run them.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use serde_json::Value;

use crate::common::Scratch;
use crate::common::tunnel::{NEW, TOMORROW, conditions, force, items, rows};

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn three_rounds_on_a_table_of_conditions_with_a_mistake_taken_back() {
    let scratch = Scratch::with_study();
    for round in 0..3 {
        let plan = scratch.measured_plan("study ask --budget 120 --max-tasks 4");
        assert!(!plan.is_empty() && plan.len() <= 4, "{plan:?}");
        for item in &plan {
            if round == 1 && item == &plan[0] {
                // The rows of another day are told by mistake.
                scratch.file("wrong.csv", &rows([0.0, 0.0], item.n, 1234));
                let before = scratch.status();
                scratch.done(&format!("study tell {} wrong.csv", item.id));
                let back = scratch.text_of("study undo");
                assert!(
                    back.contains("taken back") && back.contains("wrong.csv"),
                    "{back}"
                );
                let after = scratch.status();
                for same in ["source_rows", "spent", "items", "batches"] {
                    assert_eq!(before[same], after[same], "{same}");
                }
            }
            let said = scratch.text_of(&format!("study tell {} {}", item.id, item.file));
            assert!(said.contains("the item is complete"), "{said}");
        }
    }
    let status = scratch.status();
    assert_eq!(
        (
            number(&status["rounds"]),
            number(&status["items"]["proposed"])
        ),
        (3, 0)
    );
    assert!(status["spent"].as_f64().unwrap() <= 360.0, "{status}");
    assert_eq!(status["unit"], "minutes");
    // What was learnt holds on the target, in the units of the files.
    scratch.done("study model --out force.safetensors");
    scratch.file("questions.csv", "pwm,vx,vy\n1550,1.5,-0.5\n1400,-2,1\n");
    let answers = predicted(&scratch);
    for (answer, inputs) in answers
        .iter()
        .zip([[1.5, -0.5, 1550.0], [-2.0, 1.0, 1400.0]])
    {
        let truth = force(TOMORROW, inputs);
        assert!((answer - truth).abs() < 0.1, "{answer} {truth}");
    }
    let page = scratch.text_of("study report --out study.html");
    assert!(page.contains("study.html written"));
    assert!(scratch.text("study.html").contains("tomorrow"));
}

/// Predictions of the saved model for questions.csv.
fn predicted(scratch: &Scratch) -> Vec<f64> {
    scratch.done("predict force.safetensors --inputs questions.csv --out answers.csv");
    let text = scratch.text("answers.csv");
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = head.iter().position(|name| *name == "force").unwrap();
    let cell = |line: &str| line.split(',').nth(at).unwrap().parse().unwrap();
    lines.map(cell).collect()
}

#[test]
fn a_filled_in_checklist_is_told_back_once() {
    let scratch = Scratch::with_study();
    let said = scratch.text_of("study ask --budget 100 --out today.csv");
    assert!(
        said.contains("[ ] 0") && said.contains("today.csv written"),
        "{said}"
    );
    let open = scratch.status();
    let open = open["open"].as_array().unwrap();
    assert!(open.len() >= 3, "{open:?}");
    // The first is measured, the last cannot be, the others wait.
    scratch.file(
        "monday/run.csv",
        &rows([0.0, 0.0], number(&open[0]["n"]), 5),
    );
    let list = scratch.text("today.csv");
    let mut lines: Vec<String> = list.lines().map(str::to_owned).collect();
    let filled = |line: &str, file: &str, failed: &str| {
        let rest = line.strip_suffix(",,").unwrap();
        format!("{rest},{file},{failed}")
    };
    let last = lines.len() - 1;
    lines[1] = filled(&lines[1], "monday/run.csv", "");
    lines[last] = filled(&lines[last], "", "the fan broke");
    scratch.file("today.csv", &lines.join("\n"));
    let told = scratch.text_of("study tell today.csv");
    assert!(
        told.contains("rows of item 0 taken") && told.contains("given up: the fan broke"),
        "{told}"
    );
    let version = scratch.status()["version"].clone();
    let again = scratch.text_of("study tell today.csv");
    assert_eq!(again.matches("nothing changed").count(), 2, "{again}");
    assert_eq!(scratch.status()["version"], version);
    let items = &scratch.status()["items"];
    assert_eq!((number(&items["told"]), number(&items["failed"])), (1, 1));
    // Rows of several items in one file, marked by a column.
    let (second, n) = (number(&open[1]["item"]), number(&open[1]["n"]));
    let table = rows([3.0, 0.5], n, 6);
    let mut table = table.lines();
    let mut marked = format!("item,{}\n", table.next().unwrap());
    table.for_each(|line| marked += &format!("{second},{line}\n"));
    scratch.file("marked.csv", &marked);
    let told = scratch.text_of("study tell marked.csv");
    assert!(
        told.contains(&format!("{n} rows of item {second} taken")),
        "{told}"
    );
}

#[test]
fn partial_surplus_repeated_and_unasked_rows_count_for_what_they_are() {
    let scratch = Scratch::with_study();
    let plan = scratch.measured_plan("study ask --budget 100");
    let item = &plan[0];
    // Half first, then more than was asked for.
    scratch.file("half.csv", &rows(item.condition, item.n / 2, 70));
    let said = scratch.text_of(&format!("study tell {} half.csv", item.id));
    assert!(said.contains("are missing"), "{said}");
    let said = scratch.text_of(&format!("study tell {} half.csv", item.id));
    assert!(
        said.contains("told before") && said.contains("nothing changed"),
        "{said}"
    );
    scratch.file("rest.csv", &rows(item.condition, item.n, 71));
    scratch.done(&format!("study tell {} rest.csv", item.id));
    let told = scratch.status();
    assert_eq!(number(&told["source_rows"]), item.n / 2 + item.n);
    scratch.file("late.csv", &rows(item.condition, 3, 72));
    scratch.refused(
        &format!("study tell {} late.csv", item.id),
        &["is complete", "add"],
    );
    // The same file again is no mistake, even now that the item is complete.
    let said = scratch.text_of(&format!("study tell {} rest.csv", item.id));
    assert!(said.contains("nothing changed"), "{said}");
    // Rows that nobody asked for, of a known and of a new condition.
    scratch.file("old.csv", &rows([3.0, 0.0], 12, 73));
    let said = scratch.text_of("study add old.csv --task c01");
    assert!(said.contains("12 rows of task c01"), "{said}");
    scratch.file("odd.csv", &rows([4.5, 0.2], 9, 74));
    scratch.done("study add odd.csv --task between --parameters 4.5,0.2");
    scratch.done("study add odd.csv --task below --parameters -4.5,0.2");
    scratch.refused(
        "study add odd.csv --task nowhere",
        &["no task is called `nowhere`", "--parameters"],
    );
    scratch.refused("study add odd.csv", &["--task"]);
    assert_eq!(
        number(&scratch.status()["source_rows"]),
        item.n / 2 + item.n + 30
    );
}

#[test]
fn what_was_really_set_is_what_counts() {
    let scratch = Scratch::with_study();
    let plan = scratch.measured_plan("study ask --budget 100 --out today.csv");
    let (first, second) = (&plan[0], &plan[1]);
    scratch.done(&format!(
        "study tell {} {} --achieved 2.5,0.4",
        first.id, first.file
    ));
    // The same in a checklist: the parameters of the line were changed by hand.
    let list = scratch.text("today.csv");
    let changed: Vec<String> = list
        .lines()
        .map(|line| match line.split_once(',') {
            Some((id, rest)) if id == second.id.to_string() => {
                let cells: Vec<&str> = rest.split(',').collect();
                let tail = cells[3..].join(",");
                let tail = tail.strip_suffix(",,").unwrap();
                format!("{id},{},1.25,0.75,{tail},{},", cells[0], second.file)
            }
            _ => line.to_owned(),
        })
        .collect();
    scratch.file("today.csv", &changed.join("\n"));
    scratch.done("study tell today.csv");
    scratch.done("study export out");
    let study = scratch.json("out/study.json");
    assert_eq!(number(&study["status"]["items"]["told"]), 2);
    scratch.refused(
        &format!("study tell {} {} --achieved 2.5", plan[2].id, plan[2].file),
        &["2", "parameters"],
    );
}

#[test]
fn an_item_that_failed_is_given_back_or_given_up() {
    let scratch = Scratch::with_study();
    let plan = scratch.measured_plan("study ask --budget 100");
    let started = scratch.text_of("study start --author ada");
    assert!(started.contains("item 0 is yours"), "{started}");
    scratch.refused("study start 0 --author bob", &["is being measured by ada"]);
    scratch.done("study fail 0 --reason battery --retry --author ada");
    let free = scratch.text_of("study start 0 --author bob");
    assert!(free.contains("item 0 is yours"), "{free}");
    scratch.done("study fail 0 --reason crash --author bob");
    scratch.refused("study fail 0", &["item 0 was given up (crash)"]);
    scratch.refused(
        &format!("study tell 0 {}", plan[0].file),
        &["item 0 was given up (crash)"],
    );
    scratch.refused("study start 0", &["item 0 is failed"]);
    let history = scratch.text_of("study history");
    assert!(
        history.contains("bob") && history.contains("given back: battery"),
        "{history}"
    );
}

#[test]
fn undo_goes_back_one_change_after_the_other() {
    let scratch = Scratch::with_study();
    let plan = scratch.measured_plan("study ask --budget 100");
    let before = scratch.status();
    for item in &plan[..2] {
        scratch.done(&format!("study tell {} {}", item.id, item.file));
    }
    for item in plan[..2].iter().rev() {
        let back = scratch.text_of("study undo");
        assert!(back.contains(&format!("of item {}", item.id)), "{back}");
    }
    assert_eq!(scratch.status()["open"], before["open"]);
    let back = scratch.text_of("study undo");
    assert!(back.contains("round 1"), "{back}");
    let back = scratch.text_of("study undo");
    assert!(back.contains("hover.csv"), "{back}");
    scratch.refused("study undo", &["there is nothing to take back"]);
    let history = scratch.text_of("study history");
    assert!(history.contains("from hover.csv (taken back)"), "{history}");
    // What was taken back can be told again.
    let again = scratch.text_of("study target hover.csv");
    assert!(
        again.contains("40 rows of target tomorrow taken"),
        "{again}"
    );
}

#[test]
fn a_plan_that_is_asked_for_by_a_key_is_made_once() {
    let scratch = Scratch::with_study();
    let first = scratch.said("study ask --budget 100 --key monday");
    assert_eq!(first["already"], false);
    let version = scratch.status()["version"].clone();
    let again = scratch.said("study ask --budget 100 --key monday");
    assert_eq!(
        (&again["already"], &again["plan"]),
        (&Value::Bool(true), &first["plan"])
    );
    assert_eq!(scratch.status()["version"], version);
    let other = scratch.said("study ask --budget 100 --key tuesday");
    assert_ne!(
        other["plan"]["items"][0]["id"],
        first["plan"]["items"][0]["id"]
    );
    // A plan that was taken back does not come back.
    scratch.done("study undo");
    let new = scratch.said("study ask --budget 100 --key tuesday");
    assert_eq!(new["already"], false);
}

#[test]
fn two_targets_and_two_outputs_have_models_of_their_own() {
    let scratch = Scratch::new();
    scratch.file("conditions.csv", &conditions());
    scratch.done(
        "study new --candidates conditions.csv --columns wind,payload --inputs vx,vy,pwm/1000 \
         --outputs force,lift --target tomorrow --target calm=0.0,0.5 --input-features affine",
    );
    let two = |condition: [f64; 2], n: usize, seed: u64| -> String {
        let table = rows(condition, n, seed);
        let mut lines = table.lines();
        let mut both = format!("{},lift\n", lines.next().unwrap());
        for line in lines {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            both += &format!("{line},{}\n", 2.0 * cells[2] - condition[1]);
        }
        both
    };
    scratch.file("hover.csv", &two(TOMORROW, 40, 1));
    scratch.file("calm.csv", &two([0.0, 0.5], 30, 2));
    scratch.refused("study target hover.csv", &["--target", "tomorrow, calm"]);
    scratch.done("study target hover.csv --target tomorrow");
    scratch.done("study target calm.csv --target calm");
    for item in items(&scratch.said("study ask --budget 200")["plan"]["items"]) {
        scratch.file(
            &item.file,
            &two(item.condition, item.n, 10 + item.id.cast_unsigned()),
        );
        scratch.done(&format!("study tell {} {}", item.id, item.file));
    }
    scratch.refused(
        "study model --out m.safetensors",
        &["--target", "tomorrow, calm"],
    );
    for target in ["tomorrow", "calm"] {
        scratch.done(&format!(
            "study model --target {target} --out {target}.safetensors"
        ));
        scratch.file("q.csv", "vx,vy,pwm\n1,0.5,1500\n");
        scratch.done(&format!(
            "predict {target}.safetensors --inputs q.csv --out {target}-answer.csv"
        ));
        let head = scratch.text(&format!("{target}-answer.csv"));
        assert!(head.lines().next().unwrap().contains("lift"), "{head}");
    }
    let forecast = scratch.text_of("study forecast --budget 100");
    assert!(forecast.contains("target calm"), "{forecast}");
    scratch.done("study target --add storm");
    assert_eq!(scratch.status()["targets"].as_array().unwrap().len(), 3);
    scratch.refused(
        "study forecast",
        &["nothing is known of the target `storm`"],
    );
}

#[test]
fn every_command_speaks_json() {
    let scratch = Scratch::new();
    scratch.file("conditions.csv", &conditions());
    scratch.file("hover.csv", &rows(TOMORROW, 40, 99));
    assert_eq!(scratch.said(NEW)["study"], "study");
    assert_eq!(
        number(&scratch.said("study target hover.csv")["batch"]["rows"]),
        40
    );
    let plan = scratch.measured_plan("study ask --budget 100");
    assert!(plan.len() > 2);
    assert_eq!(scratch.said("study start 0")["item"]["id"], 0);
    for item in &plan[..plan.len() - 2] {
        let line = format!("study tell {} {}", item.id, item.file);
        assert_eq!(scratch.said(&line)["already"], false);
    }
    let last = &plan[plan.len() - 1];
    scratch.file("extra.csv", &rows([0.0, 0.0], 10, 4));
    assert!(scratch.said("study add extra.csv --task c00")["batch"]["id"].is_string());
    scratch.said(&format!("study fail {} --reason rain", last.id));
    scratch.said("study undo");
    scratch.said("study note windy");
    assert!(scratch.said("study batches").as_array().unwrap().len() > 2);
    assert!(scratch.said("study history").as_array().unwrap().len() > 5);
    scratch.said("study retract --item 0");
    assert!(scratch.said("study forecast --budget 50,100 --figure f.svg")["sentence"].is_string());
    assert!(scratch.text("f.svg").contains("<svg"));
    scratch.said("study model --out m.safetensors");
    scratch.said("study report --out r.html");
    scratch.said("study export all --parquet");
    assert_eq!(scratch.said("study list")[0]["study"], "study");
    scratch.said("study recover --to copy.db");
    assert_eq!(
        scratch.said("study status --store copy.db")["source_rows"],
        scratch.status()["source_rows"]
    );
    scratch.file(
        "list.csv",
        &format!("item,failed\n{},the rig is gone\n", plan[plan.len() - 2].id),
    );
    scratch.said("study tell list.csv");
    let worker = "import sys,json\nfor line in sys.stdin:\n  for _ in range(json.loads(line)['count']): print('{\"x\":[1,2,1500],\"y\":1}', flush=True)\n";
    scratch.file("worker.py", worker);
    assert_eq!(
        scratch.said("study work --items 1 --command python3 worker.py")["told"],
        1
    );
}
