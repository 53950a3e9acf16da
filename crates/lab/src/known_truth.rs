//! What the theory says of a world whose truth is known: `k*`, `κ(B)` and `‖W*‖`, and the floor.
//!
//! The floor is the risk law of [`taskscout::theory`] on the optimal design for the true `B` and the true targets: what
//! a study would reach that has not to find out where to sample. It has the same budget and the same target rows as the
//! strategies, whose rows count as information too.

use faer::{Mat, Scale};
use taskscout::theory::{Allocation, Quantities, RiskShape, excess_risk, need_of};
use taskscout_report::{ExperimentReport, Floor};

use crate::error::{LabError, Result};
use crate::prepare::Prepared;
use crate::record::MEAN_TASK;
use crate::scenario::KnownTruth;

/// Halvings of the budget in the search for the one that is just enough.
const HALVINGS: usize = 60;

/// Adds the quantities under `theory`, and a floor for each target.
pub(crate) fn add(prepared: &Prepared, report: &mut ExperimentReport) -> Result<()> {
    let Some(truth) = &prepared.scenario.truth else {
        return Ok(());
    };
    let need = need_of(&truth.targets)?;
    // Where the sources do not reach the targets, there is nothing to be said.
    let Ok(known) = Quantities::of(truth.map.as_ref(), need.as_ref()) else {
        return Ok(());
    };
    let value = serde_json::to_value(&known)
        .map_err(|error| LabError::Failure(format!("cannot write the summary: {error}")))?;
    report.summary.extra.insert("theory".into(), value);
    for case in cases(prepared, truth)? {
        let reference = report.summary.reference_loss(case.target.as_deref());
        if let Some(floor) = case.floor(reference)? {
            report.summary.set_floor(case.target.as_deref(), floor);
        }
    }
    Ok(())
}

/// What a floor is computed from.
struct Case {
    /// What its results are called.
    target: Option<String>,
    shape: RiskShape,
    /// The information of one source sample of the design.
    design: Mat<f64>,
    /// The information of the target rows of the whole study.
    rows: Mat<f64>,
    /// What is judged.
    need: Mat<f64>,
    /// Source samples of the whole study.
    budget: f64,
}

/// One for each target that results are about; none where the law does not apply.
fn cases(prepared: &Prepared, truth: &KnownTruth) -> Result<Vec<Case>> {
    let Some(inputs) = truth.inputs.filter(|_| truth.noise > 0.0) else {
        return Ok(Vec::new());
    };
    let (config, samples) = (&prepared.config.target, prepared.config.target.samples);
    let members = truth.targets.len();
    let all = need_of(&truth.targets)?;
    let budget = prepared.rounds.budgets.iter().sum::<usize>() as f64;
    let mut cases = Vec::new();
    for (index, target) in prepared.judged_on().into_iter().enumerate() {
        let own = match (config.distribution, target.as_deref()) {
            (true, Some(MEAN_TASK)) => need_of(&[mean(&truth.targets)])?,
            (true, _) => all.clone(),
            (false, _) => need_of(&truth.targets[index..=index])?,
        };
        // The design serves the study, which may serve more than what is judged here.
        let served = if config.together() { &all } else { &own };
        let (head_rows, all_rows) = match (config.distribution, target.as_deref()) {
            // The mean of heads with a share of the rows each is as good as one with all of them.
            (true, Some(MEAN_TASK)) => (samples, samples),
            (true, _) => (samples / members, samples),
            (false, _) if config.joint => (samples, samples * members),
            (false, _) => (samples, samples),
        };
        cases.push(Case {
            shape: RiskShape {
                noise: truth.noise,
                inputs,
                target_rows: head_rows,
            },
            design: Allocation::Optimal.information(truth.map.as_ref(), served.as_ref())?,
            rows: Scale(all_rows as f64) * served,
            need: own,
            budget,
            target,
        });
    }
    Ok(cases)
}

impl Case {
    /// The loss after so many source samples.
    fn loss(&self, budget: f64) -> Result<f64> {
        let information = Scale(budget) * &self.design + &self.rows;
        Ok(excess_risk(
            self.shape,
            information.as_ref(),
            self.need.as_ref(),
        )?)
    }

    /// The floor, with the budget to a loss of the reference's.
    fn floor(&self, reference: Option<f64>) -> Result<Option<Floor>> {
        let floor_loss = self.loss(self.budget)?;
        if !(floor_loss > 0.0 && floor_loss.is_finite()) {
            return Ok(None);
        }
        let floor_budget_ratio = match reference.filter(|loss| floor_loss <= *loss) {
            Some(loss) => Some(self.budget_to(loss)? / self.budget),
            None => None,
        };
        Ok(Some(Floor {
            floor_loss,
            floor_budget_ratio,
        }))
    }

    /// The smallest budget that is enough for a loss, which the whole budget is.
    fn budget_to(&self, loss: f64) -> Result<f64> {
        let (mut short, mut enough) = (0.0, self.budget);
        if self.loss(short)? <= loss {
            return Ok(short);
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (short + enough);
            if self.loss(middle)? <= loss {
                enough = middle;
            } else {
                short = middle;
            }
        }
        Ok(enough)
    }
}

/// The embedding of the mean task.
fn mean(targets: &[Vec<f64>]) -> Vec<f64> {
    let share = 1.0 / targets.len().max(1) as f64;
    let length = targets.first().map_or(0, Vec::len);
    (0..length)
        .map(|i| share * targets.iter().map(|target| target[i]).sum::<f64>())
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use faer::mat;

    use super::*;

    /// One direction, four features more than that, and a target that a source sample serves as well as its own rows.
    fn case(need: Mat<f64>) -> Case {
        Case {
            target: None,
            shape: RiskShape {
                noise: 2.0,
                inputs: 5,
                target_rows: 10,
            },
            design: mat![[1.0]],
            rows: mat![[10.0]],
            need,
            budget: 90.0,
        }
    }

    #[test]
    fn a_floor_is_the_risk_law_and_its_budget_ends_at_the_reference() {
        let case = case(mat![[1.0]]);
        // σ²((d − k)/(90 + 10) + k/10)
        let at_end = 2.0 * (4.0 / 100.0 + 0.1);
        // The same with 40 source samples.
        let passive = 2.0 * (4.0 / 50.0 + 0.1);
        let floor = case.floor(Some(passive)).unwrap().unwrap();
        assert!((floor.floor_loss - at_end).abs() < 1e-12);
        assert!((floor.floor_budget_ratio.unwrap() - 40.0 / 90.0).abs() < 1e-9);
    }

    #[test]
    fn a_reference_below_the_floor_is_not_reached_and_a_poor_one_costs_nothing() {
        let case = case(mat![[1.0]]);
        for (reference, ratio) in [(None, None), (Some(0.1), None), (Some(9.0), Some(0.0))] {
            let floor = case.floor(reference).unwrap().unwrap();
            assert_eq!(floor.floor_budget_ratio, ratio, "{reference:?}");
        }
    }
}
