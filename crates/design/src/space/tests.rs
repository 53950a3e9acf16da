//! Messages, files and properties of spaces as a whole.

use faer::Mat;
use proptest::prelude::*;
use rand_distr::{Distribution as _, StandardNormal};

use super::{LinearConstraint, List, QuadraticForm, Space, TaskSpace as _};
use crate::features::FeatureMap;
use crate::rng::{Purpose, Rng, derive};

fn rng() -> Rng {
    derive(11, Purpose::Search, &[])
}

fn cut(normal: &[f64], bound: f64) -> LinearConstraint {
    LinearConstraint {
        normal: normal.to_vec(),
        bound,
    }
}

fn list(rows: usize, dim: usize) -> Space {
    let wave = |i: usize| (1.7 * i as f64).sin() + 0.1 * (i as f64).cos();
    let values = (0..rows * dim).map(wave).collect();
    Space::List(List::from_rows(dim, values).unwrap())
}

/// `Σ ± v vᵀ` with random `v`: positive, indefinite or negative.
fn matrix(size: usize, signs: &[f64], seed: u64) -> Mat<f64> {
    let mut rng = derive(seed, Purpose::World, &[]);
    let vectors = Mat::from_fn(size, signs.len(), |_, _| -> f64 {
        StandardNormal.sample(&mut rng)
    });
    Mat::from_fn(size, size, |i, j| {
        let terms = signs.iter().enumerate();
        terms
            .map(|(k, sign)| sign * vectors[(i, k)] * vectors[(j, k)])
            .sum()
    })
}

#[test]
fn the_broken_bound_is_named() {
    let named = |space: &Space, task: &[f64], expected: &str| {
        let message = space.check(task).unwrap_err().to_string();
        assert!(message.ends_with(expected), "{message}");
    };
    let ball = Space::ball(2, 1.0).unwrap();
    named(
        &ball,
        &[0.0, 1.25],
        "its norm is 1.25, which exceeds the radius 1 by 0.25",
    );
    let cube = Space::boxed(vec![-1.0; 2], vec![1.0; 2]).unwrap();
    named(
        &cube,
        &[0.0, -3.0],
        "parameter 1 is -3, which falls below its lower bound -1 by 2",
    );
    let both = Space::product(vec![ball, cube.clone()]).unwrap();
    named(
        &both,
        &[0.0, 0.0, 1.5, 0.0],
        "part 1: parameter 0 is 1.5, which exceeds its upper bound 1 by 0.5",
    );
    let cut = Space::constrained(cube, vec![cut(&[1.0, 1.0], 9.0), cut(&[2.0, 0.0], 1.0)]).unwrap();
    named(
        &cut,
        &[1.0, 0.0],
        "constraint 1 gives 2, which exceeds its bound 1 by 1",
    );
    named(
        &cut,
        &[2.0, 0.0],
        "parameter 0 is 2, which exceeds its upper bound 1 by 1",
    );
}

#[test]
fn a_file_is_checked_like_a_constructor() {
    for (json, expected) in [
        (r#"{"kind":"ball","dim":2,"radius":-1.0}"#, "`radius` is -1"),
        (r#"{"kind":"ball","dim":0}"#, "`dim` is 0"),
        (
            r#"{"kind":"ball","dim":2,"size":1}"#,
            "unknown field `size`",
        ),
        (r#"{"kind":"bal","dim":2}"#, "unknown variant `bal`"),
        (
            r#"{"kind":"box","low":[0.0,2.0],"high":[1.0,1.0]}"#,
            "`low` value 1 is 2",
        ),
        (r#"{"kind":"list","tasks":[]}"#, "`tasks` is empty"),
        (
            r#"{"kind":"list","tasks":[[1.0],[1.0]]}"#,
            "row 1 repeats row 0",
        ),
        (
            r#"{"kind":"list","tasks":[[1.0],[]]}"#,
            "row 1 has 0 values where 1",
        ),
        (r#"{"kind":"one-hot","size":0}"#, "`size` is 0"),
        (r#"{"kind":"product","parts":[]}"#, "`parts` is empty"),
        (
            r#"{"kind":"product","parts":[{"kind":"ball","dim":2,"radius":0.0}]}"#,
            "`radius` is 0",
        ),
        (
            r#"{"kind":"constrained","base":{"kind":"one-hot","size":2},"constraints":[{"normal":[1.0,1.0],"bound":0.5}]}"#,
            "`constraints` allow none of the 2 tasks",
        ),
        (
            r#"{"kind":"constrained","base":{"kind":"ball","dim":1},"constraints":[{"normal":[1.0],"bound":-1.5}]}"#,
            "`constraints` leave no task",
        ),
    ] {
        let message = serde_json::from_str::<Space>(json).unwrap_err().to_string();
        assert!(message.contains(expected), "{json}: {message}");
    }
    let unit: Space = serde_json::from_str(r#"{"kind":"ball","dim":2}"#).unwrap();
    assert_eq!(unit, Space::ball(2, 1.0).unwrap());
}

#[test]
fn a_cut_keeps_the_optimum_it_allows() {
    let map = FeatureMap::identity(2).unwrap();
    let matrix = faer::mat![[4.0, 0.0], [0.0, 1.0]];
    let form = QuadraticForm {
        features: &map,
        matrix: matrix.as_ref(),
    };
    let best = |normal: &[f64], bound: f64| {
        let ball = Space::ball(2, 1.0).unwrap();
        let space = Space::constrained(ball, vec![cut(normal, bound)]).unwrap();
        space.best_atom(&form, &mut rng()).unwrap()
    };
    // (1, 0) is cut off but (−1, 0), as good, is not.
    let atom = best(&[1.0, 0.0], 0.5);
    assert!(atom.exact && (atom.value - 4.0).abs() < 1e-12, "{atom:?}");
    // Both ends are cut off: the best is on the plane w1 = −1/2 …
    let space = Space::constrained(
        Space::ball(2, 1.0).unwrap(),
        vec![cut(&[1.0, 0.0], 0.5), cut(&[-1.0, 0.0], 0.5)],
    );
    let atom = space.unwrap().best_atom(&form, &mut rng()).unwrap();
    // … and on the circle: 4/4 + 3/4.
    assert!(!atom.exact && (atom.value - 1.75).abs() < 1e-8, "{atom:?}");
}

#[test]
fn names_are_found_through_constraints() {
    let list = List::new(&[vec![1.0], vec![2.0]]).unwrap();
    let list = list
        .with_names(vec!["a".to_owned(), "b".to_owned()])
        .unwrap();
    let space = Space::constrained(Space::List(list), vec![cut(&[1.0], 1.5)]).unwrap();
    assert_eq!(space.name_of(&[1.0]), Some("a"));
    assert_eq!(space.name_of(&[7.0]), None);
}

#[test]
fn an_unattached_map_is_refused() {
    let json = r#"{"kind":"custom","name":"mine","input_dim":2,"dim":2}"#;
    let map: FeatureMap = serde_json::from_str(json).unwrap();
    let matrix = Mat::identity(2, 2);
    let form = QuadraticForm {
        features: &map,
        matrix: matrix.as_ref(),
    };
    for space in [list(10, 2), Space::ball(2, 1.0).unwrap()] {
        let message = space.best_atom(&form, &mut rng()).unwrap_err().to_string();
        assert!(
            message.contains("features gave no finite value"),
            "{message}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// On the ball the best value is the radius squared times the top eigenvalue, which the trace
    /// bounds from both sides for a positive form.
    #[test]
    fn the_best_of_a_ball_is_its_top_eigenvector(dim in 1_usize..12, radius in 0.1_f64..10.0, seed in 0_u64..1000) {
        let matrix = matrix(dim, &[1.0, 0.5, 2.0], seed);
        let map = FeatureMap::identity(dim).unwrap();
        let form = QuadraticForm { features: &map, matrix: matrix.as_ref() };
        let space = Space::ball(dim, radius).unwrap();
        let atom = space.best_atom(&form, &mut rng()).unwrap();
        let trace: f64 = (0..dim).map(|i| matrix[(i, i)]).sum();
        let square = radius * radius;
        prop_assert!(atom.value <= square * trace * (1.0 + 1e-9));
        prop_assert!(atom.value >= square * trace / 3.0_f64.min(dim as f64) * (1.0 - 1e-9));
        // H w = (value / r²) w.
        for i in 0..dim {
            let image: f64 = (0..dim).map(|j| matrix[(i, j)] * atom.task[j]).sum();
            prop_assert!((image - atom.value / square * atom.task[i]).abs() < 1e-9 * (1.0 + trace * radius));
        }
    }

    /// The best of a list does not depend on the order of its rows, nor on rows that lose.
    #[test]
    fn the_best_of_a_list_is_the_largest_value(rows in 1_usize..200, dim in 1_usize..5, seed in 0_u64..1000) {
        let space = list(rows, dim);
        let matrix = matrix(dim, &[1.0, -1.0], seed);
        let map = FeatureMap::identity(dim).unwrap();
        let form = QuadraticForm { features: &map, matrix: matrix.as_ref() };
        let atom = space.best_atom(&form, &mut rng()).unwrap();
        let values = space.tasks().unwrap().into_iter().map(|task| form.value(&task));
        let top = values.fold(f64::NEG_INFINITY, f64::max);
        prop_assert!((atom.value - top).abs() <= 1e-11 * top.abs().max(1e-3));
    }

    /// A box that is stretched has its best corner stretched with it.
    #[test]
    fn corners_follow_the_units(scales in prop::collection::vec(0.01_f64..100.0, 3), seed in 0_u64..1000) {
        let map = FeatureMap::identity(3).unwrap();
        let unit = matrix(3, &[1.0, 1.0], seed);
        let stretched = Mat::from_fn(3, 3, |i, j| unit[(i, j)] / (scales[i] * scales[j]));
        let high: Vec<f64> = scales.clone();
        let low: Vec<f64> = scales.iter().map(|s| -0.5 * s).collect();
        let best = |space: Space, matrix: &Mat<f64>| {
            let form = QuadraticForm { features: &map, matrix: matrix.as_ref() };
            space.best_atom(&form, &mut rng()).unwrap().value
        };
        let a = best(Space::boxed(vec![-0.5; 3], vec![1.0; 3]).unwrap(), &unit);
        let b = best(Space::boxed(low, high).unwrap(), &stretched);
        prop_assert!((a - b).abs() < 1e-9 * a.abs().max(1.0));
    }
}
