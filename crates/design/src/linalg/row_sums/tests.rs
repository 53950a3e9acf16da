use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::rng::{Purpose, derive};

fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = derive(seed, Purpose::Test, &[]);
    (0..count)
        .map(|_| StandardNormal.sample(&mut rng))
        .collect()
}

fn sums<T: Value>(x: &[T], d: usize, y: &[T], m: usize) -> RowSums {
    let mut sums = RowSums::new(d, m);
    sums.set(x, y);
    sums
}

fn numbers(sums: &RowSums) -> Vec<f64> {
    let mut gram = vec![0.0; crate::linalg::packed::len(sums.dim)];
    let mut moments = vec![0.0; sums.dim * sums.outputs];
    sums.add_to(&mut gram, &mut moments);
    gram.extend(moments);
    gram
}

fn naive(x: &[f64], d: usize, y: &[f64], m: usize) -> Vec<f64> {
    let rows = || x.chunks_exact(d).zip(y.chunks_exact(m));
    let mut out = Vec::new();
    for i in 0..d {
        out.extend((0..=i).map(|j| rows().map(|(x, _)| x[i] * x[j]).sum::<f64>()));
    }
    for o in 0..m {
        out.extend((0..d).map(|i| rows().map(|(x, y)| x[i] * y[o]).sum::<f64>()));
    }
    out
}

/// Every width up to several panels, for rows that fill blocks and rows that do not.
#[test]
fn every_shape_gives_the_sums_of_its_rows() {
    for d in (1..60).chain([72, 73, 200]) {
        for (n, m) in [(0, 1), (1, 2), (3, 1), (161, 3), (327, 1)] {
            let (x, y) = (normals(n * d, d as u64), normals(n * m, !(n as u64)));
            let found = numbers(&sums(&x, d, &y, m));
            for (found, expected) in found.iter().zip(naive(&x, d, &y, m)) {
                let error = (found - expected).abs();
                assert!(error < 1e-12 * (1.0 + n as f64), "{d} × {n}: {error}");
            }
        }
    }
}

#[test]
fn single_precision_rows_have_double_precision_sums() {
    let (d, n) = (21, 500);
    let x: Vec<f32> = normals(n * d, 1).iter().map(|&x| x as f32).collect();
    let y: Vec<f32> = normals(n, 2).iter().map(|&y| y as f32).collect();
    let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
    let single = numbers(&sums(&x, d, &y, 1));
    assert_eq!(single, numbers(&sums(&wide(&x), d, &wide(&y), 1)));
}

fn with<S: Simd>(simd: S, x: &[f64], d: usize, y: &[f64], m: usize) -> RowSums {
    let mut sums = RowSums::new(d, m);
    let work = Sum {
        inputs: x,
        outputs: y,
        sums: &mut sums,
    };
    Simd::vectorize(simd, work);
    sums
}

/// Two widths of registers, the same bits.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_width_of_registers_changes_no_bit() {
    let (Some(narrow), Some(wide)) = (pulp::x86::V3::try_new(), pulp::x86::V4::try_new()) else {
        eprintln!("SKIPPED: this machine does not have both AVX2 and AVX-512");
        return;
    };
    for (d, n, m) in [(5, 700, 2), (27, 333, 1), (200, 500, 3)] {
        let (x, y) = (normals(n * d, 3), normals(n * m, 4));
        let (narrow, wide) = (with(narrow, &x, d, &y, m), with(wide, &x, d, &y, m));
        assert_eq!((narrow.group, wide.group), (4, 8));
        let bits = |sums| -> Vec<u64> { numbers(sums).iter().map(|v| v.to_bits()).collect() };
        assert_eq!(bits(&narrow), bits(&wide));
    }
}

/// What machines without vector instructions do.
#[test]
fn the_portable_kernel_gives_the_same_sums() {
    let (d, n) = (13, 400);
    let (x, y) = (normals(n * d, 5), normals(n * 2, 6));
    let found = numbers(&with(pulp::Scalar, &x, d, &y, 2));
    for (found, expected) in found.iter().zip(naive(&x, d, &y, 2)) {
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    }
}

/// Memory is used again for fewer rows, and for more.
#[test]
fn sums_know_nothing_of_earlier_rows() {
    let (d, m) = (11, 2);
    let mut again = RowSums::new(d, m);
    for n in [400, 3, 0, 170] {
        let (x, y) = (normals(n * d, 7), normals(n * m, 8));
        again.set(&x, &y);
        assert_eq!(numbers(&again), numbers(&sums(&x, d, &y, m)));
    }
}
