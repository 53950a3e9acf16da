//! A program of the user's as a world: `[source]` in place of `[world]`.
//!
//! Every trial has a process of its own and a journal of what it said, so that trials run side by
//! side and a stopped one goes on without asking again. The rows that predictors are judged on are
//! asked for once and shared by all trials. Outputs whose offset is large beside their spread have it
//! taken off before they are learnt, where a constant among the features can make up for it; the first
//! target samples of a trial say how much.

mod settings;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use faer::Mat;
use taskscout::Error;
use taskscout::data::{ColumnMoments, Samples};
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::source::TaskSource;
use taskscout::task::Task;
use taskscout::train::Predictor;
use taskscout_worlds::program::{Listener, Program, Request, Session, seed};

pub(super) use settings::Settings;
use settings::TargetSettings;

use super::{Data, Judge, Open, Presentation, TrialSource};
use crate::error::Result;
use crate::record::Trial;
use crate::run_input::RunInput;
use crate::watch::Watcher;

/// Spreads that an input may lie from zero before the squares of features keep few digits of it.
const FARTHEST: f64 = 1e6;

/// The program, which all trials share.
struct Programs(Arc<Common>);

/// What trials share.
struct Common {
    settings: Settings,
    program: Program,
    /// The rows that predictors are judged on, target by target, once they are there.
    tests: Vec<Mutex<Option<Arc<TestRows>>>>,
    /// Whether the user has been told of inputs that are far from zero.
    warned: OnceLock<()>,
    /// Who is told.
    watch: Watcher,
}

/// A trial's own process.
struct Conversation {
    common: Arc<Common>,
    session: Session,
    offset: Arc<Offset>,
}

/// What is taken off each output of a trial, once its first target samples are there.
struct Offset(OnceLock<Vec<f64>>);

/// Rows of the program that no learner sees.
struct TestJudge {
    common: Arc<Common>,
    offset: Arc<Offset>,
    /// Where journals lie.
    collected: PathBuf,
}

/// Rows to judge a predictor on.
struct TestRows {
    features: Mat<f64>,
    /// Row by row, all outputs.
    labels: Vec<f64>,
}

impl Common {
    fn of_target(&self, target: usize, count: usize, rng: &mut Rng) -> Request {
        let TargetSettings { name, task } = &self.settings.targets[target];
        Request {
            target: Some(name.clone()),
            task: task.clone(),
            count,
            seed: seed(rng),
        }
    }

    /// A conversation that is kept in a file of this name; the program's standard error is the user's.
    fn session(&self, collected: &Path, stem: &str) -> taskscout::Result<Session> {
        let journal = collected.join(journal_name(stem));
        let (prefix, watch) = (stem.to_owned(), self.watch.clone());
        let listener: Listener = Arc::new(move |line| watch.note(&format!("{prefix} | {line}")));
        Ok(Session::open(&self.program, &journal)?.with_listener(listener))
    }

    /// Asks, and passes on what the user should know.
    fn ask(&self, session: &mut Session, request: &Request) -> taskscout::Result<Samples> {
        let answer = session.ask(request);
        while let Some(note) = session.take_note() {
            self.watch.note(&format!("note: {note}"));
        }
        answer
    }

    /// The test rows of a target: the first trial that needs them asks for them.
    fn test_rows(&self, target: usize, collected: &Path) -> taskscout::Result<Arc<TestRows>> {
        let mut place = self.tests[target]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(rows) = place.as_ref() {
            return Ok(Arc::clone(rows));
        }
        let mut session = self.session(collected, &test_stem(target))?;
        let mut rng = derive(0, Purpose::Test, &[target as u64]);
        let request = self.of_target(target, self.settings.test_rows, &mut rng);
        let samples = self.ask(&mut session, &request)?;
        session.close()?;
        let rows = Arc::new(TestRows::new(&self.settings.input_features, &samples));
        *place = Some(Arc::clone(&rows));
        Ok(rows)
    }
}

impl TestRows {
    fn new(features: &FeatureMap, samples: &Samples) -> Self {
        let (n, d) = (samples.len(), features.dim());
        let mut values = vec![0.0; n * d];
        features.apply(samples.inputs(), &mut values);
        Self {
            features: Mat::from_fn(n, d, |row, column| values[row * d + column]),
            labels: samples.outputs().to_vec(),
        }
    }
}

/// The name of the file that keeps the test rows of a target.
fn test_stem(target: usize) -> String {
    format!("test-t{target}")
}

fn journal_name(stem: &str) -> String {
    format!("{stem}.jsonl")
}

impl Offset {
    /// Nothing before the first target samples.
    fn get(&self, outputs: usize) -> Vec<f64> {
        let known = self.0.get().cloned();
        known.unwrap_or_else(|| vec![0.0; outputs])
    }
}

impl Conversation {
    fn ask(&mut self, request: &Request) -> taskscout::Result<Samples> {
        self.common.ask(&mut self.session, request)
    }

    fn offset(&self) -> Vec<f64> {
        self.offset.get(self.common.settings.outputs.count())
    }

    /// Looks at the first target samples of a trial.
    fn look(&self, samples: &Samples) {
        let settings = &self.common.settings;
        let (features, outputs) = (&settings.input_features, settings.outputs.count());
        self.offset.0.get_or_init(|| {
            let columns = ColumnMoments::of(outputs, || samples.outputs().chunks_exact(outputs));
            let offset = |output| match has_constant(features) {
                true => columns.offset(output),
                false => 0.0,
            };
            (0..outputs).map(offset).collect()
        });
        if matches!(features, FeatureMap::Standardised(_)) {
            return;
        }
        let width = samples.input_dim();
        let columns = ColumnMoments::of(width, || samples.inputs().chunks_exact(width));
        for column in (0..width).filter(|&column| !columns.is_constant(column)) {
            let (mean, spread) = (columns.mean()[column], columns.deviation()[column]);
            if mean.abs() > FARTHEST * spread && self.common.warned.set(()).is_ok() {
                self.common.watch.note(&format!(
                    "warning: input {column} of the program is about {mean:e} and varies by only {spread:.1e}, so few digits of its variation are kept: subtract an offset in the program, or use `standardised` input features"
                ));
            }
        }
    }

    /// Outputs without the offset.
    fn without_offset(&self, samples: Samples) -> taskscout::Result<Samples> {
        let offset = self.offset();
        if offset.iter().all(|offset| offset.abs() <= 0.0) {
            return Ok(samples);
        }
        let labels = samples.outputs().iter().zip(offset.iter().cycle());
        let moved = labels.map(|(y, offset)| y - offset).collect();
        let inputs = samples.inputs().to_vec();
        Samples::new(inputs, samples.input_dim(), moved, samples.output_dim())
    }
}

/// Whether one of the features is the same for all inputs, and not zero.
fn has_constant(features: &FeatureMap) -> bool {
    let at = |value: f64| apply_row(features, &vec![value; features.input_dim()]);
    let (here, there) = (at(0.0), at(0.37));
    let mut pairs = here.iter().zip(&there);
    pairs.any(|(a, b)| (a - b).abs() <= 0.0 && a.abs() > 0.0)
}

impl Data for Programs {
    fn open<'a>(&'a self, collected: &Path, trial: &Trial) -> taskscout::Result<Open<'a>> {
        std::fs::create_dir_all(collected).map_err(|error| {
            Error::io(
                format!("making the folder {}", collected.display()),
                format!("{error}; give another --out"),
            )
        })?;
        let offset = Arc::new(Offset(OnceLock::new()));
        Ok(Open {
            source: Box::new(Conversation {
                common: Arc::clone(&self.0),
                session: self.0.session(collected, &trial.file_stem())?,
                offset: Arc::clone(&offset),
            }),
            judge: Box::new(TestJudge {
                common: Arc::clone(&self.0),
                offset,
                collected: collected.to_owned(),
            }),
        })
    }

    /// The command, and the files that it names.
    fn made_from(&self) -> Result<Vec<RunInput>> {
        let program = &self.0.program;
        let command = RunInput::text("`source.command`", &program.command_line());
        let files = program.files().into_iter();
        // A file that is named but not there yet is one that the program writes.
        let files =
            files.map(|(name, path)| RunInput::file(name, &path).map(RunInput::that_may_appear));
        std::iter::once(Ok(command)).chain(files).collect()
    }

    fn asks_program(&self) -> bool {
        true
    }

    fn journals(&self, trial: &Trial) -> Vec<String> {
        let tests = trial.targets().map(test_stem);
        let stems = std::iter::once(trial.file_stem()).chain(tests);
        stems.map(|stem| journal_name(&stem)).collect()
    }
}

impl TaskSource for Conversation {
    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
        let samples = self.ask(&Request {
            target: None,
            task: Some(task.to_vec()),
            count: n,
            seed: seed(rng),
        })?;
        self.without_offset(samples)
    }
}

impl TrialSource for Conversation {
    fn sample_target(
        &mut self,
        target: usize,
        n: usize,
        rng: &mut Rng,
    ) -> taskscout::Result<Samples> {
        let request = self.common.of_target(target, n, rng);
        let samples = self.ask(&request)?;
        self.look(&samples);
        self.without_offset(samples)
    }

    fn output_offset(&self, _target: usize) -> Vec<f64> {
        self.offset()
    }

    fn close(&mut self) -> taskscout::Result<()> {
        self.session.close()
    }
}

impl Judge for TestJudge {
    /// On rows of the program, whose labels have whatever noise the program gives them; of several outputs
    /// the mean.
    fn loss(&self, target: usize, predictor: &Predictor) -> taskscout::Result<f64> {
        let rows = self.common.test_rows(target, &self.collected)?;
        let predictions = predictor.predict(rows.features.as_ref())?;
        let offset = self.offset.get(self.common.settings.outputs.count());
        let labels = rows.labels.iter().zip(offset.iter().cycle());
        let errors = predictions.iter().zip(labels);
        let total: f64 = errors
            .map(|(a, (b, offset))| (a - (b - offset)).powi(2))
            .sum();
        Ok(total / rows.labels.len() as f64)
    }
}

/// Programs are judged as all tasks with parameters are.
struct Details;

impl Presentation for Details {
    fn wants_details(&self) -> bool {
        true
    }
}
