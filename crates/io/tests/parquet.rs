//! Parquet as a user meets it: every type that can be a column, and files that are damaged.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use taskscout_io::tables::{Column, MemoryLimit, ReadOptions, Table, Values, write_parquet};

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// A file of the given row groups, each written by the same function.
fn file(
    schema: &str,
    compression: Compression,
    groups: usize,
    write: impl Fn(&mut Group<'_>),
) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    // This encoding is the one whose decoder panics most readily on damaged bytes.
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_column_encoding("label".into(), Encoding::DELTA_BYTE_ARRAY)
        .set_column_dictionary_enabled("label".into(), false);
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    for _ in 0..groups {
        let mut group = writer.next_row_group().unwrap();
        write(&mut group);
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn column<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) {
    let mut writer = group.next_column().unwrap().unwrap();
    let typed = writer.typed::<T>();
    typed.write_batch(values, levels, None).unwrap();
    writer.close().unwrap();
}

const TYPES: &str = "message flight {
    REQUIRED BOOLEAN flag;
    REQUIRED INT32 small;
    REQUIRED INT32 count (UINT_32);
    OPTIONAL INT64 large;
    REQUIRED INT64 price (DECIMAL(10, 2));
    REQUIRED FLOAT single;
    OPTIONAL DOUBLE speed;
    OPTIONAL BYTE_ARRAY label (UTF8);
    OPTIONAL BOOLEAN blank;
    REQUIRED group wind { REQUIRED DOUBLE gust; }
}";

fn all_types(compression: Compression, groups: usize) -> Vec<u8> {
    file(TYPES, compression, groups, |group| {
        column::<BoolType>(group, &[true, false, true], None);
        column::<Int32Type>(group, &[-1, 0, i32::MAX], None);
        column::<Int32Type>(group, &[-1, 0, 1], None);
        column::<Int64Type>(group, &[1 << 53, -5], Some(&[1, 0, 1]));
        column::<Int64Type>(group, &[125, -50, 0], None);
        column::<FloatType>(group, &[0.5, -0.25, 1e10], None);
        column::<DoubleType>(group, &[0.1, f64::NAN], Some(&[1, 1, 0]));
        column::<ByteArrayType>(group, &["é".into(), "".into()], Some(&[1, 0, 1]));
        column::<BoolType>(group, &[], Some(&[0, 0, 0]));
        column::<DoubleType>(group, &[1.0, 2.0, 3.0], None);
    })
}

#[test]
fn every_type_and_compression_is_read() {
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let gzip = Compression::GZIP(parquet::basic::GzipLevel::default());
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, zstd, gzip] {
        for groups in [1, 3] {
            let bytes = all_types(compression, groups);
            let table = Table::read_parquet_bytes(bytes, "flight.parquet").unwrap();
            assert_eq!(table.rows(), 3 * groups);
            let numbers = |name: &str| table.numbers(name).unwrap();
            assert_eq!(numbers("flag"), [1.0, 0.0, 1.0].repeat(groups));
            assert_eq!(
                numbers("small"),
                [-1.0, 0.0, 2_147_483_647.0].repeat(groups)
            );
            assert_eq!(numbers("count"), [4_294_967_295.0, 0.0, 1.0].repeat(groups));
            assert_eq!(numbers("price"), [1.25, -0.5, 0.0].repeat(groups));
            assert_eq!(numbers("single"), [0.5, -0.25, 1e10].repeat(groups));
            assert_eq!(numbers("wind.gust"), [1.0, 2.0, 3.0].repeat(groups));
            let text = |name: &str| table.text(name).unwrap();
            assert_eq!(text("large"), ["9007199254740992", "", "-5"].repeat(groups));
            assert_eq!(text("speed"), ["0.1", "nan", ""].repeat(groups));
            assert_eq!(text("label"), ["é", "", ""].repeat(groups));
            assert_eq!(text("blank"), ["", "", ""].repeat(groups));
            assert!(!table.numeric_columns().contains(&"blank"));
        }
    }
}

#[test]
fn rows_are_named_by_their_number() {
    let bytes = all_types(Compression::SNAPPY, 2);
    let table = Table::read_parquet_bytes(bytes, "flight.parquet").unwrap();
    let message = |name: &str| table.numbers(name).unwrap_err().to_string();
    assert!(message("large").starts_with("row 1 of flight.parquet, column large, is empty: every"));
    assert!(message("speed").starts_with("row 1 of flight.parquet, column speed, is nan"));
    assert!(message("label").starts_with("row 0 of flight.parquet, column label, holds `é`"));
    assert_eq!(
        (table.line_of(1), table.place(4)),
        (None, "row 4 of flight.parquet".into())
    );
}

#[test]
fn what_cannot_be_a_column_is_left_out_and_named() {
    let schema = "message odd {
        REQUIRED DOUBLE x;
        OPTIONAL group path (LIST) { REPEATED group list { REQUIRED DOUBLE element; } }
        REQUIRED INT96 old;
        REQUIRED FIXED_LEN_BYTE_ARRAY(2) key;
        REQUIRED BYTE_ARRAY raw;
        REQUIRED INT64 __index_level_0__;
    }";
    let bytes = file(schema, Compression::SNAPPY, 1, |group| {
        column::<DoubleType>(group, &[1.5], None);
        let mut path = group.next_column().unwrap().unwrap();
        let typed = path.typed::<DoubleType>();
        typed
            .write_batch(&[1.0, 2.0], Some(&[2, 2]), Some(&[0, 1]))
            .unwrap();
        path.close().unwrap();
        column::<Int96Type>(group, &[Default::default()], None);
        column::<FixedLenByteArrayType>(group, &[vec![1u8, 2].into()], None);
        column::<ByteArrayType>(group, &[vec![0xffu8].into()], None);
        column::<Int64Type>(group, &[7], None);
    });
    let table = Table::read_parquet_bytes(bytes, "odd.parquet").unwrap();
    assert_eq!(table.numeric_columns(), ["x"]);
    assert_eq!(table.skipped().len(), 5);
    for (name, reason) in [
        ("path", "a list in each row"),
        ("old", "INT96"),
        ("key", "bytes"),
        ("raw", "not UTF-8"),
        ("__index_level_0__", "index of a data frame"),
    ] {
        let message = table.numbers(name).unwrap_err().to_string();
        let start = format!("column {name} of odd.parquet cannot be read: it");
        assert!(
            message.starts_with(&start) && message.contains(reason),
            "{message}"
        );
    }
}

/// Lists of each row in two row groups; no number stands for an element without a value, no element for a list without.
fn lists(rows: &[&[Option<f64>]], compression: Compression) -> Vec<u8> {
    let schema = "message lists {
        OPTIONAL group q (LIST) { REPEATED group list { OPTIONAL DOUBLE element; } }
        REQUIRED BYTE_ARRAY __index_level_0__ (UTF8);
    }";
    file(schema, compression, 2, |group| {
        let (mut values, mut levels, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            for (index, element) in row.iter().enumerate() {
                values.extend(*element);
                levels.push(if element.is_some() { 3 } else { 2 });
                repeats.push(i16::from(index > 0));
            }
            if row.is_empty() {
                levels.push(1);
                repeats.push(0);
            }
        }
        let mut writer = group.next_column().unwrap().unwrap();
        let typed = writer.typed::<DoubleType>();
        let written = typed.write_batch(&values, Some(&levels), Some(&repeats));
        written.unwrap();
        writer.close().unwrap();
        let names: Vec<_> = rows.iter().map(|_| b"task".to_vec().into()).collect();
        column::<ByteArrayType>(group, &names, None);
    })
}

fn read_lists(bytes: Vec<u8>) -> taskscout_io::tables::Result<Table> {
    let is_name = |name: &str| name.starts_with("__index");
    let options = ReadOptions {
        lists: true,
        text: Some(&is_name),
        ..ReadOptions::default()
    };
    Table::read_parquet_bytes_with(bytes, "lists.parquet", &options)
}

#[test]
fn lists_of_one_length_are_columns() {
    let rows: [&[Option<f64>]; 3] = [
        &[Some(1.0), Some(2.0)],
        &[Some(3.0), None],
        &[Some(5.0), Some(6.0)],
    ];
    for compression in [Compression::SNAPPY, Compression::UNCOMPRESSED] {
        let table = read_lists(lists(&rows, compression)).unwrap();
        assert_eq!(
            table.numbers("q[0]").unwrap(),
            [1.0, 3.0, 5.0, 1.0, 3.0, 5.0]
        );
        let message = table.numbers("q[1]").unwrap_err().to_string();
        assert!(message.contains("row 1 of lists.parquet"), "{message}");
        assert_eq!(table.text("__index_level_0__").unwrap(), ["task"; 6]);
    }
    for uneven in
        [&rows[..1], &[&[Some(1.0)], &[]], &[&[], &[]]].map(|other: &[&[Option<f64>]]| {
            let mut all = other.to_vec();
            all.push(&[Some(1.0)]);
            all
        })
    {
        let table = read_lists(lists(&uneven, Compression::SNAPPY)).unwrap();
        let message = table.numbers("q").unwrap_err().to_string();
        assert!(message.contains("not all of the same length"), "{message}");
    }
}

#[test]
fn empty_tables_and_repeated_names_are_refused() {
    let refusal = |bytes| {
        Table::read_parquet_bytes(bytes, "t.parquet")
            .unwrap_err()
            .to_string()
    };
    let none = file(
        "message t { REQUIRED DOUBLE x; }",
        Compression::SNAPPY,
        0,
        |_| {},
    );
    assert_eq!(refusal(none), "t.parquet has no rows: write at least one");
    let twice = "message t { REQUIRED DOUBLE x; REQUIRED DOUBLE x; }";
    let twice = file(twice, Compression::SNAPPY, 1, |group| {
        column::<DoubleType>(group, &[1.0], None);
        column::<DoubleType>(group, &[1.0], None);
    });
    assert!(refusal(twice).contains("both called `x`"));
}

#[test]
fn files_cut_anywhere_are_refused() {
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
        let bytes = all_types(compression, 2);
        for length in 0..bytes.len() {
            let cut = bytes[..length].to_vec();
            let message = Table::read_parquet_bytes(cut, "t.parquet")
                .unwrap_err()
                .to_string();
            assert!(
                message.starts_with("t.parquet cannot be read as Parquet: "),
                "{message}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_files_give_a_table_or_an_error(
        zstd in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let compression = if zstd {
            Compression::ZSTD(ZstdLevel::default())
        } else {
            Compression::UNCOMPRESSED
        };
        let mut bytes = all_types(compression, 1);
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = Table::read_parquet_bytes(bytes, "t.parquet");
    }

    #[test]
    fn any_bytes_give_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut marked = b"PAR1".to_vec();
        marked.extend(&bytes);
        marked.extend((bytes.len() as u32).to_le_bytes());
        marked.extend(b"PAR1");
        prop_assert!(Table::read_parquet_bytes(bytes, "t.parquet").is_err());
        prop_assert!(Table::read_parquet_bytes(marked, "t.parquet").is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_reads_back_bit_for_bit(
        rows in prop::collection::vec((any::<u64>(), ".*"), 1..200),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let columns = [
            Column::numbers("x.y", rows.iter().map(|row| f64::from_bits(row.0)).collect()),
            Column::text("label", rows.iter().map(|row| row.1.clone()).collect()),
        ];
        write_parquet(&path, &columns).unwrap();
        let table = Table::read(&path).unwrap();
        prop_assert_eq!(&table.columns()[1], &columns[1]);
        let Values::Numbers(numbers) = &table.columns()[0].values else {
            return Err(TestCaseError::fail("numbers became text"));
        };
        let read: Vec<u64> = numbers.iter().map(|value| value.to_bits()).collect();
        prop_assert_eq!(read, rows.iter().map(|row| row.0).collect::<Vec<_>>());
    }
}

#[test]
fn empty_cells_survive_both_formats_and_many_rows() {
    let mut text = String::from("x,name\n");
    for row in 0..300_000 {
        text += if row % 7 == 3 { ",\n" } else { "0.5,a\n" };
    }
    let table = Table::read_csv_text(text.as_bytes(), "t.csv").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write_parquet(&path, table.columns()).unwrap();
    let again = Table::read(&path).unwrap();
    assert_eq!(again.rows(), 300_000);
    assert_eq!(again.text("x").unwrap(), table.text("x").unwrap());
    assert_eq!(again.text("name").unwrap(), table.text("name").unwrap());
    let message = again.numbers("x").unwrap_err().to_string();
    assert!(message.starts_with("row 3 of t.parquet, column x, is empty"));
}

fn read_names(bytes: Vec<u8>) -> Table {
    let options = ReadOptions {
        text: Some(&|_| true),
        ..ReadOptions::default()
    };
    Table::read_parquet_bytes_with(bytes, "t.parquet", &options).unwrap()
}

#[test]
fn numbers_that_are_names_keep_every_digit() {
    let schema = "message t {
        OPTIONAL INT64 id;
        REQUIRED INT64 key (UINT_64);
        REQUIRED INT32 small;
        REQUIRED FLOAT single;
        REQUIRED DOUBLE double;
        REQUIRED INT64 price (DECIMAL(10, 2));
        REQUIRED BYTE_ARRAY label (UTF8);
    }";
    let bytes = file(schema, Compression::SNAPPY, 2, |group| {
        let ids = [1_700_000_000_000_000_001, 1_700_000_000_000_000_002];
        column::<Int64Type>(group, &ids, Some(&[1, 0, 1]));
        column::<Int64Type>(group, &[-1, 0, 7], None);
        column::<Int32Type>(group, &[-7, 0, 7], None);
        column::<FloatType>(group, &[0.1, 7.0, 1e10], None);
        column::<DoubleType>(group, &[0.1, 7.0, f64::NAN], None);
        column::<Int64Type>(group, &[125, -5, 0], None);
        column::<ByteArrayType>(group, &["007".into(), "7".into(), "7.0".into()], None);
    });
    let table = read_names(bytes);
    for (name, texts) in [
        ("id", ["1700000000000000001", "", "1700000000000000002"]),
        ("key", ["18446744073709551615", "0", "7"]),
        ("small", ["-7", "0", "7"]),
        ("single", ["0.1", "7", "10000000000"]),
        ("double", ["0.1", "7", "nan"]),
        ("price", ["1.25", "-0.05", "0.00"]),
        ("label", ["007", "7", "7.0"]),
    ] {
        assert_eq!(table.text(name).unwrap(), texts.repeat(2), "{name}");
    }
    assert!(table.numeric_columns().is_empty());
}

/// A million empty cells, in a file of a few hundred bytes.
fn nulls(columns: usize) -> Vec<u8> {
    let fields: String = (0..columns)
        .map(|index| format!("OPTIONAL DOUBLE c{index};"))
        .collect();
    let schema = format!("message t {{ REQUIRED DOUBLE x; {fields} }}");
    let rows = 1_000_000;
    file(&schema, Compression::SNAPPY, 1, |group| {
        column::<DoubleType>(group, &vec![0.5; rows], None);
        for _ in 0..columns {
            column::<DoubleType>(group, &[], Some(&vec![0; rows]));
        }
    })
}

#[test]
fn empty_cells_without_end_are_refused_from_the_footer() {
    let bytes = nulls(70);
    assert!(bytes.len() < 300_000, "{} bytes", bytes.len());
    let message = Table::read_parquet_bytes(bytes.clone(), "t.parquet")
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("t.parquet is too large: its cells take 544 MB of memory, and 536 MB"),
        "{message}"
    );
    let options = ReadOptions {
        wanted: Some(&|column| column == "x"),
        ..ReadOptions::default()
    };
    let table = Table::read_parquet_bytes_with(bytes, "t.parquet", &options).unwrap();
    assert_eq!((table.rows(), table.columns().len()), (1_000_000, 1));
    assert_eq!(table.unwanted().len(), 70);
}

#[test]
fn several_tables_may_share_a_limit() {
    let limit = MemoryLimit::new(20_000_000);
    let options = ReadOptions {
        limit: Some(&limit),
        ..ReadOptions::default()
    };
    let read = || Table::read_parquet_bytes_with(nulls(0), "t.parquet", &options);
    assert!(read().is_ok() && read().is_ok());
    assert!(
        read()
            .unwrap_err()
            .to_string()
            .contains("20 MB is the most")
    );
}

/// One long text that a dictionary repeats: the file stays small, the cells do not.
#[test]
fn repeated_texts_are_counted_before_they_are_copied() {
    let schema = "message t { REQUIRED BYTE_ARRAY name (UTF8); }";
    let long = "x".repeat(500_000);
    let bytes = file(schema, Compression::SNAPPY, 1, |group| {
        let values = vec![(&*long).into(); 2000];
        column::<ByteArrayType>(group, &values, None);
    });
    assert!(bytes.len() < 1_000_000, "{} bytes", bytes.len());
    let message = Table::read_parquet_bytes(bytes, "t.parquet")
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("t.parquet is too large: its cells take"),
        "{message}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn integer_names_are_exact(ids in prop::collection::vec(any::<i64>(), 1..50)) {
        let schema = "message t { REQUIRED INT64 id; }";
        let bytes = file(schema, Compression::SNAPPY, 1, |group| {
            column::<Int64Type>(group, &ids, None);
        });
        let texts: Vec<String> = ids.iter().map(ToString::to_string).collect();
        prop_assert_eq!(read_names(bytes).text("id").unwrap(), texts);
    }

    #[test]
    fn damaged_lists_are_refused_or_read(flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..6)) {
        let mut bytes = lists(&[&[Some(1.0), Some(2.0)], &[Some(3.0), Some(4.0)]], Compression::UNCOMPRESSED);
        for (at, flip) in flips {
            let length = bytes.len();
            bytes[at.index(length)] ^= flip;
        }
        if let Err(error) = read_lists(bytes) {
            prop_assert!(error.to_string().contains("lists.parquet"), "{}", error);
        }
    }
}
