//! What the log of a study holds: the library's events, and what happens around them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use taskscout::study::Event;
use taskscout_store::{NewRecord, Record};

use crate::definition::{Definition, Scaling};
use crate::error::{Error, Result};

/// An entry of the log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// The study began.
    Created {
        definition: Box<Definition>,
        event: Box<Event>,
    },
    /// Something happened to the library's study.
    Event(Box<Happened>),
    /// How rows are scaled from now on.
    Scaled(Box<Scaling>),
    /// Somebody began to measure an item, until a time.
    Started { item: u64, until_us: i64 },
    /// An item was given back, to be tried again.
    Released { item: u64, reason: String },
    /// An earlier entry never was.
    Undone { version: u64 },
    /// An entry that was lost with a damaged file.
    Lost,
}

/// An event of the library's study.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Happened {
    pub(crate) event: Event,
    /// What was told, for events that brought rows.
    pub(crate) told: Option<Told>,
    /// What whoever asked calls the plan, for plans.
    pub(crate) key: Option<String>,
}

/// Rows as they were told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// A digest of the rows and of what they were told for.
    pub(crate) digest: String,
    /// The file that they came from.
    pub(crate) source: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct CreatedBody {
    /// As JSON, which survives new fields.
    definition: String,
    event: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct EventBody {
    told: Option<Told>,
    key: Option<String>,
    event: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct StartedBody {
    item: u64,
    until_us: i64,
}

#[derive(Serialize, Deserialize)]
struct ReleasedBody {
    item: u64,
    reason: String,
}

impl Entry {
    /// What logs call it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Created { .. } => "created",
            Self::Event(happened) => kind(&happened.event),
            Self::Scaled(_) => "scaled",
            Self::Started { .. } => "started",
            Self::Released { .. } => "released",
            Self::Undone { .. } => "undone",
            Self::Lost => "lost",
        }
    }

    /// A record of it, with the rows that it brought.
    pub(crate) fn record(
        &self,
        author: &str,
        time_us: i64,
        rows: Vec<Vec<u8>>,
    ) -> Result<NewRecord> {
        let body = match self {
            Self::Created { definition, event } => packed(&CreatedBody {
                definition: serde_json::to_string(definition).map_err(unwritable)?,
                event: event.to_bytes()?,
            })?,
            Self::Event(happened) => packed(&EventBody {
                told: happened.told.clone(),
                key: happened.key.clone(),
                event: happened.event.to_bytes()?,
            })?,
            Self::Scaled(scaling) => serde_json::to_vec(scaling).map_err(unwritable)?,
            Self::Started { item, until_us } => packed(&StartedBody {
                item: *item,
                until_us: *until_us,
            })?,
            Self::Released { item, reason } => packed(&ReleasedBody {
                item: *item,
                reason: reason.clone(),
            })?,
            Self::Undone { version } => packed(version)?,
            Self::Lost => Vec::new(),
        };
        Ok(NewRecord {
            time_us,
            author: author.to_owned(),
            kind: self.kind().to_owned(),
            body,
            rows,
        })
    }

    /// The entry of a record.
    pub(crate) fn of(record: &Record) -> Result<Self> {
        let Record {
            kind,
            body,
            version,
            ..
        } = record;
        Ok(match kind.as_str() {
            "created" => {
                let CreatedBody { definition, event } = unpacked(body, *version)?;
                let definition = serde_json::from_str(&definition)
                    .map_err(|error| unreadable(*version, &error.to_string()))?;
                Self::Created {
                    definition: Box::new(definition),
                    event: Box::new(event_of(&event, *version)?),
                }
            }
            "scaled" => {
                let scaling = serde_json::from_slice(body)
                    .map_err(|error| unreadable(*version, &error.to_string()))?;
                Self::Scaled(Box::new(scaling))
            }
            "started" => {
                let StartedBody { item, until_us } = unpacked(body, *version)?;
                Self::Started { item, until_us }
            }
            "released" => {
                let ReleasedBody { item, reason } = unpacked(body, *version)?;
                Self::Released { item, reason }
            }
            "undone" => Self::Undone {
                version: unpacked(body, *version)?,
            },
            "lost" => Self::Lost,
            known if KINDS.contains(&known) => {
                let EventBody { told, key, event } = unpacked(body, *version)?;
                let event = event_of(&event, *version)?;
                Self::Event(Box::new(Happened { event, told, key }))
            }
            other => {
                return Err(Error::Failure(format!(
                    "entry {version} of the study is of the kind `{other}`, which this version does not know: use a newer taskscout"
                )));
            }
        })
    }
}

/// Kinds of the library's events.
const KINDS: [&str; 9] = [
    "planned",
    "told",
    "target-told",
    "target-added",
    "added",
    "failed",
    "retracted",
    "noted",
    "settled",
];

fn kind(event: &Event) -> &'static str {
    match event {
        Event::Planned { .. } => "planned",
        Event::Told { .. } => "told",
        Event::TargetTold { .. } => "target-told",
        Event::TargetAdded { .. } => "target-added",
        Event::Added { .. } => "added",
        Event::Failed { .. } => "failed",
        Event::Retracted { .. } => "retracted",
        Event::Noted { .. } => "noted",
        _ => "settled",
    }
}

fn event_of(bytes: &[u8], version: u64) -> Result<Event> {
    match Event::from_bytes(bytes)? {
        Some((event, used)) if used == bytes.len() => Ok(event),
        _ => Err(unreadable(version, "it is cut")),
    }
}

fn packed(value: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(unwritable)
}

fn unpacked<T: DeserializeOwned>(body: &[u8], version: u64) -> Result<T> {
    postcard::from_bytes(body).map_err(|error| unreadable(version, &error.to_string()))
}

fn unwritable(error: impl std::fmt::Display) -> Error {
    Error::Failure(format!("an entry of the study cannot be written: {error}"))
}

fn unreadable(version: u64, why: &str) -> Error {
    Error::Failure(format!(
        "entry {version} of the study cannot be read ({why}): restore the database from a copy, or use `taskscout study recover`"
    ))
}
