//! What is to be served, where, and to whom.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use taskscout_studies::Error;

use crate::access::Token;

/// The port where nobody says another.
const PORT: u16 = 8421;

/// What is to be served, where, and to whom.
#[derive(Clone)]
pub struct ServeOptions {
    /// A store of studies (a file or the address of a database), a run folder, or a folder of runs and stores.
    pub what: String,
    /// The only study that is shown; all of the store if not given.
    pub study: Option<String>,
    /// The address to listen on.
    pub host: IpAddr,
    /// The port to listen on; 0 takes any that is free.
    pub port: u16,
    /// Names of a proxy that the page is reached under.
    pub allowed_hosts: Vec<String>,
    /// The token that requests have to bring; needed beyond this machine.
    pub token: Option<String>,
}

/// Without the token, and without the address, which may hold a password.
impl std::fmt::Debug for ServeOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServeOptions")
            .field("study", &self.study)
            .field("host", &self.host)
            .field("port", &self.port)
            .field("allowed_hosts", &self.allowed_hosts)
            .finish_non_exhaustive()
    }
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            what: "studies.db".to_owned(),
            study: None,
            host: IpAddr::from([127, 0, 0, 1]),
            port: PORT,
            allowed_hosts: Vec::new(),
            token: None,
        }
    }
}

/// Where studies and runs are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) store: Option<String>,
    pub(crate) folder: Option<PathBuf>,
}

impl ServeOptions {
    /// The token, if one is given, and an error where one is needed and missing.
    pub(crate) fn checked_token(&self) -> Result<Option<Token>, Error> {
        match &self.token {
            Some(token) => Token::new(token).map(Some).map_err(Error::Input),
            None if self.host.is_loopback() && self.allowed_hosts.is_empty() => Ok(None),
            None => Err(Error::Input(
                "beyond this machine a token is needed: put one into a file and give --token-file FILE, or set TASKSCOUT_TOKEN".into(),
            )),
        }
    }

    /// A folder has runs, and perhaps a store; all else is the address of a store.
    pub(crate) fn places(&self) -> Result<Places, Error> {
        let path = Path::new(&self.what);
        if !path.is_dir() {
            return Ok(Places {
                store: Some(self.what.clone()),
                folder: None,
            });
        }
        let inside = path.join("studies.db");
        Ok(Places {
            store: inside.is_file().then(|| inside.display().to_string()),
            folder: Some(path.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn a_token_is_needed_beyond_this_machine() {
        let with = |host: [u8; 4], names: &[&str], token: Option<&str>| ServeOptions {
            host: IpAddr::from(host),
            allowed_hosts: names.iter().map(|name| (*name).to_owned()).collect(),
            token: token.map(str::to_owned),
            ..ServeOptions::default()
        };
        let long = Some("0123456789abcdef");
        assert!(
            with([127, 0, 0, 1], &[], None)
                .checked_token()
                .unwrap()
                .is_none()
        );
        assert!(
            with([127, 0, 0, 1], &[], long)
                .checked_token()
                .unwrap()
                .is_some()
        );
        for open in [
            with([0, 0, 0, 0], &[], None),
            with([192, 168, 1, 5], &[], None),
            with([127, 0, 0, 1], &["lab.example"], None),
        ] {
            let refused = open.checked_token().unwrap_err().to_string();
            assert!(refused.contains("--token-file"), "{refused}");
        }
        assert!(
            with([0, 0, 0, 0], &[], long)
                .checked_token()
                .unwrap()
                .is_some()
        );
        let shown = format!("{:?}", with([0, 0, 0, 0], &[], long));
        assert!(!shown.contains("0123456789abcdef"), "{shown}");
    }

    #[test]
    fn a_folder_has_runs_and_perhaps_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let options = ServeOptions {
            what: folder.path().display().to_string(),
            ..ServeOptions::default()
        };
        assert_eq!(options.places().unwrap().store, None);
        std::fs::write(folder.path().join("studies.db"), "").unwrap();
        assert!(options.places().unwrap().store.is_some());
        let address = ServeOptions {
            what: "postgresql://me@host/db".into(),
            ..ServeOptions::default()
        };
        assert_eq!(address.places().unwrap().folder, None);
    }
}
