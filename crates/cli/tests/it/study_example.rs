//! The example of two days in a tunnel, and the story that docs/how-to/run-a-campaign.md tells with it.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Scratch;
use crate::common::cluster::Cluster;

fn example(file: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../../examples/two-days-in-a-tunnel").join(file)
}

/// Runs both days in a folder of their own and gives what was said.
fn two_days(scratch: &Scratch, store: Option<&str>) -> String {
    let mut command = Command::new("sh");
    command
        .arg(example("two_days.sh"))
        .arg(scratch.folder())
        .env("TASKSCOUT", env!("CARGO_BIN_EXE_taskscout"))
        .env_remove("TASKSCOUT_STUDY");
    match store {
        Some(store) => command.env("TASKSCOUT_STORE", store),
        None => command.env_remove("TASKSCOUT_STORE"),
    };
    let output = command.output().unwrap();
    crate::common::succeeded(&output);
    crate::common::stdout(&output)
}

#[test]
fn two_days_end_the_same_on_both_stores() {
    let scratch = Scratch::new();
    let said = two_days(&scratch, None);
    for words in [
        "study `drone` begins",
        "the tunnel stopped",
        "nothing changed",
        "taken back: 25 rows of task c07",
        "another ",
        "force,force_std,force_model_std",
    ] {
        assert!(said.contains(words), "`{words}` in: {said}");
    }
    // 0.3 · 7 · 2 + 0.8 · 50 / 200 + 0.7 + 4
    let first = said
        .lines()
        .skip_while(|line| !line.starts_with("force,"))
        .nth(1);
    let force: f64 = first.unwrap().split(',').next().unwrap().parse().unwrap();
    assert!((force - 9.1).abs() < 0.1, "{force}");
    let status = scratch.status();
    assert_eq!(
        status["items"]["told"].as_u64(),
        status["batches"].as_u64().map(|all| all - 1)
    );
    assert_eq!(
        scratch.text("archive/batches.csv").lines().count() as u64,
        status["batches"].as_u64().unwrap() + 1
    );
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let other = Scratch::new();
    two_days(&other, Some(&cluster.url()));
    let model = |scratch: &Scratch| std::fs::read(scratch.path("force.safetensors")).unwrap();
    assert!(
        model(&scratch) == model(&other),
        "the stores end with other models"
    );
}

/// Options of the command say the same as the file.
#[test]
fn the_file_of_the_example_is_what_the_page_shows() {
    let file = std::fs::read_to_string(example("study.toml")).unwrap();
    let settings = file.split_once("name = ").unwrap().1;
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/run-a-campaign.md");
    let page = std::fs::read_to_string(docs).unwrap();
    assert!(
        page.contains(settings.trim()),
        "the page shows another file"
    );
}
