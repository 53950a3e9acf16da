//! Products of a few numbers for each of many long columns that lie anywhere in memory: sums of the columns with weights,
//! and their inner products with a few vectors.
//!
//! Columns are read where they lie, four at a time, and each once for several results: nothing is copied, so that what
//! comes from the memory waits for nothing but the arithmetic. The instruction set is chosen when the program runs.
//!
//! ```
//! use faer::mat;
//! use taskscout_design::linalg::columns::{add_combinations, add_inner_products};
//! let columns: [&[f64]; 2] = [&[1.0, 2.0, 3.0], &[0.0, 1.0, 0.0]];
//! let mut sums = vec![0.0; 3];
//! add_combinations(&columns, mat![[2.0], [-1.0]].as_ref(), &mut sums);
//! assert_eq!(sums, [2.0, 3.0, 6.0]);
//! let mut products = mat![[0.0, 10.0]];
//! add_inner_products(&columns, &[1.0, 1.0, 1.0], products.as_mut());
//! assert_eq!(products, mat![[6.0, 11.0]]);
//! ```

use faer::{MatMut, MatRef};
use pulp::{Arch, Simd, WithSimd};

/// Columns that are read together.
const COLUMNS: usize = 4;
/// Results that are computed together: with the columns they fill the registers.
const RESULTS: usize = 5;

/// Adds `Σ_t weights_tr · column_t` to each result `r`; results lie one after another, each as long as the columns.
///
/// Every entry is one chain of products in the order of the columns, fused where the machine can: results of machines that cannot
/// differ in their last bits.
pub fn add_combinations(columns: &[&[f64]], weights: MatRef<'_, f64>, sums: &mut [f64]) {
    Arch::new().dispatch(Combine {
        columns,
        weights,
        sums,
    });
}

/// Adds `leftᵣᵀ column_t` to the entry `(r, t)`; the vectors `left` lie one after another, each as long as the columns.
pub fn add_inner_products(columns: &[&[f64]], left: &[f64], out: MatMut<'_, f64>) {
    Arch::new().dispatch(Multiply { columns, left, out });
}

/// Some columns, and if these are fewer than are read together, the first of them again.
fn together<'a>(columns: &[&'a [f64]]) -> [&'a [f64]; COLUMNS] {
    let first = columns.first().copied().unwrap_or(&[]);
    std::array::from_fn(|at| columns.get(at).copied().unwrap_or(first))
}

struct Combine<'a> {
    columns: &'a [&'a [f64]],
    weights: MatRef<'a, f64>,
    sums: &'a mut [f64],
}

impl WithSimd for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let length = self.columns.first().map_or(0, |column| column.len());
        if length == 0 {
            return;
        }
        for (group, columns) in self.columns.chunks(COLUMNS).enumerate() {
            let at = [group * COLUMNS, 0];
            let columns_of_group = together(columns);
            for (part, sums) in self.sums.chunks_mut(RESULTS * length).enumerate() {
                let at = [at[0], part * RESULTS];
                let weights = (self.weights, at, columns.len());
                match sums.len() / length {
                    1 => combine::<S, 1>(simd, columns_of_group, weights, sums),
                    2 => combine::<S, 2>(simd, columns_of_group, weights, sums),
                    3 => combine::<S, 3>(simd, columns_of_group, weights, sums),
                    4 => combine::<S, 4>(simd, columns_of_group, weights, sums),
                    _ => combine::<S, RESULTS>(simd, columns_of_group, weights, sums),
                }
            }
        }
    }
}

/// For one group of columns and `R` results.
#[inline(always)]
fn combine<S: Simd, const R: usize>(
    simd: S,
    columns: [&[f64]; COLUMNS],
    (weights, [first, result], used): (MatRef<'_, f64>, [usize; 2], usize),
    sums: &mut [f64],
) {
    let length = columns[0].len();
    let weights: [[S::f64s; R]; COLUMNS] = std::array::from_fn(|t| {
        std::array::from_fn(|r| match t < used {
            true => simd.splat_f64s(weights[(first + t, result + r)]),
            // A column that is there only to fill the group.
            false => simd.splat_f64s(0.0),
        })
    });
    let mut results = sums.chunks_exact_mut(length);
    let results: [&mut [f64]; R] = std::array::from_fn(|_| results.next().unwrap_or_default());
    let (columns, column_rests) = split::<S, COLUMNS>(columns);
    let whole = columns[0].len();
    let columns = columns.map(|column| &column[..whole]);
    let mut rests: [&mut [f64]; R] = std::array::from_fn(|_| Default::default());
    let mut at = 0;
    let results = results.map(|result| {
        let (result, rest) = S::as_mut_simd_f64s(result);
        rests[at] = rest;
        at += 1;
        &mut result[..whole]
    });
    for i in 0..whole {
        let values = columns.map(|column| column[i]);
        for r in 0..R {
            let mut sum = results[r][i];
            for t in 0..COLUMNS {
                sum = multiply_add(simd, weights[t][r], values[t], sum);
            }
            results[r][i] = sum;
        }
    }
    let values = column_rests.map(|rest| simd.partial_load_f64s(rest));
    for r in 0..R {
        let mut sum = simd.partial_load_f64s(rests[r]);
        for t in 0..COLUMNS {
            sum = multiply_add(simd, weights[t][r], values[t], sum);
        }
        simd.partial_store_f64s(rests[r], sum);
    }
}

/// Vectors as registers hold them, and what is left over.
#[inline(always)]
fn split<S: Simd, const N: usize>(vectors: [&[f64]; N]) -> ([&[S::f64s]; N], [&[f64]; N]) {
    let both = vectors.map(S::as_simd_f64s);
    (both.map(|both| both.0), both.map(|both| both.1))
}

#[inline(always)]
fn multiply_add<S: Simd>(simd: S, a: S::f64s, b: S::f64s, sum: S::f64s) -> S::f64s {
    // Without the instruction a fused product is a hundred times slower.
    match S::IS_SCALAR {
        true => simd.add_f64s(simd.mul_f64s(a, b), sum),
        false => simd.mul_add_f64s(a, b, sum),
    }
}

struct Multiply<'a> {
    columns: &'a [&'a [f64]],
    left: &'a [f64],
    out: MatMut<'a, f64>,
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let length = self.columns.first().map_or(0, |column| column.len());
        if length == 0 {
            return;
        }
        for (group, columns) in self.columns.chunks(COLUMNS).enumerate() {
            let columns_of_group = together(columns);
            for (part, left) in self.left.chunks(RESULTS * length).enumerate() {
                let (results, first) = (left.len() / length, group * COLUMNS);
                let out = self.out.as_mut();
                let out = out.submatrix_mut(part * RESULTS, first, results, columns.len());
                match results {
                    1 => multiply::<S, 1>(simd, columns_of_group, left, out),
                    2 => multiply::<S, 2>(simd, columns_of_group, left, out),
                    3 => multiply::<S, 3>(simd, columns_of_group, left, out),
                    4 => multiply::<S, 4>(simd, columns_of_group, left, out),
                    _ => multiply::<S, RESULTS>(simd, columns_of_group, left, out),
                }
            }
        }
    }
}

/// For one group of columns and `R` vectors.
#[inline(always)]
fn multiply<S: Simd, const R: usize>(
    simd: S,
    columns: [&[f64]; COLUMNS],
    left: &[f64],
    mut out: MatMut<'_, f64>,
) {
    let mut left = left.chunks_exact(columns[0].len());
    let left: [&[f64]; R] = std::array::from_fn(|_| left.next().unwrap_or_default());
    let (columns, column_rests) = split::<S, COLUMNS>(columns);
    let (left, left_rests) = split::<S, R>(left);
    let whole = columns[0].len();
    let columns = columns.map(|column| &column[..whole]);
    let left = left.map(|left| &left[..whole]);
    let mut sums = [[simd.splat_f64s(0.0); R]; COLUMNS];
    for i in 0..whole {
        let factors = left.map(|left| left[i]);
        for t in 0..COLUMNS {
            let value = columns[t][i];
            for r in 0..R {
                sums[t][r] = multiply_add(simd, factors[r], value, sums[t][r]);
            }
        }
    }
    let factors = left_rests.map(|rest| simd.partial_load_f64s(rest));
    let values = column_rests.map(|rest| simd.partial_load_f64s(rest));
    for t in 0..COLUMNS {
        for r in 0..R {
            sums[t][r] = multiply_add(simd, factors[r], values[t], sums[t][r]);
        }
    }
    // Taken out of the registers by value: an index that is not known when this is compiled would keep them in memory.
    let sums = sums.map(|sums| sums.map(|sum| simd.reduce_sum_f64s(sum)));
    for (t, sums) in sums.iter().enumerate().take(out.ncols()) {
        for (r, sum) in sums.iter().enumerate() {
            out[(r, t)] += sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::rng::{Purpose, derive};

    /// Every number of columns and of results up to more than go together, and lengths with every rest.
    #[test]
    fn products_are_those_of_matrices() {
        let mut rng = derive(7, Purpose::Test, &[]);
        let mut gaussian = |rows, columns| -> Mat<f64> {
            Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
        };
        for length in [1, 2, 7, 8, 9, 31] {
            for count in 1..=COLUMNS + 2 {
                for results in 1..=RESULTS + 2 {
                    let (table, weights) = (gaussian(length, count), gaussian(count, results));
                    let columns: Vec<&[f64]> = (0..count).map(|t| table.col_as_slice(t)).collect();
                    let mut sums = vec![1.0; length * results];
                    add_combinations(&columns, weights.as_ref(), &mut sums);
                    let expected = crate::linalg::product(table.as_ref(), weights.as_ref());
                    for (at, sum) in sums.iter().enumerate() {
                        let expected = 1.0 + expected[(at % length, at / length)];
                        assert!((sum - expected).abs() < 1e-12);
                    }
                    let mut out = Mat::from_fn(results, count, |_, _| 1.0);
                    add_inner_products(&columns, &sums, out.as_mut());
                    let left = MatRef::from_column_major_slice(&sums, length, results);
                    let expected = crate::linalg::product(left.transpose(), table.as_ref());
                    for t in 0..count {
                        for r in 0..results {
                            assert!((out[(r, t)] - 1.0 - expected[(r, t)]).abs() < 1e-11);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn no_columns_change_nothing() {
        let mut sums = [1.0, 2.0];
        add_combinations(&[], Mat::zeros(0, 2).as_ref(), &mut sums);
        assert_eq!(sums.map(f64::to_bits), [1.0, 2.0].map(f64::to_bits));
    }
}
