//! Limited-memory BFGS with a backtracking line search.

use std::collections::VecDeque;

use taskscout::Result;

/// Pairs of steps and gradient changes that the curvature is remembered by.
const MEMORY: usize = 12;
/// Part of the predicted decrease that a step must bring.
const ARMIJO: f64 = 1e-4;
/// Halvings of a step before the search gives up.
const MOST_HALVINGS: usize = 12;
/// Iterations in a row with hardly any decrease that end the descent.
const PATIENCE: usize = 3;

/// A function to be minimised, with its gradient.
pub(crate) trait Smooth {
    /// What is known of a point.
    type Value;

    fn evaluate(&mut self, theta: &[f64]) -> Result<Self::Value>;
    fn objective(value: &Self::Value) -> f64;
    fn gradient(value: &Self::Value) -> &[f64];
}

/// Where a descent ended.
pub(crate) struct Descent<V> {
    pub(crate) theta: Vec<f64>,
    pub(crate) value: V,
    pub(crate) iterations: usize,
    pub(crate) converged: bool,
    pub(crate) trace: Vec<f64>,
}

/// A step, the change of the gradient over it, and the product of the two.
type Pair = (Vec<f64>, Vec<f64>, f64);

/// Minimises from a start until the objective falls by less than `tolerance` of itself.
pub(crate) fn minimise<F: Smooth>(
    function: &mut F,
    start: Vec<f64>,
    limit: usize,
    tolerance: f64,
) -> Result<Descent<F::Value>> {
    let mut theta = start;
    let mut value = function.evaluate(&theta)?;
    let mut memory: VecDeque<Pair> = VecDeque::new();
    let (mut idle, mut converged, mut iterations) = (0, false, 0);
    let mut trace = vec![F::objective(&value)];
    while iterations < limit {
        let gradient = F::gradient(&value);
        let mut direction = direction(gradient, &memory);
        let mut slope = dot(&direction, gradient);
        if !slope.is_finite() || slope >= 0.0 {
            memory.clear();
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(gradient, gradient);
        }
        if !slope.is_finite() || slope >= -f64::MIN_POSITIVE {
            converged = slope.is_finite();
            break;
        }
        let length = if memory.is_empty() {
            // Without curvature: a step a tenth as long as the point is far from the origin.
            0.1 * norm(&theta).max(1.0) / norm(&direction)
        } else {
            1.0
        };
        let from = (&theta[..], F::objective(&value));
        let Some((at, found)) = search(function, from, (&direction, slope), length) else {
            if memory.is_empty() {
                converged = true;
                break;
            }
            memory.clear();
            continue;
        };
        iterations += 1;
        remember(&mut memory, [&theta, &at], [gradient, F::gradient(&found)]);
        let fall = F::objective(&value) - F::objective(&found);
        let small = fall <= tolerance * F::objective(&found);
        idle = if small { idle + 1 } else { 0 };
        (theta, value) = (at, found);
        trace.push(F::objective(&value));
        if idle >= PATIENCE {
            converged = true;
            break;
        }
    }
    Ok(Descent {
        theta,
        value,
        iterations,
        converged,
        trace,
    })
}

/// The first point along a direction, from a length downwards, that lowers the objective enough.
fn search<F: Smooth>(
    function: &mut F,
    (theta, objective): (&[f64], f64),
    (direction, slope): (&[f64], f64),
    first: f64,
) -> Option<(Vec<f64>, F::Value)> {
    let mut length = first;
    for _ in 0..MOST_HALVINGS {
        let along = theta.iter().zip(direction);
        let at: Vec<f64> = along.map(|(t, d)| t + length * d).collect();
        // A step so long that the equations break is too long.
        if let Ok(found) = function.evaluate(&at) {
            let reached = F::objective(&found);
            if reached.is_finite() && reached <= objective + ARMIJO * length * slope {
                return Some((at, found));
            }
        }
        length *= 0.4;
    }
    None
}

/// Keeps what a step says about the curvature, if it says something.
fn remember(memory: &mut VecDeque<Pair>, points: [&[f64]; 2], gradients: [&[f64]; 2]) {
    let [step, change] = [points, gradients].map(|[before, after]| {
        let both = after.iter().zip(before);
        both.map(|(a, b)| a - b).collect::<Vec<f64>>()
    });
    let curvature = dot(&step, &change);
    if curvature > 1e-10 * norm(&step) * norm(&change) {
        if memory.len() == MEMORY {
            memory.pop_front();
        }
        memory.push_back((step, change, curvature));
    }
}

/// The two-loop recursion.
fn direction(gradient: &[f64], memory: &VecDeque<Pair>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut weights = Vec::with_capacity(memory.len());
    for (step, change, curvature) in memory.iter().rev() {
        let weight = dot(step, &q) / curvature;
        axpy(&mut q, -weight, change);
        weights.push(weight);
    }
    if let Some((_, change, curvature)) = memory.back() {
        let scale = curvature / dot(change, change);
        q.iter_mut().for_each(|value| *value *= scale);
    }
    for ((step, change, curvature), weight) in memory.iter().zip(weights.iter().rev()) {
        let back = dot(change, &q) / curvature;
        axpy(&mut q, weight - back, step);
    }
    q
}

fn axpy(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(a, b)| *a += factor * b);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
