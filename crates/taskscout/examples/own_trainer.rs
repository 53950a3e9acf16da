//! A trainer of one's own: the exact one, with the penalty that this laboratory trusts.
//!
//! `cargo run --release -p taskscout --example own_trainer`

use serde::{Deserialize, Serialize};
use taskscout::prelude::*;

/// The exact trainer with a penalty that grows with the rows.
#[derive(Debug, Serialize, Deserialize)]
struct House {
    /// Penalty a thousand rows.
    penalty: f64,
}

impl Trainer for House {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        let rows = data.source_rows() as f64;
        let lambda = Some(self.penalty * rows.max(1.0) / 1000.0);
        JointRidge {
            lambda,
            ..JointRidge::default()
        }
        .fit(data, context)
    }
}

/// Learns with it, before and after the study was saved.
pub(crate) fn main() -> Result<()> {
    let mut registry = Registry::new();
    registry.trainer::<House>("house")?;
    let mut study = Study::builder(Space::ball(3, 1.0)?)
        .inputs(4)
        .target(Target::unknown("tomorrow"))
        .trainer(registry.make_trainer("house", &serde_json::json!({"penalty": 2.0}))?)
        .k(1)
        .build()?;
    let measure = |task: &[f64], n: usize, draw: u64| {
        let mut rng = derive(2, Purpose::Collect, &[draw]);
        let x: Vec<f64> = (0..4 * n).map(|_| normal(&mut rng)).collect();
        let y = x
            .chunks(4)
            .map(|x| (task[0] - task[2]) * (x[0] + x[3]))
            .collect();
        Samples::new(x, 4, y, 1)
    };
    study.tell_target(0, &measure(&[0.9, 0.0, 0.2], 10, 100)?)?;
    for item in study.ask(90)?.items {
        study.tell(item.id, &measure(&item.task, item.n, item.id)?)?;
    }
    let before = study.predictors()?;
    let study = Study::restore_with(&study.snapshot()?, &registry)?;
    assert_eq!(study.predictors()?, before);
    println!(
        "{}: {:.2?}",
        before[0].reason, before[0].returned.coefficients[0]
    );
    Ok(())
}
