//! Where targets lie among the tasks, as far as that is known.

use serde::Serialize;
use taskscout::target::TargetParameters;

use crate::stored::StoredStudy;

/// Where a target lies among the tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetPlace {
    /// The target.
    pub name: String,
    /// Its parameters, given or estimated, in the order of the study's columns; none where nothing is known.
    pub parameters: Option<Vec<f64>>,
    /// The ends of the box around all parameters that its rows do not rule out, where they are estimated.
    pub range: Option<(Vec<f64>, Vec<f64>)>,
    /// Whether the parameters were given.
    pub given: bool,
}

impl StoredStudy {
    /// Where the targets lie among the tasks: where somebody said, or as their rows tell.
    #[must_use]
    pub fn target_places(&self) -> Vec<TargetPlace> {
        let identified = self.learner().and_then(|study| Ok(study.identify()?));
        let identified = identified.unwrap_or_default();
        let targets = self.study().config().targets.iter().enumerate();
        let place = |(index, target): (usize, &taskscout::target::Target)| {
            let found = identified.get(index).and_then(Option::as_ref);
            let given = match &target.kind {
                TargetParameters::Known { task } => Some(task.clone()),
                _ => None,
            };
            TargetPlace {
                name: target.name.clone(),
                given: given.is_some(),
                range: match (&given, found) {
                    (None, Some(found)) => Some((found.low.clone(), found.high.clone())),
                    _ => None,
                },
                parameters: given.or_else(|| Some(found?.task.clone())),
            }
        };
        targets.map(place).collect()
    }
}
