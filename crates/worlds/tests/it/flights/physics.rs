use taskscout_worlds::flights::{PWM_IDLE, PWM_RANGE, Row, SimulatedFlight, Vehicle};

use super::{flights, named};

const LEVEL: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

fn mean(flight: &SimulatedFlight, value: impl Fn(&Row) -> f64) -> f64 {
    flight.rows.iter().map(value).sum::<f64>() / flight.rows.len() as f64
}

fn deviation(flight: &SimulatedFlight, value: impl Fn(&Row) -> f64) -> f64 {
    let middle = mean(flight, &value);
    mean(flight, |row| (value(row) - middle).powi(2)).sqrt()
}

#[test]
fn hovering_in_still_air_needs_no_force() {
    for vehicle in [Vehicle::hawk(), Vehicle::wren()] {
        let force = vehicle.force([0.0; 3], LEVEL, vehicle.weight_n(), [0.0; 3]);
        assert!(force.iter().all(|value| value.abs() < 1e-12), "{force:?}");
    }
}

#[test]
fn drag_opposes_the_air_speed_and_bends() {
    let vehicle = Vehicle {
        induced: 0.0,
        ..Vehicle::hawk()
    };
    let tilted = [0.95, 0.1, 0.2, 0.0];
    let length = tilted.iter().map(|value| value * value).sum::<f64>().sqrt();
    let tilted = tilted.map(|value| value / length);
    let against = |velocity: [f64; 3], wind: [f64; 3]| {
        let force = vehicle.force(velocity, tilted, vehicle.weight_n(), wind);
        (0..3)
            .map(|axis| force[axis] * (velocity[axis] - wind[axis]))
            .sum::<f64>()
    };
    for velocity in [[1.0, 0.0, 0.0], [-2.0, 1.0, 0.5], [0.3, -4.0, -1.0]] {
        for wind in [[0.0; 3], [8.0, 0.0, 0.0]] {
            assert!(against(velocity, wind) < 0.0, "{velocity:?} in {wind:?}");
        }
    }
    // Twice the air speed, more than twice the force.
    let force = |speed: f64| vehicle.force([speed, 0.0, 0.0], LEVEL, vehicle.weight_n(), [0.0; 3]);
    assert!(force(8.0)[0] < 2.2 * force(4.0)[0]);
    // Rotors under more thrust drag more, and a tilt turns the force.
    let heavy = vehicle.force([4.0, 0.0, 0.0], LEVEL, 2.0 * vehicle.weight_n(), [0.0; 3]);
    assert!(heavy[0] < force(4.0)[0] - 0.1);
    let turned = vehicle.force([4.0, 0.0, 0.0], tilted, vehicle.weight_n(), [0.0; 3]);
    assert!(turned[2].abs() > 0.05, "{turned:?}");
}

#[test]
fn more_wind_is_more_force_and_none_is_nearly_none() {
    let flights = flights();
    for (stem, winds) in [
        (
            "hawk_figure8_pid",
            &["nowind", "35wind", "70wind", "100wind"][..],
        ),
        (
            "hawk_figure8_adaptive",
            &["nowind", "35wind", "70wind", "100wind"],
        ),
        (
            "wren_random_pid",
            &["nowind", "10wind", "20wind", "30wind", "40wind", "50wind"],
        ),
    ] {
        let means: Vec<f64> = winds
            .iter()
            .map(|wind| {
                mean(named(&flights, &format!("{stem}_{wind}")), |row| {
                    row.force_n[0]
                })
            })
            .collect();
        assert!(means.is_sorted(), "{stem}: {means:?}");
        let weight = named(&flights, &format!("{stem}_nowind"))
            .vehicle
            .weight_n();
        assert!(means[0].abs() < 0.01 * weight, "{stem}: {means:?}");
        assert!(means[winds.len() - 1] > 0.1 * weight, "{stem}: {means:?}");
    }
}

#[test]
fn gusts_swing_the_force_with_the_time() {
    let flights = flights();
    let steady = named(&flights, "hawk_figure8_pid_70wind");
    let gusty = named(&flights, "hawk_figure8_pid_70p20sint");
    let force = |row: &Row| row.force_n[0];
    assert!(deviation(gusty, force) > 1.2 * deviation(steady, force));
    assert!((gusty.wind.at(0.0) - 8.5).abs() < 1e-12);
    assert!((gusty.wind.at(std::f64::consts::FRAC_PI_2) - 10.9).abs() < 1e-12);
}

#[test]
fn vehicles_and_methods_differ() {
    let flights = flights();
    let pid = named(&flights, "hawk_figure8_pid_70wind");
    let adaptive = named(&flights, "hawk_figure8_adaptive_70wind");
    let wren = named(&flights, "wren_random_pid_nowind");
    let hawk = named(&flights, "hawk_figure8_pid_nowind");
    let off = |row: &Row| {
        (0..3)
            .map(|axis| (row.position_m[axis] - row.wanted_position_m[axis]).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    let (a, b) = (mean(pid, off), mean(adaptive, off));
    assert!((a - b).abs() > 0.02 * a.max(b), "{a} and {b}");
    let pwm = |row: &Row| row.pwm.iter().sum::<f64>() / 4.0;
    assert!((mean(hawk, pwm) - mean(wren, pwm)).abs() > 20.0);
    let still = [3.0, 0.0, 0.0];
    let force = |vehicle: &Vehicle| vehicle.force(still, LEVEL, vehicle.weight_n(), [0.0; 3]);
    assert!(force(&hawk.vehicle)[0] < 1.5 * force(&wren.vehicle)[0]);
}

#[test]
fn every_flight_keeps_to_its_course_and_to_its_rotors() {
    for flight in flights() {
        let name = &flight.file_name;
        for row in &flight.rows {
            let off = (0..3)
                .map(|axis| (row.position_m[axis] - row.wanted_position_m[axis]).powi(2))
                .sum::<f64>()
                .sqrt();
            assert!(off < 1.0, "{name}: {off} m off at {} s", row.time_s);
            let length: f64 = row.quaternion.iter().map(|value| value * value).sum();
            assert!((length - 1.0).abs() < 1e-12, "{name}");
            assert!(row.position_m[2] > 0.0, "{name} in the ground");
            let margin = 6.0 * flight.vehicle.pwm_noise;
            for pwm in row.pwm {
                assert!(
                    (PWM_IDLE - margin..=PWM_IDLE + PWM_RANGE + margin).contains(&pwm),
                    "{name}: {pwm}"
                );
            }
        }
        assert!(
            deviation(&flight, |row| row.pwm[0]) > 5.0,
            "{name} is too calm"
        );
        assert!(
            deviation(&flight, |row| row.velocity_m_s[1]) > 0.3,
            "{name}"
        );
    }
}

/// The logged motion obeys Newton's law with the logged force: the acceleration that the
/// velocities show is the one that thrust, gravity and force give.
#[test]
fn motion_and_force_agree() {
    let flights =
        taskscout_worlds::flights::simulate_flights(&taskscout_worlds::flights::FlightsConfig {
            rows: 500,
            noise: 0.0,
            ..Default::default()
        })
        .unwrap();
    for flight in &flights {
        let vehicle = &flight.vehicle;
        let mut worst: f64 = 0.0;
        for pair in flight.rows.windows(2) {
            let (row, next) = (&pair[0], &pair[1]);
            let thrust: f64 = row
                .pwm
                .iter()
                .map(|pwm| vehicle.rotor_thrust_n * ((pwm - PWM_IDLE) / PWM_RANGE).powi(2))
                .sum();
            let [w, x, y, z] = row.quaternion;
            let up = [
                2.0 * (x * z + w * y),
                2.0 * (y * z - w * x),
                1.0 - 2.0 * (x * x + y * y),
            ];
            for (axis, up) in up.into_iter().enumerate() {
                let gravity = if axis == 2 { 9.81 } else { 0.0 };
                let shown = (next.velocity_m_s[axis] - row.velocity_m_s[axis]) / 0.02;
                let given = (thrust * up + row.force_n[axis]) / vehicle.mass_kg - gravity;
                worst = worst.max((shown - given).abs());
            }
        }
        // The attitude turns within a step, by a few degrees at most.
        assert!(worst < 1.5, "{}: {worst} m/s²", flight.file_name);
    }
}
