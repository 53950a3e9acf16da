//! Identification: the truth comes back, regions hold it, and units and threads do not matter.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::family;

use crate::common::{bits, normals, on_threads, rng, rows};
use family::{D, NOISE, World, holds, loss, statistics};
use taskscout::Error;
use taskscout::data::{Samples, Stage, Statistics, TaskData};
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::identify::{CONFIDENCE_LEVEL, IdentifiedParameters, TaskFamily};
use taskscout::rng::{Purpose, derive};
use taskscout::space::{Space, TaskSpace as _};

const SEEDS: u64 = 60;

fn widths(found: &IdentifiedParameters) -> Vec<f64> {
    let ends = found.low.iter().zip(&found.high);
    ends.map(|(low, high)| high - low).collect()
}

/// The function of the likeliest member, without a mean and without the target's say.
fn likeliest(world: &World, family: &TaskFamily, found: &IdentifiedParameters) -> Vec<Vec<f64>> {
    let psi = apply_row(&world.features, &found.task);
    (0..family.outputs())
        .map(|output| family.coefficients(&psi, output))
        .collect()
}

fn one_hot_and_box() -> (Space, FeatureMap) {
    let line = Space::boxed(vec![-1.0], vec![1.0]).unwrap();
    let space = Space::product(vec![Space::one_hot(3).unwrap(), line]).unwrap();
    (
        space,
        FeatureMap::one_hot_polynomial(3, 1, 1, true).unwrap(),
    )
}

#[test]
fn the_truth_comes_back_in_a_box() {
    for seed in 0..5 {
        let world = World::plane(seed);
        let rng = &mut rng(100 + seed);
        let family = world.family(12, 2000, rng);
        let task = world.space.sample(rng).unwrap();
        let found = world.identify(&family, &world.target(&task, 2000, rng), seed);
        // σ/√n is 0.007 in coefficients, which a unit of a parameter moves by about √D.
        for (found, truth) in found.task.iter().zip(&task) {
            assert!((found - truth).abs() < 0.04, "{seed}: {found} {truth}");
        }
        assert!(found.supports_family(), "{seed}: {}", found.log_odds);
        assert!((found.noise / (NOISE * NOISE) - 1.0).abs() < 0.05);
        assert!(loss(&found.coefficients, &world.function(&task)) < 1e-3);
    }
}

/// The likelihood of every listed task by hand: the region is the box around those not ruled out.
#[test]
fn a_finite_list_is_scanned() {
    let rng = &mut rng(1);
    let tasks: Vec<Vec<f64>> = (0..40).map(|_| normals(2, rng)).collect();
    let space = Space::list(&tasks).unwrap();
    let features = FeatureMap::polynomial(2, 2, true).unwrap();
    let mut world = World::new(space, features, 1, rng);
    world.noise = 1.0;
    // So many rows that the family is as good as known.
    let family = world.family(30, 20_000, rng);
    let mut several = 0;
    for (index, truth) in tasks.iter().enumerate() {
        let rows = world.target(truth, 12, rng);
        let found = world.identify(&family, &rows, 0);
        let cost = |task: &[f64]| {
            let beta = family.coefficients(&apply_row(&world.features, task), 0);
            rows.residual_sum_of_squares(0, &beta) / family.noise()
        };
        let least = tasks.iter().map(|w| cost(w)).fold(f64::INFINITY, f64::min);
        assert!((cost(&found.task) - least).abs() < 0.02, "task {index}");
        // χ²₂ at 90 % is 4.605; the misfit widens it where rows fit worse than noise.
        let misfit = f64::max(least / 10.0, 1.0);
        let left = |slack: f64| {
            let limit = least + misfit * 4.605 + slack;
            let left: Vec<&Vec<f64>> = tasks.iter().filter(|w| cost(w) <= limit).collect();
            let column = |i: usize| left.iter().map(move |w| w[i]);
            let low: Vec<f64> = (0..2).map(|i| column(i).fold(9.0, f64::min)).collect();
            let high: Vec<f64> = (0..2).map(|i| column(i).fold(-9.0, f64::max)).collect();
            (low, high, left.len())
        };
        // What the family leaves open is worth less than the slack.
        let (low, high, count) = left(0.1);
        if left(-0.1).2 == count {
            assert_eq!((&found.low, &found.high), (&low, &high), "task {index}");
            several += usize::from(count > 1);
        }
        assert!(found.posterior_samples.is_empty());
    }
    assert!(several > 5, "regions of one task only");
}

#[test]
fn one_of_a_few_kinds_is_told() {
    let features = FeatureMap::identity(6).unwrap();
    for seed in 0..6 {
        let rng = &mut rng(20 + seed);
        let world = World::new(Space::one_hot(6).unwrap(), features.clone(), 1, rng);
        let family = world.family(30, 100, rng);
        let task = crate::common::unit(6, usize::try_from(seed).unwrap());
        let found = world.identify(&family, &world.target(&task, 10, rng), seed);
        assert_eq!(found.task, task);
        assert!(found.supports_family());
    }
}

/// Kind and parameter together; with few rows the mean goes over kinds too.
#[test]
fn a_product_of_kinds_and_a_box() {
    let (space, features) = one_hot_and_box();
    let (mut mean, mut best, mut kinds) = (0.0, 0.0, 0);
    for seed in 0..40 {
        let rng = &mut rng(40 + seed);
        let mut world = World::new(space.clone(), features.clone(), 1, rng);
        world.noise = 1.0;
        let family = world.family(30, 300, rng);
        let task = world.space.sample(rng).unwrap();
        let found = world.identify(&family, &world.target(&task, 400, rng), seed);
        assert_eq!(found.task[..3], task[..3], "{seed}");
        assert!((found.task[3] - task[3]).abs() < 0.3, "{seed}");
        let found = world.identify(&family, &world.target(&task, 2, rng), seed);
        kinds += found.high[..3].iter().filter(|&&high| high > 0.5).count();
        mean += loss(&found.coefficients, &world.function(&task)) / 40.0;
        best += loss(&likeliest(&world, &family, &found), &world.function(&task)) / 40.0;
    }
    // Two rows leave two or three kinds open, and walkers must reach all of them: about 0.6.
    assert!(kinds > 60, "{kinds}");
    assert!(mean < 0.85 * best, "{mean} {best}");
}

#[test]
fn regions_hold_the_truth_and_shrink() {
    let mut width = Vec::new();
    for n in [25, 400] {
        let (mut held, mut total) = (0, 0.0);
        for seed in 0..SEEDS {
            let world = World::plane(seed);
            let rng = &mut rng(1000 + seed);
            let family = world.family(12, 20_000, rng);
            let task = world.space.sample(rng).unwrap();
            let found = world.identify(&family, &world.target(&task, n, rng), seed);
            held += usize::from(holds(&found, &task));
            total += widths(&found).iter().sum::<f64>();
            assert!(found.confidence.total_cmp(&CONFIDENCE_LEVEL).is_eq());
        }
        // A box around a 90 % ellipse holds more; three deviations below 90 % are 47 of 60.
        assert!(held >= 51, "{held} of {SEEDS} with {n} rows");
        width.push(total / SEEDS as f64);
    }
    // Sixteen times the rows, a quarter of the width; boxes that end at the edge of the space
    // shrink a little less.
    let ratio = width[0] / width[1];
    assert!((3.2..4.8).contains(&ratio), "{ratio}");
}

#[test]
fn truths_on_the_boundary_are_held() {
    let mut held = 0;
    for seed in 0..40 {
        let world = World::plane(seed);
        let rng = &mut rng(2000 + seed);
        let family = world.family(12, 2000, rng);
        let corner = [-1.0, if seed % 2 == 0 { 1.0 } else { 0.3 }];
        let found = world.identify(&family, &world.target(&corner, 50, rng), seed);
        assert!(world.space.contains(&found.task));
        assert!(world.space.contains(&found.low) && world.space.contains(&found.high));
        held += usize::from(holds(&found, &corner));
    }
    assert!(held >= 34, "{held} of 40");
}

#[test]
fn with_few_rows_the_mean_beats_the_likeliest() {
    let mut gains = Vec::new();
    for seed in 0..SEEDS {
        let mut world = World::line(seed);
        world.noise = 1.0;
        let rng = &mut rng(3000 + seed);
        let family = world.family(12, 500, rng);
        let task = world.space.sample(rng).unwrap();
        let found = world.identify(&family, &world.target(&task, 3, rng), seed);
        let truth = world.function(&task);
        let best = loss(&likeliest(&world, &family, &found), &truth);
        gains.push(best - loss(&found.coefficients, &truth));
    }
    let n = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / n;
    let spread = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>();
    let error = (spread / n / (n - 1.0)).sqrt();
    assert!(mean > 2.0 * error, "{mean} ± {error}");
}

#[test]
fn a_function_outside_the_family_does_not_belong() {
    let (mut outside, mut inside) = (0, 0);
    for seed in 0..20 {
        let world = World::plane(seed);
        let rng = &mut rng(4000 + seed);
        let family = world.family(12, 500, rng);
        let task = world.space.sample(rng).unwrap();
        let outsider = vec![normals(D, rng).iter().map(|x| 2.0 * x).collect()];
        let rows = statistics(&rows(&outsider, 40, NOISE, rng));
        outside += usize::from(!world.identify(&family, &rows, seed).supports_family());
        let rows = world.target(&task, 40, rng);
        inside += usize::from(world.identify(&family, &rows, seed).supports_family());
    }
    assert_eq!((outside, inside), (20, 20));
}

#[test]
fn several_outputs_share_a_task() {
    let rng = &mut rng(5);
    let plane = World::plane(5);
    let world = World::new(plane.space, plane.features, 3, rng);
    let family = world.family(12, 1000, rng);
    let task = [0.4, -0.7];
    let rows = world.target(&task, 40, rng);
    let found = world.identify(&family, &rows, 0);
    assert_eq!((family.outputs(), found.coefficients.len()), (3, 3));
    assert!(holds(&found, &task));
    assert!(found.supports_family());
    // Against the same rows with the first output alone.
    let first = World {
        matrices: world.matrices[..1].to_vec(),
        ..world.clone()
    };
    let rng = &mut crate::common::rng(6);
    let alone = first.identify(
        &first.family(12, 1000, rng),
        &first.target(&task, 40, rng),
        0,
    );
    let all: f64 = widths(&found).iter().sum();
    assert!(all < widths(&alone).iter().sum());
}

/// The same rows with inputs and labels in other units.
fn in_units(rows: &Samples, input: f64, label: f64) -> Samples {
    let times = |values: &[f64], by: f64| values.iter().map(|value| value * by).collect();
    let (x, y) = (times(rows.inputs(), input), times(rows.outputs(), label));
    Samples::new(x, rows.input_dim(), y, rows.output_dim()).unwrap()
}

/// Equal up to where searches stop.
fn alike(a: &IdentifiedParameters, b: &IdentifiedParameters, tolerance: f64) -> bool {
    let ends = |found: &IdentifiedParameters| [&found.task[..], &found.low, &found.high].concat();
    let mut pairs = ends(a).into_iter().zip(ends(b));
    pairs.all(|(a, b)| (a - b).abs() < tolerance) && (a.log_odds - b.log_odds).abs() < tolerance
}

#[test]
fn units_and_order_do_not_matter() {
    let world = World::plane(7);
    let rng = &mut rng(7);
    let tasks: Vec<Vec<f64>> = (0..12).map(|_| world.space.sample(rng).unwrap()).collect();
    let batches: Vec<Samples> = tasks.iter().map(|w| world.samples(w, 200, rng)).collect();
    let target = world.samples(&[0.2, 0.6], 30, rng);
    let found = |order: &[usize], input: f64, label: f64| {
        let mut data = TaskData::new(D, 1, 6);
        for &index in order {
            let psi = apply_row(&world.features, &tasks[index]);
            let rows = in_units(&batches[index], input, label);
            data.add_source_rows(&tasks[index], &psi, Stage::WarmUp, 0, &rows)
                .unwrap();
        }
        let family = TaskFamily::fit(&data, 6, None).unwrap().unwrap();
        world.identify(&family, &statistics(&in_units(&target, input, label)), 0)
    };
    let order: Vec<usize> = (0..12).collect();
    let plain = found(&order, 1.0, 1.0);
    let backwards: Vec<usize> = (0..12).rev().collect();
    assert!(alike(&found(&backwards, 1.0, 1.0), &plain, 1e-5));
    for (input, label) in [(1e3, 1.0), (1.0, 1e-4), (1e-2, 1e5)] {
        let other = found(&order, input, label);
        assert!(alike(&other, &plain, 1e-5), "{input} {label}: {other:?}");
        let unit = label / input;
        for (a, b) in other.coefficients[0].iter().zip(&plain.coefficients[0]) {
            assert!((a / unit - b).abs() < 1e-2, "{input} {label}: {a} {b}");
        }
        assert!((other.noise / label.powi(2) / plain.noise - 1.0).abs() < 1e-6);
    }
}

/// A parameter in millimetres or in kilometres.
#[test]
fn units_of_tasks_do_not_matter() {
    let found = |unit: f64| {
        let mut world = World::line(3);
        world.space = Space::boxed(vec![0.0], vec![unit]).unwrap();
        for j in 0..3 {
            let power = unit.powi(i32::try_from(j).unwrap());
            (0..D).for_each(|i| world.matrices[0][(i, j)] /= power);
        }
        let rng = &mut rng(5);
        let family = world.family(12, 500, rng);
        let mut found = world.identify(&family, &world.target(&[0.5 * unit], 50, rng), 1);
        for values in [&mut found.task, &mut found.low, &mut found.high] {
            values.iter_mut().for_each(|value| *value /= unit);
        }
        found
    };
    let plain = found(1.0);
    for unit in [1e-3, 1e3] {
        assert!(
            alike(&found(unit), &plain, 1e-5),
            "{unit}: {:?} {plain:?}",
            found(unit)
        );
    }
}

#[test]
fn threads_do_not_matter() {
    let (space, features) = one_hot_and_box();
    let mixed = World::new(space, features, 1, &mut rng(8));
    for world in [World::plane(8), mixed] {
        let run = || {
            let rng = &mut rng(8);
            let family = world.family(12, 100, rng);
            let task = world.space.sample(rng).unwrap();
            let found = world.identify(&family, &world.target(&task, 5, rng), 3);
            let all = [
                found.task,
                found.low,
                found.high,
                found.posterior_samples.concat(),
            ];
            let numbers = [all.concat(), found.coefficients.concat()].concat();
            (bits(&numbers), found.log_odds.to_bits())
        };
        assert_eq!(on_threads(1, run), on_threads(2, run));
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let world = World::plane(9);
    let rng = &mut rng(9);
    let family = world.family(12, 100, rng);
    let search = world.search(&family);
    let identify = |rows: &Statistics| {
        let rng = &mut derive(0, Purpose::Identify, &[]);
        search.identify(rows, rng).unwrap_err().to_string()
    };
    let empty = identify(&Statistics::new(D, 1));
    assert!(empty.contains("without rows"), "{empty}");
    for rows in [Statistics::new(D + 1, 1), Statistics::new(D, 2)] {
        assert!(identify(&rows).contains("target"));
    }
    let search_in = |features: &FeatureMap| {
        let rows = world.target(&[0.0, 0.0], 5, &mut crate::common::rng(1));
        let mut search = search;
        search.features = features;
        let rng = &mut derive(0, Purpose::Identify, &[]);
        search.identify(&rows, rng)
    };
    for features in [FeatureMap::identity(2), FeatureMap::polynomial(3, 2, true)] {
        assert!(search_in(&features.unwrap()).is_err());
    }
    let other = Statistics::new(D + 1, 1);
    assert!(search.nearest_member(&[vec![0.0; D]], &other, rng).is_err());
    let bad = Samples::new(vec![f64::NAN; D], D, vec![0.0], 1);
    assert!(
        matches!(bad, Err(ref error) if error.to_string().contains("row")),
        "{bad:?}"
    );
    let nothing = TaskData::new(D, 1, 6);
    assert!(TaskFamily::fit(&nothing, 6, None).unwrap().is_none());
    assert!(matches!(
        TaskFamily::fit(&world.sources(3, 10, rng), world.features.dim() + 1, None),
        Err(Error::State(_))
    ));
}
