//! Connections: accepted while there is room, ended when they are slow, and let finish when the server ends.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::live::ended;

/// How long the head of a request may take to arrive.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes that the head of a request may have.
const HEAD_BYTES: usize = 16 << 10;
/// Connections at once.
const CONNECTIONS: usize = 512;
/// How long requests may take to end once the server ends.
const GOODBYE: Duration = Duration::from_secs(5);

/// Serves connections until told to end, then lets those finish that are there.
pub(crate) async fn listen(
    listener: TcpListener,
    router: Router,
    mut closing: watch::Receiver<bool>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .keep_alive(true);
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            () = ended(&mut closing) => break,
            accepted = accept(&listener, &room) => accepted,
        };
        let Some((stream, permit)) = accepted else {
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // Whoever goes away in the middle is no news.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(GOODBYE, graceful.shutdown()).await;
}

/// The next connection, once there is room for it.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            let _ = stream.set_nodelay(true);
            Some((stream, permit))
        }
        Err(_) => {
            // As when there are too many open files: others will close some.
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
