//! A table of candidates as a source of atoms.

use faer::{Mat, MatRef};

use super::Criterion;
use super::candidates::Candidates;
use super::frame::Frame;
use super::frank_wolfe::{AtomSource, CandidateAtom, Iterate, Key, Offer, diverse, worthwhile};
use super::master::{Dual, Master, support};
use super::scan::{EmbeddingRows, Scored};
use super::warm;
use crate::error::Result;
use crate::linalg::{self, wide};

/// Candidates that atoms to start from are chosen among, for each direction.
const POOL: usize = 32;

/// Candidates, the coordinates they are well scaled in, and their squared norms there.
pub(super) struct Listed<'a> {
    candidates: &'a Candidates<'a>,
    /// Costs, infinite for candidates that are left out.
    costs: Option<Vec<f64>>,
    frame: Frame,
    /// Squared norms in the frame over costs: scores are below them times the largest eigenvalue of
    /// a form. Zero for candidates that no optimum uses.
    norms: Vec<f64>,
    /// Whether some candidates have been forgotten.
    screened: bool,
    /// How many candidates the last search for the best could not rule out by their norm.
    looked_at: usize,
}

impl<'a> Listed<'a> {
    pub(super) fn new(
        candidates: &'a Candidates<'a>,
        given: Option<MatRef<'_, f64>>,
    ) -> Result<Self> {
        let excluded = (0..candidates.len()).any(|i| candidates.limit(i) <= 0.0);
        let costs = match (excluded, candidates.costs()) {
            (false, costs) => costs.map(<[f64]>::to_vec),
            (true, _) => {
                let cost = |i| {
                    if candidates.limit(i) > 0.0 {
                        candidates.cost(i)
                    } else {
                        f64::INFINITY
                    }
                };
                Some((0..candidates.len()).map(cost).collect())
            }
        };
        let rows = EmbeddingRows {
            values: candidates.rows(),
            dim: candidates.dim(),
            costs: costs.as_deref(),
        };
        let largest = if excluded {
            largest_allowed(candidates)
        } else {
            candidates.largest().to_vec()
        };
        let frame = Frame::new(rows, (&largest, candidates.whole()), given)?;
        let norms = rows.scores(frame.to.as_ref());
        Ok(Self {
            candidates,
            costs,
            frame,
            norms,
            screened: false,
            looked_at: 0,
        })
    }

    pub(super) fn rows(&self) -> EmbeddingRows<'_> {
        EmbeddingRows {
            values: self.candidates.rows(),
            dim: self.candidates.dim(),
            costs: self.costs.as_deref(),
        }
    }

    /// A row as an atom.
    pub(super) fn atom(&self, index: usize) -> CandidateAtom {
        let scale = self.candidates.cost(index).sqrt().recip();
        let column = self.frame.embed(self.candidates.row(index));
        self.atom_with(
            index,
            column.into_iter().map(|value| value * scale).collect(),
        )
    }

    /// A row whose column is known as an atom.
    pub(super) fn atom_with(&self, index: usize, column: Vec<f64>) -> CandidateAtom {
        CandidateAtom {
            key: Key::Row(index),
            column,
            limit: self.candidates.limit(index),
        }
    }

    /// Some rows as columns of the frame, over the roots of their costs.
    pub(super) fn columns(&self, rows: &[usize]) -> Mat<f64> {
        let scale = |row: usize| self.candidates.cost(row).sqrt().recip();
        let scales: Vec<f64> = rows.iter().map(|&row| scale(row)).collect();
        let raw = Mat::from_fn(self.candidates.dim(), rows.len(), |i, j| {
            self.candidates.row(rows[j])[i] * scales[j]
        });
        wide::multiply(self.frame.to.as_ref(), raw.as_ref())
    }

    /// Squared norms in the frame over costs; zero for candidates that no optimum uses.
    pub(super) fn norms(&self) -> &[f64] {
        &self.norms
    }

    /// The largest share of a row.
    pub(super) fn limit(&self, row: usize) -> f64 {
        self.candidates.limit(row)
    }

    /// The best atoms of a table of many directions, as many as may enter at once.
    fn best_of_wide(&self, factor: &Mat<f64>, floor: f64) -> Offer {
        let scores = self.rows().scores(factor.as_ref()).into_iter().enumerate();
        let mut winners: Vec<Scored> = scores
            .filter(|&(index, score)| self.norms[index] > 0.0 && worthwhile(score, floor))
            .map(|(index, score)| Scored { index, score })
            .collect();
        winners.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
        let support = winners.first().map_or(floor, |best| best.score);
        let promising = floor + 0.1 * (support - floor);
        winners.retain(|one| one.score >= promising);
        winners.truncate(self.frame.rank());
        Offer {
            atoms: winners.iter().map(|one| self.atom(one.index)).collect(),
            support,
            exact: true,
        }
    }

    /// The largest scores up to the limits, and the atoms that have them.
    fn fill(&self, factor: &Mat<f64>) -> (Vec<usize>, f64) {
        let mut scored: Vec<Scored> = self
            .rows()
            .scores(factor.as_ref())
            .into_iter()
            .enumerate()
            .filter(|&(index, _)| self.candidates.limit(index) > 0.0)
            .map(|(index, score)| Scored { index, score })
            .collect();
        scored.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
        let mut capacity = 0.0;
        let mut taken = 0;
        while capacity < 1.0 && taken < scored.len() {
            capacity += self.candidates.limit(scored[taken].index);
            taken += 1;
        }
        scored.truncate(taken);
        let scores: Vec<f64> = scored.iter().map(|one| one.score).collect();
        let limits: Vec<f64> = scored
            .iter()
            .map(|one| self.candidates.limit(one.index))
            .collect();
        (
            scored.iter().map(|one| one.index).collect(),
            support(&scores, &limits),
        )
    }
}

impl AtomSource for Listed<'_> {
    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn first(&mut self) -> Result<Vec<CandidateAtom>> {
        let rank = self.frame.rank();
        let mut pool = self.rows().largest(&self.norms);
        pool.sort_by(|a, b| b.score.total_cmp(&a.score));
        pool.truncate(POOL * rank);
        let pool: Vec<CandidateAtom> = pool.iter().map(|one| self.atom(one.index)).collect();
        let mut chosen: Vec<CandidateAtom> = pivots(&pool, rank)
            .into_iter()
            .map(|i| pool[i].clone())
            .collect();
        if self.candidates.is_limited() {
            let (more, _) = self.fill(&self.frame.to);
            for index in more {
                if !chosen.iter().any(|atom| atom.key == Key::Row(index)) {
                    chosen.push(self.atom(index));
                }
            }
        }
        Ok(chosen)
    }

    fn start(&mut self, master: &Master<'_>) -> Result<Option<warm::StartWeights>> {
        warm::start(self, master)
    }

    fn best(&mut self, dual: &Dual, floor: f64) -> Result<Offer> {
        let factor = linalg::product(dual.factor.as_ref(), self.frame.to.as_ref());
        if self.candidates.is_limited() {
            let (rows, support) = self.fill(&factor);
            let atoms = rows.into_iter().map(|index| self.atom(index)).collect();
            return Ok(Offer {
                atoms,
                support,
                exact: true,
            });
        }
        if self.frame.rank() >= wide::WIDE {
            self.looked_at = self.norms.len();
            return Ok(self.best_of_wide(&factor, floor));
        }
        let gram = linalg::product(dual.factor.transpose(), dual.factor.as_ref());
        let (values, _) = linalg::eigen(gram.as_ref(), "the scores of a design")?;
        let reach = values[0] * (1.0 + 1e-12);
        self.looked_at = self
            .norms
            .iter()
            .filter(|&&norm| norm * reach > floor)
            .count();
        let mut winners = self
            .rows()
            .winners(factor.as_ref(), &self.norms, reach, floor);
        winners.retain(|one| worthwhile(one.score, floor));
        winners.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
        let support = winners.first().map_or(floor, |best| best.score);
        let promising = floor + 0.25 * (support - floor);
        let atoms = winners.iter().take_while(|one| one.score >= promising);
        let atoms = diverse(
            atoms.map(|one| self.atom(one.index)),
            (2 * self.frame.rank()).max(2),
        );
        Ok(Offer {
            atoms,
            support,
            exact: true,
        })
    }

    /// Forgets candidates that cannot be in an optimum.
    ///
    /// With `Y` the dual point of the weights `q` and `Y*` an optimal one, `‖Y* − Y‖²` in the metric
    /// `Σ(q)` is at most the gap `Δ = f(q) − f*`, so that `‖Y*ᵀc‖ ≤ ‖Yᵀc‖ + √Δ · √(cᵀ Σ(q)⁻¹ c)`; the
    /// atoms of an optimum all have `‖Y*ᵀc‖² = f* − tr(Y*ᵀ G Y*)`.
    fn screen(&mut self, iterate: &Iterate<'_>) -> Result<()> {
        // A pass costs as much as the search for the best: only where that looks at many.
        let worthwhile = self.looked_at * 8 > self.norms.len();
        if self.candidates.is_limited() || iterate.criterion != Criterion::Trace || !worthwhile {
            return Ok(());
        }
        let gap = (iterate.value - iterate.lower_bound).max(0.0).sqrt();
        let needed = iterate.lower_bound - (iterate.dual.b.max(0.0).sqrt() + gap).powi(2);
        if needed <= 0.0 {
            return Ok(());
        }
        let root = linalg::cholesky(iterate.information.as_ref(), "the information of a design")?
            .whiten(self.frame.to.as_ref());
        let factor = linalg::product(iterate.dual.factor.as_ref(), self.frame.to.as_ref());
        let scores = self.rows().scores(factor.as_ref());
        let sizes = self.rows().scores(root.as_ref());
        let least = needed.sqrt() * (1.0 - 1e-9);
        for ((norm, score), size) in self.norms.iter_mut().zip(scores).zip(sizes) {
            if score.sqrt() + gap * size.sqrt() < least {
                *norm = 0.0;
            }
        }
        self.screened = true;
        Ok(())
    }

    fn restore(&mut self) -> bool {
        if self.screened {
            self.norms = self.rows().scores(self.frame.to.as_ref());
        }
        std::mem::take(&mut self.screened)
    }
}

/// Of some atoms, one after the other the one with the most that the ones before do not have.
pub(super) fn pivots(pool: &[CandidateAtom], count: usize) -> Vec<usize> {
    let mut left: Vec<Vec<f64>> = pool.iter().map(|atom| atom.column.clone()).collect();
    let mut chosen = Vec::new();
    for _ in 0..count.min(pool.len()) {
        let sizes = left.iter().map(|rest| linalg::dot(rest, rest));
        let Some((best, size)) = sizes
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        else {
            break;
        };
        if size <= 1e-20 {
            break;
        }
        chosen.push(best);
        let pivot: Vec<f64> = left[best].iter().map(|value| value / size.sqrt()).collect();
        for rest in &mut left {
            let along = linalg::dot(rest, &pivot);
            rest.iter_mut()
                .zip(&pivot)
                .for_each(|(value, p)| *value -= along * p);
        }
    }
    chosen
}

/// The largest magnitude in each column among the candidates that are not left out.
fn largest_allowed(candidates: &Candidates<'_>) -> Vec<f64> {
    let mut largest = vec![0.0_f64; candidates.dim()];
    for index in (0..candidates.len()).filter(|&index| candidates.limit(index) > 0.0) {
        for (top, value) in largest.iter_mut().zip(candidates.row(index)) {
            *top = top.max(value.abs());
        }
    }
    largest
}
