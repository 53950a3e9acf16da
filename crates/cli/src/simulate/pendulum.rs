//! `taskscout simulate pendulum`.

use taskscout_lab::simulate::{AskedPendulum, PolicyKind, simulate_pendulum};

use super::options::{PendulumOptions, PolicyName};
use crate::error::Result;
use taskscout_terminal::Alive;
use taskscout_terminal::{print, tell};

/// Simulates all tasks and writes one table.
pub(crate) fn execute(options: &PendulumOptions) -> Result<()> {
    let policy = |name: PolicyName| match name {
        PolicyName::Random => PolicyKind::Random,
        PolicyName::None => PolicyKind::None,
        PolicyName::True => PolicyKind::True,
        PolicyName::Model => PolicyKind::Model,
    };
    let asked = AskedPendulum {
        tasks: options.w.clone(),
        steps: options.steps,
        seed: options.seed,
        policy: options.policy.map(policy),
        model: options.model.clone(),
        noise: options.noise,
        step_s: options.step,
        start: options.start.clone(),
        out: options.out.clone(),
        force: options.force,
    };
    let alive = Alive::start("simulating");
    let said = simulate_pendulum(&asked, &tell)?;
    drop(alive);
    print(&(said + "\n"))
}
