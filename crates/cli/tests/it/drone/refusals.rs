//! What is refused, and what a file may leave open.

use crate::common::{Scratch, refused, succeeded};
use crate::drone::setup::{ROWS, TARGET, TASKS, TOML, relevant};

#[test]
fn what_the_command_cannot_do_it_says() {
    let scratch = Scratch::with_flights();
    std::fs::create_dir(scratch.path("empty")).unwrap();
    let drone = |rest: &str| format!("reproduce drone --out out {rest}");
    let flights = |rest: &str| drone(&format!("--data flights {rest}"));
    scratch.refused(
        &drone(""),
        &["no logs are named", "--data DIR", "simulate flights"],
    );
    scratch.refused(
        &drone("--data nowhere --target a"),
        &["cannot read nowhere"],
    );
    scratch.refused(&drone("--data empty --target a"), &["empty has no logs"]);
    scratch.refused(
        &flights(""),
        &["no target is named", "--target", "hawk_figure8_"],
    );
    scratch.refused(
        &flights("--target hawk_figure8_pid_70wnd_x"),
        &["hawk_figure8_pid_70wnd_x", TARGET],
    );
    let target = format!("--target {TARGET}");
    scratch.refused(
        &flights(&format!("{target} {target}")),
        &[TARGET, "twice: name each once"],
    );
    scratch.refused(
        &flights(&format!("{target} --n-target 61")),
        &[
            "--n-target is 61",
            "hawk_figure8_pid_70wind_x has 60 rows to learn from",
        ],
    );
    scratch.refused(
        &flights(&target),
        &["`target.samples` is 500", "60 rows to learn from"],
    );
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../experiments/bilinear.toml"
    );
    for option in [
        "--phi linear",
        "--data flights",
        "--skip-bad-rows",
        "--inputs a --outputs b",
    ] {
        scratch.refused(
            &format!("run {file} --out out {option}"),
            &[
                option.split(' ').next().unwrap(),
                "is an option of worlds of logs (drone)",
            ],
        );
    }
    assert!(!scratch.path("out").exists(), "nothing is left behind");
}

#[test]
fn bad_rows_stop_a_run_unless_they_may_be_left_out() {
    let scratch = Scratch::with_flights();
    let log = "flights/hawk_figure8_pid_nowind.csv";
    let text = scratch.text(log);
    scratch.file(log, &text[..text.len() - 9]);
    let place = format!("line {} of flights/hawk_figure8_pid_nowind.csv", ROWS + 1);
    scratch.refused("run logs.toml --out out", &[&place]);
    let said = scratch.done("run logs.toml --out out --skip-bad-rows");
    assert!(
        said.contains("1 bad rows were left out, the first because"),
        "{said}"
    );
    assert_eq!(
        relevant(&scratch.json("out/summary.json"), TARGET, TASKS - 1).len(),
        17
    );
}

#[test]
fn an_experiment_file_finds_logs_beside_it() {
    let scratch = Scratch::with_flights();
    std::fs::create_dir(scratch.path("elsewhere")).unwrap();
    let check = |line: &str| {
        let mut command = scratch.command(&format!("run --check ../logs.toml {line}"));
        command.current_dir(scratch.path("elsewhere"));
        command.output().unwrap()
    };
    succeeded(&check(""));
    // What the command line names starts from where one stands.
    succeeded(&check("--data ../flights"));
    refused(&check("--data flights"), &["--data", "flights"]);
    // What a file leaves to the command line is no mistake of the file.
    for line in [r#"data = "flights""#, &format!("targets = [\"{TARGET}\"]")] {
        assert!(TOML.contains(line));
        scratch.file("open.toml", &TOML.replace(line, ""));
        let said = scratch.done("run --check open.toml");
        assert!(said.contains("--data DIR and --target NAME"), "{said}");
    }
    for (key, bad, parts) in [
        (
            "phi = \"linear\"",
            "phi = \"cubic\"",
            ["cubic", "quadratic"],
        ),
        (
            "phi = \"linear\"",
            "train_share = 1.5",
            ["`train_share` is 1.5", "between 0 and 1"],
        ),
        (
            "phi = \"linear\"",
            "inputs = [\"a\"]",
            ["`inputs` and `outputs`", "name both"],
        ),
        (
            "phi = \"linear\"",
            "worth = -1.0",
            ["in [world], `worth` is -1", "above 0"],
        ),
        ("phi = \"linear\"", "wind = 3", ["wind", "line 9"]),
    ] {
        scratch.file("bad.toml", &TOML.replace(key, bad));
        scratch.refused("run --check bad.toml", &parts);
    }
}
