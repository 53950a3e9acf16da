//! Studies as bytes, complete and checked.
//!
//! A snapshot is a head with the version of the format, and the events of the study as records. The
//! bytes of later events may follow as they come ([`Event::to_bytes`]): saving costs what came, not what
//! is there.

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

use super::event::Event;
use super::fits::Cache;
use super::legacy::Legacy;
use super::{Study, StudyConfig};
use crate::error::{Error, Result};
use crate::registry::Registry;

/// What the bytes of a study begin with.
const HEAD: &[u8] = b"taskscout study ";

/// The version of the format, a byte after the head.
const FORMAT: u8 = 2;

impl Study {
    /// The study as bytes. Equal studies have equal bytes.
    ///
    /// # Errors
    /// Settings that cannot be written.
    pub fn snapshot(&self) -> Result<Vec<u8>> {
        let mut bytes = HEAD.to_vec();
        bytes.push(FORMAT);
        for event in self.events() {
            bytes.append(&mut event.to_bytes()?);
        }
        Ok(bytes)
    }

    /// The study of a snapshot, and of the events that were appended to it. Studies saved as JSON by
    /// version 0.1.0 open as well.
    ///
    /// What is not part of a file (maps, strategies or oracles of the user's own) is attached
    /// afterwards.
    ///
    /// # Errors
    /// Bytes that are no study, are cut or damaged, or of a newer version.
    pub fn restore(bytes: &[u8]) -> Result<Self> {
        let (study, used) = Self::recover(bytes)?;
        if used < bytes.len() {
            return Err(Error::unreadable(
                "the study",
                format!(
                    "ends in the middle of an event, {} bytes after the last complete one: what comes \
                     before can be recovered",
                    bytes.len() - used
                ),
            ));
        }
        Ok(study)
    }

    /// The settings of a saved study, before anything is made of them: what it will take can be told first
    /// ([`StudyConfig::numbers`]). None where nothing says so; [`Study::restore`] says what is wrong then.
    #[must_use]
    pub fn saved_config(bytes: &[u8]) -> Option<StudyConfig> {
        let created = match bytes.strip_prefix(HEAD) {
            Some(rest) => Event::from_bytes(rest.get(1..)?).ok()??.0,
            None => {
                let saved: Saved = serde_json::from_slice(bytes).ok()?;
                if saved.config.is_some() {
                    return saved.config;
                }
                saved.events.into_iter().next()?
            }
        };
        match created {
            Event::Created { config, .. } => Some(*config),
            _ => None,
        }
    }

    /// The same with what is the user's own attached, by its name.
    ///
    /// # Errors
    /// As [`Study::restore`], and a name that is not registered.
    pub fn restore_with(bytes: &[u8], registry: &Registry) -> Result<Self> {
        let mut study = Self::restore(bytes)?;
        study.attach(registry)?;
        Ok(study)
    }

    /// Attaches what is the user's own and was read from a file, by its name.
    ///
    /// # Errors
    /// A name that is not registered, or something that does not fit what was saved.
    pub fn attach(&mut self, registry: &Registry) -> Result<()> {
        let mut config = self.config.clone();
        config.attach(registry)?;
        config.validate()?;
        self.config = config;
        self.cache = Cache::default();
        Ok(())
    }

    /// The study of all complete events of a snapshot, and how many bytes they take: what a program
    /// that was killed while it wrote leaves behind.
    ///
    /// # Errors
    /// As [`Study::restore`], but for a last event that is cut.
    pub fn recover(bytes: &[u8]) -> Result<(Self, usize)> {
        let json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        if json {
            let study = serde_json::from_slice(bytes).map_err(|error| {
                Error::unreadable("the study", format!("is no saved study: {error}"))
            })?;
            return Ok((study, bytes.len()));
        }
        let rest = bytes.strip_prefix(HEAD);
        let Some((format, records)) = rest.and_then(<[u8]>::split_first) else {
            return Err(Error::unreadable(
                "the study",
                "is no saved study: give the bytes of a snapshot, or JSON of version 0.1.0",
            ));
        };
        if *format != FORMAT {
            return Err(newer("format", u64::from(*format), u64::from(FORMAT)));
        }
        let (mut events, mut at) = (Vec::new(), 0);
        while let Some((event, used)) = Event::from_bytes(&records[at..])? {
            events.push(event);
            at += used;
        }
        Ok((Self::of_events(events)?, HEAD.len() + 1 + at))
    }
}

fn newer(what: &str, found: u64, known: u64) -> Error {
    Error::unreadable(
        "the study",
        format!("has {what} {found}, and this program reads {known}: use a newer taskscout"),
    )
}

/// For people and other programs: `{"format": 2, "events": […]}`.
impl Serialize for Study {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Study", 2)?;
        let events: Vec<&Event> = self.events().collect();
        fields.serialize_field("format", &FORMAT)?;
        fields.serialize_field("events", &events)?;
        fields.end()
    }
}

/// What [`Study`] is in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Json {
    format: u64,
    events: Vec<Event>,
}

/// Where JSON has the settings: in the first event, or in 0.1.0 on their own.
#[derive(Deserialize)]
struct Saved {
    config: Option<StudyConfig>,
    #[serde(default)]
    events: Vec<Event>,
}

impl<'de> Deserialize<'de> for Study {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        use serde::de::Error as _;
        let value = serde_json::Value::deserialize(from)?;
        let study = if value.get("events").is_some() {
            let Json { format, events } =
                serde_json::from_value(value).map_err(D::Error::custom)?;
            if format != u64::from(FORMAT) {
                return Err(D::Error::custom(newer("format", format, u64::from(FORMAT))));
            }
            Self::of_events(events)
        } else {
            let legacy: Legacy = serde_json::from_value(value).map_err(D::Error::custom)?;
            legacy.study()
        };
        study.map_err(D::Error::custom)
    }
}
