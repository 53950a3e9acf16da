//! Where to start in a wide table: weights of all its candidates at once.
//!
//! An optimum over many directions uses hundreds of tasks, and a search that adds a few at a time
//! weighs all the others again in every step. A multiplicative update moves all weights together:
//! `q_i ← q_i √s_i`, made to sum to one, with `s_i = ‖Yᵀ c_i‖²` the score of a candidate. It lowers the
//! trace criterion in every step (Silvey, Titterington and Torgersen, 1978) and takes two products.
//! What it leaves of the gap is for the solver, which also certifies what is found.

use faer::Mat;

use super::frank_wolfe::{AtomSource as _, CandidateAtom, normalise};
use super::listed::Listed;
use super::master::Master;
use super::scan::Scored;
use crate::error::Result;
use crate::linalg::{self, wide};

/// Updates at least and at most.
const STEPS: (f64, f64) = (3.0, 30.0);
/// Share of the effort that updates may take.
const SHARE: f64 = 0.25;
/// Numbers in a matrix of candidates at most.
const NUMBERS: usize = 1 << 25;
/// Share of the weight that is kept.
const KEPT: f64 = 0.998;
/// Atoms at most: their second derivatives have that many rows and columns.
const MOST: usize = 3000;

/// Atoms and their weights.
pub(super) type StartWeights = (Vec<CandidateAtom>, Vec<f64>);

/// A start in a table of many directions; none where there are few.
pub(super) fn start(listed: &Listed<'_>, master: &Master<'_>) -> Result<Option<StartWeights>> {
    let (r, s) = (listed.frame().rank(), master.need.ncols());
    if r < wide::WIDE {
        return Ok(None);
    }
    let work = (r * (r + s)) as f64;
    let affordable = (SHARE * master.effort.get() / (STEPS.0 * work)) as usize;
    let pool = pool(listed, affordable.clamp(4 * r, NUMBERS / r));
    let limits: Vec<f64> = pool.iter().map(|&index| listed.limit(index)).collect();
    let columns = listed.columns(&pool);
    let price = pool.len() as f64 * work;
    // Where there will be no time to weigh the best well, all of it goes into updates.
    let later = master.can_solve(columns.as_ref().subcols(0, pool.len().min(MOST)));
    let share = if later { SHARE } else { 1.0 };
    let steps = (share * master.effort.get() / price).clamp(STEPS.0, STEPS.1) as usize;
    let mut q = vec![1.0; pool.len()];
    normalise(&mut q, &limits);
    for _ in 0..steps {
        let Some(scores) = scores(master, &columns, &q)? else {
            break;
        };
        q.iter_mut()
            .zip(&scores)
            .for_each(|(q, score)| *q *= score.sqrt());
        normalise(&mut q, &limits);
        master.spend(price);
    }
    Ok(Some(heaviest(listed, &pool, &q, &columns)))
}

/// Candidates that may be used, at most so many: those of the largest norms.
fn pool(listed: &Listed<'_>, most: usize) -> Vec<usize> {
    let norms = listed.norms().iter().enumerate();
    let mut pool: Vec<Scored> = norms
        .filter(|&(index, &norm)| norm > 0.0 && listed.limit(index) > 0.0)
        .map(|(index, &score)| Scored { index, score })
        .collect();
    if pool.len() > most {
        pool.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
        let mut capacity = 0.0;
        let enough = pool.iter().position(|one| {
            capacity += listed.limit(one.index);
            capacity >= 2.0
        });
        pool.truncate(most.max(enough.map_or(usize::MAX, |last| last + 1)));
    }
    let mut pool: Vec<usize> = pool.iter().map(|one| one.index).collect();
    pool.sort_unstable();
    pool
}

/// The scores of all columns under the dual point of some weights; none where these do not span.
fn scores(master: &Master<'_>, columns: &Mat<f64>, q: &[f64]) -> Result<Option<Vec<f64>>> {
    let information = master.information(columns.as_ref(), q);
    let Ok(factor) = linalg::cholesky(information.as_ref(), "the information of a start") else {
        return Ok(None);
    };
    let solved = factor.solve(master.need);
    let scores = wide::squared_images(solved.transpose(), columns.as_ref());
    let usable = scores.iter().all(|score| score.is_finite()) && scores.iter().any(|&s| s > 0.0);
    Ok(usable.then_some(scores))
}

/// The heaviest candidates as atoms: most of the weight, with limits that hold the budget.
fn heaviest(listed: &Listed<'_>, pool: &[usize], q: &[f64], columns: &Mat<f64>) -> StartWeights {
    let mut order: Vec<usize> = (0..pool.len()).collect();
    order.sort_by(|&a, &b| q[b].total_cmp(&q[a]).then(a.cmp(&b)));
    let (mut weight, mut capacity, mut count) = (0.0, 0.0, 0);
    let least = listed.frame().rank().min(order.len());
    while count < order.len() {
        let enough = weight >= KEPT || count >= MOST;
        if enough && capacity >= 1.5 && count >= least {
            break;
        }
        weight += q[order[count]];
        capacity += listed.limit(pool[order[count]]);
        count += 1;
    }
    order.truncate(count);
    let atom = |&place: &usize| {
        let column = linalg::column(columns.as_ref(), place);
        listed.atom_with(pool[place], column)
    };
    let atoms: Vec<CandidateAtom> = order.iter().map(atom).collect();
    let limits: Vec<f64> = atoms.iter().map(|atom| atom.limit).collect();
    let mut weights: Vec<f64> = order.iter().map(|&place| q[place]).collect();
    normalise(&mut weights, &limits);
    (atoms, weights)
}
