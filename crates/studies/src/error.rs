//! What ends a command on a study: one clear sentence with place and remedy, and an exit code.

pub use taskscout_lab::error::{LabError as Error, Result};
use taskscout_store::Error as StoreError;

/// What a store refuses is bad input; what it could not do is a failure.
pub(crate) fn of_store(error: StoreError) -> Error {
    match error {
        StoreError::Exists { .. }
        | StoreError::NoStudy { .. }
        | StoreError::NoRecord { .. }
        | StoreError::Foreign { .. }
        | StoreError::Newer { .. }
        | StoreError::Invalid(_) => Error::Input(error.to_string()),
        other => Error::Failure(other.to_string()),
    }
}

/// Takes a sentence to be about a setting.
pub(crate) fn about(path: &str) -> impl Fn(Error) -> Error {
    move |error| match error {
        Error::Input(sentence) => Error::about(path, sentence),
        other => other,
    }
}
