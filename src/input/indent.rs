// SPDX-License-Identifier: GPL-3.0-or-later
//! Indented input: only lines that begin with a blank count (`-A`, spec text 8.3).

/// Whether a line begins with a blank, which it loses.
pub(crate) fn take_blank(line: &mut Vec<u8>) -> bool {
    let begins = line.first() == Some(&b' ');
    if begins {
        line.remove(0);
    }
    begins
}
