//! The relevance strategies of the earlier active multi-task papers, for finite task spaces.
//!
//! After the warm-up every round samples tasks by how much of the target they explain: by `|ν_i|`
//! with the smallest `‖ν‖₁`, or by `ν_i²` with the smallest `‖ν‖₂`, such that `Σ ν_i c_i = c_0` on the
//! current estimate. A floor keeps looking at all tasks.

use faer::MatRef;

use super::active::coarse;
use super::outputs::source_maps;
use super::{Decision, PlanContext, Strategy, TaskDesign};
use crate::data::Stage;
use crate::design::discrete::{Relevance, weights};
use crate::design::{Design, DesignAtom, block};
use crate::error::{Error, Result};
use crate::features::{Features as _, apply_row};
use crate::linalg;
use crate::space::TaskSpace as _;

/// Share of a round that is spread over all tasks alike.
const FLOOR: f64 = 0.1;

/// Sampling by relevance.
#[derive(Debug)]
pub(super) struct ByRelevance {
    pub(super) relevance: Relevance,
}

impl Strategy for ByRelevance {
    fn plan(&self, context: &PlanContext<'_>) -> Result<Decision> {
        let mut decision = Decision::default();
        let Some(knowledge) = context.knowledge.as_ref().filter(|_| !context.warming_up) else {
            decision.add(&coarse(context)?, context.budget, Stage::WarmUp, |_| {
                "coarse look at every direction".into()
            })?;
            return Ok(decision);
        };
        let tasks = context.space.tasks().ok_or_else(not_finite)?;
        // Of several outputs, a combination of tasks has to give all of the target at once.
        let maps = source_maps(knowledge.model, context.features.dim());
        let k = maps.first().map_or(0, MatRef::nrows) * maps.len();
        let embeddings: Vec<f64> = tasks
            .iter()
            .flat_map(|task| block(&maps, &apply_row(context.features, task)))
            .collect();
        let seen = Reachable::new(&embeddings, k, &knowledge.targets)?;
        let weights = seen.weights(self.relevance)?;
        let atoms = tasks
            .into_iter()
            .zip(weights)
            .zip(embeddings.chunks_exact(k))
            .enumerate();
        let mut design = Design::unscored(
            atoms
                .map(|(row, ((task, weight), embedding))| DesignAtom {
                    task,
                    row: Some(row),
                    weight,
                    embedding: embedding.to_vec(),
                    similarity: None,
                    risk_share: weight,
                })
                .collect(),
        );
        design.outputs = maps.len();
        // With more tasks than samples the least relevant go without.
        design
            .atoms
            .sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.row.cmp(&b.row)));
        design.atoms.truncate(context.budget);
        design.orient(&knowledge.targets, false);
        let design = TaskDesign::of(design, context.space);
        decision.add(&design, context.budget, Stage::Exploit, |index| {
            let atom = &design.design.atoms[index];
            let cosine = atom.similarity.unwrap_or(0.0);
            format!(
                "relevance {:.1} % (cosine {cosine:.4})",
                100.0 * atom.weight
            )
        })?;
        Ok(decision)
    }

    fn needs_model(&self) -> bool {
        true
    }
}

/// What is said of a space that cannot be listed.
pub(crate) fn not_finite() -> Error {
    Error::setting(
        "strategy",
        "samples by relevance, which needs a finite task space: use `aware` for this one, or a list of its tasks (`Space::discretised`)",
    )
}

/// Tasks and targets in the directions that the tasks reach.
///
/// Data without noise leaves directions of the estimate that hold rounding alone, whole directions as
/// strong as the others to a method that does not know their scale. They are left out.
struct Reachable {
    embeddings: Vec<f64>,
    k: usize,
    /// With equal weights.
    targets: Vec<(Vec<f64>, f64)>,
}

impl Reachable {
    fn new(embeddings: &[f64], k: usize, targets: &[Vec<f64>]) -> Result<Self> {
        let rows = faer::MatRef::from_column_major_slice(embeddings, k, embeddings.len() / k);
        let svd = linalg::svd(rows, "the embeddings of the tasks")?;
        let rank = svd.s.iter().filter(|&&s| s > 1e-9 * svd.s[0]).count();
        let basis = svd.u.as_ref().subcols(0, rank);
        let inside = |row: &[f64]| linalg::apply(basis.transpose(), row);
        if rank == k {
            let project = |target: &Vec<f64>| (linalg::apply(basis, &inside(target)), 1.0);
            return Ok(Self {
                embeddings: embeddings.to_vec(),
                k,
                targets: targets.iter().map(project).collect(),
            });
        }
        if rank == 0 {
            return Err(Error::State(
                "the estimate has no direction in which tasks differ: collect more samples before sampling by relevance".into(),
            ));
        }
        Ok(Self {
            embeddings: embeddings.chunks_exact(k).flat_map(inside).collect(),
            k: rank,
            targets: targets.iter().map(|target| (inside(target), 1.0)).collect(),
        })
    }

    /// The tasks' shares of a round. A target of which the tasks reach nothing asks for none of
    /// them; if there is no other, all tasks are alike.
    fn weights(&self, relevance: Relevance) -> Result<Vec<f64>> {
        let size = |row: &[f64]| row.iter().fold(0.0_f64, |top, value| top.max(value.abs()));
        let most = size(&self.embeddings);
        let reached = |target: &&(Vec<f64>, f64)| size(&target.0) > 1e-12 * most;
        let targets: Vec<_> = self.targets.iter().filter(reached).cloned().collect();
        if targets.is_empty() {
            let tasks = self.embeddings.len() / self.k;
            return Ok(vec![1.0 / tasks as f64; tasks]);
        }
        weights(relevance, &self.embeddings, self.k, &targets, FLOOR)
    }
}
