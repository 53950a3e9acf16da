//! Megabytes of logs of robots read a second, side by side with the formats' own Python readers.
//!
//! ```text
//! cargo bench -p taskscout-logs --bench robots        with pyulog, pymavlink and pyarrow in the Python of the benchmarks
//! ```
//!
//! Both sides read the same generated logs, all of them. Before anything is timed, all numbers of a small log have to agree
//! bit for bit; a difference ends the run with an error. The two take turns on one thread each. Read the ratios, which are
//! medians over neighbouring turns, and trust processor time where the machine is busy.

#[path = "../../taskscout/benches/support/mod.rs"]
mod support;

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use support::Result;
use support::clock::{Timing, measure, median};
use support::numpy::{Numpy, interpreter};
use taskscout_logs::{RawRecording, Selection, read_raw};

/// The Python side.
const SCRIPT: &str = "robots_python.py";
/// Turns of each side.
const REPETITIONS: usize = 5;
/// Passes of a turn of ours, so that the clock has enough to count.
const OUR_PASSES: u32 = 5;
/// Seconds of flight in the logs that are generated.
const SECONDS: u64 = 600;

fn main() -> ExitCode {
    // `cargo test --benches` starts this too, without the flag; a benchmark is not a test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("robots: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let python = interpreter();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    println!(
        "Logs of robots, medians of {REPETITIONS} turns, one thread each, MB of file a second.\n"
    );
    println!(
        "{:<12} {:>7} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "format", "MB", "ours", "all threads", "Python", "wall", "CPU"
    );
    let (ulog, bin) = (folder.path().join("a.ulg"), folder.path().join("a.bin"));
    fs::write(&ulog, flight_ulog())?;
    fs::write(&bin, flight_dataflash())?;
    one(
        "ulog",
        &ulog,
        &fixtures.join("flight.ulg"),
        python.as_deref().ok(),
    )?;
    one(
        "dataflash",
        &bin,
        &fixtures.join("flight.bin"),
        python.as_deref().ok(),
    )?;
    let Ok(python) = python else {
        println!(
            "NO COMPARISON WITH PYTHON: {}",
            python
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        );
        return Ok(());
    };
    let set = folder.path().join("set");
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("benches")
        .join(SCRIPT);
    let made = Command::new(&python)
        .arg(script)
        .arg("write-lerobot")
        .arg(&set)
        .status()?;
    if !made.success() {
        return Err("the LeRobot data set could not be written".into());
    }
    one("lerobot", &set, &fixtures.join("lerobot-v3"), Some(&python))
}

/// Measures one format.
fn one(format: &str, large: &Path, small: &Path, python: Option<&Path>) -> Result<()> {
    let megabytes = 1e-6 * bytes(large)? as f64;
    let shown = |path: &Path| path.display().to_string();
    let arguments = [format.to_owned(), shown(large), shown(small)];
    let mut child = match python
        .map(|python| Numpy::start(python, SCRIPT, &arguments, 1))
        .transpose()
    {
        Ok(child) => child,
        Err(error) => {
            println!("NO COMPARISON WITH PYTHON: {error}. Our figures stand alone.");
            None
        }
    };
    if let Some(child) = &mut child {
        agree(format, small, child)?;
    }
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut turns: Vec<(Timing, Option<Timing>)> = Vec::with_capacity(REPETITIONS);
    let mut together = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let ours = measure(OUR_PASSES, || alone.install(|| read(large)).map(drop))?;
        let theirs = child.as_mut().map(|child| child.time(1)).transpose()?;
        turns.push((ours, theirs));
        together.push(measure(OUR_PASSES, || read(large).map(drop))?.wall_s);
    }
    let ratio = |seconds: &dyn Fn(&Timing) -> Option<f64>| {
        median(
            turns
                .iter()
                .filter_map(|(a, b)| Some(seconds(b.as_ref()?)? / seconds(a)?)),
        )
    };
    println!(
        "{format:<12} {megabytes:>7.1} {:>10.1} {:>10.1} {:>10.1} {:>7.1}x {:>7.1}x   {}",
        megabytes / median(turns.iter().map(|(ours, _)| ours.wall_s)),
        megabytes / median(together),
        megabytes
            / median(
                turns
                    .iter()
                    .filter_map(|(_, theirs)| Some(theirs.as_ref()?.wall_s))
            ),
        ratio(&|timing| Some(timing.wall_s)),
        ratio(&|timing| timing.cpu_s),
        child.as_ref().map_or("", |child| child.version()),
    );
    Ok(())
}

/// What is measured.
fn read(path: &Path) -> taskscout_logs::Result<Vec<RawRecording>> {
    read_raw(black_box(path), &Selection::all(), Ok).map(black_box)
}

fn bytes(path: &Path) -> Result<u64> {
    if path.is_file() {
        return Ok(fs::metadata(path)?.len());
    }
    let mut sum = 0;
    for entry in fs::read_dir(path)? {
        sum += bytes(&entry?.path())?;
    }
    Ok(sum)
}

/// Fails unless all numbers of the small log are the same on both sides.
fn agree(format: &str, small: &Path, python: &mut Numpy) -> Result<()> {
    let theirs = python.result()?;
    let mut ours: Vec<f64> = Vec::new();
    let recordings = read(small)?;
    if format == "lerobot" {
        // Python has whole files: the episodes of one after each other, column by column.
        let mut files: Vec<(PathBuf, Vec<&RawRecording>)> = Vec::new();
        for one in &recordings {
            match files.last_mut() {
                Some((path, parts)) if *path == one.path => parts.push(one),
                _ => files.push((one.path.clone(), vec![one])),
            }
        }
        for (_, parts) in &files {
            parts
                .iter()
                .for_each(|part| ours.extend(&part.series[0].time));
            for column in 0..parts[0].series[0].columns.len() {
                parts
                    .iter()
                    .for_each(|part| ours.extend(&part.series[0].columns[column].values));
            }
        }
    } else {
        for series in recordings.iter().flat_map(|one| &one.series) {
            // Python leaves out what has no time of its own, and arrays.
            if format == "dataflash" && matches!(series.name.as_str(), "OLD" | "FMT") {
                continue;
            }
            ours.extend(&series.time);
            let numbers = series
                .columns
                .iter()
                .filter(|column| format == "ulog" || !column.name.contains('['));
            numbers.for_each(|column| ours.extend(&column.values));
        }
    }
    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
    if ours.len() != theirs.len() || !ours.iter().zip(&theirs).all(same) {
        return Err(format!(
            "{format}: the {} numbers of Python are not our {}",
            theirs.len(),
            ours.len()
        )
        .into());
    }
    Ok(())
}

/// A log of PX4 with the topics and rates of a real one.
fn flight_ulog() -> Vec<u8> {
    let mut out = b"ULog\x01\x12\x35\x01\0\0\0\0\0\0\0\0".to_vec();
    let message = |out: &mut Vec<u8>, kind: u8, content: &[u8]| {
        out.extend((content.len() as u16).to_le_bytes());
        out.push(kind);
        out.extend(content);
    };
    // Name, numbers of single precision, bytes of flags, steps of 4 ms between messages.
    let topics: [(&str, usize, usize, u64); 6] = [
        ("sensor_combined", 6, 4, 1),
        ("vehicle_attitude", 8, 2, 2),
        ("vehicle_local_position", 40, 12, 10),
        ("actuator_outputs", 16, 4, 5),
        ("vehicle_rates_setpoint", 6, 0, 2),
        ("estimator_states", 48, 2, 25),
    ];
    for (name, floats, flags, _) in &topics {
        let mut text = format!("{name}:uint64_t timestamp;float[{floats}] value;");
        (0..*flags).for_each(|flag| text += &format!("bool flag_{flag};"));
        message(&mut out, b'F', text.as_bytes());
    }
    for (number, (name, ..)) in topics.iter().enumerate() {
        let mut content = vec![0, number as u8, 0];
        content.extend(name.bytes());
        message(&mut out, b'A', &content);
    }
    for step in 0..SECONDS * 250 {
        for (number, (_, floats, flags, every)) in topics.iter().enumerate() {
            if step % every == 0 {
                let mut content = vec![number as u8, 0];
                content.extend((4000 * step).to_le_bytes());
                let value = |index: usize| (0.01 * step as f32 + index as f32).sin();
                (0..*floats).for_each(|index| content.extend(value(index).to_le_bytes()));
                content.extend(
                    (0..*flags).map(|flag| u8::from((step as usize + flag).is_multiple_of(3))),
                );
                message(&mut out, b'D', &content);
            }
        }
    }
    out
}

/// Type, length, name, letters of fields, their names, and steps of 10 ms between messages.
type Kind = (u8, u8, &'static str, &'static str, &'static str, u64);

/// Messages of a log of ArduPilot.
const KINDS: [Kind; 5] = [
    (
        128,
        89,
        "FMT",
        "BBnNZ",
        "Type,Length,Name,Format,Columns",
        0,
    ),
    (
        10,
        37,
        "IMU",
        "QBffffffB",
        "TimeUS,I,GyrX,GyrY,GyrZ,AccX,AccY,AccZ,H",
        2,
    ),
    (
        11,
        25,
        "ATT",
        "QccccCCH",
        "TimeUS,DesRoll,Roll,DesPitch,Pitch,DesYaw,Yaw,E",
        4,
    ),
    (
        12,
        39,
        "RCOU",
        "QHHHHHHHHHHHHHH",
        "TimeUS,C1,C2,C3,C4,C5,C6,C7,C8,C9,C10,C11,C12,C13,C14",
        10,
    ),
    (
        13,
        35,
        "POS",
        "QLLffff",
        "TimeUS,Lat,Lng,Alt,RelHomeAlt,RelOriginAlt,X",
        10,
    ),
];

/// A log of ArduPilot with the messages and rates of a real one.
fn flight_dataflash() -> Vec<u8> {
    let mut out = Vec::new();
    let text = |text: &str, size: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(size, 0);
        bytes
    };
    for (number, length, name, letters, names, _) in KINDS {
        out.extend([0xa3, 0x95, 128, number, length]);
        out.extend([text(name, 4), text(letters, 16), text(names, 64)].concat());
    }
    for step in 0..SECONDS * 100 {
        for (number, length, _, _, _, every) in &KINDS[1..] {
            if step % every == 0 {
                out.extend([0xa3, 0x95, *number]);
                out.extend((10_000 * step).to_le_bytes());
                // Small numbers in every kind of field.
                let number = |at: u8| (step as u8).wrapping_mul(at);
                out.extend((11..*length).map(|at| if at % 4 == 3 { 0 } else { number(at) }));
            }
        }
    }
    out
}
