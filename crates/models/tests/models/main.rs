//! Models end to end: from studies, through files, to other programs.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

mod common;
mod files;
mod onnx;
mod predictions;
mod study;
