//! TLS by rustls, as the client of PostgreSQL wants it.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;

use super::tls::Wish;
use crate::error::{Error, Result};

/// Makes safe connections.
#[derive(Clone)]
pub(super) struct Secure(Arc<ClientConfig>);

impl Secure {
    pub(super) fn new(wish: &Wish) -> Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let trust = match wish.checked {
            true => Trust::of(wish.roots.as_deref(), &provider)?,
            false => Trust::Anybody,
        };
        let verifier = Arc::new(Verifier {
            trust,
            provider: Arc::clone(&provider),
        });
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Invalid(format!("TLS cannot be set up: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

/// Whose certificates are taken.
#[derive(Debug)]
enum Trust {
    /// Nobody asked for a check.
    Anybody,
    /// Those that a root signed, and those that were given themselves: a certificate that signed itself calls itself
    /// an authority, and is refused as a server's by the general rules.
    Signed {
        by_roots: Arc<WebPkiServerVerifier>,
        given: Vec<CertificateDer<'static>>,
    },
}

impl Trust {
    fn of(file: Option<&Path>, provider: &Arc<CryptoProvider>) -> Result<Self> {
        let given = file.map(read).transpose()?;
        let mut roots = RootCertStore::empty();
        match &given {
            Some(given) => roots.add_parsable_certificates(given.iter().cloned()),
            None => roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs),
        };
        let by_roots =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        let by_roots = by_roots.build().map_err(|_| {
            Error::Invalid(
                "no certificate of an authority is known here, so that of the server cannot be checked: give one by `sslrootcert=FILE`, or install the system's (`ca-certificates`)".into(),
            )
        })?;
        let given = given.unwrap_or_default();
        Ok(Self::Signed { by_roots, given })
    }
}

fn read(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let wrong = |problem: &str| {
        Error::Invalid(format!(
            "the file {} of `sslrootcert` {problem}: give the certificate of the authority that signed the server's, in PEM form",
            path.display()
        ))
    };
    // Devices and pipes need not have an end.
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err(wrong("is no file"));
    }
    let bytes = std::fs::read(path).map_err(|error| wrong(&format!("cannot be read ({error})")))?;
    let certificates: std::result::Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(&bytes).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(wrong("has no certificate in it")),
    }
}

#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        match &self.trust {
            Trust::Anybody => Ok(ServerCertVerified::assertion()),
            Trust::Signed { given, .. } if given.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            Trust::Signed { by_roots, .. } => {
                by_roots.verify_server_cert(end_entity, intermediates, name, ocsp, now)
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let known = &self.provider.signature_verification_algorithms;
        known.supported_schemes()
    }
}

/// Makes one safe connection, to a host of this name.
pub(super) struct Handshake {
    connector: TlsConnector,
    host: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Secure {
    type Stream = Stream<S>;
    type TlsConnect = Handshake;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> std::result::Result<Handshake, Self::Error> {
        // A socket of this machine has no name; its server answers that it has no TLS there.
        let host = if host.is_empty() { "localhost" } else { host };
        Ok(Handshake {
            connector: TlsConnector::from(Arc::clone(&self.0)),
            host: ServerName::try_from(host.to_owned())?,
        })
    }
}

type Connecting<S> = Pin<Box<dyn Future<Output = std::io::Result<Stream<S>>> + Send>>;

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Stream<S>;
    type Error = std::io::Error;
    type Future = Connecting<S>;

    fn connect(self, stream: S) -> Connecting<S> {
        Box::pin(async move { Ok(Stream(self.connector.connect(self.host, stream).await?)) })
    }
}

/// A safe connection.
pub(super) struct Stream<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// What a failed handshake was about, with what to do.
pub(super) fn problem(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    let inner = cause.downcast_ref::<std::io::Error>()?.get_ref()?;
    let error = inner.downcast_ref::<rustls::Error>()?;
    Some(match error {
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "the server's certificate is for another host name: use a name that it has, or have it made for this one".into(),
        rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => "the server's certificate is out of date: have it renewed".into(),
        rustls::Error::InvalidCertificate(_) => "nobody who is trusted here has signed the server's certificate: give the certificate of its authority, or its own if it signed itself, by `sslrootcert=FILE`".into(),
        other => format!(
            "no TLS with the server ({other}): see the server's log, or use `sslmode=disable` on a network that you trust"
        ),
    })
}
