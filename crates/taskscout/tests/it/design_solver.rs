//! Designs over tables of candidates: true certificates, optimality, invariance, determinism.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::design;

use crate::common::{apply, close, dot, gaussian, normals, on_threads, orthonormal, rng};
use design::{BOTH, FINE, KINDS, Wanted, check, information, nearby, uniform, value, weights};
use faer::linalg::solvers::{DenseSolveCore as _, Solve as _};
use faer::{Mat, Side};
use proptest::prelude::*;
use taskscout::design::{Candidates, Criterion, Problem, ball, solve};
use taskscout::rng::Rng;

/// Normal rows, the first coordinates up to five times as strong as the last.
fn table(n: usize, k: usize, rng: &mut Rng) -> Vec<f64> {
    let mut rows = normals(n * k, rng);
    for (index, value) in rows.iter_mut().enumerate() {
        *value /= 1.0 + 4.0 * (index % k) as f64 / k as f64;
    }
    rows
}

/// Rows under a map: `c ↦ M c`.
fn mapped(map: &Mat<f64>, rows: &[f64]) -> Vec<f64> {
    rows.chunks_exact(map.ncols())
        .flat_map(|row| apply(map.as_ref(), row))
        .collect()
}

/// Bounds of the optimum by the multiplicative algorithm for `(tr M^p)^(1/p)`, `M = Lᵀ Σ⁻¹ L`: with
/// `p = 1` of the trace, with a large `p` of the largest eigenvalue.
fn multiplicative(
    candidates: &Candidates<'_>,
    need: &Mat<f64>,
    p: i32,
    steps: usize,
) -> (f64, f64) {
    let eigen = need.self_adjoint_eigen(Side::Lower).unwrap();
    let (k, n) = (need.nrows(), candidates.len());
    let root = Mat::from_fn(k, k, |i, j| {
        eigen.U()[(i, j)] * eigen.S().column_vector()[j].max(0.0).sqrt()
    });
    let mut q = uniform(n);
    let (mut lower, mut upper) = (0.0_f64, f64::INFINITY);
    for _ in 0..steps {
        let sum = information(candidates, &q);
        let solved = sum.llt(Side::Lower).unwrap().solve(&root);
        let ratio = root.transpose() * &solved;
        let eigen = ratio.self_adjoint_eigen(Side::Lower).unwrap();
        let values: Vec<f64> = eigen.S().column_vector().iter().copied().collect();
        let top = values[k - 1];
        // R = M^((p−1)/2) Lᵀ Σ⁻¹, over the largest eigenvalue.
        let powers = Mat::from_fn(k, k, |i, j| {
            (values[i].max(0.0) / top).powi(p - 1).sqrt() * eigen.U()[(j, i)]
        });
        let factor = powers * solved.transpose();
        let score = |row: usize| {
            let image = apply(factor.as_ref(), candidates.row(row));
            dot(&image, &image)
        };
        let scores: Vec<f64> = (0..n).map(score).collect();
        let best = scores.iter().copied().fold(0.0, f64::max);
        let moment: f64 = values.iter().map(|v| (v / top).powi(p - 1) * v * v).sum();
        let (value, bound) = if p == 1 {
            let trace: f64 = values.iter().sum();
            (trace, trace * trace / best)
        } else {
            (top, moment / best)
        };
        (lower, upper) = (lower.max(bound), upper.min(value));
        let mean: f64 = q.iter().map(|&(row, q)| q * scores[row]).sum();
        for (row, q) in &mut q {
            *q *= (scores[*row] / mean).powf(1.0 / f64::from(p + 1));
        }
        let total: f64 = q.iter().map(|pair| pair.1).sum();
        q.iter_mut().for_each(|pair| pair.1 /= total);
    }
    (lower, upper)
}

proptest! {
    #![proptest_config(crate::common::cases(40))]

    #[test]
    fn certificates_are_true(
        (k, n) in (2_usize..9, prop_oneof![20_usize..60, 60_usize..2000]),
        (kind, which) in (0..KINDS, 0_usize..2),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let rows = table(n, k, rng);
        let candidates = Candidates::new(k, rows).unwrap();
        let wanted = Wanted::draw(kind, k, rng);
        let (moment, criterion) = (wanted.moment(k), BOTH[which]);
        let problem = wanted.problem(criterion, 1e-3);
        let design = solve(&candidates, &problem).unwrap();
        let found = check(&candidates, &problem, moment.as_ref(), &design);
        let shares: f64 = design.atoms.iter().map(|atom| atom.risk_share).sum();
        prop_assert!(close(shares, 1.0, 1e-12));
        let fine = wanted.problem(criterion, FINE[which]);
        let best = solve(&candidates, &fine).unwrap();
        let least = check(&candidates, &fine, moment.as_ref(), &best);
        // 1e-9: rounding of the values that are compared.
        let lower = design.lower_bound.unwrap() * (1.0 - 1e-9);
        prop_assert!(lower <= least && least <= found * (1.0 + FINE[which]));
        let pairs = weights(&best);
        for spread in [1e-4, 1e-2, 0.3] {
            let other = information(&candidates, &nearby(&pairs, spread, rng));
            let other = value(criterion, other.as_ref(), moment.as_ref());
            prop_assert!(best.lower_bound.unwrap() <= other * (1.0 + 1e-9), "{spread}");
        }
        for _ in 0..5 {
            let start = rng_index(n, rng);
            let sparse: Vec<(usize, f64)> = (0..2 * k).map(|i| ((start + i * 7) % n, 1.0)).collect();
            let other = information(&candidates, &nearby(&sparse, 1.0, rng));
            prop_assert!(lower <= value(criterion, other.as_ref(), moment.as_ref()));
        }
        let even = information(&candidates, &uniform(n));
        prop_assert!(lower <= value(criterion, even.as_ref(), moment.as_ref()));
    }

    /// Two solvers with nothing in common: the bounds of each are on the right side of the other's.
    #[test]
    fn the_multiplicative_algorithm_agrees(
        (k, n) in (2_usize..5, 8_usize..60),
        (kind, which) in (0..KINDS, 0_usize..2),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let rows = table(n, k, rng);
        let candidates = Candidates::new(k, rows).unwrap();
        let wanted = Wanted::draw(kind, k, rng);
        let design = solve(&candidates, &wanted.problem(BOTH[which], FINE[which])).unwrap();
        let (p, steps, width) = [(1, 2000, 0.01), (60, 4000, 0.08)][which];
        let (lower, upper) = multiplicative(&candidates, &wanted.moment(k), p, steps);
        prop_assert!(upper / lower - 1.0 < width, "the slow one is too slow: {}", upper / lower);
        prop_assert!(lower <= design.objective * (1.0 + 1e-9));
        prop_assert!(design.lower_bound.unwrap() <= upper * (1.0 + 1e-9));
    }

    /// Elfving: the value for one target is the least `‖ν‖₁²` with `Σ ν_i c_i = target`.
    #[test]
    fn one_target_costs_its_basis_pursuit(
        (k, n) in (2_usize..4, 4_usize..12),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let rows = table(n, k, rng);
        let target = normals(k, rng);
        let mut least = f64::INFINITY;
        for mask in (0_u32..1 << n).filter(|mask| mask.count_ones() as usize == k) {
            let basis: Vec<usize> = (0..n).filter(|i| mask >> i & 1 == 1).collect();
            let columns = Mat::from_fn(k, k, |i, j| rows[basis[j] * k + i]);
            let inverse = columns.full_piv_lu().inverse();
            least = least.min(apply(inverse.as_ref(), &target).iter().map(|x| x.abs()).sum());
        }
        let candidates = Candidates::new(k, rows).unwrap();
        let wanted = Wanted::Targets(target, None);
        for criterion in BOTH {
            let design = solve(&candidates, &wanted.problem(criterion, 1e-6)).unwrap();
            prop_assert!(design.lower_bound.unwrap() <= least * least * (1.0 + 1e-9));
            // 1e-9: rounding of ill-conditioned bases.
            prop_assert!(design.objective >= least * least * (1.0 - 1e-9));
            prop_assert!(design.gap().unwrap() <= 1e-6);
        }
    }

    /// No map of candidates and targets together, no repetition and no useless row changes the value.
    #[test]
    fn the_value_does_not_depend_on_how_candidates_are_written(
        (k, n) in (2_usize..7, 20_usize..300),
        (kind, which) in (1..3_usize, 0_usize..2),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let rows = table(n, k, rng);
        let Wanted::Targets(targets, shares) = Wanted::draw(kind, k, rng) else { unreachable!() };
        let wanted = Wanted::Targets(targets.clone(), shares.clone());
        let solve = |rows: Vec<f64>, wanted: &Wanted| {
            let candidates = Candidates::new(k, rows).unwrap();
            solve(&candidates, &wanted.problem(BOTH[which], FINE[which])).unwrap()
        };
        let plain = solve(rows.clone(), &wanted).objective;
        // Both are as near the same optimum, and rounding is far below that.
        let same = |objective: f64| close(objective, plain, 1.1 * FINE[which]);
        let backwards: Vec<f64> = rows.chunks_exact(k).rev().flatten().copied().collect();
        prop_assert!(same(solve(backwards, &wanted).objective));
        let sign = |index: usize| if (index / k).is_multiple_of(3) { -1.0 } else { 1.0 };
        let flipped = rows.iter().enumerate().map(|(i, x)| sign(i) * x).collect();
        prop_assert!(same(solve(flipped, &wanted).objective));
        let skewed = orthonormal(k, k, rng) * Mat::from_fn(k, k, |i, j| f64::from(i == j) * 10_f64.powi(i as i32)) * gaussian(k, k, rng);
        for map in [orthonormal(k, k, rng), skewed] {
            let turned = Wanted::Targets(mapped(&map, &targets), shares.clone());
            prop_assert!(same(solve(mapped(&map, &rows), &turned).objective));
        }
        let smaller = solve(rows.iter().map(|x| 0.01 * x).collect(), &wanted);
        prop_assert!(same(smaller.objective * 1e-4));
        let twice: Vec<f64> = rows.iter().chain(&rows).copied().collect();
        prop_assert!(same(solve(twice, &wanted).objective));
        let mut padded = vec![0.0; 3 * k];
        padded.extend(&rows);
        padded.extend(vec![0.0; 5 * k]);
        let padded = solve(padded, &wanted);
        prop_assert!(same(padded.objective));
        prop_assert!(weights(&padded).iter().all(|&(row, _)| (3..n + 3).contains(&row)));
    }

    #[test]
    fn a_warm_start_ends_at_the_same_value_sooner(
        (k, n) in (2_usize..8, 100_usize..2000),
        (kind, which) in (0..KINDS, 0_usize..2),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let rows = table(n, k, rng);
        let candidates = Candidates::new(k, rows).unwrap();
        let wanted = Wanted::draw(kind, k, rng);
        let problem = wanted.problem(BOTH[which], FINE[which]);
        let cold = solve(&candidates, &problem).unwrap();
        let warm = solve(&candidates, &Problem { start: &cold.atoms, ..problem }).unwrap();
        check(&candidates, &problem, wanted.moment(k).as_ref(), &warm);
        prop_assert!(close(warm.objective, cold.objective, 1.1 * FINE[which]));
        prop_assert!(warm.iterations <= cold.iterations + 2, "{} after {}", warm.iterations, cold.iterations);
        // A start that is of no use does no harm: rows that are not there, or no rows.
        let mut wrong = cold.atoms.clone();
        wrong.iter_mut().for_each(|atom| atom.row = atom.row.map(|row| row + n));
        let other = solve(&candidates, &Problem { start: &wrong, ..problem }).unwrap();
        prop_assert_eq!(other, cold);
    }
}

fn rng_index(n: usize, rng: &mut Rng) -> usize {
    (normals(1, rng)[0].abs() * 1e6) as usize % n
}

/// Points so dense that every unit vector is within an angle `δ` of one of them or its negative:
/// their hull contains the ball of radius `cos δ`, which bounds the value by that of the ball over
/// `cos² δ`.
#[test]
fn a_dense_sphere_is_worth_the_ball() {
    let rng = &mut rng(12);
    let circle: Vec<f64> = (0..300)
        .flat_map(|i| {
            let (sin, cos) = (std::f64::consts::PI * f64::from(i) / 300.0).sin_cos();
            [cos, sin]
        })
        .collect();
    let step = std::f64::consts::PI / 100.0;
    let sphere: Vec<f64> = (0..100 * 100)
        .flat_map(|i| {
            let (longitude, latitude) = (f64::from(i % 100), f64::from(i / 100));
            let (sin, cos) = (longitude * step).sin_cos();
            let (z, r) = ((latitude + 0.5) * step).sin_cos();
            [r * cos, r * sin, z]
        })
        .collect();
    let circle = (2, circle, std::f64::consts::PI / 600.0);
    let sphere = (3, sphere, step / 2_f64.sqrt());
    for (k, points, delta) in [circle, sphere] {
        for rank in 1..=k {
            let (map, root) = (gaussian(k, k, rng), gaussian(k, rank, rng));
            let need = &root * root.transpose();
            let candidates = Candidates::new(k, mapped(&map, &points)).unwrap();
            for (criterion, fine) in BOTH.into_iter().zip(FINE) {
                let wanted = Wanted::Moment(need.clone());
                let problem = wanted.problem(criterion, fine);
                let design = solve(&candidates, &problem).unwrap();
                check(&candidates, &problem, need.as_ref(), &design);
                let ball = ball::optimal(map.as_ref(), need.as_ref(), criterion, 1.0).unwrap();
                let ratio = design.objective / ball.objective;
                let most = delta.cos().powi(-2) * (1.0 + 1.1 * fine);
                assert!(
                    ratio > 1.0 - 1e-9 && ratio < most,
                    "{k} {rank} {criterion}: {ratio} above {most}"
                );
                if criterion == Criterion::MaxEigenvalue {
                    let scatter = (&map * map.transpose()).full_piv_lu().inverse();
                    let whitened = scatter * &need;
                    let trace: f64 = (0..k).map(|i| whitened[(i, i)]).sum();
                    assert!(close(ball.objective, trace, 1e-8));
                }
            }
        }
    }
}

#[test]
fn unit_vectors_are_weighted_by_the_target() {
    let k = 6;
    let rows = (0..k)
        .flat_map(|i| crate::common::unit(k, i))
        .collect::<Vec<_>>();
    let candidates = Candidates::new(k, rows).unwrap();
    let target = vec![0.5, -2.0, 0.0, 1.0, 0.25, -0.25];
    for criterion in BOTH {
        let wanted = Wanted::Targets(target.clone(), None);
        let design = solve(&candidates, &wanted.problem(criterion, 1e-8)).unwrap();
        assert!(close(design.objective, 16.0, 2e-8));
        // The value is Σ a²/q: quadratic at its minimum, with 16 Σ (dq)²/q, so that weights are off
        // by the root of the gap.
        let sums = weights(&design);
        assert!(
            sums.iter()
                .all(|&(row, q)| (q - target[row].abs() / 4.0).abs() < 1e-4)
        );
        assert!(sums.iter().all(|&(row, _)| row != 2));
    }
}

#[test]
fn rare_directions_next_to_each_other_are_found() {
    // One block of rows hides two directions that no other row has.
    let (k, n) = (4, 3000);
    let rng = &mut rng(5);
    let mut rows = normals(n * k, rng);
    rows.chunks_exact_mut(k).for_each(|row| row[2..].fill(0.0));
    rows[1000 * k..1000 * k + 8].copy_from_slice(&[0.0, 0.0, 1e-3, 0.0, 0.0, 0.0, 0.0, 2e-3]);
    let candidates = Candidates::new(k, rows).unwrap();
    for criterion in BOTH {
        let problem = Problem::new(criterion, taskscout::design::Need::Everything);
        let design = solve(&candidates, &problem).unwrap();
        let moment = Mat::<f64>::identity(k, k);
        check(&candidates, &problem, moment.as_ref(), &design);
        let used = weights(&design);
        assert!(
            [1000, 1001]
                .iter()
                .all(|rare| used.iter().any(|pair| pair.0 == *rare))
        );
    }
}

#[test]
fn designs_do_not_depend_on_the_number_of_threads() {
    let (k, n) = (6, 50_000);
    let rng = &mut rng(9);
    let rows = table(n, k, rng);
    let wanted = Wanted::draw(2, k, rng);
    for (criterion, fine) in BOTH.into_iter().zip(FINE) {
        let text = |threads: usize| {
            on_threads(threads, || {
                let candidates = Candidates::new(k, &rows[..]).unwrap();
                let design = solve(&candidates, &wanted.problem(criterion, fine)).unwrap();
                serde_json::to_string(&design).unwrap()
            })
        };
        let one = text(1);
        assert_eq!(one, text(2));
        assert_eq!(one, text(5));
    }
}
