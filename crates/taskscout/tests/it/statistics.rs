//! Sufficient statistics against the rows they stand for.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::{apply, bits, dot, gaussian, normals, on_threads, rng};
use proptest::prelude::*;
use taskscout::Error;
use taskscout::data::{FoldSelection, Samples, Statistics, TARGET_FOLD_COUNT, TaskData};

/// `n` rows of correlated features and unrelated outputs.
fn draw(n: usize, d: usize, outputs: usize, seed: u64) -> Samples {
    let rng = &mut rng(seed);
    let mix = gaussian(d, d, rng);
    let inputs = (0..n)
        .flat_map(|_| apply(mix.as_ref(), &normals(d, rng)))
        .collect();
    Samples::new(inputs, d, normals(n * outputs, rng), outputs).unwrap()
}

fn statistics(rows: &Samples) -> Statistics {
    let mut statistics = Statistics::new(rows.input_dim(), rows.output_dim());
    statistics.accumulate(rows).unwrap();
    statistics
}

fn joined(a: &Samples, b: &Samples) -> Samples {
    let join = |a: &[f64], b: &[f64]| [a, b].concat();
    let (inputs, outputs) = (join(a.inputs(), b.inputs()), join(a.outputs(), b.outputs()));
    Samples::new(inputs, a.input_dim(), outputs, a.output_dim()).unwrap()
}

/// The same sums, one product at a time: Gram matrix, moments, squares.
fn naive(rows: &Samples) -> Vec<f64> {
    let (d, m) = (rows.input_dim(), rows.output_dim());
    let pairs = || {
        rows.inputs()
            .chunks_exact(d)
            .zip(rows.outputs().chunks_exact(m))
    };
    let mut out = Vec::new();
    for i in 0..d {
        out.extend((0..=i).map(|j| pairs().map(|(x, _)| x[i] * x[j]).sum::<f64>()));
    }
    for o in 0..m {
        out.extend((0..d).map(|i| pairs().map(|(x, y)| x[i] * y[o]).sum::<f64>()));
    }
    out.extend((0..m).map(|o| pairs().map(|(_, y)| y[o] * y[o]).sum::<f64>()));
    out
}

/// All numbers of the statistics, in the order of `naive`.
fn numbers(statistics: &Statistics) -> Vec<f64> {
    let mut out = statistics.gram().to_vec();
    (0..statistics.outputs()).for_each(|o| out.extend(statistics.cross_moment(o)));
    out.extend((0..statistics.outputs()).map(|o| statistics.sum_of_squares(o)));
    out
}

/// Largest difference over the largest number: rounding is relative to the sums' size.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(1e-300_f64, |top, value| top.max(value.abs()));
    a.iter()
        .zip(b)
        .fold(0.0_f64, |top, (x, y)| top.max((x - y).abs()))
        / size
}

proptest! {
    #![proptest_config(crate::common::cases(64))]

    #[test]
    fn merged_statistics_are_those_of_merged_rows(
        (d, outputs) in (1_usize..7, 1_usize..4),
        (n, m) in (0_usize..40, 1_usize..40),
        seed in any::<u64>(),
    ) {
        let (first, second) = (draw(n, d, outputs, seed), draw(m, d, outputs, !seed));
        let mut merged = statistics(&first);
        merged.merge(&statistics(&second)).unwrap();
        let together = statistics(&joined(&first, &second));
        prop_assert_eq!(merged.count(), n + m);
        prop_assert!(distance(&numbers(&merged), &numbers(&together)) < 1e-12);
        prop_assert!(distance(&numbers(&together), &naive(&joined(&first, &second))) < 1e-12);
    }

    #[test]
    fn projected_statistics_are_those_of_projected_rows(
        (d, k, outputs) in (1_usize..7, 1_usize..5, 1_usize..4),
        n in 1_usize..30,
        seed in any::<u64>(),
    ) {
        let rows = draw(n, d, outputs, seed);
        let matrix = gaussian(d, k, &mut rng(seed ^ 1));
        let inputs = rows.inputs().chunks_exact(d).flat_map(|x| apply(matrix.transpose(), x)).collect();
        let projected = Samples::new(inputs, k, rows.outputs().to_vec(), outputs).unwrap();
        let short = statistics(&rows).project(matrix.as_ref()).unwrap();
        prop_assert_eq!((short.dim(), short.outputs(), short.count()), (k, outputs, n));
        prop_assert!(distance(&numbers(&short), &naive(&projected)) < 1e-12);
    }

    #[test]
    fn the_residual_is_the_sum_over_rows(
        (d, outputs) in (1_usize..7, 1_usize..4),
        n in 1_usize..30,
        seed in any::<u64>(),
    ) {
        let rows = draw(n, d, outputs, seed);
        let beta = normals(d, &mut rng(seed ^ 2));
        let statistics = statistics(&rows);
        for o in 0..outputs {
            let labels = rows.outputs().chunks_exact(outputs).map(|y| y[o]);
            let pairs = rows.inputs().chunks_exact(d).zip(labels);
            let sum: f64 = pairs.map(|(x, y)| (y - dot(x, &beta)).powi(2)).sum();
            // Three sums cancel; their size bounds the rounding.
            let size = statistics.sum_of_squares(o) + 2.0 * dot(&beta, statistics.cross_moment(o)).abs() + sum;
            prop_assert!((statistics.residual_sum_of_squares(o, &beta) - sum).abs() < 1e-12 * size);
        }
    }

    #[test]
    fn statistics_come_back_from_a_file_bit_for_bit(
        (d, outputs, n) in (1_usize..6, 1_usize..3, 0_usize..9),
        seed in any::<u64>(),
    ) {
        let before = statistics(&draw(n, d, outputs, seed));
        let text = serde_json::to_string(&before).unwrap();
        let after: Statistics = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(bits(&numbers(&before)), bits(&numbers(&after)));
        prop_assert_eq!(after, before);
    }

    #[test]
    fn every_target_row_lands_in_one_fold(
        batches in prop::collection::vec((0_usize..23, any::<bool>()), 1..8),
        seed in any::<u64>(),
    ) {
        let mut data = TaskData::new(3, 2, 1);
        let target = data.add_target("t", vec![1.0]).unwrap();
        let mut all = Samples::new(vec![], 3, vec![], 2).unwrap();
        for (index, &(n, episodic)) in batches.iter().enumerate() {
            let rows = draw(n, 3, 2, seed.wrapping_add(index as u64));
            all = joined(&all, &rows);
            let episodes = (0..n as u64).map(|row| row / 3).collect();
            let rows = if episodic { rows.with_episodes(episodes).unwrap() } else { rows };
            data.add_target_rows(target, &rows).unwrap();
        }
        let folds = &data.targets()[target].folds;
        prop_assert_eq!(folds.len(), TARGET_FOLD_COUNT);
        prop_assert_eq!(folds.iter().map(|fold| fold.count()).sum::<usize>(), all.len());
        prop_assert_eq!(data.target_rows(target), all.len());
        let total = data.target_statistics(target, FoldSelection::All).unwrap();
        prop_assert!(distance(&numbers(&total), &naive(&all)) < 1e-12);
        for (index, fold) in folds.iter().enumerate() {
            let mut whole = data.target_statistics(target, FoldSelection::Without(index)).unwrap();
            whole.merge(fold).unwrap();
            prop_assert_eq!(whole.count(), total.count());
            prop_assert!(distance(&numbers(&whole), &numbers(&total)) < 1e-12);
        }
    }
}

/// Enough rows for many chunks, the last one short.
#[test]
fn sums_do_not_depend_on_threads() {
    let rows = draw(2048 * 17 + 5, 5, 2, 4);
    let sums = |threads| numbers(&on_threads(threads, || statistics(&rows)));
    let one = sums(1);
    assert_eq!(bits(&one), bits(&sums(4)));
    assert!(distance(&one, &naive(&rows)) < 1e-11);
    assert!(one.iter().all(|value| value.abs() > 0.0));
}

#[test]
fn rows_of_others_add_the_same_bits_or_nothing() {
    let rows = draw(5000, 7, 2, 3);
    let mut held = Statistics::new(7, 2);
    held.accumulate_slices(rows.inputs(), rows.outputs())
        .unwrap();
    assert_eq!(held, statistics(&rows));
    let mut wrong = rows.inputs().to_vec();
    wrong[7 * 4999 + 3] = f64::NAN;
    let huge: Vec<f64> = rows.inputs().iter().map(|value| value * 1e200).collect();
    let cases = [
        (&wrong[..], rows.outputs(), "row 4999, input 3"),
        (&huge[..], rows.outputs(), "rescale the columns"),
        (rows.inputs(), &rows.outputs()[1..], "the outputs"),
        (&rows.inputs()[7..], rows.outputs(), "the feature rows"),
    ];
    for (inputs, outputs, words) in cases {
        let message = held.accumulate_slices(inputs, outputs).unwrap_err();
        assert!(message.to_string().contains(words), "{message}");
        assert_eq!(held, statistics(&rows));
    }
}

#[test]
fn values_that_are_not_finite_are_refused_by_name() {
    let place = |inputs: &[f64], outputs: &[f64]| match Samples::new(
        inputs.to_vec(),
        2,
        outputs.to_vec(),
        1,
    ) {
        Err(Error::NotFinite { place, value }) => (place, value.is_nan()),
        other => panic!("{other:?}"),
    };
    let nan = place(&[0.0, 1.0, 2.0, f64::NAN, 4.0, 5.0], &[1.0, 2.0, 3.0]);
    assert_eq!(nan, ("row 1, input 1".to_owned(), true));
    let infinite = place(
        &[0.0, 1.0, 2.0, 3.0, f64::NEG_INFINITY, 5.0],
        &[1.0, 2.0, 3.0],
    );
    assert_eq!(infinite, ("row 2, input 0".to_owned(), false));
    let label = place(&[0.0, 1.0, 2.0, 3.0], &[1.0, f64::INFINITY]);
    assert_eq!(label, ("row 1, output 0".to_owned(), false));
    let error = Samples::new(vec![0.0], 1, vec![1.0, f64::NAN], 2).unwrap_err();
    assert!(
        error.to_string().starts_with("row 0, output 1 is NaN"),
        "{error}"
    );
}

#[test]
fn ragged_rows_and_empty_shapes_are_refused() {
    let length = |inputs: usize, d, outputs: usize, m| match Samples::new(
        vec![0.0; inputs],
        d,
        vec![0.0; outputs],
        m,
    ) {
        Err(Error::WrongLength {
            place,
            expected,
            found,
        }) => (place, expected, found),
        other => panic!("{other:?}"),
    };
    assert_eq!(length(5, 2, 3, 1), ("input row 2".to_owned(), 2, 1));
    assert_eq!(length(6, 2, 2, 1), ("the inputs".to_owned(), 4, 6));
    assert_eq!(length(4, 2, 3, 2), ("the outputs".to_owned(), 2, 3));
    let key = |d, m| match Samples::new(vec![], d, vec![], m) {
        Err(Error::Setting { key, .. }) => key,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (key(0, 1), key(1, 0)),
        ("input_dim".to_owned(), "output_dim".to_owned())
    );
    let rows = Samples::new(vec![0.0; 4], 2, vec![0.0; 2], 1).unwrap();
    assert!(matches!(
        rows.clone().with_episodes(vec![1]),
        Err(Error::WrongLength { .. })
    ));
    let wide = |error| matches!(error, Err(Error::WrongLength { .. }));
    assert!(wide(Statistics::new(3, 1).accumulate(&rows)));
    assert!(wide(Statistics::new(2, 2).accumulate(&rows)));
    assert!(wide(Statistics::new(2, 1).merge(&Statistics::new(3, 1))));
    assert!(wide(Statistics::new(2, 1).merge(&Statistics::new(2, 2))));
}

#[test]
fn data_of_the_wrong_shape_leave_no_trace() {
    let mut data = TaskData::new(2, 1, 2);
    let target = data.add_target("t", vec![0.0, 1.0]).unwrap();
    let before = data.clone();
    let wide = Samples::new(vec![0.0; 3], 3, vec![0.0], 1).unwrap();
    let rows = Samples::new(vec![0.0; 2], 2, vec![0.0], 1).unwrap();
    let stage = taskscout::data::Stage::Explore;
    assert!(
        data.add_source_rows(&[1.0], &[1.0, 0.0], stage, 0, &wide)
            .is_err()
    );
    assert!(
        data.add_source_rows(&[1.0], &[1.0], stage, 0, &rows)
            .is_err()
    );
    assert!(data.add_target_rows(target, &wide).is_err());
    assert!(matches!(
        data.add_target_rows(1, &rows),
        Err(Error::State(_))
    ));
    assert!(data.add_target("u", vec![1.0]).is_err());
    assert_eq!(data, before);
    assert!(matches!(
        data.target_statistics(1, FoldSelection::All),
        Err(Error::State(_))
    ));
}

/// Row `i` has the single feature `2^i`: the sum of a fold names its rows.
fn powers(n: u32) -> Samples {
    let inputs = (0..n).map(|i| f64::from(2_u32.pow(i))).collect();
    Samples::new(inputs, 1, vec![1.0; n as usize], 1).unwrap()
}

/// Which rows of `powers` each fold of a fresh target holds.
fn rows_by_fold(rows: &Samples) -> Vec<Vec<u32>> {
    let mut data = TaskData::new(1, 1, 1);
    let target = data.add_target("t", vec![1.0]).unwrap();
    data.add_target_rows(target, rows).unwrap();
    let named = |fold: &std::sync::Arc<Statistics>| {
        let sum = fold.cross_moment(0)[0] as u32;
        (0..32).filter(|i| sum >> i & 1 == 1).collect::<Vec<u32>>()
    };
    data.targets()[target].folds.iter().map(named).collect()
}

#[test]
fn folds_are_contiguous_blocks_of_even_size() {
    for n in 1..20 {
        let folds = rows_by_fold(&powers(n));
        let mut all: Vec<u32> = folds.concat();
        all.sort_unstable();
        assert_eq!(all, (0..n).collect::<Vec<u32>>());
        for rows in folds {
            assert!(
                rows.windows(2).all(|pair| pair[1] == pair[0] + 1),
                "{rows:?}"
            );
            assert!(
                rows.len().abs_diff(n as usize / TARGET_FOLD_COUNT) <= 1,
                "{rows:?}"
            );
        }
    }
}

#[test]
fn episodes_stay_whole_where_there_are_enough() {
    // Lengths of episodes, as uneven as they come.
    for lengths in [
        &[3, 3, 3, 3][..],
        &[17, 1, 1, 1],
        &[1, 1, 1, 17],
        &[1, 9, 1, 1, 5, 2],
        &[2; 9],
    ] {
        let ids = lengths
            .iter()
            .enumerate()
            .flat_map(|(id, &n)| vec![id as u64; n]);
        let ids: Vec<u64> = ids.collect();
        let rows = powers(ids.len() as u32).with_episodes(ids.clone()).unwrap();
        let folds = rows_by_fold(&rows);
        for fold in &folds {
            assert!(!fold.is_empty(), "{lengths:?}: {folds:?}");
            assert!(
                fold.windows(2).all(|pair| pair[1] == pair[0] + 1),
                "{folds:?}"
            );
            let holds = |row: u32| folds.iter().position(|fold| fold.contains(&row));
            for &row in fold {
                let episode = ids[row as usize];
                let others = (0..ids.len()).filter(|&other| ids[other] == episode);
                assert!(
                    others
                        .into_iter()
                        .all(|other| holds(other as u32) == holds(row)),
                    "{folds:?}"
                );
            }
        }
    }
    // Fewer episodes than folds: no fold may stay empty.
    let rows = powers(12).with_episodes([[1; 6], [2; 6]].concat()).unwrap();
    assert!(rows_by_fold(&rows).iter().all(|fold| fold.len() == 3));
}

#[test]
fn small_batches_keep_folds_balanced() {
    for batch in 1..=TARGET_FOLD_COUNT as u32 {
        let mut data = TaskData::new(1, 1, 1);
        let target = data.add_target("t", vec![1.0]).unwrap();
        for told in 1..=22_usize {
            data.add_target_rows(target, &powers(batch)).unwrap();
            let counts: Vec<usize> = data.targets()[target]
                .folds
                .iter()
                .map(|fold| fold.count())
                .collect();
            assert_eq!(counts.iter().sum::<usize>(), told * batch as usize);
            assert!(
                counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1,
                "{counts:?}"
            );
        }
    }
}
