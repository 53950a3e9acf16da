//! What more budget would bring, in the study's own units.

use serde::Serialize;
use taskscout::forecast::Interval;
use taskscout::study::{
    Advice, Forecast, ForecastPoint, ForecastRequest, SpendOn, Study, TargetForecast, TargetRows,
    UnderWay,
};
use taskscout_io::tables::short;
use taskscout_lab::plan::aligned;
use taskscout_plot::{LinePlot, Series, SeriesPoint, Theme, YAxis};

use crate::error::Result;
use crate::stored::StoredStudy;

/// What is expected of further budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    /// What budgets are counted in.
    pub unit: String,
    /// What was spent so far.
    pub spent: f64,
    /// What was asked for and has not come yet; further budgets come on top of it.
    pub under_way: Option<UnderWay>,
    /// What errors are measured in: the unit of the only output, or standard deviations of the outputs.
    pub error_unit: String,
    /// Whether rows of the targets can be had, and what they cost.
    pub target_rows: TargetRows,
    /// One for each target.
    pub targets: Vec<TargetOutlook>,
    /// Whether to go on.
    pub advice: Advice,
    /// The same in the study's own units.
    pub sentence: String,
}

/// What is expected for one target: root-mean-square errors on labels without noise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetOutlook {
    /// The target.
    pub name: String,
    /// The error now.
    pub now: Interval,
    /// The error once what is under way has come; none where nothing is.
    pub under_way: Option<Interval>,
    /// The error after further budgets.
    pub further: Vec<OutlookPoint>,
}

impl TargetOutlook {
    /// The error before a further batch: that of now, or once what is under way has come.
    #[must_use]
    pub fn before(&self) -> &Interval {
        self.under_way.as_ref().unwrap_or(&self.now)
    }
}

/// The errors that a further budget leads to, by how it is spent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutlookPoint {
    /// The budget beyond what has been spent and what is under way.
    pub budget: usize,
    /// On the tasks that the study would ask for.
    pub design: Interval,
    /// On all tasks alike.
    pub passive: Interval,
    /// On rows of the targets; none where no target can have rows, or the budget buys none.
    pub target_rows: Option<Interval>,
}

impl StoredStudy {
    /// What further budgets are expected to bring. What the study says of rows of the targets holds, unless the request
    /// says more.
    ///
    /// # Errors
    /// Too little data to forecast from, or a request that makes no sense.
    pub fn outlook(&self, request: &ForecastRequest) -> Result<Outlook> {
        self.outlook_of(&*self.learner()?, request)
    }

    /// The same of a copy of the study, under other costs say.
    pub(crate) fn outlook_of(&self, study: &Study, request: &ForecastRequest) -> Result<Outlook> {
        let mut request = request.clone();
        if request.target_rows == TargetRows::default() {
            request.target_rows = self.definition().target_rows.unwrap_or_default();
        }
        let forecast = study.forecast(&request)?;
        let (factor, error_unit) = self.error_unit();
        let outlook = Outlook {
            spent: self.study().spent(),
            under_way: forecast.under_way,
            unit: self.definition().budget_unit().to_owned(),
            error_unit,
            target_rows: request.target_rows,
            targets: forecast
                .targets
                .iter()
                .map(|target| of_target(target, factor))
                .collect(),
            advice: forecast.advice.clone(),
            sentence: String::new(),
        };
        let sentence = outlook.sentence(&forecast, factor);
        Ok(Outlook {
            sentence,
            ..outlook
        })
    }

    /// What a mean squared error is multiplied by before its root is an error in a unit, and that unit: the only
    /// output's own, or standard deviations.
    pub(crate) fn error_unit(&self) -> (f64, String) {
        let scaling = self.scaling().and_then(crate::Scaling::squared_unit);
        let unit = match &self.definition().outputs[..] {
            [only] => only
                .unit
                .clone()
                .unwrap_or_else(|| format!("units of {}", only.name)),
            _ => "standard deviations of the outputs".into(),
        };
        (scaling.unwrap_or(1.0), unit)
    }
}

fn of_target(target: &TargetForecast, factor: f64) -> TargetOutlook {
    let error = |loss: &Interval| Interval {
        mean: (factor * loss.mean).sqrt(),
        low: (factor * loss.low).sqrt(),
        high: (factor * loss.high).sqrt(),
    };
    let at = |points: &[ForecastPoint], budget: usize| {
        let mut points = points.iter();
        let found = points.find(|point| point.budget == budget);
        found.map(|point| error(&point.loss))
    };
    let designed = target.by_design.iter();
    TargetOutlook {
        name: target.name.clone(),
        now: error(&target.now),
        under_way: target.under_way.as_ref().map(error),
        further: designed
            .map(|point| OutlookPoint {
                budget: point.budget,
                design: error(&point.loss),
                passive: at(&target.passive, point.budget).unwrap_or_else(|| error(&point.loss)),
                target_rows: at(&target.target_rows, point.budget),
            })
            .collect(),
    }
}

pub(crate) fn digits(value: f64) -> String {
    short(format!("{value:.2e}").parse().unwrap_or(value))
}

impl Outlook {
    /// What the next batch is expected to bring. That rows of the targets can be had at all is said as a condition,
    /// where nobody said so.
    fn sentence(&self, forecast: &Forecast, factor: f64) -> String {
        let next = &forecast.next_batch;
        let error = |loss: f64| digits((factor * loss).sqrt());
        let (unit, error_unit) = (&self.unit, &self.error_unit);
        let (price, otherwise) = match (next.spend_on, self.target_rows) {
            (SpendOn::TargetRows, TargetRows::LikeSources) => (
                " (if they can be had at the cost of other rows)".to_owned(),
                format!(
                    ", or to {} {error_unit}, spent {}",
                    error(next.by_design),
                    SpendOn::Design
                ),
            ),
            (SpendOn::TargetRows, TargetRows::Each(cost)) => {
                (format!(" ({} {unit} each)", short(cost)), String::new())
            }
            _ => (String::new(), String::new()),
        };
        let planned_gain = 1.0 - next.by_design / next.now;
        let verdict = if forecast.advice.stop {
            match self.under_way {
                Some(_) => "stop after the open items",
                None => "stop here",
            }
        } else if !otherwise.is_empty() && planned_gain < forecast.advice.least_gain {
            match self.under_way {
                Some(_) => {
                    "go on with rows of the targets if they can be had, and else stop after the open items"
                }
                None => "go on with rows of the targets if they can be had, and else stop here",
            }
        } else {
            "go on"
        };
        let (first, then) = (self.said_of_under_way(), error(next.then));
        let after = match first.is_empty() {
            true => "",
            false => " after them",
        };
        format!(
            "{first}another {} {unit}{after} is expected to lower the error from {} to {then} {error_unit}, spent {}{price}{otherwise}: {verdict}",
            next.budget,
            error(next.now),
            next.spend_on,
        )
    }

    /// What the open items are expected to bring, with their own cost; nothing where there are none.
    fn said_of_under_way(&self) -> String {
        let first = self.targets.first();
        let of_first = first.and_then(|target| Some((target, target.under_way?)));
        let (Some(open), Some((target, then))) = (self.under_way, of_first) else {
            return String::new();
        };
        let on = match self.targets.len() {
            1 => String::new(),
            _ => format!(" on {}", target.name),
        };
        let (now, then) = (digits(target.now.mean), digits(then.mean));
        let (cost, unit) = (short(open.cost), &self.unit);
        match now == then {
            true => {
                format!("the open items ({cost} {unit}) are not expected to lower the error{on}; ")
            }
            false => format!(
                "the open items ({cost} {unit}) are expected to lower the error{on} from {now} to {then} {}; ",
                self.error_unit
            ),
        }
    }

    /// For a person at a terminal.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let range = |interval: &Interval| {
            let Interval { mean, low, high } = interval;
            format!("{} [{}, {}]", digits(*mean), digits(*low), digits(*high))
        };
        for target in &self.targets {
            text.push_str(&format!(
                "target {}: the error is now about {} {} (9 of 10 cases in brackets)\n",
                target.name,
                range(&target.now),
                self.error_unit
            ));
            if let (Some(open), Some(then)) = (self.under_way, &target.under_way) {
                text.push_str(&format!(
                    "once the open items have come ({} {}): {} {}; what follows is beyond that\n",
                    short(open.cost),
                    self.unit,
                    range(then),
                    self.error_unit
                ));
            }
            let head = ["more", "", "as planned", "all tasks alike"];
            let mut lines = vec![head.map(str::to_owned).to_vec()];
            lines[0].extend(match self.target_rows {
                TargetRows::LikeSources => Some("target rows".to_owned()),
                TargetRows::Each(cost) => Some(format!("target rows at {}", short(cost))),
                TargetRows::NotAvailable => None,
            });
            let columns = lines[0].len();
            lines.extend(target.further.iter().map(|point| {
                let mut line = vec![
                    point.budget.to_string(),
                    self.unit.clone(),
                    range(&point.design),
                    range(&point.passive),
                    point.target_rows.as_ref().map_or("–".into(), range),
                ];
                line.truncate(columns);
                line
            }));
            text.push_str(&aligned(&lines));
            text.push('\n');
        }
        text.push_str(&self.sentence);
        text.push('\n');
        text
    }

    /// The errors against the budget as a figure, one for each target.
    #[must_use]
    pub fn figures(&self) -> Vec<LinePlot> {
        self.targets
            .iter()
            .map(|target| self.figure(target))
            .collect()
    }

    fn figure(&self, target: &TargetOutlook) -> LinePlot {
        let open = self.under_way.map_or(0.0, |open| open.cost);
        let point = |more: f64, what: &str, interval: &Interval| SeriesPoint {
            x: self.spent + more,
            y: interval.mean,
            spread: None,
            range: Some((interval.low, interval.high)),
            note: format!("{what}: {} {}", digits(interval.mean), self.error_unit),
        };
        let now = point(0.0, "now", &target.now);
        let come = target.under_way.as_ref();
        let come = come.map(|then| point(open, "once the open items have come", then));
        let series = |name: &str, of: &dyn Fn(&OutlookPoint) -> Option<Interval>| {
            let later = target.further.iter().filter_map(|at| {
                let what = format!("{} more {}", at.budget, self.unit);
                Some(point(open + at.budget as f64, &what, &of(at)?))
            });
            let before = std::iter::once(now.clone()).chain(come.clone());
            Series {
                name: name.to_owned(),
                points: before.chain(later).collect(),
                across: false,
            }
        };
        LinePlot {
            title: format!("Expected error on {}", target.name),
            description: format!("{} now {}.", self.sentence, digits(target.now.mean)),
            x_title: format!("spent ({})", self.unit),
            y_title: format!("error ({})", self.error_unit),
            y_axis: YAxis::Log,
            series: [
                Some(series("as planned", &|at| Some(at.design))),
                Some(series("all tasks alike", &|at| Some(at.passive))),
                (self.target_rows != TargetRows::NotAvailable)
                    .then(|| series("target rows", &|at| at.target_rows)),
            ]
            .into_iter()
            .flatten()
            .collect(),
            reference: None,
            crossings: Vec::new(),
            width: 760.0,
            height: 400.0,
        }
    }

    /// The figure of the only or first target as a file of its own.
    #[must_use]
    pub fn to_svg(&self) -> Option<String> {
        let figures = self.figures();
        figures
            .first()
            .map(|figure| figure.to_svg(Theme::Standalone, "forecast"))
    }
}

#[cfg(test)]
mod tests {
    use taskscout::study::NextBatch;

    use super::*;

    fn interval(mean: f64) -> Interval {
        Interval {
            mean,
            low: 0.5 * mean,
            high: 2.0 * mean,
        }
    }

    #[test]
    fn losses_become_errors_in_the_unit_of_the_output() {
        let points = |losses: [f64; 2]| {
            let at = |(budget, loss): (usize, f64)| ForecastPoint {
                budget,
                samples: budget,
                loss: interval(loss),
            };
            [10, 20].into_iter().zip(losses).map(at).collect::<Vec<_>>()
        };
        let target = of_target(
            &TargetForecast {
                name: "tomorrow".into(),
                now: interval(4.0),
                under_way: Some(interval(2.25)),
                by_design: points([1.0, 0.25]),
                passive: points([2.25, 1.0]),
                target_rows: Vec::new(),
            },
            // The output is learnt from in units of 3 N.
            9.0,
        );
        let means: Vec<f64> = target.further.iter().map(|at| at.design.mean).collect();
        assert_eq!(means, [3.0, 1.5]);
        assert!((target.now.mean - 6.0).abs() < 1e-12);
        assert!((target.before().mean - 4.5).abs() < 1e-12);
        assert!((target.further[0].passive.mean - 4.5).abs() < 1e-12);
        assert_eq!(target.further[0].target_rows, None);
    }

    #[test]
    fn rows_of_the_targets_are_advised_under_their_condition() {
        let says = |target_rows: TargetRows, by_design: f64| {
            let advice = Advice {
                stop: false,
                gain: 0.5,
                least_gain: 0.05,
                sentence: String::new(),
            };
            let forecast = Forecast {
                targets: Vec::new(),
                under_way: None,
                next_batch: NextBatch {
                    budget: 60,
                    spend_on: SpendOn::TargetRows,
                    now: 4.0,
                    then: 1.0,
                    by_design,
                    value: 0.05,
                },
                advice: advice.clone(),
            };
            let outlook = Outlook {
                unit: "minutes".into(),
                spent: 0.0,
                under_way: None,
                error_unit: "N".into(),
                target_rows,
                targets: Vec::new(),
                advice,
                sentence: String::new(),
            };
            outlook.sentence(&forecast, 1.0)
        };
        // The plan alone would gain 2 %, or 44 %.
        let little = says(TargetRows::LikeSources, 3.92);
        assert!(
            little.ends_with(
                "is expected to lower the error from 2 to 1 N, spent on rows of the targets (if they can be had at the \
                 cost of other rows), or to 1.98 N, spent as the study would plan it: go on with rows of the targets if \
                 they can be had, and else stop here"
            ),
            "{little}"
        );
        let much = says(TargetRows::LikeSources, 2.25);
        assert!(
            much.ends_with("or to 1.5 N, spent as the study would plan it: go on"),
            "{much}"
        );
        let priced = says(TargetRows::Each(5.0), 3.92);
        assert!(
            priced.contains("to 1 N, spent on rows of the targets (5 minutes each)"),
            "{priced}"
        );
        assert!(priced.ends_with("each): go on"), "{priced}");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(digits(0.012_345_6), "0.0123");
        assert_eq!(digits(0.0), "0");
    }
}
