//! A connection that comes back: errors that pass are told from those that stay, and what was being done is
//! done again for a bounded time.

use std::collections::HashMap;
use std::error::Error as _;
use std::time::{Duration, Instant};

use postgres::types::ToSql;
use postgres::{Client, Config, IsolationLevel, Row, Statement, Transaction};

use super::tls::{self, Connector};
use crate::error::{Error, Result};

/// How long a server may be away before what was asked for is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Settings of every session: nobody waits for ever for another's lock, no dead client keeps one, and what
/// was acknowledged is on the server's disk.
const SETTINGS: &str = "SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'; \
    SET client_encoding = 'UTF8'; \
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// Why a piece of work did not come to its end.
#[derive(Debug)]
pub(super) enum Fault {
    /// Something that trying again does not change.
    Ours(Error),
    /// What the server or the connection said, and whether that was at the commit.
    Server(postgres::Error, bool),
}

impl From<postgres::Error> for Fault {
    fn from(error: postgres::Error) -> Self {
        Self::Server(error, false)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

/// What a piece of work gives.
pub(super) type Done<T> = std::result::Result<T, Fault>;

/// Statements that the server has prepared for this connection.
type Prepared = HashMap<&'static str, Statement>;

/// The server, and the connection to it if there is one.
pub(super) struct Session {
    config: Config,
    place: String,
    connector: Connector,
    open: Option<(Client, Prepared)>,
    /// Connections so far: what belongs to one ends with it.
    pub(super) number: u64,
}

/// A transaction with the statements of its connection.
pub(super) struct Work<'a> {
    transaction: Transaction<'a>,
    prepared: &'a mut Prepared,
    /// Whether an earlier try may have been committed without an answer.
    pub(super) doubt: bool,
}

impl Work<'_> {
    fn prepare(&mut self, sql: &'static str) -> Done<Statement> {
        if let Some(known) = self.prepared.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.transaction.prepare(sql)?;
        self.prepared.insert(sql, statement.clone());
        Ok(statement)
    }

    pub(super) fn query(
        &mut self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Done<Vec<Row>> {
        let statement = self.prepare(sql)?;
        Ok(self.transaction.query(&statement, values)?)
    }

    pub(super) fn execute(
        &mut self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Done<u64> {
        let statement = self.prepare(sql)?;
        Ok(self.transaction.execute(&statement, values)?)
    }

    /// Several statements without values.
    pub(super) fn batch(&mut self, sql: &str) -> Done<()> {
        Ok(self.transaction.batch_execute(sql)?)
    }

    fn commit(self) -> Done<()> {
        let done = self.transaction.commit();
        done.map_err(|error| Fault::Server(error, true))
    }
}

impl Session {
    pub(super) fn new(config: Config, place: String, connector: Connector) -> Self {
        Self {
            config,
            place,
            connector,
            open: None,
            number: 0,
        }
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Reads in one transaction that sees one moment.
    pub(super) fn read<T>(&mut self, mut work: impl FnMut(&mut Work<'_>) -> Done<T>) -> Result<T> {
        self.patiently(false, |session, doubt| {
            let (client, prepared) = session.client()?;
            let transaction = client
                .build_transaction()
                .isolation_level(IsolationLevel::RepeatableRead)
                .read_only(true)
                .start()?;
            let mut view = Work {
                transaction,
                prepared,
                doubt,
            };
            let found = work(&mut view)?;
            view.commit()?;
            Ok(found)
        })
    }

    /// Writes in one transaction. The work is done again if the server went away, and then knows whether an
    /// earlier try may have been stored.
    pub(super) fn write<T>(&mut self, mut work: impl FnMut(&mut Work<'_>) -> Done<T>) -> Result<T> {
        self.patiently(true, |session, doubt| {
            let (client, prepared) = session.client()?;
            let transaction = client.transaction()?;
            let mut change = Work {
                transaction,
                prepared,
                doubt,
            };
            let done = work(&mut change)?;
            change.commit()?;
            Ok(done)
        })
    }

    /// Asks outside of a transaction, for what belongs to the connection itself.
    pub(super) fn ask(&mut self, sql: &str, value: i64) -> Result<bool> {
        self.patiently(false, |session, _| {
            let (client, _) = session.client()?;
            Ok(client.query_one(sql, &[&value])?.try_get(0)?)
        })
    }

    /// Whether the connection that had this number is still there.
    pub(super) fn still(&self, number: u64) -> bool {
        let open = self.open.as_ref();
        self.number == number && open.is_some_and(|(client, _)| !client.is_closed())
    }

    /// The connection, made anew if it is gone.
    fn client(&mut self) -> Done<(&mut Client, &mut Prepared)> {
        let open = match self.open.take() {
            Some((client, prepared)) if !client.is_closed() => (client, prepared),
            _ => {
                let mut client = self.connector.connect(&self.config)?;
                client.batch_execute(SETTINGS)?;
                self.number += 1;
                (client, Prepared::new())
            }
        };
        let (client, prepared) = self.open.insert(open);
        Ok((client, prepared))
    }

    fn patiently<T>(
        &mut self,
        writes: bool,
        mut work: impl FnMut(&mut Self, bool) -> Done<T>,
    ) -> Result<T> {
        let start = Instant::now();
        let (mut doubt, mut pause) = (false, Duration::from_millis(20));
        loop {
            let (error, commit) = match work(self, doubt) {
                Ok(done) => return Ok(done),
                Err(Fault::Ours(error)) => return Err(error),
                Err(Fault::Server(error, commit)) => (error, commit),
            };
            if !passes(&error) {
                return Err(self.refused(&error, writes, doubt));
            }
            doubt |= commit && writes;
            self.open = None;
            if start.elapsed() + pause > PATIENCE {
                return Err(self.away(&error, writes, doubt));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }

    fn explain(&self, problem: &str, maybe_stored: bool) -> Error {
        Error::Server {
            place: self.place.clone(),
            problem: problem.into(),
            maybe_stored,
        }
    }

    fn away(&self, error: &postgres::Error, writes: bool, doubt: bool) -> Error {
        let seconds = PATIENCE.as_secs();
        let end = match (writes, doubt) {
            (false, _) => "try again when it is back",
            (true, false) => "nothing was stored, and the same can be said again when it is back",
            (true, true) => {
                "it is not known whether what was said is stored: look when it is back, and say it again if not"
            }
        };
        let problem = format!(
            "the server has not answered for {seconds} s ({}): {end}",
            words(error)
        );
        self.explain(&problem, doubt)
    }

    /// An error that stays.
    fn refused(&self, error: &postgres::Error, writes: bool, doubt: bool) -> Error {
        let stored = if writes && !doubt {
            "nothing was stored; "
        } else {
            ""
        };
        if let Some(problem) = tls::problem(error) {
            return self.explain(&format!("{stored}{problem}"), doubt);
        }
        let remedy = match error.code().map(postgres::error::SqlState::code) {
            Some("28P01" | "28000") => "check user and password",
            Some("3D000") => "make the database first, with `createdb`",
            Some("42501") => {
                "ask the administrator for the right to make and write the schema `taskscout`"
            }
            Some("55P03") => "another program has been writing for longer than 30 s: try again",
            Some("53100") => "the server's disk is full: make room and say it again",
            Some("25006") => "it takes no writes: name the primary server",
            Some("XX001" | "XX002") => "its files are damaged: restore them from a copy",
            _ => "see the server's log",
        };
        let problem = format!("{stored}the server says: {}; {remedy}", words(error));
        self.explain(&problem, doubt)
    }
}

/// Whether trying again may help: the connection broke, or the server is starting, stopping or crowded.
fn passes(error: &postgres::Error) -> bool {
    if let Some(state) = error.code().map(postgres::error::SqlState::code) {
        let known = [
            "57P01", "57P02", "57P03", "57P05", "53300", "40001", "40P01", "25P03",
        ];
        return state.starts_with("08") || known.contains(&state);
    }
    if tls::problem(error).is_some() {
        return false;
    }
    let cause = error.source();
    let io = cause.is_some_and(|cause| cause.is::<std::io::Error>());
    error.is_closed() || io
}

/// The error with its cause. Neither holds a password: addresses are no part of them.
fn words(error: &postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(cause)) => format!("{error}: {cause}").replace('\n', " "),
        (None, None) => error.to_string(),
    }
}
