//! Source tasks, each left out in turn, from one fit of the family.

use std::collections::HashMap;

use faer::Mat;
use rayon::prelude::*;

use super::TaskFamily;
use crate::data::{Statistics, TaskData};
use crate::error::Result;
use crate::linalg;
use crate::regression::Spectrum;

/// Directions of a task's inputs below this share of the strongest are rounding.
const FLAT: f64 = 1e-10;
/// Products of `d³` that leaving tasks out may cost, which bounds their number.
const MOST_WORK: f64 = 1e8;
/// Tasks to be left out in any case.
const FEWEST_LEFT: usize = 8;

/// A source task, its rows of all stages together.
pub(super) struct LeftOutTask {
    pub(super) task: Vec<f64>,
    pub(super) features: Vec<f64>,
    pub(super) statistics: Statistics,
}

impl LeftOutTask {
    /// The distinct source tasks with rows, with the first `p` of their features.
    pub(super) fn distinct(data: &TaskData, p: usize) -> Result<Vec<Self>> {
        let mut tasks: Vec<Self> = Vec::new();
        let mut known = HashMap::new();
        let entries = data.sources().iter();
        for entry in entries.filter(|entry| entry.statistics.count() > 0) {
            if let Some(&at) = known.get(&entry.task.id) {
                let task: &mut Self = &mut tasks[at];
                task.statistics.merge(&entry.statistics)?;
                continue;
            }
            known.insert(&entry.task.id, tasks.len());
            tasks.push(Self {
                task: entry.task.to_vec(),
                features: entry.features[..p].to_vec(),
                statistics: (*entry.statistics).clone(),
            });
        }
        Ok(tasks)
    }

    /// Rows.
    pub(super) fn count(&self) -> f64 {
        self.statistics.count() as f64
    }
}

/// A task in coordinates in which its Gram matrix is the identity.
pub(super) struct Held {
    /// Which task.
    pub(super) index: usize,
    rows: f64,
    /// `R` of `G = RᵀR`.
    pub(super) root: Mat<f64>,
    /// `H`.
    leverage: Mat<f64>,
    /// `z − R M ψ_W`, one column an output.
    errors: Mat<f64>,
    /// `Σ y²`, and what of it no function of the features reaches.
    square: f64,
    beyond: f64,
    /// Residual of a fit of its own, and the labels that are left for it.
    own: f64,
    free: f64,
}

/// The effect of another feature on a task: `H + P Pᵀ`, and errors less `P t`.
pub(super) struct Change {
    pub(super) spread: Mat<f64>,
    pub(super) shift: Mat<f64>,
}

/// What tasks left out say.
pub(super) struct LeftOut {
    /// Mean square of their residuals.
    pub(super) residual: f64,
    /// Its expectation, in units of the noise variance.
    pub(super) expected: f64,
    /// Its standard error beside the noise within the same tasks, in the same units.
    pub(super) spread: f64,
}

/// All tasks that can be judged.
pub(super) struct Left {
    pub(super) held: Vec<Held>,
    outputs: f64,
    out: LeftOut,
}

impl Held {
    /// Nothing, where the task has too few rows for a fit of its own.
    fn new(family: &TaskFamily, index: usize, task: &LeftOutTask) -> Result<Option<Self>> {
        let statistics = &task.statistics;
        if statistics.count() <= statistics.dim() {
            return Ok(None);
        }
        let gram = statistics.gram_matrix();
        let (values, vectors) = linalg::eigen(gram.as_ref(), "the Gram matrix of a task")?;
        let floor = FLAT * values.first().copied().unwrap_or(0.0);
        let rank = values.iter().take_while(|&&value| value > floor).count();
        let (d, outputs) = (gram.nrows(), statistics.outputs());
        let root = Mat::from_fn(rank, d, |i, j| values[i].sqrt() * vectors[(j, i)]);
        let spectrum: Vec<f64> = values.iter().map(|value| value.max(0.0)).collect();
        let mut errors = Mat::zeros(rank, outputs);
        let (mut square, mut beyond, mut own, mut free) = (0.0, 0.0, 0.0, 0.0);
        for output in 0..outputs {
            let rotated = linalg::apply(vectors.transpose(), statistics.cross_moment(output));
            let spectrum = Spectrum {
                values: spectrum.clone(),
                moments_squared: rotated.iter().map(|moment| moment * moment).collect(),
                square: statistics.sum_of_squares(output),
                labels: statistics.count(),
            };
            let lambda = spectrum.best_lambda();
            let left = task.count() - spectrum.freedom(lambda);
            if left < 0.5 * task.count() {
                return Ok(None);
            }
            (own, free) = (own + left * spectrum.unbiased_noise(lambda), free + left);
            let function = family.coefficients(&task.features, output);
            let predicted = linalg::apply(root.as_ref(), &function);
            (square, beyond) = (square + spectrum.square, beyond + spectrum.square);
            for i in 0..rank {
                let label = rotated[i] / values[i].sqrt();
                beyond -= label * label;
                errors[(i, output)] = label - predicted[i];
            }
        }
        let open = family.open(&task.features);
        let half = linalg::product(root.as_ref(), open.as_ref());
        Ok(Some(Self {
            index,
            rows: task.count(),
            leverage: linalg::product(half.as_ref(), root.transpose()),
            root,
            errors,
            square,
            beyond: beyond.max(0.0),
            own,
            free,
        }))
    }

    /// The squared residuals of the task left out, and `tr (I − H)⁻¹`; nothing where the other tasks
    /// say nothing about it.
    fn left_out(&self, change: Option<&Change>) -> Option<(f64, f64)> {
        let (mut leverage, mut errors) = (self.leverage.clone(), self.errors.clone());
        if let Some(Change { spread, shift }) = change {
            leverage += linalg::product(spread.as_ref(), spread.transpose());
            errors -= linalg::product(spread.as_ref(), shift.as_ref());
        }
        let rank = leverage.nrows();
        let others = Mat::from_fn(rank, rank, |i, j| {
            f64::from(u8::from(i == j)) - leverage[(i, j)]
        });
        let solver = linalg::cholesky(others.as_ref(), "a task left out").ok()?;
        let found = solver.solve(errors.as_ref());
        let (square, trace) = (found.squared_norm_l2(), solver.inverse_trace());
        (square.is_finite() && trace.is_finite()).then_some((self.beyond + square, trace))
    }

    /// Whether the other tasks leave less open than one noise a row.
    fn is_pinned_down(&self, trace: f64) -> bool {
        trace - self.root.nrows() as f64 <= self.rows
    }
}

impl Left {
    /// Leaves every task out that can be judged, or a fair part if there are very many.
    pub(super) fn new(family: &TaskFamily, tasks: &[LeftOutTask]) -> Result<Self> {
        let most = (MOST_WORK / (family.dim() as f64).powi(3)) as usize;
        let stride = tasks.len().div_ceil(most.max(FEWEST_LEFT));
        let chosen: Vec<usize> = (0..tasks.len()).step_by(stride.max(1)).collect();
        let found: Vec<Result<Option<Held>>> = chosen
            .par_iter()
            .map(|&index| {
                let held = Held::new(family, index, &tasks[index])?;
                let judged = |held: &Held| {
                    held.left_out(None)
                        .is_some_and(|(_, t)| held.is_pinned_down(t))
                };
                Ok(held.filter(judged))
            })
            .collect();
        let held = found
            .into_iter()
            .filter_map(Result::transpose)
            .collect::<Result<Vec<_>>>()?;
        let mut left = Self {
            held,
            outputs: family.outputs() as f64,
            out: LeftOut {
                residual: f64::NAN,
                expected: f64::NAN,
                spread: f64::NAN,
            },
        };
        if let Some(out) = left.with(|_| None) {
            left.out = out;
        }
        Ok(left)
    }

    /// Tasks that can be judged.
    pub(super) fn tasks(&self) -> usize {
        self.held.len()
    }

    /// What they say under the family.
    pub(super) fn out(&self) -> LeftOut {
        LeftOut { ..self.out }
    }

    fn labels(&self) -> f64 {
        self.outputs * self.held.iter().map(|held| held.rows).sum::<f64>()
    }

    /// Noise variance within tasks.
    pub(super) fn noise(&self) -> f64 {
        let sum = |of: fn(&Held) -> f64| self.held.iter().map(of).sum::<f64>();
        sum(|held| held.own) / sum(|held| held.free)
    }

    /// Mean square of the labels.
    pub(super) fn signal(&self) -> f64 {
        self.held.iter().map(|held| held.square).sum::<f64>() / self.labels()
    }

    /// What the tasks say when another feature changes them; nothing where it leaves one open.
    pub(super) fn with(&self, change: impl Fn(&Held) -> Option<Change> + Sync) -> Option<LeftOut> {
        let found: Vec<Option<(f64, f64)>> = self
            .held
            .par_iter()
            .map(|held| held.left_out(change(held).as_ref()))
            .collect();
        let (mut square, mut expected, mut traces, mut variance) = (0.0, 0.0, 0.0, 0.0);
        for (held, found) in self.held.iter().zip(found) {
            let (residual, trace) = found?;
            let rank = held.root.nrows() as f64;
            square += residual;
            expected += self.outputs * (held.rows - rank + trace);
            traces += self.outputs * trace;
            // Errors of tasks share the family: for tasks alike, tr (I − H)⁻³ counts that exactly.
            variance += 2.0 * self.outputs * rank * (trace / rank.max(1.0)).powi(3);
        }
        let free: f64 = self.held.iter().map(|held| held.free).sum();
        // What no function reaches is the same in the noise and the residual: it has no variance.
        variance += 2.0 * traces * traces / free;
        let labels = self.labels();
        Some(LeftOut {
            residual: square / labels,
            expected: expected / labels,
            spread: variance.sqrt() / labels,
        })
    }
}
