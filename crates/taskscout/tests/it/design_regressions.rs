//! Cases that designs once got wrong.
#![allow(clippy::unwrap_used)]

use crate::common::design;

use crate::common::{close, gaussian, normals, rng};
use design::{BOTH, Wanted, weights};
use faer::mat;
use taskscout::Error;
use taskscout::design::{Candidates, Criterion, Need, Problem, solve, solve_space};
use taskscout::features::FeatureMap;
use taskscout::space::Space;

/// Many active atoms: low-rank updates lost the digits that the last steps need.
#[test]
fn the_tolerance_is_reached_on_a_dense_sphere() {
    let step = std::f64::consts::PI / 100.0;
    let sphere: Vec<f64> = (0..100 * 100)
        .flat_map(|i| {
            let (longitude, latitude) = (f64::from(i % 100), f64::from(i / 100));
            let (sin, cos) = (longitude * step).sin_cos();
            let (z, r) = ((latitude + 0.5) * step).sin_cos();
            [r * cos, r * sin, z]
        })
        .collect();
    let candidates = Candidates::new(3, sphere).unwrap();
    for criterion in BOTH {
        let problem = Problem {
            tolerance: 1e-6,
            ..Problem::new(criterion, Need::Everything)
        };
        let design = solve(&candidates, &problem).unwrap();
        assert!(
            design.gap().unwrap() <= 1e-6,
            "{criterion}: gap {:e} after {} of 200 iterations",
            design.gap().unwrap(),
            design.iterations
        );
    }
}

#[test]
fn candidates_left_out_do_not_show() {
    let k = 3;
    let rows = normals(40 * k, &mut rng(2));
    let plain = Candidates::new(k, rows.clone()).unwrap();
    // One of them is so large in one value that, were it looked at, that of no other would count.
    let mut more = vec![1e20, 1.0, 0.0];
    more.extend(rows);
    let mut limits = vec![1.0; 41];
    limits[0] = 0.0;
    let more = Candidates::new(k, more)
        .unwrap()
        .with_limits(limits)
        .unwrap();
    for criterion in BOTH {
        let problem = Problem::new(criterion, Need::Everything);
        let (plain, more) = (
            solve(&plain, &problem).unwrap(),
            solve(&more, &problem).unwrap(),
        );
        assert!(
            close(plain.objective, more.objective, 1.1e-4),
            "{} {}",
            plain.objective,
            more.objective
        );
        assert!(weights(&more).iter().all(|pair| pair.0 > 0));
    }
}

#[test]
fn a_budget_may_have_to_be_wasted() {
    // Only 60 % can be spent on tasks that teach anything.
    let rows = vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    let candidates = Candidates::new(2, rows)
        .unwrap()
        .with_limits(vec![0.3, 0.3, 1.0])
        .unwrap();
    for (criterion, expected) in [
        (Criterion::Trace, 2.0 / 0.3),
        (Criterion::MaxEigenvalue, 1.0 / 0.3),
    ] {
        match solve(&candidates, &Problem::new(criterion, Need::Everything)) {
            Ok(design) => assert!(
                design.objective >= expected * (1.0 - 1e-4),
                "{}",
                design.objective
            ),
            Err(error) => assert!(matches!(error, Error::Setting { .. }), "{error}"),
        }
    }
}

#[test]
fn shares_are_numbers_where_no_candidate_helps() {
    let c = Candidates::new(2, vec![1.0, 0.0, 2.0, 0.0]).unwrap();
    let g = mat![[0.0, 0.0], [0.0, 1.0]];
    let w = Wanted::Targets(vec![0.0, 1.0], None);
    let design = solve(
        &c,
        &Problem {
            given: Some(g.as_ref()),
            ..w.problem(Criterion::Trace, 1e-4)
        },
    )
    .unwrap();
    assert!(
        design.atoms.iter().all(|atom| atom.risk_share.is_finite()),
        "{design:?}"
    );
}

#[test]
fn a_start_that_names_a_row_twice_does_not_double_its_limit() {
    let rows = vec![1.0, 0.0, 0.0, 1.0, 0.5, 0.5, 0.5, -0.5];
    let c = Candidates::new(2, rows)
        .unwrap()
        .with_limits(vec![0.3, 0.3, 0.5, 0.5])
        .unwrap();
    let p = Problem::new(Criterion::Trace, Need::Everything);
    let d = solve(&c, &p).unwrap();
    let twice = [&d.atoms[..], &d.atoms[..]].concat();
    let e = solve(&c, &Problem { start: &twice, ..p }).unwrap();
    let first: f64 = weights(&e)
        .iter()
        .filter(|pair| pair.0 == 0)
        .map(|pair| pair.1)
        .sum();
    assert!(first <= 0.3 + 1e-9, "{first}");
}

/// A broad top hid a narrow one from the search.
#[test]
fn a_search_in_the_plane_is_no_worse_than_a_grid() {
    let rng0 = &mut rng(6092305533775028786);
    let space = Space::boxed(vec![-1.0, 0.0], vec![1.0, 3.0]).unwrap();
    let cell = |i: usize| vec![-1.0 + (i % 41) as f64 / 20.0, (i / 41) as f64 * 3.0 / 40.0];
    let grid = Space::list(&(0..41 * 41).map(cell).collect::<Vec<_>>()).unwrap();
    let features = FeatureMap::polynomial(2, 2, true).unwrap();
    let map = gaussian(3, 6, rng0);
    let problem = Problem::new(Criterion::Trace, Need::Everything);
    let listed = solve_space(&grid, &features, Some(map.as_ref()), &problem, &mut rng(0)).unwrap();
    for seed in 0..12 {
        let searched = solve_space(
            &space,
            &features,
            Some(map.as_ref()),
            &problem,
            &mut rng(seed),
        )
        .unwrap();
        assert!(
            searched.objective <= listed.objective * (1.0 + 1.1e-4),
            "seed {seed}: {} {}",
            searched.objective,
            listed.objective
        );
    }
}

#[test]
fn candidates_that_teach_nothing_are_refused() {
    let candidates = Candidates::new(2, vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        .unwrap()
        .with_limits(vec![0.0, 0.0, 1.0])
        .unwrap();
    for criterion in BOTH {
        let refused = solve(&candidates, &Problem::new(criterion, Need::Everything)).unwrap_err();
        assert!(refused.to_string().contains("teaches nothing"), "{refused}");
    }
}
