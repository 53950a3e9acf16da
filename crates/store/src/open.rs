//! Stores by their address.

use crate::error::{Error, Result};
use crate::log::Store;

/// Opens the store at an address: a path (`tunnel.db`), `sqlite:///folder/tunnel.db` (four slashes before an
/// absolute path), or
/// `postgresql://user@host/database`. A file, or tables in a database, are made if they are not there.
///
/// # Errors
/// An address of another kind; a store that cannot be opened.
pub fn open(address: &str) -> Result<Box<dyn Store>> {
    with(address, true)
}

/// The same for a store that is there already: a mistyped path is an error, and not a new file.
///
/// # Errors
/// As [`open`], and a store that is not there.
pub fn open_existing(address: &str) -> Result<Box<dyn Store>> {
    with(address, false)
}

#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    expect(unused_variables)
)]
fn with(address: &str, make: bool) -> Result<Box<dyn Store>> {
    match kind(address)? {
        #[cfg(feature = "sqlite")]
        Kind::File(path) if make => Ok(Box::new(crate::Sqlite::create_or_open(path)?)),
        #[cfg(feature = "sqlite")]
        Kind::File(path) => Ok(Box::new(crate::Sqlite::open(path)?)),
        #[cfg(feature = "postgres")]
        Kind::Server(url) if make => Ok(Box::new(crate::Postgres::create_or_open(url)?)),
        #[cfg(feature = "postgres")]
        Kind::Server(url) => Ok(Box::new(crate::Postgres::open(url)?)),
        #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
        _ => Err(Error::Invalid(
            "this program was built without this kind of store: build it with the features `sqlite` and `postgres`"
                .into(),
        )),
    }
}

#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "sqlite", feature = "postgres")),
    allow(dead_code) // the path or the address of what was not built in
)]
enum Kind<'a> {
    File(&'a str),
    Server(&'a str),
}

/// A path or a server. The address itself is not shown in errors: it may hold a password.
fn kind(address: &str) -> Result<Kind<'_>> {
    let (scheme, rest) = match address.split_once("://") {
        None => match address.strip_prefix("sqlite:") {
            Some(path) => ("", path),
            None => ("", address),
        },
        Some(parts) => parts,
    };
    match scheme {
        "postgres" | "postgresql" => Ok(Kind::Server(address)),
        "" | "sqlite" if rest.is_empty() => Err(Error::Invalid(
            "the address of the store is empty: give a path such as `studies.db`".into(),
        )),
        // As database libraries of Python have it: three slashes before a relative path, four before an absolute one.
        "sqlite" => Ok(Kind::File(rest.strip_prefix('/').unwrap_or(rest))),
        "" => Ok(Kind::File(rest)),
        other => Err(Error::Invalid(format!(
            "stores of the kind `{other}` are not known: give a path such as `studies.db`, `sqlite:///folder/studies.db`, or `postgresql://user@host/database`"
        ))),
    }
}
