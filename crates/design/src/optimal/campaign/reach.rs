//! The cheapest tasks that reach all that is needed.
//!
//! Tasks reach a need `A` if the span of their embeddings and of what is given holds the range of
//! `A`. Any basis of the candidates does, and a basis is cheapest if rows are taken by rising price
//! (bases are a matroid). A need with fewer directions may do with fewer tasks: a branch and bound
//! over rows by rising price looks for them, in which every further row takes away one direction of
//! what is needed at most. Its effort is bounded; [`Reach::proven`] says whether it came to an end.

use super::branch::Branch;
use super::evaluator::Evaluator;
use super::orthogonal::{
    NOTHING, REACHED, REACHED_BESIDE_GIVEN, fresh, independent, orthonormal, subtract, unit,
    without,
};
use crate::error::{Error, Result};
use crate::linalg;
use crate::optimal::Need;
use crate::optimal::frame::Frame;
use crate::optimal::frank_wolfe::AtomSource as _;
use crate::optimal::listed::Listed;

/// Eigenvalue of the information given, relative to the largest, below which a direction is not known.
const UNKNOWN: f64 = 1e-12;
/// Size of a direction beside all that is needed which designs may leave out.
const SPARED: f64 = 3e-5;
/// Multiplications that the branch and bound may spend.
const EFFORT: usize = 60_000_000;

/// Tasks that reach all that is needed, with those that must be used.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    pub(super) rows: Vec<usize>,
    /// Whether no cheaper ones do.
    pub(super) proven: bool,
}

impl Evaluator<'_> {
    /// Tasks that reach what is needed within the budget and the cap, or why there are none; nothing
    /// where any basis of the candidates can be paid for.
    pub(super) fn affordable(&self, relaxed: &[usize]) -> Result<Option<Reach>> {
        if self.any_basis_does() {
            return Ok(None);
        }
        let framed = Quotient::new(self)?;
        let fits = |reach: &Reach| {
            reach.rows.len() <= self.most_tasks() && self.pays(self.fixed_cost(&reach.rows))
        };
        let price = |row: usize| self.fixed_cost(&[row]);
        let spanning = framed.spanning(&framed.by_price(price), self);
        let from_relaxed = framed.spanning(&framed.among(relaxed, price), self);
        let mut known: Vec<Reach> = [spanning, from_relaxed].into_iter().flatten().collect();
        known.sort_by(|a, b| {
            let cost = |reach: &Reach| self.fixed_cost(&reach.rows);
            cost(a).total_cmp(&cost(b))
        });
        if let Some(reach) = known.iter().find(|reach| fits(reach)) {
            return Ok(Some(reach.clone()));
        }
        let fewest = framed.search(self, |_| 1.0, usize::MAX, &known);
        let first = framed.rows.first().map_or(0.0, |&row| price(row));
        let uniform = framed
            .rows
            .iter()
            .all(|&row| (price(row) - first).abs() <= 1e-12 * first);
        let cheapest = if uniform {
            fewest
                .clone()
                .filter(|reach| reach.rows.len() <= self.most_tasks())
        } else {
            framed.search(self, price, self.most_tasks(), &known)
        };
        let mut found = [&cheapest, &fewest].into_iter().flatten().cloned();
        if let Some(reach) = found.find(|reach| fits(reach)) {
            return Ok(Some(reach));
        }
        drop(found);
        Err(match (fewest, cheapest) {
            (Some(fewest), _) if fewest.rows.len() > self.most_tasks() => {
                self.too_few_tasks(&fewest)
            }
            (_, Some(cheapest)) => self.too_little_money(&cheapest),
            (Some(fewest), None) => self.too_little_money(&fewest),
            (None, None) => Error::numerical(
                "finding tasks that reach all that the target needs",
                "some are nearly alike; leave those out, or rescale the parameters",
            ),
        })
    }

    /// Refuses what is too little before any design is solved, where that can be seen at once: where
    /// all that the tasks can teach is needed.
    pub(super) fn refuse_early(&self) -> Result<()> {
        let everything = matches!(self.campaign.need, Need::Everything);
        if everything && !self.any_basis_does() {
            self.affordable(&[])?;
        }
        Ok(())
    }

    /// Whether the budget pays for every choice of as many tasks as there are directions.
    fn any_basis_does(&self) -> bool {
        let tasks = self.candidates.dim();
        let dearest = (0..self.candidates.len())
            .filter(|&row| self.usable(row))
            .map(|row| self.fixed_cost(&[row]))
            .fold(0.0, f64::max);
        let fixed = self.fixed_cost(&self.required);
        self.most_tasks() >= tasks + self.required.len()
            && self.pays(fixed + tasks as f64 * dearest)
    }

    fn most_tasks(&self) -> usize {
        self.campaign.max_tasks.unwrap_or(usize::MAX)
    }

    /// What is said of a cap that no tasks keep.
    fn too_few_tasks(&self, fewest: &Reach) -> Error {
        let (most, tasks) = (self.most_tasks(), fewest.rows.len());
        let uses = if fewest.proven {
            "every plan that does uses at least"
        } else {
            "the smallest plan found that does uses"
        };
        Error::value(
            "max_tasks",
            most,
            format!(
                "is too few, because no {most} tasks reach all that the target needs: {uses} {tasks}, so raise it to {tasks}"
            ),
        )
    }

    /// What is said of a budget that pays for too little.
    fn too_little_money(&self, cheapest: &Reach) -> Error {
        let cost = round_up(self.fixed_cost(&cheapest.rows));
        let tasks = match cheapest.rows.len() {
            1 => "1 task".to_owned(),
            many => format!("{many} tasks"),
        };
        let enough = if cheapest.proven {
            format!("that takes {tasks} and at least {cost}")
        } else {
            format!("the cheapest found are {tasks} for {cost}")
        };
        Error::value(
            "budget",
            self.campaign.budget,
            format!(
                "does not pay for tasks that reach all that the target needs, each with its switch and {} at least: {enough}, so raise it to {cost}",
                match self.least {
                    1 => "1 sample".to_owned(),
                    many => format!("{many} samples"),
                }
            ),
        )
    }
}

/// A cost with few digits that is not below the true one.
fn round_up(cost: f64) -> f64 {
    let nearest = cost.round();
    if (cost - nearest).abs() <= 1e-9 * cost {
        return nearest;
    }
    let unit = 10_f64.powf(cost.log10().floor() - 5.0);
    (cost / unit).ceil() * unit
}

/// Candidates and need in the frame, without the directions that are known: those of the data given
/// and of the tasks that must be used.
struct Quotient {
    rows: Vec<usize>,
    columns: Vec<Vec<f64>>,
    /// Orthonormal.
    need: Vec<Vec<f64>>,
    /// Whether all that the rows span is needed.
    complete: bool,
    /// Part of a needed direction that is none.
    nothing: f64,
}

impl Quotient {
    fn new(evaluator: &Evaluator<'_>) -> Result<Self> {
        let (candidates, campaign) = (evaluator.candidates, evaluator.campaign);
        let allowed = |row: usize| evaluator.usable(row) || evaluator.required.contains(&row);
        let limits = (0..candidates.len()).map(|row| f64::from(u8::from(allowed(row))));
        let table = candidates.borrowed().with_limits(limits.collect())?;
        let source = Listed::new(&table, campaign.given)?;
        let frame = source.frame();
        let known = known(evaluator, frame)?;
        let need = needed(evaluator, frame)?;
        let need: Vec<Vec<f64>> = need.iter().map(|column| without(column, &known)).collect();
        let free = |row: &usize| evaluator.usable(*row) && !evaluator.required.contains(row);
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for row in (0..candidates.len()).filter(free) {
            let column = frame.embed(candidates.row(row));
            let left = without(&column, &known);
            if linalg::norm(&left) > NOTHING * linalg::norm(&column) {
                rows.push(row);
                columns.push(left);
            }
        }
        let nothing = match campaign.given {
            None => REACHED,
            Some(_) => REACHED_BESIDE_GIVEN,
        };
        let need = orthonormal(&need, nothing);
        let inside = |column: &Vec<f64>| fresh(column, &need).is_none();
        Ok(Self {
            complete: columns.iter().all(inside),
            rows,
            columns,
            need,
            nothing,
        })
    }

    /// Places of all rows by rising price.
    fn by_price(&self, price: impl Fn(usize) -> f64) -> Vec<(usize, f64)> {
        let mut order: Vec<(usize, f64)> = (0..self.rows.len())
            .map(|place| (place, price(self.rows[place])))
            .collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        order
    }

    /// The same for some rows only.
    fn among(&self, rows: &[usize], price: impl Fn(usize) -> f64) -> Vec<(usize, f64)> {
        let mut order = self.by_price(price);
        order.retain(|&(place, _)| rows.contains(&self.rows[place]));
        order
    }

    /// A cheap basis of some rows, without what the need can spare; none if they do not reach it.
    fn spanning(&self, order: &[(usize, f64)], evaluator: &Evaluator<'_>) -> Option<Reach> {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut chosen: Vec<usize> = Vec::new();
        let mut start = 0;
        // Row by row of one price, the one with most that is new first.
        while start < order.len() && !self.is_reached(&basis) {
            let alike = |place: &&(usize, f64)| place.1 <= order[start].1 * (1.0 + 1e-12);
            let end = start + order[start..].iter().take_while(alike).count();
            let mut left: Vec<(usize, Vec<f64>)> = order[start..end]
                .iter()
                .map(|&(place, _)| (place, without(&self.columns[place], &basis)))
                .collect();
            while !self.is_reached(&basis) {
                let size = |column: &[f64]| linalg::dot(column, column);
                let best = left
                    .iter()
                    .max_by(|a, b| size(&a.1).total_cmp(&size(&b.1)).then(b.0.cmp(&a.0)));
                let Some((place, next)) = best.and_then(|(place, column)| {
                    Some((*place, unit(column, &self.columns[*place])?))
                }) else {
                    break;
                };
                chosen.push(place);
                for (_, column) in &mut left {
                    subtract(column, &next);
                }
                basis.push(next);
            }
            start = end;
        }
        if !self.is_reached(&basis) {
            return None;
        }
        self.spare(&mut chosen);
        Some(self.reach(&chosen, evaluator, self.complete))
    }

    /// Drops rows that the need can spare, the last first.
    fn spare(&self, chosen: &mut Vec<usize>) {
        for index in (0..chosen.len()).rev() {
            if chosen.len() <= self.need.len() {
                return;
            }
            let mut fewer = chosen.clone();
            fewer.remove(index);
            let columns: Vec<Vec<f64>> = fewer
                .iter()
                .map(|&place| self.columns[place].clone())
                .collect();
            if self.is_reached(&independent(&columns)) {
                *chosen = fewer;
            }
        }
    }

    fn is_reached(&self, basis: &[Vec<f64>]) -> bool {
        let missed = |column: &Vec<f64>| linalg::norm(&without(column, basis)) > self.nothing;
        !self.need.iter().any(missed)
    }

    fn reach(&self, chosen: &[usize], evaluator: &Evaluator<'_>, proven: bool) -> Reach {
        let mut rows: Vec<usize> = chosen.iter().map(|&place| self.rows[place]).collect();
        rows.extend(&evaluator.required);
        rows.sort_unstable();
        rows.dedup();
        Reach { rows, proven }
    }

    /// The cheapest rows by some price, at most so many with those that must be used, if there are
    /// any; never dearer than those that are known.
    fn search(
        &self,
        evaluator: &Evaluator<'_>,
        price: impl Fn(usize) -> f64,
        most: usize,
        known: &[Reach],
    ) -> Option<Reach> {
        let free = |rows: &[usize]| -> Vec<usize> {
            rows.iter()
                .copied()
                .filter(|row| !evaluator.required.contains(row))
                .collect()
        };
        let most = most.checked_sub(evaluator.required.len())?;
        let place = |row: &usize| self.rows.binary_search(row).ok();
        let start = known
            .iter()
            .map(|reach| free(&reach.rows))
            .filter(|rows| rows.len() <= most)
            .min_by(|a, b| {
                let cost = |rows: &[usize]| -> f64 { rows.iter().map(|&row| price(row)).sum() };
                cost(a).total_cmp(&cost(b))
            });
        let order = self.by_price(&price);
        if self.complete {
            // Then only a basis does, and the first by price is the cheapest.
            return self
                .spanning(&order, evaluator)
                .filter(|_| self.need.len() <= most);
        }
        let mut search = Branch {
            columns: &self.columns,
            order: &order,
            most,
            nothing: self.nothing,
            limit: start.as_ref().map_or(f64::INFINITY, |rows| {
                rows.iter().map(|&row| price(row)).sum::<f64>() * (1.0 - 1e-9)
            }),
            best: None,
            effort: EFFORT,
        };
        search.descend(0, &mut Vec::new(), &mut Vec::new(), &self.need, 0.0);
        let proven = search.effort > 0;
        let chosen = match (search.best, start) {
            (Some(best), _) => best,
            (None, Some(rows)) => rows.iter().filter_map(place).collect(),
            (None, None) => return None,
        };
        Some(self.reach(&chosen, evaluator, proven))
    }
}

/// Orthonormal directions of the data given and of the tasks that must be used.
fn known(evaluator: &Evaluator<'_>, frame: &Frame) -> Result<Vec<Vec<f64>>> {
    let mut known: Vec<Vec<f64>> = Vec::new();
    if let Some(given) = evaluator.campaign.given {
        let (values, vectors) = linalg::eigen(frame.congruent(given).as_ref(), "what is given")?;
        let top = values.first().copied().unwrap_or(0.0);
        let kept = values
            .iter()
            .filter(|&&value| value > UNKNOWN * top)
            .count();
        known.extend((0..kept).map(|j| linalg::column(vectors.as_ref(), j)));
    }
    for &row in &evaluator.required {
        let column = frame.embed(evaluator.candidates.row(row));
        known.extend(fresh(&column, &known));
    }
    Ok(known)
}

/// Directions that are needed, of length one.
fn needed(evaluator: &Evaluator<'_>, frame: &Frame) -> Result<Vec<Vec<f64>>> {
    if matches!(evaluator.campaign.need, Need::Everything) {
        // Each direction counts, however little it weighs in these units.
        let rank = frame.rank();
        let entry = |i: usize, j: usize| f64::from(u8::from(i == j));
        let unit = |i: usize| (0..rank).map(|j| entry(i, j)).collect();
        return Ok((0..rank).map(unit).collect());
    }
    let factor = frame.need(&evaluator.need(), false)?;
    let columns = (0..factor.l.ncols()).map(|j| linalg::column(factor.l.as_ref(), j));
    Ok(columns
        .filter(|column| linalg::norm(column) > SPARED)
        .map(|column| {
            let size = linalg::norm(&column);
            column.into_iter().map(|value| value / size).collect()
        })
        .collect())
}
