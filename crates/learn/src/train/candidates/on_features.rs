//! The candidates where `φ` is a matrix: all of them are coefficients on features, and statistics
//! are enough to fit and to compare them.
//!
//! With few rows the noise of a target is hardly known, and whoever explains its labels as noise looks well. The source
//! rows say how large such noise is, if the target's is like theirs. So each candidate is fitted in two ways, with its own
//! noise alone and with that of the source rows as a few rows more, and the ways are averaged ([`Blend`]). Target-only is
//! judged like this too, but what it predicts with knows nothing of source tasks.

use crate::data::{FoldSelection, Statistics, TaskData};
use crate::error::{Error, Result};
use crate::model::Linear;
use crate::regression::{
    GramRoot, LinearPosterior, NoisePrior, RidgeFit, RidgeSolver, least_noises,
};
use crate::train::guard::{Blend, Candidate, HeldOutScore, Predictor, PredictorKind, comparable};
use crate::train::{RepresentationWithoutFold, TargetOnlyCache};

/// The kinds of predictor, in the order of all lists here.
const KINDS: [PredictorKind; 3] = [
    PredictorKind::Shared,
    PredictorKind::SharedResidual,
    PredictorKind::TargetOnly,
];
/// Rows that the noise of the source rows counts for.
const NOISE_ROWS: usize = 10;
/// Rows of a target that show its noise well enough, and from which folds say enough.
const ENOUGH_ROWS: usize = 100;
/// Between these the odds of shared are ten times those of the marginal likelihoods, which leave less to chance than folds
/// of few rows do. Odds beyond would outweigh what the folds say of a representation that is nearly right. With many rows
/// of the target the representation follows them, and so explains them too well.
const LEAST_ODDS: f64 = 1.0;
const MOST_ODDS: f64 = 100.0;

/// All candidates for a target, with how they do on folds left out. `noise` is that of the source rows.
pub(super) fn candidates(
    data: &TaskData,
    target: usize,
    (representation, noise): (&Linear, f64),
    folds: &[RepresentationWithoutFold],
    cache: &TargetOnlyCache,
) -> Result<Vec<Candidate>> {
    let everything = data.target_statistics(target, FoldSelection::All)?;
    let floors = least_noises(&everything);
    let solver = cache.ridge_solver(target, FoldSelection::All, &everything)?;
    let ways = noise_priors(everything.count(), noise);
    let rows = Rows::new(&everything, &solver, representation)?;
    let fits: Vec<Fits> = ways.iter().map(|way| rows.fit(&floors, *way)).collect();
    let judged = judge(data, target, (folds, cache), &floors, &ways)?;
    let mut candidates = Vec::new();
    for kind in 0..KINDS.len() {
        let of_kind: Vec<&[HeldOutScore]> = judged.iter().map(|way| way[kind].as_slice()).collect();
        let mut candidate = candidate(kind, &fits, &of_kind, |at| {
            &data.targets()[target].folds[folds[at].fold]
        })?;
        if KINDS[kind] == PredictorKind::Shared && everything.count() <= ENOUGH_ROWS {
            candidate.prior_odds = shared_odds(&fits);
        }
        candidates.push(candidate.scored(data, target));
    }
    Ok(candidates)
}

/// What may be known of the noise of a target: nothing, and that it is like that of the source rows.
fn noise_priors(rows: usize, noise: f64) -> Vec<NoisePrior> {
    let mut ways = vec![NoisePrior::default()];
    if rows <= ENOUGH_ROWS && noise > 0.0 && noise.is_finite() {
        ways.push(NoisePrior {
            rows: NOISE_ROWS,
            noise,
        });
    }
    ways
}

/// How each way and kind does on every fold left out; nothing where folds cannot be compared.
fn judge(
    data: &TaskData,
    target: usize,
    (folds, cache): (&[RepresentationWithoutFold], &TargetOnlyCache),
    floors: &[f64],
    ways: &[NoisePrior],
) -> Result<Vec<[Vec<HeldOutScore>; 3]>> {
    let held_out: Vec<usize> = folds.iter().map(|fit| fit.fold).collect();
    if !comparable(data, target, &held_out) {
        return Ok(Vec::new());
    }
    let mut judged: Vec<[Vec<HeldOutScore>; 3]> = vec![Default::default(); ways.len()];
    for fit in folds {
        let Some(representation) = fit.representation.as_linear() else {
            return Err(Error::State(
                "an oracle gave a matrix for all rows, but another representation for a fold"
                    .into(),
            ));
        };
        let without = FoldSelection::Without(fit.fold);
        let seen = data.target_statistics(target, without)?;
        let unseen: &Statistics = &data.targets()[target].folds[fit.fold];
        let solver = cache.ridge_solver(target, without, &seen)?;
        let roots = cache.gram_roots(target, fit.fold, unseen)?;
        let rows = Rows::new(&seen, &solver, representation)?;
        let unseen = Unseen::new(fit.fold, unseen, &roots, representation)?;
        for (way, [shared, corrected, alone]) in ways.iter().zip(&mut judged) {
            let transfers = rows.transfers(floors, *way);
            shared.push(unseen.judge_heads(&transfers, representation)?);
            corrected.push(unseen.judge(&rows.corrected(&transfers, floors, *way))?);
            let own = || unseen.judge(&rows.own(floors, *way));
            alone.push(match way.rows {
                0 => cache.own_score((target, fit.fold), (&solver, &roots), own)?,
                _ => own()?,
            });
        }
    }
    Ok(judged)
}

/// A candidate from its fits in all ways, and from how these do on the folds.
fn candidate<'a>(
    kind: usize,
    fits: &[Fits],
    judged: &[&[HeldOutScore]],
    folds: impl Fn(usize) -> &'a Statistics,
) -> Result<Candidate> {
    let even = vec![1.0; fits.len()];
    let (shares, mut held_out) = match judged.is_empty() {
        true => (even, Vec::new()),
        false => {
            let blend = Blend::of(&even, judged, folds)?;
            (blend.shares, blend.held_out)
        }
    };
    let mean = |output: usize| {
        let of_ways = fits.iter().map(|fit| &fit.posteriors[kind][output]);
        let parts: Vec<(f64, &LinearPosterior)> = shares.iter().copied().zip(of_ways).collect();
        LinearPosterior::mean_of(&parts)
    };
    let outputs = fits[0].posteriors[kind].len();
    let mut posteriors: Vec<LinearPosterior> = (0..outputs).map(mean).collect();
    if KINDS[kind] == PredictorKind::TargetOnly {
        posteriors.clone_from(&fits[0].posteriors[kind]);
        for (blended, own) in held_out
            .iter_mut()
            .zip(judged.first().into_iter().copied().flatten())
        {
            *blended = HeldOutScore {
                log_density: blended.log_density,
                ..own.clone()
            };
        }
    }
    Ok(Candidate {
        predictor: Predictor {
            kind: KINDS[kind],
            coefficients: posteriors
                .iter()
                .map(|posterior| posterior.mean.clone())
                .collect(),
            head: None,
            held_out_error: None,
        },
        posteriors,
        prior_odds: KINDS[kind].prior_odds(),
        held_out,
    })
}

/// The odds of shared against target-only before any fold is looked at: what is expected of source tasks, times how much
/// better a head on the representation explains all rows than coefficients of their own, chance included.
fn shared_odds(fits: &[Fits]) -> f64 {
    let expected = PredictorKind::Shared.prior_odds();
    let mean = |of: fn(&Fits) -> f64| {
        let top = fits.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        top + fits
            .iter()
            .map(|fit| (of(fit) - top).exp())
            .sum::<f64>()
            .ln()
    };
    let odds = expected * (mean(|fit| fit.shared_evidence) - mean(|fit| fit.own_evidence)).exp();
    match odds.is_nan() {
        true => expected,
        false => odds.clamp(LEAST_ODDS, MOST_ODDS),
    }
}

/// Rows of a target, as they are and under the representation.
struct Rows<'a> {
    rows: &'a Statistics,
    solver: &'a RidgeSolver,
    representation: &'a Linear,
    projected: Statistics,
    head_solver: RidgeSolver,
}

/// What is known of a head on the representation, as such and as coefficients on the features.
struct Transfer {
    head: LinearPosterior,
    on_features: LinearPosterior,
    /// The log marginal likelihood of the labels.
    log_evidence: f64,
}

/// A fold that a fit has not seen, as it is and under the representation.
struct Unseen<'a> {
    fold: usize,
    rows: &'a Statistics,
    roots: &'a [GramRoot],
    projected: Statistics,
    projected_roots: Vec<GramRoot>,
}

impl<'a> Unseen<'a> {
    fn new(
        fold: usize,
        rows: &'a Statistics,
        roots: &'a [GramRoot],
        representation: &Linear,
    ) -> Result<Self> {
        let map = representation.matrix();
        Ok(Self {
            fold,
            rows,
            roots,
            projected: rows.project(map)?,
            projected_roots: roots.iter().map(|root| root.projected(map)).collect(),
        })
    }

    fn judge(&self, posteriors: &[LinearPosterior]) -> Result<HeldOutScore> {
        HeldOutScore::judge_on(self.fold, posteriors, (self.rows, self.roots), 1.0)
    }

    /// The same for heads, which need no more numbers than the representation has.
    fn judge_heads(&self, transfers: &[Transfer], map: &Linear) -> Result<HeldOutScore> {
        let heads: Vec<LinearPosterior> = transfers.iter().map(|one| one.head.clone()).collect();
        let rows = (&self.projected, self.projected_roots.as_slice());
        let score = HeldOutScore::judge_on(self.fold, &heads, rows, 1.0)?;
        let coefficients = score.coefficients.iter().map(|head| map.coefficients(head));
        Ok(HeldOutScore {
            coefficients: coefficients.collect(),
            ..score
        })
    }
}

/// All kinds of predictor fitted to the same rows.
struct Fits {
    /// What each knows, one posterior an output.
    posteriors: [Vec<LinearPosterior>; 3],
    /// The log marginal likelihood of the labels, given a head on the representation.
    shared_evidence: f64,
    /// The same given coefficients of their own.
    own_evidence: f64,
}

impl<'a> Rows<'a> {
    fn new(
        rows: &'a Statistics,
        solver: &'a RidgeSolver,
        representation: &'a Linear,
    ) -> Result<Self> {
        let projected = rows.project(representation.matrix())?;
        Ok(Self {
            head_solver: RidgeSolver::new(&projected)?,
            rows,
            solver,
            representation,
            projected,
        })
    }

    /// Fits every kind of predictor, with a least noise for each output.
    fn fit(&self, floors: &[f64], known: NoisePrior) -> Fits {
        let transfers = self.transfers(floors, known);
        let own = |output: usize| self.own_fit(output, known).log_evidence;
        let corrected = self.corrected(&transfers, floors, known);
        Fits {
            shared_evidence: transfers.iter().map(|one| one.log_evidence).sum(),
            own_evidence: (0..floors.len()).map(own).sum(),
            posteriors: [
                transfers.into_iter().map(|one| one.on_features).collect(),
                corrected,
                self.own(floors, known),
            ],
        }
    }

    /// A head on the representation for each output.
    fn transfers(&self, floors: &[f64], known: NoisePrior) -> Vec<Transfer> {
        let of = |(output, &floor): (usize, &f64)| {
            let (moment, square) = (
                self.projected.cross_moment(output),
                self.rows.sum_of_squares(output),
            );
            let fit = self.head_solver.fit(moment, square, known);
            let head = self.head_solver.posterior(&fit, floor, known);
            Transfer {
                on_features: LinearPosterior {
                    mean: self.representation.coefficients(&fit.coefficients),
                    ..head.mapped(self.representation.matrix())
                },
                head,
                log_evidence: fit.log_evidence,
            }
        };
        floors.iter().enumerate().map(of).collect()
    }

    /// Heads with a ridge fit of what they leave over.
    fn corrected(
        &self,
        transfers: &[Transfer],
        floors: &[f64],
        known: NoisePrior,
    ) -> Vec<LinearPosterior> {
        let all = transfers.iter().zip(floors).enumerate();
        all.map(|(output, (transfer, &floor))| {
            self.add_residual(output, &transfer.on_features, (floor, known))
        })
        .collect()
    }

    /// Ridge regression on the features for each output.
    fn own(&self, floors: &[f64], known: NoisePrior) -> Vec<LinearPosterior> {
        let of = |(output, &floor): (usize, &f64)| {
            let fit = self.own_fit(output, known);
            self.solver.posterior(&fit, floor, known)
        };
        floors.iter().enumerate().map(of).collect()
    }

    fn own_fit(&self, output: usize, known: NoisePrior) -> RidgeFit {
        let moment = self.rows.cross_moment(output);
        self.solver
            .fit(moment, self.rows.sum_of_squares(output), known)
    }

    /// A predictor plus a ridge fit of what it leaves over. Both are uncertain, and their errors add up.
    fn add_residual(
        &self,
        output: usize,
        transfer: &LinearPosterior,
        (floor, known): (f64, NoisePrior),
    ) -> LinearPosterior {
        let mut left = vec![0.0; transfer.mean.len()];
        crate::linalg::packed::multiply_add(self.rows.gram(), &transfer.mean, &mut left);
        left.iter_mut()
            .zip(self.rows.cross_moment(output))
            .for_each(|(fit, moment)| *fit = moment - *fit);
        let square = self
            .rows
            .residual_sum_of_squares(output, &transfer.mean)
            .max(0.0);
        let residual = self.solver.fit(&left, square, known);
        let posterior = self.solver.posterior(&residual, floor, known);
        let mean = transfer.mean.iter().zip(&residual.coefficients);
        LinearPosterior {
            mean: mean.map(|(a, b)| a + b).collect(),
            covariance: posterior.covariance + &transfer.covariance,
            noise: posterior.noise,
            degrees_of_freedom: posterior.degrees_of_freedom,
        }
    }
}
