// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads and writes numbers in model files and in messages between processes. Reading takes them
//! off the front of `rest`, and returns `None` if the bytes are too few or damaged.

use dbacl_numeric::varint;

/// Appends numbers of variable length.
pub(super) fn put(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().for_each(|number| varint::append(out, number));
}

/// Takes a number of variable length.
pub(super) fn number<T: TryFrom<u64>>(rest: &mut &[u8]) -> Option<T> {
    varint::take(rest)?.try_into().ok()
}

/// Takes `length` bytes.
pub(super) fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (own, others) = rest.split_at_checked(length)?;
    *rest = others;
    Some(own)
}

/// Takes `length` numbers of 32 bits.
pub(super) fn words(rest: &mut &[u8], length: usize) -> Option<Vec<u32>> {
    let own = take(rest, length.checked_mul(4)?)?.as_chunks().0;
    Some(own.iter().map(|&word| u32::from_le_bytes(word)).collect())
}
