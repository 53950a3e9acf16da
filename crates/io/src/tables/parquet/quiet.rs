//! Panics of the decoder, which become errors without a word on the terminal.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use ::parquet::errors::{ParquetError, Result};

thread_local! {
    /// Whether this thread is inside the decoder.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Does what the decoder may panic at. It promises errors, but a damaged file must not take the
/// program with it.
///
/// The work must stay on this thread: what other threads say of their panics is heard.
pub(super) fn quietly<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |information| {
            if !DECODING.get() {
                usual(information);
            }
        }));
    });
    let before = DECODING.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    DECODING.set(before);
    outcome.unwrap_or_else(|_| {
        Err(ParquetError::General(
            "its parts contradict each other".into(),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::panic)]
    fn panics_become_errors() {
        let failed: Result<()> = quietly(|| panic!("a count is off"));
        assert!(failed.unwrap_err().to_string().contains("contradict"));
        assert_eq!(quietly(|| Ok(7)).unwrap(), 7);
        assert!(!DECODING.get());
    }
}
