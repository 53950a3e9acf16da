//! Functions of several tasks learnt together, for estimators in the manner of scikit-learn.

use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray as _, PyArray2, PyArray3, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use taskscout::data::{Samples, Stage, TaskData};
use taskscout::task::Task;
use taskscout::train::{JointRidge, PartialPooling, TrainContext, Trainer as _};
use taskscout_studies::Error;

use crate::errors::{OperationError, Result, raised};
use crate::threads::detached;

/// Representation (features × k), coefficients (tasks × outputs × features), noise variance and spectrum.
type Shared<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray3<f64>>,
    f64,
    Vec<f64>,
);

/// Coefficients of tasks (tasks × outputs × features), and those of a task to come (outputs × features).
type Pooled<'py> = (Bound<'py, PyArray3<f64>>, Bound<'py, PyArray2<f64>>);

/// Rows of one task after the other.
struct Rows<'a> {
    inputs: &'a [f64],
    outputs: &'a [f64],
    dims: (usize, usize),
    sizes: Vec<usize>,
}

impl Rows<'_> {
    /// The data, with the task features of each task.
    fn data(&self, task_dim: usize, features: impl Fn(usize) -> Vec<f64>) -> Result<TaskData> {
        let (d, m) = self.dims;
        let mut data = TaskData::new(d, m, task_dim);
        let mut start = 0;
        for (task, size) in self.sizes.iter().enumerate() {
            let end = start + size;
            let (Some(x), Some(y)) = (
                self.inputs.get(start * d..end * d),
                self.outputs.get(start * m..end * m),
            ) else {
                return Err(Error::Failure("tasks have more rows than there are".into()));
            };
            let rows = Samples::new(x.to_vec(), d, y.to_vec(), m)?;
            let id = Task::new(task.to_string(), vec![task as f64]);
            data.add_source_rows(&id, &features(task), Stage::WarmUp, 0, &rows)?;
            start = end;
        }
        Ok(data)
    }
}

fn rows<'a>(
    inputs: &'a PyReadonlyArray2<'_, f64>,
    outputs: &'a PyReadonlyArray2<'_, f64>,
    sizes: Vec<usize>,
) -> PyResult<Rows<'a>> {
    Ok(Rows {
        inputs: inputs.as_slice()?,
        outputs: outputs.as_slice()?,
        dims: (inputs.shape()[1], outputs.shape()[1]),
        sizes,
    })
}

/// A shared representation with a head for every task.
#[pyfunction]
#[pyo3(signature = (inputs, outputs, sizes, k, penalty))]
pub(crate) fn fit_shared<'py>(
    py: Python<'py>,
    inputs: PyReadonlyArray2<'py, f64>,
    outputs: PyReadonlyArray2<'py, f64>,
    sizes: Vec<usize>,
    k: Option<usize>,
    penalty: Option<f64>,
) -> PyResult<Shared<'py>> {
    let rows = rows(&inputs, &outputs, sizes)?;
    let (tasks, (d, m)) = (rows.sizes.len(), rows.dims);
    let one_hot = |task: usize| {
        let entry = |at: usize| f64::from(u8::from(at == task));
        (0..tasks).map(entry).collect::<Vec<f64>>()
    };
    let fitted: Result<_> = detached(py, || {
        let data = rows.data(tasks, one_hot)?;
        let trainer = JointRidge {
            lambda: penalty,
            ..JointRidge::default()
        };
        let context = TrainContext {
            k,
            ..TrainContext::default()
        };
        let model = trainer.model(&data, &context)?;
        let mut coefficients = Array3::zeros((tasks, m, d));
        let Some(phi) = model.representation.as_linear() else {
            return Err(Error::Failure("the representation is no matrix".into()));
        };
        for task in 0..tasks {
            for output in 0..m {
                let embedding = model.map.embedding(&one_hot(task), output)?;
                let own = phi.coefficients(&embedding);
                (0..d).for_each(|i| coefficients[(task, output, i)] = own[i]);
            }
        }
        let matrix = phi.matrix();
        let phi = Array2::from_shape_fn((d, matrix.ncols()), |(i, j)| matrix[(i, j)]);
        Ok((phi, coefficients, model.noise, model.spectrum))
    });
    let (phi, coefficients, noise, spectrum) = fitted.map_err(raised)?;
    let arrays = (phi.into_pyarray(py), coefficients.into_pyarray(py));
    Ok((arrays.0, arrays.1, noise, spectrum))
}

/// Functions of tasks that are drawn towards what all have in common: coefficients (tasks × outputs × features), and
/// those that a new task is expected to have (outputs × features). The first feature is the constant.
#[pyfunction]
pub(crate) fn fit_pooled<'py>(
    py: Python<'py>,
    inputs: PyReadonlyArray2<'py, f64>,
    outputs: PyReadonlyArray2<'py, f64>,
    sizes: Vec<usize>,
    effective_rows: f64,
) -> PyResult<Pooled<'py>> {
    let rows = rows(&inputs, &outputs, sizes)?;
    let (tasks, (d, m)) = (rows.sizes.len(), rows.dims);
    let fitted: Result<_> = detached(py, || {
        let mut data = rows.data(1, |_| vec![1.0])?;
        // Families are fitted for the sake of a target: one of which nothing is known stands for tasks to come.
        data.add_target("a new task", vec![1.0])?;
        let trainer = PartialPooling {
            groups: if d > 1 { vec![1, d - 1] } else { vec![1] },
            effective_rows,
            ..PartialPooling::default()
        };
        let model = trainer.model(&data, &TrainContext::default())?;
        let mut coefficients = Array3::zeros((tasks, m, d));
        let mut common = Array2::zeros((m, d));
        for (output, hierarchy) in model.structure.hierarchical_models().iter().enumerate() {
            for known in hierarchy.task_posteriors() {
                let Some(&task) = known.task.parameters().first() else {
                    continue;
                };
                for (i, value) in known.posterior.mean.iter().enumerate() {
                    coefficients[(task as usize, output, i)] = *value;
                }
            }
            let shared = model.map.embedding(&[1.0], output)?;
            for (i, value) in shared.iter().enumerate() {
                common[(output, i)] = *value;
            }
        }
        Ok((coefficients, common))
    });
    let (coefficients, common) = fitted.map_err(raised)?;
    if coefficients.iter().any(|value: &f64| !value.is_finite()) {
        return Err(OperationError::new_err(
            "the fit broke down: rescale the columns",
        ));
    }
    Ok((coefficients.into_pyarray(py), common.into_pyarray(py)))
}
