//! Ridge regression for a full matrix `M = B_X B` by conjugate gradients with Kronecker products.
//!
//! The matrix of the equations is `Σ_w ψ_Wψ_Wᵀ ⊗ G_w`, far too large to form, so it is multiplied by task
//! by task. The preconditioner `(Σ n_w ψ_Wψ_Wᵀ) ⊗ Ḡ` is the matrix itself if all tasks saw the same
//! inputs, and its eigenvalues give the evidence of the penalty.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::kronecker::BilinearProblem;
use super::ridge::Spectrum;
use crate::error::Result;
use crate::linalg::{self, inner};

/// A symmetric matrix's eigenvalues, eigenvectors, square root and its inverse.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    values: Vec<f64>,
    vectors: Mat<f64>,
    pub(crate) root: Mat<f64>,
    pub(crate) inverse_root: Mat<f64>,
}

impl Roots {
    /// Eigenvalues below a millionth of the largest are raised to it: directions without
    /// information must not blow up.
    pub(crate) fn new(matrix: MatRef<'_, f64>) -> Result<Self> {
        let (values, vectors) = linalg::eigen(matrix, "the information")?;
        let floor = 1e-6 * values.first().copied().unwrap_or(0.0).max(1e-300);
        let roots: Vec<f64> = values.iter().map(|value| value.max(floor).sqrt()).collect();
        let rebuild = |scale: &dyn Fn(usize) -> f64| {
            let scaled = Mat::from_fn(roots.len(), roots.len(), |i, j| vectors[(i, j)] * scale(j));
            linalg::product(scaled.as_ref(), vectors.transpose())
        };
        let (root, inverse_root) = (rebuild(&|j| roots[j]), rebuild(&|j| 1.0 / roots[j]));
        let values = values.into_iter().map(|value| value.max(0.0)).collect();
        Ok(Self {
            values,
            vectors,
            root,
            inverse_root,
        })
    }
}

/// Fixed-point steps for the noise.
const EVIDENCE_STEPS: usize = 3;

/// Conjugate-gradient iterations at most, and the relative residual that ends them: the result is
/// truncated and refined, so one digit is plenty.
const CG_ITERATIONS: usize = 25;
pub(crate) const CG_TOLERANCE: f64 = 1e-1;

/// A solution of the preconditioner's equations, and what the true equations make of it.
pub(crate) struct FirstGuess {
    lambda: f64,
    solution: Mat<f64>,
    /// `Σ_w G_w M ψ_Wψ_Wᵀ`.
    image: Mat<f64>,
}

impl FirstGuess {
    /// Its residual variance, on the true equations.
    fn noise(&self, rhs: &Mat<f64>, spectrum: &Spectrum) -> f64 {
        let solution = self.solution.as_ref();
        let fit = inner(solution, self.image.as_ref()) - 2.0 * inner(solution, rhs.as_ref());
        let residual = (spectrum.square + fit).max(1e-14 * spectrum.square);
        let labels = spectrum.labels as f64;
        residual / (labels - spectrum.freedom(self.lambda)).max(0.05 * labels)
    }

    /// The penalty that belongs to a noise, by MacKay's fixed point.
    fn wanted(&self, spectrum: &Spectrum, noise: f64) -> f64 {
        let size = inner(self.solution.as_ref(), self.solution.as_ref());
        noise * spectrum.freedom(self.lambda) / size.max(f64::MIN_POSITIVE)
    }
}

/// The eigenbases of the two factors of the preconditioner.
pub(crate) struct Kronecker<'a> {
    design: Mat<f64>,
    tasks: Roots,
    inputs: &'a Roots,
}

impl<'a> Kronecker<'a> {
    /// For tasks with `Σ n_w ψ_Wψ_Wᵀ` and inputs with mean Gram matrix `Ḡ`.
    pub(crate) fn new(
        problem: &BilinearProblem<'_>,
        task_sum: MatRef<'_, f64>,
        inputs: &'a Roots,
    ) -> Result<Self> {
        Ok(Self {
            design: problem.design_matrix(),
            tasks: Roots::new(task_sum)?,
            inputs,
        })
    }

    pub(crate) fn right_hand_side(&self, problem: &BilinearProblem<'_>, output: usize) -> Mat<f64> {
        let moments = Mat::from_fn(problem.feature_dim, problem.observations.len(), |i, w| {
            problem.observations[w].statistics.cross_moment(output)[i]
        });
        linalg::product(moments.as_ref(), self.design.as_ref())
    }

    /// Into the eigenbasis: `U_Gᵀ R U_W`.
    fn rotate(&self, matrix: MatRef<'_, f64>) -> Mat<f64> {
        let half = linalg::product(self.inputs.vectors.transpose(), matrix);
        linalg::product(half.as_ref(), self.tasks.vectors.as_ref())
    }

    pub(crate) fn spectrum(
        &self,
        problem: &BilinearProblem<'_>,
        rhs: MatRef<'_, f64>,
        output: usize,
    ) -> Spectrum {
        let rotated = self.rotate(rhs);
        let mut values = Vec::with_capacity(rotated.nrows() * rotated.ncols());
        let mut moments_squared = Vec::with_capacity(values.capacity());
        for (j, task) in self.tasks.values.iter().enumerate() {
            for (i, gram) in self.inputs.values.iter().enumerate() {
                values.push(task * gram);
                moments_squared.push(rotated[(i, j)] * rotated[(i, j)]);
            }
        }
        Spectrum {
            values,
            moments_squared,
            square: problem
                .observations
                .iter()
                .map(|o| o.statistics.sum_of_squares(output))
                .sum(),
            labels: problem.labels() / problem.outputs,
        }
    }

    /// The solution of the preconditioner's equations for a penalty.
    pub(crate) fn first_guess(
        &self,
        problem: &BilinearProblem<'_>,
        rhs: &Mat<f64>,
        lambda: f64,
    ) -> FirstGuess {
        let solution = self.precondition(rhs.as_ref(), lambda);
        FirstGuess {
            image: self.multiply(problem, solution.as_ref(), 0.0),
            solution,
            lambda,
        }
    }

    fn precondition(&self, residual: MatRef<'_, f64>, lambda: f64) -> Mat<f64> {
        let mut rotated = self.rotate(residual);
        for (j, task) in self.tasks.values.iter().enumerate() {
            for (i, gram) in self.inputs.values.iter().enumerate() {
                rotated[(i, j)] /= task * gram + lambda;
            }
        }
        let half = linalg::product(self.inputs.vectors.as_ref(), rotated.as_ref());
        linalg::product(half.as_ref(), self.tasks.vectors.transpose())
    }

    /// `Σ_w G_w M ψ_Wψ_Wᵀ + λM`.
    pub(crate) fn multiply(
        &self,
        problem: &BilinearProblem<'_>,
        matrix: MatRef<'_, f64>,
        lambda: f64,
    ) -> Mat<f64> {
        let mut images = self.multiply_all(problem, &[(matrix, lambda)]);
        images.pop().unwrap_or_else(|| matrix.to_owned())
    }

    /// The same for several matrices and penalties: the Gram matrices are read once for all of them.
    fn multiply_all(
        &self,
        problem: &BilinearProblem<'_>,
        matrices: &[(MatRef<'_, f64>, f64)],
    ) -> Vec<Mat<f64>> {
        let (d, design) = (problem.feature_dim, &self.design);
        let embed =
            |(matrix, _): &(MatRef<'_, f64>, f64)| linalg::product(*matrix, design.transpose());
        let embedded: Vec<Mat<f64>> = matrices.iter().map(embed).collect();
        let columns: Vec<Vec<f64>> = problem
            .observations
            .par_iter()
            .enumerate()
            .map(|(w, observation)| {
                let mut out = vec![0.0; d * embedded.len()];
                for (embedded, out) in embedded.iter().zip(out.chunks_exact_mut(d.max(1))) {
                    let (gram, vector) = (observation.statistics.gram(), embedded.col_as_slice(w));
                    linalg::packed::multiply_add(gram, vector, out);
                }
                out
            })
            .collect();
        let image = |(at, (matrix, lambda)): (usize, &(MatRef<'_, f64>, f64))| {
            let products = Mat::from_fn(d, columns.len(), |i, w| columns[w][at * d + i]);
            let mut out = linalg::product(products.as_ref(), design.as_ref());
            out += faer::Scale(*lambda) * matrix;
            out
        };
        matrices.iter().enumerate().map(image).collect()
    }

    /// Solves the true equations from a first guess, for its penalty, and finds the noise by MacKay's fixed point, with
    /// residuals of the true equations: where tasks have fewer rows than features, those of the preconditioner would be far
    /// too small. Both go on together, so that the Gram matrices are read for both at once.
    pub(crate) fn solve(
        &self,
        problem: &BilinearProblem<'_>,
        rhs: &Mat<f64>,
        spectrum: &Spectrum,
        start: &FirstGuess,
    ) -> (Mat<f64>, f64) {
        let mut descent = Descent::new(self, rhs, start);
        let mut noise = start.noise(rhs, spectrum);
        let mut wanted = start.wanted(spectrum, noise);
        let mut steps = 1..EVIDENCE_STEPS;
        loop {
            let sound = wanted.is_finite() && wanted > 0.0;
            let may_go_on = sound && steps.next().is_some();
            let guess = may_go_on.then(|| self.precondition(rhs.as_ref(), wanted));
            let direction = descent.direction.take();
            let of_guess = guess.as_ref().map(|guess| (guess.as_ref(), 0.0));
            let of_descent = direction
                .as_ref()
                .map(|direction| (direction.as_ref(), start.lambda));
            let factors: Vec<_> = of_guess.into_iter().chain(of_descent).collect();
            if factors.is_empty() {
                return (descent.solution, noise);
            }
            let mut images = self.multiply_all(problem, &factors);
            if let Some((direction, image)) = direction.and_then(|one| Some((one, images.pop()?))) {
                descent.step(self, &direction, &image);
            }
            if let Some((solution, image)) = guess.and_then(|one| Some((one, images.pop()?))) {
                let next = FirstGuess {
                    lambda: wanted,
                    solution,
                    image,
                };
                noise = next.noise(rhs, spectrum);
                wanted = next.wanted(spectrum, noise);
            }
        }
    }
}

/// Conjugate gradients on their way.
struct Descent {
    lambda: f64,
    solution: Mat<f64>,
    residual: Mat<f64>,
    energy: f64,
    /// The energy that ends them.
    goal: f64,
    iterations: usize,
    /// Where to go next; nowhere once they have ended.
    direction: Option<Mat<f64>>,
}

impl Descent {
    fn new(kronecker: &Kronecker<'_>, rhs: &Mat<f64>, start: &FirstGuess) -> Self {
        let lambda = start.lambda;
        let solution = start.solution.clone();
        let residual = rhs - &start.image - faer::Scale(lambda) * &solution;
        let z = kronecker.precondition(residual.as_ref(), lambda);
        let energy = inner(residual.as_ref(), z.as_ref());
        let goal = CG_TOLERANCE * CG_TOLERANCE * inner(rhs.as_ref(), solution.as_ref());
        Self {
            lambda,
            direction: (energy > goal).then_some(z),
            solution,
            residual,
            energy,
            goal,
            iterations: 0,
        }
    }

    /// Takes one step, given what the equations make of the direction.
    fn step(&mut self, kronecker: &Kronecker<'_>, direction: &Mat<f64>, image: &Mat<f64>) {
        let curvature = inner(direction.as_ref(), image.as_ref());
        if curvature <= 0.0 {
            return;
        }
        let step = self.energy / curvature;
        self.solution += faer::Scale(step) * direction;
        self.residual -= faer::Scale(step) * image;
        let z = kronecker.precondition(self.residual.as_ref(), self.lambda);
        let next = inner(self.residual.as_ref(), z.as_ref());
        let direction = &z + faer::Scale(next / self.energy) * direction;
        self.energy = next;
        self.iterations += 1;
        if self.energy > self.goal && self.iterations < CG_ITERATIONS {
            self.direction = Some(direction);
        }
    }
}
