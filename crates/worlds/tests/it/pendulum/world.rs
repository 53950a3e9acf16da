//! The world that studies collect from.

use taskscout::features::FeatureMap;
use taskscout::source::TaskSource as _;
use taskscout::space::TaskSpace as _;
use taskscout::task::Task;
use taskscout::train::{Predictor, PredictorKind};
use taskscout_worlds::pendulum::{
    Motion, Pendulum, PendulumConfig, Policy, Settings, State, TaskFeatures, simulate,
};

use super::{GUSTY, close, environment, rng};

/// Still air, nominal gravity, no quadratic damping: the residual is a polynomial of `θ̇`.
const STILL: [f64; 5] = [0.0, 0.0, 0.81, 0.0, -1.0];

fn config() -> PendulumConfig {
    PendulumConfig {
        input_features: FeatureMap::monomials(2, vec![vec![0, 1], vec![0, 3]]).unwrap(),
        task_features: TaskFeatures::Affine,
        noise: 0.5,
        targets: vec![GUSTY.to_vec(), STILL.to_vec()],
        episode_steps: None,
        start_range: [0.0, 0.0],
    }
}

fn predictor(coefficients: Vec<Vec<f64>>) -> Predictor {
    Predictor {
        kind: PredictorKind::TargetOnly,
        coefficients,
        head: None,
        held_out_error: None,
    }
}

#[test]
fn samples_are_a_random_run_from_rest() {
    let mut world = Pendulum::new(config()).unwrap();
    let rows = world.sample(&Task::from(&GUSTY), 250, &mut rng(1)).unwrap();
    let windy = environment(GUSTY);
    let run = simulate(
        &windy,
        &Settings::default(),
        Policy::Random,
        250,
        &mut rng(1),
    )
    .unwrap();
    assert_eq!(rows.outputs(), run.labels_nm);
    for (i, row) in rows.inputs().chunks(2).enumerate() {
        assert_eq!(row, [run.angles_rad[i], run.velocities_rad_s[i]]);
    }
    assert_eq!(rows.episodes(), Some(&[0; 250][..]));
    assert_eq!(world.sample_target(0, 250, &mut rng(1)).unwrap(), rows);
    assert!(world.space().contains(&GUSTY));
}

#[test]
fn a_trajectory_goes_on_over_batches() {
    for episode_steps in [None, Some(64)] {
        let world = Pendulum::new(PendulumConfig {
            episode_steps,
            ..config()
        })
        .unwrap();
        let (mut motion, mut generator) = (Motion::default(), rng(2));
        let mut inputs = Vec::new();
        let mut episodes = Vec::new();
        // Batches end inside pushes and episodes.
        for n in [37, 0, 91, 72] {
            let batch = world
                .sample_from(&GUSTY, n, &mut motion, &mut generator)
                .unwrap();
            inputs.extend_from_slice(batch.inputs());
            episodes.extend_from_slice(batch.episodes().unwrap());
        }
        let (mut once, mut generator) = (Motion::default(), rng(2));
        let whole = world
            .sample_from(&GUSTY, 200, &mut once, &mut generator)
            .unwrap();
        assert_eq!(whole.inputs(), inputs);
        assert_eq!(whole.episodes().unwrap(), episodes);
        assert_eq!(motion, once);
    }
}

#[test]
fn episodes_start_at_rest() {
    let mut world = Pendulum::new(PendulumConfig {
        episode_steps: Some(30),
        ..config()
    })
    .unwrap();
    let rows = world.sample(&Task::from(&GUSTY), 100, &mut rng(3)).unwrap();
    let episodes: Vec<u64> = (0..100).map(|row| row / 30).collect();
    assert_eq!(rows.episodes(), Some(&episodes[..]));
    for (i, row) in rows.inputs().chunks(2).enumerate() {
        assert_eq!(row == [0.0, 0.0], i % 30 == 0, "row {i}");
    }
}

#[test]
fn a_run_begins_where_its_motion_stands() {
    let world = Pendulum::new(PendulumConfig {
        start_range: [1.0, 2.0],
        ..config()
    })
    .unwrap();
    let start = State {
        angle_rad: 0.7,
        velocity_rad_s: 0.0,
    };
    let first = |mut motion: Motion| {
        let rows = world.sample_from(&GUSTY, 3, &mut motion, &mut rng(4));
        rows.unwrap().inputs()[..2].to_vec()
    };
    assert_eq!(first(Motion::new(start)), [0.7, 0.0]);
    // An untouched one is released as the configuration says.
    let released = first(Motion::default());
    assert!(released[0].abs() > 0.0 && released[1].abs() > 0.0);
}

#[test]
fn the_loss_of_the_truth_is_zero_and_that_of_nothing_is_not() {
    let world = Pendulum::new(config()).unwrap();
    // f = −(l²/2 + α₁) θ̇ − l⁴ θ̇³ in still air.
    let truth = predictor(vec![vec![-0.125 - 0.5, -0.0625]]);
    assert!(world.target_loss(1, &truth).unwrap() < 1e-20);
    // A constant error on θ̇ costs its square times the mean square of θ̇ under the random policy.
    let off = predictor(vec![vec![-0.125 - 0.4, -0.0625]]);
    let rows = world.sample_target(1, 200_000, &mut rng(4)).unwrap();
    let squares: f64 = rows.inputs().chunks(2).map(|row| row[1] * row[1]).sum();
    let expected = 0.01 * squares / rows.len() as f64;
    let found = world.target_loss(1, &off).unwrap();
    assert!(close(found / expected, 1.0, 0.1), "{found} {expected}");
}

#[test]
fn the_loss_of_a_target_does_not_depend_on_the_others() {
    let alone = Pendulum::new(PendulumConfig {
        targets: vec![STILL.to_vec()],
        ..config()
    })
    .unwrap();
    let nothing = predictor(vec![vec![0.0, 0.0]]);
    let beside = Pendulum::new(config()).unwrap();
    let loss = beside.target_loss(1, &nothing).unwrap();
    assert_eq!(
        loss.to_bits(),
        alone.target_loss(0, &nothing).unwrap().to_bits()
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |change: &dyn Fn(&mut PendulumConfig)| {
        let mut config = config();
        change(&mut config);
        Pendulum::new(config).unwrap_err().to_string()
    };
    let message = refused(&|config| config.targets[1][2] = 1.5);
    assert_eq!(
        message,
        "`targets` row 1: w3 (gravity) is 1.5, but it must be from -1 to 1"
    );
    assert!(refused(&|config| config.targets[0] = vec![0.0]).contains("row 0 has 1 values"));
    assert!(refused(&|config| config.noise = f64::NAN).starts_with("`noise` is NaN"));
    assert!(refused(&|config| config.episode_steps = Some(0)).starts_with("`episode_steps`"));
    for range in [[-0.1, 0.0], [4.0, 0.0], [1.0, f64::NAN]] {
        assert!(refused(&|config| config.start_range = range).starts_with("`start_range`"));
    }
    let three = |config: &mut PendulumConfig| {
        config.input_features = FeatureMap::identity(3).unwrap();
    };
    assert!(refused(&three).starts_with("`input_features` take 3 inputs"));

    let mut world = Pendulum::new(config()).unwrap();
    let outside = world
        .sample(&Task::from(&[2.0, 0.0, 0.0, 0.0, 0.0]), 5, &mut rng(0))
        .unwrap_err();
    assert!(
        outside.to_string().contains("w1 (wind x) is 2"),
        "{outside}"
    );
    let absent = world.sample_target(2, 5, &mut rng(0)).unwrap_err();
    assert!(
        absent.to_string().contains("there is no target 2"),
        "{absent}"
    );
    let two = predictor(vec![vec![0.0, 0.0]; 2]);
    assert!(
        world
            .target_loss(0, &two)
            .unwrap_err()
            .to_string()
            .contains("2 outputs")
    );
}
