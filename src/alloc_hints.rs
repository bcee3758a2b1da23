// SPDX-License-Identifier: GPL-3.0-or-later
//! Memory: checks whether there is enough, and hints to the processor and the system, which change
//! no result.
//!
//! Beside the memory map of categories this is the one module with `unsafe`: learning 3.5 million
//! words takes about a tenth less time for `-w 2` and `-w 3` with it (docs/lab/performance.md).

use std::cell::Cell;

/// Prefetches the cache line that holds `slice[at]`, if there is such an element.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch<T>(slice: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction is part of every x86-64; it reads nothing the program could
        // notice and cannot fault, whatever the address, and this one is of a live element.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, at);
}

/// Whether the system has so many bytes of memory available; true if it does not say how much it
/// has. A check is needed because a system may grant more memory than it has, and kill the process
/// later.
pub fn is_available(bytes: u64) -> bool {
    /// Smaller amounts are not checked.
    const LITTLE: u64 = 1 << 28;
    if bytes < LITTLE {
        return true;
    }
    let Ok(text) = std::fs::read_to_string("/proc/meminfo") else { return true };
    let kilobytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    };
    let free = kilobytes("MemAvailable:");
    free.is_none_or(|free| bytes / 1024 <= free + kilobytes("SwapFree:").unwrap_or(0))
}

thread_local! {
    static CAN_DO_WITHOUT: Cell<bool> = const { Cell::new(false) };
}

/// Makes room for exactly `more` elements. Returns whether there is memory for them.
pub(crate) fn try_room<T>(vector: &mut Vec<T>, more: usize) -> bool {
    trying(|| vector.try_reserve_exact(more)).is_ok()
}

/// Calls `take`, which asks for memory and can do without.
pub(crate) fn trying<R>(take: impl FnOnce() -> R) -> R {
    CAN_DO_WITHOUT.set(true);
    let taken = take();
    CAN_DO_WITHOUT.set(false);
    taken
}

/// Whether this thread can do without the memory that it is asking for: an allocator that ends the
/// process where memory is refused must not do so then.
pub(crate) fn can_do_without() -> bool {
    CAN_DO_WITHOUT.get()
}

/// An empty vector with room for `length` elements, which is about to be filled.
pub fn with_memory<T>(length: usize) -> Vec<T> {
    let vector = Vec::with_capacity(length);
    take_memory(&vector, length);
    vector
}

/// Enlarges `vector`, which is full: to twice its capacity or, if it is large and unused capacity
/// costs nothing, to sixteen times.
pub(crate) fn make_room<T: Copy>(vector: &mut Vec<T>) {
    const LARGE: usize = 1 << 19;
    let is_large = vector.len() * size_of::<T>() >= LARGE && has_addresses_to_spare();
    let length = vector.len().max(16) * if is_large { 16 } else { 2 };
    let mut larger = Vec::with_capacity(length);
    if is_large {
        take_memory(&larger, 2 * vector.len());
    }
    larger.extend_from_slice(vector);
    *vector = larger;
}

/// Whether the process may reserve as many addresses as it likes, so that capacity which is never
/// used costs nothing.
pub(crate) fn has_addresses_to_spare() -> bool {
    #[cfg(target_os = "linux")]
    return rustix::process::getrlimit(rustix::process::Resource::As).current.is_none();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Has the system provide the memory for the first `length` elements of `vector`'s capacity at
/// once, in large pages where it can, as far as they are not in use yet. They are about to be
/// filled, and providing memory page by page would take much longer.
#[allow(unsafe_code)]
pub(crate) fn take_memory<T>(vector: &Vec<T>, length: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        const PAGE: usize = 1 << 12;
        const LARGE: usize = 1 << 21;
        let start = vector.as_ptr() as usize;
        let end = start + vector.capacity() * size_of::<T>();
        let filled = start + length.min(vector.capacity()) * size_of::<T>();
        if filled - start < LARGE / 2 {
            return;
        }
        let advise = |from: usize, to: usize, advice: Advice| {
            if from < to {
                // SAFETY: whole pages within the vector's own memory; either advice leaves what
                // they hold as it is, and refusing it is not an error.
                let _ = unsafe { madvise(from as *mut _, to - from, advice) };
            }
        };
        let large_end = filled.next_multiple_of(LARGE).min(end / LARGE * LARGE);
        advise(start.next_multiple_of(LARGE), large_end, Advice::LinuxHugepage);
        let end = filled.max(large_end) / PAGE * PAGE;
        advise(start.next_multiple_of(PAGE), end, Advice::LinuxPopulateWrite);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (vector, length);
}

/// Has the C library give freed memory back to the system, where it keeps it otherwise. A program
/// that runs for long does so after large work, so that it keeps no more than it needs.
#[allow(unsafe_code)]
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: the function takes no pointer, may be called from any thread, and touches freed
        // memory only (malloc_trim(3)).
        unsafe { malloc_trim(0) };
    }
}

/// From now on, large blocks are given back to the system as soon as they are freed. Otherwise the
/// C library may keep up to 64 MB at the end of each thread's heap, where [`give_back`] does not
/// look. A program that runs for long calls this before it starts threads.
#[allow(unsafe_code)]
pub fn give_back_at_once() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        const TRIM_THRESHOLD: c_int = -1;
        const MMAP_THRESHOLD: c_int = -3;
        /// Bytes of a block that has a map of its own, and of what a heap keeps at its end.
        const LARGE: c_int = 1 << 20;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        for threshold in [TRIM_THRESHOLD, MMAP_THRESHOLD] {
            // SAFETY: the function takes no pointer, and sets a number that later allocations and
            // releases read (mallopt(3)). A thread that reads the old one does as before.
            unsafe { mallopt(threshold, LARGE) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_made_for_more_of_the_same() {
        let mut vector: Vec<u64> = Vec::new();
        for number in 0..200_000 {
            if vector.len() == vector.capacity() {
                make_room(&mut vector);
                assert!(vector.capacity() > vector.len());
            }
            vector.push(number);
        }
        assert!(vector.iter().zip(0..).all(|(&found, number)| found == number));
    }

    #[test]
    fn little_memory_is_always_available_and_the_most_never() {
        assert!(is_available(0) && is_available(1 << 20));
        if std::path::Path::new("/proc/meminfo").exists() {
            assert!(!is_available(1 << 60));
        }
    }
}
