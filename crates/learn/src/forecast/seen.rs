//! Data and model as one pair of factors `X B`: on the features where `φ` is a matrix, on what stands before the last
//! layer where it is a network.

use faer::{Mat, MatRef};

use super::{ForecastTargetTask, sandwich};
use crate::data::TaskData;
use crate::error::{Error, Result};
use crate::linalg;
use crate::model::{AnyRepresentation, Model};

/// Part of the largest eigenvalue of a need below which another is rounding.
const ROUNDING: f64 = 1e-12;

/// The factors, with the data under what they are linear in.
#[derive(Debug)]
pub(super) struct Seen {
    data: TaskData,
    /// `X`, features by `k`, as strong as `B`.
    pub(super) representation: Mat<f64>,
    /// `B`, `k` by outputs times task features.
    pub(super) map: Mat<f64>,
    /// Whether `X` is learnt, or only the heads on it.
    pub(super) learns_representation: bool,
    /// The penalty on both factors.
    pub(super) lambda: f64,
    pub(super) noise: f64,
}

impl Seen {
    pub(super) fn of(data: &TaskData, model: &Model) -> Result<Self> {
        if model.structure.is_hierarchical() {
            return Err(Error::State(
                "families of tasks have no embeddings: quantities of the theory need the oracle `exact`, and losses a `FamilyForecaster`".into(),
            ));
        }
        if model.noise.is_nan() || model.noise < 0.0 {
            return Err(Error::State(
                "a forecast needs the noise of labels, which this oracle does not estimate: use the oracle `exact`"
                    .into(),
            ));
        }
        let (data, representation, learns) = factor(data, model)?;
        let mut seen = Self {
            data,
            representation,
            map: model.map.matrix().to_owned(),
            learns_representation: learns,
            lambda: Some(model.report.lambda)
                .filter(|lambda| lambda.is_finite())
                .unwrap_or(0.0),
            noise: model.noise,
        };
        seen.balance();
        Ok(seen)
    }

    /// Shares the weight of the product evenly between the factors, as the penalty has them.
    fn balance(&mut self) {
        for i in 0..self.k() {
            let left = self.representation.col(i).norm_l2();
            let right = self.map.row(i).norm_l2();
            if left > 0.0 && right > 0.0 {
                let ratio = (right / left).sqrt();
                let inputs = self.representation.nrows();
                (0..inputs).for_each(|a| self.representation[(a, i)] *= ratio);
                (0..self.map.ncols()).for_each(|s| self.map[(i, s)] /= ratio);
            }
        }
    }

    pub(super) fn data(&self) -> &TaskData {
        &self.data
    }

    pub(super) fn k(&self) -> usize {
        self.map.nrows()
    }

    /// Task features of one output.
    pub(super) fn task_dim(&self) -> usize {
        self.data.task_dim()
    }

    pub(super) fn outputs(&self) -> usize {
        self.data.outputs()
    }

    /// The mean square of a target's function over its outputs and inputs, whose second moment is `R Rᵀ`.
    pub(super) fn mean_square(&self, moment: &Mat<f64>, root: &Mat<f64>) -> f64 {
        let turned = linalg::product(self.representation.transpose(), root.as_ref());
        let need = self.embed(&self.map, moment.as_ref());
        let values = sandwich(turned.transpose(), need.as_ref());
        super::information::trace(&values) / self.outputs() as f64
    }

    /// The columns of an output in a map like `B`.
    pub(super) fn output<'a>(&self, map: &'a Mat<f64>, output: usize) -> MatRef<'a, f64> {
        let width = self.task_dim();
        map.as_ref().subcols(output * width, width)
    }

    /// `Σ_o B_o M B_oᵀ` for a moment of task features.
    pub(super) fn embed(&self, map: &Mat<f64>, moment: MatRef<'_, f64>) -> Mat<f64> {
        let mut sum = Mat::zeros(self.k(), self.k());
        (0..self.outputs()).for_each(|output| sum += sandwich(self.output(map, output), moment));
        sum
    }

    /// `A` over all targets by their shares.
    pub(super) fn need(&self, map: &Mat<f64>, targets: &[ForecastTargetTask]) -> Mat<f64> {
        let mut sum = Mat::zeros(self.k(), self.k());
        for target in targets {
            sum += faer::Scale(target.share) * self.embed(map, target.second_moment.as_ref());
        }
        sum
    }

    /// `A` without what is below a floor, but for its largest direction.
    pub(super) fn leading_need(
        &self,
        map: &Mat<f64>,
        targets: &[ForecastTargetTask],
        floor: f64,
    ) -> Result<Mat<f64>> {
        let need = self.need(map, targets);
        let (values, vectors) = linalg::eigen(need.as_ref(), "the target moment")?;
        let mut out = Mat::zeros(need.nrows(), need.ncols());
        for (index, &value) in values.iter().enumerate() {
            if index == 0 || value > floor.max(ROUNDING * values[0]) {
                let vector = linalg::column(vectors.as_ref(), index);
                super::add_outer(&mut out, &vector, value);
            }
        }
        Ok(out)
    }

    /// The embeddings of source tasks, one a column; of several outputs, one block after the other.
    pub(super) fn source_embeddings(&self, map: &Mat<f64>, tasks: &Mat<f64>) -> Result<Mat<f64>> {
        let width = tasks.nrows();
        if width > self.task_dim() {
            return Error::check_length("a task's features", self.task_dim(), width)
                .map(|()| Mat::new());
        }
        let mut out = Mat::zeros(self.k(), self.outputs() * tasks.ncols());
        for output in 0..self.outputs() {
            let sources = self.output(map, output).subcols(0, width);
            let block = linalg::product(sources, tasks.as_ref());
            for j in 0..tasks.ncols() {
                (0..self.k()).for_each(|i| out[(i, output * tasks.ncols() + j)] = block[(i, j)]);
            }
        }
        Ok(out)
    }
}

/// The data that a model is linear in, its first factor, and whether that is learnt.
fn factor(data: &TaskData, model: &Model) -> Result<(TaskData, Mat<f64>, bool)> {
    let phi = &model.representation;
    let split = match phi {
        AnyRepresentation::Linear(linear) => {
            return Ok((data.clone(), linear.matrix().to_owned(), true));
        }
        AnyRepresentation::Mlp(network) => network.before_last()?,
        AnyRepresentation::Custom(_) => None,
    };
    match split {
        Some((before, last)) => Ok((data.transformed_by(&before)?, last.to_owned(), true)),
        None => {
            let k = model.dim();
            Ok((data.transformed_by(phi)?, Mat::identity(k, k), false))
        }
    }
}
