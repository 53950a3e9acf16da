//! The page of a study in PostgreSQL, also while the database goes away.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[allow(dead_code, reason = "shared with tests that need more of it")]
#[path = "../../store/tests/common/cluster.rs"]
mod cluster;
mod common;

use std::path::Path;
use std::time::Duration;

use cluster::Cluster;
use common::{Client, new_study, server};
use serde_json::{Value, json};
use taskscout::prelude::*;
use taskscout_store::open;
use taskscout_studies::{AskOptions, StoredStudy};

const STUDY: &str = "/api/studies/tunnel";

/// The page once it is as wanted; half a minute is more than a database needs to come back.
fn once(client: &Client, wanted: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..300 {
        let view = client.get(STUDY).json();
        if wanted(&view) {
            return view;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the page never came to this: {}", client.get(STUDY).json());
}

fn note(client: &Client, text: &str) -> common::Reply {
    let version = client.get(STUDY).json()["version"].clone();
    let change = json!({"change": "note", "text": text, "seen_version": version});
    client.post(&format!("{STUDY}/changes"), &change)
}

#[test]
fn a_database_may_go_away_while_its_page_is_open() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.url();
    drop(new_study(Path::new(&url), "tunnel"));
    let serving = server(Path::new(&url), None);
    let client = Client::of(&serving);
    let view = client.learnt("tunnel");
    assert_eq!(view["trouble"], Value::Null);
    assert!(!client.get("/api/index").body.is_empty());
    // Others write, and the page follows.
    let mut elsewhere =
        StoredStudy::open(open(&url).unwrap(), "tunnel", "bob", &Registry::new()).unwrap();
    elsewhere.ask(&AskOptions::budget(60)).unwrap();
    once(&client, |view| view["status"]["rounds"] == 1);
    assert_eq!(note(&client, "before").status, 200);
    let told = once(&client, |view| {
        view["history"].to_string().contains("before")
    });

    cluster.crash();
    let broken = once(&client, |view| !view["trouble"].is_null());
    // What was known stays on the page, with a sentence that no user or password is in.
    assert_eq!(broken["status"]["study"], "tunnel");
    assert_eq!(broken["history"], told["history"]);
    let said = broken["trouble"].as_str().unwrap();
    assert!(!said.is_empty() && !said.contains('@'), "{said}");
    let refused = note(&client, "meanwhile");
    assert!(refused.status >= 500, "{refused:?}");
    assert!(!refused.error().is_empty());

    cluster.up();
    once(&client, |view| view["trouble"].is_null());
    assert_eq!(note(&client, "after").status, 200);
    let whole = once(&client, |view| {
        view["history"].to_string().contains("after")
    });
    let history = whole["history"].to_string();
    assert!(history.contains("before") && !history.contains("meanwhile"));
}
