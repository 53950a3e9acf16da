//! The controller with and without a model.

use taskscout_worlds::pendulum::{CONTROL_SECONDS, STARTS, Settings, State, control, control_with};

use super::{GUSTY, close, environment, rng};

const START: State = State {
    angle_rad: 1.5,
    velocity_rad_s: -3.0,
};

/// The largest distance of a run with the true residual to the linear closed loop.
fn distance_to_linear(step_s: f64) -> f64 {
    let windy = environment(GUSTY);
    let settings = Settings {
        step_s,
        noise: 0.0,
        start: START,
    };
    let truth = |angle, velocity| windy.residual(angle, velocity);
    let run = control_with(&windy, &truth, &settings, 5.0, &mut rng(0)).unwrap();
    let angles = run.trajectory.angles_rad.iter().enumerate();
    let rate = START.velocity_rad_s + 1.5 * START.angle_rad;
    let off = angles.map(|(step, angle)| {
        let t = run.trajectory.time_s(step);
        (angle - (START.angle_rad + rate * t) * (-1.5 * t).exp()).abs()
    });
    off.fold(0.0, f64::max)
}

#[test]
fn the_loop_with_the_true_residual_becomes_linear_as_steps_get_short() {
    // A torque that is held lags by half a step, so that the distance is in proportion to the step.
    let distances = [1e-3, 5e-4, 2.5e-4].map(distance_to_linear);
    assert!(distances[2] < 1e-3, "{distances:?}");
    for pair in distances.windows(2) {
        assert!(close(pair[0] / pair[1], 2.0, 0.1), "{distances:?}");
    }
}

#[test]
fn knowing_the_residual_helps_from_every_start() {
    // Wind across the upright pendulum; wind from above would steady it by itself.
    for task in [[0.6, 0.4, 0.0, 0.0, 0.0], [-0.5, 0.8, 0.3, 0.2, -0.5]] {
        let windy = environment(task);
        for start in STARTS {
            let truth = |angle, velocity| windy.residual(angle, velocity);
            let known = control(&windy, &truth, start, CONTROL_SECONDS).unwrap();
            let ignored = control(&windy, &|_, _| 0.0, start, CONTROL_SECONDS).unwrap();
            assert!(known.mean_angle_rad < ignored.mean_angle_rad);
            assert_eq!(known.trajectory.len(), 2_000);
            let last = known.trajectory.angles_rad[1_999];
            assert!(last.abs() < 1e-6, "{task:?} {start:?} ends at {last}");
        }
    }
}

#[test]
fn the_measures_are_those_of_the_trajectory() {
    let windy = environment(GUSTY);
    let run = control(&windy, &|_, _| 0.0, START, 0.02).unwrap();
    let (angles, velocities) = (&run.trajectory.angles_rad, &run.trajectory.velocities_rad_s);
    assert_eq!(angles.len(), 2);
    let mean = 0.5 * (angles[0].abs() + angles[1].abs());
    assert!(close(run.mean_angle_rad, mean, 1e-15));
    let square = |i: usize| angles[i] * angles[i] + velocities[i] * velocities[i];
    assert!(close(
        run.rms,
        (0.5 * (square(0) + square(1))).sqrt(),
        1e-15
    ));
}

#[test]
fn a_time_out_of_range_is_refused() {
    let windy = environment(GUSTY);
    for seconds in [0.0, 1e9, f64::NAN] {
        let error = control(&windy, &|_, _| 0.0, START, seconds).unwrap_err();
        assert!(error.to_string().starts_with("`seconds` is"), "{error}");
    }
}
