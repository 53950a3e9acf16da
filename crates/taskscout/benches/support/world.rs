//! The problems of the benchmark `design`: candidates, targets, and what is asked of them.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use rand_distr::{Distribution as _, StandardNormal};
use rayon::ThreadPool;
use taskscout::design::{Candidates, Criterion, Design, Need, Problem, solve};
use taskscout::rng::{Purpose, derive};

use crate::support::Result;
use crate::support::numpy::Numpy;

/// The Python side.
const SCRIPT: &str = "cvxpy_design.py";

/// Values of an embedding.
pub(crate) const FEATURES: usize = 8;

/// Targets drawn along with the candidates; a problem uses the first few.
const TARGETS: usize = 3;

/// Where candidates lie.
#[derive(Clone, Copy)]
pub(crate) enum Cloud {
    Gaussian,
    Sphere,
}

/// A problem: criterion, and the number of targets, zero for everything.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) criterion: Criterion,
    pub(crate) targets: usize,
}

/// Every cloud with its name.
pub(crate) const CLOUDS: [(Cloud, &str); 2] =
    [(Cloud::Gaussian, "Gaussian"), (Cloud::Sphere, "sphere")];

/// Every problem, in the order of the tables.
pub(crate) fn cases() -> Vec<Case> {
    let criteria = [Criterion::Trace, Criterion::MaxEigenvalue];
    let of = |criterion| [0, 1, TARGETS].map(|targets| Case { criterion, targets });
    criteria.into_iter().flat_map(of).collect()
}

impl Case {
    /// The first columns of a table.
    pub(crate) fn name(self) -> String {
        let need = match self.targets {
            0 => String::from("everything"),
            1 => String::from("1 target"),
            more => format!("{more} targets"),
        };
        format!("{:<14} {need:<10}", self.criterion.to_string())
    }
}

/// Candidates and targets, row-major.
pub(crate) struct World {
    candidates: Vec<f64>,
    targets: Vec<f64>,
}

impl World {
    /// So many candidates, always the same.
    pub(crate) fn draw(cloud: Cloud, count: usize) -> Self {
        let draw = |purpose, count: usize| {
            let mut rng = derive(0, purpose, &[count as u64]);
            // Filled in place: the table is all the memory that it takes.
            let mut values = vec![0.0_f64; count * FEATURES];
            for row in values.chunks_exact_mut(FEATURES) {
                row.fill_with(|| StandardNormal.sample(&mut rng));
                if let Cloud::Sphere = cloud {
                    let norm = row.iter().map(|value| value * value).sum::<f64>().sqrt();
                    row.iter_mut().for_each(|value| *value /= norm);
                }
            }
            values
        };
        Self {
            candidates: draw(Purpose::World, count),
            targets: draw(Purpose::Target, TARGETS),
        }
    }

    /// Number of candidates.
    pub(crate) fn len(&self) -> usize {
        self.candidates.len() / FEATURES
    }

    /// What is measured: the check of the table and the solution.
    pub(crate) fn solve(
        &self,
        pool: &ThreadPool,
        case: Case,
        gap: f64,
    ) -> taskscout::Result<Design> {
        let need = match case.targets {
            0 => Need::Everything,
            count => Need::Targets {
                rows: &self.targets[..count * FEATURES],
                weights: None,
            },
        };
        let problem = Problem {
            tolerance: gap,
            ..Problem::new(case.criterion, need)
        };
        pool.install(|| {
            let candidates = Candidates::new(FEATURES, black_box(self.candidates.as_slice()))?;
            Ok(black_box(solve(&candidates, &problem)?))
        })
    }

    /// `max_i ‖R c_i‖²` with the first candidates as `R`.
    pub(crate) fn scan(&self) -> f64 {
        let rows = || self.candidates.chunks_exact(FEATURES);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let score = |c: &[f64]| {
            let images = rows().take(FEATURES).map(|r| dot(r, c).powi(2));
            images.sum::<f64>()
        };
        rows().map(score).fold(0.0, f64::max)
    }

    /// Writes it where Python can read it.
    pub(crate) fn share(&self) -> Result<Shared> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        fs::create_dir_all(folder)?;
        let name = format!(
            "design-{}-{}.bin",
            std::process::id(),
            self.candidates.len()
        );
        let shared = Shared(folder.join(name));
        let mut file = BufWriter::new(File::create(&shared.0)?);
        for value in self.candidates.iter().chain(&self.targets) {
            file.write_all(&value.to_ne_bytes())?;
        }
        file.flush()?;
        Ok(shared)
    }
}

/// A file that goes when it is no longer needed.
pub(crate) struct Shared(PathBuf);

impl Shared {
    /// Starts the Python side on it.
    pub(crate) fn python(
        &self,
        python: &Path,
        kind: &str,
        count: usize,
        more: &[String],
        threads: usize,
    ) -> Result<Numpy> {
        let mut arguments = vec![String::from(kind), self.0.display().to_string()];
        arguments.extend([count, FEATURES].map(|size| size.to_string()));
        arguments.extend_from_slice(more);
        Numpy::start(python, SCRIPT, &arguments, threads)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // A file in a folder for temporary files may stay if it has to.
        let _ = fs::remove_file(&self.0);
    }
}
