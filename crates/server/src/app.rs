//! What every request needs: what is served, who may ask, and how much work goes on at once.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use crate::access::Access;
use crate::refusal::{Answered, Refusal};
use crate::shelf::Shelf;

/// Bytes of a request that is no table.
pub(crate) const SMALL: usize = 64 << 10;
/// Bytes of a table.
pub(crate) const TABLE: usize = 64 << 20;
/// How long a small request may take to arrive.
const SOON: Duration = Duration::from_secs(10);
/// How long a table may take to arrive.
const TABLE_TIME: Duration = Duration::from_secs(120);
/// How long a request may wait for its turn and its answer.
const PATIENCE: Duration = Duration::from_secs(120);
/// Requests that learn or read tables at once: each may take a core and the memory of a table.
const AT_ONCE: usize = 2;

/// What every request needs.
pub(crate) struct App {
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) access: Access,
    /// Becomes true when the server ends.
    pub(crate) closing: watch::Receiver<bool>,
    work: Arc<Semaphore>,
}

impl App {
    pub(crate) fn new(shelf: Arc<Shelf>, access: Access, closing: watch::Receiver<bool>) -> Self {
        Self {
            shelf,
            access,
            closing,
            work: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Does something that takes a while or waits for a disk, off the threads that serve requests.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shelf) -> Answered<T> + Send + 'static,
    ) -> Answered<T> {
        let shelf = Arc::clone(&self.shelf);
        let turns = Arc::clone(&self.work);
        let late = || {
            Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "the server is busy: try again in a minute",
            )
        };
        let doing = async move {
            // A turn goes with the work, not with whoever waits for it.
            let turn = turns.acquire_owned().await;
            let done = tokio::task::spawn_blocking(move || {
                let done = work(&shelf);
                drop(turn);
                done
            });
            done.await.unwrap_or_else(|_| {
                Err(Refusal::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "the server stumbled over this request: what was stored before is safe",
                ))
            })
        };
        timeout(PATIENCE, doing).await.map_err(|_| late())?
    }
}

/// The whole body of a request, if it is not too large and comes in time.
pub(crate) async fn whole(body: Body, most: usize) -> Answered<Bytes> {
    let time = if most > SMALL { TABLE_TIME } else { SOON };
    let read = timeout(time, to_bytes(body, most)).await;
    match read {
        Err(_) => Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            "the request did not arrive in time: send it again",
        )),
        Ok(Err(error)) if is_too_long(&error) => Err(Refusal::too_large(most)),
        Ok(Err(_)) => Err(Refusal::input("the request was cut off: send it again")),
        Ok(Ok(bytes)) => Ok(bytes),
    }
}

fn is_too_long(error: &axum::Error) -> bool {
    let inner = std::error::Error::source(error);
    inner.is_some_and(|inner| inner.to_string().contains("length limit"))
}

/// A request as JSON.
pub(crate) async fn asked<T: DeserializeOwned>(body: Body) -> Answered<T> {
    let bytes = whole(body, SMALL).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Refusal::input(format!("the request is not understood: {error}")))
}
