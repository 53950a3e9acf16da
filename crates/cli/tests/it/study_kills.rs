//! Kill −9 at random moments of a scripted campaign: what was acknowledged is there exactly once, and the campaign ends
//! as if nothing had happened, bit for bit.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::cluster::Cluster;
use crate::common::tunnel::{NEW, TOMORROW, conditions, draws, items, rows};
use crate::common::{Scratch, stderr};

/// What is done to a step before it may come to its end.
struct Trouble<'a> {
    kills: usize,
    /// Numbers from −1 to 1.
    draw: Box<dyn FnMut() -> f64>,
    /// The server, which is killed now and then too.
    server: Option<&'a Cluster>,
    /// How long steps take when nobody kills them.
    usual: Duration,
    /// Kills so far, and steps that are left.
    done: usize,
    steps: usize,
}

impl Trouble<'_> {
    /// Starts a step and kills it, or the server, some time later.
    fn strike(&mut self, scratch: &Scratch, line: &str) {
        let mut command = scratch.command(line);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let moment = 0.55 * ((self.draw)() + 1.0);
        std::thread::sleep(self.usual.mul_f64(moment));
        match self.server {
            Some(server) if (self.draw)() < -0.5 => {
                server.crash();
                server.up();
            }
            _ => {}
        }
        child.kill().unwrap();
        child.wait().unwrap();
        self.done += 1;
    }

    /// A step that is killed as often as its share of the kills asks for, and then done again to its end.
    fn through(&mut self, scratch: &Scratch, line: &str) -> String {
        let left = self.kills - self.done;
        let strikes = (left as f64 / self.steps.max(1) as f64).ceil() as usize;
        self.steps = self.steps.saturating_sub(1);
        for _ in 0..strikes.min(left) {
            self.strike(scratch, line);
        }
        let began = Instant::now();
        let output = scratch.taskscout(line);
        self.usual = (self.usual + began.elapsed()) / 2;
        let said = stderr(&output);
        // A study that begins twice is refused: the first time was only not heard of.
        let begun = line.starts_with("study new") && said.contains("is there already");
        assert!(
            output.status.success() || (begun && strikes > 0),
            "{line}: {said}"
        );
        String::from_utf8(output.stdout).unwrap()
    }
}

/// A campaign of three rounds by a script that says everything again until it hears that it was taken.
fn campaign(store: &str, trouble: &mut Trouble<'_>) -> (Vec<u8>, Value, usize) {
    let scratch = Scratch::new();
    scratch.file("conditions.csv", &conditions());
    scratch.file("hover.csv", &rows(TOMORROW, 40, 99));
    let place = format!("--store {store} --json");
    let mut steps = 0;
    let mut step = |trouble: &mut Trouble<'_>, line: &str| {
        steps += 1;
        trouble.through(&scratch, &format!("{line} {place}"))
    };
    step(trouble, NEW);
    step(trouble, "study target hover.csv");
    for round in 0..3 {
        // The key makes it safe to ask again.
        let ask = format!("study ask --budget 120 --max-tasks 5 --key round{round}");
        let asked: Value = serde_json::from_str(&step(trouble, &ask)).unwrap();
        assert_eq!(
            asked["behind"],
            Value::Null,
            "another process was thought to train"
        );
        for item in items(&asked["plan"]["items"]) {
            let draw = item.id.cast_unsigned();
            scratch.file(&item.file, &rows(item.condition, item.n, draw));
            step(trouble, &format!("study tell {} {}", item.id, item.file));
        }
    }
    step(trouble, "study model --out model.safetensors");
    let said = |line: &str| scratch.said(&format!("{line} --store {store}"));
    let told: Vec<Value> = said("study batches")
        .as_array()
        .unwrap()
        .iter()
        .map(|batch| serde_json::json!([batch["id"], batch["of"], batch["rows"]]))
        .collect();
    let status = said("study status");
    let summary = serde_json::json!([
        told,
        status["source_rows"],
        status["spent"],
        status["items"]
    ]);
    let model = std::fs::read(scratch.path("model.safetensors")).unwrap();
    (model, summary, steps)
}

fn trouble(kills: usize, steps: usize, server: Option<&Cluster>) -> Trouble<'_> {
    Trouble {
        kills,
        draw: Box::new(draws(17)),
        server,
        usual: Duration::from_millis(150),
        done: 0,
        steps,
    }
}

fn kills_change_nothing(calm: &str, struck: &str, kills: usize, server: Option<&Cluster>) {
    let (model, summary, steps) = campaign(calm, &mut trouble(0, 0, None));
    let mut blows = trouble(kills, steps, server);
    let (struck_model, struck_summary, _) = campaign(struck, &mut blows);
    eprintln!("{} kills", blows.done);
    assert_eq!(blows.done, kills);
    assert_eq!(struck_summary, summary);
    assert_eq!(struck_model, model, "the model is not the same bit for bit");
}

fn on_sqlite(kills: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    kills_change_nothing(&path("calm.db"), &path("struck.db"), kills, None);
}

fn on_postgres(kills: usize) {
    let (Some(calm), Some(server)) = (Cluster::start(), Cluster::start()) else {
        return;
    };
    kills_change_nothing(&calm.url(), &server.url(), kills, Some(&server));
}

#[test]
fn kills_on_sqlite_change_nothing() {
    on_sqlite(15);
}

#[test]
fn kills_on_postgresql_change_nothing() {
    on_postgres(15);
}

#[test]
#[ignore = "takes minutes: cargo test -p taskscout-cli --test it -- --ignored study_kills"]
fn two_hundred_kills_on_sqlite_change_nothing() {
    on_sqlite(200);
}

#[test]
#[ignore = "takes minutes: cargo test -p taskscout-cli --test it -- --ignored study_kills"]
fn two_hundred_kills_on_postgresql_change_nothing() {
    on_postgres(200);
}
