// SPDX-License-Identifier: GPL-3.0-or-later
//! Addresses, and sockets that listen at them.

use nix::sys::stat::{Mode, umask};
use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tokio::io::{AsyncRead, AsyncWrite};

/// A port or a UNIX socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Port(SocketAddr),
    /// A socket in the file system.
    Socket(PathBuf),
}

impl Address {
    /// A port that only this machine can reach.
    pub const fn loopback(port: u16) -> Self {
        Self::Port(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
    }

    /// Whether only this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Port(address) => address.ip().is_loopback(),
            Self::Socket(_) => true,
        }
    }

    /// Whether it is a socket in the file system.
    pub const fn is_socket(&self) -> bool {
        matches!(self, Self::Socket(_))
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix("unix:").unwrap_or(text);
        if text.starts_with('/') {
            return Ok(Self::Socket(text.into()));
        }
        let numbers = text.replacen("localhost:", "127.0.0.1:", 1);
        numbers.parse().map(Self::Port).map_err(|_| {
            format!("{text} is neither a path that begins with / nor an address with a port")
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(address) => address.fmt(f),
            Self::Socket(path) => path.display().fmt(f),
        }
    }
}

/// A socket that is bound to its address, but not yet used by the asynchronous runtime.
#[derive(Debug)]
pub struct Bound {
    /// Where it listens, with the port that the system chose where 0 was asked for.
    pub address: Address,
    pub(crate) listener: OwnedFd,
}

impl Bound {
    /// Listens at an address. A socket that nobody listens at any more is replaced. No other thread
    /// may create files meanwhile.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn new(address: &Address, mode: u32) -> io::Result<Self> {
        match address {
            Address::Port(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                let address = Address::Port(listener.local_addr()?);
                Ok(Self { address, listener: listener.into() })
            }
            Address::Socket(path) => {
                remove_abandoned(path)?;
                // The socket has its mode from the beginning: no path is looked up twice.
                // Modes have 16 bits on macOS, and 32 here.
                #[allow(clippy::useless_conversion)]
                let mode = Mode::from_bits_truncate(mode.try_into().unwrap_or(0o600));
                let before = umask(mode.complement());
                let listener = UnixListener::bind(path);
                umask(before);
                let listener = listener?;
                listener.set_nonblocking(true)?;
                Ok(Self { address: address.clone(), listener: listener.into() })
            }
        }
    }
}

/// Removes a socket that nobody listens at.
fn remove_abandoned(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && UnixStream::connect(path).is_err_and(refused) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// A connection of either kind.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for T {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn addresses_are_paths_or_numbers() {
        for (text, expected) in [
            ("127.0.0.1:783", Some("127.0.0.1:783")),
            ("localhost:783", Some("127.0.0.1:783")),
            ("[::1]:783", Some("[::1]:783")),
            ("/run/dbacl/spamc", Some("/run/dbacl/spamc")),
            ("unix:/run/dbacl/spamc", Some("/run/dbacl/spamc")),
            ("mail.example.org:783", None),
            ("783", None),
            ("run/socket", None),
        ] {
            let found = text.parse::<Address>().ok().map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        assert!("[::1]:1".parse::<Address>().is_ok_and(|address| address.is_local()));
        assert!("0.0.0.0:1".parse::<Address>().is_ok_and(|address| !address.is_local()));
    }

    #[test]
    fn abandoned_sockets_are_replaced_and_files_are_not() {
        let room = tempfile::tempdir().expect("a folder");
        let address = Address::Socket(room.path().join("socket"));
        let first = Bound::new(&address, 0o604).expect("a socket");
        let mode = fs::metadata(room.path().join("socket")).expect("a socket").permissions().mode();
        assert_eq!(mode & 0o777, 0o604);
        let taken = Bound::new(&address, 0o666).expect_err("taken");
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        drop(first);
        let _second = Bound::new(&address, 0o600).expect("the socket was abandoned");
        fs::write(room.path().join("mail"), "kept").expect("a file");
        let file = Address::Socket(room.path().join("mail"));
        assert!(Bound::new(&file, 0o666).is_err());
        assert_eq!(fs::read(room.path().join("mail")).expect("a file"), b"kept");
    }
}
