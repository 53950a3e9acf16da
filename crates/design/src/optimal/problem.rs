//! Design problems and their solution, over tables of candidates and over task spaces.

use faer::{Mat, MatRef};

use super::candidates::Candidates;
use super::drawn::solve_drawn;
use super::frame::targets;
use super::frank_wolfe::{self, CandidateAtom, Key, Solution};
use super::listed::Listed;
use super::one_direction;
use super::searched::{Searched, embeddings};
use super::{Criterion, Design, DesignAtom, ball};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::linalg::{self, wide};
use crate::rng::Rng;
use crate::space::{Space, TaskSpace as _};

/// Multiplications that a design may take, enough for some seconds.
const EFFORT: f64 = 1e11;

/// What a design is for: the second moment `A` of what the target needs.
#[derive(Debug, Clone, Copy)]
pub enum Need<'a> {
    /// All directions that the source tasks reach, alike: `A = I`, or the projection onto them.
    Everything,
    /// The embeddings of some targets, row-major, with weights (equal without):
    /// `A = Σ w_j c_j c_jᵀ / Σ w_j`.
    Targets {
        /// Embeddings.
        rows: &'a [f64],
        /// Weights, positive.
        weights: Option<&'a [f64]>,
    },
    /// The moment itself, symmetric and positive semidefinite.
    Moment(MatRef<'a, f64>),
}

impl Need<'_> {
    /// `A`, for embeddings of `k` values.
    pub(in crate::optimal) fn moment(&self, k: usize) -> Result<Mat<f64>> {
        Ok(match self {
            Self::Everything => Mat::identity(k, k),
            Self::Moment(matrix) => matrix.to_owned(),
            Self::Targets { rows, weights } => {
                let columns = targets(rows, *weights, k)?;
                linalg::product(columns.as_ref(), columns.transpose())
            }
        })
    }

    /// The single targets, if there are any.
    pub(in crate::optimal) fn targets(&self, k: usize) -> Vec<Vec<f64>> {
        match self {
            Self::Targets { rows, .. } => rows.chunks(k).map(<[f64]>::to_vec).collect(),
            _ => Vec::new(),
        }
    }
}

/// A design problem: `min_q` of a criterion of `Σ(q) = G + Σ q_i c_i c_iᵀ / cost_i`.
///
/// ```
/// use taskscout::design::{solve, Candidates, Criterion, Need, Problem};
/// // Three winds with embeddings in the plane, and a target between two of them.
/// let candidates = Candidates::new(2, vec![1.0, 0.0, 0.0, 1.0, 0.5, 0.2])?;
/// let need = Need::Targets { rows: &[0.7, 0.7], weights: None };
/// let design = solve(&candidates, &Problem::new(Criterion::Trace, need))?;
/// assert_eq!(design.atoms.len(), 2);
/// assert!((design.objective - 1.4_f64.powi(2)).abs() < 1e-3); // (0.7 + 0.7)²
/// assert!(design.gap().is_some_and(|gap| gap < 1e-3));
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// What is minimised.
    pub criterion: Criterion,
    /// What the target needs.
    pub need: Need<'a>,
    /// `G`, the information that is there already, in units of the budget to be spent:
    /// `Σ n_w c_w c_wᵀ / budget`.
    pub given: Option<MatRef<'a, f64>>,
    /// Whether to serve what can be reached of the need where part of it cannot, instead of
    /// refusing; [`Design::missed`] says how much was left out.
    pub partial: bool,
    /// The relative gap to stop at.
    pub tolerance: f64,
    /// Passes over the candidates at most.
    pub max_iterations: usize,
    /// Multiplications that may go into it, about: the search ends where they are used up, with the
    /// gap it has reached.
    pub effort: f64,
    /// Where to start: the atoms of an earlier design, by their rows in a table and by their
    /// parameters in a space.
    pub start: &'a [DesignAtom],
}

impl<'a> Problem<'a> {
    /// A problem with nothing given, to a gap of 0.01 %.
    #[must_use]
    pub fn new(criterion: Criterion, need: Need<'a>) -> Self {
        Self {
            criterion,
            need,
            given: None,
            partial: false,
            tolerance: 1e-4,
            max_iterations: 200,
            effort: EFFORT,
            start: &[],
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::setting(
                "tolerance",
                format!("is {}: it must be between 0 and 1", self.tolerance),
            ));
        }
        if self.max_iterations == 0 {
            return Err(Error::setting(
                "max_iterations",
                "is 0: at least one is needed",
            ));
        }
        Ok(())
    }
}

/// The optimal design over a table of candidates, with a certified bound.
///
/// # Errors
/// A need that the candidates do not reach (with the direction that is missing), values that are
/// not finite, or settings out of range.
pub fn solve(candidates: &Candidates<'_>, problem: &Problem<'_>) -> Result<Design> {
    let mut source = Listed::new(candidates, problem.given)?;
    let rows = problem.start.iter().filter_map(|atom| atom.row);
    let usable = |row: &usize| *row < candidates.len() && candidates.limit(*row) > 0.0;
    let known: Vec<CandidateAtom> = rows.filter(usable).map(|row| source.atom(row)).collect();
    let solution = one_direction::solve(&mut source, candidates, problem, &known)?;
    Ok(assemble(solution, problem, |key| match key {
        Key::Row(row) => (
            candidates.row(row).to_vec(),
            Some(row),
            candidates.row(row).to_vec(),
        ),
        Key::Task(task) => (task.clone(), None, task),
    }))
}

/// The optimal design over a task space, whose tasks have embeddings `B ψ(w)`; without a map, `ψ(w)`.
///
/// A bound is given where the space's best atom is exact: lists, one-hot, and balls and small boxes
/// with identity features. Elsewhere atoms come from a search and no bound is claimed.
///
/// ```
/// use taskscout::design::{solve_space, Criterion, Need, Problem};
/// use taskscout::features::FeatureMap;
/// use taskscout::rng::{derive, Purpose};
/// use taskscout::space::Space;
/// // A quadratic in one wind speed is learnt best at both ends and in the middle.
/// let space = Space::boxed(vec![0.0], vec![2.0])?;
/// let features = FeatureMap::polynomial(1, 2, true)?;
/// let problem = Problem::new(Criterion::Trace, Need::Everything);
/// let design = solve_space(&space, &features, None, &problem, &mut derive(0, Purpose::Search, &[]))?;
/// let mut winds: Vec<f64> = design.atoms.iter().map(|atom| atom.task[0]).collect();
/// winds.sort_by(f64::total_cmp);
/// assert!((winds[0] - 0.0).abs() < 1e-6 && (winds[winds.len() - 1] - 2.0).abs() < 1e-6);
/// assert_eq!(design.lower_bound, None);
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// As [`solve`], and features or a map that do not fit the space.
pub fn solve_space(
    space: &Space,
    features: &dyn Features,
    map: Option<MatRef<'_, f64>>,
    problem: &Problem<'_>,
    rng: &mut Rng,
) -> Result<Design> {
    Error::check_length(
        "a task, for its features,",
        features.input_dim(),
        space.dim(),
    )?;
    if let Some(map) = map {
        Error::check_length("a row of the task map", features.dim(), map.ncols())?;
    }
    if let Some(tasks) = space.task_matrix() {
        return solve_listed(&tasks, features, map, problem, None);
    }
    let identity = Mat::identity(features.dim(), features.dim());
    let map = map.unwrap_or(identity.as_ref());
    if let (Space::Ball(ball), true, None) = (space, features.is_identity(), problem.given) {
        // The closed form needs fewer tasks; a need out of reach is left to the solver to explain.
        let moment = problem.need.moment(map.nrows())?;
        if let Ok(mut design) =
            ball::optimal(map, moment.as_ref(), problem.criterion, ball.radius())
        {
            design.orient(&problem.need.targets(map.nrows()), true);
            return Ok(design);
        }
    }
    if map.nrows().max(features.dim()) >= wide::WIDE {
        // Tasks drawn may miss a part of a space that a search finds.
        match solve_drawn(space, features, map, problem, rng) {
            Err(Error::Unreachable { .. }) => {}
            solved => return solved,
        }
    }
    let maps = [map];
    let mut source = Searched::new(space, features, &maps, problem.given, rng)?;
    let inside = problem
        .start
        .iter()
        .filter(|atom| space.contains(&atom.task));
    let known: Vec<CandidateAtom> = inside.map(|atom| source.atom(atom.task.clone())).collect();
    let solution = frank_wolfe::solve(&mut source, problem, &known)?;
    Ok(assemble(solution, problem, |key| match key {
        Key::Row(_) => (Vec::new(), None, Vec::new()),
        Key::Task(task) => {
            let embedding = linalg::apply(map, &crate::features::apply_row(features, &task));
            (task, None, embedding)
        }
    }))
}

/// The optimal design over listed tasks, row-major, with the largest share of the budget that each
/// may get, if there are such limits.
pub fn solve_listed(
    tasks: &[f64],
    features: &dyn Features,
    map: Option<MatRef<'_, f64>>,
    problem: &Problem<'_>,
    limits: Option<Vec<f64>>,
) -> Result<Design> {
    let k = map.map_or(features.dim(), |map| map.nrows());
    let mut candidates = Candidates::new(k, embeddings(tasks, features, map))?;
    if let Some(limits) = limits {
        candidates = candidates.with_limits(limits)?;
    }
    let dim = features.input_dim();
    let mut design = solve(&candidates, problem)?;
    for atom in &mut design.atoms {
        if let Some(row) = atom.row {
            atom.task = tasks[row * dim..(row + 1) * dim].to_vec();
        }
    }
    Ok(design)
}

/// A solution as a design, by falling weight.
pub(super) fn assemble(
    solution: Solution,
    problem: &Problem<'_>,
    describe: impl Fn(Key) -> (Vec<f64>, Option<usize>, Vec<f64>),
) -> Design {
    let weighted = solution
        .atoms
        .into_iter()
        .zip(solution.weights)
        .zip(solution.shares);
    let mut atoms: Vec<DesignAtom> = weighted
        .map(|((atom, weight), risk_share)| {
            let (task, row, embedding) = describe(atom.key);
            DesignAtom {
                task,
                row,
                weight,
                embedding,
                similarity: None,
                risk_share,
            }
        })
        .collect();
    atoms.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.row.cmp(&b.row)));
    let mut design = Design {
        atoms,
        criterion: Some(problem.criterion),
        objective: solution.objective,
        lower_bound: solution.lower_bound,
        iterations: solution.iterations,
        missed: solution.missed,
        outputs: 1,
    };
    let k = design.atoms.first().map_or(1, |atom| atom.embedding.len());
    design.orient(&problem.need.targets(k.max(1)), false);
    design
}
