//! How the task that a strategy chooses walks towards the hidden one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use taskscout_plot::figures::padded;
use taskscout_plot::{LineStyle, Panel, PanelBand, PanelFigure, PanelLevel, PanelLine};

use crate::curve::MeanSem;
use crate::format::{grouped, short};
use crate::table::seeds;

const TRUTH: &str = "the hidden target";

/// The tasks that strategies chose, round by round, and the one that they did not see.
///
/// ```
/// use taskscout_report::{PathStep, TaskPath};
/// use taskscout_report::Theme;
///
/// let step = |round: usize, task: [f64; 2]| PathStep {
///     strategy: "aware".into(), seed: 1, round, budget: 1000 * (round + 1),
///     task: task.to_vec(), region: None,
/// };
/// let path = TaskPath {
///     parameters: vec!["wind".into(), "gravity".into()],
///     low: vec![-1.0, -1.0],
///     high: vec![1.0, 1.0],
///     truth: Some(vec![0.0, 1.0]),
///     steps: vec![step(0, [0.8, -0.3]), step(1, [0.2, 0.7]), step(2, [0.0, 1.0])],
/// };
/// let figure = path.figure();
/// assert_eq!(figure.panels.len(), 3); // wind, gravity, and the distance of both together
/// assert!(figure.description.contains("from 1.53 at 1,000 samples to 0.00 at 3,000"));
/// # let _ = figure.to_svg(Theme::Standalone, "path");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskPath {
    /// Names of a task's parameters.
    pub parameters: Vec<String>,
    /// The smallest value of each.
    pub low: Vec<f64>,
    /// The largest value of each.
    pub high: Vec<f64>,
    /// The hidden target's parameters, where they are known to the experiment.
    #[serde(default)]
    pub truth: Option<Vec<f64>>,
    /// What was chosen.
    pub steps: Vec<PathStep>,
}

/// What one strategy, on one seed, chose in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathStep {
    /// The strategy.
    pub strategy: String,
    /// The seed of the run.
    pub seed: u64,
    /// The round.
    pub round: usize,
    /// Source samples collected so far.
    pub budget: usize,
    /// The chosen task's parameters.
    pub task: Vec<f64>,
    /// Lower and upper ends of the 90 % region of the estimate of the hidden parameters.
    #[serde(default)]
    pub region: Option<(Vec<f64>, Vec<f64>)>,
}

/// A value that a step has, if it is defined there.
type Value<'a> = &'a dyn Fn(&PathStep) -> Option<f64>;

impl TaskPath {
    /// One panel a parameter: every seed's choices as thin lines, their mean, the mean region as a
    /// band and the truth as a dashed line. With a truth and several parameters, a last panel shows
    /// how far the choice is from it.
    #[must_use]
    pub fn figure(&self) -> PanelFigure {
        let mut panels: Vec<Panel> = (0..self.parameters.len()).map(|p| self.panel(p)).collect();
        if self.truth.is_some() && panels.len() > 1 {
            panels.push(self.distance_panel());
        }
        PanelFigure {
            description: self.describe(),
            ..PanelFigure::new("The chosen task, round by round", panels)
        }
    }

    fn panel(&self, parameter: usize) -> Panel {
        let box_of = self.low.get(parameter).zip(self.high.get(parameter));
        let truth = self.truth.as_ref().and_then(|truth| truth.get(parameter));
        let levels = truth.map(|&y| PanelLevel {
            y,
            label: TRUTH.to_owned(),
        });
        Panel {
            // A line along the edge of the box must not lie on the axis.
            y_range: box_of.map(|(&low, &high)| padded((low, high), 0.05)),
            bands: self.bands(parameter),
            levels: levels.into_iter().collect(),
            ..self.lines(&self.parameters[parameter], &|step| {
                step.task.get(parameter).copied()
            })
        }
    }

    fn distance_panel(&self) -> Panel {
        let panel = self.lines("distance to the target", &|step| self.distance(step));
        let points = panel.lines.iter().flat_map(|line| &line.points);
        let farthest = points.map(|point| point.1).fold(0.0, f64::max);
        Panel {
            y_range: Some((0.0, 1.05 * farthest)),
            ..panel
        }
    }

    /// Thin lines for seeds and a full one for their mean, strategy by strategy.
    fn lines(&self, title: &str, value: Value<'_>) -> Panel {
        let mut panel = Panel {
            x_title: "source samples collected".to_owned(),
            x_range: Some((0.0, self.largest_budget())),
            ..Panel::new(title)
        };
        for strategy in self.strategies() {
            let runs = self.runs(strategy);
            let count = runs.len();
            for (seed, steps) in runs.iter().filter(|_| count > 1) {
                let point = |step: &&PathStep| Some((step.budget as f64, value(step)?));
                panel.lines.push(PanelLine {
                    style: LineStyle::Thin,
                    note: format!("seed {seed}"),
                    ..PanelLine::new(strategy, steps.iter().filter_map(point).collect())
                });
            }
            panel.lines.push(PanelLine {
                note: match count {
                    1 => String::new(),
                    _ => format!("mean of {}", seeds(count)),
                },
                ..PanelLine::new(strategy, self.mean_line(strategy, value))
            });
        }
        panel
    }

    fn bands(&self, parameter: usize) -> Vec<PanelBand> {
        let ends = |step: &PathStep| {
            let (low, high) = step.region.as_ref()?;
            let ends = (*low.get(parameter)?, *high.get(parameter)?);
            Some(ends).filter(|(low, high)| low.is_finite() && high.is_finite())
        };
        let low: Value<'_> = &|step| ends(step).map(|ends| ends.0);
        let high: Value<'_> = &|step| ends(step).map(|ends| ends.1);
        let of = |strategy: &str| {
            let (low, high) = (
                self.mean_line(strategy, low),
                self.mean_line(strategy, high),
            );
            let points = low.into_iter().zip(high);
            PanelBand {
                name: strategy.to_owned(),
                points: points.map(|((x, low), (_, high))| (x, low, high)).collect(),
            }
        };
        let bands = self.strategies().into_iter().map(of);
        bands.filter(|band| !band.points.is_empty()).collect()
    }

    /// The mean over seeds, round by round, of those steps where the value is finite.
    fn mean_line(&self, strategy: &str, value: Value<'_>) -> Vec<(f64, f64)> {
        let mut rounds: BTreeMap<usize, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for step in self.steps.iter().filter(|step| step.strategy == strategy) {
            if let Some(value) = value(step).filter(|value| value.is_finite()) {
                let (budgets, values) = rounds.entry(step.round).or_default();
                budgets.push(step.budget as f64);
                values.push(value);
            }
        }
        let mean =
            |(budgets, values)| Some((MeanSem::of(budgets)?.mean, MeanSem::of(values)?.mean));
        rounds.into_values().filter_map(mean).collect()
    }

    /// The steps of a strategy by seed, each by rising round.
    fn runs(&self, strategy: &str) -> BTreeMap<u64, Vec<&PathStep>> {
        let mut runs: BTreeMap<u64, Vec<&PathStep>> = BTreeMap::new();
        for step in self.steps.iter().filter(|step| step.strategy == strategy) {
            runs.entry(step.seed).or_default().push(step);
        }
        for steps in runs.values_mut() {
            steps.sort_by_key(|step| step.round);
        }
        runs
    }

    fn strategies(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for step in &self.steps {
            if !names.contains(&step.strategy.as_str()) {
                names.push(&step.strategy);
            }
        }
        names
    }

    fn largest_budget(&self) -> f64 {
        let budgets = self.steps.iter().map(|step| step.budget);
        budgets.max().unwrap_or(0) as f64
    }

    /// From the chosen task to the truth; `None` where one has no value for a parameter.
    fn distance(&self, step: &PathStep) -> Option<f64> {
        let truth = self.truth.as_ref()?;
        let squares = (0..self.parameters.len()).map(|p| {
            let gap = step.task.get(p)? - truth.get(p)?;
            Some(gap * gap)
        });
        squares.sum::<Option<f64>>().map(f64::sqrt)
    }

    fn describe(&self) -> String {
        let sentences = self.strategies().into_iter().filter_map(|strategy| {
            let line = self.mean_line(strategy, &|step| self.distance(step));
            let (first, last) = (line.first()?, line.last()?);
            Some(format!(
                "{strategy}: the distance between the chosen task and the hidden target goes from {} \
                 at {} samples to {} at {} (mean over seeds).",
                short(first.1),
                grouped(first.0),
                short(last.1),
                grouped(last.0)
            ))
        });
        let sentences: Vec<String> = sentences.collect();
        match sentences.len() {
            0 => format!(
                "Values of {} over the rounds, for {}.",
                self.parameters.join(", "),
                self.strategies().join(", ")
            ),
            _ => sentences.join(" "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_balanced, close};
    use taskscout_plot::Theme;

    fn step(strategy: &str, seed: u64, round: usize, task: &[f64]) -> PathStep {
        PathStep {
            strategy: strategy.to_owned(),
            seed,
            round,
            budget: 100 * (round + 1),
            task: task.to_vec(),
            region: None,
        }
    }

    fn path(steps: Vec<PathStep>) -> TaskPath {
        TaskPath {
            parameters: vec!["w<1".to_owned(), "w2".to_owned()],
            low: vec![-1.0, -1.0],
            high: vec![1.0, 1.0],
            truth: Some(vec![0.0, 1.0]),
            steps,
        }
    }

    #[test]
    fn means_seeds_and_regions_by_hand() {
        let mut steps = vec![
            step("aware", 2, 1, &[0.0, 1.0]),
            step("aware", 2, 0, &[1.0, 0.0]),
            step("aware", 1, 0, &[0.0, 0.0]),
            step("aware", 1, 1, &[0.0, 0.5]),
        ];
        steps[1].region = Some((vec![0.0, -1.0], vec![1.0, 1.0]));
        steps[2].region = Some((vec![-1.0, -1.0], vec![0.5, 1.0]));
        steps[3].region = Some((vec![-1.0, -1.0], vec![f64::NAN, 1.0]));
        let figure = path(steps).figure();
        assert_eq!(figure.panels.len(), 3);
        let first = &figure.panels[0];
        assert_eq!(first.lines.len(), 3);
        assert_eq!(first.lines[1].points, [(100.0, 1.0), (200.0, 0.0)]);
        assert_eq!(first.lines[2].points, [(100.0, 0.5), (200.0, 0.0)]);
        assert_eq!(first.bands[0].points, [(100.0, -0.5, 0.75)]);
        close(first.levels[0].y, 0.0);
        // Distances: √2 and 0 on one seed, 1 and ½ on the other.
        let distance = &figure.panels[2].lines[2].points;
        close(distance[0].1, (2f64.sqrt() + 1.0) / 2.0);
        close(distance[1].1, 0.25);
        assert!(
            figure
                .description
                .contains("from 1.21 at 100 samples to 0.250 at 200")
        );
        assert_balanced(&figure.to_svg(Theme::Page, "p"));
    }

    #[test]
    fn one_seed_is_one_line_and_no_truth_no_distance() {
        let one = TaskPath {
            truth: None,
            ..path(vec![
                step("a\"", 1, 0, &[0.0, 0.5]),
                step("a\"", 1, 1, &[0.0, 0.5]),
            ])
        };
        let figure = one.figure();
        assert_eq!((figure.panels.len(), figure.panels[0].lines.len()), (2, 1));
        assert_balanced(&figure.to_svg(Theme::Standalone, "p"));
    }

    #[test]
    fn degenerate_paths_still_draw() {
        let nan = f64::NAN;
        let cases = [
            path(vec![]),
            path(vec![step("a", 1, 0, &[])]),
            path(vec![
                step("a", 1, 0, &[nan, 0.5]),
                step("a", 2, 0, &[0.1, 0.2]),
            ]),
            TaskPath {
                parameters: vec![],
                ..path(vec![step("a", 1, 0, &[1.0])])
            },
            TaskPath {
                low: vec![],
                high: vec![1.0],
                truth: Some(vec![nan]),
                ..path(vec![step("a", 1, 0, &[1.0, 1.0])])
            },
        ];
        for path in cases {
            let svg = path.figure().to_svg(Theme::Page, "p");
            assert_balanced(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
