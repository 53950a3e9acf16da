//! What every task space promises, checked on every space.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

use faer::Mat;
use rand_distr::{Distribution as _, StandardNormal};
use taskscout::features::{FeatureMap, Features as _};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::{Atom, LinearConstraint, List, QuadraticForm, Space, TaskSpace};

fn rng(index: u64) -> Rng {
    derive(11, Purpose::Search, &[index])
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

/// Every kind of space, finite and continuous, alone and combined.
fn spaces() -> Vec<(&'static str, Space)> {
    let ball = |dim, radius| Space::ball(dim, radius).unwrap();
    let cube = |dim: usize| Space::boxed(vec![-1.0; dim], vec![2.0; dim]).unwrap();
    let one_hot = |size| Space::one_hot(size).unwrap();
    let product = |parts| Space::product(parts).unwrap();
    let constrained = |base, cuts| Space::constrained(base, cuts).unwrap();
    let fixed = Space::boxed(vec![-1.0, 0.5, 0.0], vec![1.0, 0.5, 1e-3]).unwrap();
    let named = List::new(&[vec![1.0, 0.0], vec![0.0, -2.0]]).unwrap();
    let named = named.with_names(vec!["left".to_owned(), "right".to_owned()]);
    let simplex = vec![cut(&[1.0; 3], 1.0), cut(&[-1.0; 3], -1.0)];
    let mixed = product(vec![one_hot(3), cube(2)]);
    vec![
        ("ball", ball(4, 2.0)),
        ("segment", ball(1, 0.5)),
        ("large ball", ball(30, 1.0)),
        ("box", cube(3)),
        ("box with a fixed parameter", fixed),
        ("box of many parameters", cube(18)),
        ("list", list(300, 3)),
        ("list of one", list(1, 2)),
        ("list with names", Space::List(named.unwrap())),
        ("one-hot", one_hot(6)),
        ("finite product", product(vec![list(7, 2), one_hot(3)])),
        ("one-hot × box", mixed.clone()),
        ("list × ball", product(vec![list(5, 2), ball(2, 1.0)])),
        (
            "list of many × ball",
            product(vec![list(90, 2), ball(2, 1.0)]),
        ),
        ("ball × box", product(vec![ball(2, 1.0), cube(2)])),
        ("cut box", constrained(cube(3), vec![cut(&[1.0; 3], 1.0)])),
        (
            "cut ball",
            constrained(ball(3, 1.0), vec![cut(&[1.0, 0.5, 0.0], 0.2)]),
        ),
        (
            "cut list",
            constrained(list(60, 2), vec![cut(&[1.0, 0.0], 0.3)]),
        ),
        (
            "cut product",
            constrained(mixed, vec![cut(&[1.0, 0.0, 0.0, 1.0, 1.0], 1.2)]),
        ),
        (
            "simplex",
            constrained(Space::boxed(vec![0.0; 3], vec![1.0; 3]).unwrap(), simplex),
        ),
        (
            "twice cut, beside",
            product(vec![
                constrained(
                    constrained(cube(2), vec![cut(&[1.0, 1.0], 1.0)]),
                    vec![cut(&[-1.0, 0.5], 0.5)],
                ),
                constrained(list(9, 1), vec![cut(&[1.0], 0.5)]),
            ]),
        ),
    ]
}

/// Identity, random Fourier and quadratic features.
fn features(dim: usize) -> Vec<FeatureMap> {
    vec![
        FeatureMap::identity(dim).unwrap(),
        FeatureMap::fourier(dim, 9, 0.7, 3).unwrap(),
        FeatureMap::polynomial(dim, 2, true).unwrap(),
    ]
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

const SIGNS: [&[f64]; 3] = [&[1.0, 1.0, 1.0], &[1.0, -1.0, 0.5, -2.0], &[-1.0, -1.0]];

/// Runs a check on every space, feature map and kind of form.
fn for_each_form(check: impl Fn(&str, &Space, &QuadraticForm<'_>)) {
    for (name, space) in spaces() {
        for map in features(space.dim()) {
            for (kind, signs) in SIGNS.iter().enumerate() {
                let size = map.dim();
                let matrix = matrix(size, signs, kind as u64);
                let form = QuadraticForm {
                    features: &map,
                    matrix: matrix.as_ref(),
                };
                check(&format!("{name}, {map:.0?}, form {kind}"), &space, &form);
            }
        }
    }
}

fn samples(space: &Space, count: usize) -> Vec<Vec<f64>> {
    let mut rng = rng(1);
    (0..count)
        .map(|_| space.sample(&mut rng).unwrap())
        .collect()
}

/// Tasks of the space on the way from one task to samples: near it, but inside.
fn neighbours(space: &Space, task: &[f64]) -> Vec<Vec<f64>> {
    let towards = |sample: Vec<f64>, share: f64| -> Vec<f64> {
        let pairs = task.iter().zip(sample);
        pairs.map(|(a, b)| a + share * (b - a)).collect()
    };
    let samples = samples(space, 100).into_iter();
    let near = samples.flat_map(|s| [1e-4, 1e-2, 0.1].map(|share| towards(s.clone(), share)));
    near.filter(|task| space.contains(task)).collect()
}

fn scale(value: f64) -> f64 {
    1e-9 * value.abs().max(1.0)
}

#[test]
fn samples_lie_in_the_space() {
    for (name, space) in spaces() {
        for task in samples(&space, 300) {
            assert_eq!(task.len(), space.dim());
            space
                .check(&task)
                .unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(space.contains(&task));
        }
    }
}

#[test]
fn samples_differ_and_repeat_with_their_generator() {
    for (name, space) in spaces() {
        let first = samples(&space, 20);
        assert_eq!(first, samples(&space, 20), "{name}");
        if space.count() != Some(1) {
            assert!(first.iter().any(|task| *task != first[0]), "{name}");
        }
    }
}

#[test]
fn the_best_atom_is_in_the_space_and_beats_it() {
    for_each_form(|name, space, form| {
        let atom = space.best_atom(form, &mut rng(2)).unwrap();
        space
            .check(&atom.task)
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        let value = form.value(&atom.task);
        assert!(
            (atom.value - value).abs() <= scale(value),
            "{name}: {atom:?}"
        );
        for task in samples(space, 500) {
            let other = form.value(&task);
            assert!(
                other <= atom.value + scale(other),
                "{name}: {task:?} gives {other}, {atom:?}"
            );
        }
        if atom.exact {
            let all = space
                .tasks()
                .unwrap_or_else(|| neighbours(space, &atom.task));
            for task in all {
                let other = form.value(&task);
                assert!(
                    other <= atom.value + scale(other),
                    "{name}: {task:?} gives {other}, {atom:?}"
                );
            }
        }
    });
}

/// A search has no certificate, but in these small spaces nothing nearby should beat it.
#[test]
fn the_best_atom_is_a_local_optimum() {
    for_each_form(|name, space, form| {
        let atom = space.best_atom(form, &mut rng(3)).unwrap();
        for task in neighbours(space, &atom.task) {
            let other = form.value(&task);
            let slack = 1e-7 * atom.value.abs().max(1.0);
            assert!(
                other <= atom.value + slack,
                "{name}: {task:?} gives {other}, {atom:?}"
            );
        }
    });
}

#[test]
fn closed_forms_and_scans_are_exact_and_searches_are_not() {
    let exact = |name: &str, space: &Space, map: usize, kind: usize| {
        let map = features(space.dim()).swap_remove(map);
        let size = map.dim();
        let matrix = matrix(size, SIGNS[kind], 5);
        let form = QuadraticForm {
            features: &map,
            matrix: matrix.as_ref(),
        };
        let atom = space.best_atom(&form, &mut rng(4)).unwrap();
        (name.to_owned(), atom.exact)
    };
    for (name, space) in spaces() {
        let finite = space.tasks().is_some();
        let ball = matches!(space, Space::Ball(_));
        let corners = ["box", "box with a fixed parameter", "one-hot × box"].contains(&name);
        let is = |truth: bool| (name.to_owned(), truth);
        // What is cut is exact where the cut happens to allow the optimum of the whole.
        let cut = name.contains("cut") && !finite;
        if !cut {
            let closed = finite || ball || corners;
            assert_eq!(exact(name, &space, 0, 0), is(closed));
        }
        assert_eq!(exact(name, &space, 1, 0), is(finite));
        if !cut {
            assert_eq!(exact(name, &space, 0, 1), is(finite || ball));
        }
    }
}

/// A smooth objective with one minimum near the middle, a kinked one, and one full of ripples.
fn objectives() -> [fn(&[f64]) -> f64; 3] {
    [
        |w| {
            w.iter()
                .enumerate()
                .map(|(i, x)| (i + 1) as f64 * (x - 0.2).powi(2))
                .sum()
        },
        |w| w.iter().map(|x| (x + 0.1).abs()).sum::<f64>() - 3.0,
        |w| w.iter().map(|x| x * x - (5.0 * x).cos()).sum(),
    ]
}

#[test]
fn the_minimum_is_in_the_space_and_beats_it() {
    for (name, space) in spaces() {
        for (which, objective) in objectives().into_iter().enumerate() {
            let name = format!("{name}, objective {which}");
            let atom = space.minimise(&objective, &mut rng(5)).unwrap();
            space
                .check(&atom.task)
                .unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(
                atom.value.to_bits(),
                objective(&atom.task).to_bits(),
                "{name}"
            );
            assert_eq!(atom.exact, space.tasks().is_some(), "{name}");
            let others = samples(&space, 500).into_iter();
            for task in others.chain(neighbours(&space, &atom.task)) {
                let other = objective(&task);
                assert!(
                    other >= atom.value - scale(other),
                    "{name}: {task:?} gives {other}, {atom:?}"
                );
            }
        }
    }
}

#[test]
fn tasks_are_listed_once_and_lie_in_the_space() {
    for (name, space) in spaces() {
        let Some(tasks) = space.tasks() else {
            assert_eq!(space.count(), None, "{name}");
            continue;
        };
        assert_eq!(space.count(), Some(tasks.len()), "{name}");
        assert!(tasks.iter().all(|task| space.contains(task)), "{name}");
        let distinct: std::collections::BTreeSet<String> =
            tasks.iter().map(|task| format!("{task:?}")).collect();
        assert_eq!(distinct.len(), tasks.len(), "{name}");
    }
}

#[test]
fn a_file_brings_back_the_same_space() {
    for (name, space) in spaces() {
        let json = serde_json::to_string(&space).unwrap();
        let back: Space = serde_json::from_str(&json).unwrap();
        assert_eq!(space, back, "{name}: {json}");
        assert_eq!(samples(&space, 5), samples(&back, 5), "{name}");
    }
}

/// The bits of what the generator and the space alone should decide.
fn outcome(space: &Space) -> Vec<(Vec<u64>, u64)> {
    let bits = |atom: Atom| {
        let task = atom.task.iter().map(|value| value.to_bits()).collect();
        (task, atom.value.to_bits())
    };
    let mut found = Vec::new();
    for map in features(space.dim()) {
        let size = map.dim();
        let matrix = matrix(size, SIGNS[1], 8);
        let form = QuadraticForm {
            features: &map,
            matrix: matrix.as_ref(),
        };
        found.push(bits(space.best_atom(&form, &mut rng(6)).unwrap()));
    }
    let objective = objectives()[2];
    found.push(bits(space.minimise(&objective, &mut rng(7)).unwrap()));
    found
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let pool = |threads| {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder.build().unwrap()
    };
    let (one, four) = (pool(1), pool(4));
    for (name, space) in spaces() {
        let alone = one.install(|| outcome(&space));
        assert_eq!(alone, four.install(|| outcome(&space)), "{name}");
        assert_eq!(alone, outcome(&space), "{name}");
    }
}

#[test]
fn strangers_are_told_why() {
    for (name, space) in spaces() {
        let dim = space.dim();
        let far = vec![9.5; dim];
        let message = space.check(&far).unwrap_err().to_string();
        assert!(message.starts_with("task [9.5"), "{name}: {message}");
        assert!(
            message.contains("lies outside the space: "),
            "{name}: {message}"
        );
        assert_eq!(message.contains('…'), dim > 4, "{name}: {message}");
        let message = space.check(&vec![0.0; dim + 1]).unwrap_err().to_string();
        let expected = format!("the task has {} values where {dim} are needed", dim + 1);
        assert_eq!(message, expected, "{name}");
        let mut broken = samples(&space, 1).swap_remove(0);
        broken[dim - 1] = f64::NAN;
        let message = space.check(&broken).unwrap_err().to_string();
        let expected = format!("parameter {} of the task is NaN", dim - 1);
        assert!(message.starts_with(&expected), "{name}: {message}");
    }
}
