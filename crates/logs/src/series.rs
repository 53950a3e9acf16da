//! What a log holds before anybody has said what are inputs and what outputs: named columns over time.
//!
//! Every format of robots ends here: a topic of PX4 or ROS 2, a message of ArduPilot, an episode of LeRobot is a
//! [`Series`], and a file or an episode is a [`RawRecording`]. Joining by time and choosing columns come after.
//!
//! ```
//! use taskscout_logs::{Column, Selection, Series};
//!
//! let columns = vec![Column::new("q[0]", vec![1.0, 0.9]), Column::new("q[1]", vec![0.0, 0.1])];
//! let attitude = Series::new("vehicle_attitude", vec![0.0, 0.02], columns);
//! assert_eq!((attitude.rows(), attitude.column("q[1]").map(<[f64]>::len)), (2, Some(2)));
//!
//! let wanted = Selection::of(["vehicle_attitude.q"]); // an array or a nested message by its name alone
//! assert!(wanted.column("vehicle_attitude", "q[0]") && !wanted.series("sensor_combined"));
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

/// A file of a log, or one episode of it, as it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RawRecording {
    /// The file's name without its ending, or the episode's.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// What the log says of itself: vehicle, software, parameters, the text of the episode's task.
    pub metadata: BTreeMap<String, String>,
    /// The series, in the order of their names.
    pub series: Vec<Series>,
    /// What is odd but no reason to refuse the file.
    pub warnings: Vec<String>,
}

/// Columns that were recorded at the same times: a topic, a message type, the table of an episode.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// The name that the log has for it; a second instance of a topic has its number, as in `battery_status#1`.
    pub name: String,
    /// When each row was recorded, in seconds.
    pub time: Vec<f64>,
    /// The columns, in the log's order.
    pub columns: Vec<Column>,
    /// The fields that hold text and cannot be columns of numbers.
    pub text: Vec<String>,
}

/// Numbers of one kind over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// The field's name: `vx`, `q[0]` for an element of an array, `pose.position.x` for a nested field.
    pub name: String,
    /// The unit, where the log has it.
    pub unit: Option<String>,
    /// A value for each time; NaN where the log has none.
    pub values: Vec<f64>,
}

impl RawRecording {
    /// The series of this name.
    #[must_use]
    pub fn series(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }
}

impl Series {
    /// A series of columns that were recorded at `time`.
    #[must_use]
    pub fn new(name: impl Into<String>, time: Vec<f64>, columns: Vec<Column>) -> Self {
        Self {
            name: name.into(),
            time,
            columns,
            text: Vec::new(),
        }
    }

    /// The same, with the names of the fields that hold text.
    #[must_use]
    pub fn with_text(mut self, text: Vec<String>) -> Self {
        self.text = text;
        self
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.time.len()
    }

    /// The values of the column of this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let found = self.columns.iter().find(|column| column.name == name)?;
        Some(&found.values)
    }
}

impl Column {
    /// A column without a unit.
    #[must_use]
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            unit: None,
            values,
        }
    }
}

/// Which columns a reader has to decode; it may skip all others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Names such as `vehicle_attitude.q`; none for everything.
    wanted: Option<Vec<String>>,
}

impl Selection {
    /// Everything.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Only these: a series (`imu`), a field (`imu.angular_velocity.x`), or an array or nested message with all that
    /// is in it (`imu.angular_velocity`).
    pub fn of<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        let wanted = names.into_iter().map(Into::into).collect();
        Self {
            wanted: Some(wanted),
        }
    }

    /// The same without the numbers of instances: `imu.x` where `imu#1.x` is wanted.
    pub(crate) fn any_instance(&self) -> Self {
        let plain = |name: &String| {
            let Some((series, rest)) = name.split_once('#') else {
                return name.clone();
            };
            format!(
                "{series}{}",
                rest.trim_start_matches(|it: char| it.is_ascii_digit())
            )
        };
        Self {
            wanted: self
                .wanted
                .as_ref()
                .map(|names| names.iter().map(plain).collect()),
        }
    }

    /// Whether any column of a series is wanted.
    #[must_use]
    pub fn series(&self, series: &str) -> bool {
        let Some(wanted) = &self.wanted else {
            return true;
        };
        wanted.iter().any(|name| inside(name, series))
    }

    /// Whether a column of a series is wanted; names may leave out the series.
    #[must_use]
    pub fn column(&self, series: &str, column: &str) -> bool {
        let Some(wanted) = &self.wanted else {
            return true;
        };
        let full = format!("{series}.{column}");
        let mut wanted = wanted.iter();
        wanted.any(|name| inside(&full, name) || inside(column, name))
    }

    /// Whether a column is wanted by its own name, and not by that of something it is inside.
    pub(crate) fn names(&self, series: &str, column: &str) -> bool {
        let full = format!("{series}.{column}");
        let mut wanted = self.wanted.iter().flatten();
        wanted.any(|name| *name == full || *name == column)
    }

    /// Whether anything in an array or a nested message of a series is wanted; names may leave out the series.
    #[must_use]
    pub fn touches(&self, series: &str, part: &str) -> bool {
        let Some(wanted) = &self.wanted else {
            return true;
        };
        let full = format!("{series}.{part}");
        let either = |name: &str, part: &str| inside(part, name) || inside(name, part);
        let mut wanted = wanted.iter();
        wanted.any(|name| either(name, &full) || either(name, part))
    }

    /// The names that are asked for; none for everything.
    #[must_use]
    pub fn wanted(&self) -> Option<&[String]> {
        self.wanted.as_deref()
    }
}

/// Whether `name` is `outer` or something inside it.
pub(crate) fn inside(name: &str, outer: &str) -> bool {
    let rest = name.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
