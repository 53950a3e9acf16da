//! Statistics of many rows without all of their features at once.
//!
//! The features of a million rows of eleven inputs with squares and products take 600 MB; their statistics take 25 kB.
//! Blocks are made of whole chunks of [`Statistics`], so that the sums are those of all rows at once, bit for bit.

use std::sync::Arc;

use super::Study;
use crate::data::{RowsOrStatistics, Samples, Statistics};
use crate::error::Result;
use crate::features::Features as _;

/// Rows whose features are made at a time: a multiple of the rows of a chunk of statistics.
const BLOCK: usize = 16_384;

impl Study {
    /// Rows as a study keeps them: as statistics or, where that is smaller or needed, as they are.
    pub(super) fn batch(&self, samples: &Samples) -> Result<RowsOrStatistics> {
        let map = &self.config.input_features;
        let many = samples.len() > BLOCK.max(2 * map.dim());
        // What does not fit is refused below, with its place among all rows.
        if many
            && !map.is_identity()
            && !self.data.keeps_rows()
            && let Ok(statistics) = self.by_block(samples)
        {
            return Ok(RowsOrStatistics::Statistics(Arc::new(statistics)));
        }
        let rows = self.featurise(samples)?;
        self.data.check_rows(&rows)?;
        Ok(RowsOrStatistics::of(&rows, self.data.keeps_rows()))
    }

    fn by_block(&self, samples: &Samples) -> Result<Statistics> {
        let (inputs, outputs) = (samples.input_dim(), samples.output_dim());
        let dim = self.config.input_features.dim();
        let mut statistics = Statistics::new(dim, self.config.outputs);
        let x = samples.inputs().chunks(BLOCK * inputs);
        let y = samples.outputs().chunks(BLOCK * outputs);
        for (x, y) in x.zip(y) {
            let block = Samples::new(x.to_vec(), inputs, y.to_vec(), outputs)?;
            let rows = self.featurise(&block)?;
            self.data.check_rows(&rows)?;
            statistics.accumulate(&rows)?;
        }
        Ok(statistics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureMap;
    use crate::rng::{Purpose, derive, normal};
    use crate::space::Space;
    use crate::target::Target;

    #[test]
    fn blocks_add_up_to_the_same_bits() {
        let study = Study::builder(Space::one_hot(3).unwrap())
            .inputs(3)
            .target(Target::unknown("tomorrow"))
            .build()
            .unwrap();
        let mut config = study.config().clone();
        config.input_features = FeatureMap::polynomial(3, 2, true).unwrap();
        let study = Study::new(config).unwrap();
        let count = 2 * BLOCK + 1234;
        let mut rng = derive(1, Purpose::Test, &[]);
        let x: Vec<f64> = (0..3 * count).map(|_| normal(&mut rng)).collect();
        let y: Vec<f64> = x.chunks(3).map(|x| x[0] * x[1] - x[2]).collect();
        let mut samples = Samples::new(x.clone(), 3, y.clone(), 1).unwrap();
        let whole = RowsOrStatistics::of(&study.featurise(&samples).unwrap(), false);
        assert_eq!(study.batch(&samples).unwrap(), whole);
        // A value that is too large is found with its place.
        let mut far = x;
        far[3 * (BLOCK + 5)] = 1e200;
        samples = Samples::new(far, 3, y, 1).unwrap();
        let refused = study.batch(&samples).unwrap_err().to_string();
        assert!(refused.contains(&(BLOCK + 5).to_string()), "{refused}");
    }
}
