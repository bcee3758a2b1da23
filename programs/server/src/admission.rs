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

use crate::budget::Peer;
use crate::config::Limits;
use crate::listen::{Address, Bound, Stream};
use crate::measures::Measures;
use crate::memory::lock;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::Sleep;

/// The bytes with which a client shows that it speaks. In every protocol the first command has at
/// least so many.
const FIRST: usize = 16;

/// The pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// Peers that are remembered; more are looked through for those without connections.
const REMEMBERED: usize = 1000;

/// A connection that is served.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    pub peer: Peer,
    /// What was read to see how the client begins.
    begun: Vec<u8>,
    /// Bytes that have come, and the end of the time for the first of them.
    first: Option<(usize, Pin<Box<Sleep>>)>,
    _places: [OwnedSemaphorePermit; 3],
}

impl Connection {
    /// The first bytes, which stay to be read; fewer than `FIRST` from a client that says no
    /// more.
    pub(crate) async fn beginning(&mut self) -> &[u8] {
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
pub(crate) struct Door {
    admitted: mpsc::Receiver<Connection>,
    socket: Option<PathBuf>,
    /// Accepts connections until this is dropped.
    _porter: JoinSet<()>,
}

impl Door {
    /// Begins to accept connections, in the runtime that this is called in.
    pub(crate) fn open(
        bound: Bound,
        limits: &Limits,
        measures: &Arc<Measures>,
    ) -> io::Result<Self> {
        let (listener, socket) = match bound.address {
            Address::Port(_) => {
                (Listener::Port(TcpListener::from_std(bound.listener.into())?), None)
            }
            Address::Socket(path) => {
                (Listener::Socket(UnixListener::from_std(bound.listener.into())?), Some(path))
            }
        };
        let (admit, admitted) = mpsc::channel(1);
        let places = Arc::new(Places::new(limits));
        let mut porter = JoinSet::new();
        porter.spawn(accept(listener, places, Arc::clone(measures), admit));
        Ok(Self { admitted, socket, _porter: porter })
    }
}

impl indymilter::Listener for Door {
    type Io = Connection;

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Connection>> {
        match self.admitted.poll_recv(context) {
            Poll::Ready(Some(connection)) => Poll::Ready(Ok(connection)),
            // The porter never ends.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
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
            request: limits.request(),
            first: Duration::from_secs(limits.first_seconds),
        }
    }

    /// Lets a connection of this peer wait; `None` if too many of its connections do.
    fn wait(&self, peer: Peer) -> Option<(Arc<Semaphore>, OwnedSemaphorePermit)> {
        let mut peers = lock(&self.peers);
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
    measures: Arc<Measures>,
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
                    measures.refused.fetch_add(1, Relaxed);
                    tokio::time::sleep(PAUSE).await;
                }
                continue;
            }
        };
        let Some((own, waits)) = places.wait(peer) else {
            measures.refused.fetch_add(1, Relaxed);
            continue;
        };
        let (admit, places, measures) = (admit.clone(), Arc::clone(&places), Arc::clone(&measures));
        waiting.spawn(async move {
            let both = async {
                let own = own.acquire_owned().await.ok()?;
                Some((own, Arc::clone(&places.all).acquire_owned().await.ok()?))
            };
            let Ok(Some((own, all))) = tokio::time::timeout(places.request, both).await else {
                measures.refused.fetch_add(1, Relaxed);
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
        let places = Places::new(&Limits { connections: 8, peer_percent: 50, ..Limits::default() });
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
