//! Trained models at work: predictions of tables and logs, and files for other programs.

mod export;
mod predict;

pub use export::{ExportRequest, ModelFormat, export};
pub use predict::{PredictRequest, predict};
