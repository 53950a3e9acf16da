//! What can go wrong, said so that a user knows where and what to do.

use std::path::PathBuf;

/// Everything this crate can refuse or fail at.
///
/// Each message is one sentence that names the place and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be opened or read.
    #[error("cannot read {}: {source}; give the path of a saved model", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A table has other columns than a model takes.
    #[error("{0}")]
    Columns(String),
    /// A table cannot be read or written.
    #[error(transparent)]
    Table(#[from] taskscout_io::tables::Error),
    /// Predictions cannot be written as JSON.
    #[error("cannot write the predictions: {0}")]
    Json(#[source] serde_json::Error),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] taskscout_io::files::WriteError),
    /// Something is wrong with the content of a file.
    #[error("{file}: {problem}")]
    In {
        /// The file.
        file: String,
        /// What is wrong.
        #[source]
        problem: Box<Error>,
    },
    /// The bytes are something else than a safetensors file.
    #[error(
        "this is no safetensors file ({problem}): give a model that taskscout saved, or copy it again if it was one"
    )]
    NotSafetensors {
        /// What gives it away.
        problem: String,
    },
    /// The end of the file is missing.
    #[error(
        "the file is cut short, {found} bytes of at least {needed} are there: copy or save it again"
    )]
    CutShort {
        /// The bytes that are there.
        found: usize,
        /// The bytes that the beginning of the file promises.
        needed: usize,
    },
    /// The content is not that which was saved.
    #[error(
        "the file is damaged, its checksum is not that of its content: copy it again from where it was saved, or save it again"
    )]
    Damaged,
    /// A safetensors file of somebody else's.
    #[error(
        "this safetensors file holds no taskscout model ({problem}): give one that taskscout saved"
    )]
    NotAModel {
        /// What is missing.
        problem: String,
    },
    /// A model of a later format.
    #[error(
        "the model is of format version {found} and this taskscout ({}) reads up to version {known}: update taskscout, or export the model again with the version that saved it",
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The version of the file.
        found: u64,
        /// The newest version that is understood.
        known: u64,
    },
    /// The description inside a file cannot be understood.
    #[error("the description of the model cannot be understood ({problem}): save the model again")]
    Description {
        /// What the reader met.
        problem: String,
    },
    /// A tensor that the description asks for is not there.
    #[error("tensor `{tensor}` is missing: save the model again")]
    MissingTensor {
        /// Its name.
        tensor: String,
    },
    /// A tensor has another shape or type than the description asks for.
    #[error("tensor `{tensor}` is {found} where {expected} is needed: save the model again")]
    WrongTensor {
        /// Its name.
        tensor: String,
        /// The shape or type that is there.
        found: String,
        /// The shape or type that is needed.
        expected: String,
    },
    /// A number is NaN or infinite.
    #[error("{place} is {value}: a model needs finite numbers, so train and save it again")]
    NotFinite {
        /// Where.
        place: String,
        /// The number.
        value: f64,
    },
    /// Two parts of a model do not fit each other.
    #[error(
        "{part} has {found} values where {wants} {expected}: take all parts of a model from the same study"
    )]
    Misfit {
        /// The part.
        part: String,
        /// How many values it has.
        found: usize,
        /// What it has to fit, with a verb: `the feature map gives`.
        wants: String,
        /// How many would fit.
        expected: usize,
    },
    /// The random features of the file are not those that its seed draws here.
    #[error(
        "the random features of the file are not those that its seed draws in this version of taskscout: use the version that saved the model"
    )]
    OtherFeatures,
    /// A feature map of the user's own.
    #[error(
        "the feature map `{name}` is code of your own, which a file cannot hold: apply it to the inputs before they are told, and train with the identity map"
    )]
    CustomFeatures {
        /// The map's name.
        name: String,
    },
    /// A representation of the user's own.
    #[error(
        "{place} is code of your own, which a file cannot hold: give it as a matrix or a multilayer perceptron, or save it with the library that it comes from"
    )]
    CustomRepresentation {
        /// Which one.
        place: &'static str,
    },
    /// There is nothing of the kind in the model or the study.
    #[error("{0}")]
    Absent(String),
    /// Rows for a prediction do not fit the model.
    #[error("{found} values are no rows of {expected}: the model takes {expected} inputs a row")]
    Rows {
        /// Inputs of a row.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// A row for a prediction, or what it leads to, is NaN or infinite.
    #[error("{what} of row {row} is {value}: {remedy}")]
    Row {
        /// The input or output.
        what: String,
        /// The row, from 0.
        row: usize,
        /// The number.
        value: f64,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A number does not fit the single precision of an ONNX graph.
    #[error(
        "{place} is {value:e}, which single precision cannot hold: rescale the inputs or outputs and train again"
    )]
    TooLarge {
        /// Where.
        place: String,
        /// The number.
        value: f64,
    },
    /// A part does not suit the library.
    #[error(transparent)]
    Library(#[from] taskscout::Error),
}

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The same error with the name of the file that it was met in.
    pub(crate) fn in_file(self, file: &str) -> Self {
        Self::In {
            file: file.to_owned(),
            problem: Box::new(self),
        }
    }

    pub(crate) fn description(problem: impl std::fmt::Display) -> Self {
        Self::Description {
            problem: problem.to_string().replace('\n', " "),
        }
    }
}

/// Refuses numbers that are not finite; `place` names the one at an index.
pub(crate) fn check_finite(
    values: impl IntoIterator<Item = f64>,
    place: impl Fn(usize) -> String,
) -> Result<()> {
    let mut values = values.into_iter().enumerate();
    match values.find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some((index, value)) => Err(Error::NotFinite {
            place: place(index),
            value,
        }),
    }
}

/// Refuses parts that do not fit; `wants` is what the part has to fit, with a verb.
pub(crate) fn check_fit(part: &str, found: usize, wants: &str, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Misfit {
        part: part.to_owned(),
        found,
        wants: wants.to_owned(),
        expected,
    })
}
