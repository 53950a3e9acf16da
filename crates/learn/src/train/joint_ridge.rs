//! Regularised joint least squares over both factors, by alternating exact solves.
//!
//! `min Σ_w ‖y − ψᵀ B_X B ψ_W(w)‖² + λ(‖B_X‖² + ‖B‖²)`. The penalty on both factors is `2λ` times
//! the nuclear norm of `M = B_X B`. Each half-step solves its normal equations exactly
//! (`kronecker`), so the objective never rises; the start is the ridge solution for the full
//! matrix, truncated by its singular values (`initial`).
//!
//! `λ` and `σ²` come from the data by MacKay's fixed point for the marginal likelihood: with `γ`
//! effective parameters, `σ² = RSS/(N − γ)` and `λ = σ² γ / (‖B_X‖² + ‖B‖²)`.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::initial::FullRidge;
use super::{TrainContext, TrainOutput, Trainer};
use crate::data::{FoldSelection, TaskData};
use crate::error::{Error, Result};
use crate::linalg::{self, Cholesky, inner};
use crate::model::{FitReport, Model};
use crate::regression::{BilinearProblem, ProjectedStatistics, add_ridge};

/// Sweeps during which `λ` still follows the evidence.
const EVIDENCE_SWEEPS: usize = 5;
/// Relative change of `λ` that ends the following.
const LAMBDA_SETTLED: f64 = 0.1;

/// Penalised least squares over both factors, by alternating exact solves: the default training
/// trainer.
///
/// ```
/// use taskscout::train::JointRidge;
/// let trainer = JointRidge::default();
/// assert!(trainer.lambda.is_none()); // chosen from the data
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JointRidge {
    /// The penalty; from the data if not given.
    pub lambda: Option<f64>,
    /// Sweeps at most.
    pub max_sweeps: usize,
    /// The sweeps end when the objective falls by less than this many times the noise variance for
    /// each unknown: below that, more sweeps fit noise.
    pub tolerance: f64,
}

impl Default for JointRidge {
    fn default() -> Self {
        Self {
            lambda: None,
            max_sweeps: 60,
            tolerance: 5e-3,
        }
    }
}

impl Trainer for JointRidge {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        // The start knows the sources alone, so all folds may share it without a leak.
        let sources = sources(data, context)?;
        let model = self.fit_from(&sources, data, context)?;
        if !context.wants_candidates() {
            return Ok(model.into());
        }
        let folds = self.folds(&sources, data, context, model.dim())?;
        TrainOutput::with_heads(data, context, model, folds)
    }
}

/// The full ridge solution of the source tasks, from which every fit to the same sources starts.
fn sources(data: &TaskData, context: &TrainContext) -> Result<FullRidge> {
    FullRidge::new(&BilinearProblem::new(
        data,
        context.stages.as_deref(),
        FoldSelection::None,
    )?)
}

/// Refuses a `k` that the data cannot determine.
pub(super) fn check_rank(problem: &BilinearProblem<'_>, k: usize) -> Result<()> {
    let tasks = problem.observations.len() * problem.outputs;
    let limit = problem.feature_dim.min(problem.map_dim()).min(tasks);
    if k == 0 || k > limit {
        return Err(Error::setting(
            "k",
            format!(
                "is {k}, but {tasks} tasks with {} features and {} task features support 1 to {limit}: \
                 choose a smaller k, leave it out, or collect from more tasks",
                problem.feature_dim,
                problem.map_dim()
            ),
        ));
    }
    Ok(())
}

/// A pair `(B_X, B)`.
#[derive(Debug, Clone)]
pub(crate) struct Factors {
    pub(crate) representation: Mat<f64>,
    pub(crate) map: Mat<f64>,
}

impl Factors {
    /// Shares the weight of the product evenly between the factors, column by column.
    pub(crate) fn balance(&mut self) {
        for i in 0..self.map.nrows() {
            let left = self.representation.col(i).norm_l2();
            let right = self.map.row(i).norm_l2();
            if left > 0.0 && right > 0.0 {
                let ratio = (right / left).sqrt();
                (0..self.representation.nrows()).for_each(|a| self.representation[(a, i)] *= ratio);
                (0..self.map.ncols()).for_each(|s| self.map[(i, s)] /= ratio);
            }
        }
    }

    /// `‖B_X‖² + ‖B‖²`.
    fn penalty(&self) -> f64 {
        self.representation.squared_norm_l2() + self.map.squared_norm_l2()
    }

    fn unknowns(&self) -> usize {
        (self.representation.nrows() + self.map.ncols()) * self.map.nrows()
    }

    /// The penalty that the prior of these factors' size gives, before the evidence is heard.
    pub(super) fn prior_lambda(&self, problem: &BilinearProblem<'_>, noise: f64) -> f64 {
        let known = self.unknowns().min(problem.labels()) as f64;
        (noise * known / self.penalty().max(f64::MIN_POSITIVE)).max(f64::MIN_POSITIVE)
    }

    /// Solves for `B` given `B_X`, then for `B_X` given `B`.
    fn sweep(&mut self, problem: &BilinearProblem<'_>, lambda: f64) -> Result<Sweep> {
        let projected = problem.project(self.representation.as_ref());
        let map = map_step(problem, &projected, self.map.nrows(), lambda)?;
        self.map.copy_from(&map.factor);
        let representation = representation_step(problem, self.map.as_ref(), lambda)?;
        self.representation.copy_from(&representation.factor);
        Ok(Sweep {
            representation,
            map,
        })
    }
}

/// Where a fit stands.
pub(crate) struct Fit {
    pub(crate) factors: Factors,
    pub(crate) noise: f64,
    pub(crate) report: FitReport,
}

impl Fit {
    /// The model in normal form.
    pub(crate) fn into_model(self, problem: &BilinearProblem<'_>) -> Result<Model> {
        let Factors {
            representation,
            map,
        } = self.factors;
        Model::from_factors(
            representation.as_ref(),
            map.as_ref(),
            problem.task_dim,
            self.noise,
            self.report,
        )
    }
}

/// One half-step: the new factor, and what its equations say about the fit.
pub(super) struct HalfStep {
    pub(super) factor: Mat<f64>,
    solver: Cholesky,
    unknowns: usize,
    /// Right-hand side times solution: what the fit explains of `Σ y²`.
    explained: f64,
    /// The penalty that was used: `λ`, or the least that keeps the equations solvable.
    ridge: f64,
}

impl HalfStep {
    /// Effective parameters, `tr(K (K + λ)⁻¹)`, for `copies` right-hand sides.
    fn freedom(&self, copies: usize) -> f64 {
        (self.unknowns as f64 - self.ridge * self.solver.inverse_trace()) * copies as f64
    }

    /// Estimated condition number of the equations.
    pub(super) fn condition(&self) -> f64 {
        self.solver.condition()
    }

    /// `log det (K/λ + I)`.
    pub(super) fn volume(&self, copies: usize) -> f64 {
        (self.solver.log_det() - self.unknowns as f64 * self.ridge.ln()) * copies as f64
    }
}

/// Both half-steps.
struct Sweep {
    representation: HalfStep,
    map: HalfStep,
}

impl Sweep {
    /// Sum of squared residuals after the sweep.
    fn residual(&self, factors: &Factors, squares: f64) -> f64 {
        // (K + λ)x = r gives xᵀKx = xᵀr − λ‖x‖², hence the residual without another pass.
        let shrunk = self.representation.ridge * factors.representation.squared_norm_l2();
        (squares - self.representation.explained - shrunk).max(1e-14 * squares)
    }

    /// Estimated condition numbers of both equations.
    fn conditions(&self) -> [f64; 2] {
        [
            self.representation.solver.condition(),
            self.map.solver.condition(),
        ]
    }

    /// Effective parameters of both factors; rotations between them change nothing, so `k²` of
    /// them are not there.
    fn freedom(&self, problem: &BilinearProblem<'_>, k: usize) -> f64 {
        let both = self.representation.freedom(1) + self.map.freedom(problem.outputs);
        (both - (k * k) as f64).clamp(1.0, problem.labels() as f64)
    }

    /// Approximate log marginal likelihood, the two factors taken as independent.
    fn evidence(&self, problem: &BilinearProblem<'_>, objective: f64) -> f64 {
        let labels = problem.labels() as f64;
        let volume = self.representation.volume(1) + self.map.volume(problem.outputs);
        -0.5 * (labels * (objective / labels).ln() + volume)
    }
}

impl JointRidge {
    fn check(&self) -> Result<()> {
        if let Some(lambda) = self
            .lambda
            .filter(|lambda| !(*lambda > 0.0 && lambda.is_finite()))
        {
            return Err(Error::setting(
                "lambda",
                format!("is {lambda}: it must be positive and finite"),
            ));
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(Error::setting(
                "tolerance",
                format!("is {}: it must be at least 0", self.tolerance),
            ));
        }
        Ok(())
    }

    fn fit_from(
        &self,
        sources: &FullRidge,
        data: &TaskData,
        context: &TrainContext,
    ) -> Result<Model> {
        self.check()?;
        let problem = BilinearProblem::new(data, context.stages.as_deref(), context.target_rows)?;
        if problem.labels() == 0 {
            return Err(Error::State(
                "training needs data: tell the study some samples first".into(),
            ));
        }
        let start = sources.with_targets(data, context.target_rows, &context.target_only_cache)?;
        let k = match context.k {
            Some(k) => k,
            None => super::rank::choose(self, &problem, &start)?.k,
        };
        check_rank(&problem, k)?;
        self.refine(&problem, start.truncate(k)?, start.noise)?
            .into_model(&problem)
    }

    /// How well new rows of the same tasks would be predicted, as a log density: to compare features of tasks or
    /// inputs on the same rows. Larger is better.
    ///
    /// # Errors
    /// No data, a `k` that they do not support, or a breakdown of the numerics.
    pub fn predictive_score(&self, data: &TaskData, context: &TrainContext) -> Result<f64> {
        self.check()?;
        let problem = BilinearProblem::new(data, context.stages.as_deref(), context.target_rows)?;
        let start = sources(data, context)?.with_targets(
            data,
            context.target_rows,
            &context.target_only_cache,
        )?;
        match context.k {
            Some(k) => {
                check_rank(&problem, k)?;
                super::rank::score(self, &problem, &start, k)
            }
            None => Ok(super::rank::choose(self, &problem, &start)?.score),
        }
    }

    /// Alternates from a start until the objective stops falling.
    pub(crate) fn refine(
        &self,
        problem: &BilinearProblem<'_>,
        start: Factors,
        noise: f64,
    ) -> Result<Fit> {
        let mut factors = start;
        let k = factors.map.nrows();
        let unknowns = factors.unknowns() as f64;
        let (labels, squares) = (problem.labels(), problem.squares());
        let mut lambda = self
            .lambda
            .unwrap_or_else(|| factors.prior_lambda(problem, noise));
        let mut adapting = self.lambda.is_none();
        let mut trace: Vec<f64> = Vec::new();
        for iteration in 1.. {
            let sweep = factors.sweep(problem, lambda)?;
            let residual = sweep.residual(&factors, squares);
            let objective = residual + lambda * factors.penalty();
            let enough = self.tolerance * unknowns * objective / labels as f64;
            let settled = trace.last().is_some_and(|last| last - objective <= enough);
            trace.push(objective);
            let last = iteration >= self.max_sweeps.max(1) || (settled && !adapting);
            if !last && !adapting {
                continue;
            }
            let freedom = sweep.freedom(problem, k);
            let noise = residual / (labels as f64 - freedom).max(0.05 * labels as f64);
            if !last {
                let wanted = (noise * freedom / factors.penalty()).max(f64::MIN_POSITIVE);
                adapting =
                    (wanted / lambda).ln().abs() > LAMBDA_SETTLED && iteration < EVIDENCE_SWEEPS;
                if adapting {
                    lambda = wanted;
                    trace.clear();
                }
                continue;
            }
            let report = FitReport {
                iterations: iteration,
                converged: settled,
                objective,
                residual_sum_of_squares: residual,
                lambda,
                degrees_of_freedom: freedom,
                log_evidence: sweep.evidence(problem, objective),
                condition_numbers: sweep.conditions(),
                labels,
                objective_history: trace,
                notes: Vec::new(),
            };
            return Ok(Fit {
                factors,
                noise,
                report,
            });
        }
        Err(Error::State("the sweeps ended without a result".into()))
    }
}

/// `B` given `B_X`.
fn map_step(
    problem: &BilinearProblem<'_>,
    projected: &[ProjectedStatistics],
    k: usize,
    lambda: f64,
) -> Result<HalfStep> {
    let (mut matrix, rhs) = problem.map_equations(projected, k);
    let ridge = add_ridge(&mut matrix, lambda);
    let solver = linalg::factorise(matrix, "the equations of the task map")?;
    let solution = solver.solve(rhs.as_ref());
    let p = problem.task_dim;
    let factor = Mat::from_fn(k, problem.map_dim(), |i, column| {
        solution[(i * p + column % p, column / p)]
    });
    let explained = inner(rhs.as_ref(), solution.as_ref());
    Ok(HalfStep {
        factor,
        solver,
        unknowns: k * p,
        explained,
        ridge,
    })
}

/// `B_X` given `B`.
fn representation_step(
    problem: &BilinearProblem<'_>,
    map: MatRef<'_, f64>,
    lambda: f64,
) -> Result<HalfStep> {
    let (matrix, rhs) = problem.representation_equations(map);
    solve_representation(problem.feature_dim, matrix, &rhs, lambda)
}

/// Solves the equations for a `B_X` of `d` rows.
pub(super) fn solve_representation(
    d: usize,
    mut matrix: Mat<f64>,
    rhs: &Mat<f64>,
    lambda: f64,
) -> Result<HalfStep> {
    let ridge = add_ridge(&mut matrix, lambda);
    let solver = linalg::factorise(matrix, "the equations of the representation")?;
    let solution = solver.solve(rhs.as_ref());
    let unknowns = solution.nrows();
    let factor = Mat::from_fn(d, unknowns / d.max(1), |a, i| solution[(i * d + a, 0)]);
    let explained = inner(rhs.as_ref(), solution.as_ref());
    Ok(HalfStep {
        factor,
        solver,
        unknowns,
        explained,
        ridge,
    })
}
