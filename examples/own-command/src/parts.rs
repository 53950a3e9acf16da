//! A space, features, a strategy and a trainer that no library has.
//!
//! Settings are fields that serde reads. `deny_unknown_fields` has the command refuse a slip of the pen in a
//! file; `default` lets a file leave a setting out.

use std::f64::consts::TAU;

use serde::Deserialize;
use taskscout::prelude::*;

/// Winds of one speed from all directions: what a turntable in a wind tunnel can do.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Circle {
    speed: f64,
}

impl TaskSpace for Circle {
    fn dim(&self) -> usize {
        2
    }

    fn check(&self, task: &[f64]) -> Result<()> {
        let off = (task[0].hypot(task[1]) - self.speed).abs();
        if off < 1e-6 {
            return Ok(());
        }
        Err(Error::OutsideSpace {
            task: format!("{task:?}"),
            reason: format!("its speed is off by {off}: it must be {}", self.speed),
        })
    }

    fn sample(&self, rng: &mut Rng) -> Result<Vec<f64>> {
        Ok(wind(self.speed, uniform(rng)))
    }

    fn best_atom(&self, form: &QuadraticForm<'_>, rng: &mut Rng) -> Result<Atom> {
        let mut atom = self.minimise(&|task| -form.value(task), rng)?;
        atom.value = -atom.value;
        Ok(atom)
    }
}

/// A wind of a speed, so many turns from east.
fn wind(speed: f64, turns: f64) -> Vec<f64> {
    let angle = TAU * turns;
    vec![speed * angle.cos(), speed * angle.sin()]
}

/// A constant, the velocity, and its first part squared with its sign, which is what drag is made of.
#[derive(Debug)]
pub(crate) struct Drag;

impl Features for Drag {
    fn input_dim(&self) -> usize {
        2
    }

    fn dim(&self) -> usize {
        4
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        for (v, out) in rows.chunks_exact(2).zip(out.chunks_exact_mut(4)) {
            out.copy_from_slice(&[1.0, v[0], v[1], v[0] * v[0].abs()]);
        }
    }
}

/// Equal parts from some directions, a little further around in every round.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Compass {
    directions: usize,
}

impl Default for Compass {
    fn default() -> Self {
        Self { directions: 4 }
    }
}

impl Strategy for Compass {
    fn plan(&self, context: &PlanContext<'_>) -> Result<Decision> {
        // Any task of the space says how strong its winds are.
        let some = context
            .space
            .sample(&mut derive(context.seed, Purpose::Search, &[]))?;
        let [east, north] = some[..] else {
            return Err(Error::setting(
                "strategy",
                "`compass` needs winds: two parameters",
            ));
        };
        let (speed, count) = (east.hypot(north), self.directions.max(1));
        let item = |turn: usize| {
            let turns = (turn as f64 + 0.382 * context.round as f64) / count as f64;
            let task = context.space.task_of(&wind(speed, turns));
            let n = context.budget / count + usize::from(turn < context.budget % count);
            PlanItem::new(task, n, Stage::WarmUp, "its turn")
        };
        Ok(Decision::of((0..count).map(item).collect()))
    }
}

/// The exact trainer with the penalty that this laboratory trusts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct House {
    #[serde(default = "usual")]
    penalty: f64,
}

fn usual() -> f64 {
    0.1
}

impl Trainer for House {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        let lambda = Some(self.penalty);
        JointRidge {
            lambda,
            ..JointRidge::default()
        }
        .fit(data, context)
    }
}
