//! What an address says of TLS: `sslmode` and `sslrootcert`.
//!
//! | `sslmode` | connection | certificate of the server |
//! |---|---|---|
//! | `disable` | plain | – |
//! | `prefer`, or none given | TLS if the server offers it and both can, else plain | not checked: nobody can listen, but nobody proves who answers |
//! | `require`, `verify-full` | TLS, or an error | signed by whom `sslrootcert` or else the system trusts, and for this host name |

use std::path::PathBuf;

use postgres::config::SslMode;
use postgres::{Client, Config};

use crate::error::{Error, Result};

/// What an address asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wish {
    /// Whether the certificate of the server has to be checked.
    pub(super) checked: bool,
    /// Certificates of whom to trust instead of those of the system.
    pub(super) roots: Option<PathBuf>,
}

/// The address without what is meant for TLS, with the mode that the client knows, and the rest of it.
pub(super) fn split(url: &str) -> Result<(String, Wish)> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let mut wish = Wish::default();
    let mut rest = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", mode)) => {
                wish.checked = matches!(mode, "require" | "verify-full");
                if !wish.checked && !matches!(mode, "disable" | "prefer") {
                    return Err(Error::Invalid(
                        "the address has an `sslmode` that is not known: use `disable`, `prefer`, `require` or `verify-full`".into(),
                    ));
                }
                let known = if wish.checked { "require" } else { mode };
                rest.push(format!("sslmode={known}"));
            }
            Some(("sslrootcert", file)) => wish.roots = Some(PathBuf::from(decoded(file)?)),
            _ => rest.push(pair.to_owned()),
        }
    }
    if wish.roots.is_some() && !wish.checked {
        return Err(Error::Invalid(
            "the address has `sslrootcert`, which is of use only where certificates are checked: add `sslmode=require`".into(),
        ));
    }
    let mark = if rest.is_empty() { "" } else { "?" };
    Ok((format!("{base}{mark}{}", rest.join("&")), wish))
}

/// A value of an address without its `%20`.
fn decoded(text: &str) -> Result<String> {
    let (mut bytes, mut left) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = left.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let code = digits.and_then(|two| std::str::from_utf8(two).ok());
        match code.map(|two| u8::from_str_radix(two, 16)) {
            Some(Ok(byte)) => {
                bytes.push(byte);
                left = &after[2..];
            }
            _ => {
                bytes.push(*first);
                left = after;
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| {
        Error::Invalid("the path in `sslrootcert` is no text: write it as UTF-8".into())
    })
}

/// How connections are made.
pub(super) enum Connector {
    Plain,
    #[cfg(feature = "tls")]
    Tls(super::secure::Secure),
}

impl Connector {
    #[cfg(feature = "tls")]
    pub(super) fn new(config: &Config, wish: &Wish) -> Result<Self> {
        // A server that is given by a number only has no name that a certificate could be for.
        let nameless = config.get_hosts().is_empty() && !config.get_hostaddrs().is_empty();
        match config.get_ssl_mode() {
            SslMode::Disable => Ok(Self::Plain),
            SslMode::Prefer if nameless => Ok(Self::Plain),
            _ => Ok(Self::Tls(super::secure::Secure::new(wish)?)),
        }
    }

    #[cfg(not(feature = "tls"))]
    pub(super) fn new(config: &Config, _: &Wish) -> Result<Self> {
        if config.get_ssl_mode() == SslMode::Require {
            return Err(Error::Invalid(
                "the address asks for TLS, and this program was built without: build it with the feature `tls`, connect through a tunnel (`ssh -L`), or leave `sslmode` out on a network that you trust".into(),
            ));
        }
        Ok(Self::Plain)
    }

    pub(super) fn connect(&self, config: &Config) -> std::result::Result<Client, postgres::Error> {
        match self {
            Self::Plain => config.connect(postgres::NoTls),
            #[cfg(feature = "tls")]
            Self::Tls(secure) => match config.connect(secure.clone()) {
                // Who only prefers TLS gets a connection in any case.
                Err(error) if config.get_ssl_mode() == SslMode::Prefer => match problem(&error) {
                    Some(_) => config.connect(postgres::NoTls),
                    None => Err(error),
                },
                answer => answer,
            },
        }
    }
}

/// Why no safe connection came about, with what to do; nothing if the error is about something else.
pub(super) fn problem(error: &postgres::Error) -> Option<String> {
    let cause = std::error::Error::source(error)?;
    if cause.to_string() == "server does not support TLS" {
        return Some(
            "the server offers no TLS: switch it on there (`ssl = on`), or leave `sslmode` out on a network that you trust".into(),
        );
    }
    #[cfg(feature = "tls")]
    return super::secure::problem(cause);
    #[cfg(not(feature = "tls"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_what_is_checked() {
        let wish = |query: &str| split(&format!("postgresql://anna@host/db{query}")).unwrap();
        assert_eq!(wish("").1, Wish::default());
        let (url, full) = wish("?connect_timeout=2&sslmode=verify-full&sslrootcert=a%20b/ca.crt");
        assert_eq!(
            url,
            "postgresql://anna@host/db?connect_timeout=2&sslmode=require"
        );
        assert_eq!(full.roots, Some(PathBuf::from("a b/ca.crt")));
        assert!(full.checked && wish("?sslmode=require").1.checked);
        assert!(!wish("?sslmode=disable").1.checked);
        let refusal = |query: &str| {
            let refused = split(&format!("postgresql://anna:secret@host/db{query}"));
            refused.unwrap_err().to_string()
        };
        assert!(refusal("?sslmode=allow").contains("`prefer`"));
        assert!(refusal("?sslrootcert=ca.crt").contains("add `sslmode=require`"));
    }

    #[cfg(not(feature = "tls"))]
    #[test]
    fn without_tls_the_feature_is_named() {
        let config: Config = "postgresql://host/db?sslmode=require".parse().unwrap();
        let refused = Connector::new(&config, &Wish::default()).err().unwrap();
        assert!(refused.to_string().contains("the feature `tls`"));
    }
}
