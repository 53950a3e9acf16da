//! The cells of one column in one row group.

use ::parquet::basic::ConvertedType;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::ColumnDescriptor;

use super::Refusal;
use crate::tables::limit::{Exceeded, MemoryLimit, NUMBER, TEXT};
use crate::tables::number;
use crate::tables::table::Values;

/// Values decoded at a time, so that they stay in the cache until they are converted.
const BATCH: usize = 1 << 14;
/// Lists decoded at a time.
const BATCH_LISTS: usize = 1 << 10;
/// Bytes that the texts of a batch may take where each may begin as the one before.
const BATCH_TEXT: u64 = 64 << 20;

/// One column of one row group; nothing where bytes are not text.
pub(super) type Piece = Option<Values>;

/// What is to be read.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) column: &'a ColumnDescriptor,
    pub(super) rows: usize,
    /// Cells in all rows: more than rows where each holds a list.
    pub(super) values: u64,
    /// Whether numbers are names: integers to their last digit.
    pub(super) as_text: bool,
    /// Bytes of the largest page.
    pub(super) largest_page: u64,
    pub(super) limit: &'a MemoryLimit,
}

impl Wanted<'_> {
    /// Counts the cells, without what their text takes beyond a few letters.
    pub(super) fn take(&self) -> Result<(), Exceeded> {
        let text =
            self.as_text || self.column.physical_type() == ::parquet::basic::Type::BYTE_ARRAY;
        let cell = if text { TEXT } else { NUMBER };
        self.limit.take(self.values.saturating_mul(cell))
    }

    /// Reads them.
    pub(super) fn read(self, reader: ColumnReader) -> Result<Piece, Refusal> {
        let is_list = self.column.max_rep_level() > 0;
        match reader {
            reader if is_list => {
                let numbers = self.numbers(reader)?;
                Ok((!numbers.is_empty() || self.rows == 0).then_some(Values::Numbers(numbers)))
            }
            ColumnReader::ByteArrayColumnReader(reader) => self.texts(reader),
            reader if self.as_text => self.names(reader).map(|names| Some(Values::Text(names))),
            reader => {
                let numbers = self.numbers(reader)?;
                Ok(Some(Values::Numbers(numbers)))
            }
        }
    }

    fn is_unsigned(&self) -> bool {
        matches!(
            self.column.converted_type(),
            ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
        )
    }

    /// Digits after the point of a decimal.
    fn places(&self) -> i32 {
        match self.column.converted_type() {
            ConvertedType::DECIMAL => self.column.type_scale(),
            _ => 0,
        }
    }

    fn numbers(self, reader: ColumnReader) -> Result<Vec<f64>, Refusal> {
        use ColumnReader as Reader;
        let unit = 10f64.powi(self.places());
        let unsigned = self.is_unsigned();
        let empty = number::EMPTY;
        match reader {
            Reader::BoolColumnReader(reader) => {
                self.cells(reader, empty, |&value| f64::from(u8::from(value)))
            }
            Reader::Int32ColumnReader(reader) if unsigned => {
                self.cells(reader, empty, |value| f64::from(value.cast_unsigned()))
            }
            Reader::Int32ColumnReader(reader) => {
                self.cells(reader, empty, |&value| f64::from(value) / unit)
            }
            Reader::Int64ColumnReader(reader) if unsigned => {
                self.cells(reader, empty, |value| value.cast_unsigned() as f64)
            }
            Reader::Int64ColumnReader(reader) => {
                self.cells(reader, empty, |&value| value as f64 / unit)
            }
            Reader::FloatColumnReader(reader) => {
                self.cells(reader, empty, |&value| f64::from(value))
            }
            Reader::DoubleColumnReader(reader) => self.cells(reader, empty, |&value| value),
            _ => Err(changed_type()),
        }
    }

    /// Numbers that are names, to the last digit.
    fn names(self, reader: ColumnReader) -> Result<Vec<String>, Refusal> {
        use ColumnReader as Reader;
        let places = self.places();
        let unsigned = self.is_unsigned();
        let none = String::new();
        match reader {
            Reader::BoolColumnReader(reader) => {
                self.cells(reader, none, |&value| u8::from(value).to_string())
            }
            Reader::Int32ColumnReader(reader) if unsigned => {
                self.cells(reader, none, |value| value.cast_unsigned().to_string())
            }
            Reader::Int32ColumnReader(reader) => {
                self.cells(reader, none, |&value| decimal(value.into(), places))
            }
            Reader::Int64ColumnReader(reader) if unsigned => {
                self.cells(reader, none, |value| value.cast_unsigned().to_string())
            }
            Reader::Int64ColumnReader(reader) => {
                self.cells(reader, none, |&value| decimal(value, places))
            }
            Reader::FloatColumnReader(reader) => self.cells(reader, none, |&value| single(value)),
            Reader::DoubleColumnReader(reader) => {
                self.cells(reader, none, |&value| number::text(value))
            }
            _ => Err(changed_type()),
        }
    }

    fn texts(self, reader: ColumnReaderImpl<ByteArrayType>) -> Result<Piece, Refusal> {
        // A text of a few bytes in the file may repeat the megabytes before it.
        let batch = usize::try_from(BATCH_TEXT / self.largest_page.max(1)).unwrap_or(BATCH);
        let count = |values: &[ByteArray]| {
            let bytes = values.iter().map(|value| value.len() as u64).sum();
            self.limit.take(bytes).map_err(Refusal::TooLarge)
        };
        let utf8 = |value: &ByteArray| String::from_utf8(value.data().to_vec()).ok();
        let batch = batch.clamp(1, BATCH);
        let texts = self.batches(reader, batch, Some(String::new()), count, utf8)?;
        let texts: Option<Vec<String>> = texts.into_iter().collect();
        Ok(texts.map(Values::Text))
    }

    fn cells<T: DataType, V: Clone>(
        self,
        reader: ColumnReaderImpl<T>,
        null: V,
        convert: impl Fn(&T::T) -> V,
    ) -> Result<Vec<V>, Refusal> {
        self.batches(reader, BATCH, null, |_| Ok(()), convert)
    }

    /// Reads all rows; `null` stands where the file has no value, and `count` sees values before they
    /// are converted.
    fn batches<T: DataType, V: Clone>(
        self,
        mut reader: ColumnReaderImpl<T>,
        batch: usize,
        null: V,
        count: impl Fn(&[T::T]) -> Result<(), Refusal>,
        convert: impl Fn(&T::T) -> V,
    ) -> Result<Vec<V>, Refusal> {
        if self.column.max_rep_level() > 0 {
            return self.lists(reader, &null, convert);
        }
        let (rows, most) = (self.rows, self.column.max_def_level());
        let mut cells: Vec<V> = Vec::with_capacity(rows.min(1 << 20));
        let mut values = Vec::with_capacity(batch.min(rows));
        let mut levels: Vec<i16> = Vec::new();
        while cells.len() < rows {
            values.clear();
            levels.clear();
            let batch = batch.min(rows - cells.len());
            let (read, present, _) =
                reader.read_records(batch, Some(&mut levels), None, &mut values)?;
            if read == 0 {
                return Err(Refusal::Damaged(ParquetError::EOF(format!(
                    "a column ends after {} of {rows} rows",
                    cells.len()
                ))));
            }
            count(&values)?;
            if present == read {
                cells.extend(values.iter().map(&convert));
            } else {
                let mut values = values.iter();
                cells.extend(levels.iter().map(|&level| {
                    let value = if level == most { values.next() } else { None };
                    value.map_or_else(|| null.clone(), &convert)
                }));
            }
        }
        Ok(cells)
    }
}

impl Wanted<'_> {
    /// Reads the elements of all lists, row after row; none at all where lists differ in length.
    fn lists<T: DataType, V: Clone>(
        self,
        mut reader: ColumnReaderImpl<T>,
        null: &V,
        convert: impl Fn(&T::T) -> V,
    ) -> Result<Vec<V>, Refusal> {
        let most = self.column.max_def_level();
        let element = most - i16::from(self.column.self_type().is_optional());
        let (mut values, mut levels, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
        let (mut cells, mut starts) = (Vec::new(), Vec::with_capacity(self.rows.min(1 << 20)));
        while starts.len() < self.rows {
            values.clear();
            levels.clear();
            repeats.clear();
            let batch = BATCH_LISTS.min(self.rows - starts.len());
            let levels_too = (Some(&mut levels), Some(&mut repeats));
            let (read, _, _) =
                reader.read_records(batch, levels_too.0, levels_too.1, &mut values)?;
            if read == 0 {
                let problem = format!("a column ends after {} of {} rows", starts.len(), self.rows);
                return Err(Refusal::Damaged(ParquetError::EOF(problem)));
            }
            let mut found = values.iter();
            for (&level, &repeat) in levels.iter().zip(&repeats) {
                if repeat == 0 {
                    starts.push(cells.len());
                }
                if level == most {
                    cells.push(found.next().map_or_else(|| null.clone(), &convert));
                } else if level >= element {
                    cells.push(null.clone());
                }
            }
        }
        starts.push(cells.len());
        let width = starts.get(1).copied().unwrap_or(0);
        let even = starts.windows(2).all(|pair| pair[1] - pair[0] == width) && width > 0;
        if !even {
            cells.clear();
        }
        Ok(cells)
    }
}

fn changed_type() -> Refusal {
    Refusal::Damaged(ParquetError::General("a column changes its type".into()))
}

/// A number with so many digits after the point, exactly.
fn decimal(value: i64, places: i32) -> String {
    let Some(places) = usize::try_from(places).ok().filter(|&places| places > 0) else {
        return value.to_string();
    };
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = places + 1);
    let (whole, part) = digits.split_at(digits.len() - places);
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{whole}.{part}")
}

/// The shortest text that reads back as the same number in single precision.
fn single(value: f32) -> String {
    if value.is_finite() {
        return number::text(value.to_string().parse().unwrap_or(f64::from(value)));
    }
    number::text(f64::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_named_exactly() {
        for (value, places, name) in [
            (1_700_000_000_000_000_001, 0, "1700000000000000001"),
            (i64::MIN, 0, "-9223372036854775808"),
            (125, 2, "1.25"),
            (-5, 2, "-0.05"),
            (0, 1, "0.0"),
        ] {
            assert_eq!(decimal(value, places), name);
        }
        assert_eq!((single(0.1), single(7.0)), ("0.1".into(), "7".into()));
        assert_eq!(single(f32::INFINITY), "inf");
    }
}
