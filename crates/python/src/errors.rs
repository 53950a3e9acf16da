//! Errors as the package's own exceptions, with the sentence that Rust said.

use pyo3::PyErr;
use taskscout_lab::LabError;
use taskscout_studies::Error;

pyo3::import_exception!(taskscout.errors, InputError);
pyo3::import_exception!(taskscout.errors, OperationError);

/// A result of what may be bad input.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Bad input is a `ValueError` too, whatever else went wrong a `RuntimeError`.
pub(crate) fn raised(error: Error) -> PyErr {
    let message = in_python(&error.to_string());
    match error {
        Error::Failure(_) | Error::Closed => OperationError::new_err(message),
        _ => InputError::new_err(message),
    }
}

/// Whoever lacks a part in Python gives it to a function, not to a registry.
fn in_python(message: &str) -> String {
    if let Some((problem, _)) = message.split_once(": call `Registry::") {
        return format!("{problem}: give it to `load_study` as one of its `parts`");
    }
    if let Some((problem, _)) = message.split_once(": give another name to `Registry::") {
        return format!("{problem}: give yours another `name`");
    }
    message.to_owned()
}

/// What an experiment says, as bad input or as something that could not be done.
///
/// Options of the command are arguments in Python: `--budget-scale` is `budget_scale`.
pub(crate) fn of_lab(error: LabError) -> Error {
    let words = as_arguments(&error.to_string());
    match error {
        LabError::Failure(_) | LabError::Closed => Error::Failure(words),
        _ => Error::Input(words),
    }
}

fn as_arguments(sentence: &str) -> String {
    let mut parts = sentence.split("--");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part
            .find(|c: char| !c.is_ascii_lowercase() && c != '-')
            .unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        if name.is_empty() {
            said += &format!("--{rest}");
        } else {
            said += &format!("`{}`{rest}", name.replace('-', "_"));
        }
    }
    said
}

/// A value as JSON text.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Failure(error.to_string()))
}

/// A value from JSON text.
pub(crate) fn of_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        // Where in the text it is does not help somebody who never saw the text.
        let message = error.to_string();
        let words = message.split(" at line ").next().unwrap_or(&message);
        Error::Input(format!("a setting does not fit: {words}"))
    })
}
