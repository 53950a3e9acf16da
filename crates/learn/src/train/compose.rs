//! Models learnt on top of a representation, as models of the features.

use faer::Mat;

use super::TrainContext;
use crate::data::TaskData;
use crate::error::{Error, Result};
use crate::linalg;
use crate::model::{AnyRepresentation, Model, ModelStructure, TaskEmbeddingMap};

/// The Gram matrix over all rows that a fit saw, and how many there were.
fn pooled_gram(data: &TaskData, context: &TrainContext) -> Result<(Mat<f64>, usize)> {
    let d = data.feature_dim();
    let (mut gram, mut rows) = (Mat::<f64>::zeros(d, d), 0);
    let wanted = |stage| {
        context
            .stages
            .as_ref()
            .is_none_or(|stages| stages.contains(&stage))
    };
    for entry in data.sources().iter().filter(|entry| wanted(entry.stage)) {
        gram += entry.statistics.gram_matrix();
        rows += entry.statistics.count();
    }
    for target in 0..data.targets().len() {
        let statistics = data.target_statistics(target, context.target_rows)?;
        gram += statistics.gram_matrix();
        rows += statistics.count();
    }
    Ok((gram, rows.max(1)))
}

impl Model {
    /// A model of what a representation makes of the features, as a model of the features: `φ`
    /// followed by the model's own matrix, in coordinates in which the rows seen are white and the
    /// directions ordered by how much they carry.
    ///
    /// # Errors
    /// A model of other data, or directions that no row shows.
    pub fn composed_with(
        self,
        phi: &AnyRepresentation,
        transformed: &TaskData,
        context: &TrainContext,
    ) -> Result<Self> {
        let Some(linear) = self.representation.as_linear() else {
            return Err(Error::State(
                "the model on top of a representation must be linear".into(),
            ));
        };
        let (gram, rows) = pooled_gram(transformed, context)?;
        let seen = linalg::product(gram.as_ref(), linear.matrix());
        let mut small = linalg::product(linear.matrix().transpose(), seen.as_ref());
        small *= faer::Scale(1.0 / rows as f64);
        let floor = 1e-12
            * (0..small.nrows())
                .map(|i| small[(i, i)])
                .fold(0.0, f64::max);
        (0..small.nrows()).for_each(|i| small[(i, i)] += floor.max(f64::MIN_POSITIVE));
        // With P = L Lᵀ, coordinates L⁻¹φ are white and the map becomes Lᵀ B.
        let lower =
            linalg::cholesky(small.as_ref(), "the second moment of the representation")?.lower();
        let map = linalg::product(lower.transpose(), self.map.matrix());
        let svd = linalg::svd(map.as_ref(), "the task map")?;
        let inverse = linalg::pseudo_inverse(lower.as_ref(), 1e-14)?;
        let turn = linalg::product(inverse.transpose(), svd.u.as_ref());
        let matrix = linalg::product(linear.matrix(), turn.as_ref());
        let rows_of_map = Mat::from_fn(svd.s.len(), svd.v.nrows(), |i, j| svd.s[i] * svd.v[(j, i)]);
        Ok(Self {
            representation: phi.followed_by_matrix(matrix.as_ref())?,
            map: TaskEmbeddingMap::new(rows_of_map, self.map.task_dim()),
            spectrum: svd.s,
            structure: match phi {
                AnyRepresentation::Linear(_) => ModelStructure::Bilinear,
                _ => ModelStructure::Network,
            },
            ..self
        })
    }
}
