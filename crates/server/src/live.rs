//! Documents that change: the newest is always at hand, and whoever follows hears when there is a newer one.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::{mpsc, watch};

/// How often a follower hears that the server is still there.
const ALIVE: Duration = Duration::from_secs(15);

/// A document as JSON, numbered as it changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Document {
    /// Higher than that of any earlier one.
    pub(crate) edition: u64,
    pub(crate) body: Bytes,
}

/// The newest document of a kind, and those who follow it.
#[derive(Debug)]
pub(crate) struct Live(watch::Sender<Document>);

impl Default for Live {
    fn default() -> Self {
        Self(watch::channel(Document::default()).0)
    }
}

impl Live {
    /// Shows a document, where it is another than before.
    pub(crate) fn show(&self, document: &impl Serialize) {
        // Numbers and names are all that documents have, so this does not fail.
        let body = serde_json::to_vec(document).unwrap_or_default();
        self.0.send_if_modified(|shown| {
            let changed = shown.body != body;
            if changed {
                shown.edition += 1;
                shown.body = body.into();
            }
            changed
        });
    }

    /// The newest document.
    pub(crate) fn newest(&self) -> Document {
        self.0.borrow().clone()
    }

    /// Those who follow.
    pub(crate) fn followers(&self) -> usize {
        self.0.receiver_count()
    }

    /// Tells a follower of every new edition until it goes away or the server closes.
    pub(crate) fn follow(&self, mut closing: watch::Receiver<bool>) -> Response {
        let mut documents = self.0.subscribe();
        let (tell, told) = mpsc::channel::<Bytes>(4);
        tokio::spawn(async move {
            loop {
                let edition = documents.borrow_and_update().edition;
                let line = format!("event: edition\ndata: {edition}\n\n");
                if tell.send(line.into()).await.is_err() {
                    return;
                }
                loop {
                    tokio::select! {
                        () = ended(&mut closing) => return,
                        () = tell.closed() => return,
                        changed = documents.changed() => match changed {
                            Ok(()) => break,
                            Err(_) => return,
                        },
                        () = tokio::time::sleep(ALIVE) => {
                            if tell.send(Bytes::from_static(b": alive\n\n")).await.is_err() {
                                return;
                            }
                        }
                    }
                }
            }
        });
        let head = [
            (CONTENT_TYPE, "text/event-stream"),
            (CACHE_CONTROL, "no-store"),
        ];
        (head, Body::new(Events(told))).into_response()
    }
}

/// Comes back when the server ends.
pub(crate) async fn ended(closing: &mut watch::Receiver<bool>) {
    // Whoever could say so being gone says so too.
    let _ = closing.wait_for(|closing| *closing).await;
}

/// Events as they come.
struct Events(mpsc::Receiver<Bytes>);

impl HttpBody for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let next = self.0.poll_recv(context);
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edition_is_a_change() {
        let live = Live::default();
        live.show(&[1]);
        live.show(&[1]);
        assert_eq!(live.newest().edition, 1);
        live.show(&[2]);
        let newest = live.newest();
        assert_eq!((newest.edition, &newest.body[..]), (2, &b"[2]"[..]));
    }
}
