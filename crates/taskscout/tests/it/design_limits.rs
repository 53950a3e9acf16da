//! Designs with information given, with costs and with limits, and input that has to be refused.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::design;

use crate::common::{close, normals, rng};
use design::{BOTH, FINE, KINDS, Wanted, check, information, nearby, uniform, value, weights};
use faer::{Mat, mat};
use proptest::prelude::*;
use taskscout::Error;
use taskscout::design::{Candidates, Criterion, Need, Problem, solve};
use taskscout::rng::Rng;

fn scaled(rows: &[f64], by: f64) -> Vec<f64> {
    rows.iter().map(|x| x * by).collect()
}

fn moment_of(rows: &[f64], k: usize) -> Mat<f64> {
    Wanted::Targets(rows.to_vec(), None).moment(k)
}

proptest! {
    #![proptest_config(crate::common::cases(32))]

    #[test]
    fn what_is_given_is_used(
        (k, n, rank) in (2_usize..6, 20_usize..200, 1_usize..6),
        (kind, which) in (0..KINDS, 0_usize..2),
        size in prop_oneof![Just(1e-3), Just(1.0), Just(1e3)],
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let candidates = Candidates::new(k, normals(n * k, rng)).unwrap();
        let wanted = Wanted::draw(kind, k, rng);
        let moment = wanted.moment(k);
        let given = moment_of(&scaled(&normals(rank.min(k) * k, rng), size), k);
        let blind = wanted.problem(BOTH[which], FINE[which]);
        let problem = Problem { given: Some(given.as_ref()), ..blind };
        let design = solve(&candidates, &problem).unwrap();
        let found = check(&candidates, &problem, moment.as_ref(), &design);
        let total = |weights: &[(usize, f64)]| {
            value(BOTH[which], (information(&candidates, weights) + &given).as_ref(), moment.as_ref())
        };
        let ignoring = solve(&candidates, &blind).unwrap();
        prop_assert!(found <= total(&weights(&ignoring)) * (1.0 + 1.1 * FINE[which]));
        // Near optima, the bound is tested hardest.
        let lower = design.lower_bound.unwrap() * (1.0 - 1e-9);
        prop_assert!(lower <= total(&nearby(&weights(&design), 0.01, rng)));
        prop_assert!(lower <= total(&uniform(n)));
        prop_assert!(found <= ignoring.objective * (1.0 + 1.1 * FINE[which]));
    }

    #[test]
    fn limits_hold_and_their_bound_is_true(
        (k, n) in (2_usize..6, 30_usize..100),
        (kind, which) in (0..KINDS, 0_usize..2),
        capacity in prop_oneof![Just(1.0 + 1e-6), Just(1.5), Just(8.0)],
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let rows = normals(n * k, rng);
        let raw: Vec<f64> = normals(n, rng).iter().enumerate().map(|(i, x)| if i % 5 == 0 { 0.0 } else { 0.2 + x.abs() }).collect();
        let costs: Vec<f64> = normals(n, rng).iter().map(|x| x.exp()).collect();
        let total: f64 = raw.iter().sum();
        let limits: Vec<f64> = raw.iter().map(|x| x * capacity / total).collect();
        let candidates = Candidates::new(k, rows).unwrap().with_costs(costs).unwrap().with_limits(limits.clone()).unwrap();
        let wanted = Wanted::draw(kind, k, rng);
        let moment = wanted.moment(k);
        let problem = wanted.problem(BOTH[which], FINE[which]);
        let design = solve(&candidates, &problem).unwrap();
        check(&candidates, &problem, moment.as_ref(), &design);
        let own = weights(&design);
        prop_assert!(own.iter().all(|&(row, _)| row % 5 != 0));
        let lower = design.lower_bound.unwrap() * (1.0 - 1e-9);
        for step in [1.0, 0.1, 0.01, 0.001] {
            let other = filled(&limits, rng);
            let mix = |of: &[(usize, f64)], part: f64| of.iter().map(|&(row, q)| (row, q * part)).collect::<Vec<_>>();
            let mixed = [mix(&own, 1.0 - step), mix(&other, step)].concat();
            prop_assert!(lower <= value(BOTH[which], information(&candidates, &mixed).as_ref(), moment.as_ref()), "{step}");
        }
    }

    #[test]
    fn costs_divide_information(
        (k, n) in (2_usize..6, 30_usize..200),
        (kind, which) in (0..KINDS, 0_usize..2),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let rows = normals(n * k, rng);
        let costs: Vec<f64> = normals(n, rng).iter().map(|x| x.exp()).collect();
        let wanted = Wanted::draw(kind, k, rng);
        let problem = wanted.problem(BOTH[which], FINE[which]);
        let solve = |rows: Vec<f64>, costs: Vec<f64>| {
            let candidates = Candidates::new(k, rows).unwrap().with_costs(costs).unwrap();
            let design = solve(&candidates, &problem).unwrap();
            check(&candidates, &problem, wanted.moment(k).as_ref(), &design);
            design
        };
        let plain = solve(rows.clone(), costs.clone());
        let double = solve(rows.clone(), scaled(&costs, 2.0));
        prop_assert!(close(double.objective, 2.0 * plain.objective, 1.1 * FINE[which]));
        // Everybody gets a twin at half the cost: only twins are used, and the value halves.
        let twins = solve([rows.clone(), rows].concat(), [costs.clone(), scaled(&costs, 0.5)].concat());
        prop_assert!(close(twins.objective, 0.5 * plain.objective, 1.1 * FINE[which]));
        let expensive: f64 = weights(&twins).iter().filter(|pair| pair.0 < n).map(|pair| pair.1).sum();
        // Weight on the dear twin loses half its worth: more than the gap allows.
        prop_assert!(expensive <= 4.0 * FINE[which], "{expensive}");
    }
}

/// Weights up to the limits, in a random order.
fn filled(limits: &[f64], rng: &mut Rng) -> Vec<(usize, f64)> {
    let keys = normals(limits.len(), rng);
    let mut order: Vec<usize> = (0..limits.len()).collect();
    order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    let mut left = 1.0_f64;
    let fill = |row: usize| {
        let share = limits[row].min(left);
        left -= share;
        (row, share)
    };
    order.into_iter().map(fill).collect()
}

/// What is known already may lie where no candidate leads.
#[test]
fn what_is_given_may_reach_further_than_the_candidates() {
    let rng = &mut rng(6);
    let (k, n) = (4, 50);
    let mut rows = normals(n * k, rng);
    rows.chunks_exact_mut(k).for_each(|row| row[3] = 0.0);
    let candidates = Candidates::new(k, rows).unwrap();
    let given = moment_of(&normals(6 * k, rng), k);
    for (criterion, fine) in BOTH.into_iter().zip(FINE) {
        for kind in 0..KINDS {
            let wanted = Wanted::draw(kind, k, rng);
            let problem = Problem {
                given: Some(given.as_ref()),
                ..wanted.problem(criterion, fine)
            };
            let design = solve(&candidates, &problem).unwrap();
            check(&candidates, &problem, wanted.moment(k).as_ref(), &design);
        }
    }
}

#[test]
fn candidates_left_out_are_not_used() {
    let k = 3;
    let rows = normals(40 * k, &mut rng(2));
    // The strongest ones: without them the design is that over the others alone.
    let strong = scaled(&rows, 3.0);
    let plain = Candidates::new(k, rows.clone()).unwrap();
    let limits = [vec![0.0; 40], vec![1.0; 40]].concat();
    let more = Candidates::new(k, [strong, rows].concat()).unwrap();
    let more = more.with_limits(limits).unwrap();
    for (criterion, fine) in BOTH.into_iter().zip(FINE) {
        let problem = Problem {
            tolerance: fine,
            ..Problem::new(criterion, Need::Everything)
        };
        let (plain, more) = (
            solve(&plain, &problem).unwrap(),
            solve(&more, &problem).unwrap(),
        );
        assert!(close(plain.objective, more.objective, 1.1 * fine));
        assert!(weights(&more).iter().all(|pair| pair.0 >= 40));
    }
}

#[test]
fn limits_that_leave_no_choice_are_spent() {
    let rows = normals(4 * 3, &mut rng(1));
    let limits = vec![0.4, 0.3, 0.2, 0.1];
    let candidates = Candidates::new(3, rows)
        .unwrap()
        .with_limits(limits.clone())
        .unwrap();
    for criterion in BOTH {
        let problem = Problem::new(criterion, Need::Everything);
        let design = solve(&candidates, &problem).unwrap();
        let moment = Mat::<f64>::identity(3, 3);
        check(&candidates, &problem, moment.as_ref(), &design);
        assert!(
            weights(&design)
                .iter()
                .all(|&(row, q)| close(q, limits[row], 1e-8))
        );
    }
}

#[test]
fn broken_input_is_refused() {
    let setting = |key: &str, result: Result<(), Error>| match result {
        Err(Error::Setting { key: found, .. }) => assert_eq!(found, key),
        other => panic!("{key}: {other:?}"),
    };
    let table = |dim: usize, rows: &[f64]| Candidates::new(dim, rows.to_vec()).map(drop);
    setting("candidates", table(2, &[]));
    setting("candidates", table(0, &[1.0]));
    setting("candidates", table(2, &[0.0; 6]));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = table(2, &[1.0, 2.0, 3.0, bad]).unwrap_err();
        assert!(
            matches!(&error, Error::NotFinite { place, .. } if place == "candidate 1, value 1"),
            "{error:?}"
        );
    }
    assert!(matches!(
        table(2, &[1.0, 2.0, 3.0]),
        Err(Error::WrongLength {
            expected: 2,
            found: 1,
            ..
        })
    ));

    let candidates = Candidates::new(2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0]).unwrap();
    let costs = |costs: &[f64]| candidates.clone().with_costs(costs.to_vec()).map(drop);
    let limits = |limits: &[f64]| candidates.clone().with_limits(limits.to_vec()).map(drop);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        setting("costs", costs(&[1.0, bad, 1.0]));
    }
    setting("limits", limits(&[0.3, 0.3, 0.3]));
    setting("limits", limits(&[1.0, -0.1, 1.0]));
    setting("limits", limits(&[1.0, f64::NAN, 1.0]));
    assert!(matches!(
        costs(&[1.0]),
        Err(Error::WrongLength {
            expected: 3,
            found: 1,
            ..
        })
    ));
    assert!(matches!(
        limits(&[1.0; 4]),
        Err(Error::WrongLength {
            expected: 3,
            found: 4,
            ..
        })
    ));

    let good = Problem::new(Criterion::Trace, Need::Everything);
    let run = |problem: &Problem<'_>| solve(&candidates, problem).map(drop);
    for tolerance in [0.0, 1.0, -1e-3, f64::NAN, f64::INFINITY] {
        setting("tolerance", run(&Problem { tolerance, ..good }));
    }
    setting(
        "max_iterations",
        run(&Problem {
            max_iterations: 0,
            ..good
        }),
    );
    let targets = |rows: &[f64], weights: Option<&[f64]>| {
        run(&Problem::new(
            Criterion::Trace,
            Need::Targets { rows, weights },
        ))
    };
    setting("target", targets(&[0.0, 0.0], None));
    setting("target weights", targets(&[1.0, 0.0], Some(&[0.0])));
    setting("target weights", targets(&[1.0, 0.0], Some(&[f64::NAN])));
    for rows in [&[][..], &[1.0, 2.0, 3.0]] {
        assert!(matches!(
            targets(rows, None),
            Err(Error::WrongLength { .. })
        ));
    }
    assert!(matches!(
        targets(&[1.0, f64::NAN], None),
        Err(Error::NotFinite { .. })
    ));
    assert!(matches!(
        targets(&[1.0, 0.0], Some(&[1.0, 1.0])),
        Err(Error::WrongLength { .. })
    ));

    let (wide, negative) = (Mat::<f64>::identity(3, 3), mat![[1.0, 0.0], [0.0, -1.0]]);
    let broken = mat![[1.0, 0.0], [0.0, f64::NAN]];
    let moment = |moment: &Mat<f64>| {
        run(&Problem::new(
            Criterion::Trace,
            Need::Moment(moment.as_ref()),
        ))
    };
    let given = |given: &Mat<f64>| {
        run(&Problem {
            given: Some(given.as_ref()),
            ..good
        })
    };
    assert!(matches!(
        moment(&wide),
        Err(Error::WrongLength {
            expected: 2,
            found: 3,
            ..
        })
    ));
    setting("target", moment(&negative));
    setting("target", moment(&Mat::zeros(2, 2)));
    setting("target", moment(&broken));
    assert!(matches!(
        given(&wide),
        Err(Error::WrongLength {
            expected: 2,
            found: 3,
            ..
        })
    ));
    setting("given", given(&negative));
    setting("given", given(&broken));
}
