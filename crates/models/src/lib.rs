//! Trained models as files: saved, loaded, used for prediction, exported to ONNX.
//!
//! A [`SavedModel`] is complete in itself: the features of an input, the shared representation, the
//! target's head, how far predictions can be trusted, and where it all came from. It is saved as a
//! safetensors file, bit for bit, and exported as an ONNX graph for robots without taskscout.
//!
//! ```
//! # use rand_distr::{Distribution, StandardNormal};
//! # use taskscout::data::Samples;
//! # use taskscout::features::FeatureMap;
//! # use taskscout::rng::{derive, Purpose, Rng};
//! # use taskscout::space::Space;
//! # use taskscout::strategy::{StrategyConfig, StrategyKind};
//! # use taskscout::study::{Study, StudyConfig};
//! # use taskscout::target::Target;
//! use taskscout_models::SavedModel;
//! # fn collect(fans: &[f64], n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
//! #     let mut normal = || -> f64 { StandardNormal.sample(rng) };
//! #     let x: Vec<f64> = (0..3 * n).map(|_| normal()).collect();
//! #     let wind = fans[0] + 0.5 * fans[1];
//! #     let y = x.chunks(3).map(|x| wind * (x[0] - x[2]) + 0.1 * normal()).collect();
//! #     Samples::new(x, 3, y, 1)
//! # }
//! # let mut rng = derive(7, Purpose::Collect, &[]);
//! # let mut study = Study::new(StudyConfig {
//! #     k: Some(1),
//! #     ..StudyConfig::new(
//! #         Space::ball(4, 1.0)?,
//! #         FeatureMap::identity(3)?,
//! #         vec![Target::unknown("tomorrow")],
//! #         StrategyConfig::new(StrategyKind::Aware),
//! #     )?
//! # })?;
//! # study.tell_target(0, &collect(&[0.6, 0.8, 0.0, 0.0], 40, &mut rng)?)?;
//! # for _round in 0..2 {
//! #     for item in study.ask(400)?.items {
//! #         study.tell(item.id, &collect(&item.task, item.n, &mut rng)?)?;
//! #     }
//! # }
//! # let folder = tempfile::tempdir()?;
//! // A study of the force on a drone, after some rounds of `ask` and `tell`:
//! let choice = &study.predictors()?[0];
//! let model = SavedModel::from_study(&study, choice, "wind tunnel")?;
//! # let path = folder.path().join("wind.safetensors");
//! model.save(&path)?;
//!
//! let model = SavedModel::load(&path)?;
//! let force = model.predict(&[1.0, 0.0, -1.0])?[0];
//! assert!((force.mean - 2.0).abs() < 0.2);
//! assert!((force.std - 0.1).abs() < 0.05 && force.model_std < force.std);
//! println!("{}", model.provenance().reason);
//! # let path = folder.path().join("wind.onnx");
//! model.save_onnx(&path, true)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A model may also be put together by hand from [`Parts`], for instance with a scaling of its
//! inputs:
//!
//! ```
//! use faer::mat;
//! use taskscout::features::FeatureMap;
//! use taskscout::train::{Predictor, PredictorKind};
//! use taskscout_models::{Affine, Basis, Names, Parts, Provenance, SavedModel, Uncertainty};
//! let model = SavedModel::new(Parts {
//!     input_features: FeatureMap::identity(1)?,
//!     representation: None,
//!     predictor: Predictor {
//!         kind: PredictorKind::TargetOnly,
//!         coefficients: vec![vec![3.0]],
//!         head: None,
//!         held_out_error: None,
//!     },
//!     uncertainty: Uncertainty { basis: Basis::Features, noise: vec![0.25], roots: vec![mat![[0.0]]] },
//!     input_scaling: Some(Affine { mean: vec![10.0], scale: vec![2.0] }),
//!     output_scaling: None,
//!     tasks: None,
//!     provenance: Provenance::default(),
//!     names: Names { inputs: vec!["speed".into()], outputs: vec!["force".into()], ..Names::default() },
//! })?;
//! let y = model.predict(&[12.0])?[0];
//! assert_eq!((y.mean, y.std), (3.0, 0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod file;
mod model;
mod onnx;
mod parts;
mod study;
mod table;
pub mod words;

pub use error::{Error, Result};
pub use model::{Prediction, SavedModel};
pub use onnx::OnnxOptions;
pub use parts::{
    Affine, Basis, InputExpressions, Names, Parts, Provenance, Tasks, Uncertainty, Units,
};
pub use table::TableInputs;
