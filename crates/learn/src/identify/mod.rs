//! Identification: which member of the source family is the hidden target?
//!
//! A target whose parameters nobody knows may still be one of the tasks that could have been
//! sampled. The source rows say what function every `w` has, up to an uncertainty ([`TaskFamily`]); the
//! few rows of the target then show which `w` it is. Only `dim w` numbers are learnt from them
//! instead of a whole function, and `ŵ` itself is what an engineer wants to know.
//!
//! | step | how |
//! |---|---|
//! | the family | Gaussian posterior of `M` in `y = φᵀ M ψ_W(w) + ξ`, from source statistics |
//! | `ŵ` | most likely member, what the family leaves open counted as noise |
//! | region | the box around all members that the rows do not rule out, by their likelihood ratio at 90 % |
//! | predictor | mean function over all members by their likelihood, then updated by the target's rows |
//!
//! It works for any space and any `ψ_W`. With few rows many members fit: the region says so, and the
//! mean over them is still a better function than the likeliest one's.
//!
//! ```
//! use rand_distr::{Distribution, StandardNormal};
//! use taskscout::data::{Samples, Stage, Statistics, TaskData};
//! use taskscout::features::{FeatureMap, apply_row};
//! use taskscout::identify::{TaskFamily, ParameterSearch};
//! use taskscout::rng::{Purpose, derive};
//! use taskscout::space::Space;
//!
//! // A spring of stiffness 1 + w² with damping w: tasks are w in [0, 1].
//! let space = Space::boxed(vec![0.0], vec![1.0])?;
//! let features = FeatureMap::polynomial(1, 2, true)?;
//! let mut rng = derive(1, Purpose::Collect, &[]);
//! let mut sample = |w: f64, n: usize| {
//!     let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
//!     let x: Vec<f64> = (0..2 * n).map(|_| normal()).collect();
//!     let force = |x: &[f64]| -(1.0 + w * w) * x[0] - w * x[1];
//!     let y = x.chunks(2).map(|x| force(x) + 0.1 * normal()).collect();
//!     Samples::new(x, 2, y, 1)
//! };
//! let mut data = TaskData::new(2, 1, 3);
//! for w in [0.0, 0.3, 0.6, 1.0] {
//!     let task = [w];
//!     data.add_source_rows(&task, &apply_row(&features, &task), Stage::WarmUp, 0, &sample(w, 200)?)?;
//! }
//! let mut target = Statistics::new(2, 1);
//! target.accumulate(&sample(0.8, 30)?)?;
//!
//! let family = TaskFamily::fit(&data, 3, None)?.unwrap();
//! let search = ParameterSearch { family: &family, space: &space, features: &features };
//! let found = search.identify(&target, &mut derive(1, Purpose::Identify, &[]))?;
//! assert!((found.task[0] - 0.8).abs() < 0.1);
//! assert!(found.low[0] < 0.8 && 0.8 < found.high[0]);
//! # Ok::<(), taskscout::Error>(())
//! ```

mod chi_square;
mod family;
mod likelihood;
mod misfit;
mod posterior;
mod walkers;

pub use family::TaskFamily;
pub use misfit::{Misfit, SuspectedMissingFeature};
use serde::{Deserialize, Serialize};

use crate::data::Statistics;
use crate::error::{Error, Result};
use crate::features::{FeatureMap, Features as _, apply_row};
use crate::regression::{LinearPosterior, NoisePrior, RidgeSolver};
use crate::rng::Rng;
use crate::space::{Space, TaskSpace as _};
use likelihood::Likelihood;
use posterior::{Deviance, Spread};

/// Confidence level of the region of identified parameters.
pub const CONFIDENCE_LEVEL: f64 = 0.9;

/// Draws that are kept, and how many times the variance of a member's function the variance over
/// which member it is must be.
const DRAWS: usize = 3;
const OUTWEIGHS: f64 = 4.0;

/// What the rows of a target say about its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IdentifiedParameters {
    /// The likeliest parameters `ŵ`.
    pub task: Vec<f64>,
    /// The lower ends of the box around all parameters that the rows do not rule out at the given
    /// confidence.
    pub low: Vec<f64>,
    /// Its upper ends.
    pub high: Vec<f64>,
    /// How often such a box should hold the whole truth.
    pub confidence: f64,
    /// Further parameters to sample, drawn from their posterior: some, where the variance over the
    /// members that the target may be exceeds the variance of the members' own functions; else none.
    #[serde(rename = "draws")]
    pub posterior_samples: Vec<Vec<f64>>,
    /// The predictor: coefficients on the representation, one vector an output.
    pub coefficients: Vec<Vec<f64>>,
    /// Logarithm of the odds that the target is a member, against a function of its own (ridge
    /// regression on its rows): positive where its rows speak for the family.
    pub log_odds: f64,
    /// Noise variance that the family expects in them.
    pub noise: f64,
}

/// A target estimated as a member of the source family: its parameters, and the posterior of its
/// function.
#[derive(Debug, Clone)]
pub struct TargetIdentification {
    /// The parameters, with their region.
    pub identified: IdentifiedParameters,
    /// What is known of each output's function.
    pub posteriors: Vec<LinearPosterior>,
}

/// What a likelihood says of a space.
struct Explored {
    best: Vec<f64>,
    least: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    spread: Spread,
}

/// A way to find the box around the members that are not ruled out.
type Extent = fn(&Deviance<'_>, &[f64], f64, &mut Rng) -> Result<(Vec<f64>, Vec<f64>)>;

/// A search for the parameters of a target: a family of functions over a space of tasks.
#[derive(Debug, Clone, Copy)]
pub struct ParameterSearch<'a> {
    /// The functions of the tasks, with their posterior.
    pub family: &'a TaskFamily,
    /// The parameters that tasks can have.
    pub space: &'a Space,
    /// `ψ_W`.
    pub features: &'a FeatureMap,
}

impl IdentifiedParameters {
    /// Whether the rows of the target speak for a member of the family.
    #[must_use]
    pub fn supports_family(&self) -> bool {
        self.log_odds > 0.0
    }
}

/// Logarithm of the marginal likelihood of a target's rows under a function of its own.
fn own_evidence(rows: &Statistics) -> Result<f64> {
    let solver = RidgeSolver::new(rows)?;
    let one = |output| {
        solver
            .fit(
                rows.cross_moment(output),
                rows.sum_of_squares(output),
                NoisePrior::default(),
            )
            .log_evidence
    };
    Ok((0..rows.outputs()).map(one).sum())
}

impl ParameterSearch<'_> {
    /// Finds the parameters of a target from its rows, with a region and a predictor.
    ///
    /// # Errors
    /// No rows, rows of other features, a family of other task features, or a breakdown of the
    /// numerics.
    pub fn identify(&self, rows: &Statistics, rng: &mut Rng) -> Result<IdentifiedParameters> {
        Ok(self.identify_with_posterior(rows, rng)?.identified)
    }

    /// The same with the posterior of the target's function.
    pub fn identify_with_posterior(
        &self,
        rows: &Statistics,
        rng: &mut Rng,
    ) -> Result<TargetIdentification> {
        self.look(
            rows,
            |land, best, limit, rng| land.extent(best, limit, rng),
            rng,
        )
    }

    /// The same with a rough region, for predictors alone.
    pub fn identify_roughly_with_posterior(
        &self,
        rows: &Statistics,
        rng: &mut Rng,
    ) -> Result<TargetIdentification> {
        self.look(
            rows,
            |land, best, limit, rng| land.surroundings(best, limit, rng),
            rng,
        )
    }

    fn look(
        &self,
        rows: &Statistics,
        region: Extent,
        rng: &mut Rng,
    ) -> Result<TargetIdentification> {
        self.check(rows)?;
        if rows.count() == 0 {
            return Err(Error::State(
                "a target without rows cannot be identified: tell the study some samples".into(),
            ));
        }
        let sure = Likelihood::new(self.family, rows, None)?;
        let (best, _) = self.deviance(&sure, |land| land.best(rng))?;
        let open = self.family.covariance(&apply_row(self.features, &best));
        let likelihood = Likelihood::new(self.family, rows, Some(open))?;
        let first = self.explore(
            &likelihood,
            |land, best, limit, rng| land.surroundings(best, limit, rng),
            rng,
        )?;
        // What the family leaves open differs from member to member: the mean over those that
        // the target may be.
        let open = self
            .family
            .expected_covariance(first.spread.second_moment.as_ref());
        let likelihood = Likelihood::new(self.family, rows, Some(open))?;
        let Explored {
            best,
            least,
            low,
            high,
            spread,
        } = self.explore(&likelihood, region, rng)?;
        let which = spread.covariance();
        let member = (spread.mean_features.as_slice(), which.as_ref());
        let posteriors: Vec<LinearPosterior> = (0..rows.outputs())
            .map(|output| likelihood.posterior(self.family, output, member, rows, self.space.dim()))
            .collect();
        let coefficients = posteriors
            .iter()
            .map(|posterior| posterior.mean.clone())
            .collect();
        let occam = self.deviance(&likelihood, |land| land.occam(least, rows.count(), rng))?;
        let identified = IdentifiedParameters {
            task: best,
            low,
            high,
            confidence: CONFIDENCE_LEVEL,
            posterior_samples: self.worth_sampling(rows, spread),
            coefficients,
            log_odds: -0.5 * least + occam - own_evidence(rows)?,
            noise: self.family.noise(),
        };
        Ok(TargetIdentification {
            identified,
            posteriors,
        })
    }

    /// The best member under a likelihood, a box around those not ruled out, and all of them.
    fn explore(&self, likelihood: &Likelihood, region: Extent, rng: &mut Rng) -> Result<Explored> {
        self.deviance(likelihood, |land| {
            let (best, least) = land.best(rng)?;
            let parameters = self.space.dim();
            let misfit = likelihood.misfit(&apply_row(self.features, &best), parameters);
            let quantile = chi_square::quantile(CONFIDENCE_LEVEL, parameters);
            let limit = least + misfit.max(1.0) * quantile;
            let (low, high) = region(land, &best, limit, rng)?;
            let spread = land.spread(&best, (&low, &high), limit, rng)?;
            Ok(Explored {
                best,
                least,
                low,
                high,
                spread,
            })
        })
    }

    /// Whether family, space, features and rows belong together.
    fn check(&self, rows: &Statistics) -> Result<()> {
        let (family, features) = (self.family, self.features);
        Error::check_length("a task", features.input_dim(), self.space.dim())?;
        Error::check_length(
            "the task features",
            family.matrix(0).ncols(),
            features.dim(),
        )?;
        Error::check_length("a feature row of the target", family.dim(), rows.dim())?;
        Error::check_length(
            "an output row of the target",
            family.outputs(),
            rows.outputs(),
        )
    }

    /// The draws to keep: both variances are of the function on the target's inputs.
    fn worth_sampling(&self, rows: &Statistics, spread: Spread) -> Vec<Vec<f64>> {
        let Spread {
            mean_features,
            draws,
            ..
        } = spread;
        let gram = rows.gram_matrix();
        let open = crate::linalg::inner(
            gram.as_ref(),
            self.family.covariance(&mean_features).as_ref(),
        );
        let apart = |draw: &Vec<f64>| {
            let difference: Vec<f64> = apply_row(self.features, draw)
                .iter()
                .zip(&mean_features)
                .map(|(a, b)| a - b)
                .collect();
            let function = self.family.coefficients(&difference, 0);
            crate::linalg::quadratic(gram.as_ref(), &function)
        };
        let which = draws.iter().map(apart).sum::<f64>() / draws.len().max(1) as f64;
        if which > OUTWEIGHS * open {
            draws.into_iter().take(DRAWS).collect()
        } else {
            Vec::new()
        }
    }

    fn deviance<T>(
        &self,
        likelihood: &Likelihood,
        look: impl FnOnce(&Deviance<'_>) -> Result<T>,
    ) -> Result<T> {
        look(&Deviance {
            space: self.space,
            features: self.features,
            value: &|features| likelihood.value(features),
        })
    }

    /// The member nearest to a function, by its distance on the inputs of some rows.
    ///
    /// # Errors
    /// A function or rows of other features.
    pub fn nearest_member(
        &self,
        coefficients: &[Vec<f64>],
        rows: &Statistics,
        rng: &mut Rng,
    ) -> Result<Vec<f64>> {
        self.check(rows)?;
        let distance = self.distance(coefficients, rows)?;
        let atom = self
            .space
            .minimise(&|task| distance(&apply_row(self.features, task)), rng)?;
        Ok(atom.task)
    }

    /// The squared distance between a function and the members, on the inputs of some rows.
    fn distance(
        &self,
        coefficients: &[Vec<f64>],
        rows: &Statistics,
    ) -> Result<impl Fn(&[f64]) -> f64 + Sync> {
        Error::check_length(
            "a function's outputs",
            self.family.outputs(),
            coefficients.len(),
        )?;
        let gram = rows.gram_matrix();
        let p = self.features.dim();
        let mut form = faer::Mat::<f64>::zeros(p, p);
        let (mut linear, mut constant) = (vec![0.0; p], 0.0);
        for (output, function) in coefficients.iter().enumerate() {
            Error::check_length("a function", self.family.dim(), function.len())?;
            let matrix = self.family.matrix(output);
            let seen = crate::linalg::product(gram.as_ref(), matrix);
            form += crate::linalg::product(matrix.transpose(), seen.as_ref());
            let image = crate::linalg::apply(seen.transpose(), function);
            linear.iter_mut().zip(image).for_each(|(a, b)| *a += b);
            constant += crate::linalg::quadratic(gram.as_ref(), function);
        }
        Ok(move |features: &[f64]| {
            crate::linalg::quadratic(form.as_ref(), features)
                - 2.0 * crate::linalg::dot(&linear, features)
                + constant
        })
    }
}
