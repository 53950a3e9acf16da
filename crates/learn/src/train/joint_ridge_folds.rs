//! The joint fit once more without each fold of the targets' rows, for the guard.
//!
//! All folds start from the same fit of the sources, which knows no target, so that nothing leaks; the sources' Gram
//! matrices are read once for all of them.

use faer::Mat;
use rayon::prelude::*;

use super::initial::FullRidge;
use super::joint_ridge::{JointRidge, solve_representation};
use super::{RepresentationWithoutFold, TrainContext};
use crate::data::{FoldSelection, TARGET_FOLD_COUNT, TaskData};
use crate::error::Result;
use crate::linalg;
use crate::model::Linear;
use crate::regression::BilinearProblem;

/// Numbers in the equations of folds that are solved together: 128 MB.
const FOLD_NUMBERS: usize = 1 << 24;

/// A fit without a fold of the targets' rows, before its one step.
struct FoldStart<'a> {
    fold: usize,
    problem: BilinearProblem<'a>,
    map: Mat<f64>,
    lambda: f64,
}

impl JointRidge {
    /// The representation without each fold: so near to the optimum as the starts are, one step is enough to rank
    /// predictors. Folds whose equations fit into memory together read the sources once.
    pub(super) fn folds(
        &self,
        sources: &FullRidge,
        data: &TaskData,
        context: &TrainContext,
        k: usize,
    ) -> Result<Vec<RepresentationWithoutFold>> {
        let starts = (0..TARGET_FOLD_COUNT)
            .into_par_iter()
            .map(|fold| self.fold_start(sources, data, context, (fold, k)))
            .collect::<Result<Vec<_>>>()?;
        let unknowns = k * data.feature_dim();
        let together = (FOLD_NUMBERS / (unknowns * unknowns).max(1)).max(1);
        let mut folds = Vec::with_capacity(TARGET_FOLD_COUNT);
        for starts in starts.chunks(together) {
            let problems: Vec<_> = starts
                .iter()
                .map(|start| (&start.problem, start.map.as_ref()))
                .collect();
            let equations = BilinearProblem::representation_equations_of_all(&problems);
            let solved = starts.par_iter().zip(equations);
            let solved = solved.map(|(start, (matrix, rhs))| start.solve(matrix, &rhs));
            folds.extend(solved.collect::<Result<Vec<_>>>()?);
        }
        Ok(folds)
    }

    fn fold_start<'a>(
        &self,
        sources: &FullRidge,
        data: &'a TaskData,
        context: &TrainContext,
        (fold, k): (usize, usize),
    ) -> Result<FoldStart<'a>> {
        let rows = FoldSelection::Without(fold);
        let problem = BilinearProblem::new(data, context.stages.as_deref(), rows)?;
        let start = sources.with_targets(data, rows, &context.target_only_cache)?;
        let factors = start.truncate(k)?;
        let lambda = self
            .lambda
            .unwrap_or_else(|| factors.prior_lambda(&problem, start.noise));
        Ok(FoldStart {
            fold,
            problem,
            map: factors.map,
            lambda,
        })
    }
}

impl FoldStart<'_> {
    /// The representation after one step.
    fn solve(&self, matrix: Mat<f64>, rhs: &Mat<f64>) -> Result<RepresentationWithoutFold> {
        let step = solve_representation(self.problem.feature_dim, matrix, rhs, self.lambda)?;
        // A direction that rests on the fold left out has a column of zeros, but still a basis vector.
        let basis = linalg::svd(step.factor.as_ref(), "the representation")?.u;
        Ok(RepresentationWithoutFold {
            fold: self.fold,
            representation: Linear::new(basis.as_ref())?.into(),
        })
    }
}
