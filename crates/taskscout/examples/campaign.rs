//! A campaign on a rig: costs, failures, rows nobody asked for, wrong rows, and a file that loses nothing.
//!
//! `cargo run --release -p taskscout --example campaign`

use taskscout::prelude::*;

/// What the rig measures at a wind speed.
fn measure(wind: f64, n: usize, draw: u64) -> Result<Samples> {
    let mut rng = derive(6, Purpose::Collect, &[draw]);
    let states: Vec<f64> = (0..4 * n).map(|_| normal(&mut rng)).collect();
    let forces = states
        .chunks(4)
        .map(|x| x[0] - wind * x[1] + 0.2 * wind * wind * x[3] + 0.3 * normal(&mut rng))
        .collect();
    Samples::new(states, 4, forces, 1)
}

/// Plans, collects with trouble, and predicts.
pub(crate) fn main() -> Result<()> {
    let path =
        std::env::temp_dir().join(format!("taskscout-campaign-{}.study", std::process::id()));
    let study = Study::builder(Space::boxed(vec![0.0], vec![3.0])?)
        .task_features(FeatureMap::polynomial(1, 2, true)?)
        .inputs(4)
        .target(Target::unknown("tomorrow"))
        // A change of the wind costs as much as 40 samples; fewer than 20 are not worth one.
        .collection(Collection {
            switch_cost: 40.0,
            smallest_batch: 20,
            ..Collection::default()
        })
        .build()?;
    let mut study = StudyFile::create(&path, study)?;
    study.tell_target(0, &measure(1.7, 15, 1000)?)?;
    // Last year's data.
    study.add(
        &Task::new("run 17 of last year", vec![2.5]),
        &measure(2.5, 60, 17)?,
    )?;

    let plan = study.ask(600)?;
    for (at, item) in plan.items.iter().enumerate() {
        println!(
            "{:4} samples at {:.2} m/s: {}",
            item.n, item.task[0], item.reason
        );
        match at {
            // The battery ended early.
            0 => {
                study.tell(item.id, &measure(item.task[0], item.n / 2, item.id)?)?;
                study.fail(item.id, "the battery was empty")?;
            }
            // The fan was a little faster than asked for.
            1 => {
                let achieved = Task::point(vec![(item.task[0] + 0.05).min(3.0)]);
                study.tell_achieved(item.id, &achieved, &measure(achieved[0], item.n, item.id)?)?;
            }
            _ => {
                study.tell(item.id, &measure(item.task[0], item.n, item.id)?)?;
            }
        }
    }
    // The next plan may be asked for while this one is under way; then the program is killed.
    study.ask(300)?;
    drop(study);

    let mut study = StudyFile::open(&path)?;
    let open: Vec<PlanItem> = study
        .items()
        .iter()
        .filter(|one| one.progress == Progress::Open)
        .map(|one| one.item.clone())
        .collect();
    println!("{} items are open after the crash", open.len());
    // The force sensor was loose.
    let wrong = study.tell(open[0].id, &measure(9.0, open[0].n, 77)?)?;
    study.retract(&wrong)?;
    for item in open {
        study.tell(item.id, &measure(item.task[0], item.n, item.id)?)?;
    }
    let choice = &study.predictors()?[0];
    println!("{}", choice.reason);
    println!(
        "force on the states: {:.2?}",
        choice.returned.coefficients[0]
    );
    drop(study);
    std::fs::remove_file(&path).map_err(|error| Error::io(path.display().to_string(), error))
}
