//! Options of the command line that concern some worlds only.

use crate::error::{LabError, Result};
use crate::options::{ExperimentOptions, LogOptions};

/// An option that only some worlds have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorldOption {
    MatrixSeed,
    Truths,
    Targets,
    KStar,
    Target,
    TaskFeatures,
    JointTargets,
    Distribution,
    Data,
    AnyRepresentation,
    Inputs,
    SkipBadRows,
}

impl WorldOption {
    pub(crate) const ALL: [Self; 12] = [
        Self::MatrixSeed,
        Self::Truths,
        Self::Targets,
        Self::KStar,
        Self::Target,
        Self::TaskFeatures,
        Self::JointTargets,
        Self::Distribution,
        Self::Data,
        Self::AnyRepresentation,
        Self::Inputs,
        Self::SkipBadRows,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::MatrixSeed => "--matrix-seed",
            Self::Truths => "--truths",
            Self::Targets => "--targets",
            Self::KStar => "--k-star",
            Self::Target => "--target",
            Self::TaskFeatures => "--task-features",
            Self::JointTargets => "--joint-targets",
            Self::Distribution => "--target-distribution",
            Self::Data => "--data",
            Self::AnyRepresentation => "--phi",
            Self::Inputs => "--inputs",
            Self::SkipBadRows => "--skip-bad-rows",
        }
    }

    /// Whether it stands on the command line.
    pub(crate) fn is_given(self, options: &ExperimentOptions) -> bool {
        match self {
            Self::MatrixSeed => options.matrix_seed.is_some(),
            Self::Truths => options.truths.is_some(),
            Self::Targets => options.targets.is_some(),
            Self::KStar => options.k_star.is_some(),
            Self::Target => !options.target.is_empty(),
            Self::TaskFeatures => options.task_features.is_some(),
            Self::JointTargets => options.joint_targets,
            Self::Distribution => options.target_distribution,
            Self::Data => options.data.is_some(),
            Self::AnyRepresentation => options.phi.is_some(),
            Self::Inputs => !options.logs.inputs.is_empty(),
            Self::SkipBadRows => options.logs.skip_bad_rows,
        }
    }

    /// Takes it off again.
    pub(crate) fn remove(self, options: &mut ExperimentOptions) {
        match self {
            Self::MatrixSeed => options.matrix_seed = None,
            Self::Truths => options.truths = None,
            Self::Targets => options.targets = None,
            Self::KStar => options.k_star = None,
            Self::Target => options.target.clear(),
            Self::TaskFeatures => options.task_features = None,
            Self::JointTargets => options.joint_targets = false,
            Self::Distribution => options.target_distribution = false,
            Self::Data => options.data = None,
            Self::AnyRepresentation => options.phi = None,
            Self::Inputs => {
                let skip_bad_rows = options.logs.skip_bad_rows;
                options.logs = LogOptions {
                    skip_bad_rows,
                    ..LogOptions::default()
                };
            }
            Self::SkipBadRows => options.logs.skip_bad_rows = false,
        }
    }

    /// What to say where the world has no such option.
    pub(crate) fn refusal(self) -> LabError {
        let whose = match self {
            Self::MatrixSeed | Self::Truths | Self::Targets => {
                "synthetic worlds (bilinear, fourier, mlp)"
            }
            Self::KStar | Self::Distribution => "synthetic worlds with --targets",
            Self::Target | Self::TaskFeatures => "the experiments pendulum and drone",
            Self::JointTargets => {
                "worlds with named targets (pendulum, drone, programs, synthetic ones with --targets)"
            }
            Self::Data | Self::AnyRepresentation | Self::Inputs | Self::SkipBadRows => {
                "the experiment drone and worlds of logs"
            }
        };
        LabError::Input(format!(
            "{} is an option of {whose} only: leave it out here",
            self.name()
        ))
    }
}

impl ExperimentOptions {
    /// The tasks that `--target` names.
    pub(crate) fn target_points(&self) -> Result<Vec<Vec<f64>>> {
        self.target.iter().map(|text| point(text)).collect()
    }
}

/// The numbers of a task, `a,b,c`.
pub(crate) fn point(text: &str) -> Result<Vec<f64>> {
    let number = |(index, cell): (usize, &str)| {
        let value = cell.trim().parse::<f64>().ok();
        value.filter(|value| value.is_finite()).ok_or_else(|| {
            LabError::Input(format!(
                "--target {text}: entry {}, `{}`, is no number: give numbers separated by commas, as 0,0,1,0.5,0",
                index + 1,
                cell.trim()
            ))
        })
    };
    text.split(',').enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_point_is_numbers_between_commas() {
        assert_eq!(point("-1, 0.5,1e-1").unwrap(), [-1.0, 0.5, 0.1]);
        for (text, place) in [
            ("", "entry 1, ``"),
            ("1,,2", "entry 2, ``"),
            ("0,nan", "entry 2, `nan`"),
            ("--quick", "entry 1, `--quick`"),
        ] {
            let error = point(text).unwrap_err();
            assert!(error.to_string().contains(place), "{error}");
            assert_eq!(error.code(), 2);
        }
    }
}
