//! From the settings of a target to the library's.

use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::space::{Space, TaskSpace as _};
use taskscout::target::Target;

use crate::error::{Error, Result};
use crate::settings::TargetSettings;
use crate::stored::StoredStudy;

impl TargetSettings {
    /// The library's target.
    ///
    /// # Errors
    /// Parameters that are not those of the space, or probabilities that are none.
    pub fn build(&self, space: &Space, features: &FeatureMap) -> Result<Target> {
        if self.name.trim().is_empty() {
            return Err(Error::Input(
                "a target has no name: give it one, by which its rows are told".into(),
            ));
        }
        for parameters in self.parameters.iter().chain(&self.members) {
            if parameters.len() != space.dim() {
                return Err(Error::Input(format!(
                    "target `{}` has {} parameters, but tasks have {}: give one number for each, or none if they are unknown",
                    self.name,
                    parameters.len(),
                    space.dim()
                )));
            }
        }
        if self.members.is_empty() && self.probabilities.is_some() {
            return Err(Error::Input(format!(
                "target `{}` has probabilities, but no members: give the parameters of its members, or leave them out",
                self.name
            )));
        }
        let mut target = match (&self.parameters, self.members.is_empty()) {
            (None, true) => Target::unknown(&self.name),
            (Some(parameters), true) => Target::known(&self.name, parameters.clone()),
            (None, false) => Target::distribution(&self.name, self.second_moment(features)?),
            (Some(_), false) => {
                return Err(Error::Input(format!(
                    "target `{}` has parameters and members: it is one task or a distribution, so leave one out",
                    self.name
                )));
            }
        };
        if let Some(weight) = self.weight {
            target.weight = weight;
        }
        target.validate(space.dim(), features.dim())?;
        Ok(target)
    }

    /// The setting that what is wrong is most likely about.
    pub(crate) fn known_by(&self) -> &'static str {
        let weight = self.weight.unwrap_or(1.0);
        match () {
            () if self.name.trim().is_empty() => "name",
            () if !(weight > 0.0 && weight.is_finite()) => "weight",
            () if self.probabilities.is_some() => "probabilities",
            () if !self.members.is_empty() => "members",
            () => "parameters",
        }
    }

    /// `E[ψψᵀ]` over the members.
    fn second_moment(&self, features: &FeatureMap) -> Result<Vec<Vec<f64>>> {
        let count = self.members.len();
        let shares = match &self.probabilities {
            None => vec![1.0 / count as f64; count],
            Some(given) => given.clone(),
        };
        let total: f64 = shares.iter().sum();
        let fits = shares.iter().all(|share| *share >= 0.0) && (total - 1.0).abs() < 1e-6;
        if shares.len() != count || !fits {
            return Err(Error::Input(format!(
                "target `{}` has {count} members and {} probabilities with a sum of {total}: give each one of 0 or more, together 1",
                self.name,
                shares.len()
            )));
        }
        let mut moment = vec![vec![0.0; features.dim()]; features.dim()];
        for (member, share) in self.members.iter().zip(shares) {
            let psi = apply_row(features, member);
            for (row, a) in moment.iter_mut().zip(&psi) {
                row.iter_mut()
                    .zip(&psi)
                    .for_each(|(cell, b)| *cell += share * a * b);
            }
        }
        Ok(moment)
    }
}

impl StoredStudy {
    /// Names a target by its settings.
    ///
    /// # Errors
    /// As [`TargetSettings::build`] and [`StoredStudy::add_target`].
    pub fn name_target(&mut self, target: &TargetSettings) -> Result<()> {
        let config = self.study().config();
        let target = target.build(&config.space, &config.task_features)?;
        self.add_target(&target)
    }
}
