//! Designs for samples of several outputs, against brute force.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use faer::{Mat, MatRef};
use rand_distr::{Distribution as _, StandardNormal};
use taskscout::design::{
    Blocks, Candidates, Criterion, Design, Need, Problem, solve, solve_blocks, solve_space,
    solve_space_blocks,
};
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, derive};
use taskscout::space::Space;

const BOTH: [Criterion; 2] = [Criterion::Trace, Criterion::MaxEigenvalue];

fn gaussian(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = derive(seed, Purpose::Test, &[]);
    Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
}

fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let matrix = gaussian(count, 1, seed);
    (0..count).map(|i| matrix[(i, 0)]).collect()
}

fn moment(k: usize, rank: usize, seed: u64) -> Mat<f64> {
    let root = gaussian(k, rank, seed);
    &root * root.transpose()
}

/// `Σ q_i C_i C_iᵀ` of blocks, row-major.
fn information(blocks: &[f64], (k, outputs): (usize, usize), q: &[f64]) -> Mat<f64> {
    let mut sum = Mat::zeros(k, k);
    for (block, q) in blocks.chunks(k * outputs).zip(q) {
        let columns = MatRef::from_column_major_slice(block, k, outputs);
        sum += faer::Scale(*q) * (columns * columns.transpose());
    }
    sum
}

/// The weights of a design over a table.
fn weights(design: &Design, count: usize) -> Vec<f64> {
    let mut q = vec![0.0; count];
    for atom in &design.atoms {
        q[atom.row.unwrap()] += atom.weight;
    }
    q
}

/// The least value over a grid of weights on four candidates, all of them below their limits.
fn least_on_grid(value: impl Fn(&[f64]) -> f64, limits: &[f64], steps: usize) -> f64 {
    let mut least = f64::INFINITY;
    for a in 0..=steps {
        for b in 0..=steps - a {
            for c in 0..=steps - a - b {
                let counts = [a, b, c, steps - a - b - c];
                let q = counts.map(|n| n as f64 / steps as f64);
                if q.iter().zip(limits).all(|(q, limit)| q <= limit) {
                    least = least.min(value(&q));
                }
            }
        }
    }
    least
}

/// The trace optimum over many candidates by plain multiplicative updates, run long.
fn multiplicative(blocks: &[f64], (k, outputs): (usize, usize), need: MatRef<'_, f64>) -> f64 {
    let count = blocks.len() / (k * outputs);
    let mut q = vec![1.0 / count as f64; count];
    let mut value = f64::INFINITY;
    for _ in 0..3000 {
        let sum = information(blocks, (k, outputs), &q);
        let inverse = sum.llt(faer::Side::Lower).unwrap();
        let inverse = faer::linalg::solvers::DenseSolveCore::inverse(&inverse);
        let form = &inverse * need * &inverse;
        value = (0..k).map(|i| (&inverse * need)[(i, i)]).sum();
        let scores = blocks.chunks(k * outputs).map(|block| {
            let columns = MatRef::from_column_major_slice(block, k, outputs);
            let turned = columns.transpose() * &form * columns;
            (0..outputs).map(|i| turned[(i, i)]).sum::<f64>()
        });
        q.iter_mut()
            .zip(scores)
            .for_each(|(q, score)| *q *= score.sqrt());
        let total: f64 = q.iter().sum();
        q.iter_mut().for_each(|q| *q /= total);
    }
    value
}

/// Blocks of three columns in five dimensions, so that no candidate reaches everything: with and
/// without limits and information given, the design is the best of all weights and its bound below.
#[test]
fn designs_of_rank_three_are_the_best_of_a_grid() {
    let (k, outputs, steps) = (5, 3, 50);
    for seed in 0..3 {
        let rows = numbers(4 * k * outputs, seed);
        let need = moment(k, 3, 100 + seed);
        let given = moment(k, 5, 200 + seed);
        for criterion in BOTH {
            for (limits, given) in [
                ([1.0; 4], None),
                ([0.3, 0.3, 0.3, 0.35], None),
                ([1.0; 4], Some(given.as_ref())),
                ([0.5, 0.0, 0.4, 0.4], Some(given.as_ref())),
            ] {
                let blocks = Blocks::new(k, outputs, &rows[..]).unwrap();
                let blocks = blocks.with_limits(limits.to_vec()).unwrap();
                let problem = Problem {
                    given,
                    ..Problem::new(criterion, Need::Moment(need.as_ref()))
                };
                let design = solve_blocks(&blocks, &problem).unwrap();
                let value = |q: &[f64]| {
                    let mut sum = information(&rows, (k, outputs), q);
                    if let Some(given) = given {
                        sum += given;
                    }
                    criterion.value(sum.as_ref(), need.as_ref()).unwrap()
                };
                let q = weights(&design, 4);
                assert!(q.iter().zip(&limits).all(|(q, limit)| *q <= limit + 1e-9));
                assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                assert!((value(&q) / design.objective - 1.0).abs() < 1e-9);
                let grid = least_on_grid(value, &limits, steps);
                let bound = design.lower_bound.unwrap();
                assert!(bound <= grid && bound <= design.objective);
                assert!(design.gap().unwrap() <= 1e-4, "{criterion} {limits:?}");
                assert!(design.objective <= grid * (1.0 + 1e-4));
                assert!(grid <= design.objective * 1.02, "{criterion} {limits:?}");
            }
        }
    }
}

#[test]
fn long_tables_reach_the_optimum_of_plain_updates() {
    let (k, outputs, count) = (6, 3, 300);
    for seed in 0..3 {
        let rows = numbers(count * k * outputs, seed);
        let need = moment(k, 2 + seed as usize, 50 + seed);
        let blocks = Blocks::new(k, outputs, &rows[..]).unwrap();
        let problem = Problem::new(Criterion::Trace, Need::Moment(need.as_ref()));
        let design = solve_blocks(&blocks, &problem).unwrap();
        let plain = multiplicative(&rows, (k, outputs), need.as_ref());
        assert!(design.lower_bound.unwrap() <= plain);
        assert!((design.objective / plain - 1.0).abs() < 1e-3, "{plain}");
        assert!(design.gap().unwrap() <= 1e-4);
    }
}

/// All tasks on the rim of the disc, finely, against the search by top eigenvectors.
#[test]
fn designs_on_the_ball_are_those_of_a_fine_grid_of_its_tasks() {
    let (k, outputs) = (4, 3);
    let features = FeatureMap::identity(2).unwrap();
    let space = Space::ball(2, 1.0).unwrap();
    for seed in 0..3 {
        let maps: Vec<Mat<f64>> = (0..outputs as u64)
            .map(|output| gaussian(k, 2, 10 * seed + output))
            .collect();
        let maps: Vec<MatRef<'_, f64>> = maps.iter().map(Mat::as_ref).collect();
        let need = moment(k, 3, 80 + seed);
        let problem = Problem::new(Criterion::Trace, Need::Moment(need.as_ref()));
        let rng = &mut derive(seed, Purpose::Search, &[]);
        let design = solve_space_blocks(&space, &features, &maps, &problem, rng).unwrap();
        let grid: Vec<f64> = (0..400)
            .flat_map(|step| {
                let (y, x) = (std::f64::consts::PI * f64::from(step) / 400.0).sin_cos();
                let column = move |map: &MatRef<'_, f64>| -> Vec<f64> {
                    (0..map.nrows())
                        .map(|i| map[(i, 0)] * x + map[(i, 1)] * y)
                        .collect()
                };
                maps.iter().flat_map(column).collect::<Vec<f64>>()
            })
            .collect();
        let plain = multiplicative(&grid, (k, outputs), need.as_ref());
        assert!(design.gap().unwrap() <= 1e-4);
        assert!(design.lower_bound.unwrap() <= plain);
        assert!((design.objective / plain - 1.0).abs() < 1e-3, "{plain}");
        let value = Criterion::Trace.value(design.information().as_ref(), need.as_ref());
        assert!((value.unwrap() / design.objective - 1.0).abs() < 1e-9);
    }
}

/// In many dimensions no grid is fine enough: the certificate is checked by random designs instead,
/// and by how near it comes.
#[test]
fn bounds_on_large_balls_hold_and_are_near() {
    let (k, outputs, dim) = (4, 3, 20);
    let features = FeatureMap::identity(dim).unwrap();
    let space = Space::ball(dim, 2.0).unwrap();
    let maps: Vec<Mat<f64>> = (0..outputs as u64).map(|o| gaussian(k, dim, o)).collect();
    let maps: Vec<MatRef<'_, f64>> = maps.iter().map(Mat::as_ref).collect();
    let need = moment(k, 3, 9);
    for (criterion, tolerance) in BOTH.into_iter().zip([1e-4, 1e-2]) {
        let problem = Problem {
            tolerance,
            ..Problem::new(criterion, Need::Moment(need.as_ref()))
        };
        let rng = &mut derive(1, Purpose::Search, &[]);
        let design = solve_space_blocks(&space, &features, &maps, &problem, rng).unwrap();
        let gap = design.gap().unwrap();
        assert!(gap <= tolerance, "{criterion}: {gap}");
        // No more tasks than directions are needed.
        assert!(design.atoms.len() <= k, "{}", design.atoms.len());
        for seed in 0..200 {
            let mut sum = Mat::zeros(k, k);
            let tasks = gaussian(dim, k, 1000 + seed);
            for j in 0..k {
                let scale = 2.0 / tasks.col(j).norm_l2();
                for map in &maps {
                    let column = *map * tasks.as_ref().subcols(j, 1) * faer::Scale(scale);
                    sum += &column * column.transpose() * faer::Scale(1.0 / k as f64);
                }
            }
            let value = criterion.value(sum.as_ref(), need.as_ref()).unwrap();
            assert!(value >= design.lower_bound.unwrap());
        }
    }
}

#[test]
fn one_output_is_what_it_was() {
    let k = 5;
    for (seed, criterion) in BOTH.into_iter().enumerate() {
        let seed = seed as u64;
        let rows = numbers(60 * k, seed);
        let need = moment(k, 3, 30 + seed);
        let problem = Problem {
            tolerance: 1e-8,
            ..Problem::new(criterion, Need::Moment(need.as_ref()))
        };
        let own = solve(&Candidates::new(k, &rows[..]).unwrap(), &problem).unwrap();
        let blocks = solve_blocks(&Blocks::new(k, 1, &rows[..]).unwrap(), &problem).unwrap();
        assert!((own.objective / blocks.objective - 1.0).abs() < 1e-7);
        for (a, b) in weights(&own, 60).iter().zip(weights(&blocks, 60)) {
            assert!((a - b).abs() < 1e-3, "{criterion}");
        }

        let map = gaussian(k, 7, seed);
        let (space, features) = (
            Space::ball(7, 1.0).unwrap(),
            FeatureMap::identity(7).unwrap(),
        );
        let problem = Problem {
            tolerance: 1e-5,
            ..problem
        };
        let rng = &mut derive(1, Purpose::Search, &[]);
        let own = solve_space(&space, &features, Some(map.as_ref()), &problem, rng).unwrap();
        let blocks = solve_space_blocks(&space, &features, &[map.as_ref()], &problem, rng).unwrap();
        assert!((own.objective / blocks.objective - 1.0).abs() < 1e-5);
        assert!(blocks.lower_bound.unwrap() <= own.objective);
    }
}

/// Two of three directions are reached: the rest is refused, or left out and told.
#[test]
fn what_is_out_of_reach_is_refused_or_left_out() {
    let rows = [
        1.0, 0.0, 0.0, 0.0, 0.3, 0.0, /* */ 0.5, 0.5, 0.0, 0.0, 1.0, 0.0,
    ];
    let blocks = Blocks::new(3, 2, &rows[..]).unwrap();
    let mut need = Mat::<f64>::identity(3, 3);
    need[(2, 2)] = 2.0;
    let problem = Problem::new(Criterion::Trace, Need::Moment(need.as_ref()));
    let refused = solve_blocks(&blocks, &problem).unwrap_err();
    assert!(matches!(
        refused,
        taskscout::Error::Unreachable {
            rank: 2,
            needed: 3,
            ..
        }
    ));
    let partial = Problem {
        partial: true,
        ..problem
    };
    let design = solve_blocks(&blocks, &partial).unwrap();
    assert!((design.missed - 0.5).abs() < 1e-9);
    let flat = [1.0, 0.0, 0.0, 0.3, 0.5, 0.5, 0.0, 1.0];
    let everything = Problem::new(Criterion::Trace, Need::Everything);
    let reached = solve_blocks(&Blocks::new(2, 2, &flat[..]).unwrap(), &everything).unwrap();
    assert!((design.objective / reached.objective - 1.0).abs() < 1e-3);
}

/// Targets are blocks: their moment sums over outputs, and atoms say how alike they are as blocks.
#[test]
fn atoms_are_explained_as_blocks() {
    let (k, outputs) = (4, 2);
    let rows = numbers(12 * k * outputs, 4);
    let targets = numbers(2 * k * outputs, 5);
    let blocks = Blocks::new(k, outputs, &rows[..]).unwrap();
    let need = Need::Targets {
        rows: &targets,
        weights: Some(&[1.0, 3.0]),
    };
    let design = solve_blocks(&blocks, &Problem::new(Criterion::Trace, need)).unwrap();
    let wanted = information(&targets, (k, outputs), &[0.25, 0.75]);
    let problem = Problem::new(Criterion::Trace, Need::Moment(wanted.as_ref()));
    let same = solve_blocks(&blocks, &problem).unwrap();
    assert!((design.objective / same.objective - 1.0).abs() < 1e-3);
    let value = |q: &[f64]| {
        let sum = information(&rows, (k, outputs), q);
        Criterion::Trace
            .value(sum.as_ref(), wanted.as_ref())
            .unwrap()
    };
    let q = weights(&design, 12);
    assert!((design.objective / value(&q) - 1.0).abs() < 1e-9);
    let shares: f64 = design.atoms.iter().map(|atom| atom.risk_share).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    for atom in &design.atoms {
        let mut more = q.clone();
        more[atom.row.unwrap()] += 1e-6 * atom.weight;
        let slope = (value(&q) - value(&more)) / (1e-6 * value(&q));
        assert!((atom.risk_share - slope).abs() < 1e-3);
        let cosine = |target: &[f64]| {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let (a, b) = (&atom.embedding[..], target);
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        let nearest = targets.chunks(k * outputs).map(cosine).fold(-1.0, f64::max);
        assert!((atom.similarity.unwrap() - nearest).abs() < 1e-12);
        assert_eq!(atom.embedding, blocks.block(atom.row.unwrap()));
    }
}

#[test]
fn bad_blocks_are_named() {
    let says = |error: taskscout::Error| error.to_string();
    let broken = says(Blocks::new(2, 2, vec![1.0; 7]).unwrap_err());
    assert!(broken.contains("candidate 1"), "{broken}");
    let nan = vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, f64::NAN];
    let nan = says(Blocks::new(2, 2, nan).unwrap_err());
    assert!(nan.contains("candidate 1, output 1, value 1"), "{nan}");
    assert!(Blocks::new(2, 0, vec![1.0; 4]).is_err());
    let blocks = Blocks::new(2, 2, vec![1.0; 8]).unwrap();
    let few = says(blocks.clone().with_limits(vec![0.2, 0.3]).unwrap_err());
    assert!(few.contains("50.0 %"), "{few}");
    let need = Need::Targets {
        rows: &[1.0; 6],
        weights: None,
    };
    let short = says(solve_blocks(&blocks, &Problem::new(Criterion::Trace, need)).unwrap_err());
    assert!(short.contains("target 1"), "{short}");
    let (space, features) = (
        Space::ball(2, 1.0).unwrap(),
        FeatureMap::identity(2).unwrap(),
    );
    let (a, b) = (Mat::<f64>::identity(2, 2), Mat::<f64>::identity(3, 2));
    let problem = Problem::new(Criterion::Trace, Need::Everything);
    let rng = &mut derive(1, Purpose::Search, &[]);
    let maps = [a.as_ref(), b.as_ref()];
    let uneven = solve_space_blocks(&space, &features, &maps, &problem, rng);
    assert!(says(uneven.unwrap_err()).contains("output 1"));
    let none = solve_space_blocks(&space, &features, &[], &problem, rng);
    assert!(says(none.unwrap_err()).contains("maps"));
}
