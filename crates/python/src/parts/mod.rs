//! Parts of a study that are written in Python: features, spaces, strategies and trainers.
//!
//! The facade hands each over as a function that takes arrays and gives arrays of the right shape. What it raises
//! cannot pass through Rust, which has errors of its own: it is kept in [`Raised`] on the way, and raised when the call
//! of the study ends, with its own traceback.

mod features;
mod space;
mod strategy;
mod trainer;
mod training_data;

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::ndarray::ArrayView2;
use numpy::{PyArray2, PyReadonlyArray2, PyUntypedArrayMethods as _, ToPyArray as _};
use pyo3::prelude::*;
use taskscout::registry::Registry;
use taskscout_lab::parts::{check_names, with_networks};

pub(crate) use strategy::TaskSite;

use crate::errors::{Result, raised};

thread_local! {
    /// The studies whose parts this thread is inside of, by where they keep exceptions.
    static INSIDE: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// What a function of Python raised in a call of Rust.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps an exception, the first of several, and says that there is one.
    fn keep(&self, name: &str, exception: PyErr) -> taskscout::Error {
        let said = format!("`{name}` raised an exception: {exception}");
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(exception);
        taskscout::Error::State(said)
    }

    fn place(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether this thread is inside a part of the study already: it would wait for itself.
    pub(crate) fn is_inside(&self) -> bool {
        INSIDE.with_borrow(|inside| inside.contains(&self.place()))
    }

    /// A result as Python gets it: the exception, if there was one, else what Rust says.
    pub(crate) fn or<T>(&self, done: Result<T>) -> PyResult<T> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match kept {
            Some(exception) => Err(exception),
            None => done.map_err(raised),
        }
    }
}

/// A function of Python under the name of its part.
#[derive(Debug)]
pub(crate) struct Function {
    name: String,
    function: Py<PyAny>,
    raised: Raised,
}

impl Function {
    fn new(name: &str, function: Py<PyAny>, raised: &Raised) -> Self {
        Self {
            name: name.to_owned(),
            function,
            raised: raised.clone(),
        }
    }

    /// Calls it, whichever thread this is.
    fn call<T>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> taskscout::Result<T> {
        INSIDE.with_borrow_mut(|inside| inside.push(self.raised.place()));
        let done = Python::attach(|py| work(self.function.bind(py)));
        INSIDE.with_borrow_mut(Vec::pop);
        done.map_err(|exception| self.raised.keep(&self.name, exception))
    }
}

/// A part as the facade hands it over: kind, name, settings as JSON, and a function.
pub(crate) type Part = (String, String, String, Py<PyAny>);

/// The registry with the networks of the library and with the parts of the user's own.
pub(crate) fn registry(parts: Vec<Part>, raised: &Raised) -> Result<Registry> {
    let mut registry = Registry::new();
    for (kind, name, about, function) in parts {
        let function = Function::new(&name, function, raised);
        match kind.as_str() {
            "features" => features::register(&mut registry, &about, function)?,
            "space" => space::register(&mut registry, &about, function)?,
            "strategy" => strategy::register(&mut registry, &about, function)?,
            _ => trainer::register(&mut registry, &about, function)?,
        }
    }
    check_names(&registry)?;
    with_networks(&registry)
}

/// Rows as an array of Python.
fn to_array<'py>(py: Python<'py>, rows: &[f64], width: usize) -> Bound<'py, PyArray2<f64>> {
    let shape = (rows.len() / width.max(1), width);
    match ArrayView2::from_shape(shape, rows) {
        Ok(view) => view.to_pyarray(py),
        Err(_) => PyArray2::zeros(py, shape, false),
    }
}

/// The rows of an array that the facade made: of this shape, one row after the other.
fn of_array(array: &Bound<'_, PyAny>, shape: [usize; 2]) -> PyResult<Vec<f64>> {
    let array: PyReadonlyArray2<'_, f64> = array.extract()?;
    if array.shape() != shape {
        let said = format!("an array of the shape {:?}, not {shape:?}", array.shape());
        return Err(crate::errors::InputError::new_err(said));
    }
    Ok(array.as_slice()?.to_vec())
}
