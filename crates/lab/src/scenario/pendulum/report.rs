//! What the pendulum adds to a report: the hidden parameters found, the way of the chosen tasks
//! towards them, and what the models are worth to a controller.

use serde_json::{Value, json};
use taskscout_report::{
    ExperimentReport, PathStep, Portrait, PortraitCurve, Portraits, ReportFigure, ReportTable,
    TARGET_DATA, TARGET_ONLY, TaskPath, Trace, TracePanel, Traces,
};
use taskscout_worlds::pendulum::{ControlRun, Pendulum, STARTS, State, TASK_NAMES};

use super::control::{self, Controllers, NO_MODEL, Score, TRUE_MODEL};
use super::name;
use super::words::{self, FoundTask};
use crate::error::{LabError, Result};
use crate::record::{Contender, TargetDetails, TrialRecord};

/// The strategy whose finds stand for the experiment.
const FINDER: &str = "aware";
/// The title of the table of control errors.
const CONTROL: &str = "Control";
/// The start that pictures show.
const SHOWN: State = STARTS[0];
/// Points of a run that pictures show: more than a curve can tell apart.
const POINTS: usize = 400;

/// Adds everything, target by target. Hands back what the terminal says beside the losses.
pub(super) fn add(
    world: &Pendulum,
    trials: &[TrialRecord],
    report: &mut ExperimentReport,
) -> Result<Vec<String>> {
    let mut remarks = Vec::new();
    for (index, truth) in world.config().targets.iter().enumerate() {
        let target = Target {
            world,
            index,
            truth,
            name: name(truth),
            several: world.config().targets.len() > 1,
            trials,
        };
        // Where every trial of a target failed, the summary has no place for it.
        if target.own().next().is_none() {
            continue;
        }
        let found = target.add_identified(report)?;
        target.add_path(report);
        let scores = target.add_control(report)?;
        let lines = found
            .iter()
            .map(words::found)
            .chain([words::control(&scores)]);
        remarks.extend(lines.map(|line| format!("target {}: {line}", target.name)));
    }
    Ok(remarks)
}

/// One target and all trials.
struct Target<'a> {
    world: &'a Pendulum,
    index: usize,
    truth: &'a [f64],
    name: String,
    several: bool,
    trials: &'a [TrialRecord],
}

impl<'a> Target<'a> {
    /// The trials that serve this target, with what they kept of it.
    fn own(&self) -> impl Iterator<Item = (&'a TrialRecord, &'a TargetDetails)> {
        let index = self.index;
        self.trials.iter().filter_map(move |record| {
            let slot = record.trial.targets().position(|target| target == index)?;
            Some((record, record.details.as_ref()?.targets.get(slot)?))
        })
    }

    /// The names of the strategies that ran, in their order.
    fn strategies(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (record, _) in self.own() {
            let name = record.trial.contender.to_string();
            if matches!(record.trial.contender, Contender::Strategy(_)) && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The strategy that stands for what is found: `aware` where it ran.
    fn finder(&self) -> Option<String> {
        let names = self.strategies();
        let aware = names.iter().find(|name| name.as_str() == FINDER);
        aware.or(names.last()).cloned()
    }

    fn place(&self) -> Option<String> {
        Some(self.name.clone())
    }

    fn file(&self, stem: &str) -> String {
        match self.several {
            true => format!("{stem}-t{}", self.index),
            false => stem.to_owned(),
        }
    }

    fn with(&self, report: &mut ExperimentReport, entry: &str, value: Value) -> Result<()> {
        let summary = report
            .summary
            .clone()
            .with_target(&self.name, entry, value)
            .map_err(|error| LabError::Failure(error.to_string()))?;
        report.summary = summary;
        Ok(())
    }

    /// The parameters found by the finder, seed by seed.
    fn add_identified(&self, report: &mut ExperimentReport) -> Result<Option<FoundTask>> {
        let Some(finder) = self.finder() else {
            return Ok(None);
        };
        let (mut found, mut seeds, mut held) = (Vec::new(), Vec::new(), 0);
        for (record, details) in self.own() {
            let last = details
                .rounds
                .last()
                .and_then(|round| round.identified.as_ref());
            let Some(last) = last.filter(|_| record.trial.contender.to_string() == finder) else {
                continue;
            };
            seeds.push(last.w.clone());
            held += usize::from(self.holds(&last.low, &last.high));
            found.push(json!({
                "seed": record.trial.seed, "w": last.w, "low": last.low, "high": last.high,
            }));
        }
        if seeds.is_empty() {
            return Ok(None);
        }
        self.with(report, "identified", Value::Array(found))?;
        self.with(
            report,
            "identified_by",
            json!({ "strategy": finder, "held": held, "of": seeds.len(), "confidence": 0.9 }),
        )?;
        Ok(Some(FoundTask {
            by: finder,
            seeds,
            held,
        }))
    }

    /// Whether a box holds all parameters of the truth, rounding apart.
    fn holds(&self, low: &[f64], high: &[f64]) -> bool {
        let inside = |(truth, (low, high)): (&f64, (&f64, &f64))| {
            *low <= truth + 1e-9 && *truth <= high + 1e-9
        };
        self.truth.iter().zip(low.iter().zip(high)).all(inside)
    }

    /// The way of the chosen tasks towards the target.
    fn add_path(&self, report: &mut ExperimentReport) {
        let mut steps = Vec::new();
        for (record, details) in self.own() {
            let own = |row: &&taskscout_report::ResultRow| {
                row.target.as_deref() == Some(self.name.as_str())
            };
            let rows: Vec<_> = record.rows.iter().filter(own).collect();
            for round in &details.rounds {
                let Some(task) = &round.exploited else {
                    continue;
                };
                let row = rows.iter().find(|row| row.round == round.round);
                let region = round.identified.as_ref();
                steps.push(PathStep {
                    strategy: record.trial.contender.to_string(),
                    seed: record.trial.seed,
                    round: round.round,
                    budget: row.map_or(0, |row| row.budget),
                    task: task.clone(),
                    region: region.map(|found| (found.low.clone(), found.high.clone())),
                });
            }
        }
        if steps.is_empty() {
            return;
        }
        let path = TaskPath {
            parameters: TASK_NAMES.map(str::to_owned).to_vec(),
            low: vec![-1.0; TASK_NAMES.len()],
            high: vec![1.0; TASK_NAMES.len()],
            truth: Some(self.truth.to_vec()),
            steps,
        };
        report.figures.push(ReportFigure {
            target: self.place(),
            name: self.file("path"),
            figure: path.figure().into(),
            caption:
                "Which task was sampled for the target, round by round: each thin line is a seed, \
                      the thick one their mean, the band the mean of the regions for the hidden \
                      parameters after the round, the dashed line the truth, which no learner sees."
                    .into(),
        });
    }

    /// The last models of each contender.
    fn controllers(&self) -> Controllers<'a> {
        let mut controllers: Controllers<'a> = Vec::new();
        for (record, details) in self.own() {
            let contender = record.trial.contender.to_string();
            let Some(model) = details
                .returned
                .as_ref()
                .filter(|_| contender != TARGET_DATA)
            else {
                continue;
            };
            match controllers.iter_mut().find(|(name, _)| *name == contender) {
                Some((_, models)) => models.push(model),
                None => controllers.push((contender, vec![model])),
            }
        }
        controllers.sort_by_key(|(name, _)| name != TARGET_ONLY);
        controllers
    }

    /// What the models are worth to a controller.
    fn add_control(&self, report: &mut ExperimentReport) -> Result<Vec<(String, Score)>> {
        let environment = self.world.target_environment(self.index)?;
        let features = &self.world.config().input_features;
        let controllers = self.controllers();
        let scores = control::scores(environment, features, &controllers)?;
        let entry = |(name, score): &(String, Score)| (name.replace(' ', "-"), json!(score));
        let map: serde_json::Map<String, Value> = scores.iter().map(entry).collect();
        self.with(report, "control", Value::Object(map))?;
        report.tables.push(self.control_table(&scores));
        let runs = control::runs(environment, features, &controllers, SHOWN);
        report.figures.push(self.angles(&runs));
        report.figures.push(self.portraits(&runs));
        Ok(scores)
    }

    /// The angle over time under each controller.
    fn angles(&self, runs: &[(String, ControlRun)]) -> ReportFigure {
        let traces = runs.iter().map(|(name, run)| {
            let angles = &run.trajectory.angles_rad;
            let times: Vec<f64> = (0..angles.len())
                .map(|i| i as f64 * run.trajectory.step_s)
                .collect();
            Trace {
                name: name.clone(),
                points: thin(&times, angles),
            }
        });
        let panel = TracePanel {
            title: format!("From {:.1} rad at rest", SHOWN.angle_rad),
            traces: traces.collect(),
        };
        ReportFigure {
            target: self.place(),
            name: self.file("control"),
            figure: Traces {
                title: "Angle under control".into(),
                x_title: "time (s)".into(),
                y_title: "angle (rad)".into(),
                panels: vec![panel],
            }
            .figure()
            .into(),
            caption:
                "The same controller with different models of the residual torque, on the target \
                      itself and without noise; learnt models are those of the first seed that finished."
                    .into(),
        }
    }

    /// The same runs as paths of the state.
    fn portraits(&self, runs: &[(String, ControlRun)]) -> ReportFigure {
        let portrait = |(name, run): &(String, ControlRun)| Portrait {
            title: name.clone(),
            x_title: "angle (rad)".into(),
            y_title: "angular velocity (rad/s)".into(),
            curves: vec![PortraitCurve {
                name: name.clone(),
                points: thin(&run.trajectory.angles_rad, &run.trajectory.velocities_rad_s),
            }],
        };
        ReportFigure {
            target: self.place(),
            name: self.file("portraits"),
            figure: Portraits {
                title: "Phase portraits".into(),
                portraits: runs.iter().map(portrait).collect(),
            }
            .figure()
            .into(),
            caption:
                "The same runs as paths of the state: the dot is where they start, the cross is \
                      upright and at rest."
                    .into(),
        }
    }

    fn control_table(&self, scores: &[(String, Score)]) -> ReportTable {
        let truth = scores.iter().find(|(name, _)| name == TRUE_MODEL);
        let ratio = |score: &Score| match truth {
            Some((_, best)) if best.mean_angle > 0.0 && score.mean_angle.is_finite() => {
                format!("{:.2}", score.mean_angle / best.mean_angle)
            }
            _ => String::new(),
        };
        let mut caption = format!(
            "Mean over {} starts away from rest and all seeds, 20 s each, without noise. ",
            STARTS.len()
        );
        let angle = |wanted: &str| {
            let found = scores.iter().find(|(name, _)| name == wanted);
            found.map_or(f64::NAN, |(_, score)| score.mean_angle)
        };
        let lost: Vec<String> = scores
            .iter()
            .filter(|(_, score)| score.lost > 0)
            .map(|(name, score)| format!("{name} {}", score.lost))
            .collect();
        if !lost.is_empty() {
            caption += &format!(
                "Left out are runs in which the pendulum ran away: {}. ",
                lost.join(", ")
            );
        }
        if angle(NO_MODEL) < angle(TRUE_MODEL) {
            caption += "Here the residual torque itself drives the pendulum upright, so that cancelling it \
                        costs: the mean angle does not rank the true model first.";
        }
        let row = |(name, score): &(String, Score)| {
            vec![
                name.clone(),
                decimals(score.mean_angle),
                ratio(score),
                decimals(score.rms),
                decimals(score.settled_angle),
            ]
        };
        ReportTable {
            target: self.place(),
            title: CONTROL.into(),
            head: [
                "model",
                words::MEAN_ANGLE,
                "over true f",
                "rms of (θ, θ̇)",
                "mean |θ|, last 10 s",
            ]
            .map(str::to_owned)
            .to_vec(),
            rows: scores.iter().map(row).collect(),
            caption,
        }
    }
}

/// A number of the table; a dash where there is none.
pub(super) fn decimals(value: f64) -> String {
    match value.is_finite() {
        true => format!("{value:.4}"),
        false => "–".into(),
    }
}

/// Points of a curve, no more than a figure shows.
fn thin(xs: &[f64], ys: &[f64]) -> Vec<(f64, f64)> {
    let step = (xs.len() / POINTS).max(1);
    xs.iter()
        .copied()
        .zip(ys.iter().copied())
        .step_by(step)
        .collect()
}
