//! Passive collection: no learning from what came back.

use std::collections::HashSet;

use faer::Mat;
use rand_distr::{Distribution as _, StandardNormal};

use super::{Decision, PlanContext, Strategy, TaskDesign};
use crate::data::Stage;
use crate::design::{Design, DesignAtom};
use crate::error::Result;
use crate::features::Features as _;
use crate::rng::{Purpose, Rng, derive};
use crate::space::Space;
use crate::task::Task;

/// The passive strategy.
#[derive(Debug)]
pub(super) struct Passive {
    /// The same tasks every round.
    pub(super) fixed: bool,
}

impl Strategy for Passive {
    fn plan(&self, context: &PlanContext<'_>) -> Result<Decision> {
        let draw = if self.fixed { 0 } else { context.round };
        let design = spread(context, draw, context.budget)?;
        let mut decision = Decision::default();
        decision.add(&design, context.budget, Stage::WarmUp, |_| {
            "one of a spread over the whole space".into()
        })?;
        Ok(decision)
    }
}

/// Most tasks of a finite space that are all sampled.
const MOST_LISTED: usize = 4096;

/// Equal weights over tasks that span the space: a random orthonormal basis of a ball, all tasks
/// of a finite space that is not too large, or else random tasks, twice as many as there are task
/// features, and not more than `most`.
pub(super) fn spread(context: &PlanContext<'_>, draw: usize, most: usize) -> Result<TaskDesign> {
    let mut rng = derive(context.seed, Purpose::Plan, &[draw as u64]);
    let tasks = match context.space {
        Space::Ball(ball) if context.features.is_identity() => {
            let basis = random_basis(ball.dim(), ball.radius(), &mut rng)?;
            basis.into_iter().map(Task::point).collect()
        }
        space => match space.count() {
            Some(count) if count <= most.min(MOST_LISTED) => {
                (0..count).filter_map(|row| space.task_at(row)).collect()
            }
            count => {
                let most = most.max(1).min(count.unwrap_or(usize::MAX));
                let wanted = (2 * context.features.dim()).min(most);
                distinct(space, wanted, &mut rng)?
            }
        },
    };
    Ok(equal_weights(tasks))
}

/// Random tasks, different from each other where there are enough.
fn distinct(space: &Space, wanted: usize, rng: &mut Rng) -> Result<Vec<Task>> {
    let mut tasks: Vec<Task> = Vec::with_capacity(wanted);
    let mut known = HashSet::with_capacity(wanted);
    for _ in 0..8 * wanted {
        let task = space.sample_task(rng)?;
        if known.insert(task.id.clone()) {
            tasks.push(task);
        }
        if tasks.len() == wanted {
            break;
        }
    }
    Ok(tasks)
}

/// Equal weights on the given tasks; embeddings are not known yet.
fn equal_weights(tasks: Vec<Task>) -> TaskDesign {
    let weight = 1.0 / tasks.len() as f64;
    let atoms = tasks
        .iter()
        .map(|task| DesignAtom {
            task: task.to_vec(),
            row: None,
            weight,
            embedding: Vec::new(),
            similarity: None,
            risk_share: weight,
        })
        .collect();
    let design = Design::unscored(atoms);
    TaskDesign { design, tasks }
}

/// A uniformly random orthonormal basis, scaled to a radius.
fn random_basis(dim: usize, radius: f64, rng: &mut Rng) -> Result<Vec<Vec<f64>>> {
    let gaussian: Mat<f64> = Mat::from_fn(dim, dim, |_, _| StandardNormal.sample(rng));
    // The polar factor of a Gaussian matrix is uniform over the orthogonal group.
    let svd = crate::linalg::svd(gaussian.as_ref(), "a random basis")?;
    let basis = crate::linalg::product(svd.u.as_ref(), svd.v.transpose());
    Ok((0..dim)
        .map(|j| {
            crate::linalg::column(basis.as_ref(), j)
                .into_iter()
                .map(|x| x * radius)
                .collect()
        })
        .collect())
}
