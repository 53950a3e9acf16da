//! The closed forms on the ball against designs found any other way.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::{apply, close, dot, gaussian, normals, orthonormal, relative_distance, rng};
use faer::{Mat, MatRef, mat};
use proptest::prelude::*;
use taskscout::Error;
use taskscout::design::{Criterion, Design, ball};
use taskscout::rng::Rng;

const BOTH: [Criterion; 2] = [Criterion::Trace, Criterion::MaxEigenvalue];

/// A map of full row rank and a need of the given rank.
fn problem(k: usize, d: usize, rank: usize, rng: &mut Rng) -> (Mat<f64>, Mat<f64>) {
    let root = gaussian(k, rank, rng);
    (gaussian(k, d, rng), &root * root.transpose())
}

fn information(map: MatRef<'_, f64>, tasks: &[(Vec<f64>, f64)]) -> Mat<f64> {
    let mut sum = Mat::zeros(map.nrows(), map.nrows());
    for (task, weight) in tasks {
        let c = apply(map, task);
        sum += Mat::from_fn(c.len(), c.len(), |i, j| weight * c[i] * c[j]);
    }
    sum
}

/// Scales tasks into the ball and weights to one.
fn feasible(tasks: Vec<(Vec<f64>, f64)>, radius: f64) -> Vec<(Vec<f64>, f64)> {
    let total: f64 = tasks.iter().map(|(_, weight)| weight).sum();
    let shrink = |task: Vec<f64>| -> Vec<f64> {
        let scale = radius / dot(&task, &task).sqrt();
        task.into_iter().map(|value| value * scale).collect()
    };
    tasks
        .into_iter()
        .map(|(task, weight)| (shrink(task), weight / total))
        .collect()
}

/// `Σ q w wᵀ`: the design itself, whatever the signs and the order of its tasks.
fn moment(design: &Design) -> Mat<f64> {
    let tasks: Vec<_> = design
        .atoms
        .iter()
        .map(|atom| (atom.task.clone(), atom.weight))
        .collect();
    let d = tasks[0].0.len();
    information(Mat::<f64>::identity(d, d).as_ref(), &tasks)
}

/// Eigenvalues of `Ã = S^-½ A S^-½` with `S = B Bᵀ`.
fn whitened_spectrum(map: &Mat<f64>, need: &Mat<f64>) -> Vec<f64> {
    let k = map.nrows();
    let scatter = (map * map.transpose())
        .self_adjoint_eigen(faer::Side::Lower)
        .unwrap();
    let (s, u) = (scatter.S().column_vector(), scatter.U());
    let root = Mat::from_fn(k, k, |i, j| u[(i, j)] / s[j].sqrt()) * u.transpose();
    (&root * need * &root)
        .self_adjoint_eigenvalues(faer::Side::Lower)
        .unwrap()
}

proptest! {
    #![proptest_config(crate::common::cases(24))]

    #[test]
    fn no_design_beats_the_optimum(
        (k, extra, rank) in (1_usize..5, 0_usize..4, 1_usize..5),
        radius in 0.3_f64..3.0,
        seed in any::<u64>(),
    ) {
        let (rank, d) = (rank.min(k), k + extra);
        let rng = &mut rng(seed);
        let (map, need) = problem(k, d, rank, rng);
        for criterion in BOTH {
            let best = ball::optimal(map.as_ref(), need.as_ref(), criterion, radius).unwrap();
            let value = |tasks: Vec<(Vec<f64>, f64)>| {
                let sum = information(map.as_ref(), &feasible(tasks, radius));
                criterion.value(sum.as_ref(), need.as_ref()).unwrap()
            };
            let mut lowest = f64::INFINITY;
            for trial in 0..200 {
                let atoms = k + trial % 4;
                let random = (0..atoms).map(|_| (normals(d, rng), rng.random::<f64>())).collect();
                lowest = lowest.min(value(random));
                let size = 0.3 * rng.random::<f64>();
                let mut near: Vec<(Vec<f64>, f64)> = Vec::new();
                for atom in &best.atoms {
                    let shift = normals(d, rng);
                    let moved = atom.task.iter().zip(&shift).map(|(a, b)| a + size * radius * b);
                    near.push((moved.collect(), atom.weight * (1.0 + size * rng.random::<f64>())));
                }
                // With fewer tasks than directions a moved design may miss the need altogether.
                near.extend((0..k).map(|_| (normals(d, rng), 0.1 * size)));
                lowest = lowest.min(value(near));
            }
            prop_assert!(lowest >= best.objective * (1.0 - 1e-7), "{} {}", lowest, best.objective);
            prop_assert!(lowest.is_finite());
        }
    }

    #[test]
    fn the_objective_is_the_criterion_and_the_formula(
        (k, extra, rank) in (1_usize..5, 0_usize..4, 1_usize..5),
        radius in 0.3_f64..3.0,
        seed in any::<u64>(),
    ) {
        let rank = rank.min(k);
        let (map, need) = problem(k, k + extra, rank, &mut rng(seed));
        let spectrum = whitened_spectrum(&map, &need);
        let trace: f64 = spectrum.iter().sum();
        let roots: f64 = spectrum.iter().rev().take(rank).map(|value| value.max(0.0).sqrt()).sum();
        for criterion in BOTH {
            let design = ball::optimal(map.as_ref(), need.as_ref(), criterion, radius).unwrap();
            let formula = if criterion == Criterion::Trace { roots * roots } else { trace };
            prop_assert!(close(design.objective, formula / (radius * radius), 1e-6));
            let value = criterion.value(design.information().as_ref(), need.as_ref()).unwrap();
            prop_assert!(close(design.objective, value, 1e-6), "{} {}", design.objective, value);
            prop_assert_eq!(design.lower_bound.map(f64::to_bits), Some(design.objective.to_bits()));
            prop_assert_eq!(design.criterion, Some(criterion));
            prop_assert!(design.atoms.len() <= rank, "{} atoms", design.atoms.len());
            let sum = |part: fn(&taskscout::design::DesignAtom) -> f64| design.atoms.iter().map(part).sum::<f64>();
            prop_assert!(close(sum(|atom| atom.weight), 1.0, 1e-12));
            prop_assert!(close(sum(|atom| atom.risk_share), 1.0, 1e-12));
            prop_assert!(design.atoms.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
            for atom in &design.atoms {
                prop_assert!(close(dot(&atom.task, &atom.task).sqrt(), radius, 1e-12));
                let embedding = apply(map.as_ref(), &atom.task);
                prop_assert!(embedding.iter().zip(&atom.embedding).all(|(a, b)| (a - b).abs() < 1e-12 * radius * map.norm_l2()));
            }
        }
    }

    #[test]
    fn designs_turn_with_tasks_and_embeddings(
        (k, extra, rank) in (1_usize..5, 0_usize..4, 1_usize..5),
        seed in any::<u64>(),
    ) {
        let (rank, d) = (rank.min(k), k + extra);
        let rng = &mut rng(seed);
        let (map, need) = problem(k, d, rank, rng);
        let (tasks, embeddings) = (orthonormal(d, d, rng), orthonormal(k, k, rng));
        for criterion in BOTH {
            let plain = ball::optimal(map.as_ref(), need.as_ref(), criterion, 1.0).unwrap();
            // Σ_w over B Q is that of B at the tasks Q w.
            let turned = &map * &tasks;
            let turned = ball::optimal(turned.as_ref(), need.as_ref(), criterion, 1.0).unwrap();
            prop_assert!(close(turned.objective, plain.objective, 1e-6));
            let expected = tasks.transpose() * moment(&plain) * &tasks;
            prop_assert!(relative_distance(moment(&turned).as_ref(), expected.as_ref()) < 1e-6);
            let seen = &embeddings * &map;
            let wanted = &embeddings * &need * embeddings.transpose();
            let seen = ball::optimal(seen.as_ref(), wanted.as_ref(), criterion, 1.0).unwrap();
            prop_assert!(close(seen.objective, plain.objective, 1e-6));
            prop_assert!(relative_distance(moment(&seen).as_ref(), moment(&plain).as_ref()) < 1e-6);
        }
    }

    #[test]
    fn the_papers_construction_is_never_better(
        (k, extra, rank) in (1_usize..5, 0_usize..4, 1_usize..5),
        radius in 0.3_f64..3.0,
        seed in any::<u64>(),
    ) {
        let rank = rank.min(k);
        let (map, need) = problem(k, k + extra, rank, &mut rng(seed));
        let paper = ball::paper(map.as_ref(), need.as_ref(), radius).unwrap();
        prop_assert_eq!(paper.atoms.len(), rank);
        prop_assert!(paper.atoms.iter().all(|atom| close(atom.weight, 1.0 / rank as f64, 1e-12)));
        prop_assert!(close(paper.atoms.iter().map(|atom| atom.risk_share).sum::<f64>(), 1.0, 1e-12));
        for criterion in BOTH {
            let best = ball::optimal(map.as_ref(), need.as_ref(), criterion, radius).unwrap();
            let value = criterion.value(paper.information().as_ref(), need.as_ref()).unwrap();
            prop_assert!(value >= best.objective * (1.0 - 1e-9));
        }
        let own = Criterion::MaxEigenvalue.value(paper.information().as_ref(), need.as_ref()).unwrap();
        prop_assert!(close(paper.objective, own, 1e-12));
    }

    #[test]
    fn one_target_takes_one_task_along_its_shortest_preimage(
        (k, extra) in (1_usize..7, 0_usize..6),
        radius in 0.3_f64..3.0,
        seed in any::<u64>(),
    ) {
        let rng = &mut rng(seed);
        let (map, target) = (gaussian(k, k + extra, rng), normals(k, rng));
        let need = Mat::from_fn(k, k, |i, j| target[i] * target[j]);
        // B⁺ c = Bᵀ (B Bᵀ)⁻¹ c.
        let scatter = &map * map.transpose();
        let inverse = faer::linalg::solvers::DenseSolveCore::inverse(&scatter.full_piv_lu());
        let shortest = apply(map.transpose(), &apply(inverse.as_ref(), &target));
        for criterion in BOTH {
            let design = ball::optimal(map.as_ref(), need.as_ref(), criterion, radius).unwrap();
            prop_assert_eq!(design.atoms.len(), 1, "{:?}", design.atoms.iter().map(|atom| atom.weight).collect::<Vec<_>>());
            let task = &design.atoms[0].task;
            let cosine = dot(task, &shortest) / (radius * dot(&shortest, &shortest).sqrt());
            prop_assert!(close(cosine.abs(), 1.0, 1e-9), "{}", cosine);
            prop_assert!(close(design.objective, dot(&shortest, &shortest) / (radius * radius), 1e-6));
        }
    }
}

#[test]
fn a_larger_ball_scales_tasks_and_value() {
    let (map, need) = problem(3, 5, 3, &mut rng(3));
    for criterion in BOTH {
        let solve = |radius| ball::optimal(map.as_ref(), need.as_ref(), criterion, radius).unwrap();
        let (unit, large) = (solve(1.0), solve(4.0));
        assert!(close(unit.objective, 16.0 * large.objective, 1e-12));
        for (a, b) in unit.atoms.iter().zip(&large.atoms) {
            assert!(close(a.weight, b.weight, 1e-12));
            assert!(
                a.task
                    .iter()
                    .zip(&b.task)
                    .all(|(a, b)| (4.0 * a - b).abs() < 1e-12)
            );
        }
    }
}

#[test]
fn a_hand_worked_design() {
    // Ã = diag(4/16, 1/1): roots ½ and 1.
    let (map, need) = (
        mat![[4.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        mat![[4.0, 0.0], [0.0, 1.0]],
    );
    let trace = ball::optimal(map.as_ref(), need.as_ref(), Criterion::Trace, 1.0).unwrap();
    assert!(close(trace.objective, 2.25, 1e-12));
    assert!(close(trace.atoms[0].weight, 2.0 / 3.0, 1e-12));
    assert!(close(trace.atoms[0].task[2].abs(), 1.0, 1e-12));
    let worst = ball::optimal(map.as_ref(), need.as_ref(), Criterion::MaxEigenvalue, 1.0).unwrap();
    assert!(close(worst.objective, 1.25, 1e-12));
    assert!(close(worst.atoms[0].weight, 0.8, 1e-12));
}

#[test]
fn an_unreachable_need_says_how_much_is_missing() {
    // The third embedding coordinate is out of reach and holds 30 % of the need.
    let map = mat![[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]];
    let need = mat![[5.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]];
    for criterion in BOTH {
        let error = ball::optimal(map.as_ref(), need.as_ref(), criterion, 1.0).unwrap_err();
        assert!(
            matches!(
                error,
                Error::RankDeficient {
                    rank: 2,
                    needed: 3,
                    ..
                }
            ),
            "{error:?}"
        );
        assert!(error.to_string().contains("misses 30.0 %"), "{error}");
    }
    assert!(matches!(
        ball::paper(map.as_ref(), need.as_ref(), 1.0),
        Err(Error::RankDeficient { .. })
    ));
    // What lies within reach is served by the same map.
    let need = mat![[5.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]];
    let design = ball::optimal(map.as_ref(), need.as_ref(), Criterion::Trace, 1.0).unwrap();
    let value = Criterion::Trace
        .value(design.information().as_ref(), need.as_ref())
        .unwrap();
    assert!(close(design.objective, value, 1e-9));
}

#[test]
fn settings_out_of_range_are_refused() {
    let (map, need) = problem(2, 3, 2, &mut rng(8));
    let key = |result: taskscout::Result<Design>| match result {
        Err(Error::Setting { key, .. }) => key,
        other => panic!("{other:?}"),
    };
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            key(ball::optimal(
                map.as_ref(),
                need.as_ref(),
                Criterion::Trace,
                radius
            )),
            "radius"
        );
        assert_eq!(
            key(ball::paper(map.as_ref(), need.as_ref(), radius)),
            "radius"
        );
    }
    let nothing = Mat::<f64>::zeros(2, 2);
    assert_eq!(
        key(ball::optimal(
            map.as_ref(),
            nothing.as_ref(),
            Criterion::Trace,
            1.0
        )),
        "target"
    );
    assert_eq!(
        key(ball::paper(map.as_ref(), nothing.as_ref(), 1.0)),
        "target"
    );
    let wide = Mat::<f64>::identity(3, 3);
    let result = ball::optimal(map.as_ref(), wide.as_ref(), Criterion::Trace, 1.0);
    assert!(matches!(result, Err(Error::WrongLength { .. })));
    let broken = Mat::from_fn(2, 3, |_, _| f64::NAN);
    let result = ball::optimal(broken.as_ref(), need.as_ref(), Criterion::Trace, 1.0);
    assert!(matches!(result, Err(Error::Numerical { .. })));
}
