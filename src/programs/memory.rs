// SPDX-License-Identifier: GPL-3.0-or-later
//! The allocator of `dbacl` and `dbacl-eval`: where the system refuses memory that the program
//! cannot do without, the program ends with one line and a status. The standard library would print
//! lines of its own, perhaps with a backtrace, and abort.
//!
//! This module has `unsafe` code because the trait of allocators demands it.

use crate::alloc_hints::can_do_without;
use dbacl_cli::last_resort;
use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with an end that users understand.
#[derive(Debug)]
pub struct OrEnd;

impl OrEnd {
    #[inline]
    fn check(memory: *mut u8) -> *mut u8 {
        if memory.is_null() && !can_do_without() {
            last_resort::end();
        }
        memory
    }
}

// SAFETY: every call goes to the system's allocator as it came, and its answer is returned. Ending
// the process neither takes memory nor unwinds.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for OrEnd {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        Self::check(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        Self::check(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        Self::check(unsafe { System.realloc(memory, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}
