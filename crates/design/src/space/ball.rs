//! The ball `{w : ‖w‖ ≤ radius}`.
//!
//! With identity features the best atom is `radius · v`, with `v` the top eigenvector of `H`,
//! signed so that its entry of largest magnitude is positive; where no eigenvalue is positive it
//! is the centre.
//!
//! ```
//! use taskscout::rng::{Purpose, derive};
//! use taskscout::space::{Space, TaskSpace};
//! let space = Space::ball(3, 2.0)?;
//! let task = space.sample(&mut derive(1, Purpose::Plan, &[0]))?;
//! assert!(space.contains(&task));
//! let why = space.check(&[3.0, 0.0, 0.0]).unwrap_err().to_string();
//! assert!(why.contains("its norm is 3, which exceeds the radius 2 by 1"));
//! # Ok::<(), taskscout::Error>(())
//! ```

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};
use serde::{Deserialize, Serialize};

use super::region::{Leaf, Region, RegionPart, TOLERANCE, brief};
use super::{Atom, MAX_DIM, QuadraticForm, check_dim};
use crate::error::{Error, Result};
use crate::linalg;
use crate::rng::Rng;

/// All tasks of norm at most `radius`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Ball {
    dim: usize,
    radius: f64,
}

impl Ball {
    /// The ball around zero in `dim` dimensions.
    pub fn new(dim: usize, radius: f64) -> Result<Self> {
        check_dim("dim", dim, MAX_DIM)?;
        if !(radius.is_finite() && radius > 0.0) {
            let problem = format!("is {radius}: it must be a finite number above 0");
            return Err(Error::setting("radius", problem));
        }
        Ok(Self { dim, radius })
    }

    /// Number of parameters of a task.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The radius.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The best atom for identity features.
    pub(super) fn top_eigenvector(&self, form: &QuadraticForm<'_>) -> Result<Atom> {
        let (values, vectors) = linalg::eigen(form.matrix, "a quadratic form")?;
        let mut task = vec![0.0; self.dim];
        if values.first().is_some_and(|&top| top > 0.0) {
            task = linalg::column(vectors.as_ref(), 0);
            let scale = self.radius / linalg::norm(&task) * sign(&task);
            task.iter_mut().for_each(|value| *value *= scale);
        }
        let value = form.value(&task);
        Ok(Atom {
            task,
            value,
            exact: true,
        })
    }
}

/// The sign of the entry of largest magnitude, of the first such where several are as large.
fn sign(vector: &[f64]) -> f64 {
    let largest = vector.iter().fold(0.0_f64, |top, v| top.max(v.abs()));
    let entry = vector.iter().find(|v| v.abs() >= largest * (1.0 - 1e-9));
    entry.map_or(1.0, |v| v.signum())
}

impl Region for Ball {
    fn dim(&self) -> usize {
        self.dim
    }

    fn holds(&self, task: &[f64]) -> bool {
        linalg::norm(task) <= self.radius * (1.0 + TOLERANCE)
    }

    fn breach(&self, task: &[f64]) -> Option<String> {
        let norm = linalg::norm(task);
        (!self.holds(task)).then(|| {
            format!(
                "its norm is {}, which exceeds the radius {} by {}",
                brief(norm),
                brief(self.radius),
                brief(norm - self.radius)
            )
        })
    }

    fn draw(&self, rng: &mut Rng, task: &mut [f64]) -> Result<()> {
        let mut norm = 0.0;
        while norm == 0.0 {
            task.iter_mut()
                .for_each(|value| *value = StandardNormal.sample(rng));
            norm = linalg::norm(task);
        }
        // The share of the ball within radius r is r^d.
        let radius = self.radius * rng.random::<f64>().powf(1.0 / self.dim as f64);
        task.iter_mut().for_each(|value| *value *= radius / norm);
        Ok(())
    }

    fn settle(&self, task: &mut [f64]) -> bool {
        let norm = linalg::norm(task);
        if norm > self.radius {
            let scale = self.radius / norm;
            task.iter_mut().for_each(|value| *value *= scale);
        }
        true
    }

    fn chord(&self, task: &[f64], direction: &[f64]) -> (f64, f64) {
        let a = linalg::dot(direction, direction);
        if a == 0.0 {
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        let b = linalg::dot(task, direction);
        let inside = (self.radius * self.radius - linalg::dot(task, task)).max(0.0);
        let root = (b * b + a * inside).sqrt();
        ((-b - root) / a, (-b + root) / a)
    }

    fn leaves<'a>(&'a self, start: usize, leaves: &mut Vec<Leaf<'a>>) {
        let part = RegionPart::Ball(self);
        leaves.push(Leaf { start, part });
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    dim: usize,
    #[serde(default = "unit")]
    radius: f64,
}

fn unit() -> f64 {
    1.0
}

impl TryFrom<Raw> for Ball {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.dim, raw.radius)
    }
}

impl From<Ball> for Raw {
    fn from(ball: Ball) -> Self {
        Self {
            dim: ball.dim,
            radius: ball.radius,
        }
    }
}

#[cfg(test)]
mod tests {
    use faer::mat;

    use super::*;
    use crate::features::FeatureMap;
    use crate::rng::{Purpose, derive};

    #[test]
    fn the_sign_is_fixed_and_a_negative_form_gives_the_centre() {
        let ball = Ball::new(2, 3.0).unwrap();
        let features = FeatureMap::identity(2).unwrap();
        let top = |matrix: faer::Mat<f64>| {
            let matrix = matrix.as_ref();
            let form = QuadraticForm {
                features: &features,
                matrix,
            };
            ball.top_eigenvector(&form).unwrap()
        };
        let atom = top(mat![[1.0, -2.0], [-2.0, 4.0]]);
        let expected = [-3.0 / 5.0_f64.sqrt(), 6.0 / 5.0_f64.sqrt()];
        assert!((atom.task[0] - expected[0]).abs() < 1e-12);
        assert!((atom.task[1] - expected[1]).abs() < 1e-12);
        assert!((atom.value - 45.0).abs() < 1e-11);
        let atom = top(mat![[-1.0, 0.0], [0.0, -2.0]]);
        assert_eq!(atom.task, [0.0, 0.0]);
        assert_eq!(atom.value.to_bits(), 0.0_f64.to_bits());
    }

    /// Half of the mass of a d-ball lies within `2^{-1/d}` of the radius.
    #[test]
    fn samples_fill_the_ball_evenly() {
        let ball = Ball::new(5, 2.0).unwrap();
        let mut rng = derive(3, Purpose::Plan, &[]);
        let mut task = [0.0; 5];
        let (mut inner, mut right) = (0, 0);
        for _ in 0..4000 {
            ball.draw(&mut rng, &mut task).unwrap();
            inner += i32::from(linalg::norm(&task) < 2.0 * 0.5_f64.powf(0.2));
            right += i32::from(task[0] > 0.0);
        }
        // 2000 ± 5 standard deviations of 31.6.
        assert!((inner - 2000).abs() < 158, "{inner}");
        assert!((right - 2000).abs() < 158, "{right}");
    }

    #[test]
    fn the_chord_ends_on_the_sphere() {
        let ball = Ball::new(2, 1.0).unwrap();
        let (low, high) = ball.chord(&[0.6, 0.0], &[0.0, 2.0]);
        assert!((low + 0.4).abs() < 1e-12 && (high - 0.4).abs() < 1e-12);
    }
}
