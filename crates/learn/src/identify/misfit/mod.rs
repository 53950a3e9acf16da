//! Misfit: can the task features express the tasks at all?
//!
//! In `y = φ(x)ᵀ M ψ_W(w) + ξ` the user chooses `ψ_W`. Where it lacks a term that the truth has, no
//! amount of data helps, and tasks are chosen by a model that is wrong. Two estimates of the same
//! variance tell:
//!
//! - **noise** `σ²`: every source task fitted on its own, `Σ RSS / Σ (n − freedom)`. It asks nothing
//!   of `ψ_W`.
//! - **residual**: every source task predicted by the [`TaskFamily`] of the others. It holds the noise,
//!   what finite data leave open, and what `ψ_W` cannot express.
//!
//! Nothing is refitted. With `G_w = RᵀR`, labels `z = R⁻ᵀ b_w` in the same coordinates, the family's
//! prediction `R M ψ_W` and the leverage `H = R (ψ_W ⊗ I)ᵀ K⁻¹ (ψ_W ⊗ I) Rᵀ` of the task on itself,
//! its error under the family without it is
//!
//! ```text
//! e = (I − H)⁻¹ (z − R M ψ_W),   of expected square σ² tr (I − H)⁻¹ if ψ_W suffices.
//! ```
//!
//! Tasks count where they have rows enough for a fit of their own (more than features), and where the others pin them
//! down. What the residual has beyond its expectation is the misfit. Where it is serious, monomials
//! of the parameters that `ψ_W` lacks are tried: a score test on the residual moments ranks them, and
//! the best are added to the family, by a block of its equations, to see what they bring.
//!
//! ```
//! use rand_distr::{Distribution, StandardNormal};
//! use taskscout::data::{Samples, Stage, TaskData};
//! use taskscout::identify::Misfit;
//! use taskscout::rng::{Purpose, derive};
//!
//! // A spring of stiffness 1 + w, by someone who thinks that it is in proportion to w.
//! let mut rng = derive(1, Purpose::Collect, &[]);
//! let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
//! let mut data = TaskData::new(1, 1, 1);
//! for w in [-1.0, -0.6, -0.2, 0.2, 0.6, 1.0] {
//!     let x: Vec<f64> = (0..200).map(|_| normal()).collect();
//!     let y = x.iter().map(|x| -(1.0 + w) * x + 0.5 * normal()).collect();
//!     data.add_source_rows(&[w], &[w], Stage::WarmUp, 0, &Samples::new(x, 1, y, 1)?)?;
//! }
//! let misfit = Misfit::of(&data, 1)?.unwrap();
//! assert!(misfit.is_serious());
//! assert_eq!(misfit.remedies[0].feature, "1");
//! println!("{misfit}");
//! # Ok::<(), taskscout::Error>(())
//! ```

mod candidate_features;
mod feature_extension;
mod left_out;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::feature_extension::remedies;
use self::left_out::{Left, LeftOut, LeftOutTask};
use super::TaskFamily;
use crate::data::TaskData;
use crate::error::Result;

/// Fewest tasks that must be predictable from the others.
const FEWEST_TASKS: usize = 4;
/// Standard errors beyond which a misfit is no accident: with few tasks the tail is long.
const STANDARD_ERRORS: f64 = 4.0;
/// Share of the noise below which a misfit does no harm.
const HARMLESS: f64 = 0.05;
/// Times what finite data leave open, which is known to a factor only: below, more data help more
/// than other features.
const BEYOND_OPEN: f64 = 2.0;
/// Share of the labels' mean square that is rounding, where there is no noise.
const ROUNDING: f64 = 1e-6;

/// Whether the task features can express the source tasks, and what they lack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Misfit {
    /// Noise variance within tasks, each fitted on its own.
    pub noise: f64,
    /// Variance of the residuals of tasks that the family did not see.
    #[serde(rename = "residual")]
    pub residual_variance: f64,
    /// The same if the task features sufficed: noise, and what finite data leave open.
    #[serde(rename = "expected")]
    pub expected_variance: f64,
    /// Standard error of the difference of these two.
    #[serde(rename = "blur")]
    pub standard_error: f64,
    /// Tasks that could be judged.
    pub tasks: usize,
    /// Features that would lower the residual clearly, by gain, but first the simplest of those that
    /// are as good as the best. Looked for where the misfit is serious.
    pub remedies: Vec<SuspectedMissingFeature>,
}

/// A feature that the task features lack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuspectedMissingFeature {
    /// Its name, such as `1`, `w1²` or `w1·w3`.
    pub feature: String,
    /// Its exponents, one a task parameter, as [`Monomials`](crate::features::Monomials) takes them.
    pub exponents: Vec<u32>,
    /// Variance of the residuals with it, of tasks that the family did not see.
    #[serde(rename = "residual")]
    pub residual_variance: f64,
}

impl Misfit {
    /// Judges the first `sources` task features by the source rows; nothing where there are too few
    /// tasks or rows to tell, or too many unknowns.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn of(data: &TaskData, sources: usize) -> Result<Option<Self>> {
        match TaskFamily::fit(data, sources, None)? {
            Some(family) => Self::of_family(&family, data),
            None => Ok(None),
        }
    }

    /// The same for a family that was fitted to all source rows.
    pub fn of_family(family: &TaskFamily, data: &TaskData) -> Result<Option<Self>> {
        let tasks = LeftOutTask::distinct(data, family.task_features())?;
        let left = Left::new(family, &tasks)?;
        if left.tasks() < FEWEST_TASKS {
            return Ok(None);
        }
        let mut misfit = Self::judge(&left);
        if misfit.is_serious() {
            misfit.remedies = remedies(family, &tasks, &left, &misfit)?;
        }
        Ok(Some(misfit))
    }

    fn judge(left: &Left) -> Self {
        let LeftOut {
            residual,
            expected,
            spread,
        } = left.out();
        let noise = left.noise();
        Self {
            noise,
            residual_variance: residual,
            expected_variance: noise * expected,
            standard_error: (noise * spread).max(ROUNDING * left.signal()),
            tasks: left.tasks(),
            remedies: Vec::new(),
        }
    }

    /// What the task features cannot express, as a variance; negative by accident.
    #[must_use]
    pub fn excess(&self) -> f64 {
        self.residual_variance - self.expected_variance
    }

    /// Whether the residual is clearly above what noise and finite data explain: beyond what the
    /// standard errors, by more than a few percent of the noise, and by more than finite
    /// data leave open.
    #[must_use]
    pub fn is_serious(&self) -> bool {
        let open = self.expected_variance - self.noise;
        let limit = (STANDARD_ERRORS * self.standard_error).max(HARMLESS * self.noise);
        self.excess() > limit.max(BEYOND_OPEN * open)
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "residuals of tasks left out have variance {} where noise and finite data explain {}: ",
            Short(self.residual_variance),
            Short(self.expected_variance)
        )?;
        if !self.is_serious() {
            return f.write_str("nothing speaks against the task features");
        }
        f.write_str("the task features cannot express these tasks; ")?;
        match self.remedies.first() {
            Some(SuspectedMissingFeature {
                feature,
                residual_variance: residual,
                ..
            }) => write!(f, "adding {feature} would bring it to {}", Short(*residual)),
            None => f.write_str(
                "no monomial of low degree would help, so try other features of tasks or inputs",
            ),
        }
    }
}

/// A number to two decimals, or two digits where those would not show it.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if (0.1..1e4).contains(&self.0) {
            write!(f, "{:.2}", self.0)
        } else {
            write!(f, "{:.1e}", self.0)
        }
    }
}

#[cfg(test)]
mod tests;
