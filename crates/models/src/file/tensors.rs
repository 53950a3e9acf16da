//! The tensors of a file: named blocks of doubles.

use faer::{Mat, MatRef};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors};
use serde_json::{Map, Value, json};

use super::checksum::Checksum;
use crate::error::{Error, Result, check_finite};

/// Where the checksum stands in the metadata.
const CHECKSUM: &str = "checksum";
/// The type of every tensor.
const KIND: &str = "F64";
/// Bytes of a number.
const WIDTH: usize = 8;
/// The largest header that readers of the format accept.
const LARGEST_HEADER: usize = 100_000_000;

/// Gathers tensors.
#[derive(Debug, Default)]
pub(super) struct Writer {
    tensors: Vec<(String, Vec<usize>, Vec<f64>)>,
}

impl Writer {
    /// Adds a vector.
    pub(super) fn vector(&mut self, name: impl Into<String>, values: &[f64]) {
        self.tensors
            .push((name.into(), vec![values.len()], values.to_vec()));
    }

    /// Adds a matrix, whatever its order in memory.
    pub(super) fn matrix(&mut self, name: impl Into<String>, matrix: MatRef<'_, f64>) {
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        let values = (0..rows)
            .flat_map(|i| (0..columns).map(move |j| matrix[(i, j)]))
            .collect();
        self.tensors
            .push((name.into(), vec![rows, columns], values));
    }

    /// Adds rows of equal length.
    pub(super) fn rows(&mut self, name: impl Into<String>, rows: &[Vec<f64>]) {
        let columns = rows.first().map_or(0, Vec::len);
        self.tensors
            .push((name.into(), vec![rows.len(), columns], rows.concat()));
    }

    /// The bytes of the file. Written here and not by the `safetensors` crate, which orders the
    /// metadata anew in every run: the same model must give the same bytes.
    pub(super) fn finish(mut self, mut metadata: Vec<(&str, String)>) -> Result<Vec<u8>> {
        self.tensors.sort_by(|a, b| a.0.cmp(&b.0));
        let checksum = self.checksum(&mut metadata);
        metadata.push((CHECKSUM, checksum));
        let mut header = Map::new();
        let pairs = metadata
            .into_iter()
            .map(|(key, text)| (key.to_owned(), Value::String(text)));
        header.insert("__metadata__".into(), Value::Object(pairs.collect()));
        let mut end = 0;
        for (name, shape, values) in &self.tensors {
            let start = end;
            end += values.len() * WIDTH;
            let info = json!({"dtype": KIND, "shape": shape, "data_offsets": [start, end]});
            header.insert(name.clone(), info);
        }
        let mut text = serde_json::to_string(&header).map_err(Error::description)?;
        text.extend(std::iter::repeat_n(
            ' ',
            text.len().next_multiple_of(WIDTH) - text.len(),
        ));
        if text.len() > LARGEST_HEADER {
            return Err(Error::Absent(format!(
                "the description of the model takes {} bytes where the format allows {LARGEST_HEADER}: leave out the task space",
                text.len()
            )));
        }
        let mut bytes = Vec::with_capacity(WIDTH + text.len() + end);
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
        for (_, _, values) in &self.tensors {
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        Ok(bytes)
    }

    /// The checksum of sorted tensors and of the metadata, which are sorted here.
    fn checksum(&self, metadata: &mut [(&str, String)]) -> String {
        metadata.sort();
        let mut checksum = Checksum::default();
        for (key, text) in metadata {
            checksum.entry(key, text);
        }
        for (name, shape, values) in &self.tensors {
            checksum.tensor(name, KIND, shape);
            for value in values {
                checksum.bytes(&value.to_le_bytes());
            }
        }
        checksum.text()
    }
}

/// The tensors of a file that was read.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    tensors: SafeTensors<'a>,
    metadata: Map<String, Value>,
}

impl<'a> Reader<'a> {
    /// Looks at the header; no number is copied yet.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self> {
        let (_, header) =
            SafeTensors::read_metadata(bytes).map_err(|error| broken(bytes, &error))?;
        let metadata = header
            .metadata()
            .iter()
            .flatten()
            .map(|(key, text)| (key.clone(), Value::String(text.clone())))
            .collect();
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| broken(bytes, &error))?;
        Ok(Self { tensors, metadata })
    }

    /// Refuses content that is not what the checksum was taken of; files of earlier versions have
    /// none.
    pub(super) fn check_sum(&self) -> Result<()> {
        let Some(expected) = self.metadata(CHECKSUM) else {
            return Ok(());
        };
        let mut checksum = Checksum::default();
        let mut entries: Vec<_> = self.metadata.iter().collect();
        entries.retain(|(key, _)| *key != CHECKSUM);
        entries.sort_by_key(|(key, _)| *key);
        for (key, text) in entries {
            checksum.entry(key, text.as_str().unwrap_or_default());
        }
        let mut tensors = self.tensors.tensors();
        tensors.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, tensor) in &tensors {
            checksum.tensor(name, &format!("{:?}", tensor.dtype()), tensor.shape());
            checksum.bytes(tensor.data());
        }
        match checksum.text() == expected {
            true => Ok(()),
            false => Err(Error::Damaged),
        }
    }

    /// An entry of the metadata.
    pub(super) fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key)?.as_str()
    }

    /// Whether there is a tensor of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// A tensor of two dimensions, none of them 0: rows, columns, and the numbers row by row.
    fn block(&self, name: &str) -> Result<(usize, usize, Vec<f64>)> {
        let (shape, values) = self.values(name)?;
        match shape[..] {
            [rows, columns] if rows > 0 && columns > 0 => Ok((rows, columns, values)),
            _ => Err(wrong(name, &shape, "a matrix with entries")),
        }
    }

    /// A matrix.
    pub(super) fn matrix(&self, name: &str) -> Result<Mat<f64>> {
        let (rows, columns, values) = self.block(name)?;
        Ok(Mat::from_fn(rows, columns, |i, j| values[i * columns + j]))
    }

    /// Rows of equal length.
    pub(super) fn rows(&self, name: &str) -> Result<Vec<Vec<f64>>> {
        let (_, columns, values) = self.block(name)?;
        Ok(values.chunks_exact(columns).map(<[f64]>::to_vec).collect())
    }

    /// A vector.
    pub(super) fn vector(&self, name: &str) -> Result<Vec<f64>> {
        let (shape, values) = self.values(name)?;
        match shape[..] {
            [_] => Ok(values),
            _ => Err(wrong(name, &shape, "a vector")),
        }
    }

    fn values(&self, name: &str) -> Result<(Vec<usize>, Vec<f64>)> {
        let view = self
            .tensors
            .tensor(name)
            .map_err(|_| Error::MissingTensor {
                tensor: name.to_owned(),
            })?;
        if view.dtype() != Dtype::F64 {
            return Err(Error::WrongTensor {
                tensor: name.to_owned(),
                found: format!("of type {:?}", view.dtype()),
                expected: "F64".into(),
            });
        }
        let values: Vec<f64> = view
            .data()
            .chunks_exact(WIDTH)
            .map(|bytes| {
                bytes
                    .iter()
                    .rev()
                    .fold(0, |bits, &byte| bits << 8 | u64::from(byte))
            })
            .map(f64::from_bits)
            .collect();
        check_finite(values.iter().copied(), |i| {
            format!("value {i} of tensor `{name}`")
        })?;
        Ok((view.shape().to_vec(), values))
    }
}

/// The error for a tensor of another shape.
pub(super) fn wrong(name: &str, shape: &[usize], expected: &str) -> Error {
    Error::WrongTensor {
        tensor: name.to_owned(),
        found: format!("of shape {shape:?}"),
        expected: expected.to_owned(),
    }
}

/// Tells a file that lost its end from one that never was a safetensors file.
fn broken(bytes: &[u8], error: &SafeTensorError) -> Error {
    let found = bytes.len();
    let Some(Ok(length)) = bytes.get(..WIDTH).map(<[u8; WIDTH]>::try_from) else {
        return match found {
            0 => Error::CutShort {
                found,
                needed: WIDTH,
            },
            _ => Error::NotSafetensors {
                problem: format!("{found} bytes are too few for one"),
            },
        };
    };
    let needed = u64::from_le_bytes(length)
        .saturating_add(WIDTH as u64)
        .try_into()
        .unwrap_or(usize::MAX);
    let begins = bytes.get(WIDTH).is_none_or(|&byte| byte == b'{');
    if needed > found && needed <= LARGEST_HEADER && begins {
        return Error::CutShort { found, needed };
    }
    // The header is whole: where it promises more than there is, the numbers were cut.
    let header = bytes.get(WIDTH..needed).unwrap_or_default();
    let promised = promised(header).and_then(|end| end.checked_add(needed));
    match (error, promised) {
        (SafeTensorError::MetadataIncompleteBuffer, Some(needed)) if needed > found => {
            Error::CutShort { found, needed }
        }
        _ => Error::NotSafetensors {
            problem: error.to_string().replace('\n', " "),
        },
    }
}

/// Bytes of numbers that a header promises.
fn promised(header: &[u8]) -> Option<usize> {
    let header: Map<String, Value> = serde_json::from_slice(header).ok()?;
    let ends = header
        .values()
        .filter_map(|info| info.get("data_offsets")?.get(1)?.as_u64());
    ends.max()?.try_into().ok()
}
