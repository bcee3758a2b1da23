// SPDX-License-Identifier: GPL-3.0-or-later
//! Writes a token for people: boundary marks as `[]`, its medium as `(n)`.

use crate::model::medium::Medium;
use crate::token::BOUNDARY;

/// Appends the token's text (spec text 3).
pub(crate) fn show(out: &mut Vec<u8>, body: &[u8], medium: Medium) {
    for &byte in body {
        match byte {
            BOUNDARY => out.extend_from_slice(b"[]"),
            0x01 => out.push(b' '),
            _ => out.push(byte),
        }
    }
    out.extend_from_slice(format!("({})", medium.number()).as_bytes());
}
