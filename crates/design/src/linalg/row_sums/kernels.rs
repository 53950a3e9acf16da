//! The innermost loops: a tile of products, and a panel's moments, kept in registers down all rows of a block.

use pulp::Simd;

use super::PANEL;

/// Moments are latency-bound, so this many rows go at once, each into sums of its own.
const MOMENT_ROWS: usize = 4;

/// Adds the products of `N` scalars and the first `used` groups of every row.
#[inline(always)]
pub(super) fn add_tile<S: Simd, const R: usize, const N: usize>(
    simd: S,
    used: usize,
    columns: &[S::f64s],
    scalars: &[f64],
    strides: [usize; 2],
    tile: &mut [S::f64s],
) {
    match used {
        1 => tile_kernel::<S, R, N, 1>(simd, columns, scalars, strides, tile),
        2 => tile_kernel::<S, R, N, 2>(simd, columns, scalars, strides, tile),
        _ => tile_kernel::<S, R, N, PANEL>(simd, columns, scalars, strides, tile),
    }
}

#[inline(always)]
fn tile_kernel<S: Simd, const R: usize, const N: usize, const U: usize>(
    simd: S,
    columns: &[S::f64s],
    scalars: &[f64],
    [column_stride, scalar_stride]: [usize; 2],
    tile: &mut [S::f64s],
) {
    let (tile, _) = tile.as_chunks_mut::<R>();
    let (tile, _) = tile.as_chunks_mut::<U>();
    let mut sums = [[[simd.splat_f64s(0.0); R]; U]; N];
    for (sum, old) in sums.iter_mut().zip(&*tile) {
        *sum = *old;
    }
    let rows = columns.chunks_exact(column_stride);
    for (x, y) in rows.zip(scalars.chunks(scalar_stride)) {
        let (x, _) = x.as_chunks::<R>();
        let (Some(x), Some(y)) = (x.first_chunk::<U>(), y.first_chunk::<N>()) else {
            break;
        };
        for (sum, &y) in sums.iter_mut().zip(y) {
            accumulate(simd, sum, x, y);
        }
    }
    for (sum, new) in sums.iter().zip(tile) {
        *new = *sum;
    }
}

/// `sum += x y`.
#[inline(always)]
fn accumulate<S: Simd, const R: usize, const U: usize>(
    simd: S,
    sum: &mut [[S::f64s; R]; U],
    x: &[[S::f64s; R]; U],
    y: f64,
) {
    let y = simd.splat_f64s(y);
    for (sum, x) in sum.iter_mut().zip(x) {
        for (sum, &x) in sum.iter_mut().zip(x) {
            // Without the instruction a fused product is a hundred times slower.
            *sum = match S::IS_SCALAR {
                true => simd.add_f64s(simd.mul_f64s(y, x), *sum),
                false => simd.mul_add_f64s(y, x, *sum),
            };
        }
    }
}

/// Adds a panel's moments, one output after another; labels lie the same way.
#[inline(always)]
pub(super) fn add_moments<S: Simd, const R: usize>(
    simd: S,
    groups: usize,
    columns: &[S::f64s],
    labels: &[f64],
    moments: &mut [f64],
) {
    let rows = columns.len() / (groups * R);
    let (moments, _) = S::as_mut_simd_f64s(moments);
    let outputs = moments.chunks_exact_mut(groups * R);
    for (moment, labels) in outputs.zip(labels.chunks_exact(rows.max(1))) {
        match groups {
            1 => moment_kernel::<S, R, 1>(simd, columns, labels, moment),
            2 => moment_kernel::<S, R, 2>(simd, columns, labels, moment),
            _ => moment_kernel::<S, R, PANEL>(simd, columns, labels, moment),
        }
    }
}

#[inline(always)]
fn moment_kernel<S: Simd, const R: usize, const U: usize>(
    simd: S,
    columns: &[S::f64s],
    labels: &[f64],
    moment: &mut [S::f64s],
) {
    let mut sums = [[[simd.splat_f64s(0.0); R]; U]; MOMENT_ROWS];
    let (rows, _) = columns.as_chunks::<R>();
    let (rows, _) = rows.as_chunks::<U>();
    let (rows, last_rows) = rows.as_chunks::<MOMENT_ROWS>();
    let (labels, last_labels) = labels.as_chunks::<MOMENT_ROWS>();
    for (rows, labels) in rows.iter().zip(labels) {
        for lane in 0..MOMENT_ROWS {
            accumulate(simd, &mut sums[lane], &rows[lane], labels[lane]);
        }
    }
    for (row, &label) in last_rows.iter().zip(last_labels) {
        accumulate(simd, &mut sums[0], row, label);
    }
    let (moment, _) = moment.as_chunks_mut::<R>();
    for (group, moment) in moment.iter_mut().enumerate().take(U) {
        for (lane, value) in moment.iter_mut().enumerate() {
            for sum in &sums {
                *value = simd.add_f64s(*value, sum[group][lane]);
            }
        }
    }
}
