// SPDX-License-Identifier: GPL-3.0-or-later
//! The connection to a server: over TLS, or without TLS to this machine.

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long the server may take for any answer but news.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A connection's bytes.
pub trait Wire: Read + Write {
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

impl Wire for Box<dyn Wire + Send> {
    fn patience(&mut self, patience: Duration) -> io::Result<()> {
        (**self).patience(patience)
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// There is no such server, or it does not answer.
    #[error("{host}:{port}: {source}")]
    Unreachable {
        /// The server's name.
        host: String,
        port: u16,
        /// What the operating system said, or TLS.
        source: io::Error,
    },
    /// A connection over the network needs TLS.
    #[error("{host} is not this machine: without TLS, dbacl-imap connects to this machine only")]
    NotLocal {
        /// The server's name.
        host: String,
    },
    /// The file of certificates cannot be used.
    #[error("{}: {text}", path.display())]
    Certificates { path: PathBuf, text: String },
    /// The system has no certificates to trust.
    #[error("no certificates are found that this system trusts: {0}")]
    NoRoots(String),
    /// The name cannot be in a certificate.
    #[error("{0} is not a valid name of a server")]
    Name(String),
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
    pub fn tls(
        host: String,
        port: u16,
        certificates: Option<&Path>,
    ) -> Result<Self, TransportError> {
        let mut roots = RootCertStore::empty();
        if let Some(path) = certificates {
            let wrong = |text: String| TransportError::Certificates { path: path.into(), text };
            let list =
                CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
            for certificate in list {
                let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
                roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(wrong("there is no certificate in it".into()));
            }
        } else {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                let errors = found.errors.into_iter().map(|error| error.to_string());
                return Err(TransportError::NoRoots(errors.collect::<Vec<_>>().join("; ")));
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
    pub fn connect(&self) -> Result<(Box<dyn Wire + Send>, TcpStream), TransportError> {
        let unreachable = |source| {
            let (host, port) = (self.host.clone(), self.port);
            TransportError::Unreachable { host, port, source }
        };
        let addresses = (self.host.as_str(), self.port).to_socket_addrs().map_err(unreachable)?;
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in addresses {
            if self.tls.is_none() && !address.ip().is_loopback() {
                return Err(TransportError::NotLocal { host: self.host.clone() });
            }
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => return self.speak(stream).map_err(unreachable),
                Err(error) => last = error,
            }
        }
        Err(unreachable(last))
    }

    fn speak(&self, stream: TcpStream) -> io::Result<(Box<dyn Wire + Send>, TcpStream)> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let handle = stream.try_clone()?;
        let Some(config) = &self.tls else { return Ok((Box::new(stream), handle)) };
        let name = ServerName::try_from(self.host.clone());
        let name = name.map_err(|_| io::Error::other(TransportError::Name(self.host.clone())))?;
        let client = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(client, stream);
        // The handshake is made now, so that its errors are reported as errors of connecting.
        stream.conn.complete_io(&mut stream.sock)?;
        Ok((Box::new(stream), handle))
    }
}
