// SPDX-License-Identifier: GPL-3.0-or-later
//! Which connections are served, and when.
//!
//! ```text
//! accept ─→ a place of the peer's ─→ a place of the address ─→ served
//! ```
//!
//! An address serves a limited number of connections, of which one peer has a part. A peer that has
//! its part waits for itself and for nobody else. A connection that does not begin to speak is
//! closed soon.

use super::{Address, Bound, Peer, Stream};
use std::collections::HashMap;
use std::fs;
use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Sleep;

/// The bytes with which a client shows that it speaks. In every protocol the first command has at
/// least so many.
const FIRST: usize = 16;

/// The pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// Peers that are remembered; more are looked through for those without connections.
const REMEMBERED: usize = 1000;

/// The limits of an address.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at a time.
    pub connections: usize,
    /// The part of them that one peer may have, in percent.
    pub peer_percent: usize,
    /// The time for a client to begin its first command.
    pub first: Duration,
    /// The time that a connection waits for a place.
    pub request: Duration,
}

/// A connection that is served.
pub struct Connection {
    stream: Box<dyn Stream>,
    /// Who speaks.
    pub peer: Peer,
    /// What was read to see how the client begins.
    begun: Vec<u8>,
    /// Bytes that have come, and the end of the time for the first of them.
    first: Option<(usize, Pin<Box<Sleep>>)>,
    _places: [OwnedSemaphorePermit; 3],
}

impl Connection {
    /// The first bytes, which stay to be read; fewer than 16 from a client that says no more.
    pub async fn beginning(&mut self) -> &[u8] {
        let mut buffer = [0; FIRST];
        let mut length = 0;
        while length < FIRST {
            match self.read(&mut buffer[length..]).await {
                Ok(0) | Err(_) => break,
                Ok(more) => length += more,
            }
        }
        self.begun = buffer[..length].to_vec();
        &self.begun
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.begun.is_empty() {
            let length = self.begun.len().min(buffer.remaining());
            buffer.put_slice(&self.begun[..length]);
            self.begun.drain(..length);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some((came, end)) = &mut self.first else { return read };
        if read.is_pending() {
            return end.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()));
        }
        *came += buffer.filled().len() - before;
        if *came >= FIRST {
            self.first = None;
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// A listener that survives all errors: when no file descriptor is left, it waits and tries again.
#[derive(Debug)]
pub struct Door {
    admitted: mpsc::Receiver<Connection>,
    socket: Option<PathBuf>,
    /// Accepts connections until this is dropped.
    _porter: JoinSet<()>,
}

impl Door {
    /// Begins to accept connections, in the runtime that this is called in; `refused` counts those
    /// that are closed without being served.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open(bound: Bound, limits: Limits, refused: &Arc<AtomicU64>) -> io::Result<Self> {
        let (listener, socket) = match bound.address {
            Address::Port(_) => {
                (Listener::Port(TcpListener::from_std(bound.listener.into())?), None)
            }
            Address::Socket(path) => {
                (Listener::Socket(UnixListener::from_std(bound.listener.into())?), Some(path))
            }
        };
        let (admit, admitted) = mpsc::channel(1);
        let places = Arc::new(Places::new(&limits));
        let mut porter = JoinSet::new();
        porter.spawn(accept(listener, places, Arc::clone(refused), admit));
        Ok(Self { admitted, socket, _porter: porter })
    }

    /// The next connection, once there is one.
    pub fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<Connection> {
        match self.admitted.poll_recv(context) {
            Poll::Ready(Some(connection)) => Poll::Ready(connection),
            // The porter never ends.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Serves all connections until the server stops; then waits for the open ones.
    pub async fn serve<F: Future<Output = ()> + Send + 'static>(
        mut self,
        mut stopped: watch::Receiver<bool>,
        speak: impl Fn(Connection) -> F,
    ) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                connection = poll_fn(|context| self.poll_accept(context)) => {
                    connections.spawn(speak(connection));
                }
                _ = stopped.changed() => break,
            }
            while connections.try_join_next().is_some() {}
        }
        drop(self);
        while connections.join_next().await.is_some() {}
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Some(path) = &self.socket {
            // The socket is still this server's: no other server can bind the address while it
            // exists.
            let _ = fs::remove_file(path);
        }
    }
}

#[derive(Debug)]
enum Listener {
    Port(TcpListener),
    Socket(UnixListener),
}

impl Listener {
    async fn accept(&self) -> io::Result<(Box<dyn Stream>, Peer)> {
        match self {
            Self::Port(listener) => {
                let (stream, address) = listener.accept().await?;
                // Answers are written in one piece, so this saves time; nothing depends on it.
                let _ = stream.set_nodelay(true);
                Ok((Box::new(stream), Peer::host(address.ip())))
            }
            Self::Socket(listener) => {
                let (stream, _) = listener.accept().await?;
                let user = stream.peer_cred()?.uid();
                Ok((Box::new(stream), Peer::User(user)))
            }
        }
    }
}

/// The places of an address.
#[derive(Debug)]
struct Places {
    /// For connections that are served or wait for a place.
    room: Arc<Semaphore>,
    /// For connections that are served.
    all: Arc<Semaphore>,
    /// The most of one peer's that are served, and that wait.
    share: usize,
    /// A peer's places for connections that are served, and for those that wait.
    peers: Mutex<HashMap<Peer, [Arc<Semaphore>; 2]>>,
    request: Duration,
    first: Duration,
}

impl Places {
    fn new(limits: &Limits) -> Self {
        let share = limits.connections * limits.peer_percent / 100;
        Self {
            room: Arc::new(Semaphore::new(2 * limits.connections)),
            all: Arc::new(Semaphore::new(limits.connections)),
            share: share.max(1),
            peers: Mutex::default(),
            request: limits.request,
            first: limits.first,
        }
    }

    /// Lets a connection of this peer wait; `None` if too many of its connections do.
    fn wait(&self, peer: Peer) -> Option<(Arc<Semaphore>, OwnedSemaphorePermit)> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() > REMEMBERED {
            peers.retain(|_, own| own.iter().any(|it| it.available_permits() < self.share));
        }
        let both = || [(); 2].map(|()| Arc::new(Semaphore::new(self.share)));
        let [places, waiting] = peers.entry(peer).or_insert_with(both);
        let waits = Arc::clone(waiting).try_acquire_owned().ok()?;
        Some((Arc::clone(places), waits))
    }
}

/// Accepts connections, and passes on those that have a place.
async fn accept(
    listener: Listener,
    places: Arc<Places>,
    refused: Arc<AtomicU64>,
    admit: mpsc::Sender<Connection>,
) {
    let mut waiting = JoinSet::new();
    loop {
        // When there is no room, further connections wait in the operating system's queue.
        let Ok(room) = Arc::clone(&places.room).acquire_owned().await else { return };
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                if error.kind() != io::ErrorKind::ConnectionAborted {
                    refused.fetch_add(1, Relaxed);
                    tokio::time::sleep(PAUSE).await;
                }
                continue;
            }
        };
        let Some((own, waits)) = places.wait(peer) else {
            refused.fetch_add(1, Relaxed);
            continue;
        };
        let (admit, places, refused) = (admit.clone(), Arc::clone(&places), Arc::clone(&refused));
        waiting.spawn(async move {
            let both = async {
                let own = own.acquire_owned().await.ok()?;
                Some((own, Arc::clone(&places.all).acquire_owned().await.ok()?))
            };
            let Ok(Some((own, all))) = tokio::time::timeout(places.request, both).await else {
                refused.fetch_add(1, Relaxed);
                return;
            };
            drop(waits);
            let first = Some((0, Box::pin(tokio::time::sleep(places.first))));
            let (begun, places) = (Vec::new(), [room, own, all]);
            // This fails only when the server ends.
            let _ = admit.send(Connection { stream, peer, begun, first, _places: places }).await;
        });
        while waiting.try_join_next().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_has_a_part_of_the_places() {
        let places = Places::new(&Limits {
            connections: 8,
            peer_percent: 50,
            first: Duration::ZERO,
            request: Duration::ZERO,
        });
        let (one, other) = (Peer::User(1), Peer::User(2));
        let mut kept = Vec::new();
        for number in 0..8 {
            // Four connections are served, and four wait.
            let (own, waits) = places.wait(one).expect("room to wait");
            match own.try_acquire_owned() {
                Ok(place) if number < 4 => kept.push((Some(place), None)),
                Err(_) if number >= 4 => kept.push((None, Some(waits))),
                result => panic!("{number}: {result:?}"),
            }
        }
        assert!(places.wait(one).is_none());
        let (own, _) = places.wait(other).expect("room to wait");
        assert!(own.try_acquire_owned().is_ok());
        kept.clear();
        let (own, _) = places.wait(one).expect("room to wait");
        assert_eq!(own.available_permits(), 4);
    }
}
