//! Local improvement without derivatives.
//!
//! A pattern search: try a step up and down in every parameter, accept the best, and shrink the
//! step when nothing helps. The same trials give a slope for each parameter, which a quasi-Newton
//! model (BFGS) turns into longer moves; they are only ever accepted when the objective falls, so
//! an objective that is not smooth costs speed and nothing else.

use super::search_problem::{SearchPoint, SearchProblem};
use crate::linalg;

/// First and last step, as shares of a parameter's width.
const FIRST_STEP: f64 = 0.02;
const LAST_STEP: f64 = 1e-8;

/// Rounds in which single steps may outdo the model's moves before the step shrinks.
const PATIENCE: usize = 4;

/// Most continuous parameters: beyond it a round of trials would fill the memory.
const MAX_PARAMETERS: usize = 1000;

/// Most evaluations spent on one task.
const EVALUATIONS: usize = 60_000;

/// Improves a task by at most `sweeps` rounds of trials.
pub(super) fn polish(
    search_problem: &SearchProblem<'_>,
    start: SearchPoint,
    sweeps: usize,
) -> SearchPoint {
    let free: Vec<usize> = (0..search_problem.widths.len())
        .filter(|&index| search_problem.widths[index] > 0.0)
        .collect();
    if free.is_empty() || free.len() > MAX_PARAMETERS {
        return start;
    }
    let sweeps = sweeps.min(EVALUATIONS / (2 * free.len() + 8)).max(1);
    let mut best = start;
    let mut previous = None;
    let mut model = QuadraticModel::new(free.len());
    let (mut step, mut outdone) = (FIRST_STEP, 0);
    for _ in 0..sweeps {
        let polls = poll(search_problem, &free, &best, step);
        let slope = slopes(search_problem, &free, &best, &polls);
        model.learn(&free, &search_problem.widths, &best.task, &slope);
        let descent = model.descent(&slope, step);
        let moves = moves(search_problem, &free, &best, previous.as_ref(), &descent);
        let (poll, moved) = (least(polls), least(search_problem.evaluate(moves)));
        let polled = poll.value < moved.value;
        outdone = if polled { outdone + 1 } else { 0 };
        let found = if polled { poll } else { moved };
        let stuck = best.value - found.value <= 1e-12 * best.value.abs();
        if found.value < best.value {
            previous = Some(std::mem::replace(&mut best, found));
        }
        if stuck || outdone == PATIENCE {
            // Slopes over a coarse step are rough, and so is what the model learnt from them.
            (previous, model, outdone) = (None, QuadraticModel::new(free.len()), 0);
            step *= if stuck { 0.1 } else { 0.3 };
            if step < LAST_STEP {
                break;
            }
        }
    }
    best
}

/// The best of some trials, the first where several are.
fn least(trials: Vec<SearchPoint>) -> SearchPoint {
    let none = SearchPoint {
        task: Vec::new(),
        value: f64::INFINITY,
    };
    trials.into_iter().fold(none, |best, trial| {
        if trial.value < best.value {
            trial
        } else {
            best
        }
    })
}

/// A step up and a step down in each parameter.
fn poll(
    search_problem: &SearchProblem<'_>,
    free: &[usize],
    best: &SearchPoint,
    step: f64,
) -> Vec<SearchPoint> {
    let steps = free
        .iter()
        .flat_map(|&index| [(index, step), (index, -step)]);
    let tasks = steps.map(|(index, step)| {
        let mut task = best.task.clone();
        task[index] += step * search_problem.widths[index];
        search_problem.retract(&best.task, task, false)
    });
    search_problem.evaluate(tasks.collect())
}

/// The slope along each parameter, in units of its width, as far as the space lets it be followed.
fn slopes(
    search_problem: &SearchProblem<'_>,
    free: &[usize],
    best: &SearchPoint,
    polls: &[SearchPoint],
) -> Vec<f64> {
    let slope = |(&index, pair): (&usize, &[SearchPoint])| {
        let [up, down] = pair else { return 0.0 };
        // A trial that was brought back sideways mixes slopes: the other of the pair is cleaner.
        let (to, from) = match [up, down].map(|trial| straight(best, trial, index)) {
            [true, false] => (up, best),
            [false, true] => (best, down),
            _ => (up, down),
        };
        let moved = (to.task[index] - from.task[index]) / search_problem.widths[index];
        let slope = (to.value - from.value) / moved;
        if slope.is_finite() { slope } else { 0.0 }
    };
    let slopes: Vec<f64> = free.iter().zip(polls.chunks_exact(2)).map(slope).collect();
    allowed(search_problem, free, best, &slopes)
}

/// Whether a trial differs from the best in one parameter only.
fn straight(best: &SearchPoint, trial: &SearchPoint, index: usize) -> bool {
    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
    let (before, after) = (0..index, index + 1..best.task.len());
    [before, after].into_iter().all(|range| {
        let pairs = best.task[range.clone()].iter().zip(&trial.task[range]);
        pairs.into_iter().all(same)
    })
}

/// The part of a slope that the space lets a task follow: where downhill leaves the space, a short
/// move is brought back to the boundary, and what remains of it lies along the boundary.
fn allowed(
    search_problem: &SearchProblem<'_>,
    free: &[usize],
    best: &SearchPoint,
    slopes: &[f64],
) -> Vec<f64> {
    const SHORT: f64 = 1e-5;
    let length = linalg::norm(slopes) / SHORT;
    if length == 0.0 {
        return slopes.to_vec();
    }
    let mut task = best.task.clone();
    for (&index, slope) in free.iter().zip(slopes) {
        task[index] -= slope / length * search_problem.widths[index];
    }
    let task = search_problem.retract(&best.task, task, false);
    let moved = |&index: &usize| (best.task[index] - task[index]) / search_problem.widths[index];
    free.iter().map(|index| moved(index) * length).collect()
}

/// Longer moves: along the model's descent, and once more along the last success.
fn moves(
    search_problem: &SearchProblem<'_>,
    free: &[usize],
    best: &SearchPoint,
    previous: Option<&SearchPoint>,
    descent: &[f64],
) -> Vec<Vec<f64>> {
    let along = |length: f64| {
        let mut task = best.task.clone();
        for (&index, direction) in free.iter().zip(descent) {
            task[index] += length * direction * search_problem.widths[index];
        }
        task
    };
    let mut tasks: Vec<Vec<f64>> = [4.0, 1.0, 0.25, 0.0625].map(along).to_vec();
    if let Some(previous) = previous {
        let steps = best.task.iter().zip(&previous.task);
        tasks.push(steps.map(|(now, then)| now + (now - then)).collect());
    }
    let finite = tasks
        .into_iter()
        .filter(|task| task.iter().all(|w| w.is_finite()));
    finite
        .map(|task| search_problem.retract(&best.task, task, false))
        .collect()
}

/// The inverse Hessian as BFGS estimates it, in units of the widths.
struct QuadraticModel {
    inverse: Vec<Vec<f64>>,
    last: Option<(Vec<f64>, Vec<f64>)>,
    learnt: bool,
}

impl QuadraticModel {
    fn new(dim: usize) -> Self {
        let unit = |i: usize| (0..dim).map(|j| f64::from(u8::from(i == j))).collect();
        Self {
            inverse: (0..dim).map(unit).collect(),
            last: None,
            learnt: false,
        }
    }

    /// Takes in the slope at a task.
    fn learn(&mut self, free: &[usize], widths: &[f64], task: &[f64], slope: &[f64]) {
        let scaled = free.iter().map(|&index| task[index] / widths[index]);
        let at: Vec<f64> = scaled.collect();
        if let Some((then, before)) = self.last.replace((at.clone(), slope.to_vec())) {
            let s: Vec<f64> = at.iter().zip(&then).map(|(a, b)| a - b).collect();
            let y: Vec<f64> = slope.iter().zip(&before).map(|(a, b)| a - b).collect();
            let curvature = linalg::dot(&s, &y);
            if curvature > 1e-10 * linalg::norm(&s) * linalg::norm(&y) {
                self.update(&s, &y, curvature);
            }
        }
    }

    /// `H ← (I − s yᵀ/c) H (I − y sᵀ/c) + s sᵀ/c`, with `c = s · y`.
    fn update(&mut self, s: &[f64], y: &[f64], curvature: f64) {
        if !self.learnt {
            // The first step sets the scale.
            let scale = curvature / linalg::dot(y, y);
            self.inverse.iter_mut().flatten().for_each(|h| *h *= scale);
            self.learnt = true;
        }
        let hy: Vec<f64> = self.inverse.iter().map(|row| linalg::dot(row, y)).collect();
        let factor = (1.0 + linalg::dot(y, &hy) / curvature) / curvature;
        for (i, row) in self.inverse.iter_mut().enumerate() {
            for (j, h) in row.iter_mut().enumerate() {
                *h += factor * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / curvature;
            }
        }
    }

    /// The direction to descend along.
    fn descent(&self, slope: &[f64], step: f64) -> Vec<f64> {
        if self.learnt {
            let rows = self.inverse.iter();
            let descent: Vec<f64> = rows.map(|row| -linalg::dot(row, slope)).collect();
            if linalg::dot(&descent, slope) < 0.0 {
                return descent;
            }
        }
        // Nothing learnt yet: straight downhill.
        let length = linalg::norm(slope);
        let scale = if length > 0.0 {
            -2.0 * step / length
        } else {
            0.0
        };
        slope.iter().map(|slope| scale * slope).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{LinearConstraint, Space};

    /// Polishes from a start and returns what is found.
    fn polished(
        space: &Space,
        start: &[f64],
        objective: &(dyn Fn(&[f64]) -> f64 + Sync),
    ) -> SearchPoint {
        let batch = |rows: &[f64], values: &mut [f64]| {
            for (row, value) in rows.chunks(start.len()).zip(values) {
                *value = objective(row);
            }
        };
        let search_problem = SearchProblem::new(space, &batch);
        let start = search_problem.evaluate(vec![start.to_vec()]);
        polish(&search_problem, least(start), 400)
    }

    #[test]
    fn a_curved_valley_is_followed_to_its_end() {
        let space = Space::boxed(vec![-2.0; 2], vec![2.0; 2]).unwrap();
        let rosenbrock = |w: &[f64]| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2);
        let found = polished(&space, &[-1.2, 1.0], &rosenbrock);
        assert!(found.value < 1e-12, "{found:?}");
    }

    #[test]
    fn a_kink_is_found() {
        let space = Space::boxed(vec![-2.0; 3], vec![2.0; 3]).unwrap();
        let kink = |w: &[f64]| (w[0] - 0.3).abs() + (w[1] + 0.7).abs() + 3.0 * w[2].abs();
        let found = polished(&space, &[1.0, 1.0, 1.0], &kink);
        assert!(found.value < 1e-6, "{found:?}");
    }

    #[test]
    fn an_oblique_face_is_slid_along() {
        // The nearest point of w1 + w2 + w3 ≤ 0 to (1, 2, 3) is (−1, 0, 1).
        let cut = LinearConstraint {
            normal: vec![1.0; 3],
            bound: 0.0,
        };
        let cube = Space::boxed(vec![-5.0; 3], vec![5.0; 3]).unwrap();
        let space = Space::constrained(cube, vec![cut]).unwrap();
        let distance =
            |w: &[f64]| (w[0] - 1.0).powi(2) + (w[1] - 2.0).powi(2) + (w[2] - 3.0).powi(2);
        let found = polished(&space, &[-2.0, 1.5, -4.0], &distance);
        assert!((found.value - 12.0).abs() < 1e-7, "{found:?}");
    }
}
