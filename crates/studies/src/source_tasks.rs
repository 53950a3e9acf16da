//! Tasks that can be measured, how they are related, and what they cost.

use std::collections::BTreeMap;

use taskscout::features::FeatureMap;
use taskscout::space::{Space, TaskSpace as _};
use taskscout::task::TaskId;

use crate::definition::Column;
use crate::error::{Error, Result};
use crate::settings::{FeatureWord, ParameterSettings};

/// Tasks, how they are related, and what they cost.
#[derive(Debug)]
pub(crate) struct SourceTasks {
    pub(crate) parameters: Vec<Column>,
    pub(crate) space: Space,
    pub(crate) features: FeatureMap,
    pub(crate) costs: BTreeMap<TaskId, f64>,
    pub(crate) capacities: BTreeMap<TaskId, usize>,
    /// Centre and width of each parameter.
    pub(crate) spread: Vec<(f64, f64)>,
}

impl SourceTasks {
    /// Tasks whose features are their parameters.
    pub(crate) fn plain(parameters: Vec<Column>, space: Space) -> Result<Self> {
        Ok(Self {
            features: FeatureMap::identity(space.dim())?,
            spread: vec![(0.0, 1.0); space.dim()],
            parameters,
            space,
            costs: BTreeMap::new(),
            capacities: BTreeMap::new(),
        })
    }

    /// The same with affine features of centred and scaled parameters.
    pub(crate) fn affine(mut self) -> Result<Self> {
        self.features = FeatureWord::Affine.of_tasks(&self)?;
        Ok(self)
    }

    pub(crate) fn new(
        parameters: Vec<Column>,
        space: Space,
        spread: Vec<(f64, f64)>,
    ) -> Result<Self> {
        let plain = Self::plain(parameters, space)?;
        Self { spread, ..plain }.affine()
    }
}

/// A box of parameters.
pub(crate) fn ranges(parameters: &[ParameterSettings]) -> Result<SourceTasks> {
    for ParameterSettings {
        name, low, high, ..
    } in parameters
    {
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(Error::Input(format!(
                "the parameter `{name}` is from {low} to {high}: give finite numbers, the smaller one first"
            )));
        }
    }
    let column = |parameter: &ParameterSettings| Column {
        unit: parameter.unit.clone(),
        ..Column::named(&parameter.name)
    };
    let low = parameters.iter().map(|parameter| parameter.low).collect();
    let high = parameters.iter().map(|parameter| parameter.high).collect();
    let spread = parameters
        .iter()
        .map(|p| (f64::midpoint(p.low, p.high), (p.high - p.low) / 2.0));
    SourceTasks::new(
        parameters.iter().map(column).collect(),
        Space::boxed(low, high)?,
        spread.collect(),
    )
}

impl FeatureWord {
    fn degree(self) -> u32 {
        match self {
            Self::Identity | Self::Affine | Self::Auto => 1,
            Self::Quadratic => 2,
            Self::Cubic => 3,
        }
    }

    /// How many features its map of so many values has; infinite where nobody can count them.
    pub(crate) fn count(self, dim: usize) -> f64 {
        let (degree, dim) = (self.degree(), dim as f64);
        if self == Self::Identity {
            return dim;
        }
        let step = |count: f64, power: u32| count * (dim + f64::from(power)) / f64::from(power);
        (1..=degree).fold(1.0, step)
    }

    /// The map of so many values.
    pub(crate) fn map(self, dim: usize) -> Result<FeatureMap> {
        let map = match self {
            Self::Identity => FeatureMap::identity(dim),
            _ => FeatureMap::polynomial(dim, self.degree(), true),
        };
        map.map_err(Into::into)
    }

    /// The map of tasks, centred and scaled first unless it is the identity.
    pub(crate) fn of_tasks(self, tasks: &SourceTasks) -> Result<FeatureMap> {
        let map = self.map(tasks.space.dim())?;
        if self == Self::Identity {
            return Ok(map);
        }
        let (mean, scale) = tasks.spread.iter().copied().unzip();
        FeatureMap::standardised(mean, scale, map).map_err(Into::into)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use taskscout::features::Features as _;

    use super::*;

    #[test]
    fn features_are_counted_without_their_map() {
        let words = [
            FeatureWord::Identity,
            FeatureWord::Affine,
            FeatureWord::Quadratic,
            FeatureWord::Cubic,
        ];
        for word in words {
            for dim in [1, 2, 7, 30] {
                let counted = word.count(dim) - word.map(dim).unwrap().dim() as f64;
                assert!(counted.abs() < 1e-6, "{word:?} {dim}");
            }
            assert!(word.count(1_000_000_000) >= 1e9);
        }
    }
}
