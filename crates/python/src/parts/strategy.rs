//! Strategies of Python.

use std::sync::Arc;

use numpy::ndarray::Array2;
use numpy::{IntoPyArray as _, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use serde::Deserialize;
use taskscout::data::Stage;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::registry::Registry;
use taskscout::rng::{Purpose, derive};
use taskscout::space::{Space, TaskSpace as _};
use taskscout::strategy::{Decision, Knowledge, PlanContext, PlanItem, Strategy};

use super::{Function, Raised, to_array};
use crate::errors::{InputError, Result, of_json};
use crate::threads::detached;

/// What the facade says of it.
#[derive(Debug, Clone, Copy, Deserialize)]
struct About {
    needs_model: bool,
}

/// `function(about, site, need, given, maps, targets)` gives tasks with counts and reasons.
#[derive(Debug, Clone)]
struct PythonStrategy {
    about: About,
    function: Arc<Function>,
}

pub(super) fn register(registry: &mut Registry, about: &str, function: Function) -> Result<()> {
    let name = function.name.clone();
    let strategy = PythonStrategy {
        about: of_json(about)?,
        function: Arc::new(function),
    };
    registry.strategy_with(&name, move |_| Ok(Arc::new(strategy.clone())))?;
    Ok(())
}

/// Where tasks are chosen: the space and the features of tasks.
#[pyclass(frozen, module = "taskscout._native")]
#[derive(Debug)]
pub(crate) struct TaskSite {
    space: Space,
    features: FeatureMap,
    raised: Raised,
}

#[pymethods]
impl TaskSite {
    /// The features of tasks.
    fn features<'py>(
        &self,
        py: Python<'py>,
        tasks: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = tasks.as_slice()?;
        let dim = self.features.dim();
        if tasks.shape()[1] != self.features.input_dim() {
            let said = format!(
                "tasks have {} parameters, not {}",
                self.features.input_dim(),
                tasks.shape()[1]
            );
            return Err(InputError::new_err(said));
        }
        let mut out = vec![0.0; tasks.shape()[0] * dim];
        detached(py, || self.features.apply(rows, &mut out));
        self.raised.or(Ok(()))?;
        Ok(to_array(py, &out, dim))
    }

    /// Tasks drawn from the space.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let drawn: Result<Vec<f64>> = detached(py, || {
            let mut rng = derive(seed, Purpose::Plan, &[]);
            let mut rows = Vec::with_capacity(count * self.space.dim());
            for _ in 0..count {
                rows.extend(self.space.sample(&mut rng)?);
            }
            Ok(rows)
        });
        Ok(to_array(py, &self.raised.or(drawn)?, self.space.dim()))
    }

    /// All tasks, where they can be listed.
    fn tasks<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        let rows = self.space.task_matrix()?;
        Some(to_array(py, &rows, self.space.dim()))
    }

    /// The names of all tasks, where they can be listed.
    fn names(&self) -> Option<Vec<String>> {
        let name = |index| Some(self.space.task_at(index)?.id.to_string());
        (0..self.space.count()?).map(name).collect()
    }
}

/// A matrix as an array of Python.
fn array<'py>(py: Python<'py>, matrix: faer::MatRef<'_, f64>) -> Bound<'py, PyArray2<f64>> {
    let shape = (matrix.nrows(), matrix.ncols());
    Array2::from_shape_fn(shape, |(i, j)| matrix[(i, j)]).into_pyarray(py)
}

/// The numbers of a context.
fn about(context: &PlanContext<'_>) -> String {
    let rows = context.rows.iter();
    serde_json::json!({
        "round": context.round,
        "budget": context.budget,
        "seed": context.seed,
        "warming_up": context.warming_up,
        "active_rounds": context.active_rounds,
        "left": context.left,
        "rows": rows.map(|(task, rows)| (task.parameters(), rows)).collect::<Vec<_>>(),
    })
    .to_string()
}

/// The source parts of the task map, one for each output.
fn maps<'py>(
    py: Python<'py>,
    knowledge: &Knowledge<'_>,
    sources: usize,
) -> Vec<Bound<'py, PyArray2<f64>>> {
    let map = &knowledge.model.map;
    let outputs = map.matrix().ncols() / map.task_dim().max(1);
    (0..outputs)
        .map(|output| array(py, map.source_part(output, sources)))
        .collect()
}

impl PythonStrategy {
    fn lines(
        &self,
        context: &PlanContext<'_>,
    ) -> taskscout::Result<Vec<(Vec<f64>, usize, String)>> {
        let site = TaskSite {
            space: context.space.clone(),
            features: context.features.clone(),
            raised: self.function.raised.clone(),
        };
        let known = context.knowledge.as_ref();
        self.function.call(|function| {
            let py = function.py();
            let need = known.map(|known| array(py, known.need.as_ref()));
            let given = context.given.map(|given| array(py, given));
            let maps = known.map(|known| maps(py, known, context.features.dim()));
            let targets = known.map(|known| known.targets.clone());
            let about = about(context);
            function
                .call1((about, site, need, given, maps, targets))?
                .extract()
        })
    }
}

impl Strategy for PythonStrategy {
    fn plan(&self, context: &PlanContext<'_>) -> taskscout::Result<Decision> {
        let stage = if context.warming_up {
            Stage::WarmUp
        } else {
            Stage::Explore
        };
        let mut items = Vec::new();
        for (parameters, n, reason) in self.lines(context)? {
            context.space.check(&parameters)?;
            let task = context.space.task_of(&parameters);
            items.push(PlanItem::new(task, n, stage, &reason));
        }
        Ok(Decision::of(items))
    }

    fn needs_model(&self) -> bool {
        self.about.needs_model
    }
}
