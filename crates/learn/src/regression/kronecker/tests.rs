//! The equations from statistics against those from the rows.

use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::data::Samples;
use crate::rng::{Purpose, Rng, derive};

const D: usize = 4;
const P: usize = 3;
const OUTPUTS: usize = 2;

fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(rng)).collect()
}

fn gaussian(rows: usize, columns: usize, rng: &mut Rng) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(rng))
}

/// More tasks than one block holds, a target, and the rows with their task features.
fn problem_data() -> (TaskData, Vec<(Vec<f64>, Samples)>) {
    let rng = &mut derive(1, Purpose::Test, &[]);
    let mut data = TaskData::new(D, OUTPUTS, P);
    let mut rows = Vec::new();
    for task in 0..=128 {
        let n = 1 + task % 3;
        let batch =
            Samples::new(normals(n * D, rng), D, normals(n * OUTPUTS, rng), OUTPUTS).unwrap();
        let features = normals(P, rng);
        data.add_source_rows(&features, &features, Stage::Explore, 0, &batch)
            .unwrap();
        rows.push((features, batch));
    }
    let target = data.add_target("t", vec![0.0, 0.0, 1.0]).unwrap();
    let batch = Samples::new(normals(5 * D, rng), D, normals(5 * OUTPUTS, rng), OUTPUTS).unwrap();
    data.add_target_rows(target, &batch).unwrap();
    rows.push((vec![0.0, 0.0, 1.0], batch));
    (data, rows)
}

/// The least-squares equations of rows of coefficients, `Σ aaᵀ` and `Σ a y`, summed densely.
fn dense(rows: &[(Vec<f64>, Vec<f64>)]) -> (Mat<f64>, Mat<f64>) {
    let (n, m) = (rows[0].0.len(), rows[0].1.len());
    let (mut matrix, mut rhs) = (Mat::zeros(n, n), Mat::zeros(n, m));
    for (a, y) in rows {
        matrix += Mat::from_fn(n, n, |i, j| a[i] * a[j]);
        rhs += Mat::from_fn(n, m, |i, j| a[i] * y[j]);
    }
    (matrix, rhs)
}

fn assert_lower_half_equal(a: &Mat<f64>, b: &Mat<f64>) {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    for j in 0..a.ncols() {
        for i in j..a.nrows() {
            assert!(
                (a[(i, j)] - b[(i, j)]).abs() < 1e-12 * b.norm_max(),
                "({i}, {j})"
            );
        }
    }
}

fn assert_equal(a: &Mat<f64>, b: &Mat<f64>) {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    assert!((a - b).norm_max() < 1e-12 * b.norm_max());
}

fn each_row(rows: &[(Vec<f64>, Samples)]) -> impl Iterator<Item = (&[f64], &[f64], &[f64])> {
    rows.iter().flat_map(|(features, batch)| {
        let pairs = batch
            .inputs()
            .chunks_exact(D)
            .zip(batch.outputs().chunks_exact(OUTPUTS));
        pairs.map(move |(x, y)| (features.as_slice(), x, y))
    })
}

#[test]
fn the_equations_of_the_map_are_those_of_the_rows() {
    let (data, rows) = problem_data();
    let problem = BilinearProblem::new(&data, None, FoldSelection::All).unwrap();
    for k in 1..=3 {
        let representation = gaussian(D, k, &mut derive(2, Purpose::Test, &[k as u64]));
        let (matrix, rhs) = problem.map_equations(&problem.project(representation.as_ref()), k);
        // The coefficient of B[i, s] in a label is (B_Xᵀ x)_i ψ_s, whatever the output.
        let coefficients = each_row(&rows).map(|(features, x, y)| {
            let z = crate::linalg::apply(representation.transpose(), x);
            let a = z
                .iter()
                .flat_map(|z| features.iter().map(move |psi| z * psi))
                .collect();
            (a, y.to_vec())
        });
        let (expected, expected_rhs) = dense(&coefficients.collect::<Vec<_>>());
        assert_lower_half_equal(&matrix, &expected);
        assert_equal(&rhs, &expected_rhs);
    }
}

#[test]
fn the_equations_of_the_representation_are_those_of_the_rows() {
    let (data, rows) = problem_data();
    let problem = BilinearProblem::new(&data, None, FoldSelection::All).unwrap();
    for k in 1..=3 {
        let map = gaussian(k, P * OUTPUTS, &mut derive(3, Purpose::Test, &[k as u64]));
        let (matrix, rhs) = problem.representation_equations(map.as_ref());
        // The coefficient of B_X[a, i] in a label of output o is x_a (B_o ψ)_i.
        let mut labels = Vec::new();
        for (features, x, y) in each_row(&rows) {
            for (output, label) in y.iter().enumerate() {
                let c = crate::linalg::apply(map.as_ref().subcols(output * P, P), features);
                let a = c
                    .iter()
                    .flat_map(|c| x.iter().map(move |x| c * x))
                    .collect();
                labels.push((a, vec![*label]));
            }
        }
        let (expected, expected_rhs) = dense(&labels);
        assert_lower_half_equal(&matrix, &expected);
        assert_equal(&rhs, &expected_rhs);
    }
}

#[test]
fn projected_statistics_are_those_of_the_tasks() {
    let (data, _) = problem_data();
    let problem = BilinearProblem::new(&data, None, FoldSelection::All).unwrap();
    let representation = gaussian(D, 2, &mut derive(4, Purpose::Test, &[]));
    let projected = problem.project(representation.as_ref());
    assert_eq!(projected.len(), problem.observations.len());
    for (small, observation) in projected.iter().zip(&problem.observations) {
        let expected = observation
            .statistics
            .project(representation.as_ref())
            .unwrap();
        let pairs = small.gram.iter().zip(expected.gram());
        assert!(
            pairs
                .into_iter()
                .all(|(a, b)| (a - b).abs() < 1e-12 * expected.gram_matrix().norm_max())
        );
        for output in 0..OUTPUTS {
            let pairs = small.moments[output]
                .iter()
                .zip(expected.cross_moment(output));
            assert!(pairs.into_iter().all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
}

#[test]
fn stages_and_target_rows_choose_the_observations() {
    let (mut data, rows) = problem_data();
    let (features, batch) = &rows[0];
    data.add_source_rows(features, features, Stage::Exploit, 1, batch)
        .unwrap();
    let counts = |stages: Option<&[Stage]>, targets| {
        let problem = BilinearProblem::new(&data, stages, targets).unwrap();
        (problem.observations.len(), problem.labels())
    };
    let (tasks, labels) = (128 + 1, OUTPUTS * data.source_rows());
    let own = OUTPUTS * batch.len();
    assert_eq!(counts(None, FoldSelection::None), (tasks + 1, labels));
    assert_eq!(
        counts(None, FoldSelection::All),
        (tasks + 2, labels + 5 * OUTPUTS)
    );
    assert_eq!(
        counts(Some(&[Stage::Explore]), FoldSelection::None),
        (tasks, labels - own)
    );
    assert_eq!(
        counts(Some(&[Stage::Exploit]), FoldSelection::None),
        (1, own)
    );
    assert_eq!(counts(Some(&[]), FoldSelection::None), (0, 0));
    let without: usize = (0..4)
        .map(|fold| counts(Some(&[]), FoldSelection::Without(fold)).1)
        .sum();
    assert_eq!(without, 3 * 5 * OUTPUTS);
}
