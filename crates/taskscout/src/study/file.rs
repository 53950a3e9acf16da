//! A study in a file of its own, to which every event is appended before it takes effect.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use super::command::named;
use super::event::{BatchId, Event};
use super::{Command, Study};
use crate::data::Samples;
use crate::error::{Error, Result};
use crate::registry::Registry;
use crate::strategy::Plan;
use crate::target::Target;
use crate::task::Task;

/// A study and the file that it lives in: what is told is on disk before the call returns, and costs
/// what was told, not what is there. For reading it is a [`Study`].
///
/// Two processes must not write one file; nothing here keeps them apart.
///
/// ```
/// # use taskscout::data::Samples;
/// # use taskscout::features::FeatureMap;
/// # use taskscout::space::Space;
/// # use taskscout::strategy::{StrategyConfig, StrategyKind};
/// # use taskscout::study::StudyConfig;
/// # use taskscout::target::Target;
/// use taskscout::study::{Study, StudyFile};
/// # let config = StudyConfig::new(
/// #     Space::one_hot(3)?,
/// #     FeatureMap::identity(2)?,
/// #     vec![Target::unknown("tomorrow")],
/// #     StrategyConfig::new(StrategyKind::Passive),
/// # )?;
/// # let path = std::env::temp_dir().join(format!("taskscout-doc-{}.study", std::process::id()));
/// let mut study = StudyFile::create(&path, Study::new(config)?)?;
/// let item = study.ask(30)?.items.remove(0);
/// let rows = Samples::new(vec![1.0, 0.5], 2, vec![0.7], 1)?;
/// study.tell(item.id, &rows)?;
/// drop(study); // or a crash
///
/// let study = StudyFile::open(&path)?;
/// assert_eq!(study.items()[0].collected, 1);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug)]
pub struct StudyFile {
    study: Study,
    path: PathBuf,
    file: File,
    /// Bytes of complete events.
    length: u64,
    /// Bytes of an event that was being written when the last program ended.
    dropped: usize,
}

impl StudyFile {
    /// Writes a study into a new file.
    ///
    /// # Errors
    /// A file that is there already, or cannot be written.
    pub fn create(path: impl AsRef<Path>, study: Study) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let bytes = study.snapshot()?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(&path);
        let mut file = file.map_err(|error| failed(&path, "creating", &error))?;
        let written = file.write_all(&bytes).and_then(|()| file.sync_all());
        written.map_err(|error| failed(&path, "writing the study to", &error))?;
        Ok(Self {
            study,
            path,
            file,
            length: bytes.len() as u64,
            dropped: 0,
        })
    }

    /// Opens the file of a study. An event that was being written when the last program ended is left
    /// out ([`StudyFile::dropped`]).
    ///
    /// # Errors
    /// A file that cannot be read or written, or is no study.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let mut file = file.map_err(|error| failed(&path, "opening", &error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|error| failed(&path, "reading the study in", &error))?;
        let (study, used) = Study::recover(&bytes).map_err(|error| match error {
            Error::Unreadable { what, problem } => {
                Error::unreadable(format!("{}: {what}", path.display()), problem)
            }
            other => other,
        })?;
        let mut study = Self {
            study,
            path,
            file,
            length: used as u64,
            dropped: bytes.len() - used,
        };
        if bytes.first() == Some(&b'{') {
            study.rewrite()?;
        } else if study.dropped > 0 {
            study.cut()?;
        }
        Ok(study)
    }

    /// The same with what is the user's own attached, by its name.
    ///
    /// # Errors
    /// As [`StudyFile::open`], and a name that is not registered.
    pub fn open_with(path: impl AsRef<Path>, registry: &Registry) -> Result<Self> {
        let mut file = Self::open(path)?;
        file.attach(registry)?;
        Ok(file)
    }

    /// Bytes of an incomplete event that were left out when the file was opened.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// [`Study::attach`]: what is the user's own is no part of the file.
    ///
    /// # Errors
    /// As there.
    pub fn attach(&mut self, registry: &Registry) -> Result<()> {
        self.study.attach(registry)
    }

    /// Decides, writes the event, and applies it: in this order, so that what took effect is on disk.
    ///
    /// # Errors
    /// What [`Study::decide`] refuses, or a file that cannot be written; nothing has changed then.
    pub fn execute(&mut self, command: &Command<'_>) -> Result<Option<BatchId>> {
        let event = self.study.decide(command)?;
        self.append(event)
    }

    pub(crate) fn append(&mut self, event: Event) -> Result<Option<BatchId>> {
        let bytes = event.to_bytes()?;
        if let Err(error) = self.file.write_all(&bytes) {
            // What was written of it goes again, so that later events stay readable.
            let _ = self.cut();
            return Err(failed(&self.path, "writing an event to", &error));
        }
        let known = self.study.apply(event);
        match known {
            Ok(batch) => {
                self.length += bytes.len() as u64;
                Ok(batch)
            }
            Err(error) => {
                self.cut()?;
                Err(error)
            }
        }
    }

    /// Cuts the file after its last complete event.
    fn cut(&mut self) -> Result<()> {
        let end = SeekFrom::Start(self.length);
        let done = self.file.set_len(self.length);
        done.and_then(|()| self.file.seek(end))
            .map(|_| ())
            .map_err(|error| failed(&self.path, "cutting an incomplete event off", &error))
    }

    /// Writes the whole study anew, beside the file and then in its place.
    fn rewrite(&mut self) -> Result<()> {
        let bytes = self.study.snapshot()?;
        let mut name = self.path.clone().into_os_string();
        name.push(".tmp");
        let beside = PathBuf::from(name);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(true);
        let written = options.open(&beside).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_all()?;
            std::fs::rename(&beside, &self.path)?;
            Ok(file)
        });
        self.file = written.map_err(|error| failed(&self.path, "writing the study to", &error))?;
        self.length = bytes.len() as u64;
        Ok(())
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// A disk that fails.
    pub fn sync(&self) -> Result<()> {
        let synced = self.file.sync_data();
        synced.map_err(|error| failed(&self.path, "syncing", &error))
    }

    /// [`Study::ask`].
    ///
    /// # Errors
    /// As there, or a file that cannot be written.
    pub fn ask(&mut self, budget: usize) -> Result<Plan> {
        self.ask_for(&Command::Ask {
            budget,
            available: None,
        })
    }

    /// [`Study::ask_within`].
    ///
    /// # Errors
    /// As there, or a file that cannot be written.
    pub fn ask_within(
        &mut self,
        budget: usize,
        available: &dyn Fn(&Task) -> Option<usize>,
    ) -> Result<Plan> {
        self.ask_for(&Command::Ask {
            budget,
            available: Some(available),
        })
    }

    fn ask_for(&mut self, command: &Command<'_>) -> Result<Plan> {
        match self.study.decide(command)? {
            Event::Planned { plan: planned } => {
                let plan = planned.plan.clone();
                self.append(Event::Planned { plan: planned })?;
                Ok(plan)
            }
            _ => Err(Error::State(
                "a plan was asked for, and none was made".into(),
            )),
        }
    }

    /// Takes rows in, and names the batch.
    fn take(&mut self, command: &Command<'_>) -> Result<BatchId> {
        named(self.execute(command)?)
    }

    /// [`Study::tell`].
    ///
    /// # Errors
    /// As there, or a file that cannot be written.
    pub fn tell(&mut self, item: u64, samples: &Samples) -> Result<BatchId> {
        self.take(&Command::Tell {
            item,
            achieved: None,
            samples,
        })
    }

    /// [`Study::tell_achieved`].
    ///
    /// # Errors
    /// As there, or a file that cannot be written.
    pub fn tell_achieved(
        &mut self,
        item: u64,
        achieved: &Task,
        samples: &Samples,
    ) -> Result<BatchId> {
        self.take(&Command::Tell {
            item,
            achieved: Some(achieved),
            samples,
        })
    }

    /// [`Study::add`].
    ///
    /// # Errors
    /// As there, or a file that cannot be written.
    pub fn add(&mut self, task: &Task, samples: &Samples) -> Result<BatchId> {
        self.take(&Command::Add { task, samples })
    }

    /// [`Study::add_target`].
    ///
    /// # Errors
    /// As there, or a file that cannot be written.
    pub fn add_target(&mut self, target: &Target) -> Result<usize> {
        self.execute(&Command::AddTarget { target })?;
        Ok(self.config().targets.len() - 1)
    }

    /// [`Study::tell_target`].
    ///
    /// # Errors
    /// As there, or a file that cannot be written.
    pub fn tell_target(&mut self, target: usize, samples: &Samples) -> Result<BatchId> {
        self.take(&Command::TellTarget { target, samples })
    }

    /// [`Study::fail`].
    ///
    /// # Errors
    /// As there, or a file that cannot be written.
    pub fn fail(&mut self, item: u64, reason: &str) -> Result<()> {
        self.execute(&Command::Fail { item, reason }).map(|_| ())
    }

    /// [`Study::retract`].
    ///
    /// # Errors
    /// As there, or a file that cannot be written.
    pub fn retract(&mut self, batch: &BatchId) -> Result<()> {
        self.execute(&Command::Retract { batch }).map(|_| ())
    }

    /// [`Study::note`].
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn note(&mut self, text: &str) -> Result<()> {
        self.execute(&Command::Note { text }).map(|_| ())
    }

    /// [`Study::settle`]; the file is written anew and becomes smaller.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn settle(&mut self) -> Result<()> {
        self.study.settle()?;
        self.rewrite()
    }
}

impl Deref for StudyFile {
    type Target = Study;

    fn deref(&self) -> &Study {
        &self.study
    }
}

fn failed(path: &Path, doing: &str, error: &std::io::Error) -> Error {
    Error::io(format!("{doing} {}", path.display()), error)
}
