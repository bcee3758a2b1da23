// SPDX-License-Identifier: GPL-3.0-or-later
//! Memory for work that cannot say that it has none.
//!
//! Classifying and learning make many small allocations, and when one of them fails the process
//! aborts: all connections would be lost because of one message. So each work says beforehand how
//! much it may take, and begins only if the system has that much for it and for all work that has
//! begun. Messages that come in, too, are given memory only beside what was promised to others.
//!
//! ```text
//! promised to work that has begun + this work + a reserve for all else  →  can the system give it?
//! ```

use std::hint::black_box;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Memory for connections, the log, and the runtime. It is so much that the C library asks the
/// system for it and gives it back at once.
const RESERVE: usize = 48 << 20;

/// The part of a message that is classified and learned, in bytes.
const READ: usize = 8 << 20;

/// The most memory that classifying takes for each byte of a message, beside the message. The most
/// that was measured is 1.3 bytes, with random words of up to seven letters.
const PER_BYTE_JUDGED: usize = 3;

/// The most memory that learning takes for each byte of a message. The most that was measured
/// is 45 bytes, with random letters of Chinese in two bytes each (Big5).
const PER_BYTE_LEARNED: usize = 60;

/// The memory that opening a filter and a short mail take.
const LEAST: usize = 16 << 20;

/// What an answer takes for each byte of a message that is returned, while it is put together.
const PER_BYTE_RETURNED: usize = 4;

/// The memory that classifying a message of this length may take.
pub fn of_judging(length: usize) -> usize {
    LEAST + PER_BYTE_JUDGED * length.min(READ)
}

/// The memory that learning or forgetting a message of this length may take.
pub fn of_learning(length: usize) -> usize {
    LEAST + PER_BYTE_LEARNED * length.min(READ)
}

/// The memory that answering with a message of this length may take.
pub(crate) fn of_returning(length: usize) -> usize {
    PER_BYTE_RETURNED.saturating_mul(length)
}

/// The memory that was promised, of which a part may be in use.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    promised: Mutex<usize>,
    given_back: Condvar,
}

/// Memory that can be had. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Promise {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Drop for Promise {
    fn drop(&mut self) {
        *lock(&self.memory.promised) -= self.bytes;
        self.memory.given_back.notify_all();
    }
}

impl Memory {
    /// Promises so many bytes. If others have promises, and there is not enough for this one beside
    /// them, their end is waited for, but not longer than `patience`. `None` if there is no memory.
    pub(crate) fn promise(self: &Arc<Self>, bytes: usize, patience: Duration) -> Option<Promise> {
        let end = Instant::now() + patience;
        let mut promised = lock(&self.promised);
        while !can_be_had(promised.saturating_add(bytes)) {
            let left = end.saturating_duration_since(Instant::now());
            if *promised == 0 || left.is_zero() {
                return None;
            }
            let waited = self.given_back.wait_timeout(promised, left);
            promised = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *promised += bytes;
        Some(Promise { memory: Arc::clone(self), bytes })
    }

    /// Makes room for `more` bytes in `buffer`, beside all that was promised. Returns whether there
    /// is room.
    pub(crate) fn make_room(&self, buffer: &mut Vec<u8>, more: usize) -> bool {
        if buffer.capacity() - buffer.len() >= more {
            return true;
        }
        let promised = lock(&self.promised);
        let larger = buffer.len().saturating_add(more).max(2 * buffer.capacity());
        can_be_had(promised.saturating_add(larger)) && buffer.try_reserve(more).is_ok()
    }
}

/// What a lock holds. A panic never leaves it half changed.
pub(crate) fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the system has so many bytes, and the reserve, at this moment.
fn can_be_had(bytes: usize) -> bool {
    let bytes = bytes.saturating_add(RESERVE);
    // Addresses are not memory: the system may promise more than it has, and kill the process
    // later.
    if !dbacl::alloc_hints::is_available(bytes as u64) {
        return false;
    }
    let mut probe: Vec<u8> = Vec::new();
    let can = probe.try_reserve_exact(bytes).is_ok();
    // An allocation that nobody looks at could be left out by the compiler.
    black_box(&mut probe);
    can
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_promised_than_the_system_has() {
        let memory = Arc::new(Memory::default());
        let small = memory.promise(of_judging(1000), Duration::ZERO).expect("some memory");
        // No machine has as many addresses as this.
        assert!(memory.promise(usize::MAX / 4, Duration::ZERO).is_none());
        assert_eq!(*lock(&memory.promised), small.bytes);
        drop(small);
        assert_eq!(*lock(&memory.promised), 0);
        assert!(memory.promise(usize::MAX, Duration::from_secs(600)).is_none());
    }

    #[test]
    fn the_end_of_others_is_waited_for() {
        let memory = Arc::new(Memory::default());
        // As if another work had been promised more than there is.
        let large = Promise { memory: Arc::clone(&memory), bytes: usize::MAX / 4 };
        *lock(&memory.promised) += large.bytes;
        assert!(memory.promise(1000, Duration::from_millis(20)).is_none());
        let mut mail = Vec::with_capacity(10);
        assert!(memory.make_room(&mut mail, 10) && !memory.make_room(&mut mail, 11));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| memory.promise(1000, Duration::from_secs(600)).is_some());
            std::thread::sleep(Duration::from_millis(20));
            drop(large);
            assert!(waits.join().expect("no panic"));
        });
        assert!(memory.make_room(&mut mail, 11) && mail.capacity() >= 11);
    }

    #[test]
    fn large_mails_take_no_more_than_what_is_read_of_them() {
        for of in [of_judging, of_learning] {
            assert_eq!(of(READ), of(usize::MAX));
            assert!(of(0) > 0);
        }
    }
}
