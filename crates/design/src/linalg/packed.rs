//! Symmetric matrices as packed lower triangles, row by row.

use faer::{Mat, MatRef};
use pulp::{Arch, Simd, WithSimd};

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
    Arch::new().dispatch(MultiplyAdd {
        packed,
        vector,
        out,
    });
}

/// Rows that go over the vector together.
const ROWS: usize = 4;
/// Sums that are kept apart in each row, in one register or several.
const LANES: usize = 8;

struct MultiplyAdd<'a> {
    packed: &'a [f64],
    vector: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for MultiplyAdd<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.run::<S, 1>(simd),
            4 => self.run::<S, 2>(simd),
            2 => self.run::<S, 4>(simd),
            _ => self.run::<S, LANES>(simd),
        }
    }
}

impl MultiplyAdd<'_> {
    /// With `N` registers for the sums of a row.
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let (packed, vector) = (self.packed, self.vector);
        let whole = vector.len() / ROWS * ROWS;
        for first in (0..whole).step_by(ROWS) {
            let rows: [&[f64]; ROWS] = std::array::from_fn(|r| {
                let start = len(first + r);
                &packed[start..start + first + r + 1]
            });
            let factors: [f64; ROWS] = std::array::from_fn(|r| vector[first + r]);
            let (head, tail) = self.out.split_at_mut(first);
            let left = rows.map(|row| &row[..first]);
            let mut sums = several_rows::<S, N, ROWS>(simd, left, &vector[..first], factors, head);
            // The triangle on the diagonal.
            for r in 0..ROWS {
                for c in 0..r {
                    sums[r] += rows[r][first + c] * factors[c];
                    tail[c] += rows[r][first + c] * factors[r];
                }
                sums[r] += rows[r][first + r] * factors[r];
            }
            for (value, sum) in tail.iter_mut().zip(sums) {
                *value += sum;
            }
        }
        for (i, &x) in vector.iter().enumerate().skip(whole) {
            let row = &packed[len(i)..len(i) + i];
            let (head, tail) = self.out.split_at_mut(i);
            let [sum] = several_rows::<S, N, 1>(simd, [row], &vector[..i], [x], head);
            tail[0] += packed[len(i) + i] * x + sum;
        }
    }
}

/// Adds `Σ xᵣ · rowᵣ` to `out` and gives every `rowᵣᵀ vector`, in one pass over the rows.
#[inline(always)]
fn several_rows<S: Simd, const N: usize, const R: usize>(
    simd: S,
    rows: [&[f64]; R],
    vector: &[f64],
    factors: [f64; R],
    out: &mut [f64],
) -> [f64; R] {
    let whole = vector.len() / LANES * LANES;
    let (out, out_rest) = out.split_at_mut(whole);
    let out = S::as_mut_simd_f64s(out).0.as_chunks_mut::<N>().0;
    let values = S::as_simd_f64s(&vector[..whole]).0.as_chunks::<N>().0;
    let count = values.len();
    let out = &mut out[..count];
    let chunks = rows.map(|row| &S::as_simd_f64s(&row[..whole]).0.as_chunks::<N>().0[..count]);
    let scales = factors.map(|factor| simd.splat_f64s(factor));
    let mut sums = [[simd.splat_f64s(0.0); N]; R];
    for at in 0..count {
        for lane in 0..N {
            let (value, mut image) = (values[at][lane], out[at][lane]);
            for r in 0..R {
                let entry = chunks[r][at][lane];
                sums[r][lane] = simd.add_f64s(sums[r][lane], simd.mul_f64s(entry, value));
                image = simd.add_f64s(image, simd.mul_f64s(entry, scales[r]));
            }
            out[at][lane] = image;
        }
    }
    let mut totals = sums.map(|sums| total::<S, N>(sums));
    for (at, (value, image)) in vector[whole..].iter().zip(out_rest).enumerate() {
        for r in 0..R {
            let entry = rows[r][whole + at];
            totals[r] += entry * value;
            *image += entry * factors[r];
        }
    }
    totals
}

/// The sum of what some registers hold, in pairs.
#[inline(always)]
fn total<S: Simd, const N: usize>(sums: [S::f64s; N]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (registers, _) = S::as_mut_simd_f64s(&mut lanes);
    for (register, sum) in registers.iter_mut().zip(sums) {
        *register = sum;
    }
    let halves: [f64; LANES / 2] = std::array::from_fn(|at| lanes[at] + lanes[at + LANES / 2]);
    (halves[0] + halves[2]) + (halves[1] + halves[3])
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
