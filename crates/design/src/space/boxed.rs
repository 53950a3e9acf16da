//! The box `{w : low ≤ w ≤ high}`, parameter by parameter.
//!
//! With identity features and `H ⪰ 0` the form is convex, so its maximum is at a corner: with at
//! most 16 parameters all corners are scanned. Otherwise the result of a search is improved by
//! exact ascent in one parameter at a time, from several starts.
//!
//! ```
//! use taskscout::space::{Space, TaskSpace};
//! let space = Space::boxed(vec![-1.0, 0.0], vec![1.0, 5.0])?;
//! let why = space.check(&[0.0, 6.5]).unwrap_err().to_string();
//! assert!(why.contains("parameter 1 is 6.5, which exceeds its upper bound 5 by 1.5"));
//! # Ok::<(), taskscout::Error>(())
//! ```

use faer::MatRef;
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::region::{Leaf, Region, RegionPart, TOLERANCE, brief, intersect};
use super::{MAX_DIM, check_dim};
use crate::error::{Error, Result};
use crate::linalg;
use crate::rng::Rng;

/// All tasks between two corners.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct AxisBox {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl AxisBox {
    /// The box between `low` and `high`; a parameter with equal bounds is fixed.
    pub fn new(low: Vec<f64>, high: Vec<f64>) -> Result<Self> {
        check_dim("low", low.len(), MAX_DIM)?;
        Error::check_length("`high`", low.len(), high.len())?;
        for (key, bounds) in [("low", &low), ("high", &high)] {
            Error::check_finite(bounds, |index| format!("`{key}` value {index}"))?;
        }
        for (index, (low, high)) in low.iter().zip(&high).enumerate() {
            if low > high {
                let problem = format!(
                    "value {index} is {}, above the upper bound {}: swap them or correct one",
                    brief(*low),
                    brief(*high)
                );
                return Err(Error::setting("low", problem));
            }
            if !(high - low).is_finite() {
                let problem = format!("value {index} is too far from its lower bound");
                return Err(Error::setting("high", problem));
            }
        }
        Ok(Self { low, high })
    }

    /// Number of parameters of a task.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.low.len()
    }

    /// The lower bounds.
    #[must_use]
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// The upper bounds.
    #[must_use]
    pub fn high(&self) -> &[f64] {
        &self.high
    }

    /// The parameters that can vary.
    pub(super) fn free(&self) -> Vec<usize> {
        let bounds = self.low.iter().zip(&self.high).enumerate();
        let free = bounds.filter(|(_, (low, high))| low < high);
        free.map(|(index, _)| index).collect()
    }

    /// Climbs the form `wᵀ H w` from a start and from random corners; the best top found.
    pub(super) fn climb(
        &self,
        matrix: MatRef<'_, f64>,
        start: Vec<f64>,
        rng: &mut Rng,
    ) -> Vec<f64> {
        const CORNERS: usize = 16;
        let mut best = start;
        self.ascend(matrix, &mut best);
        let mut top = linalg::quadratic(matrix, &best);
        for _ in 0..CORNERS {
            let bounds = self.low.iter().zip(&self.high);
            let mut task: Vec<f64> = bounds
                .map(|(low, high)| if rng.random() { *low } else { *high })
                .collect();
            self.ascend(matrix, &mut task);
            let value = linalg::quadratic(matrix, &task);
            if value > top {
                (best, top) = (task, value);
            }
        }
        best
    }

    /// Maximises `wᵀ H w` over one parameter after the other until none helps.
    fn ascend(&self, matrix: MatRef<'_, f64>, task: &mut [f64]) {
        const SWEEPS: usize = 100;
        let free = self.free();
        let mut slope = linalg::apply(matrix, task);
        for _ in 0..SWEEPS {
            let mut moved = false;
            for &i in &free {
                let step = self.best_step(i, task[i], slope[i], matrix[(i, i)]);
                let gain = step * (2.0 * slope[i] + step * matrix[(i, i)]);
                let size = (task[i] * slope[i]).abs() + step.abs() * slope[i].abs();
                if gain > 1e-13 * size {
                    task[i] = (task[i] + step).clamp(self.low[i], self.high[i]);
                    for (j, slope) in slope.iter_mut().enumerate() {
                        *slope += step * matrix[(j, i)];
                    }
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }

    /// The step of parameter `i` that maximises `2 δ slope + δ² curvature` inside its bounds.
    fn best_step(&self, i: usize, at: f64, slope: f64, curvature: f64) -> f64 {
        let (down, up) = (self.low[i] - at, self.high[i] - at);
        if curvature < 0.0 {
            return (-slope / curvature).clamp(down, up);
        }
        let gain = |step: f64| step * (2.0 * slope + step * curvature);
        if gain(up) >= gain(down) { up } else { down }
    }
}

/// What rounding may put a value beyond a bound.
fn slack(low: f64, high: f64) -> f64 {
    TOLERANCE * low.abs().max(high.abs()).max(high - low)
}

impl Region for AxisBox {
    fn dim(&self) -> usize {
        self.low.len()
    }

    fn holds(&self, task: &[f64]) -> bool {
        let bounds = self.low.iter().zip(&self.high);
        task.iter().zip(bounds).all(|(&value, (&low, &high))| {
            let slack = slack(low, high);
            value <= high + slack && value >= low - slack
        })
    }

    fn breach(&self, task: &[f64]) -> Option<String> {
        let bounds = self.low.iter().zip(&self.high);
        for (index, (&value, (&low, &high))) in task.iter().zip(bounds).enumerate() {
            let slack = slack(low, high);
            let (side, verb, bound) = if value > high + slack {
                ("upper", "exceeds", high)
            } else if value < low - slack {
                ("lower", "falls below", low)
            } else {
                continue;
            };
            return Some(format!(
                "parameter {index} is {}, which {verb} its {side} bound {} by {}",
                brief(value),
                brief(bound),
                brief((value - bound).abs())
            ));
        }
        None
    }

    fn draw(&self, rng: &mut Rng, task: &mut [f64]) -> Result<()> {
        for (value, (low, high)) in task.iter_mut().zip(self.low.iter().zip(&self.high)) {
            *value = (low + (high - low) * rng.random::<f64>()).clamp(*low, *high);
        }
        Ok(())
    }

    fn settle(&self, task: &mut [f64]) -> bool {
        for (value, (low, high)) in task.iter_mut().zip(self.low.iter().zip(&self.high)) {
            *value = value.clamp(*low, *high);
        }
        true
    }

    fn chord(&self, task: &[f64], direction: &[f64]) -> (f64, f64) {
        let mut inside = (f64::NEG_INFINITY, f64::INFINITY);
        for (index, (&value, &slope)) in task.iter().zip(direction).enumerate() {
            if slope == 0.0 {
                continue;
            }
            let ends = [self.low[index], self.high[index]].map(|bound| (bound - value) / slope);
            inside = intersect(inside, (ends[0].min(ends[1]), ends[0].max(ends[1])));
        }
        inside
    }

    fn leaves<'a>(&'a self, start: usize, leaves: &mut Vec<Leaf<'a>>) {
        let part = RegionPart::Box(self);
        leaves.push(Leaf { start, part });
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl TryFrom<Raw> for AxisBox {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.low, raw.high)
    }
}

impl From<AxisBox> for Raw {
    fn from(space: AxisBox) -> Self {
        Self {
            low: space.low,
            high: space.high,
        }
    }
}

#[cfg(test)]
mod tests {
    use faer::mat;

    use super::*;
    use crate::rng::{Purpose, derive};

    #[test]
    fn bad_bounds_are_named() {
        for (low, high, expected) in [
            (vec![], vec![], "`low` is 0"),
            (vec![0.0], vec![1.0, 2.0], "`high` has 2 values where 1"),
            (vec![0.0, f64::NAN], vec![1.0, 1.0], "`low` value 1 is NaN"),
            (vec![0.0, 2.0], vec![1.0, 1.0], "`low` value 1 is 2, above"),
            (vec![-1e308], vec![1e308], "`high` value 0 is too far"),
        ] {
            let message = AxisBox::new(low, high).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn a_concave_parameter_is_solved_inside() {
        // −w1² + 2·0.5·w1·w2 + w2² on [−1, 1]²: w2 = ±1, w1 = ±0.5.
        let space = AxisBox::new(vec![-1.0; 2], vec![1.0; 2]).unwrap();
        let matrix = mat![[-1.0, 0.5], [0.5, 1.0]];
        let mut rng = derive(0, Purpose::Search, &[]);
        let task = space.climb(matrix.as_ref(), vec![0.1, 0.2], &mut rng);
        assert!((linalg::quadratic(matrix.as_ref(), &task) - 1.25).abs() < 1e-12);
    }

    #[test]
    fn a_fixed_parameter_stays_fixed() {
        let space = AxisBox::new(vec![2.0, 0.0], vec![2.0, 1.0]).unwrap();
        assert_eq!(space.free(), [1]);
        let mut rng = derive(0, Purpose::Plan, &[]);
        let mut task = [0.0; 2];
        space.draw(&mut rng, &mut task).unwrap();
        assert_eq!(task[0].to_bits(), 2.0_f64.to_bits());
        assert!(space.breach(&[2.0 + 1e-10, 0.5]).is_none());
        assert!(space.holds(&[2.0 + 1e-10, 0.5]) && !space.holds(&[1.5, 0.5]));
        let reason = space.breach(&[1.5, 0.5]).unwrap();
        assert!(
            reason.contains("falls below its lower bound 2 by 0.5"),
            "{reason}"
        );
    }
}
