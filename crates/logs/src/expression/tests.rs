//! What expressions mean, and what is said of those that mean nothing.

#![allow(clippy::float_cmp)] // the numbers are exact

use super::*;

/// A body and a battery at the same times.
fn log() -> Vec<Series> {
    let columns = [
        ("v[0]", [3.0, 4.0, 6.0]),
        ("v[1]", [4.0, 4.0, 8.0]),
        ("v[2]", [0.0, 7.0, 0.0]),
        ("mass", [2.0; 3]),
        ("pose.x", [1.0, 2.0, 4.0]),
    ];
    let columns = columns.map(|(name, values)| Column::new(name, values.to_vec()));
    let time = vec![0.0, 0.5, 1.0];
    let battery = vec![
        Column::new("voltage", vec![16.0, 15.0, 14.0]),
        Column::new("mass", vec![1.0; 3]),
    ];
    let battery = Series::new("battery#1", time.clone(), battery).with_text(vec!["name".into()]);
    let topic = Series::new(
        "/imu/data",
        time.clone(),
        vec![Column::new("w.x", vec![8.0, 9.0, 10.0])],
    );
    vec![Series::new("body", time, columns.to_vec()), battery, topic]
}

fn first(text: &str) -> f64 {
    let found = text
        .parse::<Expression>()
        .unwrap()
        .evaluate(&log())
        .unwrap();
    assert_eq!(found.len(), 1, "{text}");
    found[0].values[0]
}

fn refusal(text: &str) -> String {
    let parsed = text.parse::<Expression>();
    let error = parsed
        .and_then(|parsed| parsed.evaluate(&log()))
        .unwrap_err();
    error.to_string()
}

#[test]
fn arithmetic_has_its_order() {
    for (text, value) in [
        ("1 + 2 * 3 ^ 2", 19.0),
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("8 / 2 / 2", 2.0),
        ("8-2-2", 4.0),
        ("(1 + 2) * -3", -9.0),
        ("+.5e1", 5.0),
        ("1e-3*1E3", 1.0),
        ("sqrt(16) + abs(0-3) + exp(0) + log(1)", 8.0),
        ("sin(0) + cos(0) + tan(0)", 1.0),
        ("min(3, 2, 4) + max(3, 2, 4)", 6.0),
    ] {
        assert_eq!(first(text), value, "{text}");
    }
}

#[test]
fn columns_are_found_by_their_names() {
    for (text, value) in [
        ("body.v[1]", 4.0),
        ("v[1]/1000", 0.004),
        ("norm(v)", 5.0),
        ("norm(v[0:2])", 5.0),
        ("sum(body.v[1:])", 4.0),
        ("max(v)", 4.0),
        ("min(body.v[0], 3.5)", 3.0),
        ("pose.x", 1.0),
        ("body.pose", 1.0),
        ("battery#1.voltage", 16.0),
        ("voltage", 16.0),
        ("/imu/data.w.x/2", 4.0),
        ("`/imu/data`.w.x - 1", 7.0),
        ("2*/imu/data.w.x", 16.0),
        ("next(pose.x) - pose.x", 1.0),
        ("diff(pose.x)/dt", 2.0),
        ("next(next(pose.x))", 4.0),
        ("body.mass * diff(v[0])/dt - 9.81", 2.0 * 2.0 - 9.81),
    ] {
        assert_eq!(first(text), value, "{text}");
    }
}

#[test]
fn several_columns_go_together() {
    let names = |text: &str| -> Vec<String> {
        let found = text
            .parse::<Expression>()
            .unwrap()
            .evaluate(&log())
            .unwrap();
        found.into_iter().map(|column| column.name).collect()
    };
    assert_eq!(names("body.v[0:2]"), ["body.v[0]", "body.v[1]"]);
    assert_eq!(names("v"), ["v[0]", "v[1]", "v[2]"]);
    assert_eq!(names("v/10"), ["v/10[0]", "v/10[1]", "v/10[2]"]);
    assert_eq!(names("speed = v[0:2] - v[1:3]"), ["speed[0]", "speed[1]"]);
    assert_eq!(names("a speed = norm(v)"), ["a speed"]);
    assert_eq!(names("voltage"), ["voltage"]);
    let found = "v*body.mass"
        .parse::<Expression>()
        .unwrap()
        .evaluate(&log())
        .unwrap();
    assert_eq!(found[2].values, [0.0, 14.0, 0.0]);
}

#[test]
fn rows_that_need_the_next_are_known() {
    for (text, lookahead) in [
        ("v", 0),
        ("norm(v)^2", 0),
        ("dt", 1),
        ("diff(v)/dt", 1),
        ("diff(next(v)) - dt", 2),
    ] {
        let parsed: Expression = text.parse().unwrap();
        assert_eq!(
            (parsed.lookahead(), parsed.is_row_wise()),
            (lookahead, lookahead == 0),
            "{text}"
        );
    }
}

#[test]
fn constants_are_saved_as_numbers() {
    let constants = BTreeMap::from([("g".to_owned(), -9.81), ("m".to_owned(), 2.0)]);
    let parsed = Expression::with_constants("m*(diff(v[0])/dt - g)", &constants).unwrap();
    let saved = parsed.to_string();
    assert_eq!(
        saved,
        "m*(diff(v[0])/dt - g) = 2.0*(diff(v[0])/dt - (-9.81))"
    );
    let back: Expression = saved.parse().unwrap();
    assert_eq!(
        back.evaluate(&log()).unwrap()[0].values[0],
        2.0 * (2.0 + 9.81)
    );
    assert_eq!(back.name(), parsed.name());
    for text in ["norm(v)", "f = v[0:2]"] {
        assert_eq!(text.parse::<Expression>().unwrap().to_string(), text);
    }
    assert_eq!(parsed.columns(), ["v[0]"]);
}

#[test]
fn errors_point_at_the_character() {
    for (text, at, says) in [
        ("", 1, "a column or number is missing at the end"),
        ("v +", 4, "missing at the end"),
        ("v * / v", 5, "topic is written as"),
        ("v * + ) ", 7, "missing before `)`"),
        ("(v", 3, "`)` is missing"),
        ("v)", 2, "closes nothing"),
        ("v, v", 2, "belongs between the arguments"),
        ("2 v", 3, "a sign is missing"),
        ("é$", 2, "`$` means nothing here"),
        ("v[0", 2, "`]` is missing"),
        ("v[x]", 2, "`[x]` is no element"),
        ("v[2:2]", 2, "has no elements"),
        ("1e", 1, "`1e` is not a number"),
        (
            "nrm(v)",
            1,
            "there is no function `nrm` (did you mean `norm`?)",
        ),
        ("sin(v, v)", 6, "`sin` takes one argument"),
        (" = v", 1, "a name is missing before `=`"),
        ("`v", 1, "a second ` is missing"),
        ("next(3)", 1, "needs a column"),
        ("v + v[0:2]", 3, "between 3 and 2 columns"),
        (
            "v[0:9]",
            1,
            "beyond the last element, which is 2: end it with 3",
        ),
        (
            "mass",
            1,
            "`mass` is in `body` and in `battery#1`: write `body.mass` or `battery#1.mass`",
        ),
        ("battery#1.name", 1, "holds text, not numbers"),
        (
            "x = 1 + battery#1.voltag",
            9,
            "(did you mean `voltage`?): its columns are `voltage` and `mass`",
        ),
        ("bdy.v", 1, "there is no `bdy.v`"),
        ("voltag", 1, "(did you mean `voltage`?)"),
    ] {
        let message = refusal(text);
        let start = format!("in `{text}`, character {at}: ");
        assert!(
            message.starts_with(&start) && message.contains(says),
            "{message}"
        );
    }
    assert!(refusal(&"(".repeat(1000)).contains("too deep"));
    assert!(refusal(&"-".repeat(1000)).contains("too deep"));
    assert!(refusal(&"2^".repeat(1000)).contains("too deep"));
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[-+*/^(),=a-e0-9.`#:\\[\\]_ é]{0,40}") {
        if let Ok(parsed) = text.parse::<Expression>() {
            let _ = parsed.evaluate(&log());
            let again: Expression = parsed.to_string().parse().unwrap();
            proptest::prop_assert_eq!(again.columns(), parsed.columns());
        }
    }
}
