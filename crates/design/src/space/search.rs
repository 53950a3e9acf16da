//! Adaptive search: for spaces and objectives without a closed form.
//!
//! Sample the space, keep the best few tasks, sample finer around each, about five times; then
//! polish what is left (see `polish`). A space with a few categories beside continuous parameters
//! is searched category by category; with many, categories are redrawn now and then and, in the
//! end, tried one by one.
//!
//! All random draws happen on the calling thread and evaluations are spread over threads in
//! batches of fixed size, so the result depends on the generator only.

use super::exhaustive::no_finite_value;
use super::form::Scorer;
use super::polish::polish;
use super::region::Listing;
use super::search_problem::{SearchPoint, SearchProblem};
use super::{Atom, QuadraticForm, Space, TaskSpace as _};
use crate::error::Result;
use crate::linalg;
use crate::rng::Rng;

/// Tasks drawn first.
const SAMPLES: usize = 512;
/// Tasks kept after each round.
const KEPT: usize = 8;
/// Tasks drawn around each one kept.
const CHILDREN: usize = 32;
/// Rounds of finer sampling.
const ROUNDS: i32 = 5;
/// Standard deviation of the first round's moves, as a share of a parameter's width, and the
/// factor by which it shrinks.
const SCALE: f64 = 0.25;
const SHRINK: f64 = 0.4;
/// Most categories that are searched one by one.
const MAX_CATEGORIES: usize = 64;
/// Tasks polished in the end, roughly first and the best of them then thoroughly.
const POLISHED: usize = 6;
const ROUGHLY: usize = 12;
const THOROUGHLY: usize = 400;
/// Most choices of a finite part that are tried one by one.
const MAX_CHOICES: usize = 10_000;

/// The task found to minimise an objective.
pub(super) fn minimise(
    space: &Space,
    objective: &(dyn Fn(&[f64]) -> f64 + Sync),
    rng: &mut Rng,
) -> Result<Atom> {
    let dim = space.dim();
    let batch = |rows: &[f64], values: &mut [f64]| {
        for (row, value) in rows.chunks_exact(dim).zip(values) {
            *value = objective(row);
        }
    };
    let best = run(&SearchProblem::new(space, &batch), &[], rng)?;
    let best = best.ok_or_else(|| no_finite_value("objective", SAMPLES))?;
    Ok(Atom {
        task: best.task,
        value: best.value,
        exact: false,
    })
}

/// A task downhill of another, for an objective.
pub(super) fn descend(
    space: &Space,
    objective: &(dyn Fn(&[f64]) -> f64 + Sync),
    start: &[f64],
) -> Vec<f64> {
    let dim = space.dim();
    let batch = |rows: &[f64], values: &mut [f64]| {
        for (row, value) in rows.chunks_exact(dim).zip(values) {
            *value = objective(row);
        }
    };
    let start = SearchPoint {
        task: start.to_vec(),
        value: objective(start),
    };
    polish(&SearchProblem::new(space, &batch), start, THOROUGHLY).task
}

/// The task found to maximise a quadratic form.
pub(super) fn maximise_form(
    space: &Space,
    form: &QuadraticForm<'_>,
    rng: &mut Rng,
) -> Result<Vec<f64>> {
    let scorer = Scorer::new(form, SAMPLES * KEPT)?;
    let batch = |rows: &[f64], values: &mut [f64]| {
        scorer.score(rows, values);
        values.iter_mut().for_each(|value| *value = -*value);
    };
    let search_problem = SearchProblem::new(space, &batch);
    let best = run(&search_problem, &hints(form, &search_problem.widths)?, rng)?;
    let best = best.ok_or_else(|| no_finite_value("features", SAMPLES))?;
    Ok(best.task)
}

/// The tops of a quadratic form that lie uphill of some tasks.
pub(super) fn ascend(
    space: &Space,
    form: &QuadraticForm<'_>,
    tasks: &[Vec<f64>],
) -> Result<Vec<Vec<f64>>> {
    let scorer = Scorer::new(form, SAMPLES * KEPT)?;
    let batch = |rows: &[f64], values: &mut [f64]| {
        scorer.score(rows, values);
        values.iter_mut().for_each(|value| *value = -*value);
    };
    let search_problem = SearchProblem::new(space, &batch);
    let starts = search_problem.evaluate(tasks.to_vec());
    let tops = starts
        .into_iter()
        .map(|start| polish(&search_problem, start, ROUGHLY).task);
    Ok(tops.collect())
}

/// Directions worth trying for identity features: the top eigenvectors, long enough to leave the
/// space, from where they are brought back to its boundary.
fn hints(form: &QuadraticForm<'_>, widths: &[f64]) -> Result<Vec<Vec<f64>>> {
    const DIRECTIONS: usize = 4;
    if !form.features.is_identity() {
        return Ok(Vec::new());
    }
    let (_, vectors) = linalg::eigen(form.matrix, "a quadratic form")?;
    let length = widths.iter().sum::<f64>();
    let columns = (0..DIRECTIONS.min(widths.len())).flat_map(|j| [(j, length), (j, -length)]);
    Ok(columns
        .map(|(j, length)| {
            (0..widths.len())
                .map(|i| length * vectors[(i, j)])
                .collect()
        })
        .collect())
}

/// The whole search; nothing if no task had a value below infinity.
fn run(
    search_problem: &SearchProblem<'_>,
    hints: &[Vec<f64>],
    rng: &mut Rng,
) -> Result<Option<SearchPoint>> {
    let categories = search_problem.categories();
    let continuous = search_problem.widths.iter().any(|&width| width > 0.0);
    let mut survivors = Vec::new();
    if continuous && (2..=MAX_CATEGORIES).contains(&categories) {
        let samples = (8 * SAMPLES / categories).clamp(64, SAMPLES);
        for category in 0..categories {
            survivors.extend(explore(
                search_problem,
                Some(category),
                samples,
                hints,
                rng,
            )?);
        }
    } else {
        survivors = explore(search_problem, None, SAMPLES, hints, rng)?;
    }
    keep_best(&mut survivors, POLISHED);
    for survivor in &mut survivors {
        *survivor = polish(search_problem, survivor.clone(), ROUGHLY);
    }
    keep_best(&mut survivors, 1);
    Ok(survivors.pop().map(|best| finish(search_problem, best)))
}

/// Samples, then samples finer around the best, within one category or across all.
fn explore(
    search_problem: &SearchProblem<'_>,
    category: Option<usize>,
    samples: usize,
    hints: &[Vec<f64>],
    rng: &mut Rng,
) -> Result<Vec<SearchPoint>> {
    let mut tasks = Vec::with_capacity(samples + hints.len());
    for index in 0..samples + hints.len() {
        tasks.extend(search_problem.draw(category, hints.get(index), rng)?);
    }
    let mut kept = search_problem.evaluate(tasks);
    keep_best(&mut kept, KEPT);
    let mut idle = 0;
    for round in 0..ROUNDS {
        let Some(before) = kept.first().map(|best| best.value) else {
            break;
        };
        refine(
            search_problem,
            &mut kept,
            SCALE * SHRINK.powi(round),
            category,
            rng,
        );
        let gain = kept.first().map_or(0.0, |best| before - best.value);
        idle = if gain > 1e-9 * before.abs() {
            0
        } else {
            idle + 1
        };
        if idle == 2 {
            break;
        }
    }
    Ok(kept)
}

/// Samples around each candidate and replaces it by the best found there.
fn refine(
    search_problem: &SearchProblem<'_>,
    kept: &mut Vec<SearchPoint>,
    scale: f64,
    category: Option<usize>,
    rng: &mut Rng,
) {
    let mut children = Vec::with_capacity(CHILDREN * kept.len());
    for parent in kept.iter() {
        for child in 0..CHILDREN {
            let (dense, same) = (child % 2 == 0, category.is_some());
            children.push(search_problem.perturb(&parent.task, scale, dense, same, rng));
        }
    }
    let mut children = search_problem.evaluate(children).into_iter();
    // Each line keeps its own best, so that one good basin does not crowd out the others.
    for parent in kept.iter_mut() {
        for child in children.by_ref().take(CHILDREN) {
            if child.value < parent.value {
                *parent = child;
            }
        }
    }
    keep_best(kept, KEPT);
}

/// Polishes the best thoroughly, trying other choices of the finite parts in between.
fn finish(search_problem: &SearchProblem<'_>, mut best: SearchPoint) -> SearchPoint {
    const ALTERNATIONS: usize = 4;
    for _ in 0..ALTERNATIONS {
        best = polish(search_problem, best, THOROUGHLY);
        let before = best.value;
        for &(start, listing) in &search_problem.finite {
            best = try_choices(search_problem, best, start, listing);
        }
        if best.value >= before {
            break;
        }
    }
    best
}

/// The best choice of one finite part with everything else as it is.
fn try_choices(
    search_problem: &SearchProblem<'_>,
    best: SearchPoint,
    start: usize,
    listing: &dyn Listing,
) -> SearchPoint {
    let choices = (0..listing.count().min(MAX_CHOICES)).filter_map(|choice| {
        let mut task = best.task.clone();
        listing.write(choice, &mut task[start..start + listing.width()]);
        search_problem.settled(task)
    });
    let found = search_problem.evaluate(choices.collect()).into_iter();
    found.fold(best, |best, found| {
        if found.value < best.value {
            found
        } else {
            best
        }
    })
}

/// Sorts by value, the earlier first where equal, and keeps the best; infinite ones are dropped.
fn keep_best(candidates: &mut Vec<SearchPoint>, count: usize) {
    candidates.retain(|candidate| candidate.value < f64::INFINITY);
    candidates.sort_by(|a, b| a.value.total_cmp(&b.value));
    candidates.dedup_by(|later, earlier| later.task == earlier.task);
    candidates.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, derive};

    fn cube(dim: usize) -> Space {
        Space::boxed(vec![-1.0; dim], vec![1.0; dim]).unwrap()
    }

    #[test]
    fn the_right_basin_is_found_among_many() {
        let ripples = |w: &[f64]| {
            let ripple = |x: &f64| (x - 0.3).powi(2) - 0.3 * (12.0 * (x - 0.3)).cos();
            w.iter().map(ripple).sum::<f64>() + 0.6
        };
        for seed in 0..5 {
            let mut rng = derive(seed, Purpose::Search, &[]);
            let atom = minimise(&cube(2), &ripples, &mut rng).unwrap();
            assert!(atom.value < 1e-12 && !atom.exact, "{atom:?}");
        }
    }

    #[test]
    fn every_one_of_a_few_categories_is_searched() {
        // The best category is best only in a corner that few first samples see.
        let space = Space::product(vec![Space::one_hot(40).unwrap(), cube(2)]).unwrap();
        let objective = |w: &[f64]| {
            let needle = 2.0 * (-20.0 * ((w[40] - 0.9).powi(2) + (w[41] - 0.9).powi(2))).exp();
            if w[17] > 0.5 {
                1.0 - needle
            } else {
                w[40] * w[40]
            }
        };
        let mut rng = derive(1, Purpose::Search, &[]);
        let atom = minimise(&space, &objective, &mut rng).unwrap();
        assert!((atom.value + 1.0).abs() < 1e-9, "{atom:?}");
    }

    #[test]
    fn many_categories_are_tried_in_the_end() {
        let tasks: Vec<_> = (0..3000).map(|i| vec![f64::from(i)]).collect();
        let space = Space::product(vec![Space::list(&tasks).unwrap(), cube(1)]).unwrap();
        let objective = |w: &[f64]| (w[0] - 1234.0).abs() + (w[1] - 0.25).powi(2);
        let mut rng = derive(1, Purpose::Search, &[]);
        let atom = minimise(&space, &objective, &mut rng).unwrap();
        assert!(atom.value < 1e-12, "{atom:?}");
    }

    #[test]
    fn finite_parts_too_many_to_list_are_searched_part_by_part() {
        let tasks: Vec<_> = (0..10).map(|i| vec![f64::from(i)]).collect();
        let ten = Space::list(&tasks).unwrap();
        let space = Space::product(vec![ten; 7]).unwrap();
        assert_eq!(space.count(), None);
        let objective = |w: &[f64]| {
            let wanted = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0];
            w.iter().zip(wanted).map(|(w, v)| (w - v).powi(2)).sum()
        };
        let mut rng = derive(1, Purpose::Search, &[]);
        let atom = minimise(&space, &objective, &mut rng).unwrap();
        assert_eq!(atom.value.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn nan_is_avoided_and_nothing_but_nan_is_an_error() {
        let mut rng = derive(1, Purpose::Search, &[]);
        let partly = |w: &[f64]| if w[0] < 0.2 { f64::NAN } else { w[0] };
        let atom = minimise(&cube(2), &partly, &mut rng).unwrap();
        assert!((atom.value - 0.2).abs() < 1e-6, "{atom:?}");
        let error = minimise(&cube(2), &|_| f64::NAN, &mut rng).unwrap_err();
        assert!(error.to_string().contains("objective gave no finite value"));
    }
}
