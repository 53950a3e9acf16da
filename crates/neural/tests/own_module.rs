//! A Burn module of the user's own as a representation.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::Tensor;
use common::{collect, study, world};
use faer::{Mat, MatRef};
use taskscout::model::{Activation, AnyRepresentation, Layer, Mlp, Representation as _};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::source::TaskSource as _;
use taskscout::strategy::StrategyKind;
use taskscout::train::{TrainContext, Trainer as _};
use taskscout_neural::{
    Architecture, Differentiable, MlpShape, Network, Neural, NeuralSettings, Trained, device,
};

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

    fn representation(&self, network: &Soft) -> taskscout::Result<AnyRepresentation> {
        let [inputs, _] = network.first.weight.val().dims();
        let [_, k] = network.second.weight.val().dims();
        Ok(AnyRepresentation::custom(Arc::new(Trained::new(
            network, inputs, k,
        ))))
    }

    fn restore(&self, _phi: &AnyRepresentation) -> Option<Soft> {
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

/// A perceptron as Burn has it.
#[derive(Module, Debug)]
struct Twin {
    first: Linear,
    second: Linear,
}

impl Network for Twin {
    fn forward(&self, features: Tensor<2>) -> Tensor<2> {
        let hidden = burn::tensor::activation::relu(self.first.forward(features));
        self.second.forward(hidden)
    }
}

/// `φ` of some rows, and the gradient of the sum of its squares' halves.
fn pass<N: Differentiable>(network: &N, rows: MatRef<'_, f32>) -> (Vec<f32>, Vec<f32>) {
    let parameters = network.parameters();
    let (mut tape, mut phi) = (N::Tape::default(), Vec::new());
    network.forward(&parameters, rows, &mut tape, &mut phi);
    let mut gradient = vec![0.0; parameters.len()];
    network.backward(&parameters, rows, &phi, &mut tape, &mut gradient);
    (phi, gradient)
}

#[test]
fn a_perceptron_has_the_gradient_that_burn_derives() {
    const WIDTHS: [usize; 3] = [8, 40, 3];
    let device = device();
    device.seed(5);
    let twin = Twin {
        first: LinearConfig::new(WIDTHS[0], WIDTHS[1]).init(&device),
        second: LinearConfig::new(WIDTHS[1], WIDTHS[2]).init(&device),
    };
    // Burn has the bias of a layer after its weights.
    let values = twin.parameters();
    let (mut at, mut layers) = (0, Vec::new());
    for pair in WIDTHS.windows(2) {
        let weights = &values[at..at + pair[0] * pair[1]];
        at += weights.len();
        let bias = &values[at..at + pair[1]];
        at += bias.len();
        layers.push(Layer {
            weights: Mat::from_fn(pair[0], pair[1], |i, j| f64::from(weights[i * pair[1] + j])),
            bias: Some(bias.iter().map(|&b| f64::from(b)).collect()),
        });
    }
    let shape = MlpShape {
        hidden: vec![WIDTHS[1]],
        ..MlpShape::default()
    };
    let phi: AnyRepresentation = Mlp::new(layers, Activation::Relu).unwrap().into();
    let own = shape.restore(&phi).unwrap();

    let mut rng = derive(5, Purpose::Weights, &[]);
    let x: Vec<f32> = (0..300 * WIDTHS[0])
        .map(|_| rand::RngExt::random_range(&mut rng, -2.0..2.0))
        .collect();
    let rows = MatRef::from_row_major_slice(&x, 300, WIDTHS[0]);
    let ((theirs, pulled), (ours, gradient)) = (pass(&twin, rows), pass(&own, rows));
    let (first, second) = pulled.split_at((WIDTHS[0] + 1) * WIDTHS[1]);
    let (weights, bias) = first.split_at(WIDTHS[0] * WIDTHS[1]);
    let (more, last) = second.split_at(WIDTHS[1] * WIDTHS[2]);
    let ordered = [weights, more, bias, last].concat();
    for (ours, theirs) in [(ours, theirs), (gradient, ordered)] {
        assert_eq!(ours.len(), theirs.len());
        let largest = theirs.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
        assert!(largest > 0.1, "the largest is {largest}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert!((ours - theirs).abs() <= 1e-5 * largest, "{ours} {theirs}");
        }
    }
}
