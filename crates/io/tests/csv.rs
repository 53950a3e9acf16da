//! CSV as a user meets it: what is written reads back, and nothing makes the reader panic.

use proptest::prelude::*;
use taskscout_io::tables::{Column, Table, Values, write_csv};

/// Every kind of number: all bit patterns except the NaNs, which are written as one.
fn number() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(|bits| {
        let value = f64::from_bits(bits);
        if value.is_nan() { 0.5 } else { value }
    })
}

fn bits(table: &Table, column: usize) -> Vec<u64> {
    match &table.columns()[column].values {
        Values::Numbers(numbers) => numbers.iter().map(|value| value.to_bits()).collect(),
        Values::Text(_) => Vec::new(),
    }
}

/// Bytes that look enough like a table to get past the first checks.
fn almost_a_table() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(vec![
        "a", "b", ",", ",", ";", "\t", "\n", "\n", "\r\n", "\"", "\"\"", "#", " ", "1", "-2.5e3",
        "nan", "inf", "é", "\u{feff}", "1e", ".", "-", "\r",
    ]);
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat().into_bytes())
}

proptest! {
    #[test]
    fn what_is_written_reads_back_bit_for_bit(
        rows in prop::collection::vec((number(), number(), "\\PC*|[ ,;#\"\t\r\na-c]*"), 1..60),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let mut texts: Vec<String> = rows.iter().map(|row| row.2.clone()).collect();
        // A column of nothing but numbers would rightly come back as numbers.
        texts[0] = "name".into();
        let columns = [
            Column::numbers("x", rows.iter().map(|row| row.0).collect()),
            Column::text("label", texts.clone()),
            Column::numbers("y", rows.iter().map(|row| row.1).collect()),
        ];
        write_csv(&path, &columns).unwrap();
        let table = Table::read(&path).unwrap();
        prop_assert_eq!(table.rows(), rows.len());
        prop_assert_eq!(table.text("label").unwrap(), texts);
        let written = |pick: fn(&(f64, f64, String)) -> f64| -> Vec<u64> {
            rows.iter().map(|row| pick(row).to_bits()).collect()
        };
        prop_assert_eq!(bits(&table, 0), written(|row| row.0));
        prop_assert_eq!(bits(&table, 2), written(|row| row.1));
    }

    #[test]
    fn any_bytes_give_a_table_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Table::read_csv_text(&bytes, "t.csv");
    }

    #[test]
    fn almost_tables_give_whole_tables_or_an_error(bytes in almost_a_table()) {
        if let Ok(table) = Table::read_csv_text(&bytes, "t.csv") {
            for column in table.columns() {
                prop_assert_eq!(column.values.len(), table.rows());
                prop_assert_eq!(table.text(&column.name).unwrap().len(), table.rows());
            }
            let lines: Vec<_> = (0..table.rows()).filter_map(|row| table.line_of(row)).collect();
            prop_assert_eq!(lines.len(), table.rows());
            prop_assert!(lines.windows(2).all(|pair| pair[0] < pair[1]));
            let last = 1 + bytes.iter().filter(|&&byte| byte == b'\n').count();
            prop_assert!(lines.last().is_some_and(|&line| line <= last));
        }
    }
}

#[test]
fn large_files_are_read_in_parallel_and_in_order() {
    let rows = 150_000;
    let mut text = String::from("index,half,name\n");
    for row in 0..rows {
        text += &format!("{row},{},n{row}\n", f64::from(row) / 2.0);
    }
    assert!(text.len() > 2 << 20, "several chunks are wanted");
    let table = Table::read_csv_text(text.as_bytes(), "t.csv").unwrap();
    let expected: Vec<f64> = (0..rows)
        .flat_map(|row| [f64::from(row), f64::from(row) / 2.0])
        .collect();
    assert_eq!(table.matrix(&["index", "half"]).unwrap(), expected);
    assert_eq!(table.text("name").unwrap()[140_000], "n140000");
    assert_eq!(table.place(140_000), "line 140002 of t.csv");
    assert_eq!(table.into_matrix(&["index", "half"]).unwrap(), expected);
}
