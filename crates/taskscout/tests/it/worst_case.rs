//! Designs for the worst of several targets.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use faer::{Mat, MatRef};
use rand_distr::{Distribution as _, StandardNormal};
use taskscout::design::{Candidates, Criterion, Design, Need, Problem, ball, solve, worst_case};
use taskscout::rng::{Purpose, derive};

fn mean(needs: &[Mat<f64>], weights: &[f64]) -> Mat<f64> {
    let mut sum = Mat::zeros(needs[0].nrows(), needs[0].ncols());
    for (need, weight) in needs.iter().zip(weights) {
        sum += faer::Scale(*weight) * need;
    }
    sum
}

fn values(design: &Design, needs: &[Mat<f64>]) -> Vec<f64> {
    let information = design.information();
    let value = |need: &Mat<f64>| Criterion::Trace.value(information.as_ref(), need.as_ref());
    needs.iter().map(|need| value(need).unwrap()).collect()
}

fn random(k: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = derive(seed, Purpose::Test, &[]);
    Mat::from_fn(k, columns, |_, _| StandardNormal.sample(&mut rng))
}

fn rank_one(targets: &Mat<f64>) -> Vec<Mat<f64>> {
    (0..targets.ncols())
        .map(|t| {
            let column = targets.as_ref().subcols(t, 1);
            column * column.transpose()
        })
        .collect()
}

/// Against a fine grid of weights on the ball, where every design is a closed form.
#[test]
fn no_weights_of_two_targets_are_harder() {
    for seed in 0..20 {
        let (map, targets) = (random(3, 12, seed), random(3, 2, 100 + seed));
        let needs = rank_one(&targets);
        let optimal =
            |need: MatRef<'_, f64>| ball::optimal(map.as_ref(), need, Criterion::Trace, 1.0);
        let found = worst_case(&needs, None, optimal).unwrap();
        let hardest = (1..1000).map(|i| {
            let weight = f64::from(i) / 1000.0;
            let mean = mean(&needs, &[weight, 1.0 - weight]);
            optimal(mean.as_ref()).unwrap().objective
        });
        let hardest = hardest.fold(0.0, f64::max);
        assert!(found.value >= hardest * (1.0 - 1e-6), "{seed}");
        assert!(
            found.value <= hardest * 1.005,
            "{seed}: {} {hardest}",
            found.value
        );
        assert!(found.gap().unwrap() < 0.005, "{seed}: {:?}", found.gap());
    }
}

/// On lists, with more targets: never worse than the design for the mean, with a bound that holds for any design.
#[test]
fn the_worst_target_fares_better_than_under_the_mean() {
    let mut gains = 0.0;
    for seed in 0..10 {
        let rows = random(4, 60, 200 + seed);
        let flat: Vec<f64> = (0..60)
            .flat_map(|j| (0..4).map(move |i| (i, j)))
            .map(|(i, j)| rows[(i, j)])
            .collect();
        let candidates = Candidates::new(4, &flat[..]).unwrap();
        let needs = rank_one(&random(4, 6, 300 + seed));
        let optimal = |need: MatRef<'_, f64>| {
            let problem = Problem {
                tolerance: 1e-5,
                ..Problem::new(Criterion::Trace, Need::Moment(need))
            };
            solve(&candidates, &problem)
        };
        let found = worst_case(&needs, None, optimal).unwrap();
        let plain = optimal(mean(&needs, &[1.0 / 6.0; 6]).as_ref()).unwrap();
        let of_mean = values(&plain, &needs);
        let worst_of_mean = of_mean.iter().copied().fold(0.0, f64::max);
        assert!(found.value <= worst_of_mean * (1.0 + 1e-9), "{seed}");
        let bound = found.lower_bound.unwrap();
        assert!(
            bound <= found.value * (1.0 + 1e-9) && found.gap().unwrap() < 0.02,
            "{seed}: {:?}",
            found.gap()
        );
        assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        gains += (worst_of_mean / found.value).ln() / 10.0;
    }
    assert!(gains.exp() > 1.05, "{}", gains.exp());
}

#[test]
fn one_target_is_its_own_worst_and_none_is_refused() {
    let map = random(3, 8, 1);
    let optimal = |need: MatRef<'_, f64>| ball::optimal(map.as_ref(), need, Criterion::Trace, 1.0);
    let need = rank_one(&random(3, 1, 2));
    let found = worst_case(&need, None, optimal).unwrap();
    assert!((found.value / optimal(need[0].as_ref()).unwrap().objective - 1.0).abs() < 1e-9);
    assert!(worst_case(&[], None, optimal).is_err());
    let uneven = [Mat::<f64>::identity(3, 3), Mat::<f64>::identity(2, 2)];
    assert!(worst_case(&uneven, None, optimal).is_err());
}
