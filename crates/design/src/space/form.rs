//! Quadratic forms of features, one task or many at a time.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::QuadraticForm;
use crate::error::{Error, Result};
use crate::features::{Features, apply_row};
use crate::linalg;

impl QuadraticForm<'_> {
    /// The form at one task, `ψ(w)ᵀ H ψ(w)`.
    #[must_use]
    pub fn value(&self, task: &[f64]) -> f64 {
        linalg::quadratic(self.matrix, &apply_row(self.features, task))
    }

    /// Checks that the form fits tasks of `dim` parameters and that `H` is finite and symmetric.
    pub(super) fn check(&self, dim: usize) -> Result<()> {
        Error::check_length("a row of the task features", self.features.input_dim(), dim)?;
        let (matrix, size) = (self.matrix, self.features.dim());
        Error::check_length("a column of the quadratic form", size, matrix.nrows())?;
        Error::check_length("a row of the quadratic form", size, matrix.ncols())?;
        let mut largest = 0.0_f64;
        let mut skew = 0.0_f64;
        for j in 0..size {
            for i in 0..size {
                let value = matrix[(i, j)];
                if !value.is_finite() {
                    let place = format!("entry ({i}, {j}) of the quadratic form");
                    return Err(Error::NotFinite { place, value });
                }
                largest = largest.max(value.abs());
                skew = skew.max((value - matrix[(j, i)]).abs());
            }
        }
        if skew > 1e-8 * largest {
            return Err(Error::numerical(
                "finding the best task for a quadratic form",
                "its matrix must be symmetric",
            ));
        }
        Ok(())
    }
}

/// Evaluates a form on many tasks.
pub(super) struct Scorer<'a> {
    features: &'a dyn Features,
    kernel: Kernel<'a>,
}

/// How the form is evaluated on feature rows `F`.
enum Kernel<'a> {
    /// Row sums of `(F H) ∘ F`.
    Full(MatRef<'a, f64>),
    /// `Σ_j λ_j (F v_j)²` over the eigenvalues that are not zero. Design forms are `Bᵀ G B` with
    /// few rows in `B`, where this is many times faster.
    Factored { vectors: Mat<f64>, values: Vec<f64> },
}

impl<'a> Scorer<'a> {
    /// Prepares for about `tasks` evaluations.
    pub(super) fn new(form: &QuadraticForm<'a>, tasks: usize) -> Result<Self> {
        let kernel = match Self::factor(form, tasks)? {
            Some(factored) => factored,
            None => Kernel::Full(form.matrix),
        };
        Ok(Self {
            features: form.features,
            kernel,
        })
    }

    /// The factored kernel, where finding it costs less than it saves.
    fn factor(form: &QuadraticForm<'a>, tasks: usize) -> Result<Option<Kernel<'a>>> {
        let size = form.features.dim();
        if size < 8 || tasks < 8 * size {
            return Ok(None);
        }
        let (values, vectors) = linalg::eigen(form.matrix, "a quadratic form")?;
        let largest = values
            .iter()
            .fold(0.0_f64, |top, value| top.max(value.abs()));
        let floor = 4.0 * f64::EPSILON * size as f64 * largest;
        let kept: Vec<usize> = (0..size).filter(|&j| values[j].abs() > floor).collect();
        if kept.len() == size {
            return Ok(None);
        }
        Ok(Some(Kernel::Factored {
            vectors: Mat::from_fn(size, kept.len(), |i, j| vectors[(i, kept[j])]),
            values: kept.iter().map(|&j| values[j]).collect(),
        }))
    }

    /// How many tasks to score at once so that the work fits the cache. It depends on the form
    /// only, so that results do not depend on the number of threads.
    pub(super) fn batch(&self) -> usize {
        let numbers_per_task = self.features.input_dim() + 2 * self.features.dim();
        ((1 << 16) / numbers_per_task).clamp(16, 2048)
    }

    /// Writes the form at each of the tasks in `rows`.
    pub(super) fn score(&self, rows: &[f64], scores: &mut [f64]) {
        let (n, size) = (scores.len(), self.features.dim());
        let mut applied = Vec::new();
        let features = if self.features.is_identity() {
            rows
        } else {
            applied.resize(n * size, 0.0);
            self.features.apply(rows, &mut applied);
            &applied
        };
        match &self.kernel {
            Kernel::Full(matrix) => {
                let images = multiply(features, n, *matrix);
                let images = images.chunks_exact(size);
                for ((score, row), image) in scores
                    .iter_mut()
                    .zip(features.chunks_exact(size))
                    .zip(images)
                {
                    *score = linalg::dot(row, image);
                }
            }
            // All eigenvalues are zero.
            Kernel::Factored { values, .. } if values.is_empty() => scores.fill(0.0),
            Kernel::Factored { vectors, values } => {
                let images = multiply(features, n, vectors.as_ref());
                for (score, image) in scores.iter_mut().zip(images.chunks_exact(values.len())) {
                    *score = image.iter().zip(values).map(|(z, l)| l * z * z).sum();
                }
            }
        }
    }
}

/// `rows · matrix`, row-major.
fn multiply(rows: &[f64], n: usize, matrix: MatRef<'_, f64>) -> Vec<f64> {
    let (size, width) = (matrix.nrows(), matrix.ncols());
    let mut out = vec![0.0; n * width];
    matmul(
        MatMut::from_row_major_slice_mut(&mut out, n, width),
        Accum::Replace,
        MatRef::from_row_major_slice(&rows[..n * size], n, size),
        matrix,
        1.0,
        Par::Seq,
    );
    out
}

#[cfg(test)]
mod tests {
    use faer::mat;

    use super::*;
    use crate::features::FeatureMap;

    /// A symmetric matrix of rank 2 with one negative eigenvalue.
    fn low_rank(size: usize) -> Mat<f64> {
        let wave = |i: usize, f: f64| (f * (i + 1) as f64).sin();
        Mat::from_fn(size, size, |i, j| {
            wave(i, 0.7) * wave(j, 0.7) - 0.5 * wave(i, 1.9) * wave(j, 1.9)
        })
    }

    #[test]
    fn factored_and_full_agree_with_the_definition() {
        let features = FeatureMap::fourier(3, 12, 1.0, 3).unwrap();
        let matrix = low_rank(12);
        let form = QuadraticForm {
            features: &features,
            matrix: matrix.as_ref(),
        };
        let rows: Vec<f64> = (0..30).map(|i| (i as f64 * 1.3).cos()).collect();
        let full = Scorer::new(&form, 10).unwrap();
        let factored = Scorer::new(&form, 1000).unwrap();
        assert!(matches!(full.kernel, Kernel::Full(_)));
        assert!(matches!(&factored.kernel, Kernel::Factored { values, .. } if values.len() == 2));
        for scorer in [full, factored] {
            let mut scores = vec![f64::NAN; 10];
            scorer.score(&rows, &mut scores);
            for (task, score) in rows.chunks(3).zip(scores) {
                assert!((score - form.value(task)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_zero_form_scores_zero() {
        let features = FeatureMap::identity(9).unwrap();
        let matrix = Mat::zeros(9, 9);
        let form = QuadraticForm {
            features: &features,
            matrix: matrix.as_ref(),
        };
        let mut scores = [f64::NAN; 2];
        let scorer = Scorer::new(&form, 1000).unwrap();
        scorer.score(&[1.0; 18], &mut scores);
        assert_eq!(scores.map(f64::to_bits), [0, 0]);
    }

    #[test]
    fn a_bad_form_is_named() {
        let features = FeatureMap::identity(2).unwrap();
        let message = |matrix: Mat<f64>, dim: usize| {
            let form = QuadraticForm {
                features: &features,
                matrix: matrix.as_ref(),
            };
            form.check(dim).unwrap_err().to_string()
        };
        assert!(message(Mat::zeros(2, 2), 3).contains("task features has 3 values where 2"));
        assert!(message(Mat::zeros(2, 3), 2).contains("a row of the quadratic form has 3"));
        let nan = mat![[1.0, f64::NAN], [0.0, 1.0]];
        assert!(message(nan, 2).contains("entry (0, 1) of the quadratic form is NaN"));
        assert!(message(mat![[1.0, 2.0], [0.0, 1.0]], 2).contains("must be symmetric"));
    }
}
