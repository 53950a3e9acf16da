//! Small budgets: whatever is feasible is planned, and what is not says the smallest that would be.
#![allow(clippy::unwrap_used)]

use faer::Mat;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use taskscout::Error;
use taskscout::design::{Campaign, Candidates, Criterion, Need};
use taskscout::features::{FeatureMap, Features as _};
use taskscout::rng::{Purpose, derive};

/// A small table of whole numbers, in which tasks often depend on each other, seen through features.
struct Case {
    k: usize,
    rows: Vec<f64>,
    targets: Vec<f64>,
    costs: Vec<f64>,
}

impl Case {
    fn new(seed: u64, n: usize, parameters: usize, degree: u32, targets: usize) -> Self {
        let mut rng = derive(seed, Purpose::Test, &[]);
        let features = match degree {
            0 => FeatureMap::identity(parameters).unwrap(),
            degree => FeatureMap::polynomial(parameters, degree, true).unwrap(),
        };
        let mut embed = |count: usize| {
            let raw: Vec<f64> = (0..count * parameters)
                .map(|_| f64::from(rng.random_range(-2..=2_i32)))
                .collect();
            let mut rows = vec![0.0; count * features.dim()];
            features.apply(&raw, &mut rows);
            rows
        };
        let (rows, targets) = (embed(n), embed(targets));
        Self {
            k: features.dim(),
            rows,
            targets,
            costs: (0..n)
                .map(|_| f64::from(rng.random_range(1..=3_i32)))
                .collect(),
        }
    }

    fn need(&self) -> Need<'_> {
        match self.targets.is_empty() {
            true => Need::Everything,
            false => Need::Targets {
                rows: &self.targets,
                weights: None,
            },
        }
    }

    /// The cheapest subset that reaches the need, by trying all; none if none does.
    fn cheapest(&self, price: impl Fn(usize) -> f64, most: usize) -> Option<f64> {
        let n = self.rows.len() / self.k;
        let all: Vec<usize> = (0..n).collect();
        let full = self.rank(&all, false);
        (0_u32..1 << n)
            .map(|bits| {
                (0..n)
                    .filter(|i| bits >> i & 1 == 1)
                    .collect::<Vec<usize>>()
            })
            .filter(|rows| rows.len() <= most)
            .filter(|rows| match self.targets.is_empty() {
                true => self.rank(rows, false) == full,
                false => self.rank(rows, true) == self.rank(rows, false),
            })
            .map(|rows| rows.into_iter().map(&price).sum::<f64>())
            .min_by(f64::total_cmp)
    }

    /// The rank of some rows, with the targets or without: small whole numbers, so it is exact.
    fn rank(&self, rows: &[usize], with_targets: bool) -> usize {
        let k = self.k;
        let mut all: Vec<f64> = rows
            .iter()
            .flat_map(|&i| self.rows[i * k..(i + 1) * k].to_vec())
            .collect();
        if with_targets {
            all.extend(&self.targets);
        }
        if all.is_empty() {
            return 0;
        }
        let matrix = Mat::from_fn(all.len() / k, k, |i, j| all[i * k + j]);
        let singular = matrix.singular_values().unwrap();
        singular.iter().filter(|&&s| s > 1e-8).count()
    }
}

fn is_zero(values: &[f64]) -> bool {
    values.iter().all(|value| value.abs() < 1e-12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, rng_seed: RngSeed::Fixed(23), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_exists_if_and_only_if_some_tasks_reach_the_need(
        seed in any::<u64>(), n in 2_usize..9, parameters in 1_usize..4, degree in 0_u32..3,
        targets in 0_usize..3, budget in 1_usize..12, costly in any::<bool>(), switch in 0_u32..2,
        max_tasks in prop::option::of(1_usize..5), worst in any::<bool>(),
    ) {
        let case = Case::new(seed, n, parameters, degree, targets);
        prop_assume!(!is_zero(&case.rows));
        prop_assume!(case.targets.is_empty() || !is_zero(&case.targets));
        let mut candidates = Candidates::new(case.k, &case.rows[..]).unwrap();
        if costly {
            candidates = candidates.with_costs(case.costs.clone()).unwrap();
        }
        let criterion = if worst { Criterion::MaxEigenvalue } else { Criterion::Trace };
        let campaign = Campaign {
            switch_cost: f64::from(switch),
            max_tasks,
            ..Campaign::new(criterion, case.need(), budget as f64)
        };
        let price = |row: usize| f64::from(switch) + if costly { case.costs[row] } else { 1.0 };
        let reachable = case.cheapest(price, usize::MAX);
        let least = case.cheapest(price, max_tasks.unwrap_or(usize::MAX));
        let planned = campaign.plan(&candidates);
        match (least, planned) {
            (Some(least), Ok(plan)) => {
                prop_assert!(least <= budget as f64);
                prop_assert!(plan.spent <= budget as f64 + 1e-9);
                prop_assert!(plan.tasks.len() <= max_tasks.unwrap_or(usize::MAX));
                prop_assert!(plan.plan_objective.is_finite());
                prop_assert!(plan.lower_bound.unwrap() <= plan.plan_objective * (1.0 + 1e-9));
            }
            (Some(least), Err(error)) => {
                prop_assert!(least > budget as f64, "{least} of {budget}: {error}");
                let says = format!("at least {least}, so raise it to {least}");
                prop_assert!(error.to_string().contains(&says), "{least}: {error}");
            }
            (None, Err(error)) if reachable.is_some() => {
                let fewest = case.cheapest(|_| 1.0, usize::MAX).unwrap();
                let says = format!("at least {fewest}, so raise it to {fewest}");
                prop_assert!(error.to_string().contains(&says), "{fewest}: {error}");
            }
            (None, Err(error)) => {
                let is_reach = matches!(error, Error::Unreachable { .. });
                prop_assert!(is_reach, "{error}");
            }
            (None, Ok(plan)) => prop_assert!(false, "no tasks reach it, but {plan:?}"),
        }
    }
}

/// Quadratic features of nine parameters: 55 of them, of which a small budget reaches all or says so.
#[test]
fn many_features_are_planned_or_refused_without_trying_all() {
    let mut rng = derive(3, Purpose::Test, &[]);
    let raw: Vec<f64> = (0..200 * 9).map(|_| rng.random_range(-1.0..1.0)).collect();
    let features = FeatureMap::polynomial(9, 2, true).unwrap();
    let mut rows = vec![0.0; 200 * 55];
    features.apply(&raw, &mut rows);
    let candidates = Candidates::new(55, &rows[..]).unwrap();
    let mut target = vec![0.0; 55];
    features.apply(
        &raw.iter().take(9).map(|x| 0.3 - x).collect::<Vec<_>>(),
        &mut target,
    );
    for need in [
        Need::Everything,
        Need::Targets {
            rows: &target,
            weights: None,
        },
    ] {
        let campaign = |budget: f64| Campaign::new(Criterion::Trace, need, budget);
        let error = campaign(40.0).plan(&candidates).unwrap_err().to_string();
        assert!(error.ends_with("so raise it to 55"), "{error}");
        let plan = campaign(57.0).plan(&candidates).unwrap();
        let samples: usize = plan.tasks.iter().map(|task| task.n).sum();
        assert_eq!(samples, 57);
    }
}

#[test]
fn a_budget_beyond_counting_is_refused() {
    let candidates = Candidates::new(1, vec![1.0, 2.0]).unwrap();
    for budget in [1e16, 1e308] {
        let error = Campaign::new(Criterion::Trace, Need::Everything, budget)
            .plan(&candidates)
            .unwrap_err();
        assert!(error.to_string().contains("at most 1e15"), "{error}");
    }
    let cheap = candidates.with_costs(vec![1e-300, 1.0]).unwrap();
    let error = Campaign::new(Criterion::Trace, Need::Everything, 10.0)
        .plan(&cheap)
        .unwrap_err();
    assert!(error.to_string().contains("rescale the costs"), "{error}");
}
