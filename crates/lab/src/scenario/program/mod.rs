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
use taskscout::data::{Columns, Samples};
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::Space;
use taskscout::task::Task;
use taskscout::train::Predictor;
use taskscout_models::Names;
use taskscout_worlds::program::{Listener, Program, Request, Session, seed};

pub(super) use settings::Settings;
use settings::TargetSettings;

use super::{World, WorldTarget};
use crate::error::Result;
use crate::folder::RunInput;
use crate::trial::Trial;
use crate::watch::Watcher;

/// Spreads that an input may lie from zero before the squares of features keep few digits of it.
const FARTHEST: f64 = 1e6;

/// The program as a world: for all trials, or, once opened, for one of them.
struct ProgramWorld {
    common: Arc<Common>,
    talk: Option<Talk>,
}

/// What trials share.
struct Common {
    settings: Settings,
    program: Program,
    task_features: FeatureMap,
    /// The rows that predictors are judged on, target by target, once they are there.
    tests: Vec<Mutex<Option<Arc<TestRows>>>>,
    /// Whether the user has been told of inputs that are far from zero.
    warned: OnceLock<()>,
    /// Who is told.
    watch: Watcher,
}

/// What a trial has of its own.
struct Talk {
    session: Mutex<Session>,
    /// What is taken off each output, once the first target samples are there.
    offset: OnceLock<Vec<f64>>,
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

    /// The rows of a target to judge with: the first trial that needs them asks for them.
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

/// What the rows of a target to judge with are kept as.
fn test_stem(target: usize) -> String {
    format!("test-t{target}")
}

fn journal_name(stem: &str) -> String {
    format!("{stem}.jsonl")
}

impl ProgramWorld {
    fn talk(&self) -> taskscout::Result<&Talk> {
        self.talk.as_ref().ok_or_else(|| {
            Error::State("a program answers within a trial only: open the world first".into())
        })
    }

    fn ask(&self, request: &Request) -> taskscout::Result<Samples> {
        let session = &self.talk()?.session;
        let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
        self.common.ask(&mut session, request)
    }

    /// What is taken off each output: nothing before the first target samples.
    fn offset(&self) -> Vec<f64> {
        let known = self.talk.as_ref().and_then(|talk| talk.offset.get());
        known.cloned().unwrap_or_else(|| vec![0.0; self.outputs()])
    }

    /// Looks at the first target samples of a trial.
    fn look(&self, samples: &Samples) -> taskscout::Result<()> {
        let (features, outputs) = (self.input_features(), self.outputs());
        self.talk()?.offset.get_or_init(|| {
            let columns = Columns::of(outputs, || samples.outputs().chunks_exact(outputs));
            let offset = |output| match has_constant(features) {
                true => columns.offset(output),
                false => 0.0,
            };
            (0..outputs).map(offset).collect()
        });
        if matches!(features, FeatureMap::Standardised(_)) {
            return Ok(());
        }
        let width = samples.input_dim();
        let columns = Columns::of(width, || samples.inputs().chunks_exact(width));
        for column in (0..width).filter(|&column| !columns.is_constant(column)) {
            let (mean, spread) = (columns.mean()[column], columns.deviation()[column]);
            if mean.abs() > FARTHEST * spread && self.common.warned.set(()).is_ok() {
                self.common.watch.note(&format!(
                    "warning: input {column} of the program is about {mean:e} and varies by {spread:.1e} only, of which few digits are kept: subtract an offset in the program, or use `standardised` input features"
                ));
            }
        }
        Ok(())
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

impl World for ProgramWorld {
    fn space(&self) -> &Space {
        &self.common.settings.space
    }

    fn task_features(&self) -> &FeatureMap {
        &self.common.task_features
    }

    fn input_features(&self) -> &FeatureMap {
        &self.common.settings.input_features
    }

    fn outputs(&self) -> usize {
        self.common.settings.outputs.count()
    }

    fn names(&self, _target: usize) -> Names {
        Names {
            inputs: Vec::new(),
            outputs: self.common.settings.outputs.names().to_vec(),
        }
    }

    fn targets(&self) -> Vec<WorldTarget> {
        let target = |target: &TargetSettings| WorldTarget {
            name: Some(target.name.clone()),
            truth: target.task.clone(),
            known: None,
        };
        self.common.settings.targets.iter().map(target).collect()
    }

    fn budget_unit(&self) -> f64 {
        self.input_features().dim() as f64
    }

    fn sample(&self, task: &Task, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
        let samples = self.ask(&Request {
            target: None,
            task: Some(task.to_vec()),
            count: n,
            seed: seed(rng),
        })?;
        self.without_offset(samples)
    }

    fn sample_target(&self, target: usize, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
        let samples = self.ask(&self.common.of_target(target, n, rng))?;
        self.look(&samples)?;
        self.without_offset(samples)
    }

    fn output_offset(&self, _target: usize) -> Vec<f64> {
        self.offset()
    }

    /// On rows of the program, whose labels have whatever noise the program gives them; of several outputs
    /// the mean.
    fn target_loss(&self, target: usize, predictor: &Predictor) -> taskscout::Result<f64> {
        let rows = self.common.test_rows(target, &self.talk()?.collected)?;
        let predictions = predictor.predict(rows.features.as_ref())?;
        let offset = self.offset();
        let labels = rows.labels.iter().zip(offset.iter().cycle());
        let errors = predictions.iter().zip(labels);
        let total: f64 = errors
            .map(|(a, (b, offset))| (a - (b - offset)).powi(2))
            .sum();
        Ok(total / rows.labels.len() as f64)
    }

    fn wants_details(&self) -> bool {
        true
    }

    /// The command, and the files that it names.
    fn made_from(&self) -> Result<Vec<RunInput>> {
        let program = &self.common.program;
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

    fn open(&self, collected: &Path, trial: &str) -> taskscout::Result<Option<Box<dyn World>>> {
        std::fs::create_dir_all(collected).map_err(|error| {
            Error::io(
                format!("making the folder {}", collected.display()),
                format!("{error}; give another --out"),
            )
        })?;
        let session = self.common.session(collected, trial)?;
        Ok(Some(Box::new(Self {
            common: Arc::clone(&self.common),
            talk: Some(Talk {
                session: Mutex::new(session),
                offset: OnceLock::new(),
                collected: collected.to_owned(),
            }),
        })))
    }

    fn close(&self) -> taskscout::Result<()> {
        let Some(talk) = &self.talk else {
            return Ok(());
        };
        let mut session = talk.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.close()
    }
}
