//! Networks that learn, side by side with PyTorch.
//!
//! ```text
//! cargo bench -p taskscout-neural --bench neural        or, with the other benchmarks,        cargo xtask bench
//! ```
//!
//! 1. Steps a second of joint mini-batch descent, `JointGd::fit` against `torch.optim.SGD`: a
//!    network without bias as `φ` and a linear task map `B` of 80 task features, prediction
//!    `(φ(x) · Bw).sum`, mean squared error. Both start from the same weights. Before the clock runs,
//!    five steps on all rows at once have to give the same losses on both sides; if they do not, the
//!    run ends with an error. Our time is that of the whole fit, set-up and assembly of the model
//!    included; PyTorch's is that of the steps alone.
//! 2. The time to a held-out loss: a network learns from passive source tasks and a target, the world
//!    of `experiments/mlp.toml`. PyTorch descends jointly, with the published settings; our side is
//!    the oracle `neural` with its defaults, and with less and less work. The held-out loss is the
//!    mean squared error against labels without noise, on fresh rows of the same tasks. Each turn is a
//!    seed, for the initial weights and the order of rows, on both sides; losses are medians over
//!    seeds. One thread each.
//!
//! Either part runs alone where it is named: `-- steps`, `-- loss`.
//!
//! PyTorch runs eagerly, on tensors in memory, without a `DataLoader`. Read the ratios, which are
//! medians over neighbouring turns, and trust processor time where the machine was busy: those lines
//! end with a star. On two threads PyTorch's spin for a while where they wait, which costs processor
//! time; by default they would spin for so long that a busy machine stands still.

#[path = "support/rows.rs"]
mod rows;
#[path = "../../taskscout/benches/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};
use rows::{Counts, FEATURES, Rows, name};
use support::Result;
use support::clock::{Timing, measure, median};
use support::numpy::{Numpy, interpreter};
use taskscout::model::{Activation, Model, WarmStart};
use taskscout::train::{TrainContext, Trainer};
use taskscout_neural::{
    Decay, DescentSettings, JointGd, MlpShape, Neural, NeuralSettings, Optimiser,
};

/// The parts by name.
const STEPS: &str = "steps";
const LOSS: &str = "loss";

/// Turns of each side; in part 2, seeds.
const REPETITIONS: usize = 5;

/// A network and the batches that it learns from.
struct Case {
    widths: &'static [usize],
    batch: usize,
    /// Tasks, and rows of each.
    tasks: usize,
    rows_each: usize,
    /// Enough that set-up does not matter.
    epochs: usize,
}

const CASES: [Case; 3] = [
    Case {
        widths: &[20, 20, 20, 4],
        batch: 600,
        tasks: 80,
        rows_each: 150,
        epochs: 60,
    },
    Case {
        widths: &[20, 20, 20, 4],
        batch: 600,
        tasks: 640,
        rows_each: 30,
        epochs: 40,
    },
    Case {
        widths: &[64, 256, 256, 16],
        batch: 1024,
        tasks: 80,
        rows_each: 64,
        epochs: 30,
    },
];

/// The learning rate of part 1: none of the networks diverges at it.
const RATE: f64 = 0.01;

/// Steps on all rows that have to agree, as many as the Python side takes, and how well: both sum in
/// single precision.
const SAME_STEPS: usize = 5;
const SAME: f64 = 1e-4;

/// Part 2: the network that learns, and what from.
const LEARNER: [usize; 4] = [10, 10, 10, 4];
const COUNTS: Counts = Counts {
    sources: 632,
    rows_each: 110,
    target_rows: 8_000,
    held_out: [28, 2_304],
};

/// Less and less work for the oracle `neural`, most first: starts, annealing steps, steps on all rows.
const LADDER: [[usize; 3]; 6] = [
    [2, 3_000, 60],
    [1, 3_000, 60],
    [1, 1_500, 30],
    [1, 800, 15],
    [1, 250, 6],
    [1, 250, 1],
];

fn main() -> ExitCode {
    // `cargo test --benches` starts this too, without the flag; a benchmark is not a test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("neural: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let python = match interpreter().and_then(|python| has_torch(&python).map(|()| python)) {
        Ok(python) => Some(python),
        Err(error) => {
            println!("NO COMPARISON WITH PYTORCH: {error}. Our figures stand alone.\n");
            None
        }
    };
    // The name of a part asks for that part alone.
    let asked = |part: &str| std::env::args().any(|argument| argument == part);
    if asked(STEPS) || !asked(LOSS) {
        steps(python.as_deref())?;
    }
    if asked(LOSS) || !asked(STEPS) {
        held_out(python.as_deref())?;
    }
    Ok(())
}

/// Fails unless a Python can import PyTorch; why not, it says on standard error.
fn has_torch(python: &Path) -> Result<()> {
    let import = Command::new(python).args(["-c", "import torch"]).status();
    let place = python.display();
    match import {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{place} cannot import torch").into()),
        Err(error) => Err(format!("could not start {place}: {error}").into()),
    }
}

fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(ThreadPoolBuilder::new().num_threads(threads).build()?)
}

/// What our side took, and PyTorch.
type Turn = (Timing, Option<Timing>);

/// A median over turns that have both sides.
fn ratio(turns: &[Turn], of: impl Fn(&Timing, &Timing) -> Option<f64>) -> f64 {
    median(
        turns
            .iter()
            .filter_map(|(ours, theirs)| of(ours, theirs.as_ref()?)),
    )
}

/// A mark where threads waited for a core: on one of their own, none takes longer than its work.
fn star<'a>(ours: impl Iterator<Item = &'a Timing>) -> &'static str {
    let waits = median(ours.filter_map(|timing| Some(timing.wall_s / timing.cpu_s?)));
    if waits > 1.1 { " *" } else { "" }
}

/// Part 1: steps a second.
fn steps(python: Option<&Path>) -> Result<()> {
    let mut said = false;
    let cores = std::thread::available_parallelism()?.get();
    for case in &CASES {
        let rows = Rows::draw(
            case.widths,
            Counts {
                sources: case.tasks - 1,
                rows_each: case.rows_each,
                target_rows: case.rows_each,
                held_out: [1, 1],
            },
        )?;
        let (shared, start) = (rows.share()?, Arc::new(rows.start()?));
        for threads in [1, 2].into_iter().take(cores.min(2)) {
            let mut torch = python
                .map(|python| shared.python(python, &rows, case.batch, RATE, threads))
                .transpose()?;
            let pool = pool(threads)?;
            if let Some(torch) = &mut torch {
                same_losses(&rows, &start, case, torch)?;
            }
            if !said {
                said = true;
                let version = torch.as_ref().map_or("no PyTorch", Numpy::version);
                println!(
                    "Steps a second of joint descent (SGD), {FEATURES} task features, {version}; \
                     medians of {REPETITIONS} turns.\nRatios are ours over PyTorch's, of steps a \
                     second on the wall and of steps a second of processor time.\n"
                );
                println!(
                    "{:<13} {:>5} {:>5} {:>7} | {:>8} {:>8} | {:>8} {:>8} | {:>6} {:>6}",
                    "network",
                    "batch",
                    "tasks",
                    "threads",
                    "ours",
                    "by CPU",
                    "PyTorch",
                    "by CPU",
                    "ratio",
                    "CPU"
                );
            }
            let turns = race(&rows, &start, case, &pool, &mut torch)?;
            println!(
                "{:<13} {:>5} {:>5} {threads:>7} | {:>8.0} {:>8.0} | {:>8.0} {:>8.0} | {:>6.2} {:>6.2}{}",
                name(case.widths),
                case.batch,
                case.tasks,
                median(turns.iter().map(|(ours, _)| 1.0 / ours.wall_s)),
                median(turns.iter().filter_map(|(ours, _)| Some(1.0 / ours.cpu_s?))),
                ratio(&turns, |_, theirs| Some(1.0 / theirs.wall_s)),
                ratio(&turns, |_, theirs| Some(1.0 / theirs.cpu_s?)),
                ratio(&turns, |ours, theirs| Some(theirs.wall_s / ours.wall_s)),
                ratio(&turns, |ours, theirs| Some(theirs.cpu_s? / ours.cpu_s?)),
                star(turns.iter().map(|(ours, _)| ours)),
            );
        }
    }
    println!();
    Ok(())
}

/// Seconds of a step, turn by turn.
fn race(
    rows: &Rows,
    start: &Arc<WarmStart>,
    case: &Case,
    pool: &ThreadPool,
    torch: &mut Option<Numpy>,
) -> Result<Vec<Turn>> {
    let expected = case.epochs * rows.len().div_ceil(case.batch);
    let fit = |epochs| pool.install(|| descend(rows, start, case, case.batch, epochs));
    // To warm up.
    fit(1)?;
    if let Some(torch) = torch {
        torch.time(1)?;
    }
    let mut turns = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let mut taken = 0;
        let ours = measure(1, || {
            taken = fit(case.epochs)?.report.iterations;
            taskscout::Result::Ok(())
        })?;
        if taken != expected {
            return Err(format!("{taken} steps were taken, not {expected}").into());
        }
        let theirs = match torch {
            None => None,
            Some(torch) => Some(per(
                &torch.time(case.epochs as u32)?,
                expected / case.epochs,
            )),
        };
        turns.push((per(&ours, taken), theirs));
    }
    Ok(turns)
}

/// A part of a timing.
fn per(timing: &Timing, parts: usize) -> Timing {
    Timing {
        wall_s: timing.wall_s / parts as f64,
        cpu_s: timing.cpu_s.map(|cpu_s| cpu_s / parts as f64),
    }
}

/// Our joint descent from the shared start.
fn descend(
    rows: &Rows,
    start: &Arc<WarmStart>,
    case: &Case,
    batch: usize,
    epochs: usize,
) -> taskscout::Result<Model> {
    let oracle = JointGd {
        network: shape(case.widths),
        descent: DescentSettings {
            optimiser: Optimiser::Sgd,
            learning_rate: RATE,
            weight_decay: 0.0,
            batch,
            epochs,
            decay: Decay::Constant,
            ..DescentSettings::default()
        },
    };
    let context = TrainContext {
        k: case.widths.last().copied(),
        warm_start: Some(Arc::clone(start)),
        ..TrainContext::default()
    };
    Ok(black_box(oracle.model(black_box(&rows.data), &context)?))
}

/// Fails unless both sides have the same losses in the first steps on all rows at once.
fn same_losses(rows: &Rows, start: &Arc<WarmStart>, case: &Case, torch: &mut Numpy) -> Result<()> {
    let theirs = torch.result()?;
    let ours = descend(rows, start, case, rows.len(), SAME_STEPS)?
        .report
        .objective_history;
    let agree = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() <= SAME;
    if ours.len() == theirs.len() && ours.iter().zip(&theirs).all(agree) {
        return Ok(());
    }
    Err(format!("PyTorch's first losses are {theirs:?}, not {ours:?}").into())
}

fn shape(widths: &[usize]) -> MlpShape {
    MlpShape {
        hidden: widths[1..widths.len() - 1].to_vec(),
        activation: Activation::Relu,
        bias: false,
    }
}

/// One way of ours to learn: its name, the oracle, and its losses and times, seed by seed.
struct Way {
    name: String,
    oracle: Neural<MlpShape>,
    losses: Vec<f64>,
    turns: Vec<Turn>,
}

impl Way {
    fn new(name: String, settings: NeuralSettings) -> Self {
        Self {
            name,
            oracle: Neural::new(shape(&LEARNER), settings),
            losses: Vec::new(),
            turns: Vec::new(),
        }
    }
}

/// All ways of ours, most work first.
fn ways() -> Vec<Way> {
    let default = NeuralSettings::default();
    let mut ways = vec![Way::new(
        format!(
            "{:>6} {:>6} {:>5}  default",
            default.starts, default.anneal_steps, default.max_steps
        ),
        default,
    )];
    ways.extend(LADDER.map(|[starts, anneal_steps, max_steps]| {
        Way::new(
            format!("{starts:>6} {anneal_steps:>6} {max_steps:>5}         "),
            NeuralSettings {
                starts,
                anneal_steps,
                max_steps,
                ..NeuralSettings::default()
            },
        )
    }));
    ways
}

/// Part 2: the time to PyTorch's held-out loss.
fn held_out(python: Option<&Path>) -> Result<()> {
    let published = DescentSettings::for_networks();
    let Decay::Step { every, factor } = published.decay else {
        return Err("the published learning rate falls in steps".into());
    };
    let rows = Rows::draw(&LEARNER, COUNTS)?;
    let shared = rows.share()?;
    let mut torch = python
        .map(|python| shared.python(python, &rows, published.batch, published.learning_rate, 1))
        .transpose()?;
    let pool = pool(1)?;
    let (mut ways, mut theirs) = (ways(), Vec::new());
    for seed in 0..REPETITIONS as u64 {
        let training = match &mut torch {
            None => None,
            Some(torch) => {
                let command = format!("train {seed} {} {every} {factor}", published.epochs);
                Some(training(&torch.ask(&command)?)?)
            }
        };
        for way in &mut ways {
            let (loss, ours) = learn(&rows, &way.oracle, &pool, seed)?;
            way.losses.push(loss);
            way.turns.push((ours, training.map(|(timing, _)| timing)));
        }
        theirs.extend(training);
    }
    print_learning(&rows, &ways, &theirs);
    Ok(())
}

/// Time and loss of one of PyTorch's trainings.
fn training(answer: &[f64]) -> Result<(Timing, f64)> {
    let &[wall_s, cpu_s, loss] = answer else {
        return Err(format!("expected two times and a loss from Python, found {answer:?}").into());
    };
    let cpu_s = Some(cpu_s);
    Ok((Timing { wall_s, cpu_s }, loss))
}

/// The held-out loss of one of our fits, and what the fit took.
fn learn(
    rows: &Rows,
    oracle: &Neural<MlpShape>,
    pool: &ThreadPool,
    seed: u64,
) -> Result<(f64, Timing)> {
    let context = TrainContext {
        k: LEARNER.last().copied(),
        seed,
        ..TrainContext::default()
    };
    let mut model = None;
    let timing = measure(1, || {
        model = Some(pool.install(|| oracle.model(black_box(&rows.data), &context))?);
        taskscout::Result::Ok(())
    })?;
    let model = model.ok_or("nothing was fitted")?;
    Ok((rows.loss(&model)?, timing))
}

fn print_learning(rows: &Rows, ways: &[Way], theirs: &[(Timing, f64)]) {
    println!(
        "Time to a held-out loss: {} learns from {} rows of {} tasks, one thread each; medians over \
         {REPETITIONS} seeds.\nLoss: mean squared error on {} fresh rows of the same tasks, against \
         labels without noise.\nRatios are PyTorch's time over ours; the arrow marks the least work that \
         ends at PyTorch's loss or below.\n",
        name(&LEARNER),
        rows.len(),
        COUNTS.sources + 1,
        rows.held_out(),
    );
    let spread = |losses: &[f64]| {
        format!(
            "{:>8.5} {:>8.5} {:>8.5}",
            median(losses.iter().copied()),
            losses.iter().copied().fold(f64::INFINITY, f64::min),
            losses.iter().copied().fold(0.0, f64::max),
        )
    };
    println!(
        "{:<8} {:>6} {:>6} {:>5}          | {:>8} {:>8} {:>8} | {:>7} {:>7} | {:>6} {:>6}",
        "", "starts", "anneal", "steps", "loss", "least", "most", "s", "CPU s", "ratio", "CPU"
    );
    let goal = median(theirs.iter().map(|(_, loss)| *loss));
    if !theirs.is_empty() {
        let losses: Vec<f64> = theirs.iter().map(|(_, loss)| *loss).collect();
        println!(
            "{:<8} {:<28} | {} | {:>7.3} {:>7.3} | {:>6} {:>6}",
            "PyTorch",
            "",
            spread(&losses),
            median(theirs.iter().map(|(timing, _)| timing.wall_s)),
            median(theirs.iter().filter_map(|(timing, _)| timing.cpu_s)),
            1,
            1,
        );
    }
    let enough = |way: &Way| median(way.losses.iter().copied()) <= goal;
    let cpu = |way: &Way| median(way.turns.iter().filter_map(|(ours, _)| ours.cpu_s));
    let least = ways
        .iter()
        .enumerate()
        .filter(|(_, way)| enough(way))
        .min_by(|(_, a), (_, b)| cpu(a).total_cmp(&cpu(b)))
        .map(|(index, _)| index);
    for (index, way) in ways.iter().enumerate() {
        println!(
            "{:<8} {:<28} | {} | {:>7.3} {:>7.3} | {:>6.2} {:>6.2}{}{}",
            "ours",
            way.name,
            spread(&way.losses),
            median(way.turns.iter().map(|(ours, _)| ours.wall_s)),
            cpu(way),
            ratio(&way.turns, |ours, theirs| Some(theirs.wall_s / ours.wall_s)),
            ratio(&way.turns, |ours, theirs| Some(theirs.cpu_s? / ours.cpu_s?)),
            if least == Some(index) { " <" } else { "" },
            star(way.turns.iter().map(|(ours, _)| ours)),
        );
    }
}
