//! Claims as rows that name their process: a claim whose process is gone is free.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::process;

/// A number for a new handle of this process.
pub(super) fn new_handle() -> i64 {
    static HANDLES: AtomicI64 = AtomicI64::new(1);
    HANDLES.fetch_add(1, Ordering::Relaxed)
}

/// This process: its machine (since it was switched on), its number and when it began.
fn here() -> &'static (String, i64, i64) {
    static HERE: OnceLock<(String, i64, i64)> = OnceLock::new();
    HERE.get_or_init(|| {
        let own = std::process::id();
        let began = process::began(own).unwrap_or(0);
        (process::machine(), i64::from(own), began)
    })
}

/// Claims, unless another living handle has it.
pub(super) fn claim(
    connection: &Connection,
    handle: i64,
    study: &str,
    what: &str,
) -> rusqlite::Result<bool> {
    let (machine, own, began) = here();
    let sql = "SELECT machine, process, started, handle FROM claim WHERE study = ?1 AND what = ?2";
    let holder: Option<(String, i64, i64, i64)> = connection
        .query_row(sql, [study, what], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    let taken = holder.is_some_and(|(on, number, started, by)| {
        let mine = (&on, number, started, by) == (machine, *own, *began, handle);
        !mine && on == *machine && alive(number, started)
    });
    if taken {
        return Ok(false);
    }
    let sql = "INSERT OR REPLACE INTO claim (study, what, machine, process, started, handle) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection.execute(sql, params![study, what, machine, own, began, handle])?;
    Ok(true)
}

/// Whether a process still runs: the number alone may belong to a later one.
fn alive(number: i64, started: i64) -> bool {
    let began = u32::try_from(number).ok().and_then(process::began);
    began.is_some_and(|began| began == started)
}

pub(super) fn release(
    connection: &Connection,
    handle: i64,
    study: &str,
    what: &str,
) -> rusqlite::Result<()> {
    let (machine, own, began) = here();
    let sql = "DELETE FROM claim WHERE study = ?1 AND what = ?2 AND machine = ?3 AND process = ?4 \
               AND started = ?5 AND handle = ?6";
    connection.execute(sql, params![study, what, machine, own, began, handle])?;
    Ok(())
}
