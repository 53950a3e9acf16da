//! The store in memory.
#![allow(clippy::unwrap_used, clippy::panic)] // a broken test set-up should be loud

use taskscout_store::{Memory, testing};

#[test]
fn memory_keeps_the_promises_of_every_store() {
    let memory = Memory::new();
    testing::all(&|| Ok(Box::new(memory.handle()))).unwrap();
}
