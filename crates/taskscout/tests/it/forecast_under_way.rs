//! Forecasts while items are open: what is under way comes at its own cost, and further budgets on top of it.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::{Truth, rng, unit};
use taskscout::prelude::*;

/// A study after one round, and its truth.
fn begun() -> (Study, Truth) {
    let rng = &mut rng(5);
    let truth = Truth::draw(6, 2, 4, 1, 0.3, rng);
    let mut study = Study::builder(Space::ball(4, 1.0).unwrap())
        .inputs(6)
        .target(Target::known("known", unit(4, 1)))
        .k(2)
        .collection(Collection {
            sample_cost: 2.0,
            switch_cost: 20.0,
            ..Collection::default()
        })
        .build()
        .unwrap();
    study
        .tell_target(0, &truth.rows(&unit(4, 1), 20, rng))
        .unwrap();
    for item in study.ask(400).unwrap().items {
        let rows = truth.rows(item.task.parameters(), item.n, rng);
        study.tell(item.id, &rows).unwrap();
    }
    (study, truth)
}

#[test]
fn what_is_under_way_has_its_own_cost_and_gain() {
    let (mut study, truth) = begun();
    let request = ForecastRequest::further(&[300, 1200]);
    let quiet = study.forecast(&request).unwrap();
    assert!(quiet.under_way.is_none() && quiet.targets[0].under_way.is_none());
    let items = study.ask(900).unwrap().items;
    let samples: usize = items.iter().map(|item| item.n).sum();
    let forecast = study.forecast(&request).unwrap();
    let open = forecast.under_way.unwrap();
    assert_eq!(open.samples, samples);
    let cost = (2 * samples + 20 * items.len()) as f64;
    assert!((open.cost - cost).abs() < 1e-9, "{open:?}");
    let target = &forecast.targets[0];
    let then = target.under_way.unwrap().mean;
    assert!(then < target.now.mean, "{target:?}");
    assert!(target.by_design[0].loss.mean <= then, "{target:?}");
    // The next batch is not credited with what comes anyway.
    assert!((forecast.next_batch.now - then).abs() < 1e-12 * then);
    assert!(forecast.next_batch.gain() < 1.0 - forecast.next_batch.then / target.now.mean);
    // Half of an item has come: its switch is paid, and the rest costs its samples.
    let first = &items[0];
    let rows = truth.rows(first.task.parameters(), first.n / 2, &mut rng(8));
    study.tell(first.id, &rows).unwrap();
    let open = study.forecast(&request).unwrap().under_way.unwrap();
    let came = first.n / 2;
    let left = cost - 20.0 - 2.0 * came as f64;
    assert_eq!(open.samples, samples - came);
    assert!((open.cost - left).abs() < 1e-9, "{open:?}");
}

#[test]
fn totals_count_what_is_under_way() {
    let (mut study, _) = begun();
    let before = study.spent();
    study.ask(900).unwrap();
    let request = ForecastRequest::further(&[500]);
    let open = study.forecast(&request).unwrap().under_way.unwrap().cost;
    let total = (before + open) as usize + 500;
    let further = ForecastRequest::up_to(&study, &[total]).unwrap().further;
    assert!((499..=500).contains(&further[0]), "{further:?}");
    let refused = ForecastRequest::up_to(&study, &[before as usize + 10]);
    assert!(refused.unwrap_err().to_string().contains("or asked for"));
}
