//! A Burn module of the user's own as a representation.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::Tensor;
use common::{collect, study, world};
use taskscout::model::{Phi, Representation as _};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::source::TaskSource as _;
use taskscout::strategy::StrategyKind;
use taskscout::train::{TrainContext, Trainer as _};
use taskscout_neural::{Architecture, Network, Neural, NeuralSettings, Trained, device};

/// Softplus units, which the crate's own perceptrons do not have.
#[derive(Module, Debug)]
struct Soft {
    first: Linear,
    second: Linear,
}

impl Network for Soft {
    fn forward(&self, features: Tensor<2>) -> Tensor<2> {
        let hidden = burn::tensor::activation::softplus(self.first.forward(features), 4.0);
        self.second.forward(hidden)
    }
}

#[derive(Debug, Clone)]
struct SoftShape {
    width: usize,
}

impl Architecture for SoftShape {
    type Network = Soft;

    fn init(&self, scales: &[f64], k: usize, rng: &mut Rng) -> taskscout::Result<Soft> {
        // Burn draws from its own generator; its seed comes from ours.
        let device = device();
        device.seed(rand::RngExt::random(rng));
        Ok(Soft {
            first: LinearConfig::new(scales.len(), self.width).init(&device),
            second: LinearConfig::new(self.width, k).init(&device),
        })
    }

    fn representation(&self, network: &Soft) -> taskscout::Result<Phi> {
        let [inputs, _] = network.first.weight.val().dims();
        let [_, k] = network.second.weight.val().dims();
        Ok(Phi::custom(Arc::new(Trained::new(network, inputs, k))))
    }

    fn restore(&self, _phi: &Phi) -> Option<Soft> {
        None
    }
}

fn oracle() -> Neural<SoftShape> {
    let settings = NeuralSettings {
        starts: 2,
        ..NeuralSettings::default()
    };
    Neural::new(SoftShape { width: 12 }, settings)
}

#[test]
fn it_is_trained_like_any_other() {
    let mut truth = world(0.2, 21);
    let data = collect(&mut truth, 1500, 600, 22);
    let context = TrainContext {
        k: Some(2),
        ..TrainContext::default()
    };
    let model = oracle().model(&data, &context).unwrap();
    assert_eq!(model.representation.dim(), 2);
    let similarity = truth.similarity(&model.representation).unwrap();
    assert!(similarity > 0.9, "similarity {similarity}");
}

#[test]
fn a_study_with_it_can_be_written_at_any_time() {
    let mut truth = world(0.5, 23);
    let mut study = study(&truth, StrategyKind::Aware, "soft", Arc::new(oracle()), 3);
    let mut rng = derive(3, Purpose::Target, &[0]);
    study
        .tell_target(0, &truth.sample_target(100, &mut rng).unwrap())
        .unwrap();
    for _ in 0..2 {
        let plan = study.ask(120).unwrap();
        for item in &plan.items {
            let rows = truth.sample(&item.task, item.n, &mut rng).unwrap();
            study.tell(item.id, &rows).unwrap();
        }
    }
    assert!(serde_json::to_string(&study).is_ok());
    assert_eq!(study.predictors().unwrap().len(), 1);
}
