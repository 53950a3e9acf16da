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
    let parameters = task.map_or(&[][..], Task::parameters);
    add_numbers(&mut sum, &[parameters]);
    let mut rows = Sha256::new();
    add_numbers(&mut rows, &[samples.inputs(), samples.outputs()]);
    let rows = rows.finalize();
    sum.update(rows);
    format!("{}-{}", hex(&rows), hex(&sum.finalize()))
}

/// Whether two digests are of the same rows, whatever they were told for.
pub(crate) fn same_rows(a: &str, b: &str) -> bool {
    let rows = |digest: &str| digest.split_once('-').map(|(rows, _)| rows.to_owned());
    rows(a).is_some_and(|own| rows(b) == Some(own))
}

fn hex(sum: &[u8]) -> String {
    sum[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn add_numbers(sum: &mut Sha256, blocks: &[&[f64]]) {
    let mut bytes = Vec::with_capacity(1 << 16);
    for block in blocks {
        sum.update((block.len() as u64).to_le_bytes());
        for part in block.chunks(8192) {
            bytes.clear();
            part.iter()
                .for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
            sum.update(&bytes);
        }
    }
}
