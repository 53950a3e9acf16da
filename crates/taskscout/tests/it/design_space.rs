//! Designs over task spaces: known optima, agreement with tables, and where a bound is claimed.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::design;

use crate::common::{apply, close, dot, gaussian, normals, on_threads, rng};
use design::{BOTH, FINE, KINDS, Wanted, value};
use faer::{Mat, MatRef};
use proptest::prelude::*;
use taskscout::Error;
use taskscout::design::{Candidates, Criterion, Design, Need, Problem, ball, solve, solve_space};
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::space::{LinearConstraint, Space, TaskSpace as _};

const TOLERANCE: f64 = 1e-5;

/// A design over a space, after a check of all that it says about itself.
fn checked(
    space: &Space,
    features: &FeatureMap,
    map: Option<MatRef<'_, f64>>,
    problem: &Problem<'_>,
    moment: MatRef<'_, f64>,
) -> Design {
    let design = solve_space(space, features, map, problem, &mut rng(1)).unwrap();
    let total: f64 = design.atoms.iter().map(|atom| atom.weight).sum();
    assert!((total - 1.0).abs() < 1e-12, "weights sum to {total}");
    for atom in &design.atoms {
        space.check(&atom.task).unwrap();
        let raw = apply_row(features, &atom.task);
        let embedding = map.map_or(raw.clone(), |map| apply(map, &raw));
        // A table's embeddings come from products of whole blocks.
        let size = dot(&embedding, &embedding).sqrt().max(1.0);
        assert!(
            embedding
                .iter()
                .zip(&atom.embedding)
                .all(|(a, b)| (a - b).abs() <= 1e-12 * size)
        );
    }
    let mut sum = design.information();
    if let Some(given) = problem.given {
        sum += given;
    }
    let value = value(problem.criterion, sum.as_ref(), moment);
    assert!(
        close(design.objective, value, 1e-6),
        "claims {}, is {value}",
        design.objective
    );
    if let Some(gap) = design.gap() {
        assert!((0.0..=problem.tolerance).contains(&gap), "gap {gap}");
    }
    design
}

/// Weight within 0.05 of a task, in one parameter.
fn weight_near(design: &Design, parameter: usize, place: f64) -> f64 {
    let near = design
        .atoms
        .iter()
        .filter(|atom| (atom.task[parameter] - place).abs() < 0.05);
    near.map(|atom| atom.weight).sum()
}

/// Quadratic regression on [−1, 1] is best at −1, 0 and 1. For the worst direction the value is the
/// sum of the squared coefficients of the Chebyshev polynomial 2x² − 1; for one target `Σ ν_i ψ(x_i)`
/// it is `‖ν‖₁²`, with weights `|ν|`.
#[test]
fn a_quadratic_has_its_textbook_designs() {
    let space = Space::boxed(vec![-1.0], vec![1.0]).unwrap();
    let features = FeatureMap::polynomial(1, 2, true).unwrap();
    // ν = (1, −3, 3) and ν = (½, −1, ½).
    let extrapolate = Wanted::Targets(vec![1.0, 2.0, 4.0], None);
    let curvature = Wanted::Targets(vec![0.0, 0.0, 1.0], None);
    let everything = Wanted::Everything;
    let cases = [
        (Criterion::Trace, &everything, 8.0, [0.25, 0.5, 0.25]),
        (Criterion::MaxEigenvalue, &everything, 5.0, [0.2, 0.6, 0.2]),
        (Criterion::Trace, &curvature, 4.0, [0.25, 0.5, 0.25]),
        (
            Criterion::MaxEigenvalue,
            &extrapolate,
            49.0,
            [1.0 / 7.0, 3.0 / 7.0, 3.0 / 7.0],
        ),
    ];
    for (criterion, wanted, expected, shares) in cases {
        let problem = wanted.problem(criterion, TOLERANCE);
        let design = checked(&space, &features, None, &problem, wanted.moment(3).as_ref());
        assert_eq!(design.lower_bound, None);
        // The search is not certified, yet its features are smooth: what it misses is of second
        // order, far below the tolerance.
        assert!(
            close(design.objective, expected, 2.0 * TOLERANCE),
            "{}",
            design.objective
        );
        for (place, share) in [-1.0, 0.0, 1.0].into_iter().zip(shares) {
            // Values are quadratic at their minimum: weights are off by about √tolerance.
            assert!(
                (weight_near(&design, 0, place) - share).abs() < 0.01,
                "{criterion} {place}"
            );
        }
    }
}

#[test]
fn every_category_gets_its_own_design() {
    let parts = vec![
        Space::one_hot(3).unwrap(),
        Space::boxed(vec![-1.0], vec![1.0]).unwrap(),
    ];
    let space = Space::product(parts).unwrap();
    let features = FeatureMap::one_hot_polynomial(3, 1, 2, true).unwrap();
    // Three quadratics at once: weights of a third each, so (3 √8)² and 3 · 5.
    for (criterion, expected) in [(Criterion::Trace, 72.0), (Criterion::MaxEigenvalue, 15.0)] {
        let problem = Problem {
            tolerance: TOLERANCE,
            ..Problem::new(criterion, Need::Everything)
        };
        let moment = Mat::<f64>::identity(9, 9);
        let design = checked(&space, &features, None, &problem, moment.as_ref());
        assert!(
            close(design.objective, expected, 2.0 * TOLERANCE),
            "{}",
            design.objective
        );
        for category in 0..3 {
            assert!((weight_near(&design, category, 1.0) - 1.0 / 3.0).abs() < 0.01);
        }
        assert_eq!(design.lower_bound, None);
    }
}

proptest! {
    #![proptest_config(crate::common::cases(16))]

    #[test]
    fn a_ball_is_worth_its_closed_form(
        (k, extra) in (1_usize..5, 0_usize..3),
        (kind, which) in (0..KINDS, 0_usize..2),
        radius in 0.3_f64..3.0,
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let d = k + extra;
        let (map, wanted) = (gaussian(k, d, rng), Wanted::draw(kind, k, rng));
        let moment = wanted.moment(k);
        let (space, features) = (Space::ball(d, radius).unwrap(), FeatureMap::identity(d).unwrap());
        let problem = wanted.problem(BOTH[which], FINE[which]);
        let design = checked(&space, &features, Some(map.as_ref()), &problem, moment.as_ref());
        let best = ball::optimal(map.as_ref(), moment.as_ref(), BOTH[which], radius).unwrap();
        // 1e-9: rounding of a closed form.
        prop_assert!(design.objective >= best.objective * (1.0 - 1e-9));
        prop_assert!(design.lower_bound.unwrap() <= best.objective * (1.0 + 1e-9));
    }

    /// The best task of a box is a corner, so its design is that over the list of corners.
    #[test]
    fn a_box_is_worth_its_corners(
        (k, extra) in (1_usize..4, 0_usize..3),
        (kind, which) in (0..KINDS, 0_usize..2),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let d = k + extra;
        let low: Vec<f64> = normals(d, rng);
        let high: Vec<f64> = low.iter().zip(normals(d, rng)).map(|(low, x)| low + 0.5 + x.abs()).collect();
        let corner = |mask: usize| (0..d).map(|i| [low[i], high[i]][mask >> i & 1]).collect::<Vec<f64>>();
        let corners: Vec<Vec<f64>> = (0..1 << d).map(corner).collect();
        let (space, list) = (Space::boxed(low, high).unwrap(), Space::list(&corners).unwrap());
        let features = FeatureMap::identity(d).unwrap();
        let (map, wanted) = (gaussian(k, d, rng), Wanted::draw(kind, k, rng));
        let problem = wanted.problem(BOTH[which], FINE[which]);
        let moment = wanted.moment(k);
        let boxed = checked(&space, &features, Some(map.as_ref()), &problem, moment.as_ref());
        let listed = checked(&list, &features, Some(map.as_ref()), &problem, moment.as_ref());
        prop_assert!(boxed.lower_bound.unwrap() <= listed.objective * (1.0 + 1e-9));
        prop_assert!(listed.lower_bound.unwrap() <= boxed.objective * (1.0 + 1e-9));
        // A warm start with tasks, one of them outside, ends at the same value.
        let mut start = boxed.atoms.clone();
        start[0].task[0] += 100.0;
        let again = checked(&space, &features, Some(map.as_ref()), &Problem { start: &start, ..problem }, moment.as_ref());
        prop_assert!(close(again.objective, boxed.objective, 1.1 * FINE[which]));
    }

    /// Finite spaces are tables.
    #[test]
    fn a_list_is_the_table_of_its_embeddings(
        (k, n) in (2_usize..4, 10_usize..100),
        (kind, which) in (0..KINDS, 0_usize..2),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let tasks: Vec<Vec<f64>> = (0..n).map(|_| normals(2, rng)).collect();
        let space = Space::list(&tasks).unwrap();
        let features = FeatureMap::polynomial(2, 2, true).unwrap();
        let (map, wanted) = (gaussian(k, features.dim(), rng), Wanted::draw(kind, k, rng));
        let problem = wanted.problem(BOTH[which], FINE[which]);
        let design = checked(&space, &features, Some(map.as_ref()), &problem, wanted.moment(k).as_ref());
        let embed = |task: &Vec<f64>| apply(map.as_ref(), &apply_row(&features, task));
        let rows: Vec<f64> = tasks.iter().flat_map(embed).collect();
        let table = solve(&Candidates::new(k, rows).unwrap(), &problem).unwrap();
        prop_assert!(close(design.objective, table.objective, 1.1 * FINE[which]));
        prop_assert!(design.gap().is_some());
        for atom in &design.atoms {
            prop_assert_eq!(&atom.task, &tasks[atom.row.unwrap()]);
        }
    }

    #[test]
    fn what_is_given_helps_a_search_too(
        k in 2_usize..5,
        (kind, which) in (0..KINDS, 0_usize..2),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let space = Space::boxed(vec![-1.0, 0.0], vec![1.0, 3.0]).unwrap();
        let features = FeatureMap::polynomial(2, 2, true).unwrap();
        let (map, wanted) = (gaussian(k, 6, rng), Wanted::draw(kind, k, rng));
        let (problem, moment) = (wanted.problem(BOTH[which], FINE[which]), wanted.moment(k));
        let design = checked(&space, &features, Some(map.as_ref()), &problem, moment.as_ref());
        prop_assert_eq!(design.lower_bound, None);
        // As much again as the design has: its value halves, and the new one is no worse.
        let given = design.information();
        let given = Problem { given: Some(given.as_ref()), start: &design.atoms, ..problem };
        let more = checked(&space, &features, Some(map.as_ref()), &given, moment.as_ref());
        prop_assert!(more.objective <= 0.5 * design.objective * (1.0 + 1.1 * FINE[which]), "{} {}", more.objective, design.objective);
    }
}

#[test]
fn a_one_hot_space_is_a_table_of_unit_vectors() {
    let (space, features) = (Space::one_hot(5).unwrap(), FeatureMap::identity(5).unwrap());
    let wanted = Wanted::Targets(vec![1.0, -0.5, 0.0, 2.0, 0.5], None);
    for criterion in BOTH {
        let problem = wanted.problem(criterion, TOLERANCE);
        let design = checked(&space, &features, None, &problem, wanted.moment(5).as_ref());
        assert!(close(design.objective, 16.0, 1.1 * TOLERANCE) && design.lower_bound.is_some());
        let rows: Vec<f64> = (0..5).flat_map(|i| crate::common::unit(5, i)).collect();
        let table = solve(&Candidates::new(5, rows).unwrap(), &problem).unwrap();
        assert_eq!(design, table);
    }
}

#[test]
fn tasks_satisfy_the_constraints() {
    let square = Space::boxed(vec![0.0, 0.0], vec![1.0, 1.0]).unwrap();
    let sum = LinearConstraint {
        normal: vec![1.0, 1.0],
        bound: 1.0,
    };
    let space = Space::constrained(square, vec![sum]).unwrap();
    let identity = FeatureMap::identity(2).unwrap();
    // Only (1, 0) and (0, 1) are extreme and not zero: weights of a half.
    for (criterion, expected) in [(Criterion::Trace, 4.0), (Criterion::MaxEigenvalue, 2.0)] {
        let problem = Problem {
            tolerance: TOLERANCE,
            ..Problem::new(criterion, Need::Everything)
        };
        let moment = Mat::<f64>::identity(2, 2);
        let design = checked(&space, &identity, None, &problem, moment.as_ref());
        assert!(
            close(design.objective, expected, 1e-4),
            "{criterion}: {}",
            design.objective
        );
        let quadratic = FeatureMap::polynomial(2, 2, true).unwrap();
        let moment = Mat::<f64>::identity(6, 6);
        let design = checked(&space, &quadratic, None, &problem, moment.as_ref());
        assert!(
            design
                .atoms
                .iter()
                .all(|atom| atom.task[0] + atom.task[1] <= 1.0 + 1e-9)
        );
    }
}

#[test]
fn a_design_over_a_space_does_not_depend_on_threads() {
    let space = Space::boxed(vec![-1.0; 3], vec![1.0; 3]).unwrap();
    let features = FeatureMap::polynomial(3, 2, true).unwrap();
    let problem = Problem::new(Criterion::Trace, Need::Everything);
    let text = |threads: usize| {
        on_threads(threads, || {
            let design = solve_space(&space, &features, None, &problem, &mut rng(3)).unwrap();
            serde_json::to_string(&design).unwrap()
        })
    };
    let one = text(1);
    assert_eq!(one, text(2));
    assert_eq!(one, text(5));
}

#[test]
fn what_does_not_fit_the_space_is_refused() {
    let space = Space::ball(3, 1.0).unwrap();
    let problem = Problem::new(Criterion::Trace, Need::Everything);
    let run = |features: &FeatureMap, map: Option<MatRef<'_, f64>>, problem: &Problem<'_>| {
        solve_space(&space, features, map, problem, &mut rng(0)).map(drop)
    };
    let identity = FeatureMap::identity(3).unwrap();
    let wide = FeatureMap::identity(4).unwrap();
    assert!(matches!(
        run(&wide, None, &problem),
        Err(Error::WrongLength {
            expected: 4,
            found: 3,
            ..
        })
    ));
    let map = Mat::<f64>::identity(2, 2);
    let result = run(&identity, Some(map.as_ref()), &problem);
    assert!(matches!(
        result,
        Err(Error::WrongLength {
            expected: 3,
            found: 2,
            ..
        })
    ));
    let broken = Mat::from_fn(2, 3, |_, _| f64::NAN);
    assert!(run(&identity, Some(broken.as_ref()), &problem).is_err());
    let nothing = Mat::<f64>::zeros(2, 3);
    assert!(matches!(
        run(&identity, Some(nothing.as_ref()), &problem),
        Err(Error::Setting { .. })
    ));
    // A map of rank one teaches only its own direction, (1, 1).
    let flat = Mat::from_fn(2, 3, |_, j| 1.0 + j as f64);
    let rows = [1.0, 0.0];
    let target = Problem::new(
        Criterion::Trace,
        Need::Targets {
            rows: &rows,
            weights: None,
        },
    );
    match run(&identity, Some(flat.as_ref()), &target) {
        Err(Error::Unreachable {
            share,
            direction,
            rank: 1,
            needed: 2,
        }) => {
            assert!(close(share, 0.5, 1e-9), "{share}");
            assert!((direction[0] + direction[1]).abs() < 1e-9, "{direction:?}");
        }
        other => panic!("{other:?}"),
    }
    let rows = [2.0, 2.0];
    let target = Problem::new(
        Criterion::Trace,
        Need::Targets {
            rows: &rows,
            weights: None,
        },
    );
    let design = solve_space(&space, &identity, Some(flat.as_ref()), &target, &mut rng(0)).unwrap();
    // Along (1, 1) the ball reaches √14.
    assert!(
        close(design.objective, 4.0 / 14.0, 1e-4),
        "{}",
        design.objective
    );
}
