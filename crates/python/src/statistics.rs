//! Sufficient statistics of rows, without copying arrays.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::ndarray::Array2;
use numpy::{IntoPyArray as _, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use taskscout::data::Statistics as Sums;

use crate::errors::{Result, json, of_json, raised};
use crate::threads::detached;

/// `Σ xxᵀ`, `Σ xy`, `Σ y²` and the number of rows.
#[pyclass(frozen, module = "taskscout._native")]
pub(crate) struct Statistics {
    sums: Mutex<Sums>,
}

impl Statistics {
    fn of(sums: Sums) -> Self {
        Self {
            sums: Mutex::new(sums),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn copy(&self, py: Python<'_>) -> Sums {
        detached(py, || self.lock().clone())
    }
}

#[pymethods]
impl Statistics {
    #[new]
    fn new(inputs: usize, outputs: usize) -> Self {
        Self::of(Sums::new(inputs, outputs))
    }

    /// Statistics from their JSON.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let sums: Result<Sums> = of_json(text);
        Ok(Self::of(sums.map_err(raised)?))
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.copy(py)).map_err(raised)
    }

    /// Adds rows; all of them or none.
    fn update(
        &self,
        py: Python<'_>,
        inputs: PyReadonlyArray2<'_, f64>,
        outputs: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<()> {
        let (x, y) = (inputs.as_slice()?, outputs.as_slice()?);
        let added: Result<()> = detached(py, || Ok(self.lock().accumulate_slices(x, y)?));
        added.map_err(raised)
    }

    /// Adds the statistics of other rows.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let other = other.copy(py);
        let added: Result<()> = detached(py, || Ok(self.lock().merge(&other)?));
        added.map_err(raised)
    }

    /// Rows, inputs and outputs.
    fn shape(&self, py: Python<'_>) -> (usize, usize, usize) {
        detached(py, || {
            let sums = self.lock();
            (sums.count(), sums.dim(), sums.outputs())
        })
    }

    fn gram<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let sums = self.copy(py);
        let gram = sums.gram();
        let entry = |i: usize, j: usize| gram[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
        let shape = (sums.dim(), sums.dim());
        Array2::from_shape_fn(shape, |(i, j)| entry(i, j)).into_pyarray(py)
    }

    /// `Σ xy`, a column for each output.
    fn moment<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let sums = self.copy(py);
        let shape = (sums.dim(), sums.outputs());
        Array2::from_shape_fn(shape, |(i, o)| sums.cross_moment(o)[i]).into_pyarray(py)
    }

    fn squares<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let sums = self.copy(py);
        let squares: Vec<f64> = (0..sums.outputs())
            .map(|o| sums.sum_of_squares(o))
            .collect();
        squares.into_pyarray(py)
    }

    /// Ridge regression with a penalty from the data: coefficients, a column for each output, and noise variances.
    fn ridge<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<f64>)> {
        let sums = self.copy(py);
        let fits: Result<Vec<_>> = detached(py, || {
            let fit = |output| taskscout::train::ridge(&sums, output).map_err(Into::into);
            (0..sums.outputs()).map(fit).collect()
        });
        let fits = fits.map_err(raised)?;
        let shape = (sums.dim(), sums.outputs());
        let coefficients = Array2::from_shape_fn(shape, |(i, o)| fits[o].coefficients[i]);
        let noise = fits.iter().map(|fit| fit.noise).collect();
        Ok((coefficients.into_pyarray(py), noise))
    }
}
