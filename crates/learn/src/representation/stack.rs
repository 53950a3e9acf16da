//! Features with the outputs of representations beside them.

use std::ops::Range;

use faer::{Mat, MatRef};

use super::AnyRepresentation;
use crate::data::{Representation, Rows, Statistics, statistics_of_rows};
use crate::error::Result;

/// `z`: the features themselves, then what representations make of them.
#[derive(Debug)]
pub(crate) struct Stack<'a> {
    pub(crate) features: usize,
    pub(crate) shared: Option<&'a AnyRepresentation>,
    pub(crate) alone: Option<&'a AnyRepresentation>,
}

impl<'a> Stack<'a> {
    /// So many features, then the outputs of representations.
    pub(crate) fn of(
        features: usize,
        shared: Option<&'a AnyRepresentation>,
        alone: Option<&'a AnyRepresentation>,
    ) -> Self {
        Self {
            features,
            shared,
            alone,
        }
    }

    /// The representations with their columns.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'a AnyRepresentation, Range<usize>)> {
        let mut end = self.features;
        self.shared.into_iter().chain(self.alone).map(move |phi| {
            let start = end;
            end += phi.dim();
            (phi, start..end)
        })
    }

    pub(crate) fn columns(&self, wanted: Option<&AnyRepresentation>) -> Option<Range<usize>> {
        let wanted = wanted?;
        self.parts()
            .find(|(phi, _)| std::ptr::eq(*phi, wanted))
            .map(|(_, columns)| columns)
    }
}

impl Representation for Stack<'_> {
    fn input_dim(&self) -> usize {
        self.features
    }

    fn dim(&self) -> usize {
        self.parts()
            .last()
            .map_or(self.features, |(_, columns)| columns.end)
    }

    fn statistics(&self, statistics: &Statistics, rows: &Rows) -> Result<Statistics> {
        if self.parts().next().is_none() {
            return Ok(statistics.clone());
        }
        statistics_of_rows(self, statistics, rows)
    }

    fn apply(&self, features: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let mut out = Mat::zeros(features.nrows(), self.dim());
        out.as_mut()
            .subcols_mut(0, self.features)
            .copy_from(features);
        for (phi, columns) in self.parts() {
            out.as_mut()
                .subcols_mut(columns.start, columns.len())
                .copy_from(phi.apply(features)?);
        }
        Ok(out)
    }
}
