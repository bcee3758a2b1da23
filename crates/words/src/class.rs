// SPDX-License-Identifier: GPL-3.0-or-later
//! The byte classes of the C locale (spec text 2) that the standard library lacks. Bytes from 80 up
//! belong to neither.

/// Visible bytes and the blank: 20 to 7E.
pub const fn is_print(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' '
}

/// White space: 09 to 0D and 20. (The standard library's `is_ascii_whitespace` leaves out 0B.)
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, 0x09..=0x0d | b' ')
}
