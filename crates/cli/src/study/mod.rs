//! `taskscout study`: campaigns of one's own, over days, people and machines.

mod new;
pub(crate) mod options;

use std::cell::Cell;
use std::path::Path;

use serde::Serialize;
use taskscout::registry::Registry;
use taskscout::study::ForecastRequest;
use taskscout::task::Task;
use taskscout_lab::parts::with_networks;
use taskscout_store::Store;
use taskscout_studies::{
    AskOptions, Numbers, RowFormat, StoredStudy, TargetSettings, WorkOptions, default_author,
    read_rows, words,
};

use self::new::NewOptions;
use self::options::{AskArgs, Place, StudyArgs, StudyCommand, TargetOptions, WorkArgs};
use crate::error::{CliError, Result};
use taskscout_terminal::Alive;
use taskscout_terminal::{print_json, show, show_concluding, tell};

/// Does what is asked of a study.
pub(crate) fn execute(args: &StudyArgs, registry: &Registry) -> Result<()> {
    taskscout_terminal::survive_full_files();
    let registry = with_networks(registry)?;
    let context = Context {
        place: &args.place,
        registry: &registry,
        alive: Cell::default(),
    };
    // Where people answer questions or a program works, others tell.
    if !matches!(args.command, StudyCommand::New(_) | StudyCommand::Work(_)) {
        context.works();
    }
    match &args.command {
        StudyCommand::New(options) => context.begin(options),
        StudyCommand::List => context.list(),
        StudyCommand::Recover { to } => context.recover(to),
        StudyCommand::Target(options) => context.target(options),
        StudyCommand::Ask(options) => context.ask(options),
        StudyCommand::Tell { what, file, set } => context.tell(what, file.as_deref(), set.as_ref()),
        StudyCommand::Add { file, task, set } => context.add(file, task.as_deref(), set.as_ref()),
        StudyCommand::Forecast { budget, figure } => context.forecast(budget, figure.as_deref()),
        StudyCommand::Work(options) => context.work(options),
        other => context.simple(other),
    }
}

/// Where a study is, and what it may need.
struct Context<'a> {
    place: &'a Place,
    registry: &'a Registry,
    /// Until there is something to say.
    alive: Cell<Option<Alive>>,
}

impl Context<'_> {
    /// From now on a sign of life tells that something goes on.
    fn works(&self) {
        self.alive.set(Some(Alive::start("working")));
    }

    fn store(&self) -> Result<Box<dyn Store>> {
        taskscout_studies::open_store(&self.place.store, false)
    }

    fn open(&self) -> Result<StoredStudy> {
        let study = self.place.study.as_deref();
        StoredStudy::find(self.store()?, study, &self.author(), self.registry)
    }

    fn author(&self) -> String {
        self.place.author.clone().unwrap_or_else(default_author)
    }

    /// JSON where it is asked for, and else text for people.
    fn say(&self, value: &impl Serialize, text: &str) -> Result<()> {
        self.say_with(value, text, show)
    }

    /// The same, with how text is shown.
    fn say_with(
        &self,
        value: &impl Serialize,
        text: &str,
        shown: fn(&str) -> Result<()>,
    ) -> Result<()> {
        drop(self.alive.take());
        if !self.place.json {
            return shown(text);
        }
        let json = serde_json::to_string_pretty(value)
            .map_err(|error| CliError::Failure(format!("cannot write JSON: {error}")))?;
        print_json(&format!("{json}\n"))
    }

    fn begin(&self, options: &NewOptions) -> Result<()> {
        let settings = options.settings()?;
        self.works();
        let (definition, study) = settings.build(self.registry)?;
        let name = self.place.study.clone().or(settings.name);
        let name = name.unwrap_or_else(|| "study".into());
        let store = taskscout_studies::open_store(&self.place.store, true)?;
        let begun = (definition, &study);
        let mut study =
            StoredStudy::create_with(store, &name, begun, &self.author(), self.registry)?;
        let status = study.status()?;
        self.say(&status, &words::begun(&status, &study, &self.place.store))
    }

    fn list(&self) -> Result<()> {
        let heads = taskscout_studies::list(&mut *self.store()?)?;
        self.say(&heads, &words::list(&heads))
    }

    fn recover(&self, to: &Path) -> Result<()> {
        let recovery = taskscout_studies::recover(&self.place.store, to)?;
        self.say(&recovery, &recovery.to_text())
    }

    fn target(&self, options: &TargetOptions) -> Result<()> {
        let mut study = self.open()?;
        if let Some(name) = &options.add {
            let target = TargetSettings {
                name: name.clone(),
                parameters: options.parameters.clone().map(|numbers| numbers.0),
                ..TargetSettings::default()
            };
            study.name_target(&target)?;
            if options.file.is_none() {
                return self.say(&study.status()?, &format!("target {name} is named\n"));
            }
        }
        let Some(file) = &options.file else {
            return Ok(());
        };
        let wanted = options.add.as_deref().or(options.target.as_deref());
        let name = study.only_target(wanted)?;
        let rows = read_rows(file, study.definition())?;
        let receipt = study.tell_target(&name, &rows)?;
        self.say(&receipt, &words::receipt(&receipt, None))
    }

    fn ask(&self, options: &AskArgs) -> Result<()> {
        let mut study = self.open()?;
        let collection = options.limits.settings();
        let own = &study.study().config().collection;
        let changed = collection.changing(own);
        let wanted = AskOptions {
            budget: options.budget,
            collection: (changed != *own).then_some(changed),
            key: options.key.clone(),
        };
        let asked = match &options.out {
            Some(path) => study.ask_onto(&wanted, path)?,
            None => study.ask(&wanted)?,
        };
        let text = study.checklist_text(&asked.plan);
        self.say(&asked, &words::asked(&asked, &text, options.out.as_deref()))
    }

    fn tell(&self, what: &str, file: Option<&Path>, set: Option<&Numbers>) -> Result<()> {
        let mut study = self.open()?;
        let Some(file) = file else {
            let outcomes = study.tell_items(Path::new(what))?;
            return self.say(&outcomes, &words::outcomes(&outcomes, &study));
        };
        let item: u64 = what.parse().map_err(|_| {
            CliError::Input(format!(
                "`{what}` is no item: give its number as the plan has it, then the file of its rows"
            ))
        })?;
        let task = study.achieved(item, set.map(|set| set.0.clone()))?;
        let rows = read_rows(file, study.definition())?;
        let receipt = study.tell(item, task.as_ref(), &rows)?;
        self.say(&receipt, &words::receipt(&receipt, study.item(item).ok()))
    }

    fn add(&self, file: &Path, task: Option<&str>, set: Option<&Numbers>) -> Result<()> {
        let mut study = self.open()?;
        let task: Task = study.named_task(task, set.map(|set| &*set.0))?;
        let rows = read_rows(file, study.definition())?;
        let receipt = study.add(&task, &rows)?;
        self.say(&receipt, &words::receipt(&receipt, None))
    }

    fn forecast(&self, budgets: &[usize], figure: Option<&Path>) -> Result<()> {
        let study = self.open()?;
        let budgets = match budgets {
            [] => study.usual_budgets(),
            given => given.to_vec(),
        };
        let outlook = study.outlook(&ForecastRequest::further(&budgets))?;
        if let (Some(path), Some(svg)) = (figure, outlook.to_svg()) {
            write(path, svg.as_bytes())?;
        }
        self.say_with(&outlook, &outlook.to_text(), show_concluding)
    }

    fn work(&self, options: &WorkArgs) -> Result<()> {
        let mut study = self.open()?;
        let command = [&options.command[..], &options.program].concat();
        let work = WorkOptions {
            ask: options.budget.map(AskOptions::budget),
            rounds: options.rounds.unwrap_or(0),
            items: options.items.unwrap_or(usize::MAX),
            retries: options.retries,
            ..study.working_with(&command, options.timeout)?
        };
        let worked = study.work(&work, &mut |event| tell(&words::work(event)))?;
        self.say(&worked, &words::worked(&worked))
    }

    /// What takes a few words only.
    fn simple(&self, command: &StudyCommand) -> Result<()> {
        let mut study = self.open()?;
        let text = match command {
            StudyCommand::Start { item, lasting } => {
                let started = study.start(*item, *lasting)?;
                return self.say(&started, &words::started(started.as_ref(), *lasting));
            }
            StudyCommand::Fail { item, why, retry } => {
                study.fail(*item, why, *retry)?;
                words::failed(*item, *retry)
            }
            StudyCommand::Retract { batch, item } => {
                let batches = study.find_batches(batch.as_deref(), *item)?;
                for batch in &batches {
                    study.retract(&batch.id)?;
                }
                words::retracted(&batches)
            }
            StudyCommand::Undo => words::undone(&study.undo()?),
            StudyCommand::Note { text } => {
                study.note(text)?;
                "noted\n".into()
            }
            StudyCommand::Status => study.status()?.to_text(),
            StudyCommand::Batches => {
                return self.say(&study.batches(), &words::batches(study.batches()));
            }
            StudyCommand::History => {
                return self.say(&study.history(), &words::history(study.history()));
            }
            StudyCommand::Model { target, out } => {
                let model = study.model(target.as_deref())?;
                model.save(out)?;
                words::saved(&model, &study.choice(target.as_deref())?, out)
            }
            StudyCommand::Report { out } => {
                write(out, study.report()?.as_bytes())?;
                format!("{} written\n", out.display())
            }
            StudyCommand::Export { folder, parquet } => {
                study.export(folder, RowFormat::compact(*parquet))?;
                format!("{} written\n", folder.display())
            }
            _ => String::new(),
        };
        let status = study.status()?;
        self.say(&status, &text)
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    taskscout_io::files::write_atomically(path, bytes)
        .map_err(|error| CliError::Failure(error.to_string()))
}
