//! Fifty connections on a study's page for half a minute: `cargo bench -p taskscout-server --bench load [SECONDS]`.
//!
//! Ten follow events, forty ask for the study again and again with 20 ms between an answer and the next request.
//! Meanwhile somebody writes notes, so that the document changes. Server and clients share this process; the largest
//! memory that it had is that of both.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops where something is wrong, and prints"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{Client, new_study, samples, server};
use taskscout_studies::{AskOptions, Measured};

const ASKING: usize = 40;
const FOLLOWING: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Asks for the study until told to stop; gives the milliseconds of each answer.
fn ask(client: &Client, stop: &AtomicBool) -> Vec<f64> {
    let mut reader = BufReader::new(client.connect());
    let head = format!(
        "GET /api/studies/tunnel HTTP/1.1\r\nHost: {}\r\n\r\n",
        client.address
    );
    let mut times = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        reader.get_mut().write_all(head.as_bytes()).unwrap();
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        let mut length = 0;
        loop {
            line.clear();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        assert!(body.starts_with(b"{") && body.ends_with(b"}"));
        times.push(1000.0 * began.elapsed().as_secs_f64());
        std::thread::sleep(PAUSE);
    }
    times
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.find_map(|word| word.parse().ok()).unwrap_or(30);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let mut study = new_study(&path, "tunnel");
    for round in 0..3 {
        for item in study.ask(&AskOptions::budget(200)).unwrap().plan.items {
            let rows = samples(&item.task, item.n, round * 100 + item.id);
            study.tell(item.id, None, &Measured::new(rows)).unwrap();
        }
    }
    let serving = server(&path, None);
    let client = Client::of(&serving);
    client.learnt("tunnel");
    let (stop, heard) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut times = Vec::new();
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..ASKING)
            .map(|_| scope.spawn(|| ask(&client, &stop)))
            .collect();
        for _ in 0..FOLLOWING {
            let events = client.follow("/api/studies/tunnel/events");
            let (stop, heard) = (&stop, &heard);
            scope.spawn(move || {
                for _ in events.take_while(|_| !stop.load(Ordering::Relaxed)) {
                    heard.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(seconds) {
            study.note("a note").unwrap();
            std::thread::sleep(Duration::from_secs(1));
        }
        stop.store(true, Ordering::Relaxed);
        // A last one lets those who follow notice.
        study.note("the last").unwrap();
        for one in asking {
            times.extend(one.join().unwrap());
        }
    });
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = memory.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "{} answers in {seconds} s over {ASKING} connections, {} events to {FOLLOWING} followers, no error",
        times.len(),
        heard.load(Ordering::Relaxed)
    );
    println!(
        "milliseconds: median {:.1}, 99 % {:.1}, slowest {:.1}; {}",
        at(0.5),
        at(0.99),
        at(1.0),
        memory.unwrap_or("memory not known")
    );
    serving.end();
}
