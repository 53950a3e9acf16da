//! Spaces to search, and studies that bring theirs.

use rand::RngExt as _;
use serde_json::Value;
use taskscout::data::Samples;
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, derive};
use taskscout::space::Space;
use taskscout::strategy::{StrategyConfig, StrategyKind};
use taskscout::study::{Study, StudyConfig};
use taskscout::target::Target;

use crate::common::{Scratch, stderr, stdout};
use crate::design::winds::{Plan, near, numbers};

/// A study that has learnt that only `north − east` matters.
fn study() -> Study {
    let mut study = Study::new(StudyConfig {
        k: Some(1),
        ..StudyConfig::new(
            Space::ball(2, 1.0).unwrap(),
            FeatureMap::identity(3).unwrap(),
            vec![Target::known("tomorrow", vec![0.6, 0.5])],
            StrategyConfig::new(StrategyKind::Passive),
        )
        .unwrap()
    })
    .unwrap();
    let mut rng = derive(1, Purpose::Test, &[]);
    let plan = study.ask(200).unwrap();
    for item in &plan.items {
        let c = item.task[0] - item.task[1];
        let x: Vec<f64> = (0..3 * item.n)
            .map(|_| rng.random_range(-1.0..1.0))
            .collect();
        let y = x
            .chunks(3)
            .map(|x| c * (x[0] - 2.0 * x[1]) + 0.01 * rng.random_range(-1.0..1.0))
            .collect();
        study
            .tell(item.id, &Samples::new(x, 3, y, 1).unwrap())
            .unwrap();
    }
    study
}

#[test]
fn spaces_are_searched() {
    let scratch = Scratch::new();
    scratch.file(
        "box.toml",
        "columns = [\"speed\", \"yaw\"]\n\n[space]\nkind = \"box\"\nlow = [0, -1]\nhigh = [12, 1]\n",
    );
    scratch.file("target.csv", "yaw,speed\n0.2,7\n");
    let line = "--space box.toml --target target.csv --json";
    let exact = Plan::of(&scratch.design(line));
    assert!(exact.number("gap") <= 1e-3);
    assert_eq!(exact.rows()[0]["row"], Value::Null);
    assert!(near(exact.rows()[0]["task"][0].as_f64().unwrap(), 12.0));
    let searched = Plan::of(&scratch.design(&format!("{line} --features quadratic --seed 3")));
    assert_eq!(
        (&searched.0["lower_bound"], &searched.0["gap"]),
        (&Value::Null, &Value::Null)
    );
    let text = scratch.design("--space box.toml --features quadratic");
    assert!(stdout(&text).contains("no bound is claimed"));
    // Without names, the order of the columns counts.
    scratch.file(
        "ball.toml",
        "space = { kind = \"ball\", dim = 2, radius = 2.0 }\n",
    );
    let ball = Plan::of(&scratch.design("--space ball.toml --target target.csv --json"));
    assert!((ball.number("objective") - (7.0_f64.powi(2) + 0.04) / 4.0).abs() < 0.01);
}

#[test]
fn a_study_brings_its_map_its_need_and_its_data() {
    let scratch = Scratch::winds();
    scratch.file("study.json", &serde_json::to_string(&study()).unwrap());
    let line = "--study study.json --candidates winds.csv --columns north,east --json";
    let plan = Plan::of(&scratch.design(line));
    // The winds along (1, −1) alone.
    assert_eq!(plan.names(), ["gale"], "gale has 1.5, nw only 1.4");
    assert!(plan.rows()[0]["similarity"].as_f64().unwrap() > 0.999);
    assert_eq!(plan.rows()[0]["reason"], "serves tomorrow (cosine 1.00)");
    let other = Plan::of(&scratch.design(&format!("{line} --target target.csv")));
    assert_eq!(other.names(), ["gale"]);
    let space = Plan::of(&scratch.design("--study study.json --json"));
    let task = numbers(&space.rows()[0]["task"]);
    assert!((task[0] + task[1]).abs() < 0.05, "{task:?}");
    // With the 200 samples that the study has, the objective is below that of 1000 alone.
    let c: f64 = 2.0 - 0.5;
    let alone = (0.6_f64 - 0.5).powi(2) / (c * c);
    assert!(plan.number("objective") < alone && plan.number("objective") > 0.5 * alone);
    let twice = scratch.design(&format!("{line} --features affine"));
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("cannot be used with"));
}

/// A campaign is for one output, and says so before it plans anything.
#[test]
fn a_study_of_several_outputs_is_refused() {
    let scratch = Scratch::winds();
    let several = StudyConfig {
        outputs: 3,
        ..study().config().clone()
    };
    let several = serde_json::to_string(&Study::new(several).unwrap()).unwrap();
    scratch.file("study.json", &several);
    scratch.design_refused(
        "--study study.json",
        &["the study has 3 outputs", "ask the study itself"],
    );
}
