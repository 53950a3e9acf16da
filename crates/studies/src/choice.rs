//! Why a target gets the model that it gets, for people who have not read the documentation: what each way to predict
//! is, how much it counts, and its error in the output's own unit.

use taskscout::features::Features as _;
use taskscout::train::{AveragedPredictor, PredictorKind};

use crate::error::Result;
use crate::outlook::digits;
use crate::stored::StoredStudy;

/// What a way to predict is.
fn explained(kind: PredictorKind) -> &'static str {
    match kind {
        PredictorKind::TargetOnly => "learnt from the target's rows alone",
        PredictorKind::Shared => {
            "what all tasks have in common, with a few numbers fitted to the target's rows"
        }
        PredictorKind::SharedResidual => {
            "as `shared`, with a correction that the target's rows alone teach"
        }
        PredictorKind::Identified => {
            "the target as one more task of the same family, at the parameters that fit its rows best"
        }
        _ => "another way",
    }
}

impl StoredStudy {
    /// The ways to predict a target, the one that counts most first, and the features in use where they are chosen.
    ///
    /// # Errors
    /// As [`StoredStudy::predictor`].
    pub fn choice(&self, target: Option<&str>) -> Result<Vec<String>> {
        let mut ways = self.ways(&self.predictor(target)?);
        if !self.definition().feature_choices.is_empty() {
            let used = self.features_in_use()?;
            ways.push(format!(
                "All with {} features of tasks and {} of inputs, which predict best of those to choose from",
                used.tasks.dim(),
                used.inputs.dim()
            ));
        }
        Ok(ways)
    }

    pub(crate) fn ways(&self, predictor: &AveragedPredictor) -> Vec<String> {
        let (factor, unit) = self.error_unit();
        let mut ways: Vec<_> = predictor
            .candidates
            .iter()
            .zip(&predictor.weights)
            .collect();
        ways.sort_by(|a, b| b.1.total_cmp(a.1));
        ways.into_iter()
            .map(|(way, weight)| {
                let error = match way.held_out_error {
                    Some(error) => format!(
                        "off by {} {unit} on single rows of the target that it had not seen, their noise included",
                        digits((factor * error).sqrt())
                    ),
                    None => "too few rows of the target to check it".into(),
                };
                let (kind, share) = (way.kind, 100.0 * weight);
                format!("{share:.0} % of the weight: {kind}, {}; {error}", explained(kind))
            })
            .collect()
    }
}
