//! Measured rows as bytes and back.
#![allow(clippy::unwrap_used, clippy::panic)] // a broken test set-up should be loud

use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use taskscout_store::Error;
use taskscout_store::rows::{CHUNK, Table, decode, encode};

fn back(chunks: &[Vec<u8>]) -> Table {
    let mut all = Table::default();
    for chunk in chunks {
        let part = decode(chunk).unwrap();
        (all.inputs, all.outputs) = (part.inputs, part.outputs);
        all.x.extend(part.x);
        all.y.extend(part.y);
    }
    all
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

#[test]
fn every_bit_comes_back() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for rows in [1, 2, 3, 100, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 5] {
        // Any pattern of bits: negative zero, subnormal numbers, infinities.
        let mut draw = |count: usize| -> Vec<f64> {
            (0..count).map(|_| f64::from_bits(rng.next_u64())).collect()
        };
        let (mut x, y) = (draw(rows * 3), draw(rows * 2));
        x[0] = -0.0;
        x[1] = f64::from_bits(1);
        x[2] = f64::MAX;
        let chunks = encode(&x, 3, &y, 2).unwrap();
        assert_eq!(chunks.len(), rows.div_ceil(CHUNK));
        let found = back(&chunks);
        assert_eq!((found.inputs, found.outputs), (3, 2));
        assert_eq!(bits(&found.x), bits(&x));
        assert_eq!(bits(&found.y), bits(&y));
    }
    assert!(encode(&[], 3, &[], 1).unwrap().is_empty());
    let only = encode(&[], 0, &[1.0, 2.0], 1).unwrap();
    assert_eq!(decode(&only[0]).unwrap().y, [1.0, 2.0]);
}

#[test]
fn the_same_rows_give_the_same_bytes_and_measured_ones_fewer() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut pwm = || f64::from(1000 + rng.random_range(0..1000_u32));
    let x: Vec<f64> = (0..400_000).map(|_| pwm()).collect();
    let y: Vec<f64> = (0..100_000)
        .map(|row| (f64::from(row) * 1e-3).sin())
        .collect();
    let chunks = encode(&x, 4, &y, 1).unwrap();
    assert_eq!(chunks, encode(&x, 4, &y, 1).unwrap());
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    assert_eq!(chunks, one.install(|| encode(&x, 4, &y, 1)).unwrap());
    let bytes: usize = chunks.iter().map(Vec::len).sum();
    assert!(bytes * 2 < 500_000 * 8, "{bytes}");
}

#[test]
fn rows_that_are_not_whole_are_refused() {
    for (x, inputs, y, outputs) in [(3, 2, 1, 1), (4, 2, 3, 1), (2, 0, 2, 1), (4, 2, 3, 2)] {
        let refused = encode(&vec![0.0; x], inputs, &vec![0.0; y], outputs);
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
}

#[test]
fn changed_bytes_never_panic_and_a_newer_layout_is_named() {
    let x: Vec<f64> = (0..300).map(f64::from).collect();
    let chunk = encode(&x, 3, &x[..100], 1).unwrap().remove(0);
    for place in 0..chunk.len() {
        for bit in [0, 3, 7] {
            let mut changed = chunk.clone();
            changed[place] ^= 1 << bit;
            let _ = decode(&changed);
        }
        assert!(decode(&chunk[..place]).is_err(), "cut at {place}");
    }
    let mut newer = chunk;
    newer[3] = 2;
    assert!(matches!(decode(&newer), Err(Error::Newer { .. })));
}
