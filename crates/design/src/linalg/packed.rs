//! Symmetric matrices as packed lower triangles, row by row.

use faer::{Mat, MatRef};

/// Entries of the lower triangle of a `dim × dim` matrix.
pub fn len(dim: usize) -> usize {
    dim * (dim + 1) / 2
}

/// Adds the upper half of a symmetric matrix: its columns are the rows of the lower half, and
/// lie as contiguous in memory as those.
pub fn add_upper(packed: &mut [f64], matrix: MatRef<'_, f64>) {
    for j in 0..matrix.ncols() {
        let row = &mut packed[len(j)..=len(j) + j];
        row.iter_mut()
            .enumerate()
            .for_each(|(i, value)| *value += matrix[(i, j)]);
    }
}

/// Frobenius inner product with a symmetric matrix, upper half given.
pub fn inner(packed: &[f64], matrix: MatRef<'_, f64>) -> f64 {
    let mut total = 0.0;
    for j in 0..matrix.ncols() {
        let row = &packed[len(j)..=len(j) + j];
        let sum: f64 = (0..j).map(|i| row[i] * matrix[(i, j)]).sum();
        total += 2.0 * sum + row[j] * matrix[(j, j)];
    }
    total
}

/// The full matrix.
pub fn unpack(packed: &[f64], dim: usize) -> Mat<f64> {
    let mut out = Mat::zeros(dim, dim);
    for i in 0..dim {
        for j in 0..=i {
            out[(i, j)] = packed[len(i) + j];
            out[(j, i)] = packed[len(i) + j];
        }
    }
    out
}

/// `out += matrix · vector`, with the best instructions that there are; which ones changes no bit.
pub fn multiply_add(packed: &[f64], vector: &[f64], out: &mut [f64]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || multiply_add_kernel(packed, vector, out),
    );
}

#[inline(always)]
fn multiply_add_kernel(packed: &[f64], vector: &[f64], out: &mut [f64]) {
    for (i, &x) in vector.iter().enumerate() {
        let row = &packed[len(i)..len(i) + i];
        let (head, tail) = out.split_at_mut(i);
        tail[0] += packed[len(i) + i] * x + dot_axpy(row, &vector[..i], x, head);
    }
}

/// Adds `x · row` to `out` and gives `rowᵀ vector`, in one pass over the row. Independent sums
/// let the compiler use vector registers.
#[inline(always)]
fn dot_axpy(row: &[f64], vector: &[f64], x: f64, out: &mut [f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (rows, row_rest) = row.as_chunks::<LANES>();
    let (vectors, vector_rest) = vector.as_chunks::<LANES>();
    let (outs, out_rest) = out.as_chunks_mut::<LANES>();
    for ((g, v), o) in rows.iter().zip(vectors).zip(outs) {
        for lane in 0..LANES {
            sums[lane] += g[lane] * v[lane];
            o[lane] += g[lane] * x;
        }
    }
    let mut sum = sums.iter().sum::<f64>();
    for ((g, v), o) in row_rest.iter().zip(vector_rest).zip(out_rest) {
        sum += g * v;
        *o += g * x;
    }
    sum
}

/// `vectorᵀ · matrix · vector`.
pub fn quadratic(packed: &[f64], vector: &[f64]) -> f64 {
    let mut total = 0.0;
    for (i, &x) in vector.iter().enumerate() {
        let row = &packed[len(i)..=len(i) + i];
        let sum = super::dot(&row[..i], &vector[..i]);
        total += x * (2.0 * sum + row[i] * x);
    }
    total
}
