//! Task spaces of Python.

use std::sync::Arc;

use faer::MatRef;
use pyo3::prelude::*;
use rand::RngExt as _;
use serde::Deserialize;
use taskscout::registry::Registry;
use taskscout::rng::Rng;
use taskscout::space::{Atom, QuadraticForm, TaskSpace};
use taskscout::{Error, Result as TaskResult};

use super::{Function, of_array, to_array};
use crate::errors::{Result, of_json};

/// Tasks that are drawn to find the best one.
const DRAWS: usize = 4096;

/// What the facade says of it.
#[derive(Debug, Clone, Copy, Deserialize)]
struct About {
    dim: usize,
}

/// `function("sample", n, seed)` draws tasks, and `function("contains", tasks, 0)` says which are in the space.
#[derive(Debug, Clone)]
struct PythonSpace {
    about: About,
    function: Arc<Function>,
}

pub(super) fn register(registry: &mut Registry, about: &str, function: Function) -> Result<()> {
    let name = function.name.clone();
    let space = PythonSpace {
        about: of_json(about)?,
        function: Arc::new(function),
    };
    registry.space_with(&name, move |_| Ok(Arc::new(space.clone())))?;
    Ok(())
}

impl PythonSpace {
    /// So many tasks, row after row.
    fn draw(&self, count: usize, rng: &mut Rng) -> TaskResult<Vec<f64>> {
        let seed = rng.random::<u64>() >> 1;
        let shape = [count, self.about.dim];
        self.function
            .call(|function| of_array(&function.call1(("sample", count, seed))?, shape))
    }

    /// The drawn task with the smallest value.
    fn least(&self, tasks: &[f64], values: impl Iterator<Item = f64>) -> TaskResult<Atom> {
        let finite = tasks
            .chunks_exact(self.about.dim)
            .zip(values)
            .filter(|(_, value)| value.is_finite());
        let best = finite.min_by(|a, b| a.1.total_cmp(&b.1));
        let (task, value) = best.ok_or_else(|| {
            Error::State(format!(
                "no task that `{}` draws has a finite value: check its tasks and the task features",
                self.function.name
            ))
        })?;
        Ok(Atom {
            task: task.to_vec(),
            value,
            exact: false,
        })
    }
}

impl TaskSpace for PythonSpace {
    fn dim(&self) -> usize {
        self.about.dim
    }

    fn check(&self, task: &[f64]) -> TaskResult<()> {
        let inside: bool = self.function.call(|function| {
            let rows = to_array(function.py(), task, self.about.dim);
            function.call1(("contains", rows, 0))?.extract()
        })?;
        if inside {
            return Ok(());
        }
        Err(Error::OutsideSpace {
            task: format!("{task:?}"),
            reason: format!("`{}` does not contain it", self.function.name),
        })
    }

    fn sample(&self, rng: &mut Rng) -> TaskResult<Vec<f64>> {
        self.draw(1, rng)
    }

    fn best_atom(&self, form: &QuadraticForm<'_>, rng: &mut Rng) -> TaskResult<Atom> {
        let tasks = self.draw(DRAWS, rng)?;
        // All at once: the features may be functions of Python too.
        let dim = form.features.dim();
        let mut features = vec![0.0; DRAWS * dim];
        form.features.apply(&tasks, &mut features);
        let rows = MatRef::from_row_major_slice(&features, DRAWS, dim);
        let turned = rows * form.matrix;
        let value = |i: usize| -> f64 { (0..dim).map(|j| turned[(i, j)] * rows[(i, j)]).sum() };
        let mut atom = self.least(&tasks, (0..DRAWS).map(|i| -value(i)))?;
        atom.value = -atom.value;
        Ok(atom)
    }

    fn minimise(
        &self,
        objective: &(dyn Fn(&[f64]) -> f64 + Sync),
        rng: &mut Rng,
    ) -> TaskResult<Atom> {
        let tasks = self.draw(DRAWS, rng)?;
        let values = tasks.chunks_exact(self.about.dim).map(objective);
        self.least(&tasks, values)
    }
}
