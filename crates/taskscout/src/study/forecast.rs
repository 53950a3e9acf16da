//! What further budget would buy.

use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use super::forecast_report::{
    Advice, Forecast, ForecastPoint, ForecastRequest, NextBatch, SpendOn, TargetForecast,
    TargetRows, UnderWay,
};
use super::loss_forecaster::LossForecaster;
use super::{Progress, Study};
use crate::error::Result;
use crate::features::{Features as _, apply_row};
use crate::forecast::{Interval, PlannedRows, TheoryQuantityEstimates};
use crate::space::Space;
use crate::strategy::{PlanItem, StrategyConfig, StrategyKind};

/// Tasks of a finite space whose combinations are looked at.
const MOST_COMBINED: usize = 2000;

/// What a forecast depends on beside the data.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ForecastKey {
    request: ForecastRequest,
    rounds: usize,
    open: usize,
}

/// Rows that a budget would bring, and how many samples these are.
struct Bought {
    budget: usize,
    samples: usize,
    rows: PlannedRows,
}

/// The loss of all targets, and of each.
#[derive(Debug, Clone)]
struct Losses {
    all: Interval,
    each: Vec<Interval>,
}

impl Losses {
    /// Makes no number larger than that of others.
    fn bound_by(&mut self, others: &Self) {
        self.all = self.all.at_most(&others.all);
        let each = self.each.iter_mut().zip(&others.each);
        each.for_each(|(one, other)| *one = one.at_most(other));
    }
}

impl Study {
    /// The expected loss on every target against further budget, spent as this study's strategy would plan it, as
    /// passive collection would, and on rows of the targets; what the next batch is worth; and whether to go on.
    ///
    /// The loss is the mean squared error on noise-free labels of the target's prediction from the shared
    /// representation, or with families of tasks of the returned one ([`forecast`](crate::forecast) says how it is
    /// predicted and what is left out). Intervals hold the
    /// loss that comes in nine of ten cases. Items that are under way come in any case, at their own cost: every further
    /// budget is counted from there. Nothing changes in the study, and a second call costs nothing while nothing
    /// new is told.
    ///
    /// ```
    /// use taskscout::prelude::*;
    /// # struct Tunnel;
    /// # impl TaskSource for Tunnel {
    /// #     fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
    /// #         let x: Vec<f64> = (0..3 * n).map(|_| normal(rng)).collect();
    /// #         let c = task[0] + 0.5 * task[1];
    /// #         let y = x.chunks(3).map(|row| c * (row[0] - row[2]) + 0.3 * normal(rng)).collect();
    /// #         Samples::new(x, 3, y, 1)
    /// #     }
    /// # }
    /// # let mut tunnel = Tunnel;
    /// # let mut rng = derive(0, Purpose::Collect, &[]);
    /// let mut study = Study::builder(Space::ball(4, 1.0)?)
    ///     .inputs(3)
    ///     .target(Target::unknown("tomorrow"))
    ///     .k(1)
    ///     .build()?;
    /// let tomorrow = Task::point(vec![0.6, 0.8, 0.0, 0.0]);
    /// study.tell_target(0, &tunnel.sample(&tomorrow, 40, &mut rng)?)?;
    /// run(&mut study, &mut tunnel, &[200, 200], &mut ())?;
    ///
    /// let forecast = study.forecast(&ForecastRequest::further(&[200, 800]))?;
    /// let tomorrow = &forecast.targets[0];
    /// assert!(tomorrow.by_design[1].loss.mean < tomorrow.now.mean);
    /// println!("{}", forecast.advice.sentence);
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// No budget or one of 0, too few draws, no data to have a model from, a target of which nothing is known, families of
    /// tasks on a network or with a distribution of targets, or what planning or training refuses.
    pub fn forecast(&self, request: &ForecastRequest) -> Result<Arc<Forecast>> {
        request.check()?;
        let open = |item: &&super::TrackedItem| item.progress == Progress::Open;
        let key = ForecastKey {
            request: request.clone(),
            rounds: self.rounds,
            open: self.items.iter().filter(open).count(),
        };
        let kept = self.cache.forecast.get_if(
            self.data.version(),
            |(known, _)| *known == key,
            || Ok((key.clone(), Arc::new(self.make_forecast(request)?))),
        )?;
        Ok(kept.1)
    }

    /// What has been spent: samples that came, and switches to the tasks of plan items that gave some.
    #[must_use]
    pub fn spent(&self) -> f64 {
        let collection = &self.config.collection;
        let switches = self.items.iter().filter(|item| item.collected > 0).count();
        let sources = self.data.sources().iter();
        let samples: f64 = sources
            .map(|entry| collection.cost_of(&entry.task.id) * entry.statistics.count() as f64)
            .sum();
        samples + collection.switch_cost * switches as f64
    }

    /// `k*`, `κ(B)`, `‖W*‖` and `‖ν‖₁` of this study, with intervals from draws of the embeddings.
    ///
    /// Combinations are of all tasks where the space is finite and has at most 2,000, and else of task features, in a
    /// ball each as long as its radius.
    ///
    /// # Errors
    /// Too few draws, no data to have a model from, or a target of which nothing is known.
    pub fn quantities(&self, draws: usize) -> Result<TheoryQuantityEstimates> {
        self.embedding_forecaster(draws)?
            .quantities(&self.combined_tasks())
    }

    /// The tasks that combinations are made of, as columns of task features.
    fn combined_tasks(&self) -> Mat<f64> {
        let (space, features) = (&self.config.space, &self.config.task_features);
        let width = self.config.source_features();
        if let Some(count) = space.count().filter(|count| *count <= MOST_COMBINED) {
            let tasks: Vec<Vec<f64>> = (0..count)
                .filter_map(|row| space.task_at(row))
                .map(|task| apply_row(features, &task))
                .collect();
            return Mat::from_fn(width, tasks.len(), |i, j| tasks[j][i]);
        }
        let radius = match space {
            Space::Ball(ball) if features.is_identity() => ball.radius(),
            _ => 1.0,
        };
        Mat::from_fn(width, width, |i, j| if i == j { radius } else { 0.0 })
    }

    fn make_forecast(&self, request: &ForecastRequest) -> Result<Forecast> {
        let forecaster = self.loss_forecaster(request.draws)?;
        let now = losses(&forecaster, &PlannedRows::default())?;
        let under_way = self.under_way_cost();
        let waiting = self.rows_under_way();
        let mut start = now.clone();
        if under_way.is_some() {
            start = losses(&forecaster, &waiting)?;
            start.bound_by(&now);
        }
        let ways = [SpendOn::Design, SpendOn::Passive, SpendOn::TargetRows];
        let mut scenarios = Vec::new();
        for way in ways {
            for &budget in &request.further {
                if let Some(bought) = self.bought(way, budget, request.target_rows, &waiting)? {
                    scenarios.push((way, bought));
                }
            }
        }
        let mut found: Vec<Losses> = scenarios
            .par_iter()
            .map(|(_, bought)| losses(&forecaster, &bought.rows))
            .collect::<Result<_>>()?;
        never_rising(&scenarios, &mut found, &start);
        let points = |way: SpendOn, target: usize| -> Vec<ForecastPoint> {
            let all = scenarios.iter().zip(&found);
            let of_way = all.filter(|((one, _), _)| *one == way);
            of_way
                .map(|((_, bought), losses)| ForecastPoint {
                    budget: bought.budget,
                    samples: bought.samples,
                    loss: losses.each[target],
                })
                .collect()
        };
        let targets = self.config.targets.iter().enumerate();
        let targets = targets.map(|(index, target)| TargetForecast {
            name: target.name.clone(),
            now: now.each[index],
            under_way: under_way.map(|_| start.each[index]),
            by_design: points(SpendOn::Design, index),
            passive: points(SpendOn::Passive, index),
            target_rows: points(SpendOn::TargetRows, index),
        });
        let next_batch = next_batch(&scenarios, &found, &start, request.further[0]);
        Ok(Forecast {
            targets: targets.collect(),
            under_way,
            advice: Advice::of(&next_batch, request.least_gain),
            next_batch,
        })
    }

    /// What the items that are under way still cost; none where nothing is.
    pub(super) fn under_way_cost(&self) -> Option<UnderWay> {
        let collection = &self.config.collection;
        let open = self
            .items
            .iter()
            .filter(|one| one.progress == Progress::Open && one.item.n > one.collected);
        let mut found: Option<UnderWay> = None;
        for one in open {
            let missing = one.item.n - one.collected;
            let sum = found.get_or_insert_default();
            sum.samples += missing;
            sum.cost += collection.cost_of(&one.item.task.id) * missing as f64;
            if one.collected == 0 {
                sum.cost += collection.switch_cost;
            }
        }
        found
    }

    /// The rows that are under way.
    fn rows_under_way(&self) -> PlannedRows {
        let mut rows = PlannedRows::default();
        let waiting: std::collections::BTreeMap<_, _> = self.under_way().into_iter().collect();
        for (id, (task, n)) in waiting {
            let features = self.config.features_of(task);
            rows.sources.push((id.clone(), features, n));
        }
        rows
    }

    /// What a budget would buy on top of rows that are under way; none where there is nothing of the kind to buy.
    fn bought(
        &self,
        way: SpendOn,
        budget: usize,
        price: TargetRows,
        under_way: &PlannedRows,
    ) -> Result<Option<Bought>> {
        let mut rows = under_way.clone();
        let items: Vec<PlanItem> = match way {
            SpendOn::Design => self.plan(budget, None)?.plan.items,
            SpendOn::Passive => {
                let passive = StrategyConfig::new(StrategyKind::Passive).build();
                self.plan_by(passive.as_ref(), budget, None)?.plan.items
            }
            SpendOn::TargetRows => {
                let bought = self.target_rows_for(budget, price)?;
                if bought.is_empty() {
                    return Ok(None);
                }
                rows.targets = bought;
                Vec::new()
            }
        };
        let of_targets: usize = rows.targets.iter().map(|(_, n)| n).sum();
        let samples = of_targets + items.iter().map(|item| item.n).sum::<usize>();
        for PlanItem { task, n, .. } in items {
            let features = self.config.features_of(&task);
            rows.sources.push((task.id, features, n));
        }
        Ok(Some(Bought {
            budget,
            samples,
            rows,
        }))
    }

    /// Rows of targets that a budget buys, by their weights.
    fn target_rows_for(&self, budget: usize, price: TargetRows) -> Result<Vec<(usize, usize)>> {
        let targets = self.config.targets.iter().enumerate();
        let sampled: Vec<(usize, f64)> = targets
            .filter(|(_, target)| target.can_have_samples())
            .map(|(index, target)| (index, target.weight))
            .collect();
        let samples = match price {
            _ if sampled.is_empty() => 0,
            TargetRows::LikeSources => self.config.collection.samples(budget)?,
            TargetRows::Each(cost) => (budget as f64 / cost) as usize,
            TargetRows::NotAvailable => 0,
        };
        if samples == 0 {
            return Ok(Vec::new());
        }
        let weights: Vec<f64> = sampled.iter().map(|(_, weight)| *weight).collect();
        let total: f64 = weights.iter().sum();
        let rows = sampled.iter().map(|(index, weight)| {
            let share = samples as f64 * weight / total;
            (*index, share.round() as usize)
        });
        Ok(rows.collect())
    }
}

/// What the next batch brings to all targets, spent in the best way, beyond what comes anyway.
fn next_batch(
    scenarios: &[(SpendOn, Bought)],
    found: &[Losses],
    start: &Losses,
    budget: usize,
) -> NextBatch {
    let first = scenarios.iter().zip(found);
    let first = first.filter(|((_, bought), _)| bought.budget == budget);
    let designed = first.clone().find(|((way, _), _)| *way == SpendOn::Design);
    let by_design = designed.map_or(start.all.mean, |(_, losses)| losses.all.mean);
    let best = first.min_by(|a, b| a.1.all.mean.total_cmp(&b.1.all.mean));
    let (spend_on, then) = best.map_or((SpendOn::Design, start.all.mean), |((way, _), losses)| {
        (*way, losses.all.mean)
    });
    NextBatch {
        budget,
        spend_on,
        now: start.all.mean,
        then,
        by_design,
        value: (start.all.mean - then) / budget as f64,
    }
}

/// Bounds every forecast by those of smaller budgets spent alike, and by the loss before any: who has more may spend less.
/// Plans of different budgets are not parts of each other, and draws of embeddings differ in what they make of them, so
/// that without a bound a forecast rises by a little where more rows hardly help.
fn never_rising(scenarios: &[(SpendOn, Bought)], found: &mut [Losses], start: &Losses) {
    let mut order: Vec<usize> = (0..scenarios.len()).collect();
    order.sort_by_key(|index| scenarios[*index].1.budget);
    for way in [SpendOn::Design, SpendOn::Passive, SpendOn::TargetRows] {
        let mut before = start.clone();
        for &index in order.iter().filter(|index| scenarios[**index].0 == way) {
            found[index].bound_by(&before);
            before.clone_from(&found[index]);
        }
    }
}

fn losses(forecaster: &LossForecaster, rows: &PlannedRows) -> Result<Losses> {
    let (all, each) = forecaster.overall_and_target_losses(rows)?;
    Ok(Losses { all, each })
}
