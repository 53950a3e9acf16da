//! Where single precision ends: a number has seven digits, wherever its point is.

use taskscout::features::FeatureMap;

use crate::model::SavedModel;

/// Half the distance between neighbours in single precision, beside their size.
const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;
/// The part of an input's spread, or of an output's standard deviation, that rounding may cost.
const TOLERABLE: f64 = 0.005;

impl SavedModel {
    /// Which inputs and outputs lie so far from zero, beside how much they vary, that single
    /// precision loses more than half a per cent of that: a sentence each, without an end.
    ///
    /// A graph with [`crate::OnnxOptions::double`] loses nothing of them.
    #[must_use]
    pub fn single_precision_warnings(&self) -> Vec<String> {
        let parts = self.parts();
        let mut warnings = Vec::new();
        let (mean, scale) = match (&parts.input_scaling, &parts.input_features) {
            (Some(scaling), _) => (&scaling.mean[..], &scaling.scale[..]),
            (None, FeatureMap::Standardised(map)) => (map.mean(), map.scale()),
            (None, _) => (&[][..], &[][..]),
        };
        for (index, (mean, scale)) in mean.iter().zip(scale).enumerate() {
            let lost = ROUNDING * mean.abs() / scale;
            if lost > TOLERABLE {
                warnings.push(format!(
                    "input {index} is about {mean:e} and varies by {scale:.1e}, of which single precision loses up to {}",
                    percent(lost)
                ));
            }
        }
        let Some(scaling) = &parts.output_scaling else {
            return warnings;
        };
        let noise = &parts.uncertainty.noise;
        for (index, (mean, scale)) in scaling.mean.iter().zip(&scaling.scale).enumerate() {
            let deviation = noise[index].sqrt() * scale;
            let lost = ROUNDING * mean.abs();
            if lost > TOLERABLE * deviation {
                warnings.push(format!(
                    "output {index} is about {mean:e}, which single precision rounds by up to {lost:.1e} (its y_std is at least {deviation:.1e})"
                ));
            }
        }
        warnings
    }
}

fn percent(share: f64) -> String {
    if share >= 1.0 {
        "all".into()
    } else {
        format!("{:.1} %", 100.0 * share)
    }
}
