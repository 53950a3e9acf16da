//! Designs over tables that are badly conditioned, badly scaled or do not reach the target.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::design;

use crate::common::{apply, close, dot, normals, orthonormal, rng};
use design::{BOTH, FINE, KINDS, Wanted, information, value, weights};
use faer::Mat;
use proptest::prelude::*;
use taskscout::Error;
use taskscout::design::{Candidates, Need, Problem, solve};

/// Singular values from 1 down to `least`, in the manner of LAPACK's test matrices.
fn spectrum(mode: usize, k: usize, least: f64) -> Vec<f64> {
    let part = |i: usize| i as f64 / (k - 1) as f64;
    let value = |i: usize| match mode {
        0 => [1.0, least][usize::from(i > 0)],
        1 => [1.0, least][usize::from(i == k - 1)],
        2 => least.powf(part(i)),
        _ => 1.0 - part(i) * (1.0 - least),
    };
    (0..k).map(value).collect()
}

/// Rows with some values stretched, then turned: `c ↦ Q diag(s) c`.
fn stretched(rows: &[f64], s: &[f64], turn: &Mat<f64>) -> Vec<f64> {
    let stretch = |row: &[f64]| row.iter().zip(s).map(|(x, s)| x * s).collect::<Vec<_>>();
    rows.chunks_exact(s.len())
        .flat_map(|row| apply(turn.as_ref(), &stretch(row)))
        .collect()
}

fn scaled(rows: &[f64], by: f64) -> Vec<f64> {
    rows.iter().map(|x| x * by).collect()
}

proptest! {
    #![proptest_config(crate::common::cases(32))]

    /// An invertible map changes nothing, however badly conditioned, up to what rounding of the
    /// candidates themselves does to the weakest direction.
    #[test]
    fn bad_spectra_cost_no_accuracy(
        (k, n) in (2_usize..6, 20_usize..200),
        (mode, power, which) in (0_usize..4, prop_oneof![Just(2), Just(8), Just(11)], 0_usize..2),
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let (rows, targets) = (normals(n * k, rng), normals(2 * k, rng));
        let clean = Candidates::new(k, rows.clone()).unwrap();
        let plain = Wanted::Targets(targets.clone(), None);
        let best = solve(&clean, &plain.problem(BOTH[which], FINE[which])).unwrap();
        let least = 0.1_f64.powi(power);
        let (s, turn) = (spectrum(mode, k, least), orthonormal(k, k, rng));
        let candidates = Candidates::new(k, stretched(&rows, &s, &turn)).unwrap();
        let wanted = Wanted::Targets(stretched(&targets, &s, &turn), None);
        let design = solve(&candidates, &wanted.problem(BOTH[which], FINE[which])).unwrap();
        let allowed = 1.1 * FINE[which] + 64.0 * f64::EPSILON / least;
        prop_assert!(close(design.objective, best.objective, allowed), "{} for {}", design.objective, best.objective);
        // The weights are as good where nothing is badly conditioned.
        let sum = information(&clean, &weights(&design));
        let worth = value(BOTH[which], sum.as_ref(), plain.moment(k).as_ref());
        prop_assert!(close(worth, best.objective, allowed), "{worth} for {}", best.objective);
    }

    #[test]
    fn a_dimension_that_is_not_there_is_left_out(
        (k, n) in (3_usize..6, 20_usize..200),
        which in 0_usize..2,
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let (low, turn) = (k - 1, orthonormal(k, k, rng));
        let rows = normals(n * low, rng);
        let targets = normals(2 * low, rng);
        let lift = |rows: &[f64]| -> Vec<f64> {
            let turn = turn.as_ref().subcols(0, low);
            rows.chunks_exact(low).flat_map(|row| apply(turn, row)).collect()
        };
        let (small, large) = (Candidates::new(low, rows.clone()).unwrap(), Candidates::new(k, lift(&rows)).unwrap());
        let inside = [Wanted::Everything, Wanted::Targets(targets.clone(), None)];
        let lifted = [Wanted::Everything, Wanted::Targets(lift(&targets), None)];
        for (wanted, lifted) in inside.iter().zip(&lifted) {
            let expected = solve(&small, &wanted.problem(BOTH[which], FINE[which])).unwrap();
            let design = solve(&large, &lifted.problem(BOTH[which], FINE[which])).unwrap();
            prop_assert!(close(design.objective, expected.objective, 1.1 * FINE[which]));
        }
    }

    /// Either the value of the unscaled problem, scaled, or an error: never a silent NaN.
    #[test]
    fn scales_of_any_size_are_served(
        k in 3_usize..6,
        (kind, which) in (2..KINDS, 0_usize..2),
        scale in prop_oneof![Just(1e150), Just(1e-150), Just(1e75), Just(1e-9)],
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let rows = normals(50 * k, rng);
        let wanted = Wanted::draw(kind, k, rng);
        let need = |s: &dyn Fn(usize) -> f64| match &wanted {
            Wanted::Targets(rows, weights) => {
                let rows = rows.iter().enumerate().map(|(i, x)| x * s(i % k));
                Wanted::Targets(rows.collect(), weights.clone())
            }
            _ => Wanted::Moment(Mat::from_fn(k, k, |i, j| wanted.moment(k)[(i, j)] * s(i) * s(j))),
        };
        let solve = |rows: Vec<f64>, wanted: &Wanted| {
            let candidates = Candidates::new(k, rows).unwrap();
            let design = solve(&candidates, &wanted.problem(BOTH[which], FINE[which]))?;
            assert!(design.atoms.iter().all(|atom| atom.weight.is_finite()));
            Ok::<f64, Error>(design.objective)
        };
        let plain = solve(rows.clone(), &wanted).unwrap();
        let same = |value: f64| close(value, plain, 1.1 * FINE[which]);
        let both = solve(scaled(&rows, scale), &need(&|_| scale)).unwrap();
        prop_assert!(same(both), "both by {scale}: {both}, not {plain}");
        let candidates = solve(scaled(&rows, scale), &wanted).unwrap();
        prop_assert!(same(candidates * scale * scale), "candidates by {scale}: {candidates}");
        let targets = solve(rows.clone(), &need(&|_| scale)).unwrap();
        prop_assert!(same(targets / scale / scale), "targets by {scale}: {targets}");
        let apart = solve(scaled(&rows, 1.0 / scale), &need(&|_| scale));
        match apart {
            Ok(value) => prop_assert!(same(value / scale / scale / scale / scale), "apart by {scale}: {value}"),
            Err(error) => prop_assert!(matches!(error, Error::Numerical { .. } | Error::Setting { .. }) && scale.ln().abs() > 300.0, "{error}"),
        }
        let units = [scale, 1.0 / scale, 1.0];
        let unit = |i: usize| units[i % 3];
        let mixed = rows.iter().enumerate().map(|(i, x)| x * unit(i % k)).collect();
        let mixed = solve(mixed, &need(&unit)).unwrap();
        prop_assert!(same(mixed), "units {units:?}: {mixed}, not {plain}");
        let everything = solve(scaled(&rows, scale), &Wanted::Everything).unwrap();
        let expected = solve(rows, &Wanted::Everything).unwrap();
        prop_assert!(close(everything * scale * scale, expected, 1.1 * FINE[which]));
    }
}

#[test]
fn a_target_out_of_reach_is_named() {
    let rng = &mut rng(4);
    let (k, n) = (4, 60);
    // Rows orthogonal to a normal, with every column's largest value at one.
    let turn = orthonormal(k, k, rng);
    let mut rows: Vec<f64> = normals(n * 3, rng)
        .chunks_exact(3)
        .flat_map(|row| apply(turn.as_ref().subcols(0, 3), row))
        .collect();
    let largest = |j: usize| {
        rows.iter()
            .skip(j)
            .step_by(k)
            .fold(0.0_f64, |top, x| top.max(x.abs()))
    };
    let top: Vec<f64> = (0..k).map(largest).collect();
    rows.iter_mut()
        .enumerate()
        .for_each(|(i, x)| *x /= top[i % k]);
    let normal: Vec<f64> = (0..k).map(|j| turn[(j, 3)] * top[j]).collect();
    let size = dot(&normal, &normal).sqrt();
    let inside = &rows[..k];
    let part = dot(inside, inside).sqrt() / 2.0;
    let target: Vec<f64> = (0..k)
        .map(|j| inside[j] + part * normal[j] / size)
        .collect();
    let candidates = Candidates::new(k, rows.clone()).unwrap();
    for criterion in BOTH {
        let need = Need::Targets {
            rows: &target,
            weights: None,
        };
        match solve(&candidates, &Problem::new(criterion, need)) {
            Err(Error::Unreachable {
                share,
                direction,
                rank,
                needed,
            }) => {
                assert_eq!((rank, needed), (3, 4));
                assert!(close(share, 0.2, 1e-9), "{share}");
                let cosine = dot(&direction, &normal) / size / dot(&direction, &direction).sqrt();
                assert!(close(cosine.abs(), 1.0, 1e-9), "{cosine}");
            }
            other => panic!("{other:?}"),
        }
    }
}
