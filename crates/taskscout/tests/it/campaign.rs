//! Campaigns: whole samples within costs, caps, capacities and what is there already.
#![allow(clippy::unwrap_used)]

use faer::Mat;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand_distr::{Distribution as _, StandardNormal};
use taskscout::Error;
use taskscout::design::{
    Campaign, CampaignPlan, Candidates, Criterion, Need, Problem, solve, solve_space,
};
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, derive};
use taskscout::space::Space;

fn gaussian(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = derive(seed, Purpose::Test, &[]);
    (0..count)
        .map(|_| StandardNormal.sample(&mut rng))
        .collect()
}

/// The criterion of given information and a plan's whole samples, computed apart from the library's
/// campaign code.
fn value(plan: &CampaignPlan, k: usize, given: Option<&Mat<f64>>, targets: &[f64]) -> f64 {
    let mut information = given.cloned().unwrap_or_else(|| Mat::zeros(k, k));
    for task in &plan.tasks {
        let c = &task.atom.embedding;
        for i in 0..k {
            (0..k).for_each(|j| information[(i, j)] += task.n as f64 * c[i] * c[j]);
        }
    }
    let rows = targets.len() / k;
    let moment = Mat::from_fn(k, k, |i, j| {
        (0..rows)
            .map(|t| targets[t * k + i] * targets[t * k + j])
            .sum::<f64>()
            / rows as f64
    });
    Criterion::Trace
        .value(information.as_ref(), moment.as_ref())
        .unwrap()
}

fn samples(plan: &CampaignPlan) -> usize {
    plan.tasks.iter().map(|task| task.n).sum()
}

fn rows_of(plan: &CampaignPlan) -> Vec<usize> {
    let mut rows: Vec<usize> = plan
        .tasks
        .iter()
        .map(|task| task.atom.row.unwrap())
        .collect();
    rows.sort_unstable();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, rng_seed: RngSeed::Fixed(11), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plain_campaign_is_the_design_rounded(
        k in 1_usize..6, n in 10_usize..80, budget in 40_usize..3000, seed in any::<u64>(),
    ) {
        let (rows, targets) = (gaussian(n * k, seed), gaussian(2 * k, seed ^ 1));
        let candidates = Candidates::new(k, &rows[..]).unwrap();
        let need = Need::Targets { rows: &targets, weights: None };
        let plan = Campaign::new(Criterion::Trace, need, budget as f64).plan(&candidates).unwrap();
        let design = solve(&candidates, &Problem::new(Criterion::Trace, need)).unwrap();
        prop_assert_eq!(samples(&plan), budget);
        prop_assert!((plan.objective / design.objective - 1.0).abs() < 2e-4);
        prop_assert!(plan.gap().unwrap() < 2e-4);
        // The reported value is that of the whole samples, and the bound holds for it.
        let whole = value(&plan, k, None, &targets) * budget as f64;
        prop_assert!((plan.plan_objective / whole - 1.0).abs() < 1e-6, "{} {whole}", plan.plan_objective);
        prop_assert!(whole >= plan.lower_bound.unwrap() * (1.0 - 1e-9));
        // Efficient apportionment loses at most a factor of 1/(1 − l/n).
        let tasks = design.atoms.len() as f64;
        prop_assert!(plan.rounding_factor() <= 1.0 / (1.0 - tasks / budget as f64).max(1e-3) * 1.001);
        let shares: f64 = plan.tasks.iter().map(|task| task.atom.risk_share).sum();
        prop_assert!((shares - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_there_already_never_hurts(k in 1_usize..5, seed in any::<u64>(), scale in 0.0_f64..3.0) {
        let (rows, targets, earlier) =
            (gaussian(30 * k, seed), gaussian(k, seed ^ 1), gaussian(2 * k, seed ^ 2));
        let n = 10_f64.powf(scale);
        let given = Mat::from_fn(k, k, |i, j| {
            n * (earlier[i] * earlier[j] + earlier[k + i] * earlier[k + j])
        });
        let candidates = Candidates::new(k, &rows[..]).unwrap();
        let need = Need::Targets { rows: &targets, weights: None };
        let blind = Campaign::new(Criterion::Trace, need, 500.0);
        let knowing = Campaign { given: Some(given.as_ref()), ..blind.clone() };
        let (blind, knowing) = (blind.plan(&candidates).unwrap(), knowing.plan(&candidates).unwrap());
        let total = |plan: &CampaignPlan| value(plan, k, Some(&given), &targets);
        // Rounding of 500 samples over a few tasks and the solver's tolerance are all that may differ.
        prop_assert!(total(&knowing) <= total(&blind) * 1.02, "{} {}", total(&knowing), total(&blind));
        prop_assert!((knowing.plan_objective / (500.0 * total(&knowing)) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn limits_are_kept(k in 1_usize..5, seed in any::<u64>(), cap in 3_usize..60) {
        let n = 40;
        let (rows, targets) = (gaussian(n * k, seed), gaussian(k, seed ^ 1));
        let costs: Vec<f64> = gaussian(n, seed ^ 3).iter().map(|x| 0.2 + x.abs()).collect();
        let candidates = Candidates::new(k, &rows[..]).unwrap().with_costs(costs.clone()).unwrap();
        let capacities: Vec<Option<usize>> =
            (0..n).map(|i| if i % 3 == 0 { None } else { Some(cap + i) }).collect();
        let campaign = Campaign {
            capacities: Some(&capacities),
            required: &[4, 5],
            forbidden: &[6, 7, 9],
            min_samples: 3,
            ..Campaign::new(Criterion::Trace, Need::Targets { rows: &targets, weights: None }, 300.0)
        };
        let plan = campaign.plan(&candidates).unwrap();
        let rows = rows_of(&plan);
        prop_assert!(rows.contains(&4) && rows.contains(&5));
        prop_assert!(!rows.iter().any(|row| [6, 7, 9].contains(row)));
        let mut spent = 0.0;
        for task in &plan.tasks {
            let row = task.atom.row.unwrap();
            prop_assert!(task.n >= 3 && task.n <= capacities[row].unwrap_or(usize::MAX));
            spent += task.n as f64 * costs[row];
        }
        prop_assert!(spent <= 300.0 * (1.0 + 1e-9) && (plan.spent - spent).abs() < 1e-6);
        // What is left does not buy another sample of any task in use.
        let open = plan.tasks.iter().filter(|task| {
            task.n < capacities[task.atom.row.unwrap()].unwrap_or(usize::MAX)
        });
        for task in open {
            prop_assert!(300.0 - spent < costs[task.atom.row.unwrap()] + 1e-6);
        }
    }

    /// Against all subsets of a small table.
    #[test]
    fn a_cap_on_tasks_is_nearly_as_good_as_the_best_subset(seed in any::<u64>()) {
        let (k, n, most) = (2, 9, 2);
        let (rows, targets) = (gaussian(n * k, seed), gaussian(3 * k, seed ^ 1));
        let candidates = Candidates::new(k, &rows[..]).unwrap();
        let need = Need::Targets { rows: &targets, weights: None };
        let campaign = Campaign { max_tasks: Some(most), ..Campaign::new(Criterion::Trace, need, 1000.0) };
        let plan = campaign.plan(&candidates).unwrap();
        prop_assert!(plan.tasks.len() <= most);
        let mut best = f64::INFINITY;
        for a in 0..n {
            for b in 0..a {
                let pair = [&rows[a * k..(a + 1) * k], &rows[b * k..(b + 1) * k]].concat();
                let table = Candidates::new(k, &pair[..]).unwrap();
                best = best.min(solve(&table, &Problem::new(Criterion::Trace, need)).unwrap().objective);
            }
        }
        prop_assert!(plan.objective >= best * (1.0 - 1e-3));
        prop_assert!(plan.objective <= best * 1.05, "{} {best}", plan.objective);
    }
}

#[test]
fn switches_that_cost_more_leave_fewer_tasks() {
    let (k, n) = (4, 200);
    let (rows, targets) = (gaussian(n * k, 5), gaussian(3 * k, 6));
    let candidates = Candidates::new(k, &rows[..]).unwrap();
    let need = Need::Targets {
        rows: &targets,
        weights: None,
    };
    let mut before = usize::MAX;
    for switch_cost in [0.0, 5.0, 50.0, 200.0] {
        let campaign = Campaign {
            switch_cost,
            ..Campaign::new(Criterion::Trace, need, 1000.0)
        };
        let plan = campaign.plan(&candidates).unwrap();
        assert!(plan.tasks.len() <= before, "{switch_cost}");
        before = plan.tasks.len();
        let spent = samples(&plan) as f64 + switch_cost * plan.tasks.len() as f64;
        assert!(spent <= 1000.0 && spent > 999.0 && (spent - plan.spent).abs() < 1e-9);
        assert!(plan.plan_objective >= plan.lower_bound.unwrap());
    }
    assert!(before <= k);
}

#[test]
fn logs_that_run_out_leave_money() {
    let rows = [1.0, 0.0, 0.0, 1.0, 0.6, 0.8];
    let candidates = Candidates::new(2, &rows[..]).unwrap();
    let capacities = [Some(10), Some(20), Some(5)];
    let campaign = Campaign {
        capacities: Some(&capacities),
        ..Campaign::new(Criterion::Trace, Need::Everything, 1000.0)
    };
    let plan = campaign.plan(&candidates).unwrap();
    assert_eq!(samples(&plan), 35);
    assert!((plan.spent - 35.0).abs() < 1e-9);
}

#[test]
fn a_space_is_planned_for_by_the_tasks_found_in_it() {
    let space = Space::boxed(vec![-1.0], vec![1.0]).unwrap();
    let features = FeatureMap::polynomial(1, 2, true).unwrap();
    let mut rng = derive(0, Purpose::Search, &[]);
    let campaign = Campaign::new(Criterion::Trace, Need::Everything, 100.0);
    let plan = campaign
        .plan_space(&space, &features, None, &mut rng)
        .unwrap();
    assert_eq!((samples(&plan), plan.lower_bound), (100, None));
    // The A-optimal design for a quadratic: a quarter, a half and a quarter at −1, 0 and 1.
    for task in &plan.tasks {
        let wanted = if task.atom.task[0].abs() < 0.1 {
            50.0
        } else {
            25.0
        };
        assert!(
            (task.n as f64 - wanted).abs() <= 2.0,
            "{:?}: {}",
            task.atom.task,
            task.n
        );
    }
    let problem = Problem::new(Criterion::Trace, Need::Everything);
    let design = solve_space(&space, &features, None, &problem, &mut rng).unwrap();
    assert!((plan.objective / design.objective - 1.0).abs() < 1e-3);
}

#[test]
fn what_cannot_be_met_is_refused_with_a_reason() {
    let rows = gaussian(20 * 3, 1);
    let candidates = Candidates::new(3, &rows[..]).unwrap();
    let target = [1.0, 1.0, 1.0];
    let plain = Campaign::new(
        Criterion::Trace,
        Need::Targets {
            rows: &target,
            weights: None,
        },
        100.0,
    );
    let refused = |campaign: Campaign<'_>| -> String {
        match campaign.plan(&candidates) {
            Err(Error::Setting { key, problem }) => format!("{key} {problem}"),
            Err(Error::Value {
                key,
                value,
                problem,
            }) => format!("{key} {value} {problem}"),
            other => format!("{other:?}"),
        }
    };
    for (campaign, says) in [
        (
            Campaign {
                budget: 0.0,
                ..plain.clone()
            },
            "budget is 0",
        ),
        (
            Campaign {
                budget: f64::NAN,
                ..plain.clone()
            },
            "budget is NaN",
        ),
        (
            Campaign {
                switch_cost: -1.0,
                ..plain.clone()
            },
            "switch_cost is -1",
        ),
        (
            Campaign {
                max_tasks: Some(0),
                ..plain.clone()
            },
            "max_tasks is 0",
        ),
        (
            Campaign {
                max_tasks: Some(2),
                ..plain.clone()
            },
            "max_tasks 2 is too few, because no 2 tasks",
        ),
        (
            Campaign {
                switch_cost: 60.0,
                ..plain.clone()
            },
            "budget 100 does not pay",
        ),
        (
            Campaign {
                required: &[20],
                ..plain.clone()
            },
            "required names row 20",
        ),
        (
            Campaign {
                required: &[3],
                forbidden: &[3],
                ..plain.clone()
            },
            "required names row 3, which is forbidden",
        ),
        (
            Campaign {
                required: &[1, 2, 3],
                max_tasks: Some(2),
                ..plain.clone()
            },
            "max_tasks is below the 3",
        ),
        (
            Campaign {
                required: &[1, 2],
                min_samples: 60,
                ..plain.clone()
            },
            "budget 100 does not pay",
        ),
        (
            Campaign {
                capacities: Some(&[Some(0); 20]),
                ..plain.clone()
            },
            "candidates are all forbidden",
        ),
    ] {
        let message = refused(campaign);
        assert!(message.starts_with(says), "{says}: {message}");
    }
    let short = [Some(1); 3];
    let campaign = Campaign {
        capacities: Some(&short),
        ..plain
    };
    assert!(matches!(
        campaign.plan(&candidates),
        Err(Error::WrongLength { .. })
    ));
}

#[test]
fn all_directions_stay_needed_whatever_is_left_out() {
    let rows: Vec<f64> = (0..25)
        .map(|i| if i % 6 == 0 { 1.0 } else { 0.0 })
        .collect();
    let candidates = Candidates::new(5, &rows[..]).unwrap();
    let plain = Campaign::new(Criterion::Trace, Need::Everything, 100.0);
    let bound = plain.plan(&candidates).unwrap().lower_bound.unwrap();
    assert!((bound / 25.0 - 1.0).abs() < 1e-3, "{bound}");
    for campaign in [
        Campaign {
            switch_cost: 1.0,
            ..plain.clone()
        },
        Campaign {
            min_samples: 5,
            ..plain.clone()
        },
    ] {
        let plan = campaign.plan(&candidates).unwrap();
        assert_eq!(plan.tasks.len(), 5);
        assert!(
            plan.objective >= bound * (1.0 - 1e-9)
                && plan.lower_bound.unwrap() >= bound * (1.0 - 1e-3)
        );
    }
    for campaign in [
        Campaign {
            max_tasks: Some(2),
            ..plain.clone()
        },
        Campaign {
            budget: 3.0,
            ..plain.clone()
        },
    ] {
        assert!(matches!(
            campaign.plan(&candidates),
            Err(Error::Setting { .. } | Error::Value { .. })
        ));
    }
}

#[test]
fn a_task_required_twice_is_required_once() {
    let rows = [1.0, 0.0, 0.0, 1.0, 0.6, 0.6];
    let candidates = Candidates::new(2, &rows[..]).unwrap();
    let need = Need::Targets {
        rows: &[1.0, 1.0],
        weights: None,
    };
    let plan = |required: &[usize]| {
        let campaign = Campaign {
            required,
            min_samples: 6,
            ..Campaign::new(Criterion::Trace, need, 20.0)
        };
        campaign.plan(&candidates).unwrap()
    };
    assert_eq!(plan(&[0, 0]), plan(&[0]));
}

#[test]
fn a_list_is_planned_like_its_table() {
    let tasks = [vec![1.0, 0.0], vec![0.0, 1.0], vec![0.5, 0.5]];
    let need = Need::Targets {
        rows: &[1.0, 1.0],
        weights: None,
    };
    let campaign = Campaign {
        switch_cost: 60.0,
        ..Campaign::new(Criterion::Trace, need, 100.0)
    };
    let features = FeatureMap::identity(2).unwrap();
    let mut rng = derive(0, Purpose::Search, &[]);
    let plan = campaign
        .plan_space(&Space::list(&tasks).unwrap(), &features, None, &mut rng)
        .unwrap();
    assert_eq!((plan.tasks.len(), &plan.tasks[0].atom.task), (1, &tasks[2]));
}
