//! Logs of robots: folders of recordings, read fast and with errors that name file and line.
//!
//! Two kinds of files are understood ([`Format`]): flight logs in the Neural-Fly CSV format, whose
//! names tell vehicle and wind, and tables (CSV, TSV, Parquet) with named input and output columns.
//! Every recording gives a task an output: for flights, the force along an axis.
//!
//! ```
//! use taskscout_logs::{Format, ReadOptions, read};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let flight = r#",t,v,q,fa,pwm
//! 0,0.00,"[0.1, 0, 0]","[1, 0, 0, 0]","[0.5, 0.1, -0.2]","[1500, 1510, 1490, 1500]"
//! 1,0.02,"[0.2, 0, 0]","[1, 0, 0, 0]","[0.6, 0.1, -0.3]","[1500, 1520, 1480, 1500]"
//! "#;
//! std::fs::write(folder.path().join("quad_hover_pid_20wind.csv"), flight).unwrap();
//!
//! let logs = read(folder.path(), &ReadOptions::default())?;
//! let (recording, output) = logs.find("quad_hover_pid_20wind_z")?;
//! let flight = &logs.recordings[recording];
//! assert_eq!((flight.rows(), flight.output(output)), (2, vec![-0.2, -0.3]));
//! assert_eq!(flight.wind.map(|wind| wind.mean_m_s), Some(2.5));
//! assert_eq!(logs.inputs[7..], ["pwm_0", "pwm_1", "pwm_2", "pwm_3"]);
//! assert_eq!(flight.x[7..11], [1.5, 1.51, 1.49, 1.5]);
//! # Ok::<(), taskscout_logs::Error>(())
//! ```
//!
//! [`inspect()`] says what would spoil learning, and [`Recorded`] makes tasks of what was read.

#![deny(missing_docs)]

mod error;
mod expression;
mod facts;
mod find;
mod flight_name;
mod gather;
pub mod inspect;
pub mod join;
mod readers;
mod recorded;
mod recording;
mod ros;
mod series;
mod series_builder;
mod terms;
mod wind;

pub use error::{Error, Result};
pub use expression::{Expression, ExpressionError, split_expressions};
pub use facts::{Facts, Known, NamePattern, Parameter};
pub use flight_name::FlightName;
pub use gather::{FactOptions, gather};
#[doc(inline)]
pub use inspect::inspect;
pub use readers::{
    Format, ReadOptions, RobotFormat, RobotOptions, files, is_bag, read, read_bag, read_raw,
    read_rows, robot_format,
};
pub use recorded::{Recorded, RecordedConfig, RecordedTask, Scaling, TaskKnowledge};
pub use recording::{ColumnUnits, Logs, Recording, SkippedRow};
pub use series::{Column, RawRecording, Selection, Series};
pub use terms::TaskTerms;
pub use wind::Wind;
