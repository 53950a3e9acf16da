//! A connection that breaks where the test wants it: between a client and the server, at the commit.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Where the connection breaks, once.
pub(crate) const NOWHERE: u8 = 0;
/// Before the server hears of the commit.
pub(crate) const BEFORE_COMMIT: u8 = 1;
/// After the commit, before the client hears of it.
pub(crate) const AFTER_COMMIT: u8 = 2;
/// The same, and no connection is made any more.
pub(crate) const FOR_GOOD: u8 = 3;
/// No connection is made.
pub(crate) const CLOSED: u8 = 4;

/// Listens on loopback and passes on to a port; the number says where to break.
pub(crate) fn start(to: u16) -> (u16, Arc<AtomicU8>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let state = Arc::new(AtomicU8::new(NOWHERE));
    let shared = Arc::clone(&state);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            if shared.load(Ordering::SeqCst) == CLOSED {
                continue;
            }
            let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
            pass(client, server, &shared);
        }
    });
    (port, state)
}

fn pass(client: TcpStream, server: TcpStream, state: &Arc<AtomicU8>) {
    let (from, to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let back = Arc::clone(state);
    std::thread::spawn(move || copy(from, to, |_| back.load(Ordering::SeqCst) != CLOSED));
    let state = Arc::clone(state);
    std::thread::spawn(move || {
        let after = server.try_clone().unwrap();
        copy(client, server, move |bytes| {
            let commit = bytes.windows(7).any(|part| part == b"COMMIT\0");
            let wanted = state.load(Ordering::SeqCst);
            if !commit || wanted == NOWHERE {
                return true;
            }
            // The way back is shut before the server hears, so that its answer is lost for certain.
            let next = if wanted == FOR_GOOD { CLOSED } else { NOWHERE };
            if wanted != BEFORE_COMMIT {
                state.store(CLOSED, Ordering::SeqCst);
                let mut server = &after;
                server.write_all(bytes).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(300));
            }
            state.store(next, Ordering::SeqCst);
            false
        });
    });
}

/// Passes bytes on until one side ends, or until `go_on` says no.
fn copy(mut from: TcpStream, mut to: TcpStream, mut go_on: impl FnMut(&[u8]) -> bool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || !go_on(&buffer[..count]) || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
