//! From a study and the guard's choice to a model.
//!
//! Where predictors are linear in the features, the guard says how well the coefficients of what it hands back are
//! known, the variance of each candidate and among them included, and its noise covers what was seen on held-out rows
//! of the target ([`taskscout::train::LinearPosterior`]). Few rows tell little of the noise: standard deviations are those of the t
//! distribution that this leaves.
//!
//! Where a network stands between, the coefficients on it are a ridge fit with covariance `σ²(G + λI)⁻¹`, and `σ²` is
//! the error of the heaviest candidate on held-out rows: what the model cannot express counts as noise.

use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Mat, Par, Side};
use std::sync::Arc;
use taskscout::data::{FoldSelection, Statistics};
use taskscout::features::FeatureMap;
use taskscout::model::{AnyRepresentation, Model, Representation as _};
use taskscout::study::Study;
use taskscout::train::{
    AveragedPredictor, LinearPosterior, Predictor, PredictorKind, RidgeFit, ridge,
};

use crate::error::{Error, Result};
use crate::model::SavedModel;
use crate::parts::{Basis, Names, Parts, Provenance, Tasks, Uncertainty};

impl SavedModel {
    /// The predictor that the guard chose for a target of a study, with all that it needs; `name`
    /// is what the study is called.
    ///
    /// # Errors
    /// A choice that is not of this study, or feature maps or representations that a file cannot
    /// hold. A task map under features of the user's own is left out.
    pub fn from_study(study: &Study, choice: &AveragedPredictor, name: &str) -> Result<Self> {
        Self::new(Parts::of_study(study, choice, name)?)
    }
}

impl Parts {
    /// What the guard chose for a target of a study, for a model that need not be saved.
    ///
    /// # Errors
    /// A choice that is not of this study. A task map under features of the user's own is left out.
    pub fn of_study(study: &Study, choice: &AveragedPredictor, name: &str) -> Result<Self> {
        let (config, data) = (study.config(), study.data());
        let missing = |what: String| Error::Absent(format!("{what}: give a choice of this study"));
        let target = config
            .targets
            .iter()
            .position(|target| target.name == choice.target)
            .ok_or_else(|| missing(format!("the study has no target `{}`", choice.target)))?;
        let predictor = choice
            .predictor()
            .ok_or_else(|| missing(format!("there is no {} candidate", choice.kind)))?;
        let model = learnt(study, choice)?;
        let representation = model.as_ref().map(|model| model.representation.clone());
        let uncertainty = match Uncertainty::of_posteriors(&choice.posteriors) {
            Some(known) => known?,
            None => {
                let lead = choice.candidate(choice.kind).unwrap_or(predictor);
                uncertainty(study, target, lead, model.as_deref())?
            }
        };
        let tasks = match (&model, &config.task_features) {
            (None, _) | (_, FeatureMap::Custom(_)) => None,
            (Some(model), features) => Some(Tasks {
                features: features.clone(),
                map: model.map.clone(),
                target: data.targets()[target].features.clone(),
                space: Some(config.space.clone()),
            }),
        };
        let save_task = if config.strategy.save_task {
            "+save-task"
        } else {
            ""
        };
        Ok(Self {
            input_features: config.input_features.clone(),
            representation,
            predictor: predictor.clone(),
            uncertainty,
            input_scaling: None,
            output_scaling: None,
            tasks,
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").into(),
                study: name.into(),
                strategy: format!("{}{save_task}", config.strategy.kind),
                oracle: config.oracle.name().into(),
                seed: config.seed,
                target: choice.target.clone(),
                reason: choice.reason.clone(),
                rounds: study.rounds(),
                source_rows: data.source_rows(),
                target_rows: data.target_rows(target),
            },
            names: Names::default(),
        })
    }
}

/// The model of everything told, unless nothing but the target could be learnt from.
fn learnt(study: &Study, choice: &AveragedPredictor) -> Result<Option<Arc<Model>>> {
    let alone = choice.kind == PredictorKind::TargetOnly;
    if alone && study.data().source_rows() == 0 {
        return Ok(None);
    }
    match study.model() {
        Err(taskscout::Error::Diverged { .. }) if alone => Ok(None),
        other => Ok(Some(other?)),
    }
}

impl Uncertainty {
    /// What the guard knows of the coefficients on the features, a posterior an output; nothing without any.
    #[must_use]
    pub fn of_posteriors(posteriors: &[LinearPosterior]) -> Option<Result<Self>> {
        if posteriors.is_empty() {
            return None;
        }
        let roots = posteriors.iter().map(|posterior| {
            let factor = posterior.t_variance_factor();
            root(&posterior.covariance).map(|root| faer::Scale(factor.sqrt()) * &root)
        });
        let noise = |posterior: &LinearPosterior| posterior.noise * posterior.t_variance_factor();
        Some(roots.collect::<Result<_>>().map(|roots| Self {
            basis: Basis::Features,
            noise: posteriors.iter().map(noise).collect(),
            roots,
        }))
    }
}

/// `R` with `R Rᵀ` a covariance; eigenvalues that rounding has put below zero count as zero.
fn root(covariance: &Mat<f64>) -> Result<Mat<f64>> {
    let dim = covariance.nrows();
    let eigen = covariance.self_adjoint_eigen(Side::Lower).map_err(|_| {
        taskscout::Error::numerical(
            "the covariance of the predictor",
            "the target's features are too unequal in size, so rescale the inputs",
        )
    })?;
    let (vectors, values) = (eigen.U(), eigen.S().column_vector());
    Ok(Mat::from_fn(dim, dim, |i, j| {
        vectors[(i, j)] * values[j].max(0.0).sqrt()
    }))
}

fn uncertainty(
    study: &Study,
    target: usize,
    predictor: &Predictor,
    model: Option<&Model>,
) -> Result<Uncertainty> {
    let head = predictor.head.as_ref().map(|head| &head.representation);
    let phi = match predictor.kind {
        PredictorKind::Shared => head.or(model.map(|model| &model.representation)),
        PredictorKind::TargetOnly => head,
        _ => None,
    };
    let statistics = statistics(study, target, phi)?;
    let outputs = statistics.outputs();
    let fits = (0..outputs)
        .map(|output| Ok(ridge(&statistics, output)?))
        .collect::<Result<Vec<RidgeFit>>>()?;
    let noise = noise(predictor, model, &fits);
    let roots = fits
        .iter()
        .zip(&noise)
        .map(|(fit, noise)| covariance_root(&statistics, fit.lambda, *noise))
        .collect::<Result<_>>()?;
    Ok(Uncertainty {
        basis: phi.map_or(Basis::Features, |_| Basis::Representation),
        noise,
        roots,
    })
}

/// The target's statistics on features, or under a representation.
fn statistics(study: &Study, target: usize, phi: Option<&AnyRepresentation>) -> Result<Statistics> {
    let data = study.data();
    let Some(phi) = phi else {
        return Ok(data.target_statistics(target, FoldSelection::All)?);
    };
    let entry = &data.targets()[target];
    let mut total = Statistics::new(phi.dim(), data.outputs());
    for (fold, rows) in entry.folds.iter().zip(&entry.rows) {
        total.merge(&phi.statistics(fold, rows)?)?;
    }
    Ok(total)
}

/// `σ²` of every output. The held-out error is one number over all outputs; it is shared out in the
/// proportion of what the fits leave over.
fn noise(predictor: &Predictor, model: Option<&Model>, fits: &[RidgeFit]) -> Vec<f64> {
    let own: Vec<f64> = fits.iter().map(|fit| fit.noise).collect();
    let total: f64 = own.iter().sum();
    let Some(mean) = predictor.held_out_error.or(model.map(|model| model.noise)) else {
        return own;
    };
    own.iter()
        .map(|noise| {
            if total > 0.0 {
                mean * noise / total * own.len() as f64
            } else {
                mean
            }
        })
        .collect()
}

/// `R = σ L⁻ᵀ` with `L Lᵀ = G + λI`, so that `R Rᵀ = σ²(G + λI)⁻¹`.
fn covariance_root(statistics: &Statistics, lambda: f64, noise: f64) -> Result<Mat<f64>> {
    let dim = statistics.dim();
    let mut information = statistics.gram_matrix();
    for i in 0..dim {
        information[(i, i)] += lambda;
    }
    let factor = information.llt(Side::Lower).map_err(|_| {
        taskscout::Error::numerical(
            "the covariance of the predictor",
            "the target's features are too unequal in size, so rescale the inputs",
        )
    })?;
    let mut root = Mat::identity(dim, dim);
    solve_upper_triangular_in_place(factor.L().transpose(), root.as_mut(), Par::Seq);
    let sigma = noise.max(0.0).sqrt();
    Ok(Mat::from_fn(dim, dim, |i, j| sigma * root[(i, j)]))
}
