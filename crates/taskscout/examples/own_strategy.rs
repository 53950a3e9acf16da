//! A strategy of one's own, in a study and in its file.
//!
//! `cargo run --release -p taskscout --example own_strategy`

use serde::{Deserialize, Serialize};
use taskscout::prelude::*;

/// The corners of a box in turn, as many a round as the engineer has time for.
#[derive(Debug, Serialize, Deserialize)]
struct Corners {
    /// Corners a round.
    a_round: usize,
}

impl Strategy for Corners {
    fn plan(&self, context: &PlanContext<'_>) -> Result<Decision> {
        let Space::Box(space) = context.space else {
            return Err(Error::setting("strategy", "`corners` needs a box"));
        };
        let count = 1 << space.low().len();
        let items = (0..self.a_round).map(|turn| {
            let corner = (context.round * self.a_round + turn) % count;
            let bounds = space.low().iter().zip(space.high()).enumerate();
            let task: Vec<f64> = bounds
                .map(|(bit, (low, high))| if corner >> bit & 1 == 1 { *high } else { *low })
                .collect();
            let n = context.budget / self.a_round;
            PlanItem::new(context.space.task_of(&task), n, Stage::WarmUp, "its turn")
        });
        Ok(Decision::of(items.collect()))
    }
}

/// Plans with it, before and after the study was saved.
pub(crate) fn main() -> Result<()> {
    let mut registry = Registry::new();
    registry.strategy::<Corners>("corners")?;
    let corners = registry.make_strategy("corners", &serde_json::json!({"a_round": 2}))?;
    let mut study = Study::builder(Space::boxed(vec![0.0, -1.0], vec![12.0, 1.0])?)
        .inputs(3)
        .target(Target::unknown("tomorrow"))
        .own_strategy(corners)
        .build()?;
    for item in study.ask(100)?.items {
        println!("{} samples at {:?}", item.n, item.task.parameters());
    }
    let saved = study.snapshot()?;
    let mut study = Study::restore_with(&saved, &registry)?;
    for item in study.ask(100)?.items {
        println!("{} samples at {:?}", item.n, item.task.parameters());
    }
    Ok(())
}
