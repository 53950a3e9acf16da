use super::*;
use crate::tables::table::Values;

/// With comments where a test has some.
const COMMENTS: ReadOptions<'_> = ReadOptions {
    wanted: None,
    text: None,
    comment: Some(b'#'),
    limit: None,
    lists: false,
};

fn table(text: &str) -> Table {
    read(text.as_bytes(), "t.csv", None, CHUNK, &COMMENTS).unwrap()
}

fn refusal(text: impl AsRef<[u8]>) -> String {
    read(text.as_ref(), "t.csv", None, CHUNK, &COMMENTS)
        .unwrap_err()
        .to_string()
}

/// Text and options of the most usual kind.
fn read_plain(text: &str, options: &ReadOptions<'_>) -> Result<Table> {
    read(text.as_bytes(), "t.csv", None, CHUNK, options)
}

fn names(table: &Table) -> Vec<&str> {
    table.columns.iter().map(|column| &*column.name).collect()
}

#[test]
fn marks_line_ends_blanks_and_comments() {
    let table = table("\u{feff}# made by hand\r\n\r\nx , y\r\n 1,2 \r\n# note\r\n\t\r\n3 ,\t4");
    assert_eq!(names(&table), ["x", "y"]);
    assert_eq!(table.matrix(&["x", "y"]).unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(table.line_of(0), Some(4));
    assert_eq!(table.place(1), "line 7 of t.csv");
}

#[test]
fn without_header_columns_are_counted() {
    let table = table("1,2,\n3,4,5\n");
    assert_eq!(names(&table), ["c1", "c2", "c3"]);
    assert_eq!(table.matrix(&["c2"]).unwrap(), [2.0, 4.0]);
    assert_eq!(table.line_of(1), Some(2));
    let message = table.numbers("c3").unwrap_err().to_string();
    assert!(message.starts_with("line 1 of t.csv, column c3, is empty"));
}

#[test]
fn separators_are_detected_outside_quotes() {
    for (text, expected) in [
        ("a\tb\n1\t2\n", vec!["a", "b"]),
        ("a;b\n1;2\n", vec!["a", "b"]),
        ("\"a, m\";b\n1;2\n", vec!["a, m", "b"]),
        ("a;b,c\n1,2\n", vec!["a;b", "c"]),
        ("\"a;b\"\n1\n", vec!["a;b"]),
        ("a\n1\n", vec!["a"]),
    ] {
        assert_eq!(names(&table(text)), expected, "{text}");
    }
}

#[test]
fn quoted_cells_may_hold_anything() {
    let table = table("name,\"x\ny\"\n\"a \"\"b\"\"\n, c\",\"1.5\"\n\" d \",2\n");
    assert_eq!(table.text("name").unwrap(), ["a \"b\"\n, c", " d "]);
    assert_eq!(table.numbers("x\ny").unwrap(), [1.5, 2.0]);
    assert_eq!((table.line_of(0), table.line_of(1)), (Some(3), Some(5)));
}

#[test]
fn kinds_follow_from_all_cells() {
    let table = table("late,early,gaps,blank\n1,x,,\n2,3,nan,\ny,4,5,\n");
    assert_eq!(table.numeric_columns(), ["gaps"]);
    assert_eq!(table.text("late").unwrap(), ["1", "2", "y"]);
    assert_eq!(table.text("early").unwrap(), ["x", "3", "4"]);
    assert_eq!(table.text("gaps").unwrap(), ["", "nan", "5"]);
    assert_eq!(table.text("blank").unwrap(), ["", "", ""]);
}

#[test]
fn broken_tables_are_refused_with_their_line() {
    for (text, start) in [
        ("", "t.csv is empty: give it a header"),
        ("\n# only a note\n", "t.csv is empty"),
        ("a,b\n", "t.csv has a header but no rows: add"),
        ("a,b", "t.csv has a header but no rows"),
        ("a,b\n\n# none\n", "t.csv has a header but no rows"),
        (
            "a,b\n1,2\n\n1,2,3\n",
            "line 4 of t.csv has 3 cells but the first line has 2",
        ),
        ("a,b\n1\n", "line 2 of t.csv has 1 cells but"),
        (
            "a,b\n1,2\n1,\"x,y\",\"\n\"\n",
            "line 3 of t.csv has 3 cells",
        ),
        (
            "a,b\n1,2\n,\"x\n\n",
            "line 3 of t.csv: the quotation mark is never closed",
        ),
        ("\"a", "line 1 of t.csv: the quotation mark is never closed"),
        (
            "a,b\n1,\"x\"y\n",
            "line 2 of t.csv: text follows the closing",
        ),
        (",a\n1,2\n", "t.csv: column 1 has no name"),
        ("a,\"\"\n1,2\n", "t.csv: column 2 has no name"),
        (",\n1,2\n", "t.csv: column 1 has no name"),
        (
            "a,b, a\n1,2,3\n",
            "t.csv: columns 1 and 3 are both called `a`",
        ),
    ] {
        let message = refusal(text);
        assert!(message.starts_with(start), "{text:?}: {message}");
    }
    let message = refusal(b"a\n1\n\xff\n");
    assert!(
        message.starts_with("line 3 of t.csv: this is not UTF-8"),
        "{message}"
    );
}

#[test]
fn the_first_fault_in_the_file_is_reported() {
    let mut text = String::from("a,b\n");
    for row in 0..500 {
        text += if row % 100 == 42 { "1\n" } else { "1,2\n" };
    }
    for chunk in [1, 7, 100, CHUNK] {
        let message = read(text.as_bytes(), "t.csv", None, chunk, &COMMENTS)
            .unwrap_err()
            .to_string();
        assert!(message.starts_with("line 44 of t.csv"), "{message}");
    }
}

#[test]
fn chunks_of_any_size_give_the_same_table() {
    let mut plain = String::from("x,name,y\n");
    let mut quoted = plain.clone();
    for row in 0..200 {
        plain += &format!("{row},n{row},{}\n", f64::from(row) / 7.0);
        quoted += &format!("{row},\"n\n{row}\",{}\n", f64::from(row) / 7.0);
        if row % 17 == 3 {
            plain += "\n# note\n";
            quoted += "\n# note \"\n";
        }
    }
    for text in [plain, quoted] {
        let whole = table(&text);
        assert_eq!(whole.rows, 200);
        assert!(matches!(whole.columns[2].values, Values::Numbers(_)));
        for chunk in [1, 2, 3, 10, 64, 1000] {
            let cut = read(text.as_bytes(), "t.csv", None, chunk, &COMMENTS).unwrap();
            assert_eq!(cut, whole, "{chunk}");
        }
    }
}

#[test]
fn regular_files_keep_no_line_numbers() {
    let text = "a\n".to_owned() + &"1\n".repeat(1000);
    let table = read(text.as_bytes(), "t.csv", None, 16, &COMMENTS).unwrap();
    let mut regular = crate::tables::lines::Lines::default();
    regular.push(0, 2);
    assert_eq!(table.lines, Some(regular));
}

#[test]
fn nothing_is_a_comment_unless_asked_for() {
    let text = "name,x\n#1,1\n# 2,2\n\n3,3\n";
    let table = read_plain(text, &ReadOptions::default()).unwrap();
    assert_eq!(table.text("name").unwrap(), ["#1", "# 2", "3"]);
    assert_eq!(table.line_of(2), Some(5));
    let percent = ReadOptions {
        comment: Some(b'%'),
        ..ReadOptions::default()
    };
    let table = read_plain("% made by hand\nx\n1\n%2\n3\n", &percent).unwrap();
    assert_eq!(table.numbers("x").unwrap(), [1.0, 3.0]);
}

#[test]
fn remarks_are_told_how_to_be_skipped() {
    for text in ["# made by hand\nx,y\n1,2\n", "x,y\n1,2\n# note\n"] {
        let message = read_plain(text, &ReadOptions::default())
            .unwrap_err()
            .to_string();
        assert!(message.contains("--comment '#'"), "{message}");
    }
}

#[test]
fn names_are_text_as_the_file_has_them() {
    let ids = [
        "1700000000000000001",
        "1700000000000000002",
        "007",
        "7",
        "7.0",
        "1e3",
        "+7",
        "",
        "nan",
    ];
    let mut text = String::from("id,x\n");
    for id in ids {
        text += &format!("{id},1\n");
    }
    let options = ReadOptions {
        text: Some(&|column| column == "id"),
        ..ReadOptions::default()
    };
    let table = read_plain(&text, &options).unwrap();
    assert_eq!(table.text("id").unwrap(), ids);
    assert_eq!(table.numeric_columns(), ["x"]);
    let message = read_plain("id\n1\n2\n", &options)
        .unwrap()
        .numbers("id")
        .unwrap_err()
        .to_string();
    assert!(message.contains("it holds names"), "{message}");
}

#[test]
fn columns_that_nobody_wants_take_nothing() {
    let options = ReadOptions {
        wanted: Some(&|column| column == "y"),
        ..ReadOptions::default()
    };
    let table = read_plain("x,y,name\n1,2,a\n3,4,b\n", &options).unwrap();
    assert_eq!(table.columns().len(), 1);
    assert_eq!(table.numbers("y").unwrap(), [2.0, 4.0]);
    assert_eq!(table.unwanted(), ["x", "name"]);
    let message = table.numbers("z").unwrap_err().to_string();
    assert!(message.contains("`x`, `y`, `name`"), "{message}");
    let message = read_plain("x,y\n1,2,3\n", &options)
        .unwrap_err()
        .to_string();
    assert!(message.contains("has 3 cells"), "{message}");
}

#[test]
fn memory_is_counted_before_it_is_taken() {
    let text = "x,name\n1,a\n2,b\n3,c\n".to_owned();
    let late = text.replace("2,b", "?,b");
    let long = text.replace('b', &"b".repeat(100));
    for (text, most, fits) in [
        (&text, 3 * (8 + 56), true),
        (&text, 3 * (8 + 56) - 1, false),
        (&late, 3 * (56 + 56), true),
        (&late, 3 * (56 + 56) - 1, false),
        (&long, 3 * (8 + 56) + 99, false),
        (&long, 3 * (8 + 56) + 100, true),
    ] {
        let limit = crate::tables::MemoryLimit::new(most);
        let options = ReadOptions {
            limit: Some(&limit),
            ..ReadOptions::default()
        };
        let read = read_plain(text, &options);
        assert_eq!(read.is_ok(), fits, "{text} {most}");
        if let Err(error) = read {
            let start = "t.csv is too large: its cells take 1 MB of memory";
            assert!(error.to_string().starts_with(start), "{error}");
        }
    }
}
