//! Trained models of a target.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray as _, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use taskscout_models::{Prediction, SavedModel};

use crate::errors::{Result, json, raised};
use crate::parts::Raised;
use crate::threads::detached;

/// A trained model of one target.
#[pyclass(frozen, module = "taskscout._native")]
pub(crate) struct Model {
    saved: SavedModel,
    /// What parts that are written in Python raise.
    raised: Raised,
}

impl Model {
    pub(crate) fn of(saved: SavedModel, raised: Raised) -> Self {
        Self { saved, raised }
    }
}

/// What Python gets of predictions: means, standard deviations of observations, those of the means.
type Arrays<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
);

#[pymethods]
impl Model {
    /// Reads a saved model.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        let loaded: Result<_> = detached(py, || Ok(SavedModel::load(path)?));
        Ok(Self::of(loaded.map_err(raised)?, Raised::default()))
    }

    /// The model of saved bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let loaded: Result<_> = SavedModel::from_bytes(bytes).map_err(Into::into);
        Ok(Self::of(loaded.map_err(raised)?, Raised::default()))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes: Result<_> = self.saved.to_bytes().map_err(Into::into);
        Ok(PyBytes::new(py, &bytes.map_err(raised)?))
    }

    /// Means, standard deviations of observations, and those of the means; a column for each output.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        inputs: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Arrays<'py>> {
        let rows = inputs.as_slice()?;
        let predicted: Result<Vec<Prediction>> = detached(py, || Ok(self.saved.predict(rows)?));
        let predicted = self.raised.or(predicted)?;
        let outputs = self.saved.outputs();
        let column = |of: fn(&Prediction) -> f64| {
            let values = predicted.iter().map(of).collect();
            let shaped = Array2::from_shape_vec((predicted.len() / outputs, outputs), values);
            shaped.map_err(|error| crate::errors::OperationError::new_err(error.to_string()))
        };
        Ok((
            column(|one| one.mean)?.into_pyarray(py),
            column(|one| one.std)?.into_pyarray(py),
            column(|one| one.model_std)?.into_pyarray(py),
        ))
    }

    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        let saved: Result<()> = detached(py, || Ok(self.saved.save(path)?));
        saved.map_err(raised)
    }

    fn save_onnx(&self, py: Python<'_>, path: std::path::PathBuf, std: bool) -> PyResult<()> {
        let saved: Result<()> = detached(py, || Ok(self.saved.save_onnx(path, std)?));
        saved.map_err(raised)
    }

    /// Where it comes from, and the names of its columns, as JSON.
    fn about(&self) -> PyResult<String> {
        let names = &self.saved.parts().names;
        let about = serde_json::json!({
            "provenance": self.saved.provenance(),
            "inputs": names.inputs,
            "outputs": names.outputs,
            "input_dim": self.saved.input_dim(),
            "output_dim": self.saved.outputs(),
        });
        json(&about).map_err(raised)
    }
}
