//! A tunnel for the tests of studies: conditions with costs, rows of any condition, and how a campaign is run.

use serde_json::Value;

use super::answer::{failed, stdout, succeeded};
use super::scratch::Scratch;

/// Twelve conditions: wind in m/s, payload in kg, and minutes for a sample.
pub(crate) fn conditions() -> String {
    let mut table = "name,wind,payload,minutes\n".to_owned();
    for row in 0..12 {
        let (wind, payload) = (f64::from(row % 4) * 3.0, f64::from(row / 4) * 0.5);
        let minutes = 1.0 + f64::from(row % 3);
        table += &format!("c{row:02},{wind},{payload},{minutes}\n");
    }
    table
}

/// Numbers from −1 to 1 that look random and are the same everywhere.
pub(crate) fn draws(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678;
    move || {
        // splitmix64
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64 * 2.0 - 1.0
    }
}

/// The force on the drone without noise; its inputs are two speeds and a motor signal around 1500.
pub(crate) fn force([wind, payload]: [f64; 2], [vx, vy, pwm]: [f64; 3]) -> f64 {
    0.3 * wind * (vx - vy) + payload * (pwm - 1500.0) / 200.0 + 0.1 * wind + 4.0
}

/// Rows of a condition, as the lab writes them down: the columns in an order of their own, and one that nobody needs.
pub(crate) fn rows(condition: [f64; 2], n: usize, seed: u64) -> String {
    let mut draw = draws(seed);
    let mut table = "time,force,vx,vy,pwm\n".to_owned();
    for row in 0..n {
        let inputs = [3.0 * draw(), 3.0 * draw(), 1500.0 + 200.0 * draw()];
        let measured = force(condition, inputs) + 0.05 * draw();
        let [vx, vy, pwm] = inputs;
        table += &format!("{row},{measured},{vx},{vy},{pwm}\n");
    }
    table
}

/// The condition that the campaign is about.
pub(crate) const TOMORROW: [f64; 2] = [7.0, 0.8];

/// The options of the study of the tests.
pub(crate) const NEW: &str = "study new --candidates conditions.csv --cost minutes --inputs vx,vy,pwm/1000 \
                              --outputs force --target tomorrow";

impl Scratch {
    /// A folder with a study in it, some rows of the target told.
    pub(crate) fn with_study() -> Self {
        let scratch = Self::new();
        scratch.file("conditions.csv", &conditions());
        scratch.file("hover.csv", &rows(TOMORROW, 40, 99));
        scratch.done(NEW);
        scratch.done("study target hover.csv");
        scratch
    }

    /// What a command says as JSON.
    pub(crate) fn said(&self, line: &str) -> Value {
        eprintln!("taskscout {line} --json");
        // Not at the end: a program with its arguments may stand there.
        let output = self.taskscout(&line.replacen("study", "study --json", 1));
        succeeded(&output);
        let text = stdout(&output);
        let parsed = serde_json::from_str(&text);
        assert!(parsed.is_ok(), "no JSON from `{line}`: {text}");
        parsed.unwrap()
    }

    /// What a command says to people.
    pub(crate) fn text_of(&self, line: &str) -> String {
        eprintln!("taskscout {line}");
        let output = self.taskscout(line);
        succeeded(&output);
        stdout(&output)
    }

    /// Runs what fails for a reason that is not the input, in one sentence with these parts.
    pub(crate) fn fails(&self, line: &str, parts: &[&str]) {
        eprintln!("taskscout {line}");
        failed(&self.taskscout(line), 1, parts);
    }

    /// Where the study stands.
    pub(crate) fn status(&self) -> Value {
        self.said("study status")
    }

    /// Asks, measures every item into a file of its own and gives the items.
    pub(crate) fn measured_plan(&self, ask: &str) -> Vec<Item> {
        let items = items(&self.said(ask)["plan"]["items"]);
        for item in &items {
            self.file(
                &item.file,
                &rows(item.condition, item.n, item.id.cast_unsigned()),
            );
        }
        items
    }
}

/// An item of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) id: i64,
    pub(crate) n: usize,
    pub(crate) condition: [f64; 2],
    /// The file of its rows.
    pub(crate) file: String,
}

/// The items of a plan in JSON.
pub(crate) fn items(plan: &Value) -> Vec<Item> {
    let item = |value: &Value| {
        let id = value["id"].as_i64().unwrap();
        let parameters = value["task"]["parameters"].as_array().unwrap();
        Item {
            id,
            n: usize::try_from(value["n"].as_u64().unwrap()).unwrap(),
            condition: [
                parameters[0].as_f64().unwrap(),
                parameters[1].as_f64().unwrap(),
            ],
            file: format!("run{id}.csv"),
        }
    };
    plan.as_array().unwrap().iter().map(item).collect()
}
