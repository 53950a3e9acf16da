//! A table of blocks as a source of atoms.

use faer::{Mat, MatRef};

use super::Blocks;
use crate::error::Result;
use crate::linalg;
use crate::optimal::frame::Frame;
use crate::optimal::frank_wolfe::{AtomSource, CandidateAtom, Key, Offer, diverse, worthwhile};
use crate::optimal::listed::Listed;
use crate::optimal::master::{Dual, support};

/// Candidates that atoms to start from are chosen among, for each direction.
const POOL: usize = 32;

/// A table of blocks as a source of atoms.
pub(super) struct BlockTable<'a> {
    pub(super) blocks: &'a Blocks<'a>,
    /// Its columns, each as a candidate of its own.
    pub(super) columns: Listed<'a>,
}

impl BlockTable<'_> {
    /// A row as an atom.
    pub(super) fn atom(&self, index: usize) -> CandidateAtom {
        let columns = self.blocks.block(index).chunks_exact(self.columns_dim());
        CandidateAtom {
            key: Key::Row(index),
            column: columns
                .flat_map(|column| self.frame().embed(column))
                .collect(),
            limit: self.blocks.limit(index),
        }
    }

    fn columns_dim(&self) -> usize {
        self.blocks.columns.dim()
    }

    /// The candidates that may be used by falling score under a factor, and their scores.
    fn ranked(&self, factor: MatRef<'_, f64>) -> Vec<(usize, f64)> {
        let columns = self.columns.rows().scores(factor);
        let blocks = columns.chunks_exact(self.blocks.outputs);
        let scores = blocks.map(|scores| scores.iter().sum()).enumerate();
        let mut ranked: Vec<(usize, f64)> = scores
            .filter(|(index, _)| self.blocks.limit(*index) > 0.0)
            .collect();
        ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked
    }

    /// How many of the best candidates hold the budget.
    fn enough(&self, ranked: &[(usize, f64)]) -> usize {
        let mut capacity = 0.0;
        let has_room = |(index, _): &(usize, f64)| {
            capacity += self.blocks.limit(*index);
            capacity >= 1.0
        };
        let last = ranked.iter().position(has_room);
        last.map_or(ranked.len(), |last| last + 1)
    }

    fn is_limited(&self) -> bool {
        (0..self.blocks.len())
            .any(|index| (f64::MIN_POSITIVE..1.0).contains(&self.blocks.limit(index)))
    }
}

impl AtomSource for BlockTable<'_> {
    fn frame(&self) -> &Frame {
        self.columns.frame()
    }

    fn first(&mut self) -> Result<Vec<CandidateAtom>> {
        let rank = self.frame().rank();
        let ranked = self.ranked(self.frame().to.as_ref());
        let pool: Vec<CandidateAtom> = ranked
            .iter()
            .take(POOL * rank)
            .map(|(index, _)| self.atom(*index))
            .collect();
        let chosen = spanning(&pool, rank).into_iter();
        let mut chosen: Vec<CandidateAtom> = chosen.map(|place| pool[place].clone()).collect();
        for (index, _) in &ranked[..self.enough(&ranked)] {
            if self.is_limited() && !chosen.iter().any(|atom| atom.key == Key::Row(*index)) {
                chosen.push(self.atom(*index));
            }
        }
        Ok(chosen)
    }

    fn best(&mut self, dual: &Dual, floor: f64) -> Result<Offer> {
        let factor = linalg::product(dual.factor.as_ref(), self.frame().to.as_ref());
        let mut ranked = self.ranked(factor.as_ref());
        if self.is_limited() {
            ranked.truncate(self.enough(&ranked));
            let scores: Vec<f64> = ranked.iter().map(|(_, score)| *score).collect();
            let limits: Vec<f64> = ranked
                .iter()
                .map(|(index, _)| self.blocks.limit(*index))
                .collect();
            return Ok(Offer {
                atoms: ranked.iter().map(|(index, _)| self.atom(*index)).collect(),
                support: support(&scores, &limits),
                exact: true,
            });
        }
        let support = ranked.first().map_or(floor, |best| best.1.max(floor));
        let promising = floor + 0.25 * (support - floor);
        let atoms = ranked
            .iter()
            .take_while(|(_, score)| worthwhile(*score, floor) && *score >= promising)
            .map(|(index, _)| self.atom(*index));
        Ok(Offer {
            atoms: diverse(atoms, (2 * self.frame().rank()).max(2)),
            support,
            exact: true,
        })
    }
}

/// Of some atoms, one after the other the one whose columns have the most outside the span of those
/// before, until all directions of a frame are reached.
pub(in crate::optimal) fn spanning(pool: &[CandidateAtom], rank: usize) -> Vec<usize> {
    const NOTHING: f64 = 1e-20;
    let mut left: Vec<Mat<f64>> = pool
        .iter()
        .map(|atom| {
            let columns = atom.column.len() / rank.max(1);
            MatRef::from_column_major_slice(&atom.column, rank, columns).to_owned()
        })
        .collect();
    let (mut chosen, mut reached) = (Vec::new(), 0);
    while reached < rank {
        let sizes = left.iter().map(|rest| rest.squared_norm_l2());
        let best = sizes
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let Some((best, _)) = best.filter(|(_, size)| *size > NOTHING) else {
            break;
        };
        chosen.push(best);
        for column in 0..left[best].ncols() {
            let size = left[best].col(column).squared_norm_l2();
            if size <= NOTHING {
                continue;
            }
            let pivot = left[best].as_ref().subcols(column, 1) * faer::Scale(size.sqrt().recip());
            for rest in &mut left {
                let along = linalg::product(pivot.transpose(), rest.as_ref());
                *rest -= linalg::product(pivot.as_ref(), along.as_ref());
            }
            reached += 1;
        }
    }
    chosen
}
