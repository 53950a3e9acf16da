//! The equation of motion and its integration.

use faer::Mat;
use faer::linalg::solvers::Solve as _;
use taskscout::features::apply_row;
use taskscout::space::TaskSpace as _;
use taskscout_worlds::pendulum::{
    DAMPING_GAIN_PER_S, Environment, LENGTH_M, MASS_KG, NOMINAL_GRAVITY_M_S2, POSITION_GAIN_PER_S2,
    TaskFeatures, rk4, space,
};

use super::{GUSTY, close, environment, rng};

type Pair = [f64; 2];

/// Where a method ends after a second from `start` in steps of `1 / steps`.
fn end(
    start: Pair,
    steps: usize,
    method: impl Fn(Pair, f64, &dyn Fn(Pair) -> Pair) -> Pair,
    slope: &dyn Fn(Pair) -> Pair,
) -> Pair {
    let h = 1.0 / steps as f64;
    (0..steps).fold(start, |state, _| method(state, h, slope))
}

fn runge_kutta(state: Pair, h: f64, slope: &dyn Fn(Pair) -> Pair) -> Pair {
    rk4(state, h, slope)
}

fn euler(state: Pair, h: f64, slope: &dyn Fn(Pair) -> Pair) -> Pair {
    let k = slope(state);
    [state[0] + h * k[0], state[1] + h * k[1]]
}

fn distance(a: Pair, b: Pair) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// The observed order of a method: how its error falls when steps are halved.
fn order(method: impl Fn(Pair, f64, &dyn Fn(Pair) -> Pair) -> Pair + Copy) -> f64 {
    // Without quadratic damping the equation is smooth.
    let calm = environment([0.3, -0.2, 0.5, 0.4, -1.0]);
    let slope = |[angle, velocity]: Pair| [velocity, calm.acceleration(angle, velocity, 0.3)];
    let start = [0.4, -0.5];
    let exact = end(start, 12_800, runge_kutta, &slope);
    let error = |steps| distance(end(start, steps, method, &slope), exact);
    (error(50) / error(100)).log2()
}

#[test]
fn the_method_has_order_four_and_euler_would_not() {
    let observed = order(runge_kutta);
    assert!(close(observed, 4.0, 0.15), "order {observed}");
    let observed = order(euler);
    assert!(close(observed, 1.0, 0.15), "order {observed}");
}

#[test]
fn the_residual_is_the_one_computed_by_hand() {
    // c = (1, −0.5), g = 9.5, α₁ = 0.5, α₂ = 1; at θ = π/2, θ̇ = 2: R = (1, −1.5), |R|² = 3.25,
    // F = 3.75 R, torque of the air 0.5 · (−5.625), damping −1 − 4, gravity 0.5 · (−0.31).
    let windy = environment([0.5, -0.25, 0.5, 0.0, 1.0]);
    let expected = -2.8125 - 1.0 - 4.0 - 0.155;
    let found = windy.residual(std::f64::consts::FRAC_PI_2, 2.0);
    assert!(close(found, expected, 1e-12), "{found}");
    // Upright and at rest only the wind along x pushes: 0.5 · (1.25 + 0.5) · 1.
    assert!(close(windy.residual(0.0, 0.0), 0.875, 1e-12));
}

#[test]
fn the_acceleration_is_the_equation_of_motion() {
    let windy = environment(GUSTY);
    let (angle, velocity, torque) = (0.7, -1.3, 0.4);
    let found = windy.acceleration(angle, velocity, torque);
    let left = MASS_KG * LENGTH_M * LENGTH_M * found
        - MASS_KG * LENGTH_M * NOMINAL_GRAVITY_M_S2 * angle.sin();
    assert!(close(left, torque + windy.residual(angle, velocity), 1e-12));
}

#[test]
fn a_pendulum_without_residual_keeps_its_energy() {
    // A torque of −f leaves θ̈ = (ĝ/l) sin θ, which conserves θ̇²/2 + (ĝ/l) cos θ.
    let windy = environment(GUSTY);
    let slope = |[angle, velocity]: Pair| {
        let torque = -windy.residual(angle, velocity);
        [velocity, windy.acceleration(angle, velocity, torque)]
    };
    let energy = |[angle, velocity]: Pair| {
        0.5 * velocity * velocity + NOMINAL_GRAVITY_M_S2 / LENGTH_M * angle.cos()
    };
    let start = [0.2, 0.0];
    let mut state = start;
    for _ in 0..20_000 {
        state = rk4(state, 1e-3, slope);
    }
    // It has swung through the bottom many times by then.
    assert!(close(energy(state), energy(start), 1e-7));
}

#[test]
fn the_true_residual_makes_the_closed_loop_linear() {
    let windy = environment(GUSTY);
    let slope = |[angle, velocity]: Pair| {
        let pull = POSITION_GAIN_PER_S2 * angle + DAMPING_GAIN_PER_S * velocity;
        let torque = -MASS_KG * LENGTH_M * NOMINAL_GRAVITY_M_S2 * angle.sin()
            - windy.residual(angle, velocity)
            - MASS_KG * LENGTH_M * LENGTH_M * pull;
        [velocity, windy.acceleration(angle, velocity, torque)]
    };
    // Both roots of s² + 3 s + 2.25 are −1.5: θ = (θ₀ + (θ̇₀ + 1.5 θ₀) t) e^{−1.5 t}.
    let (angle, velocity) = (1.5, -3.0);
    let mut state = [angle, velocity];
    for step in 1..=500 {
        state = rk4(state, 0.01, slope);
        let t = 0.01 * f64::from(step);
        let exact = (angle + (velocity + 1.5 * angle) * t) * (-1.5 * t).exp();
        assert!(
            close(state[0], exact, 1e-8),
            "at {t} s: {} {exact}",
            state[0]
        );
    }
}

#[test]
fn the_residual_is_linear_in_the_affine_task_features() {
    // Known at as many tasks as there are features, it is known at every other task.
    let map = TaskFeatures::Affine.map().unwrap();
    let (space, mut rng) = (space().unwrap(), rng(3));
    let tasks: Vec<Vec<f64>> = (0..40).map(|_| space.sample(&mut rng).unwrap()).collect();
    let rows: Vec<Vec<f64>> = tasks.iter().map(|task| apply_row(&map, task)).collect();
    let d = rows[0].len();
    let system = Mat::from_fn(d, d, |i, j| rows[i][j]);
    for (angle, velocity) in [(0.3, 1.0), (-2.0, -4.0), (1.2, 0.0)] {
        let label = |i: usize| {
            let environment = Environment::from_task(&tasks[i]).unwrap();
            environment.residual(angle, velocity)
        };
        let coefficients = system
            .partial_piv_lu()
            .solve(Mat::from_fn(d, 1, |i, _| label(i)));
        for (i, row) in rows.iter().enumerate().skip(d) {
            let predicted: f64 = (0..d).map(|j| row[j] * coefficients[(j, 0)]).sum();
            assert!(close(predicted, label(i), 1e-9), "task {i}");
        }
    }
}

#[test]
fn tasks_and_environments_belong_together() {
    let back = environment(GUSTY).task();
    for (a, b) in back.into_iter().zip(GUSTY) {
        assert!(close(a, b, 1e-12));
    }
}

#[test]
fn a_task_outside_the_box_is_named_by_its_parameter() {
    let refused = |task: &[f64]| Environment::from_task(task).unwrap_err().to_string();
    let message = refused(&[0.0, 0.0, 0.0, -1.25, 0.0]);
    assert!(
        message.contains("w4 (linear damping) is -1.25"),
        "{message}"
    );
    assert!(refused(&[0.0, f64::NAN, 0.0, 0.0, 0.0]).contains("w2 (wind y) is NaN"));
    assert!(refused(&[0.0; 4]).contains("has 4 values where 5 are needed"));
}
