//! A study in a file, a server on it, and a client that sends exactly what it is told.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(dead_code, reason = "every test uses some of it")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use taskscout::data::Samples;
use taskscout::prelude::*;
use taskscout::rng::{Purpose, derive};
use taskscout_server::{ServeOptions, Serving, begin};
use taskscout_store::open;
use taskscout_studies::{Column, Definition, Measured, StoredStudy};

const INPUTS: usize = 3;

/// Rows of a task as the tunnel would measure them.
pub(crate) fn samples(task: &[f64], n: usize, draw: u64) -> Samples {
    let mut rng = derive(5, Purpose::Collect, &[draw]);
    let x: Vec<f64> = (0..INPUTS * n).map(|_| 2.0 + normal(&mut rng)).collect();
    let (w, v) = (task[0], task[1]);
    let y = x
        .chunks(INPUTS)
        .map(|x| 30.0 + w * x[0] + v * (x[1] - x[2]) + 0.2 * normal(&mut rng));
    let y = y.collect();
    Samples::new(x, INPUTS, y, 1).unwrap()
}

/// The same as the text of a table.
pub(crate) fn table(task: &[f64], n: usize, draw: u64) -> String {
    let rows = samples(task, n, draw);
    let mut text = "vx,vy,pwm,force,remark\n".to_owned();
    for (x, y) in rows.inputs().chunks(INPUTS).zip(rows.outputs()) {
        text += &format!("{},{},{},{y},0\n", x[0], x[1], x[2]);
    }
    text
}

/// A study that has rows of its target, and has asked for nothing yet.
pub(crate) fn new_study(path: &Path, name: &str) -> StoredStudy {
    let mut config = Study::builder(Space::boxed(vec![-1.0, -1.0], vec![1.0, 1.0]).unwrap())
        .inputs(INPUTS)
        .target(Target::unknown("tomorrow"))
        .build()
        .unwrap()
        .config()
        .clone();
    config.task_features = FeatureMap::polynomial(2, 1, true).unwrap();
    config.input_features = FeatureMap::polynomial(INPUTS, 1, true).unwrap();
    let named = |names: &[&str]| names.iter().map(|name| Column::named(name)).collect();
    let definition = Definition {
        parameters: named(&["wind", "payload"]),
        inputs: named(&["vx", "vy", "pwm"]),
        outputs: named(&["force"]),
        ..Definition::default()
    };
    let store = open(&path.display().to_string()).unwrap();
    let study = Study::new(config).unwrap();
    let mut study = StoredStudy::create(store, name, definition, &study, "ada").unwrap();
    let rows = Measured::new(samples(&[0.4, -0.2], 40, 900));
    study.tell_target("tomorrow", &rows).unwrap();
    study
}

/// A server on a store, at any port.
pub(crate) fn server(what: &Path, token: Option<&str>) -> Serving {
    let options = ServeOptions {
        what: what.display().to_string(),
        port: 0,
        token: token.map(str::to_owned),
        ..ServeOptions::default()
    };
    begin(&options, &Registry::new()).unwrap()
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The sentence of a refusal.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }
}

/// A client of a server.
pub(crate) struct Client {
    pub(crate) address: String,
}

impl Client {
    pub(crate) fn of(serving: &Serving) -> Self {
        let url = serving.url();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        Self {
            address: address.to_owned(),
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends a head as it is and a body, and reads the answer to its end.
    pub(crate) fn raw(&self, head: &str, body: &[u8]) -> Reply {
        let mut stream = self.connect();
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses by the head alone may close before all has come.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let split = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let split = split.unwrap_or(answer.len());
        let head = String::from_utf8_lossy(&answer[..split]).into_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let body = answer.get(split + 4..).unwrap_or_default().to_vec();
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        Reply {
            status: status.unwrap_or(0),
            body: if chunked { unchunked(&body) } else { body },
            head,
        }
    }

    /// A request with further lines in its head.
    pub(crate) fn request(&self, method: &str, path: &str, more: &str, body: &[u8]) -> Reply {
        let host = match more.contains("Host:") {
            true => String::new(),
            false => format!("Host: {}\r\n", self.address),
        };
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{host}{more}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        self.raw(&head, body)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request("GET", path, "", b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        let body = serde_json::to_vec(body).unwrap();
        self.request("POST", path, "Content-Type: application/json\r\n", &body)
    }

    pub(crate) fn send(&self, path: &str, body: &str) -> Reply {
        self.request("POST", path, "", body.as_bytes())
    }

    /// Follows events; gives the editions one by one.
    pub(crate) fn follow(&self, path: &str) -> impl Iterator<Item = u64> + use<> {
        let mut stream = self.connect();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).unwrap();
        let lines = BufReader::new(stream)
            .lines()
            .map_while(std::result::Result::ok);
        lines.filter_map(|line| line.strip_prefix("data: ")?.trim().parse().ok())
    }

    /// The study once everything was learnt from its newest entry.
    pub(crate) fn learnt(&self, study: &str) -> Value {
        for _ in 0..600 {
            let view = self.get(&format!("/api/studies/{study}")).json();
            if view["learnt"]["version"] == view["version"] {
                return view;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("nothing was learnt in a minute");
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&body[..end]).unwrap_or_default();
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || body.len() < end + 2 + size {
            break;
        }
        whole.extend(&body[end + 2..end + 2 + size]);
        body = body.get(end + 4 + size..).unwrap_or_default();
    }
    whole
}
