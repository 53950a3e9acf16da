//! Studies in a PostgreSQL server, for teams and for machines that share no disk.
//!
//! The tables are those of the file, in a schema `taskscout` that the first user makes. A writer locks the head
//! of its study (`SELECT … FOR UPDATE`), so that versions are compared and moved by one at a time. If the
//! server goes away, what was asked for is tried again for ten seconds; after a commit whose answer was lost,
//! the record's checksum tells whether it is stored, so that nothing is stored twice or called lost while it
//! is there.
//!
//! Not inside of an asynchronous runtime: the client has one of its own. A connection pooler has to pool
//! sessions, not transactions.

mod read;
mod schema;
#[cfg(feature = "tls")]
mod secure;
mod session;
mod tls;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use postgres::Config;
use postgres::config::Host;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::log::{Claims, Head, Kept, Loaded, NewRecord, Query, Rows, Store};
use session::Session;

/// A handle on a database of studies.
pub struct Postgres {
    session: Session,
    /// What this handle has claimed, and the connection that it belongs to.
    claimed: BTreeMap<(String, String), u64>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres")
            .field("place", &self.session.place())
            .field("claimed", &self.claimed)
            .finish()
    }
}

impl Postgres {
    /// Opens a database by its URL, `postgresql://user:password@host:port/database`; the tables are made if they
    /// are not there. `?sslmode=require` asks for TLS with a certificate that is checked (the feature `tls`).
    ///
    /// # Errors
    /// A server that cannot be reached or refuses; tables of a newer version.
    pub fn create_or_open(url: &str) -> Result<Self> {
        let mut store = Self::connect(url)?;
        schema::make(&mut store.session)?;
        Ok(store)
    }

    /// Opens a database that has our tables already.
    ///
    /// # Errors
    /// As [`Postgres::create_or_open`], and a database without them.
    pub fn open(url: &str) -> Result<Self> {
        let mut store = Self::connect(url)?;
        schema::require(&mut store.session)?;
        Ok(store)
    }

    fn connect(url: &str) -> Result<Self> {
        let (url, wish) = tls::split(url)?;
        // The parser's own words may quote the password.
        let mut config: Config = url.parse().map_err(|_| {
            Error::Invalid(
                "the address of the server is not understood: write `postgresql://user:password@host:port/database`, with %40 for an @ in a password".into(),
            )
        })?;
        if config.get_application_name().is_none() {
            config.application_name("taskscout");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(3));
        }
        config.keepalives_idle(Duration::from_secs(30));
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(10));
        }
        let (place, connector) = (place(&config), tls::Connector::new(&config, &wish)?);
        Ok(Self {
            session: Session::new(config, place, connector),
            claimed: BTreeMap::new(),
        })
    }
}

/// The server and the database, without user and password.
fn place(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".into(),
    };
    let port = config.get_ports().first().map_or(5432, |port| *port);
    let name = config.get_dbname().or(config.get_user()).unwrap_or("");
    format!("postgresql://{host}:{port}/{name}")
}

/// A number as SQL has it; none of ours comes near the limit.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number of ours; a negative one can only be damage, which the checksum over it shows.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

impl Store for Postgres {
    fn create_checked(&mut self, study: &str, records: &[NewRecord]) -> Result<u64> {
        self.session
            .write(|work| write::create(work, study, records))
    }

    fn append_checked(
        &mut self,
        study: &str,
        expected: u64,
        records: &[NewRecord],
        keep: &[Kept],
    ) -> Result<u64> {
        self.session
            .write(|work| write::append(work, study, expected, records, keep))
    }

    fn load(&mut self, study: &str, query: &Query) -> Result<Loaded> {
        self.session.read(|work| read::load(work, study, query))
    }

    fn list(&mut self) -> Result<Vec<Head>> {
        self.session.read(read::list)
    }
}

impl Rows for Postgres {
    fn rows(
        &mut self,
        study: &str,
        version: u64,
        each: &mut dyn FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let (id, stored) = self.session.read(|work| read::one(work, study, version))?;
        // Records never change: no transaction stays open while the chunks are used.
        for place in 0..stored.record.row_chunks {
            let found = self
                .session
                .read(|work| read::chunk(work, id, version, place))?;
            each(read::checked(study, &stored, place, found)?)?;
        }
        Ok(())
    }
}

/// The number of a claim among the server's advisory locks.
fn number(study: &str, what: &str) -> i64 {
    let digest = Sha256::digest(format!("taskscout\0{study}\0{what}"));
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_le_bytes(first)
}

impl Claims for Postgres {
    fn claim(&mut self, study: &str, what: &str) -> Result<bool> {
        let key = (study.to_owned(), what.to_owned());
        if let Some(connection) = self.claimed.get(&key)
            && self.session.still(*connection)
        {
            return Ok(true);
        }
        let sql = "SELECT pg_try_advisory_lock($1)";
        let mine = self.session.ask(sql, number(study, what))?;
        if mine {
            self.claimed.insert(key, self.session.number);
        }
        Ok(mine)
    }

    fn release(&mut self, study: &str, what: &str) -> Result<()> {
        let key = (study.to_owned(), what.to_owned());
        // A claim of a connection that is gone went with it.
        if let Some(connection) = self.claimed.remove(&key)
            && self.session.still(connection)
        {
            let sql = "SELECT pg_advisory_unlock($1)";
            self.session.ask(sql, number(study, what))?;
        }
        Ok(())
    }
}
