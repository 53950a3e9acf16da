//! TLS to a server, with certificates of the test's own.
#![cfg(feature = "tls")]
#![allow(clippy::unwrap_used, clippy::panic)] // a broken test set-up should be loud

use crate::common::cluster;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cluster::Cluster;
use taskscout_store::{open, testing};

/// Runs `openssl` in a folder; false if there is none.
fn openssl(folder: &Path, line: &str) -> bool {
    let mut command = Command::new("openssl");
    command.args(line.split_whitespace()).current_dir(folder);
    let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    match ended {
        Ok(status) => {
            assert!(status.success(), "openssl {line}");
            true
        }
        Err(_) => {
            eprintln!("SKIPPED: no `openssl` to make certificates with");
            false
        }
    }
}

/// A server's certificate that an authority signed (`server`), one that signed itself (`alone`), one of a kind that is
/// not understood here (`odd`), and an authority that nobody asked (`other`).
fn certificates(folder: &Path) -> bool {
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost").unwrap();
    let alone = "req -x509 -nodes -days 2";
    let lines = [
        format!("{alone} -newkey rsa:2048 -keyout ca.key -out ca.crt -subj /CN=authority"),
        format!("{alone} -newkey rsa:2048 -keyout other.key -out other.crt -subj /CN=other"),
        format!(
            "{alone} -newkey rsa:2048 -keyout alone.key -out alone.crt -subj /CN=localhost -addext subjectAltName=DNS:localhost"
        ),
        format!(
            "{alone} -newkey ec -pkeyopt ec_paramgen_curve:P-521 -keyout odd.key -out odd.crt -subj /CN=localhost"
        ),
        "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost".into(),
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt".into(),
    ];
    lines.iter().all(|line| openssl(folder, line))
}

/// Makes the server use a certificate from its next connection on.
fn serve(cluster: &Cluster, folder: &Path, name: &str) {
    let mut client = postgres::Client::connect(&cluster.url(), postgres::NoTls).unwrap();
    for (setting, end) in [("ssl_cert_file", "crt"), ("ssl_key_file", "key")] {
        let file = format!("{name}.{end}");
        let bytes = std::fs::read(folder.join(&file)).unwrap();
        let path = cluster.private_file(&file, &bytes);
        let sql = format!("ALTER SYSTEM SET {setting} = '{}'", path.display());
        client.execute(&sql, &[]).unwrap();
    }
    client.execute("ALTER SYSTEM SET ssl = on", &[]).unwrap();
    client.execute("SELECT pg_reload_conf()", &[]).unwrap();
    std::thread::sleep(Duration::from_millis(500));
}

/// Whether the connection of an open store is encrypted.
fn encrypted(cluster: &Cluster, url: &str) -> bool {
    let _store = open(url).unwrap();
    let mut client = postgres::Client::connect(&cluster.url(), postgres::NoTls).unwrap();
    let sql = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'taskscout'";
    client.query_one(sql, &[]).unwrap().get(0)
}

/// The sentence of a refusal, which does not wait for the server to change its mind.
fn refusal(url: &str) -> String {
    let start = Instant::now();
    let text = open(url).err().unwrap().to_string();
    assert!(start.elapsed() < Duration::from_secs(8), "{text}");
    text
}

#[test]
fn certificates_are_checked_and_refused_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    if !certificates(folder.path()) {
        return;
    }
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let named = format!(
        "postgresql://postgres@localhost:{}/postgres",
        cluster.port()
    );
    let trusting = |name: &str| {
        let file = folder.path().join(name).display().to_string();
        format!("{named}?sslmode=require&sslrootcert={file}")
    };
    let none = refusal(&trusting("ca.crt"));
    assert!(none.contains("offers no TLS"), "{none}");
    assert!(!encrypted(&cluster, &named));
    serve(&cluster, folder.path(), "server");
    // Who listens sees nothing, even where nobody asked for it.
    assert!(encrypted(&cluster, &named));
    assert!(!encrypted(&cluster, &format!("{named}?sslmode=disable")));
    assert!(encrypted(&cluster, &trusting("ca.crt")));
    let strict = trusting("ca.crt").replace("require", "verify-full");
    testing::all(&|| open(&strict)).unwrap();
    for stranger in [trusting("other.crt"), format!("{named}?sslmode=require")] {
        let text = refusal(&stranger);
        assert!(text.contains("sslrootcert=FILE"), "{text}");
    }
    let by_number = trusting("ca.crt").replace("localhost", "127.0.0.1");
    assert!(refusal(&by_number).contains("another host name"));
    let missing = refusal(&trusting("nothing.crt"));
    assert!(missing.contains("nothing.crt"), "{missing}");
    assert!(refusal(&trusting("ca.key")).contains("no certificate in it"));
    // A certificate that signed itself is its own authority.
    serve(&cluster, folder.path(), "alone");
    assert!(encrypted(&cluster, &trusting("alone.crt")));
    assert!(refusal(&trusting("ca.crt")).contains("sslrootcert=FILE"));
    // Who only prefers TLS gets a connection in any case.
    serve(&cluster, folder.path(), "odd");
    assert!(!encrypted(&cluster, &named));
    let odd = refusal(&trusting("odd.crt"));
    assert!(odd.contains("no TLS with the server"), "{odd}");
}
