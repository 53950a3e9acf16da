use taskscout_worlds::flights::{FlightsConfig, Programme, Vehicle, simulate_flights, write};

use super::named;

fn short(seed: u64) -> FlightsConfig {
    FlightsConfig {
        rows: 40,
        seed,
        ..FlightsConfig::default()
    }
}

fn texts(config: &FlightsConfig) -> Vec<String> {
    let flights = simulate_flights(config).unwrap();
    flights.iter().map(|flight| flight.to_csv()).collect()
}

#[test]
fn same_seed_same_bytes_on_any_number_of_threads() {
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let many = rayon::ThreadPoolBuilder::new()
        .num_threads(4)
        .build()
        .unwrap();
    let first = alone.install(|| texts(&short(5)));
    assert_eq!(first, many.install(|| texts(&short(5))));
    let other = texts(&short(6));
    assert!(first.iter().zip(&other).all(|(a, b)| a != b));
}

#[test]
fn a_flight_does_not_depend_on_the_others() {
    let all = simulate_flights(&short(1)).unwrap();
    let one = FlightsConfig {
        programmes: vec![Programme {
            conditions: vec!["40wind".into()],
            ..Programme::wren()
        }],
        ..short(1)
    };
    let alone = simulate_flights(&one).unwrap();
    assert_eq!(&alone[0], named(&all, "wren_random_pid_40wind"));
}

/// The numbers of a cell, brackets and quotes taken away.
fn numbers(cell: &str) -> Vec<f64> {
    cell.replace(['[', ']', '"'], " ")
        .split(',')
        .map(|number| number.trim().parse().unwrap())
        .collect()
}

/// Splits at commas outside quotes.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

#[test]
fn both_styles_say_what_was_flown() {
    let flights = simulate_flights(&short(2)).unwrap();
    let rich = named(&flights, "hawk_figure8_adaptive_70p20sint");
    let text = rich.to_csv();
    let mut lines = text.lines();
    let header: Vec<String> = cells(lines.next().unwrap());
    assert_eq!(
        header.join(","),
        ",t,p,p_d,v,v_d,q,R,w,T_sp,q_sp,hover_throttle,fa,pwm"
    );
    for (index, (line, row)) in lines.zip(&rich.rows).enumerate() {
        let cells = cells(line);
        assert_eq!(cells.len(), header.len(), "{line}");
        let of = |name: &str| numbers(&cells[header.iter().position(|n| n == name).unwrap()]);
        assert_eq!(cells[0], index.to_string());
        assert_eq!(of("t"), [row.time_s]);
        assert_eq!(of("v"), row.velocity_m_s);
        assert_eq!(of("q"), row.quaternion);
        assert_eq!(of("fa"), row.force_n);
        assert_eq!(of("pwm"), row.pwm);
        assert_eq!(of("R").len(), 9);
        assert_eq!(of("T_sp"), [row.thrust_share]);
    }
    assert_eq!(cells(text.lines().nth(1).unwrap())[1], "0.0");

    let compact = named(&flights, "wren_random_pid_10wind");
    let text = compact.to_csv();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), r#""n","t","v","q","pwm","fa""#);
    assert_eq!(lines.clone().count(), 40);
    for (index, (line, row)) in lines.zip(&compact.rows).enumerate() {
        assert!(line.starts_with(&format!("\"{index}\",\"")) && line.ends_with("]\""));
        let cells = cells(line);
        for (cell, values) in [
            (&cells[2], &row.velocity_m_s[..]),
            (&cells[3], &row.quaternion),
            (&cells[4], &row.pwm),
            (&cells[5], &row.force_n),
        ] {
            for (number, value) in numbers(cell).iter().zip(values) {
                assert!((number - value).abs() <= 5.1e-5 * value.abs(), "{line}");
            }
        }
    }
    assert_eq!(cells(text.lines().nth(2).unwrap())[1], "6.02");
}

#[test]
fn flights_are_written_into_a_folder() {
    let flights = simulate_flights(&short(0)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &flights).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 16);
    for flight in &flights {
        let text = std::fs::read_to_string(folder.path().join(&flight.file_name)).unwrap();
        assert_eq!(text, flight.to_csv());
    }
    let missing = write(&folder.path().join("missing"), &flights).unwrap_err();
    assert!(missing.to_string().contains("create its folder first"));
}

#[test]
fn bad_settings_are_refused_and_a_lost_flight_is_named() {
    let says = |config: FlightsConfig, part: &str| {
        let error = simulate_flights(&config).unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` in: {error}");
    };
    let with = |programme: Programme| FlightsConfig {
        programmes: vec![programme],
        ..short(0)
    };
    says(
        FlightsConfig {
            rows: 0,
            ..short(0)
        },
        "`rows` is 0",
    );
    says(
        FlightsConfig {
            noise: f64::NAN,
            ..short(0)
        },
        "`noise` is NaN",
    );
    let storm = Programme {
        conditions: vec!["storm".into()],
        ..Programme::hawk()
    };
    says(with(storm), "has `storm`: give nowind");
    let heavy = Vehicle {
        mass_kg: 10.0,
        ..Vehicle::hawk()
    };
    let heavy = Programme {
        vehicle: heavy,
        ..Programme::hawk()
    };
    says(with(heavy), "1.2 times the weight");
    let twice = FlightsConfig {
        programmes: vec![Programme::wren(), Programme::wren()],
        ..short(0)
    };
    says(twice, "twice");
    let none = FlightsConfig {
        programmes: vec![],
        ..short(0)
    };
    says(none, "no flight");
    let kite = Vehicle {
        quadratic_drag: [2.0; 3],
        ..Vehicle::hawk()
    };
    let kite = Programme {
        vehicle: kite,
        conditions: vec!["100wind".into()],
        ..Programme::hawk()
    };
    says(with(kite), "hawk_figure8_pid_100wind.csv at");
}
