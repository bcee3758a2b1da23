// SPDX-License-Identifier: GPL-3.0-or-later
//! Lines about the progress of learning.

/// Receives lines of progress text; silent unless a sink is set.
pub(crate) struct Progress<'a>(Option<&'a mut dyn FnMut(&str)>);

impl<'a> Progress<'a> {
    /// Progress that goes to `sink`, one line a call, without line end.
    pub(crate) fn to(sink: &'a mut dyn FnMut(&str)) -> Self {
        Self(Some(sink))
    }

    /// Progress without a sink.
    pub(crate) fn silent() -> Self {
        Self(None)
    }

    /// Sends a line to the sink. Without a sink, `text` is not called.
    pub(crate) fn say(&mut self, text: impl FnOnce() -> String) {
        if let Some(sink) = &mut self.0 {
            sink(&text());
        }
    }

    /// Whether there is a sink.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.is_some()
    }
}
