// SPDX-License-Identifier: GPL-3.0-or-later
//! Messages as they come in, kept in memory of limited size.
//!
//! All messages share one budget. One peer gets a share of it, and a quarter is for short messages
//! only, so that nobody who sends large messages has those of others refused.

use crate::memory::{Memory, lock};
use dbacl_cli::listen::Peer;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Memory is counted in pieces of so many bytes.
const PIECE: usize = 4096;

/// A message of at most so many bytes is short.
pub(crate) const SHORT: usize = 256 << 10;

/// Why a message is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the message is larger than the limit")]
    Large,
    #[error("no memory, or too many messages at a time")]
    Busy,
}

/// The memory for all messages.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The most bytes of a message.
    limit: usize,
    /// Pieces for all messages.
    total: usize,
    /// Pieces that only short messages get.
    reserve: usize,
    /// Pieces for one peer.
    share: usize,
    taken: Mutex<Taken>,
    /// Told when a message that was not short has gone.
    pub freed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    peers: HashMap<Peer, usize>,
}

impl Budget {
    /// So many bytes for a message, and for all of them, of which one peer may have a part.
    pub(crate) fn new(message: usize, all: usize, peer_percent: usize) -> Self {
        let pieces = |bytes: usize| bytes.div_ceil(PIECE);
        let (one, total) = (pieces(message), pieces(all));
        Self {
            limit: message,
            total,
            reserve: (total / 4).min(total - one.min(total)),
            share: (total * peer_percent / 100).max(one),
            taken: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// Bytes that messages have now.
    pub(crate) fn in_use(&self) -> usize {
        lock(&self.taken).all * PIECE
    }
}

/// Memory that a message has. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Held {
    budget: Arc<Budget>,
    peer: Option<Peer>,
    pieces: usize,
}

impl Held {
    /// Takes more, so that it has so many pieces. Returns whether there is so much.
    fn grow(&mut self, to: usize) -> bool {
        let Budget { total, reserve, share, .. } = *self.budget;
        let more = to - self.pieces;
        let mut taken = lock(&self.budget.taken);
        let room = if to * PIECE > SHORT { total - reserve } else { total };
        let of_peer = self.peer.map_or(0, |peer| taken.peers.get(&peer).copied().unwrap_or(0));
        if taken.all + more > room || of_peer + more > share {
            return false;
        }
        taken.all += more;
        if let Some(peer) = self.peer {
            *taken.peers.entry(peer).or_default() += more;
        }
        self.pieces = to;
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.pieces * PIECE > SHORT {
            self.budget.freed.notify_one();
        }
        let mut taken = lock(&self.budget.taken);
        taken.all -= self.pieces;
        if let Some(peer) = self.peer
            && let Some(own) = taken.peers.get_mut(&peer)
        {
            *own -= self.pieces;
            if *own == 0 {
                taken.peers.remove(&peer);
            }
        }
    }
}

/// A message as it comes in, counted against the budget.
#[derive(Debug)]
pub(crate) struct Mail {
    bytes: Vec<u8>,
    memory: Arc<Memory>,
    held: Held,
}

impl Mail {
    /// A message of this peer without bytes yet.
    pub(crate) fn new(budget: &Arc<Budget>, memory: &Arc<Memory>, peer: Option<Peer>) -> Self {
        let held = Held { budget: Arc::clone(budget), peer, pieces: 0 };
        Self { bytes: Vec::new(), memory: Arc::clone(memory), held }
    }

    /// Adds a piece.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<(), Refusal> {
        let length = self.bytes.len() + piece.len();
        let limit = self.held.budget.limit;
        if length > limit {
            return Err(Refusal::Large);
        }
        let (had, needed) = (self.held.pieces, length.div_ceil(PIECE));
        // The memory is at least doubled if it can be, as the buffer of the message is.
        let wanted = needed.max((2 * had).min(limit.div_ceil(PIECE)));
        if needed > had && !self.held.grow(wanted) && !self.held.grow(needed) {
            return Err(Refusal::Busy);
        }
        if !self.memory.make_room(&mut self.bytes, piece.len()) {
            return Err(Refusal::Busy);
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// Adds a piece of a message of which the beginning is enough. Of one that is too large, or for
    /// which there is no memory, as much is kept as there is room for.
    pub(crate) fn push_beginning(&mut self, piece: &[u8]) -> Result<(), Refusal> {
        let result = self.push(piece);
        if result == Err(Refusal::Large) {
            let room = self.held.budget.limit - self.bytes.len();
            let _ = self.push(&piece[..room]);
        }
        result
    }

    /// Forgets all but the first bytes, whose memory is kept.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    /// Whether a message that was refused for this reason can be classified by its beginning.
    pub(crate) fn can_be_judged(&self, why: Refusal) -> bool {
        why == Refusal::Large || self.bytes.len() >= SHORT
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The memory of the message. The answer, which is as large as the message, keeps it.
    pub(crate) fn into_memory(self) -> Held {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn mail(budget: &Arc<Budget>, peer: Option<u32>) -> Mail {
        Mail::new(budget, &Arc::default(), peer.map(Peer::User))
    }

    #[test]
    fn memory_is_counted_and_given_back() {
        let budget = Arc::new(Budget::new(6 * PIECE, 10 * PIECE, 100));
        let mut one = mail(&budget, None);
        assert_eq!(one.push(&vec![0; 6 * PIECE + 1]), Err(Refusal::Large));
        for _ in 0..6 {
            one.push(&[1; PIECE]).expect("room");
        }
        assert_eq!(one.push_beginning(&[0]), Err(Refusal::Large));
        let mut other = mail(&budget, None);
        other.push(&vec![0; 4 * PIECE]).expect("room");
        assert_eq!(
            (other.push(&[0]), other.can_be_judged(Refusal::Busy)),
            (Err(Refusal::Busy), false)
        );
        assert_eq!((other.bytes().len(), budget.in_use()), (4 * PIECE, 10 * PIECE));
        let held = one.into_memory();
        assert_eq!(other.push(&[0]), Err(Refusal::Busy));
        drop(held);
        other.push(&[0]).expect("memory was given back");
        // Of a message that is too large the beginning is enough, however short it is.
        assert!(other.can_be_judged(Refusal::Large));
    }

    #[test]
    fn a_message_gets_what_there_is() {
        // A peer's share is one message at least.
        let budget = Arc::new(Budget::new(8 * PIECE, 10 * PIECE, 10));
        let mut one = mail(&budget, Some(1));
        one.push(&vec![0; 5 * PIECE]).expect("a share");
        // Twice its memory is not there, and what it needs is.
        let mut other = mail(&budget, Some(2));
        other.push(&vec![0; 3 * PIECE]).expect("room");
        other.push(&[0; 2 * PIECE]).expect("room");
        assert_eq!((one.push(&[0]), budget.in_use()), (Err(Refusal::Busy), 10 * PIECE));
    }

    #[test]
    fn only_the_end_of_a_message_that_was_not_short_is_told() {
        let budget = Arc::new(Budget::new(2 * SHORT, 4 * SHORT, 100));
        let mut context = Context::from_waker(Waker::noop());
        for (length, expected) in [(SHORT, Poll::Pending), (SHORT + 1, Poll::Ready(()))] {
            let mut message = mail(&budget, None);
            message.push(&vec![0; length]).expect("room");
            drop(message);
            let notified = pin!(budget.freed.notified());
            assert_eq!(notified.poll(&mut context), expected, "{length}");
        }
    }

    #[test]
    fn large_messages_and_single_peers_leave_room_for_others() {
        let megabyte = 1 << 20;
        let budget = Arc::new(Budget::new(8 * megabyte, 32 * megabyte, 50));
        // One peer sends large messages until it gets no more memory: half of it.
        let piece = vec![0; megabyte];
        let fill = |peer| {
            let mut mails = Vec::new();
            loop {
                let mut mail = mail(&budget, peer);
                while mail.push_beginning(&piece).is_ok() {}
                let is_last = mail.bytes().len() < 8 * megabyte;
                mails.push(mail);
                if is_last {
                    return mails;
                }
            }
        };
        let first = fill(Some(1));
        assert_eq!(budget.in_use(), 16 * megabyte);
        // Several peers get three quarters. The rest is for short messages.
        let second = fill(Some(2));
        assert_eq!(budget.in_use(), 24 * megabyte);
        let mut short = mail(&budget, Some(3));
        short.push(&vec![0; SHORT]).expect("a short message has room");
        assert_eq!(
            (short.push(&[0]), short.can_be_judged(Refusal::Busy)),
            (Err(Refusal::Busy), true)
        );
        drop((first, second, short));
        assert_eq!(budget.in_use(), 0);
        assert!(lock(&budget.taken).peers.is_empty());
        let network = |text: &str| Peer::host(text.parse().expect("an address"));
        assert_eq!(network("2001:db8::1"), network("2001:db8::2"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
    }
}
