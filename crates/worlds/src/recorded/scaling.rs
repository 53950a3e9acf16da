//! Standardised inputs.

use super::train_rows;
use crate::logs::{Logs, Recording};

/// Mean and scale of the inputs of a vehicle.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// What is subtracted.
    pub mean: Vec<f64>,
    /// What is then divided by.
    pub scale: Vec<f64>,
}

impl Scaling {
    pub(super) fn push(&self, row: &[f64], out: &mut Vec<f64>) {
        let standard = row.iter().zip(&self.mean).zip(&self.scale);
        out.extend(standard.map(|((x, mean), scale)| (x - mean) / scale));
    }
}

/// For each recording, mean and standard deviation of its vehicle's inputs over what may be learnt
/// from.
pub(super) fn by_recording(logs: &Logs, share: f64) -> Vec<Scaling> {
    let p = logs.inputs.len();
    let vehicle = |recording: &Recording| recording.flight.as_ref().map(|f| f.vehicle.clone());
    let of = |recording: &Recording| {
        let own = vehicle(recording);
        let (mut count, mut sums, mut squares) = (0.0, vec![0.0; p], vec![0.0; p]);
        for other in logs.recordings.iter().filter(|other| vehicle(other) == own) {
            let rows = other.x.chunks_exact(p).take(train_rows(other, share));
            for row in rows {
                count += 1.0;
                for (j, x) in row.iter().enumerate() {
                    sums[j] += x;
                    squares[j] += x * x;
                }
            }
        }
        let mean: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
        let deviation = |j: usize| {
            let variance: f64 = squares[j] / count - mean[j] * mean[j];
            let scale = variance.max(0.0).sqrt();
            // A constant input stays a constant.
            if scale > 1e-6 * mean[j].abs().max(1e-6) {
                scale
            } else {
                1.0
            }
        };
        Scaling {
            scale: (0..p).map(deviation).collect(),
            mean,
        }
    };
    logs.recordings.iter().map(of).collect()
}
