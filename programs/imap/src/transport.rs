// SPDX-License-Identifier: GPL-3.0-or-later
//! The connection to a server: over TLS, or without TLS to this machine.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fmt::Display;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long the server may take for any answer but news.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A connection's bytes.
pub trait Wire: Read + Write + Send {
    /// Sets how long reading may take. When no byte comes for so long it fails with
    /// [`io::ErrorKind::WouldBlock`] or [`io::ErrorKind::TimedOut`].
    ///
    /// # Errors
    /// The operating system refuses.
    fn patience(&mut self, patience: Duration) -> io::Result<()>;
}

impl Wire for TcpStream {
    fn patience(&mut self, patience: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(patience))
    }
}

impl Wire for StreamOwned<ClientConnection, TcpStream> {
    fn patience(&mut self, patience: Duration) -> io::Result<()> {
        self.sock.set_read_timeout(Some(patience))
    }
}

/// The address of a server, and how to connect to it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Its name or address.
    pub host: String,
    pub port: u16,
    /// The settings of TLS; `None` for a connection without TLS.
    tls: Option<Arc<ClientConfig>>,
}

impl Place {
    /// A server without TLS; [`Self::connect`] fails unless it is this machine.
    pub(crate) const fn plain(host: String, port: u16) -> Self {
        Self { host, port, tls: None }
    }

    /// A server whose certificate is signed by an authority that the system trusts, or, if a file
    /// `certificates` (PEM) is given, is one of those in the file, or signed by one.
    pub(crate) fn tls(
        host: String,
        port: u16,
        certificates: Option<&Path>,
    ) -> Result<Self, String> {
        let (mut roots, mut named) = (RootCertStore::empty(), Vec::new());
        if let Some(path) = certificates {
            let wrong = |what: &dyn Display| format!("{}: {what}", path.display());
            for certificate in CertificateDer::pem_file_iter(path).map_err(|it| wrong(&it))? {
                let certificate = certificate.map_err(|error| wrong(&error))?;
                named.push(certificate.clone());
                roots.add(certificate).map_err(|error| wrong(&error))?;
            }
            if roots.is_empty() {
                return Err(wrong(&"there is no certificate in it"));
            }
        } else {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                let errors: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
                let errors = errors.join("; ");
                return Err(format!(
                    "this system has no list of certificates that it trusts: install \
                     ca-certificates, or name such a list in SSL_CERT_FILE: {errors}"
                ));
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let signed = WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone());
        let signed = signed.build().map_err(|error| error.to_string())?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has what TLS 1.2 and 1.3 need")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Trust { signed, named }))
            .with_no_client_auth();
        Ok(Self { host, port, tls: Some(Arc::new(config)) })
    }

    /// Connects. The second result is another handle of the connection, by which it can be shut
    /// down.
    pub(crate) fn connect(&self) -> Result<(Box<dyn Wire>, TcpStream), String> {
        let Self { host, port, .. } = self;
        let unreachable = |error: io::Error| format!("{host}:{port}: {error}");
        let addresses = (host.as_str(), *port).to_socket_addrs().map_err(unreachable)?;
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in addresses {
            if self.tls.is_none() && !address.ip().is_loopback() {
                let rule = "without TLS, dbacl-imap connects to this machine only";
                return Err(format!("{host} is not this machine: {rule}"));
            }
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => return self.speak(stream).map_err(unreachable),
                Err(error) => last = error,
            }
        }
        Err(unreachable(last))
    }

    fn speak(&self, stream: TcpStream) -> io::Result<(Box<dyn Wire>, TcpStream)> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let handle = stream.try_clone()?;
        let Some(config) = &self.tls else { return Ok((Box::new(stream), handle)) };
        let wrong = |_| io::Error::other(format!("{} is not a valid name of a server", self.host));
        let name = ServerName::try_from(self.host.clone()).map_err(wrong)?;
        let client = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(client, stream);
        // The handshake is made now, so that its errors are reported as errors of connecting.
        stream.conn.complete_io(&mut stream.sock)?;
        Ok((Box::new(stream), handle))
    }
}

/// Which certificates of servers are trusted.
#[derive(Debug)]
struct Trust {
    /// Those that are signed by a trusted one.
    signed: Arc<WebPkiServerVerifier>,
    /// Those that the user names. A server may present one of them as its own, even if it says that
    /// it is an authority's, as `openssl req -x509` writes it (CA:TRUE).
    named: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        use CertificateError::{
            Expired, ExpiredContext, NotValidForNameContext, NotValidYet, NotValidYetContext,
        };
        let error = match self.signed.verify_server_cert(own, others, name, stapled, now) {
            Ok(verified) => return Ok(verified),
            Err(error) if !self.named.iter().any(|it| it == own) => return Err(error),
            Err(error) => error,
        };
        if let Error::InvalidCertificate(
            Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. },
        ) = error
        {
            return Err(error);
        }
        match verify_server_name(&ParsedCertificate::try_from(own)?, name) {
            // Without names of hosts in it, it is for the server that the user means.
            Err(Error::InvalidCertificate(NotValidForNameContext { presented, .. }))
                if presented.is_empty() => {}
            result => result?,
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Certificates of `openssl req -x509` for `mail.example.org` from 2026 to 2036, in base64: an
    /// authority's (CA:TRUE), the same without names of hosts, and one that is not an authority's.
    const AUTHORITY: &str = "\
    MIIBqDCCAU6gAwIBAgIUCD7sDE3mmf6cSv81Vvp+PnMYalUwCgYIKoZIzj0EAwIwGzEZMBcGA1UEAwwQbWFpbC5l \
    eGFtcGxlLm9yZzAeFw0yNjExMjgwODE4MjlaFw0zNjExMjUwODE4MjlaMBsxGTAXBgNVBAMMEG1haWwuZXhhbXBs \
    ZS5vcmcwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASBIsVyQaDTGSdI8c9ykEoJbklD0TEPKJwKXbI6+AkgG5GE \
    GcQ3O3WAaXMlLsV2pg9BFNP9dyMYJ0XWJZiXK0duo3AwbjAdBgNVHQ4EFgQUV1xx28nIXpnJCJlX5vCsQdzWo4cw \
    HwYDVR0jBBgwFoAUV1xx28nIXpnJCJlX5vCsQdzWo4cwDwYDVR0TAQH/BAUwAwEB/zAbBgNVHREEFDASghBtYWls \
    LmV4YW1wbGUub3JnMAoGCCqGSM49BAMCA0gAMEUCIQCdD4GyHqqaLOSCNfMmOwv+r0xdUFiGaqc+s0/ARDbjJAIg \
    ZgKZ8W/Sfn/Z19Hlk7n8xSQr+VWAZTDwzl97Y5cODxQ=";
    const NAMELESS: &str = "\
    MIIBizCCATGgAwIBAgIUZyGHX7VYugr1pKVKj+sU3S3d4ikwCgYIKoZIzj0EAwIwGzEZMBcGA1UEAwwQbWFpbC5l \
    eGFtcGxlLm9yZzAeFw0yNjExMjgwODE4MjlaFw0zNjExMjUwODE4MjlaMBsxGTAXBgNVBAMMEG1haWwuZXhhbXBs \
    ZS5vcmcwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQTmBRA0ISM+1z0wlBiGcL6NFJKxUzLksRw8926J7iSlj7+ \
    do8fbwhbXLWMK3zIuxN3i6epxk7wgLpKjsP73cuIo1MwUTAdBgNVHQ4EFgQUZsw/1AzsfjCtyUEgjOPYGAcLVzow \
    HwYDVR0jBBgwFoAUZsw/1AzsfjCtyUEgjOPYGAcLVzowDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBF \
    AiAwxNPZv17I6oSuA+wXuT6G8W1nLVRLjRd2esWByY0D6wIhAMy/LNOWeHSjazxd/WypcIXv2O+ig7YzdthulSB9 \
    jqPl";
    const LEAF: &str = "\
    MIIBpTCCAUugAwIBAgIUF2a6AYcEF4jATu8fjaSVOkxF6xswCgYIKoZIzj0EAwIwGzEZMBcGA1UEAwwQbWFpbC5l \
    eGFtcGxlLm9yZzAeFw0yNjExMjgwODE4MjlaFw0zNjExMjUwODE4MjlaMBsxGTAXBgNVBAMMEG1haWwuZXhhbXBs \
    ZS5vcmcwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQo3lPbfXjsrGX8CytgdcaM8kvKgRed+YMgAm+p+NW0Ks+V \
    GVF4BcyfNx0HrW9IwbBS9DULicszd0k1VLHhMoiHo20wazAdBgNVHQ4EFgQU41Nsu6DHpPFcWkIHh5O6cQhY7row \
    HwYDVR0jBBgwFoAU41Nsu6DHpPFcWkIHh5O6cQhY7rowGwYDVR0RBBQwEoIQbWFpbC5leGFtcGxlLm9yZzAMBgNV \
    HRMBAf8EAjAAMAoGCCqGSM49BAMCA0gAMEUCIQD0Kz4JlKdd7xtfVDcS2gzYWnb114/BUDKv2E06DivDagIgEmew \
    eg5JrAE16fBsxpRi2kh2DpJgIuigQrSvzP91NXE=";

    /// What is said of a server with a certificate where another is named.
    fn said(own: &str, named: &str, host: &str, year: u64) -> String {
        let read = |text: &str| {
            let text = format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n");
            CertificateDer::from_pem_slice(text.as_bytes()).expect("a certificate")
        };
        let (own, named) = (read(own), vec![read(named)]);
        let mut roots = RootCertStore::empty();
        roots.add(named[0].clone()).expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let signed = WebPkiServerVerifier::builder_with_provider(roots.into(), provider);
        let trust = Trust { signed: signed.build().expect("a root"), named };
        let host = ServerName::try_from(host.to_owned()).expect("a name");
        let now = UnixTime::since_unix_epoch(Duration::from_secs((year - 1970) * 31_557_600));
        let verified = trust.verify_server_cert(&own, &[], &host, &[], now);
        verified.map_or_else(|error| error.to_string(), |_| "trusted".into())
    }

    #[test]
    fn a_certificate_that_is_named_is_trusted_for_its_hosts_and_years() {
        for (own, named, host, year, expected) in [
            (AUTHORITY, AUTHORITY, "mail.example.org", 2030, "trusted"),
            (LEAF, LEAF, "mail.example.org", 2030, "trusted"),
            (NAMELESS, NAMELESS, "mail.example.org", 2030, "trusted"),
            (NAMELESS, NAMELESS, "192.0.2.1", 2030, "trusted"),
            (AUTHORITY, AUTHORITY, "other.example.org", 2030, "not valid for name"),
            (LEAF, LEAF, "192.0.2.1", 2030, "not valid for name"),
            (AUTHORITY, AUTHORITY, "mail.example.org", 2040, "expired"),
            (AUTHORITY, AUTHORITY, "mail.example.org", 2020, "not valid yet"),
            (NAMELESS, NAMELESS, "mail.example.org", 2040, "expired"),
            (LEAF, LEAF, "mail.example.org", 2040, "expired"),
            (AUTHORITY, LEAF, "mail.example.org", 2030, "invalid peer certificate"),
            (LEAF, NAMELESS, "mail.example.org", 2030, "BadSignature"),
        ] {
            let said = said(own, named, host, year);
            assert!(said.contains(expected), "{host} {year} {expected}: {said}");
        }
    }
}
