//! The real flights, where they are.

use std::path::PathBuf;

use taskscout_logs::{Logs, ReadOptions, read};

use super::bits;

/// The folder of flights: `TASKSCOUT_FLIGHTS`, or beside the repository.
fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("TASKSCOUT_FLIGHTS").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/flights");
    let folder = named.unwrap_or_else(beside);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no flights in {}", folder.display());
    None
}

/// The cells of a line, by a walk that knows nothing but quotes.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => cells.last_mut().unwrap().push(other),
        }
    }
    cells
}

/// All numbers of a file, slowly: time, inputs and outputs.
fn slowly(text: &str) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut lines = text.lines();
    let names = cells(lines.next().unwrap());
    let place = |name: &str| names.iter().position(|known| known == name).unwrap();
    let (mut time, mut x, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        let cells = cells(line);
        let list = |name: &str| -> Vec<f64> {
            let inside = cells[place(name)].trim_matches(['[', ']']);
            inside
                .split(',')
                .map(|part| part.trim().parse().unwrap())
                .collect()
        };
        time.push(cells[place("t")].parse().unwrap());
        x.extend(list("v"));
        x.extend(list("q"));
        x.extend(list("pwm").iter().map(|pulse| pulse / 1000.0));
        y.extend(list("fa"));
    }
    (time, x, y)
}

#[test]
fn every_number_is_as_a_slow_reader_has_it() {
    let Some(folder) = folder() else {
        return;
    };
    let logs: Logs = read(&folder, &ReadOptions::default()).unwrap();
    assert_eq!(logs.recordings.len(), 26);
    assert_eq!(logs.warnings, [""; 0]);
    assert_eq!(logs.tasks().count(), 78);
    for recording in &logs.recordings {
        let real = recording.name.starts_with("custom");
        let rows = if real { 2505..=2514 } else { 5501..=5501 };
        assert!(rows.contains(&recording.rows()), "{}", recording.name);
        assert!(recording.wind.is_some());
        let text = std::fs::read_to_string(&recording.path).unwrap();
        let (time, x, y) = slowly(&text);
        assert_eq!(bits(recording.time.as_ref().unwrap()), bits(&time));
        assert_eq!(bits(&recording.x), bits(&x));
        assert_eq!(bits(&recording.y), bits(&y));
    }
    let (flight, axis) = logs.find("custom_figure8_NF_35wind_z").unwrap();
    assert_eq!(
        (&*logs.recordings[flight].name, axis),
        ("custom_figure8_NF_35wind", 2)
    );
}
