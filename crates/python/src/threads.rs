//! Long calls: without the interpreter's lock, and with threads that are really there.
//!
//! Worker processes of Python are forks on some systems. A fork has the memory of its parent, with a pool of threads
//! among it, but none of the threads: work that is given to that pool never ends. So a forked process gets a pool of
//! its own.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::Python;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that loaded the library.
static HOME: OnceLock<u32> = OnceLock::new();
/// The pool of a forked process.
static OWN: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Remembers the process that loads the library.
pub(crate) fn settle() {
    HOME.get_or_init(std::process::id);
}

/// Works while other threads of Python go on.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| match own_pool() {
        Some(pool) => pool.install(work),
        None => work(),
    })
}

/// The pool of this process, if it was forked from the one that loaded the library.
fn own_pool() -> Option<Arc<ThreadPool>> {
    let process = std::process::id();
    if HOME.get().is_none_or(|&home| home == process) {
        return None;
    }
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = own.as_ref()
        && *owner == process
    {
        return Some(pool.clone());
    }
    let pool = Arc::new(ThreadPoolBuilder::new().build().ok()?);
    // The parent's pool cannot be taken down here: its threads do not answer.
    std::mem::forget(own.replace((process, pool.clone())));
    Some(pool)
}
