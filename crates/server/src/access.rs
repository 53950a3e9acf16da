//! Who may ask: the names that the page is served under, the pages that may ask it, and the token.
//!
//! A page of somebody else in the same browser must not reach a server on this machine, neither by its address nor by
//! a name that was made to lead here. So the `Host` of a request has to be one of ours, and its `Origin`, if there is
//! one, the same. Beyond this machine a token is needed, in a header or in the cookie that the login sets.

use std::net::IpAddr;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use sha2::{Digest as _, Sha256};

use crate::refusal::{Answered, Refusal};

/// The name of the cookie.
const COOKIE_NAME: &str = "taskscout-session";
/// Characters that a token has at least.
const SHORTEST_TOKEN: usize = 16;

/// A token, of which only a digest is kept.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token {
    digest: [u8; 32],
    session: String,
}

/// Not even a digest is shown.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A token, with a session that ends with this server.
    pub(crate) fn new(token: &str) -> Result<Self, String> {
        if token.trim().len() < SHORTEST_TOKEN {
            return Err(format!(
                "the token has {} characters: give at least {SHORTEST_TOKEN} that nobody can guess, for instance those of `openssl rand -hex 24`",
                token.trim().len()
            ));
        }
        let digest = sha256(&[b"token", token.trim().as_bytes()]);
        let session = sha256(&[b"session", &digest, &secret()]);
        Ok(Self {
            digest,
            session: session.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }

    /// Whether a token is the right one, in the same time whatever is wrong with it.
    pub(crate) fn is(&self, given: &str) -> bool {
        equal(&self.digest, &sha256(&[b"token", given.trim().as_bytes()]))
    }

    fn is_session(&self, given: &str) -> bool {
        let digest = |text: &str| sha256(&[b"cookie", text.as_bytes()]);
        equal(&digest(&self.session), &digest(given))
    }

    /// What the login answers with.
    pub(crate) fn cookie(&self) -> String {
        format!(
            "{COOKIE_NAME}={}; Path=/; HttpOnly; SameSite=Lax",
            self.session
        )
    }
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update((part.len() as u64).to_le_bytes());
        sum.update(part);
    }
    sum.finalize().into()
}

/// Looks at every byte, whichever differ.
fn equal(a: &[u8; 32], b: &[u8; 32]) -> bool {
    let differing = a.iter().zip(b).fold(0, |seen, (a, b)| seen | (a ^ b));
    std::hint::black_box(differing) == 0
}

/// Bytes that nobody outside of this process knows: the keys of the standard library's hash maps come from the system's
/// generator.
fn secret() -> [u8; 32] {
    use std::hash::{BuildHasher as _, RandomState};
    let mut bytes = [0; 32];
    for chunk in bytes.chunks_mut(8) {
        // Each has keys of its own.
        chunk.copy_from_slice(&RandomState::new().hash_one(0_u8).to_le_bytes());
    }
    bytes
}

/// Who may ask.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// Names of this server, in small letters and without a port.
    hosts: Vec<String>,
    port: u16,
    /// Whether other ports are ours too, as behind a proxy.
    any_port: Vec<String>,
    /// Whether every address of this machine is served; only names can be made to lead here, addresses cannot.
    any_address: bool,
    pub(crate) token: Option<Token>,
}

impl Access {
    /// For a server on an address and port, under further names of a proxy before it.
    pub(crate) fn new(host: IpAddr, port: u16, names: &[String], token: Option<Token>) -> Self {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"]
            .map(str::to_owned)
            .to_vec();
        hosts.push(match host {
            IpAddr::V4(host) => host.to_string(),
            IpAddr::V6(host) => format!("[{host}]"),
        });
        Self {
            hosts,
            port,
            any_port: names.iter().map(|name| name.to_lowercase()).collect(),
            any_address: host.is_unspecified(),
            token,
        }
    }

    /// Refuses requests under names that are not ours, and from pages that are not.
    pub(crate) fn check_origin(&self, headers: &HeaderMap) -> Answered<()> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(HOST).unwrap_or_default().to_lowercase();
        // Of several names a proxy may take another one than we do.
        let several = headers.get_all(HOST).iter().count() > 1;
        if several || !self.is_ours(&host) {
            return Err(Refusal::new(
                StatusCode::MISDIRECTED_REQUEST,
                "this server does not answer to that name: open it under the address that it printed, or start it with --allow-host NAME",
            ));
        }
        let foreign = || {
            Refusal::new(
                StatusCode::FORBIDDEN,
                "another page asked: open this server's own page",
            )
        };
        if let Some(origin) = headers.get(ORIGIN) {
            let origin = origin.to_str().unwrap_or_default().to_lowercase();
            let rest = origin
                .strip_prefix("http://")
                .or_else(|| origin.strip_prefix("https://"));
            if rest != Some(host.as_str()) {
                return Err(foreign());
            }
        }
        Ok(())
    }

    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port.parse::<u16>().ok()),
            _ => (host, Some(80)),
        };
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let own = self.hosts.iter().any(|known| known == name)
            || (self.any_address && bare.parse::<IpAddr>().is_ok());
        (own && port == Some(self.port)) || self.any_port.iter().any(|known| known == name)
    }

    /// Whether the token came with the request, or none is needed.
    pub(crate) fn is_known(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let bearer = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if bearer.is_some_and(|given| token.is(given)) {
            return true;
        }
        let cookies = headers.get_all(COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|text| text.split(';'));
        pairs.any(|pair| {
            let (name, value) = pair.trim().split_once('=').unwrap_or_default();
            name == COOKIE_NAME && token.is_session(value)
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use std::net::Ipv4Addr;

    use axum::http::HeaderName;

    use super::*;

    const SECRET: &str = "correct horse battery staple";

    fn access(token: Option<&str>) -> Access {
        let token = token.map(|token| Token::new(token).unwrap());
        let names = ["Lab.example".to_owned()];
        Access::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8421, &names, token)
    }

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let pair = |(name, value): &(HeaderName, &str)| (name.clone(), value.parse().unwrap());
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn only_our_own_names_and_pages_are_served() {
        let access = access(None);
        let check = |pairs: &[(HeaderName, &str)]| access.check_origin(&headers(pairs));
        for host in [
            "localhost:8421",
            "127.0.0.1:8421",
            "[::1]:8421",
            "LAB.example",
            "lab.example:443",
        ] {
            check(&[(HOST, host)]).unwrap();
            check(&[(HOST, host), (ORIGIN, &format!("http://{host}"))]).unwrap();
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8421",
            "localhost",
            "localhost:80",
            "127.0.0.1.evil.example:8421",
            "localhost:8421.evil.example",
        ] {
            assert_eq!(check(&[(HOST, host)]).unwrap_err().status, 421, "{host}");
        }
        assert_eq!(check(&[]).unwrap_err().status, 421);
        let mut two = headers(&[(HOST, "localhost:8421")]);
        two.append(HOST, "evil.example".parse().unwrap());
        assert_eq!(access.check_origin(&two).unwrap_err().status, 421);
        for origin in [
            "null",
            "http://evil.example",
            "http://localhost:8422",
            "http://127.0.0.1:8421",
            "ftp://localhost:8421",
        ] {
            let refused = check(&[(HOST, "localhost:8421"), (ORIGIN, origin)]);
            assert_eq!(refused.unwrap_err().status, 403, "{origin}");
        }
    }

    #[test]
    fn all_addresses_of_a_machine_are_not_all_names() {
        let access = Access::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 8421, &[], None);
        let check = |host: &str| access.check_origin(&headers(&[(HOST, host)]));
        check("192.168.1.5:8421").unwrap();
        check("[fe80::1]:8421").unwrap();
        assert_eq!(check("rebound.example:8421").unwrap_err().status, 421);
    }

    #[test]
    fn a_token_is_asked_for_where_there_is_one() {
        assert!(access(None).is_known(&HeaderMap::new()));
        let access = access(Some(SECRET));
        let token = access.token.as_ref().unwrap();
        let cookie = token.cookie();
        let cookie = cookie.split(';').next().unwrap();
        let known = |pairs: &[(HeaderName, &str)]| access.is_known(&headers(pairs));
        assert!(known(&[(AUTHORIZATION, &format!("Bearer {SECRET}"))]));
        assert!(known(&[(COOKIE, &format!("other=1; {cookie}"))]));
        assert!(!known(&[]));
        assert!(!known(&[(AUTHORIZATION, "Bearer wrong")]));
        assert!(!known(&[(AUTHORIZATION, SECRET)]));
        assert!(!known(&[(COOKIE, &format!("{COOKIE_NAME}={SECRET}"))]));
        assert!(!known(&[(COOKIE, &format!("{COOKIE_NAME}="))]));
    }

    #[test]
    fn a_token_is_long_and_shown_nowhere() {
        assert!(Token::new("short").unwrap_err().contains("at least 16"));
        let token = Token::new(SECRET).unwrap();
        assert_eq!(format!("{token:?}"), "Token");
        assert!(!token.cookie().contains(SECRET));
        // Another start makes another session.
        assert_ne!(token.cookie(), Token::new(SECRET).unwrap().cookie());
    }
}
