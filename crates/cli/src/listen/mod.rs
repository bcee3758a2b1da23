// SPDX-License-Identifier: GPL-3.0-or-later
//! What servers share: addresses, connections within limits, HTTP, measures, and the end.
//!
//! ```text
//! address ─→ door ─→ connections ─→ http ─→ the server's requests
//! ```

mod address;
mod door;
pub mod http;
pub mod measures;
mod peer;

pub use address::{Address, Bound, Stream};
pub use door::{Connection, Door, Limits};
pub use peer::Peer;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that a server obeys.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Takes the signals from here on.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one; returns whether the server is to go on, with settings that it reads
    /// again.
    pub async fn next(&mut self) -> bool {
        tokio::select! {
            _ = self.terminate.recv() => false,
            _ = self.interrupt.recv() => false,
            _ = self.hang_up.recv() => true,
        }
    }
}
