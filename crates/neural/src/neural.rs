//! The `neural` oracle: a network as `φ`, trained by variable projection.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use taskscout::data::{TARGET_FOLDS, TargetRows, TaskData};
use taskscout::model::{Model, Phi, Representation as _, Start};
use taskscout::rng::{Purpose, derive};
use taskscout::train::{Exact, FoldFit, TrainContext, Trainer};
use taskscout::{Error, Result};

use crate::dataset::Dataset;
use crate::flat;
use crate::lbfgs::minimise;
use crate::network::Architecture;
use crate::projection::Reduced;

/// Settings of the `neural` oracle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NeuralSettings {
    /// Networks that training starts from; the best after a short look goes on.
    pub starts: usize,
    /// Steps at most.
    pub max_steps: usize,
    /// Training ends when a step lowers the objective by less than this part of it.
    pub tolerance: f64,
    /// The penalty on the parameters of network and task map, in units of the summed squared error;
    /// from the data if not given.
    pub lambda: Option<f64>,
}

impl Default for NeuralSettings {
    fn default() -> Self {
        Self {
            starts: 4,
            max_steps: 150,
            tolerance: 2e-5,
            lambda: None,
        }
    }
}

/// Rows of a short look at a start.
const LOOK_ROWS: usize = 10_000;
/// Steps of a short look at a start.
const LOOK_STEPS: usize = 40;
/// Steps of a fit that only adds the targets' rows to those of the sources.
const FINISH_STEPS: usize = 12;
/// Times that the penalty is set anew from the data.
const PENALTY_UPDATES: usize = 2;

/// The oracle.
#[derive(Debug, Clone)]
pub struct Neural<A> {
    architecture: A,
    settings: NeuralSettings,
}

/// A point of a descent: parameters and penalty.
#[derive(Debug, Clone)]
struct Point {
    theta: Vec<f64>,
    lambda: f64,
    objective: f64,
    steps: usize,
}

impl<A: Architecture> Neural<A> {
    /// An oracle for networks of an architecture.
    pub fn new(architecture: A, settings: NeuralSettings) -> Self {
        Self {
            architecture,
            settings,
        }
    }

    /// `k` outputs for the network while it is trained: as asked for, or more than will be needed.
    fn outputs(&self, data: &TaskData, context: &TrainContext) -> usize {
        let most = data.outputs() * data.task_dim();
        context.k.unwrap_or(16).min(most)
    }

    /// Descends from a point on some rows.
    fn descend(
        &self,
        rows: &Dataset,
        template: &A::Network,
        k: usize,
        start: Point,
        steps: usize,
    ) -> Result<Point> {
        let mut reduced = Reduced::new(rows, template.clone(), k, start.lambda);
        let mut point = start;
        let labels = (rows.len() * rows.outputs) as f64;
        for update in 0..=PENALTY_UPDATES {
            let share = steps / (PENALTY_UPDATES + 1);
            let limit = if update == PENALTY_UPDATES {
                steps - share * PENALTY_UPDATES
            } else {
                share
            };
            let end = minimise(&reduced, point.theta, limit.max(1), self.settings.tolerance)?;
            let weight: f64 =
                end.theta.iter().map(|v| v * v).sum::<f64>() + end.value.map.squared_norm_l2();
            let unknowns = (end.theta.len() + end.value.map.nrows() * end.value.map.ncols()) as f64;
            let used = unknowns.min(0.5 * labels);
            let noise = end.value.residual / (labels - used);
            point = Point {
                theta: end.theta,
                lambda: reduced.lambda,
                objective: end.value.objective,
                steps: point.steps + end.iterations,
            };
            if let Some(lambda) = self.settings.lambda {
                reduced.lambda = lambda;
            } else {
                reduced.lambda = noise * used / weight;
            }
        }
        point.lambda = reduced.lambda;
        Ok(point)
    }

    /// The best of several starts after a short look on some of the rows.
    fn begin(
        &self,
        rows: &Dataset,
        k: usize,
        context: &TrainContext,
    ) -> Result<(A::Network, Point)> {
        let scales = rows.scales();
        let step = rows.len().div_ceil(LOOK_ROWS);
        let few = rows.every(step, 0);
        let look = if step > 1 { &few } else { rows };
        let known = context
            .start
            .as_deref()
            .map(|start| &start.representation)
            .filter(|phi| phi.dim() == k && phi.input_dim() == rows.inputs)
            .and_then(|phi| self.architecture.restore(phi));
        if let Some(network) = known {
            let point = self.first(look, &network, k);
            return Ok((network, point?));
        }
        let mut networks = Vec::new();
        for attempt in 0..self.settings.starts.max(1) as u64 {
            let mut rng = derive(context.seed, Purpose::Weights, &[attempt]);
            networks.push(self.architecture.init(&scales, k, &mut rng)?);
        }
        let looked: Vec<Result<(A::Network, Point)>> = networks
            .into_par_iter()
            .map(|network| {
                let start = self.first(look, &network, k)?;
                let point = self.descend(look, &network, k, start, LOOK_STEPS)?;
                Ok((network, point))
            })
            .collect();
        let mut best: Option<(A::Network, Point)> = None;
        for candidate in looked {
            let (network, point) = candidate?;
            if best
                .as_ref()
                .is_none_or(|(_, known)| point.objective < known.objective)
            {
                best = Some((network, point));
            }
        }
        best.ok_or_else(|| Error::State("no start was tried".into()))
    }

    /// The parameters of a network, with a penalty to start from.
    fn first(&self, rows: &Dataset, network: &A::Network, k: usize) -> Result<Point> {
        let theta: Vec<f64> = flat::parameters(network)
            .into_iter()
            .map(f64::from)
            .collect();
        let weight: f64 = theta.iter().map(|v| v * v).sum();
        let labels = (rows.len() * rows.outputs) as f64;
        let prior = rows.squares() / labels * theta.len() as f64 / weight.max(f64::MIN_POSITIVE);
        let _ = k;
        Ok(Point {
            lambda: self.settings.lambda.unwrap_or(prior),
            theta,
            objective: f64::INFINITY,
            steps: 0,
        })
    }

    fn phi(&self, template: &A::Network, point: &Point) -> Result<Phi> {
        let narrow: Vec<f32> = point.theta.iter().map(|&value| value as f32).collect();
        self.architecture
            .representation(&flat::with_parameters(template.clone(), &narrow))
    }

    /// The model on top of a trained network: last layer and heads by exact least squares.
    fn model(&self, data: &TaskData, context: &TrainContext, phi: &Phi) -> Result<Model> {
        let under = data.under(phi)?;
        let model = Exact::default().fit(&under, context)?;
        Model::through(phi, model, &under, context)
    }

    /// Learns from the sources, which everything else starts from.
    fn sources(
        &self,
        data: &TaskData,
        context: &TrainContext,
    ) -> Result<(A::Network, usize, Point)> {
        let targets = if data.source_rows() > 0 {
            TargetRows::None
        } else {
            context.targets
        };
        let rows = Dataset::new(data, context.stages.as_deref(), targets)?;
        let k = self.outputs(data, context);
        let (template, start) = self.begin(&rows, k, context)?;
        let point = self.descend(&rows, &template, k, start, self.settings.max_steps)?;
        Ok((template, k, point))
    }

    /// Goes on from the sources with what the targets say.
    fn finish(
        &self,
        data: &TaskData,
        context: &TrainContext,
        (template, k, start): &(A::Network, usize, Point),
    ) -> Result<(Phi, Point)> {
        let rows = Dataset::new(data, context.stages.as_deref(), context.targets)?;
        let point = self.descend(&rows, template, *k, start.clone(), FINISH_STEPS)?;
        Ok((self.phi(template, &point)?, point))
    }

    fn fit_from(
        &self,
        data: &TaskData,
        context: &TrainContext,
        sources: &(A::Network, usize, Point),
    ) -> Result<Model> {
        let (phi, point) = self.finish(data, context, sources)?;
        let mut model = self.model(data, context, &phi)?;
        model.report.iterations = point.steps;
        // Of the sources alone, so that later comparisons on held-out target rows do not leak.
        model.start = Some(Start {
            representation: self.phi(&sources.0, &sources.2)?,
            map: None,
        });
        Ok(model)
    }
}

impl<A: Architecture> Trainer for Neural<A>
where
    A::Network: Sync,
{
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<Model> {
        let sources = self.sources(data, context)?;
        self.fit_from(data, context, &sources)
    }

    fn fit_with_folds(
        &self,
        data: &TaskData,
        context: &TrainContext,
    ) -> Result<(Model, Vec<FoldFit>)> {
        let sources = self.sources(data, context)?;
        let model = self.fit_from(data, context, &sources)?;
        let fold = |fold: usize| {
            let without = TrainContext {
                k: Some(model.dim()),
                targets: TargetRows::Without(fold),
                ..context.clone()
            };
            let (phi, _) = self.finish(data, &without, &sources)?;
            Ok(FoldFit {
                fold,
                representation: self.model(data, &without, &phi)?.representation,
            })
        };
        let folds = (0..TARGET_FOLDS).map(fold).collect::<Result<_>>()?;
        Ok((model, folds))
    }

    fn needs_rows(&self) -> bool {
        true
    }

    fn warm_starts(&self) -> bool {
        true
    }

    fn alone(&self, data: &TaskData, target: usize, context: &TrainContext) -> Result<Option<Phi>> {
        let rows = Dataset::alone(data, target, context.targets)?;
        let k = data.outputs();
        let fresh = TrainContext {
            start: None,
            ..context.clone()
        };
        let (template, start) = self.begin(&rows, k, &fresh)?;
        let point = self.descend(&rows, &template, k, start, self.settings.max_steps)?;
        self.phi(&template, &point).map(Some)
    }
}
