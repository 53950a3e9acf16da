//! How alike two functions are, of which not everything is known.
//!
//! Two functions are alike if they go up and down together over some inputs: their correlation, in magnitude.
//! What is not known counts as noise. A function that was learnt on other inputs than those asked about has a
//! large posterior variance there, which lowers the correlation.

use faer::{Mat, MatRef};

/// Basis functions over some inputs.
pub struct BasisValues {
    values: Mat<f64>,
    /// The covariance of these values.
    covariance: Mat<f64>,
}

impl BasisValues {
    /// From the values of basis functions, one row an input.
    #[must_use]
    pub fn new(values: Mat<f64>) -> Self {
        let n = values.nrows() as f64;
        let means: Vec<f64> = (0..values.ncols())
            .map(|j| (0..values.nrows()).map(|i| values[(i, j)]).sum::<f64>() / n)
            .collect();
        let around = Mat::from_fn(values.nrows(), values.ncols(), |i, j| {
            values[(i, j)] - means[j]
        });
        let mut covariance = around.transpose() * &around;
        covariance *= faer::Scale(1.0 / n);
        Self { values, covariance }
    }
}

/// What is known of a function over some inputs.
///
/// ```
/// use faer::mat;
/// use taskscout::metric::{BasisValues, TaskFunctionValues};
///
/// let basis = BasisValues::new(mat![[1.0], [2.0], [3.0]]);
/// let known = TaskFunctionValues::exact(vec![2.0, 4.0, 6.0]);
/// let sure = TaskFunctionValues::posterior(&basis, &[-1.0], mat![[0.0]].as_ref());
/// let unsure = TaskFunctionValues::posterior(&basis, &[-1.0], mat![[3.0]].as_ref());
/// assert!((known.similarity(&sure) - 1.0).abs() < 1e-12);
/// assert!((known.similarity(&unsure) - 0.5).abs() < 1e-12);
/// ```
pub struct TaskFunctionValues {
    /// Around their mean.
    values: Vec<f64>,
    /// The mean posterior variance of these.
    variance: f64,
}

impl TaskFunctionValues {
    /// Values that are known exactly.
    #[must_use]
    pub fn exact(values: Vec<f64>) -> Self {
        Self {
            values: centred(values),
            variance: 0.0,
        }
    }

    /// Coefficients on basis functions, with mean and covariance.
    #[must_use]
    pub fn posterior(basis: &BasisValues, mean: &[f64], covariance: MatRef<'_, f64>) -> Self {
        let mean = MatRef::from_column_major_slice(mean, mean.len(), 1);
        let values = basis.values.as_ref() * mean;
        let values = (0..values.nrows()).map(|i| values[(i, 0)]).collect();
        let variance: f64 = (0..covariance.ncols())
            .map(|j| {
                let rows = 0..covariance.nrows();
                rows.map(|i| covariance[(i, j)] * basis.covariance[(i, j)])
                    .sum::<f64>()
            })
            .sum();
        Self {
            values: centred(values),
            variance: variance.max(0.0),
        }
    }

    /// Their correlation in magnitude, from 0 to 1, with what is not known counted as noise.
    #[must_use]
    pub fn similarity(&self, other: &Self) -> f64 {
        let (a, b) = (&self.values, &other.values);
        let n = a.len() as f64;
        let mean = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>() / n;
        let size = (mean(a, a) + self.variance) * (mean(b, b) + other.variance);
        if size > 0.0 {
            mean(a, b).abs() / size.sqrt()
        } else {
            0.0
        }
    }
}

fn centred(values: Vec<f64>) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.into_iter().map(|value| value - mean).collect()
}
