//! Floors of a summary's targets, and what every strategy is above them.

use crate::floor::Floor;
use crate::ratio::REFERENCE;
use crate::strategy::StrategySummary;
use crate::summary::Summary;

impl Summary {
    /// Passive's final loss on a target, in terms of the loss that decides.
    #[must_use]
    pub fn reference_loss(&self, target: Option<&str>) -> Option<f64> {
        let (_, strategies) = self
            .sections()
            .into_iter()
            .find(|(own, _)| own.is_none() || *own == target)?;
        let passive = strategies.get(REFERENCE)?;
        let judged = self.judged_among(strategies);
        passive.loss(judged).map(|loss| loss.mean)
    }

    /// The floor of a target; with one target, of that one.
    #[must_use]
    pub fn floor_of(&self, target: Option<&str>) -> Option<Floor> {
        if self.targets.is_empty() {
            return self.floor;
        }
        let mut targets = self.targets.iter();
        targets
            .find(|own| Some(own.target.as_str()) == target)?
            .floor
    }

    /// Sets the floor of a target, with one target of that one, and what every strategy is above it.
    pub fn set_floor(&mut self, target: Option<&str>, floor: Floor) {
        let section = self.sections().into_iter();
        let judged = section
            .filter(|(own, _)| own.is_none() || *own == target)
            .map(|(_, strategies)| self.judged_among(strategies))
            .next()
            .unwrap_or(self.judged);
        let (own, strategies) = if self.targets.is_empty() {
            (&mut self.floor, &mut self.strategies)
        } else {
            let mut targets = self.targets.iter_mut();
            let found = targets.find(|own| Some(own.target.as_str()) == target);
            let Some(found) = found else { return };
            (&mut found.floor, &mut found.strategies)
        };
        *own = Some(floor);
        let above = |figures: &StrategySummary| {
            let regret = figures.loss(judged)?.mean / floor.floor_loss;
            Some(regret).filter(|regret| regret.is_finite())
        };
        let with = |(name, figures): (&str, &StrategySummary)| {
            let regret = above(figures);
            let figures = figures.clone();
            (name.to_owned(), StrategySummary { regret, ..figures })
        };
        let updated: Vec<(String, StrategySummary)> = strategies.iter().map(with).collect();
        for (name, figures) in updated {
            strategies.insert(name, figures);
        }
    }
}
