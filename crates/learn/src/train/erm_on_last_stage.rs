//! Joint least squares over the last two stages, then the target's head (ERM).
//!
//! The paper's trainer of the last stage, after Du, Hu, Kakade, Lee and Lei, *Few-shot learning via
//! learning the representation, provably* (2021): `φ` minimises the squared error of exploration and
//! exploitation rows alone, with no more of a penalty than the numerics need; no row of a target has
//! a say. The task map, and with it the head of each target, is then fitted for the finished `φ`.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::initial::FullRidge;
use super::joint_ridge::{Fit, JointRidge, check_rank};
use super::{RepresentationWithoutFold, TrainContext, TrainOutput, Trainer, task_map};
use crate::data::{FoldSelection, Stage, TARGET_FOLD_COUNT, TaskData};
use crate::error::{Error, Result};
use crate::linalg;
use crate::model::{AnyRepresentation, Linear, Model};
use crate::regression::{BilinearProblem, Observation};

/// The penalty, as a share of what the size of the factors would suggest.
const PENALTY_SHARE: f64 = 1e-6;

/// Empirical risk minimisation over the last two stages, then the head of each target.
///
/// ```
/// use taskscout::train::ErmOnLastStage;
/// assert_eq!(ErmOnLastStage::default().max_sweeps, 100);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ErmOnLastStage {
    /// Sweeps over both factors at most.
    pub max_sweeps: usize,
    /// The sweeps end when the objective falls by less than this many times the noise variance for
    /// each unknown.
    pub tolerance: f64,
}

impl Default for ErmOnLastStage {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What the rows of the sources say, before any target is looked at.
struct JointFit {
    basis: Mat<f64>,
    fit: Fit,
    notes: Vec<String>,
}

impl Trainer for ErmOnLastStage {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        let joint = self.joint(data, context)?;
        let shared = AnyRepresentation::from(Linear::from_basis(joint.basis.clone()));
        let model = joint.with_heads(data, context)?;
        // The targets' rows have no say in `φ`, so every fold has the same.
        let folds = (0..TARGET_FOLD_COUNT).map(|fold| RepresentationWithoutFold {
            fold,
            representation: shared.clone(),
        });
        TrainOutput::with_heads(data, context, model, folds.collect())
    }
}

impl ErmOnLastStage {
    pub(super) const DEFAULT: Self = Self {
        max_sweeps: 100,
        tolerance: 5e-3,
    };

    fn check(&self) -> Result<()> {
        if self.max_sweeps == 0 {
            return Err(Error::setting("max_sweeps", "is 0: allow at least one"));
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(Error::setting(
                "tolerance",
                format!("is {}: it must be at least 0", self.tolerance),
            ));
        }
        Ok(())
    }

    /// Whether there are rows of the last two stages.
    pub(super) fn has_stages(data: &TaskData, context: &TrainContext) -> bool {
        let last = last_stages(context);
        data.sources()
            .iter()
            .any(|entry| last.contains(&entry.stage) && entry.statistics.count() > 0)
    }

    fn joint(&self, data: &TaskData, context: &TrainContext) -> Result<JointFit> {
        self.check()?;
        let last = BilinearProblem::new(data, Some(&last_stages(context)), FoldSelection::None)?;
        if determines(&last, context.k) {
            return self.fit_sources(last, context.k, Vec::new());
        }
        let notes = if last.labels() > 0 {
            vec![format!(
                "{} labels of the last two stages are too few on their own, so all stages count",
                last.labels()
            )]
        } else {
            Vec::new()
        };
        let all = BilinearProblem::new(data, context.stages.as_deref(), FoldSelection::None)?;
        self.fit_sources(all, context.k, notes)
    }

    fn fit_sources(
        &self,
        mut problem: BilinearProblem<'_>,
        k: Option<usize>,
        notes: Vec<String>,
    ) -> Result<JointFit> {
        if problem.labels() == 0 {
            return Err(Error::State(
                "training needs data: tell the study some samples first".into(),
            ));
        }
        // Few tasks span little of the task features; in coordinates of their span the equations
        // for the map are regular, and the optimum is the same.
        let coordinates = span(&problem)?;
        problem.task_dim = coordinates.first().map_or(0, Vec::len);
        let observations = problem.observations.into_iter().zip(&coordinates);
        let problem = BilinearProblem {
            observations: observations
                .map(|(observation, features)| Observation {
                    features,
                    ..observation
                })
                .collect(),
            ..problem
        };
        let start = FullRidge::new(&problem)?;
        let k = match k {
            Some(k) => k,
            None => super::rank::choose(&JointRidge::default(), &problem, &start)?.k,
        };
        check_rank(&problem, k)?;
        let factors = start.truncate(k)?;
        let oracle = JointRidge {
            lambda: Some(PENALTY_SHARE * factors.prior_lambda(&problem, start.noise)),
            max_sweeps: self.max_sweeps,
            tolerance: self.tolerance,
        };
        let fit = oracle.refine(&problem, factors, start.noise)?;
        let svd = linalg::svd(fit.factors.representation.as_ref(), "the representation")?;
        let rank = svd.s.iter().filter(|&&s| s > 1e-9 * svd.s[0]).count();
        if rank < k {
            return Err(Error::RankDeficient {
                what: "the representation".into(),
                rank,
                needed: k,
                remedy: "use a smaller k, or collect from tasks that differ more".into(),
            });
        }
        Ok(JointFit {
            basis: svd.u,
            fit,
            notes,
        })
    }
}

impl JointFit {
    /// The model with the task map, and so the targets' heads, for the finished `φ`.
    fn with_heads(self, data: &TaskData, context: &TrainContext) -> Result<Model> {
        let everything =
            BilinearProblem::new(data, context.stages.as_deref(), context.target_rows)?;
        let map = task_map::fit_any(&everything, self.basis.as_ref())?;
        let mut report = self.fit.report;
        report.condition_numbers[1] = map.condition;
        report.notes = self.notes;
        Model::from_factors(
            self.basis.as_ref(),
            map.matrix.as_ref(),
            everything.task_dim,
            self.fit.noise,
            report,
        )
    }
}

/// The stages of the joint fit that the context allows.
fn last_stages(context: &TrainContext) -> Vec<Stage> {
    let allowed = |stage: &Stage| {
        let stages = context.stages.as_ref();
        stages.is_none_or(|stages| stages.contains(stage))
    };
    let last = [Stage::Explore, Stage::Exploit];
    last.into_iter().filter(allowed).collect()
}

/// Whether the rows can determine a representation of rank `k`, or of any rank.
fn determines(problem: &BilinearProblem<'_>, k: Option<usize>) -> bool {
    let (k, d) = (k.unwrap_or(1), problem.feature_dim);
    let heads = problem.observations.len() * problem.outputs;
    heads >= k && problem.labels() + k * k >= (d + heads) * k
}

/// The coordinates of every task's features in an orthonormal basis of their span.
fn span(problem: &BilinearProblem<'_>) -> Result<Vec<Vec<f64>>> {
    let svd = linalg::svd(problem.design_matrix().as_ref(), "the task features")?;
    let largest = svd.s.first().copied().unwrap_or(0.0);
    let rank = svd.s.iter().filter(|&&s| s > 1e-10 * largest).count();
    let of = |w: usize| (0..rank).map(|j| svd.u[(w, j)] * svd.s[j]).collect();
    Ok((0..problem.observations.len()).map(of).collect())
}
