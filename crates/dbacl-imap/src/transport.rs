// SPDX-License-Identifier: GPL-3.0-or-later
//! The connection to a server: over TLS, or without TLS to this machine.

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fmt::Display;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long the server may take for any answer but news.
pub const PATIENCE: Duration = Duration::from_secs(60);

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
pub struct Place {
    /// Its name or address.
    pub host: String,
    pub port: u16,
    /// The settings of TLS; `None` for a connection without TLS.
    tls: Option<Arc<ClientConfig>>,
}

impl Place {
    /// A server without TLS; [`Self::connect`] fails unless it is this machine.
    pub const fn plain(host: String, port: u16) -> Self {
        Self { host, port, tls: None }
    }

    /// A server whose certificate is signed by an authority that the system trusts, or, if a file
    /// `certificates` (PEM) is given, by one of those in the file.
    pub fn tls(host: String, port: u16, certificates: Option<&Path>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        if let Some(path) = certificates {
            let wrong = |what: &dyn Display| format!("{}: {what}", path.display());
            for certificate in CertificateDer::pem_file_iter(path).map_err(|it| wrong(&it))? {
                let certificate = certificate.map_err(|error| wrong(&error))?;
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
                return Err(format!("no certificates are found that this system trusts: {errors}"));
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has what TLS 1.2 and 1.3 need")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { host, port, tls: Some(Arc::new(config)) })
    }

    /// Connects. The second result is another handle of the connection, by which it can be shut
    /// down.
    pub fn connect(&self) -> Result<(Box<dyn Wire>, TcpStream), String> {
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
