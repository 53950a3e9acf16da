//! A continuous space as a list of its tasks, for methods that choose from a list.
//!
//! Of a ball the points lie on the surface: a shorter task tells less of the same direction. Of any other continuous space they
//! are drawn uniformly. A list of many parameters is coarse however long it is: of `n` random directions in `d`
//! dimensions the one nearest to a given direction has a cosine of about `√(2 ln n / d)`.
//!
//! ```
//! use taskscout::rng::{Purpose, derive};
//! use taskscout::space::{Space, TaskSpace};
//! let ball = Space::ball(3, 2.0)?;
//! let list = ball.discretised(50, &mut derive(1, Purpose::Plan, &[]))?;
//! assert_eq!(list.count(), Some(50));
//! let tasks = list.tasks().unwrap_or_default();
//! assert!(tasks.iter().all(|task| ball.contains(task)));
//! # Ok::<(), taskscout::Error>(())
//! ```

use super::{Space, TaskSpace as _};
use crate::error::{Error, Result};
use crate::linalg;
use crate::rng::Rng;

impl Space {
    /// So many tasks of a continuous space as a list; a finite space as it is.
    ///
    /// # Errors
    /// No tasks asked for, or a space that cannot be drawn from.
    pub fn discretised(&self, count: usize, rng: &mut Rng) -> Result<Self> {
        if self.count().is_some() {
            return Ok(self.clone());
        }
        if count == 0 {
            return Err(Error::setting(
                "count",
                "is 0: a list needs at least one task",
            ));
        }
        let mut tasks = Vec::with_capacity(count);
        for _ in 0..count {
            let mut task = self.sample(rng)?;
            if let Self::Ball(ball) = self {
                let scale = ball.radius() / linalg::norm(&task);
                task.iter_mut().for_each(|value| *value *= scale);
            }
            tasks.push(task);
        }
        Self::list(&tasks)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::rng::{Purpose, derive};

    #[test]
    fn points_of_a_ball_lie_on_its_surface_and_others_inside() {
        let mut rng = derive(3, Purpose::Test, &[]);
        let ball = Space::ball(4, 1.5).unwrap();
        let tasks = ball.discretised(40, &mut rng).unwrap().tasks().unwrap();
        for task in &tasks {
            assert!((linalg::norm(task) - 1.5).abs() < 1e-12, "{task:?}");
        }
        let boxed = Space::boxed(vec![0.0, -1.0], vec![2.0, 1.0]).unwrap();
        let list = boxed.discretised(40, &mut rng).unwrap();
        let tasks = list.tasks().unwrap();
        assert_eq!(tasks.len(), 40);
        assert!(tasks.iter().all(|task| boxed.contains(task)));
        assert_eq!(list.discretised(7, &mut rng).unwrap(), list);
        let error = boxed.discretised(0, &mut rng).unwrap_err();
        assert!(error.to_string().contains("at least one"), "{error}");
    }
}
