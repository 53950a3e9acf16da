//! Models as safetensors files.
//!
//! Numbers are tensors in double precision, row-major, so that a model comes back bit for bit and any
//! safetensors library reads them; the rest is one JSON document in the file's metadata, beside
//! `format`, `format_version`, the names of inputs and outputs where they are known, and a checksum.
//! docs/reference/models.md lists the tensors.

mod checksum;
mod document;
mod maps;
mod tensors;

use std::path::Path;

use serde_json::Value;

use self::document::Document;
use self::tensors::{Reader, Writer};
use crate::error::{Error, Result};
use crate::model::SavedModel;
use crate::parts::Names;

/// What `format` says in the metadata.
const FORMAT: &str = "taskscout-model";
/// The newest version that is understood, and the one that is written.
const VERSION: u64 = 1;
/// Bytes of the largest file.
const LARGEST: u64 = 512 << 20;
/// Where the names of inputs and outputs stand in the metadata.
const INPUTS: &str = "inputs";
const OUTPUTS: &str = "outputs";
/// Where their units stand.
const UNITS: &str = "units";
const EXPRESSIONS: &str = "expressions";

impl SavedModel {
    /// Writes the model to a file, which is replaced in one step.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(taskscout_io::files::write_atomically(
            path,
            &self.to_bytes()?,
        )?)
    }

    /// Reads a model from a file.
    ///
    /// # Errors
    /// A file that cannot be read, is no model, is damaged, or is of a later format.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = taskscout_io::files::read(path, LARGEST).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::from_bytes(&bytes).map_err(|error| error.in_file(&path.display().to_string()))
    }

    /// The bytes of a file; the same model gives the same bytes.
    ///
    /// # Errors
    /// A description larger than the format allows, or code of the user's own.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.parts().check_plain()?;
        let mut writer = Writer::default();
        let document = Document::describe(self.parts(), &mut writer)?;
        let text = serde_json::to_string(&document).map_err(Error::description)?;
        let mut metadata = vec![
            ("format", FORMAT.to_owned()),
            ("format_version", VERSION.to_string()),
            ("model", text),
        ];
        // Beside the description, where versions that do not know of them pass them over.
        let names = &self.parts().names;
        for (key, names) in [(INPUTS, &names.inputs), (OUTPUTS, &names.outputs)] {
            if !names.is_empty() {
                let text = serde_json::to_string(names).map_err(Error::description)?;
                metadata.push((key, text));
            }
        }
        if let Some(units) = &names.units {
            let text = serde_json::to_string(units).map_err(Error::description)?;
            metadata.push((UNITS, text));
        }
        if let Some(expressions) = &names.expressions {
            let text = serde_json::to_string(expressions).map_err(Error::description)?;
            metadata.push((EXPRESSIONS, text));
        }
        writer.finish(metadata)
    }

    /// A model from the bytes of a file.
    ///
    /// # Errors
    /// As [`SavedModel::load`], without the name of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let reader = Reader::open(bytes)?;
        let text = check_format(&reader)?;
        reader.check_sum()?;
        let value: Value = serde_json::from_str(text).map_err(Error::description)?;
        let mut parts = Document::read(value, &reader)?;
        parts.names = Names {
            inputs: names(&reader, INPUTS)?,
            outputs: names(&reader, OUTPUTS)?,
            units: value_of(&reader, UNITS)?,
            expressions: value_of(&reader, EXPRESSIONS)?,
        };
        Self::new(parts)
    }
}

/// What the metadata have under a key; nothing in files of earlier versions.
fn value_of<T: serde::de::DeserializeOwned>(reader: &Reader<'_>, key: &str) -> Result<Option<T>> {
    let found = reader.metadata(key).map(serde_json::from_str);
    found.transpose().map_err(Error::description)
}

/// The names that the metadata have under a key; none in files of earlier versions.
fn names(reader: &Reader<'_>, key: &str) -> Result<Vec<String>> {
    match reader.metadata(key) {
        None => Ok(Vec::new()),
        Some(text) => serde_json::from_str(text).map_err(Error::description),
    }
}

/// The description, if the file is a model of a version that is understood.
fn check_format<'a>(reader: &'a Reader<'_>) -> Result<&'a str> {
    let absent = |problem: &str| Error::NotAModel {
        problem: problem.into(),
    };
    if reader.metadata("format") != Some(FORMAT) {
        return Err(absent("its metadata name another format or none"));
    }
    let version = reader.metadata("format_version").unwrap_or_default();
    let found: u64 = version
        .parse()
        .map_err(|_| absent("its format version is no number"))?;
    if found > VERSION {
        return Err(Error::Newer {
            found,
            known: VERSION,
        });
    }
    if found == 0 {
        return Err(absent("its format version is 0"));
    }
    reader
        .metadata("model")
        .ok_or_else(|| absent("its metadata lack the description"))
}
