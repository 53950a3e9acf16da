//! The few matrix operations the rest of the crate shares, on top of `faer`.
//!
//! Decompositions run on the calling thread: studies, runs and blocks of rows are what is spread
//! over cores, which keeps results independent of the number of threads.

mod cholesky;
pub mod columns;
pub mod packed;
pub mod row_sums;
pub mod serde_mat;
pub mod wide;

use std::sync::Once;

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};

pub use self::cholesky::{Cholesky, cholesky, factorise};
use crate::error::{Error, Result};

/// Keeps `faer`'s own solvers on the calling thread.
fn sequential() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| faer::set_global_parallelism(Par::Seq));
}

/// `lhs · rhs`.
pub fn product(lhs: MatRef<'_, f64>, rhs: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(lhs.nrows(), rhs.ncols());
    matmul(out.as_mut(), Accum::Replace, lhs, rhs, 1.0, Par::Seq);
    out
}

/// `lhs · rhs` where that is symmetric: half the work.
pub fn symmetric_product(lhs: MatRef<'_, f64>, rhs: MatRef<'_, f64>) -> Mat<f64> {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let mut out = Mat::zeros(lhs.nrows(), rhs.ncols());
    triangular::matmul(
        out.as_mut(),
        TriangularLower,
        Accum::Replace,
        lhs,
        Rectangular,
        rhs,
        Rectangular,
        1.0,
        Par::Seq,
    );
    mirror(out.as_mut().transpose_mut());
    out
}

/// Rows and columns of a matrix that are mirrored together.
const TILE: usize = 16;

/// Copies the upper half of a square matrix to its lower half.
pub fn mirror(mut matrix: MatMut<'_, f64>) {
    let d = matrix.ncols();
    for left in (0..d).step_by(TILE) {
        for top in (left..d).step_by(TILE) {
            for b in left..d.min(left + TILE) {
                for a in top.max(b + 1)..d.min(top + TILE) {
                    matrix[(a, b)] = matrix[(b, a)];
                }
            }
        }
    }
}

/// Eigenvalues, falling, and eigenvectors of a symmetric matrix, lower half given.
pub fn eigen(matrix: MatRef<'_, f64>, what: &str) -> Result<(Vec<f64>, Mat<f64>)> {
    sequential();
    if !is_finite(matrix) {
        return Err(no_eigenvalues(what));
    }
    let decomposition = matrix
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| no_eigenvalues(what))?;
    let n = matrix.nrows();
    let values = decomposition.S().column_vector();
    let vectors = decomposition.U();
    let sorted = (0..n).map(|i| values[n - 1 - i]).collect();
    Ok((sorted, Mat::from_fn(n, n, |i, j| vectors[(i, n - 1 - j)])))
}

/// The least eigenvalue of a symmetric matrix, lower half given; zero where it has no rows.
pub fn least_eigenvalue(matrix: MatRef<'_, f64>, what: &str) -> Result<f64> {
    sequential();
    let values = is_finite(matrix)
        .then(|| matrix.self_adjoint_eigenvalues(Side::Lower).ok())
        .flatten();
    match values {
        Some(values) => Ok(values.first().copied().unwrap_or(0.0)),
        None => Err(no_eigenvalues(what)),
    }
}

fn no_eigenvalues(what: &str) -> Error {
    Error::numerical(
        format!("the eigenvalues of {what}"),
        "check the data for extreme values",
    )
}

/// A thin singular value decomposition `U diag(s) Vᵀ`, `s` falling, each column of `U` with its
/// entry of largest magnitude positive.
pub struct Svd {
    /// Left singular vectors, as columns.
    pub u: Mat<f64>,
    /// Singular values, falling.
    pub s: Vec<f64>,
    /// Right singular vectors, as columns.
    pub v: Mat<f64>,
}

/// Decomposes a matrix into singular values and vectors.
pub fn svd(matrix: MatRef<'_, f64>, what: &str) -> Result<Svd> {
    sequential();
    let broken = || {
        Error::numerical(
            format!("the singular values of {what}"),
            "check the data for extreme values",
        )
    };
    if !is_finite(matrix) {
        return Err(broken());
    }
    let decomposition = matrix.thin_svd().map_err(|_| broken())?;
    let s = decomposition
        .S()
        .column_vector()
        .iter()
        .copied()
        .collect::<Vec<f64>>();
    let (mut u, mut v) = (decomposition.U().to_owned(), decomposition.V().to_owned());
    for j in 0..s.len() {
        if largest_entry(u.as_ref(), j) < 0.0 {
            (0..u.nrows()).for_each(|i| u[(i, j)] = -u[(i, j)]);
            (0..v.nrows()).for_each(|i| v[(i, j)] = -v[(i, j)]);
        }
    }
    Ok(Svd { u, s, v })
}

/// The entry of largest magnitude of a column, with its sign.
fn largest_entry(matrix: MatRef<'_, f64>, column: usize) -> f64 {
    (0..matrix.nrows())
        .map(|i| matrix[(i, column)])
        .fold(0.0, |best: f64, value| {
            if value.abs() > best.abs() {
                value
            } else {
                best
            }
        })
}

/// Whether every entry is finite.
pub fn is_finite(matrix: MatRef<'_, f64>) -> bool {
    (0..matrix.ncols()).all(|j| (0..matrix.nrows()).all(|i| matrix[(i, j)].is_finite()))
}

/// The Moore–Penrose inverse; singular values below `tolerance · s₁` count as zero.
pub fn pseudo_inverse(matrix: MatRef<'_, f64>, tolerance: f64) -> Result<Mat<f64>> {
    let Svd { u, s, v } = svd(matrix, "a task map")?;
    let floor = tolerance * s.first().copied().unwrap_or(0.0);
    let rank = s
        .iter()
        .take_while(|&&value| value > floor && value > 0.0)
        .count();
    let scaled = Mat::from_fn(v.nrows(), rank, |i, j| v[(i, j)] / s[j]);
    Ok(product(
        scaled.as_ref(),
        u.as_ref().subcols(0, rank).transpose(),
    ))
}

/// Frobenius inner product.
pub fn inner(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    (0..a.ncols())
        .map(|j| (0..a.nrows()).map(|i| a[(i, j)] * b[(i, j)]).sum::<f64>())
        .sum()
}

/// Euclidean inner product.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Euclidean norm.
pub fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Cosine of the angle between two vectors; zero if one of them is zero.
pub fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let scale = norm(a) * norm(b);
    if scale > 0.0 { dot(a, b) / scale } else { 0.0 }
}

/// `matrix · vector`; entries beyond the matrix's columns count for nothing.
pub fn apply(matrix: MatRef<'_, f64>, vector: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; matrix.nrows()];
    for (j, &x) in vector.iter().enumerate().take(matrix.ncols()) {
        for (value, entry) in out.iter_mut().zip(matrix.col(j).iter()) {
            *value += entry * x;
        }
    }
    out
}

/// `vectorᵀ · matrix · vector`.
pub fn quadratic(matrix: MatRef<'_, f64>, vector: &[f64]) -> f64 {
    dot(vector, &apply(matrix, vector))
}

/// A column as a vector.
pub fn column(matrix: MatRef<'_, f64>, j: usize) -> Vec<f64> {
    (0..matrix.nrows()).map(|i| matrix[(i, j)]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::rng::{Purpose, derive};

    fn gaussian(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut rng = derive(seed, Purpose::Test, &[]);
        Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
    }

    /// A symmetric matrix and its packed lower half.
    fn symmetric(dim: usize, seed: u64) -> (Mat<f64>, Vec<f64>) {
        let matrix = gaussian(dim, dim, seed);
        let matrix = &matrix + matrix.transpose();
        let mut half = vec![0.0; packed::len(dim)];
        packed::add_upper(&mut half, matrix.as_ref());
        (matrix, half)
    }

    fn distance(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
        assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
        (a - b).norm_max() / b.norm_max().max(f64::MIN_POSITIVE)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

        /// Long enough for whole lanes and a rest.
        #[test]
        fn packed_triangles_act_like_the_full_matrix(dim in 1_usize..40, seed in any::<u64>()) {
            let (matrix, half) = symmetric(dim, seed);
            prop_assert_eq!(&packed::unpack(&half, dim), &matrix);
            prop_assert_eq!(half[packed::len(dim - 1)].to_bits(), matrix[(dim - 1, 0)].to_bits());
            let vector = column(gaussian(dim, 1, seed ^ 1).as_ref(), 0);
            let start = column(gaussian(dim, 1, seed ^ 2).as_ref(), 0);
            let mut out = start.clone();
            packed::multiply_add(&half, &vector, &mut out);
            for ((out, start), image) in out.iter().zip(&start).zip(apply(matrix.as_ref(), &vector)) {
                prop_assert!((out - start - image).abs() < 1e-11);
            }
            let value = quadratic(matrix.as_ref(), &vector);
            prop_assert!((packed::quadratic(&half, &vector) - value).abs() < 1e-11 * (1.0 + value.abs()));
            let with_itself = inner(matrix.as_ref(), matrix.as_ref());
            prop_assert!((packed::inner(&half, matrix.as_ref()) - with_itself).abs() < 1e-11 * with_itself);
            let square = symmetric_product(matrix.as_ref(), matrix.as_ref());
            prop_assert!(distance(&square, &product(matrix.as_ref(), matrix.as_ref())) < 1e-12);
            let mut twice = half.clone();
            packed::add_upper(&mut twice, matrix.as_ref());
            prop_assert!(twice.iter().zip(&half).all(|(a, b)| (a - 2.0 * b).abs() <= 0.0));
        }

        #[test]
        fn decompositions_rebuild_their_matrix(n in 1_usize..8, m in 1_usize..8, seed in any::<u64>()) {
            let matrix = gaussian(n, m, seed);
            let Svd { u, s, v } = svd(matrix.as_ref(), "a test").unwrap();
            let scaled = Mat::from_fn(n, s.len(), |i, j| u[(i, j)] * s[j]);
            prop_assert!(distance(&product(scaled.as_ref(), v.transpose()), &matrix) < 1e-12);
            prop_assert!(s.windows(2).all(|pair| pair[0] >= pair[1]));
            prop_assert!((0..s.len()).all(|j| largest_entry(u.as_ref(), j) > 0.0));
            let (whole, _) = symmetric(n, seed);
            let (values, vectors) = eigen(whole.as_ref(), "a test").unwrap();
            let scaled = Mat::from_fn(n, n, |i, j| vectors[(i, j)] * values[j]);
            prop_assert!(distance(&product(scaled.as_ref(), vectors.transpose()), &whole) < 1e-12);
            prop_assert!(values.windows(2).all(|pair| pair[0] >= pair[1]));
        }

        /// Penrose's four conditions, for matrices of full and of deficient rank.
        #[test]
        fn the_pseudo_inverse_is_one(
            (n, m, rank) in (1_usize..7, 1_usize..7, 1_usize..7),
            seed in any::<u64>(),
        ) {
            let rank = rank.min(n).min(m);
            let matrix = product(gaussian(n, rank, seed).as_ref(), gaussian(rank, m, !seed).as_ref());
            let inverse = pseudo_inverse(matrix.as_ref(), 1e-10).unwrap();
            let (left, right) = (&inverse * &matrix, &matrix * &inverse);
            let tolerance = 1e-9 * (1.0 + matrix.norm_l2() * inverse.norm_l2());
            prop_assert!(distance(&(&matrix * &left), &matrix) < tolerance);
            prop_assert!(distance(&(&inverse * &right), &inverse) < tolerance);
            prop_assert!((&left - left.transpose()).norm_max() < tolerance);
            prop_assert!((&right - right.transpose()).norm_max() < tolerance);
        }

        #[test]
        fn the_cholesky_factor_knows_inverse_and_volume(n in 1_usize..9, seed in any::<u64>()) {
            let root = gaussian(n, n + 3, seed);
            let matrix = &root * root.transpose();
            let solver = cholesky(matrix.as_ref(), "a test").unwrap();
            let (values, _) = eigen(matrix.as_ref(), "a test").unwrap();
            let trace: f64 = values.iter().map(|value| 1.0 / value).sum();
            prop_assert!((solver.inverse_trace() / trace - 1.0).abs() < 1e-8);
            let volume: f64 = values.iter().map(|value| value.ln()).sum();
            prop_assert!((solver.log_det() - volume).abs() < 1e-8);
            let rhs = gaussian(n, 2, seed ^ 1);
            prop_assert!(distance(&(&matrix * solver.solve(rhs.as_ref())), &rhs) < 1e-8);
            let inverse = solver.inverse();
            prop_assert!(distance(&(&matrix * &inverse), &Mat::identity(n, n)) < 1e-7);
            for (i, value) in solver.inverse_diagonal().iter().enumerate() {
                prop_assert!((value / inverse[(i, i)] - 1.0).abs() < 1e-7);
            }
            let least = least_eigenvalue(matrix.as_ref(), "a test").unwrap();
            prop_assert!((least - values[n - 1]).abs() < 1e-10 * values[0]);
            // A lower bound of the condition number, exact for diagonal matrices.
            prop_assert!(solver.condition() <= values[0] / values[n - 1] * (1.0 + 1e-9));
        }
    }

    #[test]
    fn matrices_that_break_are_refused() {
        let broken = |result: Result<()>| assert!(matches!(result, Err(Error::Numerical { .. })));
        let mut matrix = Mat::<f64>::identity(3, 3);
        assert!((cholesky(matrix.as_ref(), "a test").unwrap().condition() - 1.0).abs() < 1e-12);
        matrix[(2, 2)] = -1.0;
        broken(cholesky(matrix.as_ref(), "a test").map(|_| ()));
        matrix[(1, 1)] = f64::NAN;
        broken(eigen(matrix.as_ref(), "a test").map(|_| ()));
        broken(svd(matrix.as_ref(), "a test").map(|_| ()));
        broken(pseudo_inverse(matrix.as_ref(), 0.1).map(|_| ()));
    }

    #[test]
    fn a_pseudo_inverse_drops_what_is_below_the_tolerance() {
        let matrix = faer::mat![[2.0, 0.0], [0.0, 1e-3]];
        let kept = pseudo_inverse(matrix.as_ref(), 1e-4).unwrap();
        assert!(distance(&kept, &faer::mat![[0.5, 0.0], [0.0, 1e3]]) < 1e-12);
        let dropped = pseudo_inverse(matrix.as_ref(), 1e-3).unwrap();
        assert!(distance(&dropped, &faer::mat![[0.5, 0.0], [0.0, 0.0]]) < 1e-12);
        let nothing = pseudo_inverse(Mat::<f64>::zeros(2, 3).as_ref(), 1e-3).unwrap();
        assert_eq!(nothing, Mat::<f64>::zeros(3, 2));
    }

    #[test]
    fn cosines_of_nothing_are_zero() {
        assert!(cosine(&[0.0, 0.0], &[1.0, 0.0]).abs() <= 0.0);
        assert!((cosine(&[2.0, 0.0], &[-3.0, 0.0]) + 1.0).abs() < 1e-15);
    }

    #[test]
    fn saved_matrices_come_back_or_say_what_is_wrong() {
        #[derive(serde::Serialize, serde::Deserialize)]
        struct Holder(#[serde(with = "serde_mat")] Mat<f64>);
        let matrix = gaussian(3, 2, 9);
        let text = serde_json::to_string(&Holder(matrix.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Holder>(&text).unwrap().0, matrix);
        let short = r#"{"rows": 2, "columns": 2, "values": [1.0, 2.0, 3.0]}"#;
        let error = serde_json::from_str::<Holder>(short)
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("a 2 × 2 matrix needs 4 values, found 3"),
            "{error}"
        );
    }
}
