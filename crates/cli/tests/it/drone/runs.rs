//! Runs on flights: which of them help, and how much of each is used.

use taskscout_report::ResultRow;

use crate::common::{Scratch, results, stdout, succeeded};
use crate::drone::setup::{TARGET, TASKS, TRAIN, close, explained, relevant};

#[test]
fn a_run_says_which_flights_help() {
    let scratch = Scratch::with_flights();
    let line = format!(
        "reproduce drone --data flights --target {TARGET} --n-target 25 --phi linear --seeds 2 --budget-scale 0.03 --out out"
    );
    let output = scratch.taskscout(&line);
    let errors = succeeded(&output);
    let said = stdout(&output);
    assert!(
        said.contains(&format!("{TARGET}: most similar to hawk_")),
        "{said}"
    );

    // Recordings have parts of their own: that features do not tell all is no news.
    assert!(!errors.contains("warning"), "{errors}");

    let rows = results(&scratch.path("out"));
    assert_eq!(rows.len(), 2 * (1 + 3 * 10));
    for strategy in ["passive", "aware", "discrete-l2"] {
        for seed in 0..2 {
            let own = |row: &&ResultRow| row.strategy == strategy && row.seed == seed;
            let own: Vec<&ResultRow> = rows.iter().filter(own).collect();
            for (round, row) in own.iter().enumerate() {
                // 3 % of 1452 rows a round.
                assert_eq!((row.round, row.budget), (round, 43 * (round + 1)));
                assert!(row.test_loss.unwrap() > 0.0 && row.returned_loss.unwrap() > 0.0);
                assert!(row.tasks < TASKS);
                assert_eq!(row.target.as_deref(), Some(TARGET));
            }
        }
    }
    let alone: Vec<&ResultRow> = rows.iter().filter(|row| row.round == 0).collect();
    let alone: Vec<&&ResultRow> = alone
        .iter()
        .filter(|row| row.strategy == "target-only")
        .collect();
    assert_eq!(alone.len(), 2);
    for row in alone {
        assert_eq!((row.budget, row.tasks, row.test_loss), (0, 0, None));
        assert_eq!(row.predictor.as_deref(), Some("target-only"));
    }

    let summary = scratch.json("out/summary.json");
    assert_eq!(summary["experiment"], "drone");
    assert_eq!(summary["oracle"], "pooled");
    assert_eq!(summary["target"], TARGET);
    assert!(summary.get("targets").is_none());
    let contenders = ["target-only", "passive", "aware", "discrete-l2"];
    for name in contenders {
        assert!(summary["strategies"][name]["returned_loss"]["mean"].is_f64());
        assert!(summary["explained_variance"][name].is_f64(), "{name}");
    }
    explained(&summary, &rows, TARGET);
    let names = relevant(&summary, TARGET, TASKS - 1);
    assert!(
        names[0].starts_with("hawk_") && names[0].ends_with("_x"),
        "{names:?}"
    );
    for file in ["loss.svg", "figures/relevant.svg", "figures/similarity.svg"] {
        assert!(scratch.text(&format!("out/{file}")).contains("<svg"));
    }
    let page = scratch.text("out/report.html");
    for part in ["Most relevant recordings", "Explained variance", &names[9]] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn no_flight_gives_more_rows_than_it_has() {
    let scratch = Scratch::with_flights();
    let other = "wren_random_pid_nowind_z";
    let line = format!(
        "run logs.toml --target {TARGET} --target {other} --strategies passive,aware,discrete-l2"
    );
    let said = scratch.done(&format!("{line} --out some"));
    assert!(!said.contains("no rows were left"), "{said}");
    let all = (TASKS - 1) * TRAIN;
    for (out, budget) in [("some", 300), ("all", all)] {
        if out == "all" {
            let said = scratch.done(&format!("{line} --budget-scale 5 --out all"));
            let note = format!(
                "the source tasks have only {all} rows in all, but the schedule asks for 1500"
            );
            assert_eq!(said.matches(&note).count(), 1, "{said}");
            assert_eq!(scratch.text("all/report.html").matches(&note).count(), 1);
        }
        for strategy in ["passive", "aware", "discrete-l2"] {
            for trial in scratch.collected(out, strategy) {
                let total: f64 = trial.iter().map(|(_, rows)| rows).sum();
                close(total, budget as f64);
                for (task, rows) in &trial {
                    assert!(*rows <= TRAIN as f64 + 1e-6, "{strategy}: {rows} of {task}");
                    close(*rows, rows.round());
                }
            }
        }
    }

    // Each target has a section of its own.
    let summary = scratch.json("some/summary.json");
    let parts = summary["targets"].as_array().unwrap();
    assert!(summary.get("relevant").is_none() && parts.len() == 2);
    let rows = results(&scratch.path("some"));
    for (part, target) in parts.iter().zip([TARGET, other]) {
        assert_eq!(part["target"], target);
        let names = relevant(part, target, TASKS - 1);
        assert_eq!(names[0][..4], target[..4], "the same vehicle");
        assert!(part["strategies"].get("target-only").is_some());
        explained(part, &rows, target);
    }
    for file in [
        "loss-t1",
        "figures/relevant-t0",
        "figures/relevant-t1",
        "figures/similarity",
    ] {
        assert!(scratch.path(&format!("some/{file}.svg")).exists(), "{file}");
    }

    // One study for both: neither is a source of the other.
    scratch.done(&format!(
        "run logs.toml --target {TARGET} --target {other} --joint-targets --out joint"
    ));
    let details = scratch.json("joint/trials/aware-0.json");
    for (slot, wrong) in [(0, other), (1, TARGET)] {
        let tasks = details["targets"][slot]["relevant"]["tasks"].as_array();
        let found = tasks.unwrap().iter().find(|task| task["task"] == wrong);
        assert_eq!(found.unwrap()["weight"], 0.0);
    }
}

#[test]
fn jobs_and_interruptions_change_nothing() {
    let scratch = Scratch::with_flights();
    let line = "run logs.toml --strategies passive,aware --seeds 2 --save-models";
    scratch.done(&format!("{line} --jobs 1 --out one"));
    scratch.done(&format!("{line} --jobs 2 --out two"));
    assert_eq!(results(&scratch.path("one")), results(&scratch.path("two")));

    let lost = ["trials/aware-t0-1.json", "trials/aware-t0-1.csv"];
    let kept = ["trials/aware-t0-0.csv", "trials/passive-t0-1.csv"];
    let model = "models/aware-t0-1.safetensors".replace("t0-1", "t0-seed1");
    let read = |file: &str| std::fs::read(scratch.path(&format!("two/{file}"))).unwrap();
    let before = [kept[0], kept[1], lost[0], &model, "figures/relevant.svg"]
        .map(|file| (file.to_owned(), read(file)));
    for file in [
        lost[0],
        lost[1],
        &model,
        "report.html",
        "figures/relevant.svg",
    ] {
        std::fs::remove_file(scratch.path(&format!("two/{file}"))).unwrap();
    }
    let said = scratch.done(&format!("{line} --jobs 2 --out two --resume"));
    assert_eq!(
        said.matches("kept from the run before").count(),
        5,
        "{said}"
    );
    for (file, bytes) in before {
        assert!(read(&file) == bytes, "{file}");
    }
    assert_eq!(results(&scratch.path("one")), results(&scratch.path("two")));
    for file in ["one", "two"].map(|out| format!("{out}/{}", lost[0])) {
        let details = scratch.json(&file);
        assert_eq!(details, scratch.json(&format!("one/{}", lost[0])));
    }
    // A map of all pairs of tasks is drawn from the first seed, so it is there once.
    let pairs = |file: &str| {
        scratch.json(file)["targets"][0]["relevant"]
            .get("pairs")
            .is_some()
    };
    assert!(pairs("one/trials/aware-t0-0.json") && !pairs("one/trials/aware-t0-1.json"));
}

#[test]
fn a_run_without_aware_says_whose_relevance_it_is() {
    let scratch = Scratch::with_flights();
    let run = |strategies: &str, out: &str| {
        let line = format!("run logs.toml --strategies {strategies} --out {out}");
        let output = scratch.taskscout(&line);
        succeeded(&output);
        stdout(&output)
    };
    let said = run("passive,discrete-l2", "other");
    let words = "means over seeds of passive and discrete-l2, as aware did not run";
    assert!(said.contains(words), "{said}");
    let by = &scratch.json("other/summary.json")["relevant_by"];
    assert_eq!(
        by["strategies"],
        serde_json::json!(["passive", "discrete-l2"])
    );
    assert_eq!(by["trials"], 2);
    let page = scratch.text("other/report.html");
    assert!(page.contains("of passive and discrete-l2, as aware did not run"));
    let said = run("passive,aware", "aware");
    assert!(!said.contains("did not run"), "{said}");
    let by = &scratch.json("aware/summary.json")["relevant_by"];
    assert_eq!(by["strategies"], serde_json::json!(["aware"]));
    assert!(
        scratch
            .text("aware/report.html")
            .contains("Means over seeds of aware.")
    );
}
