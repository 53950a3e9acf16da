//! Rounds and budgets of an experiment.

use serde::{Deserialize, Serialize};
use taskscout::strategy::WarmUp;

use crate::error::{LabError, Result};

/// Rounds of an experiment at most.
const MOST_ROUNDS: usize = 1000;

/// Rounds and budgets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleConfig {
    /// Which of the two schedules to use.
    #[serde(default)]
    kind: Kind,
    /// The paper's rounds.
    rounds: usize,
    /// Each round's budget over the one before.
    growth: f64,
    /// The first round's budget, in samples.
    #[serde(default)]
    first_round: Option<f64>,
    /// The first round's budget, in units of `d · k² · κ(B)`.
    #[serde(default)]
    first_round_factor: Option<f64>,
    /// How the same total is spent by taskscout's own schedule.
    #[serde(default)]
    adaptive: Adaptive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    #[default]
    Paper,
    Adaptive,
}

/// taskscout's own schedule, as shares of the total budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Adaptive {
    /// The warm-up.
    warm_up: f64,
    /// Steps of the warm-up; with more than one it ends early, at the step after which the data
    /// show that the weakest direction is real.
    warm_up_steps: usize,
    /// The first round after it.
    first: f64,
    /// Each further round over the one before.
    growth: f64,
}

impl Default for Adaptive {
    fn default() -> Self {
        Self {
            warm_up: 0.10,
            warm_up_steps: 1,
            first: 0.03,
            growth: 1.8,
        }
    }
}

/// The budgets of the rounds, and how many of them are warm-up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rounds {
    pub(crate) budgets: Vec<usize>,
    pub(crate) warm_up: WarmUp,
}

impl ScheduleConfig {
    /// Multiplies every budget.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.first_round
            .iter_mut()
            .for_each(|value| *value *= factor);
        self.first_round_factor
            .iter_mut()
            .for_each(|value| *value *= factor);
    }

    /// Chooses between the two schedules.
    pub(crate) fn use_adaptive(&mut self, adaptive: bool) {
        self.kind = if adaptive {
            Kind::Adaptive
        } else {
            Kind::Paper
        };
    }

    /// Whether the rounds are taskscout's own.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.kind == Kind::Adaptive
    }

    /// Checks the numbers.
    pub(crate) fn check(&self) -> Result<()> {
        let bad = |key: &str, problem: String| {
            Err(LabError::setting(&format!("schedule.{key}"), problem))
        };
        let share = |value: f64| value > 0.0 && value < 1.0;
        let positive = |value: f64| value > 0.0 && value.is_finite();
        match (self.first_round, self.first_round_factor) {
            (Some(value), None) if !positive(value) => {
                bad("first_round", format!("is {value}: give a positive number"))
            }
            (None, Some(value)) if !positive(value) => bad(
                "first_round_factor",
                format!("is {value}: give a positive number"),
            ),
            (Some(_), Some(_)) => bad(
                "first_round",
                "is given together with `first_round_factor`: give one of the two".into(),
            ),
            (None, None) => bad(
                "first_round",
                "is missing: give it, or `first_round_factor`".into(),
            ),
            _ if self.rounds == 0 || self.rounds > MOST_ROUNDS => {
                bad("rounds", format!("is {}: give 1 to 1000", self.rounds))
            }
            _ if !(self.growth > 0.0 && self.growth <= 100.0) => bad(
                "growth",
                format!("is {}: give a positive factor of at most 100", self.growth),
            ),
            _ if !share(self.adaptive.warm_up) => bad(
                "adaptive.warm_up",
                format!("is {}: give a share between 0 and 1", self.adaptive.warm_up),
            ),
            _ if !(1..=100).contains(&self.adaptive.warm_up_steps) => bad(
                "adaptive.warm_up_steps",
                format!("is {}: give 1 to 100", self.adaptive.warm_up_steps),
            ),
            _ if !share(self.adaptive.first) => bad(
                "adaptive.first",
                format!("is {}: give a share between 0 and 1", self.adaptive.first),
            ),
            _ if !(self.adaptive.growth >= 1.0 && self.adaptive.growth <= 100.0) => bad(
                "adaptive.growth",
                format!("is {}: give a factor from 1 to 100", self.adaptive.growth),
            ),
            _ => Ok(()),
        }
    }

    /// The rounds for a world with `unit = d · k² · κ(B)`.
    pub(crate) fn rounds(&self, unit: f64) -> Result<Rounds> {
        let first = self
            .first_round
            .or(self.first_round_factor.map(|factor| factor * unit))
            .unwrap_or(0.0);
        let paper: Vec<f64> = (0..self.rounds)
            .map(|j| first * self.growth.powi(j as i32))
            .collect();
        let total: f64 = paper.iter().sum();
        if total.is_nan() || total >= 1e12 {
            return Err(LabError::setting(
                "schedule",
                format!("asks for {total:.1e} samples: give a smaller budget"),
            ));
        }
        let whole: Vec<usize> = paper.iter().map(|budget| *budget as usize).collect();
        let budgets = match self.kind {
            Kind::Paper => whole,
            Kind::Adaptive => self.adaptive.budgets(whole.iter().sum()),
        };
        if budgets.len() > MOST_ROUNDS {
            return Err(LabError::setting(
                "schedule.adaptive",
                format!("makes more than {MOST_ROUNDS} rounds: raise its `first` or `growth`"),
            ));
        }
        if let Some(round) = budgets.iter().position(|&budget| budget == 0) {
            return Err(LabError::setting(
                "schedule",
                format!("gives round {round} no samples: raise the budget"),
            ));
        }
        let warm_up = match (self.kind, self.adaptive.warm_up_steps) {
            (Kind::Adaptive, steps) if steps > 1 => WarmUp::Evidence { max_rounds: steps },
            _ => WarmUp::Rounds { rounds: 1 },
        };
        Ok(Rounds { budgets, warm_up })
    }
}

impl Adaptive {
    /// Splits a total: the warm-up, then growing rounds until it is spent. A remainder smaller
    /// than the round before it joins that round.
    fn budgets(&self, total: usize) -> Vec<usize> {
        let share = |part: f64| ((total as f64 * part) as usize).max(1);
        let step = share(self.warm_up / self.warm_up_steps as f64);
        let (mut budgets, mut left, mut next) = (Vec::new(), total, self.first);
        while left > 0 && budgets.len() <= MOST_ROUNDS {
            let warming_up = budgets.len() < self.warm_up_steps;
            let budget = if warming_up { step } else { share(next) }.min(left);
            left -= budget;
            if !warming_up {
                next *= self.growth;
            }
            if !warming_up && left < budget {
                budgets.push(budget + std::mem::take(&mut left));
            } else {
                budgets.push(budget);
            }
        }
        budgets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_adaptive_schedule_spends_exactly_the_total() {
        for total in [100, 12_345, 78_507] {
            let budgets = Adaptive::default().budgets(total);
            assert_eq!(budgets.iter().sum::<usize>(), total);
            assert!(budgets.iter().all(|&budget| budget > 0));
        }
    }
}
