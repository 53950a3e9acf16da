//! Monomials of the task parameters that the task features may lack.

use super::left_out::LeftOutTask;
use crate::linalg;

/// Most parameters of a task for all monomials up to the highest degree; with more, the constant and
/// the squares.
const FEW_PARAMETERS: usize = 8;
/// Highest degree.
const MAX_DEGREE: u32 = 3;
/// Most parameters whose squares are tried.
const MOST_SQUARES: usize = 300;
/// Share of a monomial's squares over the tasks that the task features must leave.
const NEW: f64 = 1e-3;

/// A monomial that the task features do not express.
pub(super) struct CandidateFeature {
    pub(super) exponents: Vec<u32>,
    /// Its value at each task.
    pub(super) values: Vec<f64>,
    /// The part that no combination of task features gives, rows weighing alike.
    pub(super) new: Vec<f64>,
}

impl CandidateFeature {
    /// A readable name.
    pub(super) fn name(&self) -> String {
        let factors: Vec<String> = self
            .exponents
            .iter()
            .enumerate()
            .filter_map(|(index, power)| {
                let name = format!("w{}", index + 1);
                match power {
                    0 => None,
                    1 => Some(name),
                    2 => Some(name + "²"),
                    3 => Some(name + "³"),
                    more => Some(format!("{name}^{more}")),
                }
            })
            .collect();
        match factors.is_empty() {
            true => "1".to_owned(),
            false => factors.join("·"),
        }
    }

    pub(super) fn is_constant(&self) -> bool {
        self.exponents.iter().all(|&power| power == 0)
    }
}

/// The monomials that are new, by their degree.
pub(super) fn candidates(tasks: &[LeftOutTask]) -> crate::Result<Vec<CandidateFeature>> {
    let Some(first) = tasks.first() else {
        return Ok(Vec::new());
    };
    let weights: Vec<f64> = tasks.iter().map(|task| task.count().sqrt()).collect();
    let design = faer::Mat::from_fn(tasks.len(), first.features.len(), |w, j| {
        weights[w] * tasks[w].features[j]
    });
    let basis = linalg::svd(design.as_ref(), "the task features")?;
    let floor = 1e-10 * basis.s.first().copied().unwrap_or(0.0);
    let rank = basis.s.iter().take_while(|&&value| value > floor).count();
    let basis = basis.u.as_ref().subcols(0, rank);
    let candidate = |exponents: Vec<u32>| {
        let values: Vec<f64> = tasks
            .iter()
            .map(|task| value(&exponents, &task.task))
            .collect();
        let weighted: Vec<f64> = values.iter().zip(&weights).map(|(v, n)| v * n).collect();
        let inside = linalg::apply(basis, &linalg::apply(basis.transpose(), &weighted));
        let rest: Vec<f64> = weighted.iter().zip(&inside).map(|(v, i)| v - i).collect();
        let is_new = linalg::norm(&rest).powi(2) > NEW * linalg::norm(&weighted).powi(2);
        let new = rest.iter().zip(&weights).map(|(v, n)| v / n).collect();
        is_new.then_some(CandidateFeature {
            exponents,
            values,
            new,
        })
    };
    Ok(monomials(first.task.len())
        .into_iter()
        .filter_map(candidate)
        .collect())
}

fn value(exponents: &[u32], task: &[f64]) -> f64 {
    let factors = exponents.iter().zip(task);
    factors.map(|(&power, w)| w.powi(power as i32)).product()
}

/// Exponents of the constant and what follows it.
fn monomials(parameters: usize) -> Vec<Vec<u32>> {
    let mut all = vec![vec![0; parameters]];
    if parameters > FEW_PARAMETERS {
        let squares = (0..parameters).filter(|_| parameters <= MOST_SQUARES);
        all.extend(squares.map(|i| (0..parameters).map(|j| 2 * u32::from(i == j)).collect()));
        return all;
    }
    let mut last = all.clone();
    for _ in 0..MAX_DEGREE {
        let mut next = Vec::new();
        for exponents in &last {
            // Raising only the last variable or later ones makes each monomial once.
            let from = exponents.iter().rposition(|&power| power > 0).unwrap_or(0);
            for variable in from..parameters {
                let mut raised = exponents.clone();
                raised[variable] += 1;
                next.push(raised);
            }
        }
        all.extend(next.iter().cloned());
        last = next;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Statistics;

    #[test]
    fn every_monomial_comes_once() {
        for (parameters, expected) in [(1, 4), (2, 10), (5, 56), (8, 165), (9, 10), (301, 1)] {
            let all = monomials(parameters);
            let distinct: std::collections::BTreeSet<_> = all.iter().collect();
            assert_eq!((all.len(), distinct.len()), (expected, expected));
            assert!(all.iter().all(|one| one.iter().sum::<u32>() <= MAX_DEGREE));
        }
    }

    #[test]
    fn what_the_features_express_is_not_proposed() {
        // On corners of a square w1² and w2² are the constant.
        let corner = |w: [f64; 2]| {
            let rows = crate::data::Samples::new(vec![1.0], 1, vec![1.0], 1).unwrap();
            let mut statistics = Statistics::new(1, 1);
            statistics.accumulate(&rows).unwrap();
            LeftOutTask {
                task: w.to_vec(),
                features: vec![1.0, w[0], w[1]],
                statistics,
            }
        };
        let tasks = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]].map(corner);
        let found = candidates(&tasks).unwrap();
        let names: Vec<String> = found.iter().map(CandidateFeature::name).collect();
        assert_eq!(names, ["w1·w2"]);
    }

    #[test]
    fn names_are_readable() {
        let named = |exponents: &[u32]| {
            CandidateFeature {
                exponents: exponents.to_vec(),
                values: Vec::new(),
                new: Vec::new(),
            }
            .name()
        };
        assert_eq!(named(&[0, 0]), "1");
        assert_eq!(named(&[2, 0, 1]), "w1²·w3");
        assert_eq!(named(&[0, 3]), "w2³");
    }
}
