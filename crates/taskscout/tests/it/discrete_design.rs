//! Relevance designs against brute force, Elfving's theorem and the pseudo-inverse.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::{apply, bits, cases, close, dot, normals, on_threads, orthonormal, rng};
use faer::Mat;
use faer::linalg::solvers::Solve as _;
use proptest::prelude::*;
use taskscout::Error;
use taskscout::design::Criterion;
use taskscout::design::discrete::{Relevance, RelevanceSolution, relevance, weights};

const BOTH: [Relevance; 2] = [Relevance::L1, Relevance::L2];

fn solve(kind: Relevance, rows: &[Vec<f64>], target: &[f64]) -> RelevanceSolution {
    relevance(kind, &rows.concat(), target.len(), target).unwrap()
}

fn random(n: usize, k: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rng = rng(seed);
    let rows = (0..n).map(|_| normals(k, &mut rng)).collect();
    (rows, normals(k, &mut rng))
}

/// Small whole numbers: many ties, duplicates, zero rows and faces with more corners than `k`.
fn lattice(n: usize, k: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let (rows, target) = random(n, k, seed);
    let round = |row: &[f64]| row.iter().map(|value| value.round()).collect::<Vec<f64>>();
    (rows.iter().map(|row| round(row)).collect(), round(&target))
}

/// `‖Σ_i ν_i c_i − c_0‖ / Σ_i ‖ν_i c_i‖`.
fn residual(rows: &[Vec<f64>], target: &[f64], nu: &[f64]) -> f64 {
    let mut rest: Vec<f64> = target.iter().map(|value| -value).collect();
    let mut size = 0.0;
    for (row, nu) in rows.iter().zip(nu) {
        rest.iter_mut()
            .zip(row)
            .for_each(|(rest, c)| *rest += nu * c);
        size += nu.abs() * dot(row, row).sqrt();
    }
    dot(&rest, &rest).sqrt() / size
}

/// The least `‖ν‖₁` over all bases of `k` rows; infinite if there is none.
fn brute_force(rows: &[Vec<f64>], target: &[f64]) -> f64 {
    let k = target.len();
    let mut best = f64::INFINITY;
    for mask in 0_u32..1 << rows.len() {
        if mask.count_ones() as usize != k {
            continue;
        }
        let chosen: Vec<&Vec<f64>> = (0..rows.len())
            .filter(|i| mask >> i & 1 == 1)
            .map(|i| &rows[i])
            .collect();
        let matrix = Mat::from_fn(k, k, |i, j| chosen[j][i]);
        if matrix.determinant().abs() > 1e-9 {
            let rhs = Mat::from_fn(k, 1, |i, _| target[i]);
            let nu = matrix.partial_piv_lu().solve(rhs);
            best = best.min((0..k).map(|i| nu[(i, 0)].abs()).sum());
        }
    }
    best
}

fn check_l1(
    rows: &[Vec<f64>],
    target: &[f64],
    solution: &RelevanceSolution,
) -> Result<(), TestCaseError> {
    let nu = &solution.coefficients;
    prop_assert_eq!(nu.len(), rows.len());
    let norm: f64 = nu.iter().map(|value| value.abs()).sum();
    prop_assert!(close(norm, solution.norm, 1e-14));
    prop_assert!(
        residual(rows, target, nu) < 1e-12,
        "residual {}",
        residual(rows, target, nu)
    );
    prop_assert!(
        solution.lower_bound <= solution.norm && solution.lower_bound > norm * (1.0 - 1e-8),
        "gap {}",
        1.0 - solution.lower_bound / norm
    );
    let support = nu.iter().filter(|value| value.abs() > 0.0).count();
    prop_assert!(support <= target.len(), "{} tasks", support);
    Ok(())
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn l1_is_the_best_of_all_bases(k in 1_usize..5, more in 0_usize..7, seed in any::<u64>()) {
        let (rows, target) = random(k + more, k, seed);
        let solution = solve(Relevance::L1, &rows, &target);
        prop_assert!(close(solution.norm, brute_force(&rows, &target), 1e-8));
        check_l1(&rows, &target, &solution)?;
    }

    #[test]
    fn l1_is_the_best_of_all_bases_where_ties_abound(k in 1_usize..5, more in 0_usize..7, seed in any::<u64>()) {
        let (rows, target) = lattice(k + more, k, seed);
        let best = brute_force(&rows, &target);
        prop_assume!(best.is_finite() && dot(&target, &target) > 0.0);
        let solution = solve(Relevance::L1, &rows, &target);
        prop_assert!(close(solution.norm, best, 1e-8), "{} for {best}", solution.norm);
        check_l1(&rows, &target, &solution)?;
        for (row, nu) in rows.iter().zip(&solution.coefficients) {
            prop_assert!(dot(row, row) > 0.0 || nu.abs() <= 0.0, "a zero row cannot help");
        }
    }

    /// Of rank below `k`, and fewer tasks than coordinates.
    #[test]
    fn norms_do_not_care_for_coordinates(rank in 1_usize..5, more in 0_usize..3, n in 5_usize..40, seed in any::<u64>()) {
        let (rows, target) = random(n, rank, seed);
        let mut rng = rng(seed ^ 1);
        let turn = orthonormal(rank + more, rank, &mut rng);
        let turned: Vec<Vec<f64>> = rows.iter().rev().map(|row| apply(turn.as_ref(), row)).collect();
        for kind in BOTH {
            let before = solve(kind, &rows, &target);
            let after = solve(kind, &turned, &apply(turn.as_ref(), &target));
            prop_assert!(close(before.norm, after.norm, 1e-9));
            prop_assert!(residual(&turned, &apply(turn.as_ref(), &target), &after.coefficients) < 1e-12);
        }
    }

    /// Scales of sources, target and single coordinates.
    #[test]
    fn norms_follow_scales(n in 3_usize..40, power in -150_i32..=150, seed in any::<u64>()) {
        let (rows, target) = random(n, 3, seed);
        let scale = 10.0_f64.powi(power);
        let times = |row: &[f64], scales: [f64; 3]| row.iter().zip(scales).map(|(c, s)| c * s).collect::<Vec<f64>>();
        let (same, units) = ([scale; 3], [scale, scale * 1e-7, scale * 1e4]);
        for kind in BOTH {
            let norm = solve(kind, &rows, &target).norm;
            for (sources, goal, factor) in [(same, same, 1.0), (same, [1.0; 3], 1.0 / scale), ([1.0; 3], same, scale), (units, units, 1.0)] {
                let rows: Vec<Vec<f64>> = rows.iter().map(|row| times(row, sources)).collect();
                let solution = solve(kind, &rows, &times(&target, goal));
                prop_assert!(close(solution.norm, factor * norm, 1e-9), "{} {}", solution.norm, norm);
                prop_assert!(solution.lower_bound > solution.norm * (1.0 - 1e-8));
            }
        }
    }

    /// `tr(Σ(q)⁻¹ c_0 c_0ᵀ) = ‖ν‖₁²` at the optimum, and no other weights are better.
    #[test]
    fn elfving_holds(k in 1_usize..6, n in 6_usize..60, seed in any::<u64>()) {
        let (rows, target) = random(n, k, seed);
        let need = Mat::from_fn(k, k, |i, j| target[i] * target[j]);
        let value = |q: &[f64]| {
            let part = |i: usize, j: usize| rows.iter().zip(q).map(|(c, q)| q * c[i] * c[j]).sum();
            Criterion::Trace.value(Mat::from_fn(k, k, part).as_ref(), need.as_ref()).unwrap()
        };
        let norm = solve(Relevance::L1, &rows, &target).norm;
        let aim = [(target, 1.0)];
        let best = weights(Relevance::L1, &rows.concat(), k, &aim, 0.0).unwrap();
        prop_assert!(close(value(&best), norm * norm, 1e-7), "{} {}", value(&best), norm * norm);
        for other in [weights(Relevance::L2, &rows.concat(), k, &aim, 0.0).unwrap(), weights(Relevance::L1, &rows.concat(), k, &aim, 0.1).unwrap()] {
            prop_assert!(value(&other) >= norm * norm * (1.0 - 1e-9));
        }
    }

    #[test]
    fn l2_is_the_pseudo_inverse(k in 1_usize..6, more in 0_usize..30, seed in any::<u64>()) {
        let (rows, target) = random(k + more, k, seed);
        let matrix = Mat::from_fn(k, rows.len(), |i, j| rows[j][i]);
        let rhs = Mat::from_fn(k, 1, |i, _| target[i]);
        let expected = matrix.transpose() * (&matrix * matrix.transpose()).partial_piv_lu().solve(rhs);
        let solution = solve(Relevance::L2, &rows, &target);
        let norm = (0..rows.len()).map(|i| expected[(i, 0)].powi(2)).sum::<f64>().sqrt();
        for (i, nu) in solution.coefficients.iter().enumerate() {
            prop_assert!((nu - expected[(i, 0)]).abs() < 1e-7 * norm);
        }
        prop_assert!(close(solution.norm, norm, 1e-7) && close(solution.lower_bound, solution.norm, 1e-12));
        prop_assert!(residual(&rows, &target, &solution.coefficients) < 1e-12);
        prop_assert_eq!(solution.iterations, 0);
    }

    #[test]
    fn weights_are_shares_above_the_floor(n in 4_usize..30, floor in 0.0_f64..=1.0, seed in any::<u64>()) {
        let (rows, first) = random(n, 3, seed);
        let (_, second) = random(0, 3, seed ^ 1);
        for kind in BOTH {
            let of = |targets: &[(Vec<f64>, f64)], floor| weights(kind, &rows.concat(), 3, targets, floor).unwrap();
            let (a, b) = (of(&[(first.clone(), 1.0)], 0.0), of(&[(second.clone(), 5.0)], 0.0));
            let both = of(&[(first.clone(), 3e300), (second.clone(), 1e300)], floor);
            prop_assert!((both.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let nu = solve(kind, &rows, &first).coefficients;
            let raw: Vec<f64> = nu.iter().map(|nu| if kind == Relevance::L1 { nu.abs() } else { nu * nu }).collect();
            for i in 0..n {
                prop_assert!((a[i] - raw[i] / raw.iter().sum::<f64>()).abs() < 1e-12);
                let expected = floor / n as f64 + (1.0 - floor) * (0.75 * a[i] + 0.25 * b[i]);
                prop_assert!((both[i] - expected).abs() < 1e-12);
                prop_assert!(both[i] >= floor / n as f64);
            }
        }
    }
}

/// Singular values from 1 to 10⁻⁹, in no coordinate system of note.
#[test]
fn ill_conditioned_embeddings_are_solved() {
    for seed in 0..20 {
        let k = 5;
        let (rows, target) = random(60, k, seed);
        let (left, right) = (
            orthonormal(k, k, &mut rng(seed ^ 7)),
            orthonormal(k, k, &mut rng(seed ^ 9)),
        );
        let squeeze = Mat::from_fn(k, k, |i, j| {
            left[(i, j)] * 10.0_f64.powf(-9.0 * j as f64 / (k - 1) as f64)
        });
        let map = squeeze * right;
        let squeezed: Vec<Vec<f64>> = rows.iter().map(|row| apply(map.as_ref(), row)).collect();
        let goal = apply(map.as_ref(), &target);
        let (before, after) = (
            solve(Relevance::L1, &rows, &target),
            solve(Relevance::L1, &squeezed, &goal),
        );
        // The map itself rounds the smallest direction to 10⁻⁷.
        assert!(
            close(before.norm, after.norm, 1e-5),
            "{} {}",
            before.norm,
            after.norm
        );
        assert!(residual(&squeezed, &goal, &after.coefficients) < 1e-12);
        assert!(after.lower_bound > after.norm * (1.0 - 1e-8));
    }
}

/// More than one chunk of rows, whatever the number of threads.
#[test]
fn many_tasks_are_certified_and_the_same_on_any_number_of_threads() {
    let (rows, target) = random(5000, 12, 3);
    let solution = on_threads(1, || solve(Relevance::L1, &rows, &target));
    check_l1(&rows, &target, &solution).unwrap();
    let other = on_threads(3, || solve(Relevance::L1, &rows, &target));
    assert_eq!(bits(&solution.coefficients), bits(&other.coefficients));
    assert_eq!(solution, other);
}

#[test]
fn a_parallel_task_is_all_that_is_needed() {
    let (mut rows, target) = random(200, 6, 11);
    for row in &mut rows {
        let scale = 0.5 * dot(&target, &target).sqrt() / dot(row, row).sqrt();
        row.iter_mut().for_each(|value| *value *= scale);
    }
    rows[17] = target.iter().map(|value| -2.0 * value).collect();
    let solution = solve(Relevance::L1, &rows, &target);
    check_l1(&rows, &target, &solution).unwrap();
    for (i, nu) in solution.coefficients.iter().enumerate() {
        let expected = if i == 17 { -0.5 } else { 0.0 };
        let slack = if i == 17 { 1e-12 } else { 0.0 };
        assert!((nu - expected).abs() <= slack, "task {i}: {nu}");
    }
}

#[test]
fn a_target_that_is_the_sum_of_two_takes_both() {
    let (mut rows, _) = random(50, 8, 5);
    for (i, row) in rows.iter_mut().enumerate() {
        let scale = if i < 2 { 10.0 } else { 1.0 } / dot(row, row).sqrt();
        row.iter_mut().for_each(|value| *value *= scale);
    }
    let target: Vec<f64> = rows[0].iter().zip(&rows[1]).map(|(a, b)| a + b).collect();
    let solution = solve(Relevance::L1, &rows, &target);
    check_l1(&rows, &target, &solution).unwrap();
    assert!(
        (solution.coefficients[0] - 1.0).abs() < 1e-12
            && (solution.coefficients[1] - 1.0).abs() < 1e-12
    );
    assert!(solution.coefficients[2..].iter().all(|nu| nu.abs() <= 0.0));
}

/// All corners of a cube: faces with far more corners than dimensions.
#[test]
fn faces_with_many_corners_are_left_for_a_vertex() {
    let k = 7;
    let corner = |mask: usize| {
        (0..k)
            .map(|j| if mask >> j & 1 == 1 { 1.0 } else { -1.0 })
            .collect()
    };
    let rows: Vec<Vec<f64>> = (0..1 << k).map(corner).collect();
    let target = [1.0, 0.3, -0.2, 0.1, 0.05, 0.7, -0.4];
    let solution = solve(Relevance::L1, &rows, &target);
    check_l1(&rows, &target, &solution).unwrap();
    assert!(
        close(solution.norm, 1.0, 1e-10),
        "the gauge of the cube: {}",
        solution.norm
    );
}

#[test]
fn duplicates_and_zero_rows_change_nothing() {
    let (rows, target) = random(30, 4, 8);
    let mut more = vec![vec![0.0; 4]; 3];
    (0..100).for_each(|_| more.extend(rows.iter().cloned()));
    more.extend(
        rows.iter()
            .map(|row| row.iter().map(|value| -value).collect()),
    );
    let solution = solve(Relevance::L1, &more, &target);
    check_l1(&more, &target, &solution).unwrap();
    assert!(close(
        solution.norm,
        solve(Relevance::L1, &rows, &target).norm,
        1e-9
    ));
    assert!(solution.coefficients[..3].iter().all(|nu| nu.abs() <= 0.0));
    let shared = solve(Relevance::L2, &more, &target);
    assert!(close(
        shared.coefficients[3],
        shared.coefficients[33],
        1e-10
    ));
}

/// Copies that differ in the last digits, with a target that two of the tasks give exactly.
#[test]
fn nearly_equal_tasks_are_told_apart_or_taken_as_one() {
    for seed in 0..60 {
        let (mut rows, _) = random(60, 12, seed);
        let (noise, _) = random(60, 12, seed ^ 99);
        let size = 10.0_f64.powi(-7 - (seed % 8) as i32);
        for (i, noise) in noise.iter().enumerate() {
            let copy = rows[i].iter().zip(noise).map(|(c, e)| c + size * e);
            rows.push(copy.collect());
        }
        let target: Vec<f64> = rows[0].iter().zip(&rows[1]).map(|(a, b)| a + b).collect();
        let solution = solve(Relevance::L1, &rows, &target);
        let gap = 1.0 - solution.lower_bound / solution.norm;
        assert!(gap < 1e-6, "seed {seed}: gap {gap}");
        assert!(residual(&rows, &target, &solution.coefficients) < 1e-10);
        let used = solution.coefficients.iter().filter(|nu| nu.abs() > 0.0);
        assert!(used.count() <= 12);
    }
}

#[test]
fn one_task_in_one_dimension() {
    for kind in BOTH {
        let solution = solve(kind, &[vec![-4.0]], &[2.0]);
        assert!(close(solution.coefficients[0], -0.5, 1e-14) && close(solution.norm, 0.5, 1e-14));
    }
}

fn message(embeddings: &[f64], k: usize, target: &[f64]) -> String {
    let [one, two] = BOTH.map(|kind| {
        relevance(kind, embeddings, k, target)
            .unwrap_err()
            .to_string()
    });
    assert_eq!(one, two);
    one
}

#[test]
fn what_cannot_be_solved_says_why() {
    let fine = [1.0, 0.0, 0.0, 1.0];
    let cases: [(&[f64], usize, &[f64], &str); 12] = [
        (&[], 2, &[1.0, 0.0], "`embeddings` hold no task"),
        (&fine, 0, &[], "`embeddings` hold no task"),
        (
            &fine[..3],
            2,
            &[1.0, 0.0],
            "the list of embeddings has 3 values where 4 are needed",
        ),
        (
            &fine,
            2,
            &[1.0],
            "the target has 1 values where 2 are needed",
        ),
        (
            &[1.0, 0.0, 0.0, f64::NAN],
            2,
            &[1.0, 0.0],
            "the embedding of task 1, coordinate 1, is NaN",
        ),
        (
            &[1.0, f64::INFINITY, 0.0, 1.0],
            2,
            &[1.0, 0.0],
            "the embedding of task 0, coordinate 1, is inf",
        ),
        (
            &fine,
            2,
            &[1.0, f64::NAN],
            "the target, coordinate 1, is NaN",
        ),
        (
            &fine,
            2,
            &[0.0, 0.0],
            "`the target` is zero: there is nothing to design for",
        ),
        (
            &[1.0, 0.0, 2.0, 0.0],
            2,
            &[4.0, 3.0],
            "which cannot express 60.0000 % of the target, has rank 1 where 2 is needed: add tasks",
        ),
        // Hidden in the sources' units behind a coordinate in which they are small.
        (
            &[1.0, 1e-8, 0.0, 1.0, -1e-8, 0.0],
            3,
            &[0.0, 1.0, 1.0],
            "which cannot express 70.71",
        ),
        (
            &[0.0, 0.0],
            2,
            &[1.0, 0.0],
            "which cannot express 100.0000 % of the target, has rank 0",
        ),
        (&[1e-200], 1, &[1e200], "differ too much in size"),
    ];
    for (embeddings, k, target, expected) in cases {
        let found = message(embeddings, k, target);
        assert!(found.contains(expected), "{found}");
    }
    // What is missed by rounding only is not missed.
    let solution = relevance(Relevance::L1, &[1.0, 0.0, 2.0, 0.0], 2, &[4.0, 1e-9]).unwrap();
    assert!(close(solution.norm, 2.0, 1e-9) && solution.coefficients[0].abs() <= 0.0);
}

#[test]
fn weights_that_make_no_sense_are_refused() {
    let fine = [1.0, 0.0, 0.0, 1.0];
    let target = vec![1.0, 1.0];
    let refused = |targets: &[(Vec<f64>, f64)], floor: f64| {
        weights(Relevance::L1, &fine, 2, targets, floor).unwrap_err()
    };
    for floor in [-0.1, 1.1, f64::NAN] {
        let error = refused(&[(target.clone(), 1.0)], floor);
        assert!(
            matches!(&error, Error::Setting { key, .. } if key == "floor"),
            "{error}"
        );
    }
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refused(&[(target.clone(), 1.0), (target.clone(), weight)], 0.1);
        assert!(
            matches!(&error, Error::Setting { key, .. } if key == "weight of target 1"),
            "{error}"
        );
    }
    assert!(matches!(refused(&[], 0.1), Error::Setting { key, .. } if key == "targets"));
    let error = refused(&[(target, 1.0), (vec![0.0, 0.0], 1.0)], 0.1).to_string();
    assert!(error.contains("`target 1` is zero"), "{error}");
}

#[test]
fn names_are_those_of_the_command_line() {
    assert_eq!(serde_json::to_string(&BOTH).unwrap(), "[\"l1\",\"l2\"]");
}
