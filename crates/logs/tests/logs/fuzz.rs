//! No file makes the readers panic, and what a good file says is read bit for bit.

use proptest::prelude::*;

use super::{Folder, bits};

const NAME: &str = "quad_hover_pid_20wind.csv";

/// A finite number of any size.
fn number() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(|bits| {
        let value = f64::from_bits(bits);
        if value.is_finite() { value } else { 0.1 }
    })
}

/// Time, inputs (motors unscaled) and outputs.
fn row() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(number(), 15)
}

fn list(values: &[f64], style: usize) -> String {
    let texts: Vec<String> = values
        .iter()
        .map(|value| match style % 3 {
            0 => format!("{value:?}"),
            1 => format!("{value:e}"),
            _ => format!(" {value} "),
        })
        .collect();
    format!(
        "[{}]",
        texts.join(if style.is_multiple_of(2) { ", " } else { "," })
    )
}

/// A flight log of these rows, as one of several programs would write it.
fn flight(rows: &[Vec<f64>], style: usize) -> String {
    let end = if style.is_multiple_of(2) {
        "\n"
    } else {
        "\r\n"
    };
    let mut text = format!(
        "{},t,v,q,R,fa,pwm,note{end}",
        if style.is_multiple_of(3) { "" } else { "\"n\"" }
    );
    for (index, row) in rows.iter().enumerate() {
        let time = if style % 5 < 2 {
            format!("{:?}", row[0])
        } else {
            format!("\"{:?}\"", row[0])
        };
        let lists =
            [&row[1..4], &row[4..8], &row[12..15], &row[8..12]].map(|part| list(part, style));
        let [v, q, fa, pwm] = lists;
        text += &format!(
            "{index},{time},\"{v}\",\"{q}\",\"[[1, 0], [0, 1]]\",\"{fa}\",\"{pwm}\",[0.5]{end}"
        );
    }
    text
}

/// A change that a bad disk, a full disk or a hasty editor makes.
#[derive(Debug, Clone)]
enum Damage {
    Flip(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Insert(prop::sample::Index, &'static str),
    Remove(prop::sample::Index, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let token = prop::sample::select(vec![
        "\"", "\"\"", ",", "\n", "\r", "[", "]", "nan", "inf", "-", "e", ".", " ", "é", "\u{feff}",
        "#",
    ]);
    prop_oneof![
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        any::<prop::sample::Index>().prop_map(Damage::Cut),
        (any::<prop::sample::Index>(), token).prop_map(|(at, text)| Damage::Insert(at, text)),
        (any::<prop::sample::Index>(), 1..40usize).prop_map(|(at, n)| Damage::Remove(at, n)),
    ]
}

fn damaged(text: &str, damages: &[Damage]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for damage in damages {
        let length = bytes.len() + 1;
        match damage {
            Damage::Flip(at, byte) => {
                if let Some(place) = bytes.get_mut(at.index(length)) {
                    *place ^= byte;
                }
            }
            Damage::Cut(at) => bytes.truncate(at.index(length)),
            Damage::Insert(at, text) => {
                let at = at.index(length);
                bytes.splice(at..at, text.bytes());
            }
            Damage::Remove(at, count) => {
                let at = at.index(length);
                let end = (at + count).min(bytes.len());
                bytes.drain(at..end);
            }
        }
    }
    bytes
}

/// Reads a file in every way; whatever comes out of it is finite and of one shape.
fn read_all_ways(bytes: &[u8], inputs: &[&str], outputs: &[&str]) {
    let folder = Folder::with(&[(NAME, bytes)]);
    for skip in [false, true] {
        let outcomes = [
            folder.flights(skip),
            folder.table(inputs, outputs, None, None, skip),
            folder.table(inputs, outputs, Some("n"), Some("t"), skip),
        ];
        for logs in outcomes.into_iter().flatten() {
            for recording in &logs.recordings {
                assert!(recording.rows() > 0);
                assert_eq!(recording.x.len(), recording.rows() * logs.inputs.len());
                assert!(
                    recording
                        .time
                        .as_ref()
                        .is_none_or(|time| time.len() == recording.rows())
                );
                assert!(
                    recording
                        .x
                        .iter()
                        .chain(&recording.y)
                        .all(|value| value.is_finite())
                );
                assert!(skip || recording.skipped.is_empty());
            }
            let _ = taskscout_logs::inspect(&logs);
        }
    }
}

proptest! {
    #[test]
    fn a_good_flight_reads_back_exactly(
        rows in prop::collection::vec(row(), 1..20),
        style in 0..30usize,
    ) {
        let folder = Folder::with(&[(NAME, flight(&rows, style).as_bytes())]);
        for skip in [false, true] {
            let logs = folder.flights(skip).unwrap();
            let read = &logs.recordings[0];
            let time: Vec<f64> = rows.iter().map(|row| row[0]).collect();
            prop_assert_eq!(bits(read.time.as_ref().unwrap()), bits(&time));
            for (index, row) in rows.iter().enumerate() {
                let mut x = row[1..12].to_vec();
                x[7..].iter_mut().for_each(|pulse| *pulse /= 1000.0);
                prop_assert_eq!(bits(&read.x[11 * index..11 * index + 11]), bits(&x));
                prop_assert_eq!(bits(&read.y[3 * index..3 * index + 3]), bits(&row[12..]));
            }
            prop_assert!(read.skipped.is_empty());
        }
    }

    #[test]
    fn damaged_flights_do_not_panic(
        rows in prop::collection::vec(row(), 0..6),
        style in 0..30usize,
        damages in prop::collection::vec(damage(), 1..8),
    ) {
        read_all_ways(&damaged(&flight(&rows, style), &damages), &["v"], &["t"]);
    }

    #[test]
    fn damaged_tables_do_not_panic(
        rows in prop::collection::vec((0..3usize, number(), number(), number()), 0..12),
        damages in prop::collection::vec(damage(), 1..8),
    ) {
        let mut text = String::from("n,t,x,y\n");
        for (task, t, x, y) in rows {
            text += &format!("{task},{t:?},{x:?},\"{y:?}\"\n");
        }
        read_all_ways(&damaged(&text, &damages), &["x"], &["y"]);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all_ways(&bytes, &["x"], &["y"]);
        read_all_ways(&[b"n,t,v,q,fa,pwm,x,y\n".as_slice(), &bytes].concat(), &["x"], &["y"]);
    }

    #[test]
    fn a_bad_row_costs_only_itself(
        rows in prop::collection::vec(row(), 2..10),
        style in 0..30usize,
        bad in any::<prop::sample::Index>(),
        kept in any::<prop::sample::Index>(),
    ) {
        let text = flight(&rows, style);
        let mut lines: Vec<&str> = text.lines().collect();
        let at = 1 + bad.index(rows.len());
        // What is left of the line, but never nothing: a blank line is no row.
        lines[at] = &lines[at][..1 + kept.index(lines[at].len() - 6)];
        let folder = Folder::with(&[(NAME, lines.join("\n").as_bytes())]);
        let logs = folder.flights(true).unwrap();
        prop_assert_eq!(logs.recordings[0].rows(), rows.len() - 1);
        prop_assert_eq!(logs.recordings[0].skipped[0].line, Some(at + 1));
        prop_assert!(folder.flights(false).is_err());
    }
}
