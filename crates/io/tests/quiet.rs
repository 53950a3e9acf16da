//! A damaged Parquet file is an error and nothing more: no panic is heard, however the decoder fares.
//!
//! In a file of its own: the hook belongs to the whole process.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parquet::basic::Encoding;
use parquet::data_type::ByteArrayType;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use taskscout_io::tables::Table;

static HEARD: AtomicUsize = AtomicUsize::new(0);

/// A file in the encoding whose decoder panics most readily.
fn file() -> Vec<u8> {
    let schema = "message t { OPTIONAL BYTE_ARRAY label (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder()
        .set_encoding(Encoding::DELTA_BYTE_ARRAY)
        .set_dictionary_enabled(false)
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values = ["alpha".into(), "alphabet".into(), "beta".into()];
    let typed = column.typed::<ByteArrayType>();
    typed
        .write_batch(&values, Some(&[1, 0, 1, 1]), None)
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn nothing_is_heard_of_damaged_files() {
    panic::set_hook(Box::new(|_| {
        HEARD.fetch_add(1, Ordering::Relaxed);
    }));
    let whole = file();
    assert!(Table::read_parquet_bytes(whole.clone(), "t.parquet").is_ok());
    for at in 0..whole.len() {
        for change in [1, 2, 0x10, 0x40, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            let _ = Table::read_parquet_bytes(bytes, "t.parquet");
        }
    }
    assert_eq!(HEARD.load(Ordering::Relaxed), 0);
    let outside = panic::catch_unwind(|| {
        let none: Vec<u8> = Vec::new();
        none[whole.len()]
    });
    assert!(outside.is_err());
    assert_eq!(HEARD.load(Ordering::Relaxed), 1, "other panics are heard");
}
