//! `reproduce theory` and `--as-published`, with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use crate::common::Scratch;

#[test]
fn theory_writes_its_tables_and_can_be_replaced() {
    let scratch = Scratch::new();
    scratch.done("reproduce theory --quick --out out");
    let summary = scratch.json("out/summary.json");
    for row in summary["designs"].as_array().unwrap() {
        let value = |name: &str| row["values"][name].as_f64().unwrap();
        assert!(value("optimal") <= value("paper") * (1.0 + 1e-9), "{row}");
        assert!(value("paper") <= row["construction_bound"].as_f64().unwrap() * (1.0 + 1e-9));
    }
    for row in summary["risk_law"].as_array().unwrap() {
        let ratio = row["ratio"].as_f64().unwrap();
        assert!((0.4..2.5).contains(&ratio), "{row}");
    }
    assert!(
        scratch
            .text("out/designs.csv")
            .starts_with("sweep,matrix_seed,k_star,kappa")
    );
    let page = scratch.text("out/report.html");
    assert!(page.contains("The risk law beside measurements"));
    let lists = summary["lists"].as_array().unwrap();
    for row in lists {
        let value = |name: &str| row[name].as_f64().unwrap();
        assert!(
            value("ball") < value("l1") && value("l1") <= value("l2"),
            "{row}"
        );
    }
    assert!(
        scratch
            .text("out/lists.csv")
            .starts_with("matrix_seed,tasks,l1")
    );
    for figure in ["designs.svg", "kappa.svg", "lists.svg", "risk.svg"] {
        assert!(scratch.text(&format!("out/{figure}")).starts_with("<svg"));
    }
    let again = "reproduce theory --quick --seed 5 --out out";
    scratch.refused(again, &["holds a report already", "--force"]);
    scratch.done(&format!("{again} --force"));
}

#[test]
fn the_papers_procedure_is_a_switch() {
    let scratch = Scratch::new();
    let run =
        "reproduce mlp --quick --seeds 1 --strategies passive,aware+save-task --budget-scale 0.5";
    scratch.done(&format!("{run} --as-published --out code"));
    scratch.done(&format!("{run} --as-published=text --out text"));
    let (code, text) = (
        scratch.json("code/settings.json"),
        scratch.json("text/settings.json"),
    );
    for (settings, whose, split, inputs) in [
        (&code, "code", "paper", 10),
        (&text, "text", "paper-text", 20),
    ] {
        let experiment = &settings["experiment"];
        assert_eq!(experiment["as_published"], whose);
        assert_eq!(experiment["learner"]["oracle"], "joint-gd");
        assert_eq!(experiment["learner"]["explore"], "equal");
        assert_eq!(experiment["learner"]["split"]["kind"], split);
        assert_eq!(experiment["world"]["input_features"]["dim"], inputs);
    }
    assert_eq!(scratch.json("code/summary.json")["judged"], "shared");
    let plans = scratch.text("code/plans.csv");
    // Equal weights on four right singular vectors.
    let explored: Vec<&str> = plans
        .lines()
        .filter(|line| line.starts_with("aware+save-task,,0,1,") && line.contains(",explore,"))
        .collect();
    assert_eq!(explored.len(), 4, "{plans}");
    scratch.refused("run FILE.toml --as-published", &["cannot read FILE.toml"]);
}

#[test]
fn a_file_without_the_papers_table_has_no_papers_procedure() {
    let scratch = Scratch::new();
    scratch.file("small.toml", crate::common::SMALL);
    scratch.refused(
        "run small.toml --as-published --out out",
        &["--as-published", "[published]", "leave the option out"],
    );
}

#[test]
fn every_experiment_of_the_paper_has_its_procedure() {
    let scratch = Scratch::new();
    for name in ["bilinear", "fourier", "mlp", "pendulum", "drone"] {
        let file = format!(
            "{}/../../experiments/{name}.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        for whose in ["code", "text"] {
            scratch.done(&format!("run {file} --check --as-published={whose}"));
        }
    }
}
