//! A simulator as the source of data: which winds should be simulated for tomorrow's?
//!
//! `cargo run --release -p taskscout --example simulator`

use taskscout::prelude::*;

/// The force on a drone in a wind tunnel with four fans: only two mixtures of them matter.
struct Tunnel;

impl TaskSource for Tunnel {
    fn sample(&mut self, fans: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
        let states: Vec<f64> = (0..6 * n).map(|_| normal(rng)).collect();
        let (drag, lift) = (fans[0] + 0.5 * fans[1], fans[2] - 0.3 * fans[3]);
        let forces = states
            .chunks(6)
            .map(|x| drag * (x[0] - x[2]) + lift * (x[1] + x[4]) + 0.3 * normal(rng))
            .collect();
        Samples::new(states, 6, forces, 1)
    }
}

/// Says what is asked for, and why.
struct Words;

impl Observer for Words {
    fn on_event(&mut self, _study: &Study, event: &Event) {
        if let Event::Planned { plan } = event {
            println!("round {}:", plan.plan.round);
            for item in &plan.plan.items {
                let fans: Vec<String> = item.task.iter().map(|w| format!("{w:+.2}")).collect();
                println!(
                    "  {:4} samples at [{}]: {}",
                    item.n,
                    fans.join(" "),
                    item.reason
                );
            }
        }
    }
}

/// Collects three rounds, and says what was learnt.
pub(crate) fn main() -> Result<()> {
    let mut tunnel = Tunnel;
    let mut study = Study::builder(Space::ball(4, 1.0)?)
        .inputs(6)
        .target(Target::unknown("tomorrow"))
        .k(2)
        .seed(1)
        .build()?;
    let tomorrow = Task::point(vec![0.6, 0.0, 0.8, 0.0]);
    let mut rng = derive(1, Purpose::Test, &[]);
    study.tell_target(0, &tunnel.sample(&tomorrow, 12, &mut rng)?)?;
    run(&mut study, &mut tunnel, &[200, 200, 200], &mut Words)?;

    let choice = &study.predictors()?[0];
    let alone = &study.target_only()?[0];
    let truth = [0.6, 0.8, -0.6, 0.0, 0.8, 0.0];
    let error = |choice: &AveragedPredictor| -> f64 {
        let found = choice.returned.coefficients[0].iter();
        found.zip(truth).map(|(a, b)| (a - b).powi(2)).sum()
    };
    println!("{}", choice.reason);
    println!(
        "squared error {:.4}; from the 12 rows of the target alone {:.4}",
        error(choice),
        error(alone)
    );
    Ok(())
}
