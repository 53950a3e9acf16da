//! A task space that cannot be listed as a source of atoms: each is a search of its own.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::blocks::{block, spanning};
use super::candidates::Candidates;
use super::frame::Frame;
use super::frank_wolfe::{AtomSource, CandidateAtom, Key, Offer, worthwhile};
use super::listed::pivots;
use super::master::Dual;
use super::scan::EmbeddingRows;
use crate::error::Result;
use crate::features::{Features, apply_row};
use crate::linalg;
use crate::rng::Rng;
use crate::space::{QuadraticForm, TaskSpace};

/// Tasks drawn to get an idea of the space, and as many for each task feature.
const SAMPLES: usize = 256;
const SAMPLES_PER_FEATURE: usize = 8;
/// Part of an embedding that tasks drawn so far must miss for another task to be added.
const NEW: f64 = 1e-6;

/// A space, seen through features and a task map for each output.
pub(super) struct Searched<'a> {
    space: &'a dyn TaskSpace,
    features: &'a dyn Features,
    /// `B_o`, `k × d`, of every output.
    maps: &'a [MatRef<'a, f64>],
    rng: &'a mut Rng,
    frame: Frame,
    tasks: Vec<Vec<f64>>,
    /// Tasks that were offered, each near a top of the scores.
    offered: Vec<Vec<f64>>,
    /// Multiplications that searches may still take.
    effort: f64,
}

/// Multiplications that all searches of a design may take, enough for some seconds.
const EFFORT: f64 = 1.5e10;

impl<'a> Searched<'a> {
    pub(super) fn new(
        space: &'a dyn TaskSpace,
        features: &'a dyn Features,
        maps: &'a [MatRef<'a, f64>],
        given: Option<MatRef<'_, f64>>,
        rng: &'a mut Rng,
    ) -> Result<Self> {
        let k = maps.first().map_or(0, MatRef::nrows);
        let wanted = SAMPLES + SAMPLES_PER_FEATURE * features.dim();
        let mut tasks = Vec::with_capacity(wanted);
        for _ in 0..wanted {
            tasks.push(space.sample(rng)?);
        }
        loop {
            let embed = |task: &Vec<f64>| block(maps, &apply_row(features, task));
            let rows: Vec<f64> = tasks.iter().flat_map(embed).collect();
            let candidates = Candidates::new(k, rows)?;
            let rows = EmbeddingRows {
                values: candidates.rows(),
                dim: k,
                costs: None,
            };
            let sizes = (candidates.largest(), candidates.whole());
            let frame = Frame::new(rows, sizes, given)?;
            // A rare category may not be among the tasks drawn.
            match unseen(space, features, maps, &frame, rng)? {
                Some(task) => tasks.push(task),
                None => {
                    return Ok(Self {
                        space,
                        features,
                        maps,
                        rng,
                        frame,
                        tasks,
                        offered: Vec::new(),
                        effort: EFFORT,
                    });
                }
            }
        }
    }

    /// About how many multiplications the next search takes: samples, and steps along every parameter
    /// uphill of the best few and of all tasks that were offered.
    fn price(&self) -> f64 {
        let (d, w) = (self.features.dim() as f64, self.space.dim() as f64);
        (2000.0 + w * (1000.0 + 24.0 * self.offered.len() as f64)) * d * d
    }

    /// A task as an atom.
    pub(super) fn atom(&self, task: Vec<f64>) -> CandidateAtom {
        let features = apply_row(self.features, &task);
        let columns = self.maps.iter().map(|map| linalg::apply(*map, &features));
        CandidateAtom {
            column: columns
                .flat_map(|column| self.frame.embed(&column))
                .collect(),
            key: Key::Task(task),
            limit: 1.0,
        }
    }
}

/// `Σ_o F_oᵀ F_o` of a factor for every output.
fn form_of(maps: &[MatRef<'_, f64>], factor: impl Fn(MatRef<'_, f64>) -> Mat<f64>) -> Mat<f64> {
    let square = |map: &MatRef<'_, f64>| {
        let factor = factor(*map);
        linalg::product(factor.transpose(), factor.as_ref())
    };
    let sum = maps.iter().map(square).reduce(|sum, more| sum + more);
    sum.unwrap_or_else(|| Mat::zeros(0, 0))
}

/// A task that reaches a direction which the tasks drawn so far miss.
fn unseen(
    space: &dyn TaskSpace,
    features: &dyn Features,
    maps: &[MatRef<'_, f64>],
    frame: &Frame,
    rng: &mut Rng,
) -> Result<Option<Vec<f64>>> {
    let missing = frame.missing();
    if missing.nrows() == 0 {
        return Ok(None);
    }
    let matrix = form_of(maps, |map| linalg::product(missing.as_ref(), map));
    let form = QuadraticForm {
        features,
        matrix: matrix.as_ref(),
    };
    let atom = space.best_atom(&form, rng)?;
    Ok((atom.value.sqrt() > NEW).then_some(atom.task))
}

impl AtomSource for Searched<'_> {
    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn first(&mut self) -> Result<Vec<CandidateAtom>> {
        let pool: Vec<CandidateAtom> = self
            .tasks
            .iter()
            .map(|task| self.atom(task.clone()))
            .collect();
        let rank = self.frame.rank();
        let chosen = match self.maps {
            [_] => pivots(&pool, rank),
            _ => spanning(&pool, rank),
        };
        self.offered = chosen
            .iter()
            .map(|&index| self.tasks[index].clone())
            .collect();
        Ok(chosen
            .into_iter()
            .map(|index| pool[index].clone())
            .collect())
    }

    fn is_spent(&self) -> bool {
        self.effort <= 0.0
    }

    fn best(&mut self, dual: &Dual, floor: f64) -> Result<Offer> {
        let matrix = form_of(self.maps, |map| {
            let inner = linalg::product(self.frame.to.as_ref(), map);
            linalg::product(dual.factor.as_ref(), inner.as_ref())
        });
        let form = QuadraticForm {
            features: self.features,
            matrix: matrix.as_ref(),
        };
        self.effort -= self.price();
        let best = self.space.best_atom(&form, self.rng)?;
        let mut found = vec![(best.value, best.task)];
        // A broad top hides a narrow one from the search: look uphill of what is in use as well.
        if !best.exact {
            for task in self.space.ascend(&form, &self.offered)? {
                found.push((form.value(&task), task));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let support = found[0].0;
        let promising = floor + 0.25 * (support - floor);
        let mut atoms = Vec::new();
        for (value, task) in found {
            if worthwhile(value, floor) && value >= promising {
                atoms.push(self.atom(task));
            }
        }
        let atoms = super::frank_wolfe::diverse(atoms.into_iter(), self.frame.rank().max(2));
        for atom in &atoms {
            if let Key::Task(task) = &atom.key {
                self.offered.push(task.clone());
            }
        }
        Ok(Offer {
            atoms,
            support,
            exact: best.exact,
        })
    }
}

/// The embeddings of many tasks, row-major.
pub(super) fn embeddings(
    tasks: &[f64],
    features: &dyn Features,
    map: Option<MatRef<'_, f64>>,
) -> Vec<f64> {
    const BLOCK: usize = 1024;
    let (width, d) = (features.input_dim(), features.dim());
    let k = map.map_or(d, |map| map.nrows());
    let mut out = vec![0.0; tasks.len() / width * k];
    let blocks = out
        .par_chunks_mut(BLOCK * k)
        .zip(tasks.par_chunks(BLOCK * width));
    blocks.for_each(|(out, tasks)| {
        let Some(map) = map else {
            return features.apply(tasks, out);
        };
        let n = tasks.len() / width;
        let mut applied = vec![0.0; n * d];
        features.apply(tasks, &mut applied);
        let images = linalg::product(map, MatRef::from_column_major_slice(&applied, d, n));
        for (row, out) in out.chunks_exact_mut(k).enumerate() {
            out.iter_mut()
                .enumerate()
                .for_each(|(i, value)| *value = images[(i, row)]);
        }
    });
    out
}
