//! The `neural` oracle: a network as `φ`, trained by variable projection.

use rayon::prelude::*;
use taskscout::data::{FoldSelection, TARGET_FOLD_COUNT, TaskData};
use taskscout::model::{AnyRepresentation, Model, Representation as _, WarmStart};
use taskscout::rng::{Purpose, derive};
use taskscout::train::candidates::{self, TargetOnlyRepresentationFitter};
use taskscout::train::{
    Candidate, JointRidge, RepresentationWithoutFold, TrainContext, TrainOutput, Trainer,
    TrainerNeeds,
};
use taskscout::{Error, Result};

use crate::dataset::Dataset;
use crate::descent::{Descender, JointParameters};
use crate::lbfgs::minimise;
use crate::network::{Architecture, Differentiable as _};
use crate::optimiser::{Decay, Optimiser};
use crate::projection::Reduced;
use crate::settings::{DescentSettings, NeuralSettings, TargetHead};

/// Directions that a network gets where nobody says how many; those that carry nothing go again.
const MOST_DIRECTIONS: usize = 12;
/// Rows of a batch while a start is annealed.
const ANNEAL_BATCH: usize = 250;
/// The learning rate at first while a start is annealed.
const ANNEAL_RATE: f64 = 0.03;
/// Passes over all rows at most while a start is annealed: more would learn few rows by heart.
const ANNEAL_EPOCHS: usize = 40;
/// Starts of a network that a target learns alone.
const STARTS_ALONE: usize = 2;
/// Longest gradient while a start is annealed.
const ANNEAL_CLIP: f64 = 10.0;
/// Steps of a fit that only adds the targets' rows to those of the sources.
const FINISH_STEPS: usize = 30;
/// Part of the labels' squares that a network leaves which has learnt nothing.
const COLLAPSED: f64 = 0.995;
/// Times that the penalty is set anew from the data.
const PENALTY_UPDATES: usize = 1;

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
    residual: f64,
    steps: usize,
    converged: bool,
    /// The objective after each step of the last descent.
    trace: Vec<f64>,
}

impl<A: Architecture> Neural<A> {
    /// An oracle for networks of an architecture.
    pub fn new(architecture: A, settings: NeuralSettings) -> Self {
        Self {
            architecture,
            settings,
        }
    }

    /// Outputs of the network while it is trained: as asked for, or more than will be needed.
    pub(crate) fn outputs(data: &TaskData, context: &TrainContext) -> usize {
        let most = data.outputs() * data.task_dim();
        context.k.unwrap_or(MOST_DIRECTIONS).min(most)
    }

    /// Descends from a point on some rows, setting the penalty anew from the data so many times.
    fn descend(
        &self,
        rows: &Dataset,
        template: &A::Network,
        k: usize,
        start: Point,
        (steps, updates): (usize, usize),
    ) -> Result<Point> {
        let labels = (rows.len() * rows.outputs) as f64;
        let mut point = start;
        let mut left = steps.max(1);
        let floor = 1e-4 * point.lambda;
        for update in 0..=updates {
            let limit = if update == updates { left } else { left / 3 };
            let end = loop {
                let mut reduced = Reduced::new(rows, template, k, point.lambda);
                let tolerance = self.settings.tolerance / labels;
                let end = minimise(&mut reduced, point.theta.clone(), limit.max(1), tolerance)?;
                // A penalty above the signal shrinks everything to nothing; then it is no guide.
                let nothing = end.value.residual > COLLAPSED * rows.squares();
                if !nothing || self.settings.lambda.is_some() || point.lambda <= floor {
                    break end;
                }
                point.lambda *= 0.1;
            };
            left -= end.iterations.min(left);
            let map = &end.value.map;
            let weight = end.theta.iter().map(|v| v * v).sum::<f64>() + map.squared_norm_l2();
            let unknowns = (end.theta.len() + map.nrows() * map.ncols()) as f64;
            let used = unknowns.min(0.5 * labels);
            let noise = end.value.residual / (labels - used);
            let wanted = noise * used / weight.max(f64::MIN_POSITIVE);
            point = Point {
                theta: end.theta,
                lambda: match self.settings.lambda {
                    // Weights that shrink ask for a penalty that shrinks them more, hence the bound.
                    None if updates > 0 => wanted.min(10.0 * point.lambda),
                    _ => point.lambda,
                },
                residual: end.value.residual,
                steps: point.steps + end.iterations,
                converged: end.converged,
                trace: end.trace,
            };
        }
        Ok(point)
    }

    /// The best of several starts: what was learnt before, the same annealed, and new ones.
    ///
    /// Valleys differ by more than descent inside one of them gains, so every start is first annealed
    /// by noisy mini-batch steps, and judged on all rows.
    fn begin(
        &self,
        rows: &Dataset,
        k: usize,
        context: &TrainContext,
        fresh: usize,
    ) -> Result<(A::Network, Point)> {
        let scales = rows.scales();
        let known = context
            .warm_start
            .as_deref()
            .map(|start| &start.representation)
            .filter(|phi| phi.dim() == k && phi.input_dim() == rows.inputs)
            .and_then(|phi| self.architecture.restore(phi));
        let mut starts: Vec<(A::Network, bool)> = Vec::new();
        if let Some(network) = known {
            starts.push((network.clone(), false));
            starts.push((network, true));
        }
        // New ones every time, for the case that the one before led into a poor valley.
        let fresh = if starts.is_empty() {
            fresh.max(1)
        } else {
            self.settings.restarts
        };
        for attempt in 0..fresh {
            let indices = [attempt as u64, rows.len() as u64];
            let mut rng = derive(context.seed, Purpose::Weights, &indices);
            starts.push((self.architecture.init(&scales, k, &mut rng)?, true));
        }
        let tried: Vec<Result<(A::Network, Point)>> = starts
            .into_par_iter()
            .enumerate()
            .map(|(index, (network, annealed))| {
                let seed = (context.seed, index as u64);
                let point = self.first(rows, &network, k, annealed.then_some(seed))?;
                Ok((network, point))
            })
            .collect();
        Self::best(tried)
    }

    /// The start that leaves the least residual.
    fn best(tried: Vec<Result<(A::Network, Point)>>) -> Result<(A::Network, Point)> {
        let mut best: Option<(A::Network, Point)> = None;
        let mut trouble = None;
        for candidate in tried {
            match candidate {
                Ok((network, point)) => {
                    let better = |(_, known): &(A::Network, Point)| point.residual < known.residual;
                    if best.as_ref().is_none_or(better) {
                        best = Some((network, point));
                    }
                }
                Err(Error::Diverged { step, .. }) => {
                    trouble = Some(Error::Diverged {
                        step,
                        remedy: "no start of the network stays finite; rescale the data, or give a smaller network".into(),
                    });
                }
                Err(error) => trouble = Some(error),
            }
        }
        match (best, trouble) {
            (Some(best), _) => Ok(best),
            (None, Some(error)) => Err(error),
            (None, None) => Err(Error::State("no start was tried".into())),
        }
    }

    /// Mean squared error on rows that a network has not seen, after annealing it on others.
    pub(crate) fn held_out(
        &self,
        rows: &Dataset,
        unseen: &Dataset,
        k: usize,
        seed: u64,
    ) -> Result<f64> {
        let mut rng = derive(seed, Purpose::Weights, &[0, rows.len() as u64]);
        let network = self.architecture.init(&rows.scales(), k, &mut rng)?;
        let point = self.first(rows, &network, k, Some((seed, 0)))?;
        let map = Reduced::new(rows, &network, k, point.lambda)
            .evaluate(&point.theta)?
            .map;
        let theta: Vec<f32> = point.theta.iter().map(|&value| value as f32).collect();
        let map = crate::descent::flat_map(map.as_ref(), rows.outputs);
        Ok(Descender::new(unseen, &network, k).loss(&theta, &map))
    }

    /// Where descent starts from a network: its parameters as they are, or annealed.
    fn first(
        &self,
        rows: &Dataset,
        network: &A::Network,
        k: usize,
        anneal: Option<(u64, u64)>,
    ) -> Result<Point> {
        let mut theta: Vec<f64> = network.parameters().into_iter().map(f64::from).collect();
        let weight: f64 = theta.iter().map(|value| value * value).sum();
        let labels = (rows.len() * rows.outputs) as f64;
        let mean_square = rows.squares() / labels.max(1.0);
        let prior = mean_square * theta.len() as f64 / weight.max(f64::MIN_POSITIVE);
        let lambda = self.settings.lambda.unwrap_or(prior);
        crate::network::check_width(network, rows.inputs, k)?;
        let mut reduced = Reduced::new(rows, network, k, lambda);
        let mut value = reduced.evaluate(&theta)?;
        let mut steps = 0;
        if let Some(seed) = anneal.filter(|_| self.settings.anneal_steps > 0) {
            let batches = rows.len().div_ceil(ANNEAL_BATCH).max(1);
            let settings = DescentSettings {
                optimiser: Optimiser::Adam,
                learning_rate: ANNEAL_RATE,
                weight_decay: 0.0,
                batch: ANNEAL_BATCH,
                epochs: (self.settings.anneal_steps / batches).clamp(1, ANNEAL_EPOCHS),
                decay: Decay::Cosine,
                clip: Some(ANNEAL_CLIP),
                early_stopping: None,
                head: TargetHead::Solved,
            };
            let start = JointParameters {
                network: theta.iter().map(|&value| value as f32).collect(),
                map: crate::descent::flat_map(value.map.as_ref(), rows.outputs),
            };
            let course = Descender::new(rows, network, k).run(start, &settings, seed)?;
            theta = course
                .joint
                .network
                .iter()
                .map(|&value| f64::from(value))
                .collect();
            value = reduced.evaluate(&theta)?;
            steps = course.steps;
        }
        if !(value.objective.is_finite() && value.residual.is_finite()) {
            return Err(Error::Diverged {
                step: steps,
                remedy: "the loss is not finite; rescale the data".into(),
            });
        }
        Ok(Point {
            theta,
            lambda,
            residual: value.residual,
            steps,
            converged: false,
            trace: Vec::new(),
        })
    }

    fn phi(&self, template: &A::Network, point: &Point) -> Result<AnyRepresentation> {
        let narrow: Vec<f32> = point.theta.iter().map(|&value| value as f32).collect();
        self.architecture
            .representation(&template.with_parameters(&narrow))
    }

    /// The model on top of a trained network: last layer and heads by exact least squares.
    fn on_top(
        &self,
        data: &TaskData,
        context: &TrainContext,
        phi: &AnyRepresentation,
    ) -> Result<Model> {
        let transformed = data.transformed_by(phi)?;
        let model = JointRidge::default().model(&transformed, context)?;
        model.composed_with(phi, &transformed, context)
    }

    /// Learns from the sources, which everything else starts from.
    fn sources(
        &self,
        data: &TaskData,
        context: &TrainContext,
    ) -> Result<(A::Network, usize, Point)> {
        let targets = if data.source_rows() > 0 {
            FoldSelection::None
        } else {
            context.target_rows
        };
        let rows = Dataset::new(data, context.stages.as_deref(), targets)?;
        let k = Self::outputs(data, context);
        let (template, start) = self.begin(&rows, k, context, self.settings.starts)?;
        let point = self.descend(
            &rows,
            &template,
            k,
            start,
            (self.settings.max_steps, PENALTY_UPDATES),
        )?;
        Ok((template, k, point))
    }

    /// Goes on from the sources with what the targets say.
    fn finish(
        &self,
        data: &TaskData,
        context: &TrainContext,
        (template, k, start): &(A::Network, usize, Point),
    ) -> Result<(AnyRepresentation, Point)> {
        let rows = Dataset::new(data, context.stages.as_deref(), context.target_rows)?;
        let point = self.descend(
            &rows,
            template,
            *k,
            start.clone(),
            (FINISH_STEPS.min(self.settings.max_steps), 0),
        )?;
        Ok((self.phi(template, &point)?, point))
    }

    fn fit_from(
        &self,
        data: &TaskData,
        context: &TrainContext,
        sources: &(A::Network, usize, Point),
    ) -> Result<Model> {
        let (phi, point) = self.finish(data, context, sources)?;
        let mut model = self.on_top(data, context, &phi)?;
        model.report.iterations = point.steps;
        model.report.converged = point.converged;
        model.report.objective_history = point.trace;
        // Of the sources alone, so that later comparisons on held-out target rows do not leak.
        model.warm_start = Some(WarmStart {
            representation: self.phi(&sources.0, &sources.2)?,
            map: None,
        });
        Ok(model)
    }
}

impl<A: Architecture> Trainer for Neural<A> {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        let alone = |target, context: &TrainContext| self.alone(data, target, context);
        self.fit_beside(data, context, &alone)
    }

    fn needs(&self) -> TrainerNeeds {
        TrainerNeeds::NETWORK
    }

    fn target_only(
        &self,
        data: &TaskData,
        context: &TrainContext,
        target: usize,
    ) -> Result<Vec<Candidate>> {
        let alone = |target, context: &TrainContext| self.alone(data, target, context);
        candidates::target_only_candidates_with_network(data, context, target, &alone)
    }
}

impl<A: Architecture> Neural<A> {
    /// The fit, with another way to learn from a target's rows alone.
    pub(crate) fn fit_beside(
        &self,
        data: &TaskData,
        context: &TrainContext,
        alone: TargetOnlyRepresentationFitter<'_>,
    ) -> Result<TrainOutput> {
        let sources = self.sources(data, context)?;
        let model = self.fit_from(data, context, &sources)?;
        if !context.wants_candidates() {
            return Ok(model.into());
        }
        let fold = |fold: usize| {
            let without = TrainContext {
                k: Some(model.dim()),
                ..context.without_fold(fold)
            };
            // Without sources there is no start that has not seen the fold.
            let (phi, _) = if data.source_rows() == 0 {
                self.finish(data, &without, &self.sources(data, &without)?)?
            } else {
                self.finish(data, &without, &sources)?
            };
            Ok(RepresentationWithoutFold {
                fold,
                representation: self.on_top(data, &without, &phi)?.representation,
            })
        };
        let folds = (0..TARGET_FOLD_COUNT).map(fold).collect::<Result<_>>()?;
        TrainOutput::with_heads_and_target_networks(data, context, (model, folds), alone)
    }

    /// A representation learnt from the rows of one target alone.
    pub(crate) fn alone(
        &self,
        data: &TaskData,
        target: usize,
        context: &TrainContext,
    ) -> Result<Option<AnyRepresentation>> {
        let rows = Dataset::alone(data, target, context.target_rows)?;
        let k = data.outputs();
        let fresh = TrainContext {
            warm_start: None,
            ..context.clone()
        };
        let (template, start) = self.begin(&rows, k, &fresh, STARTS_ALONE)?;
        let point = self.descend(
            &rows,
            &template,
            k,
            start,
            (self.settings.max_steps, PENALTY_UPDATES),
        )?;
        self.phi(&template, &point).map(Some)
    }
}
