//! Simulated runs: noise, pushes, determinism, errors.

use rayon::ThreadPoolBuilder;
use taskscout::Error;
use taskscout_worlds::pendulum::{
    EXCITATION_STEPS, EXCITATION_TORQUE_NM, Environment, LENGTH_M, MASS_KG, NOMINAL_GRAVITY_M_S2,
    Policy, Settings, State, Trajectory, generator, rk4, simulate, simulate_many,
};

use super::{GUSTY, close, environment, rng};

fn random_run(steps: usize, seed: u64) -> Trajectory {
    let settings = Settings::default();
    let windy = environment(GUSTY);
    simulate(&windy, &settings, Policy::Random, steps, &mut rng(seed)).unwrap()
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    (mean, (square / n).sqrt())
}

#[test]
fn every_step_is_a_runge_kutta_step_with_torque_and_noise_held() {
    let windy = environment(GUSTY);
    let run = random_run(200, 1);
    for i in 0..run.len() - 1 {
        let state = [run.angles_rad[i], run.velocities_rad_s[i]];
        // The draw on the label is the draw on the acceleration.
        let xi = run.labels_nm[i] - run.residuals_nm[i];
        let next = rk4(state, 0.01, |[angle, velocity]| {
            let pushed = windy.acceleration(angle, velocity, run.controls_nm[i]);
            [velocity, pushed + xi]
        });
        assert!(close(next[0], run.angles_rad[i + 1], 1e-12), "step {i}");
        assert!(
            close(next[1], run.velocities_rad_s[i + 1], 1e-12),
            "step {i}"
        );
        let residual = windy.residual(state[0], state[1]);
        assert!(close(run.residuals_nm[i], residual, 1e-12), "step {i}");
    }
}

#[test]
fn labels_carry_white_noise_of_the_given_size() {
    let run = random_run(40_000, 2);
    let pairs = run.labels_nm.iter().zip(&run.residuals_nm);
    let noise: Vec<f64> = pairs.map(|(label, residual)| label - residual).collect();
    let (mean, deviation) = moments(&noise);
    // Four standard errors of each.
    assert!(close(mean, 0.0, 0.01), "{mean}");
    assert!(close(deviation, 0.5, 0.0071), "{deviation}");
    let neighbours: Vec<f64> = noise.windows(2).map(|pair| pair[0] * pair[1]).collect();
    assert!(moments(&neighbours).0.abs() < 0.005);
}

#[test]
fn pushes_are_clipped_and_held_for_ten_steps() {
    let run = random_run(40_000, 3);
    let inertia = MASS_KG * LENGTH_M * LENGTH_M;
    let push = |i: usize| {
        let (angle, velocity) = (run.angles_rad[i], run.velocities_rad_s[i]);
        let steady = inertia * (-3.0 * velocity - 2.25 * angle)
            - MASS_KG * LENGTH_M * NOMINAL_GRAVITY_M_S2 * angle.sin();
        (run.controls_nm[i] - steady) / EXCITATION_TORQUE_NM
    };
    let pushes: Vec<f64> = (0..run.len()).map(push).collect();
    let blocks: Vec<&[f64]> = pushes.chunks(EXCITATION_STEPS).collect();
    for block in &blocks {
        assert!(block.iter().all(|&push| close(push, block[0], 1e-9)));
    }
    let firsts: Vec<f64> = blocks.iter().map(|block| block[0]).collect();
    assert!(
        firsts
            .windows(2)
            .filter(|pair| close(pair[0], pair[1], 1e-9))
            .count()
            < 3
    );
    let (mean, deviation) = moments(&firsts);
    // A normal clipped at three deviations has 0.995 of its variance; four standard errors.
    assert!(close(mean, 0.0, 0.0064), "{mean}");
    assert!(close(deviation, 0.0998, 0.0045), "{deviation}");
    assert!(firsts.iter().all(|push| push.abs() <= 0.3 + 1e-9));
    // Clipped, not drawn again: of 4,000 pushes some eleven lie at the limit.
    let clipped = firsts.iter().filter(|push| push.abs() > 0.3 - 1e-9).count();
    assert!((2..=24).contains(&clipped), "{clipped}");
}

#[test]
fn without_noise_labels_are_the_residuals() {
    let settings = Settings {
        noise: 0.0,
        ..Settings::default()
    };
    let windy = environment(GUSTY);
    let run = simulate(&windy, &settings, Policy::Random, 300, &mut rng(0)).unwrap();
    assert_eq!(run.labels_nm, run.residuals_nm);
}

#[test]
fn policies_differ_by_their_model_alone() {
    let windy = environment(GUSTY);
    let settings = Settings {
        start: State {
            angle_rad: 1.0,
            velocity_rad_s: -0.5,
        },
        ..Settings::default()
    };
    let run = |policy| simulate(&windy, &settings, policy, 200, &mut rng(4)).unwrap();
    let truth = |angle, velocity| windy.residual(angle, velocity);
    assert_eq!(run(Policy::Model(&truth)), run(Policy::True));
    assert_eq!(run(Policy::Model(&|_, _| 0.0)), run(Policy::NoModel));
    assert_ne!(run(Policy::True), run(Policy::NoModel));
}

fn many() -> Vec<Environment> {
    let task = |i: i32| [0.1 * f64::from(i - 4), 0.2, -0.3, 0.0, 0.1 * f64::from(i)];
    (0..9).map(|i| environment(task(i))).collect()
}

#[test]
fn many_tasks_give_the_same_bytes_on_any_number_of_threads() {
    let (tasks, settings) = (many(), Settings::default());
    let one_by_one: Vec<Trajectory> = tasks
        .iter()
        .enumerate()
        .map(|(i, task)| {
            simulate(task, &settings, Policy::Random, 500, &mut generator(5, i)).unwrap()
        })
        .collect();
    for threads in [1, 2, 7] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let runs = pool
            .install(|| simulate_many(&tasks, &settings, Policy::Random, 500, 5))
            .unwrap();
        assert_eq!(runs, one_by_one, "{threads} threads");
    }
    assert_ne!(one_by_one[0].labels_nm, one_by_one[1].labels_nm);
}

#[test]
fn a_runaway_names_step_task_and_remedy() {
    let fast = Settings {
        start: State {
            angle_rad: 0.0,
            velocity_rad_s: 500.0,
        },
        ..Settings::default()
    };
    let error = simulate_many(&many(), &fast, Policy::NoModel, 100, 0).unwrap_err();
    assert!(matches!(error, Error::Numerical { .. }));
    let message = error.to_string();
    for part in [
        "task 0 [-0.4, 0.2, -0.3, 0, 0]",
        "step 0",
        "smaller step",
        "weaker wind",
    ] {
        assert!(message.contains(part), "`{part}` in: {message}");
    }
    let broken = Policy::Model(&|angle: f64, _| if angle > 0.01 { f64::NAN } else { -1.0 });
    let settings = Settings::default();
    let error = simulate(&environment(GUSTY), &settings, broken, 100, &mut rng(0)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the torque of the policy is NaN"),
        "{error}"
    );
}

#[test]
fn settings_out_of_range_are_refused() {
    let at = |velocity_rad_s| State {
        angle_rad: 0.0,
        velocity_rad_s,
    };
    let with = |change: &dyn Fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        let windy = environment(GUSTY);
        let run = simulate(&windy, &settings, Policy::True, 1, &mut rng(0));
        run.unwrap_err().to_string()
    };
    assert!(with(&|settings| settings.step_s = 0.0).starts_with("`step_s` is 0"));
    assert!(with(&|settings| settings.step_s = f64::NAN).starts_with("`step_s` is NaN"));
    assert!(with(&|settings| settings.step_s = 0.2).contains("at most 0.1"));
    assert!(with(&|settings| settings.noise = -1.0).starts_with("`noise` is -1"));
    assert!(with(&|settings| settings.start = at(2e4)).starts_with("`start` is (0, 20000)"));
    assert!(with(&|settings| settings.start = at(f64::NAN)).starts_with("`start`"));
}
