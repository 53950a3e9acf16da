//! Feature maps of Python.

use std::sync::Arc;

use pyo3::prelude::*;
use serde::Deserialize;
use taskscout::features::Features;
use taskscout::registry::Registry;

use super::{Function, of_array, to_array};
use crate::errors::{Result, of_json};

/// What the facade says of it.
#[derive(Debug, Deserialize)]
struct About {
    input_dim: usize,
    dim: usize,
}

/// `function(X)` gives the features of rows.
#[derive(Debug)]
struct PythonFeatures {
    about: About,
    function: Function,
}

pub(super) fn register(registry: &mut Registry, about: &str, function: Function) -> Result<()> {
    let name = function.name.clone();
    let map = PythonFeatures {
        about: of_json(about)?,
        function,
    };
    registry.features(&name, Arc::new(map))?;
    Ok(())
}

impl Features for PythonFeatures {
    fn input_dim(&self) -> usize {
        self.about.input_dim
    }

    fn dim(&self) -> usize {
        self.about.dim
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        let About { input_dim, dim } = self.about;
        let made = self.function.call(|function| {
            let rows = to_array(function.py(), rows, input_dim);
            of_array(&function.call1((rows,))?, [out.len() / dim.max(1), dim])
        });
        match made {
            Ok(made) => out.copy_from_slice(&made),
            // Whatever uses these numbers refuses them, and the exception is raised instead.
            Err(_) => out.fill(f64::NAN),
        }
    }
}
