//! Topics of a recording while its messages come in, whatever file they come from.
//!
//! A topic is declared once with its type and the schema that the file has for it, then messages arrive as bytes with
//! their times. Each encoding has a decoder that sets the numbers of a message in the topic's row. What cannot be read
//! is left out and said in a warning; if a topic was asked for by name, it is an error.

mod decoder;
mod json;
mod protobuf;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use taskscout_io::tables::visible;

use self::decoder::Decoder;
use crate::error::{Error, Result};
use crate::find::nearest;
use crate::series::{Column, RawRecording, Selection, Series, inside};
use crate::series_builder::SeriesBuilder;

/// Numbers that a recording may have in memory.
const MOST_CELLS: usize = 64 << 20;

/// What a file says of a topic.
#[derive(Debug, Clone, Copy)]
pub(super) struct Declared<'a> {
    pub(super) topic: &'a str,
    pub(super) type_name: &'a str,
    /// Of messages: `cdr`, `ros1`, `json`, `protobuf`.
    pub(super) encoding: &'a str,
    /// Of the schema: `ros2msg`, `ros2idl`, `ros1msg`, `jsonschema`, `protobuf`, or nothing.
    pub(super) schema_encoding: &'a str,
    pub(super) schema: &'a [u8],
}

/// The place of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TopicId(usize);

/// The topics of a recording.
#[derive(Debug)]
pub(super) struct Bag<'a> {
    selection: &'a Selection,
    topics: Vec<Topic>,
    known: HashMap<[String; 3], TopicId>,
    start_ns: Option<i64>,
    cells: usize,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) warnings: Vec<String>,
}

#[derive(Debug)]
struct Topic {
    name: String,
    /// Whether it was asked for by its name, or everything was.
    named: bool,
    /// What could be asked for, where anybody asks.
    fields: Vec<String>,
    /// How messages are read, or why they are not.
    decoder: std::result::Result<Decoder, String>,
    rows: SeriesBuilder,
    messages: usize,
    bad: usize,
    first_bad: String,
}

impl<'a> Bag<'a> {
    pub(super) fn new(selection: &'a Selection) -> Self {
        Self {
            selection,
            topics: Vec::new(),
            known: HashMap::new(),
            start_ns: None,
            cells: 0,
            metadata: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// The place of a topic, which is made when it is first declared.
    pub(super) fn topic(&mut self, declared: &Declared<'_>) -> TopicId {
        let key = [declared.topic, declared.type_name, declared.encoding].map(str::to_owned);
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let same = self.known.keys().filter(|known| known[0] == key[0]).count();
        let name = match same {
            0 => declared.topic.to_owned(),
            _ => format!("{}#{same}", declared.topic),
        };
        let named = self.selection.series(&name);
        let mut rows = SeriesBuilder::default();
        let mut decoder = Decoder::new(declared, &name, self.selection, &mut rows);
        let fields = match (&decoder, self.selection.wanted()) {
            (Ok(decoder), Some(_)) => decoder.names(declared.type_name),
            _ => Vec::new(),
        };
        if !named
            && decoder
                .as_ref()
                .is_ok_and(|decoder| !decoder.sets_anything())
        {
            decoder = Ok(Decoder::Nothing);
        }
        let id = TopicId(self.topics.len());
        self.metadata
            .insert(format!("{name} type"), declared.type_name.to_owned());
        self.topics.push(Topic {
            name,
            named,
            fields,
            decoder,
            rows,
            messages: 0,
            bad: 0,
            first_bad: String::new(),
        });
        self.known.insert(key, id);
        id
    }

    /// Takes a message.
    ///
    /// # Errors
    /// If all numbers together would take too much memory.
    pub(super) fn message(
        &mut self,
        id: TopicId,
        time_ns: i64,
        bytes: &[u8],
    ) -> std::result::Result<(), String> {
        self.start_ns = Some(self.start_ns.map_or(time_ns, |start| start.min(time_ns)));
        let Some(topic) = self.topics.get_mut(id.0) else {
            return Ok(());
        };
        topic.messages += 1;
        let decoder = match &mut topic.decoder {
            Ok(Decoder::Nothing) | Err(_) => return Ok(()),
            Ok(decoder) => decoder,
        };
        let before = topic.rows.cells();
        match decoder.read(bytes, &mut topic.rows) {
            Ok(()) => topic.rows.commit(time_ns),
            Err(problem) => {
                topic.rows.rollback();
                topic.bad += 1;
                if topic.bad == 1 {
                    topic.first_bad = format!("message {} {problem}", topic.messages);
                }
            }
        }
        self.cells = (self.cells + topic.rows.cells()).saturating_sub(before);
        if self.cells > MOST_CELLS {
            return Err(format!(
                "has more than {} million numbers, the most that is read at once: name fewer topics and fields",
                MOST_CELLS >> 20
            ));
        }
        Ok(())
    }

    /// The recording.
    ///
    /// # Errors
    /// A topic or field that was asked for and is not there or cannot be read; a file of which nothing can be read.
    pub(super) fn finish(mut self, path: &Path) -> Result<RawRecording> {
        let refuse = |problem: String| Error::Bag {
            path: path.to_owned(),
            problem,
        };
        let start_ns = self.start_ns.unwrap_or(0);
        if self.start_ns.is_some() {
            self.metadata
                .insert("start_ns".into(), start_ns.to_string());
        }
        self.check_names(path)?;
        let mut series = Vec::new();
        let mut first_problem = None;
        for topic in std::mem::take(&mut self.topics) {
            let named = topic.named;
            match topic.finish(start_ns, &mut self.warnings) {
                Ok(one) if named || !one.columns.is_empty() => series.push(one),
                Ok(_) => {}
                Err(_) if !named => {}
                Err(problem) if self.selection.wanted().is_some() => return Err(refuse(problem)),
                Err(problem) => {
                    self.warnings.push(problem.clone());
                    first_problem.get_or_insert(problem);
                }
            }
        }
        if let (Some(problem), true) = (first_problem, series.is_empty()) {
            return Err(refuse(problem));
        }
        series.sort_by(|a, b| a.name.cmp(&b.name));
        // The name of a folder may have dots of its own, as dates have.
        let name = match path.is_dir() {
            true => path.file_name(),
            false => path.file_stem(),
        };
        Ok(RawRecording {
            name: name.unwrap_or_default().to_string_lossy().into_owned(),
            path: path.to_owned(),
            metadata: self.metadata,
            series,
            warnings: self.warnings,
        })
    }

    /// Refuses names that are nowhere in the recording.
    fn check_names(&self, path: &Path) -> Result<()> {
        for wanted in self.selection.wanted().unwrap_or_default() {
            if !self.topics.iter().any(|topic| topic.has(wanted)) {
                let names = self.topics.iter().flat_map(Topic::names).collect();
                return Err(Error::UnknownField {
                    path: path.to_owned(),
                    name: wanted.clone(),
                    nearest: nearest(wanted, names),
                });
            }
        }
        Ok(())
    }
}

impl Topic {
    /// What could be asked for.
    fn names(&self) -> Vec<String> {
        let late = match &self.decoder {
            Ok(Decoder::Json(json)) => json.names(),
            _ => Vec::new(),
        };
        let fields = self.fields.iter().chain(&late);
        let fields = fields.map(|field| format!("{}.{field}", self.name));
        std::iter::once(self.name.clone()).chain(fields).collect()
    }

    /// Whether a name stands for anything in the topic; what cannot be read might have it.
    fn has(&self, wanted: &str) -> bool {
        let names = self.names();
        let short = |name: &str| {
            name.get(self.name.len() + 1..)
                .unwrap_or_default()
                .to_owned()
        };
        let mut fields = names[1..].iter();
        let field = fields.any(|name| {
            let either = |name: &str| inside(name, wanted) || inside(wanted, name);
            either(name) || either(&short(name))
        });
        wanted == self.name || field || (self.decoder.is_err() && inside(wanted, &self.name))
    }

    /// The series, or why there is none.
    fn finish(
        self,
        start_ns: i64,
        warnings: &mut Vec<String>,
    ) -> std::result::Result<Series, String> {
        let name = &self.name;
        let shown = visible(name);
        let decoder = self
            .decoder
            .map_err(|problem| format!("topic {shown} cannot be read: {problem}"))?;
        if self.bad > 0 && self.bad == self.messages {
            return Err(format!(
                "topic {shown} cannot be read: all its {} messages are bad, {}",
                self.bad, self.first_bad
            ));
        }
        if self.bad > 0 {
            warnings.push(format!(
                "topic {shown}: {} of {} messages are left out, {}",
                self.bad, self.messages, self.first_bad
            ));
        }
        warnings.extend(decoder.warnings(name));
        let built = self.rows.finish(name.clone(), &decoder.order(), start_ns);
        if let Some((first, count)) = built.dropped {
            warnings.push(format!("topic {shown}: {count} columns that most messages lack are left out, the first is {}", visible(&first)));
        }
        if built.refused > 0 {
            warnings.push(format!(
                "topic {shown}: {} columns are left out, {} are the most of a topic",
                built.refused,
                built.series.columns.len()
            ));
        }
        Ok(with_stamp(built.series, start_ns))
    }
}

/// Adds the time in the header of messages, in seconds after the beginning of the recording as the time of rows is.
fn with_stamp(mut series: Series, start_ns: i64) -> Series {
    let place = |name: &str| series.columns.iter().position(|column| column.name == name);
    let parts = place("header.stamp.sec").zip(place("header.stamp.nanosec"));
    let Some((seconds, nanoseconds)) = parts else {
        return series;
    };
    let whole = series.columns[seconds].values.iter();
    let values = whole
        .zip(&series.columns[nanoseconds].values)
        .map(|(seconds, nanoseconds)| {
            if seconds.is_nan() || nanoseconds.is_nan() {
                return f64::NAN;
            }
            // Exact: neither is larger than 32 bits.
            let stamp = *seconds as i128 * 1_000_000_000 + *nanoseconds as i128;
            (stamp - i128::from(start_ns)) as f64 / 1e9
        });
    let column = Column::new("header.stamp", values.collect());
    series.columns.insert(nanoseconds + 1, column);
    series
}
