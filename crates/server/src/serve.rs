//! The server from its first connection to its last.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use taskscout::registry::Registry;
use taskscout_studies::{Error, list, open_store};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::access::Access;
use crate::app::App;
use crate::listen::listen;
use crate::options::{Places, ServeOptions};
use crate::router::router;
use crate::shelf::Shelf;

/// Threads that serve requests; work that takes a while has others.
const THREADS: usize = 2;
/// Threads for work that takes a while or waits for a disk.
const WORKERS: usize = 16;

/// A server that runs.
pub struct Serving {
    address: SocketAddr,
    runtime: Runtime,
    ending: watch::Sender<bool>,
    watching: Option<JoinHandle<()>>,
    serving: Option<tokio::task::JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Serving").field(&self.address).finish()
    }
}

/// Serves until the process is told to end by a signal, then lets requests finish. `say` hears where the page is.
///
/// # Errors
/// A store that is not there, an address that cannot be listened on, a missing token.
pub fn serve(options: &ServeOptions, registry: &Registry, say: &dyn Fn(&str)) -> Result<(), Error> {
    let serving = begin(options, registry)?;
    say(&format!("serving on {} (Ctrl-C ends it)", serving.url()));
    if options.token.is_some() {
        say("whoever opens it is asked for the token");
    }
    serving.wait();
    say("ended; everything that was told is stored");
    Ok(())
}

/// Begins to serve.
///
/// # Errors
/// As [`serve`].
pub fn begin(options: &ServeOptions, registry: &Registry) -> Result<Serving, Error> {
    let token = options.checked_token()?;
    let Places { store, folder } = options.places()?;
    if let Some(address) = &store {
        let heads = list(&mut *open_store(address, false)?)?;
        if let Some(name) = &options.study
            && !heads.iter().any(|head| head.study == *name)
        {
            return Err(Error::Input(format!(
                "there is no study `{name}` in this store: `taskscout study list` lists them"
            )));
        }
    }
    let failed = |what: &str, error: std::io::Error| Error::Failure(format!("{what}: {error}"));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(|error| failed("the server cannot start threads", error))?;
    let wanted = SocketAddr::new(options.host, options.port);
    let listener = runtime
        .block_on(TcpListener::bind(wanted))
        .map_err(|error| {
            Error::Failure(format!(
                "cannot listen on {wanted} ({error}): give another port with --port"
            ))
        })?;
    let address = listener
        .local_addr()
        .map_err(|error| failed("the address cannot be read", error))?;
    let (ending, closing) = watch::channel(false);
    let shelf = Arc::new(Shelf::new(store, options.study.clone(), folder, registry));
    let stop = Arc::new(AtomicBool::new(false));
    let watching = {
        let (shelf, stop) = (Arc::clone(&shelf), Arc::clone(&stop));
        std::thread::spawn(move || shelf.watch(&|| stop.load(Ordering::Relaxed)))
    };
    let access = Access::new(options.host, address.port(), &options.allowed_hosts, token);
    let app = Arc::new(App::new(shelf, access, closing.clone()));
    let serving = runtime.spawn(listen(listener, router(&app), closing));
    Ok(Serving {
        address,
        runtime,
        ending,
        watching: Some(watching),
        serving: Some(serving),
        stop,
    })
}

impl Serving {
    /// Where the page is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Waits for a signal that ends the process, then ends in good order.
    pub fn wait(self) {
        self.runtime.block_on(signal());
        self.end();
    }

    /// Takes no more connections, lets requests finish, and ends.
    pub fn end(self) {
        drop(self);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.ending.send(true);
        self.stop.store(true, Ordering::Relaxed);
        if let Some(serving) = self.serving.take() {
            let _ = self.runtime.block_on(serving);
        }
        if let Some(watching) = self.watching.take() {
            let _ = watching.join();
        }
    }
}

/// Ends with the first signal that asks the process to end.
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = signal(SignalKind::terminate());
    match terminated {
        Ok(mut terminated) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}
