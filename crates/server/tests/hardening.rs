//! What is refused: foreign names and pages, wrong tokens, requests that are too large or too slow.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use common::{Client, new_study, server};
use serde_json::json;

const TOKEN: &str = "0123456789abcdef0123";

#[test]
fn a_foreign_name_or_page_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    drop(new_study(&path, "tunnel"));
    let serving = server(&path, None);
    let client = Client::of(&serving);
    let port = client.address.rsplit(':').next().unwrap();
    assert_eq!(client.get("/api/index").status, 200);
    let localhost = format!("Host: localhost:{port}\r\n");
    assert_eq!(client.request("GET", "/", &localhost, b"").status, 200);
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1:1",
    ] {
        let reply = client.request("GET", "/api/index", &format!("Host: {host}\r\n"), b"");
        assert_eq!(reply.status, 421, "{host}");
    }
    let note =
        serde_json::to_vec(&json!({"change": "note", "text": "x", "seen_version": 0})).unwrap();
    for origin in ["http://evil.example", "null", "http://localhost:1"] {
        let more = format!("Origin: {origin}\r\nContent-Type: text/plain\r\n");
        let reply = client.request("POST", "/api/studies/tunnel/changes", &more, &note);
        assert_eq!(reply.status, 403, "{origin}");
    }
    let own = format!("Origin: http://{}\r\n", client.address);
    assert_eq!(
        client
            .request("POST", "/api/studies/tunnel/changes", &own, &note)
            .status,
        200
    );
    let head = client.get("/").head.to_lowercase();
    for line in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "frame-ancestors 'none'",
    ] {
        assert!(head.contains(line), "{head}");
    }
    serving.end();
}

#[test]
fn nothing_is_shown_without_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    drop(new_study(&path, "tunnel"));
    let serving = server(&path, Some(TOKEN));
    let client = Client::of(&serving);
    for path in [
        "/api/index",
        "/api/studies/tunnel",
        "/api/openapi.json",
        "/api/index/events",
    ] {
        assert_eq!(client.get(path).status, 401, "{path}");
        let wrong = client.request(
            "GET",
            path,
            "Authorization: Bearer 0123456789abcdef0124\r\n",
            b"",
        );
        assert_eq!(wrong.status, 401, "{path}");
        let short = client.request("GET", path, "Authorization: Bearer 0\r\n", b"");
        assert_eq!(short.status, 401, "{path}");
    }
    let page = client.get("/studies/tunnel");
    assert_eq!(page.status, 303);
    assert!(page.head.to_lowercase().contains("location: /login"));
    let right = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(client.request("GET", "/api/index", &right, b"").status, 200);

    assert_eq!(client.send("/login", "token=wrong").status, 401);
    let login = client.send("/login", &format!("token={TOKEN}"));
    assert_eq!(login.status, 303);
    let cookie = login
        .head
        .lines()
        .find(|line| line.to_lowercase().starts_with("set-cookie:"));
    let cookie = cookie.unwrap();
    assert!(cookie.contains("SameSite=") && cookie.contains("HttpOnly") && !cookie.contains(TOKEN));
    let value = cookie.split([':', ';']).nth(1).unwrap().trim();
    let more = format!("Cookie: {value}\r\n");
    assert_eq!(client.request("GET", "/api/index", &more, b"").status, 200);
    serving.end();
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    drop(new_study(&path, "tunnel"));
    let serving = server(&path, None);
    let client = Client::of(&serving);
    let head = |path: &str, length: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\n{length}Connection: close\r\n\r\n",
            client.address
        )
    };
    let two_gigabytes = format!("Content-Length: {}\r\n", 2_u64 << 30);
    let reply = client.raw(
        &head("/api/studies/tunnel/rows?name=a.csv&item=0", &two_gigabytes),
        b"",
    );
    assert_eq!(reply.status, 413);
    assert!(
        reply.error().contains("taskscout study tell"),
        "{}",
        reply.error()
    );
    assert_eq!(
        client
            .raw(
                &head("/api/studies/tunnel/what-if", "Content-Length: 100000\r\n"),
                b""
            )
            .status,
        413
    );
    // Without a length it is counted as it comes.
    let mut body = Vec::new();
    for _ in 0..40 {
        body.extend(format!("{:x}\r\n", 4000).as_bytes());
        body.extend(std::iter::repeat_n(b' ', 4000));
        body.extend(b"\r\n");
    }
    body.extend(b"0\r\n\r\n");
    let reply = client.raw(
        &head(
            "/api/studies/tunnel/what-if",
            "Transfer-Encoding: chunked\r\n",
        ),
        &body,
    );
    assert_eq!(reply.status, 413);
    let long = format!("/{}", "a".repeat(40_000));
    let reply = client.get(&long);
    assert!((400..500).contains(&reply.status), "{}", reply.status);
    assert_eq!(client.get("/api/index").status, 200);
    serving.end();
}

#[test]
fn whoever_is_slow_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    drop(new_study(&path, "tunnel"));
    let serving = server(&path, None);
    let client = Client::of(&serving);
    let began = Instant::now();
    let mut head_only = client.connect();
    head_only
        .write_all(b"GET /api/index HTTP/1.1\r\nHost: ")
        .unwrap();
    let mut body_only = client.connect();
    let head = format!(
        "POST /api/studies/tunnel/what-if HTTP/1.1\r\nHost: {}\r\nContent-Length: 20\r\n\r\n{{",
        client.address
    );
    body_only.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = head_only.read_to_end(&mut answer);
    let mut first = [0; 12];
    body_only.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 408");
    let waited = began.elapsed();
    assert!(waited < Duration::from_secs(40), "{waited:?}");
    assert_eq!(client.get("/api/index").status, 200);
    serving.end();
}

#[test]
fn the_end_lets_followers_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    drop(new_study(&path, "tunnel"));
    let serving = server(&path, None);
    let client = Client::of(&serving);
    let mut events = client.follow("/api/index/events");
    assert!(events.next().is_some());
    let began = Instant::now();
    serving.end();
    // One more may have been on its way.
    assert!(events.count() <= 1);
    assert!(began.elapsed() < Duration::from_secs(10));
}
