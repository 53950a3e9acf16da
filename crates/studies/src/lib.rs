//! Durable studies: real campaigns over days, people and machines.
//!
//! A [`StoredStudy`] is a study of the library in a [store](taskscout_store), with what a campaign needs around it:
//! names, units and scaling of columns ([`Definition`]), items that are leased to whoever measures them, rows that are
//! kept as they were told, and a history with time and author. It proposes, records, learns, forecasts and resumes, and
//! never loses or counts twice what it acknowledged.
//!
//! [`Settings`] make a study from a file or from options; [`read_rows`] takes rows from tables by the names of their
//! columns; [`StoredStudy::work`] lets programs measure.

// Whoever asked is told instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod answer;
mod asking;
mod build;
mod candidates;
mod changes;
mod checklist;
mod choice;
mod count;
mod definition;
mod entry;
pub mod error;
mod export;
mod feature_choice;
mod heartbeat;
mod imagine;
mod learning;
mod lease;
mod options;
mod outlook;
mod past;
mod place;
mod recovery;
mod report;
mod report_figures;
mod report_on;
mod report_tiles;
mod report_words;
mod saved;
mod settings;
mod source_tasks;
mod state;
mod status;
mod stored;
mod tables;
mod targets;
pub mod time;
mod told;
mod undo;
mod upload;
mod what_if;
pub mod words;
mod worker;

pub use answer::Answer;
pub use asking::{AskOptions, Asked};
pub use changes::Receipt;
pub use checklist::ItemOutcome;
pub use definition::{Column, Definition, Scaling, ScalingRule};
pub use error::{Error, Result};
pub use export::RowFormat;
pub use feature_choice::{FeatureChoices, FeaturesInUse};
pub use lease::ItemState;
pub use options::{Numbers, guided};
pub use outlook::{Outlook, OutlookPoint, TargetOutlook};
pub use past::{PastError, PastPoint};
pub use place::{StudyHead, default_author, list, open_store};
pub use recovery::{Recovery, StudyRecovery, recover};
pub use report_on::{ReportOn, report_on};
pub use settings::{
    CollectionSettings, ColumnSettings, FeatureSettings, FeatureWord, ParameterSettings,
    RowSettings, Settings, TargetSettings, TaskSettings, read_settings,
};
pub use state::{Batch, Lease, Line, RowsOf};
pub use status::{ItemCounts, ItemStatus, Status, TargetStatus};
pub use stored::{Clock, StoredStudy};
pub use tables::{ItemLine, read_items, read_rows};
pub use targets::TargetPlace;
pub use told::Measured;
pub use upload::Upload;
pub use what_if::{Supposed, SupposedError, SupposedItem, WhatIf};
pub use worker::{WorkEvent, WorkOptions, Worked};
