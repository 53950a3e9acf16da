//! What is refused, in one sentence with place and remedy.

use crate::common::Scratch;
use crate::design::winds::WINDS;

#[test]
fn errors_are_one_sentence_with_place_and_remedy() {
    let scratch = Scratch::winds();
    let base = "--candidates winds.csv --columns north,east --target target.csv";
    scratch.design_refused("", &["--candidates FILE, --space FILE.toml or --study"]);
    scratch.design_refused(
        "--candidates none.csv",
        &["cannot read none.csv", "check the spelling"],
    );
    scratch.design_refused(
        "--candidates winds.csv --target target.csv",
        &["line 4 of winds.csv, column left, is empty", "--columns"],
    );
    scratch.design_refused(
        "--candidates winds.csv --columns north,east,minutes --target target.csv",
        &["target.csv has no column `minutes`", "--columns"],
    );
    scratch.design_refused(&format!("{base} --require nne"), &["did you mean `ne`?"]);
    scratch.design_refused(&format!("{base} --forbid 9"), &["rows 0 to 8"]);
    scratch.design_refused(
        &format!("{base} --require n --forbid n"),
        &["line 2 of winds.csv"],
    );
    scratch.design_refused(
        &format!("{base} --capacity left --require w"),
        &["line 8", "0 samples left"],
    );
    scratch.design_refused(
        &format!("{base} --cost minuets"),
        &["did you mean `minutes`?"],
    );
    scratch.design_refused(
        &format!("{base} --cost north"),
        &["line 4", "must be positive"],
    );
    scratch.design_refused(
        &format!("{base} --capacity north"),
        &["line 3", "is 0.7", "whole number"],
    );
    scratch.design_refused(&format!("{base} --budget 0"), &["--budget is 0"]);
    scratch.design_refused(&format!("{base} --tolerance 3"), &["--tolerance is 3"]);
    scratch.design_refused(
        &format!("{base} --switch-cost 600"),
        &["--budget 1000 does not pay", "raise it"],
    );
    for (option, setting) in [
        ("--switch-cost 1e200", "at most 1e100"),
        ("--min-samples 10000000000000000", "at most 1e15"),
    ] {
        scratch.design_refused(&format!("{base} {option}"), &[setting]);
    }
    scratch.file("dear.csv", "north,east,price\n1,0,1\n0,1,1e200\n");
    scratch.design_refused(
        "--candidates dear.csv --columns north,east --cost price --budget 9",
        &["line 3", "dear.csv"],
    );
    scratch.design_refused(
        &format!("{base} --study none.json"),
        &["cannot read none.json"],
    );
    scratch.file("map.csv", "1,0,0\n");
    scratch.design_refused(
        &format!("{base} --map map.csv"),
        &["map.csv has 3 columns", "(north, east)"],
    );
    scratch.file("study.json", "{}");
    scratch.design_refused("--study study.json", &["study.json is no saved study"]);
    scratch.file("text.csv", "name,kind\na,b\n");
    scratch.design_refused(
        "--candidates text.csv",
        &["text.csv has no column of numbers"],
    );
    scratch.file("nan.csv", "x\n1\nnan\n");
    scratch.design_refused(
        "--candidates nan.csv",
        &["line 3 of nan.csv, column x, is nan"],
    );
    scratch.file("none.csv", "north,east\n");
    let empty = "--candidates winds.csv --columns north,east --target none.csv";
    scratch.design_refused(empty, &["none.csv has a header but no rows"]);
    scratch.file("space.toml", "\nspace = { kind = \"blob\" }\n");
    scratch.design_refused(
        "--space space.toml",
        &[
            "space.toml, line 2, column",
            "`space` has the kind `blob`, which is not known",
            "one-hot",
        ],
    );
    scratch.file(
        "ball.toml",
        "space = { kind = \"ball\", dim = 2, radius = 2.0 }\n",
    );
    let ball = "space = { kind = \"ball\", dim = 2, radius = 2.0 }\n";
    for (more, parts) in [
        (
            "columns = [\"a\"]",
            ["line 2, column 11", "1 columns are named (a)"],
        ),
        (
            "columns = [\"a\", \"a\"]",
            ["line 2, column 11", "names `a` twice"],
        ),
        (
            "task_features = { kind = \"identity\", dim = 3 }",
            [
                "line 2, column",
                "take 3 parameters, but tasks of the space have 2",
            ],
        ),
    ] {
        scratch.file("part.toml", &format!("{ball}{more}\n"));
        let all = [&parts[..], &["part.toml, "]].concat();
        scratch.design_refused("--space part.toml", &all);
    }
    for option in [
        "--require n",
        "--forbid 1",
        "--cost minutes",
        "--capacity left",
        "--name x",
    ] {
        let name = option.split(' ').next().unwrap();
        scratch.design_refused(
            &format!("--space ball.toml {option}"),
            &[&format!("{name} needs --candidates")],
        );
    }
    scratch.file(
        "both.toml",
        "space = { kind = \"ball\", dim = 2, radius = 2.0 }\ntask_features = { kind = \"identity\", dim = 2 }\n",
    );
    scratch.design_refused(
        "--space both.toml --features affine",
        &["leave one of them out"],
    );
    let all: String = (0..9).map(|row| format!(" --forbid {row}")).collect();
    scratch.design_refused(
        &format!("{base}{all}"),
        &["the tasks of winds.csv are all forbidden"],
    );
}

#[test]
fn studies_that_no_memory_holds_are_refused_with_the_number() {
    let scratch = Scratch::new();
    let study = include_str!("../../../../../examples/wind-tunnel/study.json");
    let features = r#""input_features":{"kind":"identity","dim":"#;
    for (from, to, parts) in [
        (
            r#""outputs":1,"#,
            r#""outputs":9223372036854775807,"#,
            ["9223372036854775807 outputs", "TB"],
        ),
        (
            r#""outputs":1,"#,
            r#""outputs":1000000000000,"#,
            ["1000000000000 outputs", "TB"],
        ),
        (
            r#""outputs":1,"#,
            r#""outputs":4294967296,"#,
            ["4294967296 outputs", "GB"],
        ),
        (
            features,
            &format!("{features}10000"),
            ["100003 features", "GB"],
        ),
        (
            features,
            &format!("{features}90000"),
            ["900003 features", "GB"],
        ),
    ] {
        assert!(study.contains(from), "{from}");
        scratch.file("large.json", &study.replace(from, to));
        let all = [&parts[..], &["large.json", "give a study with fewer"]].concat();
        scratch.design_refused("--study large.json --budget 100", &all);
    }
}

#[test]
fn what_is_out_of_reach_is_named_by_columns() {
    let scratch = Scratch::new();
    scratch.file("flat.csv", "speed,angle\n1,1\n2,2\n3,3\n");
    scratch.file("target.csv", "speed,angle\n1,0\n");
    scratch.design_refused(
        "--candidates flat.csv --target target.csv",
        &["out of reach", "span 1 of 2", "·speed", "·angle"],
    );
    scratch.design_refused(
        "--candidates flat.csv --target target.csv --features quadratic",
        &["only 3", "span 3 of 6", "·speed²"],
    );
    scratch.file("big.csv", "speed,angle\n1,1\n1e200,2\n");
    scratch.design_refused(
        "--candidates big.csv --features quadratic",
        &["speed² of row 1 of big.csv is too large"],
    );
    scratch.file("winds.csv", WINDS);
    scratch.file("north.csv", "north,east\n0.3,0.8\n");
    scratch.design_refused(
        "--candidates winds.csv --columns north,east --target north.csv --max-tasks 1",
        &["--max-tasks 1", "at least 2, so raise it to 2"],
    );
}
