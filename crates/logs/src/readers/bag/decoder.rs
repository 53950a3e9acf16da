//! How the messages of a topic are read, by what the file says of them.

use super::Declared;
use super::json::Json;
use super::protobuf::Protobuf;
use crate::ros::{Definitions, Layout, Wire};
use crate::series::Selection;
use crate::series_builder::{Place, SeriesBuilder};

/// Reads messages of one encoding.
#[derive(Debug)]
pub(super) enum Decoder {
    /// Nobody asked for the topic.
    Nothing,
    Ros(Box<Layout>),
    Json(Box<Json>),
    Protobuf(Box<Protobuf>),
}

impl Decoder {
    /// What reads the messages of a topic.
    ///
    /// # Errors
    /// Why nothing does.
    pub(super) fn new(
        declared: &Declared<'_>,
        series: &str,
        selection: &Selection,
        rows: &mut SeriesBuilder,
    ) -> Result<Self, String> {
        let wanted = (series, selection);
        match declared.encoding {
            "cdr" => ros(declared, Wire::Cdr, wanted, rows),
            "ros1" => ros(declared, Wire::Ros1, wanted, rows),
            "json" => Ok(Self::Json(Box::new(Json::new(series, selection)))),
            "protobuf" => {
                let layout = Protobuf::new(declared.schema, declared.type_name, wanted, rows)?;
                Ok(Self::Protobuf(Box::new(layout)))
            }
            other => Err(format!(
                "its messages are in the encoding `{other}`, and CDR, ROS 1, JSON and Protobuf are those that are read"
            )),
        }
    }

    /// Whether there is anything that it looks for.
    pub(super) fn sets_anything(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Ros(layout) => layout.sets_anything(),
            Self::Json(json) => json.sets_anything(),
            Self::Protobuf(layout) => layout.sets_anything(),
        }
    }

    /// Sets the numbers of a message in the row that is being read.
    ///
    /// # Errors
    /// What is wrong with the message.
    pub(super) fn read(&mut self, message: &[u8], rows: &mut SeriesBuilder) -> Result<(), String> {
        match self {
            Self::Nothing => Ok(()),
            Self::Ros(layout) => layout.read(message, rows),
            Self::Json(json) => json.read(message, rows),
            Self::Protobuf(layout) => layout.read(message, rows),
        }
    }

    /// The columns in the order of the fields.
    pub(super) fn order(&self) -> Vec<Place> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Ros(layout) => layout.order(),
            Self::Json(json) => json.order(),
            Self::Protobuf(layout) => layout.order(),
        }
    }

    /// The fields that could be asked for.
    pub(super) fn names(&self, type_name: &str) -> Vec<String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Ros(layout) => layout.names(type_name),
            Self::Json(json) => json.names(),
            Self::Protobuf(layout) => layout.names(),
        }
    }

    /// Sentences on what could not become columns.
    pub(super) fn warnings(&self, series: &str) -> Vec<String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Ros(layout) => {
                let mut warnings = layout.warnings();
                if layout.longer > 0 {
                    warnings.push(format!(
                        "topic {series}: {} messages are longer than their definition says: it may be of another version, so check the values",
                        layout.longer
                    ));
                }
                warnings
            }
            Self::Json(json) => json.warnings(),
            Self::Protobuf(layout) => layout.warnings(),
        }
    }
}

fn ros(
    declared: &Declared<'_>,
    wire: Wire,
    wanted: (&str, &Selection),
    rows: &mut SeriesBuilder,
) -> Result<Decoder, String> {
    let text = String::from_utf8_lossy(declared.schema);
    let definitions = match (declared.schema_encoding, text.trim().is_empty()) {
        ("ros2idl" | "omgidl", false) => Definitions::parse(declared.type_name, &text, true)?,
        ("ros2msg" | "ros1msg", false) => Definitions::parse(declared.type_name, &text, false)?,
        // An empty definition is that of an empty message, unless the type is known to have fields.
        _ => Definitions::default(),
    };
    let layout = Layout::new(definitions, declared.type_name, wire, wanted, rows)?;
    Ok(Decoder::Ros(Box::new(layout)))
}
