// SPDX-License-Identifier: GPL-3.0-or-later
//! Byte classes as the C locale has them (spec text 2). Bytes from 80 up belong to none.

/// Letters.
pub const fn is_alpha(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

/// Decimal digits.
pub const fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// Letters and decimal digits.
pub const fn is_alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Visible bytes: 21 to 7E.
pub const fn is_graph(byte: u8) -> bool {
    byte.is_ascii_graphic()
}

/// Visible bytes and the blank: 20 to 7E.
pub const fn is_print(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' '
}

/// Visible bytes that are neither letters nor digits.
pub const fn is_punct(byte: u8) -> bool {
    byte.is_ascii_punctuation()
}

/// White space: 09 to 0D and 20. (The standard library's `is_ascii_whitespace` leaves out 0B.)
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, 0x09..=0x0d | b' ')
}
