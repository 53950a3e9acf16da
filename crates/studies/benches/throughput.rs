//! Eight processes that ask and tell a hundred times each, on one study: ours beside Optuna's, in the same run.
//!
//! Every process is a program of its own. A round asks for one sample and tells one row; Optuna's asks for a trial,
//! draws two parameters at random and tells one value. Both write to the same kind of store, an SQLite file on this disk
//! or a PostgreSQL server of the benchmark's own, which syncs as servers do. What matters is the ratio: nothing lost and
//! nothing twice is checked on the way.
//!
//! `cargo xtask bench` has Optuna at hand; else `TASKSCOUT_BENCH_PYTHON` names an interpreter with `optuna` and
//! `psycopg2` or `psycopg`. Without one, only ours is measured.

#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

#[path = "../../store/tests/common/cluster.rs"]
#[allow(
    dead_code,
    clippy::unwrap_used,
    reason = "shared with the tests of the stores"
)]
mod cluster;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Instant;

use taskscout::prelude::*;
use taskscout_studies::{AskOptions, Column, Definition, Measured, StoredStudy, open_store};

/// The address that a process of the benchmark works on.
const ADDRESS: &str = "TASKSCOUT_BENCH_STORE";
const PYTHON: &str = "TASKSCOUT_BENCH_PYTHON";
const PROCESSES: usize = 8;
const ROUNDS: usize = 100;
/// How often each is measured; the runs alternate, since machines are noisy.
const REPEATS: usize = 3;

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    if let Ok(address) = std::env::var(ADDRESS) {
        return work(&address);
    }
    let folder = tempfile::tempdir()?;
    let file = |name: String| folder.path().join(name).display().to_string();
    println!("{PROCESSES} processes x {ROUNDS} rounds of ask and tell, rounds a second");
    println!("store       taskscout   optuna   ratio");
    for repeat in 0..REPEATS {
        let ours = measure(&file(format!("ours{repeat}.db")))?;
        let path = file(format!("optuna{repeat}.db"));
        report("sqlite", ours, optuna(&format!("sqlite:///{path}"))?);
    }
    let Some(server) = cluster::Cluster::start_with("-c fsync=on -c max_connections=100") else {
        return Ok(());
    };
    for _ in 0..REPEATS {
        let ours = measure(&server.url())?;
        report("postgresql", ours, optuna(&server.url())?);
    }
    Ok(())
}

fn report(store: &str, ours: f64, theirs: Option<f64>) {
    match theirs {
        Some(theirs) => println!(
            "{store:<10}  {ours:>9.1} {theirs:>8.1} {:>7.1}",
            ours / theirs
        ),
        None => println!("{store:<10}  {ours:>9.1}        –       –"),
    }
}

fn definition() -> Definition {
    let named = |names: &[&str]| names.iter().map(|name| Column::named(name)).collect();
    Definition {
        parameters: named(&["wind", "payload"]),
        inputs: named(&["vx", "vy"]),
        outputs: named(&["force"]),
        scaling: taskscout_studies::ScalingRule::None,
        ..Definition::default()
    }
}

fn new_study() -> Outcome<Study> {
    let study = Study::builder(Space::boxed(vec![-1.0, -1.0], vec![1.0, 1.0])?)
        .inputs(2)
        .target(Target::unknown("tomorrow"))
        .strategy(StrategyKind::Passive)
        .build()?;
    Ok(study)
}

/// Rounds a second of all processes together, from the start of the first to the end of the last.
fn measure(address: &str) -> Outcome<f64> {
    let name = format!("bench{}", std::process::id());
    let store = open_store(address, true)?;
    let made = StoredStudy::create(store, &name, definition(), &new_study()?, "bench");
    // A server keeps the study of the repeat before: a new one takes another name.
    let name = match made {
        Ok(_) => name,
        Err(_) => {
            let name = format!(
                "{name}-{}",
                taskscout_studies::list(&mut *open_store(address, false)?)?.len()
            );
            StoredStudy::create(
                open_store(address, false)?,
                &name,
                definition(),
                &new_study()?,
                "bench",
            )?;
            name
        }
    };
    let began = Instant::now();
    let children: Vec<Child> = (0..PROCESSES)
        .map(|_| {
            let mut command = Command::new(std::env::current_exe()?);
            command
                .env(ADDRESS, address)
                .env("TASKSCOUT_STUDY", &name)
                .spawn()
        })
        .collect::<std::io::Result<_>>()?;
    for mut child in children {
        if !child.wait()?.success() {
            return Err("a process of the benchmark failed".into());
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    check(address, &name)?;
    Ok((PROCESSES * ROUNDS) as f64 / seconds)
}

/// Nothing lost, nothing twice.
fn check(address: &str, name: &str) -> Outcome<()> {
    let store = open_store(address, false)?;
    let study = StoredStudy::open(store, name, "bench", &Registry::new())?;
    let told: BTreeSet<String> = study
        .batches()
        .iter()
        .map(|batch| batch.of.to_string())
        .collect();
    let counts = [
        study.batches().len(),
        told.len(),
        study.study().items().len(),
        study.study().rounds(),
    ];
    match counts {
        [PLANNED, PLANNED, PLANNED, PLANNED] => Ok(()),
        other => Err(
            format!("batches, items told, items and rounds are {other:?}, not {PLANNED}").into(),
        ),
    }
}

const PLANNED: usize = PROCESSES * ROUNDS;

/// One process.
fn work(address: &str) -> Outcome<()> {
    let name = std::env::var("TASKSCOUT_STUDY")?;
    let author = format!("process {}", std::process::id());
    let store = open_store(address, false)?;
    let mut study = StoredStudy::open(store, &name, &author, &Registry::new())?;
    for _ in 0..ROUNDS {
        let plan = study.ask(&AskOptions::budget(1))?.plan;
        let [item] = &plan.items[..] else {
            return Err(format!("one item was asked for, and {} came", plan.items.len()).into());
        };
        let mut rng = derive(0, Purpose::Collect, &[item.id]);
        let x = vec![normal(&mut rng), normal(&mut rng)];
        let y = vec![item.task[0] * x[0] + item.task[1] * x[1] + 0.1 * normal(&mut rng)];
        study.tell(item.id, None, &Measured::new(Samples::new(x, 2, y, 1)?))?;
    }
    Ok(())
}

/// The same with Optuna; none without an interpreter that has it.
fn optuna(address: &str) -> Outcome<Option<f64>> {
    let Some(python) = std::env::var_os(PYTHON) else {
        return Ok(None);
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/optuna_throughput.py");
    let output = Command::new(python)
        .arg(script)
        .args([address, &PROCESSES.to_string(), &ROUNDS.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(Some(String::from_utf8(output.stdout)?.trim().parse()?))
}
