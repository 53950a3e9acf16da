//! Alternating minimisation with a head for every task: the paper's MLLAM, linear meta-learning by alternating minimisation.
//!
//! For a linear `φ`, after Thekumparampil, Jain, Netrapalli and Oh, *Sample efficient linear
//! meta-learning by alternating minimization* (2021):
//!
//! 1. start from the subspace of the tasks' moments, products of two disjoint halves of their rows;
//! 2. heads `ĉ_w = argmin_c Σ (y − ψᵀB_X c)²` on one part of every task's rows, then
//!    `B_X = argmin Σ_w Σ (y − ψᵀB_X ĉ_w)²` on another part, orthonormalised; so on with fresh parts
//!    while there are some;
//! 3. the same with all rows in both steps, until nothing moves but noise.
//!
//! The heads are free: task features `ψ_W` play no part until the task map is fitted for the finished
//! `φ`. Use it as the paper does, in the stages that must find all directions of `B_X`.
//!
//! ```
//! # use rand_distr::{Distribution, StandardNormal};
//! # use taskscout::rng::{derive, Purpose};
//! use taskscout::data::{Samples, Stage, TaskData};
//! use taskscout::train::{AlternatingMinimization, TrainContext, Trainer};
//!
//! # let mut rng = derive(0, Purpose::Test, &[]);
//! // y = c_w (x₀ − x₂): one direction of three, a coefficient for each task.
//! let mut data = TaskData::new(3, 1, 2).keeping_rows();
//! for task in [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]] {
//!     let x: Vec<f64> = (0..3 * 40).map(|_| StandardNormal.sample(&mut rng)).collect();
//!     let c = task[0] - 2.0 * task[1];
//!     let y = x.chunks(3).map(|row| c * (row[0] - row[2])).collect();
//!     data.add_source_rows(&task, &task, Stage::WarmUp, 0, &Samples::new(x, 3, y, 1)?)?;
//! }
//! let context = TrainContext { k: Some(1), ..TrainContext::default() };
//! let model = AlternatingMinimization::default().model(&data, &context)?;
//! let phi = model.representation.as_linear().unwrap().matrix();
//! assert!((phi[(0, 0)] + phi[(2, 0)]).abs() < 1e-6 && phi[(1, 0)].abs() < 1e-6);
//! # Ok::<(), taskscout::Error>(())
//! ```

mod steps;
mod tasks;

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::initial::FullRidge;
use super::joint_ridge::{HalfStep, JointRidge, check_rank};
use super::{
    RepresentationWithoutFold, TrainContext, TrainOutput, Trainer, TrainerNeeds, task_map,
};
use crate::data::{FoldSelection, TARGET_FOLD_COUNT, TaskData};
use crate::error::{Error, Result};
use crate::linalg;
use crate::model::{FitReport, Linear, Model};
use crate::regression::BilinearProblem;
use steps::Heads;
use tasks::{FitTasks, RowPart};

/// The least labels of a part, for each unknown of `B_X`: with fewer, a step gives mostly noise.
const LABELS_PER_UNKNOWN: usize = 2;
/// Movement of the subspace that is rounding.
const ROUNDING: f64 = 1e-11;
/// Residuals below this share of `Σ y²` are rounding, not noise.
const NOISELESS: f64 = 1e-12;

/// Alternating minimisation with a free head for every task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AlternatingMinimization {
    /// Iterations on parts of the rows.
    pub iterations: usize,
    /// Parts that every task's rows are cut into. Each half-step of an iteration takes the next
    /// part, the first again after the last; fewer parts where there are not rows enough. With 1
    /// nothing is split, and no rows need be kept.
    pub splits: usize,
    /// Iterations on all rows, at most, that follow.
    pub max_iterations: usize,
    /// They end when the objective falls by less than this many times the noise variance for each
    /// unknown of `B_X`: below that, more of them fit noise. Without noise, when nothing moves.
    pub tolerance: f64,
}

impl Default for AlternatingMinimization {
    fn default() -> Self {
        Self {
            iterations: 4,
            splits: 4,
            max_iterations: 500,
            tolerance: 5e-3,
        }
    }
}

/// Where the alternation on all rows begins.
struct AlternationStart {
    basis: Mat<f64>,
    /// Iterations so far.
    iterations: usize,
    /// Whether it has seen no row of a target.
    sources_alone: bool,
    notes: Vec<String>,
}

/// Where the alternation on all rows ended.
struct End {
    basis: Mat<f64>,
    heads: Heads,
    converged: bool,
    /// Sum of squared residuals before each step for `B_X`, and at the end.
    trace: Vec<f64>,
}

impl Trainer for AlternatingMinimization {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        let k = self.rank(data, context)?;
        let start = self.start(data, context, k)?;
        let model = self.finish(&start, data, context)?;
        if !context.wants_candidates() {
            return Ok(model.into());
        }
        let fold = |fold| {
            let without = TrainContext {
                k: Some(k),
                ..context.without_fold(fold)
            };
            // The start is the optimum of the sources, so one more iteration is enough to rank
            // predictors.
            let representation = if start.sources_alone {
                let tasks = usable(data, &without, k)?.0;
                let problem = tasks.problem();
                let heads = heads(&problem, &start.basis)?;
                Linear::from_basis(steps::representation(&problem, &heads, 0.0)?.0).into()
            } else {
                self.model(data, &without)?.representation
            };
            Ok(RepresentationWithoutFold {
                fold,
                representation,
            })
        };
        let folds = (0..TARGET_FOLD_COUNT).map(fold).collect::<Result<_>>()?;
        TrainOutput::with_heads(data, context, model, folds)
    }

    fn needs(&self) -> TrainerNeeds {
        TrainerNeeds {
            rows: self.splits > 1,
            ..TrainerNeeds::default()
        }
    }
}

impl AlternatingMinimization {
    /// Checks the settings.
    ///
    /// # Errors
    /// The first setting that does not fit, by its key.
    pub fn validate(&self) -> Result<()> {
        if self.splits == 0 {
            return Err(Error::setting("splits", "is 0: 1 is for no splitting"));
        }
        if self.max_iterations == 0 {
            return Err(Error::setting("max_iterations", "is 0: allow at least one"));
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(Error::setting(
                "tolerance",
                format!("is {}: it must be at least 0", self.tolerance),
            ));
        }
        Ok(())
    }

    /// The given `k`, or the one of largest evidence, if the data can determine it.
    fn rank(&self, data: &TaskData, context: &TrainContext) -> Result<usize> {
        self.validate()?;
        let stages = context.stages.as_deref();
        let tasks = FitTasks::new(data, stages, context.target_rows)?;
        let problem = tasks.problem();
        if problem.labels() == 0 {
            return Err(Error::State(
                "training needs data: tell the study some samples first".into(),
            ));
        }
        let k = match context.k {
            Some(k) => k,
            None => {
                let sources =
                    FullRidge::new(&BilinearProblem::new(data, stages, FoldSelection::None)?)?;
                let start =
                    sources.with_targets(data, context.target_rows, &context.target_only_cache)?;
                super::rank::choose(&JointRidge::default(), &problem, &start)?.k
            }
        };
        check_rank(&problem, k)?;
        Ok(k)
    }

    /// The optimum of the source tasks, from which all fits to the same sources go on.
    fn start(&self, data: &TaskData, context: &TrainContext, k: usize) -> Result<AlternationStart> {
        let sources = TrainContext {
            target_rows: FoldSelection::None,
            ..context.clone()
        };
        let (mut tasks, _) = usable(data, &sources, k)?;
        let sources_alone = tasks.len() * data.outputs() >= k && determined(&tasks, k).is_ok();
        if !sources_alone {
            tasks = usable(data, context, k)?.0;
            determined(&tasks, k)?;
        }
        let mut start = self.split(&tasks, k)?;
        start.sources_alone = sources_alone;
        let end = self.alternate(&tasks.problem(), start.basis)?;
        Ok(AlternationStart {
            iterations: start.iterations + end.trace.len() - 1,
            basis: end.basis,
            ..start
        })
    }

    /// The iterations on parts of the rows.
    fn split(&self, tasks: &FitTasks<'_>, k: usize) -> Result<AlternationStart> {
        let all = tasks.problem();
        let (d, outputs) = (all.feature_dim, all.outputs);
        let halves = self.splits > 1;
        if halves {
            tasks.check_rows()?;
        }
        let mut start = AlternationStart {
            basis: steps::moments(tasks, k, halves)?,
            iterations: 0,
            sources_alone: true,
            notes: Vec::new(),
        };
        let parts = self
            .splits
            .min(all.labels() / (LABELS_PER_UNKNOWN * d * k))
            .max(1);
        if parts < self.splits {
            start.notes.push(format!(
                "rows were split {parts} ways, not {}: a part needs {} labels",
                self.splits,
                LABELS_PER_UNKNOWN * d * k
            ));
        }
        if parts == 1 {
            return Ok(start);
        }
        let part = |step: usize| RowPart {
            index: step % parts,
            of: parts,
            least: 2 * k,
        };
        let mut basis = start.basis.clone();
        for iteration in 0..self.iterations {
            let projected = tasks.projected_part(part(2 * iteration), basis.as_ref());
            let heads = Heads::fit(&projected, k, outputs)?;
            heads.check_span()?;
            let fresh = tasks.part(part(2 * iteration + 1));
            basis = steps::representation(&fresh, &heads, 0.0)?.0;
        }
        // Parts are small and their noise is large: keep the better of the two.
        if heads(&all, &basis)?.explained >= heads(&all, &start.basis)?.explained {
            start.basis = basis;
            start.iterations = self.iterations;
        }
        Ok(start)
    }

    /// Alternates on all rows until nothing moves but noise.
    fn alternate(&self, problem: &BilinearProblem<'_>, start: Mat<f64>) -> Result<End> {
        let (squares, labels) = (problem.squares(), problem.labels() as f64);
        let unknowns = (start.nrows() * start.ncols()) as f64;
        let (mut basis, mut trace) = (start, Vec::new());
        let mut moved = f64::INFINITY;
        loop {
            let heads = heads(problem, &basis)?;
            heads.check_span()?;
            let residual = (squares - heads.explained).max(0.0);
            let enough = self.tolerance * unknowns * residual / labels;
            let fallen = trace
                .last()
                .map_or(f64::INFINITY, |last: &f64| last - residual);
            trace.push(residual);
            let noisy = residual > NOISELESS * squares;
            let converged = (noisy && fallen <= enough) || moved <= ROUNDING;
            if converged || trace.len() > self.max_iterations {
                return Ok(End {
                    basis,
                    heads,
                    converged,
                    trace,
                });
            }
            let next = steps::representation(problem, &heads, 0.0)?.0;
            moved = steps::distance(basis.as_ref(), next.as_ref());
            basis = next;
        }
    }

    /// The model of all rows that the context allows.
    fn finish(
        &self,
        start: &AlternationStart,
        data: &TaskData,
        context: &TrainContext,
    ) -> Result<Model> {
        let k = start.basis.ncols();
        let (tasks, short) = usable(data, context, k)?;
        determined(&tasks, k)?;
        let problem = tasks.problem();
        let end = self.alternate(&problem, start.basis.clone())?;
        let mut notes = start.notes.clone();
        if short > 0 {
            notes.push(format!(
                "{short} tasks with fewer than {k} rows said nothing of the representation"
            ));
        }
        let everything =
            BilinearProblem::new(data, context.stages.as_deref(), context.target_rows)?;
        let map = task_map::fit_any(&everything, end.basis.as_ref())?;
        let (noise, mut report) = report(&problem, &end)?;
        report.iterations += start.iterations;
        report.condition_numbers[1] = map.condition;
        report.notes = notes;
        Model::from_factors(
            end.basis.as_ref(),
            map.matrix.as_ref(),
            everything.task_dim,
            noise,
            report,
        )
    }
}

/// The tasks that can say something of `B_X`, and how many cannot.
fn usable<'a>(
    data: &'a TaskData,
    context: &TrainContext,
    k: usize,
) -> Result<(FitTasks<'a>, usize)> {
    let mut tasks = FitTasks::new(data, context.stages.as_deref(), context.target_rows)?;
    let short = tasks.leave_out_below(k);
    Ok((tasks, short))
}

/// The noise variance, and how the fit went.
fn report(problem: &BilinearProblem<'_>, end: &End) -> Result<(f64, FitReport)> {
    let (d, k) = (end.basis.nrows(), end.basis.ncols());
    let heads = problem.observations.len() * problem.outputs * k;
    let labels = problem.labels();
    // Rotations between B_X and the heads change nothing, so k² of the parameters are not there.
    let freedom = ((d * k + heads) as f64 - (k * k) as f64).max(1.0);
    let squares = problem.squares();
    let residual = (squares - end.heads.explained).max(1e-14 * squares);
    let noise = residual / (labels as f64 - freedom).max(0.05 * labels as f64);
    // The evidence, as if both factors had normal priors of the size that they were found to have.
    let step = |lambda| steps::representation(problem, &end.heads, lambda).map(|(_, step)| step);
    let (basis_prior, heads_prior) = (
        (noise * d as f64).max(f64::MIN_POSITIVE),
        (noise * heads as f64 / end.heads.size()).max(f64::MIN_POSITIVE),
    );
    let regular: HalfStep = step(basis_prior)?;
    let mut volume = regular.volume(1);
    for task in problem.project(end.basis.as_ref()) {
        let mut gram = linalg::packed::unpack(&task.gram, k);
        (0..k).for_each(|i| gram[(i, i)] += heads_prior);
        let solver = linalg::cholesky(gram.as_ref(), "the equations of a head")?;
        volume += (solver.log_det() - k as f64 * heads_prior.ln()) * problem.outputs as f64;
    }
    let penalised = residual + basis_prior * k as f64 + heads_prior * end.heads.size();
    let count = labels as f64;
    let report = FitReport {
        iterations: end.trace.len() - 1,
        converged: end.converged,
        objective: residual,
        residual_sum_of_squares: residual,
        lambda: 0.0,
        degrees_of_freedom: freedom,
        log_evidence: -0.5 * (count * (penalised / count).ln() + volume),
        condition_numbers: [regular.condition(), 1.0],
        labels,
        objective_history: end.trace.clone(),
        notes: Vec::new(),
    };
    Ok((noise, report))
}

fn heads(problem: &BilinearProblem<'_>, basis: &Mat<f64>) -> Result<Heads> {
    let projected = problem.project(basis.as_ref());
    Heads::fit(&projected, basis.ncols(), problem.outputs)
}

/// Refuses tasks with fewer labels than unknowns.
fn determined(tasks: &FitTasks<'_>, k: usize) -> Result<()> {
    let problem = tasks.problem();
    let heads = tasks.len() * problem.outputs;
    if heads < k {
        return Err(Error::RankDeficient {
            what: format!("the set of tasks with at least {k} rows"),
            rank: heads,
            needed: k,
            remedy: "use a smaller k, or collect from more tasks".into(),
        });
    }
    let unknowns = problem.feature_dim * k + heads * k - k * k;
    if problem.labels() < unknowns {
        return Err(Error::RankDeficient {
            what: "the set of rows".into(),
            rank: problem.labels(),
            needed: unknowns,
            remedy: "collect more rows of each task, use a smaller k, or train with `exact`".into(),
        });
    }
    Ok(())
}
