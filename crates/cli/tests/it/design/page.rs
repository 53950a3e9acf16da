//! The commands of the page on campaigns.

use std::path::Path;

use rand::RngExt as _;
use taskscout::data::Samples;
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, derive};
use taskscout::space::Space;
use taskscout::strategy::{StrategyConfig, StrategyKind};
use taskscout::study::{Study, StudyConfig};
use taskscout::target::Target;

use crate::common::{Scratch, stderr, stdout};

/// The study of the page: what it learns is that a drone in the tunnel feels two mixtures of winds.
fn tunnel_study() -> Study {
    let mut study = Study::new(StudyConfig {
        k: Some(2),
        ..StudyConfig::new(
            Space::boxed(vec![-12.0, -12.0, -2.0, 0.0], vec![12.0, 12.0, 2.0, 4.0]).unwrap(),
            FeatureMap::identity(3).unwrap(),
            vec![Target::known("tomorrow", vec![6.2, 3.1, -0.4, 1.1])],
            StrategyConfig::new(StrategyKind::Passive),
        )
        .unwrap()
    })
    .unwrap();
    let mut rng = derive(2, Purpose::Test, &[]);
    let plan = study.ask(400).unwrap();
    for item in &plan.items {
        let w = &item.task;
        let (a, b) = (w[0] + 0.5 * w[3], w[1] - w[2]);
        let x: Vec<f64> = (0..3 * item.n)
            .map(|_| rng.random_range(-1.0..1.0))
            .collect();
        let y = x
            .chunks(3)
            .map(|x| a * (x[0] - x[1]) + b * x[2] + 0.1 * rng.random_range(-1.0..1.0))
            .collect();
        study
            .tell(item.id, &Samples::new(x, 3, y, 1).unwrap())
            .unwrap();
    }
    study
}

/// Every command of the page works in the example's folder, and prints what the page shows.
#[test]
fn the_commands_of_the_page_run_as_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/how-to/plan-a-campaign.md")).unwrap();
    let scratch = Scratch::new();
    // TASKSCOUT_WRITE_EXAMPLES=1 writes the study's file and the outputs of the page again.
    let write = std::env::var_os("TASKSCOUT_WRITE_EXAMPLES").is_some();
    let mut rewritten = page.clone();
    if write {
        let text = serde_json::to_string(&tunnel_study()).unwrap() + "\n";
        std::fs::write(root.join("examples/wind-tunnel/study.json"), text).unwrap();
    }
    for entry in std::fs::read_dir(root.join("examples/wind-tunnel")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(
            &path,
            scratch.path(&path.file_name().unwrap().to_string_lossy()),
        )
        .unwrap();
    }
    let mut commands = 0;
    for block in page.split("```text\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let Some(rest) = block.strip_prefix("$ taskscout design ") else {
            continue;
        };
        let (mut line, mut shown) = rest.split_once('\n').unwrap();
        let mut whole = String::new();
        while let Some(start) = line.strip_suffix('\\') {
            whole += start;
            (line, shown) = shown.split_once('\n').unwrap();
        }
        whole += line;
        let output = scratch.design(&whole);
        assert!(output.status.success(), "{whole}: {}", stderr(&output));
        let text = stdout(&output);
        if write {
            rewritten = rewritten.replace(shown.trim_end(), text.trim_end());
        } else {
            assert_eq!(text.trim_end(), shown.trim_end(), "{whole}");
        }
        commands += 1;
    }
    assert!(commands >= 7, "{commands}");
    if write {
        std::fs::write(root.join("docs/how-to/plan-a-campaign.md"), rewritten).unwrap();
    }
}
