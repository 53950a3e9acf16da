//! Designs for samples of several outputs, whose atoms have rank `p`.
//!
//! A row of `p` numbers, `y_o = φᵀ B_o ψ_W(w) + ξ_o`, has the information `C_w C_wᵀ` with the block
//! `C_w = [B_1 ψ … B_p ψ]`, and what a target needs sums over outputs, `A = Σ_o c_0o c_0oᵀ`. The score of
//! a task is `tr(Cᵀ H C) = ψᵀ (Σ_o B_oᵀ H B_o) ψ`, still a quadratic form of its features: the best atom of
//! a space and the bound that follows from it serve as they do for one output. Only the weights of the
//! atoms in use are a problem of its own, whose second derivatives are `2 tr(C_iᵀ Σ⁻¹ A Σ⁻¹ C_j C_jᵀ Σ⁻¹ C_i)`.
//!
//! Outputs of different noise are brought to the same before: columns are divided by the noise's
//! standard deviation.

mod gather;
mod table;

use std::borrow::Cow;

use faer::{Mat, MatRef};

use super::candidates::{Candidates, check_limits};
use super::frank_wolfe::{self, AtomSource, CandidateAtom, Key};
use super::listed::Listed;
use super::problem::assemble;
use super::searched::{Searched, embeddings};
use super::{Design, Need, Problem};
use crate::error::{Error, Result};
use crate::features::{Features, apply_row};
use crate::linalg;
use crate::rng::Rng;
use crate::space::{Space, TaskSpace as _};
use gather::gather;
use table::BlockTable;
pub(super) use table::spanning;

/// A table of candidates of several outputs, checked once: a block of `k × p` numbers each, one column
/// after the other.
///
/// ```
/// use taskscout::design::{solve_blocks, Blocks, Criterion, Need, Problem};
/// // Two outputs in the plane. The first wind shows both directions at once, the others one each.
/// let rows = [1.0, 0.0, 0.0, 1.0, /**/ 1.2, 0.0, 0.0, 0.0, /**/ 0.0, 0.0, 0.0, 1.2];
/// let winds = Blocks::new(2, 2, &rows[..])?;
/// let design = solve_blocks(&winds, &Problem::new(Criterion::Trace, Need::Everything))?;
/// assert_eq!((design.atoms.len(), design.atoms[0].row), (1, Some(0)));
/// assert!(design.gap().is_some_and(|gap| gap < 1e-3));
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Blocks<'a> {
    outputs: usize,
    /// The columns of all blocks; those of candidates that are left out have a limit of zero.
    columns: Candidates<'a>,
    limits: Option<Vec<f64>>,
}

impl<'a> Blocks<'a> {
    /// Takes blocks of `outputs` columns with `dim` numbers each, all finite, not all zero.
    ///
    /// # Errors
    /// No blocks, a broken one, a value that is not finite (with its place), or nothing but zeros.
    pub fn new(dim: usize, outputs: usize, rows: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let rows = rows.into();
        let size = dim * outputs;
        if size == 0 || rows.is_empty() {
            return Err(Error::setting(
                "candidates",
                "is empty: give at least one block of at least one number",
            ));
        }
        if !rows.len().is_multiple_of(size) {
            let place = format!("candidate {}", rows.len() / size);
            Error::check_length(&place, size, rows.len() % size)?;
        }
        Error::check_finite(&rows, |index| {
            let (candidate, value) = (index / size, index % size);
            format!(
                "candidate {candidate}, output {}, value {}",
                value / dim,
                value % dim
            )
        })?;
        Ok(Self {
            outputs,
            columns: Candidates::new(dim, rows)?,
            limits: None,
        })
    }

    /// Gives every candidate the largest share of the budget that may be spent on it: zero leaves
    /// it out, one or more sets no limit.
    ///
    /// # Errors
    /// As many limits as candidates are needed, none negative or NaN, and together they must allow
    /// the whole budget to be spent.
    pub fn with_limits(mut self, limits: Vec<f64>) -> Result<Self> {
        check_limits(self.len(), &limits)?;
        if limits.iter().any(|&limit| limit <= 0.0) {
            let of = |&limit: &f64| vec![if limit > 0.0 { 1.0 } else { 0.0 }; self.outputs];
            let columns = limits.iter().flat_map(of).collect();
            self.columns = self.columns.with_limits(columns)?;
        }
        self.limits = Some(limits);
        Ok(self)
    }

    /// Number of candidates, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always a candidate")]
    pub fn len(&self) -> usize {
        self.columns.len() / self.outputs
    }

    /// A candidate's block, one column after the other.
    #[must_use]
    pub fn block(&self, index: usize) -> &[f64] {
        let size = self.columns.dim() * self.outputs;
        &self.columns.rows()[index * size..(index + 1) * size]
    }

    /// The largest share of the budget, at most 1.
    #[must_use]
    pub fn limit(&self, index: usize) -> f64 {
        let limits = self.limits.as_ref();
        limits.map_or(1.0, |limits| limits[index].min(1.0))
    }
}

/// A task's block from its features, one column after the other.
pub fn block(maps: &[MatRef<'_, f64>], features: &[f64]) -> Vec<f64> {
    let columns = maps.iter().map(|map| linalg::apply(*map, features));
    columns.flatten().collect()
}

/// The optimal design over a table of blocks, with a certified bound.
///
/// [Targets](Need::Targets) are blocks as well, and `A = Σ_j w_j C_j C_jᵀ / Σ w_j`.
///
/// # Errors
/// As [`solve`](super::solve).
pub fn solve_blocks(blocks: &Blocks<'_>, problem: &Problem<'_>) -> Result<Design> {
    let (k, outputs) = (blocks.columns.dim(), blocks.outputs);
    let mut source = BlockTable {
        blocks,
        columns: Listed::new(&blocks.columns, problem.given)?,
    };
    let rows = problem.start.iter().filter_map(|atom| atom.row);
    let usable = |row: &usize| *row < blocks.len() && blocks.limit(*row) > 0.0;
    let known: Vec<CandidateAtom> = rows.filter(usable).map(|row| source.atom(row)).collect();
    solve_source(
        &mut source,
        problem,
        (k, outputs),
        &known,
        |key| match key {
            Key::Row(row) => (
                blocks.block(row).to_vec(),
                Some(row),
                blocks.block(row).to_vec(),
            ),
            Key::Task(task) => (task.clone(), None, task),
        },
    )
}

/// The optimal design over a task space for samples of several outputs, with a map `B_o` for each.
///
/// A bound is given where the space's best atom is exact, as for one output.
///
/// ```
/// use faer::mat;
/// use taskscout::design::{solve_space_blocks, Criterion, Need, Problem};
/// use taskscout::features::FeatureMap;
/// use taskscout::rng::{derive, Purpose};
/// use taskscout::space::Space;
/// // The first output shows w₁ in one direction, the second w₂ in another: any task will do.
/// let (first, second) = (mat![[1.0, 0.0], [0.0, 0.0]], mat![[0.0, 0.0], [1.0, 0.0]]);
/// let (space, features) = (Space::ball(2, 1.0)?, FeatureMap::identity(2)?);
/// let problem = Problem::new(Criterion::Trace, Need::Everything);
/// let maps = [first.as_ref(), second.as_ref()];
/// let rng = &mut derive(0, Purpose::Search, &[]);
/// let design = solve_space_blocks(&space, &features, &maps, &problem, rng)?;
/// assert_eq!(design.outputs, 2);
/// assert!((design.atoms[0].task[0].abs() - 1.0).abs() < 1e-6);
/// assert!(design.gap().is_some_and(|gap| gap < 1e-3));
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// As [`solve_space`](super::solve_space), and maps of different sizes.
pub fn solve_space_blocks(
    space: &Space,
    features: &dyn Features,
    maps: &[MatRef<'_, f64>],
    problem: &Problem<'_>,
    rng: &mut Rng,
) -> Result<Design> {
    Error::check_length(
        "a task, for its features,",
        features.input_dim(),
        space.dim(),
    )?;
    let k = check_maps(maps, features)?;
    if let Some(tasks) = space.task_matrix() {
        return solve_listed_blocks(&tasks, features, maps, problem, None);
    }
    let mut source = Searched::new(space, features, maps, problem.given, rng)?;
    let inside = problem
        .start
        .iter()
        .filter(|atom| space.contains(&atom.task));
    let known: Vec<CandidateAtom> = inside.map(|atom| source.atom(atom.task.clone())).collect();
    let describe = |key| match key {
        Key::Row(_) => (Vec::new(), None, Vec::new()),
        Key::Task(task) => {
            let embedding = block(maps, &apply_row(features, &task));
            (task, None, embedding)
        }
    };
    let mut design = solve_source(&mut source, problem, (k, maps.len()), &known, describe)?;
    if let (Space::Ball(ball), true) = (space, features.is_identity()) {
        gather(&mut design, maps, problem, ball.radius())?;
    }
    Ok(design)
}

/// `A` of a need whose targets are blocks.
fn moment(need: &Need<'_>, (k, outputs): (usize, usize)) -> Result<Mat<f64>> {
    let Need::Targets { rows, weights } = need else {
        return need.moment(k);
    };
    let repeated: Option<Vec<f64>> = weights.map(|weights| {
        let of = |&weight: &f64| vec![weight; outputs];
        weights.iter().flat_map(of).collect()
    });
    let by_column = Need::Targets {
        rows,
        weights: repeated.as_deref(),
    };
    // The mean over columns is the mean over blocks divided by their columns.
    Ok(by_column.moment(k)? * faer::Scale(outputs as f64))
}

/// The optimal design over listed tasks, row-major, with the largest share of the budget that each
/// may get, if there are such limits.
pub fn solve_listed_blocks(
    tasks: &[f64],
    features: &dyn Features,
    maps: &[MatRef<'_, f64>],
    problem: &Problem<'_>,
    limits: Option<Vec<f64>>,
) -> Result<Design> {
    let (k, outputs) = (check_maps(maps, features)?, maps.len());
    let mut rows = vec![0.0; tasks.len() / features.input_dim() * k * outputs];
    for (output, map) in maps.iter().enumerate() {
        let columns = embeddings(tasks, features, Some(*map));
        let places = rows.chunks_exact_mut(k).skip(output).step_by(outputs);
        places
            .zip(columns.chunks_exact(k))
            .for_each(|(place, column)| place.copy_from_slice(column));
    }
    let mut blocks = Blocks::new(k, outputs, rows)?;
    if let Some(limits) = limits {
        blocks = blocks.with_limits(limits)?;
    }
    let dim = features.input_dim();
    let mut design = solve_blocks(&blocks, problem)?;
    for atom in &mut design.atoms {
        if let Some(row) = atom.row {
            atom.task = tasks[row * dim..(row + 1) * dim].to_vec();
        }
    }
    Ok(design)
}

/// Checks the maps of the outputs, and says how many directions they have.
fn check_maps(maps: &[MatRef<'_, f64>], features: &dyn Features) -> Result<usize> {
    let Some(first) = maps.first() else {
        return Err(Error::setting(
            "maps",
            "is empty: give a task map for each output",
        ));
    };
    for (output, map) in maps.iter().enumerate() {
        let place = format!("a row of the task map of output {output}");
        Error::check_length(&place, features.dim(), map.ncols())?;
        let place = format!("a column of the task map of output {output}");
        Error::check_length(&place, first.nrows(), map.nrows())?;
    }
    Ok(first.nrows())
}

/// Solves over a source of blocks. The solver gets targets column by column.
fn solve_source(
    source: &mut dyn AtomSource,
    problem: &Problem<'_>,
    (k, outputs): (usize, usize),
    known: &[CandidateAtom],
    describe: impl Fn(Key) -> (Vec<f64>, Option<usize>, Vec<f64>),
) -> Result<Design> {
    let mut by_column = *problem;
    let repeated: Vec<f64>;
    let mut scale = 1.0;
    if let Need::Targets { rows, weights } = problem.need {
        let size = k * outputs;
        if rows.is_empty() || !rows.len().is_multiple_of(size) {
            let place = format!("target {}", rows.len() / size);
            Error::check_length(&place, size, rows.len() % size)?;
        }
        repeated = match weights {
            None => vec![1.0; rows.len() / k],
            Some(weights) => {
                let count = rows.len() / size;
                Error::check_length("the weights of the targets", count, weights.len())?;
                let of = |&weight: &f64| vec![weight; outputs];
                weights.iter().flat_map(of).collect()
            }
        };
        by_column.need = Need::Targets {
            rows,
            weights: Some(&repeated),
        };
        // The mean over columns is the mean over blocks divided by their columns.
        scale = outputs as f64;
    }
    let mut solution = frank_wolfe::solve(source, &by_column, known)?;
    solution.objective *= scale;
    solution.lower_bound = solution.lower_bound.map(|bound| bound * scale);
    let mut design = assemble(solution, problem, describe);
    design.outputs = outputs;
    Ok(design)
}
