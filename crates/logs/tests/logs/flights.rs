//! Flight logs: the styles that are understood, and the errors.

use super::{Folder, refusal};

const NAME: &str = "quad_hover_pid_20wind.csv";

/// Three good rows in the style of pandas, with columns that nobody needs.
const PANDAS: &str = concat!(
    ",t,p,v,q,R,T_sp,fa,pwm\n",
    "0,0.0,\"[9, 9, 9]\",\"[0.1, -0.2, 0.30000000000000004]\",\"[1.0, 0.0, 0.0, 0.0]\",\"[[1, 0], [0, 1]]\",[0.4],\"[1.5, 2.5, -3.5]\",\"[1500.0, 1600.0, 1700.0, 1800.0]\"\n",
    "1,0.02,\"[9, 9, 9]\",\"[0.2, -0.2, 0.3]\",\"[1.0, 0.0, 0.0, 0.0]\",\"[[1, 0], [0, 1]]\",[0.4],\"[1.6, 2.5, -3.5]\",\"[1501.5, 1600.0, 1700.0, 1800.0]\"\n",
    "2,0.04,\"[9, 9, 9]\",\"[0.3, -0.2, 0.3]\",\"[1.0, 0.0, 0.0, 0.0]\",\"[[1, 0], [0, 1]]\",[0.4],\"[1.7, 2.5, -3.5]\",\"[1502.5, 1600.0, 1700.0, 1800.0]\"\n",
);

/// The same header and rows with `wrong` as the cell of a column in line 3.
fn spoilt(column: &str, wrong: &str) -> String {
    let good = match column {
        "t" => "0.02",
        "v" => "[0.2, -0.2, 0.3]",
        "fa" => "[1.6, 2.5, -3.5]",
        "pwm" => "[1501.5, 1600.0, 1700.0, 1800.0]",
        other => unreachable!("{other}"),
    };
    let text = PANDAS.replacen(good, wrong, 1);
    assert_ne!(text, PANDAS);
    text
}

#[test]
fn pandas_style_is_read() {
    let logs = Folder::with(&[(NAME, PANDAS.as_bytes())])
        .flights(false)
        .unwrap();
    assert_eq!(logs.warnings, [""; 0]);
    let flight = &logs.recordings[0];
    assert_eq!(flight.name, "quad_hover_pid_20wind");
    assert_eq!(flight.flight.as_ref().unwrap().method, "pid");
    assert_eq!((flight.rows(), flight.x.len()), (3, 33));
    assert_eq!(
        flight.x[..11],
        [0.1, -0.2, 0.1 + 0.2, 1.0, 0.0, 0.0, 0.0, 1.5, 1.6, 1.7, 1.8]
    );
    assert_eq!(flight.y[3..6], [1.6, 2.5, -3.5]);
    assert_eq!(flight.output(0), [1.5, 1.6, 1.7]);
    assert_eq!(flight.time.as_deref(), Some(&[0.0, 0.02, 0.04][..]));
    assert_eq!(flight.task_name(2), "quad_hover_pid_20wind_z");
    assert!(flight.skipped.is_empty());
}

#[test]
fn every_cell_quoted_in_any_order_with_other_line_ends_is_the_same() {
    let expected = Folder::with(&[(NAME, PANDAS.as_bytes())])
        .flights(false)
        .unwrap();
    let mut quoted = String::from("\u{feff}\"fa\",\"n\",\"pwm\",\"q\",\"t\",\"v\"\r\n");
    for (row, time) in ["0", "0.02", " 0.04"].iter().enumerate() {
        let (v, fa) = (["0.1", "0.2", "0.3"][row], ["1.5", "1.6", "1.7"][row]);
        let third = ["0.30000000000000004", "3e-1", "+0.3"][row];
        let motor = ["1.5e3", "1501.5", "1502.5"][row];
        quoted += &format!(
            "\"[{fa} , 2.5,-3.5]\", \"{row}\",\"[{motor}, 1600, 1700, 1800]\" ,\"[1,0,0,0]\",\"{time}\",\"[ {v}, -0.2,  {third} ]\"\r\n"
        );
    }
    quoted += "\r\n \n\n";
    let mut logs = Folder::with(&[(NAME, quoted.as_bytes())])
        .flights(false)
        .unwrap();
    logs.recordings[0].path = expected.recordings[0].path.clone();
    assert_eq!(logs, expected);
}

#[test]
fn a_file_of_its_own_and_subfolders_are_read_in_order_of_names() {
    let folder = Folder::with(&[
        ("b/a_x_m_nowind.csv", PANDAS.as_bytes()),
        (
            "z_x_m_70p20sint.CSV",
            PANDAS.replace("9, 9", "8, 8").as_bytes(),
        ),
        (
            "a/m_x_m_gale.csv",
            PANDAS.replace("9, 9", "7, 7").as_bytes(),
        ),
        (".a_x_m_nowind.csv", b"hidden"),
        ("notes.txt", b"no log"),
    ]);
    let logs = folder.flights(false).unwrap();
    let names: Vec<&str> = logs.recordings.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["a_x_m_nowind", "m_x_m_gale", "z_x_m_70p20sint"]);
    let wind = logs.recordings[2].wind.unwrap();
    assert_eq!((wind.mean_m_s, wind.gust_m_s), (8.5, 2.4));
    assert_eq!(logs.recordings[1].wind, None);
    assert_eq!(logs.warnings.len(), 1);
    assert!(logs.warnings[0].contains("condition `gale` is not known"));
    let file = folder.path().join("b/a_x_m_nowind.csv");
    let one = taskscout_logs::read(&file, &Default::default()).unwrap();
    assert_eq!(one.recordings, logs.recordings[..1]);
}

#[test]
fn time_may_be_missing_or_run_backwards() {
    let text = PANDAS.replacen(",t,", ",seconds,", 1);
    let logs = Folder::with(&[(NAME, text.as_bytes())])
        .flights(false)
        .unwrap();
    assert_eq!(logs.recordings[0].time, None);
    assert!(logs.warnings[0].contains("no column `t`"));
    let text = PANDAS.replacen("0.04", "0.01", 1);
    let logs = Folder::with(&[(NAME, text.as_bytes())])
        .flights(false)
        .unwrap();
    assert!(logs.warnings[0].contains("time runs backwards at line 4"));
}

#[test]
fn bad_cells_are_named_with_file_line_and_column() {
    for (column, wrong, problem) in [
        (
            "v",
            "[0.2, -0.2]",
            "holds a list of 2 where 3 numbers are needed",
        ),
        ("fa", "[1.6, 2.5, -3.5, 1]", "holds a list of 4 where 3"),
        ("pwm", "[1, 2, 3]", "holds a list of 3 where 4"),
        ("v", "[0.2, nan, 0.3]", "is nan"),
        ("v", "[0.2, -inf, 0.3]", "is infinite"),
        ("v", "[0.2, , 0.3]", "is empty"),
        ("v", "", "is empty"),
        ("v", "[0.2, x, 0.3]", "holds `x`, which is not a number"),
        ("v", "0.2", "holds `0.2`, which is not a list"),
        ("t", "", "is empty"),
        ("t", "NaN", "is nan"),
        ("t", "noon", "holds `noon`"),
    ] {
        let folder = Folder::with(&[(NAME, spoilt(column, wrong).as_bytes())]);
        let message = refusal(folder.flights(false));
        let place = format!("{NAME}, column {column}, {problem}");
        assert!(message.starts_with("line 3 of "), "{message}");
        assert!(message.contains(&place), "{place} in: {message}");
        let logs = folder.flights(true).unwrap();
        let flight = &logs.recordings[0];
        assert_eq!((flight.rows(), flight.skipped.len()), (2, 1));
        assert_eq!(flight.skipped[0].line, Some(3));
        assert_eq!(flight.skipped[0].reason, message);
        assert_eq!(flight.time.as_deref(), Some(&[0.0, 0.04][..]));
        assert!(logs.warnings[0].contains(&format!("1 bad row skipped; the first: {message}")));
    }
}

#[test]
fn lines_that_are_no_rows_are_named() {
    let cut = |length: usize| PANDAS[..PANDAS.len() - length].to_owned();
    for (text, line, problem) in [
        (cut(5), 4, "has a quotation mark that is never closed"),
        (cut(36), 4, "has 8 cells where the header has 9"),
        (cut(100), 4, "never closed"),
        (
            PANDAS.replacen("[9, 9, 9]\",", "[9, 9, 9]", 1),
            2,
            "text after a closing",
        ),
        (
            PANDAS.replacen("\n1,", "\n1,1,", 1),
            3,
            "has 10 cells where the header has 9",
        ),
        (
            PANDAS.replacen("\"[0.2, -0.2, 0.3]\"", "[0.2, -0.2, 0.3]", 1),
            3,
            "has 11 cells",
        ),
    ] {
        let folder = Folder::with(&[(NAME, text.as_bytes())]);
        let message = refusal(folder.flights(false));
        assert!(
            message.starts_with(&format!("line {line} of ")),
            "{message}"
        );
        assert!(message.contains(problem), "{problem} in: {message}");
        let logs = folder.flights(true).unwrap();
        assert_eq!(logs.recordings[0].rows(), 2, "{problem}");
        assert_eq!(logs.recordings[0].skipped[0].line, Some(line));
    }
}

#[test]
fn lines_are_counted_through_cells_of_several_lines() {
    let text = spoilt("v", "[]").replacen("[[1, 0], [0, 1]]", "[[1, 0],\n [0, 1]]", 1);
    let message = refusal(Folder::with(&[(NAME, text.as_bytes())]).flights(false));
    assert!(message.starts_with("line 4 of "), "{message}");
}

#[test]
fn what_is_wrong_with_a_whole_file_stays_an_error() {
    let header = PANDAS.lines().next().unwrap();
    for (bytes, parts) in [
        (b"".to_vec(), &["is empty"][..]),
        (b"\r\n\n".to_vec(), &["is empty"]),
        (header.as_bytes().to_vec(), &["has a header but no rows"]),
        (
            format!("{header}\n\n").into_bytes(),
            &["has a header but no rows"],
        ),
        (
            PANDAS.replacen("fa", "force", 1).into_bytes(),
            &["has no column `fa`", "`T_sp`, `force`, `pwm`"],
        ),
        (
            PANDAS.replacen(",p,", ",v,", 1).into_bytes(),
            &["line 1 of ", "has two columns `v`"],
        ),
        (
            [b"\xff,".as_slice(), PANDAS.as_bytes()].concat(),
            &["line 1 of ", "not UTF-8"],
        ),
        (b"\"t,v".to_vec(), &["line 1 of ", "never closed"]),
    ] {
        let folder = Folder::with(&[(NAME, &bytes)]);
        for skip in [false, true] {
            let message = refusal(folder.flights(skip));
            assert!(message.contains(NAME), "{message}");
            for part in parts {
                assert!(message.contains(part), "{part} in: {message}");
            }
        }
    }
}

#[test]
fn a_flight_that_loses_all_rows_is_refused() {
    let text = PANDAS.replace("-3.5]", "nan]");
    let message = refusal(Folder::with(&[(NAME, text.as_bytes())]).flights(true));
    assert!(message.contains("has no row that can be used, 3 are bad; the first: line 2 of"));
}

#[test]
fn files_that_cannot_be_told_apart_are_refused() {
    let text = PANDAS.as_bytes();
    let copies = Folder::with(&[("a_b_c_10wind.csv", text), ("a_b_c_20wind.csv", text)]);
    let other = PANDAS.replace("9, 9", "8, 8");
    let twins = Folder::with(&[
        ("1/a_b_c_10wind.csv", text),
        ("2/a_b_c_10wind.csv", other.as_bytes()),
    ]);
    for skip in [false, true] {
        let message = refusal(copies.flights(skip));
        for part in [
            "a_b_c_10wind.csv and ",
            "a_b_c_20wind.csv are the same file",
        ] {
            assert!(message.contains(part), "{message}");
        }
        let message = refusal(twins.flights(skip));
        assert!(
            message.contains("would both be called a_b_c_10wind: rename"),
            "{message}"
        );
    }
}

#[test]
fn folders_and_names_without_logs_are_refused() {
    let message = refusal(Folder::with(&[("notes.txt", b"")]).flights(false));
    assert!(message.contains("has no logs"), "{message}");
    assert!(
        message.contains("VEHICLE_TRAJECTORY_METHOD_CONDITION.csv"),
        "{message}"
    );
    let message = refusal(Folder::with(&[("winds.csv", PANDAS.as_bytes())]).flights(false));
    assert!(
        message.contains("winds.csv is not named like a flight log: rename it"),
        "{message}"
    );
    let nowhere = std::path::Path::new("no/such/folder");
    let message = refusal(taskscout_logs::read(nowhere, &Default::default()));
    assert!(
        message.starts_with("cannot read no/such/folder: "),
        "{message}"
    );
}
