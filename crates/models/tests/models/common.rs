//! Models with random numbers, of every kind.

use faer::Mat;
use rand_distr::{Distribution as _, StandardNormal};
use taskscout::features::{
    FeatureMap, Features as _, NetworkFeatures, NetworkLayer, Split, Tree, Trees,
};
use taskscout::model::{
    Activation, AnyRepresentation, Layer, Linear, Mlp, Representation as _, TaskEmbeddingMap,
};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::Space;
use taskscout::train::{Predictor, PredictorKind, TargetHead};
use taskscout_models::{Affine, Basis, Names, Parts, Provenance, SavedModel, Tasks, Uncertainty};

/// Outputs of every model here.
pub(crate) const OUTPUTS: usize = 2;

/// How features become predictions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Coefficients on features, errors on features too.
    Features,
    /// A matrix, collapsed into coefficients on features; errors on its `k` numbers.
    Linear,
    /// A network with a head, plus coefficients on features.
    Mlp { activation: Activation, bias: bool },
}

pub(crate) const KINDS: [Kind; 6] = [
    Kind::Features,
    Kind::Linear,
    Kind::Mlp {
        activation: Activation::Relu,
        bias: false,
    },
    Kind::Mlp {
        activation: Activation::Relu,
        bias: true,
    },
    Kind::Mlp {
        activation: Activation::Tanh,
        bias: false,
    },
    Kind::Mlp {
        activation: Activation::Tanh,
        bias: true,
    },
];

/// Trees of different depth over three inputs.
fn trees() -> FeatureMap {
    let mut rng = derive(8, Purpose::Features, &[]);
    let mut value = || -> f64 { StandardNormal.sample(&mut rng) };
    let all = (0..9_usize).map(|at| Tree {
        splits: (0..1 + at % 4)
            .map(|bit| Split {
                input: (at + bit) % 3,
                above: value(),
            })
            .collect(),
        leaves: (0..2 << (at % 4)).map(|_| value()).collect(),
    });
    FeatureMap::Trees(Trees::new(3, 0.3, all.collect()).unwrap())
}

/// A network from three inputs to two features.
fn network() -> FeatureMap {
    let mut rng = derive(9, Purpose::Features, &[]);
    let mut value = || -> f64 { StandardNormal.sample(&mut rng) };
    let mut layer = |inputs: usize, outputs: usize| NetworkLayer {
        weights: (0..outputs)
            .map(|_| (0..inputs).map(|_| value()).collect())
            .collect(),
        bias: vec![0.1; outputs],
    };
    let layers = vec![layer(3, 6), layer(6, 4), layer(4, 2)];
    FeatureMap::Network(NetworkFeatures::new(layers).unwrap())
}

/// Every feature map that a file can hold.
pub(crate) fn maps() -> Vec<(&'static str, FeatureMap)> {
    let picked = vec![vec![2, 1, 0], vec![0, 0, 0], vec![0, 1, 3], vec![1, 0, 0]];
    let (mean, scale) = (vec![0.4, -1.1, 0.0], vec![0.8, 1.7, 1.0 / 3.0]);
    let standardised = |inner| FeatureMap::standardised(mean.clone(), scale.clone(), inner);
    let cosines = FeatureMap::fourier(3, 20, 0.7, 5).unwrap();
    let quadratic = FeatureMap::polynomial(3, 2, true).unwrap();
    let parts = vec![
        FeatureMap::identity(3).unwrap(),
        standardised(cosines.clone()).unwrap(),
        quadratic.clone(),
    ];
    vec![
        ("identity", FeatureMap::identity(5).unwrap()),
        ("fourier", FeatureMap::fourier(4, 30, 1.0, 3).unwrap()),
        ("polynomial", FeatureMap::polynomial(3, 3, true).unwrap()),
        ("no-constant", FeatureMap::polynomial(2, 4, false).unwrap()),
        ("linear-terms", FeatureMap::polynomial(3, 1, true).unwrap()),
        ("monomials", FeatureMap::monomials(3, picked).unwrap()),
        (
            "one-hot-polynomial",
            FeatureMap::one_hot_polynomial(3, 2, 2, true).unwrap(),
        ),
        ("standardised", standardised(quadratic).unwrap()),
        (
            "standardised-fourier",
            standardised(cosines.clone()).unwrap(),
        ),
        ("trees", trees()),
        ("network", network()),
        (
            "stacked-learnt",
            FeatureMap::stacked(vec![FeatureMap::identity(3).unwrap(), trees(), network()])
                .unwrap(),
        ),
        ("stacked", FeatureMap::stacked(parts.clone()).unwrap()),
        (
            "standardised-stacked",
            standardised(FeatureMap::stacked(parts).unwrap()).unwrap(),
        ),
        ("stacked-alone", FeatureMap::stacked(vec![cosines]).unwrap()),
    ]
}

pub(crate) fn normals(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(rng)).collect()
}

/// A matrix whose products with unit normals are of unit size.
pub(crate) fn matrix(rng: &mut Rng, rows: usize, columns: usize) -> Mat<f64> {
    let values = normals(rng, rows * columns);
    let size = (rows as f64).sqrt();
    Mat::from_fn(rows, columns, |i, j| values[i * columns + j] / size)
}

fn rows(matrix: &Mat<f64>) -> Vec<Vec<f64>> {
    let row = |j| (0..matrix.nrows()).map(|i| matrix[(i, j)]).collect();
    (0..matrix.ncols()).map(row).collect()
}

fn mlp(rng: &mut Rng, d: usize, activation: Activation, bias: bool) -> AnyRepresentation {
    let sizes = [d, 8, 6, 3];
    let layers = sizes
        .windows(2)
        .map(|size| Layer {
            weights: matrix(rng, size[0], size[1]),
            bias: bias.then(|| normals(rng, size[1])),
        })
        .collect();
    Mlp::new(layers, activation).unwrap().into()
}

/// A model with random numbers everywhere.
pub(crate) fn random(map: &FeatureMap, kind: Kind, scaled: bool, seed: u64) -> SavedModel {
    let mut rng = derive(seed, Purpose::Test, &[]);
    let d = map.dim();
    let phi: AnyRepresentation = match kind {
        Kind::Features | Kind::Linear => {
            Linear::from_matrix(matrix(&mut rng, d, 3)).unwrap().into()
        }
        Kind::Mlp { activation, bias } => mlp(&mut rng, d, activation, bias),
    };
    let head = rows(&matrix(&mut rng, 3, OUTPUTS));
    let own = rows(&matrix(&mut rng, d, OUTPUTS));
    let (coefficients, head, predictor) = match (&phi, kind) {
        (AnyRepresentation::Linear(linear), Kind::Linear) => {
            let collapsed = head.iter().map(|head| linear.coefficients(head)).collect();
            (collapsed, None, PredictorKind::Shared)
        }
        (_, Kind::Mlp { .. }) => {
            let head = TargetHead {
                representation: phi.clone(),
                coefficients: head,
            };
            (own, Some(head), PredictorKind::SharedResidual)
        }
        _ => (own, None, PredictorKind::TargetOnly),
    };
    let (basis, dim) = match kind {
        Kind::Features => (Basis::Features, d),
        _ => (Basis::Representation, phi.dim()),
    };
    let mut affine = |n: usize, mean: f64| Affine {
        mean: normals(&mut rng, n).iter().map(|z| mean + z).collect(),
        scale: normals(&mut rng, n).iter().map(|z| 0.5 + z.abs()).collect(),
    };
    let (input_scaling, output_scaling) = match scaled {
        true => (
            Some(affine(map.input_dim(), 100.0)),
            Some(affine(OUTPUTS, -1.0)),
        ),
        false => (None, None),
    };
    let task_dim = 5;
    SavedModel::new(Parts {
        input_features: map.clone(),
        uncertainty: Uncertainty {
            basis,
            noise: vec![0.3, 0.2],
            roots: (0..OUTPUTS).map(|_| matrix(&mut rng, dim, dim)).collect(),
        },
        tasks: Some(Tasks {
            features: FeatureMap::identity(4).unwrap(),
            map: TaskEmbeddingMap::new(matrix(&mut rng, phi.dim(), OUTPUTS * task_dim), task_dim),
            target: vec![0.0, 0.0, 0.0, 0.0, 1.0],
            space: Some(Space::ball(4, 1.0).unwrap()),
        }),
        representation: Some(phi),
        predictor: Predictor {
            kind: predictor,
            coefficients,
            head,
            held_out_error: Some(0.25),
        },
        input_scaling,
        output_scaling,
        provenance: Provenance {
            version: "0.1.0".into(),
            study: "a \"test\" – with umlauts: ä".into(),
            seed,
            ..Provenance::default()
        },
        names: Names {
            inputs: (0..map.input_dim())
                .map(|i| format!("ä \"{i}\"\n"))
                .collect(),
            outputs: (0..OUTPUTS).map(|i| format!("y{i}")).collect(),
            ..Names::default()
        },
    })
    .unwrap()
}

/// Inputs that are of unit size once scaled.
pub(crate) fn inputs(model: &SavedModel, n: usize, seed: u64) -> Vec<f64> {
    let mut rng = derive(seed, Purpose::Test, &[1]);
    let width = model.input_dim();
    let mut rows = normals(&mut rng, n * width);
    if let Some(scaling) = &model.parts().input_scaling {
        for (at, value) in rows.iter_mut().enumerate() {
            *value = *value * scaling.scale[at % width] + scaling.mean[at % width];
        }
    }
    rows
}
