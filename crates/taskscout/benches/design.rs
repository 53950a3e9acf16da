//! Optimal designs over tables of candidates, side by side with cvxpy and in units of numpy's passes.
//!
//! ```text
//! cargo bench -p taskscout --bench design        or, with the other benchmarks,        cargo xtask bench
//! ```
//!
//! 1. A thousand candidates, against cvxpy with its solver Clarabel: values and times. Both are asked
//!    for the same gap, each from nothing, on one thread. Clarabel counts its gap for points that are
//!    feasible only about, so that its designs can be farther from the optimum than asked. cvxpy has
//!    compiled the problem before; its time is that of `problem.solve()`, and the part of it that
//!    the solver reports. Our certified bounds have to enclose cvxpy's finest optimum; if they do
//!    not, the run ends with an error.
//! 2. Up to a million candidates, ours alone: what a coarse design costs. Peak memory is that of a
//!    child process which holds the table and solves, nothing else.
//! 3. The same times in units of one pass of numpy, `((X @ R.T)**2).sum(1).max()`, which takes turns
//!    with ours; on one thread, also where ours has more.
//!
//! Our times include the check of the table (`Candidates::new`). Read the ratios, which are medians
//! over neighbouring turns, and trust processor time where the machine was busy: those lines end
//! with a star.

mod support;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use rayon::{ThreadPool, ThreadPoolBuilder};
use support::Result;
use support::clock::{Timing, measure, median};
use support::numpy::{Numpy, interpreter};
use taskscout::design::Design;
use world::{CLOUDS, Case, Cloud, FEATURES, World, cases};

/// The argument that turns this program into the child whose memory is measured.
const PEAK: &str = "--peak-memory";

/// Candidates for the comparison with cvxpy, and the gaps: a usual one, and the solver's default.
const SMALL: usize = 1_000;
const GAPS: [f64; 2] = [1e-4, 1e-8];

/// Candidates where ours is alone, and the gap.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const COARSE: f64 = 1e-2;

/// The size whose memory is measured, and which numpy passes over.
const LARGEST: usize = SIZES[2];

/// Turns of each side.
const REPETITIONS: usize = 5;

/// Seconds that one turn should take, so that a short solve is not lost in the clock's grain.
const TURN_S: f64 = 0.05;

/// The relative error of cvxpy's optimum that its tolerance may explain.
const TOLERANCE: f64 = 1e-6;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [first, rest @ ..] if first == PEAK => hold_and_solve(rest),
        // `cargo test --benches` starts this too, without the flag; a benchmark is not a test.
        all if !all.iter().any(|argument| argument == "--bench") => Ok(()),
        _ => run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("design: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let python = interpreter();
    if let Err(error) = &python {
        println!("NO COMPARISON WITH PYTHON: {error}. Our figures stand alone.");
    }
    let python = python.ok();
    if let Some(python) = &python {
        optima(python)?;
    }
    for size in SIZES {
        costs(size, python.as_deref())?;
    }
    Ok(())
}

fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(ThreadPoolBuilder::new().num_threads(threads).build()?)
}

/// Solves once to warm up, and says how often to solve in a turn.
fn warm_up(
    world: &World,
    pool: &ThreadPool,
    case: Case,
    gap: f64,
) -> taskscout::Result<(Design, u32)> {
    let design = world.solve(pool, case, gap)?;
    let once = measure(1, || world.solve(pool, case, gap).map(drop))?;
    Ok((
        design,
        (TURN_S / once.wall_s).ceil().clamp(1.0, 100.0) as u32,
    ))
}

/// Our time, cvxpy's, and the solver's seconds in it.
type Round = (Timing, Timing, f64);

/// One problem to one gap, ours and cvxpy's.
struct Pair {
    case: Case,
    gap: f64,
    ours: Design,
    /// The optimum that the solver states, and the value of its weights.
    stated: f64,
    theirs: f64,
    turns: Vec<Round>,
}

/// Part 1: the comparison with cvxpy.
fn optima(python: &Path) -> Result<()> {
    let (world, pool) = (World::draw(Cloud::Gaussian, SMALL), pool(1)?);
    let shared = world.share()?;
    let mut pairs = Vec::new();
    for case in cases() {
        for gap in GAPS {
            let problem = [
                case.targets.to_string(),
                case.criterion.to_string(),
                gap.to_string(),
            ];
            let child = shared.python(python, "optimum", SMALL, &problem, 1);
            let mut cvxpy = match child {
                Ok(cvxpy) => cvxpy,
                Err(error) if pairs.is_empty() => {
                    println!("NO COMPARISON WITH CVXPY: {error}.\n");
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            if pairs.is_empty() {
                println!(
                    "{SMALL} Gaussian candidates with {FEATURES} values, {}, one thread each.",
                    cvxpy.version()
                );
            }
            pairs.push(pair(&world, &pool, case, gap, &mut cvxpy)?);
        }
    }
    print_values(&pairs);
    print_times(&pairs);
    (0..pairs.len()).try_for_each(|index| enclosed(&pairs[index], reference(&pairs, index)))
}

fn pair(world: &World, pool: &ThreadPool, case: Case, gap: f64, cvxpy: &mut Numpy) -> Result<Pair> {
    let (ours, passes) = warm_up(world, pool, case, gap)?;
    let &[stated, theirs] = cvxpy.result()?.as_slice() else {
        return Err("expected two values from cvxpy".into());
    };
    let mut turns = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let ours = measure(passes, || world.solve(pool, case, gap).map(drop))?;
        let total = cvxpy.time(1)?;
        let solver = cvxpy.ask("solver")?;
        turns.push((ours, total, solver.first().copied().unwrap_or(f64::NAN)));
    }
    Ok(Pair {
        case,
        gap,
        ours,
        stated,
        theirs,
        turns,
    })
}

/// The best optimum that cvxpy states for a problem: that of the finest gap.
fn reference(pairs: &[Pair], index: usize) -> f64 {
    pairs[index - index % GAPS.len() + GAPS.len() - 1].stated
}

fn print_values(pairs: &[Pair]) {
    println!(
        "\nValues of the designs over the optimum that cvxpy states at a gap of {:.0e}, minus 1.\n",
        GAPS[1]
    );
    println!(
        "{:<25} {:>6} {:>12} | {:>9} {:>9} {:>10} {:>5} | {:>9}",
        "problem", "gap", "optimum", "ours", "certified", "iterations", "atoms", "cvxpy's"
    );
    for (index, pair) in pairs.iter().enumerate() {
        let optimum = reference(pairs, index);
        println!(
            "{} {:>6.0e} {optimum:>12.8} | {:>9.1e} {:>9.1e} {:>10} {:>5} | {:>9.1e}",
            pair.case.name(),
            pair.gap,
            pair.ours.objective / optimum - 1.0,
            pair.ours.gap().unwrap_or(f64::NAN),
            pair.ours.iterations,
            pair.ours.atoms.len(),
            pair.theirs / optimum - 1.0,
        );
    }
}

fn print_times(pairs: &[Pair]) {
    println!("\nMilliseconds, medians of {REPETITIONS} turns; ratios are cvxpy's over ours.\n");
    println!(
        "{:<25} {:>6} | {:>8} {:>8} | {:>9} {:>9} {:>9} | {:>7} {:>7} {:>7}",
        "problem", "gap", "ours", "CPU", "cvxpy", "CPU", "solver", "ratio", "CPU", "solver"
    );
    for pair in pairs {
        let of = |read: &dyn Fn(&Round) -> Option<f64>| median(pair.turns.iter().filter_map(read));
        println!(
            "{} {:>6.0e} | {:>8.3} {:>8.3} | {:>9.1} {:>9.1} {:>9.1} | {:>7.0} {:>7.0} {:>7.0}{}",
            pair.case.name(),
            pair.gap,
            1e3 * of(&|(ours, ..)| Some(ours.wall_s)),
            1e3 * of(&|(ours, ..)| ours.cpu_s),
            1e3 * of(&|(_, total, _)| Some(total.wall_s)),
            1e3 * of(&|(_, total, _)| total.cpu_s),
            1e3 * of(&|(.., solver)| Some(*solver)),
            of(&|(ours, total, _)| Some(total.wall_s / ours.wall_s)),
            of(&|(ours, total, _)| Some(total.cpu_s? / ours.cpu_s?)),
            of(&|(ours, _, solver)| Some(solver / ours.wall_s)),
            star(pair.turns.iter().map(|(ours, ..)| ours)),
        );
    }
    println!();
}

/// A mark where threads waited for a core: on one of their own, none takes longer than its work.
fn star<'a>(ours: impl Iterator<Item = &'a Timing>) -> &'static str {
    let waits = median(ours.filter_map(|timing| Some(timing.wall_s / timing.cpu_s?)));
    if waits > 1.1 { " *" } else { "" }
}

/// Fails unless the optimum lies between our bound and our value, as far as cvxpy can tell.
fn enclosed(pair: &Pair, optimum: f64) -> Result<()> {
    let value = pair.ours.objective;
    let bound = pair.ours.lower_bound.unwrap_or(f64::NAN);
    // Asked this way round, a NaN is not enclosed.
    if bound <= optimum * (1.0 + TOLERANCE) && optimum <= value * (1.0 + TOLERANCE) {
        return Ok(());
    }
    let name = pair.case.name();
    Err(format!("{name}: cvxpy's optimum {optimum} is outside our {bound} to {value}").into())
}

/// Parts 2 and 3: what designs over so many candidates cost.
fn costs(size: usize, python: Option<&Path>) -> Result<()> {
    let largest = size == LARGEST;
    println!(
        "{size} candidates with {FEATURES} values to a gap of {COARSE}, medians of {REPETITIONS} turns."
    );
    if largest {
        println!(
            "Passes: our time over that of one pass of numpy on one thread. Peak: resident memory, and \
             its ratio to the {:.0} MB of the table.",
            table_bytes() * 1e-6
        );
    }
    println!(
        "\n{:<34} {:>7} | {:>10} {:>9} | {:>9} {:>9}{}",
        "candidates, problem",
        "threads",
        "iterations",
        "certified",
        "ms",
        "CPU ms",
        if largest {
            " | numpy ms  passes  by CPU |   peak MB  ratio"
        } else {
            ""
        }
    );
    let cores = std::thread::available_parallelism()?.get();
    for (place, (cloud, name)) in CLOUDS.into_iter().enumerate() {
        let world = World::draw(cloud, size);
        let mut numpy = match python
            .filter(|_| largest)
            .map(|python| scan(&world, python))
        {
            Some(Ok(numpy)) => Some(numpy),
            Some(Err(error)) => {
                println!("NO PASSES OF NUMPY: {error}.");
                None
            }
            None => None,
        };
        for threads in [1, cores].into_iter().take(cores.min(2)) {
            let pool = pool(threads)?;
            for (index, case) in cases().into_iter().enumerate() {
                print!("{name:<8} {} {threads:>7} | ", case.name());
                let turns = cost(&world, &pool, case, &mut numpy)?;
                if largest {
                    print!("{}", passes_and_peak(&turns, [place, index, threads])?);
                }
                println!("{}", star(turns.iter().map(|(ours, _)| ours)));
            }
        }
    }
    println!();
    Ok(())
}

/// What our side took, and numpy's pass after it.
type Turn = (Timing, Option<Timing>);

/// Measures one problem and prints the columns that all sizes have.
fn cost(
    world: &World,
    pool: &ThreadPool,
    case: Case,
    numpy: &mut Option<Numpy>,
) -> Result<Vec<Turn>> {
    let (design, passes) = warm_up(world, pool, case, COARSE)?;
    let mut turns = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let ours = measure(passes, || world.solve(pool, case, COARSE).map(drop))?;
        let pass = match numpy {
            None => None,
            Some(numpy) => Some(numpy.time(1)?),
        };
        turns.push((ours, pass));
    }
    print!(
        "{:>10} {:>9.1e} | {:>9.2} {:>9.2}",
        design.iterations,
        design.gap().unwrap_or(f64::NAN),
        1e3 * median(turns.iter().map(|(ours, _)| ours.wall_s)),
        1e3 * median(turns.iter().filter_map(|(ours, _)| ours.cpu_s)),
    );
    Ok(turns)
}

/// numpy with the same candidates, once it has shown that they are the same.
///
/// On one thread: on several, its threads spin while they wait, which collapses on a busy machine.
fn scan(world: &World, python: &Path) -> Result<Numpy> {
    let mut numpy = world.share()?.python(python, "scan", world.len(), &[], 1)?;
    let (found, expected) = (numpy.result()?, world.scan());
    let agrees = |found: &f64| (found / expected - 1.0).abs() <= 1e-12;
    if !found.first().is_some_and(agrees) {
        return Err(format!("numpy's pass gives {found:?}, not {expected}").into());
    }
    Ok(numpy)
}

/// The columns of the largest size; the child is told which cloud, which case, how many threads.
fn passes_and_peak(turns: &[Turn], which: [usize; 3]) -> Result<String> {
    let wall = |(ours, pass): &Turn| Some(ours.wall_s / pass.as_ref()?.wall_s);
    let cpu = |(ours, pass): &Turn| Some(ours.cpu_s? / pass.as_ref()?.cpu_s?);
    let child = Command::new(std::env::current_exe()?)
        .arg(PEAK)
        .args(which.map(|number| number.to_string()))
        .output()?;
    if !child.status.success() {
        let message = String::from_utf8_lossy(&child.stderr);
        return Err(format!("the child ended with {}: {message}", child.status).into());
    }
    // Where the system does not tell, the child prints nothing.
    let peak = String::from_utf8(child.stdout)?
        .trim()
        .parse()
        .unwrap_or(f64::NAN);
    Ok(format!(
        " | {:>8.2} {:>7.2} {:>7.2} | {:>9.1} {:>6.2}",
        1e3 * median(
            turns
                .iter()
                .filter_map(|(_, pass)| Some(pass.as_ref()?.wall_s))
        ),
        median(turns.iter().filter_map(wall)),
        median(turns.iter().filter_map(cpu)),
        peak * 1e-6,
        peak / table_bytes(),
    ))
}

fn table_bytes() -> f64 {
    (LARGEST * FEATURES * size_of::<f64>()) as f64
}

/// The child: solves one problem and prints the largest resident memory it had, in bytes.
fn hold_and_solve(arguments: &[String]) -> Result<()> {
    let numbers: std::result::Result<Vec<usize>, _> =
        arguments.iter().map(|argument| argument.parse()).collect();
    let &[cloud, case, threads] = numbers?.as_slice() else {
        return Err(format!("{PEAK} takes a cloud, a case and a number of threads").into());
    };
    let (cloud, _) = CLOUDS.get(cloud).ok_or("no such cloud")?;
    let case = *cases().get(case).ok_or("no such case")?;
    World::draw(*cloud, LARGEST).solve(&pool(threads)?, case, COARSE)?;
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        println!(
            "{}",
            kibibytes.map_or_else(String::new, |size| (1024.0 * size).to_string())
        );
    }
    Ok(())
}
