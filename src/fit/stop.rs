// SPDX-License-Identifier: GPL-3.0-or-later
//! Ending long computations before they are done.

/// A computation was asked to end before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Whether a computation is to end. It is asked between passes over documents and never inside a
/// sum, so a computation that is not stopped gives the same bits as without it.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'a>(&'a (dyn Fn() -> bool + Sync));

impl<'a> Stop<'a> {
    #[cfg(test)]
    /// For computations that nobody stops.
    pub(crate) const NEVER: Stop<'static> = Stop(&|| false);

    /// Ends a computation as soon as `is_wanted` returns true.
    pub(crate) const fn when(is_wanted: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(is_wanted)
    }

    /// Returns whether the computation may go on.
    ///
    /// # Errors
    /// [`Stopped`]
    pub(crate) fn check(self) -> Result<(), Stopped> {
        if (self.0)() { Err(Stopped) } else { Ok(()) }
    }
}
