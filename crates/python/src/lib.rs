//! The native half of the Python package `taskscout`.
//!
//! It is small on purpose: classes that hold what Rust made, arrays in and out, all else as JSON text. What users see,
//! with types, names of columns and checks, is the package in `python/taskscout`, which is written in Python over it.
//! Long calls release the interpreter, so that other threads of Python go on.

#![expect(clippy::needless_pass_by_value, reason = "Python hands arguments over")]

mod design;
mod errors;
mod estimator;
mod experiment;
mod figures;
mod learn;
mod model;
mod parts;
mod statistics;
mod study;
mod threads;

use pyo3::prelude::*;

/// The native half of taskscout; use the package, not this module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::design::plan_design;
    #[pymodule_export]
    use crate::estimator::{fit_pooled, fit_shared};
    #[pymodule_export]
    use crate::experiment::{ExperimentRun, TrialRunner};
    #[pymodule_export]
    use crate::figures::{draw, summarise};
    #[pymodule_export]
    use crate::learn::learn_logs;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::parts::TaskSite;
    #[pymodule_export]
    use crate::statistics::Statistics;
    #[pymodule_export]
    use crate::study::{Study, list_studies};

    use super::{Bound, PyModule, PyModuleMethods as _, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::threads::settle();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
