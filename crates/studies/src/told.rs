//! Measured rows, as they are told.

use sha2::{Digest as _, Sha256};
use taskscout::data::Samples;
use taskscout::task::Task;

use crate::error::{Result, of_store};

/// Measured rows, in the units of their columns, and where they came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The rows: inputs and outputs in the order of the study's columns.
    pub samples: Samples,
    /// The file that they came from.
    pub source: Option<String>,
}

impl Measured {
    /// Rows that came from no file.
    #[must_use]
    pub fn new(samples: Samples) -> Self {
        Self {
            samples,
            source: None,
        }
    }

    /// The rows as chunks of compact columns.
    pub(crate) fn encoded(&self) -> Result<Vec<Vec<u8>>> {
        let samples = &self.samples;
        let encoded = taskscout_store::rows::encode(
            samples.inputs(),
            samples.input_dim(),
            samples.outputs(),
            samples.output_dim(),
        );
        encoded.map_err(of_store)
    }
}

/// A digest of rows and of what they were told for: equal only where all is equal.
pub(crate) fn digest(what: &str, task: Option<&Task>, samples: &Samples) -> String {
    let mut sum = Sha256::new();
    let mut text = |text: &str| {
        sum.update((text.len() as u64).to_le_bytes());
        sum.update(text);
    };
    text(what);
    text(task.map_or("", |task| task.id.as_str()));
    let numbers = [
        task.map_or(&[][..], Task::parameters),
        samples.inputs(),
        samples.outputs(),
    ];
    let mut bytes = Vec::with_capacity(1 << 16);
    for block in numbers {
        sum.update((block.len() as u64).to_le_bytes());
        for part in block.chunks(8192) {
            bytes.clear();
            part.iter()
                .for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
            sum.update(&bytes);
        }
    }
    let digest = sum.finalize();
    digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
