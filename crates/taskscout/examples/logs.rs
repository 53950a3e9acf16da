//! Recordings as tasks: which flights help a new one, of which there are few rows?
//!
//! `cargo run --release -p taskscout --example logs`

use std::collections::BTreeMap;

use taskscout::prelude::*;

/// Recorded flights; two of them in the same wind.
struct Flights {
    rows: BTreeMap<TaskId, Samples>,
}

impl Flights {
    fn new(names: &[(&str, f64)]) -> Result<Self> {
        let mut rows = BTreeMap::new();
        for (index, (name, wind)) in names.iter().enumerate() {
            let mut rng = derive(4, Purpose::Collect, &[index as u64]);
            rows.insert(TaskId::from(*name), fly(*wind, 300, &mut rng)?);
        }
        Ok(Self { rows })
    }
}

/// Drag grows with the wind, and a little with its square.
fn fly(wind: f64, n: usize, rng: &mut Rng) -> Result<Samples> {
    let states: Vec<f64> = (0..3 * n).map(|_| normal(rng)).collect();
    let forces = states
        .chunks(3)
        .map(|x| -0.4 * wind * x[0] - 0.05 * wind * wind * x[1] + x[2] + 0.2 * normal(rng))
        .collect();
    Samples::new(states, 3, forces, 1)
}

impl TaskSource for Flights {
    /// The next rows of a flight, in the order of time.
    fn sample(&mut self, task: &Task, n: usize, _rng: &mut Rng) -> Result<Samples> {
        let Some(rows) = self.rows.get_mut(&task.id) else {
            return Err(Error::source(
                format!("flight {}", task.id),
                "there is no such recording",
            ));
        };
        let n = n.min(rows.len());
        let (inputs, rest) = rows.inputs().split_at(3 * n);
        let (outputs, later) = rows.outputs().split_at(n);
        let taken = Samples::new(inputs.to_vec(), 3, outputs.to_vec(), 1)?;
        *rows = Samples::new(rest.to_vec(), 3, later.to_vec(), 1)?;
        Ok(taken)
    }

    fn available(&self, task: &Task) -> Option<usize> {
        // All that it ever had: what was told already is counted by the loop.
        Some(if self.rows.contains_key(&task.id) {
            300
        } else {
            0
        })
    }
}

/// Learns a force model for a new flight.
pub(crate) fn main() -> Result<()> {
    let flights = [
        ("calm", 0.0),
        ("breeze monday", 3.7),
        ("breeze tuesday", 3.7),
        ("wind", 6.1),
        ("storm", 12.1),
    ];
    let mut source = Flights::new(&flights)?;
    let names = flights.iter().map(|(name, _)| (*name).to_owned()).collect();
    let winds: Vec<Vec<f64>> = flights.iter().map(|(_, wind)| vec![*wind]).collect();
    let mut study = Study::builder(Space::List(List::named(names, &winds)?))
        .task_features(FeatureMap::polynomial(1, 2, true)?)
        .inputs(3)
        .target(Target::known("new flight", vec![4.9]))
        .trainer(PartialPooling::default())
        .build()?;
    let mut rng = derive(4, Purpose::Test, &[]);
    study.tell_target(0, &fly(4.9, 8, &mut rng)?)?;
    run(&mut study, &mut source, &[150, 150], &mut ())?;

    for (task, rows) in study.data().rows_by_task() {
        println!("{:15} {:4.1} m/s {rows:4} rows", task.id.as_str(), task[0]);
    }
    let choice = &study.predictors()?[0];
    println!("{}: {}", choice.target, choice.reason);
    println!(
        "force on the states: {:.2?}",
        choice.returned.coefficients[0]
    );
    Ok(())
}
