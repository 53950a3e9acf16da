//! Optimal designs over arrays of candidates.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use serde::Deserialize;
use taskscout::design::{Campaign, Candidates, Criterion, Need};

use crate::errors::{Result, json, of_json, raised};
use crate::threads::detached;

/// What beside arrays a design asks for.
#[derive(Deserialize)]
struct Options {
    criterion: Criterion,
    budget: f64,
    switch_cost: f64,
    max_tasks: Option<usize>,
    min_samples: usize,
    capacities: Option<Vec<Option<usize>>>,
    required: Vec<usize>,
    forbidden: Vec<usize>,
    tolerance: f64,
}

/// Plans whole samples over candidates, for targets or for all directions; the plan as JSON.
///
/// Rows of candidates are embeddings; `given` is the information that is there already, `Σ n_w c_w c_wᵀ`.
#[pyfunction]
#[pyo3(signature = (candidates, targets, weights, costs, given, options))]
pub(crate) fn plan_design(
    py: Python<'_>,
    candidates: PyReadonlyArray2<'_, f64>,
    targets: Option<PyReadonlyArray2<'_, f64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    costs: Option<PyReadonlyArray1<'_, f64>>,
    given: Option<PyReadonlyArray2<'_, f64>>,
    options: &str,
) -> PyResult<String> {
    let rows = candidates.as_slice()?;
    let dim = candidates.shape()[1];
    let targets = targets.as_ref().map(|array| array.as_slice()).transpose()?;
    let weights = weights.as_ref().map(|array| array.as_slice()).transpose()?;
    let costs = costs.as_ref().map(|array| array.as_slice()).transpose()?;
    let given = given.as_ref().map(|array| array.as_slice()).transpose()?;
    let planned: Result<String> = detached(py, || {
        let options: Options = of_json(options)?;
        let mut table = Candidates::new(dim, rows)?;
        if let Some(costs) = costs {
            table = table.with_costs(costs.to_vec())?;
        }
        let need = targets.map_or(Need::Everything, |rows| Need::Targets { rows, weights });
        let campaign = Campaign {
            given: given.map(|values| faer::MatRef::from_row_major_slice(values, dim, dim)),
            switch_cost: options.switch_cost,
            max_tasks: options.max_tasks,
            min_samples: options.min_samples,
            capacities: options.capacities.as_deref(),
            required: &options.required,
            forbidden: &options.forbidden,
            tolerance: options.tolerance,
            ..Campaign::new(options.criterion, need, options.budget)
        };
        json(&campaign.plan(&table)?)
    });
    planned.map_err(raised)
}
